"""Which judge agrees better with people: differences, tests, groups, ranks, detectable
gaps.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import comb, isnan, nan
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import measures
from judgescope.methods.base import Method, present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_classes, gold_numbers
from judgescope.methods.labels import labelled, truth_of
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
from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.comparison import PairedP, difference, grouped_ranks
from judgescope.statistics.correlation import COEFFICIENTS, CorrelationLevel
from judgescope.statistics.intervals import benjamini_hochberg, holm
from judgescope.statistics.labels import balanced_accuracy_over_resamples, on_labels
from judgescope.statistics.means import clustered_mean, mean_over
from judgescope.statistics.preferences import mcnemar
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Resamples
from judgescope.statistics.within_sources import (
    STATISTIC,
    over_resamples,
    within_sources,
)

MeasuredResults = Mapping[LevelStatistic, Replicated]
LABEL_STATISTIC: Final = "balanced_accuracy"
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
        judges: list[str],
        flips: permutation.Flips,
    ) -> None:
        self.target_set = targets
        self.aspect = aspect
        self.flips = flips
        self.study = targets.study
        wanted = self.settings = present(self.study.spec.comparison)
        ratings = targets.ratings(aspect)
        self.people = gold_numbers(self.study, ratings).values
        self.classed = gold_classes(self.study, ratings)
        self.gold = self.classed.values
        self.scores = dict[str, Floats]()
        for judge in judges:
            scores = targets.scores(judge, aspect)
            if scores is not None:
                self.scores[judge] = scores
        self.correlations = self._correlations()
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
        self._results: dict[tuple[str, bytes, bytes, bool], MeasuredResults] = {}

    def _correlations(self) -> dict[CorrelationLevel, list[Coefficient]]:
        """Level -> the correlations compared there: those that the study selects, and
        pooled Spearman where it decides the agreement of a judge.
        """
        wanted = [name for name in COEFFICIENTS if name in self.settings.statistics]
        by_level = {level: list(wanted) for level in self.settings.levels if wanted}
        name: Coefficient = "spearman"
        level: CorrelationLevel = "pooled"
        if name not in by_level.get(level, []) and self._pooled_decides():
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
                results |= measures.correlated(
                    self.target_set,
                    x,
                    self.people,
                    statistics=names,
                    levels=[level],
                    weights=weights,
                    chosen=given,
                )
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
        unit = _units(self.target_set, permute)
        tests[WITHIN] = permutation.within_sources_test(
            x1, x2, self.people, source, unit, self.flips
        )
        if KAPPA in self.measures and classes and classes == self.classes[other]:
            tests[KAPPA] = permutation.kappa_test(
                x1, x2, self.gold, classes, unit, self.flips
            )
        data = (x1, x2, self.people, source, system, self.flips)
        for level, names in self.correlations.items():
            by_statistic = permutation.permutation_tests(
                *data, level=level, permute=permute, statistics=names
            )
            for statistic, test in by_statistic.items():
                tests[statistic, level] = test
        both = ~(np.isnan(x1) | np.isnan(x2))
        given = self.target_set.is_given(judge, other)
        return ComparedPair(
            judge,
            other,
            first=self._results_of(judge, both, given, self.study.weights),
            second=self._results_of(other, both, given, self.study.weights),
            tests=tests,
            sources=np.unique(source[both]).size,
        )

    def rows(
        self, measure: LevelStatistic, pairs: list[ComparedPair]
    ) -> Iterator[ResultRow]:
        """Yield the ranks of all judges by one statistic, and the tests of every
        pair.
        """
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
            for name, estimate in self._tests(pair, measure, p_values).items():
                note = self.study.share_note(pair.judge, pair.other)
                yield targets.row(
                    pair.judge,
                    aspect,
                    name,
                    level,
                    estimate.with_note(note),
                    judge_b=pair.other,
                )
        for judge, other, *_ in untested:
            why = (
                self.no_classes[judge]
                or self.no_classes[other]
                or REASONS.different_scales
            )
            nothing = Estimate.undefined(why)
            name = f"difference_{statistic}"
            yield targets.row(judge, aspect, name, level, nothing, judge_b=other)

    def _ranks(
        self, measure: LevelStatistic, p: PairedP, untested: list[ComparedPair]
    ) -> Iterator[ResultRow]:
        """Yield the ranks on the targets that every judge was given, on resamples."""
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
        ranks = grouped_ranks(names, values, min(sources, default=0), p)
        for name, result, rank in zip(names, results, ranks, strict=True):
            if rank.value is None:
                rank = Estimate.undefined(result.estimate.note, n=rank.n)
            else:
                others = self._not_tested_against(name, untested)
                if others:
                    rank = rank.with_note(f"not tested against {', '.join(others)}")
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
        test = pair.tests[measure]
        note = ""
        if level == "by_source":
            first, second = comparison.on_shared_sources(first, second)
            if first is not pair.first[measure]:
                note = "of the sources in which both judges have a value"
        gap = difference(first, second).estimate.with_note(note)
        results = {f"difference_{statistic}": gap}
        method = permutation.permuted(self.settings.permute, len(self.flips))
        for name, p in zip(("p", "p_holm", "p_fdr"), p_values, strict=True):
            results[f"{name}_{statistic}"] = _p_value(p, test.n, method)

        n = pair.sources
        wished = self.settings.wished
        detectable = nan
        needed = nan
        least = comparison.detectable(first, second) if gap.ci_low is not None else None
        if least is not None:
            detectable = least
            needed = comparison.sources_needed(n, least, wished)
        method = "power .8 at .05, two-sided"
        results[f"detectable_{statistic}"] = _p_value(detectable, n, method)
        if detectable > first.scale.high - first.scale.low:
            results[f"detectable_{statistic}"] = Estimate.undefined(
                "more than the whole range of the statistic: too few sources",
                n=n,
                method=method,
            )
        results[f"sources_needed_{statistic}"] = _p_value(
            needed, n, f"for a difference of {wished:g}, power .8 at .05"
        )
        return results


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of comparison.csv: every judge's rank, and every pair of
    judges.
    """
    wanted = present(data.spec.comparison).judges
    judges = list[str]()
    for name, card in data.spec.judges.items():
        if (not wanted or name in wanted) and not card.hint:
            judges.append(name)
    targets = data.shared_targets(*judges)
    flips = _flips(targets, len(judges))
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
        pairs = [compared.pair(*names) for names in combinations(compared.scores, 2)]
        for measure in compared.measures:
            yield from compared.rows(measure, pairs)
            if measure not in compared.averaged:
                continue
            for pair in pairs:
                gap = split(aspect)[1], pair.judge, pair.other, measure
                gaps[gap].append(difference(pair.first[measure], pair.second[measure]))
    for (criterion, judge, other, (statistic, level)), each in gaps.items():
        if len(each) > 1:
            mean = mean_over(each, averaged="aspects").estimate
            mean = mean.with_note(data.share_note(judge, other))
            aspect = joined(AVERAGE, criterion)
            name = f"difference_{statistic}"
            yield targets.row(judge, aspect, name, level, mean, judge_b=other)


class LabelComparison:
    """The judges of one aspect that give labels, on one set of targets."""

    def __init__(
        self,
        targets: TargetSet,
        aspect: str,
        judges: list[str],
        flips: permutation.Flips,
    ) -> None:
        self.target_set = targets
        self.aspect = aspect
        self.study = targets.study
        self.gold = truth_of(targets.study, aspect)(targets.ratings(aspect))
        self.labels = len(self.study.spec.aspects[aspect].labels)
        self.codes: dict[str, Floats] = {}
        for judge in judges:
            if (scores := targets.scores(judge, aspect)) is None:
                continue
            mine, _ = labelled(targets, judge, aspect, scores, self.gold)
            if mine is not None:
                self.codes[judge] = mine
        self.hits: dict[str, Floats] = {}
        for judge, x in self.codes.items():
            is_right = x == self.gold
            self.hits[judge] = np.where(np.isnan(x + self.gold), np.nan, is_right)
        self.pairs = list(combinations(self.codes, 2))
        self.permute = present(self.study.spec.comparison).permute
        self.flips = flips

    def rows(self) -> Iterator[ResultRow]:
        """Yield the ranks by both statistics, and the tests of every two judges.

        Balanced accuracy, which decides, by permutations; accuracy by McNemar's test.
        """
        if not self.codes:
            return
        balanced = self._balanced_tests()
        right = [
            self._mcnemar(pair, self.target_set.is_given(*pair)) for pair in self.pairs
        ]
        p_right = np.array([test.value for test in right], dtype=np.float64)
        p = np.array([test.p for test in balanced], dtype=np.float64)
        corrected = {"p": p, "p_holm": holm(p), "p_fdr": benjamini_hochberg(p)}
        holm_right = holm(p_right)
        yield from self._ranks(
            LABEL_STATISTIC, self._balanced_on_resamples(), corrected["p_holm"]
        )
        yield from self._ranks(
            "label_accuracy", self._accuracy_on_resamples(), holm_right
        )
        method = permutation.permuted(self.permute, len(self.flips))
        for number, pair in enumerate(self.pairs):
            estimates = self._differences(pair)
            for name, values in corrected.items():
                estimates[f"{name}_{LABEL_STATISTIC}"] = _p_value(
                    values[number], balanced[number].n, method
                )
            estimates["p_mcnemar"] = right[number]
            estimates["p_holm_mcnemar"] = replace(
                right[number], value=float(holm_right[number])
            )
            judge, other = pair
            for name, estimate in estimates.items():
                noted = estimate.with_note(self.study.share_note(judge, other))
                yield self.target_set.row(
                    judge, self.aspect, name, POOLED, noted, judge_b=other
                )

    def _balanced_tests(self) -> list[permutation.PairedTest]:
        unit = _units(self.target_set, self.permute)
        tests = list[permutation.PairedTest]()
        for judge, other in self.pairs:
            test = permutation.balanced_accuracy_test(
                self.gold,
                self.codes[judge],
                self.codes[other],
                self.labels,
                unit,
                self.flips,
            )
            tests.append(test)
        return tests

    def _mcnemar(self, pair: tuple[str, str], given: Flags) -> Estimate:
        judge, other = pair
        source = self.target_set.source[given]
        return mcnemar(self.hits[judge][given], self.hits[other][given], source)

    def _differences(self, pair: tuple[str, str]) -> dict[str, Estimate]:
        """Return the differences in the statistics in which judges are compared."""
        judge, other = pair
        given = self.target_set.is_given(judge, other)
        both = ~np.isnan(self.codes[judge] + self.codes[other])

        def results(name: str) -> Mapping[str, Replicated]:
            return on_labels(
                self.gold[given],
                np.where(both, self.codes[name], np.nan)[given],
                self.labels,
                self.target_set.source[given],
                self.study.weights,
            )

        first = results(judge)
        second = results(other)
        return {
            f"difference_{name}": difference(first[name], second[name]).estimate
            for name in ("label_accuracy", LABEL_STATISTIC)
        }

    def _ranks(self, statistic: str, values: Floats, p: Floats) -> Iterator[ResultRow]:
        """Yield every judge's rank; values (judges, 1 + resamples), p of every pair."""
        names = list(self.codes)
        tested = dict(zip(self.pairs, p.tolist(), strict=True))
        sources = np.unique(
            self.target_set.source[self.target_set.is_given(*names)]
        ).size
        ranks = grouped_ranks(names, values, sources, tested)
        for judge, rank in zip(names, ranks, strict=True):
            noted = rank.with_note(self.study.share_note(*names))
            yield self.target_set.row(
                judge, self.aspect, f"rank_{statistic}", POOLED, noted
            )

    def _accuracy_on_resamples(self) -> Floats:
        """The share of right labels, of all and on resamples: (judges, rows)."""
        given = self.target_set.is_given(*self.codes)
        source = self.target_set.source[given]
        weights = self.study.resamples
        means = [clustered_mean(x[given], source, weights) for x in self.hits.values()]
        return np.stack([mean.rows for mean in means])

    def _balanced_on_resamples(self) -> Floats:
        """The balanced accuracy, of all and on resamples: (judges, rows)."""
        given = self.target_set.is_given(*self.codes)
        gold = self.gold[given]
        source = self.target_set.source[given]
        on_resamples = partial(
            balanced_accuracy_over_resamples,
            labels=self.labels,
            source=source,
            weights=self.study.resamples,
        )
        return np.stack([on_resamples(gold, x[given]) for x in self.codes.values()])


def _p_value(p: float, n: int, method: str) -> Estimate:
    """The estimate of a p-value; undefined where a judge is."""
    if isnan(p):
        return Estimate.undefined(REASONS.undefined_judge, n=n, method=method)
    return Estimate(float(p), n=n, method=method)


def _units(targets: TargetSet, permute: permutation.Permute) -> Codes:
    """What a permutation swaps together: each target's source, system or itself."""
    units = {"inputs": targets.source, "systems": targets.system}
    return units.get(permute, np.arange(len(targets.targets)))


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
