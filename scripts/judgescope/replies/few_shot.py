"""Demonstrations in a prompt: rated texts of other items, spread over the scale.

Nothing is drawn: of texts that are equally near to a rating, a hash of their id decides, so that
every study asks the same of the same data.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.prompts import plain
from judgescope.schema.cards import RatedAspect, Shots


class Rated(NamedTuple):
    """A text that people rated, and the mean of their ratings."""

    subject: Subject
    rating: float


def levels(shots: Shots, low: float, high: float) -> list[float]:
    """Return the ratings that demonstrations should have: low, …, high; one alone: the middle."""
    if shots.n == 1:
        return [(low + high) / 2]
    return [low + (high - low) * step / (shots.n - 1) for step in range(shots.n)]


class Demonstrations:
    """The demonstrations of one judge and aspect, for any item that is judged.

    `analyses`: target -> why its text deserves its rating, where the judge is shown that.
    """

    def __init__(
        self,
        rated: Iterable[Rated],
        shots: Shots,
        scale: RatedAspect,
        analyses: Mapping[str, str] | None = None,
    ) -> None:
        self.shots, self.scale, self.analyses = shots, scale, analyses
        self.rated = sorted(rated, key=lambda one: _hash(one.subject.target))

    def of(self, item: str) -> tuple[Rated, ...]:
        """Return the demonstrations for an item: none is of it or has its source.

        Where none of the usual ones is, those: so most prompts begin alike.
        """
        sources = self._sources.get(item, set())
        if all(_apart(one, item, sources) for one in self.usual):
            return self.usual
        return self._chosen([one for one in self.rated if _apart(one, item, sources)])

    def among(self, items: Iterable[str]) -> list[Rated]:
        """Return every text that is shown for any of these items, once."""
        shown = {one.subject.target: one for item in sorted(items) for one in self.of(item)}
        return list(shown.values())

    @cached_property
    def usual(self) -> tuple[Rated, ...]:
        """Return the demonstrations for an item that has none of them."""
        return self._chosen(self.rated)

    @cached_property
    def _sources(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        for one in self.rated:
            if one.subject.source:
                found.setdefault(one.subject.item, set()).add(one.subject.source)
        return found

    def _chosen(self, rated: Sequence[Rated]) -> tuple[Rated, ...]:
        """Return the nearest text for each level, of an item that has none yet, in a fixed order.

        The order is that of the hashes: one that rises would be a hint.
        """
        chosen: list[Rated] = []
        for level in levels(self.shots, self.scale.min, self.scale.max):
            items = {one.subject.item for one in chosen}
            free = [one for one in rated if one.subject.item not in items]
            if not free:
                raise UserError(
                    f"there are rated texts of {len(items)} items, too few to show "
                    f"{self.shots.n} and judge another",
                    where="a judge's card, key shots",
                    todo="ask for fewer, or use a dataset with more rated items",
                )
            chosen.append(min(free, key=lambda one: abs(one.rating - level)))
        return tuple(sorted(chosen, key=lambda one: _hash(one.subject.target)))

    def told(self, item: str) -> list[dict[str, Any]]:
        """Return the demonstrations for an item as a prompt sees them."""
        return [
            shown(one, self.scale) | self._analysis(one.subject.target) for one in self.of(item)
        ]

    def _analysis(self, target: str) -> dict[str, str]:
        return {} if self.analyses is None else {"analysis": self.analyses[target]}


def rated_texts(subjects: Subjects, aspect: str) -> list[Rated]:
    """Return the texts of a dataset's systems that people rated on an aspect."""
    means = subjects.mean_ratings(aspect)
    texts = subjects.of("systems")
    return [Rated(one, means[one.target]) for one in texts if one.target in means]


def shown(one: Rated, scale: RatedAspect) -> dict[str, Any]:
    """Return a rated text as a prompt sees it, its rating on the scale."""
    return {
        "source": one.subject.source if scale.source_visible else None,
        "text": one.subject.text,
        "rating": plain(_nearest(one.rating, scale)),
    }


def _apart(one: Rated, item: str, sources: set[str]) -> bool:
    return one.subject.item != item and one.subject.source not in sources


def _nearest(rating: float, scale: RatedAspect) -> float:
    """Return the value of the scale that is nearest to a mean rating; of two the lower."""
    values = scale.values()
    if values is None:
        return round(rating, 2)
    return min(values, key=lambda value: (abs(value - rating), value))


def _hash(target: str) -> bytes:
    return hashlib.sha256(target.encode()).digest()
