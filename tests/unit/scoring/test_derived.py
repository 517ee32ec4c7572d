"""Judges made from others' scores."""

from collections.abc import Mapping

import pytest

from judgescope.schema.tables import table_of
from judgescope.scoring.ensembles import derive_part
from judgescope.scoring.specs import CellPart

CELL = {"dataset": "d", "perturbation": "systems", "judge": "both", "aspect": "x"}


def derive(
    *members: Mapping[str, float | None], least: int = 1
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return the judgments and scores made of target -> score of each member."""
    tables = [
        table_of(
            "scores",
            [
                {**CELL, "judge": f"m{number}", "target": target, "value": value}
                for target, value in member.items()
            ],
        )
        for number, member in enumerate(members)
    ]
    judgments, scores = derive_part(tables, part=CellPart(**CELL), min_annotators=least)
    return judgments.to_pylist(), scores.to_pylist()


def test_a_score_is_the_mean_of_the_members_and_says_how_many_there_were() -> None:
    judgments, scores = derive({"b": 1, "a": 4}, {"a": 5, "b": None}, {"a": 3, "b": 2})
    told = [(row["target"], row["value"], row["n_draws"], row["n_missing"]) for row in scores]
    assert told == [("a", 4.0, 3, 0), ("b", 1.5, 3, 1)]
    assert {row["judge"] for row in scores} == {"both"}
    assert [(row["target"], row["status"], row["kind"]) for row in judgments] == [
        ("a", "ok", "derive"),
        ("b", "ok", "derive"),
    ]


@pytest.mark.parametrize(("least", "value"), [(1, 1.5), (2, 1.5), (3, None)])
def test_too_few_members_make_no_score(least: int, value: float | None) -> None:
    judgments, scores = derive({"b": 1}, {"b": None}, {"b": 2}, least=least)
    assert scores[0]["value"] == judgments[0]["value"] == value
    assert judgments[0]["status"] == ("ok" if value else "not_applicable")


def test_the_order_of_members_changes_nothing() -> None:
    members = [{"a": 0.1}, {"a": 0.2}, {"a": 0.3}]
    assert derive(*members)[1] == derive(*members[::-1])[1]
