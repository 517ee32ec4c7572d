"""Tables as pandas, Markdown and people save them: two levels of columns, objects of
columns, no header, letters for sides; and pairs in other languages.
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
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.merged_headers import merged_names

ROWS = 30
DRAWN = random.Random(21)
PEOPLE = [DRAWN.randint(1, 5) for _ in range(ROWS)]
JUDGE = [min(5, each + DRAWN.randint(0, 1)) for each in PEOPLE]
ANSWERS = [f"It takes {at} days until number {at * 3} arrives." for at in range(ROWS)]
COLUMNS: Mapping[str, Sequence[Any]] = {
    "reply": ANSWERS,
    "expert": PEOPLE,
    "llm": JUDGE,
}


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def table(file: Path, rows: Sequence[Sequence[object]]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows(rows)
    return file


def of_columns(file: Path, columns: Mapping[str, Sequence[object]]) -> Path:
    return table(file, [[*columns], *zip(*columns.values(), strict=True)])


def assert_read(draft: StudyDraft) -> None:
    """Fail unless the table is read as COLUMNS."""
    assert (draft.columns.rated, draft.columns.scored) == (["expert"], ["llm"])
    assert [int(row["expert"]) for row in draft.table.rows] == PEOPLE
    assert draft.columns.text == "reply"


def test_two_levels_of_columns_are_a_single_header(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["", "answer", "expert", "expert", "llm", "llm"],
        ["", "", "warmth", "brevity", "warmth", "brevity"],
    ]
    for at, answer in enumerate(ANSWERS):
        other = 6 - PEOPLE[at]
        rows.append([at, answer, PEOPLE[at], other, JUDGE[at], other])
    draft = audited(table(tmp_path / "t.csv", rows))
    assert draft.columns.ratings == {
        "warmth": ["expert warmth"],
        "brevity": ["expert brevity"],
    }
    [scores] = draft.columns.judges.values()
    assert scores == {"warmth": "llm warmth", "brevity": "llm brevity"}


def test_columns_of_the_same_name_above_data_stay_two() -> None:
    header = ["id", "Score", "Score"]
    assert merged_names(header, ["7", "3", "4"], [["8", "3", "5"]]) is None


def test_a_table_of_markdown_is_read(tmp_path: Path) -> None:
    lines = ["| reply | expert | llm |", "|:------|-------:|:---:|"]
    for reply, human, judge in zip(ANSWERS, PEOPLE, JUDGE, strict=True):
        lines.append(f"| {reply} | {human} | {judge} |")
    file = tmp_path / "t.md"
    file.write_text("\n".join(lines), "utf-8")
    assert_read(audited(file))


@pytest.mark.parametrize("form", ["columns", "split", "index"])
def test_an_object_that_pandas_saves_is_read(form: str, tmp_path: Path) -> None:
    places = [str(at) for at in range(ROWS)]
    rows = [
        dict(zip(COLUMNS, row, strict=True))
        for row in zip(*COLUMNS.values(), strict=True)
    ]
    content: dict[str, Any] = {}
    if form == "columns":
        for name, cells in COLUMNS.items():
            content[name] = dict(zip(places, cells, strict=True))
    elif form == "split":
        cells = [list(row.values()) for row in rows]
        content = {"columns": [*COLUMNS], "index": places, "data": cells}
    else:
        content = {
            f"item {location}": row for location, row in zip(places, rows, strict=True)
        }
    file = tmp_path / "t.json"
    file.write_text(json.dumps(content), "utf-8")
    assert_read(audited(file))


def test_objects_of_settings_are_no_rows(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    settings = {"name": "a", "score": 1}
    file.write_text(json.dumps({"first": settings, "second": settings}), "utf-8")
    with pytest.raises(UserError, match="neither a table nor an export"):
        audited(file)


def test_a_first_row_of_data_is_no_header(tmp_path: Path) -> None:
    long = [f"{answer} This is all that we can say about it." for answer in ANSWERS]
    rows = [list(row) for row in zip(range(ROWS), long, PEOPLE, JUDGE, strict=True)]
    with pytest.raises(UserError, match="no names of columns") as raised:
        audited(table(tmp_path / "t.csv", rows))
    assert "add a row above it" in str(raised.value)


def test_letters_may_stand_for_a_human_and_a_judge(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "reply": ANSWERS,
        "J-warmth": JUDGE,
        "H-warmth": PEOPLE,
    }
    more = {"J-brevity": PEOPLE, "H-brevity": JUDGE}
    file = of_columns(tmp_path / "t.csv", {**columns, **more})
    with pytest.raises(UnclearColumns) as raised:
        audited(file)
    assert {
        "judge": ["J-brevity", "J-warmth"],
        "human": ["brevity=H-brevity", "warmth=H-warmth"],
    } in [
        {flag: sorted(values) for flag, values in option.flags.items()}
        for option in raised.value.options
    ]
    first = raised.value.options[0]
    draft = audited(file, *first.words)
    assert draft.columns.scored == first.flags["judge"]


@pytest.mark.parametrize(
    "names",
    [
        ("judge_p_correct", "judge_p_incorrect"),
        ("llm P(true)", "llm P(false)"),
        ("gpt4_p_toxic", "gpt4_p_safe"),
    ],
)
def test_probabilities_of_labels_are_no_judges(
    names: tuple[str, str], tmp_path: Path
) -> None:
    chances = [each / 6 for each in JUDGE]
    opposite = [1 - each for each in chances]
    labels = ["good" if each > 2 else "bad" for each in PEOPLE]
    columns: dict[str, Sequence[object]] = {"reply": ANSWERS, "human_label": labels}
    both = {names[0]: chances, names[1]: opposite}
    with pytest.raises((UserError, UserErrors), match="the probability of a label"):
        audited(of_columns(tmp_path / "t.csv", {**columns, **both}))
    judged = {**columns, "llm_label": labels, **both}
    draft = audited(of_columns(tmp_path / "t.csv", judged))
    assert draft.columns.scored == ["llm_label"]


def test_a_model_is_offered_as_a_judge_alone(tmp_path: Path) -> None:
    labels = ["nay" if each > 2 else "yea" for each in PEOPLE]
    columns: dict[str, Sequence[object]] = {
        "reply": ANSWERS,
        "Team South": labels,
        "Claude": labels,
    }
    with pytest.raises(UnclearColumns) as raised:
        audited(of_columns(tmp_path / "t.csv", columns))
    [option] = raised.value.options
    assert option.flags == {"judge": ["Claude"], "human": ["Team South"]}


@pytest.mark.parametrize(
    ("names", "tie"),
    [
        (("réponse A", "réponse B", "choix humain", "choix du juge"), "égalité"),
        (("risposta 1", "risposta 2", "scelta umana", "scelta giudice"), "pareggio"),
        (("응답A", "응답B", "전문가 선호", "모델 선호"), "무승부"),
        (("ответ 1", "ответ 2", "выбор эксперта", "выбор модели"), "ничья"),
        (("Output A", "Output B", "Mensch Wahl", "Sprachmodell Wahl"), "gleich"),
    ],
)
def test_pairs_of_other_languages_are_pairs(
    names: tuple[str, str, str, str], tie: str, tmp_path: Path
) -> None:
    first, second = names[0][-1], names[1][-1]
    words = {1: first, 2: first, 3: tie, 4: second, 5: second}
    human = [words[each] for each in PEOPLE]
    judge = [words[each] for each in JUDGE]
    cells = (ANSWERS, ANSWERS[::-1], human, judge)
    file = of_columns(tmp_path / "t.csv", dict(zip(names, cells, strict=True)))
    draft = audited(file)
    assert draft.columns.texts == list(names[:2])
    assert draft.columns.rated == [names[2]] and draft.columns.scored == [names[3]]
    codes = {1: 1, 2: 1, 3: 0, 4: 2, 5: 2}
    chosen = [row[names[2]] for row in draft.table.rows]
    assert chosen == [codes[each] for each in PEOPLE]


@pytest.mark.parametrize("word", ["Gemiddelde", "المتوسط", "Totale", "평균"])
def test_averages_of_other_languages_are_no_texts(word: str, tmp_path: Path) -> None:
    ids = [f"t{at}" for at in range(ROWS)]
    file = of_columns(tmp_path / "t.csv", {"id": ids, **COLUMNS})
    with file.open("a", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerow([word, "", 3.1, 3.4])
    assert_read(audited(file))
