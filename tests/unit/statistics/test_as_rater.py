"""As one more rater (docs/methods.md, "Agreement"), by simulation, by hand, and in its
limits."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from judgescope.statistics.alt_test import _p_worse, alternative_annotator
from judgescope.statistics.classes import on_classes
from judgescope.statistics.correlation import correlations
from judgescope.statistics.intervals import deletions
from judgescope.statistics.raters import (
    SHUFFLES,
    RaterVerdict,
    are_slots,
    as_rater,
    ceilings,
    decided,
    fieller,
    mean_rating,
    rating_tables,
)
from judgescope.statistics.resampling import Replicated, with_interval
from judgescope.statistics.result import REASONS, Estimate

Floats = NDArray[np.float64]
NAN = float("nan")
SOURCES, EACH = 24, 5
SOURCE = np.repeat(np.arange(SOURCES), EACH)
ONE = np.zeros(SOURCE.size, dtype=np.int64)
SCALE = [1.0, 2, 3, 4, 5]


def pearson(x: Floats, y: Floats) -> Mapping[str, Replicated]:
    result = correlations(
        x,
        y,
        SOURCE,
        ONE,
        weights=deletions(SOURCES),
        statistics=["pearson"],
        levels=["pooled"],
    )
    return {"pearson": result["pearson", "pooled"]}


def kappa(x: Floats, y: Floats) -> Mapping[str, Replicated]:
    by_statistic = on_classes(y, x, SCALE, SOURCE, deletions(SOURCES))
    return {"kappa_linear": by_statistic["kappa_linear"]}


def raters(rng: np.random.Generator, r: int, shift: Floats) -> Floats:
    quality = rng.normal(size=SOURCE.size) + rng.normal(size=SOURCES)[SOURCE] / 2
    noisy = 3 + quality + shift[:, None] + rng.normal(0, 0.8, (r, SOURCE.size))
    return np.clip(np.round(noisy), 1, 5)


@pytest.mark.simulation
@pytest.mark.parametrize("r", [2, 3, 5])
@pytest.mark.parametrize(("of", "against"), [(pearson, "mean"), (kappa, "each")])
@pytest.mark.parametrize("spread", [0.0, 0.8])
def test_a_judge_drawn_like_a_rater_has_mean_0(  # type: ignore[no-untyped-def]
    r: int, of, against, spread: float
) -> None:
    """Also where raters, the judge among them, differ in how harsh they are."""
    rng = np.random.default_rng(r)
    values = []
    for _ in range(60):
        drawn = raters(rng, r + 1, rng.normal(0, spread, r + 1))
        (result,) = as_rater(of, drawn[0], [drawn[1:]], against=against).values()
        values.append(result.difference.rows[0])
    error = np.std(values, ddof=1) / len(values) ** 0.5
    assert abs(np.mean(values)) <= 3 * error


def test_both_sides_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(1)
    drawn = np.array(raters(rng, 4, np.zeros(4)))
    judge, people = drawn[0], drawn[1:]
    people[0, :40] = NAN
    judge[100:110] = NAN
    expected, weights = [], []
    for number in range(3):
        with np.errstate(invalid="ignore"):
            g = np.nanmean(np.delete(people, number, axis=0), axis=0)
        at = ~np.isnan(judge + people[number] + g)
        a, b = (np.corrcoef(v[at], g[at])[0, 1] for v in (judge, people[number]))
        expected.append(a - b)
        weights.append(at.sum())
    difference = as_rater(pearson, judge, [people], against="mean")[
        "pearson"
    ].difference
    assert difference.estimate.value == pytest.approx(
        np.average(expected, weights=weights)
    )
    each, texts = [], []
    for number in range(3):
        for other in {0, 1, 2} - {number}:
            at = ~np.isnan(judge + people[number] + people[other])
            a, b = (
                cohen_kappa_score(
                    v[at], people[other][at], labels=SCALE, weights="linear"
                )
                for v in (judge, people[number])
            )
            each.append(a - b)
            texts.append(at.sum())
    classes = as_rater(kappa, judge, [people], against="each")[
        "kappa_linear"
    ].difference
    assert classes.estimate.value == pytest.approx(np.average(each, weights=texts))


def test_a_deletion_takes_its_source_out_of_both_sides() -> None:
    rng = np.random.default_rng(2)
    judge, *people = raters(rng, 4, np.zeros(4))
    difference = as_rater(pearson, judge, [np.array(people)], against="mean")[
        "pearson"
    ].difference
    for source in (0, 7, 23):
        without = np.where(source == SOURCE, NAN, judge)
        alone = as_rater(pearson, without, [np.array(people)], against="mean")[
            "pearson"
        ]
        assert difference.rows[1 + source] == pytest.approx(alone.difference.rows[0])


def test_of_unanimous_raters_p_and_the_interval_say_the_same() -> None:
    [rating] = raters(np.random.default_rng(3), 1, np.zeros(1))
    same = np.array([rating] * 3)
    difference = as_rater(pearson, rating, [same], against="mean")["pearson"].difference
    low, p = difference.estimate.ci_low, difference.p_above(-0.05)
    assert difference.estimate.value == 0 and low is not None and p is not None
    assert low < -0.05 and p > 0.025


def test_means_of_tenths_depend_neither_on_the_order_of_raters_nor_on_the_scale() -> (
    None
):
    tenths = np.array(list(product(range(11), repeat=3)), dtype=float).T
    means = mean_rating(tenths / 10)
    assert np.array_equal(means, mean_rating(tenths[::-1] / 10))
    assert np.unique(means).size == np.unique(mean_rating(tenths)).size == 31


def test_without_deletions_there_is_the_difference_alone() -> None:
    def bare(x: Floats, y: Floats) -> Mapping[str, Replicated]:
        return {"kappa_linear": on_classes(y, x, SCALE, SOURCE, None)["kappa_linear"]}

    people = raters(np.random.default_rng(2), 4, np.zeros(4))
    alone, complete = (
        as_rater(value, people[0], [people[1:]], against="each")["kappa_linear"]
        for value in (bare, kappa)
    )
    assert alone.difference.rows == pytest.approx(complete.difference.rows[:1])
    assert alone.difference.estimate.ci_low is None and alone.share.value is None
    assert (
        complete.difference.estimate.ci_low is not None
        and complete.share.value is not None
    )


@pytest.mark.parametrize(("of", "against"), [(pearson, "mean"), (kappa, "each")])
def test_terms_of_a_copied_rater_cancel_and_the_order_of_raters_is_nothing(  # type: ignore[no-untyped-def]
    of, against
) -> None:
    rng = np.random.default_rng(3)
    people = raters(rng, 3, np.zeros(3))
    (complete,) = as_rater(of, people[0], [people], against=against).values()
    terms = []
    for number in (1, 2):
        others = np.delete(people, number, axis=0)
        golds = [others.mean(axis=0)] if against == "mean" else list(others)
        for gold in golds:
            (a,), (b,) = of(people[0], gold).values(), of(people[number], gold).values()
            terms.append((a.rows - b.rows)[0])
    # those of rater 0 itself are 0
    assert complete.difference.rows[0] == pytest.approx(
        sum(terms) / 3 / (len(terms) / 2)
    )
    (moved,) = as_rater(of, people[0], [people[[2, 0, 1]]], against=against).values()
    assert moved.difference.rows == pytest.approx(complete.difference.rows)


def test_constant_people_and_a_single_rater_are_undefined() -> None:
    rng = np.random.default_rng(4)
    judge, *people = raters(rng, 3, np.zeros(3))
    flat = as_rater(pearson, judge, [np.full((3, judge.size), 4.0)], against="mean")[
        "pearson"
    ]
    assert flat.difference.estimate == Estimate.undefined(
        REASONS.constant_ratings, n=judge.size
    )
    assert flat.share.value is None and flat.difference.p_above(-0.05) is None
    alone = as_rater(pearson, judge, [np.array(people[:1])], against="mean")["pearson"]
    assert (
        alone.difference.estimate.note
        == alone.share.note
        == "one rater: no other rater to compare with"
    )


@pytest.mark.simulation
def test_sorted_slots_are_detected_and_shuffled_and_cost_a_rater_nothing() -> None:
    rng = np.random.default_rng(5)
    gaps, bare = [], []
    for _ in range(12):
        judge, *people = raters(rng, 4, np.zeros(4))
        slots = np.sort(people, axis=0)
        assert are_slots(slots) and not are_slots(np.array(people))
        tables = rating_tables(slots, SOURCE, None, lambda: np.random.default_rng(0))
        assert len(tables) == SHUFFLES
        assert np.array_equal(np.sort(tables[3], axis=0), slots)
        difference = as_rater(pearson, judge, tables, against="mean")[
            "pearson"
        ].difference
        gaps.append(difference.rows[0])
        complete = as_rater(pearson, judge, [slots], against="mean")[
            "pearson"
        ].difference
        bare.append(complete.rows[0])
        assert f"{SHUFFLES} shuffles" in difference.estimate.method
    assert abs(np.mean(gaps)) < 3 * np.std(gaps, ddof=1) / 12**0.5 + 0.01
    assert rating_tables(slots, SOURCE, False, lambda: rng)[0] is slots


def test_a_rater_of_few_texts_is_a_slot() -> None:
    rng = np.random.default_rng(6)
    people = raters(rng, 4, np.zeros(4))
    people[2, 20:], people[3, :20] = NAN, NAN  # the third has 20 texts of 4 sources
    tables = rating_tables(people, SOURCE, False, lambda: np.random.default_rng(0))
    assert len(tables) == SHUFFLES and tables[0].shape[0] == 4
    assert np.array_equal(tables[0][:3], people[[0, 1, 3]], equal_nan=True)
    both = people.copy()
    both[3, 40:] = NAN  # two who rated other texts share one slot
    merged = rating_tables(both, SOURCE, False, lambda: np.random.default_rng(0))[0]
    assert merged.shape[0] == 3 and np.isfinite(merged[2]).sum() == 40


def test_the_share_has_fiellers_interval() -> None:
    rng = np.random.default_rng(7)
    judge, *people = raters(rng, 4, np.zeros(4))
    result = as_rater(pearson, judge, [np.array(people)], against="mean")["pearson"]
    share = result.share
    assert (
        share.value is not None
        and share.ci_low is not None
        and share.ci_high is not None
    )
    assert share.ci_low < share.value < share.ci_high
    noise = rng.integers(1, 6, (3, SOURCE.size)).astype(float)
    nothing = as_rater(pearson, judge, [noise], against="mean")["pearson"].share
    assert nothing.note == "the raters' own agreement is not significantly above 0"


def test_the_ends_of_fiellers_interval_are_where_the_t_test_turns() -> None:
    from scipy import stats

    rng = np.random.default_rng(8)
    a, b = rng.normal(3, 1, 15), rng.normal(4, 1, 15)
    rows = [
        np.array([v.mean(), *(np.delete(v, s).mean() for s in range(15))])
        for v in (a, b)
    ]
    result = fieller(rows[0], rows[1], np.ones(15))
    assert result is not None
    for rho in result:
        assert stats.ttest_1samp(a - rho * b, 0).pvalue == pytest.approx(0.05)
    assert fieller(rows[0], rows[1], np.append(np.ones(9), np.zeros(6))) is None


def difference(mean: float, error: float) -> Replicated:
    values = np.linspace(-1, 1, SOURCES) * error * (SOURCES - 1) ** 0.5 * 1.7 + mean
    rows = np.append(
        values.mean(), [np.delete(values, s).mean() for s in range(SOURCES)]
    )
    return with_interval(Replicated(Estimate(mean), rows, np.ones(SOURCES)))


def test_difference_is_as_good_worse_or_undecided_with_the_sources_needed() -> None:
    assert decided(difference(0.0, 0.01), 0.05) == RaterVerdict.AS_GOOD
    assert decided(difference(-0.2, 0.02), 0.05) == RaterVerdict.WORSE
    vague = difference(-0.02, 0.1)
    text = decided(vague, 0.05)
    assert text.startswith(RaterVerdict.UNDECIDED)
    lo, hi = vague.estimate.ci_low, vague.estimate.ci_high
    assert lo is not None and hi is not None
    needed = int(text.split()[-2])
    assert (hi - lo) / 2 * (SOURCES / needed) ** 0.5 <= 0.05 < (hi - lo) / 2
    # the claim's p is that of the interval
    p = vague.p_above(-0.05)
    assert p is not None and p > 0.025
    assert (
        decided(with_interval(Replicated(Estimate(0.1), np.array([0.1]))), 0.05) == ""
    )


TWENTY = np.repeat(np.arange(20), 4)
SYSTEM = np.tile(np.arange(4), 20)


def ratings(seed: int = 0, raters: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, 80)
    return np.clip(np.round(truth + rng.normal(0, 0.7, (raters, 80))), 1, 5)


def pooled(x: Any, y: Any) -> Mapping[Any, Replicated]:
    return correlations(x, y, TWENTY, SYSTEM, weights=deletions(20), levels=["pooled"])


def test_each_rater_against_the_mean_of_the_others() -> None:
    table = ratings()
    table[0, :5] = np.nan
    result = ceilings(pooled, table, against="mean")
    want = []
    for rater in range(3):
        others = np.nanmean(np.delete(table, rater, axis=0), axis=0)
        known = ~np.isnan(table[rater])
        want.append(stats.kendalltau(table[rater][known], others[known]).statistic)
    each = result["kendall_b", "pooled"]
    assert each.value == pytest.approx(np.mean(want), abs=1e-12)
    assert (
        each.ci_low is not None
        and each.ci_high is not None
        and each.ci_low < np.mean(want) < each.ci_high
    )
    assert (each.n, each.n_missing) == (78, 2)


def test_each_rater_against_every_other() -> None:
    table = ratings()

    def kappas(x: Any, y: Any) -> Mapping[str, Replicated]:
        return on_classes(y, x, [1, 2, 3, 4, 5], TWENTY, None)

    kappa_linear = ceilings(kappas, table, against="each")["kappa_linear"]
    each = [
        kappas(table[i], table[j])["kappa_linear"].estimate.value
        for i in range(3)
        for j in range(3)
        if i != j
    ]
    assert kappa_linear.value == pytest.approx(
        np.mean([v for v in each if v is not None])
    )


def test_raters_without_a_value_are_counted_and_a_single_rater_has_no_ceiling() -> None:
    table = ratings()
    table[2] = 3
    result = ceilings(pooled, table, against="mean")["pearson", "pooled"]
    assert result.value is not None and result.note == "undefined for 1 of 3"
    assert ceilings(pooled, np.full((3, 80), 2.0), against="mean")[
        "pearson", "pooled"
    ].note == ("constant judge")
    alone = ceilings(pooled, ratings(raters=1), against="mean")
    assert all(each.value is None for each in alone.values())


def alt(judge: Any, ratings: Any, **keys: Any) -> tuple[Estimate, Estimate]:
    judge, ratings = np.array(judge, dtype=float), np.array(ratings, dtype=float)
    keys = {
        "source": np.arange(judge.size),
        "weights": None,
        "closeness": "accuracy",
    } | keys
    source = keys.pop("source")
    return alternative_annotator(judge, ratings, source, **keys)


def test_the_advantage_by_hand() -> None:
    ratings = [[1, 2, 3, 4], [1, 2, 3, 5], [1, 3, 3, 3]]
    # against rater 1 (others agree with it on: both, one, both, none) the judge 1 1 3 5
    # has both, none, both, one: at least as close on 3 of 4; rater 2: 2, 1, 2, 0
    # against 2 0 2 0: 3 of 4; rater 3: 2 0 2 0 against 2 0 2 1: 4 of 4
    rate, advantage = alt([1, 1, 3, 5], ratings)
    assert advantage.value == pytest.approx((3 + 3 + 4) / 12)
    assert (rate.n, advantage.n, advantage.n_missing) == (3, 12, 0)


def test_a_single_target_a_source_is_the_papers_t_test() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 60)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 60)), 1, 5).astype(float)
    judge = np.clip(truth + rng.integers(-1, 2, 60), 1, 5).astype(float)
    p = []
    for rater in range(3):
        others = np.delete(ratings, rater, axis=0)
        own_part, its = ((others == v).mean(axis=0) for v in (ratings[rater], judge))
        difference = (own_part >= its).astype(float) - (its >= own_part)
        p.append(stats.ttest_1samp(difference, 0.1, alternative="less").pvalue)
    adjusted = stats.false_discovery_control(p, method="by")
    rate, _ = alt(judge, ratings)
    assert rate.value == pytest.approx(np.mean(adjusted <= 0.05))
    counted = _p_worse(np.ones(60), difference, 0.1)
    assert counted == pytest.approx(p[-1], rel=1e-12)


def test_texts_as_units_are_the_papers_t_test_whatever_their_sources() -> None:
    rng = np.random.default_rng(2)
    source = np.repeat(np.arange(8), 10)
    truth = np.clip(3 + rng.integers(-2, 3, 8)[source] + rng.integers(-1, 2, 80), 1, 5)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 80)), 1, 5).astype(float)
    judge = np.clip(truth + rng.integers(-1, 2, 80), 1, 5).astype(float)
    own_part = alt(judge, ratings, source=np.arange(80), weights=deletions(80))
    texts = alt(judge, ratings, source=source, weights=deletions(8), unit="text")
    sources = alt(judge, ratings, source=source, weights=deletions(8))
    assert texts[0].value == own_part[0].value
    assert texts[1] == sources[1]  # the interval is over sources in either case
    assert (texts[0].method, sources[0].method) == (
        "epsilon 0.1, t-test over texts, Benjamini-Yekutieli",
        "epsilon 0.1, t-test over sources, Benjamini-Yekutieli",
    )


def test_copies_of_a_text_say_more_only_where_texts_are_the_units() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 12)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 12)), 1, 5).astype(float)
    judge = np.clip(truth + rng.integers(-1, 2, 12), 1, 5).astype(float)
    source = np.repeat(np.arange(12), 40)
    many = [np.repeat(v, 40, axis=-1) for v in (judge, ratings)]
    keys = {"source": source, "weights": deletions(12), "epsilon": 0.3}
    once = alt(judge, ratings, weights=deletions(12), epsilon=0.3)[0].value
    assert alt(*many, **keys)[0].value == once == 0
    assert alt(*many, **keys, unit="text")[0].value == 1


def test_fewer_than_three_texts_are_reported() -> None:
    result = alt([1, 2], [[1, 2], [1, 2], [1, 1]], unit="text")
    assert result[0].note == result[1].note == REASONS.few_texts


@pytest.mark.parametrize("closeness", ["accuracy", "rmse"])
def test_a_perfect_judge_wins_and_a_random_one_does_not(closeness: str) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 300).astype(float)
    ratings = np.clip(truth + rng.integers(-1, 2, (4, 300)), 1, 5)
    weights = deletions(300)
    perfect = alt(truth, ratings, closeness=closeness, weights=weights)
    noise = alt(rng.integers(1, 6, 300), ratings, closeness=closeness, weights=weights)
    assert perfect[0].value == 1 and noise[0].value == 0
    for _, advantage in (perfect, noise):
        assert (
            advantage.ci_low is not None
            and advantage.ci_high is not None
            and advantage.value is not None
        )
        assert advantage.ci_low < advantage.value < advantage.ci_high
    assert (perfect[1].value or 0) > (noise[1].value or 1)


def test_closeness_in_numbers_or_in_classes() -> None:
    ratings = [[3] * 9, [3] * 9, [5] * 9]
    near = alt([4] * 9, ratings, closeness="rmse")[1].value
    exact = alt([4] * 9, ratings, closeness="accuracy")[1].value
    # by distance 4 is no nearer to 3 and 5 than 3 is, and nearer to 3 and 3 than 5 is
    assert near == pytest.approx((1 + 1 + 1) / 3)
    assert exact == pytest.approx((0 + 0 + 1) / 3)


def test_missing_values_are_left_out_and_counted() -> None:
    ratings = [[1, 2, NAN, 4, 2], [1, 2, 3, 5, 2], [1, 3, 3, 3, 2]]
    _, advantage = alt([1, NAN, 3, 5, 2], ratings)
    assert (advantage.n, advantage.n_missing) == (11, 4)


def test_copies_within_a_source_make_it_no_surer() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 12)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 12)), 1, 5).astype(float)
    judge = np.clip(truth + rng.integers(-1, 2, 12), 1, 5).astype(float)
    once = alt(judge, ratings)
    copied = alt(
        np.tile(judge, 9), np.tile(ratings, 9), source=np.tile(np.arange(12), 9)
    )
    assert [each.value for each in once] == pytest.approx(
        [each.value for each in copied]
    )


def test_too_few() -> None:
    assert alt([1, 2], [[1, 2], [1, 2]])[0].note == REASONS.few_raters
    assert alt([1, 2], [[1, 2]] * 3)[0].note == REASONS.few_sources
