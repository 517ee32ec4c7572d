"""Errors that rules make: where a sentence has room for one, and what it becomes there.

Each kind belongs to sub-aspects of a text's quality (paper 002, tables 12 and 13) that can be
damaged by word forms and word lists alone, in English. What is put in is written for this program.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from judgescope.perturb.english import NUMBERS, frequency, is_name, tokens

Span = tuple[int, int]


class Site(NamedTuple):
    """A part of a sentence, and what may stand in its place: one of them makes the error."""

    start: int
    end: int
    options: tuple[str, ...]


NAMES: Final = (
    *("Velunda", "Orsimund", "Tarkeby", "Quillmore", "Brennick", "Asgavel", "Dorvane", "Ilmerra"),
    *("Fenwold", "Karsholm", "Ruddick", "Sabrowe", "Threnfield", "Ulverade", "Wexmoor", "Yestrine"),
)
"""Nobody and no place is called so."""
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
"""Sentences that belong to no text, each put into a text once at most."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"(?<![\w.,])\d{1,18}(?![\w]|[.,]\d)")
_NAME = re.compile(r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|will|can|could|should|has|have|had|would|may|must)\b"
    r"(?! not\b| never\b|n['’]t\b)"
)
_DENIED = re.compile(
    r"\b(?P<aux>is|are|was|were|will|can|could|should|has|have|had|would|may|must) not\b"
)
_TAIL = re.compile(
    r"\b(?P<kept>[\w'’-]+),? (?:in|on|at|after|before|with|for|from|by|during|near|until|since"
    r"|because|which|who|where|when|although|while|to) (?:[^\s,;:.!?]+ ?){1,8}(?=[,;:.!?])"
)
_PHRASE = re.compile(r"\b[a-z]+(?:['’-][a-z]+)* [a-z]+ [a-z]+\b")
_AGREE = {"is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has"}
_AGREE |= {"does": "do", "do": "does", "a": "an", "an": "a"}
_REFER = {"he": "she", "she": "he", "his": "their", "her": "its", "him": "it", "they": "it"}
_REFER |= {"them": "him", "their": "her", "it": "they", "its": "his", "this": "those"}
_REFER |= {"these": "that", "who": "which", "which": "who", "here": "there", "there": "here"}
_COUNTED = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SHORTEST_MISSPELT: Final = 5


def _swapped(words: Mapping[str, str]) -> Callable[[str], Iterator[Site]]:
    """Return the kind that gives a word the place of another, its capital kept."""

    def sites(sentence: str) -> Iterator[Site]:
        for found in _WORD.finditer(sentence):
            new = words.get(found[0].lower())
            if new and not found[0].isupper():
                cased = new.capitalize() if found[0][0].isupper() else new
                yield Site(*found.span(), (cased,))

    return sites


def _negation(sentence: str) -> Iterator[Site]:
    for found in _AUXILIARY.finditer(sentence):
        yield Site(*found.span(), (f"{found[0]} not",))
    for found in _DENIED.finditer(sentence):
        yield Site(*found.span(), (found["aux"],))


def _number(sentence: str) -> Iterator[Site]:
    for found in _NUMBER.finditer(sentence):
        value, step = int(found[0]), max(1, int(found[0]) // 10)
        others = (value + step * by for by in (1, 2, 3, 4))
        yield Site(*found.span(), tuple(f"{other:0{len(found[0])}d}" for other in others))
    for found in _WORD.finditer(sentence):
        if found[0] in NUMBERS and found[0] in _COUNTED:
            yield Site(*found.span(), tuple(word for word in _COUNTED if word != found[0]))


def _name(sentence: str) -> Iterator[Site]:
    first = next(iter(_WORD.finditer(sentence)), None)
    for found in _NAME.finditer(sentence):
        begins = first is not None and found.start() == first.start()
        if is_name(tokens(found[0])[0], first=begins) and found[0] not in NAMES:
            ending = "'s" if found[0].endswith(("'s", "’s")) else ""
            yield Site(*found.span(), tuple(f"{name}{ending}" for name in NAMES))


def _misspelling(sentence: str) -> Iterator[Site]:
    """Two letters within a word change places, so that no word is left."""
    for found in _WORD.finditer(sentence):
        word = found[0]
        if len(word) < SHORTEST_MISSPELT or not word.isalpha() or not word.islower():
            continue
        turned = (
            f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(1, len(word) - 2)
        )
        options = tuple(dict.fromkeys(one for one in turned if one != word and not frequency(one)))
        if frequency(word) and options:
            yield Site(*found.span(), options)


def _repeated(sentence: str) -> Iterator[Site]:
    for found in _PHRASE.finditer(sentence):
        yield Site(*found.span(), (f"{found[0]}, {found[0]},",))


def _left_out(sentence: str) -> Iterator[Site]:
    """The end of a clause goes; the word before it is held, so that it stays gone."""
    for found in _TAIL.finditer(sentence):
        yield Site(*found.span(), (found["kept"],))


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
"""Kind of error within a sentence -> where a sentence has room for one."""
BETWEEN: Final = ("order", "redundancy", "deletion", "off-topic")
"""Kinds that change which sentences there are, and in which order; some are both."""
KINDS_OF_ERROR: Final = tuple(dict.fromkeys((*WITHIN, *BETWEEN)))
