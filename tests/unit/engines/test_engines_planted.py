"""The engine of planted judges: scores and votes from qualities, and its messages."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from judgescope.core.errors import UserError
from judgescope.data.planted import (
    DEFECTS,
    PlantedDesign,
    SimulatedTexts,
    chance_of_pass,
    simulated,
)
from judgescope.engines.base import EngineInputs, Subject, request_key
from judgescope.engines.planted import build
from judgescope.schema.cards import Judge, PlantedModel, RatingScale
from judgescope.schema.cards.models import SURE_DEFECTS

FIVE = RatingScale(min=1, max=5, step=1, labels=[])
PASSED = RatingScale(labels=["fail", "pass"])
ASPECT = "scores-1"
DATA = simulated(PlantedDesign(sources=12, systems=3, texts=(3,)), 5, "d")


def card(defect: str = "none", **keys: Any) -> PlantedModel:
    given = {"model": "it", "engine": "planted", "defect": defect, **keys}
    return PlantedModel.model_validate(given)


def judge(form: str = "rate", **keys: Any) -> Judge:
    return Judge.model_validate({"judge": "it", "model": "it", "form": form, **keys})


def subjects(data: SimulatedTexts = DATA) -> list[Subject]:
    each = zip(data.texts.targets, data.texts.items, data.texts.systems, strict=True)
    lengths = data.lengths.tolist()
    return [
        Subject(target, item, system, "systems", "w" * length)
        for (target, item, system), length in zip(each, lengths, strict=True)
    ]


def ratings(data: SimulatedTexts = DATA) -> dict[tuple[str, str], list[float]]:
    return {
        (target, aspect): table[:, at].tolist()
        for aspect, table in data.ratings.items()
        for at, target in enumerate(data.texts.targets)
    }


def inputs(folder: Path = Path(), **more: Any) -> EngineInputs:
    return EngineInputs(seed=5, dataset="d", ratings=ratings(), folder=folder, **more)


def qualities(folder: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path = folder / "quality.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return path.name


def scores(engine: Any, given: list[Subject], scale: RatingScale = FIVE) -> list[float]:
    answers = engine.answer(judge(), ASPECT, scale, given)
    return [float(answer.text) for [answer] in answers]


def test_every_defect_gives_an_answer_on_the_scale_to_every_text() -> None:
    for defect in DEFECTS:
        concerned = defect in ("own-family", "broken-system")
        keys = {"systems": ["s00"]} if concerned else {}
        if defect in SURE_DEFECTS:
            continue  # for two labels alone
        engine = build(card(defect, **keys), inputs())
        answers = engine.answer(judge(draws=2), ASPECT, FIVE, subjects())
        assert len(answers) == len(DATA.texts.targets)
        for drawn in answers:
            assert len(drawn) == 2
            for answer in drawn:
                on_scale = answer.status == "ok" and 1 <= float(answer.text) <= 5
                assert on_scale or (defect, answer.status) == ("dead", "error")
                steps = answer.status == "error" or float(answer.text).is_integer()
                assert steps or defect == "copy"


def test_scores_depend_on_no_order_and_on_no_other_text() -> None:
    engine, given = build(card(), inputs()), subjects()
    forward = scores(engine, given)
    assert scores(engine, given[::-1]) == forward[::-1]
    assert scores(engine, given[3:9]) == forward[3:9]
    again = build(card(), inputs())
    assert scores(again, given) == forward


def test_copy_gives_the_mean_and_reverses_a_scale_with_its_best_end_low() -> None:
    engine, given = build(card("copy"), inputs()), subjects()
    mean = DATA.ratings[ASPECT].mean(axis=0)
    assert scores(engine, given) == pytest.approx(mean.tolist(), abs=1e-8)
    low = FIVE.model_copy(update={"best": "min"})
    assert scores(engine, given, low) == pytest.approx(mean.tolist(), abs=1e-8)
    top = build(card("always-pass"), inputs())
    assert set(scores(top, given)) == {5.0}
    assert set(scores(top, given, low)) == {1.0}


def test_labels_are_answered_in_words() -> None:
    people = {
        key: [float(value > 3) for value in each] for key, each in ratings().items()
    }
    given = EngineInputs(seed=5, dataset="d", ratings=people)
    answers = build(card(), given).answer(judge(), ASPECT, PASSED, subjects())
    words = [answer.text for [answer] in answers]
    assert set(words) == {"fail", "pass"}
    majority = [np.mean(people[target, ASPECT]) > 0.5 for target in DATA.texts.targets]
    agreed = np.mean(
        [(word == "pass") == yes for word, yes in zip(words, majority, strict=True)]
    )
    assert agreed > 0.8


def test_text_without_a_rating_does_not_apply() -> None:
    stranger = Subject("q999:s00", "q999", "s00", "systems", "words")
    [[answer]] = build(card(), inputs()).answer(judge(), ASPECT, FIVE, [stranger])
    assert (answer.status, answer.text) == ("not_applicable", "needs_ratings")


def test_qualities_of_a_file_take_the_location_of_ratings(tmp_path: Path) -> None:
    rows = [
        {"item": item, "system": system, ASPECT: 2.0 if system == "s01" else -2.0}
        for item, system in zip(DATA.texts.items, DATA.texts.systems, strict=True)
    ]
    model = card(files=qualities(tmp_path, rows))
    result = scores(build(model, inputs(tmp_path)), subjects())
    means = {
        name: np.mean(
            [
                x
                for x, system in zip(result, DATA.texts.systems, strict=True)
                if system == name
            ]
        )
        for name in ("s00", "s01")
    }
    assert means["s01"] > 4 and means["s00"] < 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"item": "q000", ASPECT: 1}], "needs the columns `item` and `system`"),
        (
            [{"item": "q000", "system": "s00", ASPECT: "good"}],
            "a quality is not a number",
        ),
    ],
)
def test_unusable_file_of_qualities_is_refused(
    rows: list[dict[str, object]], words: str, tmp_path: Path
) -> None:
    engine = build(card(files=qualities(tmp_path, rows)), inputs(tmp_path))
    with pytest.raises(UserError, match=words) as error:
        engine.answer(judge(), ASPECT, FIVE, subjects())
    assert "quality.csv" in error.value.where


def test_votes_are_asked_in_both_orders_of_peoples_pairs(tmp_path: Path) -> None:
    pairs = simulated(PlantedDesign("pairs", sources=12, texts=(2,)), 5, "d")
    aspect = "pairs-1"
    rows = [
        {"item": item, "system": system, aspect: quality}
        for item, system, quality in zip(
            pairs.texts.items,
            pairs.texts.systems,
            pairs.texts.quality[aspect].tolist(),
            strict=True,
        )
    ]
    asked = [pairs.pair(at) for at in range(pairs.first.size)]
    given = EngineInputs(
        seed=5, dataset="d", preferences={aspect: asked}, folder=tmp_path
    )
    engine = build(card(files=qualities(tmp_path, rows)), given)
    scale = RatingScale(min=-1, max=1, step=None, labels=[])
    shown, answers = engine.compare(judge("compare"), aspect, scale, subjects(pairs))
    orders = [(text.target, other.target) for text, other in shown]
    assert orders == [order for pair in asked for order in (pair, pair[::-1])]
    votes = [float(answer.text) for [answer] in answers]
    assert votes[::2] == [-vote for vote in votes[1::2]]
    one_order, _ = engine.compare(
        judge("compare", orders="one"), aspect, scale, subjects(pairs)
    )
    assert len(one_order) == len(asked)


@pytest.mark.parametrize("keys", [{}, {"defect": "copy", "files": "quality.csv"}])
def test_comparing_without_a_known_quality_is_refused(keys: dict[str, str]) -> None:
    engine = build(card(**{"defect": "none", **keys}), inputs())
    with pytest.raises(UserError, match="needs to know their quality"):
        engine.compare(judge("compare"), ASPECT, FIVE, subjects())


@pytest.mark.parametrize(
    ("defect", "systems", "words"),
    [
        ("own-family", [], "the defect own-family needs `systems`"),
        ("halo", ["s00"], "the defect halo does not use `systems`"),
    ],
)
def test_systems_are_for_defects_that_concern_some(
    defect: str, systems: list[str], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        card(defect, systems=systems)


def test_key_of_a_score_depends_on_the_card_and_the_text() -> None:
    each, other = subjects()[:2]

    def key(model: PlantedModel, subject: Subject, **more: Any) -> str:
        given = {"seed": 5, "dataset": "d", **more}
        return request_key(model, judge(), ASPECT, FIVE, subject, **given)

    keys = [
        key(card(), each),
        key(card(), other),
        key(card(), each, seed=6),
        key(card(), each, dataset="e"),
        key(card(), each, other=other),
        key(card("noisy", strength=0.5), each),
        key(card("noisy", strength=0.8), each),
    ]
    assert len({*keys}) == len(keys)
    assert key(card(), each) == keys[0]


# --- judges that say how sure they are ------------------------------------------------


@pytest.mark.parametrize(
    ("defect", "strength", "slope"),
    [
        ("over-confident", None, 1 / 3),
        ("under-confident", None, 3.0),
        ("over-confident", 1.0, 1.0),
    ],
)
def test_a_sure_judge_states_the_logit_of_its_chance_over_the_strength(
    tmp_path: Path, defect: str, strength: float | None, slope: float
) -> None:
    data = simulated(PlantedDesign("labels", sources=12, systems=3, texts=(3,)), 5, "d")
    aspect = data.design.aspect_names[0]
    keys = zip(
        data.texts.items, data.texts.systems, data.texts.quality[aspect], strict=True
    )
    rows = [{"item": i, "system": s, aspect: q} for i, s, q in keys]
    file = {"data": qualities(tmp_path, rows)}
    made = build(
        card(defect, strength=strength, files=file),
        EngineInputs(seed=5, dataset="d", ratings=ratings(data), folder=tmp_path),
    )
    answers = made.answer(judge(), aspect, PASSED, subjects(data))
    chance = chance_of_pass(data.texts.quality[aspect], 3)
    expected = np.maximum(chance, 1 - chance)
    for [answer], right, quality in zip(
        answers, expected, data.texts.quality[aspect], strict=True
    ):
        assert answer.text == ("pass" if quality > 0 else "fail")
        assert answer.confidence is not None
        assert answer.confidence.source == "planted"
        stated = answer.confidence.chance
        assert stated is not None
        logit = np.log(right / (1 - right)) / slope
        assert stated == pytest.approx(1 / (1 + np.exp(-logit)))


def test_a_sure_judge_needs_qualities_and_two_labels(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="quality"):
        card("over-confident")
    rows = [{"item": "q000", "system": "s00", ASPECT: 0.5}]
    file = {"data": qualities(tmp_path, rows)}
    made = build(card("over-confident", files=file), inputs(tmp_path))
    with pytest.raises(UserError, match="two labels"):
        made.answer(judge(), ASPECT, FIVE, subjects())
