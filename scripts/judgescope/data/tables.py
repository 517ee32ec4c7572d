"""A dataset as Arrow tables: items, the systems' texts, the originals, the ratings."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from msgspec import to_builtins

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text
from judgescope.core.names import ORIGINAL, REFERENCE, SYSTEMS
from judgescope.core.paths import located_folder
from judgescope.data import select
from judgescope.data.files import verify
from judgescope.data.rated import (
    BY_REFERENCE,
    DatasetContent,
    GoldSpan,
    Preference,
    Rating,
)
from judgescope.data.select import Original
from judgescope.data.specs import (
    WARNING,
    IngestReport,
    IngestSpec,
    NamesFile,
    ReadRatingsSpec,
)
from judgescope.schema.cards import FORMATS, Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.rows import ItemRow, PartValue, TargetRow
from judgescope.schema.tables import table_of, write_table


def items(
    dataset: str, rated: DatasetContent, originals: Mapping[str, Original]
) -> pa.Table:
    """Return the table of items; `original_reference` in meta is the original's
    position.
    """
    rows = list[ItemRow]()
    for item in rated.items:
        chosen = originals.get(item.item)
        meta = dict(item.meta)
        if chosen is not None and chosen.reference is not None:
            meta["original_reference"] = chosen.reference
        parts = list[PartValue]()
        for part in item.parts:
            parts.append({"name": part.name, "text": part.text})
        row: ItemRow = {
            "dataset": dataset,
            "item": item.item,
            "source": item.source,
            "parts": parts,
            "references": list(item.references),
            "meta": canonical(meta, strict=False),
        }
        rows.append(row)
    return table_of("items", rows)


def systems(
    dataset: str, rated: DatasetContent, references: Mapping[str, int]
) -> pa.Table:
    """Return the table of targets that systems wrote.

    `references`: target -> number of the reference that it equals, which becomes its
    parent.
    """
    rows = list[TargetRow]()
    for text in rated.outputs:
        row = _target(dataset, SYSTEMS, text.target, text.item, text.system, text.text)
        row["length"] = text.length
        number = references.get(text.target)
        if number is not None:
            row["parent"] = f"{text.item}{BY_REFERENCE}{number}"
        rows.append(row)
    return table_of("targets", rows)


def originals(dataset: str, chosen: Mapping[str, Original]) -> pa.Table:
    """Return the table of unperturbed targets, one for each item that has an
    original.
    """
    rows = list[TargetRow]()
    for item, original in sorted(chosen.items()):
        target = f"{item}:{ORIGINAL}"
        row = _target(dataset, ORIGINAL, target, item, REFERENCE, original.text)
        rows.append(row)
    return table_of("targets", rows)


def _target(
    dataset: str, perturbation: str, target: str, item: str, system: str, text: str
) -> TargetRow:
    """Return the row of an unperturbed text."""
    return {
        "dataset": dataset,
        "target": target,
        "item": item,
        "system": system,
        "perturbation": perturbation,
        "degree": None,
        "step": 0,
        "parent": None,
        "text": text,
        "status": "ok",
        "length": None,
        "edits": [],
    }


def _without_original(
    rated: DatasetContent, originals: Mapping[str, Original]
) -> list[str]:
    """Return a notice on the items of which no text can be perturbed, if there are
    any.
    """
    bare = [item.item for item in rated.items if item.item not in originals]
    if not bare:
        return []
    if not originals:
        return [
            f"{WARNING}no text can be perturbed, so every number about perturbations "
            "is undefined: no item has a reference. Name the references in the "
            "dataset's card (or a system whose texts are perturbed: "
            "`select.original`), or let a model write them (`references: {model: …}` "
            "in the study)"
        ]
    shown = ", ".join(bare[:5])
    if len(bare) > 5:
        shown += ", …"
    return [
        f"items without an original, which are not perturbed: {len(bare):,} ({shown})"
    ]


def report(
    card: Dataset,
    hashes: dict[str, str],
    rated: DatasetContent,
    originals: Mapping[str, Original],
    *,
    how: str,
    perturbs: bool,
) -> IngestReport:
    """Return what was read, in numbers, with notices.

    `how`: see IngestReport. `perturbs`: whether the study needs originals.
    """
    judgments: list[Rating | Preference] = [*rated.ratings, *rated.preferences]
    problems = list[str]()
    if perturbs:
        problems += _without_original(rated, originals)
    problems += rated.problems
    references = rated.own_references(())
    copying = {output.system for output in rated.outputs if output.target in references}
    for name in sorted(copying - set(card.reference_systems)):
        problems.append(
            f"all texts of the system {name} are references, which should not be "
            "compared with themselves: list it under `reference_systems`"
        )
    problems += repeated_sources([item.source for item in rated.items])
    return IngestReport(
        dataset=card.dataset,
        sha256=hashes,
        items=len(rated.items),
        targets=len(rated.outputs),
        originals=len(originals),
        ratings=len(judgments),
        raters=sorted({each.rater for each in judgments}),
        raters_of_one=_raters_of_one(judgments),
        systems=dict(rated.systems),
        problems=problems,
        ratings_kind=card.ratings,
        spans=len(rated.spans) if card.gives_spans else None,
        texts=hash_of_texts(card, rated, originals),
        how=how,
    )


def repeated_sources(sources: Iterable[str]) -> list[str]:
    """Return a notice on items with equal sources, if there are any; `sources`: those
    of all items, "" where an item has none.
    """
    filled = [source for source in sources if source]
    distinct = len(set(filled))
    if distinct == len(filled):
        return []
    return [
        f"{len(filled)} items have only {distinct} different sources, but "
        "intervals treat items as independent, so they are too narrow: give the "
        "texts of a source one item"
    ]


def _raters_of_one(judgments: Iterable[Rating | Preference]) -> int:
    """The most raters that one aspect has; 0 if every rater rated that aspect."""
    raters: dict[str, set[str]] = {}
    for judgment in judgments:
        raters.setdefault(judgment.aspect, set()).add(judgment.rater)
    return raters_of_one(raters)


def raters_of_one(raters: Mapping[str, set[str]]) -> int:
    """Return the most raters that one aspect has; 0 if every rater rated that aspect.

    `raters`: aspect -> its raters.

    >>> raters_of_one({"tone": {"ann", "ben"}, "style": {"cem"}})
    2
    """
    every = set[str]().union(*raters.values())
    raters_of_most = max(map(len, raters.values()), default=0)
    return 0 if raters_of_most == len(every) else raters_of_most


class _Read(NamedTuple):
    """What was read of a dataset."""

    card: Dataset
    hashes: dict[str, str]
    rated: DatasetContent
    originals: dict[str, Original]


def hash_of_texts(
    card: Dataset, rated: DatasetContent, originals: Mapping[str, Original]
) -> str:
    """Return a hash of the texts of a dataset: of all that `ingest` writes.

    It does not depend on the ratings, nor on how the files store the texts.
    """
    digest = hashlib.sha256()
    for table in _texts(card, rated, originals).values():
        for row in table.to_pylist():
            digest.update(canonical(row, strict=False).encode())
    digest.update(_names(rated).encode())
    return digest.hexdigest()


def _texts(
    card: Dataset, rated: DatasetContent, chosen: Mapping[str, Original]
) -> dict[str, pa.Table]:
    """Return the tables of the items, the systems' texts and the originals."""
    references = rated.own_references(card.reference_systems)
    return {
        "items": items(card.dataset, rated, chosen),
        "systems": systems(card.dataset, rated, references),
        "original": originals(card.dataset, chosen),
    }


def _names(rated: DatasetContent) -> str:
    names = NamesFile(systems=dict(rated.systems), same_names=rated.same_names)
    return canonical(to_builtins(names))


def ingest(spec: IngestSpec) -> None:
    """Read one dataset, check it, and write its texts."""
    wanted = spec.output.original is not None
    _write_texts(_read(spec, originals=wanted), spec)


def read_ratings(spec: ReadRatingsSpec) -> None:
    """Read one dataset, check it, and write its ratings and a report."""
    _write_ratings(_read(spec, originals=spec.original), spec)


def ingest_all(texts: IngestSpec, ratings: ReadRatingsSpec) -> None:
    """Write the texts and the ratings of one dataset, which is read once."""
    read = _read(texts, originals=ratings.original)
    _write_texts(read, texts)
    _write_ratings(read, ratings)


def _read(spec: IngestSpec | ReadRatingsSpec, *, originals: bool) -> _Read:
    """Read and check a dataset; `originals`: whether texts to perturb are chosen."""
    folder = located_folder(spec.folder)
    data = Path(spec.data)
    where = spec.card_file
    FORMATS.load(spec.format)
    card: Dataset = validate_card("dataset", spec.keys, where)
    hashes = verify(card, folder, data, where=where)
    rated = select.read_selected(card, folder, data, spec.seed, spec.part)
    chosen = {}
    if originals:
        chosen = select.originals(rated, card.select, where=where)
    return _Read(card, hashes, rated, chosen)


def _write_texts(read: _Read, spec: IngestSpec) -> None:
    """Write the tables of the texts, and the names that the data uses."""
    texts = _texts(read.card, read.rated, read.originals)
    output = spec.output
    write_table("items", texts["items"], output.items)
    write_table("targets", texts["systems"], output.systems)
    if output.original is not None:
        write_table("targets", texts["original"], output.original)
    write_text(Path(output.names), _names(read.rated) + "\n")


def _write_ratings(read: _Read, spec: ReadRatingsSpec) -> None:
    """Write the tables of ratings and marked errors, and the report."""
    judgments: list[Rating | Preference] = [
        *read.rated.ratings,
        *read.rated.preferences,
    ]
    _write_records("ratings", read.card.dataset, judgments, spec.output.ratings)
    _write_records("gold_spans", read.card.dataset, read.rated.spans, spec.output.spans)
    counts = to_builtins(report(*read, how=spec.how, perturbs=spec.perturbs))
    write_text(Path(spec.output.report), canonical(counts) + "\n")


def _write_records(
    table: str,
    dataset: str,
    records: Sequence[Rating | Preference | GoldSpan],
    path: str,
) -> None:
    """Write records, whose fields are columns, as a table of a dataset."""
    rows = list[dict[str, object]]()
    for record in records:
        rows.append({"dataset": dataset, **record._asdict()})
    write_table(table, table_of(table, rows), path)
