"""How benchmarks were built: ratings and errors of graded sets, their anchors, and the costs.

After paper 002: tables 6 (comparator), 8 (anchors) and 9 (costs).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc

from judgescope.methods.base import Method, Row
from judgescope.methods.cost import estimates, priced
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.specs import GradedTexts, present
from judgescope.schema.tables import CHOSEN, UNRESOLVED, read_table
from judgescope.statistics.anchors import comparator_accuracy
from judgescope.statistics.jackknife import Bounds
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.result import Estimate

SHARES = ("above_lower", "above_same", "below_same", "below_higher")
NEIGHBOURS, ALL = "neighbours", "all"
"""The levels of the comparator's accuracy: on anchors of neighbouring ratings, or of any two."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of construction.csv."""
    found = list[Row]()
    for told in study.spec.graded:
        graded = read_table("graded", told.file).to_pylist()
        found += _ratings(study, told, graded)
        if told.anchors:
            found += [*_anchored(study, told, graded), *_comparator(study, told)]
    return [*found, *_costs(study)]


def _row(study: EvaluationData, told: GradedTexts, name: str, one: Estimate, **at: Any) -> Row:
    level = at.pop("level", "")
    return study.row("", told.aspect, name, level, one, **told.place, **at)


def _ratings(study: EvaluationData, told: GradedTexts, graded: list[Row]) -> Iterator[Row]:
    """Yield how many texts have each rating, how many errors those have, and what was left out."""
    chosen = [row for row in graded if row["status"] == CHOSEN]
    for k, rating in enumerate(told.classes, start=1):
        own = [row for row in chosen if row["rating"] == rating]
        count = Estimate(float(len(own)), n=len(chosen), note=f"rated {rating:g}")
        yield _row(study, told, "class_count", count, k=k)
        errors = np.array([row["errors"] for row in own], dtype=np.float64)
        one = _mean(study, own, errors, "of texts rated so", ends=None)
        yield _row(study, told, "errors_mean", one, k=k)
    outcomes = {
        "chosen": [row["status"] == CHOSEN for row in graded],
        "unresolved": [row["status"] == UNRESOLVED for row in graded],
        "failed": [row["status"].startswith("failed") for row in graded],
    }
    for name, is_so in outcomes.items():
        one = _mean(study, graded, np.array(is_so, dtype=np.float64), "of the candidates")
        yield _row(study, told, f"share_{name}", one)


def _anchored(study: EvaluationData, told: GradedTexts, graded: list[Row]) -> Iterator[Row]:
    """Yield where the chosen texts lie among the anchors, and how often several ratings were best.

    Source: paper 002, table 8.
    """
    chosen = [row for row in graded if row["status"] == CHOSEN]
    for name in SHARES:
        values = np.array([np.nan if row[name] is None else row[name] for row in chosen])
        one = _mean(study, chosen, values, "of the anchors, over the chosen texts that have such")
        yield _row(study, told, f"anchors_{name}", one)
    rated = [row for row in graded if row["margin"] is not None]
    tied = np.array([row["n_tied"] for row in rated], dtype=np.float64)
    yield _row(study, told, "ratings_tied", _mean(study, rated, tied, "rated candidates"))
    known = {row["target"]: row for row in graded}
    asked = [
        row
        for path in told.compared[1:]  # those of anchors with each other come first
        for row in read_table("comparisons", path, ["target", "outcome"]).to_pylist()
    ]
    lost = np.array([row["outcome"] is None for row in asked], dtype=np.float64)
    one = _mean(
        study, [known[row["target"]] for row in asked], lost, "of a candidate's comparisons"
    )
    yield _row(study, told, "share_unanswered", one)


def _mean(
    study: EvaluationData,
    rows: list[Row],
    values: Floats,
    of: str,
    ends: Bounds | None = SHARE,
) -> Estimate:
    """Return the mean of one value of each text, with its interval over sources."""
    known = ~np.isnan(values)
    source = np.array([study.item_order[row["item"]] for row in rows], dtype=np.int64)[known]
    ones, missing = np.ones(int(known.sum())), int(np.count_nonzero(~known))
    return share(values[known], ones, source, study.weights, missing, of=of, ends=ends)


def _comparator(study: EvaluationData, told: GradedTexts) -> Iterator[Row]:
    """Yield how often the comparator names the better of two anchors (paper 002, table 6)."""
    anchors = read_table("anchors", present(told.anchors)).to_pylist()
    rating = {row["target"]: told.classes.index(row["rating"]) for row in anchors}
    pairs = read_table("comparisons", told.compared[0]).to_pylist()
    outcomes = np.array([np.nan if row["outcome"] is None else row["outcome"] for row in pairs])
    apart = np.array([rating[row["target"]] - rating[row["anchor"]] for row in pairs])
    place = dict(zip(study.systems.targets, study.systems.source.tolist(), strict=True))
    sources = np.array([[place[row[name]] for row in pairs] for name in ("target", "anchor")])
    for level, used in ((NEIGHBOURS, np.abs(apart) == 1), (ALL, np.abs(apart) > 0)):
        one = comparator_accuracy(outcomes, np.sign(apart), used, sources, study.weights)
        yield _row(study, told, "comparator_accuracy", one, level=level)


def _costs(study: EvaluationData) -> Iterator[Row]:
    """Yield what every step cost: its replies, tokens and price (paper 002, table 9).

    The column judge has the model that was asked, `form` the step.
    """
    bought = read_table("bought", study.spec.bought[-1])
    for told in study.spec.steps:
        mine = bought.filter(pc.equal(bought["perturbation"], told.writer))
        for name, one in estimates(mine, len(mine), priced(mine, told.price), None, ""):
            place = {"perturbation": told.writer, "form": told.step}
            yield study.row(told.model, "", name, "", one, **place)


METHOD = Method(when="constructed", parts=("graded", "construction"))
