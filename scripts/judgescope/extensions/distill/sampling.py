"""The texts and aspects that a judge learns from or that are held out (Kartáč et al.
2025).

No training item has a source on which judges are evaluated.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.names import new_target
from judgescope.core.rng import first_of, share_of, stream
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects, parts_of
from judgescope.extensions.distill.specs import SampleSpec, Student
from judgescope.replies.judging import Questions
from judgescope.schema.cards import Aspect, Judge, RatedAspect, VllmModel
from judgescope.schema.tables import read_table, table_of, write_table

ItemId = tuple[str, str]
"""(dataset, item)."""


class DrawableText(NamedTuple):
    """A text that can be drawn, which may not be written yet, with its set of
    targets.
    """

    perturbation: str
    target: str
    system: str


class DrawnTexts(NamedTuple):
    """A text and an aspect that a teacher judges."""

    item: str
    text: DrawableText
    aspect: str


def key_of(source: str) -> str:
    """Return a source's letters and digits: layout, case, punctuation differ between
    editions.

    A mark at its end that it was cut short is left out.
    """
    # What some editions write there; other marks (…) have no letters.
    mark = r"(?:\[truncated\]|read\s+more)\W*$"
    folded = unicodedata.normalize("NFKC", source).casefold()
    return "".join(filter(str.isalnum, re.sub(mark, "", folded)))


def groups_of(
    sources: Mapping[ItemId, str | None], beginning: int = 200
) -> dict[ItemId, str]:
    """Return item -> the name of its group; items with the same source form a group.

    Two sources are the same if their keys are, or if one key begins with the other,
    which has at least `beginning` letters: it may be the other cut short. An item
    without a source, or without letters in it, is its own group.
    """
    keys = {}
    for item, source in sources.items():
        keys[item] = key_of(source or "")
    names: dict[str, str] = {}
    root = ""
    for key in sorted(set(keys.values()) - {""}):  # a key follows its prefixes
        if len(root) < beginning or not key.startswith(root):
            root = key
        names[key] = root
    return {item: names.get(key, "/".join(item)) for item, key in keys.items()}


def usable_sources(
    spec: SampleSpec,
    taught: Mapping[ItemId, str | None],
    evaluated: Mapping[ItemId, str | None],
) -> dict[ItemId, str | None]:
    """Return the training items whose source is not in the evaluation.

    Raises UserError if a source is in both, unless the study drops such items.
    """
    groups = groups_of({**taught, **evaluated})
    theirs = {groups[item]: item for item in sorted(evaluated, reverse=True)}
    usable: dict[ItemId, str | None] = {}
    same = []
    for item, source in taught.items():
        if groups[item] in theirs:
            same.append(item)
        else:
            usable[item] = source
    if same and spec.overlap == "stop":
        dataset, item_id = same[0]
        other_dataset, other = theirs[groups[same[0]]]
        raise UserError(
            f"{len(same)} of {len(taught)} training items share their source with an "
            "evaluation item",
            where="the study, key distill.datasets",
            got=f"item {item_id} of {dataset} is item {other} of {other_dataset}",
            todo="choose other datasets or items (`select`), or leave these out: "
            "distill.overlap: drop",
        )
    return usable


def held_out(
    sources: Iterable[str], share: float, *, seed: int, dataset: str
) -> frozenset[str]:
    """Return ceil(share · n) of a dataset's n sources, drawn by the study's seed: at
    least one.

    A single source is not held out.
    """
    names = set(sources)
    if len(names) == 1:
        names = set()
    return first_of(names, share, seed, "distill", "held out", dataset)


def draw(
    dataset: str,
    texts: Mapping[str, Sequence[DrawableText]],
    aspects: Sequence[str],
    *,
    seed: int,
    n_texts: int,
    n_aspects: int,
) -> list[DrawnTexts]:
    """Return up to N texts of each item and up to M aspects of each text.

    `texts`: item -> its texts. The draw for an item depends only on the study's seed
    and the item's texts. Source: (Kartáč et al. 2025, section 5.1), N = 4, M = 3 for
    most tasks.
    """
    drawn = []
    for item, unordered in sorted(texts.items()):
        ordered = sorted(unordered, key=lambda text: (text.perturbation, text.target))
        numbers = _drawn_numbers(len(ordered), n_texts, seed, "texts", dataset, item)
        for text in (ordered[number] for number in numbers):
            name = f"{text.perturbation}:{text.target}"
            chosen = _drawn_numbers(
                len(aspects), n_aspects, seed, "aspects", dataset, name
            )
            drawn += [DrawnTexts(item, text, aspects[number]) for number in chosen]
    return drawn


def _drawn_numbers(n: int, count: int, seed: int, *names: str) -> list[int]:
    """Return `count` of the numbers below n, drawn without replacement, in ascending
    order.
    """
    if n <= count:
        return list(range(n))
    rng = stream(seed, "distill", *names)
    return sorted(rng.choice(n, size=count, replace=False).tolist())


def sample(
    spec: SampleSpec,
    sources: Mapping[ItemId, str | None],
    texts: Mapping[str, Subjects],
) -> list[dict[str, Any]]:
    """Return rows of table `samples`: the draws from all datasets, with their prompts.

    `texts`: dataset -> its items and texts.
    """
    groups = groups_of(sources)
    held: set[str] = set()
    for dataset in spec.taught:
        names = [group for (name, _), group in groups.items() if name == dataset]
        held |= held_out(names, spec.held_out, seed=spec.seed, dataset=dataset)
    rows: list[dict[str, Any]] = []
    for name in spec.taught:
        rows += _rows(spec, name, groups, held, texts[name])
    return rows


def _rows(
    spec: SampleSpec,
    dataset: str,
    groups: Mapping[ItemId, str],
    held: set[str],
    known: Subjects,
) -> Iterator[dict[str, Any]]:
    """Yield the draws from a dataset, with their prompts as far as these are known."""
    taught = spec.student.datasets[dataset]
    texts: dict[str, list[DrawableText]] = {}
    subjects: dict[str, Subject] = {}
    for name in (*taught.sets, *taught.new):
        is_new = name in taught.new
        for text in _unwritten(known, name) if is_new else known.in_set(name):
            if (dataset, text.item) not in groups or not (text.text or is_new):
                continue
            subjects[text.target] = text
            drawable = DrawableText(name, text.target, text.system or "")
            texts.setdefault(text.item, []).append(drawable)
    drawn = draw(
        dataset,
        texts,
        list(taught.aspects),
        seed=spec.seed,
        n_texts=spec.n_texts,
        n_aspects=spec.n_aspects,
    )
    prompt_of = _prompts_of(spec.student, dataset, drawn, subjects)
    for sampled in drawn:
        yield {
            "dataset": dataset,
            "item": sampled.item,
            **sampled.text._asdict(),
            "aspect": sampled.aspect,
            "held_out": groups[dataset, sampled.item] in held,
            "prompt": prompt_of[sampled],
            "room": spec.room if sampled.text.perturbation in taught.new else 0,
        }


def _prompts_of(
    student: Student,
    dataset: str,
    drawn: Iterable[DrawnTexts],
    subjects: Mapping[str, Subject],
) -> dict[DrawnTexts, str]:
    """Return the prompt of each draw.

    subjects: target -> its text.
    """
    by_aspect: dict[str, list[DrawnTexts]] = {}
    for sampled in drawn:
        by_aspect.setdefault(sampled.aspect, []).append(sampled)
    prompt_of: dict[DrawnTexts, str] = {}
    for aspect, about in by_aspect.items():
        # The form of an aspect is rendered once for all its texts.
        shown = [subjects[sampled.text.target] for sampled in about]
        filled = prompts(student, dataset, aspect, shown)
        prompt_of.update(zip(about, filled, strict=True))
    return prompt_of


def _unwritten(known: Subjects, name: str) -> Iterator[Subject]:
    """Yield the texts that a model must write first: one for every item with a
    source.
    """
    for item, row in known.items.items():
        if row["source"]:
            yield Subject(
                new_target(item, name),
                item,
                name,
                name,
                "",
                source=row["source"],
                parts=parts_of(row),
                meta=row["meta"],
            )


def prompts(
    student: Student, dataset: str, aspect: str, subjects: Sequence[Subject]
) -> list[str]:
    """Return the prompt about each text: exactly what the judge will be asked."""
    questions = questions_of(student, dataset, aspect, subjects)
    return [questions.prompt(number) for number in range(len(questions))]


def questions_of(
    student: Student, dataset: str, aspect: str, subjects: Sequence[Subject]
) -> Questions:
    """Return what the judge will be asked about some texts."""
    taught = student.datasets[dataset]
    return Questions(
        VllmModel(**student.model),
        Judge(**student.judge),
        Aspect(**taught.aspects[aspect]),
        RatedAspect(**taught.scales[aspect]),
        [(subject,) for subject in subjects],
        student.templates,
        student.seed,
        taught.about,
        split(aspect)[1],
    )


def check_splits(rows: Iterable[Mapping[str, Any]]) -> None:
    """Raise UserError if a sample has no training items, or no held-out items."""
    flags = {row["held_out"] for row in rows}
    for purpose, is_held_out in (("train on", False), ("hold out", True)):
        if is_held_out not in flags:
            raise UserError(
                f"no item is left to {purpose}",
                where="the study, key distill.datasets",
                todo="name datasets with more items: at least one is held out, and "
                "training needs at least one",
            )


def sample_distill(spec: SampleSpec) -> None:
    """Read items and texts of all datasets, compare sources, write the sample."""
    taught: dict[ItemId, str | None] = {}
    for dataset, share in spec.taught.items():
        taught |= _sources(spec, dataset, share)
    evaluated: dict[ItemId, str | None] = {}
    for dataset in spec.evaluated:
        evaluated |= _sources(spec, dataset, 1.0)
    sources = usable_sources(spec, taught, evaluated)
    texts = {}
    for name, files in spec.subjects.items():
        texts[name] = Subjects(files, name, spec.seed)
    rows = sample(spec, sources, texts)
    dropped = len(taught) - len(sources)
    print(f"items dropped, because evaluation uses their source: {dropped}")
    bare = sum(not key_of(source or "") for source in sources.values())
    print(f"items without a source, whose overlap cannot be checked: {bare}")
    for dataset in spec.taught:
        flags = [row["held_out"] for row in rows if row["dataset"] == dataset]
        print(
            f"{dataset}: {len(flags):,} texts and aspects, {sum(flags):,} of "
            "them held out"
        )
    check_splits(rows)
    write_table("samples", table_of("samples", rows), spec.output)


def _sources(spec: SampleSpec, dataset: str, share: float) -> dict[ItemId, str | None]:
    """Return the sources of the share of a dataset's items that judges receive."""
    table = read_table("items", spec.items[dataset], ["item", "source"])
    items = table["item"].to_pylist()
    given = share_of(items, share, seed=spec.seed, dataset=dataset)
    sources: dict[ItemId, str | None] = {}
    for item, source in zip(items, table["source"].to_pylist(), strict=True):
        if item in given:
            sources[dataset, item] = source
    return sources
