"""What several tests of confusion rows share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dataset_in_memory import DatasetTables, Floats, Row, judge_facts, scales
from judgescope.core.cells import split
from judgescope.methods.evaluation_data import EvaluationData

TABLE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "s001_table4.csv"
ITEMS = [f"i{item:02}" for item in range(30)]
EXPECTED = {
    "typos": {"drop": ["clear"], "same": ["true"]},
    "cuts": {"drop": ["true"], "same": []},
}
PERTURBED = [["typos", "single", "character"], ["cuts", "single", "sentence"]]
ASPECTS = ("clear", "true")
RNG = np.random.default_rng(4)
BEFORE = RNG.integers(3, 6, len(ITEMS)).astype(float)
NAN = float("nan")
Scores = Mapping[tuple[str, str], Floats]
"""(perturbation, aspect as cells call it) -> a score per item."""


def study(
    judges: Mapping[str, Scores],
    *,
    people: Mapping[str, Floats] | None = None,
    aspects: tuple[str, ...] = ASPECTS,
    ends: tuple[float, float] | None = (1.0, 5.0),
    **spec: Any,
) -> EvaluationData:
    """Return a dataset of 30 items with a text of one system each."""
    perturbed = spec.get("perturbed", PERTURBED)
    sets = ["systems", "original"]
    for name, degree, _ in perturbed:
        sets.append(f"{name}.{degree}")
    tables = DatasetTables()
    tables.add_items(ITEMS)
    for name in sets:
        for item in ITEMS:
            tables.add_text(name, f"{item}:{name}", item)
    for aspect, ratings in (people or {}).items():
        rated = [f"{item}:systems" for item in ITEMS]
        tables.add_ratings(aspect, "r", rated, ratings)
    for judge, cells in judges.items():
        for (name, aspect), scores in cells.items():
            targets = [f"{item}:{name}" for item in ITEMS]
            tables.add_scores(name, judge, aspect, targets, scores)

    fields: Row = {"ratings": "people" if people else "none"}
    fields["aspects"] = scales(aspects, None)
    fields["judges"] = dict.fromkeys(judges, judge_facts(aspects, None, ends))
    fields |= {"perturbed": perturbed, "targets": sets}
    fields["expected"] = {"id": "e@1", "changes": EXPECTED, "margin": 0.2}
    criteria = dict.fromkeys(split(aspect)[1] for aspect in aspects)
    fields["criteria"] = [name for name in criteria if name]
    return tables.data(**fields | spec)


def judge(**drops: Floats | float) -> dict[tuple[str, str], Floats]:
    """Return a judge's scores: `typos_clear=1` drops by one there, all else stays."""
    by_key = {("original", aspect): BEFORE for aspect in ASPECTS}
    for name, degree, _ in PERTURBED:
        for aspect in ASPECTS:
            by_key[f"{name}.{degree}", aspect] = BEFORE - drops.get(
                f"{name}_{aspect}", 0.0
            )
    return by_key


HALF = (np.arange(len(ITEMS)) % 2).astype(float)
