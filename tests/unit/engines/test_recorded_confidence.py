"""Recorded confidences: which cells are probabilities, and what is said of others."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from judgescope.core.errors import UserError, UserErrors
from judgescope.data.rated import NamesInData
from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.recorded import RecordedEngine
from judgescope.parsing.judgment import Scale
from judgescope.schema.cards import Judge, RatingScale, RecordedModel, RecordedRows
from judgescope.scoring.computed import verdict

PASSED = RatingScale(labels=["fail", "pass"])
WORDS = Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0), ("pass", 1)))
COLUMNS = {
    "item": "id",
    "system": "by",
    "scores": {"fluency": "verdict"},
    "confidence": {"fluency": "p"},
}
VERDICTS = (("A", "X", "pass"), ("A", "Y", "fail"), ("B", "X", "pass"))


NAMES = NamesInData(items={"a": "A", "b": "B"}, systems={"x": "X", "y": "Y"})
SUBJECTS = [
    Subject("a:x", "a", "x", "systems", "The first text."),
    Subject("a:y", "a", "y", "systems", "The second text."),
    Subject("b:x", "b", "x", "systems", "The third text."),
]


def engine(
    folder: Path, columns: Mapping[str, Any], rows: Sequence[object]
) -> RecordedEngine:
    """Return the engine that reads these rows."""
    lines = "\n".join(map(json.dumps, rows))
    (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    card = {"model": "it", "engine": "recorded", "dataset": "d", "rows": columns}
    model = RecordedModel.model_validate(card | {"files": {"data": "rows.jsonl"}})
    inputs = EngineInputs(seed=0, dataset="d", folder=folder, data=folder, names=NAMES)
    return RecordedEngine(model, inputs)


def judge(draws: int = 1) -> Judge:
    return Judge(judge="it", model="it", draws=draws)


def recorded(folder: Path, chances: list[Any], **columns: Any) -> RecordedEngine:
    rows = []
    for (item, system, label), chance in zip(VERDICTS, chances, strict=True):
        rows.append({"id": item, "by": system, "verdict": label, "p": chance})
    return engine(folder, COLUMNS | columns, rows)


def confidences(made: RecordedEngine) -> list[float | None]:
    answers = made.answer(judge(), "fluency", PASSED, SUBJECTS)
    return [verdict(draws[0], WORDS).confidence for draws in answers]


def test_a_confidence_belongs_to_the_verdict_of_its_row(tmp_path: Path) -> None:
    made = recorded(tmp_path, [0.9, "0.6", None])
    answers = made.answer(judge(), "fluency", PASSED, SUBJECTS)
    read = [verdict(draws[0], WORDS) for draws in answers]
    assert [each.label for each in read] == ["pass", "fail", "pass"]
    assert [each.confidence for each in read] == [0.9, 0.6, None]
    assert {each.confidence_source for each in read} == {"column"}
    assert read[2].confidence_rule == "no_recorded_confidence"


def test_percentages_are_read_as_the_card_says(tmp_path: Path) -> None:
    made = recorded(tmp_path, [90, "60 %", 0.5], confidence_as="percent")
    assert confidences(made) == pytest.approx([0.9, 0.6, 0.005])


def test_a_probability_of_a_label_is_that_of_the_verdict_or_of_the_other(
    tmp_path: Path,
) -> None:
    made = recorded(tmp_path, [0.9, 0.2, 0.7], confidence_about="pass")
    assert confidences(made) == pytest.approx([0.9, 0.8, 0.7])


@pytest.mark.parametrize(
    ("chance", "says"),
    [
        (80, "confidence_as: percent"),
        (-0.3, "log-probabilities"),
        (180, "log-probabilities"),
        ("high", "missing"),
        (True, "missing"),
    ],
)
def test_a_cell_that_is_no_probability_is_an_error_with_its_row(
    tmp_path: Path, chance: object, says: str
) -> None:
    made = recorded(tmp_path, [0.9, chance, 0.7])
    with pytest.raises(UserError, match="confidence") as caught:
        confidences(made)
    message = str(caught.value)
    assert "rows.jsonl" in message
    assert "column p" in message
    assert says in message


def test_labels_without_a_single_confidence_are_an_error(tmp_path: Path) -> None:
    made = recorded(tmp_path, [None, None, None])
    confidences(made)
    with pytest.raises(UserErrors, match="no recorded score has a confidence"):
        made.checked_joins()


def test_a_column_of_verdicts_is_noticed(tmp_path: Path) -> None:
    made = recorded(tmp_path, [1, 0, 1])
    confidences(made)
    assert any("column p" in line for line in made.notices)
    sure = recorded(tmp_path, [1, 0.5, 1])
    confidences(sure)
    assert not sure.notices


def test_probabilities_that_a_card_calls_percentages_are_noticed(
    tmp_path: Path,
) -> None:
    made = recorded(tmp_path, [0.9, 0.6, 1.0], confidence_as="percent")
    confidences(made)
    [line] = made.notices
    assert "leave out `confidence_as: percent`" in line and "column p" in line
    percent = recorded(tmp_path, [0.9, 60, 80], confidence_as="percent")
    confidences(percent)
    assert not percent.notices


def test_a_card_can_say_that_a_judge_has_none(tmp_path: Path) -> None:
    made = recorded(tmp_path, [0.9, 0.6, 0.7])
    silent = judge().model_copy(update={"confidence": "none"})
    answers = made.answer(silent, "fluency", PASSED, SUBJECTS)
    assert all(draws[0].confidence is None for draws in answers)


def test_a_list_of_draws_has_a_list_of_confidences(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "A", "by": "X", "verdict": [1, 0], "p": [0.9, 0.6]}
    ]
    made = engine(tmp_path, COLUMNS, rows)
    five = RatingScale(min=0, max=5, step=1, labels=[])
    [draws] = made.answer(judge(2), "fluency", five, SUBJECTS[:1])
    assert [each.confidence and each.confidence.chance for each in draws] == [0.9, 0.6]
    rows = [{**rows[0], "p": 0.9}]
    made = engine(tmp_path, COLUMNS, rows)
    with pytest.raises(UserError, match="a confidence for each"):
        made.answer(judge(2), "fluency", five, SUBJECTS[:1])


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"confidence_as": "percent"}, "confidence"),
        ({"confidence": {"fluency": "verdict"}}, "verdict"),
        ({"confidence": {"fluency": "p"}, "repeated": "mean"}, "repeated"),
    ],
)
def test_keys_that_do_not_go_together_are_errors(
    keys: Mapping[str, Any], says: str
) -> None:
    given = {"item": "id", "scores": {"fluency": "verdict"}, **keys}
    with pytest.raises(ValidationError, match=says):
        RecordedRows.model_validate(given)


def test_a_reply_has_no_column_of_confidence() -> None:
    given = {"item": "id", "reply": "said", "confidence": {"*": "p"}}
    with pytest.raises(ValidationError, match="confidence: stated"):
        RecordedRows.model_validate(given)
