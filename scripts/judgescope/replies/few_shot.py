"""Demonstrations in a prompt: rated texts of other items, spread over the scale.

Nothing is drawn at random: among texts equally near to a rating, a hash of the id
selects one, so that all studies of the same data send the same prompts.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.rng import share_of
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.prompts import material, rated
from judgescope.prompts.filling import messages, system_message
from judgescope.replies.specs import AnalyseSpec
from judgescope.schema.cards import Aspect, Decoding, RatedAspect, Shots


class Rated(NamedTuple):
    """A text that people rated, and the mean of their ratings."""

    subject: Subject
    rating: float


def levels(shots: Shots, low: float, high: float) -> list[float]:
    """Return the ratings that demonstrations should have: low, …, high; the middle if
    one.
    """
    if shots.n == 1:
        return [(low + high) / 2]
    return [low + (high - low) * step / (shots.n - 1) for step in range(shots.n)]


class Demonstrations:
    """The demonstrations of one judge and aspect, for any item that is judged.

    `analyses`: target -> the explanation of its rating, if the judge is shown
    explanations.
    """

    def __init__(
        self,
        rated: Iterable[Rated],
        shots: Shots,
        scale: RatedAspect,
        analyses: Mapping[str, str] | None = None,
    ) -> None:
        self.shots = shots
        self.scale = scale
        self.analyses = analyses
        self.rated = sorted(rated, key=_hash)

    def for_item(self, item: str) -> tuple[Rated, ...]:
        """Return the demonstrations for an item: texts of other items with other
        sources.

        If the usual ones qualify, it returns them, so that most prompts share their
        beginning.
        """
        sources = self._sources.get(item, set())

        def is_other(each: Rated) -> bool:
            return each.subject.item != item and each.subject.source not in sources

        if all(map(is_other, self.usual)):
            return self.usual
        return self._chosen(list(filter(is_other, self.rated)))

    def among(self, items: Iterable[str]) -> list[Rated]:
        """Return every text that demonstrates for any of these items, once."""
        texts = {}
        for item in sorted(items):
            for text in self.for_item(item):
                texts[text.subject.target] = text
        return list(texts.values())

    @cached_property
    def usual(self) -> tuple[Rated, ...]:
        """Return the demonstrations for items that none of them belongs to."""
        return self._chosen(self.rated)

    @cached_property
    def _sources(self) -> dict[str, set[str]]:
        sources: dict[str, set[str]] = {}
        for each in self.rated:
            if each.subject.source:
                sources.setdefault(each.subject.item, set()).add(each.subject.source)
        return sources

    def _chosen(self, rated: Sequence[Rated]) -> tuple[Rated, ...]:
        """Return the nearest text for each level, all of different items, ordered by
        hash.

        Ascending ratings would give the judge a hint.
        """
        chosen: list[Rated] = []
        for level in levels(self.shots, self.scale.min, self.scale.max):
            items = {each.subject.item for each in chosen}
            free = [each for each in rated if each.subject.item not in items]
            if not free:
                raise UserError(
                    f"only {len(items)} items have rated texts: too few for "
                    f"{self.shots.n} examples and a text to judge",
                    where="a judge's card, key shots",
                    todo="reduce `n`, or use a dataset with more rated items",
                )
            chosen.append(min(free, key=lambda each: abs(each.rating - level)))
        return tuple(sorted(chosen, key=_hash))

    def variables(self, item: str) -> list[dict[str, Any]]:
        """Return the demonstrations for an item as variables of a prompt."""
        variables = [shown(each, self.scale) for each in self.for_item(item)]
        if self.analyses is not None:
            for shot, each in zip(variables, self.for_item(item), strict=True):
                shot["analysis"] = self.analyses[each.subject.target]
        return variables


def rated_texts(subjects: Subjects, aspect: str) -> list[Rated]:
    """Return the texts of a dataset's systems that people rated on an aspect."""
    ratings = subjects.ratings_of(aspect)
    texts = []
    for text in subjects.in_set("systems"):
        if text.target in ratings:
            texts.append(text)
    return [Rated(text, fmean(ratings[text.target])) for text in texts]


def shown(text: Rated, scale: RatedAspect) -> dict[str, Any]:
    """Return a rated text as variables of a prompt.

    Its rating is the nearest value of the scale, or the lower of two equally near ones.
    """
    values = scale.values()
    rating = text.rating
    if values is None:
        rating = round(rating, 2)
    else:
        rating = min(values, key=lambda value: (abs(value - text.rating), value))
    parts = text.subject.material if scale.source_visible else ()
    return {
        **material(parts),
        "text": text.subject.text,
        "rating": scale.shown(rating),
    }


def _hash(text: Rated) -> bytes:
    return hashlib.sha256(text.subject.target.encode()).digest()


class AnalysisQuestion(NamedTuple):
    """A demonstration to be explained; `shown`: the text and its aspect as prompt
    variables.
    """

    judge: str
    aspect: str
    target: str
    scale: RatedAspect
    shown: Mapping[str, Any]

    def characters(self, spec: AnalyseSpec) -> int:
        """Return the length of the first prompt, with its system message."""
        judge = spec.judges[self.judge]
        templates = spec.templates[judge.form]
        shown = {**self.shown, "problem": None}
        [message] = messages(judge.form, templates, **shown)
        system = Decoding.model_validate(judge.decoding).system
        return len(message["content"]) + len(system_message(system, templates, shown))


def questions(
    spec: AnalyseSpec, judge: str, subjects: Subjects
) -> Iterator[AnalysisQuestion]:
    """Yield a judge's demonstrations for all items that it judges, by aspect and
    wording.

    Raises UserError if too few texts are rated.
    """
    analysed = spec.judges[judge]
    items = share_of(
        subjects.items, analysed.share, seed=spec.seed, dataset=spec.dataset
    )
    for name in analysed.aspects:
        scale = RatedAspect(**spec.scales[name])
        values = spec.about.names | rated(Aspect(**spec.aspects[name]), scale)
        texts = rated_texts(subjects, split(name)[0])
        for text in Demonstrations(texts, Shots(n=analysed.n), scale).among(items):
            target = text.subject.target
            yield AnalysisQuestion(
                judge, name, target, scale, values | shown(text, scale)
            )
