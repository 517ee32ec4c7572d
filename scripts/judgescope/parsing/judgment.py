"""What a parser knows (the scale) and what it returns (a judgment)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

Status = Literal[
    "ok",
    "unparsed",
    "out_of_range",
    "off_grid",
    "refused",
    "truncated",
    "empty",
    "error",
    "not_applicable",
]

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
NO_VALUE: Final[tuple[Status, ...]] = (
    "refused",
    "unparsed",
    "out_of_range",
    "off_grid",
    "truncated",
    "empty",
    "error",
)
"""How a judgment that was asked for ends without a value, in the order in which tables have it."""
STATED: Final[frozenset[Status]] = frozenset(("ok", "out_of_range", "off_grid"))
"""The reply states one value, whether or not the scale has it."""

OFF_GRID: Final[Status] = "off_grid"
OFF_GRID_REMEDY: Final = (
    "to use them, set a finer `scale: {min: …, max: …, step: 0.5}` or `off_grid: keep | round` "
    "(default: drop) in the judge's card; nothing is asked again"
)
OffGrid = Literal["drop", "keep", "round"]
"""What becomes of a value between the steps of a scale."""

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
    `off_grid`: a value between two steps is no value of the scale (drop), is taken as it is (keep),
    or becomes the nearest step (round).
    """

    min: float
    max: float
    step: float | None = None
    labels: tuple[str, ...] = ()
    off_grid: OffGrid = "drop"

    def contains(self, value: float) -> bool:
        """Return min <= value <= max."""
        return self.min <= value <= self.max

    def on_grid(self, value: float) -> bool:
        """Return whether value is min + k step for a whole k; always true without a step."""
        if self.step is None:
            return True
        steps = (value - self.min) / self.step
        return abs(steps - round(steps)) < _TOLERANCE

    def read(self, value: float, rule: str) -> "Reading":
        """Return the reading of a value that `rule` found; its status is ok, or why it is not.

        A value outside the scale is never moved into it. One between two steps is read as
        `off_grid` says, and the rule's name tells so. Of two steps that are equally near, the
        value becomes the one an even number of steps above min: halves move no mean.
        """
        if not self.contains(value):
            return Reading("out_of_range", f"{rule}.outside")
        if self.step is None or self.on_grid(value):
            return Reading("ok", rule, value)
        if self.off_grid == "drop":
            return Reading("off_grid", f"{rule}.off_grid")
        if self.off_grid == "keep":
            return Reading("ok", f"{rule}.kept", value)
        nearest = self.min + round((value - self.min) / self.step) * self.step
        return Reading("ok", f"{rule}.rounded", round(nearest, 12))

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
