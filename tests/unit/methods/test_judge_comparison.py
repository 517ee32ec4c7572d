"""Rows that compare judges with each other: differences, tests, ranks."""

from typing import Any

import numpy as np
import pytest

from dataset_in_memory import row_of, rows_of
from deleted import jackknife_t
from judgescope.methods import agreement, comparison
from judgescope.methods.evaluation_data import WITHOUT_REFERENCES, EvaluationData
from judgescope.methods.measures import (
    AVERAGE,
    ranked,
)
from judgescope.statistics.intervals import benjamini_hochberg, holm
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
    NOISY,
    PEARSON,
    RATINGS,
    SYSTEM,
    N,
    comparison_rows,
    less,
    on_clear,
    points,
    r_of,
    study,
)

# Judges beside each other


@pytest.mark.heavy
def test_best_judge_is_first_and_undecided_differences_share_letters() -> None:
    letters: dict[str, set[str]] = {}
    ranks = rows_of(comparison_rows(), "rank_pearson", aspect="clear", level="pooled")
    for row in ranks:
        if row["judge"] == "constant":
            assert (row["value"], row["note"]) == (None, REASONS.constant_judge)
        else:
            _, _, group = row["note"].partition("group ")
            letters[row["judge"]] = set(group)
    values = {row["judge"]: row["value"] for row in ranks}
    assert values == {"good": 1, "fair-control": 2, "noisy": 3, "constant": None}
    assert {row["n"] for row in ranks} == {3} and "a" in letters["good"]
    tests = rows_of(comparison_rows(), "p_holm_pearson", aspect="clear", level="pooled")
    known = [row for row in tests if row["value"] is not None]
    assert len(tests) == 6 and len(known) == 3
    for row in known:
        differ = not letters[row["judge"]] & letters[row["judge_b"]]
        assert differ == (row["value"] <= 0.05)
    assert letters["good"] != letters["noisy"]


@pytest.mark.heavy
def test_a_difference_is_the_first_less_the_second_and_turns_with_the_order() -> None:
    data = study({"good": GOOD, "noisy": NOISY})
    back = study({"noisy": NOISY, "good": GOOD})
    rows, turned = list(comparison.rows(data)), list(comparison.rows(back))
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
    data = study({"good": GOOD, "noisy": NOISY, "constant": CONSTANT})
    rows = list(comparison.rows(data))
    values = ("pearson", "pooled")
    means = [
        np.mean(
            [
                ranked(data.systems, scores[name], RATINGS[name].mean(axis=0))[
                    values
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
        comparison.rows(study(on_clear(good=GOOD["clear"], noisy=NOISY["clear"])))
    )
    assert rows_of(single, aspect="clear") and not rows_of(single, aspect=AVERAGE)


def test_p_values_are_corrected_over_the_pairs_of_a_single_location() -> None:
    places = {
        (row["aspect"], row["level"]) for row in rows_of(comparison_rows(), "p_pearson")
    }
    assert len(places) == 6
    for aspect, level in places:
        p, by_holm, by_fdr = (
            [
                row["value"]
                for row in rows_of(comparison_rows(), name, aspect=aspect, level=level)
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
        comparison_rows(),
        judge="good",
        judge_b="constant",
        aspect="clear",
        level="by_source",
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
        comparison.rows(study(on_clear(first=first, last=last), comparison=PEARSON))
    )
    y, both = RATINGS["clear"].mean(axis=0), slice(20, 48)
    gap = row_of(rows, "difference_pearson")
    want = r_of(first[both], y[both]) - r_of(last[both], y[both])
    assert (gap["value"], gap["n"]) == (pytest.approx(want), 28)
    assert gap["n_missing"] == N - 28
    assert row_of(rows, "p_pearson")["n"] == 28
    values = [r_of(first[20:], y[20:]), r_of(last[:48], y[:48])]
    assert [row["value"] for row in rows_of(rows, "rank_pearson")] == [
        2 - (values[0] > values[1]),
        1 + (values[0] > values[1]),
    ]


@pytest.mark.parametrize("statistics", [["pearson", "kendall_b"], ["kappa_linear"]])
def test_judges_that_share_no_target_are_not_compared(statistics: list[str]) -> None:
    nothing = np.full(N, NAN)
    judges = on_clear(none=nothing, good=GOOD["clear"])
    rows = list(comparison.rows(study(judges, comparison={"statistics": statistics})))
    gaps = [row for row in rows if row.get("judge_b")]
    assert gaps and {row["value"] for row in gaps} == {None}
    assert all(row["note"] for row in gaps)


def test_intervals_and_sources_needed_rest_on_the_sources_that_both_have() -> None:
    few = less(GOOD["clear"], ITEM > 2)
    judges = on_clear(few=few, fair=FAIR["clear"], noisy=NOISY["clear"])
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
    judges = on_clear(
        a=less(GOOD["clear"], SYSTEM > 1), b=less(FAIR["clear"], SYSTEM > 1)
    )
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
    judges: Any = on_clear(metric=metric) | {"a-control": {"clear": control}}
    rows = list(agreement.rows(study(judges, cards=cards, reference_systems=["s3"])))
    own_part = row_of(rows, "pearson", judge="metric", level="pooled")
    best = {
        row["system_subset"]: row["value"]
        for row in rows_of(rows, "pearson", judge="a-control", level="pooled")
    }
    assert best[WITHOUT_REFERENCES] is None and own_part["value"] < best[None]
    assert "below control" not in own_part["note"]


def test_a_judge_on_a_scale_of_its_own_is_correlated_and_has_no_classes_in_common() -> (
    None
):
    cards = {
        "judge": {"grid": {"clear": [*range(1, 11)]}, "ends": {"clear": (1.0, 10.0)}}
    }
    judges: Any = on_clear(judge=np.arange(N) % 10 + 1.0)
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
    judges: Any = on_clear(judge=np.arange(N) % 11 / 10)
    data = study(judges, people, cards=cards, values=tenths)
    result = row_of(agreement.rows(data), "kappa_linear", judge="judge")
    assert result["value"] is not None


def test_kappa_is_compared_only_between_judges_of_the_same_classes() -> None:
    half = np.maximum(GOOD["clear"] - 0.5, 1)
    judges = on_clear(
        good=GOOD["clear"], fair=FAIR["clear"], halves=half, free=NOISE[0, 0]
    )
    cards: Any = {
        "halves": {"grid": {"clear": HALVES}},
        "free": {"grid": {"clear": None}},
    }
    data = study(judges, cards=cards, comparison={"statistics": ["kappa_linear"]})
    rows = list(comparison.rows(data))
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
    actual = {(row["statistic"], row["aspect"], row["value"]) for row in alone}
    statistics = ("rank_normal_scores", "rank_pearson")
    assert actual == {
        (statistic, aspect, 1) for statistic in statistics for aspect in ASPECTS
    }
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
    text = f"PERM-INPUTS, {permutations} permutations, two-sided"
    assert len(tests) == judges * (judges - 1) // 2
    assert {row["method"] for row in tests} == {text}
    steps = [row["value"] * (permutations + 1) for row in tests]
    assert steps == pytest.approx(np.round(steps))


@pytest.mark.parametrize("permute", ["inputs", "systems", "both"])
def test_what_is_permuted_is_reported_and_of_four_systems_little_can_be_shown(
    permute: str,
) -> None:
    judges = on_clear(good=GOOD["clear"], noisy=NOISY["clear"])
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
                on_clear(good=GOOD["clear"], fair=FAIR["clear"]),
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
    judges = on_clear(noisy=NOISY["clear"], other=points(NOISE[4, 0]))
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
    judges = on_clear(metric=GOOD["clear"], plain=FAIR["clear"])
    return study(
        judges, cards=cards, reference_systems=["s3"], comparison=PEARSON, **spec
    )


@pytest.mark.parametrize("exclude", [True, False])
def test_a_judge_with_references_is_rated_without_the_systems_that_are_them(
    exclude: bool,
) -> None:
    rows = list(agreement.rows(referred(exclude_reference_systems=exclude)))
    result = rows_of(rows, "pearson", judge="metric", level="pooled")
    holds = SYSTEM != 3
    y = RATINGS["clear"].mean(axis=0)
    want: dict[Any, Any] = {
        WITHOUT_REFERENCES: (45, pytest.approx(r_of(GOOD["clear"][holds], y[holds])))
    }
    if not exclude:
        want[None] = (60, pytest.approx(r_of(GOOD["clear"], y)))
    assert {row["system_subset"]: (row["n"], row["value"]) for row in result} == want
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
    data = study(judges, cards=cards, reference_systems=["s3"], comparison=wanted)
    rows = list(comparison.rows(data))
    assert {row["system_subset"] for row in rows} == {None}
    assert {row["n"] for row in rows_of(rows, "p_pearson")} == {60}
