"""The kept table of published figures, and the pages made from it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgescope.core.paths import HOME
from judgescope.extensions.reproduce import kept_figures
from judgescope.extensions.reproduce.compared_figures import CardOutcome, ComparedFigure
from judgescope.extensions.reproduce.kept_figures import (
    COLUMNS,
    keep,
    leaderboard,
    read,
    tiers,
)
from judgescope.extensions.reproduce.reproduce import SHELF
from judgescope.schema.loading import read_card
from judgescope.statistics.reliability import krippendorff_alpha

KEPT = HOME / "docs" / "leaderboard" / "figures.csv"
PAGE = HOME / "docs" / "leaderboard" / "index.html"


def outcome(name: str, *figures: ComparedFigure) -> CardOutcome:
    return CardOutcome(read_card("publication", SHELF / f"{name}.yaml"), list(figures))


def figure(ours: float | None = 0.5, **row: Any) -> ComparedFigure:
    where = {"judge": "unieval", "aspect": "coherence"}
    return ComparedFigure(where, "0.51", ours, "", equal=False, row=where | row)


def row(**cells: str) -> dict[str, str]:
    """Return a row of the table about a judge."""
    base = dict.fromkeys(COLUMNS, "")
    base |= {
        "dataset": "topical-chat",
        "judge": "unieval",
        "aspect": "coherence",
        "statistic": "pearson",
        "level": "pooled",
        "ours": "0.5",
        "ci_low": "0.4",
        "ci_high": "0.6",
        "n": "360",
    }
    return base | cells


def test_a_part_replaces_its_rows_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "figures.csv"
    first = outcome("unieval-sfres", figure(), figure())
    keep(path, [first, outcome("usr-alpha", figure(0.25))])
    keep(path, [outcome("unieval-sfres", figure(0.125, n=9, ci_low=0.1))])
    rows = read(path)
    assert [(each["publication"], each["ours"]) for each in rows] == [
        ("unieval-sfres", "0.1250"),
        ("usr-alpha", "0.2500"),
    ]
    assert (rows[0]["n"], rows[0]["ci_low"], rows[0]["figure"]) == (
        "9",
        "0.1",
        "unieval coherence",
    )
    # One that could not be computed keeps its earlier rows.
    keep(path, [outcome("usr-alpha")])
    assert read(path) == rows


def test_a_figure_without_a_value_has_a_dash(tmp_path: Path) -> None:
    keep(tmp_path / "x.csv", [outcome("usr-alpha", figure(None))])
    [only] = read(tmp_path / "x.csv")
    assert (only["ours"], only["equal"], only["reason"]) == ("-", "no", "unexplained")


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([], []),
        ([(0.5, 0.4, 0.6)], [1]),
        ([(0.5, 0.4, 0.6), (0.45, 0.3, 0.5), (0.3, 0.2, 0.39)], [1, 1, 2]),
        # Overlap with the second is not overlap with the best.
        ([(0.9, 0.8, 1.0), (0.7, 0.6, 0.85), (0.5, 0.4, 0.65)], [1, 1, 2]),
        ([(0.9, 0.8, 1.0), (0.7, 0.6, 0.79), (0.7, 0.6, 0.79)], [1, 2, 2]),
    ],
)
def test_a_tier_ends_before_the_first_that_is_surely_worse(
    intervals: list[tuple[float, float, float]], expected: list[int]
) -> None:
    assert tiers(intervals) == expected


def test_judges_are_shown_by_tier_with_links() -> None:
    rows = [
        row(judge="rouge-l", ours="0.1", ci_low="0.0", ci_high="0.2"),
        row(),
        row(judge="human", statistic="pearson"),
        row(statistic="share", judge="other"),
        row(judge="without-interval", ci_low=""),
    ]
    page = leaderboard(rows)
    assert "topical-chat: coherence, pearson" in page
    assert page.index("<td>unieval</td>") < page.index("<td>rouge-l</td>")
    assert "other" not in re.findall(r"<td>([\w-]+)</td>", page)
    for absent in ("<td>human</td>", "<td>without-interval</td>"):
        assert absent not in page
    commit = "d33e7b6cfebe97b2bafe435adbd818230d5a416a"
    assert page.count(f"github.com/maszhongming/UniEval/tree/{commit}") == 3
    assert "../../config/datasets/topical-chat.yaml" in page
    assert "../../config/judges/unieval.yaml" in page


def test_texts_of_the_table_are_escaped() -> None:
    assert "<b>x</b>" not in leaderboard([row(aspect="<b>x</b>")])


def test_the_kept_page_is_that_of_the_kept_table() -> None:
    rows = read(KEPT)
    assert PAGE.read_text(encoding="utf-8") == leaderboard(rows)
    markdown = (HOME / "docs" / "reproduced.md").read_text(encoding="utf-8")
    assert markdown == kept_figures.markdown(rows, SHELF)
    for link in re.findall(r'href="(\.\./[^"]+)"', PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / link).resolve().is_file(), link


def test_the_shelf_has_950_figures_on_data_that_are_here() -> None:
    rows = read(KEPT)
    assert len(rows) >= 950
    assert not [each for each in rows if each["reason"] == "unexplained"]
    for name in {each["publication"] for each in rows}:
        card = read_card("publication", SHELF / f"{name}.yaml")
        if card.figures:
            printed = read(SHELF / card.figures)
            assert len(printed) == sum(each["publication"] == name for each in rows)


@pytest.mark.parametrize("seed", range(3))
def test_raters_agree_to_at_least_the_bound(seed: int) -> None:
    """Alpha of four raters is at least -1/3, also where one opposes the others."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, (3, 200))
    opposed = np.where(people.mean(axis=0) > 3, 1, 5)
    alpha = krippendorff_alpha(
        np.vstack([people, opposed]).astype(float),
        level="ordinal",
        domain=[1.0, 2.0, 3.0, 4.0, 5.0],
        source=np.arange(200),
        weights=None,
    )
    value = alpha.estimate.value
    assert value is not None and -1 / 3 <= value < 0
