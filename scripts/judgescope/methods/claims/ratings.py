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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods import pairwise
from judgescope.methods.base import present
from judgescope.methods.claims import base
from judgescope.methods.claims.base import (
    Claim,
    Nulls,
    RaterComparison,
    Rival,
    lost_share,
)
from judgescope.methods.claims.scope import (
    MovedTexts,
    NamedSystems,
    named_systems,
    system_names,
)
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.measures import POOLED, rater_tables
from judgescope.methods.pairwise import JudgedPairs, Pairs
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
from judgescope.statistics.best_length import (
    LengthRemoved,
    correlation_of_rest,
    pairs_without_length,
    without_length,
)
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
from judgescope.statistics.systems import RULE, votes_beyond_systems
from judgescope.statistics.within_sources import (
    beyond_systems,
    normal_scores,
    varies,
)

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
        return base.number(rows, sizes, scale_of(KAPPA), texts, NO_VARIATION)

    def nulls(self) -> tuple[Replicated, Nulls]:
        """Return kappa, and its nulls."""
        kappa = self.kappa(self.answers)
        if kappa.estimate.value is None:
            return kappa, Nulls({})
        nulls = base.chance_tested(kappa, 0.0)
        nulls = nulls.with_null(base.WITHIN, self._p_within(), Rival())
        if self.no_lengths:
            return kappa, base.length_untested(nulls, self.no_lengths)

        def by_length(sign: float) -> Replicated:
            answers = dealt(self.gold, sign * self.lengths, self.source)
            return self.kappa(np.where(np.isnan(self.answers), np.nan, answers))

        nulls = base.held_against_lengths(nulls, kappa, base.CORRELATION_GAP, by_length)
        return kappa, self._held_against_best_length(nulls)

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
        claim = replace(claim, estimate=kappa.estimate).counting(kappa)
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
    no_lengths: str = ""
    """Why nothing can be compared with length, "" if it can."""

    @classmethod
    def of_texts(
        cls,
        study: EvaluationData,
        x: Floats,
        lengths: Floats,
        source: Codes,
        pairs: OrderedPairs,
        no_lengths: str = "",
    ) -> "Ordered":
        """Return pairs of texts: x, lengths and source are (texts,), which `pairs`
        index.
        """
        better, worse = pairs.better, pairs.worse
        sides = (x[better], x[worse], lengths[better], lengths[worse])
        return cls(*sides, source[better], len(study.item_order), no_lengths)

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

    def nulls(self) -> tuple[Replicated, Nulls]:
        """Return the half credit, and its nulls."""
        credit = self.credit(self.better, self.worse)
        if credit.estimate.value is None:
            return credit, Nulls({})
        nulls = base.chance_tested(credit, 0.5)
        if self.no_lengths:
            return credit, base.length_untested(nulls, self.no_lengths)
        better = np.where(self.known, self.length_better, np.nan)
        worse = np.where(self.known, self.length_worse, np.nan)
        nulls = base.held_against_lengths(
            nulls,
            credit,
            base.SHARE_GAP,
            lambda sign: self.credit(sign * better, sign * worse),
        )
        return credit, self._held_against_best_length(nulls)

    def _held_against_best_length(self, nulls: Nulls) -> Nulls:
        lengths = np.isfinite(self.length_better) & np.isfinite(self.length_worse)
        used = self.known & lengths
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
        # Texts of a chain are made here, so their lengths are known.
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
        ordered = _ordered_by_people(panel, pairs, sign, asked)
        kind = base.PAIRS if perturbation == "systems" else base.SEQUENCE
        lost = lost_share(
            study, perturbation, judge, aspect, ordered.better, sign[asked]
        )
        claim = _untested(judge, kind, POOLED, aspect, lost, perturbation)
        claim = ordered.tested(claim)
        estimate = claim.estimate.with_method(pairs.votes.policy)
        claim = replace(claim, estimate=estimate)
        if kind == base.SEQUENCE or claim.outcome:
            yield claim
            continue
        compared = _as_rater(panel, aspect, pairs)
        by_system = _systems_of_votes(panel, pairs, ordered, sign, asked)
        yield compared.on(replace(claim, by_system=by_system))


def _ordered_by_people(
    panel: TargetSet, pairs: JudgedPairs, sign: Floats, asked: Flags
) -> Ordered:
    """The asked pairs, the text that people prefer as the better one.

    sign (pairs,): 1 where people prefer the first text, -1 the second.
    """
    # 1 right, 0 neither, -1 wrong, NaN no reply
    credit = pairs.verdict[asked] * sign[asked]
    first = panel.lengths[pairs.first][asked]
    second = panel.lengths[pairs.second][asked]
    first_better = sign[asked] > 0
    return Ordered(
        credit,
        -credit,
        np.where(first_better, first, second),
        np.where(first_better, second, first),
        pairs.source[asked],
        len(panel.study.item_order),
        panel.length_untested,
    )


def _systems_of_votes(
    panel: TargetSet, pairs: JudgedPairs, ordered: Ordered, sign: Floats, asked: Flags
) -> NamedSystems | None:
    """What is known of the systems of the texts that a judge compares."""
    study = panel.study
    better = np.where(sign > 0, pairs.first, pairs.second)
    worse = np.where(sign > 0, pairs.second, pairs.first)

    def moved_texts(kept: Flags) -> MovedTexts | None:
        known = kept[asked]
        if not known.any():
            return None
        texts = np.unique([pairs.first[kept], pairs.second[kept]])
        preference = SystemPreference(study, panel.source[texts], panel.system[texts])

        def place(of_texts: Codes) -> Codes:
            return np.searchsorted(texts, of_texts)

        preferences = Preferences.of_votes(
            pairs.verdict[kept],
            (place(pairs.first[kept]), place(pairs.second[kept])),
            preference.source,
            place(better[asked & kept]),
            place(worse[asked & kept]),
        )
        part = ordered.only(known)
        return MovedTexts(
            preference,
            preferences.moved,
            preferences.worst().moved,
            lambda: part.nulls()[1],
            preferences.better.size,
            preferences.share_compared >= RULE.least_filled,
        )

    def without(system: int) -> MovedTexts | None:
        of_system = panel.system == system
        return moved_texts(~(of_system[pairs.first] | of_system[pairs.second]))

    def beyond() -> Replicated:
        used = asked & np.isfinite(pairs.verdict)
        systems = panel.system[pairs.first[used]], panel.system[pairs.second[used]]
        return votes_beyond_systems(
            np.sign(pairs.verdict[used]),
            sign[used],
            systems,
            pairs.source[used],
            len(study.item_order),
        )

    every = moved_texts(np.ones(asked.size, dtype=bool))
    assert every is not None
    return named_systems(every, system_names(panel), beyond, without)


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
        panel.length_untested,
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


@dataclass(frozen=True, eq=False)
class RatedPlaces:
    """The texts that people rate, and where texts of which all agree are among them.

    rated (panel's texts,); `index` (agreed texts,): their places among the rated ones.
    """

    rated: Flags
    index: Codes
    preference: SystemPreference

    @classmethod
    def of_view(cls, view: View, kept: Flags) -> "RatedPlaces":
        """Of the texts of a view that are kept, (panel's texts,)."""
        panel = view.panel
        rated = ~np.isnan(view.people.mean) & kept
        index = (np.cumsum(rated) - 1)[view.agreed & kept]
        source, system = panel.source[rated], panel.system[rated]
        return cls(rated, index, SystemPreference(panel.study, source, system))


def _rating_claim(view: View, claim: Claim) -> Claim:
    classified = _classified(view, base.RATING, claim.aspect)
    claim = classified.tested(claim)
    if claim.outcome:
        return claim
    panel = view.panel

    def moved_texts(kept: Flags) -> MovedTexts | None:
        part = classified.only(kept[view.agreed])
        if np.isnan(part.answers).all():
            return None
        places = RatedPlaces.of_view(view, kept)
        classes = present(view.answers.classes)[places.rated]
        worst = classes.copy()
        worst[places.index] = part.worst().answers
        return MovedTexts(
            places.preference,
            partial(part.moved, classes, places.index),
            partial(part.moved, worst, places.index),
            lambda: part.nulls()[1],
            len(view.people.classes) ** 2,
        )

    def beyond() -> Replicated:
        answers = present(view.answers.classes)
        gold = np.where(view.agreed, view.people.shared, np.nan)
        data = answers, gold, panel.source, panel.system
        return beyond_systems(*data, len(panel.study.item_order))

    return replace(claim, by_system=_named(panel, moved_texts, beyond))


def _order_claim(view: View, claim: Claim) -> Iterator[Claim]:
    agreed, panel, scores = view.agreed, view.panel, view.answers.means
    pairs = view.people.pairs(panel, agreed).apart(1)
    texts = scores[agreed], panel.lengths[agreed], panel.source[agreed]
    ordered = Ordered.of_texts(panel.study, *texts, pairs, panel.length_untested)
    if not ordered.source.size:
        return
    claim = ordered.tested(claim)
    if claim.outcome:
        yield claim
        return

    def moved_texts(kept: Flags) -> MovedTexts | None:
        both = kept[agreed][pairs.better] & kept[agreed][pairs.worse]
        part = ordered.only(both)
        if not part.known.any():
            return None
        places = RatedPlaces.of_view(view, kept)
        # Places of the agreed texts that are kept, by their number among all agreed.
        number = np.cumsum(kept[agreed]) - 1
        better = places.index[number[pairs.better[both]]]
        worse = places.index[number[pairs.worse[both]]]
        source = places.preference.source
        preferences = Preferences.of_scores(scores[places.rated], source, better, worse)
        return MovedTexts(
            places.preference,
            preferences.moved,
            preferences.worst().moved,
            lambda: part.nulls()[1],
            preferences.better.size,
        )

    def beyond() -> Replicated:
        data = scores, view.people.mean, panel.source, panel.system
        return beyond_systems(*data, len(panel.study.item_order))

    yield replace(claim, by_system=_named(panel, moved_texts, beyond))


def _named(
    panel: TargetSet,
    moved_texts: Callable[[Flags], MovedTexts | None],
    beyond: Callable[[], Replicated],
) -> NamedSystems | None:
    """What is known of the systems of a panel's texts; moved_texts(kept texts)."""
    every = moved_texts(np.ones(panel.system.size, dtype=bool))
    assert every is not None
    return named_systems(
        every,
        system_names(panel),
        beyond,
        lambda system: moved_texts(panel.system != system),
    )


def _as_rater(panel: TargetSet, aspect: str, pairs: JudgedPairs) -> RaterComparison:
    """A judge's half credit beside that of one more rater."""
    study, tables = panel.study, rater_tables(panel, aspect)
    raters = [table[:, pairs.first] - table[:, pairs.second] for table in tables]
    if split(aspect)[0] in study.preferences and study.spec.ratings == "human":
        raters = [Pairs(panel, aspect, pairs.pairs).votes_on(pairs.pairs)]
    if not raters:
        return RaterComparison()

    def value(votes: Floats, people: Floats) -> Mapping[str, Replicated]:
        ahead = np.sign(people)
        credit = np.where(ahead == 0, np.nan, np.sign(votes) * ahead)
        values, _ = half_credits(credit, -credit, pairs.source, len(study.item_order))
        return {HALF_CREDIT: base.mean_of_sources(values, ACCURACY, why=NO_PAIR)}

    compared = as_rater(value, pairs.verdict, raters, against="mean")[HALF_CREDIT]
    return base.compared_with_raters(study, compared, 0.5)
