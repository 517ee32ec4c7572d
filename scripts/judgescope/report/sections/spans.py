"""Spans: what errors judges list, whether these are found, and whether people marked them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from judgescope.report.annotated import DRAWN, LEAST, Error, Judged, Reading, grouped, pieces
from judgescope.report.elements import (
    Block,
    Cell,
    Column,
    Fold,
    Group,
    Marked,
    Marking,
    Part,
    Section,
    Table,
    Text,
    estimate,
)
from judgescope.report.marked import Piece
from judgescope.report.numbers import plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.shared import bodies, columns_of, section_of
from judgescope.report.words import STATUSES, label

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
MOST_ERRORS, MOST_MARKINGS = 40, 400
"""Errors that are shown of a marked text, and marked texts of a dataset."""
LEAD = (
    "Some judges list errors and quote where they are. Is what they quote in the text, and, where "
    "people marked errors too, is it what people marked? An annotation is one list of errors with "
    "its verdict: a judge's reply, or what an ensemble makes of its members' lists. Every one "
    f"counts, also several of one text. Below the tables are {DRAWN} texts of each dataset with "
    f"the errors in them, spread over its aspects, but at least {LEAST} for each aspect."
)
COMPARED = (
    "Errors that people marked are of no aspect, so that each of a judge's lists is compared with "
    "all of them. A span whose words are not found counts as wrong; an error that quotes no words "
    "is left out. Words that stand in a text several times are taken for their first place unless "
    "they are quoted again.",
)
HINT = (
    "Texts drawn by the study's seed, with the first annotation of each judge. The darker, the "
    "more severe (the small number, up to 5); point at a marked place, or go there with the tab "
    "key, for what is told of it at the foot of the window. Where much is told of errors that "
    "overlap, the tab key goes into all of it after the last of them, to scroll."
)


def section(report: Report) -> Section | None:
    """Return what judges list, how it agrees with people, and texts with the errors in them."""
    return section_of(report, "spans", "Error spans", LEAD, _dataset)


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
    columns = columns_of(names)

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
    aspects = [one for one in dataset.aspects if any(one in text.readings for text in texts)]
    for aspect in aspects:
        own = [_marked(report, one, aspect, ids) for one in texts if aspect in one.readings]
        shown, left = _first(own, max(MOST_MARKINGS // len(aspects), 1))
        more = f" {plural(left, 'more marked text is', 'more marked texts are')} left out here."
        name = f"{dataset.name}, {report.aspect(aspect)}: texts with the errors in them"
        yield Fold(name, [Text(HINT + more * bool(left), style="small"), *shown])


def _first(texts: Sequence[Marked], most: int) -> tuple[list[Marked], int]:
    """Return texts with at most so many markings in all, and how many of these are left out."""
    found, left = list[Marked](), most
    for one in texts[:most]:
        kept = one.markings[:left]
        left -= len(kept)
        found += [replace(one, markings=kept)] if kept else []
    return found, sum(len(one.markings) for one in texts) - (most - left)


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
    errors = (reading.errors or [])[:MOST_ERRORS]
    found = grouped(*pieces(text, errors))
    shown = {at for group in found for _, own in group for at in own}
    nowhere = [
        f"{_unmarked(one)}: {_told(one, quoted=True)}"
        for at, one in enumerate(errors)
        if at not in shown
    ]
    if left := len(reading.errors or []) - len(errors):
        nowhere.append(f"{plural(left, 'more error is', 'more errors are')} left out here")
    style = "" if reading.judge else "people"
    groups = [_group(one, errors, style, ids) for one in found]
    return Marking(reading.judge, _about(reading), groups, nowhere)


def _about(reading: Reading) -> str:
    """Return how many errors a reading lists and its verdict, or why there are none."""
    if reading.status not in {"ok", ""}:
        return STATUSES[reading.status]
    errors = "no list" if reading.errors is None else plural(len(reading.errors), "error")
    return errors if reading.value is None else f"{errors}; verdict {reading.value:g}"


def _unmarked(error: Error) -> str:
    """Return why an error is marked nowhere in the text as it is shown."""
    if error.start is None or error.end is None:
        return "not in the text" if error.quoted else "without a place"
    return "in the part that is not shown" if error.start < error.end else "of no length"


def _group(
    group: Sequence[tuple[Piece, Sequence[int]]],
    errors: Sequence[Error],
    style: str,
    ids: Iterator[str],
) -> Group:
    """Return neighbouring pieces and, once, what is told of each error over any of them."""
    last = {error: at for at, (_, own) in enumerate(group) for error in own}
    place = {error: at for at, error in enumerate(sorted(last))}
    parts = []
    for at, (piece, own) in enumerate(group):
        levels = [errors[one].severity for one in own]
        ends = [errors[one].severity for one in own if last[one] == at]
        shade = style or f"shade-{max(levels, default=0)}"
        parts.append(
            Part(
                piece.text,
                gap=piece.kind == "gap",
                shade=shade + " several" * (len(own) > 1) if own else "",
                told=[place[one] for one in own],
                sign=" ".join(str(level) for level in ends if level),
            )
        )
    return Group(parts, [(next(ids), _told(errors[one])) for one in place])


def _told(error: Error, *, quoted: bool = False) -> str:
    """Return what is told of an error, in one line."""
    severity = f"severity {error.severity}" if error.severity else ""
    words = f"“{error.quoted}”" if quoted and error.quoted else ""
    head = ", ".join(filter(None, (words, severity, error.category)))
    return ": ".join(filter(None, (head, error.explanation))) or "nothing is told of it"
