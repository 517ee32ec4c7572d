"""Cells, and a compact form for many of them.

A cell is one judge on one set of a dataset's targets; its files have a row group for
each aspect and criterion. A spec must fit one command line (128 KiB) for any study.
"""

from collections.abc import Iterable, Iterator
from itertools import product

CellBlock = list[list[str]]
"""[perturbations, judges, aspects]: all their combinations are judged."""
DERIVED = "derived"
"""The model in the paths of judges that are made from others."""


def split(aspect: str) -> tuple[str, str | None]:
    """Return the aspect and the criterion of `<aspect>` or `<aspect>.<criterion>`."""
    name, _, criterion = aspect.partition(".")
    return name, criterion or None


def joined(aspect: str, criterion: str | None) -> str:
    """Return the name of an aspect in a criterion, `<aspect>.<criterion>`."""
    return f"{aspect}.{criterion}" if criterion else aspect


def pack(cells: Iterable[tuple[str, str, str]]) -> list[CellBlock]:
    """Return blocks that contain each of these (perturbation, judge, aspect) once.

    They do not depend on the order of the cells.
    """
    aspects: dict[tuple[str, str], list[str]] = {}
    for perturbation, judge, aspect in sorted(cells):
        aspects.setdefault((perturbation, judge), []).append(aspect)
    judges: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (perturbation, judge), same in aspects.items():
        judges.setdefault((perturbation, tuple(same)), []).append(judge)
    perturbations: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (perturbation, same_aspects), same in judges.items():
        perturbations.setdefault((tuple(same), same_aspects), []).append(perturbation)
    blocks = list[CellBlock]()
    for (who, what), which in perturbations.items():
        blocks.append([which, list(who), list(what)])
    return blocks


def unpack(blocks: Iterable[CellBlock]) -> Iterator[tuple[str, str, str]]:
    """Yield the (perturbation, judge, aspect) of the blocks."""
    for perturbations, judges, aspects in blocks:
        yield from product(perturbations, judges, aspects)


def by_cell(blocks: Iterable[CellBlock]) -> dict[tuple[str, str], list[str]]:
    """Return (perturbation, judge) -> its aspects, in the order of the cell's files."""
    aspects: dict[tuple[str, str], list[str]] = {}
    for perturbation, judge, aspect in unpack(blocks):
        aspects.setdefault((perturbation, judge), []).append(aspect)
    return {cell: in_order(names) for cell, names in aspects.items()}


def in_order(aspects: Iterable[str]) -> list[str]:
    """Return aspects in the order of a cell's files: by aspect, then by criterion."""
    return sorted(aspects, key=lambda name: name.partition("."))
