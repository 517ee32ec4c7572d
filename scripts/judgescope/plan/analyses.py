"""Analyses that judges of a study are shown: what the job that has them written is told."""

from typing import Any

from judgescope.plan.generators import analyses_of, analysts
from judgescope.plan.study import Plan
from judgescope.schema.cards import Decoding


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
