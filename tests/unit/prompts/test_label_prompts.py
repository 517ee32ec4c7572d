"""What a prompt on labels shows of hints and demonstrations, and what replies are held to."""

from typing import Any

import pytest

from judgescope.engines.base import Subject
from judgescope.replies.few_shot import Demonstrations, Rated
from judgescope.replies.judging import Questions, shown
from judgescope.schema.cards import Aspect, Judge, OpenAIModel, RatedAspect

FORM = (
    "{{ text }} {{ scale.choices }}{% if hint %} A friend says {{ hint }}.{% endif %}"
    "{% for shot in shots or [] %} [{{ shot.text }}: {{ shot.rating }}]{% endfor %}"
)
VERDICTS = RatedAspect(labels=["fail", "pass"])
TEXTS = [Subject("i:a", "i", "a", "systems", "TEXT", "SOURCE")]


def asked(**keys: Any) -> Questions:
    """Return the questions of a cell on labels."""
    judge = Judge.model_validate({"judge": "j", "model": "m", "form": "mine", **keys})
    rated = [
        Rated(Subject(f"o{n}:s", f"o{n}", "s", "systems", f"SHOT-{n}", None), n / 4)
        for n in range(5)
    ]
    return Questions(
        OpenAIModel(model="m", engine="openai", base_url="http://127.0.0.1:1/v1"),
        judge,
        Aspect(aspect="right", name="Right", definition="It is right."),
        VERDICTS,
        shown(judge, TEXTS),
        {"mine.jinja": FORM.replace("shots or []", "shots" if judge.shots else "[]").replace(
            "if hint", "if true" if judge.hint else "if false")},
        0,
        demonstrations=Demonstrations(rated, judge.shots, VERDICTS, None) if judge.shots else None,
        hints={"i:a": "1"} if judge.hint else None,
    )  # fmt: skip


def test_a_hint_and_ratings_of_demonstrations_are_labels() -> None:
    assert asked().prompt(0) == "TEXT fail or pass"
    hint = {"rating": "right", "baseline": "b"}
    assert asked(hint=hint).prompt(0) == "TEXT fail or pass A friend says pass."
    prompt = asked(shots={"n": 2}).prompt(0)
    assert prompt.count(": fail]") == prompt.count(": pass]") == 1
    assert not any(digit in prompt.replace("SHOT-", "") for digit in (".0", ": 0", ": 1"))


@pytest.mark.parametrize(
    ("structured", "key", "value"),
    [("choice", "choices", ["fail", "pass"]), ("json", "json_schema", {"enum": ["fail", "pass"]})],
)
def test_structured_replies_are_labels(structured: str, key: str, value: object) -> None:
    wants = asked(structured=structured).wants[key]
    assert (wants["properties"]["rating"] if key == "json_schema" else wants) == value
