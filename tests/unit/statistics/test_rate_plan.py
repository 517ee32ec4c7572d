"""Plans of ratings: the least number of sources, what a judgment saves, and costs."""

import numpy as np
import pytest
from scipy import stats

from judgescope.statistics.corrected import (
    RatedSample,
    corrected_moments,
    judge_weight,
)
from judgescope.statistics.rate_plan import (
    Prices,
    RatePlan,
    rate_plan,
    sources_alone,
    sources_needed,
)


def half_width(n: int, spread: float, r: float, total: int) -> float:
    share = 1 - r**2 / (1 + n / (total - n)) if n < total else 1.0
    return float(stats.t.ppf(0.975, n - 1) * spread * np.sqrt(share / n))


@pytest.mark.parametrize("r", [0.0, 0.4, 0.9])
def test_a_plan_is_the_least_number_of_sources(r: float) -> None:
    n = sources_needed(1.2, r, 500, 0.25)
    assert n is not None
    assert half_width(n, 1.2, r, 500) <= 0.25 < half_width(n - 1, 1.2, r, 500)


def test_a_plan_gives_the_error_of_a_corrected_mean() -> None:
    """Where rated and other scores vary alike, the plan's error is a study's."""
    judged = np.linspace(0, 4, 50)
    rated = judged + np.random.default_rng(1).normal(size=50)
    sample = RatedSample(judged, rated, np.tile(judged, 4))
    v = float(judged.var(ddof=1) / sample.others.var(ddof=1))
    sample = sample._replace(others=sample.others * np.sqrt(v))
    _, error = corrected_moments(sample, judge_weight(sample))
    r = float(np.corrcoef(judged, rated)[0, 1])
    planned = half_width(50, float(rated.std(ddof=1)), r, 250)
    assert planned == pytest.approx(stats.t.ppf(0.975, 49) * error)


def test_a_judge_that_errs_against_people_saves_nothing() -> None:
    assert sources_needed(1.0, -0.9, 400, 0.2) == sources_alone(1.0, 0.2)


def test_what_cannot_be_reached_has_no_plan() -> None:
    plan = rate_plan(1.0, 0.3, 50, 0.1)
    assert plan.beside is None and plan.alone is not None
    assert plan.ratings_saved is None and plan.rating_per_judgment is None
    beside, alone = plan.cost(Prices(rating=1, judgment=0.1))
    assert beside is None and alone == plan.alone
    assert sources_alone(1.0, 1e-6) is None
    with pytest.raises(ValueError, match="no plan"):
        rate_plan(1.0, 0.3, 50, 0.0)


def test_a_judge_pays_below_its_share_of_a_rating() -> None:
    plan = RatePlan(beside=60, alone=100, total=800, texts=1.0)
    share = plan.rating_per_judgment
    assert share == pytest.approx(0.05)
    for price, pays in ((0.04, True), (0.06, False)):
        beside, alone = plan.cost(Prices(rating=1.0, judgment=price))
        assert beside is not None and alone is not None
        assert (beside < alone) is pays
