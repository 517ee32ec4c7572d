"""Controls: fixed, drawn or shuffled, and never dependent on order or on other
targets.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from judgescope.engines.base import EngineInputs, Subject, request_key
from judgescope.engines.controls import build
from judgescope.schema.cards import ControlModel, Judge, RatingScale
from judgescope.statistics.discernment import discernment
from judgescope.statistics.signed_rank import exact_differences, log_p

MODEL = ControlModel(model="control", engine="control")
FIVE = RatingScale(min=1, max=5, step=1, labels=[])
NAMES = [f"t{number:02d}" for number in range(40)]
RATINGS = {
    (name, aspect): [1 + (number + shift) % 5, 1 + number % 3, 2]
    for number, name in enumerate(NAMES)
    for shift, aspect in enumerate(("fluency", "coherence"))
}


def subject(name: str, text: str = "a text") -> Subject:
    return Subject(name, "i", "s", "systems", text)


def values(
    form: str,
    names: Sequence[str] = NAMES,
    *,
    ratings: Mapping[tuple[str, str], Sequence[float]] = RATINGS,
    scale: RatingScale = FIVE,
    aspect: str = "fluency",
    draws: int = 1,
    seed: int = 1,
    dataset: str = "d",
) -> dict[str, list[str]]:
    """Return target -> the texts of its draws."""
    judge = Judge.model_validate(
        {"judge": "it", "model": "control", "form": form, "draws": draws}
    )
    engine = build(MODEL, EngineInputs(seed=seed, dataset=dataset, ratings=ratings))
    answers = engine.answer(judge, aspect, scale, [subject(name) for name in names])
    return {
        name: [answer.text for answer in drawn]
        for name, drawn in zip(names, answers, strict=True)
    }


def test_constant_top_is_the_top_of_the_scale() -> None:
    assert values("constant_top", ["t"], draws=2) == {"t": ["5", "5"]}
    assert values("constant_top", ["t"], scale=RatingScale(min=0, max=0.5)) == {
        "t": ["0.5"]
    }


def test_length_counts_characters() -> None:
    judge = Judge(judge="length", model="control", form="length")
    engine = build(MODEL, EngineInputs(seed=0, dataset="d"))
    [[answer]] = engine.answer(judge, "x", FIVE, [subject("t", "né 文")])
    assert answer.text == "4"


def test_the_commonest_of_tied_ratings_is_the_lower() -> None:
    ratings = {
        ("a", "fluency"): [4, 4, 3],
        ("b", "fluency"): [3, 1],
        ("a", "other"): [5] * 9,
    }
    assert values("most_frequent", ["a", "b"], ratings=ratings) == {
        "a": ["3"],
        "b": ["3"],
    }


@pytest.mark.parametrize("form", ["most_frequent", "shuffled"])
def test_controls_from_ratings_need_ratings(form: str) -> None:
    judge = Judge(judge="it", model="control", form=form, draws=2)
    engine = build(
        MODEL,
        EngineInputs(
            seed=0, dataset="d", ratings={("a", "fluency"): [3], ("b", "fluency"): []}
        ),
    )
    for name, aspect in (("b", "fluency"), ("c", "fluency"), ("a", "coherence")):
        [draws] = engine.answer(judge, aspect, FIVE, [subject(name)])
        assert [(draw.text, draw.status) for draw in draws] == [
            ("needs_ratings", "not_applicable")
        ] * 2


@pytest.mark.heavy
def test_random_is_uniform_over_the_grid_or_the_range() -> None:
    many = [f"n{number}" for number in range(2000)]
    drawn = Counter(text for [text] in values("random", many).values())
    assert set(drawn) == {"1", "2", "3", "4", "5"}
    assert all(
        330 < count < 470 for count in drawn.values()
    )  # 400 ± 3.9 standard deviations
    half = values("random", many, scale=RatingScale(min=2, max=4))
    numbers = [float(text) for [text] in half.values()]
    assert min(numbers) >= 2 and max(numbers) <= 4 and len(set(numbers)) == 2000
    assert sum(numbers) / 2000 == pytest.approx(3, abs=0.05)


def test_every_target_has_its_random_number() -> None:
    result = values("random", draws=3)
    assert values("random", ["t07"], draws=3)["t07"] == result["t07"]
    assert values("random", NAMES[::-1], draws=3) == result
    assert {name: drawn[:1] for name, drawn in result.items()} == values("random")
    assert len({tuple(drawn) for drawn in result.values()}) > 20


@pytest.mark.parametrize("form", ["random", "shuffled"])
def test_seed_dataset_and_aspect_name_the_stream(form: str) -> None:
    same = values(form)
    assert same == values(form)
    assert same != values(form, seed=2)
    assert same != values(form, dataset="other")
    assert same != values(form, aspect="coherence")


def test_shuffled_keeps_the_means_and_ignores_the_order() -> None:
    means = Counter(f"{sum(RATINGS[name, 'fluency']) / 3:.6f}" for name in NAMES)
    shuffled = values("shuffled")
    assert Counter(f"{float(text):.6f}" for [text] in shuffled.values()) == means
    backwards = dict(reversed(list(RATINGS.items())))
    assert values("shuffled", NAMES[::-1], ratings=backwards) == shuffled
    assert values("shuffled", ["t07"])["t07"] == shuffled["t07"]


def test_keys_of_controls_belong_to_targets() -> None:
    def key(form: str, name: str = "t", seed: int = 1, text: str = "a text") -> str:
        judge = Judge(judge="it", model="control", form=form)
        model = ControlModel(model="control", engine="control")
        each = subject(name, text)
        return request_key(model, judge, "fluency", FIVE, each, seed=seed, dataset="d")

    assert key("random") != key("random", "u")
    assert key("random") != key("random", seed=2)
    assert key("random") == key("random", text="other")
    assert key("length", "t", 1) == key("length", "u", 2) != key("length", text="other")


ASPECTS = ("coherence", "consistency", "fluency", "relevance")
PERTURBATIONS = 3
ITEMS = 100
SCALE = RatingScale(min=1, max=5, step=1, labels=[])


def random_scores(seed: int, perturbation: str) -> dict[str, NDArray[np.float64]]:
    """Return aspect -> the random control's scores of one set of targets."""
    engine = build(MODEL, EngineInputs(seed=seed, dataset="d"))
    subjects = [
        Subject(f"{item}:{perturbation}", str(item), None, perturbation, "x")
        for item in range(ITEMS)
    ]
    judge = Judge(judge="random", model="control", form="random")
    return {
        aspect: np.array(
            [
                float(draws[0].text)
                for draws in engine.answer(judge, aspect, SCALE, subjects)
            ]
        )
        for aspect in ASPECTS
    }


@pytest.mark.simulation
def test_random_control_reaches_d_exact_1_in_5_percent_of_cells_over_200_seeds() -> (
    None
):
    weights = np.full(len(ASPECTS), 1 / len(ASPECTS))
    reached = []
    for seed in range(200):
        original = random_scores(seed, "original")
        for number in range(PERTURBATIONS):
            perturbed = random_scores(seed, f"p{number}.minor")
            d = [exact_differences(original[a], perturbed[a], 1) for a in ASPECTS]
            result = discernment(
                [log_p(each, "asymptotic") for each in d],
                [log_p(each, "exact") for each in d],
                weights,
            )
            reached.append(float(result.d_exact) >= 1)
    assert len(reached) == 600
    noise = 2 * np.sqrt(0.05 * 0.95 / len(reached))
    assert abs(np.mean(reached) - 0.05) <= noise
