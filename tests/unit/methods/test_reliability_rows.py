"""The rows of reliability.csv and its section."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import report_study
from dataset_in_memory import row_of, rows_of
from judgescope.methods import reliability
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.report.contents import section_named
from judgescope.report.elements import PageTable, Paragraph
from judgescope.statistics.variance import (
    ONE_RATING,
    ONE_TEXT,
    Components,
    place_components,
)
from judgescope.statistics.variance_of_systems import SystemVariance
from methods_setup import CONSTANT, GOOD, NOISY, RATINGS, study

PERSONS = {"margin": 0.05, "raters": "persons"}


def data_of(people: Any = RATINGS, **spec: Any) -> EvaluationData:
    fields = {"as_rater": PERSONS, "ratings": "people"}
    return study(
        {"good": GOOD, "noisy": NOISY, "top": CONSTANT}, people, **fields | spec
    )


def test_judges_stand_beside_the_ceiling_of_people() -> None:
    rows = [*reliability.rows(data_of())]
    where = {"aspect": "clear", "level": "pooled"}
    ceiling = row_of(rows, "ceiling_true", judge="human", k=None, **where)
    plain = row_of(rows, "correlation_people", judge="good", **where)
    true = row_of(rows, "correlation_true", judge="good", **where)
    assert true["value"] == pytest.approx(plain["value"] / ceiling["value"])
    assert row_of(rows, "correlation_true", judge="top", **where)["value"] is None
    by_k = [
        row_of(rows, "ceiling_true", judge="human", k=k, **where)["value"]
        for k in (1, 2, 3, 5, 10)
    ]
    assert by_k == sorted(by_k)
    assert by_k[2] == pytest.approx(ceiling["value"])  # three raters rated all


def test_texts_of_a_single_source_have_no_variance_of_raters() -> None:
    rows = [*reliability.rows(data_of())]
    assert rows_of(rows, "var_rater", level="pooled")
    assert not rows_of(rows, "var_rater", level="by_source")
    assert not rows_of(rows, "dependability_people", level="by_source")


def test_of_places_only_dependability_exists() -> None:
    rows = [*reliability.rows(data_of(as_rater={"margin": 0.05, "raters": "slots"}))]
    assert not rows_of(rows, "reliability_people", "var_rater")
    row = row_of(rows, "dependability_people", aspect="clear", level="pooled", k=None)
    assert "unknown raters" in row["method"]
    planned = rows_of(rows, "reliability_systems")
    assert all("with these raters" in row["method"] for row in planned)


def test_the_plan_counts_ratings_of_all_systems() -> None:
    rows = [*reliability.rows(data_of())]
    where = {"aspect": "clear", "k": 2, "k_b": 50}
    assert row_of(rows, "ratings_needed", **where)["value"] == 50 * 2 * 4
    assert 0 < row_of(rows, "reliability_systems", **where)["value"] < 1


@pytest.mark.parametrize(
    ("people", "spec", "reason"),
    [
        ({}, {}, "no ratings"),
        (RATINGS, {"ratings": "constructed"}, "not people's"),
        ({a: r[:1] for a, r in RATINGS.items()}, {}, ONE_RATING),
    ],
)
def test_missing_reliability_has_a_reason(
    people: Any, spec: dict[str, Any], reason: str
) -> None:
    rows = [*reliability.rows(data_of(people, **spec))]
    assert rows and {row["value"] for row in rows} == {None}
    assert all(reason in row["note"] or row["note"] == ONE_TEXT for row in rows)


def test_texts_of_unknown_systems_have_no_plan() -> None:
    rows = [*reliability.rows(data_of(anonymous_systems=True))]
    planned = rows_of(rows, "reliability_systems")
    assert {row["note"] for row in planned} == {"the texts name no two systems"}


def test_a_mean_of_two_texts_has_the_ratings_of_both() -> None:
    """No variance of systems by source is planted, and none is found."""
    rng = np.random.default_rng(6)
    source, rest = np.divmod(np.arange(400 * 4 * 2), 8)
    system = rest // 2
    ratings = (source % 7) + system + rng.normal(size=(3, source.size))
    targets = SimpleNamespace(
        source=source,
        system=system,
        systems=[f"s{code}" for code in system],
        study=SimpleNamespace(item_order=range(400)),
    )
    data: Any = SimpleNamespace(
        systems=targets, spec=SimpleNamespace(anonymous_systems=False)
    )
    parts = place_components(ratings, source, None)
    assert isinstance(parts, Components)
    systems = reliability.systems_of(data, ratings, parts)
    assert isinstance(systems, SystemVariance)
    assert systems.by_source[0] == pytest.approx(0, abs=0.03)


def test_few_complete_sources_have_no_plan() -> None:
    ratings = {name: each.copy() for name, each in RATINGS.items()}
    for each in ratings.values():
        each[:, : 4 * 8 : 4] = np.nan  # one system of eight sources
    rows = [*reliability.rows(data_of(ratings))]
    planned = rows_of(rows, "reliability_systems")
    assert {row["note"] for row in planned} == {reliability.FEW_COMPLETE}


def test_the_section_has_components_judges_and_the_plan(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for made in reliability.rows(data_of()):
        rows.append({**made, "dataset": "chat"})
    names = {"clear": "fluency", "true": "coherence"}
    judges = {"good": "alpha", "noisy": "beta", "top": "gamma", "human": "human"}
    for row in rows:
        row["aspect"] = names[row["aspect"]]
        row["judge"] = judges[row["judge"]]
    spec = report_study.make(tmp_path, {"reliability": rows, "coverage": []})
    section = section_named("reliability", report_study.loaded(spec))
    assert section is not None
    captions = [each.caption for each in section.blocks if isinstance(each, PageTable)]
    assert sum("people's ratings" in caption for caption in captions) == 2
    assert sum("beside the ceiling" in caption for caption in captions) == 4
    assert sum("Reliability of systems" in caption for caption in captions) == 2
    assert not [each for each in section.blocks if isinstance(each, Paragraph)]
