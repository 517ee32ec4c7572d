"""Ratings of candidates: from their number of errors, or from comparisons with anchors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.rng import stream_seed
from judgescope.perturb.specs import GradeSpec
from judgescope.schema.tables import CHOSEN
from judgescope.statistics.anchors import balanced, estimated_ratings, usual_counts

Row = dict[str, Any]
SPARE, UNRESOLVED = "spare", "unresolved"
OFF = "no rating has so many errors"


class Grade(NamedTuple):
    """What is known of a candidate's rating: its place from the lowest, None without one.

    `shares` are of the anchors of the rating below, of the same twice and of the one above: above,
    above, below, below; None beyond the ends and where nothing was compared.
    """

    rating: int | None
    margin: float | None = None
    tied: bool = False
    shares: tuple[float | None, ...] = (None,) * 4
    status: str = SPARE


def by_errors(candidates: Iterable[Row], classes: int, per_rating: int) -> dict[str, Grade]:
    """Return target -> its grade: the highest rating without errors, one less for so many more."""
    found = {}
    for row in candidates:
        steps, rest = divmod(row["step"], per_rating)
        fits = not rest and steps < classes
        found[row["target"]] = Grade(classes - 1 - steps) if fits else Grade(None, status=OFF)
    return found


def by_anchors(
    candidates: Sequence[Row],
    comparisons: Iterable[Row],
    classes: Sequence[float],
    usual: NDArray[np.float64] | None = None,
) -> dict[str, Grade]:
    """Return target -> its grade by comparisons; `usual` numbers of errors settle what is equal."""
    outcomes = outcomes_of([row["target"] for row in candidates], comparisons, classes)
    errors = np.array([row["step"] for row in candidates], dtype=np.float64)
    distance = np.zeros(outcomes.shape[:2])
    if usual is not None and not np.isnan(usual).any():
        distance = np.abs(errors[:, None] - usual)
    told = estimated_ratings(outcomes, distance)
    found = {}
    for at, row in enumerate(candidates):
        if (rating := int(told.rating[at])) < 0:
            found[row["target"]] = Grade(None, status=UNRESOLVED)
            continue
        shares = _shares(outcomes[at], rating)
        margin, tied = float(told.margin[at]), bool(told.tied[at])
        found[row["target"]] = Grade(rating, margin, tied, shares)
    return found


def outcomes_of(
    targets: Sequence[str], comparisons: Iterable[Row], classes: Sequence[float]
) -> NDArray[np.float64]:
    """Return the outcomes as an array (targets, classes, anchors), NaN where there is none."""
    place = {target: at for at, target in enumerate(targets)}
    told: dict[tuple[int, int], list[float]] = {}
    for row in comparisons:
        if row["target"] in place:
            rating = int(np.argmin(np.abs(np.asarray(classes) - row["rating"])))
            value = np.nan if row["outcome"] is None else row["outcome"]
            told.setdefault((place[row["target"]], rating), []).append(value)
    most = max(map(len, told.values()), default=0)
    found = np.full((len(targets), len(classes), most), np.nan)
    for (at, rating), values in told.items():
        found[at, rating, : len(values)] = values
    return found


def _shares(outcomes: NDArray[np.float64], rating: int) -> tuple[float | None, ...]:
    """Return how often a text (outcomes: classes, anchors) is above and below its neighbours."""

    def share(at: int, sign: int) -> float | None:
        known = outcomes[at][~np.isnan(outcomes[at])] if 0 <= at < len(outcomes) else []
        return float(np.mean(np.sign(known) == sign)) if len(known) else None

    places = ((rating - 1, 1), (rating, 1), (rating, -1), (rating + 1, -1))
    return tuple(share(at, sign) for at, sign in places)


def usual_errors(
    candidates: Sequence[Row], grades: Mapping[str, Grade], classes: int
) -> NDArray[np.float64]:
    """Return the mean number of errors of the graded candidates of each rating."""
    graded = [row for row in candidates if grades[row["target"]].rating is not None]
    counts = np.array([row["step"] for row in graded], dtype=np.int64)
    rating = np.array([grades[row["target"]].rating for row in graded], dtype=np.int64)
    return usual_counts(counts, rating, classes)


def counts_of_each(
    candidates: Sequence[Row], grades: Mapping[str, Grade], classes: int
) -> list[list[int]]:
    """Return for each rating the numbers of errors that texts of it had; else the usual one."""
    usual = usual_errors(candidates, grades, classes)
    seen = [
        sorted(row["step"] for row in candidates if grades[row["target"]].rating == rating)
        for rating in range(classes)
    ]
    return [
        known or [0 if np.isnan(mean) else round(mean)]
        for known, mean in zip(seen, usual.tolist(), strict=True)
    ]


def chosen_of(
    candidates: Sequence[Row],
    grades: Mapping[str, Grade],
    wanted: int,
    classes: int,
    *,
    seed: int,
) -> set[str]:
    """Return the targets that make up the set: so many of each item, of every rating alike.

    Where they cannot be even, each item has one more of the ratings that follow the last one's.
    """
    items: dict[str, list[Row]] = {}
    for row in candidates:
        if grades[row["target"]].rating is not None:
            items.setdefault(row["item"], []).append(row)
    found = set[str]()
    for number, (_, rows) in enumerate(sorted(items.items())):
        told = [grades[row["target"]] for row in rows]
        rating = np.array([one.rating for one in told], dtype=np.int64)
        margin = np.array([one.margin or 0.0 for one in told])
        order = [f"{stream_seed(seed, 'graded', row['target']):032x}" for row in rows]
        first = number * wanted % classes
        found |= {rows[at]["target"] for at in balanced(rating, margin, order, wanted, first)}
    return found


def usable(rows: Iterable[Row]) -> tuple[list[Row], dict[str, str]]:
    """Return the candidates whose texts can be used, and target -> why not for all others.

    A text that an item has already is not used twice; `step` is how many errors there are.
    """
    kept, why = list[Row](), dict[str, str]()
    seen = dict[tuple[str, str], str]()
    for row in rows:
        own = (row["item"], " ".join(row["text"].split()))
        if row["status"].startswith("failed"):
            why[row["target"]] = row["status"]
        elif own in seen:
            why[row["target"]] = f"the same text as {seen[own]}"
        else:
            seen[own] = row["target"]
            kept.append({**row, "step": errors_in(row["status"], row["step"])})
    return kept, why


def errors_in(status: str, errors: int) -> int:
    """Return how many errors a candidate has in the end."""
    return int(status.split()[1]) if status.startswith("short: ") else errors


def graded_set(
    spec: GradeSpec, candidates: Sequence[Sequence[Row]], comparisons: Sequence[Row]
) -> tuple[list[Row], list[Row]]:
    """Return the targets of a set, and a row of table `graded` for each candidate.

    `candidates`: those of each part, on trial first; `comparisons` are of all.
    """
    every = [row for part in candidates for row in part]
    rows, unusable = usable(every)
    if spec.errors_per_rating is not None:
        grades = by_errors(rows, len(spec.classes), spec.errors_per_rating)
    else:
        tried, _ = usable(candidates[0])
        first = by_anchors(tried, comparisons, spec.classes)
        usual = usual_errors(tried, first, len(spec.classes))
        grades = by_anchors(rows, comparisons, spec.classes, usual)
    chosen = chosen_of(rows, grades, spec.targets, len(spec.classes), seed=spec.seed)
    targets = [row for row in rows if row["target"] in chosen]
    graded = [_graded(spec, row, grades[row["target"]], row["target"] in chosen) for row in rows]
    graded += [
        _graded(spec, row, Grade(None, status=unusable[row["target"]]), chosen=False)
        for row in every
        if row["target"] in unusable
    ]
    return targets, graded


def _graded(spec: GradeSpec, row: Row, grade: Grade, chosen: bool) -> Row:
    names = ("above_lower", "above_same", "below_same", "below_higher")
    return {
        **{name: row[name] for name in ("dataset", "target", "item")},
        "aspect": spec.aspect,
        "errors": row["step"],
        "rating": None if grade.rating is None else spec.classes[grade.rating],
        "margin": grade.margin,
        "n_tied": int(grade.tied),
        **dict(zip(names, grade.shares, strict=True)),
        "status": CHOSEN if chosen else grade.status,
    }
