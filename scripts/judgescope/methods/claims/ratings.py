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
from math import nan
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import split
from judgescope.methods import pair_verdicts
from judgescope.methods.aspect_views import DIRECT, AspectView
from judgescope.methods.base import present
from judgescope.methods.claims import base
from judgescope.methods.claims.base import (
    Claim,
    TableClaims,
    lost_share,
)
from judgescope.methods.claims.beside_raters import (
    RaterComparison,
    compared_with_raters,
)
from judgescope.methods.claims.classified import KAPPA, Classified
from judgescope.methods.claims.draws import claim_stream
from judgescope.methods.claims.ordered import NO_PAIR, Ordered, Preferences
from judgescope.methods.claims.scope import (
    MovedTexts,
    NamedSystems,
    named_systems,
    system_names,
)
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.measures import POOLED, rater_tables, too_many_raters
from judgescope.methods.pair_verdicts import JudgedPairs, PanelPairs
from judgescope.methods.perspectives import GLOBAL, LOCAL, GradedSet, Views, chain
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.intervals import ACCURACY
from judgescope.statistics.nulls import (
    half_credits,
)
from judgescope.statistics.raters import as_rater
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.systems import RULE, votes_beyond_systems
from judgescope.statistics.verdict import LOSS, Outcome
from judgescope.statistics.within_sources import (
    beyond_systems,
)

HALF_CREDIT: Final = "half_credit"


@base.unordered_too
def rating_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge, rated aspect and graded set."""
    for view, claim in _agreed_texts(data, base.RATING):
        if view.agreed.any():
            yield _rating_claim(view, claim)
    sets = [GradedSet(data, spec) for spec in data.spec.graded]
    for graded, judge, aspect in product(sets, data.spec.judges, data.spec.aspects):
        known = graded.view(judge, aspect)
        if known is None or known.answers.classes is None:
            continue
        classified = _classified(known, base.GRADED, graded.texts, aspect)
        texts = graded.texts
        lost = lost_share(
            data, texts, judge, aspect, classified.answers, classified.gold
        )
        yield classified.tested(
            _untested(judge, base.GRADED, GLOBAL, aspect, lost, texts)
        )


@base.unordered_too
def order_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield the claims on texts of one source that people rate differently, and on
    chains.
    """
    for view, claim in _agreed_texts(data, base.ORDER):
        yield from _order_claim(view, claim)
    chains = [f"{name}.{degree}" for name, degree in data.spec.chains]
    for judge, texts, aspect in product(data.spec.judges, chains, data.spec.aspects):
        if not (links := chain(data, texts, judge, aspect)):
            continue
        lengths = links.lengths
        source = links.source
        pairs = links.pairs.at_distance(1)
        # Texts of a chain are made here, so their lengths are known.
        ordered = Ordered.of_texts(data, links.scores, lengths, source, pairs)
        lost, _ = data.replies_lost(judge, ["original", texts], [aspect])
        if ordered.source.size:
            yield ordered.tested(
                _untested(judge, base.SEQUENCE, LOCAL, aspect, lost, texts)
            )


class JudgedOrder(NamedTuple):
    """A judge's verdicts on pairs of texts, of which people's order is known."""

    perturbation: str
    judge: str
    aspect: str
    target_set: TargetSet
    pairs: JudgedPairs
    sign: Floats
    """Which text of a pair people prefer: 1, -1, or 0 for a tie; (pairs,)."""
    asked: Flags
    """Which pairs people do not rate alike; (pairs,)."""
    ordered: Ordered
    """These pairs alone."""


def judged_orders(data: EvaluationData) -> Iterator[JudgedOrder]:
    """Yield the verdicts of judges that choose the better of two texts, or score
    both; without those on which people have no preference.
    """
    every = pair_verdicts.votes_of(data) | pair_verdicts.scored_votes(data)
    for (perturbation, judge, aspect), votes in every.items():
        targets = data.target_set(perturbation).given(judge)
        pairs = pair_verdicts.judged(targets, judge, aspect, votes)
        sign = np.sign(pairs.ahead)
        asked = np.isfinite(sign) & (sign != 0)
        if not asked.any():
            continue
        ordered = ordered_by_people(targets, pairs, sign, asked)
        yield JudgedOrder(
            perturbation, judge, aspect, targets, pairs, sign, asked, ordered
        )


@base.unordered_too
def pair_claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield the claims of judges that choose the better of two texts, or score both.

    Scores count on pairs between which people chose.
    """
    for cell in judged_orders(data):
        perturbation, judge, aspect, targets, pairs, sign, asked, ordered = cell
        kind = base.PAIRS if perturbation == "systems" else base.SEQUENCE
        lost = lost_share(
            data, perturbation, judge, aspect, ordered.better, sign[asked]
        )
        claim = _untested(judge, kind, POOLED, aspect, lost, perturbation)
        claim = ordered.tested(claim)
        estimate = claim.estimate.with_method(pairs.verdicts.policy)
        claim = replace(claim, estimate=estimate)
        if claim.outcome is None and not ordered.decides:
            claim = replace(
                claim,
                nulls={},
                rivals={},
                worse=nan,
                outcome=Outcome.NOT_SHOWN,
                reasons=(base.CONSTANT,),
            )
        if kind == base.SEQUENCE or claim.outcome:
            yield claim
            continue
        compared = _as_rater(targets, aspect, pairs)
        if claim.lost > LOSS.worst_case:
            compared = compared.held_at_worst(_as_rater(targets, aspect, pairs, sign))
        by_system = _systems_of_votes(targets, pairs, ordered, sign, asked)
        yield compared.on(replace(claim, by_system=by_system))


def ordered_by_people(
    targets: TargetSet, pairs: JudgedPairs, sign: Floats, asked: Flags
) -> Ordered:
    """The asked pairs, the text that people prefer as the better one.

    sign (pairs,): 1 where people prefer the first text, -1 the second.
    """
    # 1 right, 0 neither, -1 wrong, NaN no reply
    credit = pairs.verdict[asked] * sign[asked]
    first = targets.lengths[pairs.first][asked]
    second = targets.lengths[pairs.second][asked]
    first_better = sign[asked] > 0
    return Ordered(
        credit,
        -credit,
        np.where(first_better, first, second),
        np.where(first_better, second, first),
        pairs.source[asked],
        len(targets.study.item_order),
        targets.length_untested,
    )


def _systems_of_votes(
    targets: TargetSet, pairs: JudgedPairs, ordered: Ordered, sign: Floats, asked: Flags
) -> NamedSystems | None:
    """What is known of the systems of the texts that a judge compares."""
    study = targets.study
    better = np.where(sign > 0, pairs.first, pairs.second)
    worse = np.where(sign > 0, pairs.second, pairs.first)

    def moved_texts(kept: Flags) -> MovedTexts | None:
        known = kept[asked]
        if not known.any():
            return None
        texts = np.unique([pairs.first[kept], pairs.second[kept]])
        preference = SystemPreference(
            study, targets.source[texts], targets.system[texts]
        )

        def index_of(of_texts: Codes) -> Codes:
            return np.searchsorted(texts, of_texts)

        preferences = Preferences.of_votes(
            pairs.verdict[kept],
            (index_of(pairs.first[kept]), index_of(pairs.second[kept])),
            preference.source,
            index_of(better[asked & kept]),
            index_of(worse[asked & kept]),
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
        of_system = targets.system == system
        return moved_texts(~(of_system[pairs.first] | of_system[pairs.second]))

    def beyond() -> Replicated:
        used = asked & np.isfinite(pairs.verdict)
        systems = targets.system[pairs.first[used]], targets.system[pairs.second[used]]
        return votes_beyond_systems(
            np.sign(pairs.verdict[used]),
            sign[used],
            systems,
            pairs.source[used],
            len(study.item_order),
        )

    every = moved_texts(np.ones(asked.size, dtype=bool))
    assert every is not None
    return named_systems(every, system_names(targets), beyond, without)


def _untested(
    judge: str, kind: str, level: str, aspect: str, lost: float, texts: str = "systems"
) -> Claim:
    """Return a claim whose estimate and nulls `tested` fills in; the set `systems` has
    no name.
    """
    statistic = HALF_CREDIT
    if kind in (base.RATING, base.GRADED):
        statistic = KAPPA
    name, _, degree = ("" if texts == "systems" else texts).partition(".")
    columns = judge, kind, statistic, level, aspect, Estimate.undefined("not tested")
    return Claim(*columns, lost=lost, perturbation=name or None, degree=degree or None)


def _classified(view: AspectView, *names: str) -> Classified:
    """Return a judge's classes of the agreed texts; permutations are the same for all
    judges.
    """
    study = view.target_set.study
    agreed = view.agreed
    targets = view.target_set
    return Classified(
        view.people.shared[agreed],
        present(view.answers.classes)[agreed],
        targets.lengths[agreed],
        targets.source[agreed],
        view.people.classes,
        len(study.item_order),
        claim_stream(study, *names),
        targets.length_untested,
    )


def _agreed_texts(
    data: EvaluationData, kind: str
) -> Iterator[tuple[AspectView, Claim]]:
    """Yield judges' views of texts of which all raters agree, and their untested
    claims.
    """
    views_of = cache(Views)
    for judge in data.spec.judges:
        targets = data.shared_targets(judge)
        views = views_of(targets)
        for aspect, people in views.people.items():
            view = views.view(aspect, judge)
            if view is None or people.why:
                continue
            values = view.answers.classes if kind == base.RATING else view.answers.means
            if values is None:
                continue
            scores = values[view.agreed]
            shared = people.shared[view.agreed]
            lost = lost_share(data, "systems", judge, aspect, scores, shared)
            claim = _untested(judge, kind, DIRECT, aspect, lost)
            yield view, replace(claim, systems=targets.subset)


@dataclass(frozen=True, eq=False)
class RatedPlaces:
    """The texts that people rate, and where texts of which all agree are among them.

    rated (the set's texts,); `index` (agreed texts,): their places among the rated
    ones.
    """

    rated: Flags
    index: Codes
    preference: SystemPreference

    @classmethod
    def of_view(cls, view: AspectView, kept: Flags) -> "RatedPlaces":
        """Of the texts of a view that are kept, (the set's texts,)."""
        targets = view.target_set
        rated = ~np.isnan(view.people.mean) & kept
        index = (np.cumsum(rated) - 1)[view.agreed & kept]
        source = targets.source[rated]
        system = targets.system[rated]
        return cls(rated, index, SystemPreference(targets.study, source, system))


def _rating_claim(view: AspectView, claim: Claim) -> Claim:
    classified = _classified(view, base.RATING, claim.aspect)
    claim = classified.tested(claim)
    if claim.outcome:
        return claim
    targets = view.target_set

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
        data = answers, gold, targets.source, targets.system
        return beyond_systems(*data, len(targets.study.item_order))

    return replace(claim, by_system=_named(targets, moved_texts, beyond))


def _order_claim(view: AspectView, claim: Claim) -> Iterator[Claim]:
    agreed = view.agreed
    targets = view.target_set
    scores = view.answers.means
    pairs = view.people.pairs(targets, agreed).at_distance(1)
    texts = scores[agreed], targets.lengths[agreed], targets.source[agreed]
    ordered = Ordered.of_texts(targets.study, *texts, pairs, targets.length_untested)
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
        data = scores, view.people.mean, targets.source, targets.system
        return beyond_systems(*data, len(targets.study.item_order))

    yield replace(claim, by_system=_named(targets, moved_texts, beyond))


def _named(
    targets: TargetSet,
    moved_texts: Callable[[Flags], MovedTexts | None],
    beyond: Callable[[], Replicated],
) -> NamedSystems | None:
    """What is known of the systems of a set's texts; moved_texts(kept texts)."""
    every = moved_texts(np.ones(targets.system.size, dtype=bool))
    assert every is not None
    return named_systems(
        every,
        system_names(targets),
        beyond,
        lambda system: moved_texts(targets.system != system),
    )


def _as_rater(
    targets: TargetSet, aspect: str, pairs: JudgedPairs, sign: Floats | None = None
) -> RaterComparison:
    """A judge's half credit beside that of one more rater.

    sign (pairs,): if given, each pair without a verdict counts as wrong; 1 where people
    prefer the first text, -1 the second.
    """
    study = targets.study
    tables = rater_tables(targets, aspect)
    raters = [table[:, pairs.first] - table[:, pairs.second] for table in tables]
    if split(aspect)[0] in study.preferences and study.spec.ratings == "people":
        raters = [PanelPairs(targets, aspect, pairs.pairs).votes_on(pairs.pairs)]
    if not raters:
        return RaterComparison(too_many=too_many_raters(targets, aspect))
    verdict = pairs.verdict
    if sign is not None:
        verdict = np.where(np.isnan(verdict), -sign, verdict)

    def value(votes: Floats, people: Floats) -> Mapping[str, Replicated]:
        ahead = np.sign(people)
        credit = np.where(ahead == 0, np.nan, np.sign(votes) * ahead)
        values, _ = half_credits(credit, -credit, pairs.source, len(study.item_order))
        return {HALF_CREDIT: base.mean_of_sources(values, ACCURACY, why=NO_PAIR)}

    compared = as_rater(value, verdict, raters, against="mean")[HALF_CREDIT]
    return compared_with_raters(study, compared, 0.5)


CLAIMS_OF_PERSPECTIVES: Final = TableClaims(
    "perspectives", (rating_claims, order_claims)
)
CLAIMS_OF_PAIRWISE: Final = TableClaims("pairwise", (pair_claims,))
