"""The section on confusion: drops with what is expected of them, and who follows
whom.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.charts import svg
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Fold,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    Section,
)
from judgescope.report.heatmaps import HeatMap, heatmap_spec
from judgescope.report.page import inline
from judgescope.report.sections.confusion import SUMS, changes

Row = dict[str, Any]
PLACE = {"perturbation": "typos", "degree": "minor"}
CUTS = {"perturbation": "cuts", "degree": "single"}
CELLS = [("typos", "Fluency"), ("typos", "Truth")]


def drops() -> Iterator[Row]:
    """Yield the table of two judges; of one nothing is known."""
    for name, value in (
        ("s_t_mean", 1.0),
        ("s_f_mean", 0.25),
        ("confusion_index", 0.25),
    ):
        yield study.row("news", "alpha", name, value)
        yield study.row("news", "beta", name, None)
    for location, aspect, value, note in (
        (PLACE, "fluency", 2.0, "should drop"),
        (PLACE, "coherence", 0.6, "should stay"),
        (CUTS, "fluency", -0.1, "should stay"),
        (CUTS, "coherence", 0.0, "no expectation"),
    ):
        yield study.row(
            "news", "alpha", "delta", value, aspect=aspect, note=note, **location
        )
    content = {"aspect": "coherence", "note": "drop", **PLACE}
    yield study.row("news", "alpha", "p_tost", 0.9, **content)


def changed() -> Iterator[Row]:
    """Yield the differences of two forms of a model, and of two wordings of one of
    them.
    """
    for criterion in ("default", "empty"):
        for judge in ("gamma", "beta", "alpha"):
            for name in SUMS:
                yield study.row("news", judge, name, 1.0, criterion=criterion)
            location = {"perturbation": "typos", "degree": "minor", "aspect": "fluency"}
            more = {"criterion": criterion, "note": "should drop", **location}
            yield study.row("news", judge, "delta", 1.0, **more)
        for name, value in zip(SUMS, (0.5, 0.25, -0.75, None), strict=True):
            content = {"criterion": criterion, "judge_b": "gamma"}
            yield study.row("news", "beta", f"difference_{name}", value, **content)
    for name in SUMS:
        content = {"criterion": "empty", "criterion_b": "default"}
        yield study.row("news", "gamma", f"difference_{name}", 0.125, **content)


def correlations() -> Iterator[Row]:
    people = {"judge_b": "human", "perturbation": "systems", "level": "pooled"}
    for aspect in study.ASPECTS:
        for other, r in (("fluency", 0.25), ("coherence", 0.75)):
            content = {"aspect": aspect, "aspect_b": other, **people}
            yield study.row("news", "alpha", "pearson", r, **content)
    yield study.row("news", "alpha", "cross_aspect_share", 0.5, **(people | {"n": 2}))
    for other, r in (("coherence", -0.5),):
        content = {
            "aspect": "fluency",
            "aspect_b": other,
            "perturbation": "all",
            "level": "pooled",
        }
        yield study.row("news", "alpha", "pearson", r, **content)


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Section:
    tables = {"confusion": list(drops()), "criteria": list(correlations())}
    report = study.loaded(study.make(tmp_path_factory.mktemp("report"), tables))
    parts = [section_named("confusion", report), section_named("criteria", report)]
    blocks = [block for part in parts if part for block in part.blocks]
    return Section("both", "Both", "", blocks)


def blocks_of(section: Section, kind: type, summary: str = "") -> list[Any]:
    collected: list[PageBlock] = []
    for block in section.blocks:
        if isinstance(block, Fold) and block.summary.startswith(summary or "?"):
            collected += block.blocks
        elif not summary:
            collected.append(block)
    return [block for block in collected if isinstance(block, kind)]


def figures_of(section: Section, title: str) -> list[PageFigure]:
    return [
        figure for figure in blocks_of(section, PageFigure) if title in figure.title
    ]


def test_wanted_drops_are_outlined_and_shaded_by_the_judge_s_largest(
    section: Section,
) -> None:
    (figure,) = figures_of(section, "drops by perturbation and aspect")
    table = figure.table
    cells = {
        (line.head, column.text): cell
        for line in table.bodies[0].lines
        for column, cell in zip(table.columns, line.cells, strict=True)
    }
    assert cells["typos", "Fluency"].style == "number heat-4 wanted"
    assert cells["typos", "Coherence"].style == "number heat-2"
    assert cells["cuts", "Fluency"].style == "number heat-0"
    assert cells["cuts", "Coherence"].style == "number heat-0 moot"
    assert cells["typos", "Coherence"].notes == ("drop",)  # the verdict
    assert [body.title for body in table.bodies] == [
        "alpha"
    ]  # of beta nothing is known


def test_the_sums_stand_first_and_a_reason_given_none(
    section: Section,
) -> None:
    table = blocks_of(section, PageTable)[0]
    lines = {line.head: line.cells for body in table.bodies for line in body.lines}
    assert [cell.text for cell in lines["alpha"][:3]] == ["1", "0.25", "0.25"]
    assert lines["beta"][0].notes == ("constant judge",)


def test_who_follows_whom_is_reported_and_shown(section: Section) -> None:
    (text,) = blocks_of(section, Paragraph)
    (sentence,) = text.items
    assert sentence.startswith(
        "`alpha`: 1 of 2 aspects correlate more with the planned ratings of another"
    )
    (first,) = figures_of(section, "with the planned ratings (columns)")
    (folded,) = blocks_of(
        section, PageFigure, "The news: correlations between the aspects of each judge"
    )
    people, table = first.table, folded.table
    assert [column.text for column in people.columns] == ["Fluency", "Coherence"]
    assert [cell.text for cell in people.bodies[0].lines[0].cells] == [
        "0.250 [0.150, 0.350]",
        "0.750 [0.650, 0.850]",
    ]
    assert [column.text for column in table.columns] == ["Coherence"]


def test_forms_and_wordings_stand_beside_what_they_are_held_against(
    tmp_path: Path,
) -> None:
    models = {"engine": "openai", "model": "loop", "max_tokens": 99}
    judges = {"gamma": models, "beta": models}
    report = study.loaded(
        study.make(tmp_path, {"confusion": list(changed())}, judges=judges)
    )
    (table,) = changes(report, report.datasets[0], report.rows("confusion"))
    shown = {
        (body.title, line.head): [cell.text for cell in line.cells]
        for body in table.bodies
        for line in body.lines
    }
    # beta comes first: gamma is a form held against it
    assert shown == {
        **{
            ("gamma minus beta", name): ["−0.5", "−0.25", "0.75", "–"]
            for name in ("default", "empty")
        },
        ("gamma, minus the wording default", "empty"): ["0.125"] * 4,
    }
    section = section_named("confusion", report)
    assert section is not None
    (matrix,) = blocks_of(
        section, PageTable, "Differences between judges for The news, criterion emp"
    )
    lines = {
        line.head: [cell.text for cell in line.cells] for line in matrix.bodies[0].lines
    }
    assert lines["beta"] == ["–", "", "−0.75"] and lines["gamma"] == ["–", "0.75", ""]


def test_without_forms_and_wordings_there_is_no_table_of_changes(
    tmp_path: Path,
) -> None:
    report = study.loaded(study.make(tmp_path, {"confusion": list(drops())}))
    assert changes(report, report.datasets[0], report.rows("confusion")) == []


def test_a_study_without_confusion_has_no_such_section(tmp_path: Path) -> None:
    report = study.loaded(study.make(tmp_path))
    assert section_named("confusion", report) is None
    assert section_named("criteria", report) is None


def test_a_study_of_a_single_aspect_has_no_correlations_of_aspects(
    tmp_path: Path,
) -> None:
    people = {"aspect": "fluency", "aspect_b": "fluency", "perturbation": "systems"}
    rows = [study.row("news", "alpha", "pearson", 0.5, judge_b="human", **people)]
    spec = study.make(tmp_path, {"criteria": rows})
    assert section_named("criteria", study.loaded(spec)) is not None
    for card in spec["datasets"].values():
        card["aspects"] = ["fluency"]
    assert section_named("criteria", study.loaded(spec)) is None


def test_a_heat_map_shades_by_value_outlines_and_signs_what_is_below_zero() -> None:
    panels = [
        HeatMap(
            "alpha", {("typos", "Fluency"): 1.0, ("typos", "Truth"): -0.25}, CELLS[:1]
        ),
        HeatMap("beta", {("cuts", "Truth"): 0.05}, []),
    ]
    spec = heatmap_spec(panels, ["typos", "cuts"], ["Fluency", "Truth"])
    drawn = study.marks(spec)
    empty, above, below, outlined, signs, rows, columns, titles = (
        drawn[look]
        for look in (
            "empty",
            "above",
            "below",
            "outline",
            "sign",
            "line",
            "column",
            "title",
        )
    )
    assert [len(empty), len(above), len(below)] == [5, 2, 1]
    assert [cell["shade"] for cell in (*above, *below)] == [1, 0.05, 0.25]
    assert [(cell["x"], cell["y"]) for cell in outlined] == [
        (above[0]["x"], above[0]["y"])
    ]
    (sign,) = signs
    assert (
        below[0]["x"] < sign["x"] < below[0]["x2"]
        and below[0]["y"] < sign["y"] < below[0]["y2"]
    )
    assert [row["text"] for row in rows] == [
        "typos",
        "cuts",
    ]  # before the first panel alone
    assert [column["text"] for column in columns] == ["Fluency", "Truth"] * 2
    assert [title["text"] for title in titles] == ["alpha", "beta"]
    assert svg(spec) == svg(
        heatmap_spec(panels, ["typos", "cuts"], ["Fluency", "Truth"])
    )


def test_many_panels_go_into_rows_that_each_name_the_lines() -> None:
    panels = [HeatMap(f"judge {number}", {}, []) for number in range(5)]
    spec = heatmap_spec(panels, ["typos"], ["Fluency"])
    drawn = study.marks(spec)
    rows, titles = drawn["line"], drawn["title"]
    assert len({title["y"] for title in titles}) == len(rows) == 2
    assert spec["width"] >= max(title["x"] for title in titles)
    assert spec["height"] >= max(row["y"] for row in rows)


def test_sums_are_written_with_their_index_below() -> None:
    assert inline("S_T and D_avg_ew") == (
        "<var>S</var><sub>T</sub> and <var>D</var><sub>avg ew</sub>"
    )
