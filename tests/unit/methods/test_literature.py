"""The measures of the literature: what audit computes alone is what a study has."""

from typing import Any

import pytest

from judgescope.methods import agreement, literature
from methods_setup import GOOD, NOISY, study


def numbers(rows: Any) -> dict[tuple[str, ...], tuple[float | None, ...]]:
    """Return place of a row -> value, interval and n."""
    return {
        (row["judge"], row["aspect"], row["statistic"], row["level"]): (
            *(row["value"], row["ci_low"], row["ci_high"]),
            *(row["n"], row["n_missing"]),
        )
        for row in rows
    }


@pytest.mark.parametrize("judges", [{"good": GOOD}, {"good": GOOD, "noisy": NOISY}])
def test_measures_of_the_literature_equal_those_of_the_table_of_agreement(
    judges: dict[str, Any],
) -> None:
    field = study(judges)
    result = numbers(literature.rows(field))
    known = numbers(agreement.rows(field))
    assert {location: known[location] for location in result} == result
    measures = {location[2:] for location in result}
    every = {measure for _, group in literature.OF_RATINGS for measure in group}
    assert measures == every
    assert {location[0] for location in result} == {*judges}
