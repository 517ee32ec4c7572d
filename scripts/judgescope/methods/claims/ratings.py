"""Claims on known ratings and a known order of texts: does a judge give and order them
right?

Ratings: linear kappa on texts of which all raters agree, or on graded sets. The judge
must beat chance (0), ratings permuted at random within each source (a judge that knows
only the source has a kappa above 0), both lengths (people's sorted ratings assigned in
the order of the texts' length) and, where the texts come from named systems, a
preference for systems.

Order: half credit on pairs of a known order, the mean over sources of (right + half of
the ties) / pairs with both scores, or with a reply. The judge must beat chance (.5),
both lengths on the same pairs and a preference for systems. On pairs that people rate
it is compared with one more rater; where all raters agree, the comparison is unknown,
as each of them is right.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from math import nan
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods import pairwise
from judgescope.methods.base import present
from judgescope.methods.claims import base
from judgescope.methods.claims.base import (
    Claim,
    SystemPreference,
    length_nulls,
    lost_share,
)
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.measures import POOLED, rater_tables
from judgescope.methods.pairwise import Pairs
from judgescope.methods.perspectives import (
    DIRECT,
    GLOBAL,
    LOCAL,
    GradedSet,
    View,
    Views,
    chain,
)
from judgescope.statistics.arrays import Codes, Flags, Floats, place_within
from judgescope.statistics.classes import class_codes, confusion_counts, kappas
from judgescope.statistics.declared import scale_of
from judgescope.statistics.intervals import ACCURACY, FEWEST_SOURCES
from judgescope.statistics.nulls import (
    dealt,
    half_credits,
    linear_kappas,
    mean_credits,
    p_within,
)
from judgescope.statistics.order import OrderedPairs, pairs_within
from judgescope.statistics.raters import as_rater
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import NO_VARIATION, Estimate
from judgescope.statistics.within_sources import varies

KAPPA: Final = "kappa_linear"
HALF_CREDIT: Final = "half_credit"
NO_PAIR: Final = "no pair with a known order has both scores"


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
        return base.number(rows, sizes, scale_of(KAPPA), texts, NO_VARIATION)

    def nulls(self) -> tuple[Replicated, dict[str, float]]:
        """Return kappa, and the p of each of its nulls."""
        kappa = self.kappa(self.answers)

        def by_length(sign: float) -> Replicated:
            answers = dealt(self.gold, sign * self.lengths, self.source)
            return self.kappa(np.where(np.isnan(self.answers), np.nan, answers))

        nulls = length_nulls(kappa, 0.0, base.CORRELATION_GAP, by_length)
        given, step = ~np.isnan(self.answers), np.arange(len(self.classes), dtype=float)
        gold, answers = (
            class_codes(values[given], self.classes)
            for values in (self.gold, self.answers)
        )
        distance, source = np.abs(step[:, None] - step), self.source[given]
        if varies(self.gold[given], source, self.n_sources).sum() < FEWEST_SOURCES:
            source = np.zeros_like(source)
        within = p_within(gold, answers, source, self.rng, distance)
        return kappa, {base.CHANCE: nulls[base.CHANCE], base.WITHIN: within, **nulls}

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
        low, high = min(self.classes), max(self.classes)
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
        claim = replace(claim, estimate=kappa.estimate)
        return claim.tested(
            nulls, (lambda: self.worst().nulls()[1]) if missing.any() else None
        )


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

    @classmethod
    def of_texts(
        cls,
        study: EvaluationData,
        x: Floats,
        lengths: Floats,
        source: Codes,
        pairs: OrderedPairs,
    ) -> "Ordered":
        """Return pairs of texts: x, lengths and source are (texts,), which `pairs`
        index.
        """
        better, worse = pairs.better, pairs.worse
        sides = (x[better], x[worse], lengths[better], lengths[worse])
        return cls(*sides, source[better], len(study.item_order))

    @property
    def known(self) -> Flags:
        """Return which pairs the judge answered; (pairs,)."""
        return ~(np.isnan(self.better) | np.isnan(self.worse))

    def credit(self, better: Floats, worse: Floats) -> Replicated:
        """Return the mean over sources of the half credit of the pairs that have both
        values.
        """
        values, pairs = half_credits(better, worse, self.source, self.n_sources)
        n, tied = int(pairs.sum()), int(np.sum(better == worse))
        method = f"mean over sources of {n} pairs, a tie counts half"
        missing = int(self.source.size - n)
        counts = Estimate(0.0, n_missing=missing, n_tied=tied, method=method)
        return base.mean_of_sources(values, ACCURACY, counts, NO_PAIR)

    def nulls(self) -> tuple[Replicated, dict[str, float]]:
        """Return the half credit, and the p of each of its nulls."""
        credit = self.credit(self.better, self.worse)
        better, worse = (
            np.where(self.known, lengths, np.nan)
            for lengths in (self.length_better, self.length_worse)
        )
        nulls = length_nulls(
            credit,
            0.5,
            base.SHARE_GAP,
            lambda sign: self.credit(sign * better, sign * worse),
        )
        return credit, nulls

    def worst(self) -> "Ordered":
        """Return the same with each pair without a verdict wrong."""
        better = np.where(self.known, self.better, 0.0)
        return replace(self, better=better, worse=np.where(self.known, self.worse, 1.0))

    def tested(self, claim: Claim) -> Claim:
        """Return the claim with the half credit and its nulls."""
        credit, nulls = self.nulls()
        claim = replace(claim, estimate=credit.estimate)
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

    def moved(self, text: Codes) -> Floats:
        """Return the half credit of each row of `text`: which text's votes are in its
        place.
        """
        source = self.source[self.better]
        better, worse = (
            self.column[text[:, known]] for known in (self.better, self.worse)
        )
        vote = self.votes[source, better, worse]
        return mean_credits(vote, -vote, source)

    def worst(self) -> "Preferences":
        """Return the same with each pair of a known order that has no verdict wrong."""
        votes, source = self.votes.copy(), self.source[self.better]
        better, worse = self.column[self.better], self.column[self.worse]
        vote = votes[source, better, worse]
        votes[source, better, worse] = np.where(np.isnan(vote), -1.0, vote)
        votes[source, worse, better] = -votes[source, better, worse]
        return replace(self, votes=votes)

    def tested(self, claim: Claim, preference: SystemPreference) -> Claim:
        """Return the claim; its null: the judge only prefers systems."""
        return preference.tested(
            claim, self.moved, self.worst().moved, self.better.size
        )


def rating_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge, rated aspect and graded set."""
    for view, claim in _agreed_texts(study, base.RATING):
        if view.agreed.any():
            yield _rating_claim(view, claim)
    sets = [GradedSet(study, spec) for spec in study.spec.graded]
    for graded, judge, aspect in product(sets, study.spec.judges, study.spec.aspects):
        known = graded.view(judge, aspect)
        if known is None or known.answers.classes is None:
            continue
        classified, texts = (
            _classified(known, base.GRADED, graded.texts, aspect),
            graded.texts,
        )
        lost = lost_share(
            study, texts, judge, aspect, classified.answers, classified.gold
        )
        yield classified.tested(
            _untested(judge, base.GRADED, GLOBAL, aspect, lost, texts)
        )


def order_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims on texts of one source that people rate differently, and on
    chains.
    """
    for view, claim in _agreed_texts(study, base.ORDER):
        yield from _order_claim(view, claim)
    chains = [f"{name}.{degree}" for name, degree in study.spec.chains]
    for judge, texts, aspect in product(study.spec.judges, chains, study.spec.aspects):
        if not (links := chain(study, texts, judge, aspect)):
            continue
        lengths, source, pairs = links.lengths, links.source, links.pairs.apart(1)
        ordered = Ordered.of_texts(study, links.scores, lengths, source, pairs)
        lost, _ = study.replies_lost(judge, ["original", texts], [aspect])
        if ordered.source.size:
            yield ordered.tested(
                _untested(judge, base.SEQUENCE, LOCAL, aspect, lost, texts)
            )


def pair_claims(study: EvaluationData) -> Iterator[Claim]:
    """Yield the claims of judges that choose the better of two texts, or score both.

    Scores count on pairs between which people chose.
    """
    every = pairwise.votes_of(study) | pairwise.scored_votes(study)
    for (perturbation, judge, aspect), votes in every.items():
        panel = study.panel(perturbation).given(judge)
        pairs = pairwise.judged(panel, judge, aspect, votes)
        sign = np.sign(pairs.ahead)
        asked = np.isfinite(sign) & (sign != 0)
        if not asked.any():
            continue
        credit = (
            pairs.verdict[asked] * sign[asked]
        )  # 1 right, 0 neither, -1 wrong, NaN no reply
        first, second = (
            panel.lengths[texts][asked] for texts in (pairs.first, pairs.second)
        )
        first_better = sign[asked] > 0
        ordered = Ordered(
            credit,
            -credit,
            np.where(first_better, first, second),
            np.where(first_better, second, first),
            pairs.source[asked],
            len(study.item_order),
        )
        kind = base.PAIRS if perturbation == "systems" else base.SEQUENCE
        lost = lost_share(study, perturbation, judge, aspect, credit, sign[asked])
        claim = _untested(judge, kind, POOLED, aspect, lost, perturbation)
        claim = ordered.tested(claim)
        estimate = claim.estimate.with_method(pairs.votes.policy)
        claim = replace(claim, estimate=estimate)
        if kind == base.SEQUENCE or claim.outcome:
            yield claim
            continue
        texts = np.unique([pairs.first, pairs.second])
        preference = SystemPreference(study, panel.source[texts], panel.system[texts])
        first, second = (
            np.searchsorted(texts, one) for one in (pairs.first, pairs.second)
        )
        better, worse = np.where(sign > 0, (first, second), (second, first))[:, asked]
        preferences = Preferences.of_votes(
            pairs.verdict, (first, second), preference.source, better, worse
        )
        gap, p = _as_rater(panel, aspect, pairs)
        yield preferences.tested(replace(claim, rater=gap, p_rater=p), preference)


def _untested(
    judge: str, kind: str, level: str, aspect: str, lost: float, texts: str = "systems"
) -> Claim:
    """Return a claim whose estimate and nulls `tested` fills in; the set `systems` has
    no name.
    """
    statistic = KAPPA if kind in (base.RATING, base.GRADED) else HALF_CREDIT
    name, _, degree = ("" if texts == "systems" else texts).partition(".")
    columns = judge, kind, statistic, level, aspect, Estimate.undefined("not tested")
    return Claim(*columns, lost=lost, perturbation=name or None, degree=degree or None)


def _classified(view: View, *names: str) -> Classified:
    """Return a judge's classes of the agreed texts; permutations are the same for all
    judges.
    """
    study, agreed, panel = view.panel.study, view.agreed, view.panel
    return Classified(
        view.people.shared[agreed],
        present(view.answers.classes)[agreed],
        panel.lengths[agreed],
        panel.source[agreed],
        view.people.classes,
        len(study.item_order),
        stream(study.spec.seed, "claims", study.dataset, *names),
    )


def _agreed_texts(study: EvaluationData, kind: str) -> Iterator[tuple[View, Claim]]:
    """Yield judges' views of texts of which all raters agree, and their untested
    claims.
    """
    views_of = cache(Views)
    for judge in study.spec.judges:
        panel = study.shared_panel(judge)
        views = views_of(panel)
        for aspect, people in views.people.items():
            view = views.view(aspect, judge)
            if view is None or people.why:
                continue
            values = view.answers.classes if kind == base.RATING else view.answers.means
            if values is None:
                continue
            scores, shared = values[view.agreed], people.shared[view.agreed]
            lost = lost_share(study, "systems", judge, aspect, scores, shared)
            claim = _untested(judge, kind, DIRECT, aspect, lost)
            yield view, replace(claim, systems=panel.subset)


def _rated_texts(view: View) -> tuple[Flags, Codes, SystemPreference]:
    """Return which texts people rate, where the agreed ones are among them, and their
    systems.
    """
    panel, rated = view.panel, ~np.isnan(view.people.mean)
    index = (np.cumsum(rated) - 1)[view.agreed]
    preference = SystemPreference(panel.study, panel.source[rated], panel.system[rated])
    return rated, index, preference


def _rating_claim(view: View, claim: Claim) -> Claim:
    classified = _classified(view, base.RATING, claim.aspect)
    claim = classified.tested(claim)
    if claim.outcome:
        return claim
    rated, index, preference = _rated_texts(view)
    classes, worst = (present(view.answers.classes)[rated] for _ in range(2))
    worst[index] = classified.worst().answers
    moved, moved_worst = (
        partial(classified.moved, each, index) for each in (classes, worst)
    )
    return preference.tested(claim, moved, moved_worst, len(view.people.classes) ** 2)


def _order_claim(view: View, claim: Claim) -> Iterator[Claim]:
    agreed, panel, scores = view.agreed, view.panel, view.answers.means
    pairs = view.people.pairs(panel, agreed).apart(1)
    texts = scores[agreed], panel.lengths[agreed], panel.source[agreed]
    ordered = Ordered.of_texts(panel.study, *texts, pairs)
    if not ordered.source.size:
        return
    claim = ordered.tested(claim)
    if claim.outcome:
        yield claim
        return
    rated, index, preference = _rated_texts(view)
    known = index[pairs.better], index[pairs.worse]
    preferences = Preferences.of_scores(scores[rated], preference.source, *known)
    yield preferences.tested(claim, preference)


def _as_rater(
    panel: TargetSet, aspect: str, pairs: pairwise.JudgedPairs
) -> tuple[Estimate | None, float]:
    """Return a judge's half credit minus that of one more rater, and p of being
    worse.
    """
    study, tables = panel.study, rater_tables(panel, aspect)
    raters = [table[:, pairs.first] - table[:, pairs.second] for table in tables]
    if split(aspect)[0] in study.preferences and study.spec.ratings == "human":
        raters = [Pairs(panel, aspect, pairs.pairs).votes_on(pairs.pairs)]
    if not raters:
        return None, nan

    def value(votes: Floats, people: Floats) -> Mapping[str, Replicated]:
        ahead = np.sign(people)
        credit = np.where(ahead == 0, np.nan, np.sign(votes) * ahead)
        values, _ = half_credits(credit, -credit, pairs.source, len(study.item_order))
        return {HALF_CREDIT: base.mean_of_sources(values, ACCURACY, why=NO_PAIR)}

    gap = as_rater(value, pairs.verdict, raters, against="mean")[HALF_CREDIT].difference
    return base.compared_with_raters(study, gap)
