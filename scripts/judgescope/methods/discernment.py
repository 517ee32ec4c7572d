"""Discernment (Wang et al. 2024): does a judge score a perturbed text below the
original?
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, lcm, log
from typing import NamedTuple

import numpy as np

from judgescope.core.cells import split
from judgescope.methods.base import JudgeFacts, Method, Row
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.evaluation_data import (
    MADE,
    EvaluationData,
    aligned,
    set_columns,
)
from judgescope.parsing.parsers import TOO_LONG
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.discernment import (
    AspectTests,
    WilcoxonMethod,
    aspect_tests,
    average,
    discernment,
    exact_differences,
    has_one_sign,
    mean_drop,
    minimum,
    rank_biserial,
    score_replicated,
    table_method,
)
from judgescope.statistics.intervals import NOT_SMOOTH, holm
from judgescope.statistics.means import net_share
from judgescope.statistics.resampling import NO_WIDTH, Replicated
from judgescope.statistics.result import Estimate

MOST_DRAWS = 20
"""With more draws the least common multiple of 1..draws is too large for exact
floats."""
NO_PAIRS = "no item has scores for both texts"


@dataclass(frozen=True)
class Pairs:
    """A judge's scores of originals and of their perturbed copies on one aspect, pair
    by pair.
    """

    original: Floats
    perturbed: Floats
    source: Codes
    weights: Codes
    """The deletions of sources."""
    n_planned: int
    unit: int | None = None

    @cached_property
    def differences(self) -> Codes:
        """Return original - perturbed, exact; shape (pairs,)."""
        return exact_differences(self.original, self.perturbed, self.unit)

    def estimates(self) -> dict[str, Estimate]:
        """Return the effect sizes: rank-biserial correlation, mean drop, net share of
        items.
        """
        missing = self.n_planned - len(self.differences)
        estimates = {
            "rank_biserial": rank_biserial(self.differences, self.weights, self.source),
            "mean_drop": mean_drop(
                self.original, self.perturbed, self.source, self.weights
            ),
            "net_share": net_share(self.differences, self.source),
        }
        return {
            name: replace(one, n_missing=missing) for name, one in estimates.items()
        }

    def tests(self, method: WilcoxonMethod) -> AspectTests:
        """Return the Wilcoxon tests of the pairs, without each source too."""
        return aspect_tests(self.differences, self.source, self.weights, method)


def pairs_of(
    study: EvaluationData, perturbation: str, judge: str, *other_judges: str
) -> tuple[dict[str, Pairs], dict[str, Estimate]]:
    """Return aspect -> pairs; and aspect -> the undefined estimate that says why there
    are none.

    Only items that `other_judges` were given, too. Texts that are too long for a
    model's context are not a sample of the items: such a cell is not run at all
    (methods.md 1).
    """
    original, perturbed = (
        study.panel(name).given(judge, *other_judges)
        for name in ("original", perturbation)
    )
    card, pairs = study.spec.judges[judge], dict[str, Pairs]()
    for aspect in study.spec.aspects:
        before, after = original.scores(judge, aspect), perturbed.scores(judge, aspect)
        if (
            before is None
            or after is None
            or _too_long(study, perturbation, judge, aspect)
        ):
            continue
        after = aligned(
            dict(zip(perturbed.items, after.tolist(), strict=True)), original.items
        )
        both = np.isfinite(before) & np.isfinite(after)
        if both.any():
            scores = before[both], after[both], original.source[both]
            unit = unit_of(card, aspect)
            pairs[aspect] = Pairs(*scores, study.weights, len(before), unit)
    lacking = [aspect for aspect in study.spec.aspects if aspect not in pairs]
    why = study.excluded(perturbation).get(judge)
    outcomes = Counter(study.panel(perturbation).outcomes)
    if not why and not MADE & set(outcomes):
        counted = ", ".join(
            f"{count} {outcome}" for outcome, count in sorted(outcomes.items())
        )
        why = f"no text could be made ({counted or 'none planned'})"
    if why:
        return pairs, dict.fromkeys(lacking, Estimate.undefined(why))
    return pairs, {
        name: nothing_judged(study, perturbation, judge, name) for name in lacking
    }


def unit_of(card: JudgeFacts, aspect: str) -> int | None:
    """Return u such that every score is a multiple of 1/u; None: scores are rounded to
    9 decimals.

    Means weighted by probabilities have no unit: they lie anywhere on the scale.
    """
    grid, draws = card.grid[aspect], card.draws
    if grid is None or card.weighted or draws > MOST_DRAWS:
        return None
    per_point = 1 / (grid[1] - grid[0])
    whole = per_point.is_integer() and all(
        (value * per_point).is_integer() for value in grid
    )
    return lcm(*range(1, draws + 1)) * int(per_point) if whole else None


def nothing_judged(
    study: EvaluationData, perturbation: str, judge: str, aspect: str
) -> Estimate:
    """Return the undefined estimate of a cell in which no item has both scores.

    The note says whether the judge could not be asked at all, or how its replies were
    parsed.
    """
    if count := _too_long(study, perturbation, judge, aspect):
        return Estimate.undefined(
            f"not run: context ({count} requests are too long for the model)"
        )
    for name in ("original", perturbation):
        cell = study.status_counts.get((name, judge, aspect), Counter())
        statuses = {status for status, _ in cell}
        if cell and "ok" not in statuses:
            rules = ", ".join(sorted({rule or status for status, rule in cell}))
            only = statuses == {"not_applicable"}
            why = (
                f"not applicable: {rules}"
                if only
                else f"no reply could be read: {rules}"
            )
            return Estimate.undefined(why, n_missing=cell.total())
    return Estimate.undefined(NO_PAIRS)


def _too_long(study: EvaluationData, perturbation: str, judge: str, aspect: str) -> int:
    """Return how many requests on originals and perturbed texts exceed the model's
    context.
    """
    counts = study.status_counts
    cells = (counts.get((name, judge, aspect)) for name in ("original", perturbation))
    return sum(cell["error", TOO_LONG] for cell in cells if cell)


SCORES = {"D": "d", "D_ew": "d_ew", "D_hmp": "d_hmp", "D_exact": "d_exact"}
"""Statistic -> field of `Discernment`."""
WEIGHT_EFFECT = "D_ew_weight_effect"
"""D minus log_20 M (D_ew with uniform weights) minus D_ew, if experts gave weights."""
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
"""Above this a score of asymptotic p-values is an artefact of the normal tail
(methods.md 1)."""
BY_LENGTH = "length alone detects this"
BEYOND = f"beyond {ARTEFACT:g}"
"""The start of the note that says so; the report flags it."""
MOST_NAMED = 4
"""The number of perturbations that a note names."""


class Cell(NamedTuple):
    """A judge on one perturbation: pairs and tests by aspect, and the scores over the
    aspects.

    `absent` says of which aspects there is no test, and why.
    """

    pairs: dict[str, Pairs]
    tests: dict[str, AspectTests]
    absent: dict[str, Estimate]
    scores: dict[str, Replicated]


def aspect_estimates(
    pairs: Mapping[str, Pairs], tests: Mapping[str, AspectTests], method: WilcoxonMethod
) -> Iterator[tuple[str, str, Estimate]]:
    """Yield (aspect, statistic, estimate) of each tested aspect; a p-value has no
    interval.
    """
    adjusted = holm(np.array([test.exact[0] for test in tests.values()]), log=True)
    family = f"Holm over {len(tests)} aspects of the perturbation"
    for (aspect, test), log_p_holm in zip(tests.items(), adjusted, strict=True):
        effects = pairs[aspect].estimates()
        yield from ((aspect, name, estimate) for name, estimate in effects.items())
        p_values = {
            "p_wilcoxon": (test.exact[0], method),
            "p_asymptotic": (
                test.asymptotic[0],
                "asymptotic, no continuity correction",
            ),
            "p_holm": (float(log_p_holm), f"{method}; {family}"),
        }
        counts = replace(effects["mean_drop"], ci_low=None, ci_high=None, note="")
        for name, (log_p, test_name) in p_values.items():
            how = f"one-sided Wilcoxon, {test_name}"
            yield aspect, name, replace(counts, value=exp(log_p), method=how)


def combined_scores(
    pairs: Sequence[Pairs],
    tests: Sequence[AspectTests],
    weights: Floats,
    method: WilcoxonMethod,
    *,
    about: str = "",
    by_experts: bool = False,
    wordings: float = 1,
) -> dict[str, Replicated]:
    """Return the scores over all aspects, with those without each source.

    pairs, tests and weights: of each aspect, in the same order; `about` begins the
    method. D is log_20 of `wordings`, how many each aspect has, less than it would be
    if all were aspects.
    """
    combined = discernment(
        np.stack([test.asymptotic for test in tests], axis=-1),
        np.stack([test.exact for test in tests], axis=-1),
        weights,
    )
    rows = {name: getattr(combined, field) for name, field in SCORES.items()}
    rows["D"] = rows["D"] - log(wordings, 20)
    if by_experts:
        rows[WEIGHT_EFFECT] = rows["D"] - log(len(pairs) / wordings, 20) - rows["D_ew"]
    n_sources = len(pairs[0].weights)
    alike = np.array(
        [has_one_sign(one.differences, one.source, n_sources) for one in pairs]
    )
    n, planned = (
        min(len(one.source) for one in pairs),
        max(one.n_planned for one in pairs),
    )
    sizes = np.bincount(
        np.concatenate([one.source for one in pairs]), minlength=n_sources
    )
    scores = {}
    for name, own_rows in rows.items():
        flat = bool(alike[(weights > 0) | (name in UNWEIGHTED)].all())
        how = ", ".join(filter(None, (about, f"{test_of(name, method)} p")))
        counts = _counts(n, planned, how)
        scores[name] = score_replicated(name, counts, own_rows, sizes, flat=flat)
    return scores


def test_of(score: str, method: WilcoxonMethod) -> WilcoxonMethod:
    """Return the test whose p-values a score combines; `method` is the one of the
    table.
    """
    return "asymptotic" if score in ASYMPTOTIC else method


def _counts(n: int, planned: int, method: str, note: str = "") -> Estimate:
    return Estimate(0.0, n=n, n_missing=planned - n, method=method, note=note)


def with_tail_note(score: str, estimate: Estimate, method: WilcoxonMethod) -> Estimate:
    """Note that an estimate lies in the normal tail, which is not exact."""
    beyond = estimate.value is not None and estimate.value > ARTEFACT
    if not beyond or score == WEIGHT_EFFECT or test_of(score, method) == "exact":
        return estimate
    return estimate.with_note(
        f"{BEYOND}: an artefact of the normal approximation, see rank_biserial"
    )


class Discerning:
    """All discernment of one dataset; equal differences (of several aspects) are tested
    once.
    """

    def __init__(self, study: EvaluationData) -> None:
        self.study = study
        self.method: WilcoxonMethod = table_method(len(study.item_order))
        self._tests: dict[tuple[bytes, bytes], AspectTests] = {}
        self._cells: dict[tuple[str, str, frozenset[str]], Cell] = {}
        self._headlines: dict[tuple[str, frozenset[str]], dict[str, Replicated]] = {}

    def judge_rows(self, judge: str) -> Iterator[Row]:
        """Yield the rows of one judge: per aspect, per perturbation, and the
        headlines.
        """
        for texts in self.study.perturbed:
            columns, cell = set_columns(texts), self._cell(texts, judge)
            for aspect, statistic, estimate in aspect_estimates(
                cell.pairs, cell.tests, self.method
            ):
                yield self.study.row(judge, aspect, statistic, "", estimate, **columns)
            for aspect, nothing in cell.absent.items():
                yield self.study.row(
                    judge, aspect, "p_wilcoxon", "", nothing, **columns
                )
            exact = cell.scores["D_exact"].estimate.value
            length_solves = (
                self.study.spec.judges[judge].form == "length" and (exact or 0) >= 1
            )
            for statistic, score in cell.scores.items():
                estimate = with_tail_note(statistic, score.estimate, self.method)
                estimate = estimate.with_note(BY_LENGTH if length_solves else "")
                yield self.study.row(judge, "", statistic, "", estimate, **columns)
        for statistic, headline in self.headlines(judge).items():
            yield self.study.row(judge, "", statistic, "", headline.estimate)

    def _cell(self, texts: str, judge: str, *others: str) -> Cell:
        """Return a judge's scores of a perturbation, on items that `others` were given,
        too.
        """
        study, key = self.study, (texts, judge, self.study.items_given(judge, *others))
        if key not in self._cells:
            pairs, absent = pairs_of(study, texts, judge, *others)
            tests = {aspect: self._test(one) for aspect, one in pairs.items()}
            if absent:
                notes = "; ".join(dict.fromkeys(one.note for one in absent.values()))
                all_absent = len(absent) == len(study.spec.aspects)
                which = "" if all_absent else f" ({', '.join(absent)})"
                scores = dict.fromkeys(SCORES, study.undefined(notes + which))
            else:
                weights, which, by_experts = aspect_weights(study, texts)
                plain = {split(name)[0] for name in study.spec.aspects}
                several = (
                    f" in {len(pairs)} wordings" if len(pairs) > len(plain) else ""
                )
                scores = combined_scores(
                    [pairs[aspect] for aspect in study.spec.aspects],
                    [tests[aspect] for aspect in study.spec.aspects],
                    weights,
                    self.method,
                    about=f"{len(plain)} aspects{several}, {which}",
                    by_experts=by_experts,
                    wordings=len(pairs) / len(plain),
                )
            self._cells[key] = Cell(pairs, tests, absent, scores)
        return self._cells[key]

    def _test(self, pairs: Pairs) -> AspectTests:
        key = pairs.differences.tobytes(), pairs.source.tobytes()
        if key not in self._tests:
            self._tests[key] = pairs.tests(self.method)
        return self._tests[key]

    def headlines(self, judge: str, *others: str) -> dict[str, Replicated]:
        """Return the averages and minima over the planned perturbations, with their
        deletions.

        Only of items that `others` were given, too.
        """
        items = self.study.items_given(judge, *others)
        if (judge, items) not in self._headlines:
            cells = {
                name: self._cell(name, judge, *others) for name in self.study.perturbed
            }
            scores = {name: cell.scores for name, cell in cells.items()}
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
            known = [
                one for one in results_of.values() if one.estimate.value is not None
            ]
            note = (
                f"without {', '.join(gaps)}: renormalised within the level"
                if gaps
                else ""
            )
            n, test = min(one.estimate.n for one in known), test_of(score, self.method)
            counts = _counts(n, n_items, f"{len(known)} perturbations, {test} p", note)
            rows = np.stack([one.rows for one in results_of.values()], axis=-1)
            if summarise is average:
                levels = [level for *_, level in self.study.spec.perturbed]
                means = average(rows, levels, allow_missing=bool(gaps))
                flat = all(NO_WIDTH in one.estimate.note for one in known)
                sizes = np.sum([one.sizes for one in known], axis=0)
                result = score_replicated(statistic, counts, means, sizes, flat=flat)
            else:
                exact = [each["D_exact"].estimate.value for each in scores.values()]
                least = minimum(rows, allow_missing=bool(gaps))
                result = _least(results_of, least, counts, exact)
            estimate = with_tail_note(score, result.estimate, self.method)
            results[statistic] = result._replace(estimate=estimate)
        return results


def _least(
    scores: dict[str, Replicated],
    rows: Floats,
    counts: Estimate,
    exact: list[float | None],
) -> Replicated:
    """Return the least score with the interval of its own perturbation, and Holm's p of
    all.

    A minimum is not smooth, so that deletions say nothing of it. `exact`: D_exact of
    all.
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
    estimate = estimate.with_note(
        f"Holm-adjusted p of all, exact: {exp(float(p.max())):.2g}"
    )
    estimate = estimate.with_note(
        least.note if least.ci_low is None or NO_WIDTH in least.note else ""
    )
    return Replicated(estimate, rows, scores[name].sizes, NOT_SMOOTH)


def aspect_weights(study: EvaluationData, texts: str) -> tuple[Floats, str, bool]:
    """Return the weights of the aspects, their description, and whether experts gave
    them.

    They are those of the perturbation of a set of texts, uniform where experts gave
    none. An aspect's weight is shared equally by its wordings (`criteria`).
    """
    aspects, by_experts = list(study.spec.aspects), study.spec.weights
    plain = [split(name)[0] for name in aspects]
    perturbation = texts.partition(".")[0]
    if by_experts and perturbation in by_experts.by_perturbation:
        weights = by_experts.by_perturbation[perturbation]
        named = [name for name in dict.fromkeys(plain) if weights.get(name)]
        shown = ", ".join(f"{name} {weights[name]:g}" for name in named)
        shares = [weights.get(name, 0.0) / plain.count(name) for name in plain]
        return np.array(shares), f"weights {shown}", True
    lacking = f" ({by_experts.id} has no weights for it)" if by_experts else ""
    return np.full(len(aspects), 1 / len(aspects)), f"uniform weights{lacking}", False


def _why_undefined(gaps: list[str], notes: list[str], *, planned: int) -> str:
    """Return which planned perturbations have no score, and why; no names if none has
    one.
    """
    if len(gaps) == planned and len(notes) == 1:
        return notes[0]
    more = f", and {len(gaps) - MOST_NAMED} more" if len(gaps) > MOST_NAMED else ""
    named = (
        f"planned perturbations without a score: {', '.join(gaps[:MOST_NAMED])}{more}"
    )
    return f"{named} ({'; '.join(notes)})"


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of discernment.csv."""
    if not study.spec.perturbed:
        return
    excluded, discerning = study.excluded(), Discerning(study)
    for judge in study.spec.judges:
        if judge in excluded:
            nothing = Estimate.undefined(excluded[judge])
            yield from (study.row(judge, "", name, "", nothing) for name in HEADLINES)
        else:
            yield from discerning.judge_rows(judge)
    for judge, other in compared(study):
        # on the items that both were given
        first, second = (
            discerning.headlines(judge, other),
            discerning.headlines(other, judge),
        )
        note = study.share_note(judge, other)
        yield from difference_rows(study, judge, first, second, note, judge_b=other)


METHOD = Method(
    selectable=True,
    tables=("perturbations", "responses"),
    texts=("once",),
    parts=("compared", "weights"),
    claims=("claims.perturbations.perturbation_claims",),
)
