"""Prompt forms: the judges of one model in one table, and what they differ by."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report import rows
from judgescope.report.contents import section_named
from judgescope.report.elements import Fold, PageFigure, PageTable
from judgescope.report.report import Report

AGREED = {"score": 0.4, "analyze": 0.52, "few": 0.49}
ASPECTS = [*study.ASPECTS, "average"]
"""The mean is over these; the dataset has one more, on which no judge of the model is
asked."""
OWN: dict[str, dict[str, Any]] = {
    "score": {"form": "score-only", "temperature": 1.0, "draws": 20},
    "analyze": {"form": "analyze-rate", "temperature": 1.0, "draws": 20},
    "few": {"form": "analyze-shots", "temperature": 1.0, "draws": 20, "shots": 5},
    "other": {"form": "score-only", "model": "another"},
    "column": {
        "form": "Rouge 1",
        "engine": "recorded",
        "parser": "number",
        "compares_forms": False,
    },
}
ASKED: dict[str, Any] = {
    "engine": "openai",
    "model": "gpt",
    "parser": "score",
    "against": None,
    "draws": 1,
    "compares_forms": True,
}


def agreement() -> Iterator[study.Row]:
    for judge in (*OWN, "random"):
        for aspect in ASPECTS:
            for level in ("pooled", "by_source"):
                for statistic in ("pearson", "spearman"):
                    content = {"aspect": aspect, "level": level}
                    yield study.row(
                        "chat", judge, statistic, AGREED.get(judge, 0.1), **content
                    )


def comparison() -> Iterator[study.Row]:
    for judge, other in (("analyze", "score"), ("score", "few"), ("analyze", "few")):
        for aspect in ASPECTS:
            content = {"aspect": aspect, "level": "pooled", "judge_b": other}
            gap = AGREED[judge] - AGREED[other]
            yield study.row("chat", judge, "difference_pearson", gap, **content)


def made(folder: Path, **tables: list[study.Row]) -> Report:
    cards = {name: ASKED | own_part for name, own_part in OWN.items()}
    aspects = {"chat": {"aspects": [*study.ASPECTS, "depth"]}}
    spec = study.make(folder, tables, judges=cards, datasets=aspects)
    spec["study"]["judges"] = [*OWN, "random"]
    return study.loaded(spec)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return made(tmp_path, agreement=list(agreement()), comparison=list(comparison()))


def lines(table: PageTable) -> dict[str, Any]:
    return {line.head: line for body in table.bodies for line in body.lines}


def test_the_judges_of_a_model_stand_together_with_their_average(
    report: Report,
) -> None:
    section = section_named("forms", report)
    assert section is not None
    _, gaps, reached, fold = section.blocks
    assert (
        isinstance(reached, PageTable)
        and isinstance(gaps, PageFigure)
        and isinstance(fold, Fold)
    )
    assert "Pearson" in reached.caption and "all targets pooled" in reached.caption
    assert [body.title for body in reached.bodies] == [
        "gpt"
    ]  # no other has two that read a form
    assert [column.text for column in reached.columns] == [
        "Fluency",
        "Coherence",
        "average",
    ]
    assert list(lines(reached)) == ["score", "analyze", "few"]
    assert (
        lines(reached)["few"].about
        == "analyze-shots, 5 rated texts, temperature 1, 20 draws"
    )
    assert [cell.text for cell in lines(reached)["few"].cells] == ["0.490"] * 3
    assert len(fold.blocks) == 3  # of two statistics at two levels


def test_a_difference_is_from_the_first_judge_of_the_model(report: Report) -> None:
    section = section_named("forms", report)
    assert section is not None
    drawn = section.blocks[1]
    assert isinstance(drawn, PageFigure)
    assert [key.text for key in drawn.keys] == ["analyze", "few"]
    assert re.findall(r"\d+", drawn.summary) == ["0", "6", "3", "0"]
    gaps = drawn.table
    assert list(lines(gaps)) == ["analyze", "few"]
    for judge, *numbers in (
        ("analyze", 0.12, "[0.020, 0.220]"),
        ("few", 0.09, "[−0.010, 0.190]"),
    ):
        cells = lines(gaps)[judge].cells
        assert [cell.sort for cell in cells] == pytest.approx(numbers[:1] * 3)
        assert {cell.interval for cell in cells} == set(numbers[1:])


def test_no_comparison_means_no_differences(tmp_path: Path) -> None:
    section = section_named("forms", made(tmp_path, agreement=list(agreement())))
    assert section is not None
    tables = [block for block in section.blocks if isinstance(block, PageTable)]
    assert [table.source for table in tables] == ["tables/agreement.csv"]


def test_of_models_with_a_single_judge_nothing_is_reported(tmp_path: Path) -> None:
    alone = [row for row in agreement() if row["judge"] in {"score", "other", "random"}]
    assert section_named("forms", made(tmp_path, agreement=alone)) is None


def test_an_undefined_difference_stays_one() -> None:
    content = {"aspect": "fluency", "level": "pooled", "judge_b": "b"}
    row = study.typed(study.row("chat", "a", "difference_pearson", None, **content))
    turned = rows.turned(row)
    assert turned is not None
    assert (turned.judge, turned.judge_b, turned.value, turned.ci_low) == (
        "b",
        "a",
        None,
        None,
    )
