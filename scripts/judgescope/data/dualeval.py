"""The benchmarks of Hu et al. (2025) as JSON: texts of known rating, texts in a known
order.

Role `global`: an object aspect -> list of objects with source, target and rating. Role
`local`: an object aspect -> object source -> list of texts (or objects with target):
first the reference, then texts with one error more each. An item is a source; it has no
other reference. Rows in messages are the numbers of an aspect's texts, or sources, from
1.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.data.draft import Draft, Files, RowFault, trimmed
from judgescope.data.files import RoleFiles, resolve
from judgescope.data.rows import read_object
from judgescope.data.specs import TakeSpec
from judgescope.schema.cards import GIVEN_ROLES, Dataset, Format
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import CHOSEN, read_table, table_of, write_table

FEWEST = 2
"""Minimum number of texts of a source, so that they have an order."""
SYSTEM = "given"
"""The system of texts whose author is unknown."""
Row = dict[str, Any]
Contents = dict[Path, Row]
"""The files of a role, each with its object."""


class Given(NamedTuple):
    """A text with its known rating, or its position after the reference."""

    source: str
    text: str
    step: int
    rating: float | None


def read(draft: Draft, files: Files) -> None:
    """Add the items: every source once, however many texts it has."""
    contents = {role: _contents(files[role]) for role in GIVEN_ROLES if role in files}
    texts = [
        text
        for role, of_role in contents.items()
        for aspect in draft.card.aspects
        for text in _of_aspect(draft, of_role, role, aspect)
    ]
    _note(draft, contents, [text.rating is not None for text in texts])
    sources = dict.fromkeys(text.source for text in texts)
    for source in sources:
        draft.item(draft.number([source], len(sources)), [source], None)


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
) -> tuple[list[Row], list[Row]]:
    """Return texts as rows of the table `targets` and, if they are rated, of `graded`.

    `items`: source -> item; texts of other sources are left out. The number of a
    chain's text is its step, other texts are counted.
    """
    counted: Counter[str] = Counter()
    targets, graded = list[Row](), list[Row]()
    for text in texts:
        if (item := items.get(text.source)) is None:
            continue
        counted[item] += 1
        number = text.step if text.rating is None else counted[item]
        target = f"{item}:{spec.perturbation}.{spec.degree}.{number}"
        known = {"dataset": spec.dataset["dataset"], "target": target, "item": item}
        made = {
            "perturbation": spec.perturbation,
            "degree": spec.degree,
            "step": text.step,
        }
        written = {"system": SYSTEM, "text": text.text, "status": "ok", "edits": []}
        targets.append({**known, **made, **written})
        if (given_rating := text.rating) is not None:
            rating = min(spec.classes, key=lambda value: abs(value - given_rating))
            grade = {
                "aspect": spec.aspect,
                "rating": rating,
                "n_tied": 0,
                "status": CHOSEN,
            }
            graded.append({**known, **grade})
    return targets, graded


def _contents(files: RoleFiles) -> Contents:
    return {path: read_object(path) for path, _ in files}


def _of_aspect(
    draft: Draft, contents: Contents, role: str, aspect: str
) -> Iterator[Given]:
    """Yield the texts of an aspect; whatever is wrong with a text is recorded as a
    fault.
    """
    column = draft.card.aspects[aspect].column or aspect
    holding = [path for path, content in contents.items() if column in content]
    if len(holding) == 1:
        with draft.reading(holding[0], 0, f"aspect {column}"):
            yield from READERS[role](
                draft, holding[0], aspect, contents[holding[0]][column]
            )
        return
    with draft.reading(holding[-1] if holding else next(iter(contents)), 0):
        if holding:
            raise RowFault("two files of a role contain the same aspect", got=column)
        raise RowFault(
            f"an aspect has no texts ({role})",
            got=column,
            allowed=[name for content in contents.values() for name in content],
            todo=f"set `column` in the card's aspects.{aspect}, or remove the aspect",
        )


def _rated(draft: Draft, path: Path, aspect: str, entries: Any) -> Iterator[Given]:
    if not isinstance(entries, list) or not entries:
        raise RowFault("the texts of an aspect must be a list of objects", got=entries)
    part = draft.part
    for row, entry in enumerate(entries, start=1):
        with draft.reading(path, row, part):
            if not isinstance(entry, dict):
                raise RowFault("a rated text must be an object", got=entry)
            source, text = (_text(draft, entry, key) for key in ("source", "target"))
            rating = draft.value(aspect, draft.pick(entry, "rating"))
            if source and text and rating is not None:
                yield Given(source, text, 0, rating)


def _in_order(draft: Draft, path: Path, aspect: str, entries: Any) -> Iterator[Given]:
    if not isinstance(entries, dict) or not entries:
        raise RowFault(
            "the texts of an aspect must be an object with sources as keys", got=entries
        )
    part, seen, same = draft.part, set[str](), 0
    for row, (key, texts) in enumerate(entries.items(), start=1):
        with draft.reading(path, row, part):
            source = draft.text(key.strip(), "source")
            if source in seen:
                raise RowFault("two sources differ only in white space", got=key)
            seen.add(source)
            if not isinstance(texts, list) or len(texts) < FEWEST:
                raise RowFault(
                    "a source must have a list of texts that starts with the reference",
                    got=texts,
                    allowed=f"{FEWEST} or more",
                )
            if source:
                same += yield from _row(draft, source, texts)
    if same:
        draft.notes.append(
            f"texts of {aspect} equal to the one before them (local): {same}"
        )


def _row(draft: Draft, source: str, texts: list[Any]) -> Generator[Given, None, int]:
    """Yield the texts of a source; return how many equal the text before them."""
    (path, row), part, seen = draft.location, draft.part, list[str]()
    for step, entry in enumerate(texts):
        with draft.reading(Path(path), row, f"{part}, text {step + 1}"):
            fields = entry if isinstance(entry, dict) else {"target": entry}
            if text := _text(draft, fields, "target"):
                seen.append(text)
                yield Given(source, text, step, None)
    return sum(text == before for before, text in pairwise(seen))


def _text(draft: Draft, entry: dict[str, Any], key: str) -> str:
    return draft.text(trimmed(draft.pick(entry, key)), key)


def _note(draft: Draft, contents: Mapping[str, Contents], rated: list[bool]) -> None:
    """Record the number of texts, and the aspects that the card does not list, which
    are not read."""
    counts = {"with a rating": sum(rated), "in a chain": len(rated) - sum(rated)}
    draft.notes.append("texts " + ", ".join(f"{how}: {n}" for how, n in counts.items()))
    known = {scale.column or name for name, scale in draft.card.aspects.items()}
    for role, of_role in sorted(contents.items()):
        names = {name for content in of_role.values() for name in content}
        if others := sorted(names - known):
            draft.notes.append(
                f"aspects that the card does not list ({role}): {', '.join(others)}"
            )


READERS = {"global": _rated, "local": _in_order}
"""Role -> the function that yields the texts of an aspect."""


def take(spec: TakeSpec) -> None:
    """Read the texts of one role and aspect; write the targets, and the ratings if they
    have any.

    Texts of items that the study's selection left out are left out, too.
    """
    folder, where = Path(spec.folder), spec.card_file
    card: Dataset = validate_card("dataset", spec.dataset, where)
    files = resolve(card.files, spec.role, folder, Path(spec.data), where=where)
    items = read_table("items", spec.items, ["item", "source"]).to_pylist()
    texts = given(card, files, spec.role, spec.aspect)
    targets, graded = given_rows(
        spec, texts, {row["source"]: row["item"] for row in items}
    )
    write_table("targets", table_of("targets", targets), spec.output)
    if spec.graded is not None:
        write_table("graded", table_of("graded", graded), spec.graded)


FORMAT = Format(
    name="dualeval_json", roles=(), optional=("global", "local"), gives="texts"
)
