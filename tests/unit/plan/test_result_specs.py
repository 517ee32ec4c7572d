"""The specs of result tables: which facts of the cards each method receives."""

from pathlib import Path

import pytest

from graded_study import NAME, GradedStudy
from judgescope.methods.base import TokenPrices
from judgescope.methods.claims.registry import CLAIMS
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results
from judgescope.plan.study import Plan
from judgescope.schema.loading import load_yaml
from running import HOME

NEAT = "results/graded/construction/neat"


@pytest.fixture
def graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.chdir(tmp_path)
    return GradedStudy(tmp_path, "http://127.0.0.1:9/v1").plan()


@pytest.fixture
def ensemble() -> Plan:
    path = HOME / "config" / "studies" / "ensemble.yaml"
    keys, _ = load_yaml(path)
    return load_plan(keys, HOME, source=str(path))


def test_construction_lists_the_steps_and_prices_of_each_writer(graded: Plan) -> None:
    spec = results.statistics(graded, "construction", "neat")
    price = TokenPrices(input=1.0, output=2.0, cached_input=None)
    steps = [(step.step, step.writer, step.model, step.price) for step in spec.steps]
    assert steps == [
        ("errors, all at once", NAME, "generator", price),
        ("comparisons with anchors", f"comparisons.{NAME}", "comparator", price),
    ]
    assert spec.bought == ["results/graded/collected/neat/bought.parquet"]


def test_construction_names_the_files_of_a_graded_set(graded: Plan) -> None:
    spec = results.statistics(graded, "construction", "neat")
    assert list(spec.anchored) == [NAME]
    files = spec.anchored[NAME]
    assert files.anchors == f"{NEAT}/{NAME}.anchors.parquet"
    parts = ("referee", "trial", "rest")
    assert files.compared == [
        f"{NEAT}/comparisons.{NAME}.{part}.parquet" for part in parts
    ]


def test_a_study_of_graded_texts_has_tables_of_what_was_made(graded: Plan) -> None:
    tables = results.tables_of(graded)
    assert {"perspectives", "construction", "cost", "coverage"} <= {*tables}
    assert tables[-1] == "verdicts"  # it reads the tables of its claims
    assert results.datasets_of(graded, "construction") == ["neat"]
    targets = results.statistics(graded, "construction", "neat").targets
    assert targets == ["systems", "original", f"{NAME}.single"]


@pytest.mark.heavy
def test_an_ensemble_has_its_members_and_how_many_must_score(ensemble: Plan) -> None:
    spec = results.statistics(ensemble, "ensemble", "summeval")
    members = [f"annotator-{number}" for number in range(1, 6)]
    assert set(spec.ensembles) == {"ensemble", "ensemble-by-rule"}
    for facts in spec.ensembles.values():
        assert (facts.members, facts.min_members) == (members, 3)
        assert not facts.mixed


@pytest.mark.heavy
def test_a_judge_is_held_against_experts_by_the_margin_of_the_study(
    ensemble: Plan,
) -> None:
    for table in ("agreement", "verdicts"):
        spec = results.statistics(ensemble, table, "summeval")
        assert spec.as_rater is not None
        assert (spec.as_rater.margin, spec.as_rater.raters) == (0.05, "expert")
    assert results.statistics(ensemble, "comparison", "summeval").as_rater is None


@pytest.mark.heavy
def test_costs_name_every_writer_also_one_without_a_price(ensemble: Plan) -> None:
    spec = results.statistics(ensemble, "cost", "summeval")
    assert spec.writers == {"merges.supervisor": None}
    assert spec.bought == ["results/ensemble/collected/summeval/bought.parquet"]


@pytest.mark.heavy
def test_verdicts_read_the_claims_of_the_methods_that_a_study_names(
    ensemble: Plan,
) -> None:
    claims = results.statistics(ensemble, "verdicts", "summeval").claims
    assert claims == [CLAIMS.target("agreement"), CLAIMS.target("spans")]
