"""What several tests of discernment share."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import table_of
from statistics_spec import spec_of

Floats = NDArray[np.float64]
Row = dict[str, Any]
Scores = Mapping[str, Mapping[str, Floats]]
"""Set of targets -> aspect -> a score per item, NaN = none."""


ITEMS = 40
ASPECTS = ("clear", "true")


TYPOS, CUTS = ("typos", "minor", "character"), ("cuts", "single", "word")


FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
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
    found = {"original": dict(zip(ASPECTS, BEFORE, strict=True))}
    for name in ("typos.minor", "cuts.single"):
        fall = drop * (rng.random(ITEMS) < share)
        noise = rng.choice([-1.0, 0.0, 1.0], ITEMS)
        found[name] = {
            "clear": np.clip(BEFORE[0] - fall, 1, 5),
            "true": np.clip(BEFORE[1] + noise, 1, 5),
        }
    return found


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
    card: dict[str, Any] = {
        **{
            "card": "c0de",
            "form": "points",
            "draws": 1,
            "share": 1.0,
            "engine": "llama",
        },
        **{
            "grid": dict.fromkeys(ASPECTS, FIVE),
            "ends": dict.fromkeys(ASPECTS, (1.0, 5.0)),
        },
        **{"references": False, "weighted": False},
    }
    items = [f"i{item:02}" for item in range(ITEMS)]
    sets = ["original", "typos.minor", "cuts.single"]
    targets = [
        {
            **{"dataset": "d", "target": f"{item}:{name}", "item": item, "system": "s"},
            **{
                "perturbation": name.partition(".")[0],
                "degree": name.partition(".")[2] or None,
            },
            **{"text": "words", "status": (status or {}).get(name, "ok")},
        }
        for name in sets
        for item in items
    ]
    scores = [
        {
            **{"dataset": "d", "perturbation": name, "judge": judge, "aspect": aspect},
            **{"target": f"{item}:{name}", "value": None if np.isnan(value) else value},
        }
        for judge, each in judges.items()
        for name, aspects in each.items()
        for aspect, values in aspects.items()
        for item, value in zip(items, values.tolist(), strict=True)
    ]
    statuses = [
        {
            **{"dataset": "d", "perturbation": name, "judge": judge, "aspect": aspect},
            **{"status": how, "rule": rule, "n": ITEMS},
        }
        for (name, judge), (how, rule) in (ended or {}).items()
        for aspect in ASPECTS
    ]
    return EvaluationData(
        data_sha="0123abcd",
        spec=spec_of(
            {
                **{"seed": 7, "ratings": "none"},
                "aspects": {
                    aspect: {"values": FIVE, "ends": [1.0, 5.0]} for aspect in ASPECTS
                },
                "judges": {
                    name: {**card, **(cards or {}).get(name, {})} for name in judges
                },
                **{"perturbed": [TYPOS, CUTS], "excluded": [], "allow_missing": False},
                **{
                    "weights": None,
                    "compared": [],
                    "targets": sets,
                    "reference_systems": [],
                },
                **spec,
            }
        ),
        items=table_of("items", [{"dataset": "d", "item": item} for item in items]),
        targets=table_of("targets", targets),
        ratings=table_of("ratings", []),
        scores=table_of("scores", scores),
        draws=table_of("draws", []),
        statuses=table_of("statuses", statuses),
    )


def of(rows: Iterable[Mapping[str, Any]], *names: str, **where: Any) -> list[Row]:
    return [
        dict(row)
        for row in rows
        if row["statistic"] in names
        and all(row.get(key) == told for key, told in where.items())
    ]


def one(rows: Iterable[Mapping[str, Any]], name: str, **where: Any) -> Row:
    (row,) = of(rows, name, **where)
    return row
