"""The one result type of every statistic."""

import math
from dataclasses import dataclass, replace
from typing import Final, Self

# Why a value is undefined: the closed vocabulary of `note` (detail is appended with
# `with_note`).
CONTINUOUS: Final = "continuous"
DIFFERENT_SCALES: Final = "the judges have different scales"
OFF_SCALE: Final = "ratings outside the aspect's scale"
OFF_JUDGE_SCALE: Final = "scores outside the judge's scale"
CONSTANT_JUDGE: Final = "constant judge"
CONSTANT_RATINGS: Final = "constant ratings"
FEW_PAIRS: Final = "fewer than 2 pairs"
FEW_SYSTEMS: Final = "fewer than 3 systems"
NO_SOURCE: Final = "undefined in every source"
NO_UNITS: Final = "no text has 2 ratings"
NO_VARIATION: Final = "all values are equal"
FEW_RATERS: Final = "fewer than 3 raters"
FEW_SOURCES: Final = "fewer than 3 sources"
FEW_TEXTS: Final = "fewer than 3 texts"
CONSTANT_LENGTH: Final = "all texts are equally long"
NO_LENGTHS: Final = "the data has neither texts nor their lengths"
LENGTH_IS_ALL: Final = "length fully explains the judge's scores or people's ratings"
ONE_FAMILY: Final = "no texts of the judge's family, or none of others"
UNDEFINED_JUDGE: Final = "one of the judges is undefined"
NOTHING: Final = "no value to average"
NO_AGREEMENT: Final = "the judge sees a rating of the text, so this is not agreement"
LABEL_NOT_GIVEN: Final = "no text has this label from people"
LABEL_NOT_USED: Final = "no text has this label from the judge"
ONE_LABEL: Final = "people or the judge give every text the same label"
NO_VOTES: Final = "no votes"
NO_EXPECTATION: Final = "no perturbation has an expected effect"
NO_PREDICTED_SPANS: Final = "the judge lists no spans"
NO_GOLD_SPANS: Final = "people marked no spans"
NO_CATEGORIES: Final = "no span of the judge has a category"
NO_SPANS: Final = "neither the judge nor people marked a span"
UNRELIABLE: Final = "draws of the same text agree no more than draws of different texts"


def clauses(*parts: str) -> str:
    """Return the parts that are not empty, as a `method` or `note` joins them."""
    return "; ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic with its interval and everything needed to judge how far to trust it.

    `value`, `ci_low` and `ci_high` are None where undefined, never 0 nor NaN; `note`
    says why. `n` counts the observations used, `n_missing` those that were planned and
    are missing, `n_tied` those that were tied (what a tie is depends on the statistic
    and its docstring). `method` names how value and interval were computed.
    """

    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    n_missing: int = 0
    n_tied: int = 0
    method: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse NaN and infinity: an undefined number is None with a note."""
        for name in ("value", "ci_low", "ci_high"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(
                    f"Estimate.{name} is {number}: use None and say why in note"
                )
        if self.value is None and not self.note:
            raise ValueError("an undefined Estimate needs a note that says why")

    @classmethod
    def undefined(
        cls, note: str, *, n: int = 0, n_missing: int = 0, method: str = ""
    ) -> Self:
        """Return an estimate without a value and the reason for that."""
        return cls(None, n=n, n_missing=n_missing, method=method, note=note)

    def with_note(self, note: str) -> Self:
        """Return the same estimate with `note` appended."""
        return replace(self, note=clauses(self.note, note))

    def with_method(self, method: str) -> Self:
        """Return the same estimate with `method` before its own."""
        return replace(self, method=clauses(method, self.method))
