"""Columns whose headers have a word for a side and name something that is no rating, or
may: properties, numbers of raters, computed numbers, names that only some columns have.
"""

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init import facts_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.main import command_line
from judgescope.core.errors import UserErrors

ROWS = 40
WORDS = ["river", "stone", "market", "garden", "window", "letter", "summer", "engine"]


def audited(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def written(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def text_of(drawn: random.Random, count: int = 12) -> str:
    return " ".join(drawn.choice(WORDS) for _ in range(count))


def rated(
    file: Path,
    columns: Sequence[str],
    further: Callable[[random.Random], Mapping[str, Any]] = lambda drawn: {},
) -> Path:
    """Write texts with ratings from 1 to 5 in some columns, which differ a little."""
    drawn = random.Random(8)
    rows = []
    for _ in range(ROWS):
        quality = drawn.randint(1, 5)
        row = {"question": text_of(drawn, 8), "answer": text_of(drawn)}
        row |= further(drawn)
        for name in columns:
            near = quality + drawn.choice([-1, 0, 0, 0, 1])
            row[name] = str(min(5, max(1, near)))
        rows.append(row)
    return written(file, rows)


# --- words for properties -------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        "model_params",
        "judge_version",
        "llm hops",
        "judge entropy",
        "expert_years",
        "raterAgreement",
        "annotator_kappa",
        "human_edits",
        "human_written",
        "ai_assisted",
        "customer_tier",
        "judge_certain",
        "human_ts",
    ],
)
def test_a_property_with_a_word_for_a_side_is_neither(
    header: str, tmp_path: Path
) -> None:
    file = rated(
        tmp_path / "t.csv",
        ["human_score", "judge_score"],
        lambda drawn: {header: drawn.randint(1, 5)},
    )
    columns = audited(file).columns
    assert columns.rated == ["human_score"] and columns.scored == ["judge_score"]


@pytest.mark.parametrize("word", ["priority", "agreement", "distance"])
def test_a_property_that_both_sides_rated_is_an_aspect(
    word: str, tmp_path: Path
) -> None:
    names = [f"human_{word}", "human_tone", f"judge_{word}", "judge_tone"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert set(columns.rated) == {*names[:2]} and set(columns.scored) == {*names[2:]}


def test_a_property_beside_an_aspect_is_part_of_it(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["human_prompt_adherence", "human_tone", "gpt4"])
    assert set(audited(file).columns.ratings) == {"prompt-adherence", "tone"}


# --- words that nothing explains ------------------------------------------------------


@pytest.mark.parametrize(
    ("sides", "header", "flag"),
    [
        (("human", "judge"), "judge_zest", "judge"),
        (("expert_score", "gpt4"), "expert_batchlet", "human"),
        (("customer_score", "llm"), "customer_plan", "human"),
        (("rater1", "rater2", "gemini"), "rater_shelf", "human"),
    ],
)
def test_a_word_that_may_name_no_rating_is_asked_about(
    sides: tuple[str, ...], header: str, flag: str, tmp_path: Path
) -> None:
    file = rated(tmp_path / "t.csv", [*sides, header])
    with pytest.raises(UnclearColumns, match="whether these columns have") as e:
        audited(file)
    without, with_it = e.value.options
    assert {*without.flags} == {*with_it.flags} == {flag}
    columns = audited(file, *without.words).columns
    assert {*columns.rated, *columns.scored} == {*sides}
    columns = audited(file, *with_it.words).columns
    assert {*columns.rated, *columns.scored} == {*sides, header}


@pytest.mark.parametrize(
    ("people", "judges"),
    [
        (["human"], ["judge_strict", "judge"]),
        (["human"], ["gpt-4o-mini", "gpt-4"]),
        (["human_zest", "human"], ["judge_zest", "judge"]),
        (["senior annotator", "junior annotator"], ["gpt4"]),
        (["human_warmth", "human_overall"], ["llm_warmth", "llm_overall"]),
    ],
)
def test_words_of_variants_raters_and_aspects_are_not_asked_about(
    people: list[str], judges: list[str], tmp_path: Path
) -> None:
    columns = audited(rated(tmp_path / "t.csv", [*people, *judges])).columns
    assert set(columns.rated) == {*people} and set(columns.scored) == {*judges}


def test_a_number_without_a_word_is_asked_about_beside_a_judge(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["zest", "gpt4"])
    with pytest.raises(UnclearColumns) as e:
        audited(file)
    [reading] = e.value.options
    assert audited(file, *reading.words).columns.rated == ["zest"]


@pytest.mark.parametrize(
    "names",
    [
        ["quality"],
        ["raw"],
        ["How helpful is the answer?"],
        ["Lena", "Omar"],
        ["Dr. Okafor", "Dr. Miller"],
        ["ana@lab.org", "bo@lab.org"],
        ["A23X", "B77K", "C18Z"],
        ["Lena_imagery", "Lena_rhythm", "Omar_imagery", "Omar_rhythm"],
    ],
)
def test_a_header_that_names_an_aspect_or_a_rater_is_people_s(
    names: list[str], tmp_path: Path
) -> None:
    judges = ["gpt4"]
    if "Lena_imagery" in names:
        judges = ["gpt4_imagery", "gpt4_rhythm"]
    columns = audited(rated(tmp_path / "t.csv", [*names, *judges])).columns
    assert columns.rated and set(columns.rated) == {*names}
    assert set(columns.scored) == {*judges}


def test_a_raters_name_says_nothing_of_other_columns(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["Marie", "Okonkwo", "gpt4"])
    with pytest.raises(UnclearColumns):
        audited(file)


def test_many_fractions_beside_a_judge_are_asked_about(tmp_path: Path) -> None:
    def measured(drawn: random.Random) -> dict[str, Any]:
        return {"faithfulness": round(drawn.random(), 3)}

    file = rated(tmp_path / "t.csv", ["gpt4_score"], measured)
    with pytest.raises(UnclearColumns):
        audited(file)


# --- whose a column without a word is -------------------------------------------------


def test_a_name_beside_all_aspects_of_people_is_a_judge_s(tmp_path: Path) -> None:
    names = ["tone_human", "depth_human", "tone_nemotron", "depth_nemotron"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.judges == {"nemotron": {"tone": names[2], "depth": names[3]}}


def test_two_names_beside_aspects_of_people_are_no_judges(tmp_path: Path) -> None:
    names = ["tone_human", "depth_human", "tone_x1", "depth_x1", "tone_y1", "depth_y1"]
    with pytest.raises((UnclearColumns, UserErrors)):
        audited(rated(tmp_path / "t.csv", names))


def test_a_rating_beside_a_judge_of_all_aspects_is_no_judge(tmp_path: Path) -> None:
    names = ["rater1_domain1", "rater2_domain1", "domain1_score", "gpt35_pred"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.rated == names[:2] and columns.scored == ["gpt35_pred"]


def test_a_number_in_a_judges_object_is_not_people_s(tmp_path: Path) -> None:
    names = ["inputs.human_tone", "outputs.tone.gpt_tone", "outputs.tone.tone"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.rated == names[:1] and columns.scored == names[1:2]


def test_probabilities_of_scores_are_no_judges(tmp_path: Path) -> None:
    def chances(drawn: random.Random) -> dict[str, float]:
        weights = [drawn.random() for _ in range(5)]
        shares = [round(weight / sum(weights), 4) for weight in weights]
        return {f"judge_p{at}": share for at, share in enumerate(shares, 1)}

    file = rated(tmp_path / "t.csv", ["human", "judge"], chances)
    assert audited(file).columns.scored == ["judge"]


# --- raters ---------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["worker", "annotator", "rater"])
def test_numbers_of_raters_are_no_ratings(header: str, tmp_path: Path) -> None:
    file = rated(
        tmp_path / "t.csv",
        ["human", "judge"],
        lambda drawn: {header: drawn.randint(0, 8)},
    )
    assert audited(file).columns.rated == ["human"]


@pytest.mark.parametrize("score", ["rating", "quality"])
def test_numbered_raters_in_rows_are_read_as_one_row_a_text(
    score: str, tmp_path: Path
) -> None:
    drawn = random.Random(4)
    rows = []
    for at in range(20):
        shared = {"id": f"q{at}", "answer": text_of(drawn), "gpt4": drawn.randint(1, 5)}
        for rater in (1, 2, 3):
            rows.append({**shared, "annotator": rater, score: drawn.randint(1, 5)})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert len(draft.table.rows) == 20 and draft.columns.scored == ["gpt4"]


@pytest.mark.parametrize("settled", ["avg", "human_final", "majority_vote"])
def test_what_raters_settled_on_is_no_further_rater(
    settled: str, tmp_path: Path
) -> None:
    file = rated(tmp_path / "t.csv", ["human_1", "human_2", settled, "gpt4"])
    columns = audited(file).columns
    assert columns.ratings == {"overall": ["human_1", "human_2"]}


@pytest.mark.parametrize("column", ["judge_model", "trial"])
def test_texts_that_repeat_without_a_source_are_asked_about(
    column: str, tmp_path: Path
) -> None:
    drawn = random.Random(4)
    rows = []
    for _ in range(20):
        shared = {"output": text_of(drawn), "human_score": drawn.randint(1, 5)}
        for number in (1, 2, 3):
            row = {column: f"m{number}", "judge_score": drawn.randint(1, 5)}
            rows.append({**shared, **row})
    with pytest.raises(UnclearColumns, match="in several rows") as e:
        audited(written(tmp_path / "t.csv", rows))
    assert all("judge_model" not in option.words for option in e.value.options)


# --- texts, files, cells --------------------------------------------------------------


def test_a_long_query_is_no_judged_text_beside_a_passage(tmp_path: Path) -> None:
    drawn = random.Random(4)
    rows = []
    for _ in range(ROWS):
        texts = {"query": text_of(drawn, 20), "passage": text_of(drawn, 9)}
        rows.append({**texts, "human": drawn.randint(0, 3), "llm": drawn.randint(0, 3)})
    columns = audited(written(tmp_path / "t.csv", rows)).columns
    assert columns.text == "passage" and columns.source == ["query"]


def test_a_line_below_the_rows_is_skipped_and_told(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["human", "judge"])
    file.write_text(f"{file.read_text()}\nSource: the team for quality\n")
    draft = audited(file)
    assert len(draft.table.rows) == ROWS
    assert any("below the rows was skipped" in note for note in draft.table.notes)


def test_a_short_row_between_others_is_refused(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["human", "judge"])
    content = file.read_text()
    file.write_text(f"{content}\nonly one\n{content.splitlines()[1]}\n")
    with pytest.raises(Exception, match="different numbers of cells"):
        audited(file)


def test_a_number_in_brackets_may_stand_first(tmp_path: Path) -> None:
    words = ["Bad", "Poor", "Fair", "Good", "Great"]
    rows = []
    with rated(tmp_path / "t.csv", ["human", "judge"]).open() as lines:
        for row in csv.DictReader(lines):
            word = words[int(row["human"]) - 1]
            rows.append({**row, "human": f"({row['human']}) {word}"})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert draft.columns.rated == ["human"] and draft.columns.scored == ["judge"]


def test_a_row_of_agreement_is_no_text(tmp_path: Path) -> None:
    with rated(tmp_path / "t.csv", ["human", "judge"]).open() as lines:
        rows = [*csv.DictReader(lines)]
    empty = dict.fromkeys(rows[0], "")
    rows.append({**empty, "question": "Agreement", "human": "0.8", "judge": "0.7"})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert len(draft.table.rows) == ROWS


# --- weak words, brackets, lists ------------------------------------------------------


def test_ratings_of_users_are_no_judge_s(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["user_rating", "expert_rating"])
    with pytest.raises(UnclearColumns, match="a judge's scores"):
        audited(file)


def test_a_weak_word_for_a_judge_is_asked_about_beside_a_model(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["eval_score", "gpt4_score"])
    with pytest.raises(UnclearColumns) as e:
        audited(file)
    assert [option.words for option in e.value.options] == [["--human", "eval_score"]]


def test_an_aspect_may_stand_in_brackets(tmp_path: Path) -> None:
    names = [
        f"{who} ({what})" for who in ("Human", "GPT-4") for what in ("Tone", "Wit")
    ]
    names[1], names[3] = "Human (Fluency)", "GPT-4 (Fluency)"
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.ratings == {"tone": names[:1], "fluency": names[1:2]}
    [scores] = columns.judges.values()
    assert scores == {"tone": names[2], "fluency": names[3]}


def test_statements_with_numbers_are_no_texts_of_systems(tmp_path: Path) -> None:
    sides = ("Please rate the answer", "Machine score")
    names = [f"{side}: {what}" for side in sides for what in ("Clarity", "Accuracy")]
    draft = audited(rated(tmp_path / "t.csv", names))
    assert len(draft.table.rows) == ROWS and draft.columns.rated == names[:2]


@pytest.mark.parametrize("separator", [";", "|", " ; "])
def test_numbers_with_a_separator_are_a_list(separator: str, tmp_path: Path) -> None:
    with rated(tmp_path / "t.csv", ["a", "b", "judge"]).open() as lines:
        rows = [*csv.DictReader(lines)]
    joined = []
    for row in rows:
        scores = separator.join([row.pop("a"), row.pop("b")])
        joined.append({**row, "annotator_scores": scores})
    draft = audited(written(tmp_path / "t.csv", joined))
    assert draft.columns.rated == ["annotator_scores"]
    assert all(len(row["annotator_scores"]) == 2 for row in draft.table.rows)


def test_a_header_with_two_numbers_is_no_second_language(tmp_path: Path) -> None:
    """`anno` is a year in Italian."""
    columns = audited(rated(tmp_path / "t.csv", ["anno1", "anno2", "llama3"])).columns
    assert columns.ratings == {"overall": ["anno1", "anno2"]}


@pytest.mark.parametrize("header", ["machine_summaries", "model answers", "summary"])
def test_a_column_named_text_is_a_source_beside_summaries(
    header: str, tmp_path: Path
) -> None:
    drawn = random.Random(4)
    rows = []
    for _ in range(ROWS):
        texts = {header: text_of(drawn), "text": text_of(drawn, 30)}
        rows.append({**texts, "human": drawn.randint(0, 3), "llm": drawn.randint(0, 3)})
    columns = audited(written(tmp_path / "t.csv", rows)).columns
    assert columns.text == header and columns.source == ["text"]


def test_words_in_most_cells_are_not_advised_to_be_missing(tmp_path: Path) -> None:
    file = rated(
        tmp_path / "t.csv",
        ["COMET"],
        lambda drawn: {
            "rater": drawn.choice(["rater0", "rater1", "No"]),
            "human_score": "",
        },
    )
    with pytest.raises(UserErrors) as e:
        audited(file)
    assert "--labels" in str(e.value) and "--missing" not in str(e.value)


def test_two_headers_of_a_model_are_offered_as_people_s(tmp_path: Path) -> None:
    names = ["AI response rating", "AI response rating (GPT judge)"]
    file = rated(tmp_path / "t.csv", names)
    with pytest.raises(UnclearColumns) as e:
        audited(file)
    columns = audited(file, *e.value.options[0].words).columns
    assert columns.rated == names[:1] and columns.scored == names[1:]


def test_feedback_of_users_in_an_export_is_peoples(tmp_path: Path) -> None:
    drawn = random.Random(4)
    rows = []
    for _ in range(ROWS):
        run = {"inputs.question": text_of(drawn), "outputs.answer": text_of(drawn)}
        feedback = {"user_score": drawn.randint(0, 1), "tone": drawn.randint(0, 1)}
        rows.append(run | {f"feedback.{key}": cell for key, cell in feedback.items()})
    columns = audited(written(tmp_path / "t.csv", rows)).columns
    assert columns.rated == ["feedback.user_score"]
    assert columns.scored == ["feedback.tone"]


@pytest.mark.parametrize(
    ("known", "unknown"),
    [
        ("judge_gpt_4o", "judge_zorbo"),
        ("judge_strict", "judge_quell"),
        ("llm_claude", "llm_brask"),
        ("model_llama_70b_score", "model_vimto_score"),
    ],
)
def test_a_judge_with_an_unknown_name_is_assumed_beside_named_ones(
    known: str, unknown: str, tmp_path: Path
) -> None:
    file = rated(tmp_path / "t.csv", ["rater_1", "rater_2", known, unknown])
    draft = audited(file)
    assert draft.columns.scored == [known, unknown]
    assert draft.columns.rated == ["rater_1", "rater_2"]
    assumed = [text for name, text in facts_of(draft) if name == "Assumed:"]
    assert len(assumed) == 1 and assumed[0].startswith(f"{unknown} is taken as")


@pytest.mark.parametrize(
    "header",
    ["annotation_round", "expert_location", "judge_session", "gpt4_instance", "llm_lr"],
)
def test_an_ending_of_aspects_makes_no_property_one(
    header: str, tmp_path: Path
) -> None:
    file = rated(tmp_path / "t.csv", ["human_score", "judge_score", header])
    try:
        columns = audited(file).columns
    except UnclearColumns as error:
        columns = audited(file, *error.options[0].words).columns
    assert columns.rated == ["human_score"] and columns.scored == ["judge_score"]


def test_ratings_of_a_rater_stay_beside_a_property(tmp_path: Path) -> None:
    file = rated(
        tmp_path / "t.csv",
        ["reviewer", "claude"],
        lambda drawn: {"human_intervention": drawn.randint(0, 9)},
    )
    with pytest.raises(UnclearColumns) as e:
        audited(file)
    assert audited(file, *e.value.options[0].words).columns.rated == ["reviewer"]


def test_a_number_beside_an_aspect_is_asked_about(tmp_path: Path) -> None:
    file = rated(tmp_path / "t.csv", ["tone", "chef", "gpt4"])
    with pytest.raises(UnclearColumns) as e:
        audited(file)
    without, with_it = e.value.options
    assert audited(file, *without.words).columns.rated == ["tone"]
    assert audited(file, *with_it.words).columns.rated == ["tone", "chef"]


def test_numbered_columns_are_no_judges_of_their_own(tmp_path: Path) -> None:
    names = ["human_tone", "tone (x1)", "tone (x2)"]
    with pytest.raises(UnclearColumns):
        audited(rated(tmp_path / "t.csv", names))


def test_an_aspect_of_a_judge_that_nobody_rated_is_not_used(tmp_path: Path) -> None:
    names = ["annotator_severity", "sentiment_gpt", "severity_gpt"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.judges == {"gpt": {"severity": "severity_gpt"}}
    assert columns.unused["sentiment_gpt"] == "people did not rate sentiment"


def test_overall_ratings_belong_to_overall_scores(tmp_path: Path) -> None:
    names = ["overall", "creativity", "overall_pred", "creativity_pred"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.rated == names[:2] and columns.scored == names[2:]


def test_a_sum_beside_an_average_is_no_rating(tmp_path: Path) -> None:
    names = ["rating_sum", "rating_avg", "auto_rating"]
    columns = audited(rated(tmp_path / "t.csv", names)).columns
    assert columns.rated == ["rating_avg"]


@pytest.mark.parametrize("header", ["challenge", "Aufgabe", "tâche", "задание"])
def test_a_column_with_a_row_of_each_system_for_each_value_is_the_item(
    header: str, tmp_path: Path
) -> None:
    drawn = random.Random(5)
    rows: list[dict[str, object]] = []
    for number in range(15):
        for system in ("alpha", "beta", "gamma"):
            quality = drawn.randint(1, 5)
            judged = min(5, max(1, quality + drawn.choice([-1, 0, 1])))
            scores = {"human_score": quality, "gpt4_score": judged}
            rows.append({header: f"k{number}", "system": system, **scores})
    draft = audited(written(tmp_path / "t.csv", rows))
    assert draft.columns.item == header
    assert any(text.startswith(header) for _, text in facts_of(draft))
    # Some texts may be missing; of two rows of a system one may be of anything.
    part = audited(written(tmp_path / "part.csv", rows[:-3]))
    assert part.columns.item == header
    twice = audited(written(tmp_path / "twice.csv", [*rows, rows[0]]))
    assert twice.columns.item != header
