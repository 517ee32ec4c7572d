"""Discernment (Wang et al. 2024): does a judge score a perturbed text below the original?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np

from judgescope.methods.base import AppliesTo, Method, Row
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.evaluation_data import EvaluationData, Floats
from judgescope.methods.pairs import Pairs, pairs_of, reasons
from judgescope.statistics.discernment import (
    AspectTests,
    WilcoxonMethod,
    aspect_tests,
    average,
    discernment,
    has_one_sign,
    minimum,
    score_replicated,
    table_method,
)
from judgescope.statistics.jackknife import NOT_SMOOTH
from judgescope.statistics.multiple import holm
from judgescope.statistics.resampling import NO_WIDTH, Replicated
from judgescope.statistics.result import Estimate

SCORES = {"D": "d", "D_ew": "d_ew", "D_hmp": "d_hmp", "D_exact": "d_exact"}
"""Statistic -> field of `combination.Discernment`."""
WEIGHT_EFFECT = "D_ew_weight_effect"
"""D less log_20 M, which is D_ew with uniform weights, less D_ew; where experts gave weights."""
HEADLINES = {
    "D_avg": ("D", average),
    "D_avg_ew": ("D_ew", average),
    "D_avg_exact": ("D_exact", average),
    "D_min": ("D", minimum),
    "D_min_ew": ("D_ew", minimum),
    "D_min_exact": ("D_exact", minimum),
}
"""Statistic -> the score of each perturbation that it summarises, and how."""
UNWEIGHTED = {"D", WEIGHT_EFFECT}
"""Scores that include aspects with weight 0."""
ASYMPTOTIC = {"D", "D_ew", WEIGHT_EFFECT}
"""Scores of the asymptotic p in every table, as published."""
ARTEFACT = 5.0
"""Above this a score of asymptotic p-values is an artefact of the normal tail (methods.md 1)."""
BY_LENGTH = "length alone detects this"
BEYOND = f"beyond {ARTEFACT:g}"
"""The start of the note that says so; the report flags it."""
MOST_NAMED = 4
"""The number of perturbations that a note names."""


@dataclass(frozen=True)
class Cell:
    """A judge on one perturbation: pairs and tests by aspect, and the scores over the aspects.

    `absent` says of which aspects there is no test, and why.
    """

    pairs: dict[str, Pairs]
    tests: dict[str, AspectTests]
    absent: dict[str, Estimate]
    scores: dict[str, Replicated]


class Discerning:
    """All discernment of one dataset; equal differences (of several aspects) are tested once."""

    def __init__(self, study: EvaluationData) -> None:
        self.study = study
        self.planned = study.spec.perturbed
        self.method: WilcoxonMethod = table_method(len(study.item_order))
        self._tests: dict[tuple[bytes, bytes], AspectTests] = {}
        self._cells: dict[tuple[str, str, frozenset[str]], Cell] = {}
        self._headlines: dict[tuple[str, frozenset[str]], dict[str, Replicated]] = {}

    def judge_rows(self, judge: str) -> Iterator[Row]:
        """Yield the rows of one judge: per aspect, per perturbation, and the headlines."""
        for name, degree, _ in self.planned:
            columns: AppliesTo = {"perturbation": name, "degree": degree}
            cell = self._cell(name, degree, judge)
            for aspect, statistic, estimate in self._aspect_estimates(cell):
                yield self.study.row(judge, aspect, statistic, "", estimate, **columns)
            for aspect, nothing in cell.absent.items():
                yield self.study.row(judge, aspect, "p_wilcoxon", "", nothing, **columns)
            exact = cell.scores["D_exact"].estimate.value
            length_solves = self.study.spec.judges[judge].form == "length" and (exact or 0) >= 1
            for statistic, score in cell.scores.items():
                estimate = self._with_tail_note(statistic, score.estimate)
                estimate = estimate.with_note(BY_LENGTH if length_solves else "")
                yield self.study.row(judge, "", statistic, "", estimate, **columns)
        for statistic, headline in self.headlines(judge).items():
            yield self.study.row(judge, "", statistic, "", headline.estimate)

    def pair_rows(self, judge: str, other: str) -> Iterator[Row]:
        """Yield the differences of two judges' headlines, on the items that both were given."""
        first, second = self.headlines(judge, other), self.headlines(other, judge)
        note = self.study.share_note(judge, other)
        columns: AppliesTo = {"judge_b": other}
        yield from difference_rows(self.study, judge, first, second, note=note, columns=columns)

    def _cell(self, name: str, degree: str, judge: str, *others: str) -> Cell:
        """Return a judge's scores of a perturbation, on items that `others` were given, too."""
        texts = f"{name}.{degree}"
        key = texts, judge, self.study.items_given(judge, *others)
        if key not in self._cells:
            pairs = pairs_of(self.study, texts, judge, *others)
            absent = reasons(self.study, texts, judge, self.study.spec.aspects, pairs)
            tests = {aspect: self._test(one) for aspect, one in pairs.items()}
            scores = _undefined_scores(self.study, absent) or self._scores(name, pairs, tests)
            self._cells[key] = Cell(pairs, tests, absent, scores)
        return self._cells[key]

    def _test(self, pairs: Pairs) -> AspectTests:
        d, source, weights = pairs.differences, pairs.source, self.study.weights
        key = d.tobytes(), source.tobytes()
        if key not in self._tests:
            self._tests[key] = aspect_tests(d, source, weights, self.method)
        return self._tests[key]

    def _aspect_estimates(self, cell: Cell) -> Iterator[tuple[str, str, Estimate]]:
        """Yield (aspect, statistic, estimate); a p-value has no interval."""
        adjusted = holm(np.array([test.exact[0] for test in cell.tests.values()]), log=True)
        family = f"Holm over {len(cell.tests)} aspects of the perturbation"
        for (aspect, test), log_p_holm in zip(cell.tests.items(), adjusted, strict=True):
            effects = cell.pairs[aspect].estimates()
            yield from ((aspect, name, estimate) for name, estimate in effects.items())
            p_values = {
                "p_wilcoxon": (test.exact[0], self.method),
                "p_asymptotic": (test.asymptotic[0], "asymptotic, no continuity correction"),
                "p_holm": (float(log_p_holm), f"{self.method}; {family}"),
            }
            counts = replace(effects["mean_drop"], ci_low=None, ci_high=None, note="")
            for name, (log_p, test_name) in p_values.items():
                method = f"one-sided Wilcoxon, {test_name}"
                yield aspect, name, replace(counts, value=exp(log_p), method=method)

    def _scores(
        self, perturbation: str, pairs: dict[str, Pairs], tests: dict[str, AspectTests]
    ) -> dict[str, Replicated]:
        """Return the scores of a perturbation over all aspects, with those without each item."""
        aspects = list(self.study.spec.aspects)
        weights, which, by_experts = aspect_weights(self.study, perturbation)
        combined = discernment(
            np.stack([tests[aspect].asymptotic for aspect in aspects], axis=-1),
            np.stack([tests[aspect].exact for aspect in aspects], axis=-1),
            weights,
        )
        rows = {name: getattr(combined, field) for name, field in SCORES.items()}
        if by_experts:
            rows[WEIGHT_EFFECT] = rows["D"] - log(len(aspects), 20) - rows["D_ew"]
        n_items = len(self.study.item_order)
        alike = np.array(
            [has_one_sign(pairs[a].differences, pairs[a].source, n_items) for a in aspects]
        )
        n = min(len(pairs[aspect].differences) for aspect in aspects)
        planned = max(pairs[aspect].n_planned for aspect in aspects)
        source = np.concatenate([pairs[aspect].source for aspect in aspects])
        sizes = np.bincount(source, minlength=n_items)
        method = f"{len(aspects)} aspects, {which}"
        scores = {}
        for name, own_rows in rows.items():
            flat = bool(alike[(weights > 0) | (name in UNWEIGHTED)].all())
            counts = self._counts(name, n, planned, method)
            scores[name] = score_replicated(name, counts, own_rows, sizes, flat=flat)
        return scores

    def _test_of(self, score: str) -> WilcoxonMethod:
        """Return the test whose p-values a score combines."""
        return "asymptotic" if score in ASYMPTOTIC else self.method

    def _counts(self, score: str, n: int, planned: int, method: str, note: str = "") -> Estimate:
        """Return the counts of an estimate; its method says which p-values are combined."""
        method = f"{method}, {self._test_of(score)} p"
        return Estimate(0.0, n=n, n_missing=planned - n, method=method, note=note)

    def _with_tail_note(self, score: str, estimate: Estimate) -> Estimate:
        """Note that an estimate lies in the normal tail, which is not exact."""
        beyond = estimate.value is not None and estimate.value > ARTEFACT
        if not beyond or score == WEIGHT_EFFECT or self._test_of(score) == "exact":
            return estimate
        return estimate.with_note(f"{BEYOND}: an artefact of the normal tail, see rank_biserial")

    def headlines(self, judge: str, *others: str) -> dict[str, Replicated]:
        """Return the averages and minima over the planned perturbations, with their deletions.

        Only of items that `others` were given, too.
        """
        items = self.study.items_given(judge, *others)
        if (judge, items) not in self._headlines:
            scores = {
                f"{name}.{degree}": self._cell(name, degree, judge, *others).scores
                for name, degree, _ in self.planned
            }
            self._headlines[judge, items] = self._summarise(scores, len(items))
        return self._headlines[judge, items]

    def _summarise(
        self, scores: dict[str, dict[str, Replicated]], n_items: int
    ) -> dict[str, Replicated]:
        """scores: by perturbation, then by statistic."""
        d = {name: by_statistic["D"].estimate for name, by_statistic in scores.items()}
        gaps = [name for name, estimate in d.items() if estimate.value is None]
        if len(gaps) == len(scores) or (gaps and not self.study.spec.allow_missing):
            notes = {d[name].note for name in gaps}
            why = _why_undefined(gaps, sorted(notes), planned=len(scores))
            return dict.fromkeys(HEADLINES, self.study.undefined(why))
        results = {}
        for statistic, (score, summarise) in HEADLINES.items():
            results_of = {name: each[score] for name, each in scores.items()}
            known = [one for one in results_of.values() if one.estimate.value is not None]
            note = f"without {', '.join(gaps)}: renormalised within the level" if gaps else ""
            n, method = min(one.estimate.n for one in known), f"{len(known)} perturbations"
            counts = self._counts(score, n, n_items, method, note)
            rows = np.stack([one.rows for one in results_of.values()], axis=-1)
            allow_missing = bool(gaps)
            if summarise is average:
                means = average(
                    rows, [level for *_, level in self.planned], allow_missing=allow_missing
                )
                flat = all(NO_WIDTH in one.estimate.note for one in known)
                sizes = np.sum([one.sizes for one in known], axis=0)
                result = score_replicated(statistic, counts, means, sizes, flat=flat)
            else:
                exact = [each["D_exact"].estimate.value for each in scores.values()]
                least = minimum(rows, allow_missing=allow_missing)
                result = _least(results_of, least, counts, exact)
            estimate = self._with_tail_note(score, result.estimate)
            results[statistic] = result._replace(estimate=estimate)
        return results


def _least(
    scores: dict[str, Replicated], rows: Floats, counts: Estimate, exact: list[float | None]
) -> Replicated:
    """Return the least score with the interval of its own perturbation, and Holm's p of all.

    A minimum is not smooth, so that deletions say nothing of it. `exact`: D_exact of all.
    """
    name = list(scores)[int(np.nanargmin([one.rows[0] for one in scores.values()]))]
    least = scores[name].estimate
    p = holm(np.array([-log(20) * d for d in exact if d is not None]), log=True)
    estimate = replace(
        counts,
        value=float(rows[0]),
        ci_low=least.ci_low,
        ci_high=least.ci_high,
        method=f"{counts.method}, minimum: {name}, {least.method}",
    )
    estimate = estimate.with_note(f"Holm-adjusted p of all, exact: {exp(float(p.max())):.2g}")
    estimate = estimate.with_note(
        least.note if least.ci_low is None or NO_WIDTH in least.note else ""
    )
    return Replicated(estimate, rows, scores[name].sizes, NOT_SMOOTH)


def _undefined_scores(
    study: EvaluationData, absent: dict[str, Estimate]
) -> dict[str, Replicated] | None:
    """Return the undefined scores of a perturbation where an aspect has no test."""
    if not absent:
        return None
    notes = "; ".join(dict.fromkeys(one.note for one in absent.values()))
    which = "" if len(absent) == len(study.spec.aspects) else f" ({', '.join(absent)})"
    return dict.fromkeys(SCORES, study.undefined(notes + which))


def aspect_weights(study: EvaluationData, perturbation: str) -> tuple[Floats, str, bool]:
    """Return the weights of the aspects, their description, and whether experts gave them.

    They are uniform where experts gave none.
    """
    aspects, by_experts = list(study.spec.aspects), study.spec.weights
    if by_experts and perturbation in by_experts.by_perturbation:
        weights = by_experts.by_perturbation[perturbation]
        shown = ", ".join(f"{name} {weights[name]:g}" for name in aspects if weights.get(name))
        return np.array([weights.get(name, 0.0) for name in aspects]), f"weights {shown}", True
    lacking = f" ({by_experts.id} has no weights for it)" if by_experts else ""
    return np.full(len(aspects), 1 / len(aspects)), f"uniform weights{lacking}", False


def _why_undefined(gaps: list[str], notes: list[str], *, planned: int) -> str:
    """Return which planned perturbations have no score, and why; no names if none has one."""
    if len(gaps) == planned and len(notes) == 1:
        return notes[0]
    more = f", and {len(gaps) - MOST_NAMED} more" if len(gaps) > MOST_NAMED else ""
    named = f"planned perturbations without a score: {', '.join(gaps[:MOST_NAMED])}{more}"
    return f"{named} ({'; '.join(notes)})"


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of discernment.csv."""
    if not study.spec.perturbed:
        return []
    excluded = study.excluded()
    discerning = Discerning(study)
    result: list[Row] = []
    for judge in study.spec.judges:
        if judge in excluded:
            nothing = Estimate.undefined(excluded[judge])
            result += [study.row(judge, "", name, "", nothing) for name in HEADLINES]
        else:
            result += discerning.judge_rows(judge)
    for pair in compared(study):
        result += discerning.pair_rows(*pair)
    return result


METHOD = Method(
    selectable=True,
    tables=("perturbations", "responses"),
    texts=("once",),
    parts=("compared", "weights"),
    claims=("claims.perturbations.perturbation_claims",),
)
