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
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from importlib.metadata import version
from itertools import count, pairwise
from statistics import median
from types import SimpleNamespace
from typing import NamedTuple

from judgescope.core.process_limits import without
from judgescope.core.words import (
    ENGLISH,
    BleuTokenizer,
    bleu_tokenizer,
    is_english,
    language_of,
    script_of,
    words,
)
from judgescope.data.sentences import (
    CLOSING,
    TERMINATORS,
    english_words,
    split_sentences,
)
from judgescope.engines import base
from judgescope.schema.cards import (
    LEXICAL_FORMS,
    Judge,
    LexicalModel,
    Model,
    RatingScale,
)
from judgescope.schema.cards.engines import Engine

Measure = Callable[[str, Sequence[str]], float]


@cache
def _tokens() -> Callable[[str], list[int]]:
    """Return the tokenizer of ROUGE with tokens as numbers; it caches texts and stems.

    Of texts with ASCII letters alone the tokens are those of the package rouge_score.
    """
    with without(
        "pandas", "scipy", "sklearn"
    ):  # nltk looks for corpora, but stemming needs none
        from nltk.stem.porter import PorterStemmer

    stem = cache(PorterStemmer().stem)
    number = defaultdict[str, int](count().__next__)

    # Words of up to so many characters have no ending to remove, as in rouge_score.
    shortest_unstemmed = 3

    def token_number(word: str) -> int:
        english = word.isascii() and len(word) > shortest_unstemmed
        return number[stem(word) if english else word]

    return lru_cache(1 << 14)(lambda text: [token_number(word) for word in words(text)])


@cache
def overlap(form: str, tokenize: BleuTokenizer = "13a") -> Measure:
    """Return the function of `form`, (text, references) -> 0..1; several references are
    allowed.

    `tokenize`: sacrebleu's tokenizer, for bleu.

    rouge1, rouge2, rougel: F1 with the best reference (package rouge_score, stemmer
    on). chrf: sacrebleu's sentence chrF with the best reference, which is sacrebleu's
    own rule. bleu: sacrebleu's sentence BLEU with effective order and exponential
    smoothing; the n-grams of all references count together.
    """
    if form in ("chrf", "bleu"):
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF

        scorer = (
            CHRF() if form == "chrf" else BLEU(effective_order=True, tokenize=tokenize)
        )
        return lambda text, references: (
            scorer.sentence_score(text, references).score / 100
        )
    tokens = _tokens()
    if form == "rougel":
        from rapidfuzz.distance import LCSseq
        from rouge_score.scoring import fmeasure

        def f1(text: str, reference: str) -> float:
            judged = tokens(text)
            expected = tokens(reference)
            # 100 times as fast as rouge_score's table
            common = LCSseq.similarity(judged, expected)
            precision = common / max(1, len(judged))
            recall = common / max(1, len(expected))
            return float(fmeasure(precision, recall))

        return lambda text, references: max(
            f1(text, reference) for reference in references
        )
    from rouge_score.rouge_scorer import RougeScorer

    rouge = RougeScorer([form], tokenizer=SimpleNamespace(tokenize=tokens))
    return lambda text, references: float(
        rouge.score_multi(references, text)[form].fmeasure
    )


class Parts(NamedTuple):
    """The four properties of a text; `length` is None without a source or references,
    `spelling` if the text is not English.
    """

    spelling: float | None
    repetition: float
    length: float | None
    punctuation: float


WEIGHTS: dict[str, tuple[float, float, float, float]] = dict.fromkeys(
    (
        "fluency",
        "grammaticality",
        "naturalness",
        "natural",
        "readability",
        "understandability",
        "understandable",
    ),
    (0.5, 0.1, 0.0, 0.4),
)
WEIGHTS |= dict.fromkeys(("coherence", "maintains-context"), (0.1, 0.6, 0.1, 0.2))
WEIGHTS |= dict.fromkeys(
    (
        "relevance",
        "informativeness",
        "engagingness",
        "engaging",
        "interesting",
        "adequacy",
    ),
    (0.1, 0.2, 0.6, 0.1),
)
"""Aspect -> weights in the order of `Parts`; on other aspects all properties weigh the
same."""

BLIND = {
    "consistency",
    "faithfulness",
    "groundedness",
    "uses-knowledge",
    "accuracy",
    "non-contradiction",
    "non-hallucination",
}
"""Aspects about which surface properties say almost nothing; the rationale says so."""

_DOUBLED = re.compile(r"([.,;:!?])(?:\s?\1)+")
_LOOSE = re.compile(r"\s[.,;:!?](?=\s|$)")
_TIGHT = re.compile(r"[^\W_][.,;:!?](?=\s|$)")
_ENDED = re.compile(rf"[{TERMINATORS}][{CLOSING}\s]*$")
_UNENDED = frozenset(("Thai", "Lao"))
"""Scripts that mark no end of a sentence."""
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"))


def measure(
    text: str, source: str | None, references: Sequence[str], language: str = ENGLISH
) -> Parts:
    """Return the four properties of `text`; spelling only if it is in English."""
    return Parts(
        spelling=spelling(text, source or "") if is_english(language) else None,
        repetition=repetition(text),
        length=length(text, source, references),
        punctuation=punctuation(text),
    )


def rate(parts: Parts, aspect: str, scale: RatingScale) -> float:
    """Return min + (max - min) * weighted mean of the properties, whatever the scale's
    step.
    """
    even_weights = (0.25, 0.25, 0.25, 0.25)
    weights = WEIGHTS.get(aspect, even_weights)
    defined = []
    for w, part in zip(weights, parts, strict=True):
        if part is not None:
            defined.append((w, part))
    mean = sum(w * part for w, part in defined) / sum(w for w, _ in defined)
    return scale.min + (scale.max - scale.min) * mean


def explain(parts: Parts, aspect: str, language: str = ENGLISH) -> str:
    """Return the properties in words, after a warning if they hardly matter to the
    aspect or one is left out.
    """
    note = []
    if aspect in BLIND:
        note = [f"Rules see almost nothing of {aspect}: surface only."]
    if parts.spelling is None:
        note.append(f"no spelling: {language}")
    named = []
    for name, part in parts._asdict().items():
        if part is not None:
            named.append(f"{name} {part:.2f}")
    return "\n".join([*note, ", ".join(named)])


def spelling(text: str, source: str = "") -> float:
    """Return half / (half + unknown / checked), the spelling of the words that can be
    checked.

    Not checked: words with a capital (names), a digit or an apostrophe, and words of
    one or two letters. Known: the words of pyspellchecker's English (American)
    dictionary and of the source.
    """
    known = {word.lower() for word in _words(source)}
    checked = []
    for word in _words(text):
        if word.islower() and word.isalpha() and len(word) > 2:
            checked.append(word)
    unknown = sum(word not in known and word not in english_words() for word in checked)
    return _falling("spelling", unknown, len(checked))


def repetition(text: str) -> float:
    """Return half / (half + repeats / words).

    Repeats are words equal to the word before, and trigrams and sentences that occurred
    earlier. Case and punctuation are ignored.
    """
    all_words = words(text)
    doubled = sum(word == following for word, following in pairwise(all_words))
    trigrams = Counter(zip(all_words, all_words[1:], all_words[2:], strict=False))
    sentences = Counter(tuple(words(sentence)) for sentence in _sentences(text))
    again = 0
    for counts in (trigrams, sentences):
        again += counts.total() - len(counts)
    return _falling("repetition", doubled + again, len(all_words))


def length(text: str, source: str | None, references: Sequence[str]) -> float | None:
    """Return min(1, n / low, high / n) for n words; None without references and source.

    Low and high are the lengths of the shortest and the longest reference; without
    references, those of the source's typical (median) sentence and of the entire
    source.
    """
    n = len(words(text))
    spans = [len(words(reference)) for reference in references]
    sentences = [len(words(sentence)) for sentence in _sentences(source or "")]
    if not spans and sentences:
        spans = [round(median(sentences)), sum(sentences)]
    if not spans:
        return None
    if n:
        return min(1.0, n / max(1, min(spans)), max(spans) / n)
    return 0.0


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
    if script_of([text]) not in _UNENDED:
        faults += _ENDED.search(text) is None
    faults += text.count('"') % 2
    faults += sum(abs(text.count(left) - text.count(right)) for left, right in _PAIRS)
    loose = len(_LOOSE.findall(text))
    tight = len(_TIGHT.findall(text))
    if loose <= tight:
        faults += loose
    if text != text.lower():
        firsts = (next(filter(str.isalnum, sentence), "") for sentence in sentences)
        faults += sum(first.islower() for first in firsts)
    return _falling("punctuation", faults, len(sentences))


def _falling(part: str, faults: int, total: int) -> float:
    # Faults per word (punctuation: per sentence) at which a property has the value 1/2.
    half_at = {"spelling": 0.1, "repetition": 0.1, "punctuation": 0.5}
    half = half_at[part]
    return half / (half + faults / max(1, total))


def _words(text: str) -> list[str]:
    """Return the words without the punctuation around them; a hyphen or slash separates
    words.
    """
    pieces = (
        piece.strip(".,;:!?…\"'“”‘’`()[]{}<>*_~")
        for piece in re.split(r"[\s/–—-]+", text)
    )
    return [piece for piece in pieces if piece]


def _sentences(text: str) -> list[str]:
    pieces = (text[start:end] for start, end in split_sentences(text))
    return [piece for piece in pieces if words(piece)]


class LexicalEngine:
    """Computes each form once per text and its comparison texts, for all aspects
    together.
    """

    def __init__(self, _: Model, inputs: base.EngineInputs) -> None:
        self._inputs = inputs
        self._overlap = cache(
            lambda form, text, texts: overlap(form, self._tokenize)(text, texts)
        )
        self._measure = cache(measure)

    @cached_property
    def _tokenize(self) -> BleuTokenizer:
        """Return the tokenizer of BLEU: one for the dataset, by its references."""
        return bleu_tokenizer(self._inputs.texts)

    @cached_property
    def _language(self) -> str:
        """Return the language of the dataset, guessed where its card names none."""
        return self._inputs.language or language_of(self._inputs.texts, english_words())

    def answer(
        self,
        judge: Judge,
        aspect: str,
        scale: RatingScale,
        subjects: Sequence[base.Subject],
    ) -> list[list[base.Answer]]:
        """Return every subject's draws, which are all the same."""
        return [
            [self._answer(judge, aspect, scale, subject)] * judge.draws
            for subject in subjects
        ]

    def version(self, judge: Judge) -> str:
        """Return the package that computes the judge's form, and its version."""
        # Form -> the package that computes it.
        package_of = {
            **dict.fromkeys(("rouge1", "rouge2", "rougel"), "rouge-score"),
            **dict.fromkeys(("chrf", "bleu"), "sacrebleu"),
            "rules": "pyspellchecker",
        }
        package = package_of[judge.form]
        named = f"{package} {version(package)}"
        if judge.form == "bleu" and self._tokenize != "13a":
            return f"{named}, tokenize {self._tokenize}"
        return named

    def _answer(
        self, judge: Judge, aspect: str, scale: RatingScale, subject: base.Subject
    ) -> base.Answer:
        if judge.form == "rules":
            against: tuple[str, ...] = ()
            if judge.against != "source":
                against = base.compared(subject, "references")[0]
            language = self._language
            parts = self._measure(subject.text, subject.source, against, language)
            rating = f"{rate(parts, aspect, scale):.2f}"
            rationale = explain(parts, aspect, language)
            return base.Answer(rating, rationale=rationale)
        texts, reason = base.compared(subject, judge.against)
        if not texts:
            return base.not_applicable(reason)
        return base.Answer(
            base.number_text(self._overlap(judge.form, subject.text, texts))
        )


build = LexicalEngine
ENGINE = Engine(name="lexical", card=LexicalModel, build=build, forms=LEXICAL_FORMS)
