"""`js.choice`: three picks from arrays, equal to those of the table."""

from typing import Any

import numpy as np
import pytest

import judgescope as js

RNG = np.random.default_rng(3)
SOURCES, RATED = 120, 40
QUALITY = np.array([2.0, 2.5, 3.0, 4.0]) + 0.5 * RNG.normal(size=(SOURCES, 4))
LIKED = np.array([0.0, 0.0, 2.5, 0.0])
SOURCE, SYSTEM = np.divmod(np.arange(4 * SOURCES), 4)
PLACES: dict[str, Any] = {"source": SOURCE, "system": np.array([*"abcd"])[SYSTEM]}
JUDGE = (QUALITY + LIKED).ravel()
HUMAN = np.where(SOURCE < RATED, QUALITY.ravel(), np.nan)


def test_the_correction_turns_a_judges_pick_into_peoples() -> None:
    result = js.choice(JUDGE, HUMAN, **PLACES).sort_index()
    for form, best in (("human", "d"), ("uncorrected", "c"), ("corrected", "d")):
        shares = result.loc[("p_best", form), "value"]
        assert shares.idxmax() == best and shares.sum() == pytest.approx(1)
    regret = result.loc[("choice_regret", "uncorrected", "")]
    assert regret["ci_low"] > 0 and regret["n"] == RATED


def test_the_order_of_texts_changes_nothing() -> None:
    order = RNG.permutation(SOURCE.size)
    mixed = {name: values[order] for name, values in PLACES.items()}
    first = js.choice(JUDGE, HUMAN, **PLACES)["value"]
    second = js.choice(JUDGE[order], HUMAN[order], **mixed)["value"]
    np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"system": np.zeros(SOURCE.size)}, "one system"),
        ({"human": np.where(SOURCE < 9, 1.0, np.nan)}, "9 rated sources"),
        ({"human": np.full(SOURCE.size, np.nan)}, "no source has both ratings"),
        ({"human": np.where(SYSTEM == 2, HUMAN, np.nan)}, "left out.*a, b, d; one sys"),
    ],
)
def test_no_choice_is_an_error(change: dict[str, Any], reason: str) -> None:
    given = {"judge": JUDGE, "human": HUMAN, **PLACES} | change
    with pytest.raises(ValueError, match=reason):
        js.choice(**given)


def test_systems_may_have_names_of_two_types() -> None:
    mixed = np.array([1, "b", 2.5, "d"], dtype=object)[SYSTEM]
    result = js.choice(JUDGE, HUMAN, source=SOURCE, system=mixed)
    assert {*result.loc["p_best"].index.get_level_values("system")} == {
        *"bd",
        "1",
        "2.5",
    }
    same = js.choice(JUDGE, HUMAN, **PLACES)
    where = ("p_best", "human")
    assert result.loc[(*where, "d"), "value"] == same.loc[(*where, "d"), "value"]


def test_a_judge_that_is_not_used_is_reported_beside_the_corrected_choice() -> None:
    noise = np.random.default_rng(1).normal(size=JUDGE.size)
    result = js.choice(noise, HUMAN, **PLACES)
    notes = result.loc["p_best"]["note"]
    assert "judge not used for" in notes.loc[("corrected", "a")]
    assert "judge not used" not in notes.loc[("human", "a")]


def test_scores_beyond_those_of_rated_sources_are_refused() -> None:
    moved = np.where(SOURCE < RATED, JUDGE, JUDGE + 50)
    with pytest.raises(ValueError, match=r"a: .*outside the range of rated"):
        js.choice(moved, HUMAN, **PLACES)
