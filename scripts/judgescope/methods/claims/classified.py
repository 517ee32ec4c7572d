"""Texts with a known rating and a judge's classes of them: kappa and its nulls."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from judgescope.methods.claims import base
from judgescope.methods.claims.base import Claim, MeasuredCases, Nulls, Rival
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.best_length import (
    LengthRemoved,
    correlation_of_rest,
    without_length,
)
from judgescope.statistics.classes import class_codes, confusion_counts, kappas
from judgescope.statistics.intervals import FEWEST_SOURCES
from judgescope.statistics.nulls import (
    dealt,
    linear_kappas,
    p_within,
)
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.within_sources import (
    normal_scores,
    varies,
)

KAPPA: Final = "kappa_linear"


@dataclass(frozen=True, eq=False)
class Classified:
    """Known ratings of texts and a judge's classes of them; (texts,) each.

    `gold` has no missing value, `answers` NaN where the judge gave none; `classes` is
    the whole scale.
    """

    gold: Floats
    answers: Floats
    lengths: Floats
    source: Codes
    classes: list[float]
    n_sources: int
    rng: np.random.Generator
    no_lengths: str = ""
    """Why nothing can be compared with length, "" if it can."""

    def kappa(self, answers: Floats) -> Replicated:
        """Return linear kappa with the known ratings, and that without each source."""
        given = ~np.isnan(answers)
        counts = confusion_counts(
            self.gold[given],
            answers[given],
            self.classes,
            self.source[given],
            self.n_sources,
        )
        total = counts.sum(axis=0, keepdims=True)
        rows = kappas(np.concatenate([total, total - counts]).astype(float))
        sizes = counts.sum(axis=(1, 2)).astype(float)
        texts = Estimate(0.0, n=int(given.sum()), n_missing=int((~given).sum()))
        return base.number(rows, sizes, scale_of(KAPPA), texts, REASONS.no_variation)

    def nulls(self) -> tuple[Replicated, Nulls]:
        """Return kappa, and its nulls."""
        kappa = self.kappa(self.answers)
        if kappa.estimate.value is None:
            return kappa, Nulls({})
        nulls = base.chance_tested(kappa, 0.0)
        nulls = nulls.with_null(base.WITHIN, self._p_within(), Rival())
        known = np.isfinite(self.lengths)
        given = ~np.isnan(self.answers)
        cases = MeasuredCases(given, known, "texts", self.no_lengths)
        if cases.untested:
            return kappa, base.length_untested(nulls, cases.untested)

        def by_length(sign: float) -> Replicated:
            answers = dealt(self.gold, sign * self.lengths, self.source)
            return self.kappa(np.where(np.isnan(self.answers), np.nan, answers))

        measured = kappa
        if not cases.complete:
            measured = self.kappa(np.where(known, self.answers, np.nan))
        nulls = base.held_against_lengths(
            nulls, measured, base.CORRELATION_GAP, by_length
        )
        return kappa, cases.noted(self._held_against_best_length(nulls))

    def _held_against_best_length(self, nulls: Nulls) -> Nulls:
        used = ~(np.isnan(self.answers) | np.isnan(self.lengths))
        x = normal_scores(self.answers[used])
        y = normal_scores(self.gold[used])
        source = self.source[used]
        rest = without_length(x, y, self.lengths[used], source)

        def left(removed: LengthRemoved) -> Replicated:
            return correlation_of_rest(removed, source, self.n_sources, within=False)

        return base.held_against_best_length(nulls, rest, left)

    def _p_within(self) -> float:
        """p of classes dealt out at random within sources, or over all if few vary."""
        given = ~np.isnan(self.answers)
        step = np.arange(len(self.classes), dtype=float)
        gold = class_codes(self.gold[given], self.classes)
        answers = class_codes(self.answers[given], self.classes)
        distance = np.abs(step[:, None] - step)
        source = self.source[given]
        if varies(self.gold[given], source, self.n_sources).sum() < FEWEST_SOURCES:
            source = np.zeros_like(source)
        return p_within(gold, answers, source, self.rng, distance)

    def only(self, kept: Flags) -> "Classified":
        """The same of some of the texts, (texts,)."""
        return replace(
            self,
            gold=self.gold[kept],
            answers=self.answers[kept],
            lengths=self.lengths[kept],
            source=self.source[kept],
        )

    def moved(self, answers: Floats, index: Codes, text: Codes) -> Floats:
        """Return kappa of each row of `text`: which text's class, of `answers`, is in
        its place.

        index (texts,): which of the texts that `text` has these are.
        """
        codes = np.full(answers.size + 1, -1)  # the last entry: no text
        given = ~np.isnan(answers)
        codes[:-1][given] = class_codes(answers[given], self.classes)
        gold = class_codes(self.gold, self.classes)
        return linear_kappas(gold, codes[text[:, index]], len(self.classes))

    def worst(self) -> "Classified":
        """Return the same with each missing class as far from the rating as
        possible.
        """
        codes = class_codes(self.gold, self.classes)
        low = min(self.classes)
        high = max(self.classes)
        far = np.where(codes * 2 >= len(self.classes) - 1, low, high)
        return replace(
            self, answers=np.where(np.isnan(self.answers), far, self.answers)
        )

    def tested(self, claim: Claim) -> Claim:
        """Return the claim with kappa and its nulls; the claim's own estimate is a
        placeholder.
        """
        missing = np.isnan(self.answers)
        if missing.all():
            estimate = replace(
                self.kappa(self.answers).estimate, note="no text has a score"
            )
            return replace(claim, estimate=estimate).without(estimate.note)
        kappa, nulls = self.nulls()
        claim = replace(claim, estimate=kappa.estimate).counting(kappa)
        return claim.tested(
            nulls, (lambda: self.worst().nulls()[1]) if missing.any() else None
        )
