"""Claims of agreement: do a judge's scores follow people's ratings?

The pairwise correlation within sources, or Spearman over all texts where few sources
have different ratings or most texts are alone in theirs. The judge must beat chance
(0), both lengths of the texts, any curve of length and, where texts come from enough
named systems, a preference for systems; over all texts also a judge that knows only the
source.

The number is computed here, from the same arrays as agreement.csv
(`methods/agreement.py`) and not from its rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import HUMAN
from judgescope.methods.claims import base
from judgescope.methods.claims.base import Claim, Nulls, Rival, TableClaims, number
from judgescope.methods.claims.beside_raters import BesideRaters
from judgescope.methods.claims.draws import claim_stream
from judgescope.methods.claims.scope import NamedSystems, systems_of_texts
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_numbers
from judgescope.methods.measures import (
    DECIDES,
    LARGEST_CEILING,
    POOLED,
    WITHIN_SOURCE,
    level_of,
    unrated,
)
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.best_length import (
    LengthRemoved,
    correlation_of_rest,
    without_length,
)
from judgescope.statistics.correlation import leaving_out
from judgescope.statistics.intervals import (
    CORRELATION,
)
from judgescope.statistics.nulls import p_within_pooled
from judgescope.statistics.raters import ceilings
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.systems import p_systems
from judgescope.statistics.verdict import LOSS, Outcome
from judgescope.statistics.within_sources import (
    beyond_systems,
    normal_scores,
    texts_that_count,
    varies,
    within_sources,
)


class RatedTargets(BesideRaters):
    """Targets and people's mean rating of one aspect, with which judges are compared.

    `level` as by `level_of`; kept (texts,): the texts that people's values are used of,
    None for all.
    """

    def __init__(
        self,
        targets: TargetSet,
        aspect: str,
        level: str,
        kept: Flags | None = None,
    ) -> None:
        self.people = gold_numbers(targets.study, targets.ratings(aspect))
        gold = self.people.values
        if kept is not None:
            gold = np.where(kept, gold, np.nan)
        super().__init__(targets, aspect, gold, self.people.rule)
        self.level = level
        self.statistic = DECIDES[level]
        self._parts: dict[int, RatedTargets] = {}

    @property
    def n_sources(self) -> int:
        """The number of the dataset's sources."""
        return len(self.study.item_order)

    def number(self, x: Floats, y: Floats | None = None) -> Replicated:
        """Return the deciding correlation of scores (texts,), NaN = missing, with
        people's.
        """
        people = self.gold if y is None else y
        source = self.target_set.source
        n_sources = self.n_sources
        rated = ~np.isnan(people)
        if self.level == WITHIN_SOURCE:
            return within_sources(x[rated], people[rated], source[rated], n_sources)
        rows, why = leaving_out(x, people, source, n_sources)
        both = rated & ~np.isnan(x)
        sizes = np.bincount(source[both], minlength=n_sources).astype(float)
        counts = Estimate(0.0, n=int(both.sum()), n_missing=int((rated & ~both).sum()))
        return number(rows, sizes, CORRELATION, counts, why or REASONS.no_source)

    def nulls(self, x: Floats, result: Replicated) -> Nulls:
        """The nulls of chance, of lengths and, pooled, of sources; x (texts,)."""
        nulls = self._held_against_length(base.chance_tested(result, 0.0), x, result)
        if self.level == POOLED:
            nulls = self._held_within(nulls, x)
        return nulls

    def _held_against_length(
        self, nulls: Nulls, x: Floats, result: Replicated
    ) -> Nulls:
        """The nulls with those of length, on the texts that have one."""
        cases = self.measured(x)
        if cases.untested:
            return base.length_untested(nulls, cases.untested)
        length = np.where(np.isnan(x), np.nan, self.target_set.lengths)
        if not cases.complete:
            result = self.number(np.where(cases.measured, x, np.nan))
        nulls = base.held_against_lengths(
            nulls,
            result,
            base.CORRELATION_GAP,
            lambda sign: self.number(sign * length),
        )
        rest, left = self._without_length(x)
        return cases.noted(base.held_against_best_length(nulls, rest, left))

    def _without_length(
        self, x: Floats
    ) -> tuple[LengthRemoved | str, Callable[[LengthRemoved], Replicated]]:
        """What a curve of length leaves, and how its correlation is computed."""
        lengths = self.target_set.lengths
        source = self.target_set.source
        known = np.where(np.isnan(lengths), np.nan, x)
        both, counting = texts_that_count(known, self.gold, source, self.n_sources)
        within = self.level == WITHIN_SOURCE
        used = counting if within else both
        y = self.gold[used]
        rest: LengthRemoved | str = REASONS.no_lengths
        if used.any():
            scores = normal_scores(x[used]), normal_scores(y)
            rest = without_length(*scores, lengths[used], source[used])
        differing = None
        if within:
            differing = varies(y, source[used], self.n_sources)

        def left(removed: LengthRemoved) -> Replicated:
            return correlation_of_rest(
                removed,
                source[used],
                self.n_sources,
                within=within,
                differing=differing,
            )

        return rest, left

    def _held_within(self, nulls: Nulls, x: Floats) -> Nulls:
        """Pooled over texts, a judge that only knows the source agrees with people.

        Where most texts are alone in their source nobody can tell, and the claim says
        so: a test on the few others would have no power.
        """
        data = x, self.gold, self.target_set.source
        both, counting = texts_that_count(*data, self.n_sources)
        source = self.target_set.source[both]
        if 2 * int(counting.sum()) < int(both.sum()):
            return replace(nulls, reasons=(*nulls.reasons, base.SINGLE_TEXTS))
        names = (base.AGREEMENT, base.WITHIN, self.aspect)
        rng = claim_stream(self.study, *names)
        p = p_within_pooled(x[both], self.gold[both], source, rng)
        return nulls.with_null(base.WITHIN, p, Rival())

    def without(self, system: int) -> "RatedTargets":
        """The same without the texts of a system; what it draws serves every judge."""
        if system not in self._parts:
            kept = self.target_set.system != system
            part = RatedTargets(self.target_set, self.aspect, self.level, kept)
            self._parts[system] = part
        return self._parts[system]

    def by_system(self, x: Floats) -> NamedSystems | None:
        """What is known of the texts' systems; None where none are named."""
        worst = base.at_the_worst_end(x, self.gold, self.target_set.source)

        def beyond() -> Replicated:
            data = x, self.gold, self.target_set.source, self.target_set.system
            return beyond_systems(*data, self.n_sources)

        return systems_of_texts(self, x, worst, beyond)

    def p_systems(self, x: Floats, drawn: Codes) -> float:
        """p of the number where the judge's columns are permuted as in `drawn`."""
        return p_systems(
            x[self.rated],
            self.gold[self.rated],
            self.preference.source,
            self.preference.blocks,
            drawn,
            pooled=self.level == POOLED,
        )


def claims(data: EvaluationData) -> Iterator[Claim]:
    """Yield a claim for every judge and rated aspect."""
    texts_of = cache(RatedTargets)
    for judge in data.spec.judges:
        targets = data.shared_targets(judge).given(judge)
        for aspect, scale in data.spec.aspects.items():
            x = targets.scores(judge, aspect)
            ratings = targets.ratings(aspect)
            if scale.labels or x is None or not len(ratings):
                continue  # label_claims has those of labels
            people = gold_numbers(data, ratings).values
            level = level_of(x, people, targets.source, len(data.item_order))
            yield _claim(texts_of(targets, aspect, level), judge, x)


def _claim(texts: RatedTargets, judge: str, x: Floats) -> Claim:
    result = texts.number(x)
    claim = texts.claim(judge, base.AGREEMENT, x, texts.people.named(result).estimate)
    if result.estimate.note.startswith(REASONS.constant_judge):
        return replace(claim, outcome=Outcome.NOT_SHOWN, reasons=(base.CONSTANT,))
    if result.estimate.value is None:
        return claim.without(result.estimate.note)

    @cache
    def worst_scores() -> Floats:
        return base.at_the_worst_end(x, texts.gold, texts.target_set.source)

    def worst() -> Nulls:
        scores = worst_scores()
        return texts.nulls(scores, texts.number(scores))

    claim = replace(claim.counting(result), by_system=texts.by_system(x))
    compared = texts.as_rater(x)
    if claim.lost > LOSS.worst_case:
        compared = compared.held_at_worst(texts.as_rater(worst_scores()))
    claim = compared.on(claim)
    return claim.tested(texts.nulls(x, result), worst)


def people_rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the agreement of a rater in a judge's place: the mean of each with the
    others.
    """
    scales = {split(name)[0]: scale for name, scale in data.spec.aspects.items()}
    mean_correlation = CORRELATION._replace(kind="plain")
    for aspect, scale in scales.items():
        ratings = data.systems.ratings(aspect)
        if scale.labels or unrated(data, ratings) or len(ratings) > LARGEST_CEILING:
            continue
        targets = data.systems
        people = gold_numbers(data, ratings).values
        level = level_of(people, people, targets.source, len(data.item_order))
        texts = RatedTargets(targets, aspect, level)

        def value(
            a: Floats, b: Floats, texts: RatedTargets = texts
        ) -> Mapping[str, Replicated]:
            return {
                texts.statistic: texts.number(a, b)._replace(
                    scale=mean_correlation, ends=None
                )
            }

        numbers = ceilings(value, ratings, against=texts.people.rule)
        for name, ceiling in numbers.items():
            yield data.row(
                HUMAN, aspect, name, texts.level, ceiling, form=base.AGREEMENT
            )


CLAIMS_OF_AGREEMENT: Final = TableClaims("agreement", (people_rows, claims))
