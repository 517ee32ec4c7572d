"""What people said beside what a judge said: counts of texts for a grid.

Ratings of few steps are counted by step, others by tenths of their ranks. Scores of
another unit than the ratings are placed by their ranks, never subtracted from them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.methods.base import Turned
from judgescope.report.drawing import CountGrid
from judgescope.report.items import DatasetTexts
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRows, scores_of
from judgescope.report.words import amount, plural
from judgescope.schema.tables import read_table
from judgescope.statistics.arrays import Codes, Floats

MOST_STEPS: Final = 11
"""Ratings with more different values are binned by rank."""
BINS: Final = 10
MOST_LABELS: Final = 12


@dataclass(frozen=True)
class RatingSteps:
    """The places of people's ratings on one aspect: steps of a scale, or tenths of
    ranks.
    """

    values: Sequence[float]
    """The steps, from the lowest; none where ratings are binned by rank."""
    turned: bool = False

    @property
    def names(self) -> list[str]:
        """What stands at the places."""
        if not self.values:
            return ["low", *[""] * (BINS - 2), "high"]
        names = list(map(amount, self.values))
        if self.turned:
            return names[::-1]
        return names

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.values) or BINS

    @property
    def far(self) -> int:
        """From how many places apart a text is a warning: two, or a quarter of all."""
        return max(2, -(-self.size // 4))

    def places(self, numbers: Floats) -> Codes:
        """The place of each number, shape (texts,): the nearest step, else by rank."""
        if not self.values:
            return ranked_places(numbers, BINS)
        steps = np.asarray(self.values)
        places: Codes = np.abs(numbers[:, None] - steps[None, :]).argmin(axis=1)
        if self.turned:
            return self.size - 1 - places
        return places

    def covers(self, numbers: Floats) -> bool:
        """Whether all numbers lie within the steps: they are of the same unit."""
        if not self.values or not numbers.size:
            return False
        low = self.values[0]
        high = self.values[-1]
        inside = bool(((numbers >= low) & (numbers <= high)).all())
        # A score between 0 and 1 is no rating of a scale from 0 to 5.
        if not inside:
            return False
        return float(np.ptp(numbers)) >= (high - low) / 4


def steps_between(values: set[float]) -> list[float]:
    """The steps of a scale of which these values are used: whole numbers have no gaps.

    >>> steps_between({1.0, 2.0, 5.0}), steps_between({0.0, 0.5, 1.0})
    ([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0])
    """
    low = min(values)
    high = max(values)
    are_integers = all(value.is_integer() for value in values)
    if are_integers and high - low < MOST_STEPS:
        return [float(step) for step in range(int(low), int(high) + 1)]
    return sorted(values)


def ranked_places(numbers: Floats, size: int) -> Codes:
    """Places of equal numbers of texts, by rank; equal numbers have one place.

    >>> ranked_places(np.array([5.0, 1.0, 3.0, 3.0]), 2).tolist()
    [1, 0, 1, 1]
    """
    order = numbers.argsort(kind="stable")
    ranks = np.empty(numbers.size)
    ranks[order] = np.arange(numbers.size)
    for value in np.unique(numbers):
        same = numbers == value
        ranks[same] = ranks[same].mean()
    places: Codes = ((ranks + 0.5) / numbers.size * size).astype(np.int64)
    return np.minimum(places, size - 1)


class RatingGrids:
    """The ratings and scores of a dataset's texts by systems."""

    def __init__(self, report: Report, dataset: ShownDataset) -> None:
        self.report = report
        self.dataset = dataset
        self.files = report.spec.files[dataset.id]
        self.texts = DatasetTexts(self.files, dataset.id)
        self.turned = report.spec.turned.get(dataset.id, Turned({}, {}))

    @cached_property
    def scores(self) -> Mapping[tuple[str, str], Mapping[str, float]]:
        """(judge, aspect with its criterion) -> target -> score."""
        frame = scores_of(self.files.scores)
        frame = frame[frame["perturbation"] == "systems"].dropna(subset="value")
        scores: dict[tuple[str, str], dict[str, float]] = {}
        columns = [frame[name] for name in ("judge", "judged", "target", "value")]
        for judge, judged, target, value in zip(*columns, strict=True):
            scores.setdefault((judge, judged), {})[target] = value
        return scores

    def ratings(self, aspect: str) -> Mapping[str, Sequence[float]]:
        """Target -> its ratings on an aspect, in the order of the raters."""
        plain = aspect.partition(".")[0]
        return {
            target: values
            for (target, other), values in self.texts.ratings(plain).items()
            if other is None
        }

    def steps(self, aspect: str) -> RatingSteps | None:
        """The places of people's ratings; None without ratings of two values."""
        every: set[float] = set()
        for values in self.ratings(aspect).values():
            every.update(values)
        if len(every) < 2:
            return None
        turned = aspect.partition(".")[0] in self.turned.ratings
        if len(every) > MOST_STEPS:
            return RatingSteps((), turned)
        return RatingSteps(steps_between(every), turned)

    def judge(self, judge: ShownJudge, aspect: str) -> CountGrid | None:
        """A judge's scores by people's mean rating; None without texts that have
        both.
        """
        steps = self.steps(aspect)
        scores = self.scores.get((judge.id, aspect), {})
        means = self.texts.means.get(aspect.partition(".")[0], {})
        both = [target for target in scores if target in means]
        if steps is None or not both:
            return None
        across = steps.places(np.array([means[target] for target in both]))
        numbers = np.array([scores[target] for target in both])
        low_is_best = aspect in self.turned.scores.get(judge.id, ())
        if steps.covers(numbers):
            up = RatingSteps(steps.values, low_is_best).places(numbers)
            names = steps.names
        else:
            merits = -numbers if low_is_best else numbers
            up = ranked_places(merits, steps.size)
            names = ["low", *[""] * (steps.size - 2), "high"]
        label = f"{judge.id}: texts by people's mean rating and the judge's score"
        return _grid(steps, across, up, names, label)

    def person(self, aspect: str) -> CountGrid | None:
        """Each person's ratings by the mean of the others; None with one rating a
        text.
        """
        steps = self.steps(aspect)
        each_rating = []
        others = []
        for values in self.ratings(aspect).values():
            if len(values) < 2:
                continue
            total = sum(values)
            for value in values:
                each_rating.append(value)
                others.append((total - value) / (len(values) - 1))
        if steps is None or not each_rating:
            return None
        across = steps.places(np.array(others))
        up = steps.places(np.array(each_rating))
        label = "one person: texts by the mean of the others and the person's rating"
        return _grid(steps, across, up, steps.names, label)

    def pairs(self, judge: ShownJudge, aspect: str) -> CountGrid | None:
        """What a judge prefers by what people prefer: first, tie, second."""
        counts = Counter[tuple[int, int]]()
        for (_, preferred), chosen in self._chosen(judge, aspect):
            counts[preferred, chosen] += 1
        if not counts:
            return None
        heads = ["first", "tie", "second"]
        label = f"{judge.id}: pairs by the text that people and the judge prefer"
        return CountGrid(
            counts,
            heads,
            heads,
            _two_apart,
            upwards=False,
            numbers=True,
            label=label,
        )

    def counted_pairs(self, judges: Iterable[ShownJudge], aspect: str) -> str:
        """What the grids of judges count, "" where they count different pairs."""
        counted = set[str]()
        for judge in judges:
            texts = []
            for (pair, _), _ in self._chosen(judge, aspect):
                texts.append(pair)
            if not texts:
                continue
            pairs = {frozenset(pair) for pair in texts}
            answers = f"{plural(len(texts), 'answer')}: {plural(len(pairs), 'pair')}"
            both = len(texts) > len(pairs)
            counted.add(f"{answers} in two orders" if both else answers)
        if len(counted) == 1:
            return counted.pop()
        return ""

    def _chosen(
        self, judge: ShownJudge, aspect: str
    ) -> Iterator[tuple[tuple[tuple[str, str], int], int]]:
        """Yield a pair of texts, the place that people prefer, and the judge's."""
        people = self.texts.ratings(aspect.partition(".")[0])
        names = ["judge", "perturbation", "aspect", "target", "value", "target_b"]
        frame = read_table("scores", self.files.scores, names).to_pandas()
        chosen = frame[
            (frame["judge"] == judge.id)
            & (frame["aspect"] == aspect.partition(".")[0])
            & frame["target_b"].notna()
            & frame["value"].notna()
        ]
        columns = [chosen[name] for name in ("target", "target_b", "value")]
        for target, other, value in zip(*columns, strict=True):
            votes = people.get((target, other))
            if votes:
                preferred = int(1 - np.sign(sum(votes)))
                yield ((target, other), preferred), int(1 - np.sign(value))


def _two_apart(across: int, judged: int) -> bool:
    return abs(across - judged) >= 2


def _grid(
    steps: RatingSteps,
    across: Codes,
    up: Codes,
    names: Sequence[str],
    label: str,
) -> CountGrid:
    counts = Counter(zip(across.tolist(), up.tolist(), strict=True))
    far_steps = steps.far

    def far(x: int, y: int) -> bool:
        return abs(x - y) >= far_steps

    return CountGrid(counts, steps.names, names, far, label=label)


def grids_of(report: Report, dataset: ShownDataset) -> RatingGrids | None:
    """The grids of a dataset's texts; None where the page has no file of scores."""
    files = report.spec.files.get(dataset.id)
    if files is None or not files.ratings or not files.scores:
        return None
    return report.once(
        ("rating grids", dataset.id), lambda: RatingGrids(report, dataset)
    )


# --- labels ---------------------------------------------------------------------------


def labelled(
    rows: ReportRows, labels: Sequence[str], judge: str, *, ordered: bool
) -> CountGrid | None:
    """A judge's labels by people's, from counts of texts by both; None without any.

    rows: `class_count` of one aspect, k people's label and k_b the judge's. Of more
    than twelve labels the commonest are shown, the others as one.
    """
    counts = Counter[tuple[int, int]]()
    for row in rows.where(judge=judge):
        number = round(row.value or 0)
        if number and row.k <= len(labels) and row.k_b <= len(labels):
            counts[row.k - 1, row.k_b - 1] += number
    if not counts:
        return None
    names = [*labels]
    if len(names) > MOST_LABELS:
        counts, names = _commonest(counts, names)
    last = len(names) - 1

    def far(across: int, judged: int) -> bool:
        if not ordered or last < 2:
            return across != judged
        return abs(across - judged) >= 2

    return CountGrid(
        counts,
        names,
        names,
        far,
        upwards=False,
        numbers=True,
        label=f"{judge}: texts by people's label and the judge's",
    )


def _commonest(
    counts: Mapping[tuple[int, int], int], names: Sequence[str]
) -> tuple[Counter[tuple[int, int]], list[str]]:
    totals = Counter[int]()
    for (across, _), number in counts.items():
        totals[across] += number
    kept = sorted(index for index, _ in totals.most_common(MOST_LABELS))
    place_of: dict[int, int] = {old: new for new, old in enumerate(kept)}
    together = Counter[tuple[int, int]]()
    for (across, judged), number in counts.items():
        key = (place_of.get(across, len(kept)), place_of.get(judged, len(kept)))
        together[key] += number
    return together, [*(names[index] for index in kept), "others"]
