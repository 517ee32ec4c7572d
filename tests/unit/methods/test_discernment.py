"""The rows of discernment.csv and responses.csv, made of one small dataset in
memory.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from dataset_in_memory import FIVE, Floats, row_of, rows_of
from discernment_setup import ASPECTS, ITEMS, NAN, scored, study
from judgescope.core.rng import share_of
from judgescope.methods import discernment, perturbations, responses
from judgescope.schema.tables import table_of
from judgescope.statistics import discernment as scores_of_p
from judgescope.statistics import signed_rank
from judgescope.statistics.intervals import holm
from judgescope.statistics.resampling import NO_WIDTH

# Scores off the scale's grid


def test_means_weighted_by_probabilities_are_compared_off_the_grid() -> None:
    """3.47 is no whole number of points; a score that could not be so is an error
    still.
    """
    off = {
        name: {aspect: values - 0.1234 for aspect, values in aspects.items()}
        for name, aspects in scored(1, 0.8).items()
    }
    weighted = study({"j": off}, cards={"j": {"weighted": True}})
    rows = list(discernment.rows(study({"j": scored(1, 0.8)})))
    for row, same in zip(discernment.rows(weighted), rows, strict=True):
        assert row["statistic"] == same["statistic"]
        assert row["value"] == pytest.approx(same["value"], abs=1e-9)
    with pytest.raises(ValueError, match="is not exact"):
        list(discernment.rows(study({"j": off})))


# Judges beside each other


def test_judges_are_compared_without_the_same_items_and_a_twin_differs_in_nothing() -> (
    None
):
    rows = list(
        discernment.rows(
            study({"good": scored(1, 0.8), "twin": scored(1, 0.8), "blind": scored(0)})
        )
    )
    for name in discernment.HEADLINES:
        good, blind = (
            row_of(rows, name, judge=judge)["value"] for judge in ("good", "blind")
        )
        gap = row_of(rows, f"difference_{name}", judge="good", judge_b="blind")
        assert gap["value"] == pytest.approx(good - blind, abs=1e-12)
        same = row_of(rows, f"difference_{name}", judge="good", judge_b="twin")
        ends = (None, None) if "_min" in name else (0.0, 0.0)  # a minimum is not smooth
        assert (same["value"], same["ci_low"], same["ci_high"]) == (0.0, *ends)
    gap = row_of(rows, "difference_D_avg_exact", judge="good", judge_b="blind")
    row = row_of(rows, "D_avg_exact", judge="good")
    assert (
        gap["ci_low"] > 0
        and gap["n"] == ITEMS
        and gap["method"] == "jackknife-t over 40 sources"
    )
    assert row["ci_low"] < row["value"] and gap["note"] == ""


def test_judges_with_different_shares_are_compared_on_shared_items_with_a_note() -> (
    None
):
    complete, part = scored(1, 0.8), scored(1, 0.4, seed=2)
    cards = {"part": {"share": 0.5}}
    items = [f"i{item:02}" for item in range(ITEMS)]
    chosen = share_of(items, 0.5, seed=7, dataset="d")
    given = np.array([item in chosen for item in items])
    by_name = {
        name: {
            aspect: np.where(given, values, NAN) for aspect, values in aspects.items()
        }
        for name, aspects in part.items()
    }
    rows = list(
        discernment.rows(study({"whole": complete, "part": by_name}, cards=cards))
    )
    gap = row_of(rows, "difference_D_avg", judge="whole")
    cut = {
        name: {
            aspect: np.where(given, values, NAN) for aspect, values in aspects.items()
        }
        for name, aspects in complete.items()
    }
    alone = list(
        discernment.rows(
            study(
                {"whole": cut, "part": by_name}, cards={**cards, "whole": cards["part"]}
            )
        )
    )
    expected = [
        row_of(alone, "D_avg", judge=judge)["value"] for judge in ("whole", "part")
    ]
    assert gap["value"] == pytest.approx(expected[0] - expected[1], abs=1e-12)
    assert (
        gap["n"] == 20
        and gap["note"]
        == "computed on a share of the items that all these judges receive: 20 of 40"
    )
    assert row_of(rows, "D_avg", judge="whole")["n"] == ITEMS


@pytest.mark.simulation
def test_only_the_judges_that_the_study_wants_are_compared() -> None:
    judges = {name: scored(1, 0.5, seed) for seed, name in enumerate(("a", "b", "c"))}
    rows = list(discernment.rows(study(judges, compared=["a", "c"])))
    pairs = {(row["judge"], row["judge_b"]) for row in rows if row.get("judge_b")}
    assert pairs == {("a", "c")}


def test_an_undefined_judge_has_no_difference() -> None:
    empty = {name: dict.fromkeys(ASPECTS, np.full(ITEMS, NAN)) for name in scored(0)}
    rows = list(discernment.rows(study({"good": scored(1, 0.8), "mute": empty})))
    gap = row_of(rows, "difference_D_avg")
    assert gap["value"] is None and gap["note"] == "one of the judges is undefined"


# The normal tail


@pytest.mark.parametrize("limit", [1000, 10])
def test_what_lies_in_the_normal_tail_is_noted_where_the_normal_limit_is_used(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signed_rank, "EXACT_LIMIT", limit)
    rows = list(discernment.rows(study({"good": scored(1)})))
    for name in (
        "D",
        "D_ew",
        "D_hmp",
        "D_exact",
        "D_avg",
        "D_avg_exact",
        "D_min",
        "D_min_exact",
    ):
        result = rows_of(rows, name, aspect="")[0]
        test = (
            "exact"
            if limit == 1000 and name.split("_")[-1] in ("hmp", "exact")
            else "asymptotic"
        )
        assert f"{test} p" in result["method"] and "jackknife-t" in result["method"], (
            name
        )
        assert result["value"] > 5
        assert (discernment.BEYOND in result["note"]) == (test == "asymptotic"), name


def dropped(**falls: list[float]) -> dict[str, dict[str, Floats]]:
    """Return a judge that lowers an aspect by these in turn, both for typos and for
    cuts.
    """
    plain = {aspect: np.full(ITEMS, 5.0) for aspect in ASPECTS}
    perturbed = {aspect: 5.0 - np.resize(fall, ITEMS) for aspect, fall in falls.items()}
    return {"original": plain, "typos.minor": perturbed, "cuts.single": perturbed}


def test_an_interval_of_ties_alone_is_reported() -> None:
    flat = list(
        discernment.rows(study({"all": dropped(clear=[1, 2, 3], true=[2, 2, 1])}))
    )
    for name in ("D", "D_ew", "D_avg", "D_avg_ew", "D_min"):
        row = (
            rows_of(flat, name, aspect="")[0]
            if name in ("D", "D_ew")
            else row_of(flat, name)
        )
        assert (
            row["ci_high"] > row["ci_low"] and scores_of_p.TIES_ALONE in row["note"]
        ), name
        assert row["ci_low"] <= row["value"] <= row["ci_high"]
    exact = row_of(flat, "D_exact", perturbation="typos", aspect="")
    assert exact["ci_low"] == exact["ci_high"] and exact["note"].count(NO_WIDTH) == 1


@pytest.mark.parametrize("other", [[1, 2, -1], [1, 1, 0], [1, 2, NAN]])
def test_an_interval_of_other_signs_or_numbers_is_one(other: list[float]) -> None:
    rows = list(discernment.rows(study({"some": dropped(clear=[1, 2, 3], true=other)})))
    both = rows_of(rows, "D", "D_avg", "D_min", aspect="")
    assert len(both) == 4 and not [row for row in both if NO_WIDTH in row["note"]]


def test_an_aspect_that_weighs_nothing_gives_no_width() -> None:
    weights = {
        "id": "w@1",
        "by_perturbation": {"typos": {"clear": 1.0}, "cuts": {"true": 1.0}},
    }
    judge = dropped(clear=[1, 2, 3], true=[1, 2, -1])
    rows = list(discernment.rows(study({"some": judge}, weights=weights)))
    noted = {
        (name, cut): scores_of_p.TIES_ALONE
        in row_of(rows, name, perturbation=cut, aspect="")["note"]
        for name in ("D", "D_ew")
        for cut in ("typos", "cuts")
    }
    assert [at for at, result in noted.items() if result] == [("D_ew", "typos")]


def test_a_minimum_has_the_interval_of_its_least_cell_and_the_p_of_all() -> None:
    falls = dropped(clear=[1, 2, -1, 3], true=[1, 1, -1])
    falls["cuts.single"] = dropped(clear=[1, -1, 1], true=[1, -1, -1, 2])["cuts.single"]
    rows = list(discernment.rows(study({"some": falls})))
    cells = rows_of(rows, "D_exact", aspect="")
    least = min(cells, key=lambda row: row["value"])
    result = row_of(rows, "D_min_exact")
    assert least["value"] < max(row["value"] for row in cells)
    assert [result[end] for end in ("value", "ci_low", "ci_high")] == [
        least[end] for end in ("value", "ci_low", "ci_high")
    ]
    assert f"{least['perturbation']}.{least['degree']}" in result["method"]
    p = max(holm(np.array([20 ** -row["value"] for row in cells])))
    assert f"Holm-adjusted p of all, exact: {p:.2g}" in result["note"]


def test_equal_wordings_do_not_count_as_aspects() -> None:
    judge = scored(1, 0.3)
    names = {f"{aspect}.w{k}": aspect for aspect in ASPECTS for k in range(5)}
    worded = {
        texts: {name: values[aspect] for name, aspect in names.items()}
        for texts, values in judge.items()
    }
    scale = {
        "grid": dict.fromkeys(names, FIVE),
        "ends": dict.fromkeys(names, (1.0, 5.0)),
    }
    aspects = {name: {"values": FIVE, "ends": [1.0, 5.0]} for name in names}
    data = study({"j": worded}, cards={"j": scale}, aspects=aspects)
    rows = list(discernment.rows(data))
    plain = list(discernment.rows(study({"j": judge})))
    for name in ("D", "D_ew"):
        for texts in ("typos", "cuts"):
            value = row_of(plain, name, perturbation=texts, aspect="")["value"]
            row = row_of(rows, name, perturbation=texts, aspect="")
            assert row["value"] == pytest.approx(value)
            assert "2 aspects in 10 wordings" in row["method"]


def test_each_cell_is_combined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*args: Any) -> Any:
        calls.append(args)
        return scores_of_p.discernment(*args)

    monkeypatch.setattr(discernment, "discernment", counted)
    data = study({"good": scored(1, 0.8), "blind": scored(0)})
    list(discernment.rows(data))
    assert len(calls) == 2 * len(data.spec.perturbed)


# Weights


def test_evidence_beside_the_experts_aspects_is_reported_where_they_gave_weights() -> (
    None
):
    weights = {
        "id": "w@1",
        "by_perturbation": {"typos": {"clear": 1.0}, "cuts": {"true": 1.0}},
    }
    rows = list(discernment.rows(study({"good": scored(1, 0.8)}, weights=weights)))
    for name in ("typos", "cuts"):
        where = {"perturbation": name, "aspect": ""}
        beside = row_of(rows, "D_ew_weight_effect", **where)
        d, weighted = (row_of(rows, which, **where)["value"] for which in ("D", "D_ew"))
        assert beside["value"] == pytest.approx(
            d - math.log(2, 20) - weighted, abs=1e-12
        )
        assert beside["ci_low"] <= beside["value"] <= beside["ci_high"]
        assert "asymptotic p" in beside["method"]
        # the judge lowers `clear` alone: evidence is where experts look for it, or is
        # not
        assert (beside["value"] < 0) == (name == "typos")
    uniform = list(discernment.rows(study({"good": scored(1, 0.8)})))
    assert rows_of(uniform, "D_ew_weight_effect") == []


def test_wordings_of_an_aspect_share_its_weight() -> None:
    weights = {"id": "w@1", "by_perturbation": {"typos": {"clear": 0.7, "true": 0.3}}}
    data = study({"some": dropped(clear=[1], true=[1])}, weights=weights)
    scales = data.spec.aspects
    worded = {
        f"{name}.{wording}": scales[name]
        for name in ("clear", "true")
        for wording in "abc"
    }
    text = replace(data, spec=structs.replace(data.spec, aspects=worded))
    shares, how, _ = discernment.aspect_weights(text, "typos.single")
    assert shares.tolist() == pytest.approx([0.7 / 3] * 3 + [0.1] * 3)
    assert how == "weights clear 0.7, true 0.3"


# What is not there


def test_texts_that_could_not_be_made_leave_a_reason_and_no_number() -> None:
    judge = scored(1, 0.8)
    del judge["cuts.single"]
    data = study({"good": judge}, status={"cuts.single": "failed: it is the same text"})
    rows = list(discernment.rows(data))
    why = "no text could be made (40 failed)"
    assert row_of(rows, "D_exact", perturbation="cuts")["note"] == why
    assert row_of(rows, "D_exact", perturbation="typos", aspect="")["value"] > 1
    for name in discernment.HEADLINES:
        row = row_of(rows, name)
        assert row["value"] is None
        assert (
            row["note"] == f"planned perturbations without a score: cuts.single ({why})"
        )
    allowed = list(
        discernment.rows(
            study(
                {"good": judge},
                status={"cuts.single": "failed: it is the same text"},
                allow_missing=True,
            )
        )
    )
    assert "without cuts.single" in row_of(allowed, "D_avg")["note"]


@pytest.mark.parametrize(
    ("how", "rule", "why"),
    [
        ("not_applicable", "no_other_reference", "not applicable: no_other_reference"),
        ("unparsed", "", "no reply could be read: unparsed"),
    ],
)
def test_a_judge_without_scores_says_why(how: str, rule: str, why: str) -> None:
    empty = {name: dict.fromkeys(ASPECTS, np.full(ITEMS, NAN)) for name in scored(0)}
    ended = {(name, "mute"): (how, rule) for name in empty}
    data = study({"mute": empty}, ended=ended)
    rows = list(discernment.rows(data))
    for aspect in ASPECTS:
        assert (
            row_of(rows, "p_wilcoxon", perturbation="typos", aspect=aspect)["note"]
            == why
        )
    assert row_of(rows, "D", perturbation="typos", aspect="")["note"] == why
    assert row_of(rows, "D_avg")["note"] == why
    mean = row_of(responses.rows(data), "score_mean", perturbation="original")
    assert mean["value"] is None and mean["note"] == why
    assert rows_of(responses.rows(data), "score_share", "range_top") == []


def test_a_judge_with_too_small_a_context_is_not_run_on_the_rest() -> None:
    judge = {name: dict(aspects) for name, aspects in scored(1, 0.8).items()}
    judge["typos.minor"]["true"][:2] = NAN
    data = study(
        {"good": judge}, ended={("typos.minor", "good"): ("error", "too_long")}
    )
    rows = list(discernment.rows(data))
    why = f"not run: context ({ITEMS} requests are too long for the model)"
    assert row_of(rows, "D_exact", perturbation="typos", aspect="")["note"] == why
    assert (
        why in row_of(rows, "D_avg")["note"] and row_of(rows, "D_avg")["value"] is None
    )
    assert row_of(rows, "D_exact", perturbation="cuts", aspect="")["value"] is not None
    other = study({"good": judge}, ended={("typos.minor", "good"): ("error", "error")})
    assert (
        row_of(discernment.rows(other), "D_exact", perturbation="typos", aspect="")["n"]
        == 38
    )


def test_a_single_missing_aspect_is_named() -> None:
    judge = {name: dict(aspects) for name, aspects in scored(1, 0.8).items()}
    judge["typos.minor"]["true"] = np.full(ITEMS, NAN)
    rows = list(discernment.rows(study({"good": judge})))
    note = row_of(rows, "D", perturbation="typos", aspect="")["note"]
    assert "both texts" in note and "(true)" in note


# Response styles


def test_shares_by_score_are_those_of_the_texts_and_sum_to_one() -> None:
    judge = scored(1, 0.8)
    judge["typos.minor"]["clear"][:4] = NAN
    rows = list(responses.rows(study({"good": judge})))
    before = np.mean([judge["original"][aspect] for aspect in ASPECTS], axis=0)
    after = np.concatenate(
        [
            np.mean([judge[name][a] for a in ASPECTS], axis=0)
            for name in ("typos.minor", "cuts.single")
        ]
    )
    for name, values in (("original", before), ("all", after)):
        mean = row_of(rows, "score_mean", perturbation=name)
        assert mean["value"] == pytest.approx(np.nanmean(values))
        assert mean["ci_low"] < mean["value"] < mean["ci_high"]
        shares = rows_of(rows, "score_share", perturbation=name)
        assert [row["k"] for row in shares] == list(range(1, 21))
        result, _ = np.histogram(values[np.isfinite(values)], bins=20, range=(1, 5))
        assert [row["value"] for row in shares] == pytest.approx(result / result.sum())
        assert {row["n_missing"] for row in shares} == {int(np.isnan(values).sum())}
    assert row_of(rows, "score_mean", perturbation="typos")["n_missing"] == 4
    assert [row_of(rows, f"range_{end}")["value"] for end in ("bottom", "top")] == [
        1.0,
        5.0,
    ]
    assert (
        "[4.8, 5]"
        in rows_of(rows, "score_share", perturbation="all", k=20)[0]["method"]
    )
    assert rows_of(rows, "pearson") == []


@pytest.mark.parametrize(
    ("values", "ends"), [([0.2, 0.9], (0.2, 0.9)), ([7.0, 7.0], (6.5, 7.5))]
)
def test_a_judge_without_a_scale_has_the_range_of_its_scores(
    values: list[float], ends: tuple[float, float]
) -> None:
    cell = np.resize(values, ITEMS)
    judge = {name: dict.fromkeys(ASPECTS, cell) for name in scored(0)}
    cards = {"free": {"ends": dict.fromkeys(ASPECTS)}}
    rows = list(responses.rows(study({"free": judge}, cards=cards)))
    assert (
        tuple(row_of(rows, f"range_{end}")["value"] for end in ("bottom", "top"))
        == ends
    )
    assert sum(
        row["value"] for row in rows_of(rows, "score_share", perturbation="all")
    ) == pytest.approx(1)


def test_without_perturbations_and_for_excluded_judges_there_are_no_styles() -> None:
    assert list(responses.rows(study({"good": scored(0)}, perturbed=[]))) == []
    excluded = [["good", "original", "not applicable: needs ratings"]]
    assert list(responses.rows(study({"good": scored(0)}, excluded=excluded))) == []


def test_where_no_text_stands_for_an_original_every_share_says_so() -> None:
    rows = list(
        perturbations.rows(
            replace(study({}, improved="c0de"), targets=table_of("targets", []))
        )
    )
    shares = [row for row in rows if row["statistic"].startswith("share_")]
    assert len(shares) == 3 + 2 * 4 and {row["value"] for row in shares} == {None}
    assert {row["note"] for row in shares} == {
        "the dataset has no text that serves as an original"
    }
