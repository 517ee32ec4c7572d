"""Figures of tables: which estimates are drawn, under which names, and where none
is.
"""

from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report import tables
from judgescope.report.cells import estimate
from judgescope.report.charts import (
    LAYOUT,
    MOST_SIGNS,
    Point,
    chart_spec,
    cut,
    signs,
    slim,
    unique_labels,
)
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Body,
    PageFigure,
    PageTable,
    TableColumn,
    TableLine,
)
from judgescope.report.report import Report, ShownDataset
from judgescope.report.sections.robustness import attacks
from judgescope.report.tables import AspectFigure, aspect_chart, chart


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, float]]:
    """Return what figures draw: group, series and value."""
    points: list[tuple[str, str, float]] = []

    def svg(spec: dict[str, Any]) -> str:
        for _, values in study.layers(spec)[:-2]:
            points.extend(
                (value["group"], value["series"], value["value"]) for value in values
            )
        return ""

    monkeypatch.setattr(tables, "svg", svg)
    return points


def line(
    head: str, *values: float | None, name: str = "spearman", about: str = ""
) -> TableLine:
    rows = [study.typed(study.row("chat", head, name, value)) for value in values]
    return TableLine(head, [estimate(row) for row in rows], about)


def table(columns: list[TableColumn], *bodies: Body) -> PageTable:
    return PageTable("c", "Judge", columns, bodies)


Drawn = list[tuple[str, str, float]]


@pytest.mark.heavy
def test_lines_are_groups_and_columns_series_or_the_reverse(drawn: Drawn) -> None:
    made = table(
        [TableColumn("A"), TableColumn("B")],
        Body([line("x", 0.1, None), line("y", 0.3, 0.4)]),
    )
    figure = chart("t", "s.", made, line=0, axis="a")
    assert isinstance(figure, PageFigure) and [key.text for key in figure.keys] == [
        "A",
        "B",
    ]
    assert sorted(drawn) == [("x", "A", 0.1), ("y", "A", 0.3), ("y", "B", 0.4)]
    drawn.clear()
    turned = chart("t", "s.", made, line=0, axis="a", across=True, names={"x": "X"})
    assert isinstance(turned, PageFigure) and [key.text for key in turned.keys] == [
        "X",
        "y",
    ]
    assert sorted(drawn) == [("A", "X", 0.1), ("A", "y", 0.3), ("B", "y", 0.4)]


@pytest.mark.heavy
def test_what_has_no_sign_is_reported_to_be_left_out(drawn: Drawn) -> None:
    some, many = range(MOST_SIGNS + 1), range(MOST_SIGNS + 2)
    made = table(
        [TableColumn(f"c{at}") for at in many],
        Body([line(f"l{at}", *many) for at in some]),
    )
    figure = chart("t", "s.", made, line=0, axis="a")
    assert isinstance(figure, PageFigure) and len(figure.keys) == MOST_SIGNS
    assert (
        figure.summary
        == f"s. The figure shows the first {MOST_SIGNS} of {len(many)}; the table has "
        "all."
    )
    assert len(drawn) == len(some) * MOST_SIGNS


@pytest.mark.heavy
def test_equal_names_are_distinguished(drawn: Drawn) -> None:
    columns = [
        TableColumn("F1", group="words"),
        TableColumn("F1", group="spans"),
        TableColumn("n"),
    ]
    bodies = [
        Body([line("x", 0.1, 0.2, 0.3)], "Fluency"),
        Body([line("x", 0.4, 0.5, 0.6)], "Truth"),
    ]
    chart("t", "s.", table(columns, *bodies), line=0, axis="a")
    assert {group for group, _, _ in drawn} == {"x, Fluency", "x, Truth"}
    assert {series for _, series, _ in drawn} == {"words: F1", "spans: F1", "n"}
    drawn.clear()
    degrees = Body(
        [line("typos", 0.1, about="minor"), line("typos", 0.2, about="major")]
    )
    chart("t", "s.", table([TableColumn("A")], degrees), line=0, axis="a")
    assert {group for group, _, _ in drawn} == {"typos, minor", "typos, major"}


def test_other_statistics_are_left_out_and_a_table_without_any_stands_alone(
    drawn: Drawn,
) -> None:
    body = Body([line("x", 0.1), line("y", 0.2, name="pearson")])
    made = table([TableColumn("A")], body)
    assert isinstance(
        chart("t", "s.", made, line=0, axis="a", statistics=["pearson"]), PageFigure
    )
    assert drawn == [("y", "A", 0.2)]
    assert chart("t", "s.", made, line=0, axis="a", statistics=["kendall_b"]) is made
    none = table([TableColumn("A")], Body([line("x", None)]))
    assert chart("t", "s.", none, line=0, axis="a") is none


def reported(folder: Path, **rows: list[dict[str, Any]]) -> tuple[Report, ShownDataset]:
    report = study.loaded(study.make(folder, dict(rows)))
    return report, next(dataset for dataset in report.datasets if dataset.id == "chat")


@pytest.mark.heavy
def test_a_statistic_by_aspect_names_its_ends(tmp_path: Path, drawn: Drawn) -> None:
    values = {
        ("alpha", "fluency"): 0.2,
        ("beta", "coherence"): 0.6,
        ("beta", "fluency"): None,
    }
    rows = [
        study.row("chat", judge, "flip_rate", value, aspect=aspect, level="pooled")
        for (judge, aspect), value in values.items()
    ]
    report, dataset = reported(tmp_path, repeatability=rows)
    flips = AspectFigure("flip_rate", ": t", "Sentence.", "axis", level="pooled")
    part = report.rows("repeatability", "chat")
    [figure] = aspect_chart(report, dataset, part, flips, source="s")
    assert isinstance(figure, PageFigure) and "Sentence. From 20" in figure.summary
    assert (
        "(alpha, fluency) to 60" in figure.summary
        and "(beta, coherence)." in figure.summary
    )
    assert sorted(drawn) == [("Coherence", "beta", 0.6), ("Fluency", "alpha", 0.2)]
    section = section_named("repeatability", report)
    assert section is not None and isinstance(
        section.blocks[1], PageFigure
    )  # before its table
    nothing = part.where(judge="nobody")
    assert not [*aspect_chart(report, dataset, nothing, flips, source="s")]


@pytest.mark.parametrize("refused", [0.0, 12.0])
def test_coverage_is_drawn_where_something_is_lost(
    tmp_path: Path, refused: float
) -> None:
    counts = {"count_ok": 120 - refused, "count_refused": refused}
    rows = [
        study.row(
            "chat", "alpha", name, value, aspect="fluency", perturbation="systems"
        )
        for name, value in counts.items()
    ]
    report, _ = reported(tmp_path, coverage=rows)
    section = section_named("coverage", report)
    assert section is not None and isinstance(
        section.blocks[1], PageFigure if refused else PageTable
    )


def test_names_that_are_cut_are_still_distinguished() -> None:
    start = "a-name-of-eighty-signs-" * 3
    assert (
        cut(start + "rate").endswith("…s-rate")
        and len(cut(start)) == LAYOUT.label_characters
    )
    text = "Krippendorff α, all targets pooled"
    assert unique_labels([text]) == {text: text}
    names = [
        "short",
        start + "one",
        start + "two",
        f"{start}x-same-end",
        f"{start}y-same-end",
    ]
    labels = unique_labels([*names, "short"])
    assert [*labels] == names and len({*labels.values()}) == len(names)
    assert all(len(label) <= LAYOUT.group_characters for label in labels.values())
    points = [Point(name, "s", 1.0, None, None) for name in names]
    groups = chart_spec(points, names, signs(["s"]), line=0, x="x")["layer"][0]["data"][
        "values"
    ]
    assert [group["group"] for group in groups] == [*labels.values()]


def test_attacks_are_drawn_less_inert_texts(tmp_path: Path, drawn: Drawn) -> None:
    content = {"perturbation": "typos", "degree": "attack", "aspect": "average"}
    rows = [
        study.row("chat", "alpha", name, 0.25, **content)
        for name in ("injection_shift", "difference_injection_shift", "obey_rate")
    ]
    report, dataset = reported(tmp_path, robustness=rows)
    values = [*attacks(report, dataset, report.rows("robustness", "chat"))]
    figure = values[2]
    assert isinstance(figure, PageFigure) and drawn == [("alpha", "typos", 0.25)]
    assert "shift by the attack minus shift" in figure.table.caption
    assert "judge or wording" not in figure.table.caption


def test_circles_of_a_single_look_share_it_but_not_their_opacity() -> None:
    dot = '<path transform="translate({},5)" d="M2,0A2,2,0,1,1,-2,0A2,2,0,1,1,2,0"'
    drawn = "".join(
        f'{dot.format(at)} fill="{fill}" opacity="0.5"/>'
        for at, fill in enumerate(["blue"] * 4 + ["red"])
    )
    assert slim(drawn) == (
        '<g fill="blue">'
        + "".join(f'<circle cx="{at}" cy="5" r="2" opacity="0.5"/>' for at in range(4))
        + '</g><circle cx="4" cy="5" r="2" opacity="0.5" fill="red"/>'
    )
