"""The command `judgescope data`: public files that cards describe, from their
repositories.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgescope.cli.terminal import aligned
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.data.fetch import fetch_all, licence, pins, size_of
from judgescope.data.files import cache, has_pin, pin_error
from judgescope.schema.cards import FOLDERS, Published, SourceFile
from judgescope.schema.loading import read_card


def show(args: argparse.Namespace) -> int:
    """Print the files of cards: those to fetch, and how to get others."""
    rows = [["card", "files", "size", "checked by", "", "repository", "licence"]]
    by_hand = []
    for name, card in _cards(args.cards):
        if card.source:
            missing = len(_absent(card))
            row = [
                name,
                str(len(card.source.files)),
                size_of(card.source.files),
                _checked_by(card.source.files),
                f"{missing} to fetch" if missing else "fetched",
                card.source.repository,
                licence(card),
            ]
            rows.append(row)
        elif card.obtain:
            by_hand.append(f"{name}: {card.obtain}")
    print("\n".join(aligned(rows)))
    if by_hand:
        print("\nCannot be fetched automatically; get these yourself:\n")
        print("\n".join(by_hand))
    print(f"\nFetched files are in {cache()} (JUDGESCOPE_DATA).")
    return 0


def fetch_cards(args: argparse.Namespace) -> int:
    """Fetch the files of cards that the cache lacks."""
    cards = list(_cards(args.cards))
    for name, card in cards:
        if card.source is None:
            raise UserError(
                "the files of this card cannot be fetched",
                where=f"card {name}",
                todo=card.obtain
                or "download them yourself, and name them under `files` in the card",
            )
        if not _absent(card):
            print(f"{name}: already fetched")
    fetch_all([(name, card, _absent(card)) for name, card in cards])
    if args.pin:
        for name, card in cards:
            if card.source and (files := pins(card.source)):
                print(f"{name}: the card can have these in place of git blob ids")
                print(f"source:\n  files:\n{files}")
    return 0


def verify(args: argparse.Namespace) -> int:
    """Verify the fetched files of cards; raise UserErrors for those that differ."""
    wrong = []
    for name, card in _cards(args.cards):
        for file, pin in card.published.items():
            path = cache() / file
            if path.is_file() and not has_pin(file, pin):
                wrong.append(pin_error(path, pin, name))
        if card.source:
            total = len(card.source.files)
            fetched = total - len(_absent(card))
            print(f"{name}: {fetched} of {total} files are fetched")
    if wrong:
        raise UserErrors(wrong)
    return 0


def _checked_by(files: Sequence[SourceFile]) -> str:
    """Return which hashes of its files a card knows.

    >>> _checked_by([SourceFile(path="a", file="a", git_blob="0" * 40)])
    'git blob id'
    """
    kinds = {"git blob id" if file.git_blob else "sha256" for file in files}
    return ", ".join(sorted(kinds, reverse=True))


def _absent(card: Published) -> set[str]:
    """Return the files of a card that are not in the cache."""
    return {name for name in card.published if not (cache() / name).is_file()}


def _cards(names: Sequence[str]) -> Iterator[tuple[str, Published]]:
    """Yield the id and content of cards with public files: all of them, or those
    named.
    """
    known = set()
    for kind in ("dataset", "model"):
        paths = {}
        # A card of the user hides a shipped one with its name.
        for base in (HOME, Path()):
            for path in (base / "config" / FOLDERS[kind]).glob("*.yaml"):
                paths[path.stem] = path
        for name in sorted(paths):
            if names and name not in names:
                continue
            card = read_card(kind, paths[name])
            if isinstance(card, Published):
                known.add(name)
                yield name, card
    unknown = set(names) - known
    if unknown:
        allowed = [name for name, _ in _cards([])]
        raise UserError("unknown card", where="data", got=min(unknown), allowed=allowed)
