"""Whether the cells of a column are chances: from 0 to 1, or per cent."""

from collections.abc import Iterable
from typing import NamedTuple

from judgescope.cli.init.column_values import number
from judgescope.data.rows import entries
from judgescope.tables.spelling import is_missing


class StatedChances(NamedTuple):
    """The numbers of a column, and what one is divided by to be a chance.

    unit: 1 or 100; None if the column has no chances, and why (`why`).
    """

    values: list[float]
    unit: int | None
    why: str = ""


def stated_chances(cells: Iterable[object]) -> StatedChances:
    """Return what the cells of a column say of a judge's confidence; empty cells do not
    count.

    >>> stated_chances(["0.9", "0.7", ""]).unit, stated_chances([90, 70]).unit
    (1, 100)
    >>> stated_chances([0.9, 0.7, 1.4]).why[:42]
    '1 of 3 values lies outside 0 to 1 (1.4): c'
    """
    filled = list[object]()
    for cell in cells:
        filled += [part for part in entries(cell) if not is_missing(part)]
    values = list[float]()
    words = list[object]()
    for part in filled:
        value = number(part)
        if value is None:
            words.append(part)
        else:
            values.append(value)
    if not filled:
        return StatedChances([], None, "it is empty")
    if words:
        return StatedChances(
            values,
            None,
            f"{_of(len(words), len(filled))} no number ({str(words[0])[:20]!r}): write "
            "chances from 0 to 1",
        )
    above = sum(value > 1 for value in values)
    per_cent = 100
    unit = per_cent if 2 * above > len(values) else 1
    outside = [value for value in values if not 0 <= value <= unit]
    if outside and max(values) <= 0:
        return StatedChances(
            values,
            None,
            f"{_lies(len(outside), len(values))} below 0 ({outside[0]:g}): if these "
            "are log-probabilities, write e to their power; no number rests on this "
            "column",
        )
    if outside:
        return StatedChances(
            values,
            None,
            f"{_lies(len(outside), len(values))} outside 0 to {unit} ({outside[0]:g}): "
            "correct it, no number rests on this column",
        )
    if set(values) <= {0.0, float(unit)}:
        return StatedChances(
            values,
            None,
            f"it holds only 0 and {unit}, which are verdicts and no chances: name it "
            "as a judge, if it is one",
        )
    return StatedChances(values, unit)


def _of(some: int, all_of: int) -> str:
    return f"{some} of {all_of} values {'is' if some == 1 else 'are'}"


def _lies(some: int, all_of: int) -> str:
    return f"{some} of {all_of} values {'lies' if some == 1 else 'lie'}"
