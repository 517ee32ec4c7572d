"""Scores beside ratings: every text with both is in a panel and in the
distributions.
"""

from pathlib import Path

import pandas as pd
import pytest

import cards_study
from judgescope.report.contents import section_named
from judgescope.report.panels import LAYOUT, bins_spec
from judgescope.report.sections import agreement
from report_study import marks


def test_values_are_binned_from_the_lowest_to_the_highest() -> None:
    bins = agreement.binned(pd.Series([1.0, 5.0, 3.0, 1.4]))
    assert bins.tolist() == [0, LAYOUT.bins - 1, LAYOUT.bins // 2, 0]
    assert agreement.binned(pd.Series([2.0, 2.0])).tolist() == [LAYOUT.bins // 2] * 2


def test_a_dot_is_as_large_as_its_share_of_the_panels_largest() -> None:
    panels = {
        ("j", "Fluency"): {(0, 0): 4, (LAYOUT.bins - 1, LAYOUT.bins - 1): 1},
        ("k", "Fluency"): {(0, 0): 2},
    }
    drawn = marks(bins_spec(panels, ["j", "k"], ["Fluency"], x="x"))
    frames, dots = drawn["frame"], drawn["texts"]
    assert [dot["size"] for dot in dots] == [110.0, 27.5, 110.0]
    low, high = dots[:2]
    assert low["x"] < high["x"] and low["y"] > high["y"]  # upwards is less
    for frame, dot in ((frames[0], low), (frames[0], high), (frames[1], dots[2])):
        assert (
            frame["x"] < dot["x"] < frame["x2"] and frame["y"] < dot["y"] < frame["y2"]
        )
    assert [each["text"] for each in drawn["line"]] == ["j", "k"]
    assert [each["text"] for each in drawn["title"]] == ["Fluency"]


@pytest.mark.heavy
def test_the_figures_hold_every_text_that_is_rated_and_scored(tmp_path: Path) -> None:
    spec = cards_study.make(tmp_path)
    spec["study"]["datasets"] = ["news"]
    report = cards_study.loaded(spec)
    scatter, distributions = agreement.rating_figures(report, report.datasets[0])
    assert (
        "Up to 3 texts" in scatter.summary
    )  # of three ratings of coherence all have a score
    [body] = distributions.table.bodies
    [gamma] = body.lines
    # five scores of texts with a rating: 5, 1 on fluency and 2, 1, 3 on coherence
    assert [cell.text for cell in gamma.cells][:2] == ["5", "4"]
    assert gamma.cells[2].sort == pytest.approx(2 / 5)
    section = section_named("agreement", report)
    assert section is not None and scatter in section.blocks


@pytest.mark.heavy
def test_where_the_lowest_rating_is_best_dots_of_a_judge_that_agrees_rise(
    tmp_path: Path,
) -> None:
    spec = cards_study.make(tmp_path)
    spec["turned"] = {"news": {"ratings": {"coherence": 6.0}, "scores": {}}}
    report = cards_study.loaded(spec)
    dataset, turned = report.datasets[0], report.spec.turned["news"]
    files = report.spec.files[dataset.id]
    texts = agreement._texts(files, dataset, turned)
    bins = texts.groupby("judged")[["ratings", "ratings_bin"]].agg(list)
    assert bins.loc["coherence", "ratings_bin"] == [LAYOUT.bins - 1, LAYOUT.bins - 1, 0]
