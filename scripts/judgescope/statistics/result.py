"""The one result type of every statistic."""

import math
from dataclasses import dataclass, replace
from typing import Final, Self


@dataclass(frozen=True)
class Reasons:
    """Why a value is undefined: the closed vocabulary of `note`.

    Details are appended with `with_note`. A reason that one function gives stands in
    that function's module.
    """

    continuous: str = "continuous"
    different_scales: str = "the judges have different scales"
    off_scale: str = "ratings outside the aspect's scale"
    off_judge_scale: str = "scores outside the judge's scale"
    constant_judge: str = "constant judge"
    constant_ratings: str = "constant ratings"
    few_pairs: str = "fewer than 2 pairs"
    few_systems: str = "fewer than 3 systems"
    no_source: str = "undefined in every source"
    no_units: str = "no text has 2 ratings"
    no_variation: str = "all values are equal"
    few_raters: str = "fewer than 3 raters"
    few_sources: str = "fewer than 3 sources"
    few_texts: str = "fewer than 3 texts"
    constant_length: str = "all texts are equally long"
    no_lengths: str = "the data has neither texts nor their lengths"
    length_is_all: str = "length fully explains the judge's scores or people's ratings"
    one_family: str = "no texts of the judge's family, or none of others"
    undefined_judge: str = "one of the judges is undefined"
    nothing: str = "no value to average"
    no_agreement: str = "the judge sees a rating of the text, so this is not agreement"
    label_not_given: str = "no text has this label from people"
    label_not_used: str = "no text has this label from the judge"
    one_label: str = "people or the judge give every text the same label"
    no_votes: str = "no votes"
    no_expectation: str = "no perturbation has an expected effect"
    no_predicted_spans: str = "the judge lists no spans"
    no_gold_spans: str = "people marked no spans"
    no_categories: str = "no span of the judge has a category"
    no_spans: str = "neither the judge nor people marked a span"
    unreliable: str = (
        "draws of the same text agree no more than draws of different texts"
    )


REASONS: Final = Reasons()


def clauses(*parts: str) -> str:
    """The parts that are not empty, as a `method` or `note` joins them.

    >>> clauses("jackknife-t", "", "over 12 sources")
    'jackknife-t; over 12 sources'
    """
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
        """An estimate without a value and the reason for that."""
        return cls(None, n=n, n_missing=n_missing, method=method, note=note)

    def with_note(self, note: str) -> Self:
        """The same estimate with `note` appended."""
        return replace(self, note=clauses(self.note, note))

    def with_method(self, method: str) -> Self:
        """The same estimate with `method` before its own."""
        return replace(self, method=clauses(method, self.method))
