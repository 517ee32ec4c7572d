"""The command `judgescope cards`: which cards there are, and copies of shipped ones."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from judgescope.core.errors import UserError, check_known
from judgescope.core.paths import HOME
from judgescope.schema.cards import FOLDERS
from judgescope.schema.loading import load_yaml

OWN: Final = Path("config")
SHIPPED: Final = HOME / "config"


class CardFile(NamedTuple):
    """A card's file, and whether it is shipped, the user's, or hides a shipped one."""

    kind: str
    name: str
    path: Path
    origin: str


def list_cards(args: argparse.Namespace) -> int:
    """Print name, origin and first line of comment of each card."""
    kinds = args.kinds or list(FOLDERS)
    check_known(kinds, FOLDERS, "unknown kind of card", where="judgescope cards")
    for kind in kinds:
        cards = list(card_files(kind))
        print(f"{kind}: {len(cards)}")
        for card in cards:
            about = first_comment(card.path.read_text(encoding="utf-8"))
            print(f"  {card.name:<32} {card.origin:<22} {about}".rstrip())
    return 0


def copy_card(args: argparse.Namespace) -> int:
    """Copy a shipped card with its form and the cards that it names into config/."""
    kind, _, name = args.card.partition("/")
    where = "judgescope cards copy"
    check_known([kind], FOLDERS, "unknown kind of card", where=where)
    shipped = {path.stem for path in (SHIPPED / FOLDERS[kind]).glob("*.yaml")}
    check_known([name], shipped, f"unknown {kind} card", where=where)
    for source in files_of_card(kind, name):
        target = OWN / source.relative_to(SHIPPED)
        if target.exists():
            raise UserError(
                "this file exists and is not overwritten",
                where=str(target),
                todo="change that file, or move it away",
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        print(f"written: {target}")
    return 0


def card_files(kind: str) -> Iterator[CardFile]:
    """Yield the cards of a kind by name; a card of the user hides a shipped one."""
    copies = {}
    for path in (OWN / FOLDERS[kind]).glob("*.yaml"):
        copies[path.stem] = path
    shipped = {path.stem: path for path in (SHIPPED / FOLDERS[kind]).glob("*.yaml")}
    if OWN.resolve() == SHIPPED.resolve():
        copies = {}
    for name in sorted(copies.keys() | shipped.keys()):
        if name not in copies:
            origin = "shipped"
        elif name not in shipped:
            origin = "yours"
        elif copies[name].read_bytes() == shipped[name].read_bytes():
            origin = "yours, as shipped"
        else:
            origin = "hides a shipped one"
        yield CardFile(kind, name, copies.get(name) or shipped[name], origin)


def files_of_card(kind: str, name: str) -> Iterator[Path]:
    """Yield the files of a shipped card: its own, its form, those that it names."""
    path = SHIPPED / FOLDERS[kind] / f"{name}.yaml"
    yield path
    content, _ = load_yaml(path)
    form = SHIPPED / "prompts" / f"{content.get('form')}.jinja"
    if form.is_file():
        yield form
    match content:
        case {"source": {"files": str(listed)}}:
            yield path.parent / listed
    # Kind of card -> its key -> the kind of the card that the key names: copied, too.
    named_cards = {"judge": {"model": "model"}, "model": {}}
    for key, named in named_cards.get(kind, {}).items():
        if isinstance(content.get(key), str):
            yield from files_of_card(named, content[key])


def first_comment(text: str) -> str:
    """Return the first line of comment of a card that is for people.

    >>> first_comment("# yaml-language-server: $schema=x\\n# A small model.\\nmodel: m")
    'A small model.'
    """
    for line in text.splitlines():
        if line.startswith("#") and "yaml-language-server" not in line:
            return line.lstrip("# ")
    return ""
