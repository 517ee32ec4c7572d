"""The rules that choose a judge's worst judgments: perturbations that it does not
notice, and scores far from the ratings.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from judgescope.core.names import ORIGINAL, SYSTEMS
from judgescope.report.specs import ExpectedDrop, ScaleEnds

if TYPE_CHECKING:
    import pandas as pd


MOST = 5
"""Maximum number of cases shown of each kind and dataset."""


class WorstCase(NamedTuple):
    """A text that a judge misjudged: `score` where `other` was to be expected, `by` how
    much.

    `other` is the score of the text's original, or the mean rating of the text itself;
    `by` is a share of the range, above 0 where the score is too good.
    """

    cell: str
    aspect: str
    target: str
    score: float
    other: float
    by: float
    ranked: bool = False
    """Whether `by` is a difference of ranks: the scores have no scale."""


@dataclass(frozen=True)
class Worst:
    """The worst of `n` texts; `higher` and `equal` compare perturbed ones with their
    originals.
    """

    cases: Sequence[WorstCase]
    n: int
    n_missing: int
    higher: int = 0
    equal: int = 0


def unnoticed(
    scores: "pd.DataFrame",
    perturbations: Sequence[ExpectedDrop],
    perturbed: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, ScaleEnds],
    turned: Collection[str] = (),
) -> Worst:
    """Return the perturbed texts that score no worse than their originals, the best
    first.

    `scores` are those of a judge (`scores_of`), the lowest the best in the aspects
    `turned`; `perturbed` is set -> target -> original, of each of which one text is
    shown. Equals are in the order: the heavier degree, the study's order of
    perturbations, the id.
    """
    import pandas as pd  # here: `audit` runs without

    judged = {*zip(scores["perturbation"], scores["judged"], strict=True)}
    expected = []
    for order, drop in enumerate(perturbations):
        for aspect in drop.aspects:
            if (drop.cell, aspect) in judged:
                asked = (drop.mildness, order, drop.cell, aspect)
                for pair in perturbed[drop.cell].items():
                    expected.append((*asked, *pair))
    names = ["mildness", "order", "perturbation", "judged", "target", "original"]
    every = pd.DataFrame(expected, columns=names)
    before = scores[scores["perturbation"] == ORIGINAL]
    before = before.rename(columns={"target": "original", "value": "other"})
    every = every.merge(scores, "left", ["perturbation", "judged", "target"])
    every = every.merge(
        before[["judged", "original", "other"]], "left", ["judged", "original"]
    )
    widths = {
        aspect: _width(scores, aspect, ends.get(aspect))
        for aspect in {*every["judged"]}
    }
    rise = every["value"] - every["other"]
    rise = rise.mask(every["judged"].isin(turned), -rise)
    every["by"] = rise / every["judged"].map(widths)
    worst = every.dropna(subset="by").sort_values("by", ascending=False, kind="stable")
    worst = worst.drop_duplicates(["order", "target"])  # of equal aspects, the first
    worst = worst.sort_values(
        ["by", "mildness", "order", "target"], ascending=[False, True, True, True]
    )
    higher = int((worst["by"] > 0).sum())
    equal = int((worst["by"] == 0).sum())
    shown = worst[: higher + equal].drop_duplicates("original")
    n_missing = len(every.drop_duplicates(["order", "target"])) - len(worst)
    return Worst(_cases(shown), len(worst), n_missing, higher, equal)


def _cases(worst: "pd.DataFrame") -> list[WorstCase]:
    names = ["perturbation", "judged", "target", "value", "other", "by"]
    return [
        WorstCase(*row)
        for row in worst[names][:MOST].itertuples(index=False, name=None)
    ]


def _width(scores: "pd.DataFrame", aspect: str, ends: ScaleEnds) -> float:
    """Return how wide the range of the judge's scores is on an aspect, infinite for one
    value.
    """
    if ends is None:
        values = scores["value"][scores["judged"] == aspect]
        ends = (values.min(), values.max())
    return (ends[1] - ends[0]) or inf


def disagreeing(
    scores: "pd.DataFrame",
    ratings: Mapping[str, Mapping[str, float]],
    scales: Mapping[str, Sequence[float]],
    ends: Mapping[str, ScaleEnds],
    turned_scores: Collection[str] = (),
    turned_ratings: Collection[str] = (),
) -> Worst:
    """Return the rated texts whose score lies farthest from their mean rating.

    Both are placed between the ends of their scales; where the judge's scores have no
    ends, both by their mid-rank among the texts that have both; in the aspects
    `turned_…` the lowest is the best. Equals are in the order of their ids.
    """
    import pandas as pd  # here: `audit` runs without

    of_systems = scores[scores["perturbation"] == SYSTEMS]
    parts = []
    for aspect, scale in scales.items():  # the study's order
        of_aspect = of_systems[of_systems["judged"] == aspect]
        if not len(of_aspect):
            continue
        span = ends.get(aspect)
        plain = aspect.partition(".")[0]
        rated = pd.Series(ratings.get(plain, {}), name="other", dtype=float)
        part = rated.rename_axis("target").reset_index()
        part = part.merge(of_aspect, "left", "target")
        known = part.dropna(subset="value")
        score = _positions(known["value"], span)
        rating = _positions(known["other"], span and scale)
        if aspect in turned_scores:
            score = 1 - score
        if plain in turned_ratings:
            rating = 1 - rating
        part["by"] = (score - rating).map(lambda by: round(by, 12))
        parts.append(part)
    if not parts:
        return Worst([], 0, 0)
    every = pd.concat(parts)
    every["far"] = every["by"].abs()
    worst = every.dropna(subset="by").sort_values("far", ascending=False, kind="stable")
    worst = worst.drop_duplicates("target").sort_values(
        ["far", "target"], ascending=[False, True]
    )
    cases = []
    for case in _cases(worst[worst["far"] > 0]):
        cases.append(case._replace(ranked=ends.get(case.aspect) is None))
    return Worst(cases, len(worst), every["target"].nunique() - len(worst))


def _positions(values: "pd.Series", ends: Sequence[float] | None) -> "pd.Series":
    """Return where each value lies between the ends, else its mid-rank; as shares."""
    if ends is not None:
        return (values - ends[0]) / ((ends[1] - ends[0]) or inf)
    return (values.rank() - 0.5) / len(values)
