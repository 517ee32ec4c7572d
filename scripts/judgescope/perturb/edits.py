"""Perturbations as edits of a text at known offsets; every other character stays.

No edit separates a combining mark from its base: a text is never cut before a combining
mark, a variation selector, a joiner or a skin tone, nor after a zero-width joiner.
(Full segmentation by Unicode annex 29 would need tables that Python does not have.)
"""

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

TextRow = dict[str, Any]
"""A row of a table of texts, with the columns that its use needs."""
_JOINER = "\u200d"


class Edit(NamedTuple):
    """`before` at `offset` (code points, in the ORIGINAL text) becomes `after`."""

    offset: int
    before: str
    after: str

    @property
    def end(self) -> int:
        """The offset just after `before`."""
        return self.offset + len(self.before)


@dataclass(frozen=True)
class Perturbed:
    """A perturbed text and its edits.

    `status` is `ok`, `short: k of K` (fewer edits took effect than planned) or
    `impossible: reason`. For ok and short, `text` differs from the original and equals
    `apply_edits(original, edits)`; for impossible, `text` is the original, without
    edits.
    """

    text: str
    status: str
    edits: tuple[Edit, ...]

    @property
    def columns(self) -> TextRow:
        """Return its columns of table `targets`."""
        edits = [edit._asdict() for edit in self.edits]
        return {"text": self.text, "status": self.status, "edits": edits}

    def target(
        self,
        parent: TextRow,
        perturbation: str,
        degree: str | None,
        step: int,
        *,
        in_chain: bool,
    ) -> TextRow:
        """Return it as a row of table `targets`; `parent`: the row of the text that it
        changes.
        """
        number = f".{step}" if in_chain else ""
        return {
            **parent,
            "target": f"{parent['item']}:{perturbation}.{degree}{number}",
            "perturbation": perturbation,
            "degree": degree,
            "step": step,
            "parent": parent["target"],
            **self.columns,
        }


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made.

    The edits must be sorted and must not overlap; an edit that does not fit is a
    ValueError.
    """
    parts = []
    done = 0
    for edit in edits:
        if edit.offset < done or text[edit.offset : edit.end] != edit.before:
            raise ValueError(f"{edit} does not fit the text or the edit before it")
        parts += [text[done : edit.offset], edit.after]
        done = edit.end
    return "".join([*parts, text[done:]])


def undone_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text before `apply_edits`."""
    parts = []
    done = 0
    moved = 0
    for edit in edits:
        start = edit.offset + moved
        parts += [text[done:start], edit.before]
        done = start + len(edit.after)
        moved += len(edit.after) - len(edit.before)
    return "".join([*parts, text[done:]])


def impossible(text: str, reason: str) -> Perturbed:
    """Return the unchanged text, with the reason why it cannot be perturbed."""
    return Perturbed(text, f"impossible: {reason}", ())


def perturbed(
    text: str, edits: Iterable[Edit], *, done: int, planned: int
) -> Perturbed:
    """Return the text with the edits made; `done` of `planned` changes took effect."""
    ordered = tuple(sorted(edits))
    result = apply_edits(text, ordered)
    if result == text:
        return impossible(text, "the edits cancel out")
    status = "ok"
    if done != planned:
        status = f"short: {done} of {planned}"
    return Perturbed(result, status, ordered)


def edit_between(before: str, after: str) -> list[Edit]:
    """Return the edit that turns `before` into `after` (the smallest, rightmost one),
    or none.
    """
    from rapidfuzz.distance import Postfix, Prefix  # here: `audit` runs without

    if before == after:
        return []
    start = Prefix.similarity(before, after)
    end = Postfix.similarity(before[start:], after[start:])
    removed = before[start : len(before) - end]
    inserted = after[start : len(after) - end]
    return [Edit(start, removed, inserted)]


class Amount(NamedTuple):
    """The requested number of edits: exactly `k`, or at least `min_edits`; None: any
    number.
    """

    k: int | str | None = None
    min_edits: int | None = None

    def problem(self, count: int, noun: str) -> str | None:
        """Return the problem with a number of edits, or None."""
        counted = f"it has {count} {noun if count == 1 else noun + 's'}"
        if isinstance(self.k, int) and count != self.k:
            return f"{counted}, not {self.k}"
        if self.min_edits is not None and count < self.min_edits:
            return f"{counted}, fewer than {self.min_edits}"
        return None


Check = Callable[[str, str, Amount], str | None]
"""(text, parent, amount) -> the problem of the text, or None."""


def extends(character: str) -> bool:
    """Return whether the character belongs to the one before it."""
    non_joiner = "\u200c"
    if unicodedata.category(character).startswith("M"):
        return True
    return (
        character in (_JOINER, non_joiner) or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def may_cut(text: str, offset: int) -> bool:
    """Return whether the text can be cut at the offset without splitting a visible
    character.
    """
    if not 0 < offset < len(text):
        return True
    if extends(text[offset]):
        return False
    return text[offset - 1] != _JOINER


def alphanumerics(text: str) -> list[tuple[int, int]]:
    """Return the span of each letter or digit, together with the marks that belong to
    it.
    """
    spans = []
    for start, character in enumerate(text):
        if character.isalnum():
            end = start + 1
            while end < len(text) and extends(text[end]):
                end += 1
            spans.append((start, end))
    return spans
