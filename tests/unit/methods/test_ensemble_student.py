"""The rows of ensemble.csv about the judge that an ensemble taught."""

import numpy as np
import pytest

from ensemble_rows_setup import PLACES, TAUGHT, THREE, WHOLE, mean_of, rows
from judgescope.methods import agreement
from judgescope.report.words import label
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import CONSTANT_JUDGE
from methods_setup import (
    ASPECTS,
    CONSTANT,
    ITEMS,
    RATINGS,
    N,
    Row,
    less,
    of,
    one,
    study,
)

STEPS = [*range(0, 101, 5)]
PEOPLE = {aspect: mean_rating(RATINGS[aspect]) for aspect in ASPECTS}
CLEAR = {"aspect": "clear", "level": "pooled"}


def taught(found: list[Row]) -> list[Row]:
    return [row for row in found if row["statistic"].startswith("student_")]


@pytest.mark.heavy
def test_every_correlation_is_told_of_the_judge_alone_apart_and_with_its_teacher() -> None:
    found = rows(student=TAUGHT)
    for aspect in (*ASPECTS, "average"):
        for statistic, level in PLACES:
            for name in ("student", "student_difference", "student_with_teacher"):
                [row] = of(found, f"{name}_{statistic}", aspect=aspect, level=level)
                assert (row["judge"], row["judge_b"], row["k"]) == ("all", "taught", None)
                assert row["ci_low"] <= row["value"] <= row["ci_high"] and label(row["statistic"])
    assert len(taught(found)) == 3 * len(PLACES) * 3
    assert [row for row in found if row not in taught(found)] == rows()


@pytest.mark.heavy
def test_it_stands_beside_people_as_any_judge_does() -> None:
    hundred = {"ends": dict.fromkeys(ASPECTS, (0, 100)), "grid": dict.fromkeys(ASPECTS, STEPS)}
    beside = agreement.rows(study({"taught": TAUGHT}, cards={"taught": hundred}))
    found = rows(student=TAUGHT)
    same = ("value", "ci_low", "ci_high", "n", "n_missing", "n_tied", "method")
    for aspect in (*ASPECTS, "average"):
        for statistic, level in PLACES:
            mine = one(found, f"student_{statistic}", aspect=aspect, level=level)
            theirs = one(beside, statistic, aspect=aspect, level=level, judge="taught")
            assert [mine[key] for key in same] == [theirs[key] for key in same]


@pytest.mark.heavy
def test_its_numbers_are_of_the_texts_that_it_and_the_ensemble_score() -> None:
    gaps = {aspect: less(TAUGHT[aspect], slice(0, 12)) for aspect in ASPECTS}
    members = {
        **THREE,
        **{
            name: {**THREE[name], "clear": less(THREE[name]["clear"], slice(9, 15))}
            for name in THREE
        },
    }
    found, both = rows(members, student=gaps), slice(15, None)
    whole = mean_of(members)["clear"]
    r = [np.corrcoef(x[both], PEOPLE["clear"][both])[0, 1] for x in (whole, TAUGHT["clear"])]
    apart = one(found, "student_difference_pearson", **CLEAR)
    assert apart["value"] == pytest.approx(r[0] - r[1])
    assert (apart["n"], apart["n_missing"]) == (N - 15, 15)
    teacher = one(found, "student_with_teacher_pearson", **CLEAR)
    assert teacher["value"] == pytest.approx(np.corrcoef(whole[both], TAUGHT["clear"][both])[0, 1])
    assert (teacher["n"], teacher["n_missing"]) == (N - 15, 15)
    alone = one(found, "student_pearson", **CLEAR)
    assert alone["value"] == pytest.approx(
        np.corrcoef(TAUGHT["clear"][12:], PEOPLE["clear"][12:])[0, 1]
    )
    assert (alone["n"], alone["n_missing"]) == (N - 12, 12)
    assert "raters' mean" in alone["method"] and "raters" not in teacher["method"]


@pytest.mark.heavy
def test_a_judge_that_has_learnt_all_is_as_good_as_its_teacher_on_any_scale() -> None:
    same = {aspect: 25 * (scores - 1) for aspect, scores in mean_of(THREE).items()}
    found = rows(student=same)
    for statistic, level in PLACES:
        place = {"aspect": "true", "level": level}
        apart = one(found, f"student_difference_{statistic}", **place)
        assert [apart[key] for key in ("value", "ci_low", "ci_high")] == pytest.approx([0, 0, 0])
        whole = one(found, statistic, judge_b=WHOLE, **place)
        alone = one(found, f"student_{statistic}", **place)
        assert [alone[key] for key in ("value", "ci_low", "ci_high")] == pytest.approx(
            [whole[key] for key in ("value", "ci_low", "ci_high")]
        )
    for level in ("pooled", "by_source", "by_system"):
        teacher = one(found, "student_with_teacher_spearman", aspect="true", level=level)
        assert teacher["value"] == pytest.approx(1)


@pytest.mark.heavy
def test_differences_are_paired() -> None:
    found = rows(student=TAUGHT)
    apart = one(found, "student_difference_pearson", **CLEAR)
    alone = one(found, "student_pearson", **CLEAR)
    assert apart["ci_high"] - apart["ci_low"] < alone["ci_high"] - alone["ci_low"]
    average = one(found, "student_difference_pearson", aspect="average", level="pooled")
    each = [one(found, "student_difference_pearson", aspect=a, level="pooled") for a in ASPECTS]
    assert average["value"] == pytest.approx(np.mean([row["value"] for row in each]))
    assert (average["n"], average["method"].split(";")[0]) == (2, "mean over aspects")


@pytest.mark.heavy
def test_a_judge_of_a_share_of_the_items_is_compared_on_these() -> None:
    found = rows(student=TAUGHT, share=0.8)
    alone, apart = (one(found, f"student_{name}pearson", **CLEAR) for name in ("", "difference_"))
    assert (alone["n"], alone["n_missing"], apart["n"]) == (N * 12 // ITEMS, 0, N * 12 // ITEMS)
    assert "over 12 sources" in alone["method"] and "over 12 sources" in apart["method"]
    average = one(found, "student_pearson", aspect="average", level="pooled")
    assert "over 12 sources" in average["method"]
    assert one(found, "pearson", judge_b=WHOLE, **CLEAR)["n"] == N


def test_one_that_always_says_the_same_is_told_to() -> None:
    found = rows(student=CONSTANT)
    for name in ("student_pearson", "student_with_teacher_pearson"):
        assert (one(found, name, **CLEAR)["value"], one(found, name, **CLEAR)["note"]) == (
            None,
            CONSTANT_JUDGE,
        )
    assert one(found, "student_difference_pearson", **CLEAR)["value"] is None


def test_an_aspect_that_it_does_not_judge_has_no_rows_of_it() -> None:
    found = rows(student={"clear": TAUGHT["clear"]})
    assert {row["aspect"] for row in taught(found)} == {"clear", "average"}
    assert one(found, "student_pearson", aspect="average", level="pooled")["n"] == 60
