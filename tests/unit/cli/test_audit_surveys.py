"""How audit reads what survey tools and spreadsheets write: merged headers, rows of
participants, graded preferences, further languages.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError
from judgescope.data.merged_headers import merged_names

QUALITY = (4, 2, 5, 1, 3, 3, 5, 2, 4, 1, 2, 5)


def read(rows: Sequence[Sequence[object]], folder: Path) -> StudyDraft:
    """Return the study that audit makes of a table; the first row is its header."""
    file = folder / "table.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(rows)
    words = ["audit", str(file)]
    args: argparse.Namespace = command_line(only_audit=True).parse_args(words)
    return draft_of(args, {})


def answer(at: int) -> str:
    return f"Answer {at} tells the reader enough about the question, {'x ' * at}."


def test_a_header_of_merged_cells_names_columns_in_two_rows(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["", "", "Human", "", "LLM judge", ""],
        ["prompt", "answer", "fluency", "accuracy", "fluency", "accuracy"],
    ]
    for at, value in enumerate(QUALITY):
        rows.append([f"What is {at}?", answer(at), value, 6 - value, value, value])
    draft = read(rows, tmp_path)
    assert draft.columns.ratings == {
        "fluency": ["Human fluency"],
        "accuracy": ["Human accuracy"],
    }
    [scores] = draft.columns.judges.values()
    assert scores == {
        "fluency": "LLM judge fluency",
        "accuracy": "LLM judge accuracy",
    }
    assert (draft.columns.text, draft.columns.source) == ("answer", ["prompt"])
    assert draft.table.numbers[0] == 3
    assert "one header with merged cells" in " ".join(draft.table.notes)


@pytest.mark.parametrize(
    "below",
    [
        ["7", "pass", "fail"],  # labels, which occur again
        ["7", "4", "late"],  # a number is no name
        ["seven", "a remark of more than forty characters, as texts are", "late"],
        ["seven", "pass", ""],
    ],
)
def test_a_first_row_of_data_is_no_second_header(below: list[str]) -> None:
    rest = [["8", "pass", "fail"], ["9", "fail", "fail"]]
    assert merged_names(["id", "Human", ""], below, rest) is None


def test_rows_of_participants_are_joined_beside_a_judges_score(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["stimulus_id", "stimulus", "participant_id", "rating", "llm_score"]
    ]
    for at, value in enumerate(QUALITY):
        for more, person in enumerate(("P1", "P2", "P3")):
            given = min(5, value + more % 2)
            rows.append([f"S{at}", answer(at), person, given, value])
    draft = read(rows, tmp_path)
    assert draft.columns.ratings == {"overall": ["P1", "P2", "P3"]}
    assert draft.columns.judges == {"llm_score": {"*": "llm_score"}}
    assert len(draft.table.rows) == len(QUALITY)
    assert [row["llm_score"] for row in draft.table.rows] == list(map(str, QUALITY))


def test_scores_that_differ_within_a_text_are_not_a_single_score(
    tmp_path: Path,
) -> None:
    rows: list[list[object]] = [["stimulus", "participant_id", "rating", "llm_score"]]
    for at, value in enumerate(QUALITY):
        for more, person in enumerate(("P1", "P2")):
            rows.append([answer(at), person, value, value + more])
    with pytest.raises(UserError, match="judge"):
        read(rows, tmp_path)


GRADED = (
    ("left is much better", 1),
    ("left is slightly better", 1),
    ("about the same", 0),
    ("right is slightly better", 2),
    ("right is much better", 2),
    ("left is worse than right", 2),
    ("no preference", 0),
    ("both are equally good", 0),
)


def test_graded_preferences_are_choices(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["prompt", "left", "right", "annotator choice", "llm choice"]
    ]
    for at in range(16):
        word = GRADED[at % len(GRADED)][0]
        other = GRADED[(at + at % 3) % len(GRADED)][0]
        rows.append([f"What is {at}?", answer(at), answer(at + 20), word, other])
    draft = read(rows, tmp_path)
    assert draft.columns.ratings == {"overall": ["annotator choice"]}
    assert draft.columns.texts == ["left", "right"]
    chosen = [row["annotator choice"] for row in draft.table.rows]
    assert [int(value) for value in chosen] == [code for _, code in GRADED] * 2


LANGUAGES = {
    "pt": ["pergunta", "resposta", "nota humana", "nota do GPT"],
    "it": ["domanda", "risposta", "voto umano", "giudizio di GPT"],
    "nl": ["vraag", "antwoord", "menselijke beoordeling", "beoordeling model"],
    "pl": ["pytanie", "odpowiedź", "ocena człowieka", "ocena modelu"],
    "ko": ["질문", "답변", "사람 평가", "모델 평가"],
    "zh": ["问题", "回答", "评分员", "模型打分"],
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_of_a_language_name_roles(language: str, tmp_path: Path) -> None:
    header = LANGUAGES[language]
    rows: list[list[object]] = [[*header]]
    for at, value in enumerate(QUALITY):
        rows.append([f"About {at}?", answer(at), value, min(5, value + at % 2)])
    columns = read(rows, tmp_path).columns
    assert (columns.source, columns.text) == (header[:1], header[1])
    assert columns.rated == [header[2]] and columns.scored == [header[3]]


SPELLINGS: dict[str, tuple[list[str], list[float]]] = {
    "signs": (["--", "-", "0", "+", "++"], [-2, -1, 0, 1, 2]),
    "plus and minus": (["-", "-", "-", "+", "+"], [0, 0, 0, 1, 1]),
    "fractions": (
        ["1.0 / 6.0", "2.0 / 6.0", "3.5/6.0", "4/6.0", "5/6.0"],
        [1, 2, 3.5, 4, 5],
    ),
    "of": (
        ["1 von 6 Punkten", "2 von 6", "3 von 6", "4 von 6", "5 von 6"],
        [1, 2, 3, 4, 5],
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_cells_of_a_scale_are_its_numbers(spelling: str, tmp_path: Path) -> None:
    cells, wanted = SPELLINGS[spelling]
    rows: list[list[object]] = [["answer", "human", "judge"]]
    for at, value in enumerate(QUALITY):
        rows.append([answer(at), cells[value - 1], cells[QUALITY[at - 1] - 1]])
    draft = read(rows, tmp_path)
    assert draft.columns.rated == ["human"] and draft.columns.scored == ["judge"]
    read_as = [float(row["human"]) for row in draft.table.rows]
    assert read_as == [wanted[value - 1] for value in QUALITY]


def test_a_dash_without_a_plus_is_a_missing_value(tmp_path: Path) -> None:
    rows: list[list[object]] = [["answer", "human", "judge"]]
    for at, value in enumerate(QUALITY):
        rows.append([answer(at), "-" if at == 3 else value, value])
    draft = read(rows, tmp_path)
    assert len(draft.table.filled("human")) == len(QUALITY) - 1


def test_a_row_that_describes_the_columns_is_left_out(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Respondent ID", "Please read the text.", "How good is it?", "GPT-4 score"],
        ["", "Open-Ended Response", "Response", "Response"],
    ]
    for at, value in enumerate(QUALITY):
        rows.append([1180 + at, answer(at), value, value])
    draft = read(rows, tmp_path)
    assert len(draft.table.rows) == len(QUALITY)
    assert "(SurveyMonkey)" in " ".join(draft.table.notes)
    assert draft.columns.rated == ["How good is it?"]


def test_answers_of_a_german_questionnaire_are_ordered(tmp_path: Path) -> None:
    words = [
        "trifft nicht zu",
        "trifft eher nicht zu",
        "trifft eher zu",
        "trifft zu",
    ]
    rows: list[list[object]] = [["Antwort", "Mensch", "KI"]]
    for at, value in enumerate(QUALITY):
        word = words[min(3, value - 1)]
        rows.append([answer(at), word, words[min(3, QUALITY[at - 1] - 1)]])
    assert read(rows, tmp_path).scales["overall"]["labels"] == words
