"""The comparison of result tables: what it calls a difference, and what it does not."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from tables_equal import (
    NO_RENAMES,
    Difference,
    Renames,
    Row,
    differences,
    exact,
    read_renames,
    report,
)


def row(**keys: Any) -> dict[str, Any]:
    plain = {
        "judge": "j",
        "statistic": "pearson",
        "value": 0.1,
        "lo": 0.0,
        "hi": 0.2,
        "n": 9,
    }
    return {
        **plain,
        "n_missing": 0,
        "note": None,
        "perturbation": None,
        "signature": "v:1",
        **keys,
    }


def compared(
    before: Sequence[Row], after: Sequence[Row], renames: Renames = NO_RENAMES
) -> list[tuple[str, str]]:
    result = differences({"agreement": before}, {"agreement": after}, renames)
    return [(error.column, error.what) for error in result]


BEFORE = [row(), row(judge="k", note="few"), row(statistic="n_items", value=None, n=3)]


def test_the_same_rows_in_another_order_and_by_another_version_are_equal() -> None:
    after = [dict(each, signature="v:2") for each in BEFORE[::-1]]
    assert compared(BEFORE, after) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("value", math.nextafter(0.1, 1)),
        ("value", None),
        ("value", -0.0),
        ("lo", -0.0),
        ("hi", 0.3),
        ("n", 10),
        ("n_missing", 1),
        ("note", "few"),
    ],
)
def test_a_single_changed_cell_is_a_difference_of_its_column(
    column: str, value: Any
) -> None:
    after = [row(**{column: value}), *BEFORE[1:]]
    [difference] = differences({"t": BEFORE}, {"t": after})
    assert (difference.table, difference.column, difference.what) == (
        "t",
        column,
        "changed",
    )
    assert dict(difference.row) == {"judge": "j", "statistic": "pearson"}
    assert (difference.before, difference.after) == (
        exact(BEFORE[0][column]),
        exact(value),
    )


def test_bits_tell_values_separately_that_print_alike() -> None:
    assert exact(0.0) != exact(-0.0) and exact(math.nan) == exact(math.nan)
    assert exact(1) != exact(1.0)


def test_a_row_that_is_missing_new_or_double_is_reported() -> None:
    assert compared(BEFORE, BEFORE[1:]) == [("", "gone")]
    assert compared(BEFORE[1:], BEFORE) == [("", "new")]
    assert compared(BEFORE, [*BEFORE, BEFORE[0]]) == [("", "new")]


def test_a_table_that_is_missing_or_new_is_reported() -> None:
    assert differences({"t": []}, {}) == [Difference("t", "", "gone")]
    assert differences({}, {"t": []}) == [Difference("t", "", "new")]


def test_a_renamed_column_is_a_difference_unless_the_map_has_it() -> None:
    after = [
        {("ci_low" if key == "lo" else key): value for key, value in each.items()}
        for each in BEFORE
    ]
    assert compared(BEFORE, after) == [("ci_low", "new"), ("lo", "gone")]
    mapped = read_renames(["kind,old,new", "column,lo,ci_low"])
    assert compared(BEFORE, after, mapped) == []
    after[0]["ci_low"] = 0.05
    assert compared(BEFORE, after, mapped) == [("ci_low", "changed")]


def test_statistics_names_and_tables_are_renamed_by_the_map() -> None:
    mapped = read_renames(
        [
            "kind,old,new",
            "statistic,pearson,r",
            "value,j,better",
            "table,agreement,with_people",
        ]
    )
    after = [
        {
            **row,
            "statistic": {"pearson": "r"}.get(row["statistic"], row["statistic"]),
            "judge": {"j": "better"}.get(row["judge"], row["judge"]),
        }
        for row in BEFORE
    ]
    assert differences({"agreement": BEFORE}, {"with_people": after}, mapped) == []
    assert differences({"agreement": BEFORE}, {"with_people": after}) != []


def test_what_the_map_adds_or_lets_go_is_no_difference() -> None:
    more = [*BEFORE, row(statistic="as_rater")]
    assert compared(BEFORE, more) == [("", "new")]
    assert (
        compared(BEFORE, more, read_renames(["kind,old,new", "statistic,,as_rater"]))
        == []
    )
    assert (
        compared(more, BEFORE, read_renames(["kind,old,new", "statistic,as_rater,"]))
        == []
    )
    assert (
        compared(more, BEFORE, read_renames(["kind,old,new", "statistic,,as_rater"]))
        != []
    )


def test_a_map_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_renames(["kind,old,new", "row,a,b"])


def test_differences_are_reported_by_table_and_column() -> None:
    after = [row(value=0.3), row(judge="k", note="few", value=0.4), BEFORE[2]]
    lines = list(report("demo", differences({"t": BEFORE}, {"t": after})))
    assert lines[0] == "demo: 2 differences"
    assert "t, column value changed: 2" in lines[1]
    assert "judge=j" in lines[2] and "0.1" in lines[2] and "0.3" in lines[2]
    assert list(report("demo", [])) == ["demo: equal"]


def test_round_off_is_no_difference_where_a_share_is_allowed() -> None:
    before = {"t": [{"judge": "a", "value": 0.3}, {"judge": "b", "value": 1e-14}]}
    after = {"t": [{"judge": "a", "value": 0.1 + 0.2}, {"judge": "b", "value": 0.0}]}
    assert len(differences(before, after)) == 2
    assert differences(before, after, relative=1e-12) == []
    after["t"][0]["value"] = 0.3001
    assert len(differences(before, after, relative=1e-12)) == 1
