"""The cells of the fine-grained study: every rule cell of the paper's table."""

import csv
from pathlib import Path
from typing import Any

import pytest

from data_samples import REPOSITORY
from judgescope.core.errors import UserError
from judgescope.plan.loading import load_plan
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    MadePerturbation,
    RulePerturbation,
)
from judgescope.schema.loading import load_yaml
from study import Study

REFERENCE = REPOSITORY.parent / "shared" / "reference" / "s000_perturbations.csv"
DATASETS = {
    "SummEval": "summeval",
    "SumPubMed": "sumpubmed",
    "Story Cloze Test": "story-cloze",
    "Answer Equivalence": "answer-equivalence",
    "WMT22 de-en": "wmt22-de-en",
    "WMT22 zh-en": "wmt22-zh-en",
}
RULES = [
    "random-deletions",
    "random-typos",
    "random-word-deletions",
    "reordering",
    "random-ending",
    "wrong-ending",
    "random-answer",
]
NAMES = {
    "fictional-named-entities": "fictional-entities",
    "rewriting-and-insertion": "rewriting-insertion",
}
"""Paper's name -> card, where they differ in more than the hyphen."""
MADE = ["fictional-named-entities", "grammatical-errors", "rewriting-and-insertion"]
STUDY: dict[str, Any] = {
    "study": "cells",
    "datasets": list(DATASETS.values()),
    "judges": ["rules", "length"],
    "perturbations": RULES,
    "methods": ["discernment"],
}

Cell = tuple[str, str, str]
"""Dataset, perturbation, degree."""

TYPOS = "random-deletions", "random-typos"
EXPECTED: dict[str, dict[str, str]] = {
    "summeval": dict.fromkeys(TYPOS, "10 50") | {"reordering": "2 all"},
    "sumpubmed": dict.fromkeys(TYPOS, "20 100") | {"reordering": "2 all"},
    "story-cloze": dict.fromkeys(TYPOS, "5")
    | {"random-ending": "-", "wrong-ending": "-"},
    "answer-equivalence": dict.fromkeys(TYPOS, "5 25") | {"random-answer": "-"},
    "wmt22-de-en": dict.fromkeys(TYPOS, "10 50") | {"random-word-deletions": "5 25"},
    "wmt22-zh-en": dict.fromkeys(TYPOS, "10 50") | {"random-word-deletions": "5 25"},
}
"""Dataset -> perturbation -> its k: minor and major, or the single one."""
CELLS = {
    (dataset, name, degree): k
    for dataset, each in EXPECTED.items()
    for name, ks in each.items()
    for degree, k in zip(
        ["minor", "major"] if " " in ks else ["single"], ks.split(), strict=True
    )
}


def planned(plan: Plan) -> dict[Cell, str]:
    """Return the cells of a plan with the k that their rule is told."""
    collected = {}
    for dataset in plan.datasets:
        for name, degree in plan.perturbed(dataset):
            card = plan.perturbations[name]
            options = {
                str(key): result for key, result in card.degrees_for(dataset).items()
            }
            collected[dataset, name, degree] = str(options[degree].k or "-")
    return collected


def plan_of(**keys: Any) -> Plan:
    return load_plan(STUDY | keys, REPOSITORY, source="study.yaml")


@pytest.mark.heavy
def test_every_rule_cell_of_the_paper_is_planned_and_no_other() -> None:
    assert planned(plan_of()) == CELLS and len(CELLS) == 33


@pytest.mark.heavy
def test_the_table_here_is_the_paper_s() -> None:
    if not REFERENCE.is_file():
        pytest.skip(
            "the paper's table is not there: ../shared/reference/s000_perturbations.csv"
        )
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    by_key = {
        (
            DATASETS[row["dataset"]],
            row["perturbation"].replace("_", "-"),
            row["degree"],
        ): row
        for row in rows
        if row["method"] == "rule"
    }
    assert {cell: row["k"] or "-" for cell, row in by_key.items()} == CELLS
    cards = plan_of().perturbations
    assert all(cards[cell[1]].level == row["level"] for cell, row in by_key.items())


@pytest.mark.heavy
def test_the_shipped_study_plans_all_59_cells_and_judges_each_on_all_aspects() -> None:
    path = REPOSITORY / "config" / "studies" / "discernment.yaml"
    plan = load_plan(load_yaml(path)[0], REPOSITORY, source=str(path))
    cells = {
        (d, name, str(degree))
        for d in plan.datasets
        for name, degree in plan.perturbed(d)
    }
    made = cells - CELLS.keys()
    assert CELLS.keys() <= cells and len(cells) == 59
    assert all(
        isinstance(plan.perturbations[name], MadePerturbation) for _, name, _ in made
    )
    assert {name for _, name, _ in made} == {NAMES.get(name, name) for name in MADE}
    judged = [cell for cell in plan.cell_aspects if cell.judge == "steps"]
    assert len(judged) == sum(
        (1 + len(plan.perturbed(dataset))) * len(plan.aspects_of(dataset))
        for dataset in plan.datasets
    )
    if REFERENCE.is_file():
        with REFERENCE.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        datasets = [
            (row["dataset"], row["perturbation"].replace("_", "-"), row) for row in rows
        ]
        assert cells == {
            (DATASETS[dataset], NAMES.get(name, name), row["degree"])
            for dataset, name, row in datasets
        }


@pytest.mark.heavy
def test_the_aspects_are_the_paper_s() -> None:
    plan = plan_of()
    summary = ["coherence", "consistency", "fluency", "relevance"]
    assert {name: plan.aspects_of(name) for name in plan.datasets} == {
        "summeval": summary,
        "sumpubmed": summary,
        "story-cloze": ["coherence", "consistency", "fluency"],
        "answer-equivalence": ["answer-quality"],
        "wmt22-de-en": ["accuracy", "fluency"],
        "wmt22-zh-en": ["accuracy", "fluency"],
    }
    for card in plan.datasets.values():
        assert {
            (aspect.min, aspect.max, aspect.step) for aspect in card.aspects.values()
        } == {(1, 5, 1)}
        assert card.select.n == 100 or card.dataset == "summeval"  # which has no more
    tasks = {card.dataset: card.task for card in plan.datasets.values()}
    assert [tasks[name] for name in DATASETS.values()] == [
        *("summarization", "summarization", "story", "qa", "translation", "translation")
    ]


@pytest.mark.heavy
def test_only_datasets_with_systems_have_cells_of_systems() -> None:
    plan = plan_of(methods=["agreement", "discernment"])
    assert [name for name in plan.datasets if "systems" in plan.target_sets(name)] == [
        "summeval"
    ]


def test_a_dataset_of_which_nothing_is_judged_is_reported() -> None:
    with pytest.raises(UserError, match="uses this dataset") as error:
        plan_of(perturbations=["wrong-ending"], datasets=["story-cloze", "sumpubmed"])
    assert "'sumpubmed'" in str(error.value) and "study.yaml, key datasets" in str(
        error.value
    )
    with pytest.raises(UserError, match="uses this dataset"):
        plan_of(perturbations=[], datasets=["sumpubmed"], methods=["agreement"])


@pytest.mark.heavy
def test_a_rule_whose_need_a_dataset_does_not_meet_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change("perturbations", "wrong-ending", tasks=["qa", "story"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UserError, match="needs items with the metadata `wrong_ending`"
    ) as error:
        plan_of()
    assert "'wrong-ending of the dataset answer-equivalence'" in str(error.value)
    card = plan_of(datasets=["story-cloze"]).perturbations["wrong-ending"]
    assert isinstance(card, RulePerturbation) and card.tasks == ["qa", "story"]
