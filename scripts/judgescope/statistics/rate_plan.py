"""How many ratings a wished width needs, beside a judge and without one.

See docs/methods.md, "What the systems really score": with a spread sd of ratings and a
correlation r of score and rating, each by source, the variance of a corrected mean of n
rated of T sources is sd²/n (1 - r²/(1 + n/(T - n))).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from judgescope.statistics.corrected import FEWEST_INFORMATIVE

MOST_SOURCES: Final = 100_000
"""A plan of more sources is no plan."""


def sources_needed(
    spread: float, correlation: float, total: int, half_width: float
) -> int | None:
    """The least n with t(n - 1) se(n) <= half_width, n from 10 to the T sources.

    se²(n) = sd²/n (1 - r²/(1 + n/(T - n))), r not below 0; at n = T, sd²/n. None where
    even all sources are too few. ValueError for a width, a total or a spread that is
    none.

    >>> sources_needed(1.0, 0.0, 1000, 0.2), sources_needed(1.0, 0.8, 1000, 0.2)
    (99, 40)
    """
    if not half_width > 0 or not spread >= 0 or total < 0:
        raise ValueError(f"no plan: width {half_width}, spread {spread}, {total}")
    n = np.arange(FEWEST_INFORMATIVE, min(total, MOST_SOURCES) + 1, dtype=np.float64)
    r2 = max(0.0, correlation) ** 2
    share = 1 - r2 * (total - n) / max(1, total)  # 1/(1 + n/(T - n)) = (T - n)/T
    return _first_within(n, spread * np.sqrt(share / n), half_width)


def sources_alone(spread: float, half_width: float) -> int | None:
    """The least n from 10 on with t(n - 1) sd/√n <= half_width: ratings alone.

    None above 100,000 sources. ValueError as in `sources_needed`.

    >>> sources_alone(1.0, 0.2)
    99
    """
    if not half_width > 0 or not spread >= 0:
        raise ValueError(f"no plan: width {half_width}, spread {spread}")
    n = np.arange(FEWEST_INFORMATIVE, MOST_SOURCES + 1, dtype=np.float64)
    return _first_within(n, spread / np.sqrt(n), half_width)


def _first_within(n: np.ndarray, error: np.ndarray, half_width: float) -> int | None:
    from scipy.special import stdtrit  # here: asking and parsing load no scipy

    fits = np.flatnonzero(stdtrit(n - 1, 0.975) * error <= half_width)
    if fits.size:
        return int(n[fits[0]])
    return None


@dataclass(frozen=True)
class Prices:
    """What a rating and a judgment cost, in any one currency."""

    rating: float
    judgment: float


@dataclass(frozen=True)
class RatePlan:
    """Sources to rate for a wished width: beside the judge, and without one.

    `beside` is None where all sources are too few, `alone` above 100,000.
    """

    beside: int | None
    alone: int | None
    total: int
    texts: float
    """Texts of a source."""

    @property
    def ratings_saved(self) -> float | None:
        """Ratings that the judge saves, None where one of the plans does not exist.

        >>> RatePlan(beside=38, alone=99, total=1000, texts=2.0).ratings_saved
        122.0
        """
        if self.beside is None or self.alone is None:
            return None
        return (self.alone - self.beside) * self.texts

    @property
    def rating_per_judgment(self) -> float | None:
        """How many ratings one judgment saves: a judge pays if its price is below this
        share of a rating's.

        >>> RatePlan(beside=40, alone=90, total=1000, texts=2.0).rating_per_judgment
        0.05
        """
        if self.ratings_saved is None or not self.total:
            return None
        return self.ratings_saved / (self.total * self.texts)

    def cost(self, prices: Prices) -> tuple[float | None, float | None]:
        """The cost beside the judge (ratings and judgments of all texts), and without.

        >>> plan = RatePlan(beside=40, alone=90, total=1000, texts=2.0)
        >>> plan.cost(Prices(rating=1.0, judgment=0.01))
        (100.0, 180.0)
        """
        beside = alone = None
        if self.beside is not None:
            judged = self.total * self.texts * prices.judgment
            beside = self.beside * self.texts * prices.rating + judged
        if self.alone is not None:
            alone = self.alone * self.texts * prices.rating
        return beside, alone


def rate_plan(
    spread: float, correlation: float, total: int, half_width: float, texts: float = 1.0
) -> RatePlan:
    """`sources_needed` and `sources_alone` for one wished half width.

    >>> plan = rate_plan(1.0, 0.8, 1000, 0.2)
    >>> plan.beside, plan.alone
    (40, 99)
    """
    return RatePlan(
        sources_needed(spread, correlation, total, half_width),
        sources_alone(spread, half_width),
        total,
        texts,
    )
