"""Tables in layouts of crowd platforms, forms and APIs: one choice in several columns,
boxes, lists of one word, rows under a key, two orders of a pair, other encodings.
"""

import csv
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError
from spreadsheet_files import write_spreadsheet

ROWS = 40
DRAWN = random.Random(11)
PEOPLE = [DRAWN.randint(1, 5) for _ in range(ROWS)]
JUDGE = [max(1, each - DRAWN.randint(0, 1)) for each in PEOPLE]
ANSWERS = [
    f"It takes {at} days and {at % 7} hours until it arrives." for at in range(40)
]
Columns = Mapping[str, Sequence[Any]]


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    rows = []
    for cells in zip(*columns.values(), strict=True):
        rows.append(dict(zip(columns, cells, strict=True)))
    return rows


def written(file: Path, columns: Columns, encoding: str = "utf-8") -> Path:
    with file.open("w", encoding=encoding, newline="") as lines:
        writer = csv.DictWriter(lines, list(columns))
        writer.writeheader()
        writer.writerows(rows_of(columns))
    return file


def lines_of(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def drawn_labels(first: str, second: str, seed: int = 3) -> list[str]:
    drawn = random.Random(seed)
    return [drawn.choice([first, second]) for _ in range(ROWS)]


# --- one value in several columns or in a list ----------------------------------------


@pytest.mark.parametrize(
    ("header", "true", "false"),
    [
        ("Answer.helpful.{}", "true", "false"),
        ("human_rating_{}", "1", "0"),
        ("Rating [{}]", "x", ""),
        ("rating/{}", "TRUE", "FALSE"),
    ],
)
def test_columns_with_a_single_true_cell_a_row_are_a_single_rating(
    header: str, true: str, false: str, tmp_path: Path
) -> None:
    columns: dict[str, Sequence[Any]] = {"answer": ANSWERS, "gpt-4o score": JUDGE}
    for step in range(1, 6):
        cells = [true if each == step else false for each in PEOPLE]
        columns[header.format(step)] = cells
    draft = audited(written(tmp_path / "t.csv", columns))
    [column] = draft.columns.rated
    assert [int(row[column]) for row in draft.table.rows] == PEOPLE
    assert draft.columns.scored == ["gpt-4o score"]
    assert any("one true cell in each row" in note for note in draft.table.notes)


def test_columns_with_several_true_cells_a_row_stay_aspects(tmp_path: Path) -> None:
    columns: dict[str, Sequence[Any]] = {"answer": ANSWERS}
    for number, name in enumerate(["polite", "complete", "short"]):
        columns[f"human.{name}"] = drawn_labels("true", "false", number)
        columns[f"judge.{name}"] = drawn_labels("true", "false", number + 9)
    draft = audited(written(tmp_path / "t.csv", columns))
    assert set(draft.columns.ratings) == {"polite", "complete", "short"}


@pytest.mark.parametrize("mark", ["checked", "✓", "x"])
def test_an_empty_box_is_not_checked(mark: str, tmp_path: Path) -> None:
    human = drawn_labels(mark, "")
    judge = [mark if at % 7 else "" for at in range(ROWS)]
    columns: Columns = {
        "reply": ANSWERS,
        "OK for expert": human,
        "OK for Claude": judge,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.rated == ["OK for expert"]
    assert draft.table.labels["OK for expert"] == ("unchecked", "checked")
    values = [row["OK for expert"] for row in draft.table.rows]
    assert values == [int(cell == mark) for cell in human]
    assert any("unchecked box" in note for note in draft.table.notes)


def test_a_mark_that_is_no_rating_stays_a_mark(tmp_path: Path) -> None:
    exported = drawn_labels("x", "")
    columns: Columns = {
        "reply": ANSWERS,
        "exported": exported,
        "human": PEOPLE,
        "judge": JUDGE,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert [row["exported"] for row in draft.table.rows] == exported


def test_lists_of_a_single_word_are_words(tmp_path: Path) -> None:
    human = drawn_labels("grounded", "invented")
    judge = drawn_labels("grounded", "invented", 4)
    rows = []
    for text, mine, other in zip(ANSWERS, human, judge, strict=True):
        rows.append({"text": text, "annotator": [mine], "llm": [other]})
    rows[3]["annotator"] = []
    draft = audited(lines_of(tmp_path / "t.jsonl", rows))
    assert (draft.columns.rated, draft.columns.scored) == (["annotator"], ["llm"])
    assert draft.table.rows[3]["annotator"] is None


@pytest.mark.parametrize("key", ["data", "items", "records"])
def test_the_rows_of_an_object_are_its_only_list(key: str, tmp_path: Path) -> None:
    rows = rows_of({"answer": ANSWERS, "human": PEOPLE, "judge": JUDGE})
    page = {"object": "page", key: rows, "meta": {"total": ROWS}}
    file = tmp_path / "t.json"
    file.write_text(json.dumps(page), "utf-8")
    draft = audited(file)
    assert (draft.columns.rated, draft.columns.scored) == (["human"], ["judge"])
    assert any(f"its key {key}" in note for note in draft.table.notes)


def test_an_object_with_two_lists_is_refused(tmp_path: Path) -> None:
    rows = rows_of({"answer": ANSWERS, "human": PEOPLE, "judge": JUDGE})
    file = tmp_path / "t.json"
    file.write_text(json.dumps({"train": rows, "test": rows}), "utf-8")
    with pytest.raises(UserError, match="neither a table nor an export"):
        audited(file)


# --- systems, draws and raters --------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    ["{system}: {what}", "{system} | {what}", "{system}_{what}", "{what} ({system})"],
)
def test_names_of_systems_may_have_several_parts(header: str, tmp_path: Path) -> None:
    columns: dict[str, Sequence[Any]] = {"id": list(range(ROWS))}
    for system in ("qwen-2.5", "phi-4-mini"):
        texts = [f"{system}. {answer}" for answer in ANSWERS]
        columns[header.format(system=system, what="response")] = texts
        columns[header.format(system=system, what="human")] = PEOPLE
        columns[header.format(system=system, what="judge")] = JUDGE
    draft = audited(written(tmp_path / "t.csv", columns))
    assert len(draft.table.rows) == 2 * ROWS
    assert {row["system"] for row in draft.table.rows} == {"qwen-2.5", "phi-4-mini"}
    assert (draft.columns.rated, draft.columns.scored) == (["human"], ["judge"])


@pytest.mark.parametrize(
    "header", ["Claude (run {})", "judge [attempt {}]", "LLM-Note (Durchlauf {})"]
)
def test_the_number_of_a_draw_may_stand_in_brackets(
    header: str, tmp_path: Path
) -> None:
    columns: dict[str, Sequence[Any]] = {"answer": ANSWERS, "human": PEOPLE}
    for number in (1, 2, 3):
        columns[header.format(number)] = JUDGE[number:] + JUDGE[:number]
    draft = audited(written(tmp_path / "t.csv", columns))
    [judge] = draft.columns.scored
    assert all(len(row[judge]) == 3 for row in draft.table.rows)


def test_the_rater_of_a_row_may_stand_in_a_group(tmp_path: Path) -> None:
    raters = ["w7", "w8", "w9"]
    rows = []
    for at in range(20):
        for number, rater in enumerate(raters):
            rating = max(1, PEOPLE[at] - number * (at % 2))
            shown = {"input:text": ANSWERS[at], "input:llm_score": JUDGE[at]}
            given = {"output:rating": rating, "answered.annotator_id": rater}
            rows.append({**shown, **given})
    columns: Columns = {name: [row[name] for row in rows] for name in rows[0]}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert len(draft.table.rows) == 20
    assert all(len(row["output:rating"]) == 3 for row in draft.table.rows)


def test_an_id_of_each_row_is_offered_for_no_system(tmp_path: Path) -> None:
    columns: Columns = {
        "question": [f"How do I open door {at // 4}?" for at in range(ROWS)],
        "answer": [ANSWERS[at // 4] for at in range(ROWS)],
        "link": [f"example.org/{at}" for at in range(ROWS)],
        "version": [f"v{at % 4}" for at in range(ROWS)],
        "human": PEOPLE,
        "judge": JUDGE,
    }
    with pytest.raises(UnclearColumns) as raised:
        audited(written(tmp_path / "t.csv", columns))
    systems = [option.flags["system"] for option in raised.value.options]
    assert ["link"] not in systems and ["version"] in systems


@pytest.mark.parametrize("header", ["run_id", "_annotator_id", "worker id"])
def test_an_id_of_a_run_or_a_rater_is_no_texts_id(header: str, tmp_path: Path) -> None:
    is_run = header == "run_id"
    ids = ["r1" if is_run else f"a{at % 3}" for at in range(ROWS)]
    columns: Columns = {
        header: ids,
        "reply": ANSWERS,
        "human": PEOPLE,
        "judge": JUDGE,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.item == "row" and not draft.columns.anonymous


# --- pairs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [("gpt4", "gpt4_swapped"), ("judge_forward", "judge_reversed")],
)
def test_a_choice_in_the_other_order_is_no_second_judge(
    first: str, second: str, tmp_path: Path
) -> None:
    human = drawn_labels("A", "B")
    reverse = ["A" if each == "B" else "B" for each in human]
    columns: Columns = {
        "text_1": ANSWERS,
        "text_2": ANSWERS[::-1],
        "human": human,
        first: human,
        second: reverse,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.scored == [first]
    assert any(f"column {second}: choices in" in note for note in draft.table.notes)


def test_a_judge_asked_in_the_other_order_alone_stays(tmp_path: Path) -> None:
    human = drawn_labels("A", "B")
    texts = {"text_1": ANSWERS, "text_2": ANSWERS[::-1]}
    columns: Columns = {**texts, "human": human, "judge_reversed": human}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.scored == ["judge_reversed"]


def test_a_choice_may_name_the_column_of_a_text(tmp_path: Path) -> None:
    human = drawn_labels("baseline", "our bot")
    judge = drawn_labels("baseline", "our bot", 8)
    judge[4] = "tie"
    columns: Columns = {
        "question": [f"What is {at}?" for at in range(ROWS)],
        "baseline": ANSWERS,
        "our bot": ANSWERS[::-1],
        "human_preference": human,
        "judge_preference": judge,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.texts == ["baseline", "our bot"]
    assert draft.columns.rated == ["human_preference"]
    assert draft.table.rows[4]["judge_preference"] == 0


# --- words ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["keine Angabe", "n/d", "sans réponse", "未评分", "нет ответа", "무응답"]
)
def test_a_word_for_no_answer_is_no_label(word: str, tmp_path: Path) -> None:
    human = drawn_labels("billing", "shipping")
    judge = list(human)
    human[5] = human[21] = judge[30] = word
    columns: Columns = {"answer": ANSWERS, "human_label": human, "llm_label": judge}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert set(draft.table.labels["human_label"]) == {"billing", "shipping"}
    assert any(f"2 cells say {word!r}" in note for note in draft.table.notes)


def test_ordered_words_are_steps_beside_a_judges_numbers(tmp_path: Path) -> None:
    words = ["never", "rarely", "sometimes", "often", "always"]
    human = [words[each - 1] for each in PEOPLE]
    columns: Columns = {"answer": ANSWERS, "expert": human, "llm": JUDGE}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert [row["expert"] for row in draft.table.rows] == PEOPLE
    assert not draft.table.labels
    assert any("never to always were read as 1 to 5" in n for n in draft.table.notes)


@pytest.mark.parametrize("header", ["Q3", "How useful was this reply?", "Q2_1"])
def test_a_question_of_a_form_is_people_s(header: str, tmp_path: Path) -> None:
    words = ["Poor", "Fair", "Good", "Very good", "Excellent"]
    human = [words[each - 1] for each in PEOPLE]
    columns: Columns = {
        "Progress": [100] * ROWS,
        header: human,
        "shown": ANSWERS,
        "llm": JUDGE,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert (draft.columns.rated, draft.columns.scored) == ([header], ["llm"])


@pytest.mark.parametrize("header", ["judge_reasoning", "评分理由", "KI-Begründung"])
def test_what_a_judge_wrote_is_not_the_judged_text(header: str, tmp_path: Path) -> None:
    reasons = [
        f"{answer} I think that this is right, all in all." for answer in ANSWERS
    ]
    columns: Columns = {
        "shown": ANSWERS,
        header: reasons,
        "human": PEOPLE,
        "judge": JUDGE,
    }
    assert audited(written(tmp_path / "t.csv", columns)).columns.text == "shown"


def test_the_answer_to_q_is_a(tmp_path: Path) -> None:
    asked = [
        f"How do I open the door of house number {at}, please?" for at in range(40)
    ]
    columns: Columns = {"A": ANSWERS, "Q": asked, "human": PEOPLE, "judge": JUDGE}
    read = audited(written(tmp_path / "t.csv", columns)).columns
    assert (read.text, read.source) == ("A", ["Q"])


def test_labels_under_unknown_headers_may_be_either_sides(tmp_path: Path) -> None:
    mine = drawn_labels("so", "nope")
    other = drawn_labels("so", "nope", 4)
    columns: Columns = {"answer": ANSWERS, "Team North": mine, "Team South": other}
    with pytest.raises(UnclearColumns) as raised:
        audited(written(tmp_path / "t.csv", columns))
    flags = [option.flags for option in raised.value.options]
    assert {"judge": ["Team South"], "human": ["Team North"]} in flags


def test_averages_of_parts_of_a_table_are_no_texts(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "bot": ["Alpha"] * 20 + ["Beta"] * 20,
        "question": [f"What is {at}?" for at in range(ROWS)],
        "answer": list(ANSWERS),
        "human": list(PEOPLE),
        "judge": list(JUDGE),
    }
    for name, cells in columns.items():
        cells.insert(20, "Mean of Alpha" if name == "bot" else "")
    columns["human"][20] = columns["judge"][20] = 3.2
    draft = audited(written(tmp_path / "t.csv", columns))
    assert len(draft.table.rows) == ROWS
    assert any("Mean of Alpha" in note for note in draft.table.notes)


# --- files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1251", ("Ответ", "Оценка человека", "Оценка нейросети")),
        ("gb18030", ("回答", "人工评分", "模型评分")),
        ("cp949", ("답변", "사람 점수", "모델 점수")),
        ("cp932", ("応答", "人間の評価", "モデルの評価")),
        ("cp1256", ("الإجابة", "تقييم بشري", "تقييم آلي")),
    ],
)
def test_an_encoding_is_known_by_the_words_of_headers(
    encoding: str, names: tuple[str, str, str], tmp_path: Path
) -> None:
    text, human, judge = names
    texts = [f"{text} {answer}" for answer in ANSWERS]
    columns: Columns = {text: texts, human: PEOPLE, judge: JUDGE}
    draft = audited(written(tmp_path / "t.csv", columns, encoding))
    assert (draft.columns.rated, draft.columns.scored) == ([human], [judge])
    assert any(encoding.upper() in note for note in draft.table.notes)


def test_a_text_of_no_known_encoding_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes("Κείμενο,Άλφα,Βήτα\nΤι είναι αυτό,3,4\n".encode("cp1253"))
    with pytest.raises(UserError, match="not UTF-8") as raised:
        audited(file)
    assert "iconv" in str(raised.value)


def test_merged_cells_of_a_spreadsheet_name_columns_in_two_rows(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    rows: list[list[object]] = [
        ["", "", "Reviewers", "", "Gemini", ""],
        ["No.", "Reply", "tone", "facts", "tone", "facts"],
    ]
    for at, answer in enumerate(ANSWERS):
        other = 6 - PEOPLE[at]
        rows.append([at + 1, answer, PEOPLE[at], other, JUDGE[at], other])
    legend: list[list[object]] = [["step", "meaning"], [1, "bad"], [5, "good"]]
    sheets = {"Ratings": rows, "Legend": legend}
    merged = {"Ratings": ["C1:D1", "E1:F1"]}
    file = write_spreadsheet(tmp_path / "t.xlsx", sheets, merged=merged)
    draft = audited(file)
    assert draft.columns.ratings == {
        "tone": ["Reviewers tone"],
        "facts": ["Reviewers facts"],
    }
    [scores] = draft.columns.judges.values()
    assert scores == {"tone": "Gemini tone", "facts": "Gemini facts"}
    assert draft.columns.text == "Reply"
    assert draft.table.numbers[0] == 3 and len(draft.table.rows) == ROWS


# --- descriptions below a header, skipped tasks, raters' labels -----------------------


def test_a_row_of_units_is_no_text(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "key": ["", *range(ROWS)],
        "answer": ["", *ANSWERS],
        "human": ["points", *PEOPLE],
        "judge": ["points", *JUDGE],
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert len(draft.table.rows) == ROWS
    assert any("row 2 describes the columns" in note for note in draft.table.notes)


def test_statements_of_a_matrix_are_aspects(tmp_path: Path) -> None:
    about = ["How do you like the reply? - Warmth", "How … the reply? - Brevity"]
    columns: dict[str, list[Any]] = {
        "Q4_1": [about[0], '{"ImportId":"QID4_1"}', *PEOPLE],
        "Q4_2": [about[1], '{"ImportId":"QID4_2"}', *JUDGE],
        "shown": ["shown", '{"ImportId":"shown"}', *ANSWERS],
        "gpt_warmth": ["gpt_warmth", '{"ImportId":"w"}', *JUDGE],
        "gpt_brevity": ["gpt_brevity", '{"ImportId":"b"}', *PEOPLE],
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.ratings == {
        "warmth": ["Warmth (Q4_1)"],
        "brevity": ["Brevity (Q4_2)"],
    }
    [scores] = draft.columns.judges.values()
    assert scores == {"warmth": "gpt_warmth", "brevity": "gpt_brevity"}


@pytest.mark.parametrize("with_options", [True, False])
def test_skipped_tasks_of_prodigy_are_left_out(
    with_options: bool, tmp_path: Path
) -> None:
    human = drawn_labels("accept", "reject")
    rows = []
    for at, answer in enumerate(ANSWERS):
        skips = at in (3, 9)
        row = {"text": answer, "_task_hash": at * 7, "judge": human[at]}
        if with_options:
            row["judge"] = "fine" if human[at] == "accept" else "poor"
            row["accept"] = [] if skips else [row["judge"]]
            row["answer"] = "reject" if skips else "accept"
        else:
            row["answer"] = "ignore" if skips else human[at]
        rows.append(row)
    draft = audited(lines_of(tmp_path / "t.jsonl", rows))
    column = "accept (annotator)" if with_options else "answer"
    assert draft.columns.rated == [column]
    assert len(draft.table.rows) == ROWS - 2
    assert any("2 rows were left out" in note for note in draft.table.notes)


def test_labels_of_raters_in_rows_are_columns(tmp_path: Path) -> None:
    human = drawn_labels("safe", "unsafe")
    rows = []
    for at in range(20):
        for number, coder in enumerate(["c1", "c2"]):
            label = human[at + number * (at % 3 == 0)]
            shown = {"reply": ANSWERS[at], "llm_label": human[at]}
            rows.append({**shown, "coder": coder, "label": label, "minutes": at % 4})
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.ratings == {"overall": ["label (c1)", "label (c2)"]}
    assert draft.columns.scored == ["llm_label"] and len(draft.table.rows) == 20


def test_rows_of_raters_without_a_text_are_no_answers(tmp_path: Path) -> None:
    columns: Columns = {
        "question": [f"How do I open door {at // 4}?" for at in range(ROWS)],
        "worker_id": [f"w{at % 4}" for at in range(ROWS)],
        "human": PEOPLE,
        "judge": JUDGE,
    }
    with pytest.raises(UnclearColumns, match="row a rater's") as raised:
        audited(written(tmp_path / "t.csv", columns))
    assert raised.value.options == ()


@pytest.mark.parametrize(
    "cells",
    [
        ["['rude', 'long']", "['long', 'wrong']", "['rude', 'wrong']"],
        ["rude|long", "long|wrong", "wrong|rude"],
    ],
)
def test_cells_with_several_labels_are_refused(
    cells: list[str], tmp_path: Path
) -> None:
    drawn = random.Random(1)
    human = [drawn.choice(cells) for _ in range(ROWS)]
    judge = [drawn.choice(cells) for _ in range(ROWS)]
    columns: Columns = {"post": ANSWERS, "human_tags": human, "llm_tags": judge}
    with pytest.raises(UserError, match="several labels each"):
        audited(written(tmp_path / "t.csv", columns))


def test_a_label_with_a_comma_is_a_single_label(tmp_path: Path) -> None:
    human = drawn_labels("yes, fully", "no, not at all")
    columns: Columns = {"post": ANSWERS, "human": human, "llm": human}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert len(draft.table.labels["human"]) == 2


@pytest.mark.parametrize(
    "header", ["annotator_sex", "rater country", "expert_seniority"]
)
def test_what_describes_a_rater_is_no_rating(header: str, tmp_path: Path) -> None:
    about = [at * 7 % 3 for at in range(ROWS)]
    columns: Columns = {
        "answer": ANSWERS,
        header: about,
        "rating": PEOPLE,
        "llm_rating": JUDGE,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert (draft.columns.rated, draft.columns.scored) == (["rating"], ["llm_rating"])
    assert draft.columns.unused[header] == "it describes who rated"


@pytest.mark.parametrize(
    "header", ["Resposta do modelo", "Respuesta del asistente", "Ответы системы"]
)
def test_the_noun_of_a_text_may_stand_first(header: str, tmp_path: Path) -> None:
    reasons = [f"{answer} It says all that is needed, I think." for answer in ANSWERS]
    more: dict[str, Columns] = {
        "Resposta do modelo": {"Avaliação humana": PEOPLE, "Avaliação IA": JUDGE},
        "Respuesta del asistente": {"Nota humana": PEOPLE, "Nota juez": JUDGE},
        "Ответы системы": {"Оценка эксперта": PEOPLE, "Оценка судьи": JUDGE},
    }
    columns: Columns = {"notas": reasons, header: ANSWERS, **more[header]}
    assert audited(written(tmp_path / "t.csv", columns)).columns.text == header


@pytest.mark.parametrize("tie", ["=", "==", "≈"])
def test_a_sign_of_equality_is_a_tie(tie: str, tmp_path: Path) -> None:
    human = drawn_labels("2", "1")
    human[4] = tie
    columns: Columns = {
        "reply 1": ANSWERS,
        "reply 2": ANSWERS[::-1],
        "expert": human,
        "llm": human,
    }
    draft = audited(written(tmp_path / "t.csv", columns))
    assert draft.columns.texts == ["reply 1", "reply 2"]
    assert draft.table.rows[4]["expert"] == 0


def test_per_cent_may_have_a_decimal_comma(tmp_path: Path) -> None:
    human = [f"{each * 10},5 %" for each in PEOPLE]
    columns: Columns = {"Antwort": ANSWERS, "Mensch": human, "KI": JUDGE}
    draft = audited(written(tmp_path / "t.csv", columns))
    assert [row["Mensch"] for row in draft.table.rows] == [p * 10 + 0.5 for p in PEOPLE]
