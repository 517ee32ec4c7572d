"""How valid judges' errors are: shares of verdicts, and what the paper prints of
them.
"""

from typing import Any

import numpy as np
import pytest

from deleted import proportion
from judgescope.statistics.arrays import Counts
from judgescope.statistics.intervals import deletions
from judgescope.statistics.registry import STATISTICS
from judgescope.statistics.result import Estimate
from judgescope.statistics.spans import (
    EXPLANATIONS,
    SPANS,
    VERDICT_SHARES,
    verdict_shares,
)
from vectors import published

ROWS = [
    "Correct",
    "Partially correct",
    "Incomplete",
    "Vague",
    "Incorrect",
    "Not an error",
]
COLUMNS = ["error", "no_span_given", "not_an_error", "hallucination"]
CODES = np.arange(12)


def span_ok(*arguments: Any) -> Estimate:
    return verdict_shares(*arguments)["span_ok"]


def explanation_ok(*arguments: Any) -> Estimate:
    return verdict_shares(*arguments)["explanation_ok"]


def explanation_ok_at_error(*arguments: Any) -> Estimate:
    return verdict_shares(*arguments)["explanation_ok_at_error"]


def counts(*verdicts: tuple[str, str]) -> Counts:
    """Return the counts of one thing: (explanation, span), …."""
    values = np.zeros((1, len(EXPLANATIONS), len(SPANS)), dtype=np.int64)
    for why, span in verdicts:
        values[0, EXPLANATIONS.index(why), SPANS.index(span)] += 1
    return values


def test_shares_by_hand() -> None:
    first = counts(("correct", "error"), ("vague", "error"), ("correct", "no_span"))
    second = counts(("partially_correct", "error"), ("not_an_error", "hallucination"))
    values = np.concatenate([first, second, counts()]), CODES[:3], None
    assert span_ok(*values).value == pytest.approx(3 / 5)
    assert explanation_ok(*values).value == pytest.approx(2 / 5)
    assert explanation_ok_at_error(*values).value == pytest.approx(1 / 3)
    assert (span_ok(*values).n, explanation_ok(*values).n) == (5, 5)
    assert explanation_ok_at_error(*values).n == 3
    assert span_ok(*values, 4).n_missing == 4


def test_nothing_is_no_zero() -> None:
    nothing = counts(), CODES[:1], None, 2
    for each in (span_ok, explanation_ok, explanation_ok_at_error):
        assert (each(*nothing).value, each(*nothing).n_missing) == (None, 2) and each(
            *nothing
        ).note
    unsound = counts(("correct", "not_an_error")), CODES[:1], None
    assert explanation_ok(*unsound).value == 1
    assert explanation_ok_at_error(*unsound).value is None


def test_intervals_are_over_sources() -> None:
    """Of six sources every error is one, of six none."""
    values = np.concatenate(
        [counts(("vague", "error"))] * 6 + [counts(("vague", "no_span"))] * 6
    )
    result = span_ok(values, CODES, deletions(12))
    sums = values.sum(axis=(1, 2))
    assert result.value == 0.5
    expected = proportion((sums * (np.arange(12) < 6)).tolist(), sums.tolist())
    assert (result.ci_low, result.ci_high) == pytest.approx(expected)
    assert result.method.startswith("answers about annotated errors; Clopper-Pearson")
    each = span_ok(values, CODES * 0, deletions(12))
    assert (
        each.value == 0.5
        and each.ci_low is None
        and "no interval: 1 sources" in each.note
    )


@pytest.mark.parametrize("system", ["OpeNLGaugeens", "OpeNLGaugeft", "TigerScore"])
def test_the_papers_table(system: str) -> None:
    """Table 4: all totals and percentages follow from its counts; the latter are of all
    errors.
    """
    rows = {
        row["explanation"]: row
        for row in published("s004_table4_error_spans")
        if row["system"] == system
    }
    table = np.array([[int(rows[why][span]) for span in COLUMNS] for why in ROWS])
    assert table.sum(axis=0).tolist() == [int(rows["Total"][span]) for span in COLUMNS]
    totals = [int(rows[why]["total_or_percent"]) for why in [*ROWS, "Total"]]
    assert [*table.sum(axis=1), table.sum()] == totals
    values = table[None], CODES[:1], None
    for each, printed in (
        (span_ok, "Span OK (%)"),
        (explanation_ok, "Exp. correct (%)"),
    ):
        result = each(*values)
        assert result.value is not None and result.n == totals[-1]
        assert round(100 * result.value) == int(rows[printed]["total_or_percent"])
    narrower = explanation_ok_at_error(*values)
    assert narrower.value == table[0, 0] / table[:, 0].sum()


def test_they_are_listed() -> None:
    for name in VERDICT_SHARES:
        assert STATISTICS[name].kind == "percent"
