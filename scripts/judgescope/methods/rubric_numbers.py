"""All numbers on a rubric: experts among themselves, and a grader beside them.

Table `rubrics` and `js.rubrics` have these numbers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from judgescope.methods.measures import POOLED, WITHIN_SOURCE, level_of
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.corrected import (
    RatedTexts,
    corrected_mean,
    sample_of,
    source_means,
    uncorrected_mean,
)
from judgescope.statistics.correlation import leaving_out
from judgescope.statistics.intervals import (
    CORRELATION,
    IntervalScale,
    deletions,
)
from judgescope.statistics.labels import strict_majority
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.raters import as_rater, rating_tables
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.rubrics import (
    LabelPairs,
    RubricCases,
    mean_score,
    on_pairs,
    only_grader_understands,
    order_kept,
    redundant_pairs,
    says_nothing,
)
from judgescope.statistics.slices import (
    SliceNumbers,
    against_rest,
    family,
    settled_label,
)
from judgescope.statistics.source_rows import Deletions
from judgescope.statistics.transport import why_refused
from judgescope.statistics.variance import place_components
from judgescope.statistics.within_sources import within_sources

NAMED: Final = "rubric_balanced_accuracy"
"""The number by which criteria and themes are compared with the rest."""
BY_SYSTEM: Final = "by_system"
NOT_UNMET: Final = "warning: unread is not unmet"


class RubricNumber(NamedTuple):
    """One number: of all cases, of a criterion, of a theme of them, or of a system."""

    statistic: str
    level: str
    estimate: Estimate
    criterion: int | None = None
    theme: str = ""
    system: int | None = None
    compared: bool = False
    """Whether a criterion or theme is compared with the rest."""


@dataclass(frozen=True, eq=False)
class Rubric:
    """The cases of a rubric, and how they are named.

    `themes` are of the criteria, "" without one; `shuffle` returns the random stream
    that deals out the labels of experts who are places; `slots` as `rating_tables`.
    """

    cases: RubricCases
    criteria: Sequence[str]
    systems: Sequence[str]
    themes: Sequence[str]
    shuffle: Callable[[], np.random.Generator]
    slots: bool | None = None
    sources: int = 0
    """The number of sources, more than the highest code of one."""

    @cached_property
    def weights(self) -> Deletions:
        """The weights that delete each source, with all its criteria and responses."""
        return deletions(self.sources)


# --- experts --------------------------------------------------------------------------


def expert_numbers(rubric: Rubric) -> Iterator[RubricNumber]:
    """Yield what experts say of the responses, and how far they agree."""
    cases = rubric.cases
    labels = cases.expert_labels
    yield from _means_of(rubric, cases.scores(labels), "rubric_score")
    pairs = cases.expert_pairs
    if pairs.case.size:
        results = on_pairs(pairs, cases.case_source, rubric.weights)
        for name, result in results.items():
            estimate = result.with_method("experts with each other").estimate
            yield RubricNumber(name, POOLED, estimate)
        yield from _reliability(rubric)
    else:
        nothing = Estimate.undefined(
            "no case has the labels of two experts: there is no ceiling"
        )
        yield RubricNumber("rubric_f1", POOLED, nothing)
    yield from _order_without_points(rubric, labels)
    for criterion in range(len(rubric.criteria)):
        yield from _criterion_of_experts(rubric, criterion)
    yield from _redundant(rubric)


def _reliability(rubric: Rubric) -> Iterator[RubricNumber]:
    """Yield how reliable experts' score of a response is, one-way: who they are is not
    used.
    """
    cases = rubric.cases
    by_expert = np.array([cases.scores(labels) for labels in cases.experts])
    parts = place_components(by_expert, cases.source, rubric.weights)
    if isinstance(parts, str):
        nothing = Estimate.undefined(parts)
        yield RubricNumber("dependability_people", POOLED, nothing)
        return
    for name, result in parts.of_people(parts.k).items():
        estimate = result.with_method(f"{parts.k:.3g} experts a response").estimate
        yield RubricNumber(name, POOLED, estimate)


def _criterion_of_experts(rubric: Rubric, criterion: int) -> Iterator[RubricNumber]:
    cases = rubric.cases
    mine = cases.criterion == criterion
    source = cases.case_source
    met = _share_met(rubric, cases.experts[:, mine], source[mine])
    yield RubricNumber("criterion_met", POOLED, met.estimate, criterion)
    split = krippendorff_alpha(
        cases.experts[:, mine], level="nominal", domain=[0.0, 1.0],
        source=source[mine], weights=rubric.weights,
    )  # fmt: skip
    yield RubricNumber("alpha_nominal", POOLED, split.estimate, criterion)
    pairs = cases.expert_pairs
    if mine[pairs.case].any():
        kappa = on_pairs(pairs, source, rubric.weights, mine)["rubric_kappa"]
        yield RubricNumber("rubric_kappa", POOLED, kappa.estimate, criterion)


def _share_met(rubric: Rubric, labels: Floats, source: Codes) -> Replicated:
    """The share of labels (labellers, cases) that are met; source (cases,)."""
    _, case = np.nonzero(np.isfinite(labels))
    known = labels[np.isfinite(labels)]
    return clustered_mean(known, source[case], rubric.weights)


def _redundant(rubric: Rubric) -> Iterator[RubricNumber]:
    count = len(rubric.criteria)
    # Pairs of more criteria are not searched for redundant ones.
    most_criteria = 200
    if count > most_criteria:
        return
    labels = strict_majority(rubric.cases.experts, 2)
    for pair in redundant_pairs(labels, rubric.cases, count):
        note = f"redundant with {rubric.criteria[pair.second]}"
        estimate = Estimate(pair.phi, n=pair.n, note=note)
        yield RubricNumber("criterion_phi", POOLED, estimate, pair.first)


# --- a grader -------------------------------------------------------------------------


def grader_numbers(
    rubric: Rubric, repeatability: Mapping[int, float] | None = None
) -> Iterator[RubricNumber]:
    """Yield a grader's numbers beside experts': of cases, responses, systems, criteria.

    repeatability: criterion -> α over the grader's draws, where it has several.
    """
    cases = rubric.cases
    if not cases.marked.any():
        nothing = Estimate.undefined("no criterion has a verdict and an expert's label")
        yield RubricNumber(NAMED, POOLED, nothing)
        return
    pairs = cases.grader_pairs
    results = on_pairs(pairs, cases.case_source, rubric.weights)
    for name, result in results.items():
        yield RubricNumber(name, POOLED, result.estimate)
    yield from _as_rater(rubric)
    yield from _scores(rubric)
    yield from _by_response(rubric)
    yield from _systems(rubric)
    yield from _order_without_points(rubric, cases.grader)
    yield from _criteria(rubric, repeatability or {})
    yield from _themes(rubric)


def _as_rater(rubric: Rubric) -> Iterator[RubricNumber]:
    """Yield the grader's agreement with each expert less that of another expert."""
    cases = rubric.cases
    source = cases.case_source
    compared = ("rubric_balanced_accuracy", "rubric_f1")

    def value(x: Floats, y: Floats) -> Mapping[str, Replicated]:
        case = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        from_labels = LabelPairs(y[case], x[case], case)
        numbers = on_pairs(from_labels, source, rubric.weights)
        return {name: numbers[name] for name in compared}

    if len(cases.experts) < 2:
        return
    tables = rating_tables(cases.experts, source, rubric.slots, rubric.shuffle)
    results = as_rater(value, cases.grader, tables, against="each")
    for name, result in results.items():
        estimate = result.difference.estimate
        yield RubricNumber(f"as_rater_{name}", POOLED, estimate)


def _scores(rubric: Rubric) -> Iterator[RubricNumber]:
    """Yield the mean score with unread criteria left out, as unmet, and their share."""
    cases = rubric.cases
    unread = np.isnan(cases.grader).astype(np.float64)
    share = clustered_mean(unread, cases.case_source, rubric.weights)
    yield RubricNumber("rubric_unread", POOLED, share.estimate)
    left_out = cases.scores(cases.grader)
    as_unmet = cases.scores(np.where(np.isnan(cases.grader), 0.0, cases.grader))
    yield from _means_of(rubric, left_out, "rubric_score")
    noticed_from = 0.02
    for number in _means_of(rubric, as_unmet, "rubric_score_unmet"):
        chosen = _of_system(cases, number.system)
        first = mean_score(left_out[chosen], cases.source[chosen], None).estimate
        value = number.estimate.value
        note = ""
        other = first.value
        if (
            value is not None
            and other is not None
            and abs(value - other) > noticed_from
        ):
            note = f"{NOT_UNMET}: {other:.3f} where unread is left out"
        yield number._replace(estimate=number.estimate.with_note(note))


def _of_system(cases: RubricCases, system: int | None) -> Flags:
    if system is None:
        return np.ones(cases.source.size, dtype=bool)
    return np.asarray(cases.system == system)


def _means_of(rubric: Rubric, scores: Floats, name: str) -> Iterator[RubricNumber]:
    """Yield the mean of responses' scores, of all and of each system."""
    cases = rubric.cases
    mean = mean_score(scores, cases.source, rubric.weights)
    yield RubricNumber(name, POOLED, mean.estimate)
    for system in range(len(rubric.systems)):
        mine = cases.system == system
        mean = mean_score(scores[mine], cases.source[mine], rubric.weights)
        yield RubricNumber(name, BY_SYSTEM, mean.estimate, system=system)


def _by_response(rubric: Rubric) -> Iterator[RubricNumber]:
    """Yield how the grader orders responses, and its error, on what both marked."""
    cases = rubric.cases
    marked = cases.marked
    judged = cases.scores(np.where(marked, cases.grader, np.nan))
    rated = cases.scores(np.where(marked, cases.expert_labels, np.nan))
    source = cases.source
    level = level_of(judged, rated, source, rubric.sources)
    if level == WITHIN_SOURCE:
        number = within_sources(judged, rated, source, rubric.sources)
        yield RubricNumber("normal_scores", level, number.estimate)
    else:
        rows, why = leaving_out(judged, rated, source, rubric.sources)
        both = np.isfinite(judged + rated)
        sizes = np.bincount(source[both], minlength=rubric.sources)
        number = replicated(
            rows, why, sizes=sizes, scale=CORRELATION, n=int(both.sum())
        )
        yield RubricNumber("spearman", POOLED, number.estimate)
    error = clustered_mean(
        judged - rated,
        source,
        rubric.weights,
        ends=None,
        averaged="mean over responses",
    )
    yield RubricNumber("rubric_error", POOLED, error.estimate)


def _systems(rubric: Rubric) -> Iterator[RubricNumber]:
    """Yield the order of systems beside experts', and each corrected mean."""
    cases = rubric.cases
    if len(rubric.systems) < 2:
        return
    marked = cases.marked
    judged = cases.scores(np.where(marked, cases.grader, np.nan))
    rated = cases.scores(np.where(marked, cases.expert_labels, np.nan))
    kept = order_kept(_system_means(rubric, judged), _system_means(rubric, rated))
    yield RubricNumber("rubric_order", BY_SYSTEM, kept)
    every = cases.scores(cases.grader)
    experts = cases.scores(cases.expert_labels)
    for system in range(len(rubric.systems)):
        mine = cases.system == system
        texts = RatedTexts(every[mine], experts[mine], cases.source[mine])
        sample = sample_of(texts)
        if not sample.others.size:
            continue
        unknown = np.full(sample.n, np.nan), np.full(sample.others.size, np.nan)
        why = why_refused(sample, *unknown)
        if why:
            estimate = Estimate.undefined(f"not corrected: {why}", n=sample.n)
        else:
            estimate = corrected_mean(sample, (0.0, 1.0)).estimate
        yield RubricNumber("corrected_mean", BY_SYSTEM, estimate, system=system)
        if not why:
            uncorrected = uncorrected_mean(sample, (0.0, 1.0))
            yield RubricNumber(
                "uncorrected_mean", BY_SYSTEM, uncorrected, system=system
            )


def _system_means(rubric: Rubric, scores: Floats) -> Floats:
    """The mean score of each system, NaN without one; (systems,)."""
    known = np.isfinite(scores)
    means = np.full(len(rubric.systems), np.nan)
    codes, values = source_means(scores[known], rubric.cases.system[known])
    means[codes] = values
    return means


def _order_without_points(rubric: Rubric, labels: Floats) -> Iterator[RubricNumber]:
    """Yield how far the order of systems depends on the points."""
    if len(rubric.systems) < 2:
        return
    cases = rubric.cases
    plain = cases.with_points(np.sign(cases.points))
    kept = order_kept(
        _system_means(rubric, cases.scores(labels)),
        _system_means(rubric, plain.scores(labels)),
    )
    yield RubricNumber("rubric_order_plain", BY_SYSTEM, kept)


# --- criteria and their themes --------------------------------------------------------


def _criteria(
    rubric: Rubric, repeatability: Mapping[int, float]
) -> Iterator[RubricNumber]:
    """Yield the grader's numbers on each criterion, and that minus the others'."""
    cases = rubric.cases
    compared = _compared(rubric, cases.criterion, range(len(rubric.criteria)))
    for number in _compared_rows(compared):
        criterion = int(number.theme)
        yield number._replace(theme="", criterion=criterion, compared=True)
    for criterion in range(len(rubric.criteria)):
        yield from _criterion_of_grader(rubric, criterion, repeatability)


def _criterion_of_grader(
    rubric: Rubric, criterion: int, repeatability: Mapping[int, float]
) -> Iterator[RubricNumber]:
    cases = rubric.cases
    mine = cases.criterion == criterion
    source = cases.case_source
    results = on_pairs(cases.grader_pairs, source, rubric.weights, mine)
    for name, result in results.items():
        if name != NAMED:  # stands with its difference from the rest
            yield RubricNumber(name, POOLED, result.estimate, criterion)
    by_grader = _share_met(rubric, cases.grader[None, mine], source[mine]).estimate
    by_experts = _share_met(rubric, cases.experts[:, mine], source[mine]).estimate
    note = ""
    share = by_experts.value
    if (
        share is not None
        and by_grader.value is not None
        and says_nothing(share, by_grader.value)
    ):
        note = f"says nothing: met in {share:.1%} by experts"
    met = by_grader.with_note(note)
    yield RubricNumber("criterion_met", POOLED, met, criterion)
    pairs = cases.expert_pairs
    kappa = on_pairs(pairs, source, None, mine)["rubric_kappa"].estimate.value
    doubly = int((np.isfinite(cases.experts[:, mine]).sum(axis=0) >= 2).sum())
    stability = repeatability.get(criterion)
    if stability is not None:
        note = ""
        if only_grader_understands(kappa, doubly, stability):
            note = f"only the judge understands it: κ among experts {kappa:.2f}"
        estimate = Estimate(stability, n=int(mine.sum()), note=note)
        yield RubricNumber("alpha_draws", POOLED, estimate, criterion)


def _themes(rubric: Rubric) -> Iterator[RubricNumber]:
    names = sorted({*rubric.themes} - {""})
    if len(names) < 2:
        return
    codes = np.array([names.index(name) if name else -1 for name in rubric.themes])
    compared = _compared(rubric, codes[rubric.cases.criterion], range(len(names)))
    for number in _compared_rows(compared):
        yield number._replace(theme=names[int(number.theme)], compared=True)


def _compared(rubric: Rubric, group: Codes, groups: range) -> dict[str, SliceNumbers]:
    """Group -> its balanced accuracy, and that minus the rest's; group (cases,)."""
    cases = rubric.cases
    pairs = cases.grader_pairs
    source = cases.case_source

    def number(chosen: Flags) -> Replicated:
        return on_pairs(pairs, source, rubric.weights, chosen)[NAMED]

    def why_not(chosen: Flags) -> str:
        kept = chosen[pairs.case]
        return _too_few(
            pairs.truth[kept], pairs.verdict[kept], source[pairs.case[kept]]
        )

    members = {str(code): group == code for code in groups}
    gap = IntervalScale("plain", -1.0, 1.0)
    return against_rest(members, number, why_not, gap)


def _too_few(truth: Floats, verdict: Floats, source: Codes) -> str:
    """Why cases are not compared with the rest, "" if they are; (pairs,) each."""
    both = np.isfinite(verdict)
    sources = np.unique(source[both]).size
    fewest_sources = 10
    if sources < fewest_sources:
        return f"too few: {sources} sources"
    fewest_of_label = 5
    _, counts = np.unique(truth[both], return_counts=True)
    if counts.size < 2:
        return "skipped: experts use one label"
    if counts.min() < fewest_of_label:
        return f"too few: {int(counts.min())} labels of the rarer kind"
    label = settled_label(truth, verdict)
    if label is None:
        return ""
    mine = both & (truth == label)
    outcome = "wrong"
    if (verdict == truth)[mine].all():
        outcome = "right"
    name = "met" if label else "unmet"
    return f"too few: all {int(mine.sum())} verdicts on {name} are {outcome}"


def _compared_rows(compared: Mapping[str, SliceNumbers]) -> Iterator[RubricNumber]:
    """Yield the numbers of groups; `theme` has the key of the group."""
    made = family([*compared.values()], [NAMED] * len(compared))
    for at, (key, numbers) in enumerate(compared.items()):
        if numbers.inside is None:
            nothing = Estimate.undefined(numbers.why)
            yield RubricNumber(NAMED, POOLED, nothing, theme=key)
            continue
        inside = numbers.inside.estimate
        yield RubricNumber(NAMED, POOLED, inside, theme=key)
        if numbers.gap is None:
            continue
        gap = numbers.gap.estimate
        yield RubricNumber(f"slice_gap_{NAMED}", POOLED, gap, theme=key)
        p = float(made.p_holm[at])
        if np.isfinite(p):
            how = f"two-sided, Holm over {made.tested}"
            estimate = Estimate(p, n=inside.n, method=how)
            yield RubricNumber(f"slice_p_holm_{NAMED}", POOLED, estimate, theme=key)
