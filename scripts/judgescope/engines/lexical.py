"""Computed measures: overlap with references or the source, and a rule judge.

Overlap lies on 0..1 and does not depend on the aspect. The rule judge weights four
surface properties of an English text by aspect and explains its rating. Each property
is half / (half + rate), where `rate` is the number of faults per word or sentence: 1
without faults, 1/2 at the rate `half`. Conventions are not faults: a text without
capitals is lower-cased data; a text in which most punctuation marks are separate tokens
("back at merson .") is tokenised data. Nothing is downloaded.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import count, pairwise
from statistics import median
from types import SimpleNamespace
from typing import NamedTuple

from judgescope.core.process_limits import without
from judgescope.engines import EngineDeclaration, base
from judgescope.schema.cards import Judge, Model, Scale

Measure = Callable[[str, Sequence[str]], float]

PACKAGE = {
    **dict.fromkeys(("rouge1", "rouge2", "rougel"), "rouge-score"),
    **dict.fromkeys(("chrf", "bleu"), "sacrebleu"),
    "rules": "pyspellchecker",
}
"""Form -> the package that computes it."""


@cache
def _tokens() -> Callable[[str], list[int]]:
    """Return rouge_score's tokenizer with tokens as numbers; it caches texts and
    stems.
    """
    with without(
        "pandas", "scipy", "sklearn"
    ):  # nltk looks for corpora, but stemming needs none
        from nltk.stem.porter import PorterStemmer
        from rouge_score.tokenize import tokenize

    stemmer = SimpleNamespace(stem=cache(PorterStemmer().stem))
    number = defaultdict[str, int](count().__next__)
    return lru_cache(1 << 14)(
        lambda text: [number[token] for token in tokenize(text, stemmer)]
    )


@cache
def overlap(form: str) -> Measure:
    """Return the function of `form`, (text, references) -> 0..1; several references are
    allowed.

    rouge1, rouge2, rougel: F1 with the best reference (package rouge_score, stemmer
    on). chrf: sacrebleu's sentence chrF with the best reference, which is sacrebleu's
    own rule. bleu: sacrebleu's sentence BLEU with effective order and exponential
    smoothing; the n-grams of all references count together.
    """
    if form in ("chrf", "bleu"):
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF

        scorer = CHRF() if form == "chrf" else BLEU(effective_order=True)
        return lambda text, references: (
            scorer.sentence_score(text, references).score / 100
        )
    tokens = _tokens()
    if form == "rougel":
        from rapidfuzz.distance import LCSseq
        from rouge_score.scoring import fmeasure

        def f1(text: str, reference: str) -> float:
            words, other = tokens(text), tokens(reference)
            common = LCSseq.similarity(
                words, other
            )  # 100 times as fast as rouge_score's table
            return float(
                fmeasure(common / max(1, len(words)), common / max(1, len(other)))
            )

        return lambda text, references: max(
            f1(text, reference) for reference in references
        )
    from rouge_score.rouge_scorer import RougeScorer

    rouge = RougeScorer([form], tokenizer=SimpleNamespace(tokenize=tokens))
    return lambda text, references: float(
        rouge.score_multi(references, text)[form].fmeasure
    )


HALF = {"spelling": 0.1, "repetition": 0.1, "punctuation": 0.5}
"""Faults per word (punctuation: per sentence) at which a property has the value 1/2."""


class Parts(NamedTuple):
    """The four properties of a text; `length` is None without a source or
    references.
    """

    spelling: float
    repetition: float
    length: float | None
    punctuation: float


_SURFACE = (0.5, 0.1, 0.0, 0.4)
_FLOW = (0.1, 0.6, 0.1, 0.2)
_SUBSTANCE = (0.1, 0.2, 0.6, 0.1)
_EVEN = (0.25, 0.25, 0.25, 0.25)
_READABLE = ("fluency", "grammaticality", "naturalness", "natural", "readability")
_CONTENT = ("relevance", "informativeness", "engagingness", "engaging", "interesting")

WEIGHTS: dict[str, tuple[float, float, float, float]] = {
    **dict.fromkeys((*_READABLE, "understandability", "understandable"), _SURFACE),
    **dict.fromkeys(("coherence", "maintains-context"), _FLOW),
    **dict.fromkeys((*_CONTENT, "adequacy"), _SUBSTANCE),
}
"""Aspect -> weights in the order of `Parts`; on other aspects all properties weigh the
same."""

BLIND = {
    *("consistency", "faithfulness", "groundedness", "uses-knowledge", "accuracy"),
    *("non-contradiction", "non-hallucination"),
}
"""Aspects about which surface properties say almost nothing; the rationale says so."""

_EDGES = ".,;:!?…\"'“”‘’`()[]{}<>*_~"
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|\n+")
_DOUBLED = re.compile(r"([.,;:!?])(?:\s?\1)+")
_LOOSE = re.compile(r"\s[.,;:!?](?=\s|$)")
_TIGHT = re.compile(r"[^\W_][.,;:!?](?=\s|$)")
_ENDED = re.compile(r"[.!?…][\"'”’)\]\s]*$")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))


def measure(text: str, source: str | None, references: Sequence[str]) -> Parts:
    """Return the four properties of `text`."""
    return Parts(
        spelling=spelling(text, source or ""),
        repetition=repetition(text),
        length=length(text, source, references),
        punctuation=punctuation(text),
    )


def rate(parts: Parts, aspect: str, scale: Scale) -> float:
    """Return min + (max - min) * weighted mean of the properties, whatever the scale's
    step.
    """
    weights = WEIGHTS.get(aspect, _EVEN)
    defined = [
        (w, part) for w, part in zip(weights, parts, strict=True) if part is not None
    ]
    mean = sum(w * part for w, part in defined) / sum(w for w, _ in defined)
    return scale.min + (scale.max - scale.min) * mean


def explain(parts: Parts, aspect: str) -> str:
    """Return the properties in words, after a warning if they hardly matter to the
    aspect.
    """
    note = (
        [f"Rules see almost nothing of {aspect}: surface only."]
        if aspect in BLIND
        else []
    )
    named = [
        f"{name} {part:.2f}"
        for name, part in parts._asdict().items()
        if part is not None
    ]
    return "\n".join([*note, ", ".join(named)])


def spelling(text: str, source: str = "") -> float:
    """Return half / (half + unknown / checked), the spelling of the words that can be
    checked.

    Not checked: words with a capital (names), a digit or an apostrophe, and words of
    one or two letters. Known: the words of pyspellchecker's English (American)
    dictionary and of the source.
    """
    known = {word.lower() for word in _words(source)}
    checked = [
        word
        for word in _words(text)
        if word.islower() and word.isalpha() and len(word) > 2
    ]
    unknown = sum(word not in known and word not in _dictionary() for word in checked)
    return _falling("spelling", unknown, len(checked))


def repetition(text: str) -> float:
    """Return half / (half + repeats / words).

    Repeats are words equal to the word before, and trigrams and sentences that occurred
    earlier. Case and punctuation are ignored.
    """
    words = [word.lower() for word in _words(text)]
    doubled = sum(word == following for word, following in pairwise(words))
    trigrams = Counter(zip(words, words[1:], words[2:], strict=False))
    sentences = Counter(
        tuple(_words(sentence.lower())) for sentence in _sentences(text)
    )
    again = sum(
        count - 1 for counts in (trigrams, sentences) for count in counts.values()
    )
    return _falling("repetition", doubled + again, len(words))


def length(text: str, source: str | None, references: Sequence[str]) -> float | None:
    """Return min(1, n / low, high / n) for n words; None without references and source.

    Low and high are the lengths of the shortest and the longest reference; without
    references, those of the source's typical (median) sentence and of the entire
    source.
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

    Faults: doubled marks (but not an ellipsis), no final mark, unpaired brackets and
    quotes, a space before a mark, a sentence that does not start with a capital.
    """
    sentences = _sentences(text)
    if not sentences:
        return _falling("punctuation", 1, 1)
    faults = sum(
        match.group() not in {"...", "!!!", "???"} for match in _DOUBLED.finditer(text)
    )
    faults += _ENDED.search(text) is None
    faults += text.count('"') % 2
    faults += sum(abs(text.count(left) - text.count(right)) for left, right in _PAIRS)
    loose, tight = len(_LOOSE.findall(text)), len(_TIGHT.findall(text))
    if loose <= tight:
        faults += loose
    if text != text.lower():
        firsts = (next(filter(str.isalnum, sentence), "") for sentence in sentences)
        faults += sum(first.islower() for first in firsts)
    return _falling("punctuation", faults, len(sentences))


def _falling(part: str, faults: int, total: int) -> float:
    half = HALF[part]
    return half / (half + faults / max(1, total))


def _words(text: str) -> list[str]:
    """Return the words without the punctuation around them; a hyphen or slash separates
    words.
    """
    pieces = (piece.strip(_EDGES) for piece in re.split(r"[\s/–—-]+", text))
    return [piece for piece in pieces if piece]


def _sentences(text: str) -> list[str]:
    pieces = (piece.strip() for piece in _SENTENCE_END.split(text))
    return [piece for piece in pieces if _words(piece)]


@cache
def _dictionary() -> Container[str]:
    from spellchecker import SpellChecker

    words: Container[str] = SpellChecker(language="en").word_frequency.dictionary
    return words


class LexicalEngine:
    """Computes each form once per text and its comparison texts, for all aspects
    together.
    """

    def __init__(self, _: Model, __: base.EngineInputs) -> None:
        self._overlap = cache(lambda form, text, texts: overlap(form)(text, texts))
        self._measure = cache(measure)

    def answer(
        self, judge: Judge, aspect: str, scale: Scale, subjects: Sequence[base.Subject]
    ) -> list[list[base.Answer]]:
        """Return every subject's draws, which are all the same."""
        return [
            [self._answer(judge, aspect, scale, subject)] * judge.draws
            for subject in subjects
        ]

    def version(self, judge: Judge) -> str:
        """Return the package that computes the judge's form, and its version."""
        package = PACKAGE[judge.form]
        return f"{package} {version(package)}"

    def _answer(
        self, judge: Judge, aspect: str, scale: Scale, subject: base.Subject
    ) -> base.Answer:
        if judge.form == "rules":
            against = (
                ()
                if judge.against == "source"
                else base.compared(subject, "references")[0]
            )
            parts = self._measure(subject.text, subject.source, against)
            rating = f"{rate(parts, aspect, scale):.2f}"
            return base.Answer(rating, rationale=explain(parts, aspect))
        texts, reason = base.compared(subject, judge.against)
        if not texts:
            return base.not_applicable(reason)
        return base.Answer(
            base.number_text(self._overlap(judge.form, subject.text, texts))
        )


build = LexicalEngine
ENGINE = EngineDeclaration(name="lexical")
