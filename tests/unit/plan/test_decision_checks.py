"""Cards of judges that a decision model cannot have."""

from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.plan.checks.decisions import check_decisions
from judgescope.replies.decision_questions import criteria_of, question_type
from judgescope.schema import cards
from judgescope.schema.cards import Judge, RatedAspect, SystemOneModel

LABELS = {"d, kept": RatedAspect(labels=["fail", "pass"])}
KINDS = {"d, kind": RatedAspect(labels=["praise", "question"], ordered=False)}
FIVE = {"d, clear": RatedAspect(min=1, max=5, step=1)}
HUNDRED = {"d, clear": RatedAspect(min=1, max=100, step=1)}
ANY = {"d, clear": RatedAspect(min=0, max=1)}
MODEL = SystemOneModel(model="m", engine="systemone", base_url="http://127.0.0.1:1/v1")
FORM = {"f.jinja": "Is the field `{{ text }}` good?"}


def judge(**keys: Any) -> Judge:
    return Judge.model_validate({"judge": "j", "model": "m", "form": "f", **keys})


def check(card: Judge, rated: Any, form: Any = None, *, pairs: bool = False) -> None:
    check_decisions(card, MODEL, rated, FORM if form is None else form, pairs=pairs)


@pytest.mark.parametrize(
    ("keys", "rated", "says"),
    [
        ({"draws": 3}, LABELS, "key draws"),
        ({"temperature": 0.5}, LABELS, "key temperature"),
        ({"structured": "choice"}, LABELS, "key structured"),
        ({"estimator": "logprob_mean"}, LABELS, "key estimator"),
        ({"system": "about"}, LABELS, "key system"),
        ({"confidence": "stated"}, LABELS, "key confidence"),
        ({"question": "noul"}, FIVE, "noul is for two ordered values"),
        ({"question": "noul"}, KINDS, "noul is for two ordered values"),
        ({"question": "score"}, KINDS, "have no order"),
        ({}, HUNDRED, "at most 10"),
        ({}, ANY, "needs a scale with steps"),
        ({"threshold": 70.0}, LABELS, "between 0 and 1"),
        ({"threshold": 0.7}, KINDS, "the better of two labels"),
        ({"threshold": 0.7, "question": "choice"}, LABELS, "the better of two labels"),
    ],
)
def test_a_key_that_has_no_meaning_is_refused(
    keys: dict[str, Any], rated: Any, says: str
) -> None:
    with pytest.raises(UserError) as caught:
        check(judge(**keys), rated)
    assert "judges/j.yaml" in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "rated"),
    [
        ({}, LABELS | KINDS | FIVE),
        ({"threshold": 0.7}, LABELS),
        ({"threshold": "best"}, LABELS),
        ({"question": "choice"}, LABELS | HUNDRED),
        ({"confidence": "none"}, FIVE),
    ],
)
def test_what_a_decision_can_answer_is_accepted(
    keys: dict[str, Any], rated: Any
) -> None:
    check(judge(**keys), rated)


def test_a_form_that_shows_the_source_is_refused() -> None:
    with pytest.raises(UserError, match="shows the variable `source`"):
        check(judge(), FIVE, {"f.jinja": "{{ source }} {{ text }}"})


def test_a_pair_is_a_choice() -> None:
    check(judge(), LABELS, pairs=True)
    with pytest.raises(UserError, match="compared by a choice"):
        check(judge(question="score"), LABELS, pairs=True)


def test_a_question_needs_a_decision_model() -> None:
    model = cards.OpenAIModel(
        model="m", engine="openai", base_url="http://127.0.0.1:1/v1"
    )
    with pytest.raises(UserError, match="engine systemone"):
        check_decisions(judge(question="noul"), model, LABELS, FORM, pairs=False)


@pytest.mark.parametrize(
    ("rated", "kind", "criteria"),
    [
        (
            LABELS,
            "noul",
            {"true": "the verdict is: pass", "false": "the verdict is: fail"},
        ),
        (KINDS, "choice", {"praise": None, "question": None}),
        (FIVE, "score", ["1 (worst)", "2", "3", "4", "5 (best)"]),
        (
            {"d, mark": RatedAspect(min=1, max=3, step=1, best="min")},
            "score",
            ["1 (best)", "2", "3 (worst)"],
        ),
    ],
)
def test_the_scale_says_which_question_is_asked(
    rated: dict[str, RatedAspect], kind: Any, criteria: Any
) -> None:
    [scale] = rated.values()
    assert question_type(judge(), scale, pairs=False) == kind
    assert criteria_of(kind, scale, pairs=False) == criteria
