"""Derived scores: pairs and criteria apart, what the rows say, and the exact mean."""

from typing import Any

from judgescope.schema.tables import table_of
from judgescope.scoring.ensembles import derive_part
from judgescope.scoring.specs import CellPart

CELL = {"dataset": "d", "perturbation": "systems", "judge": "both", "aspect": "x"}
Rows = list[dict[str, Any]]


def derive(*members: Rows) -> tuple[Rows, Rows]:
    tables = [table_of("scores", [{**CELL, **row} for row in member]) for member in members]
    judgments, scores = derive_part(tables, part=CellPart(**CELL), min_annotators=1)
    return judgments.to_pylist(), scores.to_pylist()


def test_pairs_and_criteria_are_scored_apart_and_in_order() -> None:
    units: Rows = [
        {"target": "a", "target_b": "c", "criterion": None},
        {"target": "a", "target_b": "B", "criterion": "y"},
        {"target": "a", "target_b": "B", "criterion": None},
        {"target": "a", "target_b": None, "criterion": None},
    ]
    first = [unit | {"value": value} for value, unit in enumerate(units)]
    second = [unit | {"value": value + 10} for value, unit in enumerate(units)]
    judgments, scores = derive(first, second[::-1])
    told = [(row["target_b"], row["criterion"], row["value"]) for row in scores]
    assert told == [(None, None, 8), ("B", None, 7), ("B", "y", 6), ("c", None, 5)]
    assert [(row["target_b"], row["criterion"], row["value"]) for row in judgments] == told


def test_zero_is_a_score_and_no_score_says_why() -> None:
    rows: Rows = [{"target": "a", "value": 0}, {"target": "b", "value": None}]
    judgments, scores = derive(rows)
    assert [row["value"] for row in scores] == [0, None]
    assert [(row["status"], row["rule"]) for row in judgments] == [
        ("ok", "mean of members"),
        ("not_applicable", "too few members with a score"),
    ]


def test_rows_are_the_derived_judges_own() -> None:
    judgments, scores = derive([{"judge": "m", "target": "a", "value": 1}])
    assert (judgments[0]["judge"], judgments[0]["aspect"]) == ("both", "x")
    assert {name: scores[0][name] for name in CELL} == CELL
    assert scores[0]["estimator"] == "mean of members"


def test_the_mean_is_not_lost_between_large_scores() -> None:
    members: list[Rows] = [[{"target": "a", "value": value}] for value in (1e16, 1.0, -1e16)]
    assert derive(*members)[1][0]["value"] == 0.333333333
