"""The input of a parser (the scale), its output (a judgment), and the registry of
parsers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from judgescope.core.names import ConfidenceSource
from judgescope.core.registry import Registry

if TYPE_CHECKING:
    from numpy.random import Generator

JudgmentStatus = Literal[
    "ok", "unparsed", "out_of_range", "off_grid", "refused", "truncated", "empty",
    "error", "not_applicable",
]  # fmt: skip
STATUSES: Final[tuple[JudgmentStatus, ...]] = get_args(JudgmentStatus)
NO_VALUE: Final[tuple[JudgmentStatus, ...]] = (
    "refused", "unparsed", "out_of_range", "off_grid", "truncated", "empty", "error",
)  # fmt: skip
"""How a requested judgment can end without a value, in the order of the result
tables."""
STATED: Final[frozenset[JudgmentStatus]] = frozenset(("ok", "out_of_range", "off_grid"))
"""The statuses of replies with exactly one value, whether or not the scale has that
value."""

OFF_GRID: Final[JudgmentStatus] = "off_grid"
OFF_GRID_REMEDY: Final = (
    "to use them, set a finer `scale: {min: …, max: …, step: 0.5}` or `off_grid: keep "
    "| round` (default: drop) in the judge's card; no new request is needed"
)
OffGrid = Literal["drop", "keep", "round"]
"""How to treat a value between the steps of a scale."""
Policy = Literal["missing", "wrong", "worst", "mid", "random", "zero"]
"""How a judgment that was not read counts (study key `unread`); see `stand_in`."""
WRONG: Final = "unread: wrong"
"""The estimator of a score without a value that counts as a wrong verdict."""

CHOICE_VALUES: Final = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""1: the first text is better, -1: the second, 0: neither."""

STRENGTHS: Final = (-2, -1, 0, 1, 2)
"""How clear a choice is: 2 the first text is far better, 1 better, 0 a tie, negative if
the second text is better."""

_TOLERANCE = 1e-9


class ErrorSpan(NamedTuple):
    """An error that an annotator lists.

    location: the quoted words, None if there are none; severity: 1 to 5, None if
    missing or unreadable.
    """

    location: str | None
    explanation: str
    severity: int | None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a verdict may take: min, min + step, ..., max; without a step, any in
    between.

    `labels` are category words, worst first and best last, evenly spaced from min to
    max. `off_grid`: a value between two steps is rejected (drop), used unchanged
    (keep), or rounded to the nearest step (round). `words`, for a scale of labels only:
    each word as `plain_word` returns it -> the position of its label; numbers are then
    not accepted. `best`: the end of the best.
    """

    min: float
    max: float
    step: float | None = None
    labels: tuple[str, ...] = ()
    off_grid: OffGrid = "drop"
    words: tuple[tuple[str, int], ...] = ()
    best: Literal["max", "min"] = "max"

    def __hash__(self) -> int:
        """Return the hash of the fields that tell most scales apart.

        Patterns are looked up by their scale for every reply.
        """
        return hash((self.min, self.max, self.labels))

    @property
    def ends(self) -> tuple[float, float]:
        """Return the worst value and the best one."""
        if self.best == "max":
            return (self.min, self.max)
        return (self.max, self.min)

    def contains(self, value: float) -> bool:
        """Return min <= value <= max."""
        return self.min <= value <= self.max

    def on_grid(self, value: float) -> bool:
        """Return whether value is min + k step for an integer k; always true without a
        step.
        """
        if self.step is None:
            return True
        steps = (value - self.min) / self.step
        if steps.is_integer():
            return True
        return abs(steps - round(steps)) < _TOLERANCE

    def has(self, value: float) -> bool:
        """Return whether a verdict may take the value unchanged.

        >>> Scale(1, 5, 0.5).has(3.5), Scale(1, 5, 1).has(3.5), Scale(1, 5).has(6)
        (True, False, False)
        """
        return self.min <= value <= self.max and self.on_grid(value)

    def read(self, value: float, rule: str) -> "Judgment":
        """Return the judgment of a value that `rule` found; the rule's name records any
        rounding.

        A value outside the scale is never clipped to it. A value halfway between two
        steps rounds to an even number of steps above min, so that rounding does not
        bias means.
        """
        if not self.min <= value <= self.max:
            return Judgment("out_of_range", f"{rule}.outside")
        if self.on_grid(value):
            return Judgment("ok", rule, value)
        if self.off_grid == "drop":
            return Judgment("off_grid", f"{rule}.off_grid")
        if self.off_grid == "keep":
            return Judgment("ok", f"{rule}.kept", value)
        assert self.step is not None, "all values of a continuous scale are on it"
        nearest = self.min + round((value - self.min) / self.step) * self.step
        return Judgment("ok", f"{rule}.rounded", round(nearest, 12))

    def read_word(self, text: str, rule: str) -> "Judgment":
        """Return the judgment of a text that is one of `words`, ignoring case and
        blanks.
        """
        index = dict(self.words).get(" ".join(text.split()).casefold())
        if index is None:
            return Judgment("unparsed", "no_label")
        return Judgment("ok", rule, float(index), self.labels[index])

    def grid(self) -> list[float] | None:
        """Return the values from worst to best, or None for a continuous scale."""
        if self.step is None:
            return None
        count = int((self.max - self.min) / self.step + _TOLERANCE) + 1
        return [round(self.min + index * self.step, 12) for index in range(count)]

    def value_of(self, label: int) -> float:
        """Return the value of a category word from its index; 0 is the worst."""
        if len(self.labels) == 1:
            return self.max
        return self.min + label * (self.max - self.min) / (len(self.labels) - 1)


def stand_in(
    policy: Policy, scale: Scale, rng: "Generator | None" = None
) -> float | None:
    """Return the value that replaces a missing judgment.

    missing, wrong: None, which is left out of every mean (a wrong verdict has no
    value; `aggregated` marks it); worst: the scale's worst value; mid: its middle value
    (the lower of two); random: uniform over the grid, or over the interval of a
    continuous scale; zero: 0, if the scale has it. ValueError for random without `rng`,
    and for zero on a scale without 0 or whose best value it is.
    """
    grid = scale.grid()
    if policy == "zero":
        if not zero_stands_in(scale):
            raise ValueError("0 is not a value of this scale, or it is the best one")
        return 0.0
    middle = grid[(len(grid) - 1) // 2] if grid else (scale.min + scale.max) / 2
    fixed = {
        "missing": None,
        "wrong": None,
        "worst": scale.ends[0],
        "mid": middle,
    }
    if policy in fixed:
        return fixed[policy]
    if rng is None:
        raise ValueError("the policy random needs a random generator, `rng`")
    if grid:
        return grid[int(rng.integers(len(grid)))]
    return float(rng.uniform(scale.min, scale.max))


def zero_stands_in(scale: Scale) -> bool:
    """Return whether 0 is a value of a scale and not its best one."""
    grid = scale.grid()
    if scale.ends[1] == 0:
        return False
    if grid is None:
        return scale.contains(0)
    return 0 in grid


class Judgment(NamedTuple):
    """A parsed reply; `value` is a number only if `status` is ok.

    rule: the pattern that matched, or the problem; label: the scale's category word, if
    the verdict was a word; rationale: the reply without its verdict and reasoning
    blocks; tail: the reply from the verdict on, without reasoning blocks, if the parser
    records it; errors: the errors that the reply lists, whatever its status; parser:
    name@version, set by `parsers.parsed_by`; strength: how clear a choice is, from -2
    (the second text is far better) to 2, None if the reply does not say so. confidence:
    the stated chance, 0 to 1, that the verdict is right; confidence_source: where it
    comes from, None for a judge without one; confidence_rule: how it was found, or why
    there is none; confident_of: the value that it is about, if that is not `value`.
    """

    status: JudgmentStatus
    rule: str
    value: float | None = None
    label: str | None = None
    rationale: str | None = None
    tail: str | None = None
    errors: tuple[ErrorSpan, ...] = ()
    parser: str = ""
    strength: int | None = None
    confidence: float | None = None
    confidence_source: ConfidenceSource | None = None
    confidence_rule: str | None = None
    confident_of: float | None = None


Reader = Callable[..., Judgment]
"""(text, scale or None, and the parser's settings as keywords) -> the judgment in the
text."""


@dataclass(frozen=True, kw_only=True)
class Parser:
    """A way to read replies, named by a judge's card."""

    name: str
    version: int
    """It increases whenever some reply is read differently."""
    read: Reader
    needs_scale: bool = False
    settings: tuple[str, ...] = ()
    """The settings that a judge's card must have."""
    options: tuple[str, ...] = ()
    """The settings that it may have."""
    in_cards: bool = True
    """Whether a card may name the parser."""

    @property
    def module(self) -> str:
        """The module that defines it; others import it from there."""
        return self.read.__module__

    def __call__(self, text: str, scale: Scale | None, **settings: Any) -> Judgment:
        """Return the judgment in a text."""
        return self.read(text, scale, **settings)


PARSERS: Final = Registry("parsers", Parser, "judgescope.parsing")


def parser(
    name: str,
    version: int,
    *,
    needs_scale: bool = False,
    settings: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    in_cards: bool = True,
) -> Callable[[Reader], Parser]:
    """Make the decorated function a parser."""

    def made(read: Reader) -> Parser:
        return Parser(
            name=name,
            version=version,
            read=read,
            needs_scale=needs_scale,
            settings=settings,
            options=options,
            in_cards=in_cards,
        )

    return made
