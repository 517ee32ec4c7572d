"""The texts and aspects that a judge learns from or that are held out (Kartáč et al.
2025).

No training item has a source on which judges are evaluated.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.names import new_target
from judgescope.core.paths import Paths
from judgescope.core.rng import first_of, share_of, stream
from judgescope.distill.specs import SampleSpec, Student
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.replies.judging import Questions
from judgescope.schema.cards import Aspect, Judge, RatedAspect, VllmModel
from judgescope.schema.tables import read_table, table_of, write_table

BEGINNING: Final = 200
"""With this many letters in common at the beginning, one source may be the other cut
short."""
_MARK: Final = re.compile(r"(?:\[truncated\]|read\s+more)\W*$")
"""What some editions write where they cut a source short; other marks (…) have no
letters."""
ItemId = tuple[str, str]
"""(dataset, item)."""
Row = dict[str, Any]


class Text(NamedTuple):
    """A text that can be drawn, which may not be written yet, with its set of
    targets.
    """

    perturbation: str
    target: str
    system: str


class Drawn(NamedTuple):
    """A text and an aspect that a teacher judges."""

    item: str
    text: Text
    aspect: str


def key_of(source: str) -> str:
    """Return a source's letters and digits: layout, case, punctuation differ between
    editions.

    A mark at its end that it was cut short is left out.
    """
    folded = unicodedata.normalize("NFKC", source).casefold()
    return "".join(filter(str.isalnum, _MARK.sub("", folded)))


def groups_of(sources: Mapping[ItemId, str | None]) -> dict[ItemId, str]:
    """Return item -> the name of its group; items with the same source form a group.

    Two sources are the same if their keys are, or if one key begins with the other,
    which has at least BEGINNING letters. An item without a source, or without letters
    in it, is its own group.
    """
    keys = {item: key_of(source or "") for item, source in sources.items()}
    names, root = dict[str, str](), ""
    for key in sorted({*keys.values()} - {""}):  # a key follows its prefixes
        if len(root) < BEGINNING or not key.startswith(root):
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
    same = [item for item in taught if groups[item] in theirs]
    if same and spec.overlap == "stop":
        dataset, item = same[0]
        other_dataset, other = theirs[groups[same[0]]]
        raise UserError(
            f"{len(same)} of {len(taught)} training items share their source with an "
            "evaluation item",
            where="the study, key distill.datasets",
            got=f"item {item} of {dataset} is item {other} of {other_dataset}",
            todo="choose other datasets or items (`select`), or leave these out: "
            "distill.overlap: drop",
        )
    return {
        item: source for item, source in taught.items() if groups[item] not in theirs
    }


def held_out(
    sources: Iterable[str], share: float, *, seed: int, dataset: str
) -> frozenset[str]:
    """Return ceil(share · n) of a dataset's n sources, drawn by the study's seed: at
    least one.

    A single source is not held out.
    """
    names = set(sources)
    return first_of(
        names if len(names) > 1 else (), share, seed, "distill", "held out", dataset
    )


def draw(
    dataset: str,
    texts: Mapping[str, Sequence[Text]],
    aspects: Sequence[str],
    *,
    seed: int,
    n_texts: int,
    n_aspects: int,
) -> list[Drawn]:
    """Return up to N texts of each item and up to M aspects of each text.

    `texts`: item -> its texts. The draw for an item depends only on the study's seed
    and the item's texts. Source: (Kartáč et al. 2025, section 5.1), N = 4, M = 3 for
    most tasks.
    """
    drawn = []
    for item in sorted(texts):
        ordered = sorted(texts[item], key=lambda text: (text.perturbation, text.target))
        for index in _drawn_numbers(
            len(ordered), n_texts, seed, "texts", dataset, item
        ):
            text = ordered[index]
            name = f"{text.perturbation}:{text.target}"
            chosen = _drawn_numbers(
                len(aspects), n_aspects, seed, "aspects", dataset, name
            )
            drawn += [Drawn(item, text, aspects[number]) for number in chosen]
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
) -> list[Row]:
    """Return rows of table `samples`: the draws from all datasets, with their prompts.

    `texts`: dataset -> its items and texts.
    """
    groups = groups_of(sources)
    held = set[str]()
    for dataset in spec.taught:
        names = [group for (name, _), group in groups.items() if name == dataset]
        held |= held_out(names, spec.held_out, seed=spec.seed, dataset=dataset)
    return [
        row
        for name in spec.taught
        for row in _rows(spec, name, groups, held, texts[name])
    ]


def _rows(
    spec: SampleSpec,
    dataset: str,
    groups: Mapping[ItemId, str],
    held: set[str],
    known: Subjects,
) -> Iterator[Row]:
    """Yield the draws from a dataset, with their prompts as far as these are known."""
    taught = spec.student.datasets[dataset]
    texts: dict[str, list[Text]] = {}
    subjects: dict[str, Subject] = {}
    for name in (*taught.sets, *taught.new):
        for text in (
            _unwritten(known, name) if name in taught.new else known.in_set(name)
        ):
            if (dataset, text.item) in groups and (text.text or name in taught.new):
                subjects[text.target] = text
                texts.setdefault(text.item, []).append(
                    Text(name, text.target, text.system or "")
                )
    numbers = {"seed": spec.seed, "n_texts": spec.n_texts, "n_aspects": spec.n_aspects}
    drawn = draw(dataset, texts, list(taught.aspects), **numbers)
    prompt_of: dict[Drawn, str] = {}
    for aspect in dict.fromkeys(
        sampled.aspect for sampled in drawn
    ):  # render the form only once
        about = [sampled for sampled in drawn if sampled.aspect == aspect]
        shown = [subjects[sampled.text.target] for sampled in about]
        filled = prompts(spec.student, dataset, aspect, shown)
        prompt_of |= zip(about, filled, strict=True)
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


def _unwritten(known: Subjects, name: str) -> Iterator[Subject]:
    """Yield the texts that a model must write first: one for every item with a
    source.
    """
    for item, row in known.items.items():
        if row["source"]:
            yield Subject(new_target(item, name), item, name, name, "", row["source"])


def prompts(
    student: Student, dataset: str, aspect: str, subjects: Sequence[Subject]
) -> list[str]:
    """Return the prompt about each text: exactly what the judge will be asked."""
    taught = student.datasets[dataset]
    questions = Questions(
        VllmModel(**student.model),
        Judge(**student.judge),
        Aspect(**taught.aspects[aspect]),
        RatedAspect(**taught.scales[aspect]),
        [(subject,) for subject in subjects],
        student.templates,
        student.seed,
        split(aspect)[1],
        task=taught.task,
    )
    return [questions.prompt(number) for number in range(len(questions))]


def check_splits(rows: Iterable[Row]) -> None:
    """Raise UserError if a sample has no training items, or no held-out items."""
    for absent in sorted({False, True} - {row["held_out"] for row in rows}):
        raise UserError(
            "no item is left to hold out" if absent else "no item is left to train on",
            where="the study, key distill.datasets",
            todo=(
                "name datasets with more items: at least one is held out, and training "
                "needs at least one"
            ),
        )


def sample_distill(spec: SampleSpec) -> None:
    """Read items and texts of all datasets, compare sources, write the sample."""
    taught, evaluated = dict[ItemId, str | None](), dict[ItemId, str | None]()
    for dataset, share in spec.taught.items():
        taught |= _sources(spec, dataset, share)
    for dataset in spec.evaluated:
        evaluated |= _sources(spec, dataset, 1.0)
    sources = usable_sources(spec, taught, evaluated)
    texts = {name: Subjects(spec.results, name, spec.seed) for name in spec.taught}
    rows = sample(spec, sources, texts)
    print(
        "items dropped, because evaluation uses their source: "
        f"{len(taught) - len(sources)}"
    )
    bare = sum(not key_of(source or "") for source in sources.values())
    print(f"items without a source, whose overlap cannot be checked: {bare}")
    for dataset in spec.taught:
        held_out = [row["held_out"] for row in rows if row["dataset"] == dataset]
        print(
            f"{dataset}: {len(held_out):,} texts and aspects, {sum(held_out):,} of "
            "them held out"
        )
    check_splits(rows)
    write_table("samples", table_of("samples", rows), spec.output)


def _sources(spec: SampleSpec, dataset: str, share: float) -> dict[ItemId, str | None]:
    """Return the sources of the share of a dataset's items that judges receive."""
    path = Paths(spec.results).items(dataset)
    rows = read_table("items", path, ["item", "source"]).to_pylist()
    given = share_of(
        (row["item"] for row in rows), share, seed=spec.seed, dataset=dataset
    )
    return {
        (dataset, row["item"]): row["source"] for row in rows if row["item"] in given
    }
