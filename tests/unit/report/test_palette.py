"""The colours of figures and tables, as people see them who do not see all colours."""

import re
from itertools import pairwise

import numpy as np
import pytest

from judgescope.report.charts import MOST_SIGNS, PALETTE, signs
from running import HOME

STYLE = (HOME / "workflow" / "report" / "style.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", part))
    for part in STYLE.split("@media screen and (prefers-color-scheme: dark)", 1)
)
SIGHTS = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""Sight -> what it makes of linear red, green and blue: Machado, Oliveira, Fernandes
(2009)."""
XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)
APART = 10.0
"""Distance in CIELAB from which a glance tells two areas apart: about 2 can just be
seen."""
Theme = dict[str, str]
themes = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def linear(colour: str) -> np.ndarray:  # [3]
    value = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(colour: str, sight: str) -> np.ndarray:  # [3]
    """Return the colour in CIELAB as this sight has it."""
    seen = np.clip(np.asarray(SIGHTS[sight]) @ linear(colour), 0, 1)
    share = (XYZ @ seen) / XYZ.sum(axis=1)
    x, y, z = np.where(share > 216 / 24389, np.cbrt(share), share * 841 / 108 + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(entry: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(lab(entry, sight) - lab(other, sight)))


def contrast(entry: str, other: str) -> float:
    """Return the ratio of luminances as WCAG has it."""
    low, high = sorted(float(XYZ[1] @ linear(colour)) for colour in (entry, other))
    return (high + 0.05) / (low + 0.05)


def test_distances_are_those_known_of_black_and_white_and_red_and_green() -> None:
    assert distance("#000000", "#ffffff", "all cones") == pytest.approx(100, abs=0.1)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    text, other = ("#c03000", "#567000")  # far apart for most, one colour for some
    assert (
        distance(text, other, "all cones")
        > 60
        > 30
        > distance(text, other, "deuteranopia")
    )


@themes
@pytest.mark.parametrize("sight", SIGHTS)
def test_bars_that_stand_together_are_distinguished(sight: str, theme: Theme) -> None:
    """The page gives a bar's fill, written in the light page's colour, its own: by the
    style.
    """
    each, other = (theme[named(fill)] for fill in (PALETTE.pale_blue, PALETTE.pale_red))
    assert distance(each, other, sight) > APART


def named(colour: str) -> str:
    """Return the variable of the style sheet that has the light page's colour."""
    result = re.search(rf'svg \[fill="{colour}"\] {{ fill: var\(--([a-z-]+)\)', STYLE)
    assert result, colour
    return result[1]


@themes
def test_signs_differ_in_shape_and_stand_out_from_the_page(theme: Theme) -> None:
    result = signs([f"{at}" for at in range(MOST_SIGNS)])
    assert (
        len({each.shape for each in result})
        == len({each.sign for each in result})
        == MOST_SIGNS
    )
    assert all(contrast(theme[each.style], theme["paper"]) >= 3 for each in result)
    assert (
        contrast(theme["ink"], theme["paper"]) >= 7
        and contrast(theme["soft"], theme["paper"]) >= 4.5
    )


@themes
@pytest.mark.parametrize("sight", SIGHTS)
def test_shades_of_a_table_are_steps_of_lightness(sight: str, theme: Theme) -> None:
    steps = [theme["paper"], *(theme[f"heat-{step}"] for step in range(1, 5))]
    light = [float(lab(colour, sight)[0]) for colour in steps]
    drops = [abs(after - before) for before, after in pairwise(light)]
    assert sorted(light, reverse=light[0] > light[-1]) == light and min(drops) > 2
    assert contrast(theme["ink"], steps[-1]) >= 4.5
