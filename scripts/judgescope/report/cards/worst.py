"""Which judgments of a judge are its worst: by rules, the same in every study.

Scores of several aspects are compared in shares of the judge's range: between the ends of its
scale, or, where its scores have none, between the lowest and the highest that it gave on the
dataset. A text counts once, in the aspect where it is worst; of equals the first in the study.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import cell_file, joined, split
from judgescope.parsing.judgment import NO_VALUE
from judgescope.report.specs import Ends, ExpectedDrop
from judgescope.schema.tables import read_part, read_table

MOST = 5
"""So many are shown of each kind, dataset by dataset."""
SYSTEMS, ORIGINAL = "systems", "original"
HEAVIEST = ("major", "single", "minor")
DONE = ("ok", "short")
"""What becomes of a planned damage that took effect, as wanted or in part."""

OfTargets = dict[str, float | None]


class Bad(NamedTuple):
    """A text that a judge misjudged: `score` where `other` was to be expected, `by` how much.

    `other` is the score of the text's original, or the mean rating of the text itself; `by` is a
    share of the range, above 0 where the score is too high.
    """

    cell: str
    aspect: str
    target: str
    score: float
    other: float
    by: float
    ranked: bool = False
    """Whether `by` is a difference of ranks: the scores have no scale."""


@dataclass(frozen=True)
class Worst:
    """The worst of a dataset's texts, and of how many: `higher` and `equal` count damaged ones."""

    cases: Sequence[Bad]
    n: int
    n_missing: int
    higher: int = 0
    equal: int = 0


class Scores:
    """The scores of a dataset, read once for all judges."""

    def __init__(self, out: str, dataset: str) -> None:
        self.out, self.dataset = out, dataset

    @cached_property
    def _table(self) -> pa.Table:
        names = ["perturbation", "judge", "aspect", "criterion", "target", "target_b", "value"]
        path = f"{self.out}/collected/{self.dataset}/scores.parquet"
        table = read_table("scores", path, names)
        return table.filter(pc.is_null(table["target_b"]))

    def of(self, judge: str) -> dict[tuple[str, str], OfTargets]:
        """Return (set of texts, aspect) -> target -> score, None where there is none."""
        own = self._table.filter(pc.equal(self._table["judge"], judge))
        found: dict[tuple[str, str], OfTargets] = {}
        names = ("perturbation", "aspect", "criterion", "target", "value")
        for cell, aspect, word, target, value in zip(
            *(own[name].to_pylist() for name in names), strict=True
        ):
            known = value if value is not None and isfinite(value) else None
            found.setdefault((cell, joined(aspect, word)), {})[target] = known
        return found

    def damaged(self, cell: str) -> dict[str, str]:
        """Return target -> the original of its item, for the texts that were damaged."""
        rows = self._targets(cell)
        originals = {item: target for target, item, _ in self._targets(ORIGINAL)}
        return {
            target: originals[item]
            for target, item, status in rows
            if status.partition(":")[0] in DONE and item in originals
        }

    def _targets(self, cell: str) -> list[tuple[str, str, str]]:
        names = ["target", "item", "status"]
        table = read_table("targets", f"{self.out}/targets/{self.dataset}/{cell}.parquet", names)
        return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def unnoticed(
    scores: Mapping[tuple[str, str], OfTargets],
    damages: Sequence[ExpectedDrop],
    damaged: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, Ends],
) -> Worst:
    """Return the damaged texts that score no lower than their originals, the highest above first.

    `damaged` is set -> target -> original, of each of which one text is shown. Equals are in the
    order: the heavier degree, the study's order of damage, the id.
    """
    worst, missing = list[tuple[Any, Bad]](), 0
    widths = {name: _width(scores, name, ends.get(name)) for one in damages for name in one.aspects}
    for place, damage in enumerate(damages):
        cell = damage.cell
        told = [name for name in damage.aspects if (cell, name) in scores]
        if not told:
            continue
        for target, original in damaged[cell].items():
            each = [
                Bad(cell, name, target, after, before, _share(after - before, widths[name]))
                for name in told
                for after in [scores[cell, name].get(target)]
                for before in [scores.get((ORIGINAL, name), {}).get(original)]
                if after is not None and before is not None
            ]
            if not each:
                missing += 1
                continue
            one = max(each, key=lambda bad: bad.by)  # the first of equals
            heavy = HEAVIEST.index(cell.rpartition(".")[2])
            worst.append(((-one.by, heavy, place, target), one))
    ordered = [one for _, one in sorted(worst, key=lambda found: found[0])]
    higher, equal = (sum(map(test, ordered)) for test in (_is_higher, _is_equal))
    return Worst(_once_each(ordered, damaged), len(ordered), missing, higher, equal)


def _once_each(ordered: Iterable[Bad], damaged: Mapping[str, Mapping[str, str]]) -> list[Bad]:
    """Return the first ones that are no lower than their originals, of each original one."""
    found: dict[str, Bad] = {}
    for one in ordered:
        if one.by >= 0:
            found.setdefault(damaged[one.cell][one.target], one)
    return list(found.values())[:MOST]


def _is_higher(one: Bad) -> bool:
    return one.by > 0


def _is_equal(one: Bad) -> bool:
    return one.by == 0


def _width(scores: Mapping[tuple[str, str], OfTargets], aspect: str, ends: Ends) -> float:
    """Return how wide the range of the judge's scores is on an aspect."""
    if ends is not None:
        return ends[1] - ends[0]
    every = [
        value
        for (_, name), told in scores.items()
        if name == aspect
        for value in told.values()
        if value is not None
    ]
    return max(every) - min(every) if every else 0.0


def _share(difference: float, width: float) -> float:
    return difference / width if width else 0.0


def disagreeing(
    scores: Mapping[tuple[str, str], OfTargets],
    ratings: Mapping[str, Mapping[str, float]],
    scales: Mapping[str, Sequence[float]],
    ends: Mapping[str, Ends],
) -> Worst:
    """Return the rated texts whose score lies farthest from their mean rating.

    Both are placed between the ends of their scales; where the judge's scores have no ends, both
    by their mid-rank among the texts that have both. Equals are in the order of their ids.
    """
    found: dict[str, Bad] = {}
    missing = set[str]()
    for aspect in scales:  # the study's order
        told = scores.get((SYSTEMS, aspect))
        if told is None:
            continue
        rated = ratings.get(aspect.partition(".")[0], {})
        missing |= {target for target in rated if told.get(target) is None}
        for one in _apart(aspect, told, rated, scales[aspect], ends.get(aspect)):
            if one.target not in found or abs(one.by) > abs(found[one.target].by):
                found[one.target] = one
    ordered = sorted(found.values(), key=lambda one: (-abs(one.by), one.target))
    cases = [one for one in ordered if one.by][:MOST]
    return Worst(cases, len(ordered), len(missing - found.keys()))


def _apart(
    aspect: str,
    told: OfTargets,
    rated: Mapping[str, float],
    scale: Sequence[float],
    ends: Ends,
) -> list[Bad]:
    both = [name for name in rated if told.get(name) is not None]
    values = [value for name in both if (value := told[name]) is not None]
    people = [rated[name] for name in both]
    if ends is None:
        places, theirs = _ranks(values), _ranks(people)
    else:
        places, theirs = _placed(values, ends), _placed(people, scale)
    return [
        Bad(SYSTEMS, aspect, name, value, rating, round(place - other, 12), ranked=ends is None)
        for name, value, rating, place, other in zip(
            both, values, people, places, theirs, strict=True
        )
    ]


def _placed(values: Iterable[float], ends: Sequence[float]) -> list[float]:
    return [_share(value - ends[0], ends[1] - ends[0]) for value in values]


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the mid-rank of each value, as a share of their number."""
    ordered = sorted(values)
    below, upto = dict[float, int](), dict[float, int]()
    for at, value in enumerate(ordered):
        below.setdefault(value, at)
        upto[value] = at + 1
    return [(below[value] + upto[value]) / 2 / len(ordered) for value in values]


class Failure(NamedTuple):
    """A judgment that came to nothing."""

    status: str
    cell: str
    aspect: str
    target: str
    target_b: str | None
    hint: str | None
    draw: int


def failures(
    out: str, dataset: str, judge: str, model: str
) -> tuple[dict[str, int], list[Failure]]:
    """Return status -> how many judgments ended so, and the first ones of each.

    The first: in the study's order of texts and aspects, then by the texts' ids and the draw.
    """
    table = read_table("statuses", f"{out}/collected/{dataset}/statuses.parquet")
    rows = table.filter(pc.equal(table["judge"], judge)).to_pylist()
    counts: dict[str, int] = {}
    found: list[Failure] = []
    for status in NO_VALUE:
        own = [row for row in rows if row["status"] == status]
        if own:
            counts[status] = sum(row["n"] for row in own)
        first: list[Failure] = []
        for cell, aspect in dict.fromkeys((row["perturbation"], row["aspect"]) for row in own):
            if len(first) < MOST:
                path = cell_file(out, "judgments", dataset, model, cell, judge)
                first += _failed(path, cell, aspect, status)
        found += first[:MOST]
    return counts, found


def _failed(path: str, cell: str, aspect: str, status: str) -> list[Failure]:
    asked = ["target", "target_b", "hint", "draw"]
    table = read_part("judgments", path, *split(aspect), [*asked, "status"])
    rows = table.filter(pc.equal(table["status"], status)).select(asked).to_pylist()
    rows.sort(
        key=lambda row: (row["target"], row["target_b"] or "", row["hint"] or "", row["draw"])
    )
    return [Failure(status, cell, aspect, **row) for row in rows]
