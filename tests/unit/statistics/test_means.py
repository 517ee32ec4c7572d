"""Means of statistics, and net shares with Tango's score interval: published values,
oracles.
"""

import math
from dataclasses import replace
from math import log, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deleted import by_source, jackknife_t, proportion
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import (
    effective_pairs,
    independent_mean,
    mean_over,
    net_share,
    score_statistic,
    share,
    tango,
    tango_corrected_low,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import (
    CODES,
    Evidence,
    Outcome,
    missed,
    of_hint,
    of_perturbation,
    verdicts,
)

RNG = np.random.default_rng(0)
SOURCE = np.repeat(np.arange(40), 5)
WEIGHTS = deletions(40)
ONES = np.ones(SOURCE.size)


def shares(*chances: float) -> list[Replicated]:
    hits = [(RNG.random(SOURCE.size) < chance).astype(float) for chance in chances]
    return [share(hit, ONES, SOURCE, WEIGHTS) for hit in hits]


def test_a_share_of_things_is_a_proportion_of_clustered_cases() -> None:
    hits = np.zeros(SOURCE.size)
    hits[:50] = 1
    result = share(hits, ONES, SOURCE, WEIGHTS, missing=3, tied=2, averaged="what")
    estimate = result.estimate
    assert (estimate.value, estimate.n, estimate.n_missing, estimate.n_tied) == (
        0.25,
        200,
        3,
        2,
    )
    assert result.rows[0] == estimate.value and result.rows.size == 41
    assert result.rows[1] == 45 / 195 and result.rows[40] == 50 / 195
    own_part = proportion(by_source(hits, SOURCE, 40), [5] * 40)
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(own_part)
    assert (
        estimate.method.startswith("what; Clopper-Pearson")
        and "40 sources" in estimate.method
    )
    plain = share(hits, ONES, SOURCE, WEIGHTS, 3, averaged="what").estimate
    assert (plain.value, plain.ci_low, plain.ci_high) == (
        estimate.value,
        estimate.ci_low,
        estimate.ci_high,
    )


def test_the_mean_over_aspects_loses_a_source_in_all_of_them_at_once() -> None:
    each = shares(0.2, 0.5, 0.6)
    estimate = mean_over(each, averaged="aspects")
    rows = np.mean([entry.rows for entry in each], axis=0)
    assert estimate.rows == pytest.approx(rows) and estimate.estimate.value == rows[0]
    expected = jackknife_t(float(rows[0]), rows[1:].tolist(), ends=(0.0, 1.0))
    assert (estimate.estimate.ci_low, estimate.estimate.ci_high) == pytest.approx(
        expected
    )
    assert estimate.estimate.method == "mean over aspects; jackknife-t over 40 sources"
    assert estimate.estimate.n == 3
    turned = mean_over(each[::-1], averaged="aspects").estimate
    assert turned.value == pytest.approx(estimate.estimate.value)


def test_a_mean_over_a_single_aspect_is_that_aspects_number_with_its_n() -> None:
    [share] = shares(0.3)
    estimate = mean_over([share], averaged="aspects")
    kept = replace(estimate.estimate, method=share.estimate.method)
    assert kept == share.estimate and estimate.estimate.n == SOURCE.size
    assert estimate.estimate.method.startswith("only one aspect; ")
    assert np.array_equal(estimate.rows, share.rows)
    assert mean_over([share], averaged="subsets").estimate.n == 1


def test_where_all_sources_are_alike_a_mean_of_shares_has_their_bounds() -> None:
    none, all_of_them = (share(v * ONES, ONES, SOURCE, WEIGHTS) for v in (0, 1))
    estimate = mean_over([none, all_of_them], averaged="aspects").estimate
    rest = 1 - 0.025 ** (1 / 40)
    assert estimate.value == 0.5
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        (0.5 - rest / 2, 0.5 + rest / 2)
    )
    twice = [Estimate(1.0, ci_low=1.0, ci_high=1.0)] * 2
    assert (
        independent_mean(twice, averaged="datasets").note
        == "no width: none of the datasets has any"
    )
    flat = Replicated(Estimate(0.0, ci_low=0.0, ci_high=0.0), np.zeros(41), np.ones(40))
    assert "no width" in mean_over([flat, flat], averaged="aspects").estimate.note


def test_a_mean_over_what_is_not_defined_everywhere_is_none() -> None:
    nothing = Replicated(Estimate.undefined("constant judge"), np.full(41, np.nan))
    estimate = mean_over([*shares(0.5), nothing], averaged="aspects")
    number = estimate.estimate
    assert (number.value, number.note) == (
        None,
        "undefined on 1 of 2 aspects: constant judge",
    )
    assert np.isnan(estimate.rows).all() and estimate.rows.size == 41
    result = independent_mean([Estimate(0.5), nothing.estimate], averaged="datasets")
    assert (result.value, result.note) == (
        None,
        "undefined on 1 of 2 datasets: constant judge",
    )
    several = [nothing.estimate, Estimate.undefined("continuous"), Estimate(1.0)]
    result = independent_mean(several, averaged="datasets")
    assert (result.note, result.n) == ("undefined on 2 of 3 datasets", 1)
    assert independent_mean([], averaged="datasets").value is None


def test_the_mean_of_independent_ones_by_hand() -> None:
    # sqrt(.3² + .4²) / 2 = .25 below, sqrt(.6² + .8²) / 2 = .5 above
    result = independent_mean(
        [
            Estimate(1.0, ci_low=0.7, ci_high=1.6),
            Estimate(2.0, ci_low=1.6, ci_high=2.8),
        ],
        averaged="datasets",
    )
    assert (result.value, result.ci_low, result.ci_high) == pytest.approx(
        (1.5, 1.25, 2.0)
    )
    alone = independent_mean(
        [Estimate(1.0), Estimate(2.0, ci_low=1.6, ci_high=2.8)], averaged="datasets"
    )
    assert (alone.value, alone.ci_low, alone.ci_high) == (1.5, None, None)
    few = [
        Estimate(v, note=f"a warning; no interval: {n} sources")
        for v, n in ((1, 9), (2, 8))
    ]
    note = independent_mean(
        [few[0], Estimate(1.0, ci_low=0.7, ci_high=1.6)], averaged="datasets"
    ).note
    assert note == "no interval on 1 of 2 datasets: 9 sources"
    assert (
        independent_mean(few, averaged="datasets").note
        == "no interval on 2 of 2 datasets"
    )
    each = Estimate(0.5, ci_low=0.25, ci_high=0.625)
    same = independent_mean([each], averaged="datasets")
    assert (same.value, same.ci_low, same.ci_high) == (
        each.value,
        each.ci_low,
        each.ci_high,
    )


@pytest.mark.simulation
def test_intervals_of_a_mean_of_datasets_hold_it_95_times_of_100() -> None:
    rng, hits, studies = np.random.default_rng(1), 0, 400
    for _ in range(studies):
        each = []
        for size in (60, 100):
            result = (rng.random(size) < 0.4).astype(float)
            weights = deletions(size)
            each.append(share(result, np.ones(size), np.arange(size), weights).estimate)
        outcome = independent_mean(each, averaged="datasets")
        assert outcome.ci_low is not None and outcome.ci_high is not None
        hits += outcome.ci_low <= 0.4 <= outcome.ci_high
    assert hits / studies == pytest.approx(0.95, abs=0.03)


Z = 1.959963984540054


@pytest.mark.parametrize(
    ("b", "c", "n", "ends"),
    [
        (1, 7, 21, (-0.517, -0.026)),  # Fagerland, Lydersen, Laake 2014: airway data
        (0, 0, 24, (-0.138, 0.138)),  # docs/methods.md, "Agreement"
    ],
)
def test_published_values(b: int, c: int, n: int, ends: tuple[float, float]) -> None:
    assert tango(b, c, n) == pytest.approx(ends, abs=5e-4)


def test_no_pair_that_differs_leaves_z_squared_over_n_plus_z_squared() -> None:
    for n in (1, 12, 24, 500):
        end = Z**2 / (n + Z**2)
        assert tango(0, 0, n) == pytest.approx((-end, end), abs=1e-12)
    assert tango(0, 0, 73)[1] < 0.05 <= tango(0, 0, 72)[1]


def likelihood(q: float, delta: float, b: float, c: float, n: float) -> float:
    cells = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
    return sum(count * math.log(p) for count, p in cells if count)


def by_hand(delta: float, b: int, c: int, n: int) -> float:
    """The score statistic with q by golden section on the likelihood, not by its
    formula.
    """
    low, high = max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12
    for _ in range(200):
        third, other = low + (high - low) * 0.382, low + (high - low) * 0.618
        if likelihood(third, delta, b, c, n) < likelihood(other, delta, b, c, n):
            low = third
        else:
            high = other
    q = (low + high) / 2
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))


@pytest.mark.simulation
@settings(max_examples=60, deadline=None)
@given(st.integers(4, 60), st.data())
def test_both_ends_are_where_the_score_test_turns(n: int, data: st.DataObject) -> None:
    b = data.draw(st.integers(1, n - 2))
    c = data.draw(st.integers(1, n - b - 1)) if n - b > 1 else 0
    low, high = tango(b, c, n)
    assert by_hand(low, b, c, n) == pytest.approx(Z, abs=1e-3)
    assert by_hand(high, b, c, n) == pytest.approx(-Z, abs=1e-3)
    assert tango(c, b, n) == pytest.approx((-high, -low), abs=1e-12)
    assert low <= (b - c) / n <= high
    assert tango_corrected_low(b, c, n) <= low


def test_the_statistic_falls_as_delta_rises() -> None:
    values = [score_statistic(d, 5, 2, 30) for d in np.linspace(-0.99, 0.99, 199)]
    assert all(np.diff(values) < 0)


@pytest.mark.parametrize(
    ("b", "c", "n"), [(-1, 0, 5), (3, 3, 5), (0, 0, 0), (math.nan, 0, 4)]
)
def test_counts_that_are_none_are_refused(b: float, c: float, n: float) -> None:
    with pytest.raises(ValueError, match="counts"):
        tango(b, c, n)


def test_pairs_of_a_single_source_count_for_less_where_they_are_alike() -> None:
    d = np.repeat([1, 0, 0, 0, 1, 0, -1, 0, 0, 0], 6)
    source = np.repeat(np.arange(10), 6)
    assert effective_pairs(d, np.arange(60)) == 60
    assert effective_pairs(d, source) < 10
    alike = effective_pairs(
        np.tile([1, 0, 0, 0, 0, 0], 10), source
    )  # the same in every source:
    assert alike == pytest.approx(
        60 * (2.000995 / 2.262157) ** 2, rel=1e-5
    )  # t of 59 and of 9
    assert effective_pairs(np.zeros(60), source) == 10
    names = np.array([f"item {code}" for code in source])
    assert effective_pairs(d, names) == effective_pairs(d, source)


def test_a_net_share_has_no_interval_below_five_sources_and_none_without_pairs() -> (
    None
):
    assert net_share([], []).value is None
    few = net_share([1, 0, 0, -1], [0, 1, 2, 3])
    assert (few.value, few.ci_low, few.n, few.n_tied) == (0.0, None, 4, 2)
    result = net_share([3, 0, -0.5, 2, 2, 0], range(6))
    assert result.value == pytest.approx(2 / 6)
    assert (result.n, result.n_tied) == (6, 2)
    assert (result.ci_low, result.ci_high) == tango(3, 1, 6)
    assert net_share(
        [3, 0, -0.5, 2, 2, 0], range(6), corrected=True
    ).ci_low == tango_corrected_low(3, 1, 6)


def exceeds(n: int, b: float, c: float, bar: float) -> tuple[float, float, float]:
    """Return how often, exactly, both lower ends lie above `bar` and the upper end
    below it.
    """
    total = np.zeros(3)
    log_factorial = [math.lgamma(k + 1) for k in range(n + 1)]
    for x in range(n + 1):
        for y in range(n + 1 - x):
            rest = n - x - y
            log_p = (
                log_factorial[n]
                - log_factorial[x]
                - log_factorial[y]
                - log_factorial[rest]
            )
            for count, p in ((x, b), (y, c), (rest, 1 - b - c)):
                log_p += count * math.log(p) if count else 0.0
            if log_p > -16:
                ends = tango_corrected_low(x, y, n) > bar, *tango(x, y, n)
                total += math.exp(log_p) * np.array(
                    [ends[0], ends[1] > bar, ends[2] < bar]
                )
    corrected, plain, upper = total.tolist()
    return corrected, plain, upper


def test_the_corrected_end_holds_its_level_where_the_plain_one_does_not() -> None:
    corrected, plain, upper = exceeds(59, 0.07, 0.02, 0.05)
    assert plain > 0.04
    assert corrected <= 0.025
    assert upper <= 0.026


@pytest.mark.parametrize("c", [1e-9, 0.1])
def test_the_upper_end_lies_below_the_truth_in_few_studies(c: float) -> None:
    for n in (12, 24):
        assert exceeds(n, 0.25 + c, c, 0.25)[2] <= 0.0335


def net_shares(*each: tuple[int, int, int]) -> list[Estimate]:
    """Return the net shares of (lower, higher, equal) items."""
    return [
        net_share(np.repeat([1, -1, 0], counts), np.arange(sum(counts)))
        for counts in each
    ]


def test_24_of_24_zero_differences_are_a_miss_and_11_of_11_are_none() -> None:
    assert missed(net_shares((0, 0, 24)))
    assert missed(net_shares((0, 0, 12)))
    assert not missed(net_shares((0, 0, 11)))
    assert not missed([])


def test_a_miss_is_one_on_every_aspect() -> None:
    assert missed(net_shares((0, 0, 24), (5, 5, 90)))
    assert not missed(
        net_shares((0, 0, 24), (20, 0, 76))
    )  # a fifth, and it might be a quarter


def test_as_many_higher_as_lower_is_a_miss_only_where_that_is_sure() -> None:
    assert not missed(net_shares((6, 6, 12)))
    assert missed(net_shares((60, 60, 120)))


@pytest.mark.parametrize(
    ("p", "p_holm", "lengths", "is_missed", "wanted"),
    [
        (0.01, 0.05, (0.5, 0.06), False, (Outcome.NOTICED, ())),
        (0.01, 0.05, (0.5, 0.5), True, (Outcome.NOTICED, (CODES.rarely,))),
        (0.01, 0.05, (0.9, 0.05), False, (Outcome.NOT_SHOWN, (CODES.length,))),
        (0.01, 0.05, (0.01, 0.9), True, (Outcome.NOT_SHOWN, (CODES.length,))),
        (0.04, 0.08, (0.5, 0.5), False, (Outcome.NOT_SHOWN, (CODES.holm,))),
        (0.08, 0.08, (0.5, 0.5), False, (Outcome.NOT_SHOWN, (CODES.chance,))),
        (0.9, 1.0, (0.01, 0.5), True, (Outcome.MISSES, ())),
    ],
)
def test_perturbation(
    p: float,
    p_holm: float,
    lengths: tuple[float, float],
    is_missed: bool,
    wanted: tuple[Outcome, tuple[str, ...]],
) -> None:
    assert of_perturbation(p, p_holm, lengths, is_missed) == wanted


def effect(moved: int, back: int, n: int) -> Estimate:
    return net_share(
        np.repeat([1, -1, 0], [moved, back, n - moved - back]), range(n), corrected=True
    )


@pytest.mark.parametrize(
    ("moved", "back", "n", "wanted"),
    [
        (0, 0, 73, Outcome.WITHSTANDS),
        (0, 0, 72, Outcome.NOT_SHOWN),
        (
            20,
            20,
            100,
            Outcome.NOT_SHOWN,
        ),  # it changes by itself, and so much hides a sway
        (20, 20, 900, Outcome.WITHSTANDS),
        (30, 0, 100, Outcome.SWAYED),
        (8, 0, 100, Outcome.NOT_SHOWN),
        (3, 0, 4, Outcome.NO_CLAIM),
    ],
)
def test_hints(moved: int, back: int, n: int, wanted: Outcome) -> None:
    result = effect(moved, back, n)
    assert of_hint(result, result, result)[0] == wanted


def test_lost_texts_count_against_either_verdict() -> None:
    steady, gone = effect(0, 0, 100), effect(8, 0, 108)
    assert of_hint(steady, gone, steady) == (Outcome.NOT_SHOWN, (CODES.lost,))
    assert of_hint(steady, steady, effect(0, 8, 108)) == (Outcome.WITHSTANDS, ())
    swayed = effect(15, 0, 100)
    assert of_hint(swayed, swayed, effect(15, 15, 115)) == (
        Outcome.NOT_SHOWN,
        (CODES.lost,),
    )
    assert of_hint(swayed, effect(30, 0, 115), swayed) == (Outcome.SWAYED, ())


def test_a_d_of_1_is_no_claim() -> None:
    """D_avg_exact of 1 says nothing by itself: here no cell is noticed, and the mean is
    1.3.
    """
    d = np.array([1.0, 1.3, 1.6])
    p = np.exp(-d * log(20))
    holm = np.minimum(1, np.sort(p)[::-1] * [1, 2, 3])[::-1]
    of_perturbations = [
        of_perturbation(a, b, (1, 1), False)[0]
        for a, b in zip(np.sort(p), holm, strict=True)
    ]
    assert d.mean() >= 1 and Outcome.NOT_SHOWN in of_perturbations


def alone(rater: float = nan, **nulls: float) -> tuple[Outcome, tuple[str, ...]]:
    [verdict] = verdicts([Evidence(nulls, rater)])
    return verdict.outcome, verdict.reasons


@pytest.mark.parametrize(
    ("nulls", "wanted"),
    [
        ({"chance": 0.001, "length": 0.025}, (Outcome.BETTER, ())),
        ({"chance": 0.001, "length": 0.026}, (Outcome.NOT_SHOWN, ("length",))),
        (
            {"chance": 0.2, "length": 0.3, "systems": 0.01},
            (Outcome.NOT_SHOWN, ("chance", "length")),
        ),
        ({"chance": 0.98}, (Outcome.NOT_SHOWN, ("chance",))),
        ({"chance": 0.001, "systems": 0.99}, (Outcome.NOT_SHOWN, ("systems",))),
        ({"chance": nan, "length": 0.01}, (Outcome.NO_CLAIM, (CODES.no_interval,))),
        ({}, (Outcome.NO_CLAIM, (CODES.no_interval,))),
    ],
)
def test_a_claim_holds_only_against_each_of_its_nulls(
    nulls: dict[str, float], wanted: tuple[Outcome, tuple[str, ...]]
) -> None:
    assert alone(**nulls) == wanted


def test_the_next_step_is_asked_only_of_what_holds_the_one_before() -> None:
    assert alone(rater=0.001, chance=0.001)[0] == Outcome.AS_RATER
    assert alone(rater=0.001, chance=0.5)[0] == Outcome.NOT_SHOWN
    assert alone(rater=0.03, chance=0.001)[0] == Outcome.BETTER


def test_holm_corrects_within_the_family_and_says_so() -> None:
    family = [Evidence({"chance": p}) for p in (0.001, 0.02, 0.3, nan)]
    result = verdicts(family)
    assert [behaviour.outcome for behaviour in result] == [
        *(Outcome.BETTER, Outcome.NOT_SHOWN, Outcome.NOT_SHOWN, Outcome.NO_CLAIM)
    ]
    assert result[1].reasons == (CODES.holm,) and result[1].adjusted == pytest.approx(
        0.04
    )
    assert {each.family for each in result} == {3}  # what is not computable is no test


def test_the_correction_of_the_second_step_is_over_those_that_reach_it() -> None:
    raters = (0.02, 0.02, 0.02)
    result = verdicts([Evidence({"chance": 0.001}, rater) for rater in raters])
    assert {behaviour.outcome for behaviour in result} == {Outcome.BETTER}  # 3 x .02
    first = [0.001, 0.9, 0.9]
    result = verdicts(
        [Evidence({"chance": p}, r) for p, r in zip(first, raters, strict=True)]
    )
    assert result[0].outcome == Outcome.AS_RATER  # the only one that is asked
