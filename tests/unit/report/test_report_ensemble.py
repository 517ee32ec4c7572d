"""Ensembles in the report: the tables, and small multiples of places in pixels."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ensemble_rows_setup as made
import report_study
from dataset_in_memory import row_of
from judgescope.report.cells import interval
from judgescope.report.charts import PALETTE, cut, svg
from judgescope.report.contents import section_named
from judgescope.report.elements import Fold, PageFigure, PageTable, Paragraph, Section
from judgescope.report.headline import measures
from judgescope.report.panels import ENSEMBLES, SubsetPlot, panels_spec
from judgescope.report.report import Report
from judgescope.report.rows import ReportRow as TableRow
from methods_setup import ASPECTS, CONSTANT
from report_study import marks

Row = dict[str, Any]


def number(
    k: int, value: float, ci_low: float | None = None, ci_high: float | None = None
) -> TableRow:
    return TableRow(k=k, value=value, ci_low=ci_low, ci_high=ci_high)


DOTS = [number(1, 0.2), number(1, 0.4), number(2, 0.5, 0.35, 0.62)]
MEANS = [number(1, 0.3, 0.1, 0.45), number(2, 0.5, 0.35, 0.62)]
PANELS = [SubsetPlot(f"p{at}", DOTS, MEANS, DOTS[-1]) for at in range(4)]


def test_every_dot_has_its_location_in_its_panel() -> None:
    drawn = marks(panels_spec(PANELS, x="members"))
    spread, means, whiskers, dots = (
        drawn[look] for look in ("spread", "mean", "interval", "subset")
    )
    assert (len(dots), len(means), len(spread), len(whiskers)) == (12, 8, 8, 4)
    first, fourth = dots[:3], dots[9:]
    for above, below in zip(first, fourth, strict=True):
        assert (below["x"] - above["x"], below["y"] - above["y"]) == pytest.approx(
            (0, ENSEMBLES.high)
        )
    assert dots[3]["x"] - dots[0]["x"] == ENSEMBLES.wide and ENSEMBLES.columns == 3
    low, high, limit = first
    assert low["x"] == high["x"] < limit["x"] and low["y"] > high["y"] > limit["y"]
    assert (low["y"] - high["y"]) == pytest.approx(
        2 * (high["y"] - limit["y"]), abs=0.05
    )
    assert means[0]["y"] == pytest.approx((low["y"] + high["y"]) / 2, abs=0.02)
    assert whiskers[0]["y2"] < limit["y"] < whiskers[0]["y"]
    assert spread[1] == whiskers[0] and spread[0]["x"] == low["x"]
    assert spread[0]["y2"] < high["y"] < low["y"] < spread[0]["y"]


@pytest.mark.heavy
def test_ticks_hold_everything_and_are_few() -> None:
    for dots in (
        [(1, 0.31), (2, 0.32)],
        [(1, -0.9), (2, 0.9)],
        [(1, 0.5)],
        [(1, 0.0), (2, 0.04)],
    ):
        panel = SubsetPlot("p", [number(*dot) for dot in dots], [])
        drawn = marks(panels_spec([panel], x="members"))
        lines = [line["y"] for line in drawn["grid"]]
        assert 2 <= len(lines) <= 8
        assert all(
            min(lines) - 0.01 <= dot["y"] <= max(lines) + 0.01
            for dot in drawn["subset"]
        )
        words = [word["text"] for word in drawn["tick"]]
        assert len({*words}) == len(words) == len(lines)
    drawn = marks(
        panels_spec([SubsetPlot("p", [number(1, -0.9), number(2, 0.9)], [])], x="")
    )
    assert "\N{MINUS SIGN}1.0" in [word["text"] for word in drawn["tick"]]


def test_a_figure_does_not_depend_on_the_width_of_text() -> None:
    spec = panels_spec([SubsetPlot("b" * 40, DOTS, MEANS), *PANELS], x="members")
    other = json.loads(json.dumps(spec).replace("sans-serif", "monospace"))
    drawn = svg(spec)
    assert svg(other).replace("monospace", "sans-serif") == drawn
    assert drawn.count(cut("b" * 40)) == 1 and ">members</text>" in drawn


@pytest.mark.heavy
def test_a_level_is_a_line_across_its_panel_with_its_interval_at_the_end() -> None:
    panels = [replace(PANELS[0], student=number(0, 0.4, 0.05, 0.9)), *PANELS[1:3]]
    panels.append(replace(PANELS[3], student=number(0, 0.5)))
    drawn = marks(panels_spec(panels, x="members"))
    assert {*drawn} - {*marks(panels_spec(PANELS, x="members"))} == {
        "level",
        "level_end",
    }
    (first, fourth), (upright,) = drawn["level"], drawn["level_end"]
    lines, dots = drawn["grid"], drawn["subset"]
    assert (first["x"], first["x2"]) == (lines[0]["x"], lines[0]["x2"])
    assert first["y"] == dots[1]["y"] and fourth["y"] == dots[11]["y"]
    assert upright["x"] == first["x2"] and upright["y2"] < first["y"] < upright["y"]
    ticks = [line["y"] for line in lines if line["x"] == lines[0]["x"]]
    assert min(ticks) <= upright["y2"] < upright["y"] <= max(ticks)


# --- the section ---

NAMES = {"clear": "fluency", "true": "coherence", "average": "average", "": ""}


def report(folder: Path, expected: list[Row]) -> Report:
    """Return the report of rows of one ensemble."""
    rows = [
        {**row, "dataset": "chat", "judge": "gamma", "aspect": NAMES[row["aspect"]]}
        for row in expected
    ]
    return report_study.loaded(
        report_study.make(folder, {"ensemble": rows, "coverage": []})
    )


def section(folder: Path, expected: list[Row]) -> Section:
    result = section_named("ensemble", report(folder, expected))
    assert result is not None
    return result


def cells(table: PageTable, head: str, body: int = 0) -> list[str]:
    (line,) = [line for line in table.bodies[body].lines if line.head == head]
    return [cell.text for cell in line.cells]


def value(statistic: str, aspect: str, **where: Any) -> str:
    content = {"level": "pooled", "aspect": aspect, **where}
    return f"{row_of(made.ensemble_rows(), statistic, **content)['value']:.3f}"


@pytest.mark.heavy
def test_a_dataset_has_its_table_its_figure_and_its_errors(tmp_path: Path) -> None:
    result = section(tmp_path, made.ensemble_rows())
    _, figure, summed, errors, rest = result.blocks
    assert isinstance(summed, PageTable) and isinstance(errors, PageTable)
    assert isinstance(figure, PageFigure) and isinstance(rest, Fold)
    columns = [column.text for column in summed.columns]
    assert columns == ["Fluency", "Coherence", "mean over aspects"]
    wanted = [value("spearman", aspect, k=3) for aspect in (*ASPECTS, "average")]
    assert cells(summed, "all members") == wanted
    best = summed.bodies[0].lines[1]
    assert [cell.notes[0] for cell in best.cells] == ["good"] * 3
    assert [line.head for line in summed.bodies[2].lines] == ["fair", "good", "noisy"]
    assert cells(errors, "fair and good", 1)[0] == value(
        "error_correlation", "clear", judge_b="fair+good"
    )
    assert "Effective judges" in [line.head for line in errors.bodies[0].lines]
    assert (
        len(rest.blocks) == 8
    )  # three statistics at three levels, but for the one above
    assert [len(body.lines) for body in figure.table.bodies] == [4, 4, 2]
    assert (
        "On average, from one member to all 3, with intervals: Fluency from "
        in figure.summary
    )
    means = [
        row
        for row in made.ensemble_rows()
        if row["statistic"] == "subset_mean_spearman"
    ]
    known = [
        row for row in means if row["level"] == "pooled" and row["ci_low"] is not None
    ]
    assert figure.svg.count('stroke-opacity="0.35"') + figure.svg.count(
        ' opacity="0.35"'
    ) == len(known)
    assert [key.text for key in figure.keys][2:] == [
        *("95 % interval of that mean", "95 % interval of all members"),
    ]


@pytest.mark.heavy
def test_the_judge_that_was_taught_stands_beside_all(tmp_path: Path) -> None:
    rows = made.rows(student=made.TAUGHT)
    _, figure, summed, *_ = section(tmp_path, rows).blocks
    assert isinstance(summed, PageTable) and isinstance(figure, PageFigure)

    def numbers_of(name: str) -> list[str]:
        result = (
            row_of(rows, f"{name}_spearman", aspect=aspect, level="pooled")
            for aspect in (*ASPECTS, "average")
        )
        return [f"{row['value']:.3f}".replace("-", "\N{MINUS SIGN}") for row in result]

    assert summed.bodies[3].title == "The distilled judge: taught"
    assert cells(summed, "alone", 3) == numbers_of("student")
    assert cells(summed, "all members minus this judge", 3) == numbers_of(
        "student_difference"
    )
    assert cells(summed, "with all members in place of people", 3) == numbers_of(
        "student_with_teacher"
    )
    for words in (
        f"Fluency {numbers_of('student')[0]} [",
        "Trained on their output, taught reaches ",
    ):
        assert words in figure.summary
    assert figure.keys[-1].text == "taught, with its 95 % interval"
    assert figure.table.bodies[-1] == summed.bodies[3]
    plain = section(tmp_path, made.ensemble_rows()).blocks[1]
    assert isinstance(plain, PageFigure)
    assert (figure.svg.count(PALETTE.green), plain.svg.count(PALETTE.green)) == (6, 0)
    assert len(plain.keys) == 4 and "aught" not in plain.summary


@pytest.mark.heavy
def test_a_judge_that_was_taught_and_has_no_correlation_is_not_drawn(
    tmp_path: Path,
) -> None:
    _, figure, summed, *_ = section(tmp_path, made.rows(student=CONSTANT)).blocks
    assert isinstance(summed, PageTable) and isinstance(figure, PageFigure)
    assert summed.bodies[3].lines[0].cells[0].notes == ("constant judge",)
    assert (
        PALETTE.green not in figure.svg
        and "Taught" not in figure.summary
        and len(figure.keys) == 4
    )


@pytest.mark.heavy
def test_what_is_undefined_is_reported_and_not_drawn(tmp_path: Path) -> None:
    result = section(tmp_path, made.rows({**made.THREE, "good": CONSTANT}))
    (figure,) = [block for block in result.blocks if isinstance(block, PageFigure)]
    (alone,) = [block for block in result.blocks[:3] if isinstance(block, PageTable)]
    line = alone.bodies[1].lines[1]
    assert (line.head, line.cells[0].notes) == ("good", ("constant judge",))
    blocks = section(tmp_path, made.ensemble_rows()).blocks[1]
    assert isinstance(blocks, PageFigure)
    assert figure.svg.count("<circle") < blocks.svg.count("<circle")


def test_an_ensemble_that_cannot_judge_is_reported_in_a_sentence(
    tmp_path: Path,
) -> None:
    never = made.rows(excluded=[["all", "systems", "not applicable: no <b> texts"]])
    _, result = section(tmp_path, never).blocks
    assert result == Paragraph("`gamma`: not applicable: no <b> texts.")


def test_the_headline_measures_have_the_effective_number(tmp_path: Path) -> None:
    contents = report(tmp_path, made.ensemble_rows())
    collected = [
        measure
        for dataset in contents.datasets
        for measure in measures(contents, dataset)
    ]
    assert [measure.name for measure in collected] == [
        "Error correlation, mean",
        "Effective judges",
    ]
    (gamma,) = [judge for judge in contents.judges if judge.id == "gamma"]
    assert [
        interval(row) != "" for measure in collected for row in measure.defined([gamma])
    ] == [
        True,
        True,
    ]
