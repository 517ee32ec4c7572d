"""Anchors: rated texts that, according to people and a judge, are typical of each rating."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.errors import UserError
from judgescope.core.names import SYSTEMS
from judgescope.core.rng import stream_seed
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import CellPart, Reading
from judgescope.statistics.anchors import anchor_costs, choose_anchors

Row = dict[str, Any]
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


def chosen_anchors(
    spec: ChooseAnchorsSpec,
    targets: Iterable[Row],
    ratings: Iterable[Row],
    answers: pa.Table | None,
) -> list[Row]:
    """Return rows of table `anchors`: `per_rating` texts of each rating.

    `targets` and `ratings` are rows of these tables; `answers` are the judge's, or None without a
    judge.
    """
    rows = sorted((row for row in targets if row["text"].strip()), key=lambda row: row["target"])
    columns = {row["target"]: number for number, row in enumerate(rows)}
    people = [
        (row["rater"], row["target"], row["value"])
        for row in ratings
        if row["aspect"] == spec.aspect
    ]
    judged = _matrix(_draws(spec, answers), columns) if answers is not None else None
    costs = anchor_costs(_matrix(people, columns), judged, spec.classes)
    items = {item: code for code, item in enumerate(sorted({row["item"] for row in rows}))}
    source = np.array([items[row["item"]] for row in rows], dtype=np.int64)
    order = [f"{stream_seed(spec.seed, 'anchors', row['target']):032x}" for row in rows]
    chosen = choose_anchors(costs, source, order, spec.per_rating)
    _check(spec, [len(each) for each in chosen], int((~np.isnan(costs).any(axis=1)).sum()))
    return [
        {
            **{"dataset": spec.dataset, "aspect": spec.aspect, "rating": rating},
            **{"target": rows[row]["target"], "cost": float(costs[row, column])},
        }
        for column, (rating, each) in enumerate(zip(spec.classes, chosen, strict=True))
        for row in each
    ]


def _draws(spec: ChooseAnchorsSpec, answers: pa.Table) -> list[Rated]:
    """Return (draw, target, value) of a judge; the value is None if a reply was not parsed."""
    assert spec.judged is not None
    part = CellPart(spec.dataset, SYSTEMS, spec.judged.judge, spec.aspect)
    judgments, _ = score_part(answers, spec.judged.reading, part=part)
    return [(str(row["draw"]), row["target"], row["value"]) for row in judgments.to_pylist()]


def _matrix(rated: Sequence[Rated], columns: Mapping[str, int]) -> NDArray[np.float64]:
    """Return the values as an array (raters or draws, targets), NaN for missing ones."""
    raters = {name: row for row, name in enumerate(sorted({rater for rater, _, _ in rated}))}
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
        allowed=f"{needed} texts or more, for {spec.per_rating} of each of {len(counts)} ratings",
        todo="request fewer anchors, or use more items",
    )


def anchors(spec: ChooseAnchorsSpec) -> None:
    """Read ratings and a judge's draws; write the anchors of each rating."""
    targets = read_table("targets", spec.targets).to_pylist()
    ratings = read_table("ratings", spec.ratings).to_pylist()
    answers = read_table("answers", spec.judged.replies) if spec.judged else None
    rows = chosen_anchors(spec, targets, ratings, answers)
    write_table("anchors", table_of("anchors", rows), spec.output)
