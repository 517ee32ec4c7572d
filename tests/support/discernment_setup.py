"""What several tests of discernment share."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dataset_in_memory import DatasetTables, Floats, Row, judge_facts, scales
from judgescope.methods.evaluation_data import EvaluationData

Scores = Mapping[str, Mapping[str, Floats]]
"""Set of targets -> aspect -> a score per item, NaN = none."""


ITEMS = 40
ASPECTS = ("clear", "true")


TYPOS, CUTS = ("typos", "minor", "character"), ("cuts", "single", "word")


RNG = np.random.default_rng(11)
BEFORE = RNG.integers(3, 6, (2, ITEMS)).astype(float)
NAN = float("nan")


def scored(
    drop: float, share: float = 1.0, seed: int = 1
) -> dict[str, dict[str, Floats]]:
    """Return a judge that lowers `clear` by so much in a share of perturbed texts, else
    noise.
    """
    rng = np.random.default_rng(seed)
    fields = {"original": dict(zip(ASPECTS, BEFORE, strict=True))}
    for name in ("typos.minor", "cuts.single"):
        fall = drop * (rng.random(ITEMS) < share)
        noise = rng.choice([-1.0, 0.0, 1.0], ITEMS)
        fields[name] = {
            "clear": np.clip(BEFORE[0] - fall, 1, 5),
            "true": np.clip(BEFORE[1] + noise, 1, 5),
        }
    return fields


def study(
    judges: Mapping[str, Scores],
    *,
    cards: Mapping[str, Mapping[str, Any]] | None = None,
    status: Mapping[str, str] | None = None,
    ended: Mapping[tuple[str, str], tuple[str, str]] | None = None,
    **spec: Any,
) -> EvaluationData:
    """Return 40 items; `status` is that of a set's texts, `ended` (set, judge) ->
    status, rule.
    """
    items = [f"i{item:02}" for item in range(ITEMS)]
    sets = ["original", "typos.minor", "cuts.single"]
    tables = DatasetTables()
    tables.add_items(items)
    targets = {}
    for name in sets:
        targets[name] = [f"{item}:{name}" for item in items]
        of_set = (status or {}).get(name, "ok")
        for item, target in zip(items, targets[name], strict=True):
            tables.add_text(name, target, item, status=of_set)
    for judge, scores in judges.items():
        for name, aspects in scores.items():
            for aspect, values in aspects.items():
                tables.add_scores(name, judge, aspect, targets[name], values)
    for (name, judge), (how, rule) in (ended or {}).items():
        for aspect in ASPECTS:
            where = {"perturbation": name, "judge": judge, "aspect": aspect}
            tables.add("statuses", status=how, rule=rule, n=ITEMS, **where)

    fields: Row = {"ratings": "none", "aspects": scales(ASPECTS)}
    fields |= {"perturbed": [TYPOS, CUTS], "targets": sets}
    fields["judges"] = {}
    for name in judges:
        fields["judges"][name] = {**judge_facts(ASPECTS), **(cards or {}).get(name, {})}
    return tables.data(**fields | spec)
