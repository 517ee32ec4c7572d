"""A dataset as Arrow tables: items, the systems' texts, the originals, the ratings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from judgescope.core.canonical import canonical
from judgescope.core.set_names import ORIGINAL, REFERENCE, SYSTEMS
from judgescope.data.rated import BY_REFERENCE, Rated
from judgescope.schema.cards import Dataset
from judgescope.schema.tables import table_of

if TYPE_CHECKING:
    from judgescope.data.select import Original


def items(dataset: str, rated: Rated, originals: Mapping[str, "Original"]) -> pa.Table:
    """Return the table of items; `original_reference` in meta is the original's position."""
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

    `references`: those that are a reference of their item, and which; it is their parent.
    """
    return table_of(
        "targets",
        [
            _target(dataset, SYSTEMS, one.target, one.item, one.system, one.text)
            | {"parent": f"{one.item}{BY_REFERENCE}{number}" if number is not None else None}
            for one in rated.outputs
            for number in [references.get(one.target)]
        ],
    )


def originals(dataset: str, chosen: Mapping[str, "Original"]) -> pa.Table:
    """Return the table of unperturbed targets, one for each item that has an original."""
    return table_of(
        "targets",
        [
            _target(dataset, ORIGINAL, f"{item}:{ORIGINAL}", item, REFERENCE, one.text)
            for item, one in sorted(chosen.items())
        ],
    )


def ratings(dataset: str, rated: Rated) -> pa.Table:
    """Return the table of ratings; a missing rating has no row."""
    return table_of("ratings", [{"dataset": dataset, **one._asdict()} for one in rated.ratings])


def gold_spans(dataset: str, rated: Rated) -> pa.Table:
    """Return the table of errors that people marked."""
    return table_of("gold_spans", [{"dataset": dataset, **one._asdict()} for one in rated.spans])


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


def report(
    card: Dataset, hashes: Mapping[str, str], rated: Rated, originals: Mapping[str, "Original"]
) -> dict[str, Any]:
    """Return what was read, in numbers, with licence, citation and what should be known."""
    bare = [item.item for item in rated.items if not item.references]
    own = {one.system for one in rated.outputs if one.target in rated.own_references(())}
    unnamed = sorted(own - {*card.reference_systems})
    same = [
        f"all texts of {name} are references, and are not compared with themselves: name it under "
        "`reference_systems`"
        for name in unnamed
    ]
    note = f"without a reference, so without an original: {len(bare)} ({', '.join(bare[:5])})"
    return {
        "dataset": card.dataset,
        "sha256": hashes,
        "items": len(rated.items),
        "targets": len(rated.outputs),
        "originals": len(originals),
        "ratings": len(rated.ratings),
        "raters": sorted({one.rater for one in rated.ratings}),
        "systems": dict(rated.systems),
        "problems": [*rated.problems, *same]
        + ([note] if bare and card.select.original != "none" else []),
        "licence": card.licence,
        "citation": card.citation,
        "ratings_kind": card.ratings,
        **({"spans": len(rated.spans)} if card.gives_spans else {}),
        **({"same_names": True} if rated.same_names else {}),
    }
