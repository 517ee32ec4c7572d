"""Planted judges: their defects, and the simulated texts that they judge."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from judgescope.data.planted import (
    DEFECTS,
    RATER_NOISE,
    PlantedDesign,
    PlantedJudge,
    SimulatedTexts,
    TextsToJudge,
    on_scale,
    simulated,
    text_of,
)
from judgescope.schema.cards import PlantedDefectName

ASPECT = "scores-1"
OWN = frozenset({"s00", "s01"})


def dataset(**sizes: object) -> SimulatedTexts:
    return simulated(replace(PlantedDesign(), **sizes), 7, "some")  # type: ignore[arg-type]


def judge(defect: str, strength: float | None = None, seed: int = 7) -> PlantedJudge:
    known = DEFECTS[defect].stated if strength is None else strength
    return PlantedJudge(defect, known, seed, ("some", "judge"), OWN)


def r(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.corrcoef(x, y)[0, 1])


TEXTS = dataset(sources=400)
QUALITY = TEXTS.texts.quality[ASPECT]
LENGTH = TEXTS.texts.log_length


def test_every_defect_has_a_name_in_the_card() -> None:
    assert {*DEFECTS} == {*get_args(PlantedDefectName)}
    for known in DEFECTS.values():
        assert known.stated in known.strengths


def test_data_and_scores_depend_on_seed_and_name_alone() -> None:
    again = dataset(sources=400)
    assert np.array_equal(again.lengths, TEXTS.lengths)
    assert np.array_equal(again.ratings[ASPECT], TEXTS.ratings[ASPECT])
    first = judge("none").points(TEXTS.texts, ASPECT)
    assert np.array_equal(first, judge("none").points(again.texts, ASPECT))
    assert not np.array_equal(first, judge("none", seed=8).points(TEXTS.texts, ASPECT))
    other = simulated(PlantedDesign(sources=400), 7, "other")
    assert not np.array_equal(other.lengths, TEXTS.lengths)


def test_score_of_a_text_does_not_depend_on_the_other_texts() -> None:
    all_texts, kept = TEXTS.texts, slice(0, 60)
    few = TextsToJudge(
        all_texts.targets[kept],
        all_texts.items[kept],
        all_texts.systems[kept],
        all_texts.log_length[kept],
        {name: values[kept] for name, values in all_texts.quality.items()},
        {name: values[kept] for name, values in all_texts.people.items()},
    )
    for defect in ("none", "noisy", "own-family", "halo", "dead", "always-pass"):
        rater = judge(defect)
        assert np.array_equal(
            rater.points(few, ASPECT),
            rater.points(all_texts, ASPECT)[kept],
            equal_nan=True,
        ), defect


def test_a_rater_adds_noise_to_quality() -> None:
    noise = judge("none").points(TEXTS.texts, ASPECT) - QUALITY
    assert noise.std() == pytest.approx(RATER_NOISE, rel=0.05)
    assert abs(r(noise, QUALITY)) < 0.06
    copy = judge("copy").points(TEXTS.texts, ASPECT)
    mean = TEXTS.ratings[ASPECT].mean(axis=0)
    assert np.allclose(on_scale(copy, 1, 5, None), mean)


@pytest.mark.parametrize(("defect", "sign"), [("longer", 1), ("shorter", -1)])
@pytest.mark.parametrize("strength", DEFECTS["longer"].strengths)
def test_preference_for_length_grows_with_its_strength(
    defect: str, sign: int, strength: float
) -> None:
    plain = judge("none").points(TEXTS.texts, ASPECT)
    rest = math.sqrt(1 - strength**2)
    added = judge(defect, strength).points(TEXTS.texts, ASPECT) - rest * plain
    assert r(added, LENGTH) == pytest.approx(sign)
    assert added.std() == pytest.approx(strength * math.hypot(1, RATER_NOISE))


def test_length_alone_is_a_function_of_length() -> None:
    assert r(judge("longer-only").points(TEXTS.texts, ASPECT), LENGTH) > 0.999
    assert r(judge("shorter-only").points(TEXTS.texts, ASPECT), LENGTH) < -0.999
    middling = judge("middling-only").points(TEXTS.texts, ASPECT)
    best = np.abs(LENGTH - LENGTH.mean()).argsort()
    assert middling[best[0]] > middling[best[-1]]
    assert np.all(np.diff(middling[best]) < 1e-9)


def test_the_same_family_gets_points_and_others_none() -> None:
    own_part = np.isin(TEXTS.texts.systems, sorted(OWN))
    bonus = judge("own-family", 0.5).points(TEXTS.texts, ASPECT)
    bonus = bonus - judge("none").points(TEXTS.texts, ASPECT)
    assert np.allclose(bonus, np.where(own_part, 0.5, 0.0))


def test_halo_of_weight_one_gives_a_single_score() -> None:
    first, second = (
        judge("halo", 1.0).points(TEXTS.texts, name) for name in TEXTS.texts.quality
    )
    assert np.allclose(first, second)


@pytest.mark.parametrize("strength", DEFECTS["noisy"].strengths)
def test_reliability_of_noisy_draws_is_its_strength(strength: float) -> None:
    each, two = (
        judge("noisy", strength).points(TEXTS.texts, ASPECT, draw) for draw in (0, 1)
    )
    assert r(each, two) == pytest.approx(strength, abs=0.04)


def test_who_knows_only_source_or_author_knows_nothing_else() -> None:
    for defect, groups in (
        ("source-only", TEXTS.texts.items),
        ("author-only", TEXTS.texts.systems),
    ):
        known = TEXTS.texts.mean_of(groups, ASPECT)
        noise = judge(defect).points(TEXTS.texts, ASPECT) - known
        assert abs(r(noise, QUALITY - known)) < 0.06, defect


def test_shares_of_unreadable_and_constant_verdicts_are_the_strengths() -> None:
    for strength in DEFECTS["dead"].strengths:
        scores = judge("dead", strength).points(TEXTS.texts, ASPECT)
        assert np.isnan(scores).mean() == pytest.approx(strength, abs=0.03)
    passes = judge("always-pass", 0.98).points(TEXTS.texts, ASPECT)
    assert np.isposinf(passes).mean() == pytest.approx(0.98, abs=0.01)
    assert np.isneginf(judge("always-fail", 1.0).points(TEXTS.texts, ASPECT)).all()


@pytest.mark.parametrize("strength", DEFECTS["first-position"].strengths)
def test_first_text_is_chosen_as_often_as_the_strength_says(strength: float) -> None:
    pairs = simulated(PlantedDesign("pairs", sources=400, texts=(3,)), 7, "pairs")
    shown = (pairs.first, pairs.second), (pairs.second, pairs.first)
    votes = [
        judge("first-position", strength).votes(pairs.texts, "pairs-1", *order)
        for order in shown
    ]
    rate = np.mean(np.concatenate(votes) > 0)
    assert rate == pytest.approx(strength, abs=0.03)


def test_pairs_are_of_two_texts_of_a_single_source_by_two_systems() -> None:
    pairs = simulated(PlantedDesign("pairs", texts=(1, 2, 5)), 7, "pairs")
    for at in range(pairs.first.size):
        first, second = pairs.pair(at)
        assert first.partition(":")[0] == second.partition(":")[0]
        assert first != second
    assert set(np.unique(pairs.choices["pairs-1"])) == {-1.0, 1.0}


def test_texts_have_the_lengths_that_judges_see() -> None:
    for target, length in zip(TEXTS.texts.targets[:50], TEXTS.lengths, strict=False):
        text = text_of(target, int(length))
        assert len(text) == length and text == text.strip()


def test_a_single_system_is_broken_and_the_others_are_alike() -> None:
    texts = dataset(broken=True, sources=400).texts
    means = {
        name: texts.quality[ASPECT][np.array(texts.systems) == name].mean()
        for name in sorted(set(texts.systems))
    }
    broken = means.pop("s00")
    assert max(means.values()) - min(means.values()) < 0.3
    assert min(means.values()) - broken > 1.5
