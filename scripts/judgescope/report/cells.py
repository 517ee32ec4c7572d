"""Cells of tables: how a row of a result table, a count or a price is written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judgescope.report import words
from judgescope.report.rows import ReportRow
from judgescope.statistics.intervals import CORRELATION, FEWEST_SOURCES
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import NO_WIDTH

FLAT = "°"
NO_WIDTH_TOLD = (
    f"{FLAT} No width: leaving out any one source does not change the value, or "
    "changes only ties. This does not mean certainty: other sources may differ."
)


@dataclass(frozen=True)
class ReportCell:
    """One cell: its text, the interval and small print below it, and a title with the
    counts.

    `sort` is the number by which a column is sorted; `style` a class of the style
    sheet, `mark` a sign whose meaning stands below the table. `row` is the estimate
    that is shown, if it is one. `href` is where its text leads.
    """

    text: str
    interval: str = ""
    notes: tuple[str, ...] = ()
    title: str = ""
    sort: float | None = None
    style: str = "number"
    mark: str = ""
    row: ReportRow | None = None
    href: str = ""

    @property
    def exact(self) -> list[tuple[str, str]]:
        """Return the numbers behind the cell, unrounded, by the names of its
        attributes.
        """
        values = {"v": self.sort}
        row = self.row
        if row:
            values["lo"] = row.ci_low
            values["hi"] = row.ci_high
            values["n"] = row.n
            values["missing"] = row.n_missing or None
            values["tied"] = row.n_tied or None
        exact = []
        for name, value in values.items():
            if value is not None:
                exact.append((name, words.exact(value)))
        return exact

    @property
    def flat(self) -> bool:
        """Return whether its interval has no width."""
        return self.interval.endswith(FLAT)


NO_CELL = ReportCell("", style="none")
UNDEFINED = ReportCell(words.DASH, style="undefined")


def estimate(
    row: ReportRow | None, *, counts: bool = False, mark: str = "", style: str = ""
) -> ReportCell:
    """Return the cell of an estimate: value, interval, what is missing; a dash and the
    reason.

    With `counts` n and ties stand in the cell, otherwise in its title; a correlation of
    few texts or sources is then no number (`of_few`).
    """
    if row is None:
        return ReportCell(words.DASH, notes=("not planned",), style="undefined")
    if row.value is None:
        return ReportCell(
            words.DASH, notes=(words.spoken(row.note),), style="undefined"
        )
    numbers = counts_of(row)
    if of_few(row) and not counts:
        return ReportCell(short(row), title=numbers, style="undefined", mark=mark)
    notes: tuple[str, ...] = ()
    if counts:
        notes = (numbers,)
    elif row.n_missing:
        notes = (f"{words.count(row.n_missing)} missing",)
    return ReportCell(
        words.written(row.statistic, row.value),
        interval=interval(row),
        notes=notes,
        title="; ".join(filter(None, (numbers, row.method, row.note))),
        sort=row.value,
        style=f"number {style}".strip(),
        mark=mark,
        row=row,
    )


def estimates(
    rows: Iterable[ReportRow | None], *, counts: bool = False
) -> list[ReportCell]:
    """Return the cells of several estimates."""
    return [estimate(row, counts=counts) for row in rows]


def counts_of(row: ReportRow) -> str:
    """Return n, and how many are missing and tied where some are."""
    parts = [f"n = {words.count(row.n)}"]
    if row.n_missing:
        parts.append(f"{words.count(row.n_missing)} missing")
    if row.n_tied:
        parts.append(f"{words.count(row.n_tied)} tied")
    return ", ".join(parts)


def interval(row: ReportRow) -> str:
    """Return "[lo, hi]" or ""; an interval without width has a sign."""
    if row.ci_low is None or row.ci_high is None:
        return ""
    flat = FLAT if NO_WIDTH in row.note else ""
    low = words.written(row.statistic, row.ci_low)
    high = words.written(row.statistic, row.ci_high)
    return f"[{low}, {high}]{flat}"


def of_few(row: ReportRow) -> bool:
    """Return whether a number is a correlation of too few values to have an interval.

    Its n is shown instead.
    """
    few = row.ci_low is None and row.n < FEWEST_SOURCES
    if not few:
        return False
    return row.value is not None and scale_of(row.statistic) == CORRELATION


def figures(row: ReportRow) -> str:
    """Return an estimate as one text: value and interval."""
    if row.value is None:
        return f"{words.DASH} ({words.spoken(row.note)})"
    return f"{short(row)} {interval(row)}".strip()


def short(row: ReportRow) -> str:
    """Return an estimate's value alone, n where a correlation is one of few."""
    if row.value is None:
        return words.DASH
    if of_few(row):
        return f"n = {words.count(row.n)}"
    return words.written(row.statistic, row.value)


def count_cell(number: int) -> ReportCell:
    """Return the cell of a count; 0 is shown faintly."""
    style = "number" if number else "number none"
    return ReportCell(words.count(number), sort=number, style=style)


def heat(share: float, steps: Sequence[float] = (0.1, 0.25, 0.5, 0.75)) -> str:
    """Return the style of a cell that is shaded, a step for each of `steps` that is
    reached.

    >>> heat(0.3), heat(2, steps=(1, 2, 3))
    ('heat-2', 'heat-2')
    """
    reached = [step for step in steps if share >= step]
    return f"heat-{len(reached)}"


def dollars_cell(price: float | None) -> ReportCell:
    """Return a price in US dollars; None where it is not known."""
    if price is None:
        return ReportCell(words.DASH)
    return ReportCell(words.dollars(price), sort=price)


def words_cell(text: str) -> ReportCell:
    """Return a cell of text."""
    return ReportCell(text, style="words")
