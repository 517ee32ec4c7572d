"""The pages on which people judge again which text is better, or how good one is.

All voters are asked about the same pairs and texts, each in an order of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.people.pages import COMPARED, Asked, check_made, check_numbers, write_pages
from judgescope.people.recheck.pairs import About, blocks_of, drawn, neighbours
from judgescope.people.recheck.samples import sampled
from judgescope.people.recheck.texts import GRADED, KINDS, RATED, ROW, Text, name_of, rating_options
from judgescope.people.responses import id_of
from judgescope.plan import Plan


class Page(NamedTuple):
    """What one of some voters is asked of the texts of a task."""

    task: str
    voter: int
    voters: int
    questions: Sequence[Asked]

    @property
    def file(self) -> str:
        """Return the name of the page's file."""
        return f"{self.task}-voter{self.voter}.html"

    @property
    def id(self) -> str:
        """Return what answers name: how many voters there are, and that no question is missing."""
        return page_id((one.id for one in self.questions), str(self.voters))


class Draw(NamedTuple):
    """What was drawn of a group: of one aspect of a dataset, or of any (no aspect).

    That are pairs, or texts of graded sets.
    """

    dataset: str
    aspect: str
    group: str
    pairs: Sequence[About]


def page_id(questions: Iterable[str], voters: str) -> str:
    """Return the name of a page with these questions, the page of one of so many voters."""
    return f"{voters}-{id_of([*questions, voters])}"


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    home: Path,
    *,
    kinds: Sequence[str],
    pairs: int,
    voters: int,
) -> tuple[list[Page], list[Draw]]:
    """Write the pages of a study whose tables are in `out` and return them, and what was drawn.

    `pairs` are drawn of each kind: of rated texts for each dataset, aspect and group, of texts in
    rows for each dataset; so many single texts of graded sets. `home` is the workflow's folder.
    """
    check_numbers(pairs=pairs, voters=voters)
    texts = [text for kind in kinds for text in texts_of(plan, out, kind)]
    draws = draws_of(plan.study.seed, texts, pairs)
    if not any(draw.pairs for draw in draws):
        needs = "; or ".join(KINDS[kind].needs for kind in kinds)
        raise UserError("there is nothing to ask", where=plan.study.study, todo=f"use {needs}")
    made = list(pages_of(plan, draws, voters))
    write_pages(made, folder, home)
    return made, draws


def texts_of(plan: Plan, out: Path, kind: str) -> list[Text]:
    """Return all texts of a kind; raises UserError where they are not made yet."""
    files = {name: KINDS[kind].files(plan, out, name) for name in plan.evaluated}
    check_made([path for own in files.values() for path in own])
    return [
        text for name, own in files.items() if own for text in KINDS[kind].read(plan, out, name)
    ]


def draws_of(seed: int, texts: Iterable[Text], most: int) -> list[Draw]:
    """Return what is drawn of all texts, up to `most` pairs each, or texts of graded sets."""
    places: dict[tuple[str, str, str], list[Text]] = {}
    for text in texts:
        aspect = text.aspect if text.kind == RATED else ""
        places.setdefault((text.kind, text.dataset, aspect), []).append(text)
    return [
        Draw(
            dataset,
            aspect,
            group,
            draw(stream(seed, "reevaluation", dataset, aspect, group), most),
        )
        for (kind, dataset, aspect), own in places.items()
        for group, draw in _groups(kind, own).items()
    ]


def _groups(kind: str, texts: list[Text]) -> dict[str, Callable[..., Sequence[About]]]:
    """Return group -> what draws up to so many pairs, or texts, of it at random."""
    if kind == GRADED:
        return {GRADED: partial(sampled, texts)}
    blocks = blocks_of(texts) if kind == RATED else {ROW: neighbours(texts)}
    return {group: partial(drawn, own) for group, own in blocks.items()}


def pages_of(plan: Plan, draws: Sequence[Draw], voters: int) -> Iterator[Page]:
    """Yield the pages of each task, for each voter one."""
    for task in dict.fromkeys(card.task for card in plan.datasets.values()):
        aspects: dict[str, list[About]] = {}
        for draw in draws:
            if plan.datasets[draw.dataset].task == task:
                for about in draw.pairs:
                    aspects.setdefault(about.texts[0].aspect, []).append(about)
        for voter in range(1, voters + 1) if aspects else ():
            yield Page(task, voter, voters, list(_questions(plan, task, voter, aspects)))


def _questions(
    plan: Plan, task: str, voter: int, aspects: dict[str, list[About]]
) -> Iterator[Asked]:
    """Yield a voter's questions, aspect by aspect, of each first the pairs, then single texts.

    In half of an aspect's pairs the better text comes first.
    """
    rng = stream(plan.study.seed, "reevaluation", "page", task, voter)
    for at in rng.permutation(len(aspects)):
        found = aspects[sorted(aspects)[at]]
        for number in sorted({len(one.texts) for one in found}, reverse=True):
            own = [one for one in found if len(one.texts) == number]
            swapped = rng.permutation(len(own)) % 2 == rng.integers(2)
            for which in rng.permutation(len(own)):
                texts = own[which].texts
                yield asked(plan, texts[::-1] if swapped[which] else texts)


def asked(plan: Plan, texts: tuple[Text, ...]) -> Asked:
    """Return the question about texts in the order in which they are shown: one, or two."""
    dataset, aspect = texts[0].dataset, texts[0].aspect
    shown = plan.scale_of(dataset, aspect).source_visible
    sources = tuple(one.source or None if shown else None for one in texts)
    alike = len({one.item for one in texts}) == 1
    return Asked(
        f"q{'-'.join(name_of(plan, one) for one in texts)}",
        plan.aspect_of(dataset, aspect),
        tuple(one.text for one in texts),
        COMPARED if len(texts) > 1 else rating_options(plan, texts[0]),
        sources[0] if alike else None,
        () if alike else sources,
    )
