"""The rule judge: four surface properties of an English text, weighed by aspect, and explained.

Each property lies in (0, 1], 1 being faultless. Faults count per word or sentence:
half / (half + rate) falls with every further fault and is 1/2 at the rate `half`.

What it takes for convention and not for a fault: a text without any capital is lower-cased data, a
text most of whose marks stand alone ("back at merson .") is tokenised data.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from judgescope.schema.cards import Scale

HALF = {"spelling": 0.1, "repetition": 0.1, "punctuation": 0.5}
"""Faults per word (punctuation: per sentence) at which a property is one half."""


class Parts(NamedTuple):
    """The four properties; `length` is None where there is nothing to compare it with."""

    spelling: float
    repetition: float
    length: float | None
    punctuation: float


class Weights(NamedTuple):
    """How much each property counts."""

    spelling: float
    repetition: float
    length: float
    punctuation: float


_SURFACE = Weights(0.5, 0.1, 0.0, 0.4)
_FLOW = Weights(0.1, 0.6, 0.1, 0.2)
_SUBSTANCE = Weights(0.1, 0.2, 0.6, 0.1)
_EVEN = Weights(0.25, 0.25, 0.25, 0.25)
_READABLE = ("fluency", "grammaticality", "naturalness", "natural", "readability")
_CONTENT = ("relevance", "informativeness", "engagingness", "engaging", "interesting")

WEIGHTS: dict[str, Weights] = {
    **dict.fromkeys((*_READABLE, "understandability", "understandable"), _SURFACE),
    **dict.fromkeys(("coherence", "maintains-context"), _FLOW),
    **dict.fromkeys((*_CONTENT, "adequacy"), _SUBSTANCE),
}
"""Aspect -> weight of each property; all others weigh the properties alike."""

BLIND = {
    *("consistency", "faithfulness", "groundedness", "uses-knowledge", "accuracy"),
    *("non-contradiction", "non-hallucination"),
}
"""Aspects of which surface properties show almost nothing; the reply says so."""

_EDGES = ".,;:!?…\"'“”‘’`()[]{}<>*_~"
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|\n+")
_DOUBLED = re.compile(r"([.,;:!?])(?:\s?\1)+")
_LOOSE = re.compile(r"\s[.,;:!?](?=\s|$)")
_TIGHT = re.compile(r"[^\W_][.,;:!?](?=\s|$)")
_ENDED = re.compile(r"[.!?…][\"'”’)\]\s]*$")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))


def measure(text: str, source: str | None, references: Sequence[str]) -> Parts:
    """Return the four properties of `text`; undefined is only a length without a yardstick."""
    return Parts(
        spelling=spelling(text, source or ""),
        repetition=repetition(text),
        length=length(text, source, references),
        punctuation=punctuation(text),
    )


def rate(parts: Parts, aspect: str, scale: Scale) -> float:
    """Return min + (max - min) * weighted mean of the properties, whatever the scale's step."""
    weights = WEIGHTS.get(aspect, _EVEN)
    seen = [(w, part) for w, part in zip(weights, parts, strict=True) if part is not None]
    mean = sum(w * part for w, part in seen) / sum(w for w, _ in seen)
    return scale.min + (scale.max - scale.min) * mean


def explain(parts: Parts, aspect: str) -> str:
    """Return the properties in words, below a warning where they hardly matter to the aspect."""
    note = [f"Rules see almost nothing of {aspect}: surface only."] if aspect in BLIND else []
    named = [f"{name} {part:.2f}" for name, part in parts._asdict().items() if part is not None]
    return "\n".join([*note, ", ".join(named)])


def spelling(text: str, source: str = "") -> float:
    """Return half / (half + unknown / checked) over the words that can be checked.

    Not checked: words with a capital (names), a digit or an apostrophe, and of up to two letters.
    Known: the words of pyspellchecker's English dictionary (American) and of the source.
    """
    known = {word.lower() for word in _words(source)}
    checked = [word for word in _words(text) if word.islower() and word.isalpha() and len(word) > 2]
    unknown = sum(word not in known and word not in _dictionary() for word in checked)
    return _falling("spelling", unknown, len(checked))


def repetition(text: str) -> float:
    """Return half / (half + repeats / words).

    Repeats are words that repeat the one before, trigrams that came before, and sentences that came
    before, without regard to case and punctuation.
    """
    words = [word.lower() for word in _words(text)]
    doubled = sum(one == two for one, two in pairwise(words))
    trigrams = Counter(zip(words, words[1:], words[2:], strict=False))
    sentences = Counter(tuple(_words(sentence.lower())) for sentence in _sentences(text))
    again = sum(count - 1 for counts in (trigrams, sentences) for count in counts.values())
    return _falling("repetition", doubled + again, len(words))


def length(text: str, source: str | None, references: Sequence[str]) -> float | None:
    """Return min(1, n / low, high / n) for n words; None without references and source.

    Low and high are the shortest and the longest reference; without references the source's
    typical (median) sentence and the whole source.
    """
    n = len(text.split())
    spans = [len(reference.split()) for reference in references]
    sentences = [len(sentence.split()) for sentence in _sentences(source or "")]
    if not spans and sentences:
        spans = [round(median(sentences)), sum(sentences)]
    if not spans:
        return None
    return min(1.0, n / max(1, min(spans)), max(spans) / n) if n else 0.0


def punctuation(text: str) -> float:
    """Return half / (half + faults / sentences).

    Faults: doubled marks (an ellipsis is none), no final mark, brackets and quotes without their
    counterpart, a space before a mark, a sentence that does not start with a capital.
    """
    sentences = _sentences(text)
    if not sentences:
        return _falling("punctuation", 1, 1)
    doubled = sum(match.group() not in {"...", "!!!", "???"} for match in _DOUBLED.finditer(text))
    faults = doubled + (_ENDED.search(text) is None) + _unbalanced(text) + _spaces(text)
    return _falling("punctuation", faults + _uncapitalised(text, sentences), len(sentences))


def _unbalanced(text: str) -> int:
    quotes = text.count('"') % 2
    return quotes + sum(abs(text.count(left) - text.count(right)) for left, right in _PAIRS)


def _spaces(text: str) -> int:
    loose, tight = len(_LOOSE.findall(text)), len(_TIGHT.findall(text))
    return loose if loose <= tight else 0


def _uncapitalised(text: str, sentences: Sequence[str]) -> int:
    if text == text.lower():
        return 0
    firsts = (next((char for char in one if char.isalnum()), "") for one in sentences)
    return sum(first.islower() for first in firsts)


def _falling(part: str, faults: int, of: int) -> float:
    half = HALF[part]
    return half / (half + faults / max(1, of))


def _words(text: str) -> list[str]:
    """Return the words without the punctuation around them; a hyphen or slash separates words."""
    pieces = (piece.strip(_EDGES) for piece in re.split(r"[\s/–—-]+", text))
    return [piece for piece in pieces if piece]


def _sentences(text: str) -> list[str]:
    pieces = (piece.strip() for piece in _SENTENCE_END.split(text))
    return [piece for piece in pieces if _words(piece)]


@cache
def _dictionary() -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language="en").word_frequency.dictionary
