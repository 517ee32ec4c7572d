"""Which judges notice the faults that the authors of a dataset planned (demo data).

A fault is noticed when the faulty text scores strictly below the clean text of the same item.
"""

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, Floats, meta
from judgescope.statistics.means import SHARE, clustered_mean

ALL_KINDS = "all"


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of faults.csv: per judge, aspect and kind of fault the share noticed."""
    if study.spec.clean is None:
        return []
    pairs = _pairs(study)
    found, seen = [], np.zeros(len(pairs), dtype=bool)
    for judge, card in study.spec.judges.items():
        for aspect in study.spec.aspects:
            noticed = _noticed(study, judge, aspect, pairs)
            if noticed is None:
                continue
            given = {study.item_order[item] for item in study.items_given(judge)}
            mine = np.array([code in given for _, _, code, _ in pairs], dtype=bool)
            own = [pair for pair, is_mine in zip(pairs, mine, strict=True) if is_mine]
            found += _rows(study, judge, aspect, "notice_rate", own, noticed[mine])
            if card.engine == "lexical":
                seen |= noticed == 1
    unseen = (~seen).astype(np.float64)
    return found + _rows(study, "every-lexical-judge", "", "miss_rate", pairs, unseen)


def _pairs(study: EvaluationData) -> list[tuple[str, str, int, str]]:
    """Return (faulty target, clean target, item's code, kind of fault), by item and system."""
    panel = study.systems
    known = {
        (item, system): target
        for item, system, target in zip(
            panel.items, panel.rows["system"].to_pylist(), panel.targets, strict=True
        )
    }
    clean = study.spec.clean
    return [
        (known[item, system], known[item, clean], study.item_order[item], kind)
        for item, told in sorted(meta(study).items())
        for system, kind in sorted(told.get("faults", {}).items())
        if (item, system) in known and (item, clean) in known
    ]


def _noticed(
    study: EvaluationData, judge: str, aspect: str, pairs: list[tuple[str, str, int, str]]
) -> Floats | None:
    """Return 1 where the faulty text scores lower, 0 where not, NaN where a score is missing."""
    cell = study.score_values.get(("systems", judge, aspect))
    if cell is None:
        return None
    bad = np.array([cell.get(faulty, np.nan) for faulty, *_ in pairs])
    good = np.array([cell.get(clean, np.nan) for _, clean, *_ in pairs])
    return np.where(np.isnan(bad) | np.isnan(good), np.nan, (bad < good).astype(np.float64))


def _rows(
    study: EvaluationData,
    judge: str,
    aspect: str,
    statistic: str,
    pairs: list[tuple[str, str, int, str]],
    hit: Floats,
) -> list[Row]:
    kinds = sorted({kind for *_, kind in pairs})
    source = np.array([code for _, _, code, _ in pairs], dtype=np.int64)
    found = []
    for kind in [*kinds, ALL_KINDS]:
        chosen = np.array([kind in (ALL_KINDS, own) for *_, own in pairs], dtype=bool)
        estimate = clustered_mean(
            hit[chosen], source[chosen], study.weights, of="share of planned faults", ends=SHARE
        )
        found.append(study.row(judge, aspect, statistic, "pooled", estimate, criterion=kind))
    return found


METHOD = Method(selectable=True, texts=("systems",))
