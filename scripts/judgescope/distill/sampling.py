"""Which texts a judge learns from, on which aspects, and which of them are held out (paper 004)."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.rng import stream, stream_seed
from judgescope.core.set_names import new_target
from judgescope.distill.prompts import prompts
from judgescope.distill.sources import Place, groups_of, same_sources
from judgescope.distill.specs import SampleSpec
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects

Row = dict[str, Any]


class Text(NamedTuple):
    """A text that can be drawn, there or yet to be written: its set of targets, and its system."""

    perturbation: str
    target: str
    system: str


class Drawn(NamedTuple):
    """A text and an aspect that a teacher judges."""

    item: str
    text: Text
    aspect: str


def draw(
    dataset: str,
    texts: Mapping[str, Sequence[Text]],
    aspects: Sequence[str],
    *,
    seed: int,
    n_texts: int,
    n_aspects: int,
) -> list[Drawn]:
    """Return N texts of each item and M aspects of each text, all where there are fewer.

    `texts`: item -> its texts. What is drawn of an item depends on nothing but the study's seed and
    that item's texts. Source: paper 004, section 5.1 (N = 4, M = 3 for most tasks).
    """
    found = []
    for item in sorted(texts):
        own = sorted(texts[item], key=lambda one: (one.perturbation, one.target))
        names = [f"{one.perturbation}:{one.target}" for one in own]
        for at in _some(len(own), n_texts, seed, "texts", dataset, item):
            chosen = _some(len(aspects), n_aspects, seed, "aspects", dataset, names[at])
            found += [Drawn(item, own[at], aspects[one]) for one in chosen]
    return found


def _some(n: int, most: int, seed: int, *names: str) -> list[int]:
    """Return `most` of the numbers below n, drawn without putting back, in their order."""
    if n <= most:
        return list(range(n))
    rng = stream(seed, "distill", *names)
    return sorted(rng.choice(n, size=most, replace=False).tolist())


def held_out(sources: Iterable[str], share: float, *, seed: int, dataset: str) -> set[str]:
    """Return ceil(share · n) of a dataset's n sources, drawn by the study's seed: at least one.

    Of a single source none can be held out, and nothing is.
    """
    names = set(sources)
    if len(names) < 2:
        return set()
    ordered = sorted(
        names, key=lambda one: (stream_seed(seed, "distill", "held out", dataset, one), one)
    )
    return set(ordered[: max(1, math.ceil(share * len(names) - 1e-9))])


def usable_sources(
    spec: SampleSpec, taught: Mapping[Place, str | None], evaluated: Mapping[Place, str | None]
) -> dict[Place, str | None]:
    """Return the items to learn from whose source is not evaluated on.

    Raises UserError where one is, unless the study says to leave such items out.
    """
    same = same_sources(taught, evaluated)
    if same and spec.overlap == "stop":
        raise _overlap(same, len(taught))
    return {place: source for place, source in taught.items() if place not in same}


def sample(
    spec: SampleSpec, sources: Mapping[Place, str | None], texts: Mapping[str, Subjects]
) -> list[Row]:
    """Return rows of table `samples`: what is drawn of all datasets, with its prompts.

    `texts`: dataset -> its items and texts.
    """
    groups = groups_of(sources)
    held = set[str]()
    for dataset in spec.taught:
        names = [group for (name, _), group in groups.items() if name == dataset]
        held |= held_out(names, spec.held_out, seed=spec.seed, dataset=dataset)
    return [row for name in spec.taught for row in _rows(spec, name, groups, held, texts[name])]


def _rows(
    spec: SampleSpec, dataset: str, groups: Mapping[Place, str], held: set[str], known: Subjects
) -> Iterator[Row]:
    """Yield what is drawn of a dataset, with the prompts about it as far as they are known."""
    about = spec.student.datasets[dataset]
    texts: dict[str, list[Text]] = {}
    subjects: dict[str, Subject] = {}
    for name in (*about.sets, *about.new):
        for text in _unwritten(known, name) if name in about.new else known.of(name):
            if (dataset, text.item) in groups and (text.text or name in about.new):
                subjects[text.target] = text
                texts.setdefault(text.item, []).append(Text(name, text.target, text.system or ""))
    numbers = {"seed": spec.seed, "n_texts": spec.n_texts, "n_aspects": spec.n_aspects}
    drawn = draw(dataset, texts, list(about.aspects), **numbers)
    for one, prompt in zip(drawn, _prompts(spec, dataset, drawn, subjects), strict=True):
        yield {
            "dataset": dataset,
            "item": one.item,
            **one.text._asdict(),
            "aspect": one.aspect,
            "held_out": groups[dataset, one.item] in held,
            "prompt": prompt,
            "room": spec.room if one.text.perturbation in about.new else 0,
        }


def _unwritten(known: Subjects, name: str) -> Iterator[Subject]:
    """Yield the texts that a model has yet to write: about every item with a source."""
    for item, row in known.items.items():
        if row["source"]:
            yield Subject(new_target(item, name), item, name, name, "", row["source"])


def _prompts(
    spec: SampleSpec, dataset: str, drawn: Sequence[Drawn], subjects: Mapping[str, Subject]
) -> list[str]:
    """Return the prompt of each, an aspect at a time: its form is filled once."""
    found = [""] * len(drawn)
    for aspect in dict.fromkeys(one.aspect for one in drawn):
        own = [number for number, one in enumerate(drawn) if one.aspect == aspect]
        about = [subjects[drawn[number].text.target] for number in own]
        shown = prompts(spec.student, dataset, aspect, about)
        for number, prompt in zip(own, shown, strict=True):
            found[number] = prompt
    return found


def _overlap(same: Mapping[Place, Place], n: int) -> UserError:
    (ours, item), (theirs, other) = next(iter(same.items()))
    return UserError(
        f"{len(same)} of {n} items to learn from have a source that is also evaluated on",
        where="the study, key distill.datasets",
        got=f"item {item} of {ours} is item {other} of {theirs}",
        todo="choose other datasets or items (`select`), or leave these out: distill.overlap: drop",
    )


def check_splits(rows: Iterable[Row]) -> None:
    """Raise UserError if a sample has nothing to learn from, or nothing that is held out."""
    splits = {row["held_out"] for row in rows}
    for split in sorted({False, True} - splits):
        raise UserError(
            "nothing is left to be held out" if split else "nothing is left to learn from",
            where="the study, key distill.datasets",
            todo="name datasets with more items: one at least is held out, and one must be left",
        )
