"""The rows of corrected.csv: both numbers, differences, refusals and bad input."""

from typing import Any

import numpy as np
import pytest

from dataset_in_memory import (
    DatasetTables,
    Floats,
    Row,
    judge_facts,
    row_of,
    rows_of,
    scales,
)
from judgescope.methods import corrected
from judgescope.methods.evaluation_data import EvaluationData

SOURCES = 120
RATED = 40
LABELS: dict[str, Any] = {
    "values": [0.0, 1.0],
    "ends": [0.0, 1.0],
    "labels": ["fail", "pass"],
}
RNG = np.random.default_rng(11)
QUALITY = RNG.normal(3, 1, (2, SOURCES)) + np.array([[0.0], [0.6]])


def rounded(values: Any) -> Floats:
    return np.clip(np.round(np.asarray(values)), 1, 5)


PEOPLE = rounded(QUALITY + 0.3 * RNG.normal(size=QUALITY.shape))
SCORES = rounded(QUALITY + 0.7 + 0.3 * RNG.normal(size=QUALITY.shape))


def data_of(
    people: Floats = PEOPLE,
    scores: Floats = SCORES,
    *,
    rated: int = RATED,
    lengths: Floats | None = None,
    scale: Row | None = None,
    facts: Row | None = None,
    **spec: Any,
) -> EvaluationData:
    """Return sources with a text of each system, (systems, sources); the first `rated`
    have ratings.
    """
    tables = DatasetTables()
    tables.add_items(f"i{item:03}" for item in range(people.shape[1]))
    for system, ratings in enumerate(people):
        names = [f"i{item:03}.s{system}" for item in range(ratings.size)]
        for item, target in enumerate(names):
            length = 20 if lengths is None else int(lengths[system, item])
            tables.add_text(
                "systems", target, target[:4], system=f"s{system}", text="x" * length
            )
        known = np.where(np.arange(ratings.size) < rated, ratings, np.nan)
        tables.add_ratings("clear", "r", names, known)
        tables.add_scores("systems", "judge", "clear", names, scores[system])
    aspects = scales(["clear"]) if scale is None else {"clear": scale}
    judges = {"judge": judge_facts(["clear"]) | (facts or {})}
    fields: Row = {"ratings": "people", "aspects": aspects, "judges": judges}
    return tables.data(**fields | spec)


def test_the_corrected_mean_is_nearer_to_people_than_the_judge() -> None:
    rows = [*corrected.rows(data_of())]
    for system in range(2):
        truth = PEOPLE[system].mean()
        where = {"system_subset": f"s{system}", "judge": "judge"}
        row = row_of(rows, "corrected_mean", **where)
        alone = row_of(rows, "uncorrected_mean", **where)
        assert row["ci_low"] < truth < row["ci_high"] < alone["ci_low"]
        assert abs(row_of(rows, "judge_bias", **where)["value"] - 0.7) < 0.2
        assert row_of(rows, "unrated_sources", **where)["value"] == SOURCES - RATED
        assert row_of(rows, "rated_texts", **where)["value"] == RATED
        people = row_of(rows, "rated_mean", system_subset=f"s{system}")
        assert people["value"] == pytest.approx(PEOPLE[system, :RATED].mean())
        assert row_of(rows, "rating_worth", **where)["value"] > 1.2


def test_differences_come_first_and_have_tests() -> None:
    rows = [*corrected.rows(data_of())]
    of_judge = rows_of(rows, judge="judge")
    assert of_judge[0]["statistic"] == "corrected_difference"
    assert of_judge[0]["system_subset"] == "s0+s1" and of_judge[0]["value"] < 0
    p = row_of(of_judge, "p_corrected_difference")["value"]
    assert p < 0.05
    assert row_of(of_judge, "p_holm_corrected_difference")["value"] == pytest.approx(p)
    assert "random sample" in of_judge[0]["note"]
    declared = {"estimate": {"rated": "random"}}
    [first, *_] = rows_of(corrected.rows(data_of(settings=declared)), judge="judge")
    assert "random sample" not in first["note"]
    assert first["value"] == of_judge[0]["value"]


def test_the_scores_are_moved_to_the_ends_of_peoples_scale() -> None:
    hundred = {"ends": {"clear": (0.0, 100.0)}, "grid": {"clear": None}}
    moved = data_of(scores=(SCORES - 1) * 25, facts=hundred)
    names = ("corrected_mean", "uncorrected_mean", "judge_bias")
    first, second = (
        [row["value"] for row in rows_of(corrected.rows(each), *names)]
        for each in (data_of(), moved)
    )
    assert first == pytest.approx(second)


def test_a_judge_without_a_scale_has_a_bias_only_within_peoples() -> None:
    free = {"ends": {"clear": None}, "grid": {"clear": None}}
    rows = [*corrected.rows(data_of(facts=free))]
    alone = row_of(rows, "uncorrected_mean", system_subset="s0")
    assert alone["value"] is not None and "no scale of its own" in alone["note"]
    rows = [*corrected.rows(data_of(scores=SCORES * 30, facts=free))]
    assert not rows_of(rows, "judge_bias")
    assert row_of(rows, "uncorrected_mean", system_subset="s0")["value"] is None
    assert row_of(rows, "corrected_mean", system_subset="s0")["value"] is not None


def test_scales_whose_lowest_value_is_best_keep_their_direction() -> None:
    turned = {"ratings": {"clear": 6.0}, "scores": {"judge": {"clear": 6.0}}}
    rows = [*corrected.rows(data_of(6 - PEOPLE, 6 - SCORES, turned=turned))]
    plain = [*corrected.rows(data_of())]
    for name in ("corrected_mean", "rated_mean", "corrected_difference"):
        first, second = (
            [row["value"] for row in rows_of(each, name)] for each in (rows, plain)
        )
        assert first == pytest.approx(second)


def test_a_pass_rate_is_the_share_of_the_last_label() -> None:
    passed = (PEOPLE >= 3).astype(np.float64)
    lenient = np.where(RNG.random(passed.shape) < 0.3, 1.0, passed)
    facts = judge_facts(["clear"], LABELS["values"], (0.0, 1.0))
    rows = [*corrected.rows(data_of(passed, lenient, scale=LABELS, facts=facts))]
    for system in range(2):
        where = {"system_subset": f"s{system}"}
        row = row_of(rows, "corrected_mean", **where)
        alone = row_of(rows, "uncorrected_mean", **where)
        assert abs(row["value"] - passed[system].mean()) < 0.12
        assert alone["value"] == pytest.approx(lenient[system].mean())
        exact = row_of(rows, "rated_mean", **where)
        assert "Clopper-Pearson" in exact["method"]


def test_a_middle_score_of_bad_texts_is_replaced_by_their_mean() -> None:
    people = np.resize([5.0, 1.0, 4.0], (1, 240)) + 0.0
    scores = np.resize([5.0, 3.0, 1.0], (1, 240)) + 0.0
    people[0, ::7] = 2.0
    rows = [*corrected.rows(data_of(people, scores, rated=90))]
    row = row_of(rows, "corrected_mean", system_subset="s0")
    assert "replaced by the mean rating" in row["note"]
    assert row_of(rows, "rating_correlation", system_subset="s0")["value"] > 0.7


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"estimate": {"rated": "by_score"}}, "chosen by the judge's score"),
        ({}, "range"),
    ],
)
def test_a_refused_cell_has_no_raw_number_either(
    settings: dict[str, Any], reason: str
) -> None:
    order = np.argsort(SCORES, axis=1)
    people = np.take_along_axis(PEOPLE, order, axis=1)
    scores = np.take_along_axis(SCORES, order, axis=1)
    rows = rows_of(
        corrected.rows(data_of(people, scores, settings=settings)), judge="judge"
    )
    names = {row["statistic"] for row in rows if row["system_subset"] == "s0"}
    assert names == {"corrected_mean"}
    assert reason in row_of(rows, "corrected_mean", system_subset="s0")["note"]


def test_an_error_that_changes_with_length_is_refused_where_lengths_differ() -> None:
    lengths = np.full((1, SOURCES), 20)
    lengths[0, :RATED] = 40 + np.arange(RATED)
    people = SCORES[:1] - (lengths - 60) / 20
    scale = {"values": None, "ends": [-3.0, 9.0]}
    rows = [*corrected.rows(data_of(people, SCORES[:1], lengths=lengths, scale=scale))]
    row = row_of(rows, "corrected_mean")
    assert row["value"] is None and "length" in row["note"]


def test_a_single_system_has_a_mean_and_no_difference() -> None:
    rows = [*corrected.rows(data_of(PEOPLE[:1], SCORES[:1]))]
    assert row_of(rows, "corrected_difference")["note"] == corrected.ONE_SYSTEM
    assert row_of(rows, "corrected_mean")["value"] is not None
    unknown = [*corrected.rows(data_of(anonymous_systems=True))]
    assert row_of(unknown, "corrected_difference")["note"] == corrected.NO_SYSTEMS
    assert row_of(unknown, "corrected_mean")["n"] == RATED


def test_a_single_source_has_a_mean_without_an_interval() -> None:
    rows = [*corrected.rows(data_of(PEOPLE[:, :1], SCORES[:, :1]))]
    row = row_of(rows, "corrected_mean", system_subset="s0")
    assert row["value"] == PEOPLE[0, 0] and row["ci_low"] is None
    assert "1 rated sources" in row["note"]
    assert not rows_of(rows, "p_corrected_difference")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rated": 0}, "no ratings"),
        ({"ratings": "planned"}, "planned"),
        (
            {"scale": {**LABELS, "labels": ["a", "b", "c"], "ordered": False}},
            "two labels",
        ),
    ],
)
def test_without_usable_ratings_there_is_a_single_row_with_the_reason(
    change: dict[str, Any], reason: str
) -> None:
    [row] = corrected.rows(data_of(**change))
    assert row["value"] is None and reason in row["note"]


def test_fully_rated_sources_leave_the_judge_without_a_part() -> None:
    rows = [*corrected.rows(data_of(rated=SOURCES))]
    row = row_of(rows, "corrected_mean", system_subset="s0")
    assert row["value"] == pytest.approx(PEOPLE[0].mean())
    assert "no unrated source" in row["note"]
    assert "random sample" not in row["note"]
    worth = row_of(rows, "rating_worth", system_subset="s0")
    assert worth["value"] == 1


def test_controls_have_no_rows() -> None:
    rows = corrected.rows(data_of(facts={"engine": "control"}))
    assert {row["judge"] for row in rows} == {"human"}
