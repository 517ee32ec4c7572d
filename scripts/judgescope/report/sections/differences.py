"""Judges beside each other: the differences of a statistic, read in both directions."""

from collections.abc import Sequence

from judgescope.report.elements import Cell, Column, Fold, Table, estimate
from judgescope.report.headline import between
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.shared import bodies
from judgescope.report.words import label


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
    note = "Both without the same items. An interval that holds 0 tells no judge apart."
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
