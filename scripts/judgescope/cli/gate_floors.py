"""Floors of a gate: the share of right verdicts that the last look must have, also on
each part of the anchors.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log
from typing import Final

import numpy as np

from judgescope.cli.anchors import AnchoredJudge
from judgescope.cli.passport import Passport, known
from judgescope.core.errors import UserError
from judgescope.core.names import SYSTEMS
from judgescope.schema.tables import read_table
from judgescope.statistics.arrays import Flags
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import share
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import Outcome

OF_LABEL: Final = {"accuracy": None, "tnr": 0.0, "tpr": 1.0}
"""Statistic of a floor -> people's label of the anchors that it counts, None: all."""
ALL: Final = "all anchors"


@dataclass(frozen=True)
class Floor:
    """A required share of right verdicts on a part of the anchors."""

    statistic: str
    least: float
    part: str
    counted: Flags
    """Which anchors it is about, (anchors,)."""
    sources: Sequence[str]
    """The source of each anchor."""

    @property
    def fewest_sources(self) -> int:
        """With fewer sources no look can show the floor: all right would not do.

        The lower end of k of k right ones is .025^(1/k) (Clopper-Pearson).
        """
        return max(5, ceil(log(0.025) / log(self.least)))

    def outcome(
        self, verdicts: Sequence[float | None], made: Passport
    ) -> "FloorResult":
        """What the verdicts of a look, (anchors,), say of the floor."""
        judged = known([*verdicts])
        read = self.counted & np.isfinite(judged)
        _, source = np.unique(np.array(self.sources)[read], return_inverse=True)
        right = (judged == made.people)[read].astype(float)
        sources = int(source.max(initial=-1)) + 1
        counted = np.ones(right.size)
        missing = int(self.counted.sum() - read.sum())
        weights = deletions(sources) if sources else None
        right_share = share(right, counted, source, weights, missing).estimate
        return FloorResult(self, right_share)


@dataclass(frozen=True)
class FloorResult:
    """A floor, and the share that a look has there."""

    floor: Floor
    share: Estimate

    @property
    def outcome(self) -> Outcome:
        """Whether the interval lies above the floor, below it, or holds it."""
        low = self.share.ci_low
        high = self.share.ci_high
        if low is not None and low >= self.floor.least:
            return Outcome.MEETS
        if high is not None and high < self.floor.least:
            return Outcome.MISSES
        return Outcome.CANNOT_TELL

    @property
    def words(self) -> str:
        """The floor, its outcome and the share, for a terminal."""
        floor = self.floor
        outcome = {Outcome.MEETS: "meets", Outcome.MISSES: "misses"}
        verdict = outcome.get(self.outcome, "cannot tell:")
        number = "no verdict was read"
        if self.share.value is not None:
            number = f"{self.share.value:.3f}"
        if self.share.ci_low is not None and self.share.ci_high is not None:
            number += f" [{self.share.ci_low:.3f}, {self.share.ci_high:.3f}]"
        return (
            f"{floor.part}: {verdict} {floor.statistic} {floor.least:g}: {number} of "
            f"{self.share.n} anchors"
        )


def read_floors(required: Sequence[str]) -> dict[str, float]:
    """Statistic -> its floor, from texts such as `tnr=.8`; UserError for others."""
    floors: dict[str, float] = {}
    for text in required:
        name, _, bar = text.partition("=")
        try:
            value = float(bar)
        except ValueError:
            value = float("nan")
        in_range = isfinite(value) and 0 < value < 1
        if name not in OF_LABEL or not in_range or name in floors:
            raise UserError(
                "a floor is a share of right verdicts and a number between 0 and 1, "
                "given once",
                where="--require",
                got=text,
                allowed=[f"{each}=.8" for each in OF_LABEL],
            )
        floors[name] = value
    return floors


def floors_of(
    made: Passport,
    anchored: AnchoredJudge,
    required: Mapping[str, float],
    columns: Sequence[str],
) -> list[Floor]:
    """The floors of all anchors, or of each part where columns name parts.

    Raises UserError, before anything is asked, for a column that the items do not have,
    and for a part with too few anchors for its floor.
    """
    if columns and not required:
        raise UserError(
            "there is no floor that could hold on each part",
            where="--slice",
            got=", ".join(columns),
            todo="name one, such as --require tnr=.8",
        )
    if not required:
        return []
    items = _item_of_targets(anchored)
    sources = [items[target] for target in made.targets]
    parts: dict[str, Flags] = {}
    for column in columns:
        values = _values(anchored, sources, column)
        for value in sorted({*values} - {""}):
            parts[f"{column}: {value}"] = np.array(values) == value
    if not columns:
        parts[ALL] = np.ones(len(sources), dtype=bool)
    floors = []
    for statistic, least in required.items():
        label = OF_LABEL[statistic]
        of_label = np.ones(len(sources), dtype=bool)
        if label is not None:
            of_label = made.people == label
        for part, members in parts.items():
            floor = Floor(statistic, least, part, members & of_label, sources)
            _check_size(floor)
            floors.append(floor)
    return floors


def _check_size(floor: Floor) -> None:
    counted = np.array(floor.sources)[floor.counted]
    sources = len({*counted.tolist()})
    if sources < floor.fewest_sources:
        raise UserError(
            "too few anchors for a floor: if all were right, it would still be open",
            where=f"--require {floor.statistic}={floor.least:g}, {floor.part}",
            got=f"anchors of {sources} sources",
            allowed=f"{floor.fewest_sources} sources or more",
            todo="rate more texts of the part and make a new passport, or lower the "
            "floor",
        )


def _item_of_targets(anchored: AnchoredJudge) -> dict[str, str]:
    file = anchored.plan.paths.targets(anchored.dataset, SYSTEMS)
    table = read_table("targets", file, ["target", "item"])
    return {row["target"]: row["item"] for row in table.to_pylist()}


def _values(anchored: AnchoredJudge, items: Sequence[str], column: str) -> list[str]:
    """The value of a column of the items for each anchor, "" where it is missing."""
    file = anchored.plan.paths.items(anchored.dataset)
    metas = dict(_metas(file))
    known_columns = sorted({name for meta in metas.values() for name in meta})
    if column not in known_columns:
        raise UserError(
            "the items have no such column of parts",
            where=f"dataset {anchored.dataset}, --slice",
            got=column,
            allowed=known_columns or None,
            todo="name the column in `columns.meta` of the dataset's card",
        )
    values = []
    for item in items:
        value = metas[item].get(column)
        values.append("" if value is None else str(value))
    return values


def _metas(file: str) -> Iterator[tuple[str, dict[str, object]]]:
    for row in read_table("items", file, ["item", "meta"]).to_pylist():
        yield row["item"], json.loads(row["meta"] or "{}")
