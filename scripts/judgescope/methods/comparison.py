"""Which judge agrees better with people: differences, tests, groups, ranks, detectable
gaps.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from math import comb, nan
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import measures
from judgescope.methods.base import Method, present
from judgescope.methods.compared_judges import JudgesCompared, p_value, units_of
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_classes, gold_numbers
from judgescope.methods.label_comparison import LabelComparison
from judgescope.methods.measures import (
    AVERAGE,
    POOLED,
    WITHIN_SOURCE,
    LevelStatistic,
    level_of,
)
from judgescope.schema.rows import ResultRow
from judgescope.statistics import comparison, permutation
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.classes import on_classes
from judgescope.statistics.coefficients import RANKED, Coefficient
from judgescope.statistics.comparison import PairedP, difference, grouped_ranks
from judgescope.statistics.correlation import COEFFICIENTS, CorrelationLevel
from judgescope.statistics.early_stop import permuted
from judgescope.statistics.intervals import benjamini_hochberg, holm
from judgescope.statistics.linear import (
    LINEAR,
    MOST_EXACT,
    linear_resamples,
    linear_test,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Resamples
from judgescope.statistics.within_sources import (
    STATISTIC,
    over_resamples,
    within_sources,
)

MeasuredResults = Mapping[LevelStatistic, Replicated]
KAPPA: LevelStatistic = ("kappa_linear", "pooled")
WITHIN: LevelStatistic = (STATISTIC, WITHIN_SOURCE)


class ComparedPair(NamedTuple):
    """Two judges on the targets that both have, and the tests of their differences."""

    judge: str
    other: str
    first: MeasuredResults
    second: MeasuredResults
    tests: Mapping[LevelStatistic, permutation.PairedTest]
    sources: int


class JudgeComparison:
    """All judges of one aspect on one set of targets; results are cached."""

    def __init__(
        self,
        targets: TargetSet,
        aspect: str,
        judges: JudgesCompared,
        flips: permutation.Flips,
    ) -> None:
        self.target_set = targets
        self.aspect = aspect
        self.judges = judges
        self.flips = flips
        self.study = targets.study
        wanted = self.settings = present(self.study.spec.comparison)
        ratings = targets.ratings(aspect)
        self.people = gold_numbers(self.study, ratings).values
        self.classed = gold_classes(self.study, ratings)
        self.gold = self.classed.values
        self.scores = dict[str, Floats]()
        for judge in judges.names:
            scores = targets.scores(judge, aspect)
            if scores is not None:
                self.scores[judge] = scores
        pooled_decides = self._pooled_decides()
        self.correlations = self._correlations(pooled_decides)
        self.measures: list[LevelStatistic] = [WITHIN]
        for statistic, level in product(COEFFICIENTS, self.correlations):
            if statistic in self.correlations[level]:
                self.measures.append((statistic, level))
        self.averaged = {WITHIN, *product(wanted.statistics, wanted.levels)} - {KAPPA}
        self.classes: dict[str, list[float] | None] = {}
        self.no_classes: dict[str, str] = {}
        for name, x in self.scores.items():
            classes, why = measures.classes_with(self.study, name, aspect, self.gold, x)
            self.classes[name] = classes
            self.no_classes[name] = why
        if KAPPA[0] in self.settings.statistics and any(self.classes.values()):
            self.measures.append(KAPPA)
        self.tested = set(self.measures)
        if judges.decided_alone:
            self.tested = {WITHIN}
            if pooled_decides:
                self.tested.add(("spearman", POOLED))
        self._results: dict[tuple[str, bytes, bytes, bool], MeasuredResults] = {}
        self._gaps: dict[tuple[str, str, LevelStatistic], Replicated] = {}

    def _correlations(
        self, pooled_decides: bool
    ) -> dict[CorrelationLevel, list[Coefficient]]:
        """Level -> the correlations compared there: those that the study selects, and
        pooled Spearman where it decides the agreement of a judge.
        """
        wanted = [name for name in COEFFICIENTS if name in self.settings.statistics]
        by_level = {level: list(wanted) for level in self.settings.levels if wanted}
        name: Coefficient = "spearman"
        level: CorrelationLevel = "pooled"
        if pooled_decides and name not in by_level.get(level, []):
            by_level[level] = [*by_level.get(level, []), name]
        return by_level

    def _pooled_decides(self) -> bool:
        """Whether the agreement of a judge is decided over all texts, as in claims."""
        for judge in self.scores:
            targets = self.study.shared_targets(judge).given(judge)
            x = targets.scores(judge, self.aspect)
            ratings = targets.ratings(self.aspect)
            if x is None or not len(ratings):
                continue
            people = gold_numbers(self.study, ratings).values
            n_sources = len(self.study.item_order)
            if level_of(x, people, targets.source, n_sources) == POOLED:
                return True
        return False

    def _results_of(
        self, judge: str, mask: Flags, given: Flags, weights: Resamples
    ) -> MeasuredResults:
        """Return a judge's correlations on a mask of targets; items not given are not
        missing.
        """
        key = (judge, mask.tobytes(), given.tobytes(), weights is self.study.resamples)
        if key not in self._results:
            x = np.where(mask, self.scores[judge], np.nan)
            results = {WITHIN: self._within(x[given], given, weights)}
            for level, names in self.correlations.items():
                exact = list(names)
                if weights is self.study.resamples:
                    exact = []
                    for each in names:
                        if not self._is_linear((each, level)):
                            exact.append(each)
                if exact:
                    results |= measures.correlated(
                        self.target_set,
                        x,
                        self.people,
                        statistics=exact,
                        levels=[level],
                        weights=weights,
                        chosen=given,
                    )
                for name in names:
                    if name not in exact:
                        deleted = self._results_of(
                            judge, mask, given, self.study.weights
                        )[name, level]
                        rows = linear_resamples(deleted, self.study.resamples)
                        results[name, level] = Replicated(deleted.estimate, rows)
            if KAPPA in self.measures:
                results[KAPPA] = self._kappa(judge, x[given], given, weights)
            self._results[key] = results
        return self._results[key]

    def _kappa(
        self, judge: str, x: Floats, given: Flags, weights: Resamples
    ) -> Replicated:
        """The linear kappa of scores of the given targets."""
        classes = self.classes[judge]
        if classes is None:
            undefined = Estimate.undefined(self.no_classes[judge])
            return Replicated(undefined, np.full(len(weights) + 1, np.nan))
        source = self.target_set.source[given]
        kappas = on_classes(self.gold[given], x, classes, source, weights)
        return self.classed.named(kappas[KAPPA[0]])

    def _within(self, x: Floats, given: Flags, weights: Resamples) -> Replicated:
        """The correlation within sources of scores of the given targets.

        Without each source, or of every resample of sources.
        """
        y = self.people[given]
        source = self.target_set.source[given]
        result = within_sources(x, y, source, len(self.study.item_order))
        if weights is not self.study.resamples:
            return result
        rows = over_resamples(x, y, source, weights)
        return Replicated(result.estimate, rows)

    def pair(self, judge: str, other: str) -> ComparedPair:
        """Return two judges on the targets that both have."""
        x1 = self.scores[judge]
        x2 = self.scores[other]
        source = self.target_set.source
        system = self.target_set.system
        tests: dict[LevelStatistic, permutation.PairedTest] = {}
        classes = self.classes[judge]
        permute = self.settings.permute
        unit = units_of(self.target_set, permute)
        tests[WITHIN] = self._test(
            partial(permutation.within_sources_test, x1, x2, self.people, source, unit)
        )
        if KAPPA in self.tested and classes and classes == self.classes[other]:
            tests[KAPPA] = self._test(
                partial(permutation.kappa_test, x1, x2, self.gold, classes, unit)
            )
        both = ~(np.isnan(x1) | np.isnan(x2))
        given = self.target_set.is_given(judge, other)
        first = self._results_of(judge, both, given, self.study.weights)
        second = self._results_of(other, both, given, self.study.weights)
        data = (x1, x2, self.people, source, system)
        for level, names in self.correlations.items():
            tested = [name for name in names if (name, level) in self.tested]
            for name in [name for name in tested if self._is_linear((name, level))]:
                tests[name, level] = self._test(
                    partial(linear_test, first[name, level], second[name, level])
                )
                tested.remove(name)
            if self.judges.stop:
                for name in tested:
                    tests[name, level] = self._test(
                        partial(self._correlation_test, data, name, level)
                    )
            elif tested:
                by_statistic = permutation.permutation_tests(
                    *data, self.flips, level=level, permute=permute, statistics=tested
                )
                for statistic, test in by_statistic.items():
                    tests[statistic, level] = test
        return ComparedPair(
            judge,
            other,
            first=first,
            second=second,
            tests=tests,
            sources=np.unique(source[both]).size,
        )

    def _is_linear(self, measure: LevelStatistic) -> bool:
        """Whether permutations and resamples of a statistic are those of pseudo-values.

        So are rank correlations of all texts of many sources.
        """
        statistic, level = measure
        if level != POOLED:
            return False
        if statistic not in RANKED:
            return False
        if self.settings.permute != "inputs":
            return False
        return len(self.study.item_order) > MOST_EXACT

    def _test(
        self, run: Callable[[permutation.Flips], permutation.PairedTest]
    ) -> permutation.PairedTest:
        """Run a test with the permutations that it needs."""
        stop = self.judges.stop
        if stop:
            return stop.test(run, self.flips)
        return run(self.flips)

    def _correlation_test(
        self,
        data: tuple[Floats, Floats, Floats, Codes, Codes],
        statistic: Coefficient,
        level: CorrelationLevel,
        flips: permutation.Flips,
    ) -> permutation.PairedTest:
        """Run the test of one correlation; data: both judges', people's, and places."""
        return permutation.permutation_tests(
            *data,
            flips,
            level=level,
            permute=self.settings.permute,
            statistics=[statistic],
        )[statistic]

    def rows(
        self, measure: LevelStatistic, pairs: list[ComparedPair]
    ) -> Iterator[ResultRow]:
        """Yield the ranks of all judges by one statistic, and the tests of every
        pair.
        """
        if measure not in self.tested:
            yield from self._rows_without_tests(measure, pairs)
            return
        statistic, level = measure
        targets = self.target_set
        aspect = self.aspect
        untested = list[ComparedPair]()
        tested = list[ComparedPair]()
        for pair in pairs:
            (tested if measure in pair.tests else untested).append(pair)
        p = np.array([pair.tests[measure].p for pair in tested])
        adjusted = holm(p)
        fdr = benjamini_hochberg(p)
        p_of = dict[tuple[str, str], float]()
        for pair, p_holm in zip(tested, adjusted, strict=True):
            p_of[pair.judge, pair.other] = p_holm
        yield from self._ranks(measure, p_of, untested)
        for pair, *p_values in zip(tested, p, adjusted, fdr, strict=True):
            yield from self._rows_of_pair(pair, measure, p_values)
        for judge, other, *_ in untested:
            why = (
                self.no_classes[judge]
                or self.no_classes[other]
                or REASONS.different_scales
            )
            nothing = Estimate.undefined(why)
            name = f"difference_{statistic}"
            yield targets.row(judge, aspect, name, level, nothing, judge_b=other)

    def gap(self, pair: ComparedPair, measure: LevelStatistic) -> Replicated:
        """The difference of two judges in a statistic."""
        key = pair.judge, pair.other, measure
        if key not in self._gaps:
            self._gaps[key] = difference(pair.first[measure], pair.second[measure])
        return self._gaps[key]

    def _rows_of_pair(
        self, pair: ComparedPair, measure: LevelStatistic, p_values: list[float]
    ) -> Iterator[ResultRow]:
        """Yield what `_tests` says of two judges; no p-values without a test."""
        for name, estimate in self._tests(pair, measure, p_values).items():
            note = self.study.share_note(pair.judge, pair.other)
            yield self.target_set.row(
                pair.judge,
                self.aspect,
                name,
                measure[1],
                estimate.with_note(note),
                judge_b=pair.other,
            )

    def _rows_without_tests(
        self, measure: LevelStatistic, pairs: list[ComparedPair]
    ) -> Iterator[ResultRow]:
        """Yield ranks and differences with intervals by a statistic that is not tested.

        Kappa compares judges of one scale alone.
        """
        yield from self._ranks(measure, None, [])
        for pair in pairs:
            classes = self.classes[pair.judge], self.classes[pair.other]
            if measure != KAPPA or (classes[0] and classes[0] == classes[1]):
                yield from self._rows_of_pair(pair, measure, [])

    def _ranks(
        self, measure: LevelStatistic, p: PairedP | None, untested: list[ComparedPair]
    ) -> Iterator[ResultRow]:
        """Yield the ranks on the targets that every judge was given, on resamples.

        Without p-values no letters stand beside them.
        """
        statistic, level = measure
        names = list(self.scores)
        given = self.target_set.is_given(*names)
        results = list[Replicated]()
        sources = list[int]()
        for name, x in self.scores.items():
            has_score = ~np.isnan(x)
            by_measure = self._results_of(name, has_score, given, self.study.resamples)
            result = by_measure[measure]
            results.append(result)
            if not np.isnan(result.rows[0]):
                sources.append(
                    np.unique(self.target_set.source[given & has_score]).size
                )
        values = np.empty((0, 1))
        if results:
            values = np.stack([result.rows for result in results])
        n_sources = min(sources, default=0)
        if p is None:
            ranks = comparison.ranks(values, n_sources)
        else:
            ranks = grouped_ranks(names, values, n_sources, p)
        for name, result, rank in zip(names, results, ranks, strict=True):
            if rank.value is None:
                rank = Estimate.undefined(result.estimate.note, n=rank.n)
            else:
                others = self._not_tested_against(name, untested)
                if others:
                    rank = rank.with_note(f"not tested against {', '.join(others)}")
                if p is not None:
                    rank = rank.with_note(self.judges.about_letters(name))
                if self._is_linear(measure):
                    rank = rank.with_method(f"resamples of {LINEAR}")
            rank = rank.with_note(self.study.share_note(*self.scores))
            yield self.target_set.row(
                name, self.aspect, f"rank_{statistic}", level, rank
            )

    def _not_tested_against(
        self, judge: str, untested: list[ComparedPair]
    ) -> list[str]:
        """Return the judges with classes that a judge is not tested against."""
        others = list[str]()
        for pair in untested:
            if judge in (pair.judge, pair.other):
                other = pair.judge if judge == pair.other else pair.other
                if not self.no_classes[other]:
                    others.append(other)
        return others

    def _tests(
        self, pair: ComparedPair, measure: LevelStatistic, p_values: list[float]
    ) -> dict[str, Estimate]:
        """Return by name a pair's difference, p-values, detectable gap and sources
        needed.
        """
        statistic, level = measure
        first = pair.first[measure]
        second = pair.second[measure]
        note = ""
        if level == "by_source":
            first, second = comparison.on_shared_sources(first, second)
            if first is not pair.first[measure]:
                note = "of the sources in which both judges have a value"
            gap = difference(first, second)
        else:
            gap = self.gap(pair, measure)
        results = {f"difference_{statistic}": gap.estimate.with_note(note)}
        if p_values:
            test = pair.tests[measure]
            method = permuted(
                self.settings.permute,
                len(self.flips),
                self.judges.stop,
                LINEAR if self._is_linear(measure) else "",
            )
            for name, p in zip(("p", "p_holm", "p_fdr"), p_values, strict=True):
                results[f"{name}_{statistic}"] = p_value(p, test.n, method)

        n = pair.sources
        wished = self.settings.wished
        detectable = nan
        needed = nan
        least = comparison.detectable_by(gap)
        if least is not None and gap.estimate.ci_low is not None:
            detectable = least
            needed = comparison.sources_needed(n, least, wished)
        method = "power .8 at .05, two-sided"
        results[f"detectable_{statistic}"] = p_value(detectable, n, method)
        if detectable > first.scale.high - first.scale.low:
            results[f"detectable_{statistic}"] = Estimate.undefined(
                "more than the whole range of the statistic: too few sources",
                n=n,
                method=method,
            )
        results[f"sources_needed_{statistic}"] = p_value(
            needed, n, f"for a difference of {wished:g}, power .8 at .05"
        )
        return results


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of comparison.csv: every judge's rank, and every pair of
    judges.
    """
    judges = JudgesCompared.of(data)
    targets = data.shared_targets(*judges.names)
    flips = _flips(targets, len(judges.names))
    gaps: dict[tuple[str | None, str, str, LevelStatistic], list[Replicated]] = (
        defaultdict(list)
    )
    for aspect in data.spec.aspects:
        if not len(targets.ratings(aspect)):
            continue
        if data.spec.aspects[aspect].labels:
            yield from LabelComparison(targets, aspect, judges, flips).rows()
        if not data.spec.aspects[aspect].ordered:
            continue  # its scores have no ranks
        compared = JudgeComparison(targets, aspect, judges, flips)
        pairs = [compared.pair(*names) for names in judges.pairs(compared.scores)]
        for measure in compared.measures:
            yield from compared.rows(measure, pairs)
            if measure not in compared.averaged:
                continue
            for pair in pairs:
                gap = split(aspect)[1], pair.judge, pair.other, measure
                gaps[gap].append(compared.gap(pair, measure))
    for (criterion, judge, other, (statistic, level)), each in gaps.items():
        if len(each) > 1:
            mean = mean_over(each, averaged="aspects").estimate
            mean = mean.with_note(data.share_note(judge, other))
            aspect = joined(AVERAGE, criterion)
            name = f"difference_{statistic}"
            yield targets.row(judge, aspect, name, level, mean, judge_b=other)


def _flips(targets: TargetSet, judges: int) -> permutation.Flips:
    """Return the permutations that all pairs of a dataset share."""
    study = targets.study
    settings = present(targets.study.spec.comparison)
    permute = settings.permute
    # p is never below 1 / (B + 1): corrected for m pairs, not below m / (B + 1).
    count = settings.permutations or max(1000, 40 * comb(judges, 2))
    sizes = {"inputs": len(study.item_order), "systems": len(set(targets.systems))}
    rng = stream(study.spec.seed, "permutation", study.dataset, permute)
    return permutation.flips_of(rng, sizes.get(permute, len(targets.targets)), count)


METHOD = Method(
    name="comparison", rows=rows, parts=("comparison",), bars=False, unordered="yes"
)
