"""`js.corrected`: systems' means from arrays, Series and labels."""

import numpy as np
import pandas as pd
import pytest

import judgescope as js

RNG = np.random.default_rng(5)
SOURCES = 150
QUALITY = np.clip(
    np.round(RNG.normal(3, 1, (2, SOURCES)) + np.array([[0], [0.8]])), 1, 5
)
TABLE = pd.DataFrame(
    {
        "source": np.tile(np.arange(SOURCES), 2),
        "system": np.repeat(["one", "two"], SOURCES),
        "judge": QUALITY.ravel() + 0.5,
        "human": QUALITY.ravel(),
    }
)
TABLE.loc[TABLE["source"] >= 50, "human"] = np.nan
COLUMNS = {name: TABLE[name] for name in ("source", "system")}


def test_differences_come_before_means_of_systems() -> None:
    result = js.corrected(TABLE["judge"], TABLE["human"], **COLUMNS, ends=(1, 6))
    assert result.index[0] == ("corrected_difference", "one+two")
    observed = result.loc[("corrected_difference", "one+two")]
    truth = QUALITY[0].mean() - QUALITY[1].mean()
    assert observed["ci_low"] <= truth <= observed["ci_high"] and observed["n"] == 50
    for system, quality in zip(("one", "two"), QUALITY, strict=True):
        mean = result.loc[("corrected_mean", system), "value"]
        assert mean == pytest.approx(quality.mean())
        assert result.loc[("judge_bias", system), "value"] == pytest.approx(0.5)


def test_ratings_of_several_people_and_labels_are_read() -> None:
    both = TABLE[["human", "human"]].to_numpy() + np.array([0.0, 1.0])
    result = js.corrected(TABLE["judge"] - 0.5, both, **COLUMNS)
    assert result.loc[("corrected_mean", "one"), "value"] == pytest.approx(
        QUALITY[0].mean() + 0.5
    )
    passed = np.where(TABLE["human"].isna(), np.nan, TABLE["human"] >= 3)
    rates = js.corrected(TABLE["judge"] >= 3.5, passed, **COLUMNS)
    assert "Clopper-Pearson" in rates.loc[("rated_mean", "one"), "method"]
    corrected = rates.loc[("corrected_mean", "one")]
    assert "it errs on fewer than 10 rated sources" in corrected["note"]
    assert corrected["value"] == rates.loc[("rated_mean", "one"), "value"]


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="ends"):
        js.corrected(TABLE["judge"], TABLE["human"], ends=(0, 1))
    with pytest.raises(ValueError, match="lengths differ"):
        js.corrected(np.ones(3), np.ones(4))
    nobody = js.corrected(np.arange(12.0), np.full(12, np.nan))
    assert np.isnan(nobody.loc[("corrected_mean", ""), "value"])
    assert "no source" in nobody.loc[("corrected_mean", ""), "note"]


def test_a_judge_of_another_scale_has_no_bias_on_peoples() -> None:
    result = js.corrected(20 * TABLE["judge"], TABLE["human"], **COLUMNS, ends=(1, 5))
    for name in ("uncorrected_mean", "judge_bias"):
        row = result.loc[(name, "one")]
        assert np.isnan(row["value"]) and np.isnan(row["ci_high"])
        assert row["note"] == "the judge has scores outside people's scale"
    assert 1 < result.loc[("corrected_mean", "one"), "value"] < 5


def test_without_a_rating_its_worth_is_undefined_for_that_reason() -> None:
    result = js.corrected([1.0, 2.0, 3.0], [np.nan] * 3)
    worth = result.loc[("rating_worth", "")]
    assert np.isnan(worth["value"]) and worth["note"] == "fewer than 2 rated sources"
