"""Studies of planted judges in memory: designs, judges, and the claims about them.

The cards are those that a study of the same kind would have: see `planted_spec`.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.data.planted import (
    DEFECTS,
    SCALES,
    PlantedDesign,
    PlantedJudge,
    PlantedKind,
    SimulatedTexts,
    on_scale,
    simulated,
)
from judgescope.methods.base import AspectScale, AsRater, JudgeFacts, StatisticsSpec
from judgescope.methods.claims.registry import CLAIMS
from judgescope.methods.in_memory import PlantedAnswers, verdict_rows
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Floats

SEED = 20261129
WORDS = ["fail", "pass"]
MARGIN = 0.05
TABLES: Mapping[PlantedKind, str] = {
    "scores": "agreement",
    "labels": "labels",
    "pairs": "pairwise",
}
"""Kind of ratings -> the table that claims on them rest on."""


@dataclass(frozen=True)
class JudgeSetup:
    """A planted judge of a study: its defect and how it is asked."""

    defect: str
    strength: float | None = None
    draws: int = 1
    family: str | None = None
    systems: tuple[str, ...] = ()
    prefix: str = "planted"

    @property
    def name(self) -> str:
        """Return the id of the judge."""
        known = DEFECTS[self.defect]
        if self.strength is None or len(known.strengths) < 2:
            return f"{self.prefix}-{self.defect}"
        return f"{self.prefix}-{self.defect}-{round(100 * self.strength):03}"

    def planted(self, seed: int, dataset: str) -> PlantedJudge:
        """Return the judge with its random streams for a dataset."""
        strength = self.strength
        if strength is None:
            strength = DEFECTS[self.defect].stated
        names = dataset, self.name
        return PlantedJudge(self.defect, strength, seed, names, frozenset(self.systems))


def planted_spec(
    design: PlantedDesign,
    dataset: str,
    judges: Iterable[JudgeSetup],
    *,
    seed: int = SEED,
    families: Mapping[str, str] | None = None,
    claims: Iterable[str] | None = None,
) -> StatisticsSpec:
    """Return the spec of the verdicts on a simulated dataset."""
    values = [*SCALES.get(design.kind, (-1.0, 1.0))]
    ends = values[0], values[-1]
    continuous = design.kind == "pairs"
    scale = AspectScale(
        values=None if continuous else values,
        ends=ends,
        labels=WORDS if design.kind == "labels" else [],
        ordered=True,
    )
    aspects = design.aspect_names
    return StatisticsSpec(
        code="",
        versions={},
        table="verdicts",
        method="judgescope.methods.verdicts:METHOD",
        dataset=dataset,
        seed=seed,
        ratings="people",
        fault_free_system=None,
        aspects=dict.fromkeys(aspects, scale),
        judges={one.name: facts_of(one, design, values, ends) for one in judges},
        excluded=[],
        perturbed=[],
        allow_missing=False,
        families=dict(families or {}),
        reference_systems=[],
        exclude_reference_systems=True,
        targets=["systems"],
        output="",
        as_rater=AsRater(margin=MARGIN, raters="persons"),
        claims=[CLAIMS.target(TABLES[design.kind])] if claims is None else [*claims],
    )


def facts_of(
    judge: JudgeSetup,
    design: PlantedDesign,
    values: list[float],
    ends: tuple[float, float],
) -> JudgeFacts:
    """Return what a card of a planted judge says; a copy of people's mean has no
    steps.
    """
    compares = design.kind == "pairs"
    stepped = design.kind == "labels" or judge.defect != "copy"
    grid = None if compares or not stepped else values
    aspects = design.aspect_names
    return JudgeFacts(
        card="c0de",
        engine="planted",
        form="compare" if compares else "rate",
        draws=judge.draws,
        share=1.0,
        prompt=None,
        references=False,
        family=judge.family,
        grid=dict.fromkeys(aspects, grid),
        ends=dict.fromkeys(aspects, None if compares else ends),
        weighted=False,
        first_draw=False,
        discrete=judge.draws == 1,
        hint=None,
        parser="choice" if compares else "number",
        compares=compares,
    )


def answers_of(
    dataset: SimulatedTexts,
    name: str,
    judges: Iterable[JudgeSetup],
    *,
    seed: int = SEED,
) -> PlantedAnswers:
    """Return what planted judges answer about a simulated dataset."""
    draws, votes = dict[str, Any](), dict[str, Any]()
    for setup in judges:
        judge = setup.planted(seed, name)
        if dataset.design.kind == "pairs":
            votes[setup.name] = _votes(dataset, judge)
        else:
            draws[setup.name] = _draws(dataset, judge, setup)
    return PlantedAnswers(draws, votes)


def _draws(
    dataset: SimulatedTexts, judge: PlantedJudge, setup: JudgeSetup
) -> dict[str, Floats]:
    values = SCALES[dataset.design.kind]
    stepped = dataset.design.kind == "labels" or setup.defect != "copy"
    grid = values if stepped else None
    drawn = {}
    for aspect in dataset.design.aspect_names:
        each = []
        for draw in range(setup.draws):
            points = judge.points(dataset.texts, aspect, draw)
            each.append(on_scale(points, values[0], values[-1], grid))
        drawn[aspect] = np.stack(each)
    return drawn


def _votes(dataset: SimulatedTexts, judge: PlantedJudge) -> dict[str, Floats]:
    first, second = dataset.first, dataset.second
    votes = {}
    for aspect in dataset.design.aspect_names:
        if judge.defect == "copy":
            net = np.sign(dataset.choices[aspect].sum(axis=0))
            votes[aspect] = np.stack([net, -net])
            continue
        both = [
            judge.votes(dataset.texts, aspect, *shown)
            for shown in ((first, second), (second, first))
        ]
        votes[aspect] = np.stack(both)
    return votes


def study_rows(
    design: PlantedDesign,
    dataset: str,
    judges: Iterable[JudgeSetup],
    *,
    seed: int = SEED,
) -> list[ResultRow]:
    """Return the verdict rows of planted judges on a simulated dataset."""
    setups = [*judges]
    texts = simulated(design, seed, dataset)
    spec = planted_spec(design, dataset, setups, seed=seed)
    return verdict_rows(spec, texts, answers_of(texts, dataset, setups, seed=seed))


# --- a covering set of settings -------------------------------------------------------


TEXTS: Mapping[str, tuple[int, ...]] = {
    "1": (1,),
    "2": (2,),
    "5": (5,),
    "mixed": (1, 2, 5, 3),
}
"""Name -> how many texts, or pairs, the sources have in turn."""


def covering_set() -> list[PlantedDesign]:
    """Return designs in which all pairs of two factors occur, but systems × aspects.

    2 to 12 systems, 1 to 12 aspects, three kinds of ratings, four numbers of texts a
    source. Greedy: each design has the most pairs that the others lack.
    """
    factors: dict[str, list[Any]] = {
        "systems": [*range(2, 13)],
        "aspects": [*range(1, 13)],
        "kind": ["scores", "labels", "pairs"],
        "texts": [*TEXTS],
    }
    names = [*factors]
    pairs = [
        (one, two)
        for number, one in enumerate(names)
        for two in names[number + 1 :]
        if (one, two) != ("systems", "aspects")
    ]
    lacking = {
        (one, two, *values)
        for one, two in pairs
        for values in product(factors[one], factors[two])
    }
    settings = []
    for values in product(*factors.values()):
        setting = dict(zip(names, values, strict=True))
        settings.append((setting, _pairs_of(setting, pairs)))
    designs = []
    while lacking:
        best, covered = max(settings, key=lambda each: len(each[1] & lacking))
        lacking -= covered
        designs.append(
            PlantedDesign(
                kind=best["kind"],
                sources=40,
                systems=best["systems"],
                aspects=best["aspects"],
                texts=TEXTS[best["texts"]],
            )
        )
    return designs


def _pairs_of(
    setting: Mapping[str, Any], pairs: Iterable[tuple[str, str]]
) -> set[tuple[Any, ...]]:
    return {(one, two, setting[one], setting[two]) for one, two in pairs}
