"""Cascades that end at a person: what they decide, leave and cost; the guarantee."""

import numpy as np
import pytest

from judgescope.methods.candidates import SureCases
from judgescope.methods.escalations import Escalation
from judgescope.statistics.confidence import Stated
from judgescope.statistics.escalation import (
    Cascade,
    SureJudge,
    cascade_from,
    taken_by,
)
from judgescope.statistics.selective import confidence_from

NAN = float("nan")


def drawn(
    rng: np.random.Generator, texts: int, sure: float = 0.0
) -> tuple[SureJudge, SureJudge]:
    """Return a cheap judge and a better one; each is right as often as it says, minus
    `sure`.
    """
    judges = []
    for least in (0.55, 0.75):
        confidence = rng.uniform(least, 1, texts)
        right = (rng.random(texts) < confidence - sure).astype(float)
        judges.append(SureJudge(confidence, right))
    first, second = judges
    return first, second


def test_a_single_judge_before_a_person_has_the_threshold_of_its_confidence() -> None:
    rng = np.random.default_rng(5)
    source = np.arange(300) // 2
    for _ in range(20):
        judge, _second = drawn(rng, 300)
        alone = confidence_from(Stated(judge.confidence, judge.right, source))
        result = cascade_from([judge], source)
        assert result.thresholds == (
            None if alone.threshold is None else (alone.threshold,)
        )
        assert result.left == pytest.approx(1 - alone.coverage)
        assert result.bound == alone.bound


def test_a_second_judge_leaves_less_to_people() -> None:
    rng = np.random.default_rng(6)
    source = np.arange(600)
    saved = []
    for _ in range(10):
        cheap, dear = drawn(rng, 600)
        alone = cascade_from([cheap], source)
        both = cascade_from([cheap, dear], source)
        saved.append(alone.left - both.left)
    assert np.mean(saved) > 0.1


@pytest.mark.simulation
def test_the_guarantee_of_the_complete_cascade_holds() -> None:
    """The true error is that of the chances by which the verdicts were drawn."""
    rng = np.random.default_rng(7)
    source = np.arange(250)
    broken = kept = 0
    for _ in range(500):
        cheap, dear = drawn(rng, 250, 0.03)
        result = cascade_from([cheap, dear], source)
        if result.thresholds is None:
            continue
        kept += 1
        chances = [
            SureJudge(judge.confidence, judge.confidence - 0.03)
            for judge in (cheap, dear)
        ]
        taken = taken_by(chances, result.thresholds)
        broken += float(np.nanmean(taken.wrong)) > 0.1
    # A cascade is found in 140 studies; in the others there is no promise to break.
    assert kept > 100
    assert broken / 500 <= 0.05


def test_a_case_without_verdict_or_confidence_is_passed_on() -> None:
    first = SureJudge(np.array([0.9, NAN, 0.9]), np.array([1.0, 1.0, NAN]))
    second = SureJudge(np.array([0.9, 0.9, 0.9]), np.array([0.0, 1.0, 1.0]))
    taken = taken_by([first, second], (0.5, 0.5))
    assert taken.asked[1] == pytest.approx(2 / 3)
    assert taken.wrong.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("confidence", "right", "why"),
    [
        (np.full(60, NAN), np.ones(60), "no confidence"),
        (np.full(60, 0.9), np.tile([1.0, 0.0], 30), "60 surest verdicts"),
        (np.full(20, 0.9), np.ones(20), "fewer than 29 sources"),
    ],
)
def test_a_cascade_without_guarantee_says_why(
    confidence: np.ndarray, right: np.ndarray, why: str
) -> None:
    result = cascade_from([SureJudge(confidence, right)], np.arange(right.size))
    assert result.thresholds is None and result.left == 1.0
    assert why in result.why


def test_shares_are_shares() -> None:
    judge = SureJudge(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="are shares"):
        cascade_from([judge], np.arange(3), error=10)


def test_the_price_is_that_of_who_is_asked() -> None:
    cascade = Cascade((0.9, 0.8), (1.0, 0.5), 0.25, 0.0, 0.05)
    assert cascade.price([1.0, 10.0], 0.4) == 1.0 + 5.0 + 100.0
    assert Escalation(("a", "b"), cascade).name == "a>b>people@0.9,0.8"


def test_only_cases_that_people_judged_are_planned() -> None:
    source = np.array([0, 1, 2])
    right = {"a": np.array([1.0, NAN, 0.0]), "b": np.ones(3)}
    confidence = {"a": np.array([0.9, 0.8, 0.7])}
    cases = SureCases.of(source, right, confidence, np.array([True, False, True]))
    assert cases.source.tolist() == [0, 2]
    assert [*cases.judges] == ["a"]
    assert cases.judges["a"].right.tolist() == [1.0, 0.0]
