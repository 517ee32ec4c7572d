"""Response styles and differences between judges in the report."""

import json
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.methods.discernment import BEYOND
from judgescope.report import tables
from judgescope.report.cells import heat
from judgescope.report.charts import (
    Distribution,
    Point,
    chart_spec,
    cut,
    histogram_spec,
    signs,
    svg,
)
from judgescope.report.contents import section_named
from judgescope.report.elements import Fold, PageFigure, PageTable
from judgescope.report.report import Report
from judgescope.report.rows import turned
from judgescope.report.sections import discernment
from judgescope.report.sections.discernment import STYLES, style_blocks
from judgescope.report.words import label

NAMES = ["one", "b" * 40]
FOUND = [
    Distribution("one", "original", [0.0, 0.25, 0.75], 0.75),
    Distribution("one", "all", [0.5, 0.5, 0.0], 0.5),
    Distribution("b" * 40, "original", [1.0, 0.0, 0.0], None),
]


def test_a_shade_per_step_of_the_score() -> None:
    shades = [heat(value, discernment.SHADES) for value in (0.99, 1.0, 2.5, 3.0, 7.0)]
    assert shades == ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4"]


@pytest.mark.heavy
def test_the_figure_has_its_line_at_one_and_every_headline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def kept(spec: dict[str, Any]) -> str:
        seen.append(spec)
        return ""

    monkeypatch.setattr(tables, "svg", kept)
    section_named("discernment", study.loaded(study.make(tmp_path)))
    drawn = study.layers(seen[0])
    assert ("rule", [{"line": 1}]) in drawn
    signs = {value["series"] for _, values in drawn[:-2] for value in values}
    assert signs == {label(name) for name in study.HEADLINES}
    whiskers = drawn[-1][1]
    assert all(v["ci_low"] < v["value"] < v["ci_high"] for v in whiskers)
    assert len(whiskers) == 6 * 7  # every headline of the seven judges with discernment


def test_a_figure_does_not_depend_on_the_width_of_text() -> None:
    points = [Point("a" * 40, "x", 1.0, 0.5, 1.5), Point("b", "x", -0.25, None, None)]
    spec = chart_spec(points, ["a" * 40, "b"], signs(["x"]), line=0, x="title")
    other = json.loads(json.dumps(spec).replace("sans-serif", "monospace"))
    assert svg(other).replace("monospace", "sans-serif") == svg(spec)
    assert svg(spec).count(cut("a" * 40)) == 1
    assert ' id="' not in svg(spec)


def test_originals_stand_above_the_line_and_perturbed_texts_hang_below() -> None:
    drawn = study.layers(histogram_spec(FOUND, NAMES, STYLES, x="score"))
    assert [kind for kind, _ in drawn] == ["rule", "rect", "point", "rect", "point"]
    (_, lines), (_, up), (_, mean), (_, down), (_, mean_below) = drawn
    assert [line["line"] for line in lines] == [0.5, 1.5]
    assert all(bar["end"] < bar["line"] for bar in up)
    assert all(bar["end"] > bar["line"] for bar in down)
    assert len(up) == 3 and len(down) == 2  # no bar where nothing is
    tall, low = (
        bar["line"] - bar["end"] for bar in sorted(up[:2], key=lambda bar: -bar["from"])
    )
    assert tall == pytest.approx(3 * low)
    assert down[0]["end"] - down[0]["line"] == pytest.approx(
        2 * low
    )  # both on one measure
    assert (up[0]["from"], up[0]["to"]) == pytest.approx((1 / 3, 2 / 3))
    assert [line["mean"] for line in (*mean, *mean_below)] == [0.75, 0.5]


def test_the_picture_does_not_depend_on_the_width_of_text() -> None:
    spec = histogram_spec(FOUND, NAMES, STYLES, x="score")
    other = json.loads(json.dumps(spec).replace("sans-serif", "monospace"))
    drawn = svg(spec)
    assert svg(other).replace("monospace", "sans-serif") == drawn
    assert drawn.count(cut("b" * 40)) == 1 and ">one</text>" in drawn


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return study.loaded(study.make(tmp_path_factory.mktemp("report")))


@pytest.mark.heavy
def test_styles_tell_the_means_and_correlation_with_people_given_any(
    report: Report,
) -> None:
    for dataset in report.datasets:
        (figure,) = style_blocks(report, dataset, report.judges)
        assert isinstance(figure, PageFigure)
        assert "alpha 4.00 [3.90, 4.10] and 3.00 [2.90, 3.10]" in figure.summary
        assert "constant-top" not in figure.summary
        heads = [line.head for body in figure.table.bodies for line in body.lines]
        assert "shuffled" not in heads and "length" in heads
        columns = [column.text for column in figure.table.columns]
        assert ("Pearson r" in columns) == (dataset.id == "chat")


def test_without_the_table_there_are_no_styles(tmp_path: Path) -> None:
    bare = study.loaded(
        study.make(tmp_path, {"discernment": list(study.discernment())})
    )
    assert style_blocks(bare, bare.datasets[0], bare.judges) == []


def folded(report: Report, summary: str) -> list[PageTable]:
    section = section_named("discernment", report)
    assert section is not None
    folds = [block for block in section.blocks if isinstance(block, Fold)]
    return [
        table
        for fold in folds
        if fold.summary.startswith(summary)
        for table in fold.blocks
        if isinstance(table, PageTable)
    ]


@pytest.mark.heavy
def test_a_difference_is_read_in_both_directions(report: Report) -> None:
    tables = folded(report, "Differences between judges")
    assert len(tables) == 2  # one for each dataset
    (real, controls) = tables[0].bodies
    columns = [column.text for column in tables[0].columns]
    cells = {
        line.head: {
            name: cell.text for name, cell in zip(columns, line.cells, strict=True)
        }
        for body in (real, controls)
        for line in body.lines
    }
    assert cells["alpha"]["beta"] == "2.4" and cells["beta"]["alpha"] == "−2.4"
    assert cells["alpha"]["alpha"] == ""
    assert cells["beta"]["rules"] == "–"  # no such pair in these tables


def test_a_turned_row_has_its_ends_exchanged() -> None:
    row = study.typed(study.row("d", "a", "difference_D_avg", 2.0))
    back = turned(row)
    assert back is not None and (back.value, back.ci_low, back.ci_high) == (
        -2.0,
        -2.1,
        -1.9,
    )
    assert turned(None) is None
    nothing = study.typed(study.row("d", "a", "difference_D_avg", None))
    assert turned(nothing) == nothing._replace(judge="", judge_b="a")


@pytest.mark.heavy
def test_the_flag_stands_where_the_note_does_and_mixed_tests_are_reported(
    tmp_path: Path,
) -> None:
    rows = [
        row
        | {
            "note": "",
            "method": f"{'exact' if 'exact' in row['statistic'] else 'asymptotic'} p",
        }
        for row in study.discernment()
        if row["value"] is not None and not row["statistic"].startswith("difference")
    ]
    for row in rows:
        if row["judge"] == "alpha" and row["statistic"] == "D_avg":
            row["note"] = f"{BEYOND}: an artefact"
    result = section_named(
        "discernment", study.loaded(study.make(tmp_path, {"discernment": rows}))
    )
    assert result is not None
    numbers = next(
        block.table for block in result.blocks if isinstance(block, PageFigure)
    )
    heat = next(block for block in result.blocks if isinstance(block, PageTable))
    assert [note[0] for note in numbers.notes] == [discernment.FLAG, "D"]
    first = next(line for line in numbers.bodies[0].lines if line.head == "alpha")
    assert [cell.mark for cell in first.cells] == [discernment.FLAG, "", "", "", "", ""]
    assert not any(
        cell.mark for body in heat.bodies for line in body.lines for cell in line.cells
    )
    assert not any(note.startswith(discernment.FLAG) for note in heat.notes)
