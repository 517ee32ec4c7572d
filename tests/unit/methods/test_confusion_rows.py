"""The rows of confusion.csv and criteria.csv, made of small datasets in memory."""

import csv
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import yaml

from confusion_rows_setup import (
    ASPECTS,
    EXPECTED,
    HALF,
    ITEMS,
    NAN,
    TABLE,
    judge,
    study,
)
from dataset_in_memory import Floats, Row, row_of
from judgescope.core.rng import share_of
from judgescope.methods import confusion, criteria
from judgescope.methods.confusion import HEADLINES
from judgescope.schema.cards import Expectations
from judgescope.schema.rows import ResultRow
from running import HOME
from shelf import printed
from statistics_spec import change


def of_cell(rows: Iterable[ResultRow], statistic: str, name: str, aspect: str) -> Row:
    return row_of(rows, statistic, perturbation=name, aspect=aspect)


def test_wanted_and_unwanted_drops_by_hand() -> None:
    noise = np.where(np.arange(len(ITEMS)) % 3 == 0, 0.5, -0.25)  # of mean 0
    rows = list(
        confusion.rows(
            study({"j": judge(typos_clear=1 + HALF, typos_true=HALF, cuts_true=noise)})
        )
    )
    assert of_cell(rows, "delta", "typos", "clear")["value"] == pytest.approx(1.5)
    assert of_cell(rows, "delta", "typos", "clear")["note"] == "should drop"
    assert of_cell(rows, "delta", "cuts", "clear")["note"].endswith("no expectation")
    assert row_of(rows, "s_t_mean")["value"] == pytest.approx(0.75)
    assert row_of(rows, "s_f_mean")["value"] == pytest.approx(0.5)
    index = row_of(rows, "confusion_index")
    assert (
        index["value"] == pytest.approx(0.5 / 0.75)
        and index["ci_low"] < 0.5 / 0.75 < index["ci_high"]
    )
    assert row_of(rows, "confusion_auc")["value"] == 0.5  # 1.5 above .5, and 0 below it
    assert index["method"].startswith("2 wanted drops, 1 unwanted; jackknife-t over 30")
    assert of_cell(rows, "p_fdr", "typos", "clear")["value"] < 1e-6
    assert of_cell(rows, "p_fdr", "cuts", "true")["value"] > 0.05
    assert row_of(rows, "s_t_significant_share")["value"] == 0.5
    assert row_of(rows, "unwanted_drop")["value"] == 1.0
    assert of_cell(rows, "p_tost", "typos", "true")["note"] == "drop"
    with pytest.raises(ValueError, match="not enough values"):
        of_cell(
            rows, "p_tost", "cuts", "clear"
        )  # of what nothing is expected, nothing is tested


def test_of_a_perturbation_that_the_card_does_not_name_nothing_is_expected() -> None:
    expected = {"id": "e@1", "changes": {"typos": EXPECTED["typos"]}, "margin": 0.2}
    rows = list(
        confusion.rows(
            study({"j": judge(typos_clear=1.0, cuts_true=1.0)}, expected=expected)
        )
    )
    for aspect in ASPECTS:
        assert of_cell(rows, "delta", "cuts", aspect)["note"].endswith("no expectation")
    assert row_of(rows, "confusion_index")["method"].startswith(
        "1 wanted drops, 1 unwanted"
    )


@pytest.mark.parametrize(
    ("drop", "verdict"),
    [
        (0.1 * HALF, "no drop"),
        (np.zeros(len(ITEMS)), "no drop"),
        (np.where(HALF > 0, 3.0, -3.0), "undecided"),
        (HALF, "drop"),
    ],
)
def test_three_verdicts_and_how_many_items_would_tell(
    drop: Floats, verdict: str
) -> None:
    rows = list(
        confusion.rows(
            study({"j": judge(typos_clear=1.0, typos_true=drop, cuts_true=1.0)})
        )
    )
    row = of_cell(rows, "p_tost", "typos", "true")
    assert row["note"] == verdict and (row["value"] <= 0.05) == (verdict == "no drop")
    assert "margin 0.2" in row["method"]
    needed = of_cell(rows, "items_needed", "typos", "true")["value"]
    assert (needed > len(ITEMS)) == (verdict in {"undecided", "drop"})


def test_the_margin_is_the_same_part_of_any_scale_and_without_one_there_is_none() -> (
    None
):
    result = judge(typos_clear=1.0, typos_true=0.1 * HALF, cuts_true=1.0)
    wide = list(confusion.rows(study({"j": result}, ends=(0.0, 100.0))))
    assert of_cell(wide, "p_tost", "typos", "true")["method"].endswith("margin 5")
    free = list(confusion.rows(study({"j": result}, ends=None)))
    assert of_cell(free, "p_tost", "typos", "true")["note"].startswith(
        "the judge has no scale"
    )
    assert of_cell(free, "floor_share", "typos", "true")["value"] is None
    assert not [row for row in free if row["statistic"].startswith("unwanted_")]


UNLIKE = judge(typos_clear=1.0, cuts_true=0.8, cuts_clear=1.0)
BOTH = {"typos": EXPECTED["typos"], "cuts": {"drop": ["true"], "same": ["clear"]}}


def test_drops_on_different_scales_are_converted_before_they_are_combined() -> None:
    data = study({"j": UNLIKE}, expected={"id": "e@1", "changes": BOTH, "margin": 0.2})
    change(data.spec, "j", ends={"clear": (1.0, 5.0), "true": (0.0, 1.0)})
    rows = list(confusion.rows(data))
    # of a scale from 0 to 1, .8 are 3.2 points: wanted 1 and 3.2, unwanted 0 and 1
    values = [row_of(rows, name)["value"] for name in HEADLINES]
    assert values == pytest.approx([2.1, 0.5, 0.5 / 2.1, 0.875])
    converted = "points of a scale from 1 to 5"
    assert all(converted in row_of(rows, name)["note"] for name in HEADLINES)
    assert of_cell(rows, "delta", "cuts", "true")["value"] == pytest.approx(0.8)
    same = row_of(confusion.rows(study({"j": UNLIKE}, ends=(0.0, 100.0))), "s_t_mean")
    assert same["value"] == pytest.approx(0.9) and converted not in same["note"]


def test_a_judge_with_a_scale_in_some_aspects_only_has_no_headlines() -> None:
    data = study({"j": UNLIKE})
    change(data.spec, "j", ends={"clear": (1.0, 5.0), "true": None})
    rows = list(confusion.rows(data))
    actual = [
        (row_of(rows, name)["value"], row_of(rows, name)["note"]) for name in HEADLINES
    ]
    why = "the judge has a scale in some aspects only, so drops cannot be combined"
    assert actual == [(None, why)] * len(HEADLINES)


def test_no_wanted_drop_means_no_index() -> None:
    rows = list(confusion.rows(study({"j": judge(typos_true=1.0)})))
    index = row_of(rows, "confusion_index")
    assert index["value"] is None and "wanted drop is not above 0" in index["note"]
    assert (
        row_of(rows, "s_f_mean")["value"] == 1.0
        and row_of(rows, "confusion_auc")["value"] == 0.0
    )


def test_a_single_perturbation_with_few_texts_does_not_remove_the_interval() -> None:
    few = np.where(np.arange(len(ITEMS)) < 7, 1.0, np.nan)
    rows = list(
        confusion.rows(study({"j": judge(typos_clear=few + HALF, cuts_clear=HALF)}))
    )
    wanted = row_of(rows, "s_t_mean")
    assert wanted["n"] == 7 and wanted["n_missing"] == len(ITEMS) - 7
    assert (
        wanted["ci_low"] < wanted["value"] < wanted["ci_high"]
        and "over 30 sources" in wanted["method"]
    )
    assert row_of(rows, "confusion_index")["value"] is not None


def test_a_cell_without_scores_is_reported_and_left_out_only_if_allowed() -> None:
    result = judge(typos_clear=1.0, cuts_true=1.0)
    result["cuts.single", "true"] = np.full(len(ITEMS), NAN)
    row = row_of(confusion.rows(study({"j": result})), "s_t_mean")
    assert row["value"] is None and "1 of 3 planned cells have no score" in row["note"]
    allowed = row_of(
        confusion.rows(study({"j": result}, allow_missing=True)), "s_t_mean"
    )
    assert allowed["value"] == 1.0 and "without 1 cells" in allowed["note"]


def test_the_share_at_the_floor() -> None:
    result = judge(typos_clear=1.0, cuts_true=1.0)
    result["original", "clear"] = np.where(HALF > 0, 1.0, 3.0)
    row = of_cell(confusion.rows(study({"j": result})), "floor_share", "typos", "clear")
    assert row["value"] == 0.5 and row["n"] == len(ITEMS)


def test_every_wording_has_a_separate_numbers() -> None:
    both = tuple(f"{aspect}.{c}" for aspect in ASPECTS for c in ("long", "short"))
    rater = judge(typos_clear=1.0, cuts_true=1.0)
    cells = {(name, f"{a}.long"): values for (name, a), values in rater.items()}
    cells |= {(name, f"{a}.short"): np.full(len(ITEMS), 3.0) for name, a in rater}
    rows = list(confusion.rows(study({"j": cells}, aspects=both)))
    assert row_of(rows, "s_t_mean", criterion="long")["value"] == 1.0
    assert row_of(rows, "s_t_mean", criterion="short")["value"] == 0.0
    result = row_of(
        rows, "delta", criterion="long", aspect="clear", perturbation="typos"
    )
    assert result["value"] == 1.0


@pytest.mark.heavy
def test_the_paper_s_table_4_as_scores_of_a_judge() -> None:
    if not TABLE.is_file():
        pytest.skip(
            "the paper's table is not there: ../shared/reference/s001_table4.csv"
        )
    with TABLE.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    path = HOME / "config" / "expectations" / "table-21.yaml"
    card = Expectations.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))

    def slug(name: str) -> str:
        return name.lower().replace(" quality", "").replace(" ", "-")

    aspects = tuple(dict.fromkeys(slug(row["aspect"]) for row in table))
    names = list(dict.fromkeys(slug(row["perturbation"]) for row in table))
    assert set(names) == set(card.perturbations)
    cells = {("original", aspect): np.full(len(ITEMS), 5.0) for aspect in aspects}
    for row in table:
        location = (f"{slug(row['perturbation'])}.single", slug(row["aspect"]))
        cells[location] = np.full(len(ITEMS), 5 - float(row["delta"]))
    result = card.model_dump()["perturbations"]
    rows = list(
        confusion.rows(
            study(
                {"chatgpt": cells},
                aspects=aspects,
                perturbed=[[name, "single", "word"] for name in names],
                expected={"id": "table-21@1", "changes": result, "margin": 0.2},
            )
        )
    )
    values = [row_of(rows, name)["value"] for name in confusion.HEADLINES]
    figures = [
        printed("confusion-table-4", statistic=x)
        for x in ("s_t", "s_f", "ratio", "auc")
    ]
    assert values == pytest.approx(figures, abs=5e-5)
    assert row_of(rows, "s_t_mean")["method"].startswith(
        "57 wanted drops, 130 unwanted"
    )


# Aspects and wordings that are kept apart


def test_whom_a_judge_follows() -> None:
    rng = np.random.default_rng(0)
    clear, true = rng.normal(3, 1, (2, len(ITEMS)))
    people = {"clear": clear, "true": true}
    mixed = {("systems", "clear"): true, ("systems", "true"): true + 0.1 * clear}
    rows = list(criteria.rows(study({"j": mixed}, people=people, perturbed=[])))
    where = {"judge": "j", "judge_b": "human", "level": "pooled"}
    r = row_of(rows, "pearson", **where, aspect="clear", aspect_b="true")
    assert r["value"] == pytest.approx(1.0) and r["n"] == len(ITEMS)
    astray = row_of(rows, "cross_aspect_share", **where)
    assert (astray["value"], astray["n"]) == (0.5, 2)
    flat = {("systems", "clear"): clear, ("systems", "true"): np.full(len(ITEMS), 3.0)}
    lost = row_of(
        [*criteria.rows(study({"j": flat}, people=people))],
        "cross_aspect_share",
        **where,
    )
    assert (lost["value"], lost["n"], lost["n_missing"]) == (0, 1, 1)
    between = row_of(rows, "pearson", judge="human", aspect="clear", aspect_b="true")
    assert between["value"] == pytest.approx(np.corrcoef(clear, true)[0, 1])
    alone = row_of(
        rows, "pearson", judge="j", judge_b=None, aspect="clear", aspect_b="true"
    )
    assert alone["value"] == pytest.approx(np.corrcoef(true, true + 0.1 * clear)[0, 1])


def test_aspects_correlate_over_all_texts_and_wordings_over_an_aspect() -> None:
    both = tuple(f"{aspect}.{c}" for aspect in ASPECTS for c in ("long", "short"))
    result = judge(typos_clear=HALF, cuts_true=1.0)
    cells = {(name, f"{a}.long"): values for (name, a), values in result.items()}
    cells |= {(name, f"{a}.short"): -values for (name, a), values in result.items()}
    rows = list(criteria.rows(study({"j": cells}, aspects=both)))
    wordings = row_of(
        rows, "pearson", aspect="clear", criterion="long", criterion_b="short"
    )
    assert wordings["value"] == pytest.approx(-1.0) and wordings["n"] == 3 * len(ITEMS)
    names = ["original", "typos.single", "cuts.single"]
    x, y = (
        np.concatenate([result[name, aspect] for name in names]) for aspect in ASPECTS
    )
    aspects = row_of(
        rows, "pearson", aspect="clear", criterion="short", aspect_b="true"
    )
    assert aspects["value"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert {row["perturbation"] for row in rows} == {"all"}
    mixed = [row for row in rows if row["aspect"] != row["aspect_b"]]
    assert all(row["criterion"] == row["criterion_b"] for row in mixed)


CLEAR = judge(typos_clear=2.0, cuts_true=2.0)
MIXED = judge(typos_clear=1 + HALF, typos_true=HALF, cuts_true=1.0)
ON_EVERY_ITEM = np.random.default_rng(1).normal(0, 2, len(ITEMS))


def gap(rows: Iterable[ResultRow], name: str, **where: Any) -> Row:
    return row_of(rows, f"difference_{name}", **where)


def test_differences_by_hand() -> None:
    rows = list(confusion.rows(study({"clear": CLEAR, "mixed": MIXED})))
    by_name = {
        name: gap(rows, name, judge="clear", judge_b="mixed") for name in HEADLINES
    }
    # S_T 2 and 1.25, S_F 0 and .5, so index 0 and .4; every wanted drop exceeds the
    # unwanted one
    values = [by_name[name]["value"] for name in HEADLINES]
    assert values == pytest.approx([0.75, -0.5, -0.4, 0.0])
    assert by_name["s_t_mean"]["ci_low"] < 0.75 < by_name["s_t_mean"]["ci_high"]
    assert by_name["confusion_index"]["ci_high"] < 0 and by_name["s_f_mean"][
        "n"
    ] == len(ITEMS)
    assert "jackknife-t over 30 sources" in by_name["s_t_mean"]["method"]
    noted = {name: row["note"] for name, row in by_name.items() if row["note"]}
    assert [*noted] == ["confusion_auc"] and noted["confusion_auc"].startswith(
        "no width"
    )


def test_equal_judges_differ_in_nothing() -> None:
    rows = list(confusion.rows(study({"mixed": MIXED, "twin": MIXED})))
    for name in HEADLINES:
        row = gap(rows, name)
        assert (row["value"], row["ci_low"], row["ci_high"]) == (0.0, 0.0, 0.0)


def test_what_two_judges_share_cancels() -> None:
    """Scores of both move with the item: paired, that is no uncertainty of their
    difference.
    """
    shaken = {
        name: judge(
            typos_clear=size + ON_EVERY_ITEM,
            typos_true=ON_EVERY_ITEM,
            cuts_true=size + ON_EVERY_ITEM,
        )
        for name, size in (("much", 3.0), ("less", 2.5))
    }
    rows = list(confusion.rows(study(shaken)))
    row = gap(rows, "s_t_mean")
    assert (row["value"], row["ci_low"], row["ci_high"]) == pytest.approx(
        (0.5, 0.5, 0.5)
    )
    collected = [row_of(rows, "s_t_mean", judge=name) for name in shaken]
    assert collected[0]["ci_low"] < collected[1]["ci_high"]  # apart they would not tell


def test_only_the_judges_that_the_study_wants_are_compared_and_no_excluded_one() -> (
    None
):
    judges = dict.fromkeys(("a", "b", "c", "d"), CLEAR)
    never = [["d", "original", "not run"]]
    rows = list(confusion.rows(study(judges, compared=["a", "b", "d"], excluded=never)))
    pairs = {(row["judge"], row["judge_b"]) for row in rows if row.get("judge_b")}
    assert pairs == {("a", "b")}


def test_drops_that_single_of_them_has_do_not_count() -> None:
    lacking = {location: values.copy() for location, values in CLEAR.items()}
    lacking["typos.single", "clear"][:10] = NAN
    other = judge(
        typos_clear=np.where(np.arange(len(ITEMS)) < 10, 4.0, 1.0), cuts_true=1.0
    )
    rows = list(confusion.rows(study({"whole": other, "lacking": lacking})))
    row = gap(rows, "s_t_mean")
    assert row["value"] == pytest.approx(1.0 - 2.0)
    assert (row["n"], row["n_missing"]) == (20, 10)
    assert row_of(rows, "s_t_mean", judge="whole")["value"] == pytest.approx(1.5)


def test_judges_with_different_shares_are_compared_on_shared_items_with_a_note() -> (
    None
):
    chosen = share_of(ITEMS, 0.5, seed=7, dataset="d")
    given = np.array([item in chosen for item in ITEMS])
    part = {
        location: np.where(given, values, NAN) for location, values in CLEAR.items()
    }
    data = study({"mixed": MIXED, "part": part})
    change(data.spec, "part", share=0.5)
    rows = list(confusion.rows(data))
    row = gap(rows, "s_f_mean")
    assert row["value"] == pytest.approx(HALF[given].mean())
    assert (row["n"], row["n_missing"]) == (15, 0)
    assert (
        row["note"]
        == "computed on a share of the items that all these judges receive: 15 of 30"
    )


def test_a_difference_that_is_none_says_why() -> None:
    still = judge(typos_true=1.0)
    mute = {location: np.full(len(ITEMS), NAN) for location in CLEAR}
    rows = list(confusion.rows(study({"clear": CLEAR, "still": still, "mute": mute})))
    index = gap(rows, "confusion_index", judge_b="still")
    assert (index["value"], index["note"]) == (None, "one of the judges is undefined")
    assert gap(rows, "s_f_mean", judge_b="still")["value"] == -1.0
    for name in HEADLINES:
        row = gap(rows, name, judge="clear", judge_b="mute")
        assert row["value"] is None and row["note"].startswith(
            "one of the judges is undefined: 3"
        )


def test_judges_that_lack_other_cells_are_not_compared() -> None:
    partly = dict(CLEAR)
    partly["cuts.single", "true"] = np.full(len(ITEMS), NAN)
    rows = list(
        confusion.rows(study({"clear": CLEAR, "partly": partly}, allow_missing=True))
    )
    assert row_of(rows, "s_t_mean", judge="partly")["value"] == 2.0
    row = gap(rows, "s_t_mean")
    assert row["value"] is None and "different cells" in row["note"]
    both = list(
        confusion.rows(study({"one": partly, "two": partly}, allow_missing=True))
    )
    assert gap(both, "s_t_mean")["value"] == 0.0


def test_points_of_other_scales_are_not_compared_but_index_and_auc_are() -> None:
    tenfold = {location: 10 * values for location, values in MIXED.items()}
    data = study({"clear": CLEAR, "wide": tenfold})
    change(data.spec, "wide", ends=dict.fromkeys(ASPECTS, (10.0, 50.0)))
    rows = list(confusion.rows(data))
    for name in ("s_t_mean", "s_f_mean"):
        assert gap(rows, name)["note"] == "the judges have different scales"
    assert gap(rows, "confusion_index")["value"] == pytest.approx(-0.4)
    assert gap(rows, "confusion_auc")["value"] == 0.0
    free = list(confusion.rows(study({"clear": CLEAR, "mixed": MIXED}, ends=None)))
    assert gap(free, "s_t_mean")["value"] is None


def test_every_wording_is_held_against_the_first_one_and_judges_within_a_wording() -> (
    None
):
    both = tuple(
        f"{aspect}.{c}" for c in ("long", "short", "none") for aspect in ASPECTS
    )
    wordings = {"long": MIXED, "short": CLEAR, "none": judge(typos_clear=1.0)}
    cells = {
        (name, f"{aspect}.{criterion}"): values
        for criterion, scores in wordings.items()
        for (name, aspect), values in scores.items()
    }
    rows = list(confusion.rows(study({"j": cells, "k": cells}, aspects=both)))
    row = gap(rows, "s_f_mean", judge="j", criterion="short", criterion_b="long")
    assert row["value"] == pytest.approx(-0.5) and row["ci_high"] < 0
    assert (
        gap(rows, "s_t_mean", judge="k", criterion="none", criterion_b="long")["value"]
        < 0
    )
    pairs = [
        (row["criterion"], row["criterion_b"]) for row in rows if row.get("criterion_b")
    ]
    assert set(pairs) == {("short", "long"), ("none", "long")}
    judges = [row["criterion"] for row in rows if row.get("judge_b")]
    assert {name: judges.count(name) for name in judges} == dict.fromkeys(
        wordings, len(HEADLINES)
    )


def test_nothing_is_compared_where_no_judge_is_asked() -> None:
    rows = list(
        confusion.rows(study({"j": CLEAR}, excluded=[["j", "original", "not run"]]))
    )
    assert [row["note"] for row in rows] == ["not run"] * len(HEADLINES)
