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
from judgescope.methods.base import Method, Row, present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.gold import gold_classes, gold_numbers
from judgescope.methods.labels import labelled, truth_of
from judgescope.methods.measures import (
    AVERAGE,
    POOLED,
    WITHIN_SOURCE,
    Measure,
    level_of,
)
from judgescope.statistics import comparison
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.classes import (
    balanced_accuracy_over_resamples,
    on_classes,
    on_labels,
)
from judgescope.statistics.comparison import PairedP, difference, grouped_ranks
from judgescope.statistics.correlation import STATISTICS, Level, Statistic
from judgescope.statistics.intervals import benjamini_hochberg, holm
from judgescope.statistics.means import clustered_mean, mean_over
from judgescope.statistics.preferences import mcnemar
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import DIFFERENT_SCALES, UNDEFINED_JUDGE, Estimate
from judgescope.statistics.within_sources import (
    STATISTIC,
    over_resamples,
    within_sources,
)

P_VALUES = ("p", "p_holm", "p_fdr")
FEWEST_PERMUTATIONS, FOR_EACH_PAIR = 1000, 40
"""p is never below 1 / (B + 1): corrected for m pairs, not below m / (B + 1)."""
TOO_FEW: Final = "more than the whole range of the statistic: too few sources"
SHARED_SOURCES: Final = "of the sources in which both judges have a value"
Results = Mapping[Measure, Replicated]
LABEL_STATISTIC: Final = "balanced_accuracy"
COMPARED: Final = ("label_accuracy", LABEL_STATISTIC)
"""The statistics of labels in which judges are compared."""
KAPPA: Measure = ("kappa_linear", "pooled")
WITHIN: Measure = (STATISTIC, WITHIN_SOURCE)
POOLED_DECIDES: tuple[Statistic, Level] = ("spearman", "pooled")
"""The number that decides agreement where too few sources have several texts."""


class Pair(NamedTuple):
    """Two judges on the targets that both have, and the tests of their differences."""

    judge: str
    other: str
    first: Results
    second: Results
    tests: Mapping[Measure, comparison.PairedTest]
    sources: int


class Field:
    """All judges of one aspect on one panel; results are cached."""

    def __init__(
        self, panel: TargetSet, aspect: str, judges: list[str], flips: comparison.Flips
    ) -> None:
        self.panel, self.aspect, self.flips, self.study = (
            panel,
            aspect,
            flips,
            panel.study,
        )
        wanted = self.settings = present(self.study.spec.comparison)
        ratings = panel.ratings(aspect)
        self.people = gold_numbers(self.study, ratings).values
        self.classed = gold_classes(self.study, ratings)
        self.gold = self.classed.values
        scores = {name: panel.scores(name, aspect) for name in judges}
        self.scores = {name: x for name, x in scores.items() if x is not None}
        self.correlations = self._correlations()
        selected = [(name, level) for name in STATISTICS for level in self.correlations]
        self.measures: list[Measure] = [WITHIN]
        for statistic, level in selected:
            if statistic in self.correlations[level]:
                self.measures.append((statistic, level))
        self.averaged = {WITHIN, *product(wanted.statistics, wanted.levels)} - {KAPPA}
        self.classes: dict[str, list[float] | None] = {}
        self.no_classes: dict[str, str] = {}
        for name, x in self.scores.items():
            classes, why = measures.classes_with(self.study, name, aspect, self.gold, x)
            self.classes[name], self.no_classes[name] = classes, why
        if KAPPA[0] in self.settings.statistics and any(self.classes.values()):
            self.measures.append(KAPPA)
        self._results: dict[tuple[str, bytes, bytes, bool], Results] = {}

    def _correlations(self) -> dict[Level, list[Statistic]]:
        """Level -> the correlations compared there: those that the study selects, and
        pooled Spearman where it decides the agreement of a judge.
        """
        wanted = [name for name in STATISTICS if name in self.settings.statistics]
        by_level = {level: list(wanted) for level in self.settings.levels if wanted}
        name, level = POOLED_DECIDES
        if name not in by_level.get(level, []) and self._pooled_decides():
            by_level[level] = [*by_level.get(level, []), name]
        return by_level

    def _pooled_decides(self) -> bool:
        """Whether the agreement of a judge is decided over all texts, as in claims."""
        for judge in self.scores:
            panel = self.study.shared_panel(judge).given(judge)
            x, ratings = panel.scores(judge, self.aspect), panel.ratings(self.aspect)
            if x is None or not len(ratings):
                continue
            people, n_sources = (
                gold_numbers(self.study, ratings).values,
                len(self.study.item_order),
            )
            if level_of(x, people, panel.source, n_sources) == POOLED:
                return True
        return False

    def _results_of(
        self, judge: str, mask: Flags, given: Flags, weights: Codes
    ) -> Results:
        """Return a judge's correlations on a mask of targets; items not given are not
        missing.
        """
        key = (judge, mask.tobytes(), given.tobytes(), weights is self.study.resamples)
        if key not in self._results:
            x = np.where(mask, self.scores[judge], np.nan)
            results = {WITHIN: self._within(x[given], given, weights)}
            for level, names in self.correlations.items():
                results |= measures.correlated(
                    self.panel,
                    x,
                    self.people,
                    statistics=names,
                    levels=[level],
                    weights=weights,
                    chosen=given,
                )
            if KAPPA in self.measures:
                classes = self.classes[judge]
                if classes is None:
                    undefined = Estimate.undefined(self.no_classes[judge])
                    results[KAPPA] = Replicated(
                        undefined, np.full(len(weights) + 1, np.nan)
                    )
                else:
                    source = self.panel.source[given]
                    kappas = on_classes(
                        self.gold[given], x[given], classes, source, weights
                    )
                    results[KAPPA] = self.classed.named(kappas[KAPPA[0]])
            self._results[key] = results
        return self._results[key]

    def _within(self, x: Floats, given: Flags, weights: Codes) -> Replicated:
        """The correlation within sources of scores of the given targets.

        Without each source, or of every resample of sources.
        """
        y, source = self.people[given], self.panel.source[given]
        result = within_sources(x, y, source, len(self.study.item_order))
        if weights is not self.study.resamples:
            return result
        rows = over_resamples(x, y, source, weights)
        return Replicated(result.estimate, rows)

    def pair(self, judge: str, other: str) -> Pair:
        """Return two judges on the targets that both have."""
        x1, x2 = self.scores[judge], self.scores[other]
        source, system = self.panel.source, self.panel.system
        tests: dict[Measure, comparison.PairedTest] = {}
        classes, permute = self.classes[judge], self.settings.permute
        unit = _units(self.panel, permute)
        tests[WITHIN] = comparison.within_sources_test(
            x1, x2, self.people, source, unit, self.flips
        )
        if KAPPA in self.measures and classes and classes == self.classes[other]:
            tests[KAPPA] = comparison.kappa_test(
                x1, x2, self.gold, classes, unit, self.flips
            )
        data = (x1, x2, self.people, source, system, self.flips)
        for level, names in self.correlations.items():
            by_statistic = comparison.permutation_tests(
                *data, level=level, permute=permute, statistics=names
            )
            tests |= {
                (statistic, level): test for statistic, test in by_statistic.items()
            }
        both, given = ~(np.isnan(x1) | np.isnan(x2)), self.panel.is_given(judge, other)
        first, second = (
            self._results_of(name, both, given, self.study.weights)
            for name in (judge, other)
        )
        return Pair(judge, other, first, second, tests, np.unique(source[both]).size)

    def rows(self, measure: Measure, pairs: list[Pair]) -> Iterator[Row]:
        """Yield the ranks of all judges by one statistic, and the tests of every
        pair.
        """
        (statistic, level), panel, aspect = measure, self.panel, self.aspect
        untested = [pair for pair in pairs if measure not in pair.tests]
        tested = [pair for pair in pairs if measure in pair.tests]
        p = np.array([pair.tests[measure].p for pair in tested])
        adjusted, fdr = holm(p), benjamini_hochberg(p)
        p_of = {
            (x.judge, x.other): p_holm
            for x, p_holm in zip(tested, adjusted, strict=True)
        }
        yield from self._ranks(measure, p_of, untested)
        for pair, *p_values in zip(tested, p, adjusted, fdr, strict=True):
            for name, estimate in self._tests(pair, measure, p_values).items():
                noted = estimate.with_note(
                    self.study.share_note(pair.judge, pair.other)
                )
                yield panel.row(
                    pair.judge, aspect, name, level, noted, judge_b=pair.other
                )
        for judge, other, *_ in untested:
            why = self.no_classes[judge] or self.no_classes[other] or DIFFERENT_SCALES
            nothing, name = Estimate.undefined(why), f"difference_{statistic}"
            yield panel.row(judge, aspect, name, level, nothing, judge_b=other)

    def _ranks(
        self, measure: Measure, p: PairedP, untested: list[Pair]
    ) -> Iterator[Row]:
        """Yield the ranks on the targets that every judge was given, on resamples."""
        (statistic, level), names = measure, list(self.scores)
        given, results, sources = (
            self.panel.is_given(*names),
            list[Replicated](),
            list[int](),
        )
        for name, x in self.scores.items():
            has_score = ~np.isnan(x)
            result = self._results_of(name, has_score, given, self.study.resamples)[
                measure
            ]
            results.append(result)
            if not np.isnan(result.rows[0]):
                sources.append(np.unique(self.panel.source[given & has_score]).size)
        values = np.stack([one.rows for one in results]) if names else np.empty((0, 1))
        ranks = grouped_ranks(names, values, min(sources, default=0), p)
        for name, result, rank in zip(names, results, ranks, strict=True):
            if rank.value is None:
                rank = Estimate.undefined(result.estimate.note, n=rank.n)
            else:
                pairs = [(judge, other) for judge, other, *_ in untested]
                others = [b if a == name else a for a, b in pairs if name in (a, b)]
                others = [other for other in others if not self.no_classes[other]]
                rank = rank.with_note(
                    f"not tested against {', '.join(others)}" if others else ""
                )
            rank = rank.with_note(self.study.share_note(*self.scores))
            yield self.panel.row(name, self.aspect, f"rank_{statistic}", level, rank)

    def _tests(
        self, pair: Pair, measure: Measure, p_values: list[float]
    ) -> dict[str, Estimate]:
        """Return by name a pair's difference, p-values, detectable gap and sources
        needed.
        """
        statistic, level = measure
        first, second, test = (
            pair.first[measure],
            pair.second[measure],
            pair.tests[measure],
        )
        if level == "by_source":
            first, second = comparison.on_shared_sources(first, second)
        gap = difference(first, second).estimate
        gap = gap.with_note("" if first is pair.first[measure] else SHARED_SOURCES)
        method = comparison.permuted(self.settings.permute, len(self.flips))
        least = comparison.detectable(first, second) if gap.ci_low is not None else None
        n, wished = pair.sources, self.settings.wished
        needed = nan if least is None else comparison.sources_needed(n, least, wished)
        numbers = {
            **{
                name: (p, test.n, method)
                for name, p in zip(P_VALUES, p_values, strict=True)
            },
            "detectable": (
                nan if least is None else least,
                n,
                "power .8 at .05, two-sided",
            ),
            "sources_needed": (
                needed,
                n,
                f"for a difference of {wished:g}, power .8 at .05",
            ),
        }
        results = {f"difference_{statistic}": gap} | {
            f"{name}_{statistic}": _p_value(value, n, method)
            for name, (value, n, method) in numbers.items()
        }
        if least is not None and least > first.scale.high - first.scale.low:
            _, n, method = numbers["detectable"]
            results[f"detectable_{statistic}"] = Estimate.undefined(
                TOO_FEW, n=n, method=method
            )
        return results


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of comparison.csv: every judge's rank, and every pair of
    judges.
    """
    wanted = present(study.spec.comparison).judges
    judges = [
        name
        for name, card in study.spec.judges.items()
        if (not wanted or name in wanted) and not card.hint
    ]
    panel = study.shared_panel(*judges)
    flips = _flips(panel, len(judges))
    gaps: dict[tuple[str | None, str, str, Measure], list[Replicated]] = defaultdict(
        list
    )
    for aspect in study.spec.aspects:
        if not len(panel.ratings(aspect)):
            continue
        if study.spec.aspects[aspect].labels:
            yield from LabelComparison(panel, aspect, judges, flips).rows()
        if not study.spec.aspects[aspect].ordered:
            continue  # its scores have no ranks
        field = Field(panel, aspect, judges, flips)
        pairs = [field.pair(*names) for names in combinations(field.scores, 2)]
        for measure in field.measures:
            yield from field.rows(measure, pairs)
            if measure not in field.averaged:
                continue
            for pair in pairs:
                gap = split(aspect)[1], pair.judge, pair.other, measure
                gaps[gap].append(difference(pair.first[measure], pair.second[measure]))
    for (criterion, judge, other, (statistic, level)), each in gaps.items():
        if len(each) > 1:
            mean = mean_over(each, averaged="aspects").estimate
            mean = mean.with_note(study.share_note(judge, other))
            aspect, name = joined(AVERAGE, criterion), f"difference_{statistic}"
            yield panel.row(judge, aspect, name, level, mean, judge_b=other)


class LabelComparison:
    """The judges of one aspect that give labels, on one panel."""

    def __init__(
        self, panel: TargetSet, aspect: str, judges: list[str], flips: comparison.Flips
    ) -> None:
        self.panel, self.aspect, self.study = panel, aspect, panel.study
        self.gold = truth_of(panel.study, aspect)(panel.ratings(aspect))
        self.labels = len(self.study.spec.aspects[aspect].labels)
        self.codes: dict[str, Floats] = {}
        for judge in judges:
            if (scores := panel.scores(judge, aspect)) is None:
                continue
            mine, _ = labelled(panel, judge, aspect, scores, self.gold)
            if mine is not None:
                self.codes[judge] = mine
        self.hits = {
            name: np.where(np.isnan(x + self.gold), np.nan, x == self.gold)
            for name, x in self.codes.items()
        }
        self.pairs = list(combinations(self.codes, 2))
        self.permute, self.flips = present(self.study.spec.comparison).permute, flips

    def rows(self) -> Iterator[Row]:
        """Yield the ranks by both statistics, and the tests of every two judges.

        Balanced accuracy, which decides, by permutations; accuracy by McNemar's test.
        """
        if not self.codes:
            return
        balanced = self._balanced_tests()
        right = [self._mcnemar(pair, self.panel.is_given(*pair)) for pair in self.pairs]
        p_right = np.array([test.value for test in right], dtype=np.float64)
        p = np.array([test.p for test in balanced], dtype=np.float64)
        corrected = dict(
            zip(P_VALUES, (p, holm(p), benjamini_hochberg(p)), strict=True)
        )
        holm_right = holm(p_right)
        yield from self._ranks(
            LABEL_STATISTIC, self._balanced_on_resamples(), corrected["p_holm"]
        )
        yield from self._ranks(
            "label_accuracy", self._accuracy_on_resamples(), holm_right
        )
        method = comparison.permuted(self.permute, len(self.flips))
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
                yield self.panel.row(
                    judge, self.aspect, name, POOLED, noted, judge_b=other
                )

    def _balanced_tests(self) -> list[comparison.PairedTest]:
        unit = _units(self.panel, self.permute)
        return [
            comparison.balanced_accuracy_test(
                self.gold,
                self.codes[judge],
                self.codes[other],
                self.labels,
                unit,
                self.flips,
            )
            for judge, other in self.pairs
        ]

    def _mcnemar(self, pair: tuple[str, str], given: Flags) -> Estimate:
        first, second = (self.hits[name][given] for name in pair)
        return mcnemar(first, second, self.panel.source[given])

    def _differences(self, pair: tuple[str, str]) -> dict[str, Estimate]:
        given = self.panel.is_given(*pair)
        both = ~np.isnan(self.codes[pair[0]] + self.codes[pair[1]])
        first, second = (
            on_labels(
                self.gold[given],
                np.where(both, self.codes[name], np.nan)[given],
                self.labels,
                self.panel.source[given],
                self.study.weights,
            )
            for name in pair
        )
        return {
            f"difference_{name}": difference(first[name], second[name]).estimate
            for name in COMPARED
        }

    def _ranks(self, statistic: str, values: Floats, p: Floats) -> Iterator[Row]:
        """Yield every judge's rank; values (judges, 1 + resamples), p of every pair."""
        names = list(self.codes)
        tested = dict(zip(self.pairs, p.tolist(), strict=True))
        sources = np.unique(self.panel.source[self.panel.is_given(*names)]).size
        ranks = grouped_ranks(names, values, sources, tested)
        for judge, rank in zip(names, ranks, strict=True):
            noted = rank.with_note(self.study.share_note(*names))
            yield self.panel.row(judge, self.aspect, f"rank_{statistic}", POOLED, noted)

    def _accuracy_on_resamples(self) -> Floats:
        """The share of right labels, of all and on resamples: (judges, rows)."""
        given = self.panel.is_given(*self.codes)
        source, weights = self.panel.source[given], self.study.resamples
        return np.stack(
            [clustered_mean(x[given], source, weights).rows for x in self.hits.values()]
        )

    def _balanced_on_resamples(self) -> Floats:
        """The balanced accuracy, of all and on resamples: (judges, rows)."""
        given = self.panel.is_given(*self.codes)
        gold, source = self.gold[given], self.panel.source[given]
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
        return Estimate.undefined(UNDEFINED_JUDGE, n=n, method=method)
    return Estimate(float(p), n=n, method=method)


def _units(panel: TargetSet, permute: comparison.Permute) -> Codes:
    """What a permutation swaps together: each target's source, system or itself."""
    units = {"inputs": panel.source, "systems": panel.system}
    return units.get(permute, np.arange(len(panel.targets)))


def _flips(panel: TargetSet, judges: int) -> comparison.Flips:
    """Return the permutations that all pairs of a dataset share."""
    study, settings = panel.study, present(panel.study.spec.comparison)
    permute = settings.permute
    count = settings.permutations or max(
        FEWEST_PERMUTATIONS, FOR_EACH_PAIR * comb(judges, 2)
    )
    sizes = {"inputs": len(study.item_order), "systems": len(set(panel.systems))}
    rng = stream(study.spec.seed, "permutation", study.dataset, permute)
    return comparison.flips_of(rng, sizes.get(permute, len(panel.targets)), count)


METHOD = Method(parts=("comparison",), bars=False, unordered="yes")
