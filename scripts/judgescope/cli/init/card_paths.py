"""Where the cards of a new study are written, and which names are free."""

import re
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.schema.cards import FOLDERS

CONFIG = Path("config")
STUDIES = "studies"
RESULTS = Path("results")


def card_path(kind: str, name: str) -> Path:
    """Return the file of a card, below the working directory."""
    return CONFIG / (STUDIES if kind == "study" else FOLDERS[kind]) / f"{name}.yaml"


def new_study(name: str) -> str:
    """Return a name as a study's id; UserError if a card, a study or results already
    use it.
    """
    name = slug(name)
    named = re.compile(rf"^study:\s*['\"]?{re.escape(name)}['\"]?\s*(#.*)?$", re.M)
    results = RESULTS / name
    taken = []
    for path in (card_path("study", name), card_path("dataset", name), results):
        if path.exists():
            taken.append(path)
    files = [*sorted(CONFIG.glob("*.yaml")), *sorted((CONFIG / STUDIES).glob("*.yaml"))]
    for path in files:
        if named.search(path.read_text("utf-8", errors="replace")):
            taken.append(path)
    if taken:
        what = "results" if taken[0] == results else "a card"
        verb = "exist" if taken[0] == results else "exists"
        raise UserError(
            f"{what} with this name already {verb}",
            where=str(taken[0]),
            got=name,
            todo="choose another name: --study NAME",
        )
    return name
