"""The rows of choice.csv: three picks, gains, refusals and bad input."""

from typing import Any

import numpy as np
import pytest

from dataset_in_memory import (
    DatasetTables,
    Floats,
    judge_facts,
    row_of,
    rows_of,
    scales,
)
from judgescope.methods import choice, corrected
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow

SOURCES, RATED = 120, 40
NAMES = ("a", "b", "c", "d")
LEVELS = np.array([2.0, 2.5, 3.0, 4.0])
RNG = np.random.default_rng(3)
QUALITY = LEVELS + 0.5 * RNG.normal(size=(SOURCES, 4)) + RNG.normal(size=(SOURCES, 1))
LIKED = np.array([0.0, 0.0, 2.5, 0.0])
"""What the judge adds: it prefers c, people prefer d."""


def data_of(
    people: Floats = QUALITY,
    scores: Floats = QUALITY + LIKED,
    *,
    rated: int = RATED,
    engine: str = "llama",
    **spec: Any,
) -> EvaluationData:
    """Return sources with a text of each system, (sources, systems)."""
    tables = DatasetTables()
    tables.add_items(f"i{item:03}" for item in range(len(people)))
    for at in range(people.shape[1]):
        targets = [f"i{item:03}.{NAMES[at]}" for item in range(len(people))]
        for target in targets:
            tables.add_text("systems", target, target[:4], system=NAMES[at])
        known = np.where(np.arange(len(people)) < rated, people[:, at], np.nan)
        tables.add_ratings("clear", "r", targets, known)
        tables.add_scores("systems", "judge", "clear", targets, scores[:, at])
    facts = judge_facts(["clear"], None, (-5.0, 12.0)) | {"engine": engine}
    aspects = scales(["clear"], None, (-5.0, 12.0))
    fields: dict[str, Any] = {"ratings": "people", "aspects": aspects, "seed": 4}
    return tables.data(**fields | {"judges": {"judge": facts}} | spec)


def best(rows: list[ResultRow], **where: Any) -> str:
    shares = {
        row["system_subset"]: row["value"] for row in rows_of(rows, "p_best", **where)
    }
    assert sum(shares.values()) == pytest.approx(1)
    return str(max(shares, key=lambda name: shares[name]))


def test_the_correction_turns_a_judges_pick_into_peoples() -> None:
    rows = [*choice.rows(data_of())]
    assert best(rows, judge="human") == "d"
    assert best(rows, judge="judge", form="uncorrected") == "c"
    assert best(rows, judge="judge", form="corrected") == "d"
    where = {"judge": "judge", "form": "corrected", "system_subset": "d"}
    assert row_of(rows, "may_be_best", **where)["value"] == 1
    assert "random sample" in row_of(rows, "p_best", **where)["note"]


def test_a_wrong_pick_has_a_regret() -> None:
    rows = [*choice.rows(data_of())]
    regret = row_of(rows, "choice_regret", judge="judge")
    assert regret["ci_low"] > 0 and regret["n"] == RATED
    people = row_of(rows, "choice_gain", judge="human")["value"]
    gain = row_of(rows, "choice_gain", judge="judge")["value"]
    assert regret["value"] == pytest.approx(people - gain)
    assert row_of(rows, "system_pearson_true", judge="judge")["value"] < 0.9


def test_the_rows_are_the_same_each_time_and_for_any_order_of_scores() -> None:
    first, second = ([*choice.rows(data_of())] for _ in range(2))
    assert first == second


def test_where_the_lowest_value_is_best_the_pick_is_the_lowest_rating() -> None:
    turned = {"ratings": {"clear": 7.0}, "scores": {"judge": {"clear": 7.0}}}
    plain = [*choice.rows(data_of())]
    rows = [*choice.rows(data_of(turned=turned))]
    for statistic in ("choice_gain", "choice_regret"):
        a, b = (
            [r["value"] for r in rows_of(each, statistic)] for each in (plain, rows)
        )
        assert a == pytest.approx(b)
    assert best(rows, judge="judge", form="corrected") == "d"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"people": QUALITY[:, :1], "scores": QUALITY[:, :1]}, corrected.ONE_SYSTEM),
        ({"anonymous_systems": True}, corrected.NO_SYSTEMS),
        ({"rated": 9}, "9 rated sources"),
        ({"rated": 0}, "no ratings"),
        ({"people": QUALITY[:1], "scores": QUALITY[:1]}, "1 rated sources"),
    ],
)
def test_a_missing_choice_has_a_reason(change: dict[str, Any], reason: str) -> None:
    rows = [*choice.rows(data_of(**change))]
    assert {row["value"] for row in rows} == {None}
    assert all(reason in row["note"] for row in rows)


def test_a_refused_correction_has_no_raw_choice_either() -> None:
    rows = choice.rows(data_of(settings={"estimate": {"rated": "by_score"}}))
    [row] = rows_of(rows, judge="judge")
    assert row["value"] is None and "by the judge's score" in row["note"]


def test_a_system_with_few_rated_texts_is_left_out_and_named() -> None:
    people = QUALITY.copy()
    people[: RATED // 2, 1] = np.nan
    rows = [*choice.rows(data_of(people))]
    names = {row.get("system_subset") for row in rows_of(rows, "p_best")}
    assert names == {"a", "c", "d"}
    assert all("rated sources: b" in row["note"] for row in rows_of(rows, "p_best"))


def test_controls_have_no_rows() -> None:
    rows = choice.rows(data_of(engine="control"))
    assert {row["judge"] for row in rows} == {"human"}
