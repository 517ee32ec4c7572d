"""What a parser knows (the scale) and what it returns (a judgment)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Status = Literal[
    "ok",
    "unparsed",
    "out_of_range",
    "refused",
    "truncated",
    "empty",
    "error",
    "not_applicable",
]

_TOLERANCE = 1e-9


class ErrorSpan(NamedTuple):
    """An error that an annotator names: the words it quotes, why they are wrong, and how severely.

    location: None where it names no place; severity: 1 to 5, None where it is missing or unread.
    """

    location: str | None
    explanation: str
    severity: int | None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a verdict may take: min, min + step, ..., max, or any between without a step.

    `labels` are category words, worst first and best last, evenly spaced from min to max.
    """

    min: float
    max: float
    step: float | None = None
    labels: tuple[str, ...] = ()

    def contains(self, value: float) -> bool:
        """Return min <= value <= max."""
        return self.min <= value <= self.max

    def on_grid(self, value: float) -> bool:
        """Return whether value is min + k step for a whole k; always true without a step."""
        if self.step is None:
            return True
        steps = (value - self.min) / self.step
        return abs(steps - round(steps)) < _TOLERANCE

    def grid(self) -> list[float] | None:
        """Return the values from worst to best, or None for a continuous scale."""
        if self.step is None:
            return None
        count = int((self.max - self.min) / self.step + _TOLERANCE) + 1
        return [round(self.min + index * self.step, 12) for index in range(count)]

    def value_of(self, label: int) -> float:
        """Return the value of the category word at this place, 0 being the worst."""
        if len(self.labels) == 1:
            return self.max
        return self.min + label * (self.max - self.min) / (len(self.labels) - 1)


@dataclass(frozen=True, slots=True)
class Judgment:
    """A parsed reply; `value` is a number only where `status` is ok.

    label: the scale's category word, where the verdict was one; rationale: the reply without its
    verdict and without reasoning blocks; rule: what matched, or what went wrong; parser:
    name@version; tail: the reply from the verdict on, without reasoning blocks, where the parser
    tells it; errors: those that the reply lists, whatever its status.
    """

    value: float | None
    label: str | None
    rationale: str | None
    status: Status
    rule: str
    parser: str
    tail: str | None = None
    errors: tuple[ErrorSpan, ...] = ()


class Reading(NamedTuple):
    """What one parser made of a text."""

    status: Status
    rule: str
    value: float | None = None
    label: str | None = None
    rationale: str | None = None
    tail: str | None = None
    errors: tuple[ErrorSpan, ...] = ()


Reader = Callable[..., Reading]
"""(text, scale or None, and what else the parser's settings name) -> what the text says."""
