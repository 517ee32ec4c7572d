"""Which items of a dataset a study uses, and which reference serves as the unperturbed
text.
"""

from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError, check_known
from judgescope.core.rng import stream
from judgescope.data.draft import Draft
from judgescope.data.files import resolve
from judgescope.data.rated import SOURCE, DatasetContent, Item
from judgescope.data.sentences import split_sentences
from judgescope.schema.cards import FORMATS, Dataset, Select


class Original(NamedTuple):
    """The text of an item that is perturbed, and the number of its reference, if it is
    one.
    """

    reference: int | None
    text: str


def read_dataset(
    card: Dataset, folder: Path, data: Path, part: str = SOURCE
) -> DatasetContent:
    """Return all items, outputs and ratings of a dataset.

    `folder` is the card's folder, `data` the folder for `{data}` in its paths, `part`
    the name of a source with one part. Raises UserErrors with all faults of the data,
    each with file and rows.
    """
    where = str(folder / f"{card.dataset}.yaml")
    files = {}
    for role in card.files:
        files[role] = resolve(card.files, role, folder, data, where=where)
    draft = Draft(card, part)
    FORMATS[card.format].read(draft, files)
    return draft.finish()


def read_selected(
    card: Dataset, folder: Path, data: Path, seed: int, part: str = SOURCE
) -> DatasetContent:
    """Return the part of a dataset that a study uses; other arguments as for
    `read_dataset`.

    Raises UserError or UserErrors if something is wrong with the data or with the
    card's selection.
    """
    where = str(folder / f"{card.dataset}.yaml")
    content = read_dataset(card, folder, data, part)
    content = select(content, card.select, seed, card.dataset, where=where)
    named = {"reference_systems": card.reference_systems, "families": card.families}
    for key, systems in named.items():
        where_key = f"{where}, key {key}"
        check_known(systems, content.systems, "unknown system", where=where_key)
    return content


def original(item: Item, rule: str) -> Original | None:
    """Return the reference that serves as the original; None if the item has no
    reference.

    Rule `first_reference`: the first. `most_sentences`: the FIRST of those with the
    most sentences (Wang et al. 2024; with our splitter, SummEval's 100 originals have
    the published averages: 340.4 characters, 58.3 words, 4.0 sentences). `longest`: the
    FIRST of the longest. `none`: no original.

    >>> item = Item("i1", "a source", ("Rain.", "It rained.", "It poured."), {})
    >>> original(item, "longest")
    Original(reference=1, text='It rained.')
    """
    if rule == "none" or not item.references:
        return None
    if rule == "most_sentences":
        counts = [len(split_sentences(text)) for text in item.references]
    elif rule == "longest":
        counts = [len(text) for text in item.references]
    else:
        counts = [0]
    index = counts.index(max(counts))
    return Original(index, item.references[index])


def originals(
    rated: DatasetContent, rule: Select, *, where: str = ""
) -> dict[str, Original]:
    """Return item -> original, for the items that have one.

    `where` names the card in errors. Raises UserError for an unknown system.
    """
    chosen: dict[str, Original] = {}
    if rule.original_system is not None:
        key = f"{where}, key select.original_system"
        [system] = _systems(rated, [rule.original_system], key)
        for output in rated.outputs:
            if output.system == system and output.text.strip():
                chosen[output.item] = Original(None, output.text)
        return chosen
    for item in rated.items:
        reference = original(item, rule.original)
        if reference is not None:
            chosen[item.item] = reference
    return chosen


def select(
    rated: DatasetContent, rule: Select, seed: int, dataset: str, *, where: str = ""
) -> DatasetContent:
    """Return the items and systems that a card's `select` keeps, in the order of their
    ids.

    Drawn items depend only on the seed, the dataset and the set of ids, not on the
    data's order. `where` names the card in errors. Raises UserError for an unknown
    system, and if fewer items are left than requested.
    """
    where = where or dataset
    dropped = _systems(rated, rule.drop_systems, f"{where}, key select.drop_systems")
    names = [item.item for item in rated.items]
    if rule.min_characters:
        chosen = originals(rated, rule, where=where)
        long_enough = list[str]()
        for name in names:
            if name in chosen and len(chosen[name].text) >= rule.min_characters:
                long_enough.append(name)
        names = long_enough
    drawn = _draw(sorted(names), rule, seed, dataset, where)
    return rated.keep(drawn, dropped)


def _systems(rated: DatasetContent, names: list[str], where: str) -> set[str]:
    """Return the ids of systems, which are named as in the data or by their ids."""
    known: dict[str, str] = {}
    for system, name in rated.systems.items():
        known[name] = system
    for system in rated.systems:
        known[system] = system
    unknown = [name for name in names if name not in known]
    check_known(unknown, rated.systems.values(), "unknown system", where=where)
    return {known[name] for name in names}


def _draw(
    names: list[str], rule: Select, seed: int, dataset: str, where: str
) -> set[str]:
    """Return as many of the names as the rule says, or raise UserError."""
    if rule.n is None and names:
        return set(names)
    if not names or len(names) < (rule.n or 1):
        limit = rule.min_characters
        condition = ""
        if limit:
            condition = f" whose original has {limit} characters or more"
        raise UserError(
            f"there are only {len(names)} items{condition}",
            where=f"{where}, key select.n",
            got=rule.n,
            allowed=f"1 to {len(names)}" if names else "nothing: no item is left",
        )
    rng = stream(seed, "select", dataset)
    drawn = rng.choice(len(names), size=rule.n, replace=False)
    return {names[index] for index in drawn}
