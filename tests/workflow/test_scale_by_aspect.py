"""A judge whose scale differs by aspect: what it is asked, how it is read, what is
refused.
"""

from pathlib import Path
from typing import Any

import pytest

from golden import Run
from golden_studies import GoldenStudy, judge
from judgescope.core.errors import UserError
from judgescope.plan.judges import scale_of
from judgescope.plan.specs import judging
from judgescope.replies.questions import plan_questions
from judgescope.schema.cards import Judge, OpenAIModel

HALVES = {"min": 1, "max": 5, "step": 0.5}
WORDS = {
    "min": 1,
    "max": 5,
    "step": 1,
    "labels": ["very bad", "bad", "so so", "good", "best"],
}
ASPECTS = ["coherence", "fluency", "relevance"]


def run_of(folder: Path, **keys: Any) -> Run:
    study = GoldenStudy(
        "scales",
        ["texts"],
        {"judges": ["plain", "own"], "aspects": ASPECTS, "methods": ["agreement"]},
        [judge("plain", "score-only"), judge("own", "score-only", **keys)],
    )
    study.write(folder, "http://127.0.0.1:1/v1")
    return Run(folder, study.card)


@pytest.mark.heavy
def test_each_aspect_has_its_scale_in_prompts_and_in_what_is_read(
    tmp_path: Path,
) -> None:
    run = run_of(tmp_path / "study", scale={"coherence": HALVES, "fluency": WORDS})
    run.texts()
    model = run.plan.models["judge"]
    assert isinstance(model, OpenAIModel)
    cells = plan_questions(judging.ask(run.plan, "golden-news", "judge"), model).cells
    prompts = {
        (name, aspect): cell[0].prompt for (_, name, aspect), cell in cells.items()
    }
    assert "in steps of 0.5" in prompts["own", "coherence"]
    assert "in steps of 0.5" not in prompts["plain", "coherence"]
    assert (
        "so so" in prompts["own", "fluency"]
        and "so so" not in prompts["own", "coherence"]
    )
    assert prompts["own", "relevance"] == prompts["plain", "relevance"]
    read = {name: scale_of(run.plan, "golden-news", "own", name) for name in ASPECTS}
    assert [row.step if row else None for row in read.values()] == [0.5, 1, 0.5]
    assert read["fluency"] is not None and read["fluency"].labels == WORDS["labels"]


def test_a_single_scale_for_all_and_none_at_all_stay_what_they_were() -> None:
    card = {"judge": "j", "model": "m", "form": "score-only"}
    entry = Judge.model_validate({**card, "scale": HALVES})
    named = Judge.model_validate({**card, "scale": {"fluency": HALVES}})
    assert entry.scale_on("fluency") == entry.scale_on("x") == named.scale_on("fluency")
    assert named.scale_on("x") is None is Judge.model_validate(card).scale_on("x")
    assert Judge.model_validate(named.model_dump(mode="json")) == named
    assert [
        len(each.scales) for each in (entry, named, Judge.model_validate(card))
    ] == [
        1,
        1,
        0,
    ]


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"clarity": HALVES}, ["key scale", "clarity"]),
        ({"fluency": {"min": 1, "max": 7, "step": 1}}, ["key scale", "1 to 7"]),
    ],
)
def test_an_aspect_that_is_none_and_ends_that_no_aspect_has_are_refused(
    tmp_path: Path, scale: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(UserError) as error:
        run_of(tmp_path / "study", scale=scale)
    assert all(word in str(error.value) for word in words)
