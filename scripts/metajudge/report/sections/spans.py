"""Spans: what errors judges list, whether these are found, and whether people marked them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from metajudge.report.annotated import DRAWN, Error, Judged, Reading, pieces
from metajudge.report.elements import (
    Block,
    Cell,
    Column,
    Fold,
    Marked,
    Marking,
    Part,
    Section,
    Table,
    Text,
    estimate,
)
from metajudge.report.marked import Piece
from metajudge.report.numbers import plural
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Rows
from metajudge.report.sections.shared import bodies, per_dataset
from metajudge.report.words import STATUSES, label
from metajudge.statistics.registry import STATISTICS

LISTED = ("span_errors", "span_clean", "span_severity", "span_placeless")
FOUND = ("span_match_rate", "span_match_exact", "span_match_normalised", "span_match_fuzzy")
NOTED = (
    *("span_errors_beside_none", "span_best_with_severe", "span_less_without_errors"),
    *("span_other_verdicts", "span_dropped", "span_superseded", "span_unread"),
)
AGREED = ("span_precision", "span_recall", "span_f1")
FORMS = {"exact": "The same spans", "tokens": "The same words"}
KINDS = {
    "exact_category": "The same spans and kinds",
    "tokens_category": "The same words and kinds",
}
LEVELS = {"pooled": "all texts together", "by_text": "mean over texts"}
SOURCE = "tables/spans.csv"
LEAD = (
    "Some judges list errors and quote where they are. Is what they quote in the text, and, where "
    "people marked errors too, is it what people marked? Every reply counts, also several to one "
    "text."
)
COMPARED = (
    "Errors that people marked are of no aspect, so that each of a judge's lists is compared with "
    "all of them. A span whose words are not found counts as wrong; an error that quotes no words "
    "is left out. Words that stand in a text several times are taken for their first place unless "
    "they are quoted again.",
)
HINT = (
    f"Up to {DRAWN} texts, drawn by the study's seed, with the first reply of each judge. The "
    "darker, the more severe (the small number, up to 5); point at a marked place, or go there "
    "with the tab key, for what is told of it at the foot of the window."
)


def section(report: Report) -> Section | None:
    """Return what judges list, how it agrees with people, and texts with the errors in them."""
    blocks = per_dataset(report, "spans", _dataset)
    return Section("spans", "Error spans", LEAD, blocks) if blocks else None


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    cells = rows.names("cell")
    shown = next((name for name in ("systems", "original") if name in cells), cells[0])
    found: list[Block] = [_table(report, dataset, rows.where(cell=shown), (*LISTED, *FOUND))]
    if len(rows.where(statistic=AGREED)):
        first, *rest = (
            _agreement(report, dataset, rows, level, forms)
            for level in LEVELS
            for forms in (FORMS, KINDS)
        )
        found += [first, Fold(f"{dataset.name}: precision and recall by text, and by kind", rest)]
    noted = [_table(report, dataset, rows.where(cell=shown), NOTED)]
    found.append(Fold(f"{dataset.name}: replies that contradict themselves", noted))
    if others := [name for name in cells if name != shown]:
        each = [_table(report, dataset, rows.where(cell=one), (*LISTED, *FOUND)) for one in others]
        found.append(Fold(f"{dataset.name}: other sets of texts", each))
    return [*found, *_views(report, dataset)]


def _table(report: Report, dataset: Dataset, rows: Rows, names: Sequence[str]) -> Table:
    """Return some statistics of one set of texts, per aspect and judge."""
    [cell] = rows.names("cell")
    columns = [Column(label(name), STATISTICS[name].meaning) for name in names]

    def found(own: Rows) -> list[Cell]:
        known = {row.statistic: row for row in own}
        return [estimate(known.get(name)) for name in names]

    caption = f"{dataset.name}, {_set(report, cell)}: the errors that judges list."
    return _by_aspect(report, caption, columns, rows.where(statistic=tuple(names)), found)


def _set(report: Report, cell: str) -> str:
    """Return what a set of texts is called."""
    names = {one.cell: " ".join(filter(None, (one.name, one.degree))) for one in report.damages}
    return {"systems": "the systems' texts", "original": "the originals", **names}.get(cell, cell)


def _agreement(
    report: Report, dataset: Dataset, rows: Rows, level: str, forms: Mapping[str, str]
) -> Table:
    """Return precision, recall and F1 of spans that are compared in some forms."""
    columns = [Column(label(name), "", title) for title in forms.values() for name in AGREED]

    def found(own: Rows) -> list[Cell]:
        known = {(row.form, row.statistic): row for row in own}
        return [estimate(known.get((form, name))) for form in forms for name in AGREED]

    caption = f"{dataset.name}, {LEVELS[level]}: the spans of judges and those that people marked."
    told = rows.where(statistic=AGREED, level=level)
    return _by_aspect(report, caption, columns, told, found, COMPARED)


def _by_aspect(
    report: Report,
    caption: str,
    columns: Sequence[Column],
    rows: Rows,
    found: Callable[[Rows], list[Cell]],
    notes: Sequence[str] = (),
) -> Table:
    """Return a table with a body for each aspect and a row for each judge."""
    parts = []
    for aspect in rows.names("judged"):
        own = rows.where(judged=aspect)

        def cells(judge: Judge, own: Rows = own) -> list[Cell] | None:
            mine = own.where(judge=judge.id)
            return found(mine) if len(mine) else None

        parts += bodies(report.judges, cells, report.aspect(aspect))
    return Table(caption, "Judge", columns, parts, notes, source=SOURCE)


def _views(report: Report, dataset: Dataset) -> Iterator[Block]:
    """Yield, for each aspect, texts with the errors that each judge lists in them."""
    texts = report.annotated.get(dataset.id, [])
    ids = (f"error-{dataset.id}-{number}" for number in count(1))
    for aspect in dataset.aspects:
        own = [one for one in texts if aspect in one.readings]
        if own:
            shown = [_marked(report, one, aspect, ids) for one in own]
            name = f"{dataset.name}, {report.aspect(aspect)}: texts with the errors in them"
            yield Fold(name, [Text(HINT, style="small"), *shown])


def _marked(report: Report, text: Judged, aspect: str, ids: Iterator[str]) -> Marked:
    """Return a text as people mark it, if they do, and as each judge does."""
    order = {judge.id: at for at, judge in enumerate(report.judges)}
    told = sorted(text.readings[aspect], key=lambda one: order[one.judge])
    markings = [_marking(text.text, one, ids) for one in told]
    if text.gold is not None:
        people = Reading("", None, "", text.gold)
        markings.insert(0, _marking(text.text, people, ids))
    return Marked(text.target, markings)


def _marking(text: str, reading: Reading, ids: Iterator[str]) -> Marking:
    found, over = pieces(text, reading.errors)
    last = {error: at for at, own in enumerate(over) for error in own}
    parts = [_part(one, reading, over, last, ids) for one in found]
    nowhere = [
        f"{'not in the text' if one.quoted else 'without a place'}: {_told(one, quoted=True)}"
        for one in reading.errors
        if one.start is None
    ]
    errors = plural(len(reading.errors), "error")
    value = f"; verdict {reading.value:g}" if reading.value is not None else ""
    failed = STATUSES.get(reading.status, "") if reading.status not in {"ok", ""} else ""
    return Marking(reading.judge or "people", failed or f"{errors}{value}", parts, nowhere)


def _part(
    piece: Piece,
    reading: Reading,
    over: Sequence[Sequence[int]],
    last: dict[int, int],
    ids: Iterator[str],
) -> Part:
    if piece.kind != "error":
        return Part(piece.text, gap=piece.kind == "gap")
    own = [(at, reading.errors[at]) for at in over[piece.number]]
    ends = [str(one.severity) for at, one in own if one.severity and last[at] == piece.number]
    worst = max(one.severity for _, one in own)
    return Part(
        piece.text,
        shade=(f"shade-{worst}" if reading.judge else "people") + " several" * (len(own) > 1),
        told=[_told(one) for _, one in own],
        sign=" ".join(ends),
        id=next(ids),
    )


def _told(error: Error, *, quoted: bool = False) -> str:
    """Return what is told of an error, in one line."""
    severity = f"severity {error.severity}" if error.severity else ""
    words = f"“{error.quoted}”" if quoted and error.quoted else ""
    head = ", ".join(filter(None, (words, severity, error.category)))
    return ": ".join(filter(None, (head, error.explanation))) or "nothing is told of it"
