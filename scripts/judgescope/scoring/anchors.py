"""Anchors: rated texts that, according to people and a judge, are typical of each
rating.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.errors import UserError
from judgescope.core.job_files import IN, OUT
from judgescope.core.names import SYSTEMS
from judgescope.core.rng import stream_seed
from judgescope.schema.rows import AnchorRow
from judgescope.schema.tables import read_table, table_of, tuples_of, write_table
from judgescope.scoring.specs import CellPart, ReplyReading
from judgescope.statistics.anchors import anchor_costs, choose_anchors

AnchorRating = tuple[str, str, float | None]
"""(rater or draw, target, rating)."""


class JudgedTexts(SpecPart, frozen=True, kw_only=True):
    """A judge's replies about the rated texts, and the settings of their parser."""

    judge: str
    reading: ReplyReading
    replies: Annotated[str, IN]


class ChooseAnchorsSpec(JobSpec, frozen=True, kw_only=True):
    """The job that chooses the anchors of a graded set."""

    dataset: str
    perturbation: str
    seed: int
    aspect: str
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    per_rating: int
    targets: Annotated[str, IN]
    ratings: Annotated[str, IN]
    judged: JudgedTexts | None
    """None: only people's ratings determine which texts are typical of a rating."""
    output: Annotated[str, OUT]


def anchors(spec: ChooseAnchorsSpec) -> None:
    """Read ratings and a judge's draws; write the anchors: `per_rating` texts of each
    rating.
    """
    targets = read_table("targets", spec.targets, ["target", "item", "text"])
    with_text = [row for row in targets.to_pylist() if row["text"].strip()]
    rows = sorted(with_text, key=lambda row: row["target"])
    columns = {row["target"]: number for number, row in enumerate(rows)}
    people = list[AnchorRating]()
    for row in read_table("ratings", spec.ratings).to_pylist():
        if row["aspect"] == spec.aspect:
            people.append((row["rater"], row["target"], row["value"]))
    judged = None
    if spec.judged is not None:
        judged = _matrix(_judge_ratings(spec, spec.judged), columns)
    costs = anchor_costs(_matrix(people, columns), judged, spec.classes)
    # Codes in the order of the items' ids, as choose_anchors breaks ties by them.
    items = sorted({row["item"] for row in rows})
    codes = {item: code for code, item in enumerate(items)}
    source = np.array([codes[row["item"]] for row in rows], dtype=np.int64)
    order = [f"{stream_seed(spec.seed, 'anchors', row['target']):032x}" for row in rows]
    chosen = choose_anchors(costs, source, order, spec.per_rating)
    n_rated = int((~np.isnan(costs).any(axis=1)).sum())
    _check(spec, [len(numbers) for numbers in chosen], n_rated)
    made = list[AnchorRow]()
    by_rating = zip(spec.classes, chosen, strict=True)
    for column, (rating, numbers) in enumerate(by_rating):
        for number in numbers:
            cost = float(costs[number, column])
            made.append(_anchor(spec, rows[number]["target"], rating, cost))
    write_table("anchors", table_of("anchors", made), spec.output)


def _anchor(
    spec: ChooseAnchorsSpec, target: str, rating: float, cost: float
) -> AnchorRow:
    """A text as the anchor of a rating."""
    return {
        "dataset": spec.dataset,
        "aspect": spec.aspect,
        "target": target,
        "rating": rating,
        "cost": cost,
    }


def _judge_ratings(spec: ChooseAnchorsSpec, judged: JudgedTexts) -> list[AnchorRating]:
    """Return every draw of the judge as a rater's rating."""
    from judgescope.scoring.cell import score_part  # not for planning

    part = CellPart(spec.dataset, SYSTEMS, judged.judge, spec.aspect)
    answers = read_table("answers", judged.replies)
    judgments, _ = score_part(answers, judged.reading, part=part)
    ratings = list[AnchorRating]()
    for draw, target, value in tuples_of(judgments, ["draw", "target", "value"]):
        ratings.append((str(draw), target, value))
    return ratings


def _matrix(
    rated: Sequence[AnchorRating], columns: Mapping[str, int]
) -> NDArray[np.float64]:
    """Return the values as an array (raters or draws, targets), NaN for missing
    ones.
    """
    raters = sorted({rater for rater, _, _ in rated})
    rows = dict(zip(raters, range(len(raters)), strict=True))
    values = np.full((len(raters), len(columns)), np.nan)
    for rater, target, value in rated:
        if target in columns and value is not None:
            values[rows[rater], columns[target]] = value
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
