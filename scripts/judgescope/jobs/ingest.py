"""Read one dataset, check it, and write its tables: items, systems' texts, originals, ratings."""

from pathlib import Path
from typing import Any

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text
from judgescope.data import Rated, tables
from judgescope.data.files import verify
from judgescope.data.select import Original, originals, read_selected
from judgescope.jobs.run import Spec, run
from judgescope.perturb.sentences import split_sentences
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import write_table


def main(spec: Spec) -> None:
    """Read one dataset, check it, and write its tables and a report."""
    folder, data, output = Path(spec["folder"]), Path(spec["data"]), spec["output"]
    where = str(folder / f"{spec['dataset'].get('dataset')}.yaml")
    card: Dataset = validate_card("dataset", spec["dataset"], where)
    hashes = verify(card, folder, data, where=where)
    rated = read_selected(card, folder, data, spec["seed"], split_sentences)
    name, wanted = card.dataset, output["original"] is not None
    chosen = originals(rated, card.select, split_sentences, where=where) if wanted else {}
    write_table("items", tables.items(name, rated, chosen), output["items"])
    references = rated.own_references(card.reference_systems)
    write_table("targets", tables.systems(name, rated, references), output["systems"])
    write_table("ratings", tables.ratings(name, rated), output["ratings"])
    write_table("gold_spans", tables.gold_spans(name, rated), output["spans"])
    if wanted:
        write_table("targets", tables.originals(name, chosen), output["original"])
    path = Path(output["report"])
    write_text(path, canonical(report(card, hashes, rated, chosen)) + "\n")


def report(
    card: Dataset, hashes: dict[str, str], rated: Rated, chosen: dict[str, Original]
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
        "originals": len(chosen),
        "ratings": len(rated.ratings),
        "raters": sorted({one.rater for one in rated.ratings}),
        "systems": dict(rated.systems),
        "problems": [*rated.problems, *same]
        + ([note] if bare and card.select.original != "none" else []),
        "licence": card.licence,
        "citation": card.citation,
        "ratings_kind": card.ratings,
        **({"spans": len(rated.spans)} if card.gives_spans else {}),
    }


if __name__ == "__main__":
    run(main)
