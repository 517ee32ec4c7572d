"""Tables as people export and write them: what a header says beside its side, who rated
each row, what each row measures, and which texts are the source.
"""

import csv
import io
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.tables.header_rest import counted_in
from judgescope.tables.words import split_header

ROWS = 40


def audited(file: Path) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file)]), {})


def write(file: Path, columns: Mapping[str, Sequence[object]]) -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    file.write_text(text.getvalue(), encoding="utf-8")
    return file


def scores(seed: int, low: int = 1, high: int = 5) -> list[int]:
    drawn = random.Random(seed)
    return [drawn.randint(low, high) for _ in range(ROWS)]


def answers() -> list[str]:
    return [
        f"The refund of order {at} takes about {at} days, we say." for at in range(ROWS)
    ]


def questions() -> list[str]:
    return [f"How long does the refund of order {at} take?" for at in range(ROWS)]


def by_rater(raters: Sequence[str]) -> dict[str, list[object]]:
    """Return ten texts with a row for each rater, and a judge's score of the text."""
    drawn = random.Random(5)
    columns: dict[str, list[object]] = {"text": [], "rater": [], "rating": []}
    columns["judge_score"] = []
    for at in range(10):
        judged = drawn.randint(1, 5)
        for rater in raters:
            columns["text"].append(f"The refund of order {at} takes about {at} days.")
            columns["rater"].append(rater)
            columns["rating"].append(drawn.randint(1, 5))
            columns["judge_score"].append(judged)
    return columns


@pytest.mark.parametrize(
    "header", ["llm_sources_used", "judge_tools_called", "gpt4_claims_checked"]
)
def test_things_that_something_was_done_with_are_counted(
    header: str, tmp_path: Path
) -> None:
    columns: dict[str, Sequence[object]] = {
        "answer": answers(),
        "human_rating": scores(1),
        "llm_rating": scores(2),
        header: scores(3, 0, 6),
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.scored == ["llm_rating"]
    assert draft.columns.unused[header].startswith(
        f"its header says {counted_in(header)}"
    )


def test_a_word_for_a_count_or_an_aspect_is_asked_about(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "answer": answers(),
        "human_rating": scores(1),
        "llm_rating": scores(2),
        "llm_citations": scores(3, 0, 6),
    }
    with pytest.raises(UnclearColumns) as unclear:
        audited(write(tmp_path / "t.csv", columns))
    assert "llm_citations" in unclear.value.options[0].meaning
    both = {**columns, "human_citations": scores(4, 0, 6)}
    draft = audited(write(tmp_path / "both.csv", both))
    assert "llm_citations" in draft.columns.scored


def test_a_number_from_0_to_1_behind_a_score_is_no_judge(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "completion": answers(),
        "rating_annotator": scores(1),
        "rating_suggestion": scores(2),
        "rating_suggestion_score": [0.5 + at / 100 for at in range(ROWS)],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.scored == ["rating_suggestion"]
    assert "behind rating_suggestion" in draft.columns.unused["rating_suggestion_score"]


def test_how_many_people_rated_is_no_rating(tmp_path: Path) -> None:
    drawn = random.Random(6)
    columns: dict[str, Sequence[object]] = {
        "src": questions(),
        "mt": answers(),
        "score": [round(drawn.gauss(0, 0.7), 3) for _ in range(ROWS)],
        "raters": scores(2, 1, 4),
        "comet": [round(drawn.random(), 3) for _ in range(ROWS)],
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.rated == ["score"]
    assert "how many people" in draft.columns.unused["raters"]


def test_a_question_of_a_form_has_its_scale_in_brackets(tmp_path: Path) -> None:
    asked = "Wie hilfreich ist die Antwort? (1 = gar nicht, 5 = sehr)"
    columns: dict[str, Sequence[object]] = {
        "Kundenanfrage": questions(),
        "Antwort": answers(),
        asked: scores(1),
        "KI: hilfreich": scores(2),
    }
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.rated == [asked]
    assert draft.columns.scored == ["KI: hilfreich"]
    assert draft.columns.source == ["Kundenanfrage"]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Schülerantwort", ["schuler", "antwort"]),
        ("Expertenbewertung", ["experten", "bewertung"]),
        ("Modelantwoord", ["model", "antwoord"]),
        ("context", ["context"]),
        ("Quelltext", ["quelltext"]),
        ("Fließtext", ["fliesstext"]),
    ],
)
def test_german_and_dutch_compounds_are_two_words(word: str, parts: list[str]) -> None:
    assert split_header(word) == parts


def test_a_remark_may_begin_its_header(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "Schülerantwort": answers(),
        "Punkte Lehrkraft": scores(1),
        "Punkte ChatGPT": scores(2),
        "Kommentar ChatGPT": [f"{each} {each}" for each in answers()],
    }
    assert audited(write(tmp_path / "t.csv", columns)).columns.text == "Schülerantwort"


def test_what_a_user_wrote_is_the_source(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "user_message": [f"{each} Please tell me, {each}" for each in questions()],
        "assistant_message": answers(),
        "user_feedback": scores(1),
        "auto_eval": scores(2),
    }
    columns_read = audited(write(tmp_path / "t.csv", columns)).columns
    assert columns_read.source == ["user_message"]
    assert columns_read.text == "assistant_message"


@pytest.mark.parametrize("header", ["user_id", "PROLIFIC_PID", "rater"])
def test_rows_of_raters_are_joined_beside_a_judges_score(
    header: str, tmp_path: Path
) -> None:
    columns = by_rater(["anna", "ben", "cem"])
    columns = {header if name == "rater" else name: columns[name] for name in columns}
    draft = audited(write(tmp_path / "t.csv", columns))
    assert len(draft.table.rows) == 10
    assert draft.columns.rated == ["rating"]
    assert len(draft.table.rows[0]["rating"]) == 3


def test_what_a_model_says_is_a_number_and_no_name_of_a_system(tmp_path: Path) -> None:
    columns = by_rater(["anna", "ben"])
    columns["model_rating"] = columns.pop("judge_score")
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.scored == ["model_rating"] and len(draft.table.rows) == 10


def test_a_text_of_a_system_in_several_rows_is_asked_about(tmp_path: Path) -> None:
    """Two rows of each text of a system may be those of two raters: they would count
    as further texts.
    """
    columns: dict[str, Sequence[object]] = {
        "source": [f"How long does refund {at // 4} take?" for at in range(ROWS)],
        "system": ["a" if at % 4 < 2 else "b" for at in range(ROWS)],
        "output": [f"Refund {at // 2} takes {at // 2} days." for at in range(ROWS)],
        "human": scores(1),
        "judge": scores(2),
    }
    with pytest.raises(UnclearColumns, match="is each row a rater's"):
        audited(write(tmp_path / "t.csv", columns))
    columns["output"] = [f"Refund {at} takes {at} days." for at in range(ROWS)]
    assert audited(write(tmp_path / "other.csv", columns)).columns.system == "system"


def test_a_row_may_say_which_number_it_has(tmp_path: Path) -> None:
    names = ["human_tone", "human_style", "llm_tone", "llm_style"]
    drawn = random.Random(8)
    columns: dict[str, list[object]] = {"output": [], "metric": [], "value": []}
    for at in range(12):
        for name in names:
            columns["output"].append(f"The refund of order {at} takes {at} days.")
            columns["metric"].append(name)
            columns["value"].append(drawn.randint(1, 5))
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.rated == names[:2] and draft.columns.scored == names[2:]
    assert len(draft.table.rows) == 12


def test_raters_and_metrics_in_rows_are_distinguished(tmp_path: Path) -> None:
    drawn = random.Random(9)
    columns: dict[str, list[object]] = {"answer": [], "evaluator": []}
    columns |= {"metric": [], "value": []}
    for at in range(12):
        for rater in ("human", "gpt-4"):
            for metric in ("tone", "style"):
                columns["answer"].append(f"The refund of order {at} takes {at} days.")
                columns["evaluator"].append(rater)
                columns["metric"].append(metric)
                columns["value"].append(drawn.randint(1, 5))
    draft = audited(write(tmp_path / "t.csv", columns))
    assert draft.columns.ratings.keys() == {"tone", "style"}
    assert draft.columns.judges.keys() == {"gpt-4"}


def test_a_measure_of_two_words_raises_no_doubt(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "hyp": answers(),
        "human": scores(1, 0, 100),
        "COMET-22": [at / ROWS for at in range(ROWS)],
        "chrF": scores(2, 0, 100),
    }
    assert audited(write(tmp_path / "t.csv", columns)).columns.scored == [
        "COMET-22",
        "chrF",
    ]


def test_a_judges_preference_beside_that_of_people_is_read(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "instruction": questions(),
        "output_1": answers(),
        "output_2": [f"{each} Really." for each in answers()],
        "preference": scores(1, 1, 2),
        "llm_preference": scores(2, 1, 2),
    }
    columns_read = audited(write(tmp_path / "t.csv", columns)).columns
    assert columns_read.rated == ["preference"]
    assert columns_read.scored == ["llm_preference"]


def test_a_title_with_empty_cells_behind_it_is_no_header(tmp_path: Path) -> None:
    columns: dict[str, Sequence[object]] = {
        "Answer": answers(),
        "Human (1-5)": scores(1),
        "LLM (1-5)": scores(2),
    }
    file = write(tmp_path / "t.csv", columns)
    rows = file.read_text(encoding="utf-8")
    file.write_text(f"Evaluation March,,\n{rows}", encoding="utf-8")
    draft = audited(file)
    assert draft.columns.rated == ["Human (1-5)"]
    assert "Evaluation March" in draft.table.notes[0]


def test_the_ends_of_a_scale_are_no_rater(tmp_path: Path) -> None:
    """Both questions were taken for two raters of one aspect, `by` a rater "1 to 5"."""
    asked = "On a scale from 1 to 5, how {} was the story?"
    columns: dict[str, Sequence[object]] = {
        "story": answers(),
        asked.format("funny"): scores(1),
        asked.format("original"): scores(2),
        "GPT-4 funny": scores(3),
        "GPT-4 original": scores(4),
    }
    read = audited(write(tmp_path / "t.csv", columns)).columns
    assert len(read.ratings) == 2
    assert {*map(len, read.ratings.values())} == {1}
