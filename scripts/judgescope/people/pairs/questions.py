"""What people can be asked about a study: its pairs of texts, and a name for every question.

The name tells nothing by itself: it is a hash of the study's seed, of all that the question shows,
and of which text comes first. Only the study, with the same texts and cards, finds out.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.rng import stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.people.pages import check_made
from judgescope.plan import Plan


class Pair(NamedTuple):
    """An original, its damaged text, and the source of both."""

    dataset: str
    perturbation: str
    degree: str
    target: str
    source: str | None
    original: str
    damaged: str

    @property
    def digest(self) -> str:
        """Return what changes with any text or name of the pair."""
        return hashlib.sha256(canonical(self).encode()).hexdigest()


class Question(NamedTuple):
    """Which text of a pair is better in an aspect, as a cell calls it, and which comes first."""

    pair: Pair
    aspect: str
    swapped: bool

    @property
    def texts(self) -> tuple[str, str]:
        """Return the two texts as they are shown."""
        found = self.pair.original, self.pair.damaged
        return found[::-1] if self.swapped else found


def pairs_of(plan: Plan, out: Path) -> dict[tuple[str, str, str], list[Pair]]:
    """Return (dataset, perturbation, degree) -> its pairs, for all damage done to originals.

    Texts that could not be damaged are left out. Raises UserError where texts are not made yet,
    and where the study damages nothing.
    """
    cells = {
        dataset: [
            (name, degree)
            for name, degree in plan.perturbed(dataset)
            if f"{name}.{degree}" in plan.target_sets(dataset)
        ]
        for dataset in plan.datasets
    }
    if not any(cells.values()):
        raise UserError(
            "there is nothing to ask: no text is damaged",
            where=plan.study.study,
            todo="name `perturbations`, and a method that uses them",
        )
    check_made(list(_files(out, cells)))
    return {
        (dataset, *cell): found
        for dataset, own in cells.items()
        if own
        for subjects in [Subjects(str(out), dataset, plan.study.seed)]
        for cell in own
        for found in [list(_pairs(subjects, *cell))]
    }


def _files(out: Path, cells: dict[str, list[tuple[str, str]]]) -> Iterator[Path]:
    for dataset, own in cells.items():
        if own:
            yield out / "items" / f"{dataset}.parquet"
            for name in ["original", *(f"{name}.{degree}" for name, degree in own)]:
                yield out / "targets" / dataset / f"{name}.parquet"


def _pairs(subjects: Subjects, name: str, degree: str) -> Iterator[Pair]:
    originals = {one.item: one for one in subjects.of("original")}
    for one in subjects.of(f"{name}.{degree}"):
        place = subjects.dataset, name, degree, one.target
        yield Pair(*place, one.source, originals[one.item].text, one.text)


def question_id(seed: int, digest: str, wording: str, *, swapped: bool) -> str:
    """Return a question's name, from the digests of its pair and of its wording."""
    asked = stream_seed(seed, "votes", "question", digest, wording, str(swapped))
    return f"{_pair_id(seed, digest)}-{asked:032x}"


def _pair_id(seed: int, digest: str) -> str:
    return f"q{stream_seed(seed, 'votes', 'pair', digest):032x}"


def wording_of(plan: Plan, dataset: str, aspect: str) -> str:
    """Return what changes with anything that people are told of an aspect."""
    told = plan.aspect_of(dataset, aspect)
    shown = plan.scale_of(dataset, aspect).source_visible
    return canonical((aspect, told.name, told.definition, shown))


class Questions:
    """All questions that can be asked about some pairs of a study, found by name."""

    def __init__(self, plan: Plan, pairs: Iterable[Pair]) -> None:
        self._seed = plan.study.seed
        self._pairs = {_pair_id(self._seed, pair.digest): pair for pair in pairs}
        self._wordings = {
            dataset: {name: wording_of(plan, dataset, name) for name in plan.aspects_of(dataset)}
            for dataset in plan.datasets
        }
        self._known: dict[str, dict[str, Question]] = {}

    def get(self, name: str) -> Question | None:
        """Return the question of a name, or None; of a large study few are ever looked up."""
        of_pair = name.partition("-")[0]
        if of_pair not in self._known:
            pair = self._pairs.get(of_pair)
            self._known[of_pair] = dict(self._about(pair)) if pair else {}
        return self._known[of_pair].get(name)

    def __iter__(self) -> Iterator[tuple[str, Question]]:
        """Yield every question with its name."""
        for pair in self._pairs.values():
            yield from self._about(pair)

    def _about(self, pair: Pair) -> Iterator[tuple[str, Question]]:
        digest = pair.digest
        for aspect, wording in self._wordings[pair.dataset].items():
            for swapped in (False, True):
                name = question_id(self._seed, digest, wording, swapped=swapped)
                yield name, Question(pair, aspect, swapped)
