"""Rows that repeat a text, and JSON with a list of cells or of labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError

ROWS = 30
WORDS = ["poor", "fair", "good"]


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def rated(at: int, shift: int = 0) -> dict[str, Any]:
    return {
        "answer": f"The answer to question {at} is long enough for a text",
        "human": WORDS[(at + shift) % 3],
        "judge": WORDS[(at + at % 2) % 3],
    }


def lines_of(file: Path, rows: list[dict[str, Any]]) -> Path:
    lines = [json.dumps(row) for row in rows]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_a_text_with_other_ratings_in_several_rows_is_asked_about(
    tmp_path: Path,
) -> None:
    rows = [rated(at, shift) for at in range(ROWS) for shift in (0, at % 2)]
    file = lines_of(tmp_path / "t.jsonl", rows)
    with pytest.raises(UnclearColumns, match="is each row a rater's"):
        audited(file)


def test_rows_with_the_same_text_are_counted_in_a_note(tmp_path: Path) -> None:
    rows = [rated(at) for at in range(ROWS)]
    draft = audited(lines_of(tmp_path / "t.jsonl", [*rows, *rows[:4]]))
    assert "4 rows repeat" in "".join(draft.table.notes)


def test_short_texts_may_repeat(tmp_path: Path) -> None:
    rows = [rated(at) | {"answer": ["Paris", "Rome"][at % 2]} for at in range(ROWS)]
    draft = audited(lines_of(tmp_path / "t.jsonl", rows))
    assert "repeat" not in "".join(draft.table.notes)


def test_an_object_of_columns_is_a_table(tmp_path: Path) -> None:
    rows = [rated(at) for at in range(ROWS)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    file = tmp_path / "t.json"
    file.write_text(json.dumps(columns), encoding="utf-8")
    draft = audited(file)
    assert draft.columns.rated == ["human"]
    assert len(draft.table.rows) == ROWS


def test_lists_of_labels_are_those_of_raters(tmp_path: Path) -> None:
    rows = []
    for at in range(ROWS):
        by = [{"rater": "x", "label": WORDS[at % 3]}, {"rater": "y", "label": "good"}]
        rows.append({**rated(at), "human": by})
    draft = audited(lines_of(tmp_path / "t.jsonl", rows))
    assert draft.columns.rated == ["human.label (1)", "human.label (2)"]
    assert [row["human.label (1)"] for row in draft.table.rows[:3]] == [0, 1, 2]


def test_a_list_of_one_prediction_is_a_judges_label(tmp_path: Path) -> None:
    rows = []
    for at in range(ROWS):
        row = rated(at)
        row["predictions"] = [{"label": row.pop("judge")}]
        rows.append(row)
    draft = audited(lines_of(tmp_path / "t.jsonl", rows))
    assert draft.columns.scored == ["predictions.label"]


@pytest.mark.parametrize("in_one_order", [True, False])
def test_lists_of_two_answers_are_a_pair_if_they_have_one_order(
    in_one_order: bool, tmp_path: Path
) -> None:
    rows = []
    for at in range(ROWS):
        names = ["A", "B"] if in_one_order or at % 3 else ["B", "A"]
        answers = [
            {"id": name, "answer": f"The answer {name} to {at} is long"}
            for name in names
        ]
        choices = {"human_choice": "AB"[at % 2], "judge_choice": "AB"[at // 2 % 2]}
        rows.append({"options": answers, **choices})
    file = lines_of(tmp_path / "t.jsonl", rows)
    if in_one_order:
        assert audited(file).columns.texts == ["options.answer 1", "options.answer 2"]
    else:
        with pytest.raises(UserError, match="not the two texts"):
            audited(file)


def test_lists_of_a_judges_labels_are_draws(tmp_path: Path) -> None:
    rows = []
    for at in range(ROWS):
        row = rated(at)
        row["gpt"] = [row.pop("judge"), WORDS[at % 3], WORDS[0]]
        rows.append(row)
    draft = audited(lines_of(tmp_path / "t.jsonl", rows))
    assert draft.columns.scored == ["gpt"]
    assert draft.table.rows[0]["gpt"] == [0, 0, 0]
