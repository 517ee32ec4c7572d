"""What several tests of methods share."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgescope.methods import comparison
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.cards.study import Comparison
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of
from statistics_spec import spec_of

Floats = NDArray[np.float64]
Row = dict[str, Any]
NAN = float("nan")


ITEMS, SYSTEMS = 15, 4
N = ITEMS * SYSTEMS
ITEM, SYSTEM = np.divmod(np.arange(N), SYSTEMS)


TARGETS = [f"i{item:02}.s{system}" for item, system in zip(ITEM, SYSTEM, strict=True)]
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
ASPECTS = ("clear", "true")
PEARSON = {"statistics": ["pearson"], "levels": ["pooled"], "permutations": 99}


def points(values: ArrayLike) -> Floats:
    """Return the values as points of 1 to 5, 3 where they are 0."""
    return np.clip(np.round(3 + np.asarray(values)), 1, 5)


RNG = np.random.default_rng(5)
QUALITY = RNG.normal(size=(2, N)) + 0.4 * SYSTEM


RATINGS = {
    aspect: points(q + 0.5 * RNG.normal(size=(3, N)))
    for aspect, q in zip(ASPECTS, QUALITY, strict=True)
}
NOISE = RNG.normal(size=(9, 2, N))


GOOD, FAIR, NOISY = (
    dict(zip(ASPECTS, points(QUALITY + size * noise), strict=True))
    for size, noise in zip((0.4, 1.5, 6.0), NOISE, strict=False)
)
CONSTANT = dict.fromkeys(ASPECTS, np.full(N, 5.0))
FIELD = {"good": GOOD, "noisy": NOISY, "constant": CONSTANT, "fair-control": FAIR}


def study(
    scores: Mapping[str, Mapping[str, ArrayLike]],
    people: Mapping[str, ArrayLike] = RATINGS,
    /,
    *,
    cards: Mapping[str, Mapping[str, Any]] | None = None,
    draws: Iterable[Row] = (),
    targets: Iterable[Row] = (),
    texts: bool = True,
    values: list[float] | None = FIVE,
    **spec: Any,
) -> EvaluationData:
    """Return 15 items of 4 systems: scores (60,) and ratings (raters, 60) by aspect,
    NaN = none.
    """
    own = {"dataset": "d"}
    card: dict[str, Any] = {
        **{"card": "c0de", "form": "points", "draws": 1, "share": 1.0, "family": None},
        **{
            "references": False,
            "discrete": True,
            "weighted": False,
            "first_draw": False,
        },
        **{
            "grid": dict.fromkeys(ASPECTS, FIVE),
            "ends": dict.fromkeys(ASPECTS, (1.0, 5.0)),
        },
    }
    compared = (
        Comparison().model_dump() | {"permutations": 99} | spec.pop("comparison", {})
    )
    known = {
        name: {
            **card,
            "engine": "control" if "control" in name else "llama",
            **(cards or {}).get(name, {}),
        }
        for name in (*scores, *(cards or {}))
    }
    return EvaluationData(
        data_sha="0123abcd",
        spec=spec_of(
            {
                **{"seed": 7, "ratings": "human"},
                **{
                    "families": {},
                    "reference_systems": [],
                    "exclude_reference_systems": True,
                },
                "as_rater": {"margin": 0.05, "raters": "expert"},
                "aspects": {
                    aspect: {
                        "values": values,
                        "ends": [min(values), max(values)] if values else [1.0, 5.0],
                    }
                    for aspect in ASPECTS
                },
                **{"judges": known, "comparison": compared},
                **spec,
            }
        ),
        items=table_of(
            "items", [own | {"item": f"i{item:02}"} for item in range(ITEMS)]
        ),
        targets=table_of(
            "targets",
            [
                {
                    **{
                        **own,
                        "target": target,
                        "item": target[:3],
                        "system": target[4:],
                    },
                    **{
                        "perturbation": "systems",
                        "text": "word " * (1 + at % 7) * texts,
                    },
                }
                for at, target in reversed(list(enumerate(TARGETS)))
            ]
            + [own | row for row in targets],
        ),
        ratings=table_of(
            "ratings",
            [
                {
                    **own,
                    "target": target,
                    "aspect": aspect,
                    "rater": f"r{at:02}",
                    "value": value,
                }
                for aspect, raters in people.items()
                for at, rater in enumerate(np.asarray(raters, dtype=np.float64))
                for target, value in zip(TARGETS, rater.tolist(), strict=True)
                if not np.isnan(value)
            ],
        ),
        scores=table_of(
            "scores",
            [
                {
                    **{
                        **own,
                        "perturbation": "systems",
                        "judge": judge,
                        "aspect": aspect,
                    },
                    **{"target": target, "value": None if np.isnan(value) else value},
                }
                for judge, aspects in scores.items()
                for aspect, cell in aspects.items()
                for target, value in zip(
                    TARGETS, np.asarray(cell).tolist(), strict=True
                )
            ],
        ),
        draws=table_of(
            "draws", [{**own, "perturbation": "systems", **row} for row in draws]
        ),
        statuses=table_of("statuses", []),
    )


def of(rows: Iterable[Mapping[str, Any]], *names: str, **where: Any) -> list[Row]:
    """Return the rows of some statistics (all, if none is named) with these values in
    columns.
    """
    return [
        dict(row)
        for row in rows
        if (not names or row["statistic"] in names)
        and all(row.get(key) == value for key, value in where.items())
    ]


def one(rows: Iterable[Mapping[str, Any]], statistic: str, **where: Any) -> Row:
    (row,) = of(rows, statistic, **where)
    return row


def less(values: ArrayLike, missing: Any) -> Floats:
    found = np.array(values, dtype=np.float64)
    found[missing] = NAN
    return found


def r_of(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1])


@cache
def compared() -> list[ResultRow]:
    return list(comparison.rows(study(FIELD)))


def row(judge: str, value: float | None, **more: Any) -> Row:
    place = {"aspect": "clear", "statistic": "pearson", "level": "pooled"}
    return {"judge": judge, **place, "value": value, "note": "", **more}
