"""Data, licences and problems; how to get the same numbers again."""

import sys

from judgescope import __version__
from judgescope.report.cells import count_cell, words_cell
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
)
from judgescope.report.report import Dataset, Report
from judgescope.report.words import plural

COUNTS = ("items", "targets", "originals", "ratings", "raters")
RATINGS = {"planned": "the authors' plan", "human": "people"}
EXPLORE = "explore.html"
"""The page of all judgments, beside the report."""
PROBLEMS_SHOWN = 12
SIGNED = (
    ("judge", "the judge's id"),
    ("card", "hash of the judge's card and of its model's"),
    ("draws", "replies asked for each target"),
    ("parser", "how a reply becomes a number"),
    ("data", "the dataset and the first digits of its files' checksum"),
    ("stat", "the statistic"),
    ("level", "over what it is computed"),
    ("ties", "what equal scores count as, where the statistic depends on it"),
    ("seed", "the study's seed, from which every random number comes"),
    ("v", "the version of judgescope"),
)


def data(report: Report) -> Section:
    """Return counts, licences, citations, checksums and problems of every dataset."""
    lines = []
    for dataset in report.datasets:
        card, counts = dataset.card, dataset.counts
        numbers = (counts.items, counts.targets, counts.originals, counts.ratings)
        cells = [
            words_cell(dataset.name),
            words_cell(card.task),
            *map(count_cell, (*numbers, len(counts.raters))),
            words_cell(RATINGS.get(card.ratings, card.ratings)),
        ]
        lines.append(Line(dataset.id, cells))
    columns = [Column("Name", style="words"), Column("Task", style="words")]
    columns += [*map(Column, COUNTS), Column("Ratings by", style="words")]
    blocks: list[Block] = [
        Table("What was read.", "Dataset", columns, [Body(lines)]),
        Link("Every judgment beside its text", EXPLORE),
    ]
    for dataset in report.datasets:
        blocks += [Heading(dataset.name, f"data-{dataset.id}"), _facts(dataset)]
        problems = dataset.counts.problems
        if problems:
            more = len(problems) - PROBLEMS_SHOWN
            items = problems[:PROBLEMS_SHOWN] + ([f"and {more} more"] if more > 0 else [])
            title = f"{dataset.name}: {plural(len(problems), 'notice')} while reading."
            blocks.append(Text(title, items=items))
    lead = "Every dataset keeps its own terms; its texts are not part of this file."
    return Section("data", "Data and licences", lead, blocks)


def _facts(dataset: Dataset) -> Facts:
    facts = [("licence", dataset.card.licence), ("citation", dataset.card.citation)]
    facts += [
        (f"sha256 of {name}", digest) for name, digest in sorted(dataset.counts.sha256.items())
    ]
    return Facts([(name, text) for name, text in facts if text])


def reproduce(report: Report) -> Section:
    """Return the command, the seed, the versions, and how to read a signature."""
    versions = [("judgescope", __version__), ("Python", "{}.{}".format(*sys.version_info))]
    versions += sorted(report.spec.versions.items())
    facts = [("command", report.spec.command), ("seed", str(report.spec.study.seed))]
    lead = (
        "The same lock file and the same replies give the same bytes: the tables, and this file. "
        "Intervals are 95 %, jackknife-t over the items, unless a table's method says otherwise."
    )
    blocks: list[Block] = [
        Facts(facts, code=True),
        Heading("Versions", "versions"),
        Facts(versions, code=True),
        Heading("Signatures", "signatures"),
        Text("Every number of the tables has a signature; its parts, joined by |, are:"),
        Facts(SIGNED),
    ]
    return Section("reproduce", "How to reproduce", lead, blocks)
