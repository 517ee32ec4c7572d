"""How a judge uses its scale (paper 000, figure 2): its scores of originals and of damaged texts.

A text's score here is the mean over the aspects; people's, of the systems' texts, beside it.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import (
    WITHOUT_REFERENCES,
    Codes,
    EvaluationData,
    Floats,
    TargetSet,
)
from judgescope.methods.measures import mean_rating
from judgescope.methods.undefined import ends, excluded, nothing_judged
from judgescope.statistics.correlation import correlations
from judgescope.statistics.means import SHARE, clustered_mean
from judgescope.statistics.result import Estimate

BINS = 20
ORIGINAL, DAMAGED = "original", "all"


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of responses.csv: mean scores, shares of texts by score, and Pearson r."""
    if not study.spec.perturbed:
        return []
    never = excluded(study)
    return [
        row for judge in study.spec.judges if judge not in never for row in _judge(study, judge)
    ]


def _judge(study: EvaluationData, judge: str) -> Iterator[Row]:
    damaged = [f"{name}.{degree}" for name, degree, _ in study.spec.perturbed]
    panels = {name: study.panel(name).given(judge) for name in (ORIGINAL, *damaged)}
    told = {name: (mean_score(panel, judge), panel.source) for name, panel in panels.items()}
    scores, sources = zip(*(told[name] for name in damaged), strict=True)
    told[DAMAGED] = np.concatenate(scores), np.concatenate(sources)
    for name, (x, source) in told.items():
        perturbation, _, degree = name.partition(".")
        found = clustered_mean(x, source, study.weights, of=_told(study))
        place = {"perturbation": perturbation, "degree": degree or None}
        yield study.row(judge, "", "score_mean", "", _reasoned(study, judge, name, found), **place)
    both = {name: told[name] for name in (ORIGINAL, DAMAGED)}
    scales = study.spec.judges[judge].ends
    edges = _edges(scales, np.concatenate([x for x, _ in both.values()]))
    if edges is not None:
        for name, end in (("range_bottom", edges[0]), ("range_top", edges[-1])):
            yield study.row(judge, "", name, "", Estimate(float(end)))
        for name, (x, source) in both.items():
            for number, found in enumerate(histogram(x, source, edges, study.weights), start=1):
                yield study.row(judge, "", "score_share", "", found, perturbation=name, k=number)
    if study.spec.ratings != "none" and "systems" in study.spec.targets:
        yield _with_people(study, judge)


def mean_score(panel: TargetSet, judge: str) -> Floats:
    """Return each target's mean over the aspects, NaN where one has no score; shape (targets,)."""
    each = [panel.scores(judge, aspect) for aspect in panel.study.spec.aspects]
    judged = [scores for scores in each if scores is not None]
    return np.mean(judged, axis=0) if judged else np.full(len(panel.targets), np.nan)


def histogram(x: Floats, source: Codes, edges: Floats, weights: Codes) -> Iterator[Estimate]:
    """Yield per bin the share of the scores x (targets,) in it; the last bin has its upper edge."""
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    for number, (low, high) in enumerate(pairwise(edges)):
        hits = np.where(np.isnan(x), np.nan, (place == number).astype(np.float64))
        last = number == len(edges) - 2
        told = f"share of texts in [{low:.6g}, {high:.6g}{']' if last else ')'}"
        yield clustered_mean(hits, source, weights, of=told, ends=SHARE)


def _edges(ends_of: Mapping[str, tuple[float, float] | None], x: Floats) -> Floats | None:
    """Return the bins' edges: between the ends of the judge's scale, else of what it gave."""
    given = x[np.isfinite(x)]
    if not given.size:
        return None
    scales = set(ends_of.values())
    only = scales.pop() if len(scales) == 1 else None
    low, high = only or (given.min(), given.max())
    low, high = min(low, given.min()), max(high, given.max())
    return np.linspace(*((low, high) if high > low else (low - 0.5, low + 0.5)), BINS + 1)


def _told(study: EvaluationData) -> str:
    aspects = len(study.spec.aspects)
    return "mean score" if aspects == 1 else f"mean score, of the mean over {aspects} aspects"


def _reasoned(study: EvaluationData, judge: str, name: str, found: Estimate) -> Estimate:
    """Return an undefined mean with its reason."""
    if found.value is not None:
        return found
    aspect = next(iter(study.spec.aspects))
    return nothing_judged(ends(study), name, judge, aspect)


def _with_people(study: EvaluationData, judge: str) -> Row:
    """Return the row of Pearson's r with people, of the means over aspects of the systems' texts.

    A judge that compares with references is held against people without the texts that are them.
    """
    panels = study.rated(judge)
    systems = WITHOUT_REFERENCES if WITHOUT_REFERENCES in panels else None
    panel = panels[systems]
    people = np.mean([mean_rating(panel.ratings(name)) for name in study.spec.aspects], axis=0)
    found = correlations(
        mean_score(panel, judge),
        people,
        panel.source,
        panel.system,
        weights=study.weights,
        statistics=["pearson"],
        levels=["pooled"],
    )["pearson", "pooled"].estimate
    place = {"perturbation": "systems", "systems": systems}
    return study.row(judge, "", "pearson", "pooled", found, **place)


METHOD = Method()
