"""Which items of a dataset a study uses, and which reference serves as the unperturbed
text.
"""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError, check_known
from judgescope.core.rng import stream
from judgescope.data.draft import Draft
from judgescope.data.files import resolve
from judgescope.data.rated import Item, Rated
from judgescope.data.sentences import split_sentences
from judgescope.schema.cards import MODULES, Dataset, Select


class Original(NamedTuple):
    """The text of an item that is perturbed, and the number of its reference, if it is
    one.
    """

    reference: int | None
    text: str


def read_dataset(card: Dataset, folder: Path, data: Path) -> Rated:
    """Return all items, outputs and ratings of a dataset.

    `folder` is the card's folder, `data` the folder for `{data}` in its paths. Raises
    UserErrors with all faults of the data, each with file and rows.
    """
    where = str(folder / f"{card.dataset}.yaml")
    files = {
        role: resolve(card.files, role, folder, data, where=where)
        for role in card.files
    }
    draft = Draft(card)
    import_module(MODULES[card.format]).read(draft, files)
    return draft.finish()


def read_selected(card: Dataset, folder: Path, data: Path, seed: int) -> Rated:
    """Return the part of a dataset that a study uses; `folder` and `data` as for
    `read_dataset`.

    Raises UserError or UserErrors if something is wrong with the data or with the
    card's selection.
    """
    where = str(folder / f"{card.dataset}.yaml")
    rated = read_dataset(card, folder, data)
    rated = select(rated, card.select, seed, card.dataset, where=where)
    for key, ids in (
        ("reference_systems", card.reference_systems),
        ("families", card.families),
    ):
        check_known(ids, rated.systems, "unknown system", where=f"{where}, key {key}")
    return rated


def original(item: Item, rule: str) -> Original | None:
    """Return the reference that serves as the original; None if the item has no
    reference.

    Rule `first_reference`: the first. `most_sentences`: the FIRST of those with the
    most sentences (Wang et al. 2024; with our splitter, SummEval's 100 originals have
    the published averages: 340.4 characters, 58.3 words, 4.0 sentences). `longest`: the
    FIRST of the longest. `none`: no original.
    """
    if rule == "none" or not item.references:
        return None
    measures = {
        "most_sentences": lambda text: len(split_sentences(text)),
        "longest": len,
    }
    measure = measures.get(rule, lambda _: 0)
    counts = [measure(text) for text in item.references]
    index = counts.index(max(counts))
    return Original(index, item.references[index])


def originals(rated: Rated, rule: Select, *, where: str = "") -> dict[str, Original]:
    """Return item -> original, for the items that have one.

    `where` names the card in errors. Raises UserError for an unknown system.
    """
    if rule.original_system is not None:
        [system] = _systems(
            rated, [rule.original_system], f"{where}, key select.original_system"
        )
        return {
            output.item: Original(None, output.text)
            for output in rated.outputs
            if output.system == system and output.text.strip()
        }
    return {
        item.item: chosen
        for item in rated.items
        if (chosen := original(item, rule.original)) is not None
    }


def select(
    rated: Rated, rule: Select, seed: int, dataset: str, *, where: str = ""
) -> Rated:
    """Return the items and systems that a card's `select` keeps, in the order of their
    ids.

    Drawn items depend only on the seed, the dataset and the set of ids, not on the
    data's order. `where` names the card in errors. Raises UserError for an unknown
    system, and if fewer items are left than requested.
    """
    where = where or dataset
    dropped = _systems(rated, rule.drop_systems, f"{where}, key select.drop_systems")
    items = rated.items
    if rule.min_characters:
        chosen = originals(rated, rule, where=where)
        long = {
            item
            for item, text in chosen.items()
            if len(text.text) >= rule.min_characters
        }
        items = [item for item in items if item.item in long]
    names = _draw(sorted(item.item for item in items), rule, seed, dataset, where)
    return rated.keep(names, dropped)


def _systems(rated: Rated, names: list[str], where: str) -> set[str]:
    """Return the ids of systems, which are named as in the data or by their ids."""
    known = {name: system for system, name in rated.systems.items()}
    known |= {system: system for system in rated.systems}
    unknown = [name for name in names if name not in known]
    check_known(unknown, rated.systems.values(), "unknown system", where=where)
    return {known[name] for name in names}


def _draw(
    names: list[str], rule: Select, seed: int, dataset: str, where: str
) -> set[str]:
    if rule.n is None and names:
        return set(names)
    if not names or len(names) < (rule.n or 1):
        limit = rule.min_characters
        long = f" whose original has {limit} characters or more" if limit else ""
        raise UserError(
            f"there are only {len(names)} items{long}",
            where=f"{where}, key select.n",
            got=rule.n,
            allowed=f"1 to {len(names)}" if names else "nothing: no item is left",
        )
    drawn = stream(seed, "select", dataset).choice(
        len(names), size=rule.n, replace=False
    )
    return {names[index] for index in drawn}
