"""Tables of further kinds: numbers of two readings, people's columns without a word for
people, a model among the workers of a long table, lists in cells, ranks, sides.
"""

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.audit import table as reading
from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError, UserErrors

ROWS = 40


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def written(
    file: Path, rows: Sequence[Mapping[str, Any]], separator: str = ","
) -> Path:
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return file


def made(row: Callable[[int, random.Random], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows, each with a text of its own."""
    drawn = random.Random(5)
    rows = []
    for at in range(ROWS):
        days = drawn.randint(2, 90)
        text = {"answer": f"It takes {days} days, number {at} says."}
        rows.append({**text, **row(at, drawn)})
    return rows


def numbers_in(draft: StudyDraft, column: str) -> list[float]:
    return [float(row[column]) for row in draft.table.rows]


def rated(at: int, drawn: random.Random) -> dict[str, Any]:
    return {"human": 1 + at % 5, "judge": 1 + (at + drawn.randint(0, 1)) % 5}


# --- numbers that can be read in two ways ---------------------------------------------


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_zero_before_the_comma_is_no_thousand(separator: str, tmp_path: Path) -> None:
    rows = made(lambda at, drawn: {**rated(at, drawn), "judge": f"0,{100 + 17 * at}"})
    draft = audited(written(tmp_path / "t.csv", rows, separator))
    assert max(numbers_in(draft, "judge")) < 1


def test_decimals_beside_small_complete_numbers_are_decimals(tmp_path: Path) -> None:
    means = ["3,667", "4", "2,333", "5", "1"]
    rows = made(lambda at, drawn: {**rated(at, drawn), "judge": means[at % 5]})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert set(numbers_in(draft, "judge")) == {3.667, 4, 2.333, 5, 1}


def test_two_readings_of_equal_agreement_are_not_asked_about(tmp_path: Path) -> None:
    rows = made(lambda at, drawn: {**rated(at, drawn), "judge": f"4,{200 + at}"})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert numbers_in(draft, "judge")[0] == 4.2
    assert any("4,200" in note and "4200" in note for note in draft.table.notes)


def of_two_readings(file: Path) -> Path:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        score = f"{1 + at % 4},{200 + at}" if at % 3 else str(60 + at % 30)
        return {**rated(at, drawn), "judge": score, "price": score}

    return written(file, made(row))


def test_two_readings_of_different_agreement_are_asked_about(tmp_path: Path) -> None:
    file = of_two_readings(tmp_path / "t.csv")
    with pytest.raises(UnclearColumns) as ended:
        audited(file)
    assert "column judge" in ended.value.where
    assert [option.flags for option in ended.value.options] == [
        {"decimal": ["comma"]},
        {"decimal": ["point"]},
    ]


@pytest.mark.parametrize(("sign", "value"), [("comma", 2.201), ("point", 2201)])
def test_the_stated_sign_stands_before_decimals(
    sign: str, value: float, tmp_path: Path
) -> None:
    file = of_two_readings(tmp_path / "t.csv")
    draft = audited(file, "--decimal", sign)
    assert numbers_in(draft, "judge")[1] == value


def test_two_readings_of_another_column_do_not_matter(tmp_path: Path) -> None:
    file = of_two_readings(tmp_path / "t.csv")
    rows = list(csv.DictReader(file.open(encoding="utf-8")))
    for at, row in enumerate(rows):
        row["judge"] = str(1 + at % 5)
    assert audited(written(file, rows)).columns.scored == ["judge"]


# --- sides and aspects ----------------------------------------------------------------


def test_labels_beside_those_of_a_judge_are_peoples(tmp_path: Path) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        cells = {}
        for aspect in ("polite", "resolved", "tone"):
            word = drawn.choice("YN")
            cells[f"qa_{aspect}"] = word
            cells[f"ai_{aspect}"] = word if drawn.random() < 0.8 else drawn.choice("YN")
        return cells

    columns = audited(written(tmp_path / "t.csv", made(row))).columns
    assert {aspect: f"qa_{aspect}" for aspect in columns.ratings} == {
        aspect: group[0] for aspect, group in columns.ratings.items()
    }
    [scores] = columns.judges.values()
    assert scores == {aspect: f"ai_{aspect}" for aspect in columns.ratings}


def test_labels_of_numbered_raters_and_what_they_settled_on(tmp_path: Path) -> None:
    words = ["Supported", "Refuted", "Not enough info"]

    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        return {
            "ann1": words[at % 3],
            "ann2": words[(at + (at % 7 == 0)) % 3],
            "adjudicated": words[at % 3],
            "mistral-large": words[(at + (at % 5 == 0)) % 3].lower(),
        }

    columns = audited(written(tmp_path / "t.csv", made(row))).columns
    assert columns.ratings == {"overall": ["ann1", "ann2"]}
    assert columns.scored == ["mistral-large"]


def test_labels_of_people_alone_are_beside_a_judges_numbers(tmp_path: Path) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        word = "👍" if at % 3 else "👎"
        return {"user_feedback": word, "llm_score": round(drawn.random(), 2)}

    draft = audited(written(tmp_path / "t.csv", made(row)))
    assert draft.columns.rated == ["user_feedback"]
    assert draft.table.labels["user_feedback"] == ("👎", "👍")


def test_a_word_for_people_makes_no_judge(tmp_path: Path) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        scores = {"COMET": round(drawn.random(), 3), "da_z": drawn.randint(-3, 3)}
        return {"mqm": -(at % 6), **scores}

    columns = audited(written(tmp_path / "t.csv", made(row))).columns
    assert (columns.rated, columns.scored) == (["mqm"], ["COMET"])
    assert "da_z" in columns.unused


@pytest.mark.parametrize("header", ["conversation", "Transcript", "doc"])
def test_the_only_texts_are_judged(header: str, tmp_path: Path) -> None:
    rows = made(rated)
    for row in rows:
        row[header] = row.pop("answer")
    columns = audited(written(tmp_path / "t.csv", rows)).columns
    assert (columns.text, columns.source) == (header, [])


def test_the_model_that_judged_is_no_system(tmp_path: Path) -> None:
    rows = made(lambda at, drawn: {**rated(at, drawn), "eval.model": "gpt-4o"})
    assert audited(written(tmp_path / "t.csv", rows)).columns.system is None


def test_a_passage_is_judged_for_its_query(tmp_path: Path) -> None:
    rows = made(
        lambda at, drawn: {**rated(at, drawn), "query": f"how to open no. {at}"}
    )
    for row in rows:
        row["passage"] = row.pop("answer")
    columns = audited(written(tmp_path / "t.csv", rows)).columns
    assert (columns.text, columns.source) == ("passage", ["query"])


def test_the_letter_of_a_candidate_is_no_text(tmp_path: Path) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        asked = f"How do I open the door of house number {at // 4}?"
        return {**rated(at, drawn), "Question": asked, "Candidate": "ABCD"[at % 4]}

    rows = made(row)
    for each in rows:
        each["Answer text"] = each.pop("answer")
    columns = audited(written(tmp_path / "t.csv", rows)).columns
    assert (columns.text, columns.system) == ("Answer text", "Candidate")


@pytest.mark.parametrize(
    "words",
    [
        ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree"],
        ["Very dissatisfied", "Dissatisfied", "Neutral", "Satisfied"],
        ["Not at all", "Slightly", "Moderately", "Very", "Extremely"],
        ["Irrelevant", "Marginally relevant", "Highly relevant"],
    ],
)
def test_words_of_questionnaires_have_an_order(
    words: Sequence[str], tmp_path: Path
) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        return {"human": words[at % len(words)], "judge": drawn.choice(words)}

    draft = audited(written(tmp_path / "t.csv", made(row)))
    assert draft.table.labels["human"] == tuple(words)
    assert not draft.table.unordered


# --- shapes ---------------------------------------------------------------------------


def test_capital_sides_are_pairs_and_no_systems(tmp_path: Path) -> None:
    systems = ["alpha", "beta", "gamma"]

    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        first, second = drawn.sample(systems, 2)
        choice = drawn.choice([first, second, "Both bad"])
        return {
            "Left model": first,
            "Right model": second,
            "Left output": f"{first} says {at}, and then some more words",
            "Right output": f"{second} says {at}, and then other words still",
            "Annotator choice": choice,
            "Judge choice": choice if at % 4 else first,
        }

    columns = audited(written(tmp_path / "t.csv", made(row))).columns
    assert columns.texts == ["Left output", "Right output"]
    assert columns.rated == ["Annotator choice"] and columns.scored == ["Judge choice"]


def test_arrows_are_choices_however_many_signs_they_have(tmp_path: Path) -> None:
    arrows = ["A>>B", "A > B", "A=B", "B>A", "A<<B"]

    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        return {
            "answer_A": f"The first of {at} is a longer text",
            "answer_B": f"The second of {at} is a longer text",
            "human_verdict": arrows[at % 5],
            "judge_verdict": drawn.choice(arrows),
        }

    rows = made(row)
    for each in rows:
        del each["answer"]
    draft = audited(written(tmp_path / "t.csv", rows))
    assert draft.columns.texts == ["answer_A", "answer_B"]
    first = [row["human_verdict"] for row in draft.table.rows[:5]]
    assert first == [1, 1, 0, 2, 2]


def test_descriptions_below_a_header_of_qualtrics_are_no_rows(tmp_path: Path) -> None:
    rows = made(rated)
    described = dict.fromkeys(rows[0], "What do you think?")
    ids = {name: f'{{"ImportId":"{name}"}}' for name in rows[0]}
    draft = audited(written(tmp_path / "t.csv", [described, ids, *rows]))
    assert len(draft.table.rows) == ROWS and draft.table.numbers[0] == 4


@pytest.mark.parametrize("aspects", [("quality",), ("fluency", "coherence")])
def test_a_model_may_be_among_the_workers(
    aspects: Sequence[str], tmp_path: Path
) -> None:
    drawn = random.Random(2)
    rows = []
    for at in range(ROWS):
        for worker in ("W1", "W2", "gpt-4.1-mini"):
            row = {"HITId": f"H{at}", "WorkerId": worker, "Input.text": f"Text {at} is"}
            for aspect in aspects:
                row[f"Answer.{aspect}"] = str(1 + (at + drawn.randint(0, 1)) % 5)
            rows.append({**row, "WorkTimeInSeconds": str(drawn.randint(20, 300))})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert set(draft.columns.ratings) == set(aspects)
    assert [len(group) for group in draft.columns.ratings.values()] == [2] * len(
        aspects
    )
    [scores] = draft.columns.judges.values()
    assert set(scores) == set(aspects) and len(draft.table.rows) == ROWS


def test_lists_of_numbers_in_words_are_draws(tmp_path: Path) -> None:
    rows = made(lambda at, drawn: {**rated(at, drawn), "judge": f"[{1 + at % 5}, 3]"})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert draft.table.rows[0]["judge"] == [1, 3]


def test_objects_in_a_list_are_the_ratings_of_several_people(tmp_path: Path) -> None:
    lines = []
    for row in made(rated):
        by = [{"annotator": name, "score": row["human"]} for name in ("a", "b")]
        lines.append(
            json.dumps(
                {"answer": row["answer"], "annotations": by, "judge": row["judge"]}
            )
        )
    file = tmp_path / "t.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    draft = audited(file)
    assert draft.columns.rated == ["annotations.score"]
    assert draft.table.rows[0]["annotations.score"] == [1, 1]


# --- refusals -------------------------------------------------------------------------


def test_ranks_of_both_sides_are_asked_about(tmp_path: Path) -> None:
    rows = made(lambda at, drawn: {"human_rank": 1 + at % 4, "judge_rank": 1 + at % 3})
    with pytest.raises(UnclearColumns) as ended:
        audited(written(tmp_path / "t.csv", rows))
    [option] = ended.value.options
    assert option.flags == {"judge": ["judge_rank"], "human": ["human_rank"]}


def test_grades_of_a_preference_are_named_as_the_cause(tmp_path: Path) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        return {
            "response_a": f"The first of {at} is a longer text",
            "response_b": f"The second of {at} is a longer text",
            "overall_preference": drawn.randint(-3, 3),
            "reward_a": round(drawn.random(), 3),
            "reward_b": round(drawn.random(), 3),
        }

    rows = made(row)
    for each in rows:
        del each["answer"]
    with pytest.raises(UserError, match="overall_preference"):
        audited(written(tmp_path / "t.csv", rows))


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["facts", "tone", "facts; tone"], "several labels"),
        (["A", "B", "C"], "more than two texts"),
    ],
)
def test_cells_that_are_no_label_of_a_single_text_are_refused(
    words: Sequence[str], cause: str, tmp_path: Path
) -> None:
    def row(at: int, drawn: random.Random) -> dict[str, Any]:
        texts = {name: f"The text {name} of {at} is long enough" for name in "ABC"}
        return {**texts, "human_best": words[at % 3], "llm_best": drawn.choice(words)}

    with pytest.raises(UserError, match=cause) as ended:
        audited(written(tmp_path / "t.csv", made(row)))
    assert ended.value.where.endswith("column human_best") and ended.value.todo


def test_more_ratings_and_scores_than_were_measured_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_VALUES", 2 * ROWS - 1)
    with pytest.raises(UserError, match="too large"):
        audited(written(tmp_path / "t.csv", made(rated)))


def test_words_of_a_single_column_are_named_as_labels_and_not_as_missing(
    tmp_path: Path,
) -> None:
    words = ["covered", "missed", "half covered"]
    rows = made(lambda at, drawn: {"reviewer": words[at % 3], "n": at})
    with pytest.raises(UserErrors) as ended:
        audited(written(tmp_path / "t.csv", rows))
    assert "--labels" in str(ended.value) and "--missing" not in str(ended.value)
