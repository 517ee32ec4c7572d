"""Which judges notice the faults that a dataset's authors planned (demo data).

A fault is noticed if the faulty text scores strictly below the clean text of the same
item.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from judgescope.methods.aligned_values import aligned
from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.means import clustered_mean


class PlannedFault(NamedTuple):
    """A planned fault: the faulty and the clean target, the item's code, the kind of
    fault.
    """

    faulty: str
    clean: str
    source: int
    kind: str


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of faults.csv: per judge, aspect and kind of fault the share
    noticed.
    """
    if data.spec.fault_free_system is None:
        return
    faults = _faults(data, data.spec.fault_free_system)
    kinds = np.array([fault.kind for fault in faults])
    source = np.array([fault.source for fault in faults], dtype=np.int64)

    def shares(
        judge: str, aspect: str, statistic: str, hit: Floats, given: Flags
    ) -> Iterator[ResultRow]:
        for kind in [*sorted({*kinds[given].tolist()}), "all"]:
            chosen = given & ((kinds == kind) | (kind == "all"))
            of = "share of planned faults"
            mean = clustered_mean(
                hit[chosen], source[chosen], data.weights, averaged=of
            )
            yield data.row(
                judge, aspect, statistic, "pooled", mean.estimate, criterion=kind
            )

    seen = np.zeros(len(faults), dtype=bool)
    for judge, card in data.spec.judges.items():
        sources = [data.item_order[item] for item in data.items_given(judge)]
        given = np.isin(source, sources)
        for aspect in data.spec.aspects:
            if (cell := data.score_values.get(("systems", judge, aspect))) is None:
                continue
            bad = aligned(cell, [fault.faulty for fault in faults])
            good = aligned(cell, [fault.clean for fault in faults])
            noticed = np.where(np.isnan(bad) | np.isnan(good), np.nan, bad < good)
            yield from shares(judge, aspect, "detection_rate", noticed, given)
            if card.engine == "lexical":
                seen |= noticed == 1
    unseen = (~seen).astype(np.float64)
    every = np.ones(len(faults), dtype=bool)
    yield from shares("every-lexical-judge", "", "miss_rate", unseen, every)


def _faults(data: EvaluationData, clean: str) -> list[PlannedFault]:
    """Return the planned faults, by item and system; `clean` is the system without
    faults.
    """
    targets = data.systems
    pairs = zip(targets.items, targets.systems, strict=True)
    target_of = dict(zip(pairs, targets.targets, strict=True))
    items = data.items["item"].to_pylist()
    metas = data.items["meta"].to_pylist()
    faults = list[PlannedFault]()
    for item, meta in sorted(zip(items, metas, strict=True)):
        kinds = json.loads(meta or "{}").get("faults", {})
        source = data.item_order[item]
        for system, kind in sorted(kinds.items()):
            faulty = target_of.get((item, system))
            without_fault = target_of.get((item, clean))
            if faulty is not None and without_fault is not None:
                faults.append(PlannedFault(faulty, without_fault, source, kind))
    return faults


METHOD = Method(name="faults", rows=rows, selectable=True, texts=("systems",))
