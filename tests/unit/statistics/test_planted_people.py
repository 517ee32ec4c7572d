"""How often raters who agree, or answer at random, cost judges the recommendation."""

import pytest

from planted_study import benchmark

people = benchmark("planted_people")
STUDIES = 100


@pytest.mark.parametrize("design", people.DESIGNS[:2], ids=str)
@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_only_raters_who_answer_at_random_lose_the_recommendation(
    design: object, correlation: float
) -> None:
    lost = 0
    for study in range(STUDIES):
        ratings = people.rated(design, correlation, f"test {correlation} {study}")
        lost += people.are_apart(design, ratings)
    counted = people.LostCount(design, correlation, lost, STUDIES)
    assert counted.bar == "passes", lost
