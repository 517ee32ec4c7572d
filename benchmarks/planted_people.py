"""Planted raters: how often the people of a study cost judges the recommendation.

A judge is recommended only where one rater's agreement with the others is shown
(`statistics.headline.people_are_apart`). Raters who agree must seldom lose it, raters
who answer at random must lose it mostly. Run it alone for its table:

    python benchmarks/planted_people.py --studies 500
"""

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.rng import stream
from judgescope.statistics.arrays import Floats
from judgescope.statistics.headline import people_are_apart
from judgescope.statistics.raters import ceilings
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.within_sources import within_sources

MOST_LOST: Final = 0.05
"""Raters with a correlation of .6 may lose the recommendation in this share."""
LEAST_LOST: Final = 0.8
"""Raters who answer at random must lose it in this share."""


class RaterDesign(NamedTuple):
    """How many sources, texts of each and raters a study has."""

    sources: int
    texts: int
    raters: int

    def __str__(self) -> str:
        """The design in words."""
        return f"{self.sources} sources × {self.texts} texts, {self.raters} raters"


class LostCount(NamedTuple):
    """In how many studies raters of a correlation lose the recommendation."""

    design: RaterDesign
    correlation: float
    lost: int
    studies: int

    @property
    def bar(self) -> str:
        """Whether the share meets its bar; "–" where there is none."""
        share = self.lost / self.studies
        if self.correlation == 0:
            return "passes" if share >= LEAST_LOST else "fails"
        if self.correlation >= 0.6:
            return "passes" if share <= MOST_LOST else "fails"
        return "–"


DESIGNS: Final = (
    RaterDesign(sources=20, texts=4, raters=2),
    RaterDesign(sources=20, texts=4, raters=3),
    RaterDesign(sources=60, texts=6, raters=3),
)
CORRELATIONS: Final = (0.0, 0.2, 0.6)


def rated(design: RaterDesign, correlation: float, name: str) -> Floats:
    """Ratings of 1 to 5, (raters, texts), that correlate in pairs before rounding."""
    rng = stream(7, "planted-people", name)
    texts = design.sources * design.texts
    quality = rng.normal(size=texts)
    noise = rng.normal(size=(design.raters, texts))
    scores = np.sqrt(correlation) * quality + np.sqrt(1 - correlation) * noise
    ratings: Floats = np.clip(np.rint(3 + scores), 1, 5)
    return ratings


def are_apart(design: RaterDesign, ratings: Floats) -> bool:
    """Whether these raters cost every judge its recommendation."""
    source = np.repeat(np.arange(design.sources), design.texts)

    def agreement(x: Floats, y: Floats) -> dict[str, Replicated]:
        return {"normal_scores": within_sources(x, y, source, design.sources)}

    number = ceilings(agreement, ratings, against="mean")["normal_scores"]
    return people_are_apart(number.ci_low)


def lost_counts(studies: int) -> Iterator[LostCount]:
    """Yield the counts of every design and correlation."""
    for design in DESIGNS:
        for correlation in CORRELATIONS:
            lost = 0
            for study in range(studies):
                name = f"{design} {correlation} {study}"
                lost += are_apart(design, rated(design, correlation, name))
            yield LostCount(design, correlation, lost, studies)


def table(studies: int) -> str:
    """The counts as a Markdown table."""
    lines = [
        "| raters | their correlation | lose the recommendation in | bar |",
        "| --- | --- | --- | --- |",
    ]
    for each in lost_counts(studies):
        lines.append(
            f"| {each.design} | {each.correlation:g} | {each.lost} of {each.studies} "
            f"| {each.bar} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    print(table(parser.parse_args().studies))
