"""Read one dataset, check it, and write its tables: items, systems' texts, originals, ratings."""

from pathlib import Path

from msgspec import to_builtins

from judgescope.core.canonical import canonical
from judgescope.core.files import write_text
from judgescope.data import tables
from judgescope.data.files import verify
from judgescope.data.select import originals, read_selected
from judgescope.data.specs import IngestSpec
from judgescope.perturb.sentences import split_sentences
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import write_table


def main(spec: IngestSpec) -> None:
    """Read one dataset, check it, and write its tables and a report."""
    folder, data, output, where = Path(spec.folder), Path(spec.data), spec.output, spec.card_file
    card: Dataset = validate_card("dataset", spec.dataset, where)
    hashes = verify(card, folder, data, where=where)
    rated = read_selected(card, folder, data, spec.seed, split_sentences)
    wanted = output.original is not None
    chosen = originals(rated, card.select, split_sentences, where=where) if wanted else {}
    write_table("items", tables.items(card.dataset, rated, chosen), output.items)
    references = rated.own_references(card.reference_systems)
    write_table("targets", tables.systems(card.dataset, rated, references), output.systems)
    write_table("ratings", tables.ratings(card.dataset, rated), output.ratings)
    write_table("gold_spans", tables.gold_spans(card.dataset, rated), output.spans)
    if output.original is not None:
        write_table("targets", tables.originals(card.dataset, chosen), output.original)
    report = to_builtins(tables.report(card, hashes, rated, chosen))
    write_text(Path(output.report), canonical(report) + "\n")
