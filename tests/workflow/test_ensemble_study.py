"""Ensembles whole: a study without a model, and five recorded judges on public data."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.summary import summary
from judgescope.core.errors import UserError
from judgescope.methods.base import EnsembleMembers
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results
from report_setup import text_of_pages
from running import HOME, SHARED, needs_data, rows, snakemake
from study import Study

Row = dict[str, Any]
STUDY: Row = {
    "study": "small",
    "datasets": ["demo-dialogue"],
    "aspects": ["naturalness"],
}


def test_the_method_needs_a_judge_with_members() -> None:
    fields = {**STUDY, "judges": ["rules", "length"], "methods": ["ensemble"]}
    with pytest.raises(UserError) as error:
        load_plan(fields, HOME, source="study.yaml")
    assert "judge with `members`" in str(error.value)
    assert "key judges" in str(error.value) and "`members`" in str(error.value)


def test_members_are_known_by_id_whatever_the_order_of_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    members = ["rules", "chrf", "length"]
    study = Study(tmp_path, STUDY, judges=[*members, "both"], methods=["ensemble"])
    study.card("judges", "both", members=members)
    plan = study.plan()
    assert results.statistics(plan, "ensemble", "demo-dialogue").ensembles == {
        "both": EnsembleMembers(
            members=["chrf", "length", "rules"], min_members=1, mixed=["naturalness"]
        )
    }
    assert plan.target_sets("demo-dialogue") == ["systems"]


@pytest.mark.long(9)
@pytest.mark.slow
def test_a_study_without_a_model_has_its_ensemble_in_table_report_and_terminal(
    tmp_path: Path,
) -> None:
    members = ["rouge-l-source", "rules", "length"]
    keys = {"judges": [*members, "both"], "methods": ["agreement", "ensemble"]}
    study = Study(tmp_path, perturbations=[], **keys)
    study.card("judges", "both", members=members)
    study.write()
    done = study.run()
    assert done.returncode == 0, done.stdout[-3000:]
    out = study.out
    result = study.rows("ensemble")
    beside = {
        (row["aspect"], row["statistic"], row["level"]): row
        for row in rows(out, "agreement")
        if row["judge"] == "both"
    }
    table = [row for row in result if row["k"] == 3 and row["judge_b"]]
    assert len(table) == 27 and {row["judge_b"] for row in table} == {
        "length+rouge-l-source+rules"
    }
    for row in table:
        same = beside[row["aspect"], row["statistic"], row["level"]]
        assert [row[key] for key in ("value", "ci_low", "ci_high", "n")] == [
            same[key] for key in ("value", "ci_low", "ci_high", "n")
        ]
        assert ("different scales" in row["note"]) == (row["aspect"] != "average")
    page = text_of_pages(out / "report")
    assert "Ensembles" in page and "size of the ensemble" in page
    assert "effective judges" in done.stdout and "effective judges" in summary(out)
    assert not (tmp_path / "cache").exists()  # nothing was asked


KNOWN = {
    "relevance": (0.476, 0.4767, 0.436),
    "coherence": (0.526, 0.5266, 0.488),
    "empathy": (0.479, 0.4797, 0.439),
    "surprise": (0.359, 0.3597, 0.300),
    "engagement": (0.492, 0.4914, 0.465),
    "complexity": (0.569, 0.5689, 0.496),
}
"""Spearman of all five and of the best single one, computed beside this project from
the file.

First the mean as floats add up in some order: over the 120 orders that differs by up to
.0012, because round-off breaks ties. Then the mean rounded to 9 decimals, which is the
same in all.
"""


@pytest.mark.long(40)
@needs_data
@pytest.mark.slow
def test_five_recorded_judges_agree_with_people_more_than_the_best_of_them(
    tmp_path: Path,
) -> None:
    study = HOME / "config" / "studies" / "hanna-ensemble.yaml"
    table = "results/hanna-ensemble/tables/ensemble.csv"
    data = f"data={SHARED}"
    done = snakemake(
        "--configfile", str(study), "--config", data, "--", table, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout[-3000:]
    result = rows(tmp_path / "results" / "hanna-ensemble", "ensemble")
    for aspect, (in_some_order, exact, best) in KNOWN.items():
        expected = (aspect, "spearman", "pooled")
        collected = [
            row
            for row in result
            if (row["aspect"], row["statistic"], row["level"]) == expected
        ]
        assert len(collected) == 31
        (record,) = [row for row in collected if row["k"] == 5]
        assert (record["n"], record["n_missing"]) == (1056, 0)
        assert record["value"] == pytest.approx(in_some_order, abs=9e-4)
        assert record["value"] == pytest.approx(exact, abs=5.1e-5)
        assert record["ci_low"] < record["value"] < record["ci_high"]
        single = max(row["value"] for row in collected if row["k"] == 1)
        assert single == pytest.approx(best, abs=5.1e-4)
    average = [
        row for row in result if row["aspect"] == "average" and row["level"] == "pooled"
    ]
    (number,) = [
        row["value"] for row in average if row["statistic"] == "effective_judges"
    ]
    assert 2 < number < 2.4  # five judges are worth little more than two
    assert not (tmp_path / "cache").exists()
