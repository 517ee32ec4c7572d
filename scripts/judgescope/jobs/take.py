"""Take the texts that a dataset brings for one aspect, with their ratings or in their order."""

from pathlib import Path

from judgescope.data.dualeval import given, given_rows
from judgescope.data.files import resolve
from judgescope.data.specs import TakeSpec
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: TakeSpec) -> None:
    """Read the texts of one role and aspect; write the targets, and the ratings if they have any.

    Those of items that the study's selection left out are left out, too.
    """
    folder, where = Path(spec.folder), spec.card_file
    card: Dataset = validate_card("dataset", spec.dataset, where)
    files = resolve(card.files, spec.role, folder, Path(spec.data), where=where)
    items = read_table("items", spec.items, ["item", "source"]).to_pylist()
    texts = given(card, files, spec.role, spec.aspect)
    targets, graded = given_rows(spec, texts, {row["source"]: row["item"] for row in items})
    write_table("targets", table_of("targets", targets), spec.output)
    if spec.graded is not None:
        write_table("graded", table_of("graded", graded), spec.graded)
