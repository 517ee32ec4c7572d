"""Confusion (Hu et al. 2024): does perturbing one quality lower the scores of others,
too?

A cell is one perturbation scored on one aspect. The study expects a drop in some cells
and none in others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import exp, inf

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.base import AppliesTo, ExpectedChange, Method, Row, present
from judgescope.methods.differences import compared, difference_rows
from judgescope.methods.discernment import Pairs, pairs_of
from judgescope.methods.evaluation_data import EvaluationData, set_columns
from judgescope.statistics.arrays import Flags
from judgescope.statistics.confusion import (
    confusion,
    items_needed,
    mean_drops,
    p_equivalence,
)
from judgescope.statistics.declared import scale_of
from judgescope.statistics.discernment import WilcoxonMethod, log_p, table_method
from judgescope.statistics.intervals import benjamini_hochberg
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated, replicated, whole_and_resamples
from judgescope.statistics.result import (
    DIFFERENT_SCALES,
    NOTHING,
    UNDEFINED_JUDGE,
    Estimate,
)

DROP, SAME, ANY_CHANGE = "should drop", "should stay", "no expectation"
HEADLINES = ("s_t_mean", "s_f_mean", "confusion_index", "confusion_auc")
IN_POINTS = ("s_t_mean", "s_f_mean")
"""Headlines in points of a judge's scale: not comparable between judges with other
scales."""
LEVEL = 0.05
POINTS = 4.0
"""The length of a scale of 1 to 5, in whose points the margin is given."""
NO_DROP, DROPS, UNDECIDED = "no drop", "drop", "undecided"
VERDICTS = {
    NO_DROP: "unwanted_no_drop",
    DROPS: "unwanted_drop",
    UNDECIDED: "unwanted_undecided",
}
NO_SCALE = "the judge has no scale, so the margin has no meaning"
CONVERTED = (
    "drops in points of a scale from 1 to 5, since the aspects have different scales"
)
SOME_SCALES = "the judge has a scale in some aspects only, so drops cannot be combined"
UNDEFINED_WORDING = "the value of one wording is undefined"
OTHER_CELLS = "the two wordings lack scores in different cells"


Expectation = tuple[str, str, str]
"""(set of perturbed texts, aspect in any wording, what is expected of its scores)."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A set of perturbed texts scored on one aspect; `absent` says why there are no
    pairs.
    """

    texts: str
    aspect: str
    expected: str
    pairs: Pairs | None
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
        self, study: EvaluationData, judge: str, pairs: Mapping[Cell, Pairs], note: str
    ) -> None:
        """Read the drops of the cells that have pairs of scores."""
        self.study, self.judge, self.note = study, judge, note
        self.values = np.full((len(study.item_order), len(pairs)), np.nan)
        for column, scores in enumerate(pairs.values()):
            self.values[scores.source, column] = scores.original - scores.perturbed
        self.given = np.isfinite(self.values)
        self.aspects = [cell.aspect for cell in pairs]
        self.expectations: list[Expectation] = [
            (cell.texts, split(cell.aspect)[0], cell.expected) for cell in pairs
        ]
        self.wanted, self.unwanted = (
            np.array([cell.expected == effect for cell in pairs], dtype=bool)
            for effect in (DROP, SAME)
        )
        self.ends = [study.spec.judges[judge].ends[cell.aspect] for cell in pairs]
        if len({*self.ends}) > 1:
            self.values *= POINTS / np.array(
                [ends[1] - ends[0] for ends in self.ends if ends]
            )
            self.note = "; ".join(filter(None, [note, CONVERTED]))
        spans = {inf if ends is None else ends[1] - ends[0] for ends in self.ends}
        self.span = POINTS if len({*self.ends}) > 1 else spans.pop()
        self._cache: dict[tuple[bytes, int], dict[str, Replicated]] = {}

    def headlines(self, given: Flags, *judges: str) -> dict[str, Replicated]:
        """Return S_T, S_F, index and AUC over the drops that are `given`, with their
        deletions.

        `n` is that of the cell with the fewest pairs; the interval is over all items
        with any. `n_missing` counts against the items that all of the judges were
        given.
        """
        planned = int(self.study.panel("original").is_given(self.judge, *judges).sum())
        key = given.tobytes(), planned
        if key not in self._cache:
            self._cache[key] = self._headlines(given, planned)
        return self._cache[key]

    def _headlines(self, given: Flags, planned: int) -> dict[str, Replicated]:
        weights = whole_and_resamples(np.arange(len(given)), self.study.weights)
        deltas = mean_drops(np.where(given, self.values, np.nan), weights)
        n, sizes = int(given.sum(axis=0).min()), given.sum(axis=1)
        results, missing = {}, planned - n
        sums = confusion(deltas, self.wanted, self.unwanted)
        for name, rows in zip(HEADLINES, sums, strict=True):
            results[name] = replicated(
                rows, NOTHING, sizes=sizes, scale=scale_of(name), n=n, n_missing=missing
            )
        s_t = results["s_t_mean"].estimate
        if s_t.value is not None and (s_t.ci_low is None or s_t.ci_low <= 0):
            why = "the interval of the wanted drop is not above 0"
            why = "the wanted drop has no interval" if s_t.ci_low is None else why
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

    def __init__(
        self, study: EvaluationData, judge: str, criterion: str | None
    ) -> None:
        self.study, self.judge, self.criterion = study, judge, criterion
        self.method: WilcoxonMethod = table_method(len(study.item_order))
        aspects = [name for name in study.spec.aspects if split(name)[1] == criterion]
        self.cells = list[Cell]()
        for texts in study.perturbed:
            pairs, absent = pairs_of(study, texts, judge)
            name = texts.partition(".")[0]
            change = present(study.spec.expected).changes.get(name, ExpectedChange())
            for aspect in aspects:
                plain = split(aspect)[0]
                expected = SAME if plain in change.same else ANY_CHANGE
                expected = DROP if plain in change.drop else expected
                both = pairs.get(aspect), absent.get(aspect)
                self.cells.append(Cell(texts, aspect, expected, *both))

    def rows(self) -> Iterator[Row]:
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

    def _estimates(self, cell: Cell) -> Iterator[tuple[str, Estimate]]:
        pairs, expected = cell.pairs, cell.expected
        if pairs is None:
            assert cell.absent is not None
            yield "delta", cell.absent.with_note(expected)
            return
        drop = pairs.estimates()["mean_drop"]
        yield "delta", drop.with_note(expected)
        floor = Estimate.undefined(
            "the judge has no scale, so its scores have no floor"
        )
        if (scale := self.study.spec.judges[self.judge].ends[cell.aspect]) is not None:
            low, of = (
                pairs.original <= scale[0],
                "share of originals at the bottom of the scale",
            )
            data = low, pairs.source, self.study.weights, pairs.n_planned - low.size
            floor = clustered_mean(*data, averaged=of).estimate
        yield "floor_share", floor
        counts = replace(drop, ci_low=None, ci_high=None, note="")
        p = exp(self._log_p[cell])
        yield (
            "p_wilcoxon",
            replace(counts, value=p, method=f"one-sided Wilcoxon, {self.method}"),
        )
        if expected == DROP:
            method = f"Benjamini-Hochberg over {len(self._fdr)} wanted drops"
            yield "p_fdr", replace(counts, value=self._fdr[cell], method=method)
        if expected == SAME:
            yield from self._equivalence(cell, pairs, counts)

    def _equivalence(
        self, cell: Cell, pairs: Pairs, counts: Estimate
    ) -> Iterator[tuple[str, Estimate]]:
        margin = self._margin(cell.aspect)
        if margin is None:
            yield "p_tost", Estimate.undefined(NO_SCALE)
            return
        drops = pairs.original - pairs.perturbed
        p, needed = p_equivalence(drops, margin), items_needed(drops, margin)
        if p is None or needed is None:
            yield "p_tost", Estimate.undefined("too few pairs", n=drops.size)
            return
        method = f"TOST, paired t, margin {margin:.4g}"
        yield (
            "p_tost",
            replace(counts, value=p, method=method).with_note(self._verdict(cell)),
        )
        power = f"{method}: power .8 where the true drop is 0"
        yield "items_needed", replace(counts, value=float(needed), method=power)

    def _margin(self, aspect: str) -> float | None:
        """Return the margin in points of the judge's scale, None if it has no scale."""
        scale = self.study.spec.judges[self.judge].ends[aspect]
        margin = present(self.study.spec.expected).margin
        return None if scale is None else margin * (scale[1] - scale[0]) / POINTS

    def _verdict(self, cell: Cell) -> str:
        """Return the tests' verdict on an unwanted drop; within the margin it counts as
        none.
        """
        margin = self._margin(cell.aspect)
        if cell.pairs is None or margin is None:
            return UNDECIDED
        p = p_equivalence(cell.pairs.original - cell.pairs.perturbed, margin)
        if p is not None and p <= LEVEL:
            return NO_DROP
        return DROPS if self._log_p[cell] <= np.log(LEVEL) else UNDECIDED

    @cached_property
    def _log_p(self) -> dict[Cell, float]:
        tested = ((cell, cell.pairs.differences) for cell in self.cells if cell.pairs)
        return {
            cell: float(log_p(differences, self.method)) for cell, differences in tested
        }

    @cached_property
    def _fdr(self) -> dict[Cell, float]:
        wanted = [cell for cell in self.cells if cell.expected == DROP and cell.pairs]
        adjusted = benjamini_hochberg(
            np.array([exp(self._log_p[cell]) for cell in wanted])
        )
        return dict(zip(wanted, adjusted.tolist(), strict=True))

    @cached_property
    def drops(self) -> Drops | Estimate:
        """Return the drops of which something is expected, or why there are no
        headlines.
        """
        expected = [cell for cell in self.cells if cell.expected != ANY_CHANGE]
        if not expected:
            return Estimate.undefined("this perturbation has no expected effect")
        pairs = {cell: cell.pairs for cell in expected if cell.pairs}
        gaps = [cell for cell in expected if cell.pairs is None]
        if not pairs or (gaps and not self.study.spec.allow_missing):
            notes = sorted({cell.absent.note for cell in gaps if cell.absent})
            why = f"{len(gaps)} of {len(expected)} planned cells have no score"
            return Estimate.undefined(f"{why} ({'; '.join(notes)})")
        ends = {self.study.spec.judges[self.judge].ends[cell.aspect] for cell in pairs}
        if len(ends) > 1 and None in ends:
            return Estimate.undefined(SOME_SCALES)
        note = f"without {len(gaps)} cells that have no score" if gaps else ""
        return Drops(self.study, self.judge, pairs, note)

    def _headlines(self) -> Iterator[tuple[str, Estimate]]:
        if isinstance(self.drops, Estimate):
            yield from ((name, self.drops) for name in HEADLINES)
            return
        headlines, note = self.drops.headlines(self.drops.given), self.drops.note
        yield from ((name, result.estimate) for name, result in headlines.items())
        if self._fdr:
            shown = float(np.mean([p <= LEVEL for p in self._fdr.values()]))
            method = f"share of wanted drops with p_fdr at most {LEVEL}"
            significant = Estimate(shown, n=len(self._fdr), method=method, note=note)
            yield "s_t_significant_share", significant
        kept = [cell for cell in self.cells if cell.expected == SAME and cell.pairs]
        if not kept or any(self._margin(cell.aspect) is None for cell in kept):
            return
        verdicts = [self._verdict(cell) for cell in kept]
        for verdict, name in VERDICTS.items():
            share = verdicts.count(verdict) / len(verdicts)
            method = f"share of unwanted drops with the verdict {verdict}"
            yield name, Estimate(share, n=len(kept), method=method, note=note)


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of confusion.csv."""
    if not study.spec.perturbed:
        return
    excluded = study.excluded()
    drops: dict[tuple[str, str | None], Drops | Estimate] = {}
    criteria: list[str | None] = [*study.spec.criteria] or [None]
    for judge, criterion in product(study.spec.judges, criteria):
        if judge in excluded:
            nothing, name = Estimate.undefined(excluded[judge]), joined("", criterion)
            yield from (study.row(judge, name, each, "", nothing) for each in HEADLINES)
        else:
            cells = JudgeCells(study, judge, criterion)
            yield from cells.rows()
            drops[judge, criterion] = cells.drops
    for criterion, (judge, other) in product(criteria, [*compared(study)]):
        pair = drops[judge, criterion], drops[other, criterion]
        columns: AppliesTo = {"criterion": criterion, "judge_b": other}
        yield from _difference(study, judge, *pair, UNDEFINED_JUDGE, columns)
    judges = dict.fromkeys(judge for judge, _ in drops)
    for judge, criterion in product(judges, criteria[1:]):
        pair = drops[judge, criterion], drops[judge, criteria[0]]
        wordings: AppliesTo = {"criterion": criterion, "criterion_b": criteria[0]}
        yield from _difference(study, judge, *pair, UNDEFINED_WORDING, wordings)


def _difference(
    study: EvaluationData,
    judge: str,
    first: Drops | Estimate,
    second: Drops | Estimate,
    why: str,
    columns: AppliesTo,
) -> Iterator[Row]:
    """Yield the headlines of `first` minus those of `second`, undefined with the
    reason.
    """

    def undefined(note: str, names: Sequence[str] = HEADLINES) -> Iterator[Row]:
        for name in names:
            nothing = Estimate.undefined(note)
            yield study.row(judge, "", f"difference_{name}", "", nothing, **columns)

    if isinstance(first, Estimate) or isinstance(second, Estimate):
        lacking = first if isinstance(first, Estimate) else second
        yield from undefined(f"{why}: {lacking.note}")
        return
    if first.expectations != second.expectations:
        yield from undefined(OTHER_CELLS)
        return
    judges, given = (
        dict.fromkeys((first.judge, second.judge)),
        first.given & second.given,
    )
    headlines, others = (drops.headlines(given, *judges) for drops in (first, second))
    same_points = first.ends == second.ends and None not in first.ends
    if first.judge != second.judge and not same_points:
        yield from undefined(DIFFERENT_SCALES, IN_POINTS)
        headlines = {
            name: one for name, one in headlines.items() if name not in IN_POINTS
        }
    note = study.share_note(*judges)
    yield from difference_rows(study, judge, headlines, others, note, why, **columns)


METHOD = Method(
    selectable=True,
    tables=("criteria", "perturbations"),
    texts=("systems", "once"),
    parts=("compared", "expected"),
    claims=("claims.perturbations.criteria_claims",),
)
