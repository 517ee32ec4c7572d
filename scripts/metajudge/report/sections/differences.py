"""Judges beside each other: the differences of a statistic, read in both directions."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from metajudge.report.elements import Cell, Column, Fold, Table, estimate
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Row, Rows
from metajudge.report.sections.shared import bodies
from metajudge.report.words import label


def between(
    rows: Rows,
    dataset: Dataset,
    judge: Judge,
    other: Judge,
    statistic: str,
    criterion: str = "",
    aspect: str = "",
    level: str = "",
) -> Row | None:
    """Return the row of a judge's value less another's, whichever way it was written."""

    name = f"difference_{statistic}"
    at = partial(rows.at, dataset.id, criterion=criterion, aspect=aspect, level=level)
    straight = at(judge.id, name, judge_b=other.id)
    back = at(other.id, name, judge_b=judge.id)
    return straight or turned(back)


def turned(row: Row | None) -> Row | None:
    """Return the row of a difference the other way round."""
    if row is None or row.value is None:
        return row
    ends = (None, None) if row.lo is None or row.hi is None else (-row.hi, -row.lo)
    return replace(row, value=-row.value, lo=ends[0], hi=ends[1])


def matrix(
    rows: Rows,
    dataset: Dataset,
    judges: Sequence[Judge],
    statistic: str,
    name: str,
    criterion: str = "",
    aspect: str = "",
    level: str = "",
) -> list[Fold]:
    """Return, folded, the differences of all pairs of judges; `name` says of what."""

    def cells(judge: Judge) -> list[Cell]:
        return [
            Cell("", style="none")
            if other is judge
            else estimate(between(rows, dataset, judge, other, statistic, criterion, aspect, level))
            for other in judges
        ]

    if not any(row.judge_b for row in rows.where(statistic=f"difference_{statistic}")):
        return []
    columns = [Column(judge.id) for judge in judges]
    caption = f"{name}: {label(statistic)} of the row's judge less that of the column's."
    note = "Both on the same resamples of items. An interval that holds 0 tells no judge apart."
    table = Table(caption, "Judge", columns, bodies(judges, cells), [note])
    return [Fold(f"Differences between judges for {name}", [table])]


def gaps(
    report: Report, dataset: Dataset, rows: Rows, statistic: str, name: str, level: str
) -> list[Fold]:
    """Return, folded, the differences of judges' means over aspects, in each wording."""
    found: list[Fold] = []
    own = rows.where(aspect="average", statistic=f"difference_{statistic}", level=level)
    for criterion in own.names("criterion"):
        told = own.where(criterion=criterion)
        known = {each for row in told if row.value is not None for each in (row.judge, row.judge_b)}
        shown = [judge for judge in report.judges if judge.id in known]
        words = f"{name}, criterion {criterion}" if criterion else name
        if shown:
            found += matrix(told, dataset, shown, statistic, words, criterion, "average", level)
    return found
