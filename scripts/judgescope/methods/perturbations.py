"""The outcome of every planned perturbation (done, short, impossible) and its size."""

from collections.abc import Iterator

import numpy as np

from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData, TargetSet, set_columns
from judgescope.schema.rows import ResultRow
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of perturbations.csv: shares of outcomes, edits and edit
    distance.
    """
    if not data.spec.perturbed:
        return
    originals = data.target_set("original")
    before = dict(zip(originals.items, originals.rows["text"].to_pylist(), strict=True))
    # Outcomes of a reference that a model rewrites: kept is one that it could not.
    improved = ("ok", "kept", "failed")
    for outcome in improved if data.spec.improved else ():
        share = _share(originals, outcome, "share of the dataset's originals")
        yield data.row("", "", f"share_{outcome}", "", share, perturbation="original")
    for texts in data.perturbed:
        for statistic, estimate in _estimates(data.target_set(texts), before):
            yield data.row("", "", statistic, "", estimate, **set_columns(texts))


def _share(targets: TargetSet, outcome: str, method: str, note: str = "") -> Estimate:
    n = len(targets.outcomes)
    if not n:
        return Estimate.undefined(
            "the dataset has no text that serves as an original", method=method
        )
    return Estimate(targets.outcomes.count(outcome) / n, n=n, method=method, note=note)


def _estimates(
    targets: TargetSet, before: dict[str, str]
) -> Iterator[tuple[str, Estimate]]:
    from rapidfuzz.distance import Levenshtein

    statuses = targets.rows["status"].to_pylist()
    reasons = "; ".join(
        sorted({status for status in statuses if status.startswith("impossible")})
    )
    outcomes = ("ok", "short", "impossible", "failed")
    for outcome in outcomes:
        note = reasons if outcome == "impossible" else ""
        yield (
            f"share_{outcome}",
            _share(targets, outcome, "share of the dataset's items", note),
        )
    if reason := targets.study.unchecked.get(targets.perturbation.partition(".")[0]):
        made = targets.made
        share = Estimate(
            float(made.mean()),
            n=len(made),
            method="share of the dataset's items",
            note=reason,
        )
        yield "share_unchecked", share
    texts, edit_lists = (targets.rows[name].to_pylist() for name in ("text", "edits"))
    edits, distances = np.full((2, len(texts)), np.nan)
    for number in np.flatnonzero(targets.made):
        edits[number] = len(edit_lists[number])
        distances[number] = Levenshtein.distance(
            before[targets.items[number]], texts[number]
        )
    weights = targets.study.weights
    for name, values, of in (
        ("edits", edits, "mean number of edits per completed text"),
        ("edit_distance", distances, "mean Levenshtein distance of completed texts"),
    ):
        mean = clustered_mean(values, targets.source, weights, averaged=of, ends=None)
        yield name, mean.estimate


METHOD = Method(name="perturbations", rows=rows)
