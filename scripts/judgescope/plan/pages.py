"""What the pages of a study are told: what they look like, and which texts they show."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from judgescope.plan.applicability import ALONE
from judgescope.plan.distilling import student_of
from judgescope.plan.judges import annotators, card_hash, engine_of, parser_of, scale_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    AnyPerturbation,
    AttackPerturbation,
    DerivedJudge,
    GivenPerturbation,
    GradedPerturbation,
    Judge,
    MadePerturbation,
)
from judgescope.schema.cards.perturbations import Degree

UNDAMAGED = {"original", "systems"}
FEW = 3
"""So many members of an ensemble are named beside it."""
ACCESS_OF_STUDY = {"data", "max_usd", "max_requests", "caps", "drafter"}
"""Keys of a study that say where its data lie, what it may spend and who drafts: no output of a run
depends on them."""


def damaged(plan: Plan) -> dict[str, list[tuple[str, str]]]:
    """Return dataset -> its damage (perturbation, degree); no dataset without any.

    Texts that a dataset brings have no edits to look at.
    """
    found = {
        dataset: [
            (name, degree)
            for one in plan.target_sets(dataset)
            if one not in UNDAMAGED
            for name, _, degree in [one.partition(".")]
        ]
        for dataset in plan.evaluated
        if not plan.datasets[dataset].gives_texts
    }
    return {dataset: cells for dataset, cells in found.items() if cells}


def annotated(plan: Plan, out: str) -> dict[str, dict[str, str | None]]:
    """Return dataset -> the files of the errors that judges list in its texts, and of these.

    The texts are those of systems where these are judged, else the originals.
    """
    names, found = set(annotators(plan)), dict[str, dict[str, str | None]]()
    for dataset in plan.evaluated:
        card = plan.datasets[dataset]
        judged = {
            cell.perturbation for cell in plan.cell_aspects_of(dataset) if cell.judge in names
        }
        one = next((name for name in ("systems", "original") if name in judged), None)
        gold = f"{out}/spans/{dataset}.parquet" if card.gives_spans and one == "systems" else None
        if one is not None:
            found[dataset] = {
                "set": one,
                "marked": f"{out}/collected/{dataset}/marked.parquet",
                "targets": f"{out}/targets/{dataset}/{one}.parquet",
                "gold": gold,
            }
    return found


def look_of(workflow: Path, *patterns: str) -> str:
    """Return a hash of templates and style sheets."""
    paths = [path for pattern in patterns for path in sorted(workflow.glob(pattern))]
    paths = [path for path in paths if path.is_file()]
    look = "".join(path.read_text(encoding="utf-8") for path in paths)
    return hashlib.sha256(look.encode()).hexdigest()[:16]


def texts_page(plan: Plan, home: Path, out: str) -> dict[str, Any]:
    """Return the fields of the spec of the page of damaged texts."""
    cells = damaged(plan)
    names = {name for each in cells.values() for name, _ in each}
    return {
        "study": plan.study.study,
        "seed": plan.study.seed,
        "templates": look_of(home / "workflow", "texts/*", "report/style.css"),
        "order": list(cells),
        "datasets": {
            dataset: {"name": plan.datasets[dataset].name, "cells": _amounts(plan, dataset, each)}
            for dataset, each in cells.items()
        },
        "perturbations": {
            name: told_of(card) for name, card in plan.perturbations.items() if name in names
        },
        "results": out,
        "output": f"{out}/report/texts.html",
    }


def _amounts(plan: Plan, dataset: str, cells: list[tuple[str, str]]) -> list[list[Any]]:
    """Return each damage with how much of it its card asks for."""
    found: list[list[Any]] = []
    for name, degree in cells:
        degrees: dict[Any, Degree] = plan.perturbations[name].degrees_for(dataset)
        found.append([name, degree, degrees[degree].model_dump()])
    return found


def told_of(card: AnyPerturbation) -> dict[str, Any]:
    """Return what a card says of its damage."""
    if isinstance(card, MadePerturbation):
        by = f"by the model {card.model}, form {card.form}"
    elif isinstance(card, GradedPerturbation):
        made = f"the model {card.model}, form {card.form}" if card.model else "rule"
        by = f"by {made}; rated by {card.rating}"
    elif isinstance(card, GivenPerturbation):
        by = f"by whoever made {card.dataset}"
    elif isinstance(card, AttackPerturbation):
        by = f"by adding a text at the {card.place}"
    else:
        by = f"by the rule {card.rule}"
    told = {"name": card.name, "level": card.level, "issue": card.issue, "method": card.method}
    return {**told, "kind": card.kind, "by": by}


def _asked_so(plan: Plan, judge: Judge) -> dict[str, Any]:
    """Return how the model behind a judge is asked, if it reads prompts.

    Judges that are `alike` differ in nothing but their scale.
    """
    if not plan.is_prompted(judge.model):
        return {}
    shots: dict[str, Any] = {"shots": judge.shots.n} if judge.shots else {}
    if (told := judge.annotation) is not None:
        rules = "" if told.rules else ", no rules"
        shots["annotation"] = f"score in {told.score}, severity in {told.severity}{rules}"
    alike = card_hash(judge.model_copy(update={"judge": "", "scale": None}))
    points = {name: sizes for name in plan.evaluated if (sizes := _points(plan, name, judge.judge))}
    limits = {"temperature": judge.temperature, "max_tokens": judge.max_tokens}
    return {**limits, **shots, "alike": alike, "points": points}


def _hinted(plan: Plan, members: Iterable[str]) -> dict[str, str]:
    """Return which rating of the very text a member of an ensemble is given, if one is."""
    told = [hint.tells for name in members if (hint := plan.judges[name].hint)]
    return {"hint": told[0]} if told else {}


def _points(plan: Plan, dataset: str, judge: str) -> list[int]:
    """Return how many values a judge can give, if it differs by aspect each; [] if any number."""
    scales = [scale_of(plan, dataset, judge, name) for name in plan.rated_by(judge, dataset)]
    values = [scale.values() if scale else None for scale in scales]
    return [] if None in values else sorted({len(each) for each in values if each})


def report_page(plan: Plan, home: Path, out: str, tables: Sequence[str]) -> dict[str, Any]:
    """Return the fields of the spec of the report, but for the command that reproduces it."""
    return {
        "study": plan.study.model_dump(mode="json", exclude=ACCESS_OF_STUDY | {"judges"})
        | {"judges": [*plan.judges, *plan.derived]},
        "templates": look_of(home / "workflow", "report/*"),
        "texts": bool(damaged(plan)),
        "annotated": annotated(plan, out),
        "distilled": _distilled(plan, out),
        "tables": {name: f"{out}/tables/{name}.parquet" for name in tables},
        "datasets": {
            name: {
                "name": card.name,
                "task": card.task,
                "ratings": card.ratings,
                "licence": card.licence,
                "citation": card.citation,
                "aspects": plan.aspects_of(name),
                "report": f"{out}/items/{name}.json",
            }
            for name, card in plan.datasets.items()
        },
        "judges": {
            name: {
                "engine": engine_of(plan, name),
                "form": judge.form,
                "against": None if judge.form in ALONE else judge.against,
                "parser": parser_of(plan, name),
                "draws": judge.draws,
                "model": judge.model,
                **({"hint": judge.hint.tells} if judge.hint else {}),
                **_asked_so(plan, judge),
            }
            for name, judge in plan.judges.items()
        }
        | {
            name: {"engine": "derived", "form": _made_of(card), **_hinted(plan, card.members)}
            for name, card in plan.derived.items()
        },
        "aspects": {name: card.name for name, card in plan.aspects.items()},
        "perturbations": {
            name: {"name": card.name, "level": card.level}
            for name, card in plan.perturbations.items()
        },
        "cards": "judges/",
        "output": f"{out}/report/index.html",
        "figures": f"{out}/figures",
        "sections": f"{out}/sections",
    }


def _distilled(plan: Plan, out: str) -> dict[str, Any] | None:
    """Return which judge learnt from which, how, and where the course of its training is told."""
    if plan.study.distill is None:
        return None
    told, (_, model) = plan.study.distill, student_of(plan)
    return {
        **told.model_dump(mode="json", exclude={"checkpoints"}),
        "model": model.name,
        "log": f"{out}/distill/training.parquet",
    }


def _made_of(card: DerivedJudge) -> str:
    """Return what a judge is made of, in words: a few members by name, more by number."""
    few = len(card.members) <= FEW
    told = f"mean of {', '.join(card.members) if few else f'{len(card.members)} judges'}"
    return f"{told}; errors merged by {card.supervisor.model}" if card.supervisor else told
