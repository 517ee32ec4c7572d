"""What several tests of prompts share."""

from typing import Any

from judgescope.prompts import (
    DRAFTING,
    annotating,
    load,
    messages,
    rated,
)
from judgescope.schema.cards import Annotation, Aspect, Scale
from running import HOME

CONFIG = HOME / "config"
ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
VERDICT = Scale(labels=["fail", "pass"])
VERDICTS = ("verdict", "reason-verdict")
"""Forms that ask for a label."""
FIVE = Scale(min=1, max=5, step=1, labels=[])


VALUES: dict[str, Any] = {
    **rated(
        ASPECT.model_copy(update={"steps": ["Look."], "worst": "bad", "best": "good"}),
        FIVE,
    ),
    **annotating(Annotation(), "summarization"),
    **{
        "source": "THE SOURCE",
        "text": "THE TEXT",
        "text_b": "THE OTHER",
        "problem": None,
    },
    "source_b": "THE OTHER SOURCE",
    "errors": [{"name": "Spelling", "definition": "No slips."}],
    **{"task": "summarization", "k": 1, "min_edits": None},
    **{"adjustment": "Name a wrong colour.", "instructions": "1. Look.\n2. Change."},
    "reference": "THE MODEL",
    **{"hint": "4711", "attributed": True},
    "shots": [{"source": None, "text": "ANOTHER", "rating": 2, "analysis": "WHY"}],
    "rating": 4,
    **{
        "demonstrations": [{"text": "Red milk.", "changed": "Blue milk."}],
        "reply": "whole",
    },
}
IMPROVING = {
    "improve-summary": "",
    "improve-paraphrase": "",
    "improve-description": "THE TEXT",
}
"""Forms that make a better text of an item -> what they show beside the source."""


FORMS = sorted(
    {path.stem for path in (CONFIG / "prompts").glob("*.jinja")}
    - {
        "adjust",
        "quality",
        "definition",
        "kind",
        "improve",
        "shot",
        "write-reference",
        *IMPROVING,
    }
    - {"verdict-task"}
    - {*DRAFTING.values(), "merge-errors"}
)


def filled(form: str, **values: Any) -> str:
    scale = {"scale": rated(ASPECT, VERDICT)["scale"]} if form in VERDICTS else {}
    [message] = messages(
        form, load(form, [CONFIG], where=""), **VALUES | scale | values
    )
    assert message["role"] == "user"
    return message["content"]
