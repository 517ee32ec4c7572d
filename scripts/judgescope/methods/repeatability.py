"""Whether repeated draws of a judge agree, and how many draws are enough."""

from collections.abc import Iterator
from dataclasses import replace

from judgescope.methods.base import Method
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.statistics.reliability import repeatability, spearman_brown
from judgescope.statistics.result import REASONS, Estimate

CURVE = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of draws with a share of the attainable correlation (column k)."""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of repeatability.csv, for judges with several draws of the
    systems' texts.
    """
    for (judge, aspect), table in data.draw_tables(data.systems).items():
        given = data.systems.is_given(judge)
        people = data.spec.aspects[aspect]
        scale = data.spec.judges[judge].grid[aspect]
        labels = bool(people.labels) and scale == people.values
        estimates = repeatability(
            table[:, given],
            data.systems.source[given],
            data.weights,
            scale=scale,
            labels=labels,
            ordered=people.ordered or not labels,
        )
        for name, estimate in estimates.items():
            yield data.row(judge, aspect, name, "pooled", estimate)
        for k, share in _curve(estimates["reliability"]):
            yield data.row(judge, aspect, "attainable_share", "pooled", share, k=k)


def _curve(reliability: Estimate) -> Iterator[tuple[int, Estimate]]:
    """Yield (number of draws, share of the attainable correlation)."""
    for k in CURVE:
        ends = (reliability.value, reliability.ci_low, reliability.ci_high)
        value, lo, hi = (
            None if r is None or r <= 0 else spearman_brown(r, k) for r in ends
        )
        if value is None:
            note = reliability.note if reliability.value is None else REASONS.unreliable
            missing = reliability.n_missing
            yield k, Estimate.undefined(note, n=reliability.n, n_missing=missing)
            continue
        if lo is None or hi is None:
            lo = hi = None
        method = "Spearman-Brown, from the reliability and its interval"
        yield (
            k,
            replace(
                reliability, value=value, ci_low=lo, ci_high=hi, n_tied=0, method=method
            ),
        )


METHOD = Method(name="repeatability", rows=rows, when="draws", unordered="yes")
