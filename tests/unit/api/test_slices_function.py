"""`js.slices`: parts of the texts from arrays, equal to the numbers of the table."""

import numpy as np
import pandas as pd
import pytest

import judgescope as js
from judgescope.statistics.within_sources import within_sources

RNG = np.random.default_rng(5)
SOURCES, SYSTEMS = 60, 4
SOURCE = np.repeat(np.arange(SOURCES), SYSTEMS)
HUMAN = RNG.normal(size=SOURCE.size)
TOPIC = np.where(SOURCE % 3 == 0, "law", "news")
JUDGE = np.where(TOPIC == "law", RNG.normal(size=SOURCE.size), HUMAN + 0.1)


def test_the_worse_part_has_a_separate_number_and_a_gap() -> None:
    result = js.slices(JUDGE, HUMAN, {"topic": TOPIC}, source=SOURCE)
    law = TOPIC == "law"
    alone = within_sources(JUDGE[law], HUMAN[law], SOURCE[law], SOURCES).estimate
    number = result.loc[("normal_scores", "topic: law")]
    assert number["value"] == pytest.approx(alone.value, abs=1e-12)
    gap = result.loc[("slice_gap_normal_scores", "topic: law")]
    news = result.loc[("normal_scores", "topic: news")]
    assert gap["value"] == pytest.approx(number["value"] - news["value"])
    assert result.loc[("slice_p_holm_normal_scores", "topic: law"), "value"] < 0.01


def test_values_may_differ_within_a_source() -> None:
    """Of each source two texts are early and two are late."""
    part = np.tile(["early", "late"], SOURCE.size // 2)
    judge = np.where(part == "late", HUMAN, RNG.normal(size=SOURCE.size))
    result = js.slices(judge, HUMAN, {"part": part}, source=SOURCE)
    gap = result.loc[("slice_gap_normal_scores", "part: late")]
    assert gap["ci_low"] > 0
    late = result.loc[("normal_scores", "part: late"), "value"]
    early = result.loc[("normal_scores", "part: early"), "value"]
    assert gap["value"] == pytest.approx(late - early)


def test_numbers_over_all_texts_say_so_where_sources_are_given() -> None:
    constant = np.repeat(RNG.normal(size=SOURCES), SYSTEMS)
    judge = constant + RNG.normal(size=SOURCE.size)
    given = js.slices(judge, constant, {"topic": TOPIC}, source=SOURCE)
    row = given.loc[("spearman", "topic: law")]
    assert row["note"].startswith("over all texts: too few sources")
    single = js.slices(judge, constant, {"topic": TOPIC})
    assert "over all texts" not in single.loc[("spearman", "topic: law"), "note"]


def test_a_frame_is_columns_and_missing_values_are_in_no_slice() -> None:
    frame = pd.DataFrame({"topic": TOPIC, "kind": [None, "a", "b", "b"] * SOURCES})
    result = js.slices(JUDGE, HUMAN, frame, source=SOURCE)
    parts = {part for _, part in result.index}
    assert parts == {"topic: law", "topic: news", "kind: a", "kind: b", ""}


def test_few_sources_have_a_reason_and_no_number() -> None:
    topic = np.where(SOURCE < 5, "law", "news")
    result = js.slices(JUDGE, HUMAN, {"topic": topic}, source=SOURCE)
    row = result.loc[("normal_scores", "topic: law")]
    assert np.isnan(row["value"]) and row["note"] == "too few: 5 sources"


def test_a_column_of_another_length_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"columns\['topic'\] has 3 values"):
        js.slices(JUDGE, HUMAN, {"topic": ["a"] * 3})


def test_a_column_of_another_order_is_an_error() -> None:
    topic = pd.Series(TOPIC, index=np.arange(TOPIC.size)[::-1])
    with pytest.raises(ValueError, match="indexes differ"):
        js.slices(pd.Series(JUDGE), HUMAN, {"topic": topic}, source=SOURCE)


@pytest.mark.parametrize("columns", [{}, {"topic": ["a"] * SOURCE.size}])
def test_without_two_values_nothing_needs_to_compare(
    columns: dict[str, list[str]],
) -> None:
    with pytest.raises(ValueError, match="has two values"):
        js.slices(JUDGE, HUMAN, columns, source=SOURCE)
