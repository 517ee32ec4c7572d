"""Anchors: rated texts that, according to people and a judge, are typical of each
rating.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.errors import UserError
from judgescope.core.names import SYSTEMS
from judgescope.core.rng import stream_seed
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import CellPart, Reading
from judgescope.statistics.anchors import anchor_costs, choose_anchors

Rated = tuple[str, str, float | None]
"""(rater or draw, target, rating)."""


class JudgedTexts(SpecPart, frozen=True, kw_only=True):
    """A judge's replies about the rated texts, and the settings of their parser."""

    judge: str
    reading: Reading
    replies: str


class ChooseAnchorsSpec(JobSpec, frozen=True, kw_only=True):
    """The job that chooses the anchors of a graded set."""

    dataset: str
    perturbation: str
    seed: int
    aspect: str
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    per_rating: int
    targets: str
    ratings: str
    judged: JudgedTexts | None
    """None: only people's ratings determine which texts are typical of a rating."""
    output: str


def anchors(spec: ChooseAnchorsSpec) -> None:
    """Read ratings and a judge's draws; write the anchors: `per_rating` texts of each
    rating.
    """
    targets = read_table("targets", spec.targets).to_pylist()
    rows = sorted(
        (row for row in targets if row["text"].strip()), key=lambda row: row["target"]
    )
    columns = {row["target"]: number for number, row in enumerate(rows)}
    people = [
        (row["rater"], row["target"], row["value"])
        for row in read_table("ratings", spec.ratings).to_pylist()
        if row["aspect"] == spec.aspect
    ]
    judged = None
    if spec.judged is not None:
        part = CellPart(spec.dataset, SYSTEMS, spec.judged.judge, spec.aspect)
        answers = read_table("answers", spec.judged.replies)
        judgments, _ = score_part(answers, spec.judged.reading, part=part)
        draws = zip(
            *(judgments[name].to_pylist() for name in ("draw", "target", "value")),
            strict=True,
        )
        judged = _matrix(
            [(str(draw), target, value) for draw, target, value in draws], columns
        )
    costs = anchor_costs(_matrix(people, columns), judged, spec.classes)
    items = {
        item: code for code, item in enumerate(sorted({row["item"] for row in rows}))
    }
    source = np.array([items[row["item"]] for row in rows], dtype=np.int64)
    order = [f"{stream_seed(spec.seed, 'anchors', row['target']):032x}" for row in rows]
    chosen = choose_anchors(costs, source, order, spec.per_rating)
    _check(
        spec, [len(each) for each in chosen], int((~np.isnan(costs).any(axis=1)).sum())
    )
    made = [
        {
            **{"dataset": spec.dataset, "aspect": spec.aspect, "rating": rating},
            **{"target": rows[row]["target"], "cost": float(costs[row, column])},
        }
        for column, (rating, each) in enumerate(zip(spec.classes, chosen, strict=True))
        for row in each
    ]
    write_table("anchors", table_of("anchors", made), spec.output)


def _matrix(rated: Sequence[Rated], columns: Mapping[str, int]) -> NDArray[np.float64]:
    """Return the values as an array (raters or draws, targets), NaN for missing
    ones.
    """
    raters = {
        name: row for row, name in enumerate(sorted({rater for rater, _, _ in rated}))
    }
    values = np.full((len(raters), len(columns)), np.nan)
    for rater, target, value in rated:
        if target in columns and value is not None:
            values[raters[rater], columns[target]] = value
    return values


def _check(spec: ChooseAnchorsSpec, counts: Sequence[int], rated: int) -> None:
    if min(counts) == spec.per_rating:
        return
    needed = spec.per_rating * len(counts)
    beside = " and judged" if spec.judged else ""
    raise UserError(
        "too few rated texts to choose anchors from",
        where=f"perturbations/{spec.perturbation}.yaml, key anchors.per_rating",
        got=f"{rated} texts of {spec.dataset} are rated{beside} on {spec.aspect}",
        allowed=f"{needed} texts or more, for {spec.per_rating} of each of "
        f"{len(counts)} ratings",
        todo="request fewer anchors, or use more items",
    )
