"""Thresholds from which on texts pass without a person, and the promise that they
keep.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from judgescope.statistics.triage import ScoredTexts, accepted, triage

PROMISE: Any = {"error": 0.1, "risk": 0.05}


def texts_of(
    rng: np.random.Generator,
    *,
    sources: int,
    each: int = 1,
    decimals: int = 9,
    knows: float = 1.0,
) -> tuple[ScoredTexts, float]:
    """Draw texts of which two thirds are good; return them with the noise of the
    judge.
    """
    source = np.repeat(np.arange(sources), each)
    quality = 0.5 * rng.normal(size=sources)[source]
    quality = quality + np.sqrt(0.75) * rng.normal(size=source.size)
    noise = rng.normal(size=source.size)
    score = np.round(knows * quality + noise * np.sqrt(1 - knows**2), decimals)
    return ScoredTexts(score, np.where(quality > -0.43, 1.0, 0.0), source), knows


def bad_above(threshold: float, knows: float, decimals: int) -> float:
    """Return the true share of bad texts with a rounded score from a threshold on."""
    low = threshold - 0.5 * 10.0**-decimals
    x = np.linspace(-6, -0.43, 4001)
    width = x[1] - x[0]
    spread = np.sqrt(1 - knows**2)
    above = norm.sf((low - knows * x) / spread)
    return float((norm.pdf(x) * above).sum() * width / norm.sf(low))


def test_with_a_single_text_a_source_the_bound_is_the_binomial_one() -> None:
    texts, _ = texts_of(np.random.default_rng(1), sources=3000, decimals=1, knows=0.9)
    result = accepted(texts, **PROMISE)
    assert result.threshold is not None and result.error is not None
    n = int(result.chosen.sum())
    bad = int((texts.good[result.chosen] == 0).sum())
    exact = binomtest(bad, n, alternative="less").proportion_ci(0.95).high
    assert result.bound is not None and result.error == bad / n
    # n_eff has the factor (n - 1)/n of a variance between sources.
    assert exact <= result.bound <= min(0.1, exact + 1e-5)


@pytest.mark.simulation
@pytest.mark.parametrize("decimals", [9, 0])
@pytest.mark.parametrize(("sources", "each"), [(300, 1), (60, 5)])
def test_the_promise_is_broken_in_no_more_than_a_single_study_of_twenty(
    sources: int, each: int, decimals: int
) -> None:
    """2,000 studies, fine and coarse scores: .05 and two standard errors."""
    rng = np.random.default_rng([2, sources, decimals])
    broken = found_some = 0
    studies = 400
    for _ in range(studies):
        texts, knows = texts_of(
            rng, sources=sources, each=each, decimals=decimals, knows=0.8
        )
        result = accepted(texts, **PROMISE)
        if result.threshold is None:
            continue
        found_some += 1
        broken += bad_above(result.threshold, knows, decimals) > 0.1
    # .05 and two standard errors of 400 studies
    assert broken <= 0.072 * studies
    assert found_some > 40


def test_a_useless_judge_passes_nothing_unless_nearly_all_texts_are_good() -> None:
    rng = np.random.default_rng(3)
    some = 0
    for _ in range(200):
        score = rng.normal(size=300)
        good = np.where(rng.random(300) < 0.6, 1.0, 0.0)
        result = accepted(ScoredTexts(score, good, np.arange(300)), **PROMISE)
        some += result.threshold is not None
    assert some <= 0.05 * 200
    good = np.where(np.argsort(np.argsort(score)) < 3, 0.0, 1.0)  # the last three
    nearly = accepted(ScoredTexts(score, good, np.arange(300)), **PROMISE)
    assert nearly.chosen.all()


def test_where_nothing_passes_the_note_counts_the_sources_that_would_do() -> None:
    good = np.append(np.ones(31), [0.0])
    result = accepted(ScoredTexts(np.ones(32), good, np.arange(32)), **PROMISE)
    assert result.threshold is None
    assert "of the 32 texts (32 sources) that come first 3% are wrong" in result.why
    assert "about 58 such sources would show it" in result.why


def test_texts_of_a_single_source_count_as_less_than_as_many_sources() -> None:
    score = np.repeat([2.0, 1.0], 200)
    good = np.append(np.ones(200), np.zeros(200))
    good[:20:2] = 0  # ten bad ones, all of the first two sources of ten texts
    single = accepted(ScoredTexts(score, good, np.arange(400)), **PROMISE)
    sources = np.repeat(np.arange(40), 10)
    clustered = accepted(ScoredTexts(score, good, sources), **PROMISE)
    assert single.threshold == 2 and clustered.threshold is None


def test_equal_scores_are_decided_together() -> None:
    rng = np.random.default_rng(4)
    score = rng.integers(1, 6, 500).astype(np.float64)
    good = np.where(rng.random(500) < score / 5, 1.0, 0.0)
    result = triage(ScoredTexts(score, good, np.arange(500)), error=0.3, risk=0.05)
    assert result.accept.threshold in (1.0, 2.0, 3.0, 4.0, 5.0)
    for value in range(1, 6):
        assert np.unique(result.left[score == value]).size == 1


def test_no_text_is_accepted_and_rejected() -> None:
    rng = np.random.default_rng(5)
    score = rng.normal(size=400)
    good = np.where(rng.random(400) < 0.5, 1.0, 0.0)
    result = triage(ScoredTexts(score, good, np.arange(400)), error=0.7, risk=0.05)
    assert result.accept.threshold is not None
    assert not (result.accept.chosen & result.reject.chosen).any()
    assert (
        result.left.sum()
        == 400 - result.accept.chosen.sum() - result.reject.chosen.sum()
    )


def test_rejection_is_the_mirror_of_acceptance() -> None:
    texts, _ = texts_of(np.random.default_rng(6), sources=4000, knows=0.9)
    result = triage(texts, **PROMISE)
    mirrored = triage(texts.turned, **PROMISE)
    assert result.reject.threshold is not None and mirrored.accept.threshold is not None
    assert result.reject.threshold == -mirrored.accept.threshold


def test_few_sources_have_a_reason() -> None:
    result = accepted(ScoredTexts(np.ones(28), np.ones(28), np.arange(28)), **PROMISE)
    assert result.threshold is None and "fewer than 29 sources" in result.why
    enough = accepted(ScoredTexts(np.ones(29), np.ones(29), np.arange(29)), **PROMISE)
    assert enough.threshold == 1


@pytest.mark.parametrize(("error", "risk"), [(0.0, 0.05), (0.1, 1.0)])
def test_a_promise_is_of_shares(error: float, risk: float) -> None:
    texts = ScoredTexts(np.ones(3), np.ones(3), np.arange(3))
    with pytest.raises(ValueError, match="are shares"):
        accepted(texts, error=error, risk=risk)
