"""What several tests of prompts share."""

from collections.abc import Sequence
from typing import Any

from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject
from judgescope.prompts import (
    DRAFTING,
    TextWords,
    annotating,
    load,
    material,
    of_second,
    rated,
)
from judgescope.prompts.filling import messages
from judgescope.replies.judging import ShownTexts, asks_pairs, shown
from judgescope.schema.cards import (
    AnnotationKeys,
    Aspect,
    Judge,
    RatingScale,
    TaskWords,
)
from judgescope.schema.loading import read_tasks
from running import HOME

CONFIG = HOME / "config"
ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
VERDICT = RatingScale(labels=["fail", "pass"])
VERDICTS = ("confident-verdict", "verdict", "reason-verdict")
"""Forms that ask for a label."""
FIVE = RatingScale(min=1, max=5, step=1, labels=[])


def about(task: str) -> TextWords:
    """Return what the shipped table says about the texts of a task."""
    words = read_tasks([CONFIG]).get(task) or TaskWords.unknown(task)
    return TextWords(task=task, **words.model_dump(exclude={"part"}))


SUMMARY = about("summarization")
ARTICLE = [SourcePart("Article", "THE SOURCE")]
VALUES: dict[str, Any] = {
    **SUMMARY.names,
    **material(ARTICLE),
    **of_second([SourcePart("Article", "THE OTHER SOURCE")]),
    **rated(
        ASPECT.model_copy(update={"steps": ["Look."], "worst": "bad", "best": "good"}),
        FIVE,
    ),
    **annotating(AnnotationKeys()),
    **{"text": "THE TEXT", "text_b": "THE OTHER", "problem": None},
    "errors": [{"name": "Spelling", "definition": "No slips."}],
    **{"k": 1, "min_edits": None},
    "error": {"name": "Spelling", "definition": "No slips."},
    **{"adjustment": "Name a wrong colour.", "instructions": "1. Look.\n2. Change."},
    "reference": "THE MODEL",
    **{"hint": "4711", "attributed": True},
    "shots": [{**material([]), "text": "ANOTHER", "rating": 2, "analysis": "WHY"}],
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
        "about",
        "ask-confidence",
        "material",
        "impartial",
        "improve",
        "likelihood",
        "decide",
        "decide-pair",
        "shot",
        "write-reference",
        *IMPROVING,
    }
    - {"verdict-task"}
    - {*DRAFTING.values(), "merge-errors"}
)


def asked_about(judge: Judge, texts: Sequence[Subject]) -> list[ShownTexts]:
    """Return the texts of each question, pairs if the judge's form shows two."""
    shipped = (CONFIG / "prompts" / f"{judge.form}.jinja").is_file()
    templates = load(judge.form, [CONFIG], where="") if shipped else {}
    return shown(judge, texts, pairs=asks_pairs(judge, templates))


def filled(form: str, parts: Any = None, **values: Any) -> str:
    """Return a filled form; `parts`: those of the source, if not one article."""
    if parts is not None:
        values = of_second(parts) | values | material(parts)
    scale = {"scale": rated(ASPECT, VERDICT)["scale"]} if form in VERDICTS else {}
    [message] = messages(
        form, load(form, [CONFIG], where=""), **VALUES | scale | values
    )
    assert message["role"] == "user"
    return message["content"]
