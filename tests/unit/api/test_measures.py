"""The statistics that a notebook uses: equal to independent code, and errors that
help.
"""

import doctest
from collections.abc import Callable
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import judgescope as js
from judgescope.api import measures

RNG = np.random.default_rng(4)
N = 48
SOURCE = np.repeat([f"s{i}" for i in range(12)], 4)
SYSTEM = np.tile(["d", "a", "c", "b"], 12)
HUMAN = RNG.integers(1, 6, (N, 3)).astype(float)
JUDGE = HUMAN.mean(axis=1).round() + RNG.integers(-1, 2, N)


def test_the_worked_examples_are_right() -> None:
    failed, tried = doctest.testmod(measures, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0 and tried > 20


MEASURES = [name for name in js.PUBLIC if js.PUBLIC[name].endswith("measures")]


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_its_source_and_a_worked_example(name: str) -> None:
    text = str(getattr(js, name).__doc__)
    assert ">>>" in text and "ValueError" in text and "20" in text


def test_correlations_are_scipys_at_every_level() -> None:
    result = js.agreement(JUDGE, HUMAN, source=SOURCE, system=SYSTEM)
    assert result.index.names == ["statistic", "level"] and len(result) == 10
    mean = HUMAN.mean(axis=1)
    frame = pd.DataFrame({"x": JUDGE, "y": mean, "source": SOURCE, "system": SYSTEM})
    systems = frame.groupby("system")[["x", "y"]].mean()
    for name, function in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall_b", stats.kendalltau),
    ):
        groups = [
            group
            for _, group in frame.groupby("source")
            if group.x.nunique() > 1 < group.y.nunique()
        ]
        by_source = [function(group.x, group.y)[0] for group in groups]
        values = result.loc[name]["value"]
        assert values["pooled"] == pytest.approx(function(JUDGE, mean)[0])
        assert values["by_source"] == pytest.approx(np.mean(by_source))
        assert values["by_system"] == pytest.approx(function(systems.x, systems.y)[0])
    scores = (
        frame[["x", "y"]].rank().apply(lambda ranks: stats.norm.ppf(ranks / (N + 1)))
    )
    within = scores - scores.groupby(frame.source).transform("mean")
    kept = frame.groupby("source").y.transform("nunique") > 1
    assert kept.all()
    r = float((within.x * within.y).sum() / np.sqrt((within**2).sum().prod()))
    assert result.loc[("normal_scores", "within_source"), "value"] == pytest.approx(r)
    pooled = result.loc[("kendall_b", "pooled")]
    assert pooled.n == N and pooled.ci_low < pooled.value < pooled.ci_high


def test_arrays_lists_and_pandas_objects_give_the_same() -> None:
    expected = js.agreement(JUDGE, HUMAN, source=SOURCE)
    index = [f"t{i}" for i in range(N)]
    frame = pd.DataFrame(HUMAN, columns=["r1", "r2", "r3"], index=index).astype("Int64")
    series = pd.Series(JUDGE, index=index)
    source = pd.Series(SOURCE, index=index, dtype="category")
    pd.testing.assert_frame_equal(js.agreement(series, frame, source=source), expected)
    lists = js.agreement(JUDGE.tolist(), HUMAN.tolist(), source=SOURCE.tolist())
    pd.testing.assert_frame_equal(lists, expected)


def test_a_gap_is_counted_in_every_type() -> None:
    gap = np.where(np.arange(N) == 5, np.nan, JUDGE)
    expected = js.agreement(gap, HUMAN)
    assert expected.loc[("pearson", "pooled"), ["n", "n_missing"]].tolist() == [
        N - 1,
        1,
    ]
    nullable = pd.Series(gap).astype("Int64")
    pd.testing.assert_frame_equal(js.agreement(nullable, HUMAN), expected)
    absent = [None if np.isnan(each) else each for each in gap]
    pd.testing.assert_frame_equal(js.agreement(absent, HUMAN), expected)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_the_reference_implementation(level: Any) -> None:
    ratings = HUMAN.copy()
    ratings[3, 1] = np.nan
    result = js.alpha(ratings, level=level, source=SOURCE)
    expected = krippendorff.alpha(ratings.T, level_of_measurement=level)
    assert result.value == pytest.approx(expected) and result.n == N
    assert result.ci_low < result.value < result.ci_high


def test_a_paired_test_has_the_difference_of_the_correlations() -> None:
    other = RNG.permutation(JUDGE)
    result = js.paired_test(
        JUDGE, other, HUMAN, source=SOURCE, statistic="spearman", seed=3
    )
    mean = HUMAN.mean(axis=1)
    expected = stats.spearmanr(JUDGE, mean)[0] - stats.spearmanr(other, mean)[0]
    gap = result.difference
    assert gap.value == pytest.approx(expected) and gap.n == N
    assert gap.ci_low is not None and gap.ci_low < expected
    assert 1 / 1001 <= result.p_greater <= result.p < 0.01
    swapped = js.paired_test(other, JUDGE, HUMAN, source=SOURCE, statistic="spearman")
    assert swapped.p_greater == 1 and swapped.difference.value == pytest.approx(
        -expected
    )


def test_a_paired_test_of_the_deciding_number_is_within_sources() -> None:
    other = RNG.permutation(JUDGE)
    result = js.paired_test(
        JUDGE, other, HUMAN, source=SOURCE, statistic="normal_scores"
    )
    location = ("normal_scores", "within_source")
    values = [
        js.agreement(each, HUMAN, source=SOURCE).loc[location, "value"]
        for each in (JUDGE, other)
    ]
    assert result.difference.value == pytest.approx(values[0] - values[1])
    assert result.difference.ci_low is not None and result.p < 0.05
    with pytest.raises(ValueError, match="level of normal_scores must be one of with"):
        js.paired_test(JUDGE, other, HUMAN, statistic="normal_scores", level="pooled")


def test_a_paired_test_uses_texts_that_both_judges_have() -> None:
    first, second = JUDGE.copy(), RNG.permutation(JUDGE)
    first[0], second[1] = np.nan, np.nan
    assert js.paired_test(first, second, HUMAN, permutations=9).difference.n == N - 2
    assert js.paired_test(first, second, HUMAN, permutations=9, permute="both").p >= 0.1


def test_soft_pairwise_accuracy_counts_all_flips_of_few_sources() -> None:
    x, y = JUDGE[:16], HUMAN[:16].mean(axis=1)
    flips = np.array(np.meshgrid(*[[1, -1]] * 4)).reshape(4, -1).T
    gaps = []
    for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        p = []
        for values in (x, y):
            table = np.rint(3 * values).reshape(
                4, 4
            )  # whole numbers: equal sums are equal
            d = table[:, i] - table[:, j]
            sums = (flips * d).sum(axis=1)
            above, equal = sums > d.sum(), sums == d.sum()
            p.append(np.mean(above + 0.5 * equal))
        gaps.append(1 - abs(p[0] - p[1]))
    result = js.soft_pairwise(x, y, source=SOURCE[:16], system=SYSTEM[:16])
    assert result.value == pytest.approx(np.mean(gaps)) and result.n == 4


def test_a_judge_that_repeats_the_raters_takes_their_location() -> None:
    ratings = np.repeat(HUMAN[:, :1], 3, axis=1)
    result = js.alt_test(ratings[:, 0], ratings, source=SOURCE, closeness="accuracy")
    assert result.winning_rate.value == result.advantage.value == 1
    assert (result.winning_rate.n, result.advantage.n) == (3, 3 * N)
    worse = js.alt_test(
        6 - ratings[:, 0] + 10, ratings, source=SOURCE, closeness="accuracy"
    )
    assert worse.winning_rate.value == worse.advantage.value == 0
    assert js.alt_test(JUDGE, ratings[:, :2]).winning_rate.note == "fewer than 3 raters"


def test_discernment_of_a_single_aspect_is_the_wilcoxon_test() -> None:
    before, after = JUDGE, JUDGE - RNG.permutation(np.arange(N) - 12) / 7
    result = js.discernment(before, after)
    d = (before - after).round(9)
    test = stats.wilcoxon(
        d, alternative="greater", method="asymptotic", correction=False
    )
    assert result.loc[("", "D"), "value"] == pytest.approx(
        -np.log(test.pvalue) / np.log(20)
    )
    drop = result.loc[("0", "mean_drop")]
    assert drop.value == pytest.approx(np.mean(before - after)) and drop.n == N
    assert drop.ci_low < drop.value < drop.ci_high
    exact = result.loc[("0", "p_wilcoxon"), "value"]
    assert -np.log(exact) / np.log(20) == pytest.approx(
        result.loc[("", "D_exact"), "value"]
    )


def test_discernment_weighs_the_aspects_that_columns_name() -> None:
    before = pd.DataFrame({"clear": JUDGE, "true": JUDGE})
    after = pd.DataFrame({"clear": JUDGE - 1, "true": RNG.permutation(JUDGE)})
    alone = js.discernment(before[["clear"]], after[["clear"]])
    weighted = js.discernment(before, after, weights={"clear": 1.0, "true": 0.0})
    for name in ("D_ew", "D_hmp", "D_exact"):
        values = (each.loc[("", name), "value"] for each in (alone, weighted))
        assert next(values) == pytest.approx(next(values))
    even = js.discernment(before, after)
    assert even.loc[("", "D_ew"), "value"] < weighted.loc[("", "D_ew"), "value"]
    assert "beyond 5" in even.loc[("", "D"), "note"]


def test_an_aspect_without_a_pair_leaves_the_scores_undefined() -> None:
    before = pd.DataFrame({"clear": JUDGE, "true": np.nan})
    result = js.discernment(before, pd.DataFrame({"clear": JUDGE - 1, "true": JUDGE}))
    assert np.isnan(result.loc[("", "D"), "value"]) and result.loc[("", "D"), "note"]
    assert result.loc[("true", "p_wilcoxon"), "n_missing"] == N
    assert result.loc[("clear", "mean_drop"), "value"] == 1


SHORT, LATER = JUDGE[1:], pd.Series(JUDGE, index=range(1, N + 1))
GAPS = np.array([None, *SOURCE[1:]], dtype=object)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: js.agreement(SHORT, HUMAN),
            "lengths differ: {'judge': 47, 'human': 48",
        ),
        (lambda: js.agreement(HUMAN, HUMAN), "judge must have one dimension"),
        (lambda: js.agreement(["a"] * N, HUMAN), "judge must be numbers"),
        (lambda: js.agreement([np.inf] * N, HUMAN), "judge must be finite"),
        (lambda: js.agreement(LATER, pd.DataFrame(HUMAN)), "indexes differ"),
        (
            lambda: js.agreement(JUDGE, HUMAN, source=GAPS),
            "source has missing labels: 1 of 48",
        ),
        (lambda: js.alpha(HUMAN, level="ratio"), "ratio"),
        (lambda: js.alpha(HUMAN, source=SHORT), "lengths differ"),
        (lambda: js.paired_test(JUDGE, SHORT, HUMAN), "lengths differ"),
        (
            lambda: js.paired_test(JUDGE, JUDGE, HUMAN, permutations=0),
            "1 or greater, not 0",
        ),
        (
            lambda: js.paired_test(JUDGE, JUDGE, HUMAN, statistic="tau"),
            "kendall_b, normal_scores, not 'tau'",
        ),
        (
            lambda: js.paired_test(JUDGE, JUDGE, HUMAN, level="source"),
            "level of kendall_b must be one of",
        ),
        (
            lambda: js.paired_test(JUDGE, JUDGE, HUMAN, permute="all"),
            "permute must be one of",
        ),
        (
            lambda: js.soft_pairwise(JUDGE, HUMAN, source=SOURCE, system=GAPS),
            "system has missing",
        ),
        (lambda: js.alt_test(JUDGE, HUMAN, source=SHORT), "lengths differ"),
        (lambda: js.alt_test(JUDGE, HUMAN, closeness="x"), "closeness"),
        (lambda: js.alt_test(JUDGE, HUMAN, epsilon=-1), "at least 0 and below 1"),
        (lambda: js.discernment(HUMAN, HUMAN[:, :2]), "original has 48 rows"),
        (lambda: js.discernment(JUDGE, JUDGE, weights={"x": 1.0}), "for the aspects"),
        (lambda: js.discernment(JUDGE, JUDGE, weights={"0": 0.5}), "sum to 1"),
        (lambda: js.discernment(JUDGE, JUDGE, source=SHORT), "lengths differ"),
    ],
)
def test_an_error_names_the_argument(call: Callable[[], object], problem: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert problem in str(caught.value)
