"""The pages on which people vote: who is asked what, in which order.

Nobody is told of an aspect in two wordings: a page has one of each aspect, drawn so that pages
have about as many questions as each other and each kind of wording is spread over all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.people.pages import COMPARED, UNDECIDED, Asked, check_numbers, write_pages
from judgescope.people.pairs.questions import Pair, Question, pairs_of, question_id, wording_of
from judgescope.people.responses import id_of
from judgescope.plan import Plan

if TYPE_CHECKING:
    from numpy.random import Generator


class Page(NamedTuple):
    """What one person is asked: a part of the pairs of a task, in one set of wordings."""

    task: str
    set: int
    part: int
    voter: int
    questions: Sequence[Asked]

    @property
    def file(self) -> str:
        """Return the name of the page's file."""
        return f"{self.task}-set{self.set}-part{self.part}-voter{self.voter}.html"

    @property
    def id(self) -> str:
        """Return what answers name, to show that none is missing."""
        return id_of(one.id for one in self.questions)


def make(
    plan: Plan, out: Path, folder: Path, home: Path, *, pairs: int, voters: int, most: int
) -> list[Page]:
    """Write the pages of a study whose texts are in `out` into a folder and return them.

    `pairs` of each perturbation, degree and dataset are asked about, by as many `voters`; no page
    has more than `most` questions, if one pair does not. `home` is the workflow's folder.
    """
    check_numbers(pairs=pairs, voters=voters, questions=most)
    chosen = {
        cell: drawn(plan.study.seed, cell, found, pairs)
        for cell, found in pairs_of(plan, out).items()
    }
    made = list(pages_of(plan, chosen, voters, most))
    if not made:
        raise UserError("there is nothing to ask: no text was damaged", where=str(out))
    write_pages(made, folder, home)
    return made


def drawn(seed: int, cell: tuple[str, str, str], pairs: list[Pair], most: int) -> list[Pair]:
    """Return some of a cell's pairs; which does not depend on the order in which they came."""
    pairs = sorted(pairs, key=lambda pair: pair.target)
    order = stream(seed, "votes", "pairs", *cell).permutation(len(pairs))[:most]
    return [pairs[at] for at in sorted(order.tolist())]


def pages_of(
    plan: Plan, chosen: Mapping[tuple[str, str, str], list[Pair]], voters: int, most: int
) -> Iterator[Page]:
    """Yield the pages of a study, each voter's by itself."""
    for task in dict.fromkeys(card.task for card in plan.datasets.values()):
        own = [name for name in plan.evaluated if plan.datasets[name].task == task]
        pairs = [pair for cell, found in chosen.items() if cell[0] in own for pair in found]
        wordings: dict[str, list[str]] = {}
        for aspect in dict.fromkeys(one for name in own for one in plan.aspects_of(name)):
            wordings.setdefault(split(aspect)[0], []).append(aspect)
        rng = stream(plan.study.seed, "votes", "sets", task)
        for number, one in enumerate(sets_of(wordings, rng), start=1):
            for part, some in enumerate(_parts(pairs, max(1, most // len(one)), rng), start=1):
                for voter in range(1, voters + 1):
                    yield _page(plan, (task, number, part, voter), one, some)


def sets_of(wordings: Mapping[str, Sequence[str]], rng: "Generator") -> list[list[str]]:
    """Return sets of wordings with one of an aspect at most, as few as there can be.

    wordings: aspect -> `<aspect>.<criterion>`, .... The sets differ by one in size, at most, since
    every aspect goes to the smallest; of these a criterion goes where it is rarest.
    """
    sets: list[list[str]] = [[] for _ in range(max(map(len, wordings.values())))]
    for aspect in rng.permutation(sorted(wordings)).tolist():
        order = [sets[at] for at in rng.permutation(len(sets))]
        free = sorted(order, key=len)[: len(wordings[aspect])]
        for wording in wordings[aspect]:
            rarest = min(range(len(free)), key=lambda at: _times(wording, free[at]))
            free.pop(rarest).append(wording)
    return sets


def _times(wording: str, those: Sequence[str]) -> int:
    return [split(one)[1] for one in those].count(split(wording)[1])


def _parts(pairs: list[Pair], most: int, rng: "Generator") -> list[list[Pair]]:
    """Return the pairs in parts of about one size, in none more than `most`."""
    mixed = [pairs[at] for at in rng.permutation(len(pairs))]
    number = ceil(len(pairs) / most)
    return [mixed[at::number] for at in range(number)]


def _page(
    plan: Plan, place: tuple[str, int, int, int], wordings: Sequence[str], pairs: list[Pair]
) -> Page:
    """Return a voter's page: aspect by aspect, in an order of its own, half of each swapped."""
    rng = stream(plan.study.seed, "votes", "page", *place)
    asked = []
    for at in rng.permutation(len(wordings)):
        own = [pair for pair in pairs if wordings[at] in plan.aspects_of(pair.dataset)]
        swapped = rng.permutation(len(own)) % 2 == rng.integers(2)
        for which in rng.permutation(len(own)):
            asked.append(_asked(plan, Question(own[which], wordings[at], bool(swapped[which]))))
    return Page(*place, asked)


def _asked(plan: Plan, question: Question) -> Asked:
    pair, aspect, swapped = question
    wording = wording_of(plan, pair.dataset, aspect)
    shown = plan.scale_of(pair.dataset, aspect).source_visible
    return Asked(
        question_id(plan.study.seed, pair.digest, wording, swapped=swapped),
        plan.aspect_of(pair.dataset, aspect),
        question.texts,
        COMPARED + UNDECIDED,
        pair.source if shown and pair.source else None,
    )
