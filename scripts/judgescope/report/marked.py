"""Texts with marks: what changed between two states, and the errors that judges
list.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from judgescope.core.errors import coded
from judgescope.perturb.edits import Edit, may_cut
from judgescope.report.specs import PerturbationCard
from judgescope.report.words import plural


@dataclass(frozen=True)
class ShownLength:
    """Characters of a text with marks that a page shows."""

    in_full: int = 2_000
    """A text with up to so many, marks included, is shown in full."""
    unchanged: int = 120
    """Kept at both ends of an unchanged part of a longer text."""
    changed: int = 1_000
    """Kept at both ends of a changed part."""
    in_all: int = 10_000
    """After so many a text ends."""


SHOWN = ShownLength()
MOST_SEVERE = 5
"""The highest severity of an error."""


def _token_pattern() -> re.Pattern[str]:
    """White space, a mark, a character of a script without spaces, or a word; nothing
    is left out.
    """
    unspaced = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    marks = re.escape(string.punctuation + "…“”‘’„«»–—。、，；：？！（）「」『』।؟،؛")
    return re.compile(rf"\s+|[{marks}{unspaced}]|[^\s{marks}{unspaced}]+")


_TOKEN = _token_pattern()
MarkKind = Literal["same", "del", "ins", "moved", "error", "gap"]


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

    kind: MarkKind
    text: str
    number: int = 0

    @property
    def sign(self) -> str:
        """Return a visible sign for an invisible change, such as a space; else ""."""
        visible = [char for char in self.text if not char.isspace()]
        kinds = set(map(unicodedata.category, visible))
        if kinds - {"Mn", "Mc", "Me", "Cf"} or coded(self.text) != self.text:
            return ""
        spaces = {" ": "␣", "\n": "↵", "\t": "⇥"}
        signs = ""
        for char in self.text[:8]:  # enough to see that something changed
            signs += spaces.get(char, f"U+{ord(char):04X} ")
        return signs.strip()


def edited(text: str, edits: Iterable[Edit]) -> list[Stretch]:
    """Return the stretches of a text whose edits are known exactly."""
    stretches = []
    done = 0
    for edit in edits:
        stretches.append(_unchanged(text[done : edit.offset]))
        stretches.append(Stretch(edit.before, edit.after, True))
        done = edit.end
    stretches.append(_unchanged(text[done:]))
    return _joined(stretches)


def _unchanged(text: str) -> Stretch:
    return Stretch(text, text, False)


def compared(before: str, after: str, *, most_words: int = 50_000) -> list[Stretch]:
    """Return the stretches of two texts without known edits, compared word by word.

    Longer texts, with spaces and marks more than `most_words`, are one change between
    the first and the last difference.

    >>> [stretch.after for stretch in compared("a b c", "a x c")]
    ['a ', 'x', ' c']
    """
    from rapidfuzz.distance import Postfix, Prefix  # here: `audit` runs without

    old = _TOKEN.findall(before)
    new = _TOKEN.findall(after)
    start = Prefix.similarity(old, new)
    end = Postfix.similarity(old[start:], new[start:])
    head = "".join(old[:start])
    tail = "".join(old[len(old) - end :])
    old = old[start : len(old) - end]
    new = new[start : len(new) - end]
    middle = [Stretch("".join(old), "".join(new), True)]
    if len(old) + len(new) <= most_words:
        middle = _middle(old, new) or middle
    return _joined([_unchanged(head), *middle, _unchanged(tail)])


def _middle(
    old: list[str], new: list[str], most_replaced: float = 0.5
) -> list[Stretch]:
    """The stretches between the first and the last change.

    Nothing if more than the share `most_replaced` of the words changed: nobody reads so
    many marks.
    """
    from rapidfuzz.distance import Levenshtein  # here: `audit` runs without

    stretches = []
    words = 0
    words_changed = 0
    for step in Levenshtein.opcodes(old, new):
        before = "".join(old[step.src_start : step.src_end])
        after = "".join(new[step.dest_start : step.dest_end])
        # What only separates two changes is a part of both.
        changed = step.tag != "equal" or not before.strip()
        stretches.append(Stretch(before, after, changed))
        words += len(before.split())
        if changed:
            words_changed += len(before.split())
    if words_changed <= most_replaced * words:
        return stretches
    return []


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the stretches with neighbours of one kind made one, and none that is
    empty.
    """
    merged: list[Stretch] = []
    for each in stretches:
        if not (each.before or each.after):
            continue
        if merged and merged[-1].changed == each.changed:
            last = merged.pop()
            before = last.before + each.before
            after = last.after + each.after
            merged.append(Stretch(before, after, each.changed))
        else:
            merged.append(each)
    return merged


def marked(stretches: Iterable[Stretch]) -> list[Piece]:
    """Return both states of a text in one: deleted parts before those that replaced
    them.
    """
    pieces: list[Piece] = []
    for before, after, changed in stretches:
        if changed:
            pieces.append(Piece("del", before))
            pieces.append(Piece("ins", after))
        else:
            pieces.append(Piece("same", before))
    return _not_empty(pieces)


def _not_empty(pieces: Iterable[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.text]


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
    old = []
    new = []
    done = 0
    for number, edit in enumerate(edits, 1):
        kept = Piece("same", text[done : edit.offset])
        old += [kept, Piece("moved", edit.before, number)]
        new += [kept, Piece("moved", edit.after, left[edit.after].pop(0))]
        done = edit.end
    rest = Piece("same", text[done:])
    return _not_empty([*old, rest]), _not_empty([*new, rest])


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
    moved = None
    if card and card.level == "sentence":
        moved = reordered(before, edits)
    if moved is None:
        return [marked(edited(before, edits))]
    return list(moved)


def shortened(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of a long text without the parts that are far from every
    change.

    What changed is cut only where it is very long, and the end only where very much
    changed.
    """
    if _length(pieces) <= SHOWN.in_full:
        return list(pieces)
    shown: list[Piece] = []
    length = 0
    for at, piece in enumerate(pieces):
        if length > SHOWN.in_all:
            left = _length(pieces[at:])
            return [*shown, Piece("gap", plural(left, "more character"))]
        ends = list(_ends(piece))
        shown += ends
        length += _length(ends)
    return shown


def _length(pieces: Iterable[Piece]) -> int:
    return sum(len(piece.text) for piece in pieces)


def _ends(piece: Piece) -> Iterator[Piece]:
    """Yield a piece, or its two ends and how much is left out between them."""
    kept = SHOWN.unchanged if piece.kind == "same" else SHOWN.changed
    start = kept
    end = len(piece.text) - kept
    if end - start <= kept:
        yield piece
        return
    while not may_cut(piece.text, start):
        start -= 1
    while not may_cut(piece.text, end):
        end += 1
    what = {
        "same": "",
        "del": "deleted ",
        "ins": "inserted ",
        "moved": "moved ",
        "error": "marked ",
    }
    yield piece._replace(text=piece.text[:start])
    yield Piece("gap", plural(end - start, f"{what[piece.kind]}character"))
    yield piece._replace(text=piece.text[end:])


# --- errors that judges list ----------------------------------------------------------


class LocatedError(NamedTuple):
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


def pieces(
    text: str, errors: Sequence[LocatedError]
) -> tuple[list[Piece], list[list[int]]]:
    """Return the pieces of a text, and which errors lie over each piece of kind error.

    A piece's `number` is its place in the second list. Errors may overlap: a text is
    cut wherever one begins or ends. A long text is shortened far from every error, and
    where very much of it is marked it ends early. An error without length covers
    nothing.
    """
    located = []
    cuts = {0, len(text)}
    for number, error in enumerate(errors):
        if error.start is None or error.end is None:
            continue
        start = max(error.start, 0)
        end = min(error.end, len(text))
        if start < end:
            located.append((start, end, number))
            cuts.update((start, end))
    shown = list[Piece]()
    over = list[list[int]]()
    for start, end in pairwise(sorted(cuts)):
        covering = [
            number for left, right, number in located if left <= start and end <= right
        ]
        if covering:
            shown.append(Piece("error", text[start:end], len(over)))
            over.append(covering)
        else:
            shown.append(Piece("same", text[start:end]))
    return shortened(shown), over


def grouped(
    pieces: Sequence[Piece], over: Sequence[Sequence[int]]
) -> list[list[tuple[Piece, Sequence[int]]]]:
    """Return pieces with the errors over each, together where they share errors.

    A piece without marks is a group of its own, except for a gap within an error.
    """
    last = dict[int, int]()
    pairs = list[tuple[Piece, Sequence[int]]]()
    for index, piece in enumerate(pieces):
        errors: Sequence[int] = ()
        if piece.kind == "error":
            errors = over[piece.number]
        pairs.append((piece, errors))
        last.update(dict.fromkeys(errors, index))
    groups = list[list[tuple[Piece, Sequence[int]]]]()
    end = -1
    for index, (piece, errors) in enumerate(pairs):
        if index > end:
            groups.append([])
        groups[-1].append((piece, errors))
        end = max([end, index, *map(last.__getitem__, errors)])
    return groups
