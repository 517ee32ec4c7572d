"""The rows of ensemble.csv, made of one small dataset in memory."""

from math import inf
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import Row, row_of, rows_of
from deleted import jackknife_t
from ensemble_rows_setup import (
    PLACES,
    TAUGHT,
    THREE,
    WHOLE,
    ensemble_rows,
    mean_of,
    rows,
)
from judgescope.methods import agreement, ensemble
from judgescope.methods.evaluation_data import WITHOUT_REFERENCES
from judgescope.report.words import label
from judgescope.statistics.raters import mean_rating
from judgescope.statistics.result import REASONS
from methods_setup import (
    ASPECTS,
    CONSTANT,
    FAIR,
    GOOD,
    ITEM,
    ITEMS,
    NAN,
    NOISY,
    QUALITY,
    RATINGS,
    RNG,
    SYSTEM,
    N,
    less,
    study,
)


def test_every_subset_has_every_correlation_and_every_row_its_location() -> None:
    for aspect in (*ASPECTS, "average"):
        for statistic, level in PLACES:
            result = rows_of(ensemble_rows(), statistic, aspect=aspect, level=level)
            assert [(row["judge_b"], row["k"]) for row in result] == [
                *(("fair", 1), ("good", 1), ("noisy", 1)),
                *(("fair+good", 2), ("fair+noisy", 2), ("good+noisy", 2), (WHOLE, 3)),
            ]
    keys = ("aspect", "statistic", "level", "judge_b", "k")
    assert len({tuple(row[key] for key in keys) for row in ensemble_rows()}) == len(
        ensemble_rows()
    )
    assert {row["judge"] for row in ensemble_rows()} == {"all"}
    assert all(label(row["statistic"]) for row in ensemble_rows())
    assert all(
        row["signature"].startswith("judge:all|card:c0de") for row in ensemble_rows()
    )


@pytest.mark.heavy
def test_the_ensemble_and_its_members_are_the_judges_of_agreement() -> None:
    scores = {**THREE, "all": mean_of(THREE)}
    beside = list(agreement.rows(study(scores, cards={"all": {"discrete": False}})))
    same = ("value", "ci_low", "ci_high", "n", "n_missing", "n_tied", "method")
    for judge, subset in [("all", WHOLE), ("good", "good"), ("noisy", "noisy")]:
        for aspect in (*ASPECTS, "average"):
            for statistic, level in PLACES:
                mine = row_of(
                    ensemble_rows(),
                    statistic,
                    aspect=aspect,
                    level=level,
                    judge_b=subset,
                )
                theirs = row_of(
                    beside, statistic, aspect=aspect, level=level, judge=judge
                )
                assert [mine[key] for key in same] == [theirs[key] for key in same]


def test_a_subset_is_the_mean_of_its_members_against_people() -> None:
    people = mean_rating(RATINGS["clear"])
    result = row_of(
        ensemble_rows(), "pearson", aspect="clear", level="pooled", judge_b="good+noisy"
    )
    wanted = np.corrcoef((GOOD["clear"] + NOISY["clear"]) / 2, people)[0, 1]
    assert result["value"] == pytest.approx(wanted)
    assert (result["n"], result["n_missing"]) == (N, 0)
    assert result["ci_low"] < result["value"] < result["ci_high"]
    assert result["method"].startswith("against the raters' mean")


def test_means_of_a_size_are_over_its_subsets() -> None:
    for size, number in [(1, 3), (2, 3), (3, 1)]:
        for statistic, level in PLACES:
            where = {"aspect": "true", "level": level, "k": size}
            each = [
                row["value"] for row in rows_of(ensemble_rows(), statistic, **where)
            ]
            mean = row_of(ensemble_rows(), f"subset_mean_{statistic}", **where)
            assert (mean["value"], mean["n"]) == (pytest.approx(np.mean(each)), number)
            assert mean["judge_b"] is None


def test_what_a_member_adds_and_what_all_have_more_than_it() -> None:
    def value(subset: str) -> float:
        result = row_of(
            ensemble_rows(), "spearman", aspect="clear", level="pooled", judge_b=subset
        )
        return float(result["value"])

    where = {"aspect": "clear", "level": "pooled", "judge_b": "noisy"}
    adds = row_of(ensemble_rows(), "contribution_spearman", **where)
    assert adds["value"] == pytest.approx(value(WHOLE) - value("fair+good"))
    more = row_of(ensemble_rows(), "difference_spearman", **where)
    assert (
        more["value"] == pytest.approx(value(WHOLE) - value("noisy"))
        and more["ci_low"] > 0
    )
    good = row_of(
        ensemble_rows(), "difference_spearman", **{**where, "judge_b": "good"}
    )
    single = row_of(ensemble_rows(), "spearman", **{**where, "judge_b": "good"})
    assert good["ci_high"] - good["ci_low"] < 2 * (
        single["ci_high"] - single["ci_low"]
    )  # paired


def test_the_best_single_member_is_stated_to_be_chosen_on_the_same_data() -> None:
    for aspect in (*ASPECTS, "average"):
        for statistic, level in PLACES:
            where = {"aspect": aspect, "level": level}
            single = rows_of(ensemble_rows(), statistic, k=1, **where)
            best = max(single, key=lambda row: row["value"])["judge_b"]
            noted = [
                row["judge_b"]
                for row in rows_of(ensemble_rows(), f"difference_{statistic}", **where)
                if "the best of 3 members was chosen on the same data" in row["note"]
            ]
            assert noted == [best]


@pytest.mark.heavy
def test_differences_are_on_the_texts_that_both_score() -> None:
    gaps = dict(THREE) | {
        "good": {aspect: less(GOOD[aspect], slice(0, 12)) for aspect in ASPECTS}
    }
    table, where = rows(gaps), {"aspect": "clear", "level": "pooled"}
    row = row_of(table, "pearson", judge_b=WHOLE, **where)
    single = row_of(table, "pearson", judge_b="good", **where)
    assert (row["n"], single["n"], single["n_missing"]) == (N, N - 12, 12)
    people, every = mean_rating(RATINGS["clear"]), mean_of(gaps)["clear"]
    r = [np.corrcoef(x[12:], people[12:])[0, 1] for x in (every, GOOD["clear"])]
    more = row_of(table, "difference_pearson", judge_b="good", **where)
    assert more["value"] == pytest.approx(r[0] - r[1])
    assert (more["n"], more["n_missing"]) == (N - 12, 12)
    strict = row_of(rows(gaps, least=3), "pearson", judge_b=WHOLE, **where)
    assert (strict["n"], strict["n_missing"]) == (N - 12, 12)
    two = row_of(rows(gaps, least=3), "pearson", judge_b="fair+good", **where)
    assert two["n_missing"] == 12  # a subset of two needs both
    pair = row_of(table, "error_correlation", judge_b="fair+good", **where)
    assert (pair["n"], pair["n_missing"]) == (N - 12, 12)


@pytest.mark.heavy
def test_errors_are_on_peoples_scale_where_all_judges_score_on_it() -> None:
    people = mean_rating(RATINGS["clear"])
    where = {"aspect": "clear", "judge_b": "fair+good", "k": 2}
    same = row_of(ensemble_rows(), "error_correlation", **where)
    wanted = np.corrcoef(FAIR["clear"] - people, GOOD["clear"] - people)[0, 1]
    assert (
        same["value"] == pytest.approx(wanted)
        and "errors: score - mean rating" in same["method"]
    )
    for ends in (None, (0.0, 100.0)):
        other = row_of(
            rows(card={"ends": dict.fromkeys(ASPECTS, ends)}),
            "error_correlation",
            **where,
        )
        rest = [
            x - np.polyval(np.polyfit(people, x, 1), people)
            for x in (FAIR["clear"], GOOD["clear"])
        ]
        assert other["value"] == pytest.approx(np.corrcoef(*rest)[0, 1])
        assert "errors: residuals of a linear fit on the mean rating" in other["method"]


def test_errors_are_of_one_kind_in_all_aspects_as_their_mean_is_over_these() -> None:
    result = rows(card={"ends": {"clear": (1.0, 5.0), "true": None}})
    for aspect in ASPECTS:
        told_of = row_of(
            result, "error_correlation", aspect=aspect, judge_b="fair+good", k=2
        )
        assert (
            "errors: residuals of a linear fit on the mean rating" in told_of["method"]
        )


def test_the_effective_number_is_that_of_the_mean_error_correlation() -> None:
    each = [
        row["value"]
        for row in rows_of(ensemble_rows(), "error_correlation", aspect="true")
    ]
    mean = row_of(ensemble_rows(), "error_correlation_mean", aspect="true")
    number = row_of(ensemble_rows(), "effective_judges", aspect="true")
    assert (mean["value"], mean["n"]) == (pytest.approx(np.mean(each)), 3)
    assert number["value"] == pytest.approx(3 / (1 + 2 * mean["value"]))
    people = mean_rating(RATINGS["true"])
    errors = [own_part["true"] - people for own_part in THREE.values()]

    def independent(kept: Any) -> float:
        r = np.corrcoef([error[kept] for error in errors])[np.triu_indices(3, 1)].mean()
        return float(3 / (1 + 2 * r))

    deleted = [independent(item != ITEM) for item in range(ITEMS)]
    assert (number["ci_low"], number["ci_high"]) == pytest.approx(
        jackknife_t(number["value"], deleted, ends=(0, inf))
    )
    average = row_of(ensemble_rows(), "effective_judges", aspect="average")
    values = [
        row_of(ensemble_rows(), "effective_judges", aspect=aspect)["value"]
        for aspect in ASPECTS
    ]
    assert (average["value"], average["n"]) == (pytest.approx(np.mean(values)), 2)


def test_a_constant_member_has_no_correlation_and_takes_none_from_the_others() -> None:
    table, where = (
        rows({**THREE, "good": CONSTANT}),
        {"aspect": "clear", "level": "pooled"},
    )
    single = row_of(table, "spearman", judge_b="good", **where)
    assert (single["value"], single["note"]) == (None, REASONS.constant_judge)
    mean = row_of(table, "subset_mean_spearman", k=1, **where)
    assert mean["note"] == f"undefined on 1 of 3 subsets: {REASONS.constant_judge}"
    two = row_of(table, "spearman", judge_b="fair+good", **where)
    alone = row_of(table, "spearman", judge_b="fair", **where)
    assert two["value"] == pytest.approx(alone["value"])
    assert (
        row_of(table, "difference_spearman", judge_b="good", **where)["value"] is None
    )
    assert (
        "the best of 3 members was chosen on the same data"
        in row_of(table, "difference_spearman", judge_b="fair", **where)["note"]
    )


def test_a_member_that_scores_nothing_leaves_the_others() -> None:
    nothing = dict.fromkeys(ASPECTS, np.full(N, NAN))
    table, where = (
        rows({**THREE, "good": nothing}),
        {"aspect": "clear", "level": "pooled"},
    )
    single = row_of(table, "pearson", judge_b="good", **where)
    assert (single["value"], single["n_missing"]) == (None, N)
    two = row_of(table, "pearson", judge_b="fair+noisy", **where)
    assert row_of(table, "pearson", judge_b=WHOLE, **where)["value"] == two["value"]
    assert row_of(table, "effective_judges", **where)["value"] is None


@pytest.mark.heavy
def test_of_many_members_some_subsets_are_computed_and_a_note_says_so() -> None:
    crowd = {
        f"m{at}": dict(
            zip(ASPECTS, np.round(QUALITY + RNG.normal(size=(2, N)), 1), strict=True)
        )
        for at in range(9)
    }
    table, where = rows(crowd), {"aspect": "clear", "level": "pooled"}
    each = rows_of(table, "kendall_b", **where)
    assert [row["k"] for row in each] == [1] * 9 + [8] * 9 + [9]
    assert ["of 9 members: only single members" in row["note"] for row in each] == [
        False
    ] * 18 + [True]
    assert len(rows_of(table, "error_correlation", **where)) == 36
    assert [row["k"] for row in rows_of(table, "subset_mean_kendall_b", **where)] == [
        1,
        8,
        9,
    ]


def test_members_of_different_scales_are_warned_of() -> None:
    noted = [row for row in rows(mixed=("true",)) if "different scales" in row["note"]]
    assert {(row["aspect"], row["judge_b"]) for row in noted} == {("true", WHOLE)}
    assert len(noted) == len(PLACES)


def test_an_ensemble_that_cannot_judge_says_why() -> None:
    result = rows(excluded=[["all", "systems", "not applicable: no texts"]])
    assert {(row["statistic"], row["level"]) for row in result} == {*PLACES}
    assert {(row["value"], row["note"]) for row in result} == {
        (None, "not applicable: no texts")
    }
    assert {(row["judge_b"], row["k"]) for row in result} == {(WHOLE, 3)}


def test_an_ensemble_that_compares_with_references_is_rated_without_them() -> None:
    result = rows(card={"references": True}, reference_systems=["s0"])
    assert {row["system_subset"] for row in result} == {WITHOUT_REFERENCES}
    complete = row_of(result, "pearson", aspect="clear", level="pooled", judge_b=WHOLE)
    kept = SYSTEM != 0
    wanted = np.corrcoef(
        mean_of(THREE)["clear"][kept], mean_rating(RATINGS["clear"])[kept]
    )[0, 1]
    assert complete["value"] == pytest.approx(wanted) and complete["n"] == N - ITEMS


def test_an_aspect_that_a_member_does_not_judge_has_no_rows() -> None:
    partial = {**THREE, "good": {"clear": GOOD["clear"]}}
    derived = {"engine": "derived", "discrete": False}
    ensembles = {"all": {"members": sorted(partial), "min_members": 1, "mixed": []}}
    data = study(partial, cards={"all": derived}, ensembles=ensembles, excluded=[])
    assert {row["aspect"] for row in ensemble.rows(data)} == {"clear", "average"}


STEPS = [*range(0, 101, 5)]
PEOPLE = {aspect: mean_rating(RATINGS[aspect]) for aspect in ASPECTS}
CLEAR = {"aspect": "clear", "level": "pooled"}


def taught(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["statistic"].startswith("student_")]


@pytest.mark.heavy
def test_every_correlation_is_reported_for_the_judge_and_with_its_teacher() -> None:
    result = rows(student=TAUGHT)
    for aspect in (*ASPECTS, "average"):
        for statistic, level in PLACES:
            for name in ("student", "student_difference", "student_with_teacher"):
                [row] = rows_of(
                    result, f"{name}_{statistic}", aspect=aspect, level=level
                )
                assert (row["judge"], row["judge_b"], row["k"]) == (
                    "all",
                    "taught",
                    None,
                )
                assert row["ci_low"] <= row["value"] <= row["ci_high"] and label(
                    row["statistic"]
                )
    assert len(taught(result)) == 3 * len(PLACES) * 3
    assert [row for row in result if row not in taught(result)] == rows()


@pytest.mark.heavy
def test_it_stands_beside_people_as_any_judge_does() -> None:
    hundred = {
        "ends": dict.fromkeys(ASPECTS, (0, 100)),
        "grid": dict.fromkeys(ASPECTS, STEPS),
    }
    beside = list(agreement.rows(study({"taught": TAUGHT}, cards={"taught": hundred})))
    result = rows(student=TAUGHT)
    same = ("value", "ci_low", "ci_high", "n", "n_missing", "n_tied", "method")
    for aspect in (*ASPECTS, "average"):
        for statistic, level in PLACES:
            mine = row_of(result, f"student_{statistic}", aspect=aspect, level=level)
            theirs = row_of(
                beside, statistic, aspect=aspect, level=level, judge="taught"
            )
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
    table, both = rows(members, student=gaps), slice(15, None)
    clear = mean_of(members)["clear"]
    r = [
        np.corrcoef(x[both], PEOPLE["clear"][both])[0, 1]
        for x in (clear, TAUGHT["clear"])
    ]
    row = row_of(table, "student_difference_pearson", **CLEAR)
    assert row["value"] == pytest.approx(r[0] - r[1])
    assert (row["n"], row["n_missing"]) == (N - 15, 15)
    teacher = row_of(table, "student_with_teacher_pearson", **CLEAR)
    assert teacher["value"] == pytest.approx(
        np.corrcoef(clear[both], TAUGHT["clear"][both])[0, 1]
    )
    assert (teacher["n"], teacher["n_missing"]) == (N - 15, 15)
    alone = row_of(table, "student_pearson", **CLEAR)
    assert alone["value"] == pytest.approx(
        np.corrcoef(TAUGHT["clear"][12:], PEOPLE["clear"][12:])[0, 1]
    )
    assert (alone["n"], alone["n_missing"]) == (N - 12, 12)
    assert "raters' mean" in alone["method"] and "raters" not in teacher["method"]


@pytest.mark.heavy
def test_a_judge_that_has_learnt_all_is_as_good_as_its_teacher_on_any_scale() -> None:
    same = {aspect: 25 * (scores - 1) for aspect, scores in mean_of(THREE).items()}
    result = rows(student=same)
    for statistic, level in PLACES:
        where = {"aspect": "true", "level": level}
        separate = row_of(result, f"student_difference_{statistic}", **where)
        assert [
            separate[key] for key in ("value", "ci_low", "ci_high")
        ] == pytest.approx([0, 0, 0])
        row = row_of(result, statistic, judge_b=WHOLE, **where)
        alone = row_of(result, f"student_{statistic}", **where)
        assert [alone[key] for key in ("value", "ci_low", "ci_high")] == pytest.approx(
            [row[key] for key in ("value", "ci_low", "ci_high")]
        )
    for level in ("pooled", "by_source", "by_system"):
        teacher = row_of(
            result, "student_with_teacher_spearman", aspect="true", level=level
        )
        assert teacher["value"] == pytest.approx(1)


@pytest.mark.heavy
def test_differences_are_paired() -> None:
    result = rows(student=TAUGHT)
    separate = row_of(result, "student_difference_pearson", **CLEAR)
    alone = row_of(result, "student_pearson", **CLEAR)
    assert separate["ci_high"] - separate["ci_low"] < alone["ci_high"] - alone["ci_low"]
    average = row_of(
        result, "student_difference_pearson", aspect="average", level="pooled"
    )
    each = [
        row_of(result, "student_difference_pearson", aspect=a, level="pooled")
        for a in ASPECTS
    ]
    assert average["value"] == pytest.approx(np.mean([row["value"] for row in each]))
    assert (average["n"], average["method"].split(";")[0]) == (2, "mean over aspects")


@pytest.mark.heavy
def test_a_judge_of_a_share_of_the_items_is_compared_on_these() -> None:
    result = rows(student=TAUGHT, share=0.8)
    alone, separate = (
        row_of(result, f"student_{name}pearson", **CLEAR)
        for name in ("", "difference_")
    )
    assert (alone["n"], alone["n_missing"], separate["n"]) == (
        N * 12 // ITEMS,
        0,
        N * 12 // ITEMS,
    )
    assert (
        "over 12 sources" in alone["method"] and "over 12 sources" in separate["method"]
    )
    average = row_of(result, "student_pearson", aspect="average", level="pooled")
    assert "over 12 sources" in average["method"]
    assert row_of(result, "pearson", judge_b=WHOLE, **CLEAR)["n"] == N


def test_a_judge_of_a_single_verdict_is_reported() -> None:
    result = rows(student=CONSTANT)
    for name in ("student_pearson", "student_with_teacher_pearson"):
        assert (
            row_of(result, name, **CLEAR)["value"],
            row_of(result, name, **CLEAR)["note"],
        ) == (
            None,
            REASONS.constant_judge,
        )
    assert row_of(result, "student_difference_pearson", **CLEAR)["value"] is None


def test_an_aspect_that_it_does_not_judge_has_no_rows_of_it() -> None:
    result = rows(student={"clear": TAUGHT["clear"]})
    assert {row["aspect"] for row in taught(result)} == {"clear", "average"}
    assert (
        row_of(result, "student_pearson", aspect="average", level="pooled")["n"] == 60
    )
