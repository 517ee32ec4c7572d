"""The command `judgescope data`: public files that cards describe, from their
repositories.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgescope.cli.terminal import aligned
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.data.fetch import fetch_all, licence, size
from judgescope.data.files import cache, digest
from judgescope.schema.cards import FOLDERS, Published
from judgescope.schema.loading import read_card

KINDS = ("dataset", "model")


def show(args: argparse.Namespace) -> int:
    """Print the files of cards: those to fetch, and how to get others."""
    rows, by_hand = [["card", "files", "size", "", "repository", "licence"]], []
    for name, card in _cards(args.cards):
        if card.source:
            files, absent = card.source.files, _absent(card)
            there = "fetched" if not absent else f"{len(absent)} to fetch"
            about = [str(len(files)), size(sum(file.bytes for file in files)), there]
            rows.append([name, *about, card.source.repository, licence(card)])
        elif card.obtain:
            by_hand.append(f"{name}: {card.obtain}")
    print("\n".join(aligned(rows)))
    if by_hand:
        print(
            "\nCannot be fetched automatically; get these yourself:\n\n"
            + "\n".join(by_hand)
        )
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
    return 0


def verify(args: argparse.Namespace) -> int:
    """Verify the fetched files of cards; raise UserErrors for those that differ."""
    wrong = []
    for name, card in _cards(args.cards):
        for file, expected in card.published.items():
            path = cache() / file
            if path.is_file() and (got := digest(path)) != expected:
                todo = "delete it, and fetch it again"
                what = "a fetched file differs from the one that its card describes"
                wrong.append(
                    UserError(
                        what,
                        where=f"{name}: {path}",
                        got=got,
                        allowed=[expected],
                        todo=todo,
                    )
                )
        if card.source:
            total, absent = len(card.source.files), len(_absent(card))
            print(f"{name}: {total - absent} of {total} files are fetched")
    if wrong:
        raise UserErrors(wrong)
    return 0


def _absent(card: Published) -> set[str]:
    """Return the files of a card that are not in the cache."""
    return {name for name in card.published if not (cache() / name).is_file()}


def _cards(names: Sequence[str]) -> Iterator[tuple[str, Published]]:
    """Yield the id and content of cards with public files: all of them, or those
    named.
    """
    known = set()
    for kind in KINDS:
        folders = [base / "config" / FOLDERS[kind] for base in (Path(), HOME)]
        paths = {
            path.stem: path
            for folder in reversed(folders)
            for path in folder.glob("*.yaml")
        }
        for name in sorted({*paths}.intersection(names) if names else paths):
            card = read_card(kind, paths[name])
            if isinstance(card, Published):
                known.add(name)
                yield name, card
    if unknown := set(names) - known:
        allowed = [name for name, _ in _cards([])]
        raise UserError("unknown card", where="data", got=min(unknown), allowed=allowed)
