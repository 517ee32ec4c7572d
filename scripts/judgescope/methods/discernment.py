"""Discernment (paper 000): does a judge score a damaged text below the original?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.methods.pairs import Pairs, pairs_of
from judgescope.methods.undefined import ends, excluded, reasons
from judgescope.statistics.declared import scale_of
from judgescope.statistics.discernment import (
    WilcoxonMethod,
    average,
    discernment,
    log_p_asymptotic,
    log_p_exact,
    minimum,
    replicate_log_p,
    table_method,
)
from judgescope.statistics.jackknife import NOT_SMOOTH
from judgescope.statistics.multiple import holm
from judgescope.statistics.resampling import NO_WIDTH, Replicated, with_interval
from judgescope.statistics.result import Estimate

SCORES = {"D": "d", "D_ew": "d_ew", "D_hmp": "d_hmp", "D_exact": "d_exact"}
"""Statistic -> field of `combination.Discernment`."""
BESIDE_WEIGHTS = "D_hmp_less_ew"
"""D less log_20 M, which is D_ew with uniform weights, less D_ew; where experts gave weights."""
HEADLINES = {
    "D_avg": ("D", average),
    "D_avg_ew": ("D_ew", average),
    "D_avg_exact": ("D_exact", average),
    "D_min": ("D", minimum),
    "D_min_ew": ("D_ew", minimum),
    "D_min_exact": ("D_exact", minimum),
}
"""Statistic -> the score of each perturbation that it sums up, and how."""
UNWEIGHTED = {"D", BESIDE_WEIGHTS}
"""What takes aspects that weigh nothing, too."""
ASYMPTOTIC = {"D", "D_ew", BESIDE_WEIGHTS}
"""What rests on the asymptotic p in every table, as published."""
ARTEFACT = 5.0
"""Beyond this a score of asymptotic p-values is an artefact of the normal tail (methods.md 1)."""
BEYOND = f"beyond {ARTEFACT:g}"
"""Begins the note that says so; the report flags what has it."""
TIES_ALONE = f"{NO_WIDTH} but for ties: all differences have one sign"
"""Says that deletions find no other evidence: only which differences tie moves the score."""

NAMED = 4
"""So many perturbations are named in a note."""


@dataclass(frozen=True)
class Scored:
    """A judge on one perturbation: its pairs and their tests by aspect, and the scores over these.

    `absent` says of which aspects there is no test, and why.
    """

    pairs: dict[str, Pairs]
    tests: dict[str, "Tests"]
    absent: dict[str, Estimate]
    scores: dict[str, Replicated]


@dataclass(frozen=True)
class Tests:
    """Log p of one set of pairs by both tests: of the data, then without each item.

    Shape (1 + items,) each.
    """

    asymptotic: Floats
    exact: Floats


class Discerning:
    """All discernment of one dataset; equal differences (of aspects, say) are tested once."""

    def __init__(self, study: EvaluationData) -> None:
        self.study = study
        self.planned = study.spec.perturbed
        self.method: WilcoxonMethod = table_method(len(study.item_order))
        self._tested: dict[tuple[bytes, bytes], Tests] = {}
        self._ends = ends(study)
        self._scored: dict[tuple[str, str, frozenset[str]], Scored] = {}
        self._summed: dict[tuple[str, frozenset[str]], dict[str, Replicated]] = {}

    def judge_rows(self, judge: str) -> Iterator[Row]:
        """Yield the rows of one judge: per aspect, per perturbation, and the headline."""
        for name, degree, _ in self.planned:
            place = {"perturbation": name, "degree": degree}
            own = self._cell(name, degree, judge)
            for aspect, statistic, found in self._aspect_estimates(own.pairs, own.tests):
                yield self.study.row(judge, aspect, statistic, "", found, **place)
            for aspect, nothing in own.absent.items():
                yield self.study.row(judge, aspect, "p_wilcoxon", "", nothing, **place)
            for statistic, one in own.scores.items():
                noted = self._noted(judge, statistic, one.estimate, own.scores)
                yield self.study.row(judge, "", statistic, "", noted, **place)
        for statistic, one in self._headlines(judge).items():
            yield self.study.row(judge, "", statistic, "", one.estimate)

    def pair_rows(self, judge: str, other: str) -> Iterator[Row]:
        """Yield the differences of two judges' headlines, on the items that both were given.

        Both lose the same items, one at a time, so that what they share cancels.
        """
        first, second = self._headlines(judge, other), self._headlines(other, judge)
        told = self.study.told_share(judge, other)
        yield from difference_rows(
            self.study, judge, first, second, note=told, place={"judge_b": other}
        )

    def _cell(self, name: str, degree: str, judge: str, *beside: str) -> Scored:
        """Return a judge's scores of a perturbation, on items that the judges `beside` have, too.

        Each is computed once, however many rows rest on it.
        """
        key = f"{name}.{degree}", judge, self.study.items_given(judge, *beside)
        if key not in self._scored:
            pairs = pairs_of(self.study, self._ends, key[0], judge, *beside)
            tests = {aspect: self._test(one) for aspect, one in pairs.items()}
            absent = self._absent(key[0], judge, tests)
            scores = self._combine(name, pairs, tests, absent)
            self._scored[key] = Scored(pairs, tests, absent, scores)
        return self._scored[key]

    def _test(self, pairs: Pairs) -> Tests:
        d, source = pairs.differences, pairs.source
        key = d.tobytes(), source.tobytes()
        if key not in self._tested:
            weights = self.study.weights
            exact = log_p_exact if self.method == "exact" else log_p_asymptotic
            resampled: list[WilcoxonMethod] = ["asymptotic", self.method]
            self._tested[key] = Tests(
                *(
                    np.concatenate(([point(d)], replicate_log_p(d, weights, source, method)))
                    for point, method in zip((log_p_asymptotic, exact), resampled, strict=True)
                )
            )
        return self._tested[key]

    def _aspect_estimates(
        self, pairs: dict[str, Pairs], tests: dict[str, Tests]
    ) -> Iterator[tuple[str, str, Estimate]]:
        """Yield (aspect, statistic, estimate); a p-value has no interval."""
        adjusted = holm(np.array([test.exact[0] for test in tests.values()]), log=True)
        family = f"Holm over {len(tests)} aspects of the perturbation"
        for aspect, log_p_holm in zip(tests, adjusted, strict=True):
            found = pairs[aspect].estimates()
            yield from ((aspect, name, estimate) for name, estimate in found.items())
            p_values = {
                "p_wilcoxon": (tests[aspect].exact[0], self.method),
                "p_scipy": (tests[aspect].asymptotic[0], "asymptotic, no continuity correction"),
                "p_holm": (float(log_p_holm), f"{self.method}; {family}"),
            }
            counts = found["mean_drop"]
            for name, (log_p, method) in p_values.items():
                yield (
                    aspect,
                    name,
                    replace(
                        counts,
                        value=exp(log_p),
                        lo=None,
                        hi=None,
                        method=f"one-sided Wilcoxon, {method}",
                        note="",
                    ),
                )

    def _absent(
        self, perturbation: str, judge: str, tests: dict[str, Tests]
    ) -> dict[str, Estimate]:
        """Return aspect -> why there is no test, for those without one."""
        aspects = [name for name in self.study.spec.aspects if name not in tests]
        return reasons(self.study, self._ends, perturbation, judge, aspects)

    def _combine(
        self,
        perturbation: str,
        pairs: dict[str, Pairs],
        tests: dict[str, Tests],
        absent: dict[str, Estimate],
    ) -> dict[str, Replicated]:
        """Return the scores of a perturbation over aspects, with those without each item."""
        aspects = self.study.spec.aspects
        if absent:
            reasons = "; ".join(dict.fromkeys(one.note for one in absent.values()))
            which = "" if len(absent) == len(aspects) else f" ({', '.join(absent)})"
            nothing = Estimate.undefined(reasons + which)
            empty = np.full(1 + len(self.study.weights), np.nan)
            return dict.fromkeys(SCORES, Replicated(nothing, empty))
        weights, which, given = aspect_weights(self.study, perturbation)
        told = [tests[aspect] for aspect in aspects]
        scored = discernment(
            np.stack([test.asymptotic for test in told], axis=-1),
            np.stack([test.exact for test in told], axis=-1),
            weights,
        )
        rows = {name: getattr(scored, field) for name, field in SCORES.items()}
        if given:
            rows[BESIDE_WEIGHTS] = rows["D"] - log(len(aspects), 20) - rows["D_ew"]
        alike = np.array([_alike(pairs[aspect]) for aspect in aspects])
        flat = {name: bool(alike[(weights > 0) | (name in UNWEIGHTED)].all()) for name in rows}
        counts = [len(pairs[aspect].differences) for aspect in aspects]
        planned = max(pairs[aspect].n_planned for aspect in aspects)
        own_sources = np.concatenate([pairs[aspect].source for aspect in aspects])
        sizes = np.bincount(own_sources, minlength=len(self.study.item_order))
        counted = Estimate(
            0.0,
            n=min(counts),
            n_missing=planned - min(counts),
            method=f"{len(aspects)} aspects, {which}",
        )
        return {
            name: _replicated(name, _by(counted, self._test_of(name)), own, sizes, flat=flat[name])
            for name, own in rows.items()
        }

    def _noted(
        self, judge: str, statistic: str, found: Estimate, scores: dict[str, Replicated]
    ) -> Estimate:
        """Return the estimate with the warnings that belong to it."""
        exact = scores["D_exact"].estimate.value
        if statistic != BESIDE_WEIGHTS:
            found = self._tailed(statistic, found)
        length = self.study.spec.judges[judge].form == "length"
        if length and exact is not None and exact >= 1:
            found = found.with_note("solved by length")
        return found

    def _test_of(self, score: str) -> WilcoxonMethod:
        """Return the test whose p-values a score combines."""
        return "asymptotic" if score in ASYMPTOTIC else self.method

    def _tailed(self, score: str, found: Estimate) -> Estimate:
        """Return the estimate with a note where it lies in the normal tail, which is not exact."""
        beyond = found.value is not None and found.value > ARTEFACT
        if not beyond or self._test_of(score) == "exact":
            return found
        return found.with_note(f"{BEYOND}: an artefact of the normal tail, see rank_biserial")

    def _headlines(self, judge: str, *beside: str) -> dict[str, Replicated]:
        """Return the averages and minima over the planned perturbations, with their deletions.

        Only of items that the judges `beside` were given, too.
        """
        items = self.study.items_given(judge, *beside)
        if (judge, items) not in self._summed:
            combined = [
                self._cell(name, degree, judge, *beside).scores for name, degree, _ in self.planned
            ]
            self._summed[judge, items] = self._summarise(combined, len(items))
        return self._summed[judge, items]

    def _summarise(
        self, combined: list[dict[str, Replicated]], n_items: int
    ) -> dict[str, Replicated]:
        names = [f"{name}.{degree}" for name, degree, _ in self.planned]
        gaps = [
            name
            for name, one in zip(names, combined, strict=True)
            if one["D"].estimate.value is None
        ]
        if len(gaps) == len(names) or (gaps and not self.study.spec.allow_missing):
            notes = {one["D"].estimate.note for one in combined if one["D"].estimate.value is None}
            nothing = Estimate.undefined(_told(gaps, sorted(notes), of=len(names)))
            empty = np.full(1 + len(self.study.weights), np.nan)
            return dict.fromkeys(HEADLINES, Replicated(nothing, empty))
        return {
            statistic: self._headline(statistic, [one[score] for one in combined], gaps, n_items)
            if summed is average
            else self._least(statistic, score, combined, gaps, n_items)
            for statistic, (score, summed) in HEADLINES.items()
        }

    def _headline(
        self, statistic: str, scores: list[Replicated], gaps: list[str], n_items: int
    ) -> Replicated:
        """Return the average of the scores of all perturbations."""
        score, _ = HEADLINES[statistic]
        known = [one for one in scores if one.estimate.value is not None]
        levels = [level for _, _, level in self.planned]
        rows = average(
            np.stack([one.rows for one in scores], axis=-1), levels, allow_missing=bool(gaps)
        )
        flat = all(NO_WIDTH in one.estimate.note for one in known)
        counted = self._counted(known, gaps, n_items)
        sizes = np.sum([one.sizes for one in known], axis=0)
        found = _replicated(statistic, _by(counted, self._test_of(score)), rows, sizes, flat=flat)
        return found._replace(estimate=self._tailed(score, found.estimate))

    def _least(
        self,
        statistic: str,
        score: str,
        combined: list[dict[str, Replicated]],
        gaps: list[str],
        n_items: int,
    ) -> Replicated:
        """Return the least score with the interval of its own perturbation, and Holm's p of all.

        A minimum is not smooth, so that deletions say nothing of it.
        """
        scores = [one[score] for one in combined]
        rows = minimum(np.stack([one.rows for one in scores], axis=-1), allow_missing=bool(gaps))
        known = [one for one in scores if one.estimate.value is not None]
        at = int(np.nanargmin([one.rows[0] for one in scores]))
        own, (name, degree, _) = scores[at].estimate, self.planned[at]
        exact = [one["D_exact"].estimate.value for one in combined]
        p = holm(np.array([-log(20) * d for d in exact if d is not None]), log=True)
        counted = self._counted(known, gaps, n_items)
        told = replace(
            _by(counted, self._test_of(score)), value=float(rows[0]), lo=own.lo, hi=own.hi
        )
        told = replace(told, method=f"{told.method}, the least: {name}.{degree}, {own.method}")
        told = told.with_note(f"Holm-adjusted p of all, exact: {exp(float(p.max())):.2g}")
        told = told.with_note(own.note if own.lo is None or NO_WIDTH in own.note else "")
        return Replicated(self._tailed(score, told), rows, scores[at].sizes, NOT_SMOOTH)

    def _counted(self, known: list[Replicated], gaps: list[str], n_items: int) -> Estimate:
        """Return how many items and perturbations a headline rests on."""
        least = min(one.estimate.n for one in known)
        return Estimate(
            0.0,
            n=least,
            n_missing=n_items - least,
            method=f"{len(known)} perturbations",
            note=f"without {', '.join(gaps)}: renormalised within the level" if gaps else "",
        )


def aspect_weights(study: EvaluationData, perturbation: str) -> tuple[Floats, str, bool]:
    """Return the weights of the aspects, which these are, and whether experts gave them.

    They are uniform where none are given.
    """
    aspects, given = list(study.spec.aspects), study.spec.weights
    if given and perturbation in given.of:
        own = given.of[perturbation]
        shown = ", ".join(f"{name} {own[name]:g}" for name in aspects if own.get(name))
        return np.array([own.get(name, 0.0) for name in aspects]), f"weights {shown}", True
    beside = f" ({given.id} has none for it)" if given else ""
    return np.full(len(aspects), 1 / len(aspects)), f"uniform weights{beside}", False


def _told(gaps: list[str], reasons: list[str], *, of: int) -> str:
    """Return which planned perturbations have no score, and why; not which, where none has one."""
    if len(gaps) == of and len(reasons) == 1:
        return reasons[0]
    more = f", and {len(gaps) - NAMED} more" if len(gaps) > NAMED else ""
    why = f"planned perturbations without a score: {', '.join(gaps[:NAMED])}{more}"
    return f"{why} ({'; '.join(reasons)})"


def _by(counted: Estimate, test: WilcoxonMethod) -> Estimate:
    """Say in `method` which p-values are combined."""
    return replace(counted, method=f"{counted.method}, {test} p")


def _alike(pairs: Pairs) -> bool:
    """Return whether deletions have the same signs as the data: one, as often in every source."""
    times = np.bincount(pairs.source, minlength=pairs.study.weights.shape[1])
    return bool(np.ptp(np.sign(pairs.differences)) == np.ptp(times) == 0)


def _replicated(
    name: str, counted: Estimate, rows: Floats, sizes: Codes, *, flat: bool = False
) -> Replicated:
    """Return rows[0] as a value, with the counts of `counted` and the interval of its deletions.

    That of a `flat` one is of TIES_ALONE, if it has any width.
    """
    value, own = replace(counted, value=float(rows[0])), sizes.astype(np.float64)
    found = with_interval(Replicated(value, rows, own, scale_of(name)))
    one = found.estimate
    if flat and one.lo is not None and NO_WIDTH not in one.note:
        found = found._replace(estimate=one.with_note(TIES_ALONE))
    return found


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of discernment.csv."""
    if not study.spec.perturbed:
        return []
    never = excluded(study)
    discerning = Discerning(study)
    found: list[Row] = []
    for judge in study.spec.judges:
        if judge in never:
            nothing = Estimate.undefined(never[judge])
            found += [study.row(judge, "", name, "", nothing) for name in HEADLINES]
        else:
            found += discerning.judge_rows(judge)
    for pair in compared(study):
        found += discerning.pair_rows(*pair)
    return found


METHOD = Method(
    selectable=True,
    tables=("perturbations", "responses"),
    texts=("once",),
    parts=("compared", "weights"),
    claims=True,
)
