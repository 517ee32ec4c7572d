"""A dataset as Arrow tables: items, the systems' texts, the originals, the ratings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from msgspec import to_builtins

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text
from judgescope.core.names import ORIGINAL, REFERENCE, SYSTEMS
from judgescope.data import select
from judgescope.data.files import verify
from judgescope.data.rated import BY_REFERENCE, GoldSpan, Preference, Rated, Rating
from judgescope.data.select import Original
from judgescope.data.specs import WARNING, IngestReport, IngestSpec
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import table_of, write_table


def items(dataset: str, rated: Rated, originals: Mapping[str, Original]) -> pa.Table:
    """Return the table of items; `original_reference` in meta is the original's
    position.
    """
    rows = []
    for item in rated.items:
        chosen = originals.get(item.item)
        meta = dict(item.meta)
        if chosen is not None and chosen.reference is not None:
            meta["original_reference"] = chosen.reference
        rows.append(
            {
                "dataset": dataset,
                "item": item.item,
                "source": item.source,
                "references": list(item.references),
                "meta": canonical(meta, strict=False),
            }
        )
    return table_of("items", rows)


def systems(dataset: str, rated: Rated, references: Mapping[str, int]) -> pa.Table:
    """Return the table of targets that systems wrote.

    `references`: target -> number of the reference that it equals, which becomes its
    parent.
    """
    rows = []
    for text in rated.outputs:
        row = _target(dataset, SYSTEMS, text.target, text.item, text.system, text.text)
        row["length"] = text.length
        if (number := references.get(text.target)) is not None:
            row["parent"] = f"{text.item}{BY_REFERENCE}{number}"
        rows.append(row)
    return table_of("targets", rows)


def originals(dataset: str, chosen: Mapping[str, Original]) -> pa.Table:
    """Return the table of unperturbed targets, one for each item that has an
    original.
    """
    rows = [
        _target(dataset, ORIGINAL, f"{item}:{ORIGINAL}", item, REFERENCE, original.text)
        for item, original in sorted(chosen.items())
    ]
    return table_of("targets", rows)


def _target(
    dataset: str, perturbation: str, target: str, item: str, system: str, text: str
) -> dict[str, object]:
    return {
        "dataset": dataset,
        "target": target,
        "item": item,
        "system": system,
        "perturbation": perturbation,
        "step": 0,
        "text": text,
        "status": "ok",
        "edits": [],
    }


NAMED = 5
"""The number of items that a notice names."""


def _without_original(rated: Rated, originals: Mapping[str, Original]) -> list[str]:
    """Return a notice on the items of which no text can be perturbed, if there are
    any.
    """
    bare = [item.item for item in rated.items if item.item not in originals]
    if bare and not originals:
        return [
            f"{WARNING}no text can be perturbed, so every number about perturbations "
            "is undefined: no item has a reference. Name the references in the "
            "dataset's card (or a system whose texts are perturbed: "
            "`select.original`), or let a model write them (`references: {model: …}` "
            "in the study)"
        ]
    shown = ", ".join(bare[:NAMED]) + (", …" if len(bare) > NAMED else "")
    notice = (
        f"items without an original, which are not perturbed: {len(bare):,} ({shown})"
    )
    return [notice] if bare else []


def report(
    card: Dataset,
    hashes: dict[str, str],
    rated: Rated,
    originals: Mapping[str, Original],
    *,
    perturbs: bool,
) -> IngestReport:
    """Return what was read, in numbers, with licence, citation and notices.

    `perturbs`: whether the study needs originals.
    """
    given: list[Rating | Preference] = [*rated.ratings, *rated.preferences]
    references = rated.own_references(())
    wholly = {output.system for output in rated.outputs if output.target in references}
    problems = rated.problems + [
        f"all texts of the system {name} are references, which should not be compared "
        "with themselves: list it under `reference_systems`"
        for name in sorted(wholly - {*card.reference_systems})
    ]
    sources = [item.source for item in rated.items if item.source]
    if (distinct := len({*sources})) < len(sources):
        problems.append(
            f"{len(sources)} items have only {distinct} different sources, but "
            "intervals treat items as independent, so they are too narrow: give the "
            "texts of a source one item"
        )
    if perturbs:
        problems = _without_original(rated, originals) + problems
    return IngestReport(
        dataset=card.dataset,
        sha256=hashes,
        items=len(rated.items),
        targets=len(rated.outputs),
        originals=len(originals),
        ratings=len(given),
        raters=sorted({each.rater for each in given}),
        systems=dict(rated.systems),
        problems=problems,
        licence=card.licence,
        citation=card.citation,
        ratings_kind=card.ratings,
        spans=len(rated.spans) if card.gives_spans else None,
        same_names=rated.same_names,
    )


def ingest(spec: IngestSpec) -> None:
    """Read one dataset, check it, and write its tables and a report."""
    folder, data, output, where = (
        Path(spec.folder),
        Path(spec.data),
        spec.output,
        spec.card_file,
    )
    card: Dataset = validate_card("dataset", spec.dataset, where)
    hashes = verify(card, folder, data, where=where)
    rated = select.read_selected(card, folder, data, spec.seed)
    wanted = output.original is not None
    chosen = select.originals(rated, card.select, where=where) if wanted else {}
    write_table("items", items(card.dataset, rated, chosen), output.items)
    references = rated.own_references(card.reference_systems)
    write_table("targets", systems(card.dataset, rated, references), output.systems)
    records: list[tuple[str, str, Sequence[Rating | Preference | GoldSpan]]] = [
        ("ratings", output.ratings, [*rated.ratings, *rated.preferences]),
        ("gold_spans", output.spans, rated.spans),
    ]
    for table, path, each in records:
        rows = [{"dataset": card.dataset, **record._asdict()} for record in each]
        write_table(table, table_of(table, rows), path)
    if output.original is not None:
        write_table("targets", originals(card.dataset, chosen), output.original)
    counts = to_builtins(report(card, hashes, rated, chosen, perturbs=spec.perturbs))
    write_text(Path(output.report), canonical(counts) + "\n")
