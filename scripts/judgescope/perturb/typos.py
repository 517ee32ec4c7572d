"""Random typing errors: the one place that touches the package `typo` (0.1.7).

The package makes one error per call, often without effect (similar_char in about half of all
calls), seeds the process-wide `random` even when it is given no seed, and raises on decimal
digits outside ASCII. Here its errors are candidates: they are made on the original text, and only
those that change it away from every error accepted before are kept.
"""

import random
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from typo import StrErrer

from judgescope.perturb.edits import Edit, Perturbed, impossible, may_cut, perturbed

if TYPE_CHECKING:
    from numpy.random import Generator

KINDS = (
    "char_swap",
    "missing_char",
    "extra_char",
    "nearby_char",
    "similar_char",
    "skipped_space",
    "random_space",
    "repeated_char",
    "unichar",
)
PATIENCE = 200
"""After so many candidates in a row that cannot be used, no further error is tried."""


def typos(text: str, rng: "Generator", *, k: int) -> Perturbed:
    """Make k random typing errors, of kinds that are equally likely, at places that do not touch.

    Short where the text has no room for k errors that leave a character between them.
    """
    if not any(map(str.isalnum, text)):
        return impossible(text, "no alphanumeric character")
    edits: list[Edit] = []
    taken: set[int] = set()
    failures = 0
    with _random_untouched():
        while len(edits) < k and failures < PATIENCE:
            edit = _candidate(text, KINDS[rng.integers(len(KINDS))], int(rng.integers(2**63)))
            failures += 1
            if edit and taken.isdisjoint(range(edit.offset, edit.end + 1)):
                edits.append(edit)
                taken.update(range(edit.offset, edit.end + 1))
                failures = 0
    if not edits:
        return impossible(text, "no typing error changes this text")
    return perturbed(text, edits, done=len(edits), wanted=k)


@contextmanager
def _random_untouched() -> Iterator[None]:
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)


def _candidate(text: str, kind: str, seed: int) -> Edit | None:
    """Return one error of this kind, or None where it has no effect or tears a character apart."""
    try:
        result: str = getattr(StrErrer(text, seed=seed), kind)().result
    except KeyError:  # its table of neighbouring keys has ASCII digits only
        return None
    if result == text:
        return None
    edit = _difference(text, result)
    return edit if may_cut(text, edit.offset) and may_cut(text, edit.end) else None


def _difference(old: str, new: str) -> Edit:
    """Return the smallest edit that makes `new` of `old`, the rightmost one where several do.

    Rightmost: what is lost from "aaa" and what is added to it get the same place, so that errors
    that do not touch cannot undo each other.
    """
    shorter = min(len(old), len(new))
    head = bisect_left(range(shorter), True, key=lambda i: old[: i + 1] != new[: i + 1])
    rest = range(shorter - head)
    tail = bisect_left(rest, True, key=lambda i: old[len(old) - 1 - i :] != new[len(new) - 1 - i :])
    return Edit(head, old[head : len(old) - tail], new[head : len(new) - tail])
