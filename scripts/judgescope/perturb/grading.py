"""Ratings of candidates, by their numbers of errors or by comparisons with anchors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, product
from typing import NamedTuple

import numpy as np
from msgspec import to_builtins
from numpy.typing import NDArray

from judgescope.core.errors import UserError
from judgescope.core.rng import stream_seed
from judgescope.engines.requests import Reply, Request
from judgescope.engines.subjects import parts_of
from judgescope.parsing.pairs import read_choice
from judgescope.parsing.parsers import parsed_by
from judgescope.perturb.edits import TextRow
from judgescope.perturb.specs import CompareAnchorsSpec, GradeSpec
from judgescope.prompts import SourceParts, material, of_second
from judgescope.replies.asking import Obtain, RequestFor, writer
from judgescope.replies.judging import reply_columns
from judgescope.schema.rows import ComparisonRow, GradedRow
from judgescope.schema.tables import (
    CHOSEN,
    UNRESOLVED,
    read_table,
    table_of,
    write_table,
)
from judgescope.statistics.anchors import (
    balanced,
    comparator_accuracy,
    estimated_ratings,
    usual_counts,
)


def usable(rows: Iterable[TextRow]) -> tuple[list[TextRow], dict[str, str]]:
    """Return the candidates with usable texts, and target -> the reason for all others.

    Of equal texts of an item, one is used; `step` becomes the number of errors that
    were made.
    """
    kept = list[TextRow]()
    why = dict[str, str]()
    seen = dict[tuple[str, str], str]()
    for row in rows:
        words = (row["item"], " ".join(row["text"].split()))
        if row["status"].startswith("failed"):
            why[row["target"]] = row["status"]
        elif words in seen:
            why[row["target"]] = f"the same text as {seen[words]}"
        else:
            seen[words] = row["target"]
            errors = row["step"]
            if row["status"].startswith("short: "):
                errors = int(row["status"].split()[1])
            kept.append({**row, "step": errors})
    return kept, why


# --- grades ---------------------------------------------------------------------------


class Grade(NamedTuple):
    """The rating of a candidate, as its index from the lowest, or None.

    `shares`: the shares of anchors of the next lower rating that the text beats, of its
    own rating that it beats and that beat it, and of the next higher rating that beat
    it; None beyond the ends of the scale and without comparisons.
    """

    rating: int | None
    margin: float | None = None
    tied: bool = False
    shares: tuple[float | None, ...] = (None,) * 4
    status: str = "spare"


def by_errors(
    candidates: Iterable[TextRow], classes: int, per_rating: int
) -> dict[str, Grade]:
    """Return target -> grade: the highest rating, minus one for every `per_rating`
    errors.
    """
    grades = {}
    for row in candidates:
        steps, rest = divmod(row["step"], per_rating)
        grade = Grade(None, status="no rating has so many errors")
        if not rest and steps < classes:
            grade = Grade(classes - 1 - steps)
        grades[row["target"]] = grade
    return grades


def by_anchors(
    candidates: Sequence[TextRow],
    comparisons: Iterable[TextRow],
    classes: Sequence[float],
    usual: NDArray[np.float64] | None = None,
) -> dict[str, Grade]:
    """Return target -> grade by comparisons; ties are broken by the `usual` numbers of
    errors.
    """
    outcomes = outcomes_of([row["target"] for row in candidates], comparisons, classes)
    errors = np.array([row["step"] for row in candidates], dtype=np.float64)
    distance = np.zeros(outcomes.shape[:2])
    if usual is not None and not np.isnan(usual).any():
        distance = np.abs(errors[:, None] - usual)
    estimated = estimated_ratings(outcomes, distance)
    grades = {}
    for index, row in enumerate(candidates):
        if (rating := int(estimated.rating[index])) < 0:
            grades[row["target"]] = Grade(None, status=UNRESOLVED)
            continue
        grades[row["target"]] = Grade(
            rating,
            margin=float(estimated.margin[index]),
            tied=bool(estimated.tied[index]),
            shares=_shares(outcomes[index], rating),
        )
    return grades


def outcomes_of(
    targets: Sequence[str], comparisons: Iterable[TextRow], classes: Sequence[float]
) -> NDArray[np.float64]:
    """Return the outcomes as an array (targets, classes, anchors), NaN if there is
    none.
    """
    index_of = {target: index for index, target in enumerate(targets)}
    values: dict[tuple[int, int], list[float]] = {}
    for row in comparisons:
        if row["target"] in index_of:
            rating = int(np.argmin(np.abs(np.asarray(classes) - row["rating"])))
            value = np.nan
            if row["outcome"] is not None:
                value = row["outcome"]
            values.setdefault((index_of[row["target"]], rating), []).append(value)
    n_anchors = max(map(len, values.values()), default=0)
    outcomes = np.full((len(targets), len(classes), n_anchors), np.nan)
    for (target, rating), known in values.items():
        outcomes[target, rating, : len(known)] = known
    return outcomes


def _shares(outcomes: NDArray[np.float64], rating: int) -> tuple[float | None, ...]:
    """Return how often a text (outcomes: classes, anchors) beats or loses to its
    neighbours.
    """

    def share(neighbour: int, sign: int) -> float | None:
        if not 0 <= neighbour < len(outcomes):
            return None
        known = outcomes[neighbour][~np.isnan(outcomes[neighbour])]
        if len(known):
            return float(np.mean(np.sign(known) == sign))
        return None

    return (
        share(rating - 1, 1),
        share(rating, 1),
        share(rating, -1),
        share(rating + 1, -1),
    )


def usual_errors(
    candidates: Sequence[TextRow], grades: Mapping[str, Grade], classes: int
) -> NDArray[np.float64]:
    """Return for each rating the mean number of errors of the graded candidates."""
    graded = []
    for row in candidates:
        if grades[row["target"]].rating is not None:
            graded.append(row)
    counts = np.array([row["step"] for row in graded], dtype=np.int64)
    rating = np.array([grades[row["target"]].rating for row in graded], dtype=np.int64)
    return usual_counts(counts, rating, classes)


def counts_by_rating(
    candidates: Sequence[TextRow], grades: Mapping[str, Grade], classes: int
) -> list[list[int]]:
    """Return for each rating its texts' numbers of errors; without texts, the usual
    number.
    """
    usual = usual_errors(candidates, grades, classes)
    counts = [list[int]() for _ in range(classes)]
    for row in candidates:
        graded = grades[row["target"]].rating
        if graded is not None:
            counts[graded].append(row["step"])
    for rating, mean in enumerate(usual.tolist()):
        counts[rating].sort()
        if not counts[rating]:
            counts[rating] = [0 if np.isnan(mean) else round(mean)]
    return counts


def chosen_of(
    candidates: Sequence[TextRow],
    grades: Mapping[str, Grade],
    count: int,
    classes: int,
    *,
    seed: int,
) -> set[str]:
    """Return the targets of the set: `count` per item, equally many of every rating.

    If they cannot be equal, items take turns with the ratings that have one target
    more.
    """
    items: dict[str, list[TextRow]] = {}
    for row in candidates:
        if grades[row["target"]].rating is not None:
            items.setdefault(row["item"], []).append(row)
    chosen = set[str]()
    for number, (_, rows) in enumerate(sorted(items.items())):
        graded = [grades[row["target"]] for row in rows]
        rating = np.array([grade.rating for grade in graded], dtype=np.int64)
        margin = np.array([grade.margin or 0.0 for grade in graded])
        order = [f"{stream_seed(seed, 'graded', row['target']):032x}" for row in rows]
        indices = balanced(rating, margin, order, count, number * count % classes)
        chosen |= {rows[index]["target"] for index in indices}
    return chosen


def graded_set(
    spec: GradeSpec,
    candidates: Sequence[Sequence[TextRow]],
    comparisons: Sequence[TextRow],
) -> tuple[list[TextRow], list[GradedRow]]:
    """Return the targets of a set, and a row of table `graded` for each candidate.

    `candidates`: those of each part, calibration first; `comparisons`: those of all
    parts.
    """
    every = list(chain(*candidates))
    rows, unusable = usable(every)
    if spec.errors_per_rating is not None:
        grades = by_errors(rows, len(spec.classes), spec.errors_per_rating)
    else:
        tried, _ = usable(candidates[0])
        first = by_anchors(tried, comparisons, spec.classes)
        usual = usual_errors(tried, first, len(spec.classes))
        grades = by_anchors(rows, comparisons, spec.classes, usual)
    chosen = chosen_of(rows, grades, spec.targets, len(spec.classes), seed=spec.seed)
    targets = list[TextRow]()
    graded = list[GradedRow]()
    for row in rows:
        is_chosen = row["target"] in chosen
        if is_chosen:
            targets.append(row)
        graded.append(_graded(spec, row, grades[row["target"]], is_chosen))
    for row in every:
        why = unusable.get(row["target"])
        if why is not None:
            graded.append(_graded(spec, row, Grade(None, status=why), chosen=False))
    return targets, graded


def _graded(spec: GradeSpec, row: TextRow, grade: Grade, chosen: bool) -> GradedRow:
    above_lower, above_same, below_same, below_higher = grade.shares
    return {
        "dataset": row["dataset"],
        "target": row["target"],
        "item": row["item"],
        "aspect": spec.aspect,
        "errors": row["step"],
        "rating": None if grade.rating is None else spec.classes[grade.rating],
        "margin": grade.margin,
        "n_tied": int(grade.tied),
        "above_lower": above_lower,
        "above_same": above_same,
        "below_same": below_same,
        "below_higher": below_higher,
        "status": CHOSEN if chosen else grade.status,
    }


# --- comparisons with anchors, in both orders -----------------------------------------


class ComparedText(NamedTuple):
    """A text to compare, with the parts of its source that the prompt shows."""

    target: str
    parts: SourceParts
    text: str


class AnchorPair(NamedTuple):
    """A text, and an anchor with its rating."""

    text: ComparedText
    anchor: ComparedText
    rating: float


def pairs_of(
    anchors: Iterable[TextRow],
    candidates: Iterable[TextRow] | None,
    systems: Iterable[TextRow],
    sources: Mapping[str, SourceParts],
) -> Iterator[AnchorPair]:
    """Yield all pairs of candidate and anchor; without candidates, anchors of different
    ratings.

    `anchors`, `candidates` and `systems` (which include the anchors' texts) are rows of
    tables; `sources`: item -> the parts of its source that a prompt shows.
    """

    def shown(row: TextRow) -> ComparedText:
        return ComparedText(row["target"], sources[row["item"]], row["text"])

    texts = {row["target"]: row for row in systems}
    rated = [(shown(texts[row["target"]]), row["rating"]) for row in anchors]
    if candidates is None:
        for (first, lower), (second, higher) in combinations(rated, 2):
            if lower != higher:
                yield AnchorPair(first, second, higher)
        return
    for row, (anchor, rating) in product(usable(candidates)[0], rated):
        yield AnchorPair(shown(row), anchor, rating)


def compared(
    spec: CompareAnchorsSpec,
    pairs: Iterator[AnchorPair],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[ComparisonRow], list[TextRow]]:
    """Return rows of table `comparisons`, one for each pair, and the underlying
    answers.
    """
    aspect = to_builtins(spec.aspect)
    columns = {"judge": spec.name, "kind": "compare", "aspect": spec.aspect.aspect}
    at_once = 2_000  # pairs whose prompts are in memory

    def ask(first: ComparedText, second: ComparedText) -> Request:
        shown = {**spec.about.names, "text": first.text, "text_b": second.text}
        sources = material(first.parts) | of_second(second.parts)
        about = f"{first.target} against {second.target}"
        return request_for(about, {"aspect": aspect, **shown, **sources})

    rows = list[ComparisonRow]()
    answers = list[TextRow]()
    while batch := list(islice(pairs, at_once)):
        requests = list[Request]()
        for pair in batch:
            requests.append(ask(pair.text, pair.anchor))
            requests.append(ask(pair.anchor, pair.text))
        replies = obtain(requests)
        for number, pair in enumerate(batch):
            ahead = replies[requests[2 * number].key, 0]
            back = replies[requests[2 * number + 1].key, 0]
            rows.append(_outcome(spec.dataset, pair, ahead, back))
            both = {"target": pair.text.target, "target_b": pair.anchor.target}
            answers.append({**columns, **both, **reply_columns(ahead)})
            both = {"target": pair.anchor.target, "target_b": pair.text.target}
            answers.append({**columns, **both, **reply_columns(back)})
    return rows, answers


def _outcome(
    dataset: str, pair: AnchorPair, ahead: Reply, back: Reply
) -> ComparisonRow:
    """Return the row of a pair: 1 or -1 if both orders prefer the same text, else 0.

    None if a reply has no usable choice.
    """
    read = parsed_by(read_choice, scale=None)
    first = read(ahead.text, ahead.finish, ahead.status).value
    second = read(back.text, back.finish, back.status).value
    outcome: float | None = None
    if first is not None and second is not None:
        outcome = first if first == -second else 0.0
    return {
        "dataset": dataset,
        "target": pair.text.target,
        "anchor": pair.anchor.target,
        "rating": pair.rating,
        "outcome": outcome,
        "n_missing": (first is None) + (second is None),
    }


def check_comparator(
    spec: CompareAnchorsSpec,
    anchors: Iterable[TextRow],
    comparisons: Sequence[ComparisonRow],
) -> None:
    """Raise UserError if the comparator cannot distinguish anchors of neighbouring
    ratings.
    """
    rating = {row["target"]: row["rating"] for row in anchors}
    order = {value: number for number, value in enumerate(spec.classes)}
    values = list[float]()
    better = list[float]()
    distance = list[int]()
    for row in comparisons:
        of_target = rating[row["target"]]
        values.append(np.nan if row["outcome"] is None else row["outcome"])
        better.append(of_target - row["rating"])
        distance.append(abs(order[of_target] - order[row["rating"]]))
    accuracy = comparator_accuracy(
        np.array(values), np.sign(better), np.array(distance) == 1
    )
    if accuracy.value is not None and accuracy.value >= spec.least_accuracy:
        return
    raise UserError(
        "the comparator cannot distinguish anchors of adjacent ratings reliably "
        "enough: ratings would pile up at the ends of the scale",
        where=f"perturbations/{spec.perturbation}.yaml, key anchors.least_accuracy",
        got=f"{spec.comparator.model.card['model']} is right in both orders for "
        + (f"{accuracy.value:.3f}" if accuracy.value is not None else "none")
        + f" of {accuracy.n} pairs of {spec.dataset}, {spec.aspect.aspect}",
        allowed=f"{spec.least_accuracy} or more",
        todo=(
            "use another comparator or prompt form (replies are stored), or set 0 to "
            "continue anyway"
        ),
    )


def compare_anchors(
    spec: CompareAnchorsSpec, *, card: str, store: str, budget: str
) -> None:
    """Ask about every pair in both orders; write the better text, and the underlying
    replies.
    """
    items = read_table("items", spec.items, ["item", "parts"]).to_pylist()
    sources: dict[str, SourceParts] = {}
    for row in items:
        sources[row["item"]] = parts_of(row) if spec.source_visible else ()
    anchors = read_table("anchors", spec.anchors).to_pylist()
    systems = read_table("targets", spec.targets).to_pylist()
    candidates = None
    if spec.candidates:
        candidates = read_table("targets", spec.candidates).to_pylist()
    pairs = pairs_of(anchors, candidates, systems, sources)
    with writer(
        spec.comparator, spec.seed, card=card, store=store, budget=budget
    ) as asked:
        rows, answers = compared(spec, pairs, *asked)
    if candidates is None:
        check_comparator(spec, anchors, rows)
    write_table("comparisons", table_of("comparisons", rows), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def grade(spec: GradeSpec) -> None:
    """Read candidates and comparisons; write the set's targets, and the grades of
    all.
    """
    candidates = [read_table("targets", path).to_pylist() for path in spec.candidates]
    compared = list[TextRow]()
    for path in spec.compared:
        compared += read_table("comparisons", path).to_pylist()
    targets, graded = graded_set(spec, candidates, compared)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("graded", table_of("graded", graded), spec.graded)
