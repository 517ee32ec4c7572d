"""What the page is told on which every judgment of a study can be looked at."""

from pathlib import Path
from typing import Any

from judgescope.core.cells import pack, split
from judgescope.core.paths import Paths
from judgescope.plan.judges import engine_of
from judgescope.plan.pages import UNDAMAGED, look_of, told_of
from judgescope.plan.study import CellAspect, Plan

SETS = {"original": "originals", "systems": "texts by systems"}


def explore_page(plan: Plan, home: Path, out: str) -> dict[str, Any]:
    """Return the fields of the spec of the page."""
    patterns = ("explore/*", "texts/style.css", "report/style.css")
    return {
        "study": plan.study.study,
        "templates": look_of(home / "workflow", *patterns),
        "datasets": [
            _dataset(plan, name, cells)
            for name in plan.datasets
            if (cells := plan.cell_aspects_of(name))
        ],
        "judges": {name: _form(plan, name) for name in [*plan.judges, *plan.derived]},
        "models": {name: plan.model_of(name) for name in [*plan.judges, *plan.derived]},
        "perturbations": {name: told_of(card) for name, card in plan.perturbations.items()},
        "results": out,
        "output": Paths(out).report("explore.html"),
    }


def _dataset(plan: Plan, name: str, cells: list[CellAspect]) -> dict[str, Any]:
    """Return a dataset with its sets of texts, aspects and cells, each in the study's order."""
    card = plan.datasets[name]
    judged = {cell.perturbation for cell in cells}
    sets = [one for one in plan.target_sets(name) if one in judged]
    return {
        "id": name,
        "name": card.name,
        "ratings": card.ratings,
        "sets": [[one, _set_name(plan, one)] for one in sets],
        "aspects": [[one, _aspect_name(plan, one)] for one in plan.aspects_of(name)],
        "cells": pack(cell[1:] for cell in cells),
    }


def _set_name(plan: Plan, perturbation: str) -> str:
    if perturbation in UNDAMAGED:
        return SETS[perturbation]
    name, _, degree = perturbation.partition(".")
    card = plan.perturbations.get(name)  # none where a model writes what another learns from
    told = card.name if card else perturbation
    return told if degree in {"", "single"} else f"{told}, {degree}"


def _aspect_name(plan: Plan, aspect: str) -> str:
    name, criterion = split(aspect)
    told = plan.aspects[name].name
    return f"{told}, criterion {criterion}" if criterion else told


def _form(plan: Plan, judge: str) -> str:
    """Return what answers for a judge, and how it is asked."""
    if judge in plan.derived:
        return f"made from {len(plan.derived[judge].members)} judges"
    return f"{engine_of(plan, judge)}, form {plan.judges[judge].form}"
