"""Tables of two texts a row: choices in codes that may mean either text, columns that
say which text was shown first, and ratings of which nobody knows what they rate.
"""

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError

ROWS = 30


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def compared(
    file: Path,
    choices: Sequence[object],
    headers: Sequence[str] = ("human_winner", "judge_winner"),
    texts: tuple[str, str] = ("response_a", "response_b"),
    more: Mapping[str, Callable[[int], object]] | None = None,
) -> Path:
    drawn = random.Random(7)
    more = more or {}
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow([*texts, *headers, *more])
        for at in range(ROWS):
            both = [f"The {side} text of {at} is long enough" for side in "AB"]
            cells = [choices[at % len(choices)], drawn.choice(choices)]
            writer.writerow([*both, *cells, *(cell(at) for cell in more.values())])
    return file


@pytest.mark.parametrize(
    "choices", [[0, 1], [1, -1, 0], [1, 2, 3], [1, 2, 3, 4, 5], ["A", "B", "D"]]
)
def test_codes_that_may_mean_either_text_are_refused(
    choices: list[object], tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="which of them each of these cells") as ended:
        audited(compared(tmp_path / "t.csv", choices))
    assert "column human_winner" in ended.value.where


def test_zero_beside_one_and_two_is_a_tie(tmp_path: Path) -> None:
    draft = audited(compared(tmp_path / "t.csv", [1, 2, 0]))
    assert draft.columns.texts == ["response_a", "response_b"]
    assert [row["human_winner"] for row in draft.table.rows[:3]] == [1, 2, 0]


@pytest.mark.parametrize(
    ("texts", "choices"),
    [
        (("Antwort links", "Antwort rechts"), ["links", "rechts", "gleich"]),
        (("réponse gauche", "réponse droite"), ["gauche", "droite", "égalité"]),
        (("respuesta izquierda", "respuesta derecha"), ["izquierda", "derecha"]),
        (("左侧回答", "右侧回答"), ["左", "右", "平局"]),
        (("первый ответ", "второй ответ"), ["первый", "второй", "ничья"]),
    ],
)
def test_sides_are_named_in_any_language(
    texts: tuple[str, str], choices: list[str], tmp_path: Path
) -> None:
    draft = audited(compared(tmp_path / "t.csv", choices, texts=texts))
    assert draft.columns.texts == list(texts)
    assert draft.table.rows[1]["human_winner"] == 2


@pytest.mark.parametrize(
    ("header", "cells"),
    [("flipped", ["yes", "no"]), ("display_order", ["A|B", "B|A"]), ("shown", "AB")],
)
def test_choices_of_texts_shown_in_two_orders_are_asked_about(
    header: str, cells: Sequence[str], tmp_path: Path
) -> None:
    def shown(at: int) -> str:
        return cells[at // 3 % 2]

    file = compared(tmp_path / "t.csv", ["A", "B"], more={header: shown})
    with pytest.raises(UnclearColumns) as ended:
        audited(file)
    assert f"column {header}" in ended.value.where
    [option] = ended.value.options
    assert audited(file, *option.words).columns.rated == ["human_winner"]


def test_an_order_in_which_the_columns_stand_is_clear(tmp_path: Path) -> None:
    lines = ["answer_a,answer_b,human,judge,order"]
    for at in range(ROWS):
        texts = [f"The first text of {at // 2}", f"The other text of {at // 2}"]
        texts = texts[::-1] if at % 2 else texts
        lines.append(",".join([*texts, "AB"[at % 2], "AB"[at // 2 % 2], "xy"[at % 2]]))
    file = tmp_path / "t.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert audited(file).columns.texts == ["answer_a", "answer_b"]


def test_a_column_beside_named_choices_is_nobodys(tmp_path: Path) -> None:
    more = {"longer": lambda at: "AB"[at // 5 % 2]}
    draft = audited(compared(tmp_path / "t.csv", ["A", "B", "tie"], more=more))
    assert draft.columns.rated == ["human_winner"]
    assert "longer" in draft.columns.unused


def test_ratings_beside_two_texts_are_asked_about(tmp_path: Path) -> None:
    headers = ("human_score", "judge_score")
    file = compared(tmp_path / "t.csv", [1, 2, 3, 4, 5], headers)
    with pytest.raises(UnclearColumns) as ended:
        audited(file)
    assert [option.words for option in ended.value.options] == [
        ["--text", "response_a"],
        ["--text", "response_b"],
    ]
    assert audited(file, "--text", "response_b").columns.text == "response_b"


@pytest.mark.parametrize("labels", [["won", "lost", "draw"], ["yes", "no"]])
def test_labels_beside_two_texts_are_asked_about(
    labels: list[str], tmp_path: Path
) -> None:
    headers = ("human_result", "judge_result")
    with pytest.raises(UnclearColumns, match="A, B and tie"):
        audited(compared(tmp_path / "t.csv", labels, headers))


def test_the_second_of_two_orders_is_not_a_judge_of_its_own(tmp_path: Path) -> None:
    more = {"gpt_pos2": lambda at: "AB"[at // 4 % 2]}
    headers = ("human_choice", "gpt_pos1")
    draft = audited(compared(tmp_path / "t.csv", ["A", "B"], headers, more=more))
    assert draft.columns.scored == ["gpt_pos1"]
    assert "column gpt_pos2" in "".join(draft.table.notes)


def test_rankings_of_three_texts_are_refused(tmp_path: Path) -> None:
    lines = ["X,Y,Z,human_ranking,llm_ranking"]
    for at in range(ROWS):
        texts = [f"The text {name} of {at} is long" for name in "XYZ"]
        ranking = ["X>Y>Z", "Z>X>Y", "Y=X>Z"][at % 3]
        lines.append(",".join([*texts, ranking, ranking]))
    file = tmp_path / "t.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UserError, match="more than two texts"):
        audited(file)


@pytest.mark.parametrize(
    ("texts", "choices"),
    [
        (("control_reply", "treatment_reply"), ["control", "treatment"]),
        (("output of v1.2", "output of v2.0"), ["v1.2", "v2.0", "tie"]),
        (("human_response", "llama_response"), ["human", "llama", "tie"]),
    ],
)
def test_a_cell_names_a_text_by_words_of_its_header(
    texts: tuple[str, str], choices: list[str], tmp_path: Path
) -> None:
    headers = ("annotator_winner", "gpt4_winner")
    draft = audited(compared(tmp_path / "t.csv", choices, headers, texts))
    assert draft.columns.texts == list(texts)
    assert [row["annotator_winner"] for row in draft.table.rows[:2]] == [1, 2]


@pytest.mark.parametrize("header", ["left_model", "system_shown_first"])
def test_a_system_that_stood_on_one_side_is_asked_about(
    header: str, tmp_path: Path
) -> None:
    more = {header: lambda at: ["x", "y"][at // 3 % 2]}
    file = compared(tmp_path / "t.csv", ["left", "right"], more=more)
    with pytest.raises(UnclearColumns) as ended:
        audited(file)
    assert f"column {header}" in ended.value.where


def test_numbers_of_both_texts_are_no_judge_beside_one(tmp_path: Path) -> None:
    more: dict[str, Callable[[int], object]] = {
        "score_a": lambda at: at % 5 + 3,
        "score_b": lambda at: at % 3 + 3,
    }
    file = compared(tmp_path / "t.csv", ["A", "B", "tie"], more=more)
    draft = audited(file)
    assert draft.columns.scored == ["judge_winner"]
    assert "score_a" in draft.columns.unused


def test_the_chosen_system_says_not_who_chose(tmp_path: Path) -> None:
    more: dict[str, Callable[[int], object]] = {
        "system_a": lambda at: "x",
        "system_b": lambda at: "y",
        "preferred_model": lambda at: "xy"[at // 4 % 2],
    }
    draft = audited(compared(tmp_path / "t.csv", ["A", "B"], more=more))
    assert draft.columns.scored == ["judge_winner"]


@pytest.mark.parametrize(
    "choices",
    [
        ["A更好", "B更好", "一样好"],
        ["A est meilleure", "B est meilleure", "égales"],
        ["B ist schlechter", "A ist schlechter", "gleich"],
        ["B es peor", "A es peor", "iguales"],
        ["Bの方が悪い", "Aの方が悪い", "同じ"],
    ],
)
def test_comparisons_in_other_languages_choose(
    choices: list[str], tmp_path: Path
) -> None:
    draft = audited(compared(tmp_path / "t.csv", choices))
    assert [row["human_winner"] for row in draft.table.rows[:3]] == [1, 2, 0]
