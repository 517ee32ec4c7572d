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
from judgescope.cli.init.cards import StudyDraft, aspect_title
from judgescope.cli.init.open_readings import UnclearColumns
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
    ("cells", "note"),
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
    cells: str, note: str, names: tuple[str, str], tmp_path: Path
) -> None:
    file = table(tmp_path / "t.csv", names=names)
    lines = file.read_text("utf-8").splitlines()
    for at in (3, 9, 14, 27):
        lines[at] = f"{lines[at].rpartition(',')[0]},{cells}"
    file.write_text("\n".join(lines), "utf-8")
    draft = audited(file)
    assert counted(draft) == ROWS - 4
    assert any(note in each for each in draft.table.notes) or not note


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


def test_a_verdict_and_its_number_are_a_single_judge(tmp_path: Path) -> None:
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


# --- whose column it is ---------------------------------------------------------------


def ratings_of(file: Path, *names: str) -> Path:
    """Write five-point ratings under some headers, most of them alike."""
    words = ["1", "2", "3", "4", "5"]
    human, _ = drawn_pair(words)
    drawn = random.Random(7)
    columns: dict[str, Sequence[str]] = {"answer": answers()}
    for name in names:
        cells = [
            each if drawn.random() < 0.8 else drawn.choice(words) for each in human
        ]
        columns[name] = cells
    return write(file, columns)


@pytest.mark.parametrize(
    "names",
    [("JK", "MB", "SL", "gpt4"), ("zing", "zang", "llm_score"), ("Q1", "Q2", "gpt4")],
)
def test_columns_of_raters_or_of_aspects_are_asked_about(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    *people, judge = names
    file = ratings_of(tmp_path / "t.csv", *names)
    with pytest.raises(
        UnclearColumns, match="several raters, or of several aspects"
    ) as e:
        audited(file)
    raters, aspects = e.value.options
    draft = audited(file, *raters.words)
    assert draft.columns.ratings == {"overall": people}
    assert draft.columns.scored == [judge]
    assert len(audited(file, *aspects.words).columns.ratings) == len(people)


@pytest.mark.parametrize(
    ("names", "ratings"),
    [
        (("Marie", "Paul", "LLM"), {"overall": ["Marie", "Paul"]}),
        (("R1", "R2", "gpt4"), {"overall": ["R1", "R2"]}),
        (("A", "B", "C", "gpt4"), {"overall": ["A", "B", "C"]}),
        (("rater JK", "rater MB", "llm"), {"overall": ["rater JK", "rater MB"]}),
        (("tone_anna", "tone_ben", "gpt4"), {"tone": ["tone_anna", "tone_ben"]}),
        (("tone", "style", "gpt4"), {"tone": ["tone"], "style": ["style"]}),
        (("grader A", "grader B", "gpt4"), {"overall": ["grader A", "grader B"]}),
    ],
)
def test_names_and_numbers_of_raters_are_raters_of_a_single_aspect(
    names: tuple[str, ...], ratings: dict[str, list[str]], tmp_path: Path
) -> None:
    draft = audited(ratings_of(tmp_path / "t.csv", *names))
    assert draft.columns.ratings == ratings and draft.columns.scored == [names[-1]]


def test_a_name_of_a_model_beside_names_of_people_is_asked_about(
    tmp_path: Path,
) -> None:
    file = ratings_of(tmp_path / "t.csv", "Claude", "Marie", "Paul")
    with pytest.raises(
        UnclearColumns, match="name of a model, or of a person"
    ) as ended:
        audited(file)
    model, people = ended.value.options
    assert sides(audited(file, *model.words)) == (["Marie", "Paul"], ["Claude"])
    assert sides(audited(file, *people.words)) == (["Claude", "Marie", "Paul"], [])


def test_a_header_that_names_people_and_a_model_is_asked_about(tmp_path: Path) -> None:
    file = ratings_of(tmp_path / "t.csv", "expert_model_score", "user_score")
    with pytest.raises(UnclearColumns) as ended:
        audited(file)
    assert len(ended.value.options) == 2


@pytest.mark.parametrize(
    "names",
    [
        ("human_judge", "llm_annotator"),
        ("customer_rating", "bot_rating"),
        ("DA", "QE"),
        ("human_grader", "gpt-4 reviewer"),
    ],
)
def test_the_other_words_of_a_header_tell_whose_a_rater_is(
    names: tuple[str, str], tmp_path: Path
) -> None:
    draft = audited(ratings_of(tmp_path / "t.csv", *names))
    assert sides(draft) == ([names[0]], [names[1]])


@pytest.mark.parametrize(
    ("people", "judges", "aspects"),
    [
        (["人工 流畅性", "人工 连贯性"], ["大模型 流畅性", "大模型 连贯性"], 2),
        (["人工流畅性评分"], ["模型流畅性评分"], 1),
        (
            ["Эксперт: связность", "Эксперт: беглость"],
            ["Модель: связность", "Модель: беглость"],
            2,
        ),
        (["人間_流暢さ", "人間_正確さ"], ["モデル_流暢さ", "モデル_正確さ"], 2),
    ],
)
def test_aspects_of_any_script_are_aspects(
    people: list[str], judges: list[str], aspects: int, tmp_path: Path
) -> None:
    draft = audited(ratings_of(tmp_path / "t.csv", *people, *judges))
    assert sides(draft) == (people, judges)
    assert len(draft.columns.ratings) == aspects and len(draft.columns.judges) == 1
    assert all(name.isascii() for name in draft.columns.ratings)
    titles = [aspect_title(draft, name) for name in draft.columns.ratings]
    for title, header in zip(titles, people, strict=True):
        assert title.casefold() in header.casefold()


def test_a_count_of_ratings_is_no_rating(tmp_path: Path) -> None:
    human, judge = drawn_pair(["1", "2", "3", "4", "5"])
    columns = {
        "answer": answers(),
        "rating_mean": human,
        "rating_n": [str(3 + at * 7 % 5) for at in range(ROWS)],
        "gpt4": judge,
    }
    assert sides(audited(write(tmp_path / "t.csv", columns))) == (
        ["rating_mean"],
        ["gpt4"],
    )


# --- cells ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["1分", "2分", "3分"],
        ["①", "②", "③"],
        ["❶", "❷", "❸"],
        ["٢", "٣", "٤"],
        ["3½", "4", "4½"],
        ["3 1/2", "4", "4 1/2"],
        ["2 points", "3 points", "4 points"],
        ["[[2]]", "[[3]]", "[[4]]"],
    ],
)
def test_further_ways_to_write_numbers(words: list[str], tmp_path: Path) -> None:
    draft = audited(table(tmp_path / "t.csv", words))
    assert sides(draft) == (["human"], ["judge"]) and not draft.labelled
    assert len(set(draft.table.values(["human"]))) == 3
    assert not any("thousands" in note for note in draft.table.notes)


@pytest.mark.parametrize(
    "labels",
    [
        ["I", "II", "III", "IV"],
        ["one", "two", "three", "four", "five"],
        ["eins", "zwei", "drei"],
        ["一", "二", "三"],
        ["C", "B-", "B", "B+", "A"],
        ["critical", "major", "minor", "none"],
        ["very poor", "poor", "fair", "good", "excellent"],
    ],
)
def test_words_for_numbers_grades_and_steps_have_an_order(
    labels: list[str], tmp_path: Path
) -> None:
    draft = audited(table(tmp_path / "t.csv", labels))
    assert draft.scales["overall"]["labels"] == labels
    assert "ordered" not in draft.scales["overall"]


@pytest.mark.parametrize("words", [["4-May", "5-May", "3-May"], ["May 4", "May 3"]])
def test_days_are_no_labels_and_no_numbers(words: list[str], tmp_path: Path) -> None:
    with pytest.raises((UserError, UserErrors), match="is a date"):
        audited(table(tmp_path / "t.csv", words))


def test_a_number_that_repeats_far_off_the_scale_is_asked_about(tmp_path: Path) -> None:
    file = table(tmp_path / "t.csv")
    lines = file.read_text("utf-8").splitlines()
    for at in (3, 9, 14):
        lines[at] = f"{lines[at].rpartition(',')[0]},100"
    file.write_text("\n".join(lines), "utf-8")
    with pytest.raises(UserErrors, match="it may be a score, or stand for none"):
        audited(file)
    assert counted(audited(file, "--missing", "100")) == ROWS - 3
    assert counted(audited(file, "--scale", "1:100:1")) == ROWS


def test_the_word_none_is_a_label_where_both_sides_give_it(tmp_path: Path) -> None:
    words = ["against", "favor", "none"]
    draft = audited(table(tmp_path / "t.csv", words))
    assert counted(draft) == ROWS
    assert sorted(draft.scales["overall"]["labels"]) == words
    stated = audited(tmp_path / "t.csv", "--labels", "against,none,favor")
    assert counted(stated) == ROWS


def test_the_word_none_of_one_side_is_missing_and_counted(tmp_path: Path) -> None:
    file = table(tmp_path / "t.csv", ["fail", "pass"])
    lines = file.read_text("utf-8").splitlines()
    for at in (3, 9):
        lines[at] = f"{lines[at].rpartition(',')[0]},none"
    file.write_text("\n".join(lines), "utf-8")
    draft = audited(file)
    assert counted(draft) == ROWS - 2
    assert any("2 cells with 'none'" in note for note in draft.table.notes)


def test_stated_labels_that_lack_a_word_of_the_data_name_it(tmp_path: Path) -> None:
    file = table(tmp_path / "t.csv", ["fail", "partly", "pass"])
    with pytest.raises(UserError, match="none of the labels") as ended:
        audited(file, "--labels", "fail,pass")
    assert ended.value.got == "partly"


@pytest.mark.parametrize(
    ("names", "words", "bad"),
    [
        (("is_toxic_human", "is_toxic_gpt4"), ["yes", "no"], "yes"),
        (("toxic_human", "gpt4"), ["1", "0"], "1"),
        (("toxic", "gpt4_verdict"), ["1", "0"], "1"),
        (("pii_reviewer", "pii_llm"), ["TRUE", "FALSE"], "TRUE"),
        (("helpful_human", "helpful_gpt4"), ["yes", "no"], "no"),
    ],
)
def test_yes_to_a_question_for_a_fault_is_the_bad_label_of_both_sides(
    names: tuple[str, str], words: list[str], bad: str, tmp_path: Path
) -> None:
    human, judge = drawn_pair(words)
    columns = {"answer": answers(), names[0]: human, names[1]: judge}
    draft = audited(write(tmp_path / "t.csv", columns))
    assert sides(draft) == ([names[0]], [names[1]])
    for name, cells in ((names[0], human), (names[1], judge)):
        codes = [row[name] for row in draft.table.rows]
        assert codes == [int(cell != bad) for cell in cells]


def test_yes_to_a_question_of_unknown_kind_is_noted(tmp_path: Path) -> None:
    human, judge = drawn_pair(["TRUE", "FALSE"])
    names = ("contains_address_reviewer", "contains_address_llm")
    columns = {"answer": answers(), names[0]: human, names[1]: judge}
    draft = audited(write(tmp_path / "t.csv", columns))
    assert any("not known whether true is good" in note for note in draft.table.notes)


@pytest.mark.parametrize(
    "form", ["Rating: {}", "Rating: [[{}]]", "<score>{}</score>", '{{"score": {}}}']
)
def test_marked_replies_of_a_judge_are_read(form: str, tmp_path: Path) -> None:
    human, judge = drawn_pair(["1", "2", "3", "4", "5"])
    columns = {
        "answer": answers(),
        "human": human,
        "judge": [form.format(cell) for cell in judge],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.scored == ["judge"] and counted(draft) == ROWS


def test_replies_without_a_score_are_refused_with_the_remedy(tmp_path: Path) -> None:
    human, _ = drawn_pair(["1", "2", "3", "4", "5"])
    replies = ["I am not sure about this one, it has good and bad parts."] * ROWS
    columns = {"answer": answers(), "human": human, "judge": replies}
    with pytest.raises(UserError, match="states one score") as ended:
        audited(write(tmp_path / "t.csv", columns))
    assert "--recorded" in ended.value.todo and "--reply judge" in ended.value.todo


def test_ratings_off_a_stated_scale_are_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(UserErrors, match="outside the scale") as ended:
        audited(table(tmp_path / "t.csv"), "--scale", "1:4:1")
    assert all("--scale" in error.todo for error in ended.value.errors)


@pytest.mark.parametrize("flag", ["--human", "--judge", "--system"])
@pytest.mark.parametrize("name", ["", "humam"])
def test_a_flag_without_a_column_of_the_table_says_what_to_do(
    flag: str, name: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as ended:
        audited(table(tmp_path / "t.csv"), flag, name)
    assert ended.value.todo and ended.value.allowed


def test_averages_whose_word_stands_below_numbers_are_no_text(tmp_path: Path) -> None:
    human, judge = drawn_pair(["1", "2", "3", "4", "5"])
    columns: dict[str, Sequence[str]] = {
        "No.": [*[str(at + 1) for at in range(ROWS)], "Average", "SD"],
        "answer": [*answers(), "", ""],
        "human": [*human, "3.1", "1.2"],
        "judge": [*judge, "3.2", "1.1"],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert counted(draft) == ROWS
    assert sum("was left out" in note for note in draft.table.notes) == 2
