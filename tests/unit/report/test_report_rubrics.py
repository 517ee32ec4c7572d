"""The section on rubrics: what is named, warnings, and lists for people."""

from pathlib import Path
from typing import Any

import report_study as study
from judgescope.report.contents import section_named
from judgescope.report.elements import Fold, PageTable, Paragraph, Section

Row = dict[str, Any]
WHOLE: Row = {"aspect": "", "level": "pooled"}
NAMED = "rubric_balanced_accuracy"


def rows(p: float = 0.004, note: str = "") -> list[Row]:
    """Return rows of rubrics.csv of one judge; p is that of a criterion."""
    of_criterion: Row = {
        "aspect": "fluency",
        "level": "pooled",
        "slice": "criterion: fluency",
    }
    return [
        study.row("chat", "human", "rubric_score", 0.6, **WHOLE),
        study.row("chat", "human", "rubric_f1", 0.8, **WHOLE),
        study.row("chat", "alpha", "rubric_f1", 0.7, **WHOLE),
        study.row("chat", "alpha", "rubric_score", 0.7, **WHOLE),
        study.row("chat", "alpha", "rubric_score_unmet", 0.5, note=note, **WHOLE),
        study.row("chat", "alpha", NAMED, 0.55, **of_criterion),
        study.row("chat", "alpha", f"slice_gap_{NAMED}", -0.3, **of_criterion),
        study.row("chat", "alpha", f"slice_p_holm_{NAMED}", p, **of_criterion),
        study.row(
            "chat", "alpha", "criterion_met", 0.99, aspect="fluency", level="pooled",
            note="says nothing: met in 97.0% by experts",
        ),
    ]  # fmt: skip


def section(folder: Path, message: list[Row]) -> Section:
    report = study.loaded(study.make(folder, {"rubrics": message, "verdicts": []}))
    made = section_named("rubrics", report)
    assert made is not None
    return made


def items(made: Section) -> list[str]:
    [result] = [b for b in made.blocks if isinstance(b, Paragraph) and b.items]
    return [*result.items]


def test_a_criterion_marked_worse_is_named(tmp_path: Path) -> None:
    first, second = items(section(tmp_path, rows()))
    assert "`alpha` is worse on Fluency" in first and "Holm p" in first
    assert second.startswith("Fluency (`alpha`): says nothing")


def test_without_a_single_nothing_is_named(tmp_path: Path) -> None:
    assert "no criterion is shown" in items(section(tmp_path, rows(p=0.2)))[0]


def test_unread_criteria_are_a_warning(tmp_path: Path) -> None:
    note = "warning: unread is not unmet: 0.700 where unread is left out"
    made = section(tmp_path, rows(note=note))
    warned = [b.text for b in made.blocks if isinstance(b, Paragraph) and b.style]
    assert warned == ["`alpha`: unread is not unmet: 0.700 where unread is left out."]


def test_experts_stand_above_judges_and_criteria_fold(tmp_path: Path) -> None:
    made = section(tmp_path, rows())
    first = next(block for block in made.blocks if isinstance(block, PageTable))
    assert [line.head for line in first.bodies[0].lines] == ["experts", "alpha"]
    [fold] = [block for block in made.blocks if isinstance(block, Fold)]
    assert fold.summary.endswith("1 criterion")


def test_no_rubric_says_why(tmp_path: Path) -> None:
    nothing = study.row(
        "chat", "human", "rubric_score", None, note="no positive points", **WHOLE
    )
    made = section(tmp_path, [nothing])
    texts = [block.text for block in made.blocks if isinstance(block, Paragraph)]
    assert any("no rubric, no positive points" in text for text in texts)
    assert not any(isinstance(block, PageTable) for block in made.blocks)
