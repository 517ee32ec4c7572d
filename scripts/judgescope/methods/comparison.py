"""Which judge agrees better with people: differences, tests, groups, ranks, detectable gaps."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, TargetSet
from judgescope.methods.measures import (
    AVERAGE,
    Place,
    against,
    classes_with,
    lower_median,
    mean_rating,
)
from judgescope.methods.specs import present
from judgescope.statistics.comparison import detectable, difference, letters, ranks, sources_needed
from judgescope.statistics.correlation import STATISTICS, correlations
from judgescope.statistics.kappa import on_classes
from judgescope.statistics.means import mean_over
from judgescope.statistics.multiple import benjamini_hochberg, holm
from judgescope.statistics.permutation import (
    Flips,
    PairedTest,
    flips_of,
    kappa_test,
    permutation_tests,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import DIFFERENT_SCALES, UNDEFINED_JUDGE, Estimate

LEVEL_OF_TESTS = 0.05
FEWEST_PERMUTATIONS, FOR_EACH_PAIR = 1000, 40
"""p is never below 1 / (B + 1): corrected for m pairs, not below m / (B + 1)."""
Found = Mapping[Place, Replicated]
KAPPA: Place = ("kappa_linear", "pooled")


class _Pair(NamedTuple):
    """Two judges on the targets that both have, and the tests of their differences."""

    judge: str
    other: str
    first: Found
    second: Found
    tests: Mapping[Place, PairedTest]
    sources: int


class _Field:
    """All judges of one aspect on one panel; what is computed for a judge is kept."""

    def __init__(self, study: EvaluationData, panel: TargetSet, aspect: str, flips: Flips) -> None:
        self.study, self.panel, self.flips = study, panel, flips
        self.wanted = present(study.spec.comparison)
        ratings = panel.ratings(aspect)
        self.people, self.gold = mean_rating(ratings), lower_median(ratings)
        self.correlations = [name for name in STATISTICS if name in self.wanted.statistics]
        self.places: list[Place] = [
            (name, level) for name in self.correlations for level in self.wanted.levels
        ]
        scores = {name: panel.scores(name, aspect) for name in _judges(study)}
        self.scores = {name: x for name, x in scores.items() if x is not None}
        classes = {
            name: classes_with(study, name, aspect, self.gold, x) for name, x in self.scores.items()
        }
        self.classes = {name: own for name, (own, _) in classes.items()}
        self.why = {name: reason for name, (_, reason) in classes.items()}
        if KAPPA[0] in self.wanted.statistics and any(self.classes.values()):
            self.places.append(KAPPA)
        self._found: dict[tuple[str, bytes, bytes, bool], Found] = {}

    def given(self, *judges: str) -> NDArray[np.bool_]:
        """Return which targets are of items that all of some judges were given."""
        items = self.study.items_given(*judges)
        return np.array([item in items for item in self.panel.items], dtype=bool)

    def of(
        self,
        judge: str,
        mask: NDArray[np.bool_],
        given: NDArray[np.bool_],
        weights: NDArray[np.int64],
    ) -> Found:
        """Return a judge's correlations on the targets of a mask; what was not given is no gap.

        With the rows of the weights: the items' deletions, or their resamples.
        """
        key = (judge, mask.tobytes(), given.tobytes(), weights is self.study.resamples)
        if key not in self._found:
            x = np.where(mask, self.scores[judge], np.nan)[given]
            told = correlations(
                x,
                self.people[given],
                self.panel.source[given],
                self.panel.system[given],
                weights=weights,
                statistics=self.correlations,
                levels=self.wanted.levels,
            )
            found: dict[Place, Replicated] = {(*place,): one for place, one in told.items()}
            if KAPPA in self.places:
                found[KAPPA] = self._kappa(judge, x, given, weights)
            self._found[key] = found
        return self._found[key]

    def _kappa(
        self, judge: str, x: Floats, given: NDArray[np.bool_], weights: NDArray[np.int64]
    ) -> Replicated:
        classes = self.classes[judge]
        if classes is None:
            nothing = np.full(len(weights) + 1, np.nan)
            return Replicated(Estimate.undefined(self.why[judge]), nothing)
        gold, source = self.gold[given], self.panel.source[given]
        found = on_classes(gold, x, classes, source, weights)[KAPPA[0]]
        return found._replace(estimate=against(found.estimate, "lower median"))

    @cached_property
    def ranked(self) -> NDArray[np.bool_]:
        """Return which targets the ranks rest on: those that every judge was given."""
        return self.given(*self.scores)

    def own(self, judge: str) -> Found:
        """Return a judge's correlations on the ranked targets that it has, and on resamples."""
        drawn = self.study.resamples
        return self.of(judge, ~np.isnan(self.scores[judge]), self.ranked, drawn)

    def sources(self, judge: str) -> int:
        """Return the number of sources among them of which a judge has scores."""
        return np.unique(self.panel.source[self.ranked & ~np.isnan(self.scores[judge])]).size

    def pair(self, judge: str, other: str) -> _Pair:
        """Return two judges on the targets that both have."""
        x1, x2 = self.scores[judge], self.scores[other]
        both = ~(np.isnan(x1) | np.isnan(x2))
        tests: dict[Place, PairedTest] = {}
        classes = self.classes[judge]
        if KAPPA in self.places and classes and classes == self.classes[other]:
            tests[KAPPA] = kappa_test(x1, x2, self.gold, classes, self._unit(), self.flips)
        for level in self.wanted.levels:
            found = permutation_tests(
                x1,
                x2,
                self.people,
                self.panel.source,
                self.panel.system,
                self.flips,
                level=level,
                permute=self.wanted.permute,
                statistics=self.correlations,
            )
            tests |= {(statistic, level): test for statistic, test in found.items()}
        sources = np.unique(self.panel.source[both]).size
        given = self.given(judge, other)
        first, second = (self.of(name, both, given, self.study.weights) for name in (judge, other))
        return _Pair(judge, other, first, second, tests, sources)

    def _unit(self) -> Any:
        """Return what is swapped together: the code of each target's source, system or own."""
        own = {"inputs": self.panel.source, "systems": self.panel.system}
        return own.get(self.wanted.permute, np.arange(len(self.panel.targets)))


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of comparison.csv: every judge's rank, and every pair of judges."""
    systems, panel = study.shared_panel(_judges(study))
    flips = _flips(study, panel)
    found: list[Row] = []
    gaps: dict[_Gap, list[Replicated]] = defaultdict(list)
    for aspect in study.spec.aspects:
        if len(panel.ratings(aspect)):
            field = _Field(study, panel, aspect, flips)
            pairs = [field.pair(*names) for names in combinations(field.scores, 2)]
            for place in field.places:
                found += _rows(study, field, aspect, place, pairs)
                for pair in pairs if place != KAPPA else ():
                    own = _Gap(split(aspect)[1], pair.judge, pair.other, place)
                    gaps[own].append(difference(pair.first[place], pair.second[place]))
    found += _averages(study, gaps)
    return [row | {"systems": systems} for row in found]


class _Gap(NamedTuple):
    """What has a mean over aspects: the difference of two judges in a correlation, in a wording."""

    criterion: str | None
    judge: str
    other: str
    place: Place


def _averages(study: EvaluationData, gaps: Mapping[_Gap, list[Replicated]]) -> Iterator[Row]:
    """Yield the mean over aspects of two judges' differences, where there are several aspects."""
    for (criterion, judge, other, (statistic, level)), each in gaps.items():
        if len(each) > 1:
            mean = mean_over(each, of="aspects").estimate
            mean = mean.with_note(study.told_share(judge, other))
            aspect, name = joined(AVERAGE, criterion), f"difference_{statistic}"
            yield study.row(judge, aspect, name, level, mean, judge_b=other)


def _judges(study: EvaluationData) -> list[str]:
    """Return the judges that are compared: none that is given a rating of the very text."""
    wanted = present(study.spec.comparison).judges
    return [
        name
        for name, card in study.spec.judges.items()
        if (not wanted or name in wanted) and not card.hint
    ]


def _flips(study: EvaluationData, panel: TargetSet) -> Flips:
    """Return the assignments that all pairs of a dataset share."""
    wanted = present(study.spec.comparison)
    permute, count = wanted.permute, wanted.permutations
    pairs = comb(len(_judges(study)), 2)
    count = count or max(FEWEST_PERMUTATIONS, FOR_EACH_PAIR * pairs)
    sizes = {"inputs": len(study.item_order), "systems": len(set(panel.systems))}
    rng = stream(study.spec.seed, "permutation", study.dataset, permute)
    return flips_of(rng, sizes.get(permute, len(panel.targets)), count)


def _rows(
    study: EvaluationData,
    field: _Field,
    aspect: str,
    place: Place,
    pairs: list[_Pair],
) -> Iterator[Row]:
    names, level = list(field.scores), place[1]
    untested = [pair for pair in pairs if place not in pair.tests]
    pairs = [pair for pair in pairs if place in pair.tests]
    p = np.array([pair.tests[place].p for pair in pairs])
    adjusted, fdr = holm(p), benjamini_hochberg(p)
    different = np.zeros((len(names), len(names)), dtype=bool)
    for pair, own in zip(pairs, adjusted, strict=True):
        i, j = names.index(pair.judge), names.index(pair.other)
        different[i, j] = different[j, i] = own <= LEVEL_OF_TESTS
    others = {
        name: [
            other for pair in untested for other in pair[:2] if name in pair[:2] and other != name
        ]
        for name in names
    }
    yield from _ranks(study, field, aspect, place, names, different, others)
    for pair, *p_values in zip(pairs, p, adjusted, fdr, strict=True):
        told = _of_pair(study, pair, place, p_values, len(field.flips))
        for name, estimate in told.items():
            noted = estimate.with_note(study.told_share(pair.judge, pair.other))
            yield study.row(pair.judge, aspect, name, level, noted, judge_b=pair.other)
    for pair in untested:
        reasons = [field.why[name] for name in (pair.judge, pair.other)]
        why = next(filter(None, reasons), DIFFERENT_SCALES)
        nothing = Estimate.undefined(why)
        name = f"difference_{place[0]}"
        yield study.row(pair.judge, aspect, name, level, nothing, judge_b=pair.other)


def _ranks(
    study: EvaluationData,
    field: _Field,
    aspect: str,
    place: Place,
    names: list[str],
    different: Any,
    untested: Mapping[str, list[str]],
) -> Iterator[Row]:
    statistic, level = place
    values = (
        np.stack([field.own(name)[place].rows for name in names]) if names else np.empty((0, 1))
    )
    known = [at for at in range(len(names)) if not np.isnan(values[at, 0])]
    order = sorted(known, key=lambda at: (-values[at, 0], names[at]))
    groups = letters(order, different)
    fewest = min((field.sources(names[at]) for at in known), default=0)
    for name, rank, group in zip(names, ranks(values, fewest), groups, strict=True):
        why = field.own(name)[place].estimate.note
        one = rank.with_note(f"group {group}") if group else Estimate.undefined(why, n=rank.n)
        apart = [other for other in untested.get(name, []) if group and not field.why[other]]
        one = one.with_note(f"not tested against {', '.join(apart)}") if apart else one
        one = one.with_note(study.told_share(*field.scores))
        yield study.row(name, aspect, f"rank_{statistic}", level, one)


def _of_pair(
    study: EvaluationData,
    pair: _Pair,
    place: Place,
    p_values: list[float],
    permutations: int,
) -> dict[str, Estimate]:
    """Return by name what is said of a pair: first minus second, p-values, detectable gap."""
    statistic, _ = place
    wanted = present(study.spec.comparison)
    first, second, test = pair.first[place], pair.second[place], pair.tests[place]
    gap = difference(first, second).estimate
    how = f"PERM-{wanted.permute.upper()}, {permutations} permutations, two-sided"
    told = {f"difference_{statistic}": gap}
    for name, value in zip(("p", "p_holm", "p_fdr"), p_values, strict=True):
        told[f"{name}_{statistic}"] = _plain(value, test.n, how)
    least = detectable(first, second) if gap.lo is not None else None
    told[f"detectable_{statistic}"] = _plain(
        float("nan") if least is None else least, pair.sources, "power .8 at .05, two-sided"
    )
    needed = float("nan") if least is None else sources_needed(pair.sources, least, wanted.wished)
    told[f"sources_needed_{statistic}"] = _plain(
        needed, pair.sources, f"for a difference of {wanted.wished:g}, power .8 at .05"
    )
    return told


def _plain(value: float, n: int, method: str) -> Estimate:
    if np.isnan(value):
        return Estimate.undefined(UNDEFINED_JUDGE, n=n, method=method)
    return Estimate(float(value), n=n, method=method)


METHOD = Method(parts=("comparison",), bars=False)
