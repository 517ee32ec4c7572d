"""What `check` says of texts in rows and graded sets about aspects that a study does
not judge.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgescope.plan.loading import load_plan
from judgescope.plan.notices import unjudged
from running import HOME, snakemake
from study import Study

KEYS: dict[str, Any] = {
    "datasets": ["demo-news"],
    "aspects": ["fluency"],
    "judges": ["rules"],
    "perturbations": [
        "local-rule-coherence",
        "global-rule-fluency",
        "local-rule-fluency",
    ],
    "methods": ["perspectives"],
}
COHERENCE = (
    "left out: local-rule-coherence is about coherence, which the study does not judge"
)
FLUENCY = (
    "left out: local-rule-fluency is about fluency, which the study does not judge"
)


def lines_of_check(**keys: Any) -> list[str]:
    study = {"study": "small", "seed": 3} | KEYS | keys
    return list(unjudged(load_plan(study, HOME, source="study.yaml")))


@pytest.mark.heavy
def test_each_perturbation_about_another_aspect_is_reported() -> None:
    assert lines_of_check() == [COHERENCE]
    assert lines_of_check(aspects=["relevance"]) == [
        COHERENCE,
        "left out: global-rule-fluency is about fluency, which the study does not "
        "judge",
        FLUENCY,
    ]
    assert (
        lines_of_check(aspects=[])
        == lines_of_check(aspects=["fluency", "coherence"])
        == []
    )


def test_a_perturbation_judged_on_all_aspects_needs_no_notice() -> None:
    keys = {"perturbations": ["random-typos"], "methods": ["discernment"]}
    assert lines_of_check(**keys) == []


def test_datasets_that_it_is_not_for_do_not_count() -> None:
    """News have errors of fluency put in; in the same study they are put into dialogues
    alone.
    """
    study = (
        {"study": "small", "seed": 3}
        | KEYS
        | {"datasets": ["demo-news", "demo-dialogue"]}
    )
    study |= {"aspects": [], "perturbations": ["local-rule-fluency"]}
    plan = load_plan(study, HOME, source="study.yaml")
    assert list(unjudged(plan)) == []
    card = plan.perturbations["local-rule-fluency"]
    for changes, lines in (
        ({"tasks": ["dialogue"]}, [f"{FLUENCY} on its datasets"]),
        ({"tasks": ["paraphrase"]}, []),
        (
            {"datasets": {"demo-news": {}}, "tasks": []},
            [f"{FLUENCY} on its datasets"],
        ),
    ):
        other = {"local-rule-fluency": card.model_copy(update=changes)}
        assert list(unjudged(replace(plan, perturbations=other))) == lines


@pytest.mark.slow
def test_check_tells_it(tmp_path: Path) -> None:
    study = Study(tmp_path).write(**KEYS)
    done = snakemake("check", "-q", "rules", "--configfile", str(study), cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert [line for line in done.stdout.splitlines() if "left out" in line] == [
        f"  {COHERENCE}"
    ]
