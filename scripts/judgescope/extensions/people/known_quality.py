"""Texts whose quality is known, and the pairs of which one text is known to be better.

The known quality is: for a rated text, all people's ratings of an aspect; for a text of
an error-injection chain (a row), its number of errors; for a text of a graded set, the
rating that it was made for.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from math import fsum, isclose
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from numpy.random import Generator

from judgescope.core.canonical import canonical
from judgescope.core.paths import Paths
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.extensions.people import form
from judgescope.plan.specs.subjects import every_file
from judgescope.plan.study import Plan
from judgescope.schema.tables import CHOSEN, read_table

RATED = "rated"
"""The kind of texts that people rated in the dataset."""
ROW = "row"
"""The kind of texts in error-injection chains."""
GRADED = "graded"
"""The kind of texts that were made for a rating."""
NEEDS: Final = {
    RATED: "a dataset with several people's ratings of each text, on scales that have "
    "a `step`",
    ROW: "perturbations with several `steps`, which make error-injection chains",
    GRADED: "perturbations of method `graded`, which make texts of every rating",
}
"""What a study needs for questions about each kind of texts."""
NEW = "new-level"
ORIGINAL = "original-level"
"""The groups of pairs of rated texts; for other texts, the group has the name of their
kind.

All raters gave the first text the same rating. NEW: all but one gave the second text
this rating, and that one a neighbouring rating. ORIGINAL: all gave the second text a
neighbouring rating.
"""


# --- texts ----------------------------------------------------------------------------


class RecheckedText(NamedTuple):
    """A text, one aspect of it, and its known quality.

    `level` is the mean rating, the number of errors, or the rating of a graded set.
    `positions` are the places of its ratings on the aspect's scale, 0 for the worst
    value; empty if a rating is not on the scale.
    """

    kind: str
    dataset: str
    set: str
    aspect: str
    target: str
    item: str
    source: str | None
    text: str
    level: float
    positions: tuple[int, ...] = ()


def texts_of(plan: Plan, out: Path, kind: str) -> list[RecheckedText]:
    """Return all texts of a kind, once for each aspect on which their quality is
    known.
    """
    files: list[Path] = []
    for dataset in plan.evaluated:
        files += files_of(plan, out, kind, dataset)
    form.check_made(files)
    texts: list[RecheckedText] = []
    for dataset in plan.evaluated:
        names = sets_of(plan, kind, dataset)
        if not names:
            continue
        of_dataset = every_file(plan, dataset, Paths(str(out)))
        subjects = Subjects(of_dataset, dataset, plan.study.seed)
        for name in names:
            texts += _texts(plan, out, kind, name, subjects)
    return texts


def sets_of(plan: Plan, kind: str, dataset: str) -> dict[str, list[str]]:
    """Return the sets of a dataset's texts of a kind -> the sets of targets in each."""
    card = plan.datasets[dataset]
    if kind == RATED:
        if card.ratings == "people":
            return {"systems": ["systems"]}
        return {}
    sets = {}
    for name, degree in plan.perturbed(dataset, "chain" if kind == ROW else "graded"):
        perturbed = f"{name}.{degree}"
        # Rows that a dataset contains have texts without errors of their own.
        with_original = kind == ROW and not card.gives_texts
        sets[perturbed] = ["original", perturbed] if with_original else [perturbed]
    return sets


def files_of(plan: Plan, out: Path, kind: str, dataset: str) -> list[Path]:
    """Return the files that texts of a kind are read from; none if a dataset has no
    such texts.
    """
    sets = sets_of(plan, kind, dataset)
    if not sets:
        return []
    paths = Paths(str(out))
    files = [paths.items(dataset)]
    for name in dict.fromkeys(chain.from_iterable(sets.values())):
        files.append(paths.targets(dataset, name))
    if kind == RATED:
        files.append(paths.ratings(dataset))
    if kind == GRADED:
        files += [paths.graded(dataset, name.partition(".")[0]) for name in sets]
    return [Path(file) for file in files]


def _texts(
    plan: Plan, out: Path, kind: str, name: str, subjects: Subjects
) -> Iterator[RecheckedText]:
    """Yield the texts of a set whose quality is known, those of graded sets if on the
    scale.
    """
    dataset = subjects.dataset
    texts: list[Subject] = []
    for part in sets_of(plan, kind, dataset)[name]:
        texts += subjects.in_set(part)
    ratings: dict[tuple[str, str], list[float]] = {}
    if kind == RATED:
        ratings = subjects.ratings
    elif kind == GRADED:
        path = Paths(str(out)).graded(dataset, name.partition(".")[0])
        ratings = _graded_ratings(Path(path))
    changed = []
    if kind == ROW:
        changed = plan.perturbations[name.partition(".")[0]].aspects
    for aspect in plan.plain_aspects(dataset):
        if changed and aspect not in changed:
            continue
        for text in texts:
            rechecked = RecheckedText(
                kind=kind,
                dataset=dataset,
                set=name,
                aspect=aspect,
                target=text.target,
                item=text.item,
                source=text.source,
                text=text.text,
                level=text.step,
            )
            values = sorted(ratings.get((text.target, aspect), []))
            if kind == ROW:
                yield rechecked
            elif values:
                level = fsum(values) / len(values)
                positions = _positions(plan, dataset, aspect, values)
                if positions or kind == RATED:
                    yield rechecked._replace(level=level, positions=positions)


def _graded_ratings(path: Path) -> dict[tuple[str, str], list[float]]:
    """Return (target, aspect) of a chosen text -> the rating that it was made for."""
    ratings: dict[tuple[str, str], list[float]] = {}
    for row in read_table("graded", path).to_pylist():
        if row["status"] == CHOSEN:
            ratings[row["target"], row["aspect"]] = [row["rating"]]
    return ratings


def _positions(
    plan: Plan, dataset: str, aspect: str, ratings: list[float]
) -> tuple[int, ...]:
    """Return the positions of ratings on a scale; () if one is not on it."""
    options = form.rating_options(plan, dataset, aspect)
    scale = [float(value) for value, _ in options]
    positions = []
    for rating in ratings:
        for position, value in enumerate(scale):
            if isclose(rating, value):
                positions.append(position)
    if len(positions) == len(ratings):
        return tuple(sorted(positions))
    return ()


def name_of(plan: Plan, text: RecheckedText) -> str:
    """Return the part of question ids that stands for a text.

    It changes with everything shown about the text and its aspect, and with its known
    quality.
    """
    shown: list[object] = [*text]
    shown.append(form.wording_of(plan, text.dataset, text.aspect))
    if text.kind == GRADED:
        shown.append(form.rating_options(plan, text.dataset, text.aspect))
    return form.secret(plan, "reevaluation", "text", canonical(shown))


# --- pairs ----------------------------------------------------------------------------


class Case(NamedTuple):
    """The subject of a question: which of two texts is better, or how good a single
    text is.

    The text of a pair that is known to be better comes first.
    """

    dataset: str
    aspect: str
    group: str
    texts: tuple[RecheckedText, ...]

    @property
    def is_pair(self) -> bool:
        """Return whether there are two texts."""
        return len(self.texts) == 2

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the dataset, aspect, group, set of texts and targets."""
        return (*self[:3], self.texts[0].set, *(text.target for text in self.texts))

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the texts' items without duplicates."""
        return tuple(sorted({text.item for text in self.texts}))


PairBlock = tuple[Sequence[RecheckedText], Sequence[RecheckedText]]
"""Every text of the first makes a pair with every text of the second."""


def case_of(group: str, *texts: RecheckedText) -> Case:
    """Return the case of one or two texts."""
    better_first = tuple(sorted(texts, key=quality, reverse=True))
    return Case(texts[0].dataset, texts[0].aspect, group, better_first)


def pair_of(first: RecheckedText, second: RecheckedText) -> Case | None:
    """Return the pair that two texts form, in either order, or None."""
    if first[:4] != second[:4]:  # texts of another kind, dataset, set or aspect
        return None
    for group, blocks in blocks_of([first, second]).items():
        for firsts, seconds in blocks:
            if firsts and seconds:
                return case_of(group, first, second)
    return None


def quality(text: RecheckedText) -> float:
    """Return a number that is higher for the better text, by its ratings or its
    errors.
    """
    if text.positions:
        return fmean(text.positions)
    return -text.level


def levels(text: RecheckedText, others: int) -> list[int]:
    """Return the positions of ratings that all of two or more raters gave but exactly
    `others`.

    The others gave a neighbouring rating. With two raters of whom one is another, there
    may be two such positions.
    """
    ratings = text.positions
    if len(ratings) < 2:
        return []
    alike = len(ratings) - others
    positions = []
    for level in dict.fromkeys(ratings):
        close = all(abs(rating - level) <= 1 for rating in ratings)
        if close and ratings.count(level) == alike:
            positions.append(level)
    return positions


def blocks_of(texts: Sequence[RecheckedText]) -> dict[str, list[PairBlock]]:
    """Return group -> the pairs of texts of one kind; each pair is in one block.

    Rated texts are of one aspect. Texts in rows form pairs with texts of the same item
    that have an error more or less. Texts of graded sets form no pairs.
    """
    if {text.kind for text in texts} == {ROW}:
        return {ROW: list(_neighbours(texts))}
    alike: dict[int, list[RecheckedText]] = {}
    close: dict[int, list[RecheckedText]] = {}
    for text in sorted(texts, key=lambda text: text.target):
        for level in levels(text, others=0):
            alike.setdefault(level, []).append(text)
        for level in levels(text, others=1):
            close.setdefault(level, []).append(text)
    new: list[PairBlock] = []
    original: list[PairBlock] = []
    for level, same in sorted(alike.items()):
        new.append((same, close.get(level, [])))
        original.append((same, alike.get(level + 1, [])))
    return {NEW: new, ORIGINAL: original}


def _neighbours(texts: Iterable[RecheckedText]) -> Iterator[PairBlock]:
    """Yield the pairs of texts in rows of which one has one error more."""
    ordered = sorted(
        texts, key=lambda text: (text.set, text.aspect, text.item, text.level)
    )
    for fewer, more in pairwise(ordered):
        same_row = fewer[:4] == more[:4] and fewer.item == more.item
        if same_row and more.level - fewer.level == 1:
            yield (fewer,), (more,)


def drawn(
    group: str, blocks: Sequence[PairBlock], rng: Generator, limit: int
) -> list[Case]:
    """Draw up to `limit` pairs of a group's blocks without replacement.

    Pairs whose sources no earlier pair has come first: more texts are judged, and each
    pair adds information. A smaller draw is the beginning of a larger one, up to 10,000
    pairs.
    """
    candidates = 10_000
    sizes = [len(firsts) * len(seconds) for firsts, seconds in blocks]
    ends = list(accumulate(sizes))
    if not ends or not ends[-1]:
        return []
    used: set[str] = set()
    new_sources: list[Case] = []
    others: list[Case] = []
    count = min(ends[-1], max(candidates, limit))
    # Numbers of pairs, counted through all blocks.
    numbers = rng.choice(ends[-1], count, replace=False).tolist()
    for number in numbers:
        block = bisect_right(ends, number)
        firsts, seconds = blocks[block]
        row, column = divmod(ends[block] - 1 - number, len(seconds))
        pair = case_of(group, firsts[row], seconds[column])
        if used.isdisjoint(pair.sources):
            used.update(pair.sources)
            new_sources.append(pair)
        else:
            others.append(pair)
    return [*new_sources, *others][:limit]


def sampled(
    texts: Iterable[RecheckedText], rng: Generator, limit: int
) -> list[RecheckedText]:
    """Draw up to `limit` texts of graded sets, in turn from each rating of each set."""
    return form.balanced(
        sorted(texts, key=lambda text: (text.set, text.aspect, text.target)),
        rng,
        limit,
        kind=lambda text: (text.set, text.aspect, text.level),
        item=lambda text: text.item,
    )
