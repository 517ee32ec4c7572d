"""The anchors of a graded set, chosen from files of texts, ratings and replies."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.scoring.anchors import ChooseAnchorsSpec, JudgedTexts, anchors
from judgescope.scoring.specs import ReplyReading

Row = dict[str, Any]
RATINGS = {"a": (1, 1), "b": (5, 5), "c": (5, 3), "d": (1, 3)}
"""Text -> two people's ratings of `clear`; `blank` has no text."""


def rows_of_people() -> list[Row]:
    rows = []
    for target, (first, second) in {**RATINGS, "blank": (1, 1)}.items():
        for rater, value in (("r1", first), ("r2", second)):
            row: Row = {"dataset": "d", "target": target, "rater": rater}
            rows.append({**row, "aspect": "clear", "value": float(value)})
            # Of the other aspect people say the opposite.
            rows.append({**row, "aspect": "true", "value": float(6 - value)})
    return rows


def chosen(folder: Path, replies: dict[str, list[str]], **fields: Any) -> list[Row]:
    """Return the anchors; `replies` are the draws of a judge about each text."""
    targets = []
    for target in [*RATINGS, "blank"]:
        text = " " if target == "blank" else f"Text {target}."
        content = {"dataset": "d", "target": target, "item": f"i-{target}"}
        targets.append({**content, "text": text, "status": "ok"})
    write_table("targets", table_of("targets", targets), folder / "targets")
    write_table("ratings", table_of("ratings", rows_of_people()), folder / "ratings")
    answers = []
    for target, texts in replies.items():
        for draw, text in enumerate(texts):
            row: Row = {
                "judge": "j",
                "kind": "rate",
                "target": target,
                "aspect": "clear",
            }
            row |= {"draw": draw, "key": f"{target}{draw}", "text": text}
            answers.append({**row, "status": "ok", "finish": "stop"})
    write_table("answers", table_of("answers", answers), folder / "replies")
    reading = ReplyReading(
        pairs=[("clear", None)],
        scale=Scale(1, 5, 1),
        parser=PARSERS.target("score"),
        estimator="mean",
    )
    fields = {"per_rating": 1, **fields}
    judged = JudgedTexts(judge="j", reading=reading, replies=str(folder / "replies"))
    spec = ChooseAnchorsSpec(
        code="",
        versions={},
        dataset="d",
        perturbation="graded",
        seed=7,
        aspect="clear",
        classes=[1.0, 5.0],
        targets=str(folder / "targets"),
        ratings=str(folder / "ratings"),
        judged=judged if replies else None,
        output=str(folder / "anchors"),
        **fields,
    )
    anchors(spec)
    rows: list[Row] = read_table("anchors", folder / "anchors").to_pylist()
    return rows


def test_people_alone_decide_without_a_judge(tmp_path: Path) -> None:
    rows = chosen(tmp_path, {})
    assert [(row["rating"], row["target"], row["cost"]) for row in rows] == [
        (1.0, "a", 0.0),
        (5.0, "b", 0.0),
    ]
    assert {(row["dataset"], row["aspect"]) for row in rows} == {("d", "clear")}


def test_draws_of_a_judge_count_as_raters(tmp_path: Path) -> None:
    """`a` is typical for people, `d` for both: 1 + 0 + |2 - 1| < 0 + 4 + |1 - 5|."""
    replies = {"a": ["5", "5"], "b": ["5", "?"], "c": ["5"], "d": ["1", "1"]}
    rows = chosen(tmp_path, replies)
    assert [(row["rating"], row["target"], row["cost"]) for row in rows] == [
        (1.0, "d", 2.0),
        (5.0, "b", 0.0),
    ]


def test_several_anchors_of_a_rating_are_of_least_cost_first(tmp_path: Path) -> None:
    rows = chosen(tmp_path, {}, per_rating=2)
    assert [(row["rating"], row["target"], row["cost"]) for row in rows] == [
        (1.0, "a", 0.0),
        (1.0, "d", 1.0),
        (5.0, "b", 0.0),
        (5.0, "c", 1.0),
    ]


def test_too_few_rated_texts_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^too few rated texts") as caught:
        chosen(tmp_path, {}, per_rating=3)
    error = caught.value
    assert error.where == "perturbations/graded.yaml, key anchors.per_rating"
    assert error.got == "4 texts of d are rated on clear"
    assert error.allowed == "6 texts or more, for 3 of each of 2 ratings"
    with pytest.raises(UserError) as caught:
        chosen(tmp_path, {"a": ["1"], "b": ["5"]}, per_rating=2)
    assert caught.value.got == "2 texts of d are rated and judged on clear"
