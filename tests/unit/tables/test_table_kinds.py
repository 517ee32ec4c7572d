"""Further examples of the kinds of the pack (tests/cases/tables): other headers,
languages, words, ways of writing and separators.
"""

import csv
import io
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors
from judgescope.tables.spelling import is_missing

ROWS = 50


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def sides(draft: StudyDraft) -> tuple[list[str], list[str]]:
    return draft.columns.rated, draft.columns.scored


def counted(draft: StudyDraft) -> int:
    """Return how many rows have a rating and a score."""
    count = 0
    for row in draft.table.rows:
        both = [*draft.columns.rated, *draft.columns.scored]
        count += not any(is_missing(row.get(name)) for name in both)
    return count


def answers() -> list[str]:
    drawn = random.Random(3)
    return [f"It takes {drawn.randint(2, 90)} days, we say." for _ in range(ROWS)]


def drawn_pair(words: Sequence[str], seed: int = 1) -> tuple[list[str], list[str]]:
    """Return what a person says of each text, and what a judge says, often the same."""
    drawn = random.Random(seed)
    human = [drawn.choice(words) for _ in range(ROWS)]
    judge = [each if drawn.random() < 0.8 else drawn.choice(words) for each in human]
    return human, judge


def write(
    file: Path,
    columns: Mapping[str, Sequence[str]],
    *,
    separator: str = ",",
    encoding: str = "utf-8",
    before: str = "",
) -> Path:
    text = io.StringIO(newline="")
    text.write(before)
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    file.write_bytes(text.getvalue().encode(encoding))
    return file


def table(
    file: Path,
    words: Sequence[str] = ("1", "2", "3", "4", "5"),
    names: tuple[str, str] = ("human", "judge"),
    more: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    human, judge = drawn_pair(words)
    ids = [f"t{at}" for at in range(ROWS)]
    columns = {"id": ids, "answer": answers(), names[0]: human, names[1]: judge}
    return write(file, {**columns, **(more or {})})


@pytest.mark.parametrize(
    "names",
    [
        ("expert_rating", "gpt-4.1 score"),
        ("gold", "pred"),
        ("y_true", "y_hat"),
        ("people", "machine"),
        ("humanScore", "judgeScore"),
        ("Human Score (1-5)", "LLM Score (1-5)"),
        ("crowd_mean", "BERTScore"),
        ("user_rating", "evaluator_score"),
        ("reviewer", "o3-mini"),
        ("Bewertung Mensch", "Bewertung KI"),
        ("evaluación_humana", "evaluación_ia"),
        ("人工打分", "模型打分"),
        ("人手評価", "自動評価"),
        ("оценка человека", "оценка модели"),
        ("note humaine", "note du juge"),
    ],
)
def test_headers_name_people_and_a_judge(
    names: tuple[str, str], tmp_path: Path
) -> None:
    draft = audited(table(tmp_path / "t.csv", names=names))
    assert sides(draft) == ([names[0]], [names[1]]) and counted(draft) == ROWS


@pytest.mark.parametrize(
    "words",
    [
        ["non-compliant", "compliant"],
        ["not legit", "legit"],
        ["untruthful", "truthful"],
        ["non", "oui"],
        ["нет", "да"],
        ["いいえ", "はい"],
        ["不支持", "支持"],
        ["hallucinated", "faithful"],
        ["complied", "refused"],
        ["wrong", "partially correct", "correct"],
        ["billing", "shipping", "returns"],
        ["KO", "OK"],
        ["✗", "✓"],
        ["F", "D", "C", "B", "A"],
    ],
)
def test_words_are_labels(words: list[str], tmp_path: Path) -> None:
    draft = audited(table(tmp_path / "t.csv", words))
    assert draft.labelled == ["overall"] and counted(draft) == ROWS


@pytest.mark.parametrize("word", ["ERROR", "Timeout", "skipped"])
@pytest.mark.parametrize("words", [["fail", "pass"], ["ungrounded", "grounded"]])
def test_a_word_for_no_label_is_left_out(
    word: str, words: list[str], tmp_path: Path
) -> None:
    file = table(tmp_path / "t.csv", words)
    lines = file.read_text("utf-8").splitlines()
    for at in (3, 9, 14):
        lines[at] = f"{lines[at].rpartition(',')[0]},{word}"
    file.write_text("\n".join(lines), "utf-8")
    draft = audited(file)
    assert counted(draft) == ROWS - 3
    assert any(f"3 cells say {word!r}" in note for note in draft.table.notes)


def test_a_word_that_both_sides_use_is_a_label(tmp_path: Path) -> None:
    draft = audited(table(tmp_path / "t.csv", ["fail", "unsure", "pass"]))
    assert len(draft.scales["overall"]["labels"]) == 3


@pytest.mark.parametrize(
    "words",
    [
        ["1/7", "4/7", "7/7"],
        ["20 %", "60 %", "100 %"],
        ["★☆☆", "★★☆", "★★★"],
        ["1: bad", "2: fair", "3: good"],
        ["bad (1)", "fair (2)", "good (3)"],
        ["１", "２", "３"],
        ["−1", "0", "1"],
        ["1,5", "2,5", "3"],
        ["[1]", "[2]", "[3]"],
        ['="1"', '="2"', '="3"'],
        ["1,200", "2,400", "3,900"],
    ],
)
def test_numbers_are_read_as_people_write_them(
    words: list[str], tmp_path: Path
) -> None:
    draft = audited(table(tmp_path / "t.csv", words))
    assert sides(draft) == (["human"], ["judge"]) and not draft.labelled
    assert counted(draft) == ROWS and len(set(draft.table.values(["human"]))) == 3


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ("-1", "-1 occurs 4 times"),
        ("-999", "-999 occurs 4 times"),
        ("REFUSED", "4 cells say 'REFUSED'"),
        ("no score", "4 cells say 'no score'"),
        ("weiß nicht", "4 cells say 'weiß nicht'"),
        ("—", ""),
    ],
)
@pytest.mark.parametrize("names", [("human", "judge"), ("judge", "human")])
def test_what_stands_for_no_score_is_left_out_of_either_side(
    cells: str, told: str, names: tuple[str, str], tmp_path: Path
) -> None:
    file = table(tmp_path / "t.csv", names=names)
    lines = file.read_text("utf-8").splitlines()
    for at in (3, 9, 14, 27):
        lines[at] = f"{lines[at].rpartition(',')[0]},{cells}"
    file.write_text("\n".join(lines), "utf-8")
    draft = audited(file)
    assert counted(draft) == ROWS - 4
    assert any(told in note for note in draft.table.notes) or not told


def test_a_value_off_the_scale_of_both_sides_is_no_score(tmp_path: Path) -> None:
    human, judge = drawn_pair(["1", "2", "3", "4", "5"])
    for at in (3, 9, 14):
        human[at] = judge[at] = "-1"
    columns = {"answer": answers(), "human": human, "judge": judge}
    assert counted(audited(write(tmp_path / "t.csv", columns))) == ROWS - 3


COVARIATES = {
    "latency": [f"{at * 7 % 31 / 10}" for at in range(ROWS)],
    "attempt": [str(1 + at * 3 % 4) for at in range(ROWS)],
    "judge_confidence": [f"{at * 3 % 10 / 10}" for at in range(ROWS)],
    "annotator_age": [str(20 + at * 7 % 40) for at in range(ROWS)],
    "human_is_expert": [str(at * 3 % 2) for at in range(ROWS)],
    "Dauer": [str(1 + at * 7 % 9) for at in range(ROWS)],
    "置信度": [f"{at * 3 % 10 / 10}" for at in range(ROWS)],
    "priority": [str(1 + at * 3 % 5) for at in range(ROWS)],
    "x": [str(1 + at * 3 % 5) for at in range(ROWS)],
}


@pytest.mark.parametrize("name", COVARIATES)
@pytest.mark.parametrize("sides_named", [("human", "judge"), ("rating", "llm_rating")])
def test_another_number_is_neither_rating_nor_score(
    name: str, sides_named: tuple[str, str], tmp_path: Path
) -> None:
    more = {name: COVARIATES[name]}
    draft = audited(table(tmp_path / "t.csv", names=sides_named, more=more))
    assert sides(draft) == ([sides_named[0]], [sides_named[1]])


@pytest.mark.parametrize(
    "name", ["Ø", "Std. dev.", "N = 50", "Promedio", "合计", "Итого", "average score"]
)
def test_a_last_row_of_averages_is_no_text(name: str, tmp_path: Path) -> None:
    human, judge = drawn_pair(["1", "2", "3", "4", "5"])
    columns: dict[str, Sequence[str]] = {
        "id": [*[f"t{at}" for at in range(ROWS)], name],
        "answer": [*answers(), ""],
        "human": [*human, "3.1"],
        "judge": [*judge, "3.2"],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert counted(draft) == ROWS
    assert any(name in note for note in draft.table.notes)


@pytest.mark.parametrize(
    ("separator", "encoding", "before"),
    [
        (";", "utf-8", ""),
        ("|", "utf-8-sig", ""),
        ("\t", "utf-16", ""),
        (",", "cp1252", ""),
        (";", "utf-8", "sep=;\r\n"),
        (";", "utf-8", "Export\r\nTeam A\r\n"),
    ],
)
def test_a_file_is_opened_by_its_content(
    separator: str, encoding: str, before: str, tmp_path: Path
) -> None:
    human, judge = drawn_pair(["1", "2", "3", "4", "5"])
    columns = {"Größe": answers(), "human": human, "judge": judge}
    file = tmp_path / "t.csv"
    write(file, columns, separator=separator, encoding=encoding, before=before)
    draft = audited(file)
    assert sides(draft) == (["human"], ["judge"]) and counted(draft) == ROWS
    # The place of each row in the file is known: its first line is the header's next.
    assert draft.table.lines[draft.table.numbers[0]] == 2 + before.count("\n")


def test_a_verdict_and_its_number_are_one_judge(tmp_path: Path) -> None:
    human, judge = drawn_pair(["fail", "pass"])
    number = {"fail": "0.2", "pass": "0.9"}
    columns = {
        "answer": answers(),
        "human": human,
        "gpt_label": judge,
        "gpt_score": [number[word] for word in judge],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.scored == ["gpt_label"] and draft.labelled == ["overall"]


def test_rewards_of_two_texts_are_a_choice(tmp_path: Path) -> None:
    drawn = random.Random(5)
    rewards = [[f"{drawn.gauss(0, 1):.3f}" for _ in range(ROWS)] for _ in "ab"]
    columns = {
        "prompt": [f"Question {at}?" for at in range(ROWS)],
        "chosen": answers(),
        "rejected": [f"{text} No." for text in answers()],
        "rm_score_chosen": rewards[0],
        "rm_score_rejected": rewards[1],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    first, _ = draft.columns.texts
    people, judge = sides(draft)
    assert len(people) == len(judge) == 1
    stood_first = set()
    for row, better, worse in zip(draft.table.rows, *rewards, strict=True):
        is_first = row[first] in columns["chosen"]
        stood_first.add(is_first)
        assert row[people[0]] == (1 if is_first else 2)
        prefers_chosen = float(better) > float(worse)
        assert row[judge[0]] == (1 if prefers_chosen == is_first else 2)
    # Otherwise "always the first" would be right.
    assert stood_first == {True, False}


def test_chosen_texts_with_other_headers_stand_at_random_places(tmp_path: Path) -> None:
    drawn = random.Random(5)
    rewards = [[f"{drawn.gauss(0, 1):.3f}" for _ in range(ROWS)] for _ in "ab"]
    columns = {
        "prompt": [f"Question {at}?" for at in range(ROWS)],
        "Chosen answer": answers(),
        "Rejected answer": [f"{text} No." for text in answers()],
        "rm_score_chosen": rewards[0],
        "rm_score_rejected": rewards[1],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert sides(draft) == (["preferred"], ["rm_score_chosen"])
    right = 0
    texts = draft.columns.texts
    for at, row in enumerate(draft.table.rows):
        chosen = row[texts[int(row["preferred"]) - 1]]
        assert chosen == columns["Chosen answer"][at]
        judged = row[texts[int(row["rm_score_chosen"]) - 1]]
        is_larger = float(rewards[0][at]) > float(rewards[1][at])
        assert (judged == chosen) == is_larger
        right += row["preferred"] == 1
    # A judge that always chooses the first text is right in about half of the rows.
    assert 0.3 * ROWS < right < 0.7 * ROWS


@pytest.mark.parametrize("words", [["1", "2", "3"], ["yes", "no"]])
def test_headers_without_a_meaning_get_no_verdict(
    words: list[str], tmp_path: Path
) -> None:
    human, judge = drawn_pair(words)
    columns = {"c0": answers(), "c1": human, "c2": judge}
    with pytest.raises((UserError, UserErrors)):
        audited(write(tmp_path / "t.csv", columns))
