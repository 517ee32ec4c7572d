"""The alternative-annotator test."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from judgescope.statistics.jackknife import deletions
from judgescope.statistics.raters import _p_worse, alternative_annotator
from judgescope.statistics.result import FEW_RATERS, FEW_SOURCES, FEW_TEXTS, Estimate

NAN = float("nan")


def alt(judge: Any, ratings: Any, **keys: Any) -> tuple[Estimate, Estimate]:
    judge, ratings = np.array(judge, dtype=float), np.array(ratings, dtype=float)
    keys = {"source": np.arange(judge.size), "weights": None, "closeness": "accuracy"} | keys
    source = keys.pop("source")
    return alternative_annotator(judge, ratings, source, **keys)


def test_the_advantage_by_hand() -> None:
    ratings = [[1, 2, 3, 4], [1, 2, 3, 5], [1, 3, 3, 3]]
    # against rater 1 (others agree with it on: both, one, both, none) the judge 1 1 3 5 has both,
    # none, both, one: at least as close on 3 of 4; rater 2: 2, 1, 2, 0 against 2 0 2 0: 3 of 4;
    # rater 3: 2 0 2 0 against 2 0 2 1: 4 of 4
    rate, advantage = alt([1, 1, 3, 5], ratings)
    assert advantage.value == pytest.approx((3 + 3 + 4) / 12)
    assert (rate.n, advantage.n, advantage.n_missing) == (3, 12, 0)


def test_one_target_a_source_is_the_papers_t_test() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, 60)
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 60)), 1, 5).astype(float)
    judge = np.clip(truth + rng.integers(-1, 2, 60), 1, 5).astype(float)
    p = []
    for rater in range(3):
        others = np.delete(ratings, rater, axis=0)
        own, its = ((others == v).mean(axis=0) for v in (ratings[rater], judge))
        difference = (own >= its).astype(float) - (its >= own)
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
    own = alt(judge, ratings, source=np.arange(80), weights=deletions(80))
    texts = alt(judge, ratings, source=source, weights=deletions(8), unit="text")
    sources = alt(judge, ratings, source=source, weights=deletions(8))
    assert texts[0].value == own[0].value
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


def test_fewer_than_three_texts_are_told() -> None:
    told = alt([1, 2], [[1, 2], [1, 2], [1, 1]], unit="text")
    assert told[0].note == told[1].note == FEW_TEXTS


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
    copied = alt(np.tile(judge, 9), np.tile(ratings, 9), source=np.tile(np.arange(12), 9))
    assert [one.value for one in once] == pytest.approx([one.value for one in copied])


def test_too_few() -> None:
    assert alt([1, 2], [[1, 2], [1, 2]])[0].note == FEW_RATERS
    assert alt([1, 2], [[1, 2]] * 3)[0].note == FEW_SOURCES
