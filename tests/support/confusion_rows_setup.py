"""What several tests of confusion rows share."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgescope.core.cells import split
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import table_of
from statistics_spec import spec_of

TABLE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "s001_table4.csv"
Floats = NDArray[np.float64]
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
Row = dict[str, Any]
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
    sets = [
        "systems",
        "original",
        *(f"{name}.{degree}" for name, degree, _ in perturbed),
    ]
    card: dict[str, Any] = {
        **{
            "card": "c0de",
            "form": "points",
            "draws": 1,
            "share": 1.0,
            "engine": "llama",
        },
        **{"grid": dict.fromkeys(aspects), "ends": dict.fromkeys(aspects, ends)},
        **{
            "references": False,
            "discrete": True,
            "weighted": False,
            "first_draw": False,
        },
    }
    own = {"dataset": "d"}
    return EvaluationData(
        data_sha="0123abcd",
        spec=spec_of(
            {
                **{"seed": 7},
                **{"ratings": "human" if people else "none", "reference_systems": []},
                "aspects": {
                    name: {"values": None, "ends": [1.0, 5.0]} for name in aspects
                },
                "judges": dict.fromkeys(judges, card),
                **{
                    "perturbed": perturbed,
                    "excluded": [],
                    "allow_missing": False,
                    "targets": sets,
                },
                **{
                    "expected": {"id": "e@1", "changes": EXPECTED, "margin": 0.2},
                    "weights": None,
                },
                "compared": [],
                "criteria": [
                    name
                    for name in dict.fromkeys(split(each)[1] for each in aspects)
                    if name
                ],
                **{"exclude_reference_systems": True},
                **spec,
            }
        ),
        items=table_of("items", [own | {"item": item} for item in ITEMS]),
        targets=table_of(
            "targets",
            [
                {
                    **{**own, "target": f"{item}:{name}", "item": item, "system": "s"},
                    **{
                        "perturbation": name.partition(".")[0],
                        "status": "ok",
                        "text": "words",
                    },
                    **{"degree": name.partition(".")[2] or None},
                }
                for name in sets
                for item in ITEMS
            ],
        ),
        ratings=table_of(
            "ratings",
            [
                {
                    **own,
                    "target": f"{item}:systems",
                    "aspect": aspect,
                    "rater": "r",
                    "value": value,
                }
                for aspect, values in (people or {}).items()
                for item, value in zip(ITEMS, values.tolist(), strict=True)
            ],
        ),
        scores=table_of(
            "scores",
            [
                {
                    **{
                        **own,
                        "perturbation": name,
                        "judge": judge,
                        "target": f"{item}:{name}",
                    },
                    **dict(zip(("aspect", "criterion"), split(aspect), strict=True)),
                    "value": None if np.isnan(value) else value,
                }
                for judge, cells in judges.items()
                for (name, aspect), values in cells.items()
                for item, value in zip(ITEMS, values.tolist(), strict=True)
            ],
        ),
        draws=table_of("draws", []),
        statuses=table_of("statuses", []),
    )


def judge(**drops: Floats | float) -> dict[tuple[str, str], Floats]:
    """Return a judge's scores: `typos_clear=1` drops by one there, all else stays."""
    found = {("original", aspect): BEFORE for aspect in ASPECTS}
    for name, degree, _ in PERTURBED:
        for aspect in ASPECTS:
            found[f"{name}.{degree}", aspect] = BEFORE - drops.get(
                f"{name}_{aspect}", 0.0
            )
    return found


def one(rows: Iterable[Mapping[str, Any]], statistic: str, **where: Any) -> Row:
    (row,) = (
        dict(row)
        for row in rows
        if row["statistic"] == statistic
        and all(row.get(key) == told for key, told in where.items())
    )
    return row


HALF = (np.arange(len(ITEMS)) % 2).astype(float)
