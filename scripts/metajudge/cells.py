"""Many cells in few words: a spec has to fit one command line (128 KiB) for any study."""

from collections.abc import Iterable, Iterator
from itertools import product

Block = list[list[str]]
"""[perturbations, judges, aspects]: every combination of them is a cell."""


def split(aspect: str) -> tuple[str, str | None]:
    """Return the aspect and the criterion of a cell's `<aspect>` or `<aspect>.<criterion>`."""
    name, _, criterion = aspect.partition(".")
    return name, criterion or None


def joined(aspect: str, criterion: str | None) -> str:
    """Return what a cell calls an aspect in a criterion."""
    return f"{aspect}.{criterion}" if criterion else aspect


def pack(cells: Iterable[tuple[str, str, str]]) -> list[Block]:
    """Return the blocks that make up the cells (perturbation, judge, aspect), each cell once."""
    aspects: dict[tuple[str, str], list[str]] = {}
    for perturbation, judge, aspect in cells:
        aspects.setdefault((perturbation, judge), []).append(aspect)
    judges: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (perturbation, judge), same in aspects.items():
        judges.setdefault((perturbation, tuple(same)), []).append(judge)
    perturbations: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (perturbation, same_aspects), same in judges.items():
        perturbations.setdefault((tuple(same), same_aspects), []).append(perturbation)
    return [[places, list(who), list(what)] for (who, what), places in perturbations.items()]


def unpack(blocks: Iterable[Block]) -> Iterator[tuple[str, str, str]]:
    """Yield the cells (perturbation, judge, aspect) of the blocks."""
    for perturbations, judges, aspects in blocks:
        yield from product(perturbations, judges, aspects)
