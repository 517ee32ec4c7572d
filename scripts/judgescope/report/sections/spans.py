"""Spans: what errors judges list, whether these are found, and whether people marked
them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, product

from judgescope.report.elements import (
    Block,
    Column,
    Fold,
    Group,
    Marked,
    Marking,
    Part,
    Table,
    Text,
)
from judgescope.report.items import DRAWN, LEAST, Reading
from judgescope.report.marked import Error, Piece, grouped, pieces
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Rows
from judgescope.report.tables import (
    TableSpec,
    aspect_groups,
    chart,
    section_of,
    statistic_columns,
)
from judgescope.report.words import STATUSES, label, plural

LISTED = ("span_errors", "span_clean", "span_severity", "span_placeless")
FOUND = (
    "span_match_rate",
    "span_match_exact",
    "span_match_normalised",
    "span_match_fuzzy",
)
NOTED = (
    *("span_errors_beside_none", "span_best_with_severe", "span_less_without_errors"),
    *("span_other_verdicts", "span_dropped", "span_superseded", "span_repeated"),
    *("span_placeholders", "span_unread"),
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
"""Maximum number of errors shown per text, and of marked texts per dataset."""
LEAD = (
    "Some judges list errors and quote the erroneous words (Kartáč et al. 2025). Do "
    "the quotes occur in the text, and do they match the errors that people marked? An "
    "annotation is one list of errors with its verdict: a judge's reply, or the list "
    "that an ensemble merges from its members' lists. Every annotation counts, even if "
    f"a text has several. Below the tables are {DRAWN} texts of each dataset with "
    f"their errors, spread over its aspects, but at least {LEAST} for each aspect."
)
COMPARED = (
    "Errors that people marked have no aspect, so each of a judge's lists is compared "
    "with all of them. A span whose words are not in the text counts as wrong; an "
    "error without a quote is left out. Words that occur several times in a text are "
    "located at their first occurrence, and at the next one if they are quoted again.",
)
HINT = (
    "Texts drawn by the study's seed, with the first annotation of each judge. Darker "
    "marks are more severe errors (the small number, up to 5); point at a mark, or "
    "move to it with the tab key, to read its description at the foot of the window. "
    "Long descriptions of overlapping errors take the focus after the last of them, so "
    "that they can be scrolled."
)


@section_of("Evidence", 110, "spans", "Error spans", LEAD)
def section(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield what judges list, how it agrees with people, and texts with the errors in
    them.
    """
    cells = rows.names("cell")
    shown = next((name for name in ("systems", "original") if name in cells), cells[0])
    listed = (*LISTED, *FOUND)
    agreed: list[Block] = []
    if len(rows.where(statistic=AGREED)):
        ways = product(LEVELS, (FORMS, KINDS))
        first, *rest = (_agreement(report, dataset, rows, *way) for way in ways)
        yield chart(
            f"{dataset.name}: spans of judges and of people",
            "The share of a judge's spans that people marked, and of people's spans "
            "that it lists.",
            first,
            axis="share, with 95 % interval",
        )
        agreed = [
            Fold(f"{dataset.name}: precision and recall by text, and by kind", rest)
        ]
    yield _of_set(report, dataset, rows, shown, listed)
    yield from agreed
    noted = _of_set(report, dataset, rows, shown, NOTED)
    yield Fold(f"{dataset.name}: replies that contradict themselves", [noted])
    others = [
        _of_set(report, dataset, rows, name, listed) for name in cells if name != shown
    ]
    if others:
        yield Fold(f"{dataset.name}: other sets of texts", others)
    yield from _marked_texts(report, dataset)


def _of_set(
    report: Report, dataset: Dataset, rows: Rows, cell: str, names: Sequence[str]
) -> Table:
    """Return some statistics of one set of texts, per aspect and judge."""
    sets = {
        one.cell: f"{one.name} {one.degree}".strip() for one in report.perturbations
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
    report: Report, dataset: Dataset, rows: Rows, level: str, forms: Mapping[str, str]
) -> Table:
    part = rows.where(statistic=AGREED, level=level)
    (cell,) = part.names("cell")  # people mark errors in one set of texts
    return TableSpec(
        f"{dataset.name}, {LEVELS[level]}: the spans of judges and those that people "
        "marked.",
        [
            Column(
                label(name),
                "",
                title,
                statistic=name,
                where={"form": form, "cell": cell},
            )
            for form, title in forms.items()
            for name in AGREED
        ],
        aspect_groups(report, part.names("judged")),
        level=level,
        notes=COMPARED,
        source=SOURCE,
    ).filled(report.judges, part)


def _marked_texts(report: Report, dataset: Dataset) -> Iterator[Fold]:
    """Yield, for each aspect, texts as people mark them, if they do, and as each judge
    does.
    """
    texts = report.annotated.get(dataset.id, [])
    ids = (f"error-{dataset.id}-{number}" for number in count(1))
    aspects = [
        one for one in dataset.aspects if any(one in text.readings for text in texts)
    ]
    order = [judge.id for judge in report.judges]
    for aspect in aspects:
        every = []
        for text in (text for text in texts if aspect in text.readings):
            readings = sorted(
                text.readings[aspect], key=lambda one: order.index(one.judge)
            )
            markings = [_marking(text.text, reading, ids) for reading in readings]
            if text.gold is not None:
                people = Reading("", None, "", text.gold)
                markings.insert(0, _marking(text.text, people, ids))
            every.append(Marked(text.target, markings))
        limit = max(MOST_MARKINGS // len(aspects), 1)
        left, shown = limit, []
        for marked in every[:limit]:
            kept = marked.markings[:left]
            left -= len(kept)
            shown += [replace(marked, markings=kept)] if kept else []
        hidden = sum(len(marked.markings) for marked in every) - (limit - left)
        more = (
            f" {plural(hidden, 'more marked text is', 'more marked texts are')} "
            "left out here."
        )
        name = f"{dataset.name}, {report.aspect(aspect)}: texts with the errors in them"
        yield Fold(name, [Text(HINT + more * bool(hidden), style="small"), *shown])


def _marking(text: str, reading: Reading, ids: Iterator[str]) -> Marking:
    errors = (reading.errors or [])[:MOST_ERRORS]
    groups = grouped(*pieces(text, errors))
    placed = {number for group in groups for _, over in group for number in over}
    nowhere = [
        f"{_unmarked(error)}: {_remark(error, quoted=True)}"
        for number, error in enumerate(errors)
        if number not in placed
    ]
    if left := len(reading.errors or []) - len(errors):
        nowhere.append(
            f"{plural(left, 'more error is', 'more errors are')} left out here"
        )
    style = "" if reading.judge else "people"
    parts = [_group(group, errors, style, ids) for group in groups]
    return Marking(reading.judge, _about(reading), parts, nowhere)


def _about(reading: Reading) -> str:
    """Return how many errors a reading lists and its verdict, or why there are none."""
    if reading.status not in {"ok", ""}:
        return STATUSES[reading.status]
    errors = (
        "no list" if reading.errors is None else plural(len(reading.errors), "error")
    )
    return errors if reading.value is None else f"{errors}; verdict {reading.value:g}"


def _unmarked(error: Error) -> str:
    """Return why an error is marked nowhere in the text as it is shown."""
    if error.start is None or error.end is None:
        return "not in the text" if error.quoted else "without a location"
    return (
        "in the part that is not shown" if error.start < error.end else "of no length"
    )


def _group(
    group: Sequence[tuple[Piece, Sequence[int]]],
    errors: Sequence[Error],
    style: str,
    ids: Iterator[str],
) -> Group:
    """Return neighbouring pieces and, once, a remark on each error over any of them."""
    last = {error: index for index, (_, over) in enumerate(group) for error in over}
    positions = {error: position for position, error in enumerate(sorted(last))}
    parts = []
    for index, (piece, over) in enumerate(group):
        ending = [errors[error].severity for error in over if last[error] == index]
        shade = (
            style
            or f"shade-{max((errors[error].severity for error in over), default=0)}"
        )
        parts.append(
            Part(
                piece.text,
                gap=piece.kind == "gap",
                shade=shade + " several" * (len(over) > 1) if over else "",
                errors=[positions[error] for error in over],
                sign=" ".join(str(severity) for severity in ending if severity),
            )
        )
    return Group(parts, [(next(ids), _remark(errors[error])) for error in positions])


def _remark(error: Error, *, quoted: bool = False) -> str:
    """Return severity, kind and explanation of an error in one line."""
    severity = f"severity {error.severity}" if error.severity else ""
    quote = f"“{error.quoted}”" if quoted and error.quoted else ""
    head = ", ".join(filter(None, (quote, severity, error.category)))
    return ": ".join(filter(None, (head, error.explanation))) or "no description"
