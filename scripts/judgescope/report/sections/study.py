"""The study itself: data and licences, judgments by status, undefined numbers,
reproduction.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import fields

from judgescope import __version__
from judgescope.parsing.judgment import OFF_GRID
from judgescope.parsing.unread_shapes import CORRECT_READ, READ_REMEDY, UNREAD
from judgescope.report import elements, words
from judgescope.report.cells import Cell, count_cell, words_cell
from judgescope.report.report import Dataset, Judge, Report, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.specs import StudyFacts
from judgescope.report.tables import chart, judge_bodies, rater, section_of

COUNTS = ("items", "targets", "originals", "ratings", "raters")
RATINGS = {"planned": "the authors' plan", "human": "people"}
PROBLEMS_SHOWN = 12
SIGNED = (
    ("judge", "the judge's id"),
    ("card", "hash of the judge's card and of its model's"),
    ("prompt", "hash of its prompts for the dataset, if it has any"),
    ("draws", "replies asked for each target"),
    ("share", "the share of the items that it was given, if not all"),
    ("temperature", "the temperature of its replies, if it is set"),
    ("parser", "how a reply becomes a number"),
    ("data", "the dataset and the first digits of its files' checksum"),
    (
        "originals",
        "hash of the card of the dataset whose references were rewritten, if any",
    ),
    ("stat", "the statistic"),
    ("level", "how texts are grouped for it"),
    ("ties", "how equal scores are treated, if the statistic depends on it"),
    (
        "weights",
        "the weights of the aspects and their hash, if the statistic uses them",
    ),
    ("gold", "what stands for several ratings of a text, if the study says so"),
    ("orders", "how two orders of a pair make one verdict, if the study says so"),
    ("unread", "how judgments that were not read count, if they are not left out"),
    ("seed", "the study's seed, from which every random number comes"),
    ("v", "the version of judgescope"),
)
DIFFER = "stat, level, ties and weights"
"""The parts in which signatures of a judge's numbers on one dataset differ."""
PREFIX = "count_"
NAMED = 4
"""Judges or statistics named for each reason of an undefined number."""
UNMEASURED_LEAD = (
    "Undefined numbers are left out, never replaced: this section lists all of them, "
    "by table and reason. Coverage lists the planned judgments without a score."
)


@in_group("Data quality", 50)
def data(report: Report) -> elements.Section:
    """Return counts, licences, citations, checksums and problems of every dataset."""
    lines, blocks = [], list[elements.Block]()
    for dataset in report.datasets:
        card, counts = dataset.card, dataset.counts
        numbers = (counts.items, counts.targets, counts.originals, counts.ratings)
        cells = [
            *map(words_cell, (dataset.name, card.task)),
            *map(count_cell, (*numbers, len(counts.raters))),
            words_cell(RATINGS.get(card.ratings, card.ratings)),
        ]
        lines.append(elements.Line(dataset.id, cells))
        facts = [("licence", card.licence), ("citation", card.citation)]
        facts += [
            (f"sha256 of {name}", digest)
            for name, digest in sorted(counts.sha256.items())
        ]
        blocks.append(elements.Heading(dataset.name, f"data-{dataset.id}"))
        blocks.append(elements.Facts([(name, text) for name, text in facts if text]))
        if problems := counts.problems:
            more = len(problems) - PROBLEMS_SHOWN
            items = problems[:PROBLEMS_SHOWN] + (
                [f"and {more} more"] if more > 0 else []
            )
            title = (
                f"{dataset.name}: {words.plural(len(problems), 'notice')} while "
                "reading."
            )
            blocks.append(elements.Text(title, items=items))
    columns = [
        elements.Column("Name", style="words"),
        elements.Column("Task", style="words"),
    ]
    columns += [
        *map(elements.Column, COUNTS),
        elements.Column("Ratings by", style="words"),
    ]
    lead = "Every dataset keeps its own terms; its texts are not part of this file."
    table = elements.Table(
        "The data that the study read.", "Dataset", columns, [elements.Body(lines)]
    )
    blocks[:0] = [
        table,
        elements.Link("Every judgment beside its text", "explore.html"),
    ]
    return elements.Section("data", "Data and licences", lead, blocks)


class Tally:
    """Judgments by status in rows of coverage, and the reasons why cells were never
    asked.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.counts, self.reasons = Counter[str](), dict[str, None]()
        for row in rows:
            if row.statistic.startswith(PREFIX) and row.value is not None:
                self.counts[row.statistic.removeprefix(PREFIX)] += round(row.value)
            elif row.statistic == "coverage" and row.value is None:
                self.reasons[words.spoken(row.note)] = None
        self.asked = self.counts.total() - self.counts["not_applicable"]
        """How many judgments were asked for."""
        self.failed = {
            status: number
            for status, number in self.counts.items()
            if number and status not in ("ok", "not_applicable")
        }
        """Status -> number of the judgments without a value."""

    def cells(self, statuses: Sequence[str]) -> list[Cell]:
        """Return planned, each status, the share with a value, reasons."""
        share = self.counts["ok"] / self.asked if self.asked else None
        row = (
            Row(statistic="coverage", value=share, n=self.asked) if self.asked else None
        )
        return [
            count_cell(self.counts.total()),
            *(count_cell(self.counts[status]) for status in statuses),
            Cell(
                words.DASH if share is None else words.percent(share),
                sort=share,
                row=row,
            ),
            words_cell("; ".join(self.reasons)),
        ]


def tally_of(report: Report, judge: Judge) -> Tally:
    """Return the sum over all judgments of a judge."""
    return Tally(report.rows("coverage").where(judge=judge.id))


@section_of(
    *("Data quality", 30, "coverage", "Coverage"),
    "All judgments that were planned for existing texts, by outcome. A reply that "
    "could not be read never counts as a score.",
)
def coverage(report: Report, dataset: Dataset, rows: Rows) -> Iterator[elements.Block]:
    """Yield a row per judge and, folded, a row per cell."""
    seen = {name.removeprefix(PREFIX) for name in rows.names("statistic")}
    statuses = [status for status in words.STATUSES if status in seen or status == "ok"]
    columns = [elements.Column("planned", group="Judgments")]
    columns += [
        elements.Column(words.STATUSES[status], group="Judgments")
        for status in statuses
    ]
    columns += [elements.Column("share ok"), elements.Column("Reasons", style="words")]
    judges = {judge: rows.where(judge=judge.id) for judge in report.judges_of(rows)}
    bodies = judge_bodies(judges, lambda judge: Tally(judges[judge]).cells(statuses))
    tally, caption = Tally(rows), f"{dataset.name}: judgments by judge, over all cells."
    table = elements.Table(caption, "Judge", columns, bodies)
    summary = (
        "A judge is compared only on the texts that it scored; the lost judgments may "
        "be the hard ones."
    )
    axis = "share of the requested judgments; the line marks 100 %"
    title = f"{dataset.name}: judgments with a score"
    yield chart(title, summary, table, line=1, axis=axis) if tally.failed else table
    if tally.counts[OFF_GRID]:
        yield elements.Text(words.OFF_GRID_SENTENCE, style="small")
    yield from _unread(judges)
    bodies = []
    for judge, mine in judges.items():
        lines = [
            elements.Line(
                cell, Tally(part["record"]).cells(statuses), about=report.aspect(aspect)
            )
            for (cell, aspect), part in mine.frame.groupby(
                ["cell", "aspect"], sort=False
            )
        ]
        bodies.append(elements.Body(lines, judge.id))
    caption = f"{dataset.name}: judgments by judge, set of targets and aspect."
    source = "tables/coverage.csv"
    table = elements.Table(
        caption, "Targets and aspect", columns, bodies, source=source
    )
    yield elements.Fold(
        f"Judgments of {dataset.name} by judge, set of texts and aspect", [table]
    )


def _unread(judges: Mapping[Judge, Rows]) -> Iterator[elements.Text]:
    """Yield a sentence on the judges with many unread replies, for each remedy."""
    for remedy in (READ_REMEDY, CORRECT_READ):
        names = []
        for judge, rows in judges.items():
            counts = rows.where(statistic=f"{PREFIX}{UNREAD}")
            if any(remedy in row.note for row in counts):
                names.append(judge.id)
        if names:
            text = (
                "More than a tenth of the replies is unread, of "
                f"{', '.join(names)}: {remedy}."
            )
            yield elements.Text(text, style="small")


@in_group("Data quality", 40)
def unmeasured(report: Report) -> elements.Section | None:
    """Return a table of the reasons, None if every planned number is defined."""
    bodies = []
    for name in report.tables:
        rows = report.rows(name)
        missing = Rows(rows.frame[rows.frame["value"].isna()])
        lines = []
        for reason, part in sorted(
            missing.by("note").items(), key=lambda each: -len(each[1])
        ):
            judges = map(rater, part.names("judge"))
            named = map(_few, (part.names("statistic"), judges, part.names("dataset")))
            cells = [
                count_cell(len(part)),
                count_cell(len(rows)),
                *map(words_cell, named),
            ]
            lines.append(
                elements.Line(words.spoken(str(reason)) or "no reason was given", cells)
            )
        bodies += [elements.Body(lines, f"{name}.csv")] if lines else []
    if not bodies:
        return None
    columns = [elements.Column("numbers"), elements.Column("of planned")]
    columns += [
        elements.Column(name, style="words")
        for name in ("Statistics", "Judges", "Datasets")
    ]
    caption = (
        "Numbers that the study planned and that are not defined, by table and reason."
    )
    table = elements.Table(caption, "Reason", columns, bodies, code=False)
    return elements.Section(
        "unmeasured", "Planned, not measured", UNMEASURED_LEAD, [table]
    )


def _few(names: Iterable[str]) -> str:
    names = sorted(filter(None, names))
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (
        f" and {words.count(more)} more" if more > 0 else ""
    )


def _policies(study: StudyFacts) -> list[tuple[str, str]]:
    """Return the study's policies that are not the default, by their key."""
    default = {field.name: field.default for field in fields(StudyFacts)}
    keys = ("gold", "orders", "unread")
    values = [(key, str(getattr(study, key))) for key in keys]
    return [(key, value) for key, value in values if value != default[key]]


@in_group("Reproduce", 10)
def reproduce(report: Report) -> elements.Section:
    """Return the command, the seed, the versions, and how to read a signature."""
    versions = [
        ("judgescope", __version__),
        ("Python", "{}.{}".format(*sys.version_info)),
    ]
    versions += sorted(report.spec.versions.items())
    facts = [("command", report.spec.command), ("seed", str(report.spec.study.seed))]
    facts += _policies(report.spec.study)
    lead = (
        "The same lock file and the same replies give the same bytes: the tables, and "
        "this file. Intervals are 95 %, jackknife-t over the sources, unless a table's "
        "method says otherwise."
    )
    blocks: list[elements.Block] = [
        elements.Facts(facts, code=True),
        elements.Heading("Versions", "versions"),
        elements.Facts(versions, code=True),
        elements.Heading("Signatures", "signatures"),
        elements.Text(
            "Every number of the tables has a signature; its parts, joined by |, are:"
        ),
        elements.Facts(SIGNED),
    ]
    return elements.Section("reproduce", "How to reproduce", lead, blocks)
