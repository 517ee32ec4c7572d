"""Controls: null judges that know nothing of a text's quality, and one that knows its errors."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from math import fsum
from types import MappingProxyType

from judgescope.core.rng import stream
from judgescope.engines.base import Answer, Subject, not_applicable, number_text
from judgescope.schema.cards import ORACLE, Judge, Model, Scale

Counted = Mapping[str, Mapping[str, int]]
Ratings = Mapping[tuple[str, str], Sequence[float]]


class ControlEngine:
    """The controls of methods.md 8, and the oracle.

    `ratings` maps (target, aspect) to people's ratings, `counted` a perturbation to the `most`
    errors that a text of it can have, and whether its texts come `in_classes`.
    """

    def __init__(
        self,
        seed: int,
        dataset: str,
        ratings: Ratings,
        counted: Counted = MappingProxyType({}),
    ) -> None:
        self.seed, self.dataset, self.counted = seed, dataset, counted
        self.ratings = {key: list(values) for key, values in ratings.items() if values}
        self._most_frequent = cache(self._find_most_frequent)
        self._shuffled = cache(self._shuffle)

    def answer(
        self, judge: Judge, aspect: str, scale: Scale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return every subject's draws; only `random` differs between them."""
        draws = range(judge.draws)
        return [
            [self._one(judge.form, aspect, scale, subject, draw) for draw in draws]
            for subject in subjects
        ]

    def version(self, judge: Judge) -> str:
        """Return the package whose generator decides, where there is one."""
        drawn = judge.form in {"random", "shuffled"}
        return f"numpy {version('numpy')}" if drawn else ""

    def _one(self, form: str, aspect: str, scale: Scale, subject: Subject, draw: int) -> Answer:
        value = self._value(form, aspect, scale, subject, draw)
        return not_applicable("needs_ratings") if value is None else Answer(number_text(value))

    def _value(
        self, form: str, aspect: str, scale: Scale, subject: Subject, draw: int
    ) -> float | None:
        if form == "constant_top":
            return scale.max if scale.best == "max" else scale.min
        if form == "length":
            return len(subject.text)
        if form == ORACLE:
            return self._counted(scale, subject)
        if form == "random":
            return self._random(aspect, scale, subject.target, draw)
        if form == "shuffled":
            return self._shuffled(aspect).get(subject.target)
        rated = (subject.target, aspect) in self.ratings
        return self._most_frequent(aspect) if rated else None

    def _counted(self, scale: Scale, subject: Subject) -> float:
        """Return the top of the scale less the errors that were put in, evenly to its bottom.

        The nearest class of texts that come in classes, the higher one of two.
        """
        if not subject.step:
            return scale.max
        told, grid = self.counted[subject.perturbation], scale.values()
        share = subject.step / told["most"]
        if told["in_classes"] and grid:
            return grid[-1 - math.ceil(share * (len(grid) - 1) - 0.5)]
        return scale.max - (scale.max - scale.min) * share

    def _random(self, aspect: str, scale: Scale, target: str, draw: int) -> float:
        """Draw from the scale; a target's own stream, so that other targets do not matter."""
        own = stream(self.seed, "control", "random", self.dataset, aspect, target, draw)
        grid = scale.values()
        if grid is None:
            return float(own.uniform(scale.min, scale.max))
        return grid[int(own.integers(len(grid)))]

    def _find_most_frequent(self, aspect: str) -> float:
        """Return the rating that people gave most often; of several the lowest."""
        rated = (values for (_, name), values in self.ratings.items() if name == aspect)
        counts = Counter(value for values in rated for value in values)
        return min(counts, key=lambda value: (-counts[value], value))

    def _shuffle(self, aspect: str) -> dict[str, float]:
        """Return target -> the mean rating of some target; every mean is used once."""
        means = {
            target: fsum(values) / len(values)
            for (target, name), values in sorted(self.ratings.items())
            if name == aspect
        }
        own = stream(self.seed, "control", "shuffled", self.dataset, aspect)
        return dict(zip(means, own.permutation(list(means.values())).tolist(), strict=True))


def build(
    _: Model,
    *,
    seed: int,
    dataset: str,
    ratings: Ratings,
    counted: Counted,
    **__: object,
) -> ControlEngine:
    """Return the engine of a control card."""
    return ControlEngine(seed, dataset, ratings, counted)
