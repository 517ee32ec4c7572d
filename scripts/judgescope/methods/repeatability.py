"""Whether a judge says the same twice, and how many draws are enough."""

import numpy as np

from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.statistics.repeatability import repeatability, spearman_brown
from judgescope.statistics.result import UNRELIABLE, Estimate

CURVE = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of draws for which the share of the attainable correlation is told (column k)."""


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of repeatability.csv, for judges with several draws of the systems' texts."""
    found: list[Row] = []
    for (judge, aspect), table in study.draw_tables(study.systems).items():
        panel = study.systems.given(judge)
        table = table[:, np.isin(study.systems.targets, panel.targets)]
        scale = study.spec.judges[judge].grid[aspect]
        told = repeatability(table, panel.source, study.weights, scale=scale)
        for name, estimate in told.items():
            found.append(study.row(judge, aspect, name, "pooled", estimate))
        found += _curve(study, panel, judge, aspect, told["reliability"])
    return found


def _curve(
    study: EvaluationData, panel: TargetSet, judge: str, aspect: str, reliability: Estimate
) -> list[Row]:
    """Return the share of the attainable correlation for several numbers of draws.

    It grows with the reliability, so its interval is that of the reliability's ends.
    """
    rows = []
    for k in CURVE:
        ends = (reliability.value, reliability.lo, reliability.hi)
        value, lo, hi = (None if r is None or r <= 0 else spearman_brown(r, k) for r in ends)
        if value is None:
            note = reliability.note if reliability.value is None else UNRELIABLE
            one = Estimate.undefined(note, n=reliability.n, n_missing=reliability.n_missing)
        else:
            both = lo is not None and hi is not None
            one = Estimate(
                value,
                lo=lo if both else None,
                hi=hi if both else None,
                n=reliability.n,
                n_missing=reliability.n_missing,
                method="Spearman-Brown, from the reliability and its interval",
                note=reliability.note,
            )
        rows.append(study.row(judge, aspect, "attainable_share", "pooled", one, k=k))
    return rows


METHOD = Method(when="draws")
