"""A study of perspectives on two rated datasets of one's own, run whole."""

from pathlib import Path

import numpy as np
import pytest

from judgescope.methods.differences import OVERALL
from judgescope.methods.measures import AVERAGE
from judgescope.plan.loading import load_plan
from judgescope.schema.cards import GradedPerturbation, MadePerturbation
from judgescope.schema.loading import load_yaml
from perspectives_study_setup import write_dataset
from report_setup import text_of_pages
from running import HOME, rows, snakemake
from study import Study

pytestmark = pytest.mark.slow


def test_the_shipped_study_is_the_papers_size() -> None:
    """Tables 7 and 10 of Hu et al. (2025): targets for each source, ten draws of each
    order.
    """
    path = HOME / "config" / "studies" / "perspectives.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=str(path))
    assert (
        list(plan.datasets) == ["summeval", "usr-topical-chat"]
        and plan.study.share == 1
    )
    for dataset, aspects, chained, graded in (
        ("summeval", 4, 15, 15),
        ("usr-topical-chat", 5, 7, 10),
    ):
        chains = [
            plan.perturbations[name] for name, _ in plan.perturbed(dataset, "chain")
        ]
        sets = [
            plan.perturbations[name] for name, _ in plan.perturbed(dataset, "graded")
        ]
        assert [
            card.steps for card in chains if isinstance(card, MadePerturbation)
        ] == [chained] * aspects
        assert [
            card.targets for card in sets if isinstance(card, GradedPerturbation)
        ] == [graded] * aspects
    for name in ("ten-draws", "ten-points", "pairwise-ten-draws"):
        card = plan.judges[name]
        assert (card.draws, card.temperature, card.share) == (10, 1, 1)


@pytest.mark.long(7)
def test_two_datasets_make_up_an_overall_table_and_a_section(tmp_path: Path) -> None:
    for seed, name in enumerate(("first", "second")):
        # of so many items at least ten, whose texts are rated alike, make an interval
        write_dataset(tmp_path, name, seed, items=20)
    study = Study(tmp_path).write(
        datasets=["first", "second"],
        aspects=[],
        judges=["length"],  # the other controls come by themselves
        perturbations=[],
        methods=["perspectives"],
    )
    done = snakemake("--configfile", str(study), cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:]
    results = tmp_path / "results" / "small"
    by_key = {
        (row["dataset"], row["judge"], row["statistic"]): row
        for row in rows(results, "perspectives")
        if row["aspect"] == AVERAGE and row["judge_b"] is None
    }
    for judge, name in (("random", "kappa_linear"), ("length", "accuracy_adjacent")):
        each = [by_key[dataset, judge, name] for dataset in ("first", "second")]
        row = by_key[OVERALL, judge, name]
        assert row["value"] == pytest.approx(np.mean([row["value"] for row in each]))
        assert row["ci_low"] < row["value"] < row["ci_high"]
        width = min(entry["ci_high"] - entry["ci_low"] for entry in each)
        assert row["ci_high"] - row["ci_low"] < width  # two datasets tell more than one
    assert by_key[OVERALL, "length", "rank_accuracy_adjacent"]["value"] == 1
    page = text_of_pages(results / "report")
    assert (
        "All datasets" in page and "Mean over datasets: ranks by these means." in page
    )
