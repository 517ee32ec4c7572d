"""Several judges of one file: how far each is from the best, and whether that shows.

What is said of a judge alone does not depend on the others; only this does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgescope.methods import deciding
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows


@dataclass(frozen=True)
class JudgeGap:
    """The best judge minus another on one aspect, on the texts that both scored.

    p after Holm's correction over all pairs of judges on the aspect, two-sided.
    """

    aspect: str
    statistic: str
    level: str
    best: str
    other: str
    difference: ReportRow
    p_holm: ReportRow

    @property
    def apart(self) -> bool:
        """Whether the two can be told apart."""
        p = self.p_holm.value
        return p is not None and p <= 0.05


def judge_gaps(report: Report, judges: Sequence[ShownJudge]) -> Iterator[JudgeGap]:
    """Yield the differences to the best judge of each aspect, the largest last.

    The best has the largest number; judges with numbers of another kind or level are
    not compared with it.
    """
    rows = report.rows(deciding.GAPS)
    numbers = report.rows(deciding.NUMBERS)
    ids = [judge.id for judge in judges]
    known: dict[tuple[str, str, str], dict[str, float]] = {}
    for number in numbers:
        if number.judge in ids and number.value is not None:
            key = number.aspect, number.statistic, number.level
            known.setdefault(key, {})[number.judge] = number.value
    for (aspect, statistic, level), values in known.items():
        best = max(ids, key=lambda judge: values.get(judge, float("-inf")))
        others = sorted(values, key=lambda judge: (-values[judge], judge))
        for other in others:
            if other == best:
                continue
            part = rows.where(aspect=aspect, level=level)
            difference = _between(part, best, other, f"difference_{statistic}")
            p_holm = _between(part, best, other, f"p_holm_{statistic}")
            if difference is not None and p_holm is not None:
                yield JudgeGap(
                    aspect, statistic, level, best, other, difference, p_holm
                )


def _between(
    rows: ReportRows, best: str, other: str, statistic: str
) -> ReportRow | None:
    """A number of two judges; a difference is turned so that the best comes first."""
    for row in rows:
        if row.statistic != statistic or {row.judge, row.judge_b} != {best, other}:
            continue
        if row.judge == best or not statistic.startswith("difference_"):
            return row
        return row._replace(
            judge=best,
            judge_b=other,
            value=_negated(row.value),
            ci_low=_negated(row.ci_high),
            ci_high=_negated(row.ci_low),
        )
    return None


def _negated(value: float | None) -> float | None:
    return None if value is None else -value
