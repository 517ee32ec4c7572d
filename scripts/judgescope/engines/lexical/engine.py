"""Scorers that compute: overlap with references or source, and a rule judge that explains itself.

Overlap lies on 0..1 and does not depend on the aspect. Nothing here needs a download or a network.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import count
from types import SimpleNamespace

from judgescope.core.process_limits import without
from judgescope.engines.base import Answer, Subject, compared, not_applicable, number_text
from judgescope.engines.lexical.rules import Parts, explain, measure, rate
from judgescope.schema.cards import Judge, Model, Scale

Measure = Callable[[str, Sequence[str]], float]

PACKAGE = {
    **dict.fromkeys(("rouge1", "rouge2", "rougel"), "rouge-score"),
    **dict.fromkeys(("chrf", "bleu"), "sacrebleu"),
    "rules": "pyspellchecker",
}
"""Form -> the package that computes it."""


class LexicalEngine:
    """Computes each form once per text and what it is compared with, whatever the aspect."""

    def __init__(self) -> None:
        self._overlap: dict[tuple[str, str, tuple[str, ...]], float] = {}
        self._parts: dict[tuple[str, str | None, tuple[str, ...]], Parts] = {}

    def answer(
        self, judge: Judge, aspect: str, scale: Scale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return every subject's draws, which are all the same."""
        return [[self._one(judge, aspect, scale, subject)] * judge.draws for subject in subjects]

    def version(self, judge: Judge) -> str:
        """Return the package that computes the judge's form, and its version."""
        package = PACKAGE[judge.form]
        return f"{package} {version(package)}"

    def _one(self, judge: Judge, aspect: str, scale: Scale, subject: Subject) -> Answer:
        if judge.form == "rules":
            parts = self._measured(judge, subject)
            rating = f"{rate(parts, aspect, scale):.2f}"
            return Answer(rating, rationale=explain(parts, aspect))
        texts, reason = compared(subject, judge.against)
        if not texts:
            return not_applicable(reason)
        key = (judge.form, subject.text, texts)
        if key not in self._overlap:
            self._overlap[key] = overlap(judge.form)(subject.text, texts)
        return Answer(number_text(self._overlap[key]))

    def _measured(self, judge: Judge, subject: Subject) -> Parts:
        against = () if judge.against == "source" else compared(subject, "references")[0]
        key = (subject.text, subject.source, against)
        if key not in self._parts:
            self._parts[key] = measure(*key)
        return self._parts[key]


@cache
def overlap(form: str) -> Measure:
    """Return the function of `form`, (text, references) -> 0..1; several references are allowed.

    rouge1, rouge2, rougel: F1 of the best reference (package rouge_score, stemmer on). chrf:
    sacrebleu's sentence chrF, its own multi-reference rule: the best reference. bleu: sacrebleu's
    sentence BLEU with effective order and exponential smoothing, n-grams of all references at once.
    """
    return _rouge(form) if form.startswith("rouge") else _sacrebleu(form)


@cache
def _tokens() -> Callable[[str], list[int]]:
    """Return rouge_score's tokenizer, its tokens numbered; texts and stems are remembered.

    References come again for every system, and words in every text.
    """
    with without("pandas", "scipy", "sklearn"):  # nltk looks for them, and needs none to stem
        from nltk.stem.porter import PorterStemmer
        from rouge_score.tokenize import tokenize

    stemmer = SimpleNamespace(stem=cache(PorterStemmer().stem))
    number = defaultdict[str, int](count().__next__)
    return lru_cache(1 << 14)(lambda text: [number[one] for one in tokenize(text, stemmer)])


def _rouge(form: str) -> Measure:
    tokens = _tokens()
    if form == "rougel":
        from rapidfuzz.distance import LCSseq
        from rouge_score.scoring import fmeasure

        def f1(text: str, reference: str) -> float:
            own, other = tokens(text), tokens(reference)
            common = LCSseq.similarity(own, other)  # rouge_score's table takes a hundred times it
            return float(fmeasure(common / max(1, len(own)), common / max(1, len(other))))

        return lambda text, references: max(f1(text, one) for one in references)
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([form], tokenizer=SimpleNamespace(tokenize=tokens))
    return lambda text, references: float(scorer.score_multi(references, text)[form].fmeasure)


def _sacrebleu(form: str) -> Measure:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    scorer = CHRF() if form == "chrf" else BLEU(effective_order=True)
    return lambda text, references: float(scorer.sentence_score(text, references).score) / 100


def build(_: Model, **__: object) -> LexicalEngine:
    """Return the engine of a lexical card."""
    return LexicalEngine()
