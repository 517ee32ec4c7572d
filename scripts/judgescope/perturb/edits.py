"""What a perturbation is: edits of a text at known places, and every other character untouched."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Edit(NamedTuple):
    """`before` at `offset` (code points, in the ORIGINAL text) becomes `after`."""

    offset: int
    before: str
    after: str

    @property
    def end(self) -> int:
        """The offset just behind `before`."""
        return self.offset + len(self.before)


@dataclass(frozen=True)
class Perturbed:
    """A damaged text and how it came about.

    `status` is `ok`, `short: k of K` (fewer edits than wanted took effect) or `impossible: reason`.
    For ok and short, `text` differs from the original and equals `apply_edits(original, edits)`;
    for impossible, `text` is the original and there are no edits.
    """

    text: str
    status: str
    edits: tuple[Edit, ...]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; every character outside of them stays as it is.

    The edits are sorted and do not overlap; one that does not fit the text is a ValueError.
    """
    parts, done = [], 0
    for edit in edits:
        if edit.offset < done or text[edit.offset : edit.end] != edit.before:
            raise ValueError(f"{edit} does not fit the text or the edit before it")
        parts += [text[done : edit.offset], edit.after]
        done = edit.end
    return "".join([*parts, text[done:]])


def undone_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text that `apply_edits` made this one of."""
    parts, done, moved = [], 0, 0
    for edit in edits:
        start = edit.offset + moved
        parts += [text[done:start], edit.before]
        done = start + len(edit.after)
        moved += len(edit.after) - len(edit.before)
    return "".join([*parts, text[done:]])


def impossible(text: str, reason: str) -> Perturbed:
    """Return the text as it is, with the reason why it cannot be perturbed."""
    return Perturbed(text, f"impossible: {reason}", ())


def perturbed(text: str, edits: Iterable[Edit], *, done: int, wanted: int) -> Perturbed:
    """Return the text with the edits made, by which `done` of `wanted` changes took effect."""
    ordered = tuple(sorted(edits))
    result = apply_edits(text, ordered)
    if result == text:
        return impossible(text, "the edits cancel each other")
    return Perturbed(result, "ok" if done == wanted else f"short: {done} of {wanted}", ordered)


def edit_between(before: str, after: str) -> list[Edit]:
    """Return the one edit that makes `after` of `before`: what differs between equal ends."""
    if before == after:
        return []
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    most = min(len(before), len(after)) - start
    while end < most and before[len(before) - 1 - end] == after[len(after) - 1 - end]:
        end += 1
    return [Edit(start, before[start : len(before) - end], after[start : len(after) - end])]
