"""The study itself: data and licences, judgments by status, undefined numbers,
reproduction.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import fields

from judgescope import __version__
from judgescope.parsing.judgment import OFF_GRID
from judgescope.parsing.unread_shapes import CORRECT_READ, READ_REMEDY, UNREAD
from judgescope.report import elements, words
from judgescope.report.cells import count_cell, words_cell
from judgescope.report.raters_in_words import SOURCES
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.specs import StudyFacts
from judgescope.report.tables import chart, judge_bodies, rater
from judgescope.report.tally import PREFIX, CoverageTally

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
    (
        "confidence",
        "where the judge's confidence comes from, if the number is about it",
    ),
    ("seed", "the study's seed, from which every random number comes"),
    ("v", "the version of judgescope"),
    ("with", "other packages on which the number depends, if there are any"),
)
DIFFER = "stat, level, ties and weights"
"""The parts in which signatures of a judge's numbers on one dataset differ."""


def _raters(ratings: str) -> str:
    """Who gave the ratings, by the key of a dataset's card."""
    if ratings == "none":
        return "none"
    return SOURCES[ratings].whom


def data(report: Report) -> Iterator[elements.PageBlock]:
    """Yield counts, licences, citations, checksums and problems of every dataset."""
    lines = []
    for dataset in report.datasets:
        card = dataset.card
        counts = dataset.counts
        cells = [
            words_cell(dataset.name),
            words_cell(card.task),
            count_cell(counts.items),
            count_cell(counts.targets),
            count_cell(counts.originals),
            count_cell(counts.ratings),
            count_cell(len(counts.raters)),
            words_cell(_raters(card.ratings)),
        ]
        lines.append(elements.TableLine(dataset.id, cells))
    numbers = ("items", "targets", "originals", "ratings", "rater ids")
    columns = [
        *elements.columns_of(("Name", "Task"), style="words"),
        *elements.columns_of(numbers),
        elements.TableColumn("Ratings by", style="words"),
    ]
    yield elements.PageTable(
        "The data that the study read.", "Dataset", columns, [elements.Body(lines)]
    )
    yield elements.Link("Every judgment beside its text", "explore.html")
    for dataset in report.datasets:
        yield from _facts(dataset)


def _facts(
    dataset: ShownDataset, most_problems: int = 12
) -> Iterator[elements.Heading | elements.Facts | elements.Paragraph]:
    """The licence, the checksums and the first problems of a dataset."""
    facts = [("licence", dataset.card.licence), ("citation", dataset.card.citation)]
    for name, digest in sorted(dataset.counts.sha256.items()):
        facts.append((f"sha256 of {name}", digest))
    yield elements.Heading(dataset.name, f"data-{dataset.id}")
    yield elements.Facts([(name, text) for name, text in facts if text])
    problems = dataset.counts.problems
    if problems:
        items = problems[:most_problems]
        more = len(problems) - most_problems
        if more > 0:
            items = [*items, f"and {more} more"]
        notices = words.plural(len(problems), "notice")
        title = f"{dataset.name}: {notices} while reading."
        yield elements.Paragraph(title, items=items)


def coverage(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[elements.PageBlock]:
    """Yield a row per judge and, folded, a row per cell."""
    seen = {name.removeprefix(PREFIX) for name in rows.names("statistic")}
    statuses = [status for status in words.STATUSES if status in seen or status == "ok"]
    heads = ["planned", *map(words.STATUSES.__getitem__, statuses)]
    columns = elements.columns_of(heads, group="Judgments")
    columns.append(elements.TableColumn("share ok"))
    columns.append(elements.TableColumn("Reasons", style="words"))
    judges = {judge: rows.where(judge=judge.id) for judge in report.judges_of(rows)}
    bodies = judge_bodies(
        judges, lambda judge: CoverageTally(judges[judge]).cells(statuses)
    )
    tally = CoverageTally(rows)
    caption = f"{dataset.name}: judgments by judge, over all cells."
    table = elements.PageTable(caption, "Judge", columns, bodies)
    summary = (
        "A judge is compared only on the texts that it scored; the lost judgments may "
        "be the hard ones."
    )
    axis = "share of the requested judgments; the line marks 100 %"
    title = f"{dataset.name}: judgments with a score"
    if tally.failed:
        yield chart(title, summary, table, line=1, axis=axis)
    else:
        yield table
    if tally.counts[OFF_GRID]:
        yield elements.Paragraph(words.OFF_GRID_SENTENCE, style="small")
    yield from _unread(judges)
    bodies = []
    for judge, mine in judges.items():
        lines = []
        parts: dict[tuple[str, str], list[ReportRow]] = {}
        for row in mine:
            parts.setdefault((row.cell, row.aspect), []).append(row)
        for (cell, aspect), part in parts.items():
            counts = CoverageTally(part).cells(statuses)
            about = report.aspect(aspect)
            lines.append(elements.TableLine(cell, counts, about=about))
        bodies.append(elements.Body(lines, judge.id))
    caption = f"{dataset.name}: judgments by judge, set of targets and aspect."
    source = "tables/coverage.csv"
    table = elements.PageTable(
        caption, "Targets and aspect", columns, bodies, source=source
    )
    yield elements.Fold(
        f"Judgments of {dataset.name} by judge, set of texts and aspect", [table]
    )


def _unread(judges: Mapping[ShownJudge, ReportRows]) -> Iterator[elements.Paragraph]:
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
            yield elements.Paragraph(text, style="small")


def unmeasured(report: Report) -> Iterator[elements.PageTable]:
    """Yield a table of the reasons; nothing if every planned number is defined."""
    bodies = []
    for name in report.tables:
        lines = _undefined(report.rows(name))
        if lines:
            bodies.append(elements.Body(lines, f"{name}.csv"))
    if not bodies:
        return
    columns = [
        *elements.columns_of(("numbers", "of planned")),
        *elements.columns_of(("Statistics", "Judges", "Datasets"), style="words"),
    ]
    caption = (
        "Numbers that the study planned and that are not defined, by table and reason."
    )
    yield elements.PageTable(caption, "Reason", columns, bodies, code=False)


def _undefined(rows: ReportRows) -> list[elements.TableLine]:
    """A line for each reason of undefined numbers of a table, the commonest first."""
    missing = rows.undefined
    by_reason = missing.by("note")
    lines = []
    for reason in sorted(by_reason, key=lambda reason: -len(by_reason[reason])):
        part = by_reason[reason]
        cells = [
            count_cell(len(part)),
            count_cell(len(rows)),
            words_cell(_few(part.names("statistic"))),
            words_cell(_few(map(rater, part.names("judge")))),
            words_cell(_few(part.names("dataset"))),
        ]
        head = words.spoken(str(reason)) or "no reason was given"
        lines.append(elements.TableLine(head, cells))
    return lines


def _few(names: Iterable[str], at_most: int = 4) -> str:
    """The first names, and how many more there are."""
    names = sorted(filter(None, names))
    text = ", ".join(names[:at_most])
    more = len(names) - at_most
    if more > 0:
        return f"{text} and {words.count(more)} more"
    return text


def _policies(study: StudyFacts) -> list[tuple[str, str]]:
    """Return the study's policies that are not the default, by their key."""
    policies = []
    for field in fields(StudyFacts):
        if field.name in ("gold", "orders", "unread"):
            value = str(getattr(study, field.name))
            if value != field.default:
                policies.append((field.name, value))
    return policies


def reproduce(report: Report) -> Iterator[elements.PageBlock]:
    """Yield the command, the seed, the versions, and how to read a signature."""
    facts = [("command", report.spec.command), ("seed", str(report.spec.study.seed))]
    facts += _policies(report.spec.study)
    yield elements.Facts(facts, code=True)
    yield elements.Heading("Versions", "versions")
    versions = [
        ("judgescope", __version__),
        ("Python", "{}.{}".format(*sys.version_info)),
    ]
    versions += sorted(report.spec.versions.items())
    yield elements.Facts(versions, code=True)
    yield elements.Heading("Signatures", "signatures")
    yield elements.Paragraph(
        "Every number of the tables has a signature; its parts, joined by |, are:"
    )
    yield elements.Facts(SIGNED)
