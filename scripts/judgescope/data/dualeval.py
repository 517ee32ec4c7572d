"""The benchmarks of Hu et al. (2025) as JSON: texts of known rating, texts in a known
order.

Role `global`: an object aspect -> list of objects with source, target and rating. Role
`local`: an object aspect -> object source -> list of texts (or objects with target):
first the reference, then texts with one error more each. A text's object may have what
is given beside the source in `addition`: the fact of a dialogue. An item is a source;
it has no other reference. Rows in messages are the numbers of an aspect's texts, or
sources, from 1.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.paths import located_folder
from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.files import RoleFiles, resolve
from judgescope.data.rows import FileRow, read_object
from judgescope.data.specs import TakeSpec
from judgescope.data.wording import trimmed
from judgescope.schema.cards import FORMATS, GIVEN_ROLES, Dataset, Format
from judgescope.schema.loading import validate_card
from judgescope.schema.rows import GradedRow, TargetRow
from judgescope.schema.tables import (
    CHOSEN,
    read_table,
    table_of,
    tuples_of,
    write_table,
)

Contents = dict[Path, FileRow]
"""The files of a role, each with its object."""


class Given(NamedTuple):
    """A text with its known rating, or its position after the reference."""

    source: str
    text: str
    step: int
    rating: float | None
    addition: str = ""
    """What is given beside the source; "" if the text's object does not say."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items: every source once, however many texts it has."""
    contents = {role: _contents(files[role]) for role in GIVEN_ROLES if role in files}
    texts = list[Given]()
    for role, of_role in contents.items():
        for aspect in draft.card.aspects:
            texts += _of_aspect(draft, of_role, role, aspect)
    _note(draft, contents, [text.rating is not None for text in texts])
    additions = _additions(draft, contents, texts)
    for source, addition in additions.items():
        number = draft.number([source], len(additions))
        parts = [(draft.only_part, source)]
        if addition:
            parts.append(
                ("Fact" if draft.card.task == "dialogue" else "Context", addition)
            )
        draft.item(number, parts, None)


def _additions(
    draft: Draft, contents: Mapping[str, Contents], texts: Iterable[Given]
) -> dict[str, str]:
    """Return source -> what is given beside it, "" if no text of it says."""
    additions: dict[str, str] = {}
    for text in texts:
        known = additions.get(text.source)
        if known and text.addition and known != text.addition:
            [path, *_] = next(iter(contents.values()))
            with draft.reading(path, 0):
                raise RowFault(
                    "texts of one source differ in `addition`", got=text.source
                )
        additions[text.source] = known or text.addition
    return additions


def given(card: Dataset, files: RoleFiles, role: str, aspect: str) -> list[Given]:
    """Return the texts of one aspect in the files of a role; raises UserErrors for
    faulty texts.
    """
    draft = Draft(card)
    texts = list(_of_aspect(draft, _contents(files), role, aspect))
    draft.check()
    return texts


def given_rows(
    spec: TakeSpec, texts: Iterable[Given], items: Mapping[str, str]
) -> tuple[list[TargetRow], list[GradedRow]]:
    """Return texts as rows of the table `targets` and, if they are rated, of `graded`.

    `items`: first part of the source -> item; texts of other sources are left out. The
    number of a chain's text is its step, other texts are counted.
    """
    counted: Counter[str] = Counter()
    targets = list[TargetRow]()
    graded = list[GradedRow]()
    for text in texts:
        item = items.get(text.source)
        if item is None:
            continue
        counted[item] += 1
        number = text.step if text.rating is None else counted[item]
        target = f"{item}:{spec.perturbation}.{spec.degree}.{number}"
        targets.append(_target_row(spec, text, item, target))
        if text.rating is not None:
            graded.append(_graded_row(spec, text.rating, item, target))
    return targets, graded


def _target_row(spec: TakeSpec, text: Given, item: str, target: str) -> TargetRow:
    """Return a text as a row of the table `targets`."""
    # The system of texts whose author is unknown.
    system = "given"
    return {
        "dataset": spec.dataset["dataset"],
        "target": target,
        "item": item,
        "system": system,
        "perturbation": spec.perturbation,
        "degree": spec.degree,
        "step": text.step,
        "parent": None,
        "text": text.text,
        "status": "ok",
        "length": None,
        "edits": [],
    }


def _graded_row(spec: TakeSpec, rating: float, item: str, target: str) -> GradedRow:
    """Return a text of known rating as a row of the table `graded`."""
    return {
        "dataset": spec.dataset["dataset"],
        "target": target,
        "item": item,
        "aspect": spec.aspect,
        "errors": None,
        "rating": min(spec.classes, key=lambda value: abs(value - rating)),
        "margin": None,
        "n_tied": 0,
        "above_lower": None,
        "above_same": None,
        "below_same": None,
        "below_higher": None,
        "status": CHOSEN,
    }


def _contents(files: RoleFiles) -> Contents:
    return {path: read_object(path) for path, _ in files}


def _of_aspect(
    draft: Draft, contents: Contents, role: str, aspect: str
) -> Iterator[Given]:
    """Yield the texts of an aspect; whatever is wrong with a text is recorded as a
    fault.
    """
    column = draft.card.aspects[aspect].column or aspect
    named = {path: _column(content, column) for path, content in contents.items()}
    holding = [path for path, name in named.items() if name is not None]
    # Role -> the function that yields the texts of an aspect.
    readers = {"global": _rated, "local": _in_order}
    if len(holding) == 1:
        [path] = holding
        with draft.reading(path, 0, f"aspect {column}"):
            entries = contents[path][str(named[path])]
            yield from readers[role](draft, path, aspect, entries)
        return
    with draft.reading(holding[-1] if holding else next(iter(contents)), 0):
        if holding:
            raise RowFault("two files of a role contain the same aspect", got=column)
        names = list[str]()
        for content in contents.values():
            names += content
        raise RowFault(
            f"an aspect has no texts ({role})",
            got=column,
            allowed=names,
            todo=f"set `column` in the card's aspects.{aspect}, or remove the aspect",
        )


def _column(content: FileRow, wanted: str) -> str | None:
    """Return the name of an aspect as a file writes it, whatever its capitals."""
    if wanted in content:
        return wanted
    return next(
        (name for name in content if name.casefold() == wanted.casefold()), None
    )


def _rated(draft: Draft, path: Path, aspect: str, entries: Any) -> Iterator[Given]:
    """Yield the texts of an aspect with their ratings."""
    if not isinstance(entries, list) or not entries:
        raise RowFault("the texts of an aspect must be a list of objects", got=entries)
    part = draft.part
    for row, entry in enumerate(entries, start=1):
        with draft.reading(path, row, part):
            if not isinstance(entry, dict):
                raise RowFault("a rated text must be an object", got=entry)
            source = _text(draft, entry, "source")
            text = _text(draft, entry, "target")
            rating = draft.value(aspect, draft.pick(entry, "rating"))
            addition = _addition(draft, entry)
            if source and text and rating is not None:
                yield Given(source, text, 0, rating, addition)


def _in_order(draft: Draft, path: Path, aspect: str, entries: Any) -> Iterator[Given]:
    """Yield the texts of an aspect with their positions after the reference."""
    if not isinstance(entries, dict) or not entries:
        raise RowFault(
            "the texts of an aspect must be an object with sources as keys", got=entries
        )
    part = draft.part
    seen = set[str]()
    n_same = 0
    for row, (key, texts) in enumerate(entries.items(), start=1):
        with draft.reading(path, row, part):
            source = draft.text(key.strip(), "source")
            if source in seen:
                raise RowFault("two sources differ only in white space", got=key)
            seen.add(source)
            # A single text has no order.
            if not isinstance(texts, list) or len(texts) < 2:
                raise RowFault(
                    "a source must have a list of texts that starts with the reference",
                    got=texts,
                    allowed="2 or more",
                )
            if source:
                n_same += yield from _row(draft, source, texts)
    if n_same:
        draft.notes.append(
            f"texts of {aspect} equal to the one before them (local): {n_same}"
        )


def _row(draft: Draft, source: str, texts: list[Any]) -> Generator[Given, None, int]:
    """Yield the texts of a source; return how many equal the text before them."""
    path, row = draft.location
    part = draft.part
    seen = list[str]()
    for step, entry in enumerate(texts):
        with draft.reading(Path(path), row, f"{part}, text {step + 1}"):
            fields = entry
            if not isinstance(entry, dict):
                fields = {"target": entry}
            text = _text(draft, fields, "target")
            if text:
                seen.append(text)
                yield Given(source, text, step, None, _addition(draft, fields))
    return sum(text == before for before, text in pairwise(seen))


def _text(draft: Draft, entry: dict[str, Any], key: str) -> str:
    return draft.text(trimmed(draft.pick(entry, key)), key)


def _addition(draft: Draft, entry: dict[str, Any]) -> str:
    addition = trimmed(entry.get("addition"))
    if addition:
        return draft.text(addition, "addition")
    return ""


def _note(draft: Draft, contents: Mapping[str, Contents], rated: list[bool]) -> None:
    """Record the number of texts, and the aspects that the card does not list, which
    are not read."""
    n_rated = sum(rated)
    draft.notes.append(
        f"texts with a rating: {n_rated}, in a chain: {len(rated) - n_rated}"
    )
    aspects = draft.card.aspects.items()
    known = {(scale.column or name).casefold() for name, scale in aspects}
    for role, of_role in sorted(contents.items()):
        names = set[str]()
        for content in of_role.values():
            names.update(content)
        others = sorted(name for name in names if name.casefold() not in known)
        if others:
            draft.notes.append(
                f"aspects that the card does not list ({role}): {', '.join(others)}"
            )


def take(spec: TakeSpec) -> None:
    """Read the texts of one role and aspect; write the targets, and the ratings if they
    have any.

    Texts of items that the study's selection left out are left out, too.
    """
    FORMATS.load(spec.format)
    folder = located_folder(spec.folder)
    where = spec.card_file
    card: Dataset = validate_card("dataset", spec.keys, where)
    files = resolve(card.files, spec.role, folder, Path(spec.data), where=where)
    items = dict[str, str]()
    for item, parts in tuples_of(
        read_table("items", spec.items, ["item", "parts"]), ["item", "parts"]
    ):
        items[parts[0]["text"]] = item
    texts = given(card, files, spec.role, spec.aspect)
    targets, graded = given_rows(spec, texts, items)
    write_table("targets", table_of("targets", targets), spec.output)
    if spec.graded is not None:
        write_table("graded", table_of("graded", graded), spec.graded)


FORMAT = Format(
    name="dualeval_json",
    read=read,
    roles=(),
    optional=("global", "local"),
    gives="texts",
    parts=("Fact", "Context"),
)
