"""What to buy: numbers of sums, choices within budgets, the winner's curse, advice."""

from itertools import combinations

import numpy as np
import pytest

from judgescope.statistics import frontier
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.correlation import leaving_out
from judgescope.statistics.frontier import Advice, Offers
from judgescope.statistics.intervals import PLAIN, deletions
from judgescope.statistics.labels import NO_LABEL, on_labels
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.within_sources import within_sources
from planted_study import benchmark

SOURCES = 24
SOURCE = np.repeat(np.arange(SOURCES), 4)
RNG = np.random.default_rng(8)
PEOPLE = np.round(RNG.normal(size=SOURCE.size))
SCORES = PEOPLE + RNG.normal(size=SOURCE.size)


def with_gaps(values: Floats) -> Floats:
    return np.where(np.arange(values.size) % 17 == 0, np.nan, values)


def without_each(sums: Floats) -> Floats:
    """Return the sums of all sources, then without each."""
    total = sums.sum(axis=0)
    return np.vstack([total, total - sums])


@pytest.mark.parametrize("scores", [SCORES, with_gaps(SCORES)])
def test_correlations_of_sums_are_those_of_texts(scores: Floats) -> None:
    within = frontier.products_of(scores, PEOPLE, SOURCE, SOURCES)
    expected = within_sources(scores, PEOPLE, SOURCE, SOURCES).rows
    assert frontier.correlation_of(without_each(within)) == pytest.approx(expected)
    ranks = frontier.ranks_of(scores, PEOPLE, SOURCE, SOURCES)
    expected, _ = leaving_out(scores, PEOPLE, SOURCE, SOURCES)
    actual = frontier.rank_correlation_of(ranks.sum(axis=0))
    assert float(actual) == pytest.approx(expected[0])


@pytest.mark.parametrize("labels", [2, 3])
def test_balanced_accuracy_of_sums_is_that_of_texts(labels: int) -> None:
    gold = RNG.integers(0, labels, SOURCE.size).astype(float)
    given = RNG.integers(0, labels, SOURCE.size).astype(float)
    given[:5] = NO_LABEL
    gold[-7:] = np.nan
    sums = frontier.hits_of(gold, given, labels, SOURCE, SOURCES)
    expected = on_labels(gold, given, labels, SOURCE, deletions(SOURCES))
    actual = frontier.balanced_accuracy_of(without_each(sums))
    assert actual == pytest.approx(expected["balanced_accuracy"].rows)


def test_sums_without_variation_have_no_number() -> None:
    assert np.isnan(frontier.correlation_of(np.array([0.0, 1.0, 0.0])))
    assert np.isnan(frontier.balanced_accuracy_of(np.array([3.0, 0.0, 4.0, 0.0])))
    assert np.isnan(frontier.credit_of(np.zeros(2)))


def test_juries_have_members_of_different_families() -> None:
    families = ["a", "a", "b", "c"]
    juries = list(frontier.juries_of(families))
    expected = [
        jury
        for size in (2, 3)
        for jury in combinations(range(4), size)
        if not {0, 1} <= {*jury}
    ]
    assert juries == expected
    assert {len(jury) for jury in frontier.juries_of("abcdef", odd=True)} == {3, 5}


@pytest.mark.parametrize("judges", range(2, 60))
def test_there_are_never_too_many_juries(judges: int) -> None:
    juries = list(frontier.juries_of([str(each) for each in range(judges)]))
    assert len(juries) <= frontier.MOST_JURIES


def test_thresholds_of_a_cascade_accept_some_cases() -> None:
    confidence = np.round(RNG.uniform(0.5, 1, 200), 2)
    thresholds = frontier.thresholds_of(confidence)
    shares = [(confidence >= each).mean() for each in thresholds]
    assert shares == pytest.approx([0.25, 0.5, 0.75], abs=0.06)
    assert frontier.thresholds_of(np.array([0.0, 0.0, 0.0, 0.0, 1.0])) == [1.0]
    assert frontier.thresholds_of(np.full(4, np.nan)) == []
    assert frontier.thresholds_of(np.array([0.9, 0.9, np.nan])) == [0.9]


def test_what_has_no_confidence_is_passed_on() -> None:
    first = np.array([1.0, 1.0, np.nan])
    confidence = np.array([0.9, np.nan, 0.9])
    values, passed = frontier.cascaded(first, np.zeros(3), confidence, 0.5)
    assert values[:2].tolist() == [1.0, 0.0] and passed == 0.5


def offers_of(credits: Floats, price: list[float]) -> Offers:
    """Return candidates with the half credits (candidates, sources)."""
    sums = np.stack([credits, np.ones_like(credits)], axis=-1)[:, :, None]
    return Offers(np.array(price), sums, frontier.credit_of)


def choices_of(offers: Offers, seed: int = 1) -> list[frontier.Choice]:
    """Return the choices; intervals are those of means of a source each."""

    def rows(values: Floats, kept: Flags) -> Replicated:
        n = kept.sum()
        mean = values[kept].mean()
        left = np.where(kept, (n * mean - values) / (n - 1), mean)
        return mean_of(np.append(mean, left), kept)

    credits = offers.sums[:, :, 0, 0]
    return frontier.choices(
        offers,
        lambda each, kept: rows(credits[each], kept),
        lambda each, other, kept: rows(credits[each] - credits[other], kept),
        np.random.default_rng(seed),
    )


def mean_of(rows: Floats, kept: Flags) -> Replicated:
    return replicated(
        rows, "", sizes=kept.astype(float), scale=PLAIN, n=int(kept.sum())
    )


def test_a_choice_is_the_best_that_the_budget_allows() -> None:
    price = np.array([1.0, 2.0, 2.0, 9.0])
    values = np.array([0.5, 0.7, 0.7, np.nan])
    assert frontier.best_within(price, values, 1.5) == 0
    assert frontier.best_within(price, values, 99.0) == 1
    with pytest.raises(ValueError, match=r"at most 0\.5"):
        frontier.best_within(price, values, 0.5)


def test_doubled_prices_change_no_choice() -> None:
    credits = np.clip(RNG.normal(0.6, 0.2, (6, 40)), 0, 1)
    price = [0.0, 0.5, 1.0, 1.0, 3.0, 7.0]
    doubled = [2 * each for each in price]
    once = choices_of(offers_of(credits, price))
    twice = choices_of(offers_of(credits, doubled))
    assert [2 * choice.budget for choice in once] == [each.budget for each in twice]
    for name in ("winner", "nested", "on_half", "cheapest", "advice"):
        values = [getattr(choice, name) for choice in once]
        assert values == [getattr(choice, name) for choice in twice]


def test_a_better_judge_adds_and_a_worse_one_is_not_bought() -> None:
    credits = np.clip(RNG.normal([[0.5], [0.9], [0.3]], 0.1, (3, 40)), 0, 1)
    better = choices_of(offers_of(credits, [1.0, 2.0, 3.0]))
    assert [choice.advice for choice in better] == [
        Advice.CHEAPEST,
        Advice.ADDS,
        Advice.ADDS,
    ]
    assert [choice.winner for choice in better] == [0, 1, 1]
    assert better[1].optimism == 0
    alone = choices_of(offers_of(credits[::2], [1.0, 2.0]))
    assert {choice.advice for choice in alone} == {Advice.CHEAPEST}


def test_few_sources_or_one_candidate_have_no_choice() -> None:
    credits = np.full((2, 19), 0.5)
    assert choices_of(offers_of(credits, [1.0, 2.0])) == []
    assert choices_of(offers_of(np.full((1, 40), 0.5), [1.0])) == []


@pytest.mark.parametrize(
    ("ends", "p", "advice"),
    [
        ((-0.01, 0.019), 0.2, Advice.DO_NOT_BUY),
        ((0.001, 0.019), 0.001, Advice.DO_NOT_BUY),
        ((-0.01, 0.03), 0.2, Advice.NOT_SHOWN),
        ((0.01, 0.07), 0.001, Advice.ADDS),
        ((0.01, 0.07), 0.05, Advice.NOT_SHOWN),
        ((None, None), 0.001, Advice.NOT_SHOWN),
    ],
)
def test_advice_follows_the_interval(
    ends: tuple[float | None, float | None], p: float, advice: Advice
) -> None:
    assert frontier.advised(Estimate(0.015, *ends), p) is advice


@pytest.mark.simulation
def test_the_winners_curse_is_out_and_equal_judges_add_nothing() -> None:
    buying = benchmark("buying")
    world = buying.WORLDS["80 texts"]
    result = buying.found(world, 150, world.r)
    assert result.apparent > 0.05
    assert -0.02 - 2 * result.error < result.nested < 0.005 + 2 * result.error
    assert result.adds <= 0.035 + 0.03
    jury = buying.WORLDS["jury of two"]
    result = buying.found(jury, 60, jury.jury_r)
    theory = jury.jury_r - jury.r
    assert abs(result.gain - theory) < 3 * result.gain_error
