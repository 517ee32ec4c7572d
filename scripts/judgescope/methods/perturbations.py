"""The outcome of every planned perturbation (done, short, impossible) and its size."""

from collections.abc import Iterator

import numpy as np

from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet, set_columns
from judgescope.schema.rows import ResultRow
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate

OUTCOMES = ("ok", "short", "impossible", "failed")
NO_ORIGINALS = "the dataset has no text that serves as an original"
IMPROVED = ("ok", "kept", "failed")
"""Outcomes of a reference that a model rewrites: kept is one that it could not."""


def rows(study: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of perturbations.csv: shares of outcomes, edits and edit
    distance.
    """
    if not study.spec.perturbed:
        return
    originals = study.panel("original")
    before = dict(zip(originals.items, originals.rows["text"].to_pylist(), strict=True))
    for outcome in IMPROVED if study.spec.improved else ():
        share = _share(originals, outcome, "share of the dataset's originals")
        yield study.row("", "", f"share_{outcome}", "", share, perturbation="original")
    for texts in study.perturbed:
        for statistic, estimate in _estimates(study.panel(texts), before):
            yield study.row("", "", statistic, "", estimate, **set_columns(texts))


def _share(panel: TargetSet, outcome: str, method: str, note: str = "") -> Estimate:
    n = len(panel.outcomes)
    if not n:
        return Estimate.undefined(NO_ORIGINALS, method=method)
    return Estimate(panel.outcomes.count(outcome) / n, n=n, method=method, note=note)


def _estimates(
    panel: TargetSet, before: dict[str, str]
) -> Iterator[tuple[str, Estimate]]:
    from rapidfuzz.distance import Levenshtein

    statuses = panel.rows["status"].to_pylist()
    reasons = "; ".join(
        sorted({one for one in statuses if one.startswith("impossible")})
    )
    for outcome in OUTCOMES:
        note = reasons if outcome == "impossible" else ""
        yield (
            f"share_{outcome}",
            _share(panel, outcome, "share of the dataset's items", note),
        )
    if reason := panel.study.unchecked.get(panel.perturbation.partition(".")[0]):
        made = panel.made
        share = Estimate(
            float(made.mean()),
            n=len(made),
            method="share of the dataset's items",
            note=reason,
        )
        yield "share_unchecked", share
    texts, edit_lists = (panel.rows[name].to_pylist() for name in ("text", "edits"))
    edits, distances = np.full((2, len(texts)), np.nan)
    for number in np.flatnonzero(panel.made):
        edits[number] = len(edit_lists[number])
        distances[number] = Levenshtein.distance(
            before[panel.items[number]], texts[number]
        )
    weights = panel.study.weights
    for name, values, of in (
        ("edits", edits, "mean number of edits per completed text"),
        ("edit_distance", distances, "mean Levenshtein distance of completed texts"),
    ):
        mean = clustered_mean(values, panel.source, weights, averaged=of, ends=None)
        yield name, mean.estimate


METHOD = Method(name="perturbations", rows=rows)
