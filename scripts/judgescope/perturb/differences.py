"""What differs between a text and one made from it: places in sentences, or whole sentences."""

from itertools import groupby
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from judgescope.perturb.english import is_word, spelled_out, tokens
from judgescope.perturb.sentences import split_sentences

CLOSE = 2
"""So many words between two places belong to one change; marks that end a sentence never do."""
_ENDS = frozenset(".!?…")


class Token(NamedTuple):
    """A word or mark; `first`: the first word of its sentence."""

    text: str
    first: bool
    sentence: int


class Place(NamedTuple):
    """What stands in a place before and after, and the whole sentence before."""

    before: tuple[Token, ...]
    after: tuple[Token, ...]
    sentence: tuple[str, ...]

    @property
    def removed(self) -> list[str]:
        """Return the words that went."""
        return _words_of(self.before)

    @property
    def added(self) -> list[str]:
        """Return the words that came."""
        return _words_of(self.after)


def _words_of(part: tuple[Token, ...]) -> list[str]:
    return [token.text.lower() for token in part if is_word(token.text)]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, white space made even."""
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


def places(text: str, parent: str) -> list[Place]:
    """Return the places that differ, case aside: the fewest words and marks that can.

    What lies close together is one place; one where only marks differ is none.
    """
    old, new = _tokens(parent), _tokens(text)
    opcodes = Levenshtein.opcodes([t.text.lower() for t in old], [t.text.lower() for t in new])
    groups: list[tuple[int, int, int, int]] = []
    for equal, group in groupby(opcodes, key=lambda one: one.tag == "equal"):
        ops = list(group)
        if equal:
            continue
        start, end, *to = ops[0].src_start, ops[-1].src_end, ops[0].dest_start, ops[-1].dest_end
        if groups and _is_one(old, groups[-1][:2], (start, end)):
            start, _, to[0], _ = groups.pop()
        groups.append((start, end, to[0], to[1]))
    found = [Place(tuple(old[a:b]), tuple(new[c:d]), _around(old, a, b)) for a, b, c, d in groups]
    return [place for place in found if place.removed or place.added]


def _is_one(old: list[Token], last: tuple[int, int], here: tuple[int, int]) -> bool:
    """Return whether two places are close; closer still, where nothing is taken away in either."""
    between = old[last[1] : here[0]]
    inserted = last[0] == last[1] and here[0] == here[1]
    return len(between) <= CLOSE - inserted and not any(one.text in _ENDS for one in between)


def _around(old: list[Token], start: int, end: int) -> tuple[str, ...]:
    if not old:
        return ()
    number = old[min(start, len(old) - 1)].sentence
    return tuple(token.text for token in old if token.sentence == number)


def _tokens(text: str) -> list[Token]:
    found = []
    for number, sentence in enumerate(sentences(text)):
        seen = False
        for token in tokens(spelled_out(sentence)):
            found.append(Token(token, is_word(token) and not seen, number))
            seen = seen or is_word(token)
    return found


def rewritten(text: str, parent: str) -> list[tuple[list[str], list[str]]]:
    """Return (sentences before, sentences after) of each run that differs; one may be empty.

    Where there are fewer than before, each of the new ones stands for those old ones in a row with
    which it has more words in common than the next one has.
    """
    old, new = sentences(parent), sentences(text)
    found = []
    for equal, group in groupby(Levenshtein.opcodes(old, new), key=lambda one: one.tag == "equal"):
        ops = list(group)
        before = old[ops[0].src_start : ops[-1].src_end]
        after = new[ops[0].dest_start : ops[-1].dest_end]
        if not equal:
            found += _aligned(before, after)
    return found


def _aligned(old: list[str], new: list[str]) -> list[tuple[list[str], list[str]]]:
    if not new or len(old) < len(new):
        return [(old, new)]
    left, found = list(old), []
    for sentence, *after in (new[place:] for place in range(len(new))):
        of_it = [left.pop(0)]
        while len(left) > len(after) and (
            not after or _shared(left[0], sentence) >= _shared(left[0], after[0])
        ):
            of_it.append(left.pop(0))
        found.append((of_it, [sentence]))
    return found


def _shared(one: str, other: str) -> int:
    return len({*tokens(one.lower())} & {*tokens(other.lower())})
