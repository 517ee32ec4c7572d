"""Confusion (paper 001): does damage to one quality lower the scores of others, too?

A cell is one damage seen through one aspect. Of some cells a drop is wanted, of others none is: the
study's expectations say of which.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.methods.base import Method, Row
from judgescope.methods.changes import Wording, change_rows
from judgescope.methods.drops import DROP, HEADLINES, SAME, Drops, Place
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.pairs import Pairs, pairs_of
from judgescope.methods.specs import ExpectedChange, present
from judgescope.methods.undefined import Ends, ends, excluded, reasons
from judgescope.statistics.confusion import items_needed, p_equivalence
from judgescope.statistics.discernment import (
    WilcoxonMethod,
    log_p_asymptotic,
    log_p_exact,
    table_method,
)
from judgescope.statistics.means import SHARE, clustered_mean
from judgescope.statistics.multiple import benjamini_hochberg
from judgescope.statistics.result import Estimate

NOTHING = "nothing is expected"
LEVEL = 0.05
POINTS = 4.0
"""The margin is in points of a scale of 1 to 5, which is so long."""
NO_DROP, DROPS, UNDECIDED = "no drop", "drop", "undecided"
VERDICTS = {NO_DROP: "unwanted_no_drop", DROPS: "unwanted_drop", UNDECIDED: "unwanted_undecided"}
NO_SCALE = "no scale: the margin has no meaning"


@dataclass(frozen=True, eq=False)
class Cell:
    """One damage through one aspect: what is expected, and the pairs of scores, if there are any.

    `absent` says why there are none.
    """

    name: str
    degree: str
    aspect: str
    expected: str
    pairs: Pairs | None
    absent: Estimate | None

    @property
    def whatever_wording(self) -> Place:
        """Return what it is, for judges and wordings beside each other."""
        return Place(self.name, self.degree, split(self.aspect)[0], self.expected)

    @property
    def place(self) -> dict[str, str]:
        """Return the columns of its rows."""
        return {"perturbation": self.name, "degree": self.degree}


class Confusing:
    """All cells of one judge, in one wording of the aspects."""

    def __init__(
        self, study: EvaluationData, found: Ends, judge: str, criterion: str | None
    ) -> None:
        self.study, self.judge, self.criterion = study, judge, criterion
        self.method: WilcoxonMethod = table_method(len(study.item_order))
        aspects = [name for name in study.spec.aspects if split(name)[1] == criterion]
        self.cells = [
            cell
            for name, degree, _ in study.spec.perturbed
            for cell in self._cells(found, name, degree, aspects)
        ]

    def _cells(self, found: Ends, name: str, degree: str, aspects: Sequence[str]) -> Iterator[Cell]:
        place = f"{name}.{degree}"
        pairs = pairs_of(self.study, found, place, self.judge)
        lacking = [aspect for aspect in aspects if aspect not in pairs]
        absent = reasons(self.study, found, place, self.judge, lacking)
        told = present(self.study.spec.expected).of.get(name, ExpectedChange())
        for aspect in aspects:
            plain = split(aspect)[0]
            wanted, kept = (plain in told.drop, plain in told.same)
            expected = DROP if wanted else SAME if kept else NOTHING
            yield Cell(name, degree, aspect, expected, pairs.get(aspect), absent.get(aspect))

    def rows(self) -> Iterator[Row]:
        """Yield the rows of every cell, and those that sum them up."""
        for cell in self.cells:
            for statistic, found in self._estimates(cell):
                yield self.study.row(self.judge, cell.aspect, statistic, "", found, **cell.place)
        own = {"criterion": self.criterion} if self.criterion else {}
        for statistic, found in self._headlines():
            yield self.study.row(self.judge, "", statistic, "", found, **own)

    def _estimates(self, cell: Cell) -> Iterator[tuple[str, Estimate]]:
        pairs = cell.pairs
        if pairs is None:
            assert cell.absent is not None
            yield "delta", cell.absent.with_note(cell.expected)
            return
        drop = pairs.estimates()["mean_drop"]
        yield "delta", drop.with_note(cell.expected)
        yield "floor_share", self._at_floor(cell, pairs)
        counts = replace(drop, lo=None, hi=None, note="")
        p = exp(self._log_p[cell])
        yield "p_wilcoxon", replace(counts, value=p, method=f"one-sided Wilcoxon, {self.method}")
        if cell.expected == DROP:
            told = f"Benjamini-Hochberg over {len(self._fdr)} wanted drops"
            yield "p_fdr", replace(counts, value=self._fdr[cell], method=told)
        if cell.expected == SAME:
            yield from self._equivalence(cell, pairs, counts)

    def _at_floor(self, cell: Cell, pairs: Pairs) -> Estimate:
        """Return the share of originals that cannot drop: at the bottom of the judge's scale."""
        scale = self.study.spec.judges[self.judge].ends[cell.aspect]
        if scale is None:
            return Estimate.undefined("no scale: there is no floor")
        low = (pairs.original <= scale[0]).astype(np.float64)
        told = "share of originals at the bottom of the scale"
        found = clustered_mean(low, pairs.source, self.study.weights, of=told, ends=SHARE)
        return replace(found, n_missing=pairs.n_planned - found.n)

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
            yield "p_tost", Estimate.undefined("fewer than 2 pairs", n=drops.size)
            return
        told = f"TOST, paired t, margin {margin:.4g}"
        noted = replace(counts, value=p, method=told).with_note(self._verdict(cell))
        yield "p_tost", noted
        power = f"{told}: power .8 where the true drop is 0"
        yield "items_needed", replace(counts, value=float(needed), method=power)

    def _margin(self, aspect: str) -> float | None:
        """Return the margin on the judge's scale, None where it has none."""
        scale = self.study.spec.judges[self.judge].ends[aspect]
        margin = present(self.study.spec.expected).margin
        return None if scale is None else margin * (scale[1] - scale[0]) / POINTS

    def _verdict(self, cell: Cell) -> str:
        """Return what the tests say of a drop that is not wanted; within the margin is none."""
        margin = self._margin(cell.aspect)
        if cell.pairs is None or margin is None:
            return UNDECIDED
        p = p_equivalence(cell.pairs.original - cell.pairs.perturbed, margin)
        if p is not None and p <= LEVEL:
            return NO_DROP
        return DROPS if self._log_p[cell] <= np.log(LEVEL) else UNDECIDED

    @cached_property
    def _log_p(self) -> dict[Cell, float]:
        test = log_p_exact if self.method == "exact" else log_p_asymptotic
        return {cell: test(cell.pairs.differences) for cell in self.cells if cell.pairs}

    @cached_property
    def _fdr(self) -> dict[Cell, float]:
        wanted = [cell for cell in self.cells if cell.expected == DROP and cell.pairs]
        adjusted = benjamini_hochberg(np.array([exp(self._log_p[cell]) for cell in wanted]))
        return dict(zip(wanted, adjusted.tolist(), strict=True))

    @cached_property
    def drops(self) -> Drops | Estimate:
        """Return the drops of which something is expected, or why nothing can be said of them."""
        used = [cell for cell in self.cells if cell.expected != NOTHING]
        gaps = [cell for cell in used if cell.pairs is None]
        if not used or len(gaps) == len(used) or (gaps and not self.study.spec.allow_missing):
            return _undefined(used, gaps)
        told = {cell: cell.pairs for cell in used if cell.pairs}
        values = np.full((len(self.study.item_order), len(told)), np.nan)
        for column, pairs in enumerate(told.values()):
            values[pairs.source, column] = pairs.original - pairs.perturbed
        scales = self.study.spec.judges[self.judge].ends
        return Drops(
            self.study,
            self.judge,
            [cell.whatever_wording for cell in told],
            values,
            [scales[cell.aspect] for cell in told],
            f"without {len(gaps)} cells that have no score" if gaps else "",
        )

    def _headlines(self) -> Iterator[tuple[str, Estimate]]:
        if isinstance(self.drops, Estimate):
            yield from ((name, self.drops) for name in HEADLINES)
            return
        found = self.drops.headlines(self.drops.given)
        yield from ((name, one.estimate) for name, one in found.items())
        cells = [cell for cell in self.cells if cell.expected != NOTHING and cell.pairs]
        yield from self._shares(cells, self.drops.note)

    def _shares(self, cells: Sequence[Cell], note: str) -> Iterator[tuple[str, Estimate]]:
        """Yield which part of the wanted and of the unwanted drops the tests show."""
        if self._fdr:
            shown = float(np.mean([p <= LEVEL for p in self._fdr.values()]))
            told = f"share of wanted drops with p_fdr at most {LEVEL}"
            yield "wanted_shown", Estimate(shown, n=len(self._fdr), method=told, note=note)
        kept = [cell for cell in cells if cell.expected == SAME]
        if not kept or any(self._margin(cell.aspect) is None for cell in kept):
            return
        verdicts = [self._verdict(cell) for cell in kept]
        for verdict, name in VERDICTS.items():
            share = verdicts.count(verdict) / len(verdicts)
            told = f"share of unwanted drops with the verdict {verdict}"
            yield name, Estimate(share, n=len(kept), method=told, note=note)


def _undefined(used: Sequence[Cell], gaps: Sequence[Cell]) -> Estimate:
    """Return why there is no headline: nothing is expected, or cells have no score."""
    if not used:
        return Estimate.undefined("nothing is expected of this damage")
    notes = sorted({cell.absent.note for cell in gaps if cell.absent})
    return Estimate.undefined(
        f"{len(gaps)} of {len(used)} planned cells have no score ({'; '.join(notes)})"
    )


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of confusion.csv."""
    if not study.spec.perturbed:
        return []
    never, known = excluded(study), ends(study)
    criteria: list[str | None] = [*study.spec.criteria] or [None]
    found: list[Row] = []
    drops: dict[Wording, Drops | Estimate] = {}
    for judge in study.spec.judges:
        for criterion in criteria:
            if judge in never:
                nothing = Estimate.undefined(never[judge])
                name = joined("", criterion)
                found += [study.row(judge, name, each, "", nothing) for each in HEADLINES]
            else:
                own = Confusing(study, known, judge, criterion)
                found += own.rows()
                drops[judge, criterion] = own.drops
    return [*found, *change_rows(study, drops)]


METHOD = Method(
    selectable=True,
    tables=("criteria", "perturbations"),
    texts=("systems", "once"),
    parts=("compared", "expected"),
    claims=True,
)
