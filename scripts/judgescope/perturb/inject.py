"""Errors that rules put into a text one after the other, each in addition to the
earlier ones.

The span that an error changed is locked: no later error touches it, so after n steps a
text has exactly n errors. Each kind of error lowers sub-aspects of a text's quality (Hu
et al. 2025, tables 12 and 13), with English word forms and word lists only; the wording
of the errors is original.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from judgescope.data.sentences import frequency, is_name, split_sentences, tokens
from judgescope.parsing.rating_patterns import NUMBER_NAMES

if TYPE_CHECKING:
    from numpy.random import Generator

LockedSpan = tuple[int, int]


class Site(NamedTuple):
    """A part of a sentence, and its possible replacements, each of which is an
    error.
    """

    start: int
    end: int
    options: tuple[str, ...]


NAMES: Final = (
    "Velunda",
    "Orsimund",
    "Tarkeby",
    "Quillmore",
    "Brennick",
    "Asgavel",
    "Dorvane",
    "Ilmerra",
    "Fenwold",
    "Karsholm",
    "Ruddick",
    "Sabrowe",
    "Threnfield",
    "Ulverade",
    "Wexmoor",
    "Yestrine",
)
"""Invented names, of no real person or place."""
OFF_TOPIC: Final = (
    "Most people peel an onion from the root end.",
    "A violin has four strings and a bow of horsehair.",
    "The moon needs about four weeks for its way around the earth.",
    "Some snails can sleep for three years.",
    "Chess was played in India long before it came to Europe.",
    "Fresh paint dries faster in a warm room.",
    "Bees find their way home by the position of the sun.",
    "A good pair of shoes lasts longer with wooden shoe trees.",
    "Ink was once made from the galls of oak trees.",
    "The longest word in the dictionary is seldom used.",
    "Cats sleep for most of the day.",
    "Marble is lighter than many people believe.",
    "Tomatoes were thought to be poisonous for a long time.",
    "A sundial is of no use at night.",
    "Glass can be melted and blown again and again.",
    "Candles burn more evenly out of the wind.",
    "Wool keeps warm even where it is wet.",
    "The first elevators were moved by hand.",
    "Old maps often show islands that do not exist.",
    "Salt was once worth as much as silver.",
)
"""Off-topic sentences; each is inserted into a text at most once."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"(?<![\w.,])\d{1,18}(?![\w]|[.,]\d)")
_AGREE = {
    "is": "are",
    "are": "is",
    "was": "were",
    "were": "was",
    "has": "have",
    "have": "has",
    "does": "do",
    "do": "does",
    "a": "an",
    "an": "a",
}
_REFER = {
    "he": "she",
    "she": "he",
    "his": "their",
    "her": "its",
    "him": "it",
    "they": "it",
    "them": "him",
    "their": "her",
    "it": "they",
    "its": "his",
    "this": "those",
    "these": "that",
    "who": "which",
    "which": "who",
    "here": "there",
    "there": "here",
}
_COUNTED = (*NUMBER_NAMES[3:], "eleven", "twelve")


def _swapped(words: Mapping[str, str]) -> Callable[[str], Iterator[Site]]:
    """Return the kind of error that replaces a word by another, with the same
    capitalisation.
    """

    def sites(sentence: str) -> Iterator[Site]:
        for word in _WORD.finditer(sentence):
            new = words.get(word[0].lower())
            if new and not word[0].isupper():
                if word[0][0].isupper():
                    new = new.capitalize()
                yield Site(*word.span(), (new,))

    return sites


def _negation(sentence: str) -> Iterator[Site]:
    auxiliary = re.compile(
        r"\b(?:is|are|was|were|will|can|could|should|has|have|had|would|may|must)\b"
        r"(?! not\b| never\b|n['’]t\b)"
    )
    for match in auxiliary.finditer(sentence):
        yield Site(*match.span(), (f"{match[0]} not",))
    denied = re.compile(
        r"\b(?P<aux>is|are|was|were|will|can|could|should|has|have|had|would|may|"
        r"must) not\b"
    )
    for match in denied.finditer(sentence):
        yield Site(*match.span(), (match["aux"],))


def _number(sentence: str) -> Iterator[Site]:
    for digits in _NUMBER.finditer(sentence):
        value = int(digits[0])
        step = max(1, value // 10)
        width = len(digits[0])
        larger = range(value + step, value + 5 * step, step)
        yield Site(*digits.span(), tuple(f"{other:0{width}d}" for other in larger))
    for word in _WORD.finditer(sentence):
        if word[0] in _COUNTED:
            others = tuple(number for number in _COUNTED if number != word[0])
            yield Site(*word.span(), others)


def _name(sentence: str) -> Iterator[Site]:
    first = next(_WORD.finditer(sentence), None)
    capitalised = re.compile(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
    for name in capitalised.finditer(sentence):
        begins = first is not None and name.start() == first.start()
        if is_name(tokens(name[0])[0], first=begins) and name[0] not in NAMES:
            ending = ""
            if name[0].endswith(("'s", "’s")):
                ending = "'s"
            yield Site(*name.span(), tuple(f"{other}{ending}" for other in NAMES))


def _misspelling(sentence: str) -> Iterator[Site]:
    """Two letters within a word are swapped, so that the result is not a word."""
    for match in _WORD.finditer(sentence):
        word = match[0]
        if len(word) < 5 or not word.isalpha() or not word.islower():
            continue
        options = dict[str, None]()
        for i in range(1, len(word) - 2):
            swapped = f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}"
            if swapped != word and not frequency(swapped):
                options[swapped] = None
        if frequency(word) and options:
            yield Site(*match.span(), tuple(options))


def _repeated(sentence: str) -> Iterator[Site]:
    phrase_pattern = re.compile(r"\b[a-z]+(?:['’-][a-z]+)* [a-z]+ [a-z]+\b")
    for phrase in phrase_pattern.finditer(sentence):
        yield Site(*phrase.span(), (f"{phrase[0]}, {phrase[0]},",))


def _left_out(sentence: str) -> Iterator[Site]:
    """The end of a clause is deleted; the word before it is locked, so that it stays
    deleted.
    """
    tail_pattern = re.compile(
        r"\b(?P<kept>[\w'’-]+),? (?:in|on|at|after|before|with|for|from|by|during|near|"
        r"until|since"
        r"|because|which|who|where|when|although|while|to) (?:[^\s,;:.!?]+ ?){1,8}"
        r"(?=[,;:.!?])"
    )
    for tail in tail_pattern.finditer(sentence):
        yield Site(*tail.span(), (tail["kept"],))


WITHIN: Final[Mapping[str, Callable[[str], Iterator[Site]]]] = {
    "reference": _swapped(_REFER),
    "negation": _negation,
    "number": _number,
    "name": _name,
    "grammar": _swapped(_AGREE),
    "spelling": _misspelling,
    "redundancy": _repeated,
    "deletion": _left_out,
}
"""Kind of error within a sentence -> a function that finds its sites in a sentence."""


PUT_IN = -1
"""The place of an inserted sentence, which the original text does not have."""


@dataclass(frozen=True)
class Sentence:
    """A sentence in its current form, its locked spans, and its place in the original
    text.
    """

    text: str
    position: int
    locks: tuple[LockedSpan, ...] = ()

    def free(self, site: Site) -> bool:
        """Return whether a site touches no locked span."""
        return all(site.end <= start or end <= site.start for start, end in self.locks)

    def with_error(self, site: Site, new: str) -> "Sentence":
        """Return the sentence with an error at a site; the site is then locked."""
        shift = len(new) - (site.end - site.start)
        locks = [(site.start, site.start + len(new))]
        for start, end in self.locks:
            if start >= site.end:
                locks.append((start + shift, end + shift))
            else:
                locks.append((start, end))
        text = f"{self.text[: site.start]}{new}{self.text[site.end :]}"
        return replace(self, text=text, locks=tuple(sorted(locks)))


@dataclass(frozen=True)
class ErrorDraft:
    """The sentences of a text, and the gaps before, between and after them."""

    sentences: tuple[Sentence, ...]
    gaps: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the text with its gaps."""
        parts = [self.gaps[0]]
        for sentence, gap in zip(self.sentences, self.gaps[1:], strict=True):
            parts += [sentence.text, gap]
        return "".join(parts)

    def insert(self, index: int, text: str) -> "ErrorDraft":
        """Return the text with a locked sentence inserted before index `index` (at
        least 1).
        """
        sentence = Sentence(text, PUT_IN, ((0, len(text)),))
        gap = " "
        if len(self.sentences) > 1:
            gap = self.gaps[1]
        return ErrorDraft(
            (*self.sentences[:index], sentence, *self.sentences[index:]),
            (*self.gaps[:index], gap, *self.gaps[index:]),
        )

    def without(self, index: int) -> "ErrorDraft":
        """Return the text without a sentence and the gap before it (after it, if
        first).
        """
        gap = max(1, index)
        return ErrorDraft(
            self.sentences[:index] + self.sentences[index + 1 :],
            self.gaps[:gap] + self.gaps[gap + 1 :],
        )

    def with_sentences(self, index: int, *sentences: Sentence) -> "ErrorDraft":
        """Return the text with sentences that replace the same number from `index`
        on.
        """
        after = self.sentences[index + len(sentences) :]
        return replace(self, sentences=(*self.sentences[:index], *sentences, *after))


def draft_of(text: str) -> ErrorDraft:
    """Return a text, split into sentences."""
    sentences = list[Sentence]()
    gaps = list[str]()
    done = 0
    for position, (start, end) in enumerate(split_sentences(text)):
        sentences.append(Sentence(text[start:end], position))
        gaps.append(text[done:start])
        done = end
    return ErrorDraft(tuple(sentences), (*gaps, text[done:]))


def drafts(
    text: str, rng: "Generator", *, kinds: Sequence[str]
) -> Iterator[ErrorDraft]:
    """Yield the text with one more error each time, until there is no room for another.

    The kind is drawn first, then the place, then the error. Errors within sentences do
    not overlap; two sentences in the wrong order are never put right again; a sentence
    with an error is never deleted.
    """
    draft = draft_of(text)
    while True:
        by_kind = [list(_ways(draft, kind, rng)) for kind in kinds]
        possible = [ways for ways in by_kind if ways]
        if not possible:
            return
        ways = possible[rng.integers(len(possible))]
        draft = ways[rng.integers(len(ways))]
        yield draft


def _ways(draft: ErrorDraft, kind: str, rng: "Generator") -> Iterator[ErrorDraft]:
    """Yield the text with one more error of a kind, at every site for it."""
    if kind in WITHIN:
        for index, sentence in enumerate(draft.sentences):
            for site in WITHIN[kind](sentence.text):
                if sentence.free(site):
                    new = site.options[rng.integers(len(site.options))]
                    yield draft.with_sentences(index, sentence.with_error(site, new))
    if kind in BETWEEN:
        yield from BETWEEN[kind](draft)


def _reordered(draft: ErrorDraft) -> Iterator[ErrorDraft]:
    """Two adjacent sentences in the right order are swapped."""
    for index, (first, second) in enumerate(pairwise(draft.sentences)):
        if PUT_IN < first.position < second.position and first.text != second.text:
            yield draft.with_sentences(index, second, first)


def _repeated_sentence(draft: ErrorDraft) -> Iterator[ErrorDraft]:
    """A sentence of the text is repeated right after itself."""
    for index, sentence in enumerate(draft.sentences):
        following = [each.text for each in draft.sentences[index + 1 : index + 2]]
        if sentence.position > PUT_IN and following != [sentence.text]:
            yield draft.insert(index + 1, sentence.text)


def _deleted_sentence(draft: ErrorDraft) -> Iterator[ErrorDraft]:
    """A sentence without errors, in the right order to all others, is deleted.

    One that was repeated stays: without it, the text would be as it was before the
    repetition.
    """
    originals = list[Sentence]()
    inserted = set[str]()
    for sentence in draft.sentences:
        if sentence.position == PUT_IN:
            inserted.add(sentence.text)
        else:
            originals.append(sentence)
    if len(originals) < 2:
        return
    for index, sentence in enumerate(draft.sentences):
        if sentence.position == PUT_IN or sentence.locks or sentence.text in inserted:
            continue
        if _is_in_order(draft.sentences, index):
            yield draft.without(index)


def _is_in_order(sentences: Sequence[Sentence], index: int) -> bool:
    """Return whether all original sentences before one precede it in the original text,
    and all after it follow.
    """
    position = sentences[index].position
    for other in sentences[:index]:
        if other.position >= position:
            return False
    for other in sentences[index + 1 :]:
        if other.position != PUT_IN and other.position <= position:
            return False
    return True


def _off_topic(draft: ErrorDraft) -> Iterator[ErrorDraft]:
    """An off-topic sentence is inserted anywhere except at the beginning."""
    present = {sentence.text for sentence in draft.sentences}
    for index in range(1, len(draft.sentences) + 1):
        for text in OFF_TOPIC:
            if text not in present:
                yield draft.insert(index, text)


BETWEEN: Final[Mapping[str, Callable[[ErrorDraft], Iterator[ErrorDraft]]]] = {
    "order": _reordered,
    "redundancy": _repeated_sentence,
    "deletion": _deleted_sentence,
    "off-topic": _off_topic,
}
"""Kind of error between sentences -> texts with one more; some kinds are also in
`WITHIN`."""
ENGLISH_ERRORS: Final = frozenset(
    ("name", "grammar", "negation", "reference", "spelling")
)
"""Kinds of error that are made from English words and forms, or from capitals."""
ERRORS: Final = tuple(dict.fromkeys([*WITHIN, *BETWEEN]))
"""The kinds of error that a card may name."""
