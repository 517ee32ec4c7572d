"""The rows of result tables, made of one small dataset in memory."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from dataset_in_memory import FIVE, Row, row_of, rows_of
from deleted import jackknife_t
from judgescope import __version__
from judgescope.methods import agreement, comparison, pairwise, repeatability
from judgescope.methods.agreement import below_controls
from judgescope.methods.evaluation_data import WITHOUT_REFERENCES, EvaluationData
from judgescope.methods.measures import (
    AVERAGE,
    LARGEST_CEILING,
    classes_of,
    classes_with,
    ranked,
)
from judgescope.methods.repeatability import CURVE
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.alt_test import alternative_annotator
from judgescope.statistics.classes import ON_CLASSES
from judgescope.statistics.intervals import benjamini_hochberg, holm
from judgescope.statistics.raters import UNDECIDED, WORSE, lower_median, mean_rating
from judgescope.statistics.registry import names_of_group
from judgescope.statistics.reliability import spearman_brown
from judgescope.statistics.result import REASONS
from methods_setup import (
    ASPECTS,
    CONSTANT,
    FAIR,
    FIELD,
    GOOD,
    ITEM,
    ITEMS,
    NAN,
    NOISE,
    NOISY,
    PEARSON,
    QUALITY,
    RATINGS,
    SYSTEM,
    TARGETS,
    N,
    compared,
    less,
    pearson_row,
    points,
    r_of,
    study,
)

BIASES = set(names_of_group("bias"))
HALVES = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]
ALPHAS = {"alpha_nominal", "alpha_ordinal", "alpha_interval"}


def clear(**judges: ArrayLike) -> dict[str, dict[str, ArrayLike]]:
    """Return judges that score one aspect."""
    return {name: {"clear": values} for name, values in judges.items()}


@cache
def agreed() -> list[ResultRow]:
    return list(agreement.rows(study(FIELD)))


# What people's ratings come to


def test_the_mean_and_the_lower_median_of_what_was_given() -> None:
    ratings = np.array(
        [[1, 4, NAN, NAN], [2, 5, 3, NAN], [5, NAN, NAN, NAN], [4, 5, NAN, NAN]]
    )
    assert mean_rating(ratings) == pytest.approx([3, 14 / 3, 3, NAN], nan_ok=True)
    assert lower_median(ratings) == pytest.approx([2, 5, 3, NAN], nan_ok=True)


@pytest.mark.parametrize(
    ("card", "values", "classes"),
    [
        ({}, FIVE, FIVE),
        ({"grid": {"clear": HALVES}}, FIVE, HALVES),
        ({"grid": {"clear": [1.0, 3.0, 5.0]}}, FIVE, FIVE),
        ({"grid": {"clear": None}}, FIVE, None),
        ({"discrete": False}, FIVE, None),
        ({}, None, None),
    ],
)
def test_the_classes_of_a_judge_are_its_values_and_peoples(
    card: Any, values: Any, classes: Any
) -> None:
    told = study(clear(judge=np.ones(N)), cards={"judge": card}, values=values)
    assert classes_of(told, "judge", "clear") == classes
    gold, out = np.array([1.0, 5.0, NAN]), np.array([1.0, 8.0, NAN])
    on = (classes, "" if classes else REASONS.continuous)
    assert classes_with(told, "judge", "clear", gold, gold) == on
    off = (None, REASONS.off_scale if classes else REASONS.continuous)
    assert classes_with(told, "judge", "clear", np.array([1.0, 2.25]), gold) == off
    odd = (None, REASONS.off_judge_scale if classes else REASONS.continuous)
    assert classes_with(told, "judge", "clear", gold, out) == odd


@pytest.mark.heavy
def test_score_off_the_scale_leaves_only_its_classes_undefined() -> None:
    """Chiang and Lee's parser reads 8 on a scale of 1 to 5, as its authors did."""
    odd = np.array(GOOD["clear"])
    odd[3] = 8.0
    told = study(
        clear(odd=odd, fair=FAIR["clear"]),
        cards={"odd": {"draws": 2}},
        draws=draws_of("odd", np.stack([odd, GOOD["clear"]])),
        comparison={"statistics": ["pearson", "kappa_linear"], "levels": ["pooled"]},
    )
    rows = [*agreement.rows(told), *comparison.rows(told), *repeatability.rows(told)]
    for name in (*ON_CLASSES, "alpha_pair", "alpha_draws"):
        found = rows_of(rows, name, judge="odd", aspect="clear", judge_b=None)
        assert found and {row["note"] for row in found} == {REASONS.off_judge_scale}
    for name in ("pearson", "flip_rate", "reliability", "attainable_share"):
        found = rows_of(rows, name, judge="odd", aspect="clear", judge_b=None)
        assert found and all(row["value"] is not None for row in found)
    assert row_of(agreement.rows(told), "kappa_linear", judge="fair", aspect="clear")[
        "value"
    ]


# Agreement: warnings


def test_what_is_below_the_best_control_says_so_and_nothing_else_does() -> None:
    told = study(
        {},
        cards={name: {} for name in ("control-a", "control-b", "control-c", "judge")},
    )
    controls: list[Any] = [
        pearson_row("control-a", 0.3),
        pearson_row("control-b", 0.5),
        pearson_row("control-c", 0.5),
    ]
    below: list[Any] = [
        pearson_row("judge", 0.4),
        pearson_row("judge", -0.9, note="no interval: 9 sources"),
    ]
    apart: list[Any] = [
        *(pearson_row("judge", value) for value in (0.5, 0.6, None)),
        pearson_row("human", 0.1),
        *(pearson_row("judge", -1.0, statistic=name) for name in sorted(BIASES)),
        *(pearson_row("control-c", -1.0, statistic=name) for name in sorted(BIASES)),
        *(pearson_row("control-c", 1.0, statistic=name) for name in sorted(BIASES)),
        pearson_row("judge", 0.1, aspect="true"),
        pearson_row("judge", 0.1, level="by_source"),
        pearson_row("judge", 0.1, statistic="spearman"),
        pearson_row("control-a", None, statistic="spearman"),
    ]
    found = below_controls(told, [*below, *controls, *apart])
    warning = "warning: below control control-b (0.500)"
    assert [row["note"] for row in found[:2]] == [
        warning,
        f"no interval: 9 sources; {warning}",
    ]
    assert found[2:] == [*controls, *apart]


@pytest.mark.heavy
def test_noisy_judge_has_a_warning_where_a_control_is_better_and_the_good_none() -> (
    None
):
    control = {
        (row["aspect"], row["statistic"], row["level"]): row["value"]
        for row in rows_of(agreed(), judge="fair-control")
    }
    warned = 0
    for found in rows_of(agreed()):
        best = control.get((found["aspect"], found["statistic"], found["level"]))
        lower = None not in (best, found["value"]) and found["value"] < best
        named = (
            found["judge"] in {"noisy", "constant"} and found["statistic"] not in BIASES
        )
        assert ("below control fair-control" in found["note"]) == (lower and named), (
            found
        )
        warned += lower and named
    assert warned > 30
    assert not any("below" in row["note"] for row in rows_of(agreed(), judge="good"))
    lower = row_of(agreed(), "kappa_linear", judge="constant", aspect="clear")
    assert (
        lower["value"] == 0 and "warning: below control fair-control" in lower["note"]
    )


@pytest.mark.parametrize(
    ("others", "given", "share"), [(3, 60, "95.0%"), (2, 50, "96.0%")]
)
def test_a_judge_of_nearly_one_score_is_degenerate(
    others: int, given: int, share: str
) -> None:
    x = np.where(np.arange(N) < others, [1.0, 2.0] * (N // 2), 4.0)
    rows = list(agreement.rows(study(clear(judge=less(x, slice(given, None))))))
    flagged = rows_of(
        rows, "pearson", "spearman", "kendall_b", judge="judge", level="pooled"
    )
    assert len(flagged) == 3
    for each in flagged:
        assert each["note"].endswith(f"degenerate: {share} of the scores are 4")
    assert (
        sum("degenerate" in row["note"] for row in rows) == 5
    )  # and with systems held constant


@pytest.mark.parametrize("others", [0, 4])
def test_a_constant_judge_or_one_of_fewer_equal_scores_is_not_degenerate(
    others: int,
) -> None:
    rows = list(
        agreement.rows(study(clear(judge=np.where(np.arange(N) < others, 1.0, 4.0))))
    )
    assert not any("degenerate" in row["note"] for row in rows)
    pooled = row_of(rows, "pearson", judge="judge", level="pooled")
    assert (pooled["note"] == REASONS.constant_judge) == (others == 0)


@pytest.mark.parametrize(("lost", "thin"), [(1, False), (2, True)])
@pytest.mark.parametrize("value", [NAN, 3.0])
def test_a_mean_over_few_of_the_sources_says_so(
    lost: int, thin: bool, value: float
) -> None:
    x = np.where(
        np.isin(ITEM, range(lost)), value, GOOD["clear"] + SYSTEM / 9
    )  # a varied score elsewhere
    cards = {"judge": {"discrete": False}}
    rows = list(agreement.rows(study(clear(judge=x), cards=cards)))
    pearson = row_of(rows, "pearson", judge="judge", level="by_source")
    assert (
        pearson["n"],
        pearson["note"].count("warning: based on 87% of the sources"),
    ) == (
        ITEMS - lost,
        int(thin),
    )
    has_pairs = not np.isnan(value)  # a tie of scores is a judgment of a pair
    accuracy = row_of(rows, "acc_eq", judge="judge")
    assert ("based on" in accuracy["note"]) == (thin and not has_pairs)
    others = [row for row in rows if row["level"] != "by_source"]
    assert not any("rests on" in row["note"] for row in others)


def test_the_ties_that_the_accuracy_counts_are_in_its_note() -> None:
    free = np.where(SYSTEM == 0, QUALITY[0], GOOD["clear"])
    rows = list(
        agreement.rows(study(clear(judge=free), cards={"judge": {"discrete": False}}))
    )
    note = row_of(rows, "acc_eq", judge="judge", aspect="clear")["note"]
    assert re.fullmatch(
        r"score differences up to \S+ count as ties; chosen on the other sources", note
    )


# Agreement: what there is


@pytest.mark.heavy
def test_correlations_are_with_the_mean_and_classes_with_the_lower_median() -> None:
    found = row_of(agreed(), "pearson", judge="good", aspect="true", level="pooled")
    assert found["value"] == pytest.approx(
        r_of(GOOD["true"], RATINGS["true"].mean(axis=0))
    )
    assert found["method"].startswith(
        "against the raters' mean; jackknife-t on atanh over 15 sources"
    )
    classes = rows_of(agreed(), *ON_CLASSES, "alpha_pair", judge="good", aspect="true")
    assert len(classes) == 4
    for each in classes:
        assert each["method"].startswith("against the raters' lower median; ")
    perfect = study(clear(judge=np.median(RATINGS["clear"], axis=0)))
    for each in rows_of(
        agreement.rows(perfect), *ON_CLASSES, "alpha_pair", judge="judge"
    ):
        assert each["value"] == pytest.approx(1)
    for judge in ("good", "human"):
        found = row_of(agreed(), "cem_ord", judge=judge, aspect="true")
        assert "floor 0." in found["note"], judge


@pytest.mark.heavy
def test_a_judge_stands_among_the_raters() -> None:
    found = {
        judge: row_of(
            agreed(), "as_rater_pearson", judge=judge, aspect="clear", level="pooled"
        )
        for judge in ("good", "noisy")
    }
    ratings, gaps = RATINGS["clear"], []
    for at in range(len(ratings)):
        others = np.delete(ratings, at, axis=0).mean(axis=0)
        gaps.append(r_of(GOOD["clear"], others) - r_of(ratings[at], others))
    assert found["good"]["value"] == pytest.approx(np.mean(gaps))
    assert found["noisy"]["value"] < found["good"]["value"]
    assert found["noisy"]["note"].startswith((WORSE, UNDECIDED))
    share = row_of(
        agreed(), "as_rater_share_pearson", judge="good", aspect="clear", level="pooled"
    )
    assert share["ci_low"] < share["value"] < share["ci_high"]
    assert rows_of(agreed(), "as_rater_kappa_linear", judge="good", aspect="clear")
    assert rows_of(agreed(), "as_rater_pearson", judge="human") == []


def test_a_number_that_hangs_on_an_item_names_it() -> None:
    x = np.where(ITEM == 3, GOOD["clear"], 3.0)  # constant without the fourth item
    row = row_of(
        agreement.rows(study(clear(judge=x))), "pearson", judge="judge", level="pooled"
    )
    assert row["value"] is not None and row["ci_low"] is None
    assert row["note"].startswith("no interval: depends on source i03")


def test_ratings_that_are_nearly_all_one_are_warned_of() -> None:
    ratings = np.where((ITEM < 9) & (np.arange(N) % 4 == 0), 2.0, 4.0)
    told = study(clear(good=GOOD["clear"]), {"clear": [ratings] * 3})
    row = row_of(agreement.rows(told), "pearson", judge="good", level="pooled")
    assert (
        row["ci_low"] is not None
        and "warning: only 9 sources have a rating other" in row["note"]
    )


def test_a_constant_judge_has_reasons_and_no_numbers() -> None:
    rows = rows_of(
        agreed(), "pearson", "spearman", "kendall_b", judge="constant", aspect="clear"
    )
    assert len(rows) == 9
    assert {(row["value"], row["note"]) for row in rows} == {
        (None, REASONS.constant_judge)
    }


def test_the_average_loses_an_item_in_all_aspects_at_once() -> None:
    told = study(FIELD)
    each = [
        ranked(told.systems, GOOD[name], RATINGS[name].mean(axis=0)) for name in ASPECTS
    ]
    averages = rows_of(agreed(), judge="good", aspect=AVERAGE)
    assert {(row["statistic"], row["level"]) for row in averages} == each[0].keys()
    for row in averages:
        place = (row["statistic"], row["level"])
        mean = np.mean([one[place].rows for one in each], axis=0)
        assert row["value"] == pytest.approx(mean[0])
        ends = (0.0, 1.0) if row["statistic"] in ("acc_eq", "spa") else (-1.0, 1.0)
        expected = jackknife_t(float(mean[0]), mean[1:].tolist(), ends=ends)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected)
        assert row["n"] == 2 and row["method"].startswith("mean over aspects; ")


@pytest.mark.heavy
def test_an_average_is_undefined_where_an_aspect_is_and_one_aspect_has_none() -> None:
    half = {"clear": GOOD["clear"], "true": CONSTANT["true"]}
    rows = list(agreement.rows(study({"half": half} | clear(single=GOOD["clear"]))))
    assert not rows_of(rows, judge="single", aspect=AVERAGE)
    for name in ("pearson", "spearman", "kendall_b"):
        for average in rows_of(rows, name, judge="half", aspect=AVERAGE):
            told = (average["value"], average["n"], average["note"])
            assert told == (None, 1, "undefined on 1 of 2 aspects: constant judge")
    assert row_of(rows, "acc_eq", judge="half", aspect=AVERAGE)["value"] is not None


@pytest.mark.heavy
def test_what_was_not_scored_or_not_rated_has_no_rows() -> None:
    rows = list(agreement.rows(study({"good": GOOD} | clear(some=GOOD["clear"]))))
    assert {row["aspect"] for row in rows_of(rows, judge="some")} == {"clear"}
    rows = list(agreement.rows(study({"good": GOOD}, {"true": RATINGS["true"]})))
    assert {row["aspect"] for row in rows} == {"true"}


@pytest.mark.parametrize(
    ("card", "more", "rating", "reason"),
    [
        ({"grid": {"clear": None}}, {}, 2.0, REASONS.continuous),
        ({"discrete": False}, {}, 2.0, REASONS.continuous),
        ({}, {"values": None}, 2.0, REASONS.continuous),
        ({}, {"ratings": "planned"}, 2.25, REASONS.off_scale),
    ],
)
def test_no_classes_no_kappa_and_the_reason(
    card: Any, more: Any, rating: float, reason: str
) -> None:
    ratings = np.where(np.arange(N) == 9, rating, RATINGS["clear"][0])
    cards = {"judge": card}
    told = study(
        clear(judge=GOOD["clear"]), {"clear": ratings[None]}, cards=cards, **more
    )
    rows = list(agreement.rows(told))
    classes = rows_of(rows, *ON_CLASSES, "alpha_pair", judge="judge")
    assert [(row["value"], row["note"]) for row in classes] == [(None, reason)] * 4
    assert row_of(rows, "pearson", judge="judge", level="pooled")["value"] is not None


@pytest.mark.parametrize("given", [True, False])
def test_what_sways_a_judge_is_told_where_it_can_be_known(given: bool) -> None:
    ends = {"clear": [1.0, 5.0] if given else None}
    cards = {"judge": {"family": "f", "ends": ends}}
    told = study(
        clear(judge=GOOD["clear"]), cards=cards, families={"s0": "f", "s1": "g"}
    )
    named = {row["statistic"] for row in agreement.rows(told)}
    scaled = {
        "length_slope",
        "self_preference",
        "alt_test_winrate",
        "alt_test_advantage",
    }
    assert {"partial_pearson", "partial_spearman"} <= named
    assert named & scaled == (scaled if given else set())


def test_without_texts_length_and_without_families_preference_are_no_rows() -> None:
    named = {
        row["statistic"] for row in agreement.rows(study({"good": GOOD}, texts=False))
    }
    assert "alt_test_winrate" in named and not named & BIASES


# Agreement: people


def test_people_have_an_alpha_and_the_ceiling_of_every_statistic_of_judges() -> None:
    people = rows_of(agreed(), judge="human", aspect="clear")
    assert all(row["value"] is not None for row in people)
    places = {(row["statistic"], row["level"]) for row in people}
    judged = {
        (row["statistic"], row["level"]) for row in rows_of(agreed(), judge="good")
    }
    apart = {(name, "pooled") for name in (*BIASES, "alpha_pair")}
    tests = {("alt_test_winrate", "pooled"), ("alt_test_advantage", "pooled")}
    judged = {place for place in judged if not place[0].startswith("as_rater")}
    assert places - {(name, "pooled") for name in ALPHAS} == judged - apart - tests
    ratings = RATINGS["clear"]
    each = [
        r_of(ratings[at], np.delete(ratings, at, axis=0).mean(axis=0))
        for at in range(3)
    ]
    ceiling = row_of(people, "pearson", level="pooled")
    assert ceiling["value"] == pytest.approx(np.mean(each))
    assert ceiling["method"].startswith("each rater against the mean of the others")


@pytest.mark.parametrize(
    ("raters", "kind", "reason"),
    [(1, "human", "one rater"), (3, "planned", "ratings are planned, not human")],
)
def test_one_rater_or_a_plan_has_no_alpha_no_ceiling_and_no_place_to_take(
    raters: int, kind: str, reason: str
) -> None:
    rows = list(
        agreement.rows(
            study(
                clear(judge=GOOD["clear"]),
                {"clear": RATINGS["clear"][:raters]},
                ratings=kind,
            )
        )
    )
    people = rows_of(rows, judge="human")
    assert {row["statistic"] for row in people} == ALPHAS
    assert {(row["value"], row["note"]) for row in people} == {(None, reason)}
    places = rows_of(rows, "alt_test_winrate", "alt_test_advantage")
    assert [row["note"] for row in places] == (
        ["fewer than 3 raters"] * 2 if kind == "human" else []
    )


@pytest.mark.parametrize(
    ("rule", "method", "closeness"),
    [
        ({}, "epsilon 0.1, t-test over sources, Benjamini-Yekutieli", "accuracy"),
        (
            {"epsilon": 0.2, "unit": "text"},
            "epsilon 0.2, t-test over texts, Benjamini-Yekutieli",
            "accuracy",
        ),
        (
            {"ordered": True},
            "closeness by RMSE; epsilon 0.1, t-test over sources, Benjamini-Yekutieli",
            "rmse",
        ),
        (
            {"ordered": False},
            "closeness by equal ratings; epsilon 0.1, t-test over sources, "
            "Benjamini-Yekutieli",
            "accuracy",
        ),
    ],
)
def test_the_alternative_annotator_is_tested_as_the_study_says(
    rule: dict[str, Any], method: str, closeness: Any
) -> None:
    told = study(clear(judge=GOOD["clear"]), alt_test=rule)
    rate = row_of(
        agreement.rows(told), "alt_test_winrate", judge="judge", aspect="clear"
    )
    advantage = row_of(
        agreement.rows(told), "alt_test_advantage", judge="judge", aspect="clear"
    )
    assert rate["method"] == method
    wanted = alternative_annotator(
        np.array(GOOD["clear"]),
        np.array(RATINGS["clear"]),
        told.systems.source,
        weights=told.weights,
        closeness=closeness,
        epsilon=rule.get("epsilon", 0.1),
        unit=rule.get("unit", "source"),
    )
    assert (rate["value"], advantage["value"]) == (wanted[0].value, wanted[1].value)


def test_ratings_of_any_number_have_the_interval_alpha_and_ceilings_of_no_classes() -> (
    None
):
    rows = list(
        agreement.rows(
            study({}, {"clear": RATINGS["clear"] + 0.01 * NOISE[0, 0]}, values=None)
        )
    )
    notes = {row["statistic"]: row["note"] for row in rows_of(rows, *ALPHAS)}
    assert notes["alpha_nominal"] == notes["alpha_ordinal"] == REASONS.continuous
    assert row_of(rows, "alpha_interval")["value"] > 0.5
    named = {row["statistic"] for row in rows}
    assert {"pearson", "acc_eq", "spa"} <= named and not named & set(ON_CLASSES)


def test_a_crowd_has_an_alpha_and_no_ceiling() -> None:
    crowd = np.tile(RATINGS["clear"], (LARGEST_CEILING // 3 + 1, 1))
    rows = list(agreement.rows(study({}, {"clear": crowd})))
    assert {row["statistic"] for row in rows} == ALPHAS
    assert all(row["value"] is not None for row in rows)


# Judges beside each other


@pytest.mark.heavy
def test_best_judge_is_first_and_undecided_differences_share_letters() -> None:
    letters: dict[str, set[str]] = {}
    ranks = rows_of(compared(), "rank_pearson", aspect="clear", level="pooled")
    for row in ranks:
        if row["judge"] == "constant":
            assert (row["value"], row["note"]) == (None, REASONS.constant_judge)
        else:
            _, _, group = row["note"].partition("group ")
            letters[row["judge"]] = set(group)
    values = {row["judge"]: row["value"] for row in ranks}
    assert values == {"good": 1, "fair-control": 2, "noisy": 3, "constant": None}
    assert {row["n"] for row in ranks} == {3} and "a" in letters["good"]
    tests = rows_of(compared(), "p_holm_pearson", aspect="clear", level="pooled")
    known = [row for row in tests if row["value"] is not None]
    assert len(tests) == 6 and len(known) == 3
    for row in known:
        differ = not letters[row["judge"]] & letters[row["judge_b"]]
        assert differ == (row["value"] <= 0.05)
    assert letters["good"] != letters["noisy"]


@pytest.mark.heavy
def test_a_difference_is_the_first_less_the_second_and_turns_with_the_order() -> None:
    there = study({"good": GOOD, "noisy": NOISY})
    back = study({"noisy": NOISY, "good": GOOD})
    rows, turned = list(comparison.rows(there)), list(comparison.rows(back))
    y = RATINGS["clear"].mean(axis=0)
    gap = row_of(rows, "difference_pearson", aspect="clear", level="pooled")
    assert (gap["judge"], gap["judge_b"]) == ("good", "noisy")
    assert gap["value"] == pytest.approx(
        r_of(GOOD["clear"], y) - r_of(NOISY["clear"], y)
    )
    assert gap["ci_low"] < gap["value"] < gap["ci_high"]
    other = {
        (row["statistic"], row["aspect"], row["level"]): row for row in rows_of(turned)
    }
    pairs = 0
    for row in rows_of(rows):
        if row["statistic"].startswith("rank_"):
            continue
        match = other[row["statistic"], row["aspect"], row["level"]]
        assert (match["judge"], match["judge_b"]) == ("noisy", "good")
        if row["statistic"].startswith("difference_"):
            ends = (-row["value"], -row["ci_high"], -row["ci_low"])
            assert (match["value"], match["ci_low"], match["ci_high"]) == pytest.approx(
                ends
            )
        else:
            assert match["value"] == pytest.approx(row["value"])
        pairs += 1
    assert (
        pairs == 2 * 11 * 6 + 10
    )  # aspects, places, statistics of a pair; means over aspects


@pytest.mark.heavy
def test_mean_difference_over_aspects_equals_difference_of_means_by_deletion() -> None:
    told = study({"good": GOOD, "noisy": NOISY, "constant": CONSTANT})
    rows = list(comparison.rows(told))
    place = ("pearson", "pooled")
    means = [
        np.mean(
            [
                ranked(told.systems, scores[name], RATINGS[name].mean(axis=0))[
                    place
                ].rows
                for name in ASPECTS
            ],
            axis=0,
        )
        for scores in (GOOD, NOISY)
    ]
    gap = row_of(
        rows, "difference_pearson", judge_b="noisy", aspect=AVERAGE, level="pooled"
    )
    replicates = means[0] - means[1]
    assert (gap["judge"], gap["n"]) == ("good", 2)
    assert gap["value"] == pytest.approx(replicates[0])
    expected = jackknife_t(float(replicates[0]), replicates[1:].tolist())
    assert (gap["ci_low"], gap["ci_high"]) == pytest.approx(expected)
    lost = rows_of(rows, judge="good", judge_b="constant", aspect=AVERAGE)
    assert len(lost) == 10
    why = "undefined on 2 of 2 aspects: one of the judges is undefined"
    assert {(row["value"], row["note"]) for row in lost} == {(None, why)}
    single = list(
        comparison.rows(study(clear(good=GOOD["clear"], noisy=NOISY["clear"])))
    )
    assert rows_of(single, aspect="clear") and not rows_of(single, aspect=AVERAGE)


def test_p_values_are_corrected_over_the_pairs_of_one_place() -> None:
    places = {(row["aspect"], row["level"]) for row in rows_of(compared(), "p_pearson")}
    assert len(places) == 6
    for aspect, level in places:
        p, by_holm, by_fdr = (
            [
                row["value"]
                for row in rows_of(compared(), name, aspect=aspect, level=level)
            ]
            for name in ("p_pearson", "p_holm_pearson", "p_fdr_pearson")
        )
        known = [value for value in p if value is not None]
        assert (
            len(p) == 6 and len(known) == 3
        )  # the constant judge has no test, and counts in none
        assert [value for value in by_holm if value is not None] == pytest.approx(
            holm(known)
        )
        corrected = [value for value in by_fdr if value is not None]
        assert corrected == pytest.approx(benjamini_hochberg(known))
        for raw, fdr, family in zip(known, corrected, holm(known), strict=True):
            assert (
                1 / 100 <= raw <= fdr * (1 + 1e-12) <= family * (1 + 1e-9) <= 1 + 1e-9
            )


def test_a_pair_with_an_undefined_judge_says_so() -> None:
    pair = rows_of(
        compared(), judge="good", judge_b="constant", aspect="clear", level="by_source"
    )
    assert len(pair) == 18
    assert {(row["value"], row["note"]) for row in pair} == {
        (None, REASONS.undefined_judge)
    }


def test_a_judge_and_its_twin_differ_in_nothing() -> None:
    rows = list(comparison.rows(study({"good": GOOD, "twin": GOOD})))
    values = {row["value"] for row in rows if row["statistic"].startswith("difference")}
    assert values == {0}
    assert {row["value"] for row in rows if row["statistic"].startswith("p_")} == {1}
    ranks = [row for row in rows if row["statistic"].startswith("rank")]
    flat = "no width: 100% of the resamples of 15 sources are equal"
    assert {(row["value"], row["note"]) for row in ranks} == {(1.5, f"{flat}; group a")}


def test_two_judges_are_compared_on_the_targets_that_both_have() -> None:
    first, last = less(GOOD["clear"], slice(20)), less(FAIR["clear"], slice(48, None))
    rows = list(
        comparison.rows(study(clear(first=first, last=last), comparison=PEARSON))
    )
    y, both = RATINGS["clear"].mean(axis=0), slice(20, 48)
    gap = row_of(rows, "difference_pearson")
    want = r_of(first[both], y[both]) - r_of(last[both], y[both])
    assert (gap["value"], gap["n"]) == (pytest.approx(want), 28)
    assert gap["n_missing"] == N - 28
    assert row_of(rows, "p_pearson")["n"] == 28
    own = [r_of(first[20:], y[20:]), r_of(last[:48], y[:48])]
    assert [row["value"] for row in rows_of(rows, "rank_pearson")] == [
        2 - (own[0] > own[1]),
        1 + (own[0] > own[1]),
    ]


@pytest.mark.parametrize("statistics", [["pearson", "kendall_b"], ["kappa_linear"]])
def test_judges_that_share_no_target_are_not_compared(statistics: list[str]) -> None:
    nothing = np.full(N, NAN)
    judges = clear(none=nothing, good=GOOD["clear"])
    rows = list(comparison.rows(study(judges, comparison={"statistics": statistics})))
    gaps = [row for row in rows if row.get("judge_b")]
    assert gaps and {row["value"] for row in gaps} == {None}
    assert all(row["note"] for row in gaps)


def test_intervals_and_sources_needed_rest_on_the_sources_that_both_have() -> None:
    few = less(GOOD["clear"], ITEM > 2)
    judges = clear(few=few, fair=FAIR["clear"], noisy=NOISY["clear"])
    rows = list(comparison.rows(study(judges, comparison=PEARSON)))
    gap = row_of(rows, "difference_pearson", judge="few", judge_b="fair")
    assert (
        gap["value"] is not None
        and gap["ci_low"] is None
        and "3 sources" in gap["note"]
    )
    needed = row_of(rows, "sources_needed_pearson", judge="few", judge_b="fair")
    assert (needed["value"], needed["n"]) == (None, 3)
    assert row_of(rows, "sources_needed_pearson", judge="fair")["n"] == ITEMS
    ranks = rows_of(rows, "rank_pearson")
    assert {row["ci_low"] for row in ranks} == {None}


def test_two_systems_have_no_correlation_and_no_test() -> None:
    judges = clear(a=less(GOOD["clear"], SYSTEM > 1), b=less(FAIR["clear"], SYSTEM > 1))
    wanted = PEARSON | {"levels": ["by_system"]}
    rows = list(comparison.rows(study(judges, comparison=wanted)))
    assert {row["value"] for row in rows_of(rows, level="by_system")} == {None}


@pytest.mark.heavy
def test_a_control_is_held_against_a_metric_on_the_same_texts() -> None:
    """On all texts the control is better; on those that are no references it says
    nothing.
    """
    y = RATINGS["clear"].mean(axis=0)
    control = np.where(SYSTEM == 3, np.round(y), 3)
    metric = np.where(SYSTEM == 3, NOISY["clear"], FAIR["clear"])
    cards = {"metric": {"references": True}}
    judges: Any = clear(metric=metric) | {"a-control": {"clear": control}}
    rows = list(agreement.rows(study(judges, cards=cards, reference_systems=["s3"])))
    own = row_of(rows, "pearson", judge="metric", level="pooled")
    best = {
        row["system_subset"]: row["value"]
        for row in rows_of(rows, "pearson", judge="a-control", level="pooled")
    }
    assert best[WITHOUT_REFERENCES] is None and own["value"] < best[None]
    assert "below control" not in own["note"]


def test_a_judge_on_a_scale_of_its_own_is_correlated_and_has_no_classes_in_common() -> (
    None
):
    cards = {
        "judge": {"grid": {"clear": [*range(1, 11)]}, "ends": {"clear": (1.0, 10.0)}}
    }
    judges: Any = clear(judge=np.arange(N) % 10 + 1.0)
    people = {"clear": [np.arange(N) % 5 + 1.0, np.arange(N) % 5 + 1.0]}
    rows = list(
        agreement.rows(
            study(judges, people, cards=cards, values=[1.0, 2.0, 3.0, 4.0, 5.0])
        )
    )
    for name in ("kappa_linear", "kappa_quadratic", "cem_ord", "alpha_pair"):
        row = row_of(rows, name, judge="judge")
        assert row["value"] is None and "scale differs" in row["note"]
    assert row_of(rows, "spearman", judge="judge", level="pooled")["value"] is not None
    assert not rows_of(rows, "alt_test_winrate", judge="judge")


def test_tenths_are_classes_whatever_their_round_off() -> None:
    tenths = [round(at / 10, 12) for at in range(11)]
    people = {"clear": [np.arange(N) % 11 * 0.1, (np.arange(N) + 1) % 11 / 10]}
    cards = {"judge": {"grid": {"clear": tenths}, "ends": {"clear": (0.0, 1.0)}}}
    judges: Any = clear(judge=np.arange(N) % 11 / 10)
    told = study(judges, people, cards=cards, values=tenths)
    found = row_of(agreement.rows(told), "kappa_linear", judge="judge")
    assert found["value"] is not None


def test_kappa_is_compared_only_between_judges_of_the_same_classes() -> None:
    half = np.maximum(GOOD["clear"] - 0.5, 1)
    judges = clear(
        good=GOOD["clear"], fair=FAIR["clear"], halves=half, free=NOISE[0, 0]
    )
    cards: Any = {
        "halves": {"grid": {"clear": HALVES}},
        "free": {"grid": {"clear": None}},
    }
    told = study(judges, cards=cards, comparison={"statistics": ["kappa_linear"]})
    rows = list(comparison.rows(told))
    assert {row["level"] for row in rows} == {"pooled", "within_source"}
    gaps = {
        (row["judge"], row["judge_b"]): row
        for row in rows_of(rows, "difference_kappa_linear")
    }
    assert gaps.pop(("good", "fair"))["value"] > 0
    assert {pair: (row["value"], row["note"]) for pair, row in gaps.items()} == {
        ("good", "halves"): (None, REASONS.different_scales),
        ("fair", "halves"): (None, REASONS.different_scales),
        ("good", "free"): (None, REASONS.continuous),
        ("fair", "free"): (None, REASONS.continuous),
        ("halves", "free"): (None, REASONS.continuous),
    }
    tested = {(row["judge"], row["judge_b"]) for row in rows_of(rows, "p_kappa_linear")}
    assert tested == {("good", "fair")}
    p, corrected = (
        row_of(rows, name)["value"]
        for name in ("p_kappa_linear", "p_holm_kappa_linear")
    )
    assert corrected == pytest.approx(p)  # the family is one pair
    ranks = {row["judge"]: row for row in rows_of(rows, "rank_kappa_linear")}
    assert ranks["free"]["note"] == REASONS.continuous and ranks["good"]["value"] == 1
    assert "not tested against good, fair" in ranks["halves"]["note"]
    assert ranks["good"]["note"].endswith("not tested against halves")


def test_without_classes_of_any_judge_there_is_no_kappa() -> None:
    rows = list(comparison.rows(study({"good": GOOD, "noisy": NOISY}, values=None)))
    assert rows and not any("kappa" in row["statistic"] for row in rows)


def test_only_the_judges_statistics_and_levels_that_are_wanted() -> None:
    wanted = PEARSON | {"judges": ["noisy", "good"]}
    rows = list(comparison.rows(study(FIELD, comparison=wanted)))
    assert {row["judge"] for row in rows} == {"good", "noisy"}
    assert {(row["judge"], row["judge_b"]) for row in rows_of(rows, "p_pearson")} == {
        ("good", "noisy")
    }
    ranks = [row for row in rows if row["statistic"].startswith("rank_")]
    assert {(row["statistic"], row["level"]) for row in ranks} == {
        ("rank_normal_scores", "within_source"),
        ("rank_pearson", "pooled"),
    }
    alone = list(
        comparison.rows(study(FIELD, comparison=wanted | {"judges": ["good"]}))
    )
    told = {(row["statistic"], row["aspect"], row["value"]) for row in alone}
    statistics = ("rank_normal_scores", "rank_pearson")
    assert told == {(one, aspect, 1) for one in statistics for aspect in ASPECTS}
    assert all(row["note"].endswith("; group a") for row in alone)


@pytest.mark.parametrize(
    ("judges", "wanted", "permutations"),
    [(2, None, 1000), (8, None, 40 * 28), (8, 123, 123)],
)
def test_permutations_grow_with_the_pairs(
    judges: int, wanted: int | None, permutations: int
) -> None:
    field = {f"judge-{at}": {"clear": points(NOISE[at, 0])} for at in range(judges)}
    rows = list(
        comparison.rows(study(field, comparison=PEARSON | {"permutations": wanted}))
    )
    tests = rows_of(rows, "p_pearson")
    told = f"PERM-INPUTS, {permutations} permutations, two-sided"
    assert len(tests) == judges * (judges - 1) // 2
    assert {row["method"] for row in tests} == {told}
    steps = [row["value"] * (permutations + 1) for row in tests]
    assert steps == pytest.approx(np.round(steps))


@pytest.mark.parametrize("permute", ["inputs", "systems", "both"])
def test_what_is_permuted_is_told_and_of_four_systems_little_can_be_shown(
    permute: str,
) -> None:
    judges = clear(good=GOOD["clear"], noisy=NOISY["clear"])
    wanted = {"permute": permute, "permutations": 999}
    rows = list(comparison.rows(study(judges, comparison=wanted)))
    for name in ("p_pearson", "p_kappa_linear"):
        test = row_of(rows, name, level="pooled")
        assert test["method"] == f"PERM-{permute.upper()}, 999 permutations, two-sided"
        # all or none of 4 systems are swapped once in 8
        assert test["value"] > 0.05 if permute == "systems" else test["value"] < 0.05


def test_the_sources_needed_follow_from_what_can_be_detected() -> None:
    rows = list(
        comparison.rows(
            study(
                clear(good=GOOD["clear"], fair=FAIR["clear"]),
                comparison=PEARSON | {"wished": 0.1},
            )
        )
    )
    least, needed = (
        row_of(rows, "detectable_pearson"),
        row_of(rows, "sources_needed_pearson"),
    )
    assert least["value"] > 0 and (least["ci_low"], least["ci_high"]) == (None, None)
    assert needed["value"] == np.ceil(ITEMS * (least["value"] / 0.1) ** 2)
    assert needed["method"] == "for a difference of 0.1, power .8 at .05"


def test_a_difference_beyond_the_range_of_the_statistic_cannot_be_detected() -> None:
    judges = clear(noisy=NOISY["clear"], other=points(NOISE[4, 0]))
    wanted = PEARSON | {"statistics": ["kendall_b"], "levels": ["pooled", "by_system"]}
    rows = list(comparison.rows(study(judges, comparison=wanted)))
    seen, unseen = (
        row_of(rows, "detectable_kendall_b", level=each)
        for each in ("pooled", "by_system")
    )
    assert 0 < seen["value"] < 2 and not seen["note"]
    assert unseen["value"] is None and unseen["note"].startswith(
        "more than the whole range"
    )
    assert row_of(rows, "sources_needed_kendall_b", level="by_system")["value"] > ITEMS


# Systems that are the references


def referred(**spec: Any) -> EvaluationData:
    cards = {"metric": {"references": True}}
    judges = clear(metric=GOOD["clear"], plain=FAIR["clear"])
    return study(
        judges, cards=cards, reference_systems=["s3"], comparison=PEARSON, **spec
    )


@pytest.mark.parametrize("exclude", [True, False])
def test_a_judge_with_references_is_rated_without_the_systems_that_are_them(
    exclude: bool,
) -> None:
    rows = list(agreement.rows(referred(exclude_reference_systems=exclude)))
    found = rows_of(rows, "pearson", judge="metric", level="pooled")
    apart = SYSTEM != 3
    y = RATINGS["clear"].mean(axis=0)
    want: dict[Any, Any] = {
        WITHOUT_REFERENCES: (45, pytest.approx(r_of(GOOD["clear"][apart], y[apart])))
    }
    if not exclude:
        want[None] = (60, pytest.approx(r_of(GOOD["clear"], y)))
    assert {row["system_subset"]: (row["n"], row["value"]) for row in found} == want
    plain = row_of(rows, "pearson", judge="plain", level="pooled")
    assert (plain["system_subset"], plain["n"]) == (None, 60)
    people = rows_of(rows, judge="human")
    assert people and {row.get("system_subset") for row in people} == {None}


def test_judges_are_compared_without_references_where_one_of_them_needs_it() -> None:
    rows = list(comparison.rows(referred()))
    assert {row["system_subset"] for row in rows} == {WITHOUT_REFERENCES}
    assert row_of(rows, "p_pearson")["n"] == 45
    wanted = PEARSON | {"judges": ["plain", "other"]}
    judges = {"metric": GOOD, "plain": FAIR, "other": NOISY}
    cards = {"metric": {"references": True}}
    told = study(judges, cards=cards, reference_systems=["s3"], comparison=wanted)
    rows = list(comparison.rows(told))
    assert {row["system_subset"] for row in rows} == {None}
    assert {row["n"] for row in rows_of(rows, "p_pearson")} == {60}


# Draws


def draws_of(judge: str, table: ArrayLike, **more: Any) -> list[Row]:
    """Return the rows of draws (draws, 60) of one aspect, null where NaN."""
    place = {"judge": judge, "aspect": "clear", **more}
    return [
        {
            **place,
            "target": target,
            "draw": draw,
            "value": None if np.isnan(value) else value,
        }
        for draw, values in enumerate(np.asarray(table, dtype=np.float64))
        for target, value in zip(TARGETS, values.tolist(), strict=True)
    ]


def repeated(table: ArrayLike, *more: Row, draws: int = 3) -> list[ResultRow]:
    cards = {"judge": {"draws": draws}, "once": {}}
    return list(
        repeatability.rows(
            study({}, cards=cards, draws=[*draws_of("judge", table), *more])
        )
    )


def test_draws_are_held_together_and_more_of_them_are_worth_less_and_less() -> None:
    table = points(QUALITY[0] + 0.5 * NOISE[:3, 0])
    table[1:, 0] = NAN  # one draw is no unit
    elsewhere = draws_of("judge", table[::-1], perturbation="original")
    foreign = draws_of("gone", table)
    single = draws_of("once", table[:1])
    rows = repeated(table, *elsewhere, *foreign, *single)
    assert {(row["judge"], row["aspect"], row["level"]) for row in rows} == {
        ("judge", "clear", "pooled")
    }
    flips = row_of(rows, "flip_rate")
    assert flips["value"] == pytest.approx(np.mean(np.ptp(table[:, 1:], axis=0) > 0))
    assert (flips["n"], flips["n_missing"]) == (N - 1, 1)
    reliability = row_of(rows, "reliability")
    shares = rows_of(rows, "attainable_share")
    assert tuple(row["k"] for row in shares) == CURVE
    for row in shares:
        for end in ("value", "ci_low", "ci_high"):
            assert row[end] == pytest.approx(spearman_brown(reliability[end], row["k"]))
    assert [row["value"] for row in shares] == sorted({row["value"] for row in shares})


def test_a_judge_that_draws_at_random_attains_nothing_and_the_reason_is_told() -> None:
    rows = repeated(np.tile([[1.0, 5.0], [5.0, 1.0]], (1, N // 2)), draws=2)
    assert row_of(rows, "reliability")["value"] < 0
    shares = rows_of(rows, "attainable_share")
    assert [(row["value"], row["note"]) for row in shares] == [
        (None, REASONS.unreliable)
    ] * len(CURVE)


# Votes

Vote = Callable[[int, int], float | None]


def votes_of(judge: str, vote: Vote, **more: Any) -> list[Row]:
    """Return every pair of an item's texts in both orders; `vote` sees two targets'
    numbers.
    """
    pairs = [
        (a, b) for a in range(N) for b in range(N) if ITEM[a] == ITEM[b] and a != b
    ]
    place = {"judge": judge, "aspect": "clear", "draw": 0, **more}
    return [
        {**place, "target": TARGETS[a], "target_b": TARGETS[b], "value": vote(a, b)}
        for a, b in pairs
    ]


def voted(vote: Vote) -> dict[str, tuple[Any, int, int]]:
    told = study({}, cards={"judge": {}}, draws=votes_of("judge", vote))
    return {
        row["statistic"]: (row["value"], row["n"], row["n_missing"])
        for row in pairwise.rows(told)
    }


PEOPLE = RATINGS["clear"].mean(axis=0)
PAIRS = [(a, b) for a in range(N) for b in range(a + 1, N) if ITEM[a] == ITEM[b]]
DECIDED = sum(PEOPLE[a] != PEOPLE[b] for a, b in PAIRS)


def test_who_votes_as_people_do_is_right_wherever_people_decide() -> None:
    found = voted(lambda a, b: float(np.sign(PEOPLE[a] - PEOPLE[b])))
    assert found["accuracy_comparison"] == (1, DECIDED, 0)
    assert found["accuracy_comparison_half"] == (1, DECIDED, 0)
    assert found["tie_rate"] == (0, DECIDED, 0)
    assert found["order_consistency"] == (1, len(PAIRS), 0)
    assert found["first_position_rate"] == (0.5, 2 * DECIDED, 0)
    assert found["nontransitive_share"][0] == 0
    assert 0 < DECIDED < len(PAIRS)


def test_the_majority_of_several_draws_is_what_both_orders_share() -> None:
    draws = votes_of("judge", lambda a, b: float(a < b))
    for draw in (1, 2):
        draws += votes_of("judge", lambda a, b: 0.0, draw=draw)
    told = study({}, cards={"judge": {"draws": 3}}, draws=draws)
    found = row_of(pairwise.rows(told), "order_consistency")
    assert (found["value"], found["n"]) == (1, len(PAIRS))


def test_who_always_takes_the_first_says_nothing() -> None:
    found = voted(lambda a, b: 1.0)
    assert found["order_consistency"] == (0, len(PAIRS), 0)
    assert found["first_position_rate"] == (1, 2 * len(PAIRS), 0)
    assert found["accuracy_comparison"] == (0, DECIDED, 0)
    assert found["accuracy_comparison_half"] == (0.5, DECIDED, 0)
    assert found["tie_rate"] == (1, DECIDED, 0)
    assert found["nontransitive_share"] == (None, 0, ITEMS * 4)


def test_who_goes_round_in_circles_is_found_out() -> None:
    # of four systems 0 beats 1, 1 beats 2, 2 beats 3, 3 beats 0, 0 beats 2 and 1 beats
    # 3: the triples 0 1 3 and 0 2 3 are circles, 0 1 2 and 1 2 3 are not
    beaten = {(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)}
    found = voted(lambda a, b: 1.0 if (SYSTEM[a], SYSTEM[b]) in beaten else -1.0)
    assert found["nontransitive_share"] == (0.5, ITEMS * 4, 0)
    assert found["order_consistency"] == (1, len(PAIRS), 0)


def test_a_vote_in_one_order_is_a_verdict_and_no_vote_is_missing() -> None:
    def vote(a: int, b: int) -> float | None:
        if ITEM[a] == 0 or a > b:
            return None
        return float(np.sign(PEOPLE[a] - PEOPLE[b]))

    unknown = sum(PEOPLE[a] != PEOPLE[b] for a, b in PAIRS if ITEM[a] == 0)
    found = voted(vote)
    assert found["accuracy_comparison"] == (1, DECIDED - unknown, unknown)
    assert found["accuracy_comparison_half"] == (1, DECIDED - unknown, unknown)
    assert found["order_consistency"] == (None, 0, len(PAIRS))


def test_votes_on_other_texts_have_their_place_and_no_people() -> None:
    others = [
        {
            **{
                "target": f"{name}.x",
                "item": name[:3],
                "system": name[4:],
                "text": "x",
            },
            **{"perturbation": "typo", "degree": "2"},
        }
        for name in TARGETS
    ]
    votes = votes_of("judge", lambda a, b: float(np.sign(b - a)), perturbation="typo.2")
    votes = [
        row | {"target": f"{row['target']}.x", "target_b": f"{row['target_b']}.x"}
        for row in votes
    ]
    gone = votes_of("gone", lambda a, b: 1.0)
    rows = list(
        pairwise.rows(
            study({}, cards={"judge": {}}, targets=others, draws=[*votes, *gone])
        )
    )
    assert {(row["judge"], row["perturbation"], row["degree"]) for row in rows} == {
        ("judge", "typo", "2")
    }
    assert {row["statistic"] for row in rows} == {
        *("order_consistency", "first_position_rate", "nontransitive_share")
    }


# All tables


def test_a_signature_says_what_makes_the_number_again() -> None:
    cards = {
        "good": {"prompt": "ab12", "draws": 3, "temperature": 0.7, "parser": "number@1"}
    }
    told = study({"good": GOOD}, cards=cards)
    assert told.signature("good", "pearson", "by_source") == (
        "judge:good|card:c0de|prompt:ab12|draws:3|temperature:0.7|parser:number@1"
        f"|data:d@0123abcd|stat:pearson|level:by_source|seed:7|v:{__version__}"
    )
    assert told.signature("human", "alpha_ordinal", "") == (
        f"judge:human|data:d@0123abcd|stat:alpha_ordinal|seed:7|v:{__version__}"
    )
    for name in ("kendall_b", "difference_kendall_b", "p_holm_kendall_b"):
        assert f"|level:pooled|ties:tau-b|seed:7|v:{__version__}" in told.signature(
            "good", name, "pooled"
        )
    assert "|ties:" not in told.signature("good", "p_holm_pearson", "pooled")


def test_every_row_of_every_table_is_signed_and_fits_its_table(tmp_path: Path) -> None:
    draws = draws_of("good", points(QUALITY[0] + NOISE[:2, 0]))
    votes = votes_of("noisy", lambda a, b: 1.0)
    told = study(
        FIELD, cards={"good": {"draws": 2}, "noisy": {}}, draws=[*draws, *votes]
    )
    tables = {
        **{"agreement": agreed(), "comparison": compared()},
        **{
            "repeatability": list(repeatability.rows(told)),
            "pairwise": list(pairwise.rows(told)),
        },
    }
    for name, rows in tables.items():
        write_table("results", table_of("results", rows), tmp_path / f"{name}.parquet")
        assert len({row["signature"] for row in rows}) > 1
        for row in rows:
            said = (
                *(f"judge:{row['judge']}|", "data:d@0123abcd|", "|seed:7|"),
                f"|stat:{row['statistic']}|level:{row['level']}|",
            )
            assert all(part in row["signature"] for part in said)


@pytest.mark.simulation
def test_the_order_of_rows_in_the_tables_makes_no_difference_and_the_seed_does() -> (
    None
):
    judges = clear(good=GOOD["clear"], fair=FAIR["clear"])
    told, other = study(judges), study(judges, seed=8)
    backwards = {
        name: table.take(np.arange(table.num_rows)[::-1])
        for name in ("items", "targets", "ratings", "scores")
        for table in [getattr(told, name)]
    }
    turned = replace(told, **backwards)
    for method in (agreement, comparison):
        assert list(method.rows(turned)) == list(method.rows(told))
    first, second = (
        row_of(agreement.rows(each), "pearson", judge="good", level="pooled")
        for each in (told, other)
    )
    ends = ("value", "ci_low", "ci_high")
    assert [first[end] for end in ends] == [
        second[end] for end in ends
    ]  # nothing is drawn
    drawn = [
        [
            row["value"]
            for row in comparison.rows(each)
            if row["statistic"].startswith("p_")
        ]
        for each in (told, other)
    ]
    assert drawn[0] != drawn[1]
