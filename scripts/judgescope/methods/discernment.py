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
from judgescope.methods.aligned_values import aligned
from judgescope.methods.base import JudgeFacts, Method
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.evaluation_data import MADE, EvaluationData, set_columns
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.discernment import (
    average,
    discernment,
    minimum,
    score_replicated,
)
from judgescope.statistics.intervals import NOT_SMOOTH, holm
from judgescope.statistics.means import net_share
from judgescope.statistics.resampling import NO_WIDTH, Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.signed_rank import (
    AspectTests,
    WilcoxonMethod,
    aspect_tests,
    exact_differences,
    has_one_sign,
    mean_drop,
    rank_biserial,
    table_method,
)
from judgescope.statistics.source_rows import Deletions


@dataclass(frozen=True)
class PerturbedPairs:
    """A judge's scores of originals and of their perturbed copies on one aspect, pair
    by pair.
    """

    original: Floats
    perturbed: Floats
    source: Codes
    weights: Deletions
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
            name: replace(estimate, n_missing=missing)
            for name, estimate in estimates.items()
        }

    def tests(self, method: WilcoxonMethod) -> AspectTests:
        """Return the Wilcoxon tests of the pairs, without each source too."""
        return aspect_tests(self.differences, self.source, self.weights, method)


def pairs_of(
    data: EvaluationData, perturbation: str, judge: str, *other_judges: str
) -> tuple[dict[str, PerturbedPairs], dict[str, Estimate]]:
    """Return aspect -> pairs; and aspect -> the undefined estimate that says why there
    are none.

    Only items that `other_judges` were given, too. Texts that are too long for a
    model's context are not a sample of the items: such a cell is not run at all
    (docs/methods.md, "Discernment").
    """
    original = data.target_set("original").given(judge, *other_judges)
    perturbed = data.target_set(perturbation).given(judge, *other_judges)
    card = data.spec.judges[judge]
    pairs = dict[str, PerturbedPairs]()
    for aspect in data.spec.aspects:
        before = original.scores(judge, aspect)
        after = perturbed.scores(judge, aspect)
        if before is None or after is None:
            continue
        if _too_long(data, perturbation, judge, aspect):
            continue
        after_by_item = dict(zip(perturbed.items, after.tolist(), strict=True))
        after = aligned(after_by_item, original.items)
        both = np.isfinite(before) & np.isfinite(after)
        if both.any():
            pairs[aspect] = PerturbedPairs(
                original=before[both],
                perturbed=after[both],
                source=original.source[both],
                weights=data.weights,
                n_planned=len(before),
                unit=unit_of(card, aspect),
            )
    lacking = [aspect for aspect in data.spec.aspects if aspect not in pairs]
    why = data.excluded(perturbation).get(judge)
    outcomes = Counter(data.target_set(perturbation).outcomes)
    if not why and not MADE & set(outcomes):
        counts = [f"{count} {outcome}" for outcome, count in sorted(outcomes.items())]
        why = f"no text could be made ({', '.join(counts) or 'none planned'})"
    if why:
        return pairs, dict.fromkeys(lacking, Estimate.undefined(why))
    return pairs, {
        name: nothing_judged(data, perturbation, judge, name) for name in lacking
    }


def unit_of(card: JudgeFacts, aspect: str) -> int | None:
    """Return u such that every score is a multiple of 1/u; None: scores are rounded to
    9 decimals.

    Means weighted by probabilities have no unit: they lie anywhere on the scale.
    """
    most_draws = 20  # lcm(1..draws) of more is too large for exact floats
    grid = card.grid[aspect]
    if grid is None or card.weighted or card.draws > most_draws:
        return None
    per_point = 1 / (grid[1] - grid[0])
    if not per_point.is_integer():
        return None
    if not all((value * per_point).is_integer() for value in grid):
        return None
    return lcm(*range(1, card.draws + 1)) * int(per_point)


def nothing_judged(
    data: EvaluationData, perturbation: str, judge: str, aspect: str
) -> Estimate:
    """Return the undefined estimate of a cell in which no item has both scores.

    The note says whether the judge could not be asked at all, or how its replies were
    parsed.
    """
    if count := _too_long(data, perturbation, judge, aspect):
        return Estimate.undefined(
            f"not run: context ({count} requests are too long for the model)"
        )
    for name in ("original", perturbation):
        cell = data.status_counts.get((name, judge, aspect), Counter())
        statuses = {status for status, _ in cell}
        if not cell or "ok" in statuses:
            continue
        rules = ", ".join(sorted({rule or status for status, rule in cell}))
        why = f"no reply could be read: {rules}"
        if statuses == {"not_applicable"}:
            why = f"not applicable: {rules}"
        return Estimate.undefined(why, n_missing=cell.total())
    return Estimate.undefined("no item has scores for both texts")


def _too_long(data: EvaluationData, perturbation: str, judge: str, aspect: str) -> int:
    """Return how many requests on originals and perturbed texts exceed the model's
    context.
    """
    # Not for planning: the grammar of verdicts takes long to import.
    from judgescope.parsing.parsers import TOO_LONG

    requests = 0
    for name in ("original", perturbation):
        cell = data.status_counts.get((name, judge, aspect), Counter())
        requests += cell["error", TOO_LONG]
    return requests


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
ARTEFACT = 5.0
"""Above this a score of asymptotic p-values is an artefact of the normal tail
(docs/methods.md, "Discernment")."""
BY_LENGTH = "length alone detects this"
BEYOND = f"beyond {ARTEFACT:g}"
"""The start of the note that says so; the report flags it."""


class DiscernmentCell(NamedTuple):
    """A judge on one perturbation: pairs and tests by aspect, and the scores over the
    aspects.

    `absent` says of which aspects there is no test, and why.
    """

    pairs: dict[str, PerturbedPairs]
    tests: dict[str, AspectTests]
    absent: dict[str, Estimate]
    scores: dict[str, Replicated]


def aspect_estimates(
    pairs: Mapping[str, PerturbedPairs],
    tests: Mapping[str, AspectTests],
    method: WilcoxonMethod,
) -> Iterator[tuple[str, str, Estimate]]:
    """Yield (aspect, statistic, estimate) of each tested aspect; a p-value has no
    interval.
    """
    adjusted = holm(np.array([test.exact[0] for test in tests.values()]), log=True)
    family = f"Holm over {len(tests)} aspects of the perturbation"
    for (aspect, test), log_p_holm in zip(tests.items(), adjusted, strict=True):
        effects = pairs[aspect].estimates()
        for name, effect in effects.items():
            yield aspect, name, effect
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
    pairs: Sequence[PerturbedPairs],
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
        [has_one_sign(each.differences, each.source, n_sources) for each in pairs]
    )
    sources = [each.source for each in pairs]
    n = min(len(source) for source in sources)
    planned = max(each.n_planned for each in pairs)
    sizes = np.bincount(np.concatenate(sources), minlength=n_sources)
    scores = {}
    for name, rows_of_score in rows.items():
        # These two include aspects with weight 0.
        counting = (weights > 0) | (name in {"D", WEIGHT_EFFECT})
        flat = bool(alike[counting].all())
        how = ", ".join(filter(None, (about, f"{test_of(name, method)} p")))
        counts = _counts(n, planned, how)
        scores[name] = score_replicated(name, counts, rows_of_score, sizes, flat=flat)
    return scores


def test_of(score: str, method: WilcoxonMethod) -> WilcoxonMethod:
    """Return the test whose p-values a score combines; `method` is the one of the
    table.
    """
    # As published, these combine the asymptotic p whatever the table's test.
    asymptotic = {"D", "D_ew", WEIGHT_EFFECT}
    return "asymptotic" if score in asymptotic else method


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

    def __init__(self, data: EvaluationData) -> None:
        self.study = data
        self.method: WilcoxonMethod = table_method(len(data.item_order))
        self._tests: dict[tuple[bytes, bytes], AspectTests] = {}
        self._cells: dict[tuple[str, str, frozenset[str]], DiscernmentCell] = {}
        self._headlines: dict[tuple[str, frozenset[str]], dict[str, Replicated]] = {}

    def judge_rows(self, judge: str) -> Iterator[ResultRow]:
        """Yield the rows of one judge: per aspect, per perturbation, and the
        headlines.
        """
        for texts in self.study.perturbed:
            columns = set_columns(texts)
            cell = self._cell(texts, judge)
            for aspect, statistic, estimate in aspect_estimates(
                cell.pairs, cell.tests, self.method
            ):
                yield self.study.row(judge, aspect, statistic, "", estimate, **columns)
            for aspect, nothing in cell.absent.items():
                yield self.study.row(
                    judge, aspect, "p_wilcoxon", "", nothing, **columns
                )
            exact = cell.scores["D_exact"].estimate.value
            note = ""
            if self.study.spec.judges[judge].form == "length" and (exact or 0) >= 1:
                note = BY_LENGTH
            for statistic, score in cell.scores.items():
                estimate = with_tail_note(statistic, score.estimate, self.method)
                estimate = estimate.with_note(note)
                yield self.study.row(judge, "", statistic, "", estimate, **columns)
        for statistic, headline in self.headlines(judge).items():
            yield self.study.row(judge, "", statistic, "", headline.estimate)

    def _cell(self, texts: str, judge: str, *others: str) -> DiscernmentCell:
        """Return a judge's scores of a perturbation, on items that `others` were given,
        too.
        """
        key = (texts, judge, self.study.items_given(judge, *others))
        if key not in self._cells:
            pairs, absent = pairs_of(self.study, texts, judge, *others)
            tests = {aspect: self._test(each) for aspect, each in pairs.items()}
            if absent:
                scores = self._absent_scores(absent)
            else:
                scores = self._scores(texts, pairs, tests)
            self._cells[key] = DiscernmentCell(pairs, tests, absent, scores)
        return self._cells[key]

    def _absent_scores(self, absent: Mapping[str, Estimate]) -> dict[str, Replicated]:
        """Return undefined scores; their note names the aspects if some have tests."""
        why = "; ".join(dict.fromkeys(estimate.note for estimate in absent.values()))
        if len(absent) < len(self.study.spec.aspects):
            why += f" ({', '.join(absent)})"
        return dict.fromkeys(SCORES, self.study.undefined(why))

    def _scores(
        self,
        texts: str,
        pairs: Mapping[str, PerturbedPairs],
        tests: Mapping[str, AspectTests],
    ) -> dict[str, Replicated]:
        """Return the scores over all aspects."""
        aspects = list(self.study.spec.aspects)
        weights, described, by_experts = aspect_weights(self.study, texts)
        plain = {split(name)[0] for name in aspects}
        several = ""
        if len(pairs) > len(plain):
            several = f" in {len(pairs)} wordings"
        return combined_scores(
            [pairs[aspect] for aspect in aspects],
            [tests[aspect] for aspect in aspects],
            weights,
            self.method,
            about=f"{len(plain)} aspects{several}, {described}",
            by_experts=by_experts,
            wordings=len(pairs) / len(plain),
        )

    def _test(self, pairs: PerturbedPairs) -> AspectTests:
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
            scores = {}
            for name in self.study.perturbed:
                scores[name] = self._cell(name, judge, *others).scores
            self._headlines[judge, items] = self._summarise(scores, len(items))
        return self._headlines[judge, items]

    def _summarise(
        self, scores: dict[str, dict[str, Replicated]], n_items: int
    ) -> dict[str, Replicated]:
        """scores: by perturbation, then by statistic."""
        gaps = list[str]()
        notes = set[str]()
        for name, by_statistic in scores.items():
            d = by_statistic["D"].estimate
            if d.value is None:
                gaps.append(name)
                notes.add(d.note)
        if len(gaps) == len(scores) or (gaps and not self.study.spec.allow_missing):
            why = _why_undefined(gaps, sorted(notes), planned=len(scores))
            return dict.fromkeys(HEADLINES, self.study.undefined(why))
        note = ""
        if gaps:
            note = f"without {', '.join(gaps)}: renormalised within the level"
        levels = [level for *_, level in self.study.spec.perturbed]
        exact = [each["D_exact"].estimate.value for each in scores.values()]
        results = {}
        for statistic, (score, summarise) in HEADLINES.items():
            by_perturbation = {name: each[score] for name, each in scores.items()}
            all_scores = list(by_perturbation.values())
            known = []
            for each in all_scores:
                if each.estimate.value is not None:
                    known.append(each)
            n = min(each.estimate.n for each in known)
            test = test_of(score, self.method)
            counts = _counts(n, n_items, f"{len(known)} perturbations, {test} p", note)
            rows = np.stack([each.rows for each in all_scores], axis=-1)
            if summarise is average:
                means = average(rows, levels, allow_missing=bool(gaps))
                flat = all(NO_WIDTH in each.estimate.note for each in known)
                sizes = np.sum([each.sizes for each in known], axis=0)
                result = score_replicated(statistic, counts, means, sizes, flat=flat)
            else:
                least = minimum(rows, allow_missing=bool(gaps))
                result = _least(by_perturbation, least, counts, exact)
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
    values = [score.rows[0] for score in scores.values()]
    name = list(scores)[int(np.nanargmin(values))]
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
    if least.ci_low is None or NO_WIDTH in least.note:
        estimate = estimate.with_note(least.note)
    return Replicated(estimate, rows, scores[name].sizes, NOT_SMOOTH)


def aspect_weights(data: EvaluationData, texts: str) -> tuple[Floats, str, bool]:
    """Return the weights of the aspects, their description, and whether experts gave
    them.

    They are those of the perturbation of a set of texts, uniform where experts gave
    none. An aspect's weight is shared equally by its wordings (`criteria`).
    """
    aspects = list(data.spec.aspects)
    by_experts = data.spec.weights
    plain = [split(name)[0] for name in aspects]
    perturbation = texts.partition(".")[0]
    if by_experts and perturbation in by_experts.by_perturbation:
        weights = by_experts.by_perturbation[perturbation]
        named = []
        for name in dict.fromkeys(plain):
            if weights.get(name):
                named.append(name)
        shown = ", ".join(f"{name} {weights[name]:g}" for name in named)
        shares = [weights.get(name, 0.0) / plain.count(name) for name in plain]
        return np.array(shares), f"weights {shown}", True
    lacking = ""
    if by_experts:
        lacking = f" ({by_experts.id} has no weights for it)"
    return np.full(len(aspects), 1 / len(aspects)), f"uniform weights{lacking}", False


def _why_undefined(gaps: list[str], notes: list[str], *, planned: int) -> str:
    """Return which planned perturbations have no score, and why; no names if none has
    one.
    """
    if len(gaps) == planned and len(notes) == 1:
        return notes[0]
    most_named = 4
    named = ", ".join(gaps[:most_named])
    if len(gaps) > most_named:
        named += f", and {len(gaps) - most_named} more"
    return f"planned perturbations without a score: {named} ({'; '.join(notes)})"


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of discernment.csv."""
    if not data.spec.perturbed:
        return
    excluded = data.excluded()
    discerning = Discerning(data)
    for judge in data.spec.judges:
        if judge in excluded:
            nothing = Estimate.undefined(excluded[judge])
            for name in HEADLINES:
                yield data.row(judge, "", name, "", nothing)
        else:
            yield from discerning.judge_rows(judge)
    for judge, other in compared(data):
        # on the items that both were given
        first = discerning.headlines(judge, other)
        second = discerning.headlines(other, judge)
        note = data.share_note(judge, other)
        yield from difference_rows(data, judge, first, second, note, judge_b=other)


METHOD = Method(
    name="discernment",
    rows=rows,
    selectable=True,
    tables=("perturbations", "responses"),
    texts=("once",),
    parts=("compared", "weights"),
)
