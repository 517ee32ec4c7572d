"""Texts with marks: what changed between two states, and the errors that judges
list.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from rapidfuzz.distance import Levenshtein, Postfix, Prefix

from judgescope.core.errors import coded
from judgescope.perturb.edits import Edit, may_cut
from judgescope.report.specs import PerturbationCard
from judgescope.report.words import plural

LONGEST = 2_000
"""A text with up to this many characters, marks included, is shown in full."""
CONTEXT, CHANGED, MOST = 120, 1_000, 10_000
"""Characters kept of a longer text: at both ends of unchanged and of changed parts; in
all."""
MOST_REPLACED = 0.5
"""Of the words between the first and the last change: more is shown as one change."""
MOST_TOKENS = 50_000
"""Words compared one by one; a longer stretch is shown as one change."""
MOST_SEVERE = 5
"""The highest severity of an error."""
MOST_SIGNS = 8
"""Shown for a change that is white space only."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_MARKS = re.escape(string.punctuation + "…“”‘’„«»–—。、，；：？！（）「」『』।؟،؛")
_TOKEN = re.compile(rf"\s+|[{_MARKS}{_UNSPACED}]|[^\s{_MARKS}{_UNSPACED}]+")
"""White space, a mark, a character of a script without spaces, or a word; nothing is
left out."""

_SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}
Kind = Literal["same", "del", "ins", "moved", "error", "gap"]


class Stretch(NamedTuple):
    """A part of a text before and after; the parts of a text side by side are the
    whole.
    """

    before: str
    after: str
    changed: bool


class Piece(NamedTuple):
    """What is shown of a stretch; `number` tells where a moved sentence went, or came
    from.

    Of an error it is its place in a list of its own.
    """

    kind: Kind
    text: str
    number: int = 0

    @property
    def sign(self) -> str:
        """Return a visible sign for an invisible change, such as a space; else ""."""
        kinds = {
            "" if char.isspace() else unicodedata.category(char) for char in self.text
        }
        if kinds - {"", "Mn", "Mc", "Me", "Cf"} or coded(self.text) != self.text:
            return ""
        signs = (
            _SIGNS.get(char, f"U+{ord(char):04X} ") for char in self.text[:MOST_SIGNS]
        )
        return "".join(signs).strip()


def edited(text: str, edits: Iterable[Edit]) -> list[Stretch]:
    """Return the stretches of a text whose edits are known exactly."""
    found, done = [], 0
    for edit in edits:
        kept = text[done : edit.offset]
        found += [Stretch(kept, kept, False), Stretch(edit.before, edit.after, True)]
        done = edit.end
    return _joined([*found, Stretch(text[done:], text[done:], False)])


def compared(before: str, after: str) -> list[Stretch]:
    """Return the stretches of two texts without known edits, compared word by word."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    start = Prefix.similarity(old, new)
    end = Postfix.similarity(old[start:], new[start:])
    head, tail = "".join(old[:start]), "".join(old[len(old) - end :])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    middle, parts = [Stretch("".join(old), "".join(new), True)], list[Stretch]()
    for one in (
        Levenshtein.opcodes(old, new) if len(old) + len(new) <= MOST_TOKENS else ()
    ):
        first = "".join(old[one.src_start : one.src_end])
        other = "".join(new[one.dest_start : one.dest_end])
        # what only separates two changes is a part of both
        parts.append(Stretch(first, other, one.tag != "equal" or not first.strip()))
    changed = sum(len(one.before.split()) for one in parts if one.changed)
    if parts and changed <= MOST_REPLACED * sum(
        len(one.before.split()) for one in parts
    ):
        middle = parts
    return _joined([Stretch(head, head, False), *middle, Stretch(tail, tail, False)])


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the stretches with neighbours of one kind made one, and none that is
    empty.
    """
    full = (one for one in stretches if one.before or one.after)
    groups = (
        (changed, list(group))
        for changed, group in groupby(full, lambda one: one.changed)
    )
    return [
        Stretch(
            "".join(one.before for one in group),
            "".join(one.after for one in group),
            changed,
        )
        for changed, group in groups
    ]


def marked(stretches: Iterable[Stretch]) -> list[Piece]:
    """Return both states of a text in one: deleted parts before those that replaced
    them.
    """
    found: list[Piece] = []
    for before, after, changed in stretches:
        found += (
            [Piece("del", before), Piece("ins", after)]
            if changed
            else [Piece("same", before)]
        )
    return [piece for piece in found if piece.text]


def reordered(
    text: str, edits: Sequence[Edit]
) -> tuple[list[Piece], list[Piece]] | None:
    """Return both states of a text whose sentences changed places, or None if they did
    not.

    A moved sentence has the same number in both.
    """
    if not edits or Counter(e.before for e in edits) != Counter(e.after for e in edits):
        return None
    left: dict[str, list[int]] = {}
    for number, edit in enumerate(edits, 1):
        left.setdefault(edit.before, []).append(number)
    pairs, done = list[tuple[Piece, Piece]](), 0
    for number, edit in enumerate(edits, 1):
        kept = Piece("same", text[done : edit.offset])
        moved = Piece("moved", edit.after, left[edit.after].pop(0))
        pairs += [(kept, kept), (Piece("moved", edit.before, number), moved)]
        done = edit.end
    rest = Piece("same", text[done:])
    old, new = zip(*pairs, (rest, rest), strict=True)
    return [piece for piece in old if piece.text], [
        piece for piece in new if piece.text
    ]


def states(
    before: str, after: str, edits: Sequence[Edit], card: PerturbationCard | None
) -> list[list[Piece]]:
    """Return the pieces of a text's two states in one, or beside each other if
    sentences moved.

    `card` is what a report knows of the perturbation. Only the edits of a rule are
    known exactly: one of a model, or the last of several, spans all that differs.
    """
    by_rule = card is not None and card.method == "rule" and card.kind != "graded"
    if not (by_rule and edits):
        return [marked(compared(before, after))]
    moved = reordered(before, edits) if card and card.level == "sentence" else None
    return [marked(edited(before, edits))] if moved is None else list(moved)


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of a long text without the parts that are far from every
    change.

    What changed is cut only where it is very long, and the end only where very much
    changed.
    """
    if sum(len(piece.text) for piece in pieces) <= LONGEST:
        return list(pieces)
    found: list[Piece] = []
    shown = 0
    for at, piece in enumerate(pieces):
        if shown > MOST:
            left = sum(len(one.text) for one in pieces[at:])
            return [*found, Piece("gap", plural(left, "more character"))]
        kept = list(_ends(piece))
        found += kept
        shown += sum(len(one.text) for one in kept)
    return found


_WHAT = {
    "same": "",
    "del": "deleted ",
    "ins": "inserted ",
    "moved": "moved ",
    "error": "marked ",
}


def _ends(piece: Piece) -> Iterator[Piece]:
    """Yield a piece, or its two ends and how much is left out between them."""
    kept = CONTEXT if piece.kind == "same" else CHANGED
    start, end = kept, len(piece.text) - kept
    if end - start <= kept:
        yield piece
        return
    while not may_cut(piece.text, start):
        start -= 1
    while not may_cut(piece.text, end):
        end += 1
    yield piece._replace(text=piece.text[:start])
    yield Piece("gap", plural(end - start, f"{_WHAT[piece.kind]}character"))
    yield piece._replace(text=piece.text[end:])


# --- errors that judges list ----------------------------------------------------------


class Error(NamedTuple):
    """An error: where it is (None: nowhere in the text), how severe, its kind, and why
    it is one.

    `severity` is a whole number up to MOST_SEVERE, 0 where none is known.
    """

    start: int | None
    end: int | None
    severity: int
    category: str
    explanation: str
    quoted: str


def pieces(text: str, errors: Sequence[Error]) -> tuple[list[Piece], list[list[int]]]:
    """Return the pieces of a text, and which errors lie over each piece of kind error.

    A piece's `number` is its place in the second list. Errors may overlap: a text is
    cut wherever one begins or ends. A long text is shortened far from every error, and
    where very much of it is marked it ends early. An error without length covers
    nothing.
    """
    placed = [
        (start, end, number)
        for number, error in enumerate(errors)
        if error.start is not None and error.end is not None
        for start, end in [(max(error.start, 0), min(error.end, len(text)))]
        if start < end
    ]
    cuts = sorted(
        {0, len(text), *(cut for start, end, _ in placed for cut in (start, end))}
    )
    found, over = list[Piece](), list[list[int]]()
    for start, end in pairwise(cuts):
        here = [
            number for left, right, number in placed if left <= start and end <= right
        ]
        if here:
            over.append(here)
            found.append(Piece("error", text[start:end], len(over) - 1))
        else:
            found.append(Piece("same", text[start:end]))
    return shortened(found), over


def grouped(
    pieces: Sequence[Piece], over: Sequence[Sequence[int]]
) -> list[list[tuple[Piece, Sequence[int]]]]:
    """Return pieces with the errors over each, together where they share errors.

    A piece without marks is a group of its own, except for a gap within an error.
    """
    pairs = [
        (piece, over[piece.number] if piece.kind == "error" else ()) for piece in pieces
    ]
    last = {error: index for index, (_, errors) in enumerate(pairs) for error in errors}
    groups, end = list[list[tuple[Piece, Sequence[int]]]](), -1
    for index, (piece, errors) in enumerate(pairs):
        if index > end:
            groups.append([])
        groups[-1].append((piece, errors))
        end = max(end, *(last[error] for error in errors), index)
    return groups
