"""The section on confidence: what is said of each judge, and the diagram."""

from pathlib import Path
from typing import Any

import pytest

import report_study
from judgescope.report.contents import section_named
from judgescope.report.elements import PageFigure, Paragraph, Section
from judgescope.report.reliability import BinDot, reliability_spec
from judgescope.report.sections.confidence import sentence
from judgescope.report.sureness import sureness

Row = dict[str, Any]


def confidence_rows(judge: str, gap: float, p: float, slope: float = 0.4) -> list[Row]:
    content = {"aspect": "fluency", "level": "pooled"}

    def row(name: str, value: float | None, **more: Any) -> Row:
        return report_study.row("chat", judge, name, value, **content, **more)

    rows = [
        row("confidence_gap", gap),
        row("confidence_slope", slope),
        row("p_confidence_gap", p),
        row("p_confidence_slope", min(1.0, 2 * p)),
        row("auroc_right", 0.7),
        row("ece", 0.1),
        row("ece_calibrated", 0.03),
        row("selective_error", 0.2, k=50),
        row("selective_error", 0.3, k=100),
    ]
    for k in range(1, 4):
        rows.append(row("bin_confidence", 0.3 * k, k=k, n=40))
        rows.append(row("bin_right", 0.3 * k - gap, k=k, n=40))
    for k in range(1, 11):
        rows.append(row("confidence_share", 0.1, k=k))
    return rows


@pytest.mark.parametrize(
    ("gap", "p", "slope", "says"),
    [
        (0.11, 0.001, 0.9, "over-confident by 0.11"),
        (-0.11, 0.001, 1.2, "under-confident by 0.11"),
        (0.02, 0.4, 0.9, "not shown to be too sure or not sure enough (p 0.4)"),
    ],
)
def test_the_smaller_p_says_what_is_shown(
    gap: float, p: float, slope: float, says: str
) -> None:
    rows = report_study.typed_rows(confidence_rows("alpha", gap, p, slope))
    assert says in sentence("alpha", rows)
    assert "it is right in" in sentence("alpha", rows)


def test_a_slope_alone_names_the_extremes() -> None:
    rows = confidence_rows("alpha", 0.01, 0.9, 0.4)
    tested = next(row for row in rows if row["statistic"] == "p_confidence_slope")
    tested["value"] = 0.001
    assert "too extreme" in sentence("alpha", report_study.typed_rows(rows))


def test_the_section_has_sentences_a_diagram_and_its_numbers(tmp_path: Path) -> None:
    rows = confidence_rows("alpha", 0.11, 0.001) + confidence_rows("gamma", -0.1, 0.2)
    spec = report_study.make(tmp_path, {"confidence": rows, "coverage": []})
    result = section_named("confidence", report_study.loaded(spec))
    assert isinstance(result, Section)
    collected = [block for block in result.blocks if isinstance(block, Paragraph)]
    assert any(len(block.items) == 2 for block in collected)
    figures = [block for block in result.blocks if isinstance(block, PageFigure)]
    assert len(figures) == 2
    for figure in figures:
        assert "<svg" in figure.svg
        assert "3 bins" in figure.summary
        [body] = figure.table.bodies
        assert len(body.lines) == 3


@pytest.mark.parametrize(
    ("gap", "p", "says"),
    [
        (0.11, 0.001, "too sure of its verdicts"),
        (-0.11, 0.001, "less sure of its verdicts than it may be"),
        (0.11, 0.2, ""),
    ],
)
def test_the_matrix_remarks_on_a_judge_that_is_too_sure_by_rule(
    tmp_path: Path, gap: float, p: float, says: str
) -> None:
    rows = confidence_rows("alpha", gap, p)
    spec = report_study.make(tmp_path, {"confidence": rows, "coverage": []})
    report = report_study.loaded(spec)
    remarks = {judge.id: sureness(report, judge) for judge in report.judges}
    assert remarks["alpha"] == says
    assert not any(words for name, words in remarks.items() if name != "alpha")


def test_a_remark_on_several_aspects_names_those_where_it_is_shown(
    tmp_path: Path,
) -> None:
    rows = confidence_rows("alpha", 0.11, 0.03)
    other = confidence_rows("alpha", -0.2, 0.001)
    rows += [{**row, "aspect": "coherence"} for row in other]
    spec = report_study.make(tmp_path, {"confidence": rows, "coverage": []})
    report = report_study.loaded(spec)
    [alpha] = [judge for judge in report.judges if judge.id == "alpha"]
    # Holm over two aspects: .03 stays, .001 becomes .002
    assert sureness(report, alpha) == (
        "too sure of its verdicts (Fluency); "
        "less sure of its verdicts than it may be (Coherence)"
    )


def test_the_diagram_has_a_dot_a_bin_and_a_bar_a_tenth() -> None:
    dots = [BinDot(0.6, 0.5, 0.4, 0.6), BinDot(0.9, 0.7, None, None)]
    layers = report_study.layers(reliability_spec(dots, [0.0] * 5 + [0.2] * 5))
    marks = {mark: values for mark, values in layers if mark != "line"}
    assert len(marks["rect"]) == 10
    assert len(marks["rule"]) == 1
    assert [dot["x"] for dot in marks["point"]] == [0.6, 0.9]
    tallest = max(bar["y2"] for bar in marks["rect"])
    assert 0 < tallest < 0.5
