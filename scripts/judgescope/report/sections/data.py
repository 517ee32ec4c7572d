"""The data: what was read, under which licence, and what was wrong with it."""

from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Facts,
    Heading,
    Line,
    Link,
    Section,
    Table,
    Text,
    whole,
    words_cell,
)
from judgescope.report.numbers import plural
from judgescope.report.report import Dataset, Report

COUNTS = ("items", "targets", "originals", "ratings")
RATINGS = {"planned": "the authors' plan", "human": "people"}
EXPLORE = "explore.html"
"""The page of all judgments, beside the report."""
SHOWN = 12
"""So many problems of a dataset are named."""


def section(report: Report) -> Section:
    """Return counts, licences, citations, checksums and problems of every dataset."""
    lines = [
        Line(
            dataset.id,
            [
                words_cell(dataset.name),
                words_cell(dataset.task),
                *(whole(dataset.found.get(name, 0)) for name in COUNTS),
                whole(len(dataset.found.get("raters", []))),
                words_cell(RATINGS.get(dataset.ratings, dataset.ratings)),
            ],
        )
        for dataset in report.datasets
    ]
    texts = [Column("Name", style="words"), Column("Task", style="words")]
    counts = [Column(name) for name in (*COUNTS, "raters")]
    columns = [*texts, *counts, Column("Ratings by", style="words")]
    table = Table("What was read.", "Dataset", columns, [Body(lines)])
    blocks: list[Block] = [table, Link("Every judgment beside its text", EXPLORE)]
    for dataset in report.datasets:
        blocks += [Heading(dataset.name, f"data-{dataset.id}"), _facts(dataset)]
        blocks += _problems(dataset)
    lead = "Every dataset keeps its own terms; its texts are not part of this file."
    return Section("data", "Data and licences", lead, blocks)


def _facts(dataset: Dataset) -> Facts:
    sums = dataset.found.get("sha256", {})
    told = [("licence", dataset.licence), ("citation", dataset.citation)]
    told += [(f"sha256 of {name}", value) for name, value in sorted(sums.items())]
    return Facts([(name, text) for name, text in told if text])


def _problems(dataset: Dataset) -> list[Text]:
    problems = [str(problem) for problem in dataset.found.get("problems", [])]
    if not problems:
        return []
    more = len(problems) - SHOWN
    items = [*problems[:SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return [Text(f"{dataset.name}: {plural(len(problems), 'notice')} while reading.", items=items)]
