"""Controls: judges that ignore a text's quality, and an oracle that knows its errors.

On a scale that has only labels they answer in words: `random` draws from people's
labels, each as often as it occurs; `shuffled` permutes the labels of the texts. A
text's label is the lower median of its ratings if the labels are ordered, else their
majority.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from statistics import fmean, median_low

from judgescope.core.rng import stream
from judgescope.engines.base import (
    Answer,
    EngineInputs,
    Subject,
    not_applicable,
    number_text,
)
from judgescope.schema.cards import (
    CONTROL_FORMS,
    ORACLE,
    ControlModel,
    Judge,
    Model,
    RatingScale,
)
from judgescope.schema.cards.engines import Engine


class ControlEngine:
    """The controls of docs/methods.md, "Common to every number", and the oracle."""

    def __init__(self, _: Model, inputs: EngineInputs) -> None:
        self.seed = inputs.seed
        self.dataset = inputs.dataset
        self.counted = inputs.counted
        self.ratings = {
            key: list(values) for key, values in inputs.ratings.items() if values
        }
        self._most_frequent = cache(self._find_most_frequent)
        self._shuffled = cache(self._shuffle)
        self._labels = cache(self._find_labels)

    def answer(
        self, judge: Judge, aspect: str, scale: RatingScale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return every subject's draws; only `random` differs between them."""

        def draw_of(subject: Subject, draw: int) -> Answer:
            value = self._value(judge.form, aspect, scale, subject, draw)
            if value is None:
                of_length = judge.form == "length"
                return not_applicable("no_length" if of_length else "needs_ratings")
            worded = scale.categorical and judge.form != "length"
            return Answer(str(scale.shown(value)) if worded else number_text(value))

        return [
            [draw_of(subject, draw) for draw in range(judge.draws)]
            for subject in subjects
        ]

    def version(self, judge: Judge) -> str:
        """Return numpy's version for the forms that draw at random."""
        if judge.form in {"random", "shuffled"}:
            return f"numpy {version('numpy')}"
        return ""

    def _value(
        self, form: str, aspect: str, scale: RatingScale, subject: Subject, draw: int
    ) -> float | None:
        if form == "constant_top":
            if scale.best == "max":
                return scale.max
            return scale.min
        if form == "length":
            if subject.text:
                return len(subject.text)
            return subject.length
        if form == ORACLE:
            return self._oracle(scale, subject)
        if form == "random":
            return self._random(aspect, scale, subject.target, draw)
        if form == "shuffled":
            return self._shuffled(aspect, _label_of(scale)).get(subject.target)
        rated = (subject.target, aspect) in self.ratings
        if rated:
            return self._most_frequent(aspect)
        return None

    def _oracle(self, scale: RatingScale, subject: Subject) -> float:
        """Return a score that falls evenly with each inserted error, from top to bottom
        of a scale.

        For texts that form classes: the nearest class; of two equally near ones the
        higher.
        """
        if not subject.step:
            return scale.max
        counts = self.counted[subject.perturbation]
        grid = scale.values()
        share = subject.step / counts.maximum
        if counts.in_classes and grid:
            return grid[-1 - math.ceil(share * (len(grid) - 1) - 0.5)]
        return scale.max - (scale.max - scale.min) * share

    def _random(self, aspect: str, scale: RatingScale, target: str, draw: int) -> float:
        """Draw from the scale; each target has its own stream, independent of other
        targets.
        """
        rng = stream(self.seed, "control", "random", self.dataset, aspect, target, draw)
        grid = scale.values()
        if grid is None:
            return float(rng.uniform(scale.min, scale.max))
        if scale.categorical:
            grid = self._labels(aspect) or grid
        return grid[int(rng.integers(len(grid)))]

    def _find_labels(self, aspect: str) -> list[float]:
        """Return all ratings on an aspect, sorted."""
        rated = list[float]()
        for (_, name), values in self.ratings.items():
            if name == aspect:
                rated += values
        return sorted(rated)

    def _find_most_frequent(self, aspect: str) -> float:
        """Return the most frequent rating; if several are, the lowest of them."""
        counts = Counter(self._labels(aspect))
        return min(counts, key=lambda value: (-counts[value], value))

    def _shuffle(
        self, aspect: str, value_of: Callable[[Sequence[float]], float | None]
    ) -> dict[str, float]:
        """Return target -> a random target's value; every target's value is used
        once.
        """
        means = {}
        for (target, name), values in sorted(self.ratings.items()):
            value = None
            if name == aspect:
                value = value_of(values)
            if value is not None:
                means[target] = value
        rng = stream(self.seed, "control", "shuffled", self.dataset, aspect)
        return dict(
            zip(means, rng.permutation(list(means.values())).tolist(), strict=True)
        )


def _label_of(scale: RatingScale) -> Callable[[Sequence[float]], float | None]:
    """Return the function that reduces a text's ratings on a scale to one value."""
    if not scale.categorical:
        return fmean
    return median_low if scale.ordered else _majority


def _majority(values: Sequence[float]) -> float | None:
    """Return the value of more than half of the ratings, or None if there is none."""
    value, count = Counter(values).most_common(1)[0]
    if 2 * count > len(values):
        return value
    return None


build = ControlEngine
ENGINE = Engine(
    name="control",
    card=ControlModel,
    build=build,
    forms=CONTROL_FORMS,
    reads_ratings=True,
)
