"""Confusion (Hu et al. 2024): does perturbing one quality lower the scores of others,
too?

A cell is one perturbation scored on one aspect. The study expects a drop in some cells
and none in others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import product
from math import exp, inf

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.base import ExpectedChange, Method, present
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.discernment import PerturbedPairs, pairs_of
from judgescope.methods.evaluation_data import EvaluationData, set_columns
from judgescope.schema.rows import AppliesTo, ResultRow
from judgescope.statistics.arrays import Flags
from judgescope.statistics.confusion import (
    confusion,
    items_needed,
    mean_drops,
    p_equivalence,
)
from judgescope.statistics.intervals import benjamini_hochberg
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, replicated, whole_and_resamples
from judgescope.statistics.result import REASONS, Estimate, clauses
from judgescope.statistics.signed_rank import WilcoxonMethod, log_p, table_method


class DropExpectation(StrEnum):
    """What is expected of the score of a perturbed text."""

    DROP = "should drop"
    SAME = "should stay"
    ANY_CHANGE = "no expectation"


HEADLINES = ("s_t_mean", "s_f_mean", "confusion_index", "confusion_auc")
LEVEL = 0.05
POINTS = 4.0
"""The length of a scale of 1 to 5, in whose points the margin is given."""


class DropVerdict(StrEnum):
    """Whether the scores of a set of perturbed texts drop by more than the margin."""

    NO_DROP = "no drop"
    DROPS = "drop"
    UNDECIDED = "undecided"


Expectation = tuple[str, str, str]
"""(set of perturbed texts, aspect in any wording, what is expected of its scores)."""


@dataclass(frozen=True, eq=False)
class ConfusionCell:
    """A set of perturbed texts scored on one aspect; `absent` says why there are no
    pairs.
    """

    texts: str
    aspect: str
    expected: str
    pairs: PerturbedPairs | None
    absent: Estimate | None


class Drops:
    """The drops of a judge, in one wording, in the cells of which something is
    expected.

    values (items, cells): original - perturbed, NaN where there is no pair of scores,
    in points of a scale from 1 to 5 if the cells have different scales; given: which
    there are; wanted, unwanted (cells,): which should drop, and stay; `aspects` and
    `ends`, those of the judge's scale, are given cell by cell, `span` is the largest
    possible drop; `note` names planned cells that are missing.
    """

    def __init__(
        self,
        data: EvaluationData,
        judge: str,
        pairs: Mapping[ConfusionCell, PerturbedPairs],
        note: str,
    ) -> None:
        """Read the drops of the cells that have pairs of scores."""
        self.study = data
        self.judge = judge
        self.note = note
        self.values = np.full((len(data.item_order), len(pairs)), np.nan)
        for column, scores in enumerate(pairs.values()):
            self.values[scores.source, column] = scores.original - scores.perturbed
        self.given = np.isfinite(self.values)
        self.aspects = [cell.aspect for cell in pairs]
        self.expectations: list[Expectation] = [
            (cell.texts, split(cell.aspect)[0], cell.expected) for cell in pairs
        ]
        expected = [cell.expected for cell in pairs]
        self.wanted = np.array(
            [effect == DropExpectation.DROP for effect in expected], dtype=bool
        )
        self.unwanted = np.array(
            [effect == DropExpectation.SAME for effect in expected], dtype=bool
        )
        self.ends = [data.spec.judges[judge].ends[cell.aspect] for cell in pairs]
        spans = [inf if ends is None else ends[1] - ends[0] for ends in self.ends]
        self.span = spans[0]
        if len({*self.ends}) > 1:
            # Scales that differ are all known: see `JudgeCells.drops`.
            self.values *= POINTS / np.array(spans)
            self.span = POINTS
            self.note = clauses(
                note,
                "drops in points of a scale from 1 to 5, since the aspects have "
                "different scales",
            )
        self._cache: dict[tuple[bytes, int], dict[str, Replicated]] = {}

    def headlines(self, given: Flags, *judges: str) -> dict[str, Replicated]:
        """Return S_T, S_F, index and AUC over the drops that are `given`, with their
        deletions.

        `n` is that of the cell with the fewest pairs; the interval is over all items
        with any. `n_missing` counts against the items that all of the judges were
        given.
        """
        planned = int(
            self.study.target_set("original").is_given(self.judge, *judges).sum()
        )
        key = given.tobytes(), planned
        if key not in self._cache:
            self._cache[key] = self._headlines(given, planned)
        return self._cache[key]

    def _headlines(self, given: Flags, planned: int) -> dict[str, Replicated]:
        weights = whole_and_resamples(np.arange(len(given)), self.study.weights)
        deltas = mean_drops(np.where(given, self.values, np.nan), weights)
        n = int(given.sum(axis=0).min())
        sizes = given.sum(axis=1)
        results = {}
        missing = planned - n
        sums = confusion(deltas, self.wanted, self.unwanted)
        for name, rows in zip(HEADLINES, sums, strict=True):
            results[name] = replicated(
                rows,
                REASONS.nothing,
                sizes=sizes,
                scale=scale_of(name),
                n=n,
                n_missing=missing,
            )
        s_t = results["s_t_mean"].estimate
        if s_t.value is not None and (s_t.ci_low is None or s_t.ci_low <= 0):
            why = "the interval of the wanted drop is not above 0"
            if s_t.ci_low is None:
                why = "the wanted drop has no interval"
            undefined = Estimate.undefined(why, n=n, n_missing=missing)
            results["confusion_index"] = results["confusion_index"]._replace(
                estimate=undefined
            )
        sets = f"{self.wanted.sum()} wanted drops, {self.unwanted.sum()} unwanted"
        return {
            name: result.with_method(sets).with_note(self.note)
            for name, result in results.items()
        }


class JudgeCells:
    """All cells of one judge, in one wording of the aspects."""

    def __init__(self, data: EvaluationData, judge: str, criterion: str | None) -> None:
        self.study = data
        self.judge = judge
        self.criterion = criterion
        self.method: WilcoxonMethod = table_method(len(data.item_order))
        aspects = [name for name in data.spec.aspects if split(name)[1] == criterion]
        self.cells = list[ConfusionCell]()
        for texts in data.perturbed:
            pairs, absent = pairs_of(data, texts, judge)
            name = texts.partition(".")[0]
            change = present(data.spec.expected).changes.get(name, ExpectedChange())
            for aspect in aspects:
                plain = split(aspect)[0]
                expected = DropExpectation.ANY_CHANGE
                if plain in change.drop:
                    expected = DropExpectation.DROP
                elif plain in change.same:
                    expected = DropExpectation.SAME
                cell = ConfusionCell(
                    texts, aspect, expected, pairs.get(aspect), absent.get(aspect)
                )
                self.cells.append(cell)

    def rows(self) -> Iterator[ResultRow]:
        """Yield the rows of every cell, then the headlines."""
        for cell in self.cells:
            columns = set_columns(cell.texts)
            for statistic, estimate in self._estimates(cell):
                yield self.study.row(
                    self.judge, cell.aspect, statistic, "", estimate, **columns
                )
        for statistic, estimate in self._headlines():
            aspect = joined("", self.criterion)
            yield self.study.row(self.judge, aspect, statistic, "", estimate)

    def _estimates(self, cell: ConfusionCell) -> Iterator[tuple[str, Estimate]]:
        pairs = cell.pairs
        expected = cell.expected
        if pairs is None:
            assert cell.absent is not None
            yield "delta", cell.absent.with_note(expected)
            return
        drop = pairs.estimates()["mean_drop"]
        yield "delta", drop.with_note(expected)
        yield "floor_share", self._floor_share(cell.aspect, pairs)
        counts = replace(drop, ci_low=None, ci_high=None, note="")
        p = exp(self._log_p[cell])
        yield (
            "p_wilcoxon",
            replace(counts, value=p, method=f"one-sided Wilcoxon, {self.method}"),
        )
        if expected == DropExpectation.DROP:
            method = f"Benjamini-Hochberg over {len(self._fdr)} wanted drops"
            yield "p_fdr", replace(counts, value=self._fdr[cell], method=method)
        if expected == DropExpectation.SAME:
            yield from self._equivalence(cell, pairs, counts)

    def _floor_share(self, aspect: str, pairs: PerturbedPairs) -> Estimate:
        """Return the share of originals that cannot drop: they have the lowest
        score.
        """
        scale = self.study.spec.judges[self.judge].ends[aspect]
        if scale is None:
            return Estimate.undefined(
                "the judge has no scale, so its scores have no floor"
            )
        low = pairs.original <= scale[0]
        return clustered_mean(
            low,
            pairs.source,
            self.study.weights,
            pairs.n_planned - low.size,
            averaged="share of originals at the bottom of the scale",
        ).estimate

    def _equivalence(
        self, cell: ConfusionCell, pairs: PerturbedPairs, counts: Estimate
    ) -> Iterator[tuple[str, Estimate]]:
        margin = self._margin(cell.aspect)
        if margin is None:
            yield (
                "p_tost",
                Estimate.undefined(
                    "the judge has no scale, so the margin has no meaning"
                ),
            )
            return
        drops = pairs.original - pairs.perturbed
        p = p_equivalence(drops, margin)
        needed = items_needed(drops, margin)
        if p is None or needed is None:
            yield "p_tost", Estimate.undefined("too few pairs", n=drops.size)
            return
        method = f"TOST, paired t, margin {margin:.4g}"
        tost = replace(counts, value=p, method=method)
        yield "p_tost", tost.with_note(self._verdict(cell))
        power = f"{method}: power .8 where the true drop is 0"
        yield "items_needed", replace(counts, value=float(needed), method=power)

    def _margin(self, aspect: str) -> float | None:
        """Return the margin in points of the judge's scale, None if it has no scale."""
        scale = self.study.spec.judges[self.judge].ends[aspect]
        margin = present(self.study.spec.expected).margin
        if scale is None:
            return None
        return margin * (scale[1] - scale[0]) / POINTS

    def _verdict(self, cell: ConfusionCell) -> str:
        """Return the tests' verdict on an unwanted drop; within the margin it counts as
        none.
        """
        margin = self._margin(cell.aspect)
        if cell.pairs is None or margin is None:
            return DropVerdict.UNDECIDED
        p = p_equivalence(cell.pairs.original - cell.pairs.perturbed, margin)
        if p is not None and p <= LEVEL:
            return DropVerdict.NO_DROP
        if self._log_p[cell] <= np.log(LEVEL):
            return DropVerdict.DROPS
        return DropVerdict.UNDECIDED

    @cached_property
    def _log_p(self) -> dict[ConfusionCell, float]:
        logs = dict[ConfusionCell, float]()
        for cell in self.cells:
            if cell.pairs:
                logs[cell] = float(log_p(cell.pairs.differences, self.method))
        return logs

    @cached_property
    def _fdr(self) -> dict[ConfusionCell, float]:
        wanted = []
        for cell in self.cells:
            if cell.expected == DropExpectation.DROP and cell.pairs:
                wanted.append(cell)
        p = np.array([exp(self._log_p[cell]) for cell in wanted])
        adjusted = benjamini_hochberg(p)
        return dict(zip(wanted, adjusted.tolist(), strict=True))

    @cached_property
    def drops(self) -> Drops | Estimate:
        """Return the drops of which something is expected, or why there are no
        headlines.
        """
        expected = [
            cell for cell in self.cells if cell.expected != DropExpectation.ANY_CHANGE
        ]
        if not expected:
            return Estimate.undefined("this perturbation has no expected effect")
        pairs = dict[ConfusionCell, PerturbedPairs]()
        gaps = list[ConfusionCell]()
        for cell in expected:
            if cell.pairs is None:
                gaps.append(cell)
            else:
                pairs[cell] = cell.pairs
        if not pairs or (gaps and not self.study.spec.allow_missing):
            notes = sorted({cell.absent.note for cell in gaps if cell.absent})
            why = f"{len(gaps)} of {len(expected)} planned cells have no score"
            return Estimate.undefined(f"{why} ({'; '.join(notes)})")
        ends = {self.study.spec.judges[self.judge].ends[cell.aspect] for cell in pairs}
        if len(ends) > 1 and None in ends:
            return Estimate.undefined(
                "the judge has a scale in some aspects only, so drops cannot be "
                "combined"
            )
        note = ""
        if gaps:
            note = f"without {len(gaps)} cells that have no score"
        return Drops(self.study, self.judge, pairs, note)

    def _headlines(self) -> Iterator[tuple[str, Estimate]]:
        if isinstance(self.drops, Estimate):
            for name in HEADLINES:
                yield name, self.drops
            return
        note = self.drops.note
        for name, result in self.drops.headlines(self.drops.given).items():
            yield name, result.estimate
        if self._fdr:
            shown = float(np.mean([p <= LEVEL for p in self._fdr.values()]))
            method = f"share of wanted drops with p_fdr at most {LEVEL}"
            significant = Estimate(shown, n=len(self._fdr), method=method, note=note)
            yield "s_t_significant_share", significant
        kept = []
        for cell in self.cells:
            if cell.expected == DropExpectation.SAME and cell.pairs:
                kept.append(cell)
        if not kept or any(self._margin(cell.aspect) is None for cell in kept):
            return
        verdicts = [self._verdict(cell) for cell in kept]
        statistic_of_verdict = {
            DropVerdict.NO_DROP: "unwanted_no_drop",
            DropVerdict.DROPS: "unwanted_drop",
            DropVerdict.UNDECIDED: "unwanted_undecided",
        }
        for verdict, name in statistic_of_verdict.items():
            share = verdicts.count(verdict) / len(verdicts)
            method = f"share of unwanted drops with the verdict {verdict}"
            yield name, Estimate(share, n=len(kept), method=method, note=note)


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of confusion.csv."""
    if not data.spec.perturbed:
        return
    excluded = data.excluded()
    drops: dict[tuple[str, str | None], Drops | Estimate] = {}
    criteria: list[str | None] = [*data.spec.criteria] or [None]
    for judge, criterion in product(data.spec.judges, criteria):
        if judge in excluded:
            nothing = Estimate.undefined(excluded[judge])
            name = joined("", criterion)
            for statistic in HEADLINES:
                yield data.row(judge, name, statistic, "", nothing)
        else:
            cells = JudgeCells(data, judge, criterion)
            yield from cells.rows()
            drops[judge, criterion] = cells.drops
    for criterion, (judge, other) in product(criteria, [*compared(data)]):
        pair = drops[judge, criterion], drops[other, criterion]
        columns: AppliesTo = {"criterion": criterion, "judge_b": other}
        yield from _difference(data, judge, *pair, REASONS.undefined_judge, columns)
    judges = dict.fromkeys(judge for judge, _ in drops)
    for judge, criterion in product(judges, criteria[1:]):
        pair = drops[judge, criterion], drops[judge, criteria[0]]
        wordings: AppliesTo = {"criterion": criterion, "criterion_b": criteria[0]}
        why = "the value of one wording is undefined"
        yield from _difference(data, judge, *pair, why, wordings)


def _difference(
    data: EvaluationData,
    judge: str,
    first: Drops | Estimate,
    second: Drops | Estimate,
    why: str,
    columns: AppliesTo,
) -> Iterator[ResultRow]:
    """Yield the headlines of `first` minus those of `second`, undefined with the
    reason.
    """

    def undefined(note: str, names: Sequence[str] = HEADLINES) -> Iterator[ResultRow]:
        for name in names:
            nothing = Estimate.undefined(note)
            yield data.row(judge, "", f"difference_{name}", "", nothing, **columns)

    if isinstance(first, Estimate) or isinstance(second, Estimate):
        lacking = first if isinstance(first, Estimate) else second
        yield from undefined(f"{why}: {lacking.note}")
        return
    if first.expectations != second.expectations:
        yield from undefined("the two wordings lack scores in different cells")
        return
    judges = dict.fromkeys((first.judge, second.judge))
    given = first.given & second.given
    headlines = first.headlines(given, *judges)
    others = second.headlines(given, *judges)
    same_points = first.ends == second.ends and None not in first.ends
    if first.judge != second.judge and not same_points:
        # Points of other scales cannot be compared.
        in_points = ("s_t_mean", "s_f_mean")
        yield from undefined(REASONS.different_scales, in_points)
        headlines = {
            name: result for name, result in headlines.items() if name not in in_points
        }
    note = data.share_note(*judges)
    yield from difference_rows(data, judge, headlines, others, note, why, **columns)


METHOD = Method(
    name="confusion",
    rows=rows,
    selectable=True,
    tables=("criteria", "perturbations"),
    texts=("systems", "once"),
    parts=("compared", "expected"),
)
