"""The remark on a judge that is surer of its verdicts than it may be, or less sure.

By rule: of each aspect the smaller p of gap and slope (Holm over both), Holm over the
aspects of all datasets, shown up to .05. A gap above 0 and a slope below 1 are too
sure.
"""

from typing import Final, NamedTuple

import numpy as np

from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.statistics.intervals import holm

LEVEL: Final = 0.05


class SureTest(NamedTuple):
    """The test of gap or slope that decides on an aspect: the smaller p."""

    p: float
    name: str
    number: ReportRow
    too_sure: bool


def only(rows: ReportRows, statistic: str) -> ReportRow | None:
    """Return the row of a number that is about all verdicts; None without one."""
    return next((row for row in rows.where(statistic=statistic) if not row.k), None)


def deciding_test(rows: ReportRows) -> SureTest | None:
    """Return the test that decides, of a judge's rows on one aspect; None if there is
    none.
    """
    tests = list[SureTest]()
    for name, null in (("gap", 0.0), ("slope", 1.0)):
        number = only(rows, f"confidence_{name}")
        tested = only(rows, f"p_confidence_{name}")
        if number is None or tested is None:
            continue
        if number.value is None or tested.value is None:
            continue
        above = number.value > null
        too_sure = above if name == "gap" else not above
        tests.append(SureTest(tested.value, name, number, too_sure))
    if tests:
        return min(tests, key=lambda test: test.p)
    return None


def sureness(report: Report, judge: ShownJudge) -> str:
    """Return the remark on a judge's confidence: whether it is shown to be too sure, or
    not sure enough, and on which aspects; "" if neither is shown.
    """
    tests = list[SureTest]()
    names = list[str]()
    of_judge = report.rows("confidence").where(judge=judge.id)
    for dataset in report.datasets:
        in_dataset = of_judge.where(dataset=dataset.id)
        for aspect in dataset.aspects:
            test = deciding_test(in_dataset.where(judged=aspect))
            if test is not None:
                tests.append(test)
                names.append(report.aspect(aspect))
    if not tests:
        return ""
    shown = holm(np.array([test.p for test in tests])) <= LEVEL
    remarks = []
    not_sure_enough = "less sure of its verdicts than it may be"
    for words, too_sure in (
        ("too sure of its verdicts", True),
        (not_sure_enough, False),
    ):
        on = dict.fromkeys(
            name
            for name, test, is_shown in zip(names, tests, shown.tolist(), strict=True)
            if is_shown and test.too_sure == too_sure
        )
        if on and len(tests) == 1:
            remarks.append(words)
        elif on:
            remarks.append(f"{words} ({', '.join(on)})")
    return "; ".join(remarks)
