"""Which judges notice the faults that a dataset's authors planned (demo data).

A fault is noticed if the faulty text scores strictly below the clean text of the same
item.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, aligned
from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.means import clustered_mean

ALL_KINDS = "all"


class Fault(NamedTuple):
    """A planned fault: the faulty and the clean target, the item's code, the kind of
    fault.
    """

    faulty: str
    clean: str
    source: int
    kind: str


def rows(study: EvaluationData) -> Iterator[Row]:
    """Yield the rows of faults.csv: per judge, aspect and kind of fault the share
    noticed.
    """
    if study.spec.fault_free_system is None:
        return
    faults = _faults(study, study.spec.fault_free_system)
    kinds = np.array([fault.kind for fault in faults])
    source = np.array([fault.source for fault in faults], dtype=np.int64)

    def shares(
        judge: str, aspect: str, statistic: str, hit: Floats, given: Flags
    ) -> Iterator[Row]:
        for kind in [*sorted({*kinds[given].tolist()}), ALL_KINDS]:
            chosen = given & ((kinds == kind) | (kind == ALL_KINDS))
            of = "share of planned faults"
            mean = clustered_mean(
                hit[chosen], source[chosen], study.weights, averaged=of
            )
            yield study.row(
                judge, aspect, statistic, "pooled", mean.estimate, criterion=kind
            )

    seen = np.zeros(len(faults), dtype=bool)
    for judge, card in study.spec.judges.items():
        sources = [study.item_order[item] for item in study.items_given(judge)]
        given = np.isin(source, sources)
        for aspect in study.spec.aspects:
            if (cell := study.score_values.get(("systems", judge, aspect))) is None:
                continue
            bad = aligned(cell, [fault.faulty for fault in faults])
            good = aligned(cell, [fault.clean for fault in faults])
            noticed = np.where(np.isnan(bad) | np.isnan(good), np.nan, bad < good)
            yield from shares(judge, aspect, "detection_rate", noticed, given)
            if card.engine == "lexical":
                seen |= noticed == 1
    unseen, every = (~seen).astype(np.float64), np.ones(len(faults), dtype=bool)
    yield from shares("every-lexical-judge", "", "miss_rate", unseen, every)


def _faults(study: EvaluationData, clean: str) -> list[Fault]:
    """Return the planned faults, by item and system; `clean` is the system without
    faults.
    """
    panel = study.systems
    pairs = zip(panel.items, panel.systems, strict=True)
    target_of = dict(zip(pairs, panel.targets, strict=True))
    items, metas = (study.items[name].to_pylist() for name in ("item", "meta"))
    return [
        Fault(
            target_of[item, system],
            target_of[item, clean],
            study.item_order[item],
            kind,
        )
        for item, meta in sorted(zip(items, metas, strict=True))
        for system, kind in sorted(json.loads(meta or "{}").get("faults", {}).items())
        if (item, system) in target_of and (item, clean) in target_of
    ]


METHOD = Method(selectable=True, texts=("systems",))
