"""A judge's confidence: against scikit-learn, against deletions written out, and in
simulated studies of known calibration.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from judgescope.statistics import confidence, confidence_bins, selective
from judgescope.statistics.confidence import Stated
from judgescope.statistics.intervals import deletions

Floats = NDArray[np.float64]


def judged(
    seed: int, sources: int = 40, texts: int = 5, slope: float = 1.0, share: float = 0.0
) -> Stated:
    """Return verdicts that are right with the chance whose logit is `slope` times that
    of the stated one; `share` of the chances of a source are moved alike.
    """
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(sources), texts)
    stated = rng.uniform(0.5, 0.98, source.size)
    moved = rng.normal(0, share, sources)[source]
    logit = slope * np.log(stated / (1 - stated)) + moved
    right = rng.random(source.size) < 1 / (1 + np.exp(-logit))
    return Stated(stated, right.astype(np.float64), source)


def without(stated: Stated, source: int) -> Stated:
    """Return the verdicts without those of a source."""
    kept = stated.source != source
    return Stated(stated.confidence[kept], stated.right[kept], stated.source[kept])


def test_scikit_learn_has_the_same_numbers() -> None:
    stated = judged(1)
    c, z = stated.confidence, stated.right
    ours = confidence.brier(stated, None).estimate.value
    assert ours == pytest.approx(brier_score_loss(z, c), abs=1e-12)
    ours = confidence.auroc_right(stated, interval=False).estimate.value
    assert ours == pytest.approx(roc_auc_score(z, c), abs=1e-12)
    values, curve = confidence_bins.isotonic(c, z)
    fitted = IsotonicRegression(out_of_bounds="clip").fit(c, z)
    assert curve == pytest.approx(fitted.predict(values), abs=1e-12)
    logit = np.log(c / (1 - c))[:, None]
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(logit, z)
    ours = confidence.confidence_slope(stated, None).estimate.value
    assert ours == pytest.approx(line.coef_[0, 0], abs=1e-5)


@pytest.mark.parametrize("ties", [False, True])
def test_deletions_equal_studies_without_a_source(ties: bool) -> None:
    stated = judged(2, sources=14)
    if ties:
        stated = stated._replace(confidence=stated.confidence.round(1))
    weights = deletions(14)
    auroc = confidence.auroc_right(stated).rows
    slope = confidence.confidence_slope(stated, weights).rows
    for source in range(14):
        rest = without(stated, source)
        alone = confidence.auroc_right(rest, interval=False).rows[0]
        assert auroc[1 + source] == pytest.approx(alone, abs=1e-12)
        alone = confidence.confidence_slope(rest, None).rows[0]
        assert slope[1 + source] == pytest.approx(alone, abs=1e-8)


def test_of_many_sources_a_single_step_is_near_the_slope_without_a_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stated = judged(4, sources=300)
    exact = confidence.confidence_slope(stated, deletions(300))
    monkeypatch.setattr(confidence, "MOST_EXACT", 200)
    near = confidence.confidence_slope(stated, deletions(300))
    assert near.rows[0] == exact.rows[0]
    moved = np.abs(exact.rows[1:] - exact.rows[0]).max()
    assert near.rows == pytest.approx(exact.rows, abs=0.03 * moved)
    assert near.estimate.ci_low == pytest.approx(exact.estimate.ci_low, abs=0.01)
    assert near.estimate.method.startswith(
        "without a source: one step of Newton's method"
    )
    assert "without a source: one step of Newton's method" not in exact.estimate.method


def test_parts_add_up_to_the_score_of_the_bins_means() -> None:
    stated = judged(3, sources=100)
    bins = confidence_bins.bins_of(stated.confidence)
    means = np.bincount(bins, weights=stated.confidence) / np.bincount(bins)
    parts = confidence_bins.brier_parts(stated.confidence, stated.right)
    score = np.mean(np.square(means[bins] - stated.right))
    total = parts.reliability - parts.resolution + parts.uncertainty
    assert total == pytest.approx(score, abs=1e-15)


def test_bins_are_even_and_keep_equal_confidences_together() -> None:
    rng = np.random.default_rng(4)
    even = np.bincount(confidence_bins.bins_of(rng.random(200)))
    assert even.tolist() == [20] * 10
    few = np.bincount(confidence_bins.bins_of(rng.random(45)))
    assert few.size == 4 and few.min() >= 11
    tied = np.repeat([0.5, 0.6, 0.7], [3, 90, 7])
    bins = confidence_bins.bins_of(tied)
    for value in (0.5, 0.6, 0.7):
        assert np.unique(bins[tied == value]).size == 1
    assert np.bincount(bins).min() >= confidence_bins.FEWEST_IN_BIN


def test_the_order_of_rows_changes_nothing() -> None:
    stated = judged(5)
    order = np.random.default_rng(5).permutation(stated.texts)
    mixed = Stated(stated.confidence[order], stated.right[order], stated.source[order])
    weights = deletions(40)
    for statistic in (
        confidence.confidence_gap,
        confidence.confidence_slope,
        confidence.brier,
    ):
        first = statistic(stated, weights).estimate
        second = statistic(mixed, weights).estimate
        assert first.value == pytest.approx(second.value, abs=1e-12)
        assert first.ci_low == pytest.approx(second.ci_low, abs=1e-9)
    assert selective.confidence_from(stated) == selective.confidence_from(mixed)


@pytest.mark.parametrize(
    ("c", "z", "why"),
    [
        ([0.7] * 40, [1.0, 0.0] * 20, confidence.CONSTANT),
        (
            [0.6, 0.7] * 20,
            [1.0] * 38 + [0.0] * 2,
            "fewer than 5 sources have a wrong verdict",
        ),
        (
            [0.6, 0.7] * 20,
            [0.0] * 38 + [1.0] * 2,
            "fewer than 5 sources have a right verdict",
        ),
        (
            [0.6, 0.7] * 20,
            [0.0, 1.0] * 20,
            "all wrong verdicts lie below the confidence of the right ones",
        ),
    ],
)
def test_what_cannot_be_reported_says_why(
    c: list[float], z: list[float], why: str
) -> None:
    stated = Stated(np.array(c), np.array(z), np.arange(40))
    slope = confidence.confidence_slope(stated, deletions(40)).estimate
    assert slope.value is None and slope.note == why
    auroc = confidence.auroc_right(stated).estimate
    assert (auroc.value, auroc.note) == (1.0, auroc.note) or auroc.note == why


@pytest.mark.parametrize("wrong", [1.2, -0.1])
def test_a_confidence_outside_0_to_1_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=f"0 to 1, not {wrong:g}"):
        Stated.select(np.array([0.5, wrong]), np.ones(2), np.arange(2))


def test_accepted_texts_are_counted_among_all_that_were_planned() -> None:
    stated = judged(6)._replace(missing=50)
    half = selective.selective_error(stated, 0.5, deletions(40))
    assert half and half.coverage == 0.5  # 125 of 250
    assert half.error.estimate.n == 125
    assert selective.selective_error(stated, 0.9, None) is None
    everything = selective.accepted_from(stated, 0.0, None)
    wrong = float(1 - stated.right.mean())
    assert everything.error.estimate.value == pytest.approx(wrong)


def test_a_guarantee_needs_sources_without_errors() -> None:
    right = np.ones(28)
    few = selective.confidence_from(Stated(np.full(28, 0.9), right, np.arange(28)))
    assert few.threshold is None and few.why == "fewer than 29 sources accepted"
    right = np.ones(29)
    enough = selective.confidence_from(Stated(np.full(29, 0.9), right, np.arange(29)))
    assert enough.threshold == 0.9 and enough.bound == pytest.approx(0.0981, abs=1e-4)
    wrong = selective.confidence_from(
        Stated(np.full(60, 0.9), np.tile([1.0, 0.0], 30), np.arange(60))
    )
    assert wrong.threshold is None and "of the 60 texts" in wrong.why


@pytest.mark.simulation
@pytest.mark.parametrize("texts", [1, 5])
@pytest.mark.parametrize("alike", [0.0, 0.8])
def test_a_guarantee_holds(texts: int, alike: float) -> None:
    broken = 0
    for seed in range(300):
        stated = judged(seed, sources=80, texts=texts, slope=1.5, share=alike)
        result = selective.confidence_from(stated)
        if result.threshold is None:
            continue
        truth = judged(90_000 + seed, sources=400, texts=20, slope=1.5, share=alike)
        after = selective.accepted_from(truth, result.threshold, None)
        broken += (after.error.estimate.value or 0.0) > 0.1
    assert broken <= 15  # 5 % of the studies


@pytest.mark.simulation
def test_a_calibrated_judge_is_rarely_called_over_or_under_confident() -> None:
    called = {"over": 0, "under": 0, "extreme": 0, "timid": 0}
    weights = deletions(40)
    for seed in range(400):
        stated = judged(seed)
        gap = confidence.confidence_gap(stated, weights).estimate
        slope = confidence.confidence_slope(stated, weights).estimate
        assert gap.ci_low is not None and gap.ci_high is not None
        called["over"] += gap.ci_low > 0
        called["under"] += gap.ci_high < 0
        if slope.ci_low is not None and slope.ci_high is not None:
            called["extreme"] += slope.ci_high < 1
            called["timid"] += slope.ci_low > 1
    assert max(called.values()) <= 20, called  # 2.5 % of 400 are 10


@pytest.mark.simulation
def test_planted_slopes_are_detected() -> None:
    content = {"extreme": 0, "timid": 0}
    weights = deletions(40)
    for seed in range(100):
        slope = confidence.confidence_slope(judged(seed, slope=1 / 3), weights).estimate
        content["extreme"] += slope.ci_high is not None and slope.ci_high < 1
        gap = confidence.confidence_gap(judged(seed, slope=3.0), weights).estimate
        content["timid"] += gap.ci_high is not None and gap.ci_high < 0
    assert content["extreme"] >= 91 and content["timid"] >= 91, content


def called(studies: int, slope: float) -> int:
    """Return in how many studies the sentence calls a judge's confidence wrong."""
    result = 0
    weights = deletions(40)
    for seed in range(studies):
        stated = judged(seed, slope=slope)
        gap = confidence.confidence_gap(stated, weights)
        slope_found = confidence.confidence_slope(stated, weights)
        shown = confidence.calibration(gap, slope_found)
        result += shown is not confidence.Calibration.NOT_SHOWN
    return result


@pytest.mark.simulation
def test_the_sentence_on_confidence_has_its_false_alarms_and_its_power() -> None:
    assert called(1000, slope=1.0) <= 65  # 5 %, and two standard errors
    assert called(100, slope=1 / 3) >= 91
    assert called(100, slope=3.0) >= 91
