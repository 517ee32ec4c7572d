"""The study itself: data and licences, judgments by status, undefined numbers, reproduction."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from judgescope import __version__
from judgescope.parsing.judgment import OFF_GRID
from judgescope.report.cells import Cell, count_cell, words_cell
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Facts,
    Fold,
    Heading,
    Line,
    Link,
    Section,
    Table,
    Text,
)
from judgescope.report.report import Dataset, Judge, Report, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.tables import PEOPLE, by_dataset, chart, judge_bodies, section_of
from judgescope.report.words import (
    DASH,
    OFF_GRID_SENTENCE,
    STATUSES,
    count,
    percent,
    plural,
    spoken,
)

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
    ("level", "how texts are grouped for it"),
    ("ties", "how equal scores are treated, if the statistic depends on it"),
    ("seed", "the study's seed, from which every random number comes"),
    ("v", "the version of judgescope"),
)
PREFIX = "count_"
NAMED = 4
"""Judges or statistics named for each reason of an undefined number."""
UNMEASURED_LEAD = (
    "Undefined numbers are left out, never replaced: this section lists all of them, by table "
    "and reason. Coverage lists the planned judgments without a score."
)


@in_group("Data quality", 50)
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
    lead = "Every dataset keeps its own terms; its texts are not part of this file."
    table = Table("The data that the study read.", "Dataset", columns, [Body(lines)])
    link = Link("Every judgment beside its text", EXPLORE)
    blocks = [table, link, *by_dataset(report.datasets, "data", _provenance)]
    return Section("data", "Data and licences", lead, blocks)


def _provenance(dataset: Dataset) -> Iterator[Block]:
    facts = [("licence", dataset.card.licence), ("citation", dataset.card.citation)]
    facts += [
        (f"sha256 of {name}", digest) for name, digest in sorted(dataset.counts.sha256.items())
    ]
    yield Facts([(name, text) for name, text in facts if text])
    problems = dataset.counts.problems
    if problems:
        more = len(problems) - PROBLEMS_SHOWN
        items = problems[:PROBLEMS_SHOWN] + ([f"and {more} more"] if more > 0 else [])
        title = f"{dataset.name}: {plural(len(problems), 'notice')} while reading."
        yield Text(title, items=items)


@dataclass
class Tally:
    """Judgments by status, and the reasons why cells were never asked."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Tally":
        """Return the sum over rows of coverage."""
        tally = cls()
        for row in rows:
            if row.statistic.startswith(PREFIX) and row.value is not None:
                tally.counts[row.statistic.removeprefix(PREFIX)] += round(row.value)
            elif row.statistic == "coverage" and row.value is None:
                tally.reasons[spoken(row.note)] = None
        return tally

    @classmethod
    def of_judge(cls, report: Report, judge: Judge) -> "Tally":
        """Return the sum over all judgments of a judge."""
        return cls.of(report.rows("coverage").where(judge=judge.id))

    @property
    def asked(self) -> int:
        """Return how many judgments were asked for."""
        return self.counts.total() - self.counts["not_applicable"]

    @property
    def failed(self) -> dict[str, int]:
        """Return status -> number of the judgments without a value."""
        return {
            status: number
            for status, number in self.counts.items()
            if number and status not in ("ok", "not_applicable")
        }

    def cells(self, statuses: Sequence[str]) -> list[Cell]:
        """Return planned, each status, the share with a value, reasons."""
        share = self.counts["ok"] / self.asked if self.asked else None
        row = Row(statistic="coverage", value=share, n=self.asked) if self.asked else None
        return [
            count_cell(self.counts.total()),
            *(count_cell(self.counts[status]) for status in statuses),
            Cell(DASH if share is None else percent(share), sort=share, row=row),
            words_cell("; ".join(self.reasons)),
        ]


@in_group("Data quality", 30)
def coverage(report: Report) -> Section | None:
    """Return per dataset a row per judge and, folded, a row per cell."""
    lead = (
        "All judgments that were planned for existing texts, by outcome. A reply that could not be "
        "read never counts as a score."
    )
    return section_of(report, "coverage", "Coverage", lead, _coverage)


def _coverage(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    seen = {name.removeprefix(PREFIX) for name in rows.names("statistic")}
    statuses = [status for status in STATUSES if status in seen or status == "ok"]
    columns = [Column("planned", group="Judgments")]
    columns += [Column(STATUSES[status], group="Judgments") for status in statuses]
    columns += [Column("share ok"), Column("Reasons", style="words")]

    def cells(judge: Judge) -> list[Cell] | None:
        mine = rows.where(judge=judge.id)
        return Tally.of(mine).cells(statuses) if len(mine) else None

    caption = f"{dataset.name}: judgments by judge, over all cells."
    table = Table(caption, "Judge", columns, judge_bodies(report.judges, cells))
    summary = (
        "A judge is compared only on the texts that it scored; the lost judgments may be the "
        "hard ones."
    )
    axis = "share of the requested judgments; the line marks 100 %"
    title = f"{dataset.name}: judgments with a score"
    lost = Tally.of(rows).failed
    yield chart(title, summary, table, line=1, axis=axis) if lost else table
    if Tally.of(rows).counts[OFF_GRID]:
        yield Text(OFF_GRID_SENTENCE, style="small")
    bodies = []
    for judge in report.judges:
        by_cell = rows.where(judge=judge.id).frame.groupby(["cell", "aspect"], sort=False)
        lines = [
            Line(cell, Tally.of(part["record"]).cells(statuses), about=report.aspect(aspect))
            for (cell, aspect), part in by_cell
        ]
        bodies += [Body(lines, judge.id)] if lines else []
    caption = f"{dataset.name}: judgments by judge, set of targets and aspect."
    source = "tables/coverage.csv"
    table = Table(caption, "Targets and aspect", columns, bodies, source=source)
    yield Fold(f"Judgments of {dataset.name} by judge, set of texts and aspect", [table])


@in_group("Data quality", 40)
def unmeasured(report: Report) -> Section | None:
    """Return a table of the reasons, None if every planned number is defined."""
    bodies = []
    for name in report.tables:
        rows = report.rows(name)
        missing = Rows(rows.frame[rows.frame["value"].isna()])
        lines = []
        for reason, part in sorted(missing.by("note").items(), key=lambda each: -len(each[1])):
            judges = ["people" if judge == PEOPLE else judge for judge in part.names("judge")]
            named = map(_few, (part.names("statistic"), judges, part.names("dataset")))
            cells = [count_cell(len(part)), count_cell(len(rows)), *map(words_cell, named)]
            lines.append(Line(spoken(str(reason)) or "no reason was given", cells))
        bodies += [Body(lines, f"{name}.csv")] if lines else []
    if not bodies:
        return None
    columns = [Column("numbers"), Column("of planned")]
    columns += [Column(name, style="words") for name in ("Statistics", "Judges", "Datasets")]
    caption = "Numbers that the study planned and that are not defined, by table and reason."
    table = Table(caption, "Reason", columns, bodies, code=False)
    return Section("unmeasured", "Planned, not measured", UNMEASURED_LEAD, [table])


def _few(names: Iterable[str]) -> str:
    names = sorted(filter(None, names))
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {count(more)} more" if more > 0 else "")


@in_group("Reproduce", 10)
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
