"""Hints: the wrong rating of Chaudhary et al. (2024), and people's ratings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_samples import REAL, needs_real_data
from judgescope.data import read_dataset
from judgescope.methods.measures import lower_median
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import read_card
from judgescope.statistics.alpha import krippendorff_alpha
from judgescope.statistics.hints import hint, shared_rating
from judgescope.statistics.permutation import flips_of, mean_test
from running import HOME


@pytest.mark.parametrize(("low", "high", "told"), [(0, 1, 4), (1, 3, 7), (1, 5, 26)])
def test_the_truth_table_of_three_raters(low: int, high: int, told: int) -> None:
    """As methods.md counts them: 4 of 8, 7 of 27, 26 of 125 triples are told the top."""
    triples = list(product(range(low, high + 1), repeat=3))
    top = [one for one in triples if hint(one, low, high, "wrong") == high]
    assert len(top) == told
    others = [hint(one, low, high, "wrong") for one in triples if one not in top]
    assert others == [low] * (len(triples) - told)


@pytest.mark.parametrize(
    ("ratings", "shared"),
    [((2, 2, 5), 2), ((1, 2, 3), 3), ((4,), 4), ((1, 1, 5, 5), 5), ((0.5, 1, 0.5), 0.5)],
)
def test_the_shared_rating_is_the_mode_and_of_several_the_highest(
    ratings: tuple[float, ...], shared: float
) -> None:
    assert shared_rating(ratings) == shared == hint(ratings, 0, 5, "right")


@pytest.mark.simulation
@given(st.lists(st.integers(1, 5), min_size=1, max_size=9))
def test_no_order_of_raters_changes_a_hint_and_a_wrong_one_is_an_end(ratings: list[int]) -> None:
    told = hint(ratings, 1, 5, "wrong")
    assert told in {1, 5} and told == hint(sorted(ratings), 1, 5, "wrong")
    assert hint(ratings, 1, 5, "right") in ratings


def test_the_paired_test_of_means_swaps_whole_sources() -> None:
    rng = np.random.default_rng(1)
    source = np.repeat(np.arange(20), 3)
    first = rng.normal(size=60)
    flips = flips_of(rng, 20)
    same = mean_test(first, first, source, flips)
    assert same.difference == 0 and same.p == 1
    shifted = mean_test(first + 1, first, source, flips)
    assert shifted.difference == pytest.approx(1) and shifted.p < 0.01
    turned = mean_test(first, first + 1, source, flips)
    assert turned.p == shifted.p and turned.difference == -shifted.difference
    # one source has all of the difference: whichever way it is swapped, it is as large
    alone = first + np.where(source == 0, 5, 0)
    assert mean_test(alone, first, source, flips).p == 1


ALPHAS = {
    "usr": {
        "interesting": 0.5137,
        "maintains-context": 0.5673,
        "natural": 0.4982,
        "overall": 0.6802,
        "understandable": 0.5313,
        "uses-knowledge": 0.7577,
    },
    "summeval": {
        "coherence": 0.5744,
        "consistency": 0.8146,
        "fluency": 0.6123,
        "relevance": 0.4473,
    },
}
"""Of USR from table 2 of Chaudhary et al. (2024), of SummEval's 1,200 rows from data/README.md."""
TEXTS = {"usr": 660, "summeval": 1200}


@pytest.mark.heavy
@needs_real_data
@pytest.mark.parametrize(
    ("name", "aspect"), [(name, aspect) for name in ALPHAS for aspect in ALPHAS[name]]
)
def test_people_agree_as_published_and_whoever_follows_hints_does_not(
    name: str, aspect: str
) -> None:
    """A judge and three raters cannot be below -1/3; some values of the paper's table 1 are."""
    folder = HOME / "config" / "datasets"
    card: Dataset = read_card("dataset", folder / f"{name}.yaml")
    rated = read_dataset(card, folder, REAL)
    scale = card.aspects[aspect]
    own: dict[str, list[float]] = {}
    for one in rated.ratings:
        if one.aspect == aspect:
            own.setdefault(one.target, []).append(one.value)
    people = np.array(list(own.values())).T
    assert people.shape == (3, TEXTS[name])
    source = np.zeros(TEXTS[name], dtype=np.int64)

    def agreement(ratings: object) -> float:
        told = {"level": "ordinal", "domain": scale.values(), "source": source, "weights": None}
        value = krippendorff_alpha(np.asarray(ratings), **told).estimate.value  # type: ignore[arg-type]
        assert value is not None
        return value

    among = agreement(people)
    assert among == pytest.approx(ALPHAS[name][aspect], abs=5e-5)
    told = np.array([hint(each, scale.min, scale.max, "wrong") for each in own.values()])
    assert agreement([lower_median(people), told]) < 0
    assert -1 / 3 <= agreement([*people, told]) < among
