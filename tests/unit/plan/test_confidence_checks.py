"""Cards that name a confidence which their judge cannot have."""

from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.plan.checks.confidence import check_confidence
from judgescope.schema import cards
from judgescope.schema.cards import ControlModel, Judge, RatedAspect, RecordedModel

PASSED = {"d, correct": RatedAspect(labels=["fail", "pass"])}
THREE = {"d, correct": RatedAspect(labels=["bad", "fair", "good"])}
ANY = {"d, clear": RatedAspect(min=0, max=100)}
CONTROL = ControlModel(model="m", engine="control")


def judge(**keys: Any) -> Judge:
    return Judge.model_validate({"judge": "j", "model": "m", "form": "f", **keys})


def recorded(**rows: Any) -> RecordedModel:
    columns = {"item": "id", "scores": {"correct": "verdict"}, **rows}
    card = {"model": "m", "engine": "recorded", "dataset": "d", "rows": columns}
    return RecordedModel.model_validate(card | {"files": {"data": "x.csv"}})


def asked() -> cards.Model:
    card = {"model": "m", "engine": "openai", "base_url": "http://127.0.0.1:1/v1"}
    return cards.OpenAIModel.model_validate(card)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"confidence": "logprobs"}, "rows.confidence"),
        ({"confidence": "stated"}, "rows.confidence"),
        ({"confidence": "draws"}, "`draws` to 5 or more"),
    ],
)
def test_a_judge_without_replies_or_draws_cannot_have_theirs(
    keys: dict[str, Any], says: str
) -> None:
    with pytest.raises(UserError) as caught:
        check_confidence(judge(**keys), CONTROL, PASSED, pairs=False)
    assert "judges/j.yaml, key confidence" in str(caught.value)
    assert says in str(caught.value)


def test_several_draws_have_a_share_of_equal_ones() -> None:
    check_confidence(judge(confidence="draws", draws=5), CONTROL, PASSED, pairs=False)


def test_a_probability_of_a_label_needs_two_labels() -> None:
    model = recorded(confidence={"correct": "p"}, confidence_about="pass")
    check_confidence(judge(), model, PASSED, pairs=False)
    with pytest.raises(UserError, match="two labels"):
        check_confidence(judge(), model, THREE, pairs=False)
    other = recorded(confidence={"correct": "p"}, confidence_about="passed")
    with pytest.raises(UserError, match="not a label"):
        check_confidence(judge(), other, PASSED, pairs=False)


def test_a_column_belongs_to_an_aspect_with_scores() -> None:
    model = recorded(confidence={"clear": "p"})
    with pytest.raises(UserError, match="without recorded scores"):
        check_confidence(judge(), model, PASSED, pairs=False)


def test_log_probabilities_need_steps() -> None:
    sure = judge(confidence="logprobs")
    check_confidence(sure, asked(), PASSED, pairs=False)
    with pytest.raises(UserError, match="scale with steps"):
        check_confidence(sure, asked(), ANY, pairs=False)
