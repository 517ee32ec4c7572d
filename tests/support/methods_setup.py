"""What several tests of methods share."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dataset_in_memory import FIVE, DatasetTables, Floats, Row, judge_facts, scales
from judgescope.methods import agreement, comparison
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.cards.study import Comparison
from judgescope.schema.rows import ResultRow

NAN = float("nan")


ITEMS, SYSTEMS = 15, 4
N = ITEMS * SYSTEMS
ITEM, SYSTEM = np.divmod(np.arange(N), SYSTEMS)


TARGETS = [f"i{item:02}.s{system}" for item, system in zip(ITEM, SYSTEM, strict=True)]
HALVES = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
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
    tables = DatasetTables()
    tables.add_items(f"i{item:02}" for item in range(ITEMS))
    for at, target in reversed(list(enumerate(TARGETS))):
        text = "word " * (1 + at % 7) * texts
        tables.add_text("systems", target, target[:3], system=target[4:], text=text)
    for row in targets:
        tables.add("targets", **row)
    for aspect, raters in people.items():
        for at, ratings in enumerate(np.asarray(raters, dtype=np.float64)):
            tables.add_ratings(aspect, f"r{at:02}", TARGETS, ratings)
    for judge, aspects in scores.items():
        for aspect, of_aspect in aspects.items():
            tables.add_scores("systems", judge, aspect, TARGETS, of_aspect)
    for row in draws:
        tables.add("draws", **{"perturbation": "systems", **row})

    ends = (min(values), max(values)) if values else (1.0, 5.0)
    fields: Row = {"ratings": "people", "aspects": scales(ASPECTS, values, ends)}
    fields["as_rater"] = {"margin": 0.05, "raters": "expert"}
    fields["judges"] = _judges([*scores, *(cards or {})], cards or {})
    fields["comparison"] = Comparison().model_dump() | {"permutations": 99}
    fields["comparison"] |= spec.pop("comparison", {})
    return tables.data(**fields | spec)


def _judges(
    names: Iterable[str], cards: Mapping[str, Mapping[str, Any]]
) -> dict[str, Row]:
    """Return the facts of judges; one whose name has `control` in it is a control."""
    judges = {}
    for name in names:
        engine = "control" if "control" in name else "llama"
        facts = {**judge_facts(ASPECTS), "engine": engine}
        judges[name] = {**facts, **cards.get(name, {})}
    return judges


def on_clear(**judges: ArrayLike) -> dict[str, dict[str, ArrayLike]]:
    """Return judges that score one aspect."""
    return {name: {"clear": values} for name, values in judges.items()}


def draws_of(judge: str, table: ArrayLike, **more: Any) -> list[Row]:
    """Return the rows of draws (draws, 60) of one aspect, null where NaN."""
    rows = []
    for draw, values in enumerate(np.asarray(table, dtype=np.float64)):
        for target, value in zip(TARGETS, values.tolist(), strict=True):
            row: Row = {"judge": judge, "aspect": "clear", **more, "target": target}
            rows.append(
                row | {"draw": draw, "value": None if np.isnan(value) else value}
            )
    return rows


def less(values: ArrayLike, missing: Any) -> Floats:
    result = np.array(values, dtype=np.float64)
    result[missing] = NAN
    return result


def r_of(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(x, y)[0, 1])


@cache
def agreement_rows() -> list[ResultRow]:
    return list(agreement.rows(study(FIELD)))


@cache
def comparison_rows() -> list[ResultRow]:
    return list(comparison.rows(study(FIELD)))


def pearson_row(judge: str, value: float | None, **more: Any) -> Row:
    where = {"aspect": "clear", "statistic": "pearson", "level": "pooled"}
    return {"judge": judge, **where, "value": value, "note": "", **more}
