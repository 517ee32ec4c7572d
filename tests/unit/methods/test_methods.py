"""The rows of result tables, made of one small dataset in memory."""

import re
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import FIVE, row_of, rows_of
from deleted import jackknife_t
from judgescope.methods import agreement, comparison, repeatability
from judgescope.methods.agreement import below_controls
from judgescope.methods.measures import (
    AVERAGE,
    LARGEST_CEILING,
    classes_of,
    classes_with,
    ranked,
)
from judgescope.statistics.alt_test import alternative_annotator
from judgescope.statistics.classes import ON_CLASSES
from judgescope.statistics.raters import RaterVerdict, lower_median, mean_rating
from judgescope.statistics.registry import names_of_group
from judgescope.statistics.result import REASONS
from methods_setup import (
    ASPECTS,
    CONSTANT,
    FAIR,
    FIELD,
    GOOD,
    HALVES,
    ITEM,
    ITEMS,
    NAN,
    NOISE,
    QUALITY,
    RATINGS,
    SYSTEM,
    N,
    agreement_rows,
    draws_of,
    less,
    on_clear,
    pearson_row,
    r_of,
    study,
)

BIASES = set(names_of_group("bias"))
ALPHAS = {"alpha_nominal", "alpha_ordinal", "alpha_interval"}


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
    data = study(on_clear(judge=np.ones(N)), cards={"judge": card}, values=values)
    assert classes_of(data, "judge", "clear") == classes
    gold, out = np.array([1.0, 5.0, NAN]), np.array([1.0, 8.0, NAN])
    on = (classes, "" if classes else REASONS.continuous)
    assert classes_with(data, "judge", "clear", gold, gold) == on
    off = (None, REASONS.off_scale if classes else REASONS.continuous)
    assert classes_with(data, "judge", "clear", np.array([1.0, 2.25]), gold) == off
    odd = (None, REASONS.off_judge_scale if classes else REASONS.continuous)
    assert classes_with(data, "judge", "clear", gold, out) == odd


@pytest.mark.heavy
def test_score_off_the_scale_leaves_only_its_classes_undefined() -> None:
    """Chiang and Lee's parser reads 8 on a scale of 1 to 5, as its authors did."""
    odd = np.array(GOOD["clear"])
    odd[3] = 8.0
    data = study(
        on_clear(odd=odd, fair=FAIR["clear"]),
        cards={"odd": {"draws": 2}},
        draws=draws_of("odd", np.stack([odd, GOOD["clear"]])),
        comparison={"statistics": ["pearson", "kappa_linear"], "levels": ["pooled"]},
    )
    rows = [*agreement.rows(data), *comparison.rows(data), *repeatability.rows(data)]
    for name in (*ON_CLASSES, "alpha_pair", "alpha_draws"):
        result = rows_of(rows, name, judge="odd", aspect="clear", judge_b=None)
        assert result and {row["note"] for row in result} == {REASONS.off_judge_scale}
    for name in ("pearson", "flip_rate", "reliability", "attainable_share"):
        result = rows_of(rows, name, judge="odd", aspect="clear", judge_b=None)
        assert result and all(row["value"] is not None for row in result)
    assert row_of(agreement.rows(data), "kappa_linear", judge="fair", aspect="clear")[
        "value"
    ]


# Agreement: warnings


def test_what_is_below_the_best_control_says_so_and_nothing_else_does() -> None:
    data = study(
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
    values: list[Any] = [
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
    result = below_controls(data, [*below, *controls, *values])
    warning = "warning: below control control-b (0.500)"
    assert [row["note"] for row in result[:2]] == [
        warning,
        f"no interval: 9 sources; {warning}",
    ]
    assert result[2:] == [*controls, *values]


@pytest.mark.heavy
def test_noisy_judge_has_a_warning_where_a_control_is_better_and_the_good_none() -> (
    None
):
    control = {
        (row["aspect"], row["statistic"], row["level"]): row["value"]
        for row in rows_of(agreement_rows(), judge="fair-control")
    }
    warned = 0
    for record in rows_of(agreement_rows()):
        best = control.get((record["aspect"], record["statistic"], record["level"]))
        lower = None not in (best, record["value"]) and record["value"] < best
        named = (
            record["judge"] in {"noisy", "constant"}
            and record["statistic"] not in BIASES
        )
        assert ("below control fair-control" in record["note"]) == (lower and named), (
            record
        )
        warned += lower and named
    assert warned > 30
    assert not any(
        "below" in row["note"] for row in rows_of(agreement_rows(), judge="good")
    )
    lower = row_of(agreement_rows(), "kappa_linear", judge="constant", aspect="clear")
    assert (
        lower["value"] == 0 and "warning: below control fair-control" in lower["note"]
    )


@pytest.mark.parametrize(
    ("others", "given", "share"), [(3, 60, "95.0%"), (2, 50, "96.0%")]
)
def test_a_judge_of_nearly_a_single_score_is_degenerate(
    others: int, given: int, share: str
) -> None:
    x = np.where(np.arange(N) < others, [1.0, 2.0] * (N // 2), 4.0)
    rows = list(agreement.rows(study(on_clear(judge=less(x, slice(given, None))))))
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
        agreement.rows(study(on_clear(judge=np.where(np.arange(N) < others, 1.0, 4.0))))
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
    rows = list(agreement.rows(study(on_clear(judge=x), cards=cards)))
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
        agreement.rows(
            study(on_clear(judge=free), cards={"judge": {"discrete": False}})
        )
    )
    note = row_of(rows, "acc_eq", judge="judge", aspect="clear")["note"]
    assert re.fullmatch(
        r"score differences up to \S+ count as ties; chosen on the other sources", note
    )


# Agreement: what there is


@pytest.mark.heavy
def test_correlations_are_with_the_mean_and_classes_with_the_lower_median() -> None:
    result = row_of(
        agreement_rows(), "pearson", judge="good", aspect="true", level="pooled"
    )
    assert result["value"] == pytest.approx(
        r_of(GOOD["true"], RATINGS["true"].mean(axis=0))
    )
    assert result["method"].startswith(
        "against the raters' mean; jackknife-t on atanh over 15 sources"
    )
    classes = rows_of(
        agreement_rows(), *ON_CLASSES, "alpha_pair", judge="good", aspect="true"
    )
    assert len(classes) == 4
    for each in classes:
        assert each["method"].startswith("against the raters' lower median; ")
    perfect = study(on_clear(judge=np.median(RATINGS["clear"], axis=0)))
    for each in rows_of(
        agreement.rows(perfect), *ON_CLASSES, "alpha_pair", judge="judge"
    ):
        assert each["value"] == pytest.approx(1)
    for judge in ("good", "human"):
        result = row_of(agreement_rows(), "cem_ord", judge=judge, aspect="true")
        assert "floor 0." in result["note"], judge


@pytest.mark.heavy
def test_a_judge_stands_among_the_raters() -> None:
    by_judge = {
        judge: row_of(
            agreement_rows(),
            "as_rater_pearson",
            judge=judge,
            aspect="clear",
            level="pooled",
        )
        for judge in ("good", "noisy")
    }
    ratings, gaps = RATINGS["clear"], []
    for at in range(len(ratings)):
        others = np.delete(ratings, at, axis=0).mean(axis=0)
        gaps.append(r_of(GOOD["clear"], others) - r_of(ratings[at], others))
    assert by_judge["good"]["value"] == pytest.approx(np.mean(gaps))
    assert by_judge["noisy"]["value"] < by_judge["good"]["value"]
    assert by_judge["noisy"]["note"].startswith(
        (RaterVerdict.WORSE, RaterVerdict.UNDECIDED)
    )
    share = row_of(
        agreement_rows(),
        "as_rater_share_pearson",
        judge="good",
        aspect="clear",
        level="pooled",
    )
    assert share["ci_low"] < share["value"] < share["ci_high"]
    assert rows_of(
        agreement_rows(), "as_rater_kappa_linear", judge="good", aspect="clear"
    )
    assert rows_of(agreement_rows(), "as_rater_pearson", judge="human") == []


def test_a_number_that_hangs_on_an_item_names_it() -> None:
    x = np.where(ITEM == 3, GOOD["clear"], 3.0)  # constant without the fourth item
    row = row_of(
        agreement.rows(study(on_clear(judge=x))),
        "pearson",
        judge="judge",
        level="pooled",
    )
    assert row["value"] is not None and row["ci_low"] is None
    assert row["note"].startswith("no interval: depends on source i03")


def test_ratings_that_are_nearly_all_one_are_warned_of() -> None:
    ratings = np.where((ITEM < 9) & (np.arange(N) % 4 == 0), 2.0, 4.0)
    data = study(on_clear(good=GOOD["clear"]), {"clear": [ratings] * 3})
    row = row_of(agreement.rows(data), "pearson", judge="good", level="pooled")
    assert (
        row["ci_low"] is not None
        and "warning: only 9 sources have a rating other" in row["note"]
    )


def test_a_constant_judge_has_reasons_and_no_numbers() -> None:
    rows = rows_of(
        agreement_rows(),
        "pearson",
        "spearman",
        "kendall_b",
        judge="constant",
        aspect="clear",
    )
    assert len(rows) == 9
    assert {(row["value"], row["note"]) for row in rows} == {
        (None, REASONS.constant_judge)
    }


def test_the_average_loses_an_item_in_all_aspects_at_once() -> None:
    data = study(FIELD)
    each = [
        ranked(data.systems, GOOD[name], RATINGS[name].mean(axis=0)) for name in ASPECTS
    ]
    averages = rows_of(agreement_rows(), judge="good", aspect=AVERAGE)
    assert {(row["statistic"], row["level"]) for row in averages} == each[0].keys()
    for row in averages:
        values = (row["statistic"], row["level"])
        mean = np.mean([entry[values].rows for entry in each], axis=0)
        assert row["value"] == pytest.approx(mean[0])
        ends = (0.0, 1.0) if row["statistic"] in ("acc_eq", "spa") else (-1.0, 1.0)
        expected = jackknife_t(float(mean[0]), mean[1:].tolist(), ends=ends)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected)
        assert row["n"] == 2 and row["method"].startswith("mean over aspects; ")


@pytest.mark.heavy
def test_an_average_is_undefined_where_an_aspect_is_and_one_aspect_has_none() -> None:
    half = {"clear": GOOD["clear"], "true": CONSTANT["true"]}
    rows = list(agreement.rows(study({"half": half} | on_clear(single=GOOD["clear"]))))
    assert not rows_of(rows, judge="single", aspect=AVERAGE)
    for name in ("pearson", "spearman", "kendall_b"):
        for average in rows_of(rows, name, judge="half", aspect=AVERAGE):
            expected = (average["value"], average["n"], average["note"])
            assert expected == (None, 1, "undefined on 1 of 2 aspects: constant judge")
    assert row_of(rows, "acc_eq", judge="half", aspect=AVERAGE)["value"] is not None


@pytest.mark.heavy
def test_what_was_not_scored_or_not_rated_has_no_rows() -> None:
    rows = list(agreement.rows(study({"good": GOOD} | on_clear(some=GOOD["clear"]))))
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
    data = study(
        on_clear(judge=GOOD["clear"]), {"clear": ratings[None]}, cards=cards, **more
    )
    rows = list(agreement.rows(data))
    classes = rows_of(rows, *ON_CLASSES, "alpha_pair", judge="judge")
    assert [(row["value"], row["note"]) for row in classes] == [(None, reason)] * 4
    assert row_of(rows, "pearson", judge="judge", level="pooled")["value"] is not None


@pytest.mark.parametrize("given", [True, False])
def test_what_sways_a_judge_is_reported_where_it_can_be_known(given: bool) -> None:
    ends = {"clear": [1.0, 5.0] if given else None}
    cards = {"judge": {"family": "f", "ends": ends}}
    data = study(
        on_clear(judge=GOOD["clear"]), cards=cards, families={"s0": "f", "s1": "g"}
    )
    named = {row["statistic"] for row in agreement.rows(data)}
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
    people = rows_of(agreement_rows(), judge="human", aspect="clear")
    assert all(row["value"] is not None for row in people)
    places = {(row["statistic"], row["level"]) for row in people}
    judged = {
        (row["statistic"], row["level"])
        for row in rows_of(agreement_rows(), judge="good")
    }
    collected = {(name, "pooled") for name in (*BIASES, "alpha_pair")}
    tests = {("alt_test_winrate", "pooled"), ("alt_test_advantage", "pooled")}
    judged = {location for location in judged if not location[0].startswith("as_rater")}
    assert places - {(name, "pooled") for name in ALPHAS} == judged - collected - tests
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
    [
        (1, "people", "one rater"),
        (3, "planned", "ratings are planned, not people's"),
        (3, "model", "ratings are a model's, not people's"),
    ],
)
def test_one_rater_or_a_plan_has_no_alpha_no_ceiling_and_no_place_to_take(
    raters: int, kind: str, reason: str
) -> None:
    rows = list(
        agreement.rows(
            study(
                on_clear(judge=GOOD["clear"]),
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
        ["fewer than 3 raters"] * 2 if kind == "people" else []
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
    data = study(on_clear(judge=GOOD["clear"]), alt_test=rule)
    rate = row_of(
        agreement.rows(data), "alt_test_winrate", judge="judge", aspect="clear"
    )
    advantage = row_of(
        agreement.rows(data), "alt_test_advantage", judge="judge", aspect="clear"
    )
    assert rate["method"] == method
    wanted = alternative_annotator(
        np.array(GOOD["clear"]),
        np.array(RATINGS["clear"]),
        data.systems.source,
        weights=data.weights,
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
