"""Letters and "above every other" on the first screen are of the number that is shown,
not of another statistic.
"""

from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.claims import FIRST, claims
from judgescope.report.elements import Fold, PageTable
from judgescope.report.headline import COMPARED, HeadlineColumn, measures
from judgescope.report.report import Report, ShownJudge
from report_setup import section_shown

Row = dict[str, Any]
JUDGES = ("alpha", "beta")
CLAIM = {"aspect": "fluency", "form": "agreement"}
LEVELS = {"normal_scores": "within_source", "spearman": "pooled"}


def verdicts(statistic: str) -> list[Row]:
    """Claims of two judges whose intervals do not overlap."""
    rows = []
    location = CLAIM | {"level": LEVELS[statistic]}
    for judge, value in zip(JUDGES, (0.6, 0.2), strict=True):
        rows.append(study.row("chat", judge, statistic, value, **location))
        verdict = study.row("chat", judge, "verdict", 2.0, note="better", **location)
        rows.append(verdict | {"ci_low": None, "ci_high": None})
    return rows


def compared(
    statistic: str, level: str, groups: tuple[str, str], p: float, aspect: str
) -> list[Row]:
    """The ranks and the test of two judges by one statistic."""
    content = {"aspect": aspect, "level": level}
    rows = [
        study.row(
            "chat", judge, f"rank_{statistic}", at, note=f"group {group}", **content
        )
        for at, (judge, group) in enumerate(zip(JUDGES, groups, strict=True), 1)
    ]
    pair = content | {"judge_b": "beta"}
    gap = study.row("chat", "alpha", f"difference_{statistic}", 0.4, **pair)
    test = study.row("chat", "alpha", f"p_holm_{statistic}", p, **pair)
    return [*rows, gap, test | {"ci_low": None, "ci_high": None}]


def report(folder: Path, **tables: list[Row]) -> Report:
    return study.loaded(study.make(folder, dict(tables)))


def judge(message: Report, name: str) -> ShownJudge:
    return next(each for each in message.judges if each.id == name)


@pytest.mark.parametrize("decides", ["normal_scores", "spearman"])
@pytest.mark.parametrize("differ", [True, False])
def test_letters_and_above_are_of_the_deciding_number(
    tmp_path: Path, decides: str, differ: bool
) -> None:
    other = next(name for name in LEVELS if name != decides)
    levels = {"normal_scores": "within_source", "spearman": "by_source"}
    groups, opposite = ("a", "b"), ("a", "a")
    if not differ:
        groups, opposite = opposite, groups
    p = 0.01 if differ else 0.2
    rows = [
        *compared(decides, LEVELS[decides], groups, p, "fluency"),
        *compared(other, levels[other], opposite, 0.21 - p, "fluency"),
    ]
    result = report(tmp_path, verdicts=verdicts(decides), comparison=rows)
    [measure] = [
        each
        for each in measures(result, result.datasets[-1])
        if each.aspect == "fluency" and each.kind == "agreement"
    ]
    assert measure.statistic == decides
    assert tuple(measure.letters(judge(result, name)) for name in JUDGES) == groups
    kinds = [claim.kind for claim in claims(result, judge(result, "alpha"))]
    assert (FIRST in kinds) == differ

    limits = section_shown("limits", result)
    [numbers] = [
        block.blocks[0]
        for block in limits.blocks
        if isinstance(block, Fold) and "compared" in block.summary
    ]
    assert isinstance(numbers, PageTable)
    cells = {line.head: line.cells[0] for body in numbers.bodies for line in body.lines}
    for name, letter in zip(JUDGES, groups, strict=True):
        assert cells[name].mark.rstrip("†") == letter


@pytest.mark.parametrize("p", [0.01, 0.2])
def test_letters_of_labels_are_those_of_balanced_accuracy(
    tmp_path: Path, p: float
) -> None:
    groups = ("a", "b") if p < 0.05 else ("a", "a")
    claimed = []
    content = {"aspect": "fluency", "form": "labels", "level": "pooled"}
    for name, value in zip(JUDGES, (0.9, 0.6), strict=True):
        claimed.append(study.row("chat", name, "balanced_accuracy", value, **content))
    rows = [
        *compared("balanced_accuracy", "pooled", groups, p, "fluency"),
        *compared("label_accuracy", "pooled", groups[::-1], 0.21 - p, "fluency"),
    ]
    result = report(tmp_path, verdicts=claimed, comparison=rows)
    measure = HeadlineColumn(
        result,
        result.datasets[-1],
        "verdicts",
        "balanced_accuracy",
        "Labels",
        "texts",
        "fluency",
        "pooled",
        form="labels",
        kind="labels",
    )
    alpha, beta = (judge(result, name) for name in JUDGES)
    assert (measure.letters(alpha), measure.letters(beta)) == groups
    assert measure.above(alpha, beta) == (p < 0.05)


@pytest.mark.parametrize("p", [0.01, 0.2])
def test_letters_of_judges_that_choose_are_those_of_their_half_credit(
    tmp_path: Path, p: float
) -> None:
    groups = ("a", "b") if p < 0.05 else ("a", "a")
    content = {"aspect": "fluency", "level": "pooled"}
    rows = compared(COMPARED, "pooled", groups, p, "fluency")
    rows[-1]["statistic"] = "p_holm_mcnemar"
    for name, value in zip(JUDGES, (0.9, 0.6), strict=True):
        rows.append(study.row("chat", name, COMPARED, value, **content))
    result = report(tmp_path, pairwise=rows)
    [measure] = [
        each
        for each in measures(result, result.datasets[-1])
        if each.statistic == COMPARED
    ]
    alpha, beta = (judge(result, name) for name in JUDGES)
    assert (measure.letters(alpha), measure.letters(beta)) == groups
    assert measure.above(alpha, beta) == (p < 0.05)
