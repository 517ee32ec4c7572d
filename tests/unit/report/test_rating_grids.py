"""Small pictures: what people and judges said, strips of claims, intervals."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import report_study as study
from claims_setup import claim, of_judges
from judgescope.report import drawing
from judgescope.report.drawing import Axis, CountGrid, Interval
from judgescope.report.elements import Beside, SmallMultiples
from judgescope.report.rating_grids import (
    RatingSteps,
    grids_of,
    labelled,
    ranked_places,
)
from judgescope.report.report import Report
from judgescope.report.sections.first import first_screen, pictures
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.verdict import Sign
from report_setup import Page

Row = dict[str, Any]
PEOPLE = {"a": (1, 2), "b": (3, 3), "c": (5, 4), "d": (5,)}
"""Text -> its ratings by two people; the last text has one."""
SCORES = {"same": {"a": 1.0, "b": 5.0, "c": 5.0, "d": 5.0}}


def rated(folder: Path, scores: dict[str, dict[str, float]], **more: Any) -> Report:
    """The report of a study whose texts are rated by people and scored by judges."""
    folder.mkdir(exist_ok=True)
    ratings: list[Row] = []
    for target, values in PEOPLE.items():
        for rater, value in zip("xy", values, strict=False):
            ratings.append(
                {
                    "dataset": "chat",
                    "target": target,
                    "aspect": "fluency",
                    "rater": rater,
                    "value": float(value),
                }
            )
    rows: list[Row] = []
    given: list[Row] = []
    for judge, of_judge in scores.items():
        rows += claim(judge, 0.5)
        for target, score in of_judge.items():
            given.append(
                {
                    "dataset": "chat",
                    "perturbation": "systems",
                    "judge": judge,
                    "aspect": "fluency",
                    "target": target,
                    "value": score,
                    "n_draws": 1,
                    "n_missing": 0,
                }
            )
    files = {}
    for name, result in (("ratings", ratings), ("scores", given)):
        files[name] = str(folder / f"chat-{name}.parquet")
        write_table(name, table_of(name, result), Path(files[name]))
    return of_judges(folder, [*scores], rows, files={"chat": files}, **more)


def test_a_judge_on_the_scale_of_people_is_placed_by_its_steps(tmp_path: Path) -> None:
    report = rated(tmp_path, SCORES)
    grids = grids_of(report, report.datasets[1])
    assert grids is not None
    [judge] = report.judges
    result = grids.judge(judge, "fluency")
    assert result is not None and result.judged == ["1", "2", "3", "4", "5"]
    # means 1.5 (the nearest step is the lower one), 3, 4.5 and 5
    assert dict(result.counts) == {(0, 0): 1, (2, 4): 1, (3, 4): 1, (4, 4): 1}
    assert result.far(2, 4) and not result.far(3, 4)


def test_a_person_is_beside_the_others_and_single_ratings_are_left_out(
    tmp_path: Path,
) -> None:
    report = rated(tmp_path, SCORES)
    grids = grids_of(report, report.datasets[1])
    assert grids is not None
    person = grids.person("fluency")
    assert person is not None and sum(person.counts.values()) == 6
    assert person.counts[0, 1] == person.counts[1, 0] == 1  # ratings 1 and 2 of a text


def test_scores_of_another_unit_are_placed_by_their_ranks(tmp_path: Path) -> None:
    rouge = {"rouge": {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}}
    report = rated(tmp_path, rouge)
    grids = grids_of(report, report.datasets[1])
    assert grids is not None
    result = grids.judge(report.judges[0], "fluency")
    assert result is not None and (result.judged[0], result.judged[-1]) == (
        "low",
        "high",
    )
    assert sorted(up for _, up in result.counts) == [0, 1, 3, 4]


def test_the_picture_has_a_single_person_and_no_more_than_three_judges(
    tmp_path: Path,
) -> None:
    scores = dict.fromkeys(("a", "b", "c", "d"), SCORES["same"])
    report = rated(tmp_path, scores)
    [result] = pictures(report)
    assert [panel.name for panel in result.panels] == ["One person", "a", "b", "c"]
    assert "texts with one rater are left out" in result.axes
    [beside] = [each for each in first_screen(report) if isinstance(each, Beside)]
    assert isinstance(beside.left[0], SmallMultiples) and beside.second_first


def test_no_files_means_no_picture(tmp_path: Path) -> None:
    report = of_judges(tmp_path, ["a"], [*claim("a", 0.5)])
    assert not [*pictures(report)]


def test_labels_are_counted_and_the_commonest_kept() -> None:
    rows = study.typed_rows(
        [
            study.row("chat", "it", "class_count", 5.0, k=1, k_b=2),
            study.row("chat", "it", "class_count", 7.0, k=2, k_b=2),
            study.row("chat", "it", "class_count", 3.0, k=1, k_b=3),  # unread
        ]
    )
    result = labelled(rows, ["bad", "good"], "it", ordered=True)
    assert result is not None and dict(result.counts) == {(0, 1): 5, (1, 1): 7}
    assert result.far(0, 1) and not result.far(1, 1)
    assert labelled(rows, ["bad", "good"], "other", ordered=True) is None
    many = [f"label-{number}" for number in range(20)]
    rows = study.typed_rows(
        [
            study.row("chat", "it", "class_count", float(number), k=number, k_b=number)
            for number in range(1, 21)
        ]
    )
    shown = labelled(rows, many, "it", ordered=False)
    assert shown is not None and len(shown.across) == 13
    assert sum(shown.counts.values()) == sum(range(1, 21))


@pytest.mark.parametrize("total", [12, 400, 401, 4000])
def test_two_labels_have_a_square_a_text_or_a_percent(total: int) -> None:
    good = total // 4
    counts = {(0, 0): total - good, (1, 1): good}
    names = ["bad", "good"]
    grid = CountGrid(counts, names, names, lambda a, b: a != b, numbers=True)
    drawn = drawing.unit_squares(grid)
    squares = drawn.count("h5v5h-5z")
    assert squares == (total if total <= 400 else 100)
    assert f">{total - good}<" in drawn


def test_a_bubble_is_as_large_as_its_share_and_red_where_far() -> None:
    names = list("12345")
    grid = CountGrid({(0, 0): 4, (4, 0): 1}, names, names, lambda a, b: abs(a - b) > 1)
    drawn = drawing.grid(grid)
    assert drawn.count("<circle") == 2 and drawn.count("bb far") == 1
    radii = [float(each["r"] or 0) for each in Page(drawn).named("circle")]
    assert radii[0] == pytest.approx(2 * radii[1], rel=0.02)


@pytest.mark.parametrize("size", [3, 5, 8])
def test_a_count_lies_on_no_line_of_its_grid(size: int) -> None:
    names = [str(number) for number in range(size)]
    counts = {(0, 0): 40, (1, 1): 3, (2, 1): 12, (0, 2): 1, (2, 2): 8}
    grid = CountGrid(counts, names, names, lambda a, b: a != b, numbers=True)
    cell = 135 / size
    drawn = drawing.grid(grid)
    shown = []
    for each in Page(drawn).named("text"):
        if (each.get("class") or "").startswith("n "):
            shown.append(each)
    texts = re.findall(r'class="n \w+">(\d+)<', drawn)
    assert sorted(map(int, texts)) == sorted(counts.values())
    for each, text in zip(shown, texts, strict=True):
        width = 7 * len(text)
        left = float(each["x"] or 0)
        if each["text-anchor"] == "middle":
            left -= width / 2
        assert left // cell == (left + width) // cell


def test_a_grid_says_who_is_counted_along_its_axes() -> None:
    names = ["bad", "good"]
    grid = CountGrid(
        {(0, 0): 2}, names, names, lambda a, b: a != b, axes=("plan", "judge")
    )
    for drawn in (drawing.grid(grid), drawing.unit_squares(grid)):
        assert ">plan</text>" in drawn and ">judge</text>" in drawn


def test_a_dot_at_the_end_of_its_axis_is_complete() -> None:
    axis = Axis(0.0, 1.0)
    drawn = Page(drawing.micro(axis, Sign.HOLDS, Interval(1.0, (0.9, 1.0))))
    [dot] = drawn.named("circle")
    assert float(dot["cx"] or 0) + float(dot["r"] or 0) < 132


def test_a_strip_keeps_the_order_of_twelve_claims_and_sorts_more() -> None:
    signs = [Sign.FAILS, Sign.HOLDS, Sign.RULE, Sign.NOT_SHOWN]
    few = drawing.strip(signs)
    assert few.count("<rect") == 4 and few.index("sq-x") < few.index("sq-h")
    many = drawing.strip(signs * 5)
    assert many.count("<path") == 4 and many.index("sq-h") < many.index("sq-f")
    lengths = [float(length) for length in re.findall(r' 5h([\d.]+)"', many)]
    assert lengths == [35.0] * 4 and sum(lengths) == 140


def test_no_picture_has_a_style_that_the_policy_forbids() -> None:
    axis = Axis(-1.0, 1.0)
    beside = drawing.BesidePerson((0.5, 0.6), 0.3)
    drawn = [
        drawing.micro(axis, Sign.RULE, Interval(0.2, (0.1, 0.3)), 0.4, beside),
        drawing.strip([Sign.HOLDS]),
        drawing.sign(Sign.FAILS),
    ]
    assert all("style=" not in each for each in drawn)
    [rule] = [
        each for each in Page(drawn[0]).named("path") if each.get("class") == "rule"
    ]
    assert (rule["d"] or "").startswith(f"M{axis.x(0.4):.1f} ")


def test_ranks_share_their_places_equally() -> None:
    numbers = np.arange(100.0)
    places = ranked_places(numbers, 10)
    assert np.bincount(places).tolist() == [10] * 10
    assert ranked_places(np.zeros(9), 3).tolist() == [1] * 9
    assert RatingSteps(()).size == 10 and RatingSteps((1.0, 2.0)).far == 2
