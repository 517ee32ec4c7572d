"""Spans: what errors judges list, whether these are found, and whether people marked
them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, product

from judgescope.report.elements import (
    Fold,
    Group,
    Marked,
    MarkedPart,
    Marking,
    PageBlock,
    PageTable,
    Paragraph,
    TableColumn,
)
from judgescope.report.items import AnnotatedText, Reading
from judgescope.report.marked import LocatedError, Piece, grouped, pieces
from judgescope.report.report import Report, ShownDataset, ids_of
from judgescope.report.rows import ReportRows, RowPlace
from judgescope.report.tables import (
    TableSpec,
    aspect_groups,
    chart,
    statistic_columns,
)
from judgescope.report.words import STATUSES, known_names, label, plural

LISTED = (
    "span_errors",
    "span_clean",
    "span_severity",
    "span_placeless",
    "span_match_rate",
    "span_match_exact",
    "span_match_normalised",
    "span_match_fuzzy",
)
"""Statistics of the errors that a judge lists, and of whether they are found."""
NOTED = (
    "span_errors_beside_none",
    "span_best_with_severe",
    "span_less_without_errors",
    "span_other_verdicts",
    "span_dropped",
    "span_superseded",
    "span_repeated",
    "span_placeholders",
    "span_unread",
)
"""Statistics of replies that contradict themselves."""
AGREED = ("span_precision", "span_recall", "span_f1")
FORMS = {"exact": "The same spans", "tokens": "The same words"}
KINDS = {
    "exact_category": "The same spans and kinds",
    "tokens_category": "The same words and kinds",
}
OVERLAPS = {
    "partial": "Overlapping spans, by their overlap",
    "partial_category": "The same, of the same kind",
}
LEVELS = {"pooled": "all texts together", "by_text": "mean over texts"}
SOURCE = "tables/spans.csv"
MOST_ERRORS = 40
"""Maximum number of errors shown per text."""
MOST_MARKINGS = 400
"""Maximum number of marked texts shown per dataset."""


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield what judges list, how it agrees with people, and texts with the errors in
    them.
    """
    cells = rows.names("cell")
    usual = known_names(("systems", "original"), cells)
    shown = usual[0] if usual else cells[0]
    agreed: list[PageBlock] = []
    if len(rows.where(statistic=AGREED)):
        first, *rest = [
            _agreement(report, dataset, rows, level, forms)
            for level, forms in product(LEVELS, (FORMS, KINDS, OVERLAPS))
        ]
        yield chart(
            f"{dataset.name}: spans of judges and of people",
            "The share of a judge's spans that people marked, and of people's spans "
            "that it lists.",
            first,
            axis="share, with 95 % interval",
        )
        agreed = [
            Fold(
                f"{dataset.name}: precision and recall by text, by kind and by overlap",
                rest,
            )
        ]
    yield _of_set(report, dataset, rows, shown, LISTED)
    yield from agreed
    noted = _of_set(report, dataset, rows, shown, NOTED)
    yield Fold(f"{dataset.name}: replies that contradict themselves", [noted])
    others = []
    for name in cells:
        if name != shown:
            others.append(_of_set(report, dataset, rows, name, LISTED))
    if others:
        yield Fold(f"{dataset.name}: other sets of texts", others)
    yield from _marked_texts(report, dataset)


def _of_set(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    cell: str,
    names: Sequence[str],
) -> PageTable:
    """Return some statistics of one set of texts, per aspect and judge."""
    sets = {
        each.cell: f"{each.name} {each.degree}".strip() for each in report.perturbations
    }
    sets |= {"systems": "the systems' texts", "original": "the originals"}
    caption = f"{dataset.name}, {sets.get(cell, cell)}: the errors that judges list."
    part = rows.where(cell=cell, statistic=tuple(names))
    return TableSpec(
        caption,
        statistic_columns(names, cell=cell),
        aspect_groups(report, part.names("judged")),
        source=SOURCE,
    ).filled(report.judges, part)


def _agreement(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    level: str,
    forms: Mapping[str, str],
) -> PageTable:
    part = rows.where(statistic=AGREED, level=level)
    (cell,) = part.names("cell")  # people mark errors in one set of texts
    columns = []
    for (form, title), name in product(forms.items(), AGREED):
        where: RowPlace = {"form": form, "cell": cell}
        column = TableColumn(label(name), group=title, statistic=name, where=where)
        columns.append(column)
    note = (
        "Errors that people marked have no aspect, so each of a judge's lists is "
        "compared with all of them. A span whose words are not in the text counts as "
        "wrong; an error without a quote is left out. Words that occur several times "
        "in a text are located at their first occurrence, and at the next one if they "
        "are quoted again."
    )
    return TableSpec(
        f"{dataset.name}, {LEVELS[level]}: the spans of judges and those that people "
        "marked.",
        columns,
        aspect_groups(report, part.names("judged")),
        level=level,
        notes=(note,),
        source=SOURCE,
    ).filled(report.judges, part)


def _marked_texts(report: Report, dataset: ShownDataset) -> Iterator[Fold]:
    """Yield, for each aspect, texts as people mark them, if they do, and as each judge
    does.
    """
    texts = report.annotated.get(dataset.id, [])
    ids = (f"error-{dataset.id}-{number}" for number in count(1))
    by_aspect = dict[str, list[AnnotatedText]]()
    for aspect in dataset.aspects:
        of_aspect = [text for text in texts if aspect in text.readings]
        if of_aspect:
            by_aspect[aspect] = of_aspect
    order = ids_of(report.judges)
    for aspect, of_aspect in by_aspect.items():
        every = [_marked(text, aspect, order, ids) for text in of_aspect]
        limit = max(MOST_MARKINGS // len(by_aspect), 1)
        left = limit
        hidden = 0
        shown = []
        for marked in every:
            kept = marked.markings[:left]
            left -= len(kept)
            hidden += len(marked.markings) - len(kept)
            if kept:
                shown.append(replace(marked, markings=kept))
        hint = (
            "Texts drawn by the study's seed, with the first annotation of each judge. "
            "Darker marks are more severe errors (the small number, up to 5); point at "
            "a mark, or move to it with the tab key, to read its description at the "
            "foot of the window. Long descriptions of overlapping errors take the "
            "focus after the last of them, so that they can be scrolled."
        )
        if hidden:
            more = plural(hidden, "more marked text is", "more marked texts are")
            hint += f" {more} left out here."
        name = f"{dataset.name}, {report.aspect(aspect)}: texts with the errors in them"
        yield Fold(name, [Paragraph(hint, style="small"), *shown])


def _marked(
    text: AnnotatedText, aspect: str, order: Sequence[str], ids: Iterator[str]
) -> Marked:
    """One text as people mark it, if they do, and as each judge of an aspect does."""
    readings = sorted(
        text.readings[aspect], key=lambda reading: order.index(reading.judge)
    )
    markings = [_marking(text.text, reading, ids) for reading in readings]
    if text.gold is not None:
        gold = Reading("", None, "", text.gold)
        markings.insert(0, _marking(text.text, gold, ids))
    return Marked(text.target, markings)


def _marking(text: str, reading: Reading, ids: Iterator[str]) -> Marking:
    every = reading.errors or []
    errors = every[:MOST_ERRORS]
    groups = grouped(*pieces(text, errors))
    marked = set[int]()
    for _, over in chain.from_iterable(groups):
        marked.update(over)
    nowhere = []
    for number, error in enumerate(errors):
        if number not in marked:
            nowhere.append(f"{_unmarked(error)}: {_remark(error, quoted=True)}")
    left = len(every) - len(errors)
    if left:
        more = plural(left, "more error is", "more errors are")
        nowhere.append(f"{more} left out here")
    style = "" if reading.judge else "people"
    parts = [_group(group, errors, style, ids) for group in groups]
    return Marking(reading.judge, _about(reading), parts, nowhere)


def _about(reading: Reading) -> str:
    """Return how many errors a reading lists and its verdict, or why there are none."""
    if reading.status not in {"ok", ""}:
        return STATUSES[reading.status]
    errors = "no list"
    if reading.errors is not None:
        errors = plural(len(reading.errors), "error")
    if reading.value is None:
        return errors
    return f"{errors}; verdict {reading.value:g}"


def _unmarked(error: LocatedError) -> str:
    """Return why an error is marked nowhere in the text as it is shown."""
    if error.start is None or error.end is None:
        if error.quoted:
            return "not in the text"
        return "without a location"
    if error.start < error.end:
        return "in the part that is not shown"
    return "of no length"


def _group(
    group: Sequence[tuple[Piece, Sequence[int]]],
    errors: Sequence[LocatedError],
    style: str,
    ids: Iterator[str],
) -> Group:
    """Return neighbouring pieces and, once, a remark on each error over any of them."""
    last_part = dict[int, int]()
    for index, (_, over) in enumerate(group):
        for error in over:
            last_part[error] = index
    positions = {error: position for position, error in enumerate(sorted(last_part))}
    parts = []
    for index, (piece, over) in enumerate(group):
        ending = [errors[error] for error in over if last_part[error] == index]
        shade = ""
        if over:
            severity = max(errors[error].severity for error in over)
            shade = style or f"shade-{severity}"
            if len(over) > 1:
                shade += " several"
        part = MarkedPart(
            piece.text,
            gap=piece.kind == "gap",
            shade=shade,
            errors=[positions[error] for error in over],
            sign=" ".join(str(error.severity) for error in ending if error.severity),
        )
        parts.append(part)
    remarks = [(next(ids), _remark(errors[error])) for error in positions]
    return Group(parts, remarks)


def _remark(error: LocatedError, *, quoted: bool = False) -> str:
    """Return severity, kind and explanation of an error in one line."""
    severity = f"severity {error.severity}" if error.severity else ""
    quote = f"“{error.quoted}”" if quoted and error.quoted else ""
    head = ", ".join(filter(None, (quote, severity, error.category)))
    return ": ".join(filter(None, (head, error.explanation))) or "no description"
