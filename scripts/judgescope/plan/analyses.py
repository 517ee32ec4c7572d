"""Analyses that judges of a study are shown: what the job that has them written is told."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.engines.subjects import Subjects
from judgescope.plan.generators import analyses_of, analysts
from judgescope.plan.study import Plan
from judgescope.replies.analyses import Question, questions
from judgescope.schema.cards import Decoding

if TYPE_CHECKING:
    from judgescope.plan.specs import Specs


def analysing(plan: Plan, dataset: str, model: str) -> dict[str, Any]:
    """Return what the analyses by a model depend on, beside the model and the aspects' cards."""
    judges = analysts(plan, dataset)[model]
    forms = {told.form for judge in judges if (told := analyses_of(plan, judge))}
    return {
        "judges": {judge: _told(plan, dataset, judge) for judge in judges},
        "templates": {form: plan.templates[form] for form in sorted(forms)},
    }


def _told(plan: Plan, dataset: str, judge: str) -> dict[str, Any]:
    card = plan.judges[judge]
    assert card.shots is not None and card.shots.analyses is not None
    own = {"form", "attempts", *Decoding.model_fields}
    return {
        "n": card.shots.n,
        "share": card.share,
        "aspects": plan.rated_by(judge, dataset),
        **card.shots.analyses.model_dump(mode="json", include=own),
    }


def lacking(plan: Plan, specs: "Specs", dataset: str) -> dict[str, dict[str, list[Question]]]:
    """Return model -> judge -> the analyses of a dataset that are not there; judges with any."""
    found: dict[str, dict[str, list[Question]]] = {}
    for model, judges in analysts(plan, dataset).items():
        spec = json.loads(specs.analyse(dataset, model))
        subjects = Subjects(specs.out, dataset, plan.study.seed)
        there = Path(subjects.analysed.format(model)).is_file()
        for judge in judges:
            left = [
                one
                for one in questions(spec, judge, subjects)
                if not there or one.target not in subjects.analyses(judge, one.aspect, model)
            ]
            if left:
                found.setdefault(model, {})[judge] = left
    return found
