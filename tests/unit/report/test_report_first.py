"""The first screen, for studies without agreement: what each judge comes to, and the
controls.
"""

from pathlib import Path
from typing import Any

import report_study as study
from judgescope.report.contents import section_named
from judgescope.report.elements import Paragraph
from judgescope.report.headline import HeadlineColumn, measures
from judgescope.report.report import ShownJudge

Row = dict[str, Any]


def screen(
    folder: Path, table: str, *rows: Row
) -> tuple[list[HeadlineColumn], list[Paragraph]]:
    """Return the measures of the first dataset, and the warnings about it."""
    report = study.loaded(study.make(folder, {table: list(rows)}))
    section = section_named("limits", report)
    assert section is not None
    warned = [
        b for b in section.blocks if isinstance(b, Paragraph) and b.style == "warning"
    ]
    return measures(report, report.datasets[0]), warned


def test_a_low_confusion_index_is_the_good_one(tmp_path: Path) -> None:
    values = {"alpha": (0.2, 0.9), "beta": (0.8, 0.55), "random": (0.5, 0.5)}
    rows = [
        study.row("news", judge, name, value, criterion=word, n=12)
        for judge, both in values.items()
        for name, value in zip(("confusion_index", "confusion_auc"), both, strict=True)
        for word in ("default", "term")
    ]
    result, warned = screen(tmp_path, "confusion", *rows)
    groups = ["Confusion, wording default"] * 2 + ["Confusion, wording term"] * 2
    assert [item.group for item in result] == groups and {
        item.noun for item in result
    } == {"items"}
    outcome, other = (item for text in warned for item in text.items)
    assert "(wording default)" in outcome and "(wording term)" in other
    assert (
        "control `random`" in outcome
        and "`beta`" in outcome
        and "`alpha`" not in outcome
    )
    beta = [
        item.below_control(item.row(ShownJudge("beta", "lexical", "")))
        for item in result
    ]
    assert beta == [True, False, True, False]


def test_perspectives_stand_by_their_means(tmp_path: Path) -> None:
    rows = [
        study.row("news", "alpha", name, 0.75, aspect="average", level=level, n=4)
        for name, level in (
            ("kappa_linear", "direct"),
            ("accuracy_adjacent_half", "local"),
        )
    ]
    result, warned = screen(tmp_path, "perspectives", *rows)
    assert [each.group for each in result] == [
        "Perspectives, direct",
        "Perspectives, local",
    ]
    assert not warned and {each.noun for each in result} == {
        "aspects",
        "series of texts",
    }
