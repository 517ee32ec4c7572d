"""The texts of Hu et al. (2024) as JSON: originals and what 18 perturbations made of
them.

An object news, dial, table, para -> list of objects with the source (article, dialogue,
table, source), the improved reference `new_ref`, which is the original, and a text
under the name of each perturbation (fluency_repeat, …). The role names the list that a
dataset reads. The layout is that of the authors' program; the file was not read here.
"""

from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft, FilesByRole, RowFault
from judgescope.data.pairs import PairsDraft
from judgescope.data.rated import PerturbedText
from judgescope.data.rows import read_object
from judgescope.data.wording import numbered
from judgescope.schema.cards import Format

SOURCES = {
    "news": ("article", "Article"),
    "dial": ("dialogue", "Conversation"),
    "table": ("table", "Data"),
    "para": ("source", "Source text"),
}
"""Role, and key of its list in the file -> key of the source, and name of its part."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the items; their improved references are the originals."""
    pairs(draft, files)


def pairs(draft: Draft, files: FilesByRole) -> list[PerturbedText]:
    """Add the items, and return their perturbed texts."""
    card = draft.card.dataset
    if len(files) != 1:
        raise UserError(
            "a dataset of this format is one of the lists in the file",
            where=f"datasets/{card}.yaml, key files",
            got=", ".join(files) or None,
            allowed=SOURCES,
            todo="name one role, and write a card for each list",
        )
    [(role, [(path, _), *_])] = files.items()
    entries = _entries(path, role)
    key, part = SOURCES[role]
    adding = PairsDraft(draft)
    for number, entry in enumerate(entries, start=1):
        with draft.reading(path, number, role):
            if not isinstance(entry, dict):
                raise RowFault("an item must be an object", got=entry)
            source = [(part, draft.pick(entry, key))]
            name = numbered(card, number, len(entries))
            item = adding.item(name, source, draft.pick(entry, "new_ref"))
            for perturbation in adding.known:
                with draft.caught():
                    text = draft.pick(entry, perturbation)
                    adding.perturbed(item, perturbation, "", text)
    adding.note(files[role])
    return adding.texts


def _entries(path: Path, role: str) -> list[object]:
    """Return the list of a role; raises UserError if the layout is another one."""
    content = read_object(path)
    entries = content.get(role)
    if not isinstance(entries, list) or not entries:
        raise UserError(
            f"the file has no list of items `{role}`",
            where=str(path),
            got=type(entries).__name__ if entries is not None else None,
            allowed=content,
            todo="check that this is data_all.json of the commit in the card; if its "
            "layout has changed, use that commit",
        )
    return entries


FORMAT = Format(
    name="confusion_json",
    read=read,
    roles=(),
    optional=tuple(SOURCES),
    gives="originals",
    pairs=pairs,
    parts=tuple(part for _, part in SOURCES.values()),
)
