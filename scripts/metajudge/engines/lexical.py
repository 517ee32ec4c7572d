"""Scorers that compute: overlap with references or source, and a rule judge that explains itself.

Overlap lies on 0..1 and does not depend on the aspect. Nothing here needs a download or a network.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from metajudge.engines.base import Answer, Subject, compared, not_applicable, number_text
from metajudge.engines.rules import Parts, explain, measure, rate
from metajudge.schema.cards import Judge, Model, Scale

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
def _stemmed() -> Any:
    """Return rouge_score's tokenizer, remembering: references come again for every system."""
    from rouge_score.tokenizers import DefaultTokenizer

    return SimpleNamespace(tokenize=lru_cache(1 << 14)(DefaultTokenizer(use_stemmer=True).tokenize))


def _rouge(form: str) -> Measure:
    from rouge_score.rouge_scorer import RougeScorer

    name = form.replace("l", "L")
    scorer = RougeScorer([name], tokenizer=_stemmed())
    return lambda text, references: float(scorer.score_multi(references, text)[name].fmeasure)


def _sacrebleu(form: str) -> Measure:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    scorer = CHRF() if form == "chrf" else BLEU(effective_order=True)
    return lambda text, references: float(scorer.sentence_score(text, references).score) / 100


def build(_: Model, **__: object) -> LexicalEngine:
    """Return the engine of a lexical card."""
    return LexicalEngine()
