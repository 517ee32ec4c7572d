"""The rows of rubrics.csv: aspects with two labels as the criteria of a rubric."""

from typing import Any

import numpy as np
import pytest

from dataset_in_memory import DatasetTables, Floats, judge_facts, row_of, rows_of
from judgescope.methods import rubrics
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.rubrics import NO_CRITERIA, ONE_POINT
from judgescope.statistics.rubrics import NO_POINTS

SOURCES, SYSTEMS = 40, 2
NAMES = ("names-risk", "says-when", "scares")
POINTS = {"names-risk": 5.0, "says-when": 3.0, "scares": -4.0}
RNG = np.random.default_rng(8)
TRUTH = (RNG.random((3, SOURCES * SYSTEMS)) < 0.6).astype(float)
LABELS = {
    "values": [0.0, 1.0],
    "ends": [0.0, 1.0],
    "labels": ["unmet", "met"],
    "ordered": False,
}


def flipped(share: float, values: Floats = TRUTH) -> Floats:
    return np.where(RNG.random(values.shape) < share, 1 - values, values)


EXPERTS = [flipped(0.1), flipped(0.1)]
GRADER = flipped(0.1)


def data_of(
    graders: dict[str, Floats],
    points: dict[str, float] | None = None,
    themes: dict[str, str] | None = None,
    **spec: Any,
) -> EvaluationData:
    """Return responses of two systems; experts, graders: (criteria, responses)."""
    tables = DatasetTables()
    targets = []
    for item in range(SOURCES):
        tables.add("items", item=f"i{item:03}", source="", meta="{}")
        for system in range(SYSTEMS):
            target = f"i{item:03}.s{system}"
            tables.add_text("systems", target, f"i{item:03}", system=f"s{system}")
            targets.append(target)
    for code, name in enumerate(NAMES):
        for number, expert in enumerate(EXPERTS):
            tables.add_ratings(name, f"e{number}", targets, expert[code])
        for judge, verdicts in graders.items():
            tables.add_scores("systems", judge, name, targets, verdicts[code])
    facts = judge_facts([*NAMES], [0.0, 1.0], (0.0, 1.0)) | {"engine": "llama"}
    fields: dict[str, Any] = {
        "ratings": "people",
        "aspects": dict.fromkeys(NAMES, LABELS),
        "judges": dict.fromkeys(graders, facts),
        "settings": {"rubrics": {"points": points or {}, "themes": themes or {}}},
        "as_rater": {"margin": 0.05, "raters": "persons"},
    }
    return tables.data(**fields | spec)


def test_points_make_the_score_of_a_response() -> None:
    rows = [*rubrics.rows(data_of({"judge": GRADER}, POINTS))]
    weights = np.array([*POINTS.values()])
    scores = weights @ GRADER / 8
    row = row_of(rows, "rubric_score", judge="judge", system_subset=None)
    assert row["value"] == pytest.approx(scores.mean())
    assert row["n"] == SOURCES * SYSTEMS and ONE_POINT not in row["note"]
    first = row_of(rows, "rubric_score", judge="judge", system_subset="s0")
    assert first["value"] == pytest.approx(scores[::2].mean())
    experts = row_of(rows, "rubric_score", judge="human", system_subset=None)
    mean_label = (EXPERTS[0] + EXPERTS[1]) / 2
    assert experts["value"] == pytest.approx((weights @ mean_label / 8).mean())


def test_without_points_every_criterion_has_one_and_that_is_reported() -> None:
    rows = [*rubrics.rows(data_of({"judge": GRADER}))]
    row = row_of(rows, "rubric_score", judge="judge", system_subset=None)
    assert row["value"] == pytest.approx(GRADER.mean())
    assert ONE_POINT in row["note"]


def test_only_criteria_with_points_count_where_any_are_stated() -> None:
    rows = [*rubrics.rows(data_of({"judge": GRADER}, {"says-when": 2.0}))]
    complete = row_of(rows, "rubric_score", judge="judge", system_subset=None)
    assert complete["value"] == pytest.approx(GRADER[1].mean())
    assert {row["aspect"] for row in rows} == {"", "says-when"}


def test_a_blind_grader_is_named_by_criterion_and_theme() -> None:
    blind = GRADER.copy()
    blind[1] = RNG.random(blind[1].size) < 0.6
    themes = {"names-risk": "risk", "says-when": "help", "scares": "risk"}
    rows = [*rubrics.rows(data_of({"judge": blind}, POINTS, themes))]
    statistic = "slice_p_holm_rubric_balanced_accuracy"
    for name in ("criterion: says-when", "theme: help"):
        assert row_of(rows, statistic, slice=name)["value"] < 0.01
        gap = row_of(rows, "slice_gap_rubric_balanced_accuracy", slice=name)
        assert gap["ci_high"] < 0
    assert (
        row_of(rows, statistic, slice="criterion: says-when")["aspect"] == "says-when"
    )


def test_a_verdict_that_was_not_read_is_no_unmet_criterion() -> None:
    unread = np.where(RNG.random(GRADER.shape) < 0.3, np.nan, GRADER)
    rows = [*rubrics.rows(data_of({"judge": unread}, POINTS))]
    share = row_of(rows, "rubric_unread", judge="judge")
    assert share["value"] == pytest.approx(np.isnan(unread).mean())
    left_out = row_of(rows, "rubric_score", judge="judge", system_subset=None)
    unmet = row_of(rows, "rubric_score_unmet", judge="judge", system_subset=None)
    assert unmet["value"] < left_out["value"]
    assert "unread is not unmet" in unmet["note"]


def test_each_judge_has_a_separate_rows_and_controls_none() -> None:
    data = data_of({"good": GRADER, "poor": flipped(0.4)}, POINTS)
    rows = [*rubrics.rows(data)]
    good, poor = (
        row_of(rows, "rubric_f1", judge=judge, aspect="")["value"]
        for judge in ("good", "poor")
    )
    assert good > poor + 0.1
    assert {row["judge"] for row in rows} == {"human", "good", "poor"}
    alone = data_of({"good": GRADER}, POINTS)
    again = [row for row in rubrics.rows(alone) if row["judge"] == "good"]
    mine = [row for row in rows if row["judge"] == "good"]
    assert [row["value"] for row in again] == [row["value"] for row in mine]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"ratings": "planned"}, "ratings are planned, not people's"),
        ({"ratings": "model"}, "ratings are a model's, not people's"),
        (
            {"aspects": {name: {"values": None, "ends": [0.0, 1.0]} for name in NAMES}},
            NO_CRITERIA,
        ),
        (
            {"settings": {"rubrics": {"points": {"scares": -1.0}, "themes": {}}}},
            NO_POINTS,
        ),
    ],
)
def test_what_has_no_rubric_says_why(fields: dict[str, Any], why: str) -> None:
    rows = [*rubrics.rows(data_of({"judge": GRADER}, **fields))]
    assert [(row["value"], row["note"]) for row in rows] == [(None, why)]


def test_names_of_all_rows_are_declared() -> None:
    from judgescope.statistics.registry import statistic

    rows = [*rubrics.rows(data_of({"judge": GRADER}, POINTS))]
    assert rows_of(rows, "rubric_score")
    for row in rows:
        assert statistic(row["statistic"]).label
