"""The rows of triage.csv, its reasons and its section."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import report_study
from dataset_in_memory import (
    DatasetTables,
    Floats,
    judge_facts,
    row_of,
    rows_of,
    scales,
)
from judgescope.methods import triage
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.report.contents import section_named
from judgescope.report.elements import PageTable, Paragraph

ITEMS = 1500
KEY = {"good_from": 4.0, "error": 0.1, "risk": 0.05}
RNG = np.random.default_rng(7)
QUALITY = 3 + 1.2 * RNG.normal(size=ITEMS)
PEOPLE = np.clip(np.round(QUALITY), 1, 5)
SCORES = np.clip(np.round(QUALITY + 0.3 * RNG.normal(size=ITEMS), 1), 1, 5)


def data_of(
    people: Floats = PEOPLE,
    scores: Floats = SCORES,
    *,
    key: dict[str, Any] = KEY,
    engine: str = "llama",
    labels: tuple[str, ...] = (),
    **spec: Any,
) -> EvaluationData:
    """Return a text of each item, rated by one person and scored by a judge."""
    tables = DatasetTables()
    names = [f"i{item:04}" for item in range(ITEMS)]
    tables.add_items(names)
    for name in names:
        tables.add_text("systems", f"{name}.s", name)
    targets = [f"{name}.s" for name in names]
    tables.add_ratings("clear", "r", targets, people)
    tables.add_scores("systems", "judge", "clear", targets, scores)
    facts = judge_facts(["clear"], None, (1.0, 5.0)) | {"engine": engine}
    aspects = scales(["clear"])
    if labels:
        values = [float(at) for at in range(len(labels))]
        aspects = scales(["clear"], values, (0.0, values[-1]))
        aspects["clear"]["labels"] = [*labels]
    fields: dict[str, Any] = {"ratings": "people", "settings": {"triage": key}}
    return tables.data(
        **fields | {"aspects": aspects, "judges": {"judge": facts}} | spec
    )


def test_a_good_judge_passes_and_rejects_and_leaves_the_rest() -> None:
    rows = [*triage.rows(data_of())]
    values: dict[str, Any] = {row["statistic"]: row["value"] for row in rows}
    assert 3.5 < values["accept_from"] < 4.5 and 2 < values["reject_up_to"] <= 3.5
    shares = [values[f"{name}_share"] for name in ("accepted", "rejected", "left")]
    assert sum(shares) == pytest.approx(1) and min(shares) > 0
    for side in ("accept", "reject"):
        assert values[f"{side}_error"] <= values[f"{side}_error_bound"] <= 0.1
    accepted = values["accept_from"] <= SCORES
    assert values["accept_error"] == pytest.approx((PEOPLE[accepted] < 4).mean())
    assert "chance of 95%" in row_of(rows, "accept_from")["method"]


def test_texts_without_a_score_are_left_to_people() -> None:
    scores = SCORES.copy()
    scores[::3] = np.nan
    rows = [*triage.rows(data_of(scores=scores))]
    assert row_of(rows, "left_share")["value"] > 1 / 3
    assert row_of(rows, "accept_from")["n_missing"] == ITEMS // 3


def test_of_two_labels_the_last_is_good_without_a_bar() -> None:
    people = np.where(QUALITY > 3, 1.0, 0.0)
    key = KEY | {"good_from": None}
    rows = [*triage.rows(data_of(people, key=key, labels=("fail", "pass")))]
    assert row_of(rows, "accept_from")["value"] > 2.5


def test_where_the_lowest_score_is_best_the_threshold_is_on_the_judges_scale() -> None:
    turned = {"ratings": {"clear": 6.0}, "scores": {"judge": {"clear": 6.0}}}
    # People's 5 is 1 of the turned table, on which more is better.
    plain = [*triage.rows(data_of())]
    rows = [*triage.rows(data_of(turned=turned, key=KEY | {"good_from": 2.0}))]
    for name in ("accept_from", "reject_up_to"):
        both = [row_of(each, name)["value"] for each in (plain, rows)]
        assert sum(both) == pytest.approx(6)
    assert "lowest score is the best" in row_of(rows, "accept_from")["note"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"key": KEY | {"good_from": None}},
            (
                "the study does not say from which rating on a text is "
                "good: key triage, good_from"
            ),
        ),
        (
            {"key": KEY | {"good_from": {"other": 4.0}}},
            (
                "the study does not say from which rating on a text is "
                "good: key triage, good_from"
            ),
        ),
        ({"key": KEY | {"good_from": 7.0}}, "good_from is not within people's scale"),
        ({"people": np.full(ITEMS, 5.0)}, "all rated texts are good"),
        ({"people": np.full(ITEMS, np.nan)}, "no ratings"),
        ({"people": np.ones(ITEMS)}, "all rated texts are bad"),
    ],
)
def test_a_missing_threshold_has_a_reason(change: dict[str, Any], reason: str) -> None:
    [row] = triage.rows(data_of(**change))
    assert row["value"] is None and row["note"] == reason


def test_a_useless_judge_decides_nothing() -> None:
    rows = [*triage.rows(data_of(scores=np.full(ITEMS, 3.0)))]
    assert row_of(rows, "accept_from")["value"] is None
    assert "may be" in row_of(rows, "accept_from")["note"]
    assert row_of(rows, "left_share")["value"] == 1


def test_controls_have_no_rows() -> None:
    assert not [*triage.rows(data_of(engine="control"))]


def test_the_section_says_what_a_judge_may_decide(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for judge, scores in (("alpha", SCORES), ("beta", np.full(ITEMS, 3.0))):
        for row in triage.rows(data_of(scores=scores)):
            rows.append({**row, "dataset": "chat", "judge": judge, "aspect": "fluency"})
    none = triage.rows(data_of(key=KEY | {"good_from": None}))
    for row in none:
        rows.append({**row, "dataset": "chat", "judge": "gamma", "aspect": "fluency"})
    spec = report_study.make(tmp_path, {"triage": rows, "coverage": []})
    section = section_named("triage", report_study.loaded(spec))
    assert section is not None
    texts = [each.text for each in section.blocks if isinstance(each, Paragraph)]
    assert (
        "accepts" in texts[0] and "rejects" in texts[0] and "go to people" in texts[0]
    )
    assert "rated texts)" in texts[0]
    assert "on its own: at most 10% wrong with a chance of 95%" in texts[0]
    assert "may decide nothing alone" in texts[1]
    assert "is not tested: the study does not say" in texts[2]
    [table] = [each for each in section.blocks if isinstance(each, PageTable)]
    assert [line.head for line in table.bodies[0].lines] == ["alpha", "beta", "gamma"]


def test_good_from_can_differ_by_aspect() -> None:
    rows = [*triage.rows(data_of(key=KEY | {"good_from": {"clear": 4.0}}))]
    assert rows == [*triage.rows(data_of())] and rows_of(rows, "accept_from")
