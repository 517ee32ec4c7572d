"""Columns that repeat another one in another way are no further raters or judges."""

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judgescope.cli.audit.table import draft_of
from judgescope.cli.init.roles import Guess
from judgescope.cli.main import command_line

ROWS = 40
DRAWN = random.Random(2)
PEOPLE = [DRAWN.randint(1, 7) for _ in range(ROWS)]
OTHERS = [min(7, each + DRAWN.randint(0, 1)) for each in PEOPLE]
JUDGE = [max(1, each - DRAWN.randint(0, 2)) for each in PEOPLE]


def columns_of(columns: Mapping[str, Sequence[object]], folder: Path) -> Guess:
    """Return the roles that audit gives the columns of a table."""
    file = folder / "t.csv"
    texts = [f"It takes {at} days until the parcel is here." for at in range(ROWS)]
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["answer", *columns])
        writer.writerows(zip(texts, *columns.values(), strict=True))
    args = command_line().parse_args(["audit", str(file)])
    return draft_of(args, {}).columns


@pytest.mark.parametrize("word", ["median", "maximum", "percentile"])
def test_a_number_of_several_raters_is_no_rater(word: str, tmp_path: Path) -> None:
    both = [max(pair) for pair in zip(PEOPLE, OTHERS, strict=True)]
    ratings = {"expert_1": PEOPLE, "expert_2": OTHERS, f"expert_{word}": both}
    columns = columns_of({**ratings, "llm": JUDGE}, tmp_path)
    assert columns.ratings == {"overall": ["expert_1", "expert_2"]}
    assert "computed, from expert_1" in columns.unused[f"expert_{word}"]


@pytest.mark.parametrize("header", ["gpt score scaled", "gpt score (rescaled)"])
def test_a_score_on_another_scale_is_no_second_judge(
    header: str, tmp_path: Path
) -> None:
    scaled = [(each - 1) / 6 for each in JUDGE]
    scores: dict[str, Sequence[object]] = {"gpt score": JUDGE, header: scaled}
    columns = columns_of({"human": PEOPLE, **scores}, tmp_path)
    assert columns.scored == ["gpt score"]
    assert "computed, from gpt score" in columns.unused[header]


def test_a_word_that_only_looks_like_computing_is_an_aspect(tmp_path: Path) -> None:
    names = {"human_clarity": PEOPLE, "human_max_effort": OTHERS, "llm_clarity": JUDGE}
    columns = columns_of({**names, "llm_max_effort": JUDGE}, tmp_path)
    assert set(columns.ratings) == {"clarity", "max-effort"}


def test_a_column_that_repeats_a_judge_is_not_people_s(tmp_path: Path) -> None:
    results = [int(each >= 4) for each in JUDGE]
    scores = {"out.tone.llm_tone": JUDGE, "out.tone.tone": JUDGE}
    table = {"in.human_tone": PEOPLE, **scores, "out.tone.tone_result": results}
    columns = columns_of(table, tmp_path)
    assert columns.rated == ["in.human_tone"]
    assert columns.scored == ["out.tone.llm_tone"]
    assert columns.unused["out.tone.tone"] == "it repeats out.tone.llm_tone"


def test_ratings_that_differ_from_the_judges_are_people_s(tmp_path: Path) -> None:
    columns = columns_of({"tone": PEOPLE, "llm_tone": JUDGE}, tmp_path)
    assert (columns.rated, columns.scored) == (["tone"], ["llm_tone"])


def test_an_aspect_that_a_judge_scores_may_be_constant(tmp_path: Path) -> None:
    ratings = {"clarity": PEOPLE, "tone": [5] * ROWS}
    scores = {"llm_clarity": JUDGE, "llm_tone": JUDGE}
    columns = columns_of({**ratings, **scores}, tmp_path)
    assert set(columns.ratings) == {"clarity", "tone"}


def test_a_constant_number_beside_ratings_is_none(tmp_path: Path) -> None:
    ratings = {"quality": PEOPLE, "trusted_judgments": [3] * ROWS}
    columns = columns_of({**ratings, "llm_quality": JUDGE}, tmp_path)
    assert columns.rated == ["quality"]
    assert "the same in all" in columns.unused["trusted_judgments"]
