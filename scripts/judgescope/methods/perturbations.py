"""What became of every planned damage: done, short, impossible, and how large it was."""

from collections.abc import Iterator

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate

OUTCOMES = ("ok", "short", "impossible", "failed")
NO_ORIGINALS = "no text of the dataset stands for an original"
IMPROVED = ("ok", "kept", "failed")
"""What becomes of a reference that a model improves: kept is one that it could not."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of perturbations.csv: shares of outcomes, edits and edit distance."""
    if not study.spec.perturbed:
        return []
    originals = study.panel("original")
    before = dict(zip(originals.items, originals.rows["text"].to_pylist(), strict=True))
    found = list(_improved(study, originals))
    for name, degree, _ in study.spec.perturbed:
        panel = study.panel(f"{name}.{degree}")
        for statistic, estimate in _estimates(study, panel, before).items():
            found.append(
                study.row("", "", statistic, "", estimate, perturbation=name, degree=degree)
            )
    return found


def _improved(study: EvaluationData, originals: TargetSet) -> Iterator[Row]:
    """Yield what became of the references that a model improved, where one did."""
    told = [status.partition(":")[0] for status in originals.rows["status"].to_pylist()]
    for outcome in IMPROVED if study.spec.improved else ():
        share = told.count(outcome) / len(told) if told else None
        note = "" if told else NO_ORIGINALS
        found = Estimate(share, n=len(told), method="share of the dataset's originals", note=note)
        yield study.row("", "", f"share_{outcome}", "", found, perturbation="original")


def _estimates(
    study: EvaluationData, panel: TargetSet, before: dict[str, str]
) -> dict[str, Estimate]:
    from rapidfuzz.distance import Levenshtein

    statuses = [status.partition(":")[0] for status in panel.rows["status"].to_pylist()]
    reasons = sorted({s for s in panel.rows["status"].to_pylist() if s.startswith("impossible")})
    nothing = "" if statuses else NO_ORIGINALS
    shares = {
        f"share_{outcome}": Estimate(
            statuses.count(outcome) / len(statuses) if statuses else None,
            n=len(statuses),
            method="share of the dataset's items",
            note=nothing or ("; ".join(reasons) if outcome == "impossible" else ""),
        )
        for outcome in OUTCOMES
    }
    done = [status in {"ok", "short"} for status in statuses]
    texts = panel.rows["text"].to_pylist()
    changed = [
        (item, text) for item, text, did in zip(panel.items, texts, done, strict=True) if did
    ]
    edits = [len(e) for e, did in zip(panel.rows["edits"].to_pylist(), done, strict=True) if did]
    distances = [Levenshtein.distance(before[item], text) for item, text in changed]
    return shares | {
        "edits": _mean(study, panel, done, edits, "mean number of edits of done texts"),
        "edit_distance": _mean(
            study, panel, done, distances, "mean Levenshtein distance of done texts"
        ),
    }


def _mean(
    study: EvaluationData, panel: TargetSet, done: list[bool], values: list[int], of: str
) -> Estimate:
    spread = np.full(len(done), np.nan)
    spread[np.array(done, dtype=bool)] = values
    return clustered_mean(spread, panel.source, study.weights, of=of)


METHOD = Method()
