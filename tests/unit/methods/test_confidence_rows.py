"""Table confidence: whose verdict is right, how sure the judge is, and the numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import DatasetTables, Row, judge_facts, row_of, rows_of, scales
from judgescope.data.planted import PlantedDesign, simulated
from judgescope.methods import confidence
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.sure_verdicts import Said, of_pairs
from judgescope.schema.tables import table_of
from judgescope.statistics.arrays import Floats
from judgescope.statistics.calibration import people_split
from judgescope.statistics.confidence import Stated, brier, confidence_gap
from planted_study import benchmark, worlds

planted = benchmark("planted_confidence")
DESIGN = PlantedDesign("labels", sources=40, texts=(3,), aspects=1)
JUDGES = (
    worlds.JudgeSetup("over-confident"),
    worlds.JudgeSetup("under-confident"),
)
OVER, UNDER = (judge.name for judge in JUDGES)
LABELS: Row = {"values": [0.0, 1.0], "ends": [0.0, 1.0], "labels": ["fail", "pass"]}
TEXTS = [f"t{number:03}" for number in range(120)]
QUARTER = [0.25, 0.5, 0.75, 1.0]


@pytest.fixture(scope="module")
def read_rows() -> list[Any]:
    return list(planted.confidence_rows(JUDGES, "rows", DESIGN))


def dataset(ratings: Floats, **card: Any) -> EvaluationData:
    """Return texts of 60 sources that people rate, and the card of judge `j`."""
    tables = DatasetTables()
    tables.add_items(f"i{number:02}" for number in range(60))
    for number, target in enumerate(TEXTS):
        tables.add_text("systems", target, f"i{number // 2:02}")
    for number, values in enumerate(np.atleast_2d(ratings)):
        tables.add_ratings("a", f"r{number}", TEXTS, values)
    tables.add_scores("systems", "j", "a", TEXTS, np.zeros(120))
    facts = judge_facts(["a"], [0.0, 1.0], (0.0, 1.0)) | {"confidence": "stated"}
    return tables.data(
        ratings="people",
        aspects={"a": LABELS},
        judges={"j": facts | card},
        table="confidence",
    )


def judged(values: Sequence[float], chances: Sequence[float | None]) -> list[Row]:
    rows = []
    for target, value, chance in zip(TEXTS, values, chances, strict=True):
        row: Row = {"dataset": "d", "perturbation": "systems", "judge": "j"}
        row |= {"aspect": "a", "target": target, "draw": 0, "status": "ok"}
        rows.append(row | {"value": value, "confidence": chance})
    return rows


def rows_with(data: EvaluationData, judgments: list[Row]) -> list[Any]:
    return [*confidence.rows_of(data, table_of("confidences", judgments))]


RNG = np.random.default_rng(3)
TRUTH = (RNG.random(120) < 0.6).astype(float)
RIGHT = RNG.random(120) < 0.75
VERDICT = np.where(RIGHT, TRUTH, 1 - TRUTH)
CHANCE = np.round(0.5 + 0.5 * RNG.random(120), 3)
SOURCE = np.arange(120) // 2


def test_numbers_are_those_of_right_verdicts_and_their_chances() -> None:
    data = dataset(TRUTH)
    rows = rows_with(data, judged(VERDICT.tolist(), CHANCE.tolist()))
    stated = Stated(CHANCE, RIGHT.astype(float), SOURCE)
    gap = row_of(rows, "confidence_gap")
    assert gap["value"] == pytest.approx(np.mean(CHANCE - RIGHT))
    expected = confidence_gap(stated, data.weights).estimate
    assert (gap["ci_low"], gap["ci_high"]) == (expected.ci_low, expected.ci_high)
    assert gap["n"] == 120
    score = brier(stated, data.weights).estimate
    assert row_of(rows, "brier")["value"] == pytest.approx(score.value)
    parts = [row_of(rows, f"brier_{name}")["value"] for name in PARTS]
    assert len(rows_of(rows, "bin_right")) == 10
    shares = [row["value"] for row in rows_of(rows, "confidence_share")]
    assert sum(shares) == pytest.approx(1) and sum(shares[:5]) == 0
    assert parts[0] - parts[1] + parts[2] == pytest.approx(score.value, abs=0.01)


PARTS = ("reliability", "resolution", "uncertainty")


def test_every_row_says_where_the_confidence_comes_from() -> None:
    rows = rows_with(dataset(TRUTH), judged(VERDICT.tolist(), CHANCE.tolist()))
    of_judge = rows_of(rows, judge="j")
    assert of_judge
    assert all("|confidence:stated|" in row["signature"] for row in of_judge)
    assert all("number that the reply states" in row["method"] for row in of_judge)


def test_verdicts_without_a_confidence_are_counted() -> None:
    chances: list[float | None] = [*CHANCE.tolist()]
    chances[::10] = [None] * 12
    rows = rows_with(dataset(TRUTH), judged(VERDICT.tolist(), chances))
    gap = row_of(rows, "confidence_gap")
    assert (gap["n"], gap["n_missing"]) == (108, 12)


def test_rows_of_any_order_give_equal_numbers() -> None:
    judgments = judged(VERDICT.tolist(), CHANCE.tolist())
    assert rows_with(dataset(TRUTH), judgments[::-1]) == rows_with(
        dataset(TRUTH), judgments
    )


def test_equal_draws_are_a_confidence() -> None:
    data = dataset(TRUTH, confidence="draws", draws=5)
    rows = []
    shares = []
    for number, target in enumerate(TEXTS):
        agree = 3 + number % 3
        shares.append(agree / 5)
        for draw in range(5):
            value = VERDICT[number] if draw < agree else 1 - VERDICT[number]
            row: Row = {"dataset": "d", "perturbation": "systems", "judge": "j"}
            row |= {"aspect": "a", "target": target, "draw": draw}
            rows.append(row | {"value": value})
    drawn = EvaluationData(
        spec=data.spec,
        items=data.items,
        targets=data.targets,
        ratings=data.ratings,
        scores=data.scores,
        draws=table_of("draws", rows),
        statuses=data.statuses,
        data_sha="",
    )
    gap = row_of(rows_with(drawn, []), "confidence_gap")
    assert gap["value"] == pytest.approx(np.mean(np.array(shares) - RIGHT))


def test_a_judge_on_another_scale_has_the_reason() -> None:
    data = dataset(TRUTH, grid={"a": QUARTER})
    rows = rows_with(data, judged(VERDICT.tolist(), CHANCE.tolist()))
    [row] = rows_of(rows, judge="j")
    assert row["value"] is None
    assert row["note"] == "the judge's scale is not that of people"


def test_people_who_differ_are_the_bound() -> None:
    ratings = np.stack([TRUTH, TRUTH, np.where(RIGHT, TRUTH, 1 - TRUTH)])
    rows = rows_with(dataset(ratings), judged(VERDICT.tolist(), CHANCE.tolist()))
    wrong = np.mean(~RIGHT)
    split = row_of(rows, "rater_split", judge="human")
    assert split["value"] == pytest.approx(wrong * (1 / 3) * (2 / 3))
    truth = people_split(ratings, SOURCE, lambda each: np.median(each, axis=0))
    error = row_of(rows, "rater_error", judge="human")["value"]
    assert 0 < error <= wrong
    assert truth.variance.shape == (120,)


@pytest.mark.parametrize(("judge", "sign"), [(OVER, 1), (UNDER, -1)])
def test_planted_judges_are_detected(
    read_rows: list[Any], judge: str, sign: int
) -> None:
    gap = row_of(read_rows, "confidence_gap", judge=judge)
    assert sign * gap["value"] > 0
    assert planted.shown_of(read_rows, judge) == {judge.removeprefix("planted-")}


def test_pairs_have_the_mean_chance_of_both_orders() -> None:
    design = PlantedDesign("pairs", sources=30, texts=(2,), aspects=1)
    texts = simulated(design, 5, "p")
    judge = worlds.JudgeSetup("none")
    spec = worlds.planted_spec(design, "p", [judge], seed=5)
    answers = worlds.answers_of(texts, "p", [judge], seed=5)
    data = planted.in_memory(spec, texts, answers)
    [aspect] = design.aspect_names
    collected: dict[tuple[str, str | None], list[Said]] = {}
    for number in range(texts.first.size):
        first, second = texts.pair(number)
        collected[first, second] = [Said(1.0, 0.9)]
        collected[second, first] = [Said(1.0, 0.7)]
    result = of_pairs(data.systems, aspect, collected, equal=False)
    assert set(result.stated.confidence.tolist()) == {0.6}
    choices = texts.choices[aspect].sum(axis=0)
    assert result.stated.right.sum() == (choices > 0).sum()


def test_a_scale_of_numbers_has_classes() -> None:
    five = scales(["a"])
    data = dataset(1 + 4 * TRUTH, grid={"a": five["a"]["values"]})
    data.spec.aspects["a"] = type(data.spec.aspects["a"])(
        values=five["a"]["values"], ends=(1.0, 5.0)
    )
    rows = rows_with(data, judged((1 + 4 * VERDICT).tolist(), CHANCE.tolist()))
    gap = row_of(rows, "confidence_gap")
    assert gap["value"] == pytest.approx(np.mean(CHANCE - RIGHT))
