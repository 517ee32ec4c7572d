"""What confusion.csv says of two judges, and of two wordings, beside each other."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from confusion_rows_setup import ASPECTS, HALF, ITEMS, NAN, Row, judge, one, study
from judgescope.core.rng import share_of
from judgescope.methods import base, confusion
from judgescope.methods.confusion import HEADLINES
from statistics_spec import change

CLEAR = judge(typos_clear=2.0, cuts_true=2.0)
MIXED = judge(typos_clear=1 + HALF, typos_true=HALF, cuts_true=1.0)
ON_EVERY_ITEM = np.random.default_rng(1).normal(0, 2, len(ITEMS))


def gap(rows: Iterable[base.Row], name: str, **where: Any) -> Row:
    return one(rows, f"difference_{name}", **where)


def test_differences_by_hand() -> None:
    rows = confusion.rows(study({"clear": CLEAR, "mixed": MIXED}))
    told = {name: gap(rows, name, judge="clear", judge_b="mixed") for name in HEADLINES}
    # S_T 2 and 1.25, S_F 0 and .5, so index 0 and .4; every wanted drop exceeds the unwanted one
    values = [told[name]["value"] for name in HEADLINES]
    assert values == pytest.approx([0.75, -0.5, -0.4, 0.0])
    assert told["s_t_mean"]["ci_low"] < 0.75 < told["s_t_mean"]["ci_high"]
    assert told["confusion_index"]["ci_high"] < 0 and told["s_f_mean"]["n"] == len(ITEMS)
    assert "jackknife-t over 30 sources" in told["s_t_mean"]["method"]
    noted = {name: row["note"] for name, row in told.items() if row["note"]}
    assert [*noted] == ["confusion_auc"] and noted["confusion_auc"].startswith("no width")


def test_equal_judges_differ_in_nothing() -> None:
    rows = confusion.rows(study({"mixed": MIXED, "twin": MIXED}))
    for name in HEADLINES:
        row = gap(rows, name)
        assert (row["value"], row["ci_low"], row["ci_high"]) == (0.0, 0.0, 0.0)


def test_what_two_judges_share_cancels() -> None:
    """Scores of both move with the item: paired, that is no uncertainty of their difference."""
    shaken = {
        name: judge(
            typos_clear=size + ON_EVERY_ITEM,
            typos_true=ON_EVERY_ITEM,
            cuts_true=size + ON_EVERY_ITEM,
        )
        for name, size in (("much", 3.0), ("less", 2.5))
    }
    rows = confusion.rows(study(shaken))
    row = gap(rows, "s_t_mean")
    assert (row["value"], row["ci_low"], row["ci_high"]) == pytest.approx((0.5, 0.5, 0.5))
    own = [one(rows, "s_t_mean", judge=name) for name in shaken]
    assert own[0]["ci_low"] < own[1]["ci_high"]  # apart they would not tell


def test_only_the_judges_that_the_study_wants_are_compared_and_no_excluded_one() -> None:
    judges = dict.fromkeys(("a", "b", "c", "d"), CLEAR)
    never = [["d", "original", "not run"]]
    rows = confusion.rows(study(judges, compared=["a", "b", "d"], excluded=never))
    pairs = {(row["judge"], row["judge_b"]) for row in rows if row.get("judge_b")}
    assert pairs == {("a", "b")}


def test_drops_that_only_one_of_them_has_do_not_count() -> None:
    lacking = {place: values.copy() for place, values in CLEAR.items()}
    lacking["typos.single", "clear"][:10] = NAN
    other = judge(typos_clear=np.where(np.arange(len(ITEMS)) < 10, 4.0, 1.0), cuts_true=1.0)
    rows = confusion.rows(study({"whole": other, "lacking": lacking}))
    row = gap(rows, "s_t_mean")
    assert row["value"] == pytest.approx(1.0 - 2.0)
    assert (row["n"], row["n_missing"]) == (20, 10)
    assert one(rows, "s_t_mean", judge="whole")["value"] == pytest.approx(1.5)


def test_of_judges_with_other_shares_only_shared_items_are_compared_and_it_says_so() -> None:
    chosen = share_of(ITEMS, 0.5, seed=7, dataset="d")
    given = np.array([item in chosen for item in ITEMS])
    part = {place: np.where(given, values, NAN) for place, values in CLEAR.items()}
    own = study({"mixed": MIXED, "part": part})
    change(own.spec, "part", share=0.5)
    rows = confusion.rows(own)
    row = gap(rows, "s_f_mean")
    assert row["value"] == pytest.approx(HALF[given].mean())
    assert (row["n"], row["n_missing"]) == (15, 0)
    assert row["note"] == "of a share of the items that all of them judge: 15 of 30"


def test_a_difference_that_is_none_says_why() -> None:
    still = judge(typos_true=1.0)
    mute = {place: np.full(len(ITEMS), NAN) for place in CLEAR}
    rows = confusion.rows(study({"clear": CLEAR, "still": still, "mute": mute}))
    index = gap(rows, "confusion_index", judge_b="still")
    assert (index["value"], index["note"]) == (None, "one of the judges is undefined")
    assert gap(rows, "s_f_mean", judge_b="still")["value"] == -1.0
    for name in HEADLINES:
        row = gap(rows, name, judge="clear", judge_b="mute")
        assert row["value"] is None and row["note"].startswith("one of the judges is undefined: 3")


def test_judges_that_lack_other_cells_are_not_compared() -> None:
    partly = dict(CLEAR)
    partly["cuts.single", "true"] = np.full(len(ITEMS), NAN)
    rows = confusion.rows(study({"clear": CLEAR, "partly": partly}, allow_missing=True))
    assert one(rows, "s_t_mean", judge="partly")["value"] == 2.0
    row = gap(rows, "s_t_mean")
    assert row["value"] is None and "different cells" in row["note"]
    both = confusion.rows(study({"one": partly, "two": partly}, allow_missing=True))
    assert gap(both, "s_t_mean")["value"] == 0.0


def test_points_of_other_scales_are_not_compared_but_index_and_auc_are() -> None:
    tenfold = {place: 10 * values for place, values in MIXED.items()}
    own = study({"clear": CLEAR, "wide": tenfold})
    change(own.spec, "wide", ends=dict.fromkeys(ASPECTS, (10.0, 50.0)))
    rows = confusion.rows(own)
    for name in ("s_t_mean", "s_f_mean"):
        assert gap(rows, name)["note"] == "the judges have different scales"
    assert gap(rows, "confusion_index")["value"] == pytest.approx(-0.4)
    assert gap(rows, "confusion_auc")["value"] == 0.0
    free = confusion.rows(study({"clear": CLEAR, "mixed": MIXED}, ends=None))
    assert gap(free, "s_t_mean")["value"] is None


def test_every_wording_is_held_against_the_first_one_and_judges_within_a_wording() -> None:
    both = tuple(f"{aspect}.{c}" for c in ("long", "short", "none") for aspect in ASPECTS)
    wordings = {"long": MIXED, "short": CLEAR, "none": judge(typos_clear=1.0)}
    cells = {
        (name, f"{aspect}.{criterion}"): values
        for criterion, scores in wordings.items()
        for (name, aspect), values in scores.items()
    }
    rows = confusion.rows(study({"j": cells, "k": cells}, aspects=both))
    row = gap(rows, "s_f_mean", judge="j", criterion="short", criterion_b="long")
    assert row["value"] == pytest.approx(-0.5) and row["ci_high"] < 0
    assert gap(rows, "s_t_mean", judge="k", criterion="none", criterion_b="long")["value"] < 0
    pairs = [(row["criterion"], row["criterion_b"]) for row in rows if row.get("criterion_b")]
    assert set(pairs) == {("short", "long"), ("none", "long")}
    judges = [row["criterion"] for row in rows if row.get("judge_b")]
    assert {name: judges.count(name) for name in judges} == dict.fromkeys(wordings, len(HEADLINES))


def test_nothing_is_compared_where_no_judge_is_asked() -> None:
    rows = confusion.rows(study({"j": CLEAR}, excluded=[["j", "original", "not run"]]))
    assert [row["note"] for row in rows] == ["not run"] * len(HEADLINES)
