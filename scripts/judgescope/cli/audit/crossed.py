"""What people said by what a judge said: counts of rows, for the picture of a page.

Labels and choices are counted as they are. Ratings are counted by the steps of their
scale, or by parts of equal ranks where they have no few steps.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any, Final, Literal

from judgescope.cli.audit.rated_rows import (
    AspectRows,
    aspects_of,
    first_draws,
    judge_columns,
)
from judgescope.cli.init.cards import StudyDraft

CategoryKind = Literal["labels", "choices", "steps", "ranks"]
"""What categories are: steps of a scale, or parts of equal ranks."""
LABELS: Final = "labels"
CHOICES: Final = "choices"
STEPS: Final = "steps"
RANKS: Final = "ranks"


PairCounts = Counter[tuple[float, float]]
"""A judge's value and people's -> in how many rows."""


@dataclass(frozen=True)
class CategoryAxis:
    """The categories of one side, the lowest first, and the one of each value."""

    kind: CategoryKind
    names: Sequence[str]
    index_of: Callable[[float], int]


@dataclass(frozen=True)
class Crossing:
    """Counts of rows by what people say (columns) and what a judge says (rows).

    `judge` is "" where a person stands in a judge's place and columns are the other
    people. counts[row][column]; categories go from the worst to the best, choices from
    the first text to the second.
    """

    judge: str
    aspect: str
    kind: CategoryKind
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int]]
    ordered: bool = True

    @property
    def n(self) -> int:
        """How many rows are counted."""
        return sum(map(sum, self.counts))

    @property
    def largest(self) -> int:
        """The largest count."""
        return max(map(max, self.counts))

    @property
    def square(self) -> bool:
        """Whether both sides have the same categories, so that a diagonal agrees."""
        return list(self.rows) == list(self.columns)

    def column_total(self, column: int) -> int:
        """How many rows people put into a category."""
        return sum(row[column] for row in self.counts)

    def recall(self, column: int) -> float | None:
        """The share of a category's rows that the judge puts there; None of none."""
        total = self.column_total(column)
        if not total or not self.square:
            return None
        return self.counts[column][column] / total


def crossings(draft: StudyDraft, most_steps: int = 11) -> list[Crossing]:
    """A crossing of people and each judge on every aspect, people first.

    `most_steps`: scales with more steps are counted by ranks.
    """
    found = []
    columns = list(judge_columns(draft))
    for aspect, rated in aspects_of(draft).items():
        of_people = _people_axis(draft, rated, most_steps)
        among_people = _among_people(rated, of_people)
        if among_people is not None:
            found.append(among_people)
        for judge, judged, column in columns:
            if judged == aspect:
                scores = first_draws(draft, column)
                found.append(_of_judge(judge, rated, scores, of_people))
    return [crossing for crossing in found if crossing.n]


def _of_judge(
    judge: str,
    rated: AspectRows,
    scores: Sequence[float | None],
    of_people: CategoryAxis,
) -> Crossing:
    pairs: PairCounts = Counter()
    values = Counter[float]()
    for (score, truth), times in Counter(
        zip(scores, rated.truths, strict=True)
    ).items():
        if score is not None and truth is not None:
            pairs[score, truth] += times
            values[score] += times
    axis = _judge_axis(rated, list(values.elements()), of_people)
    return _counted(judge, rated, pairs, axis, of_people)


def _among_people(rated: AspectRows, axis: CategoryAxis) -> Crossing | None:
    """Each rater's value by that of the others; None of a single rater."""
    pairs: PairCounts = Counter()
    # Rows repeat: each different set of ratings is looked at once.
    for ratings, times in Counter(zip(*rated.by_rater, strict=True)).items():
        for rater, value in enumerate(ratings):
            others = [*ratings[:rater], *ratings[rater + 1 :]]
            truth = rated.joined([each for each in others if each is not None])
            if value is not None and truth is not None:
                pairs[value, truth] += times
    if pairs:
        return _counted("", rated, pairs, axis, axis)
    return None


def _counted(
    judge: str,
    rated: AspectRows,
    pairs: PairCounts,
    rows: CategoryAxis,
    columns: CategoryAxis,
) -> Crossing:
    counts = [[0] * len(columns.names) for _ in rows.names]
    for (judged, truth), times in pairs.items():
        counts[rows.index_of(judged)][columns.index_of(truth)] += times
    return Crossing(
        judge,
        rated.aspect,
        columns.kind,
        rows.names,
        columns.names,
        counts,
        ordered=rated.ordered,
    )


# --- categories -----------------------------------------------------------------------


def _people_axis(draft: StudyDraft, rated: AspectRows, most_steps: int) -> CategoryAxis:
    if rated.compared:
        return CategoryAxis(CHOICES, ("first", "tie", "second"), _choice)
    if rated.labels:
        return CategoryAxis(LABELS, rated.labels, int)
    steps = _steps(draft.scales.get(rated.aspect, {}), most_steps)
    if steps is not None:
        return steps
    return _rank_axis([value for value in rated.truths if value is not None])


def _judge_axis(
    rated: AspectRows, values: Sequence[float], of_people: CategoryAxis
) -> CategoryAxis:
    if of_people.kind == CHOICES or rated.are_labels(values):
        return of_people
    if of_people.kind == STEPS:
        numbers = list(map(float, of_people.names))
        if values and numbers[0] <= min(values) and max(values) <= numbers[-1]:
            return of_people
    return _rank_axis(values)


def _choice(value: float) -> int:
    """The place of a choice, or of people's mean choice: first, tie, second."""
    if value == 0:
        return 1
    return 0 if value > 0 else 2


def _steps(scale: Mapping[str, Any], most_steps: int) -> CategoryAxis | None:
    """The steps of a scale; None where it has none, or too many."""
    if "step" not in scale:
        return None
    low: float = scale["min"]
    step: float = scale["step"]
    high: float = scale["max"]
    count = round((high - low) / step) + 1
    if not 2 <= count <= most_steps:
        return None

    def index_of(value: float) -> int:
        nearest: int = floor((value - low) / step + 0.5)
        return min(max(nearest, 0), count - 1)

    names = [f"{low + at * step:g}" for at in range(count)]
    return CategoryAxis(STEPS, names, index_of)


def _rank_axis(values: Sequence[float], few: int = 300) -> CategoryAxis:
    """Parts of equal ranks: five, or ten of at least `few` values.

    Equal values are in one part, that of their middle rank.
    """
    ordered = sorted(values)
    parts = 10 if len(ordered) >= few else 5

    def index_of(value: float) -> int:
        middle = bisect_left(ordered, value) + bisect_right(ordered, value)
        share = middle / (2 * max(1, len(ordered)))
        return min(parts - 1, floor(share * parts))

    width = 100 // parts
    names = [f"{at * width}-{(at + 1) * width} %" for at in range(parts)]
    return CategoryAxis(RANKS, names, index_of)
