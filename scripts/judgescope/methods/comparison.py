"""Which judge agrees better with people: differences, tests, groups, ranks, detectable
gaps.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
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
from judgescope.methods.measures import AVERAGE, POOLED, Measure
from judgescope.statistics import comparison
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.classes import on_classes, on_labels
from judgescope.statistics.comparison import difference
from judgescope.statistics.correlation import STATISTICS
from judgescope.statistics.intervals import benjamini_hochberg, holm
from judgescope.statistics.means import clustered_mean, mean_over
from judgescope.statistics.preferences import mcnemar
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import DIFFERENT_SCALES, UNDEFINED_JUDGE, Estimate

LEVEL_OF_TESTS = 0.05
P_VALUES = ("p", "p_holm", "p_fdr")
FEWEST_PERMUTATIONS, FOR_EACH_PAIR = 1000, 40
"""p is never below 1 / (B + 1): corrected for m pairs, not below m / (B + 1)."""
TOO_FEW: Final = "more than the whole range of the statistic: too few sources"
SHARED_SOURCES: Final = "of the sources in which both judges have a value"
Results = Mapping[Measure, Replicated]
COMPARED: Final = ("label_accuracy", "balanced_accuracy")
"""The statistics of labels in which judges are compared."""
KAPPA: Measure = ("kappa_linear", "pooled")
PairedP = Mapping[tuple[str, str], float]
"""Two judges -> p of their difference, after Holm's correction."""


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
        self.settings = present(self.study.spec.comparison)
        ratings = panel.ratings(aspect)
        self.people = gold_numbers(self.study, ratings).values
        self.classed = gold_classes(self.study, ratings)
        self.gold = self.classed.values
        self.correlations = [
            name for name in STATISTICS if name in self.settings.statistics
        ]
        self.measures: list[Measure] = [
            (name, level)
            for name in self.correlations
            for level in self.settings.levels
        ]
        scores = {name: panel.scores(name, aspect) for name in judges}
        self.scores = {name: x for name, x in scores.items() if x is not None}
        self.classes: dict[str, list[float] | None] = {}
        self.no_classes: dict[str, str] = {}
        for name, x in self.scores.items():
            classes, why = measures.classes_with(self.study, name, aspect, self.gold, x)
            self.classes[name], self.no_classes[name] = classes, why
        if KAPPA[0] in self.settings.statistics and any(self.classes.values()):
            self.measures.append(KAPPA)
        self._results: dict[tuple[str, bytes, bytes, bool], Results] = {}

    def _results_of(
        self, judge: str, mask: Flags, given: Flags, weights: Codes
    ) -> Results:
        """Return a judge's correlations on a mask of targets; items not given are not
        missing.
        """
        key = (judge, mask.tobytes(), given.tobytes(), weights is self.study.resamples)
        if key not in self._results:
            x = np.where(mask, self.scores[judge], np.nan)
            results = measures.correlated(
                self.panel,
                x,
                self.people,
                statistics=self.correlations,
                levels=self.settings.levels,
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

    def pair(self, judge: str, other: str) -> Pair:
        """Return two judges on the targets that both have."""
        x1, x2 = self.scores[judge], self.scores[other]
        source, system = self.panel.source, self.panel.system
        tests: dict[Measure, comparison.PairedTest] = {}
        classes, permute = self.classes[judge], self.settings.permute
        if KAPPA in self.measures and classes and classes == self.classes[other]:
            units = {"inputs": source, "systems": system}
            unit = units.get(permute, np.arange(len(source)))
            tests[KAPPA] = comparison.kappa_test(
                x1, x2, self.gold, classes, unit, self.flips
            )
        data, names = (
            (x1, x2, self.people, source, system, self.flips),
            self.correlations,
        )
        for level in self.settings.levels:
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
        groups = _groups(names, values, p)
        ranking = zip(
            names,
            results,
            comparison.ranks(values, min(sources, default=0)),
            groups,
            strict=True,
        )
        for name, result, rank, group in ranking:
            if not group:
                rank = Estimate.undefined(result.estimate.note, n=rank.n)
            else:
                pairs = [(judge, other) for judge, other, *_ in untested]
                others = [b if a == name else a for a, b in pairs if name in (a, b)]
                others = [other for other in others if not self.no_classes[other]]
                rank = rank.with_note(f"group {group}")
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
        permute, permutations = self.settings.permute.upper(), len(self.flips)
        method = f"PERM-{permute}, {permutations} permutations, two-sided"
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
            f"{name}_{statistic}": Estimate.undefined(
                UNDEFINED_JUDGE, n=n, method=method
            )
            if isnan(value)
            else Estimate(float(value), n=n, method=method)
            for name, (value, n, method) in numbers.items()
        }
        if least is not None and least > first.scale.high - first.scale.low:
            _, n, method = numbers["detectable"]
            results[f"detectable_{statistic}"] = Estimate.undefined(
                TOO_FEW, n=n, method=method
            )
        return results


def _groups(names: list[str], values: Floats, p: PairedP) -> list[str]:
    """Return the letters of each judge; values (judges, 1 + resamples), NaN: undefined,
    none.
    """
    different = np.zeros((len(names), len(names)), dtype=bool)
    for pair, p_holm in p.items():
        i, j = map(names.index, pair)
        different[i, j] = different[j, i] = p_holm <= LEVEL_OF_TESTS
    known = np.flatnonzero(~np.isnan(values[:, 0])).tolist()
    return comparison.letters(
        sorted(known, key=lambda at: (-values[at, 0], names[at])), different
    )


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
            yield from _label_rows(panel, aspect, judges)
        if not study.spec.aspects[aspect].ordered:
            continue  # its scores have no ranks
        field = Field(panel, aspect, judges, flips)
        pairs = [field.pair(*names) for names in combinations(field.scores, 2)]
        for measure in field.measures:
            yield from field.rows(measure, pairs)
            for pair in pairs if measure != KAPPA else ():
                gap = split(aspect)[1], pair.judge, pair.other, measure
                gaps[gap].append(difference(pair.first[measure], pair.second[measure]))
    for (criterion, judge, other, (statistic, level)), each in gaps.items():
        if len(each) > 1:
            mean = mean_over(each, averaged="aspects").estimate
            mean = mean.with_note(study.share_note(judge, other))
            aspect, name = joined(AVERAGE, criterion), f"difference_{statistic}"
            yield panel.row(judge, aspect, name, level, mean, judge_b=other)


def _label_rows(panel: TargetSet, aspect: str, judges: list[str]) -> Iterator[Row]:
    """Yield the ranks of judges that give labels, by accuracy; and of every two of
    them.
    """
    study, gold = panel.study, truth_of(panel.study, aspect)(panel.ratings(aspect))
    q, codes = len(study.spec.aspects[aspect].labels), dict[str, Floats]()
    for judge in judges:
        if (scores := panel.scores(judge, aspect)) is None:
            continue
        mine, _ = labelled(panel, judge, aspect, scores, gold)
        if mine is not None:
            codes[judge] = mine
    pairs = list(combinations(codes, 2))
    hits = {
        name: np.where(np.isnan(x + gold), np.nan, x == gold)
        for name, x in codes.items()
    }
    given = [panel.is_given(*pair) for pair in pairs]
    tests = [
        mcnemar(hits[judge][chosen], hits[other][chosen], panel.source[chosen])
        for (judge, other), chosen in zip(pairs, given, strict=True)
    ]
    adjusted = holm(np.array([test.value for test in tests], dtype=np.float64))
    yield from _label_ranks(
        panel, aspect, hits, dict(zip(pairs, adjusted.tolist(), strict=True))
    )
    for (judge, other), chosen, test, p in zip(
        pairs, given, tests, adjusted, strict=True
    ):
        both = ~np.isnan(codes[judge] + codes[other])[chosen]
        codes_of_both = (
            np.where(both, codes[name][chosen], np.nan) for name in (judge, other)
        )
        first, second = (
            on_labels(gold[chosen], mine, q, panel.source[chosen], study.weights)
            for mine in codes_of_both
        )
        estimates = {
            f"difference_{name}": difference(first[name], second[name]).estimate
            for name in COMPARED
        }
        estimates |= {
            "p_mcnemar": test,
            "p_holm_mcnemar": replace(test, value=float(p)),
        }
        for name, estimate in estimates.items():
            noted = estimate.with_note(study.share_note(judge, other))
            yield panel.row(judge, aspect, name, POOLED, noted, judge_b=other)


def _label_ranks(
    panel: TargetSet, aspect: str, hits: dict[str, Floats], p: PairedP
) -> Iterator[Row]:
    """Yield every judge's rank by accuracy; hits: judge -> whether its label is
    people's.
    """
    names, study, given = list(hits), panel.study, panel.is_given(*hits)
    source = panel.source[given]
    shares = [
        clustered_mean(x[given], source, study.resamples).rows for x in hits.values()
    ]
    if not shares:
        return
    values, fewest = np.stack(shares), np.unique(source).size
    groups = _groups(names, values, p)
    for name, rank, group in zip(
        names, comparison.ranks(values, fewest), groups, strict=True
    ):
        noted = rank.with_note(f"group {group}" if group else "").with_note(
            study.share_note(*hits)
        )
        yield panel.row(name, aspect, "rank_label_accuracy", POOLED, noted)


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
