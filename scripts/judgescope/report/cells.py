"""Cells of tables: how a row of a result table, a count or a price is written."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgescope.report import words
from judgescope.report.rows import Row
from judgescope.statistics.intervals import CORRELATION, FEWEST_SOURCES
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import NO_WIDTH

FLAT = "°"
NO_WIDTH_TOLD = (
    f"{FLAT} No width: leaving out any one source does not change the value, or "
    "changes only ties. This does not mean certainty: other sources may differ."
)
SHADE_STEPS = (0.1, 0.25, 0.5, 0.75)
"""Shares at which the next shade begins."""


@dataclass(frozen=True)
class Cell:
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
    row: Row | None = None
    href: str = ""

    @property
    def exact(self) -> list[tuple[str, str]]:
        """Return the numbers behind the cell, unrounded, by the names of its
        attributes.
        """
        values = {"v": self.sort}
        if row := self.row:
            values |= {"lo": row.ci_low, "hi": row.ci_high, "n": row.n}
            values |= {"missing": row.n_missing or None, "tied": row.n_tied or None}
        return [
            (name, words.exact(value))
            for name, value in values.items()
            if value is not None
        ]

    @property
    def flat(self) -> bool:
        """Return whether its interval has no width."""
        return self.interval.endswith(FLAT)


NO_CELL = Cell("", style="none")
UNDEFINED = Cell(words.DASH, style="undefined")


def estimate(
    row: Row | None, *, counts: bool = False, mark: str = "", style: str = ""
) -> Cell:
    """Return the cell of an estimate: value, interval, what is missing; a dash and the
    reason.

    With `counts` n and ties stand in the cell, otherwise in its title; a correlation of
    few texts or sources is then no number (`of_few`).
    """
    if row is None:
        return Cell(words.DASH, notes=("not planned",), style="undefined")
    if row.value is None:
        return Cell(words.DASH, notes=(words.spoken(row.note),), style="undefined")
    numbers = counts_of(row)
    if of_few(row) and not counts:
        return Cell(short(row), title=numbers, style="undefined", mark=mark)
    missing = (
        ()
        if counts or not row.n_missing
        else (f"{words.count(row.n_missing)} missing",)
    )
    return Cell(
        words.written(row.statistic, row.value),
        interval=interval(row),
        notes=(numbers,) if counts else missing,
        title="; ".join(part for part in (numbers, row.method, row.note) if part),
        sort=row.value,
        style=f"number {style}".strip(),
        mark=mark,
        row=row,
    )


def counts_of(row: Row) -> str:
    """Return n, and how many are missing and tied where some are."""
    parts = [f"n = {words.count(row.n)}"]
    parts += [f"{words.count(row.n_missing)} missing"] if row.n_missing else []
    parts += [f"{words.count(row.n_tied)} tied"] if row.n_tied else []
    return ", ".join(parts)


def interval(row: Row) -> str:
    """Return "[lo, hi]" or ""; an interval without width has a sign."""
    if row.ci_low is None or row.ci_high is None:
        return ""
    flat = FLAT if NO_WIDTH in row.note else ""
    lo, hi = (words.written(row.statistic, end) for end in (row.ci_low, row.ci_high))
    return f"[{lo}, {hi}]{flat}"


def of_few(row: Row) -> bool:
    """Return whether a number is a correlation of too few values to have an interval.

    Its n is shown instead.
    """
    few = row.ci_low is None and row.n < FEWEST_SOURCES
    return few and row.value is not None and scale_of(row.statistic) == CORRELATION


def figures(row: Row) -> str:
    """Return an estimate as one text: value and interval."""
    if row.value is None:
        return f"{words.DASH} ({words.spoken(row.note)})"
    return f"{short(row)} {interval(row)}".strip()


def short(row: Row) -> str:
    """Return an estimate's value alone, n where a correlation is one of few."""
    if row.value is None:
        return words.DASH
    if of_few(row):
        return f"n = {words.count(row.n)}"
    return words.written(row.statistic, row.value)


def count_cell(number: int) -> Cell:
    """Return the cell of a count; 0 is shown faintly."""
    return Cell(
        words.count(number), sort=number, style="number" if number else "number none"
    )


def heat(share: float, steps: Sequence[float] = SHADE_STEPS) -> str:
    """Return the style of a cell that is shaded, a step for each of `steps` that is
    reached.
    """
    return f"heat-{sum(share >= step for step in steps)}"


def dollars_cell(price: float | None) -> Cell:
    """Return a price in US dollars; None where it is not known."""
    return Cell(words.DASH) if price is None else Cell(words.dollars(price), sort=price)


def words_cell(text: str) -> Cell:
    """Return a cell of text."""
    return Cell(text, style="words")
