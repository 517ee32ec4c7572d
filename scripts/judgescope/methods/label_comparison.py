"""Which of the judges that give labels agrees better with people's labels."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from judgescope.methods.base import present
from judgescope.methods.compared_judges import JudgesCompared, p_value, units_of
from judgescope.methods.evaluation_data import TargetSet
from judgescope.methods.labels import labelled, truth_of
from judgescope.methods.measures import POOLED
from judgescope.schema.rows import ResultRow
from judgescope.statistics import permutation
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.comparison import difference, grouped_ranks
from judgescope.statistics.early_stop import permuted
from judgescope.statistics.intervals import benjamini_hochberg, holm
from judgescope.statistics.labels import balanced_accuracy_over_resamples, on_labels
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.preferences import mcnemar
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

LABEL_STATISTIC: Final = "balanced_accuracy"


class LabelComparison:
    """The judges of one aspect that give labels, on one panel."""

    def __init__(
        self,
        panel: TargetSet,
        aspect: str,
        judges: JudgesCompared,
        flips: permutation.Flips,
    ) -> None:
        self.panel = panel
        self.aspect = aspect
        self.judges = judges
        self.study = panel.study
        self.gold = truth_of(panel.study, aspect)(panel.ratings(aspect))
        self.labels = len(self.study.spec.aspects[aspect].labels)
        self.codes: dict[str, Floats] = {}
        for judge in judges.names:
            if (scores := panel.scores(judge, aspect)) is None:
                continue
            mine, _ = labelled(panel, judge, aspect, scores, self.gold)
            if mine is not None:
                self.codes[judge] = mine
        self.hits: dict[str, Floats] = {}
        for judge, x in self.codes.items():
            is_right = x == self.gold
            self.hits[judge] = np.where(np.isnan(x + self.gold), np.nan, is_right)
        self.pairs = judges.pairs(self.codes)
        self.permute = present(self.study.spec.comparison).permute
        self.flips = flips

    def rows(self) -> Iterator[ResultRow]:
        """Yield the ranks by both statistics, and the tests of every two judges.

        Balanced accuracy, which decides, by permutations; accuracy by McNemar's test.
        """
        if not self.codes:
            return
        balanced = self._balanced_tests()
        right = [self._mcnemar(pair, self.panel.is_given(*pair)) for pair in self.pairs]
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
        method = permuted(self.permute, len(self.flips), self.judges.stop)
        for number, pair in enumerate(self.pairs):
            estimates = self._differences(pair)
            for name, values in corrected.items():
                estimates[f"{name}_{LABEL_STATISTIC}"] = p_value(
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

    def _balanced_tests(self) -> list[permutation.PairedTest]:
        unit = units_of(self.panel, self.permute)
        tests = list[permutation.PairedTest]()
        stop = self.judges.stop
        for judge, other in self.pairs:
            run = partial(
                permutation.balanced_accuracy_test,
                self.gold,
                self.codes[judge],
                self.codes[other],
                self.labels,
                unit,
            )
            tests.append(stop.test(run, self.flips) if stop else run(self.flips))
        return tests

    def _mcnemar(self, pair: tuple[str, str], given: Flags) -> Estimate:
        judge, other = pair
        source = self.panel.source[given]
        return mcnemar(self.hits[judge][given], self.hits[other][given], source)

    def _differences(self, pair: tuple[str, str]) -> dict[str, Estimate]:
        """Return the differences in the statistics in which judges are compared."""
        judge, other = pair
        given = self.panel.is_given(judge, other)
        both = ~np.isnan(self.codes[judge] + self.codes[other])

        def results(name: str) -> Mapping[str, Replicated]:
            return on_labels(
                self.gold[given],
                np.where(both, self.codes[name], np.nan)[given],
                self.labels,
                self.panel.source[given],
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
        sources = np.unique(self.panel.source[self.panel.is_given(*names)]).size
        ranks = grouped_ranks(names, values, sources, tested)
        for judge, rank in zip(names, ranks, strict=True):
            noted = rank.with_note(self.judges.about_letters(judge))
            noted = noted.with_note(self.study.share_note(*names))
            yield self.panel.row(judge, self.aspect, f"rank_{statistic}", POOLED, noted)

    def _accuracy_on_resamples(self) -> Floats:
        """The share of right labels, of all and on resamples: (judges, rows)."""
        given = self.panel.is_given(*self.codes)
        source = self.panel.source[given]
        weights = self.study.resamples
        means = [clustered_mean(x[given], source, weights) for x in self.hits.values()]
        return np.stack([mean.rows for mean in means])

    def _balanced_on_resamples(self) -> Floats:
        """The balanced accuracy, of all and on resamples: (judges, rows)."""
        given = self.panel.is_given(*self.codes)
        gold = self.gold[given]
        source = self.panel.source[given]
        on_resamples = partial(
            balanced_accuracy_over_resamples,
            labels=self.labels,
            source=source,
            weights=self.study.resamples,
        )
        return np.stack([on_resamples(gold, x[given]) for x in self.codes.values()])
