"""Pairs of texts whose order is known: the half credit of a judge, and its nulls."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from judgescope.methods.claims import base
from judgescope.methods.claims.base import Claim, MeasuredCases, Nulls
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.statistics.arrays import Codes, Flags, Floats, place_within
from judgescope.statistics.best_length import (
    LengthRemoved,
    correlation_of_rest,
    pairs_without_length,
)
from judgescope.statistics.intervals import ACCURACY
from judgescope.statistics.nulls import (
    half_credits,
    mean_credits,
)
from judgescope.statistics.order import OrderedPairs, pairs_within
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

NO_PAIR: Final = "no pair with a known order has both scores"


@dataclass(frozen=True, eq=False)
class Ordered:
    """Pairs of a known order: the judge's scores of both texts, and their lengths;
    (pairs,) each.

    Votes are scores, too: 1 and 0, or .5 for neither; NaN is a pair without a reply.
    """

    better: Floats
    worse: Floats
    length_better: Floats
    length_worse: Floats
    source: Codes
    n_sources: int
    no_lengths: str = ""
    """Why nothing can be compared with length, "" if it can."""

    @classmethod
    def of_texts(
        cls,
        data: EvaluationData,
        x: Floats,
        lengths: Floats,
        source: Codes,
        pairs: OrderedPairs,
        no_lengths: str = "",
    ) -> "Ordered":
        """Return pairs of texts: x, lengths and source are (texts,), which `pairs`
        index.
        """
        better = pairs.better
        worse = pairs.worse
        sides = (x[better], x[worse], lengths[better], lengths[worse])
        return cls(*sides, source[better], len(data.item_order), no_lengths)

    @property
    def known(self) -> Flags:
        """Return which pairs the judge answered; (pairs,)."""
        return ~(np.isnan(self.better) | np.isnan(self.worse))

    @property
    def decides(self) -> bool:
        """Whether the judge prefers a text of some pair: not a tie for all of them."""
        return bool(np.any(self.better[self.known] != self.worse[self.known]))

    @property
    def measured(self) -> Flags:
        """Which pairs have the lengths of both texts; (pairs,)."""
        return np.isfinite(self.length_better) & np.isfinite(self.length_worse)

    def credit(self, better: Floats, worse: Floats) -> Replicated:
        """Return the mean over sources of the half credit of the pairs that have both
        values.
        """
        values, pairs = half_credits(better, worse, self.source, self.n_sources)
        n = int(pairs.sum())
        tied = int(np.sum(better == worse))
        method = f"mean over sources of {n} pairs, a tie counts half"
        missing = int(self.source.size - n)
        counts = Estimate(0.0, n_missing=missing, n_tied=tied, method=method)
        return base.mean_of_sources(values, ACCURACY, counts, NO_PAIR)

    def nulls(self) -> tuple[Replicated, Nulls]:
        """Return the half credit, and its nulls."""
        credit = self.credit(self.better, self.worse)
        if credit.estimate.value is None:
            return credit, Nulls({})
        nulls = base.chance_tested(credit, 0.5)
        cases = MeasuredCases(self.known, self.measured, "pairs", self.no_lengths)
        if cases.untested:
            return credit, base.length_untested(nulls, cases.untested)
        better = np.where(self.known, self.length_better, np.nan)
        worse = np.where(self.known, self.length_worse, np.nan)
        measured = credit
        if not cases.complete:
            measured = self.credit(
                np.where(self.measured, self.better, np.nan),
                np.where(self.measured, self.worse, np.nan),
            )
        nulls = base.held_against_lengths(
            nulls,
            measured,
            base.SHARE_GAP,
            lambda sign: self.credit(sign * better, sign * worse),
        )
        return credit, cases.noted(self._held_against_best_length(nulls))

    def _held_against_best_length(self, nulls: Nulls) -> Nulls:
        used = self.known & self.measured
        verdict = np.sign(self.better - self.worse)[used]
        right = np.ones(verdict.size)
        source = self.source[used]
        rest = pairs_without_length(
            verdict, right, self.length_better[used], self.length_worse[used], source
        )

        def left(removed: LengthRemoved) -> Replicated:
            return correlation_of_rest(
                removed, source, self.n_sources, within=False, centre=False
            )

        return base.held_against_best_length(nulls, rest, left)

    def only(self, kept: Flags) -> "Ordered":
        """The same of some of the pairs, (pairs,)."""
        return replace(
            self,
            better=self.better[kept],
            worse=self.worse[kept],
            length_better=self.length_better[kept],
            length_worse=self.length_worse[kept],
            source=self.source[kept],
        )

    def worst(self) -> "Ordered":
        """Return the same with each pair without a verdict wrong."""
        better = np.where(self.known, self.better, 0.0)
        return replace(self, better=better, worse=np.where(self.known, self.worse, 1.0))

    def tested(self, claim: Claim) -> Claim:
        """Return the claim with the half credit and its nulls."""
        credit, nulls = self.nulls()
        claim = replace(claim, estimate=credit.estimate).counting(credit)
        missing = not self.known.all()
        return claim.tested(
            nulls, (lambda: self.worst().nulls()[1]) if missing else None
        )


@dataclass(frozen=True, eq=False)
class Preferences:
    """Which of two texts of a source a judge prefers, and the pairs of a known order.

    votes (sources, columns, columns): 1 for the text of the first column, 0 for
    neither, -1, NaN without a verdict; source (texts,), column (texts + 1,): a text's
    place there, the last is that of no text; better, worse (pairs,): texts.
    """

    votes: Floats
    source: Codes
    column: Codes
    better: Codes
    worse: Codes

    @classmethod
    def of_votes(
        cls,
        verdict: Floats,
        asked: tuple[Codes, Codes],
        source: Codes,
        better: Codes,
        worse: Codes,
    ) -> "Preferences":
        """Return those of votes, (asked pairs,), on the first of two texts; source
        (texts,).
        """
        first, second = asked
        column = np.append(place_within(source), -1)
        width = int(column.max()) + 2  # the last column stands for a missing text
        votes = np.full((int(source.max()) + 1, width, width), np.nan)
        votes[source[first], column[first], column[second]] = verdict
        votes[source[first], column[second], column[first]] = -verdict
        return cls(votes, source, column, better, worse)

    @classmethod
    def of_scores(
        cls, scores: Floats, source: Codes, better: Codes, worse: Codes
    ) -> "Preferences":
        """Return those of a judge that scores texts, (texts,), on all pairs of a
        source.
        """
        first, second = pairs_within(source)
        verdict = np.sign(scores[first] - scores[second])
        return cls.of_votes(verdict, (first, second), source, better, worse)

    @property
    def share_compared(self) -> float:
        """The share of pairs of texts of a source on which there is a verdict.

        Where it is small a permutation asks for verdicts that nobody gave.
        """
        texts = np.bincount(self.source)
        pairs = int((texts * (texts - 1)).sum())
        return float(np.isfinite(self.votes).sum()) / max(1, pairs)

    def moved(self, text: Codes) -> Floats:
        """Return the half credit of each row of `text`: which text's votes are in its
        place.
        """
        source = self.source[self.better]
        better = self.column[text[:, self.better]]
        worse = self.column[text[:, self.worse]]
        vote = self.votes[source, better, worse]
        return mean_credits(vote, -vote, source)

    def worst(self) -> "Preferences":
        """Return the same with each pair of a known order that has no verdict wrong."""
        votes = self.votes.copy()
        source = self.source[self.better]
        better = self.column[self.better]
        worse = self.column[self.worse]
        vote = votes[source, better, worse]
        votes[source, better, worse] = np.where(np.isnan(vote), -1.0, vote)
        votes[source, worse, better] = -votes[source, better, worse]
        return replace(self, votes=votes)
