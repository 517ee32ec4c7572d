"""Numbers with three digits behind a comma or a point: 4,200 is 4200 or 4.2.

The other numbers of a column mostly say which: 4.200 beside 600 is 4200, and 3,667
beside 5 is 3.667. Where both readings are likely, or neither, a person decides.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

DecimalSign = Literal["comma", "point"]

SIGNS: Final[dict[DecimalSign, str]] = {"comma": ",", "point": "."}


@dataclass(frozen=True)
class GroupedNumbers:
    """The numbers of a column of such cells."""

    numbers: dict[str, float]
    """Cell -> number."""
    note: str = ""
    example: str = ""
    """A cell that can be read in two ways with different results; "" if none can."""
    readings: dict[DecimalSign, float] = field(default_factory=dict)
    """The sign before decimals -> what the example is then."""


def grouped_numbers(
    values: Sequence[str], decimal: DecimalSign | None = None
) -> GroupedNumbers | None:
    """The numbers of a column, if each comma or each point has three digits behind it;
    None for other columns, and for usual decimals such as 3.667 beside 5.

    decimal: the sign before decimals, if a person states it.

    >>> grouped_numbers(["4.200", "600"]).numbers["4.200"]
    4200.0
    >>> grouped_numbers(["3,667", "5"]).numbers["3,667"]
    3.667
    >>> grouped_numbers(["1,234", "99"]).readings
    {'comma': 1.234, 'point': 1234.0}
    """
    for name, sign in SIGNS.items():
        written = [value for value in values if sign in value]
        if not written:
            continue
        as_thousands = _all_read({*values}, sign, _thousands)
        if as_thousands is None:
            continue
        as_decimals = _all_read({*values}, sign, _decimal)
        if as_decimals is None:
            return GroupedNumbers(as_thousands, _as_thousands(written[0], as_thousands))
        if decimal is None:
            return _likely(values, name, as_decimals, as_thousands)
        if decimal == name:
            return GroupedNumbers(as_decimals)
        return GroupedNumbers(as_thousands, _as_thousands(written[0], as_thousands))
    return None


def _all_read(
    cells: Iterable[str], sign: str, read: Callable[[str, str], float | None]
) -> dict[str, float] | None:
    """The number of each cell; None as soon as a cell has none, as texts have not."""
    numbers = {}
    for cell in cells:
        number = read(cell, sign)
        if number is None:
            return None
        numbers[cell] = number
    return numbers


def _likely(
    values: Sequence[str],
    name: DecimalSign,
    decimals: dict[str, float],
    thousands: dict[str, float],
) -> GroupedNumbers | None:
    """The reading in which a column's numbers are of one size."""
    sign = SIGNS[name]
    written = [value for value in values if sign in value]
    example = written[0]
    without_sign = []
    for value in values:
        if sign not in value:
            without_sign.append(abs(decimals[value]))
    if not without_sign:
        # Either reading is the other one times 1000, and agreement is the same.
        if name == "point":
            return None
        return GroupedNumbers(
            decimals,
            f"numbers with a decimal comma: {example} was read as "
            f"{decimals[example]:g} (as {thousands[example]:.0f}, agreement is the "
            "same)",
        )
    largest = max(abs(decimals[value]) for value in written)
    smallest = min(abs(thousands[value]) for value in written)
    # Numbers of one column differ by no more than this factor: the largest whole number
    # from the largest decimal one, or the smallest thousands from the largest whole
    # number.
    near_factor = 10
    are_decimals = max(without_sign) <= near_factor * largest
    are_thousands = smallest <= near_factor * max(without_sign)
    if are_thousands and not are_decimals:
        return GroupedNumbers(thousands, _as_thousands(example, thousands))
    if are_decimals and not are_thousands:
        if name == "point":
            return None
        return GroupedNumbers(decimals, "numbers with a decimal comma")
    other: DecimalSign = "point" if name == "comma" else "comma"
    readings = {name: decimals[example], other: thousands[example]}
    return GroupedNumbers(decimals, "", example, readings)


def _as_thousands(example: str, numbers: dict[str, float]) -> str:
    return f"numbers of thousands: {example} was read as {numbers[example]:.0f}"


def _thousands(text: str, sign: str) -> float | None:
    """The number with a sign between thousands, None for another cell."""
    groups = rf"[1-9]\d{{0,2}}(?:{re.escape(sign)}\d{{3}})+|\d{{1,3}}"
    decimals = r"(?:\.\d+)?" if sign == "," else ""
    if not re.fullmatch(rf"[-+]?(?:{groups}){decimals}", text, flags=re.ASCII):
        return None
    return float(text.replace(sign, ""))


def _decimal(text: str, sign: str) -> float | None:
    """The number with a sign before decimals, None for another cell."""
    number = rf"[-+]?\d+(?:{re.escape(sign)}\d+)?"
    if not re.fullmatch(number, text, flags=re.ASCII):
        return None
    return float(text.replace(sign, "."))
