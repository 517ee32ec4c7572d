"""The job that takes the texts of a perturbation that a dataset has already."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from judgescope.core.names import ORIGINAL
from judgescope.core.paths import located_folder
from judgescope.data.files import resolve
from judgescope.data.pairs import perturbed_texts
from judgescope.data.specs import TakePairsSpec
from judgescope.perturb.edits import (
    Perturbed,
    TextRow,
    edit_between,
    impossible,
    perturbed,
)
from judgescope.schema.cards import FORMATS, Dataset
from judgescope.schema.loading import validate_card
from judgescope.schema.tables import read_table, table_of, write_table


def ready_text(original: str, text: str | None) -> Perturbed:
    """Return a perturbed text that the data has, with the edit that leads to it.

    >>> ready_text("It rained.", "It rained not.").edits
    (Edit(offset=9, before='', after=' not'),)
    >>> ready_text("It rained.", None).status
    'impossible: the data has no such text of this item'
    """
    if text is None:
        return impossible(original, "the data has no such text of this item")
    if text == original:
        return impossible(original, "the text of the data equals its original")
    return perturbed(original, edit_between(original, text), done=1, planned=1)


def ready_targets(
    spec: TakePairsSpec, originals: list[TextRow], texts: Mapping[str, str]
) -> Iterator[TextRow]:
    """Yield the perturbed target of every original; `texts`: item -> perturbed text."""
    for row in originals:
        made = ready_text(row["text"], texts.get(row["item"]))
        yield made.target(row, spec.perturbation, spec.degree, 1, in_chain=False)


def take_pairs(spec: TakePairsSpec) -> None:
    """Read the texts of one perturbation and degree, and write the targets.

    Texts of items that the study's selection left out are left out, too.
    """
    FORMATS.load(spec.format)
    folder = located_folder(spec.folder)
    where = spec.card_file
    card: Dataset = validate_card("dataset", spec.keys, where)
    files = {}
    for role in card.files:
        files[role] = resolve(card.files, role, folder, Path(spec.data), where=where)
    described = card.perturbed[spec.perturbation]
    wanted = described.named or spec.perturbation
    by_name: dict[str, str] = {}
    for text in perturbed_texts(card, files, spec.part):
        degree = described.degree_of(text.degree)
        if (text.perturbation, degree) == (wanted, spec.degree):
            by_name[text.item] = text.text
    texts: dict[str, str] = {}
    for row in read_table("items", spec.items, ["item", "meta"]).to_pylist():
        name = json.loads(row["meta"])["id"]
        if name in by_name:
            texts[row["item"]] = by_name[name]
    originals = read_table("targets", spec.input).to_pylist()
    assert all(row["perturbation"] == ORIGINAL for row in originals)
    targets = list(ready_targets(spec, originals, texts))
    write_table("targets", table_of("targets", targets), spec.output)
