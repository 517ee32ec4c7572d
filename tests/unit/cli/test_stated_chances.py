"""Columns that are named as a confidence: chances, per cent, and what is neither."""

from typing import Any

import pytest

from judgescope.cli.init.stated_chances import stated_chances


@pytest.mark.parametrize(
    ("cells", "unit"),
    [
        (["0.9", "0.55", ""], 1),
        ([90, 55.5, None], 100),
        ([1, 0.5, 0.7], 1),
        ([1, 88, 90], 100),
    ],
)
def test_chances_and_per_cent_are_distinguished_by_the_majority_of_values(
    cells: list[Any], unit: int
) -> None:
    result = stated_chances(cells)
    assert (result.unit, result.why) == (unit, "")


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([0.9, 0.8, 1.4], "1 of 3 values lies outside 0 to 1 (1.4)"),
        ([0.9, -0.8, -0.1], "2 of 3 values lie outside 0 to 1 (-0.8)"),
        ([-0.11, -2.3, 0], "2 of 3 values lie below 0 (-0.11): if these are log-"),
        ([90, 80, 140], "1 of 3 values lies outside 0 to 100 (140)"),
        ([0, 1, 1, 0], "verdicts and no chances"),
        ([0, 100, 100], "verdicts and no chances"),
        (["high", 0.9], "1 of 2 values is no number ('high')"),
        (["", None], "it is empty"),
    ],
)
def test_what_is_no_chance_is_reported(cells: list[Any], why: str) -> None:
    result = stated_chances(cells)
    assert result.unit is None
    assert why in result.why
