"""The rows of perspectives.csv: two views of a judge on texts that people rated."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from dataset_in_memory import FIVE, Floats, Row, row_of, rows_of
from deleted import jackknife_t
from judgescope.methods import differences, pairwise, perspectives
from judgescope.methods.aspect_views import DIRECT, MEASURES, TRADITIONAL, unanimous
from judgescope.methods.differences import OVERALL
from judgescope.methods.evaluation_data import WITHOUT_REFERENCES
from judgescope.methods.measures import AVERAGE
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import KEYS, table_of
from judgescope.statistics.classes import on_classes
from judgescope.statistics.intervals import FEWEST_SOURCES, NO_INTERVAL
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS
from methods_setup import (
    ASPECTS,
    FIELD,
    GOOD,
    ITEM,
    ITEMS,
    NAN,
    NOISY,
    RATINGS,
    TARGETS,
    N,
    less,
    r_of,
    study,
)


def perspective_rows(
    scores: Mapping[str, Mapping[str, ArrayLike]],
    people: Mapping[str, ArrayLike] = RATINGS,
    **more: Any,
) -> list[Row]:
    defaults: dict[str, Any] = {"compared": [], "excluded": []}
    return [
        dict(row) for row in perspectives.rows(study(scores, people, **defaults | more))
    ]


def agreed(ratings: Floats) -> Floats:
    return np.where((ratings == ratings[0]).all(axis=0), ratings[0], NAN)


SHARED = agreed(RATINGS["clear"])
AGREED = ~np.isnan(SHARED)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return perspective_rows(FIELD)


def test_a_rating_is_shared_where_all_that_gave_one_agree_and_they_are_two() -> None:
    ratings = np.array([[1, 4, 2, NAN, NAN], [1, 5, NAN, 3, NAN], [1, 4, 2, NAN, NAN]])
    assert unanimous(ratings) == pytest.approx([1, NAN, 2, NAN, NAN], nan_ok=True)
    assert np.isnan(unanimous(np.empty((0, 2)))).all()


def test_the_traditional_view_is_of_all_rated_texts(rows: list[Row]) -> None:
    row = row_of(rows, "pearson", judge="good", aspect="clear")
    assert row["value"] == pytest.approx(
        r_of(GOOD["clear"], RATINGS["clear"].mean(axis=0))
    )
    assert (row["level"], row["n"]) == (TRADITIONAL, N)
    assert row["method"].startswith("against the raters' mean, all rated texts")


def test_the_direct_view_is_of_texts_whose_raters_agree(rows: list[Row]) -> None:
    row = row_of(rows, "kappa_linear", judge="good", aspect="clear")
    gold, mine, source = SHARED[AGREED], GOOD["clear"][AGREED], ITEM[AGREED]
    expected = on_classes(gold, mine, FIVE, source, None)
    for name in ("kappa_linear", "cem_ord"):
        row = row_of(rows, name, judge="good", aspect="clear")
        assert row["value"] == expected[name].estimate.value
        assert (row["level"], row["n"]) == (DIRECT, AGREED.sum())
    assert 2 < AGREED.sum() < N
    counts = rows_of(rows, "class_count", judge="human", aspect="clear")
    assert [(row["k"], row["value"]) for row in counts] == [
        (k, float(np.sum(gold == k))) for k in range(1, 6)
    ]
    cells = {
        (row["k"], row["k_b"]): row["value"]
        for row in rows_of(rows, "class_count", judge="good", aspect="clear")
    }
    assert cells == {
        (int(g), int(m)): float(np.sum((gold == g) & (mine == m)))
        for g, m in zip(gold, mine, strict=True)
    }


def test_neighbours_among_the_ratings_of_a_source_are_held_against_each_other() -> None:
    # of the first source all raters give 5, 3, 3, 1, of the second 4, 4, 2 and no
    # shared one
    ratings = np.tile(
        np.r_[5, 3, 3, 1, 4, 4, 2, 2, np.tile([1, 2], 26)], (3, 1)
    ).astype(float)
    ratings[:, 7] = [1, 2, 3]
    ratings[0, 8:] += 1  # nobody agrees on the others
    x = np.full(N, 3.0)
    x[:8] = [5, 4, 3, NAN, 3, 2, 2, 1]
    rows = perspective_rows({"j": {"clear": x}}, {"clear": ratings})
    where = {"judge": "j", "aspect": "clear"}
    # 5>3 + +, 3>1 missing twice; 4>2 + and a tie
    expected = {
        "accuracy_adjacent": (3 / 6, 6),
        "accuracy_adjacent_half": (3.5 / 4, 4),
        "accuracy_adjacent_complete": (3 / 4, 4),
        "tie_rate": (1 / 4, 4),
    }
    for name, (value, n) in expected.items():
        row = row_of(rows, name, **where)
        assert (row["value"], row["n"], row["n_missing"], row["n_tied"]) == (
            value,
            n,
            2,
            1,
        )
        assert row["note"] == "no interval: 2 sources"
    far = {
        row["k"]: (row["value"], row["n"])
        for row in rows_of(rows, "accuracy_by_distance", **where)
    }
    assert far == {1: (3 / 6, 6), 2: (0, 1)}


def drawn(judge: str, draws: Floats) -> list[Row]:
    return [
        {
            "judge": judge,
            "aspect": "clear",
            "target": target,
            "draw": at,
            "value": value,
        }
        for at, one_draw in enumerate(draws)
        for target, value in zip(TARGETS, (float(v) for v in one_draw), strict=True)
    ]


def test_the_mode_of_the_draws_finds_the_rating_and_their_mean_the_order() -> None:
    draws = np.tile(SHARED, (4, 1))
    draws[:, ~AGREED] = 3
    draws[3, AGREED] = np.where(
        draws[3, AGREED] == 5, 1, 5
    )  # one of four draws is far off
    mean = draws.mean(axis=0)
    cards = {"j": {"draws": 4, "discrete": False}}
    rows = perspective_rows(
        {"j": {"clear": mean}}, cards=cards, draws=drawn("j", draws)
    )
    assert row_of(rows, "kappa_linear", judge="j", aspect="clear")["value"] == 1
    row = row_of(rows, "pearson", judge="j", aspect="clear")
    assert row["value"] == pytest.approx(r_of(mean, RATINGS["clear"].mean(axis=0)))
    modes = {"j": {"draws": 4, "discrete": True}}  # its score is the mode
    mine = {"j": {"clear": draws[0]}}
    again = perspective_rows(mine, cards=modes, draws=drawn("j", draws))
    for name in ("pearson", "kappa_linear", "accuracy_adjacent"):
        both = [
            row_of(result, name, judge="j", aspect="clear")["value"]
            for result in (rows, again)
        ]
        assert both[0] == pytest.approx(both[1])


def test_a_tied_mode_is_the_single_nearest_the_mean_and_counted() -> None:
    draws = np.tile(SHARED, (3, 1))
    at = np.flatnonzero(AGREED & (SHARED == 3))[0]
    draws[:, at] = [3, 5, 2]  # the mean is 10/3
    cards = {"j": {"draws": 3, "discrete": False}}
    scores = {"j": {"clear": draws.mean(axis=0)}}
    rows = perspective_rows(
        scores, cards=cards, draws=drawn("j", np.where(np.isnan(draws), 3, draws))
    )
    row = row_of(rows, "kappa_linear", judge="j", aspect="clear")
    assert (
        row["value"] == row["ci_high"] == 1 > row["ci_low"] > 0
    )  # whichever source is deleted
    assert row["note"] == "1 tied modes"


def test_a_judge_on_another_scale_is_put_into_classes_of_equal_width() -> None:
    ten = np.where(AGREED, 2 * SHARED, 5)
    cards = {
        "ten": {
            "grid": {"clear": [float(v) for v in range(1, 11)]},
            "ends": {"clear": (1, 10)},
        }
    }
    plain = {"five": {"clear": np.where(AGREED, SHARED, 3)}}
    rows = perspective_rows({"ten": {"clear": ten}, **plain}, cards=cards)
    assert row_of(rows, "kappa_linear", judge="ten", aspect="clear")["value"] == 1
    linear = perspective_rows(
        {"five": {"clear": 7 * np.asarray(plain["five"]["clear"]) - 2}},
        cards={"five": {"grid": {"clear": None}, "discrete": False}},
    )
    for name in ("pearson", "accuracy_adjacent"):  # the same on any linear scale
        both = [
            row_of(result, name, judge="five", aspect="clear")
            for result in (rows, linear)
        ]
        assert both[0]["value"] == pytest.approx(both[1]["value"])
    kappa = row_of(linear, "kappa_linear", judge="five", aspect="clear")
    assert (kappa["value"], kappa["note"]) == (None, REASONS.continuous)


@pytest.mark.parametrize(
    ("people", "spec", "note"),
    [
        (RATINGS, {"ratings": "planned"}, "ratings are planned, not people's"),
        ({"clear": RATINGS["clear"][:1]}, {}, "one rater"),
        (RATINGS, {"values": None}, REASONS.continuous),
        ({"clear": RATINGS["clear"] + 0.5}, {}, REASONS.off_scale),
    ],
)
def test_where_raters_cannot_agree_only_the_traditional_view_is_left(
    people: Mapping[str, ArrayLike], spec: dict[str, Any], note: str
) -> None:
    rows = perspective_rows({"good": GOOD}, people, **spec)
    assert row_of(rows, "pearson", judge="good", aspect="clear")["value"] is not None
    for name in ("kappa_linear", "cem_ord", "accuracy_adjacent"):
        row = row_of(rows, name, judge="good", aspect="clear")
        assert (row["value"], row["note"]) == (None, note)
    assert row_of(rows, "class_count", judge="human", aspect="clear")["note"] == note


def test_averages_ranks_and_differences_rest_on_the_same_items(rows: list[Row]) -> None:
    where = {"aspect": AVERAGE}
    ordered = (
        set()
    )  # sources with two different ratings on which all agree, of either aspect
    for ratings in RATINGS.values():
        gold = agreed(ratings)
        several = [np.unique(v[~np.isnan(v)]).size > 1 for v in gold.reshape(ITEMS, -1)]
        ordered |= {*np.flatnonzero(several)}
    for statistic, level in MEASURES:
        values = {
            row["judge"]: row["value"] for row in rows_of(rows, statistic, **where)
        }
        each = [
            row_of(rows, statistic, judge="good", aspect=a)["value"]
            for a in ("clear", "true")
        ]
        assert values["good"] == pytest.approx(np.mean(each))
        ranks = {
            row["judge"]: row for row in rows_of(rows, f"rank_{statistic}", **where)
        }
        assert set(ranks) == set(FIELD) and ranks["good"]["value"] == 1
        assert {row["level"] for row in ranks.values()} == {level}
        gap = row_of(
            rows, f"difference_{statistic}", judge="good", judge_b="noisy", **where
        )
        assert gap["value"] == pytest.approx(values["good"] - values["noisy"])
        assert gap["level"] == level
        sources = len(ordered) if statistic.startswith("accuracy") else ITEMS
        if sources < FEWEST_SOURCES:
            assert (gap["ci_low"], gap["note"]) == (
                None,
                f"{NO_INTERVAL}: {sources} sources",
            )
        else:
            assert gap["ci_low"] < gap["value"] < gap["ci_high"]
    assert len(ordered) < FEWEST_SOURCES < ITEMS  # both are seen
    constant = row_of(rows, "rank_pearson", judge="constant", **where)
    assert (constant["value"], constant["note"]) == (
        None,
        "undefined on 2 of 2 aspects: constant judge",
    )
    table_of("results", rows)
    keys = [tuple(row.get(name) for name in KEYS["results"]) for row in rows]
    assert len(set(keys)) == len(keys)


def test_a_number_below_a_control_says_so(rows: list[Row]) -> None:
    row = row_of(rows, "kappa_linear", judge="noisy", aspect="clear")
    assert "warning: below control fair-control" in row["note"]
    ties = rows_of(rows, "tie_rate", judge="good")
    assert ties and not any("warning" in row["note"] for row in ties)


def test_an_aspect_that_a_judge_does_not_judge_leaves_no_average() -> None:
    rows = perspective_rows({"good": GOOD, "half": {"clear": GOOD["clear"]}})
    row = row_of(rows, "pearson", judge="half", aspect=AVERAGE)
    assert (row["value"], row["note"]) == (
        None,
        "undefined on 1 of 2 aspects: not judged",
    )
    assert row_of(rows, "difference_pearson", judge_b="half")["value"] is None


def test_means_over_different_aspects_have_no_difference() -> None:
    judged = {"clear": GOOD, "both": GOOD, "same": NOISY}
    data = study(judged, compared=[], excluded=[])

    def results(
        judge: str, *others: str
    ) -> Iterator[tuple[str, dict[str, Replicated]]]:
        for aspect in ASPECTS if judge == "both" else ("clear",):
            values = judged[judge][aspect]
            yield (
                aspect,
                {"kappa_linear": clustered_mean(values, ITEM, data.weights, ends=None)},
            )

    rows = list(differences.mean_rows(data, results, "global", averaged="graded sets"))
    assert row_of(rows, "kappa_linear", judge="both")["value"] is not None
    for pair in (
        {"judge": "clear", "judge_b": "both"},
        {"judge": "both", "judge_b": "same"},
    ):
        gap = row_of(rows, "difference_kappa_linear", **pair)
        assert gap["value"] is None
        assert gap["note"].endswith("different aspects or sets of texts")
    gap = row_of(rows, "difference_kappa_linear", judge="clear", judge_b="same")
    assert gap["value"] == pytest.approx(GOOD["clear"].mean() - NOISY["clear"].mean())


def test_judges_that_compare_with_references_leave_the_references_out_for_all() -> None:
    cards = {"good": {"references": True}}
    rows = perspective_rows(FIELD, cards=cards, reference_systems=["s0"])
    assert {row["system_subset"] for row in rows} == {WITHOUT_REFERENCES}
    assert {row["n"] for row in rows_of(rows, "pearson", aspect="clear")} == {N - ITEMS}


@pytest.mark.heavy
def test_judges_of_a_share_are_held_against_each_other_on_it() -> None:
    cards = {"good": {"share": 0.7}}
    rows = perspective_rows(FIELD, cards=cards)
    assert row_of(rows, "pearson", judge="good", aspect="clear")["n"] < N
    assert row_of(rows, "pearson", judge="noisy", aspect="clear")["n"] == N
    gap = row_of(
        rows, "difference_pearson", judge="good", judge_b="noisy", aspect=AVERAGE
    )
    assert gap["note"].startswith(
        "computed on a share of the items that all these judges receive"
    )


@pytest.mark.heavy
def test_the_order_of_judges_and_what_is_missing_change_no_other_judge(
    rows: list[Row],
) -> None:
    turned = perspective_rows({name: FIELD[name] for name in reversed(FIELD)})
    holes = {"good": {name: less(v, [1, 5]) for name, v in GOOD.items()}}
    gone = perspective_rows(FIELD | holes)
    for result in (turned, gone):
        for name, level in MEASURES:
            for judge in set(FIELD) - {"good", "constant"}:
                where = {"judge": judge, "aspect": AVERAGE, "level": level}
                assert (
                    row_of(result, name, **where)["value"]
                    == row_of(rows, name, **where)["value"]
                )
    row = row_of(gone, "pearson", judge="good", aspect="clear")
    assert (row["n"], row["n_missing"]) == (N - 2, 2)


# All datasets together


def of_dataset(
    rows: Iterable[Mapping[str, Any]], name: str, *, plus: float = 0.0
) -> list[ResultRow]:
    """Return the rows as a table has them, of another dataset whose values are
    larger.
    """
    moved = [
        dict(row)
        | {"dataset": name}
        | {
            end: row[end] + plus if row[end] is not None else None
            for end in ("value", "ci_low", "ci_high")
        }
        for row in rows
    ]
    table: list[ResultRow] = table_of("results", moved).to_pylist()
    return table


def test_datasets_make_up_a_mean_of_their_averages_and_ranks(rows: list[Row]) -> None:
    assert differences.across(of_dataset(rows, "a")) == []
    result = differences.across(
        [*of_dataset(rows, "a"), *of_dataset(rows, "b", plus=0.25)]
    )
    assert {row["dataset"] for row in result} == {OVERALL}
    row = row_of(result, "kappa_linear", judge="good")
    mine = row_of(rows, "kappa_linear", judge="good", aspect=AVERAGE)
    assert row["value"] == pytest.approx(mine["value"] + 0.125)
    assert row["ci_high"] - row["value"] == pytest.approx(
        (mine["ci_high"] - mine["value"]) / 2**0.5
    )
    assert (
        row["n"] == 2
        and " + " in row["signature"]
        and row["method"].startswith("mean over da")
    )
    assert row_of(result, "rank_kappa_linear", judge="good")["value"] == 1
    assert (
        row_of(result, "difference_kappa_linear", judge="good", judge_b="noisy")[
            "level"
        ]
        == DIRECT
    )
    assert row_of(result, "pearson", judge="constant")["value"] is None
    table_of("results", result)


def test_a_judge_that_no_dataset_ranks_has_no_rank_over_all(rows: list[Row]) -> None:
    collected = [
        row
        for name in ("a", "b")
        for row in of_dataset(rows, name)
        if (row["judge"], row["statistic"][:5]) != ("good", "rank_")
    ]
    ranked = {
        row["judge"]
        for row in differences.across(collected)
        if row["statistic"].startswith("rank_")
    }
    assert "good" not in ranked and "noisy" in ranked
    every = differences.across([*of_dataset(rows, "a"), *of_dataset(rows, "b")])
    with_good, without = (
        row_of(table, "rank_kappa_linear", judge="noisy")["value"]
        for table in (every, differences.across(collected))
    )
    assert without == with_good - 1


def test_a_judge_of_a_single_dataset_has_no_mean_over_two(rows: list[Row]) -> None:
    other = [row for row in of_dataset(rows, "b") if row["judge"] != "good"]
    result = differences.across([*of_dataset(rows, "a"), *other])
    row = row_of(result, "pearson", judge="good")
    assert (row["value"], row["note"]) == (
        None,
        "undefined on 1 of 2 datasets: not judged",
    )


def test_intervals_are_those_of_the_deletions(rows: list[Row]) -> None:
    row = row_of(rows, "kappa_linear", judge="good", aspect="clear")
    weights = study({}).weights
    told_again = on_classes(
        SHARED[AGREED], GOOD["clear"][AGREED], FIVE, ITEM[AGREED], weights
    )["kappa_linear"]
    counted = told_again.rows[1:][told_again.sizes > 0].tolist()
    expected = jackknife_t(float(told_again.rows[0]), counted, ends=(-math.inf, 1.0))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(expected)


def test_a_score_off_the_judges_scale_has_no_class_of_peoples() -> None:
    odd = np.array(GOOD["clear"])
    odd[3] = 8.0
    result = perspective_rows({"odd": {"clear": odd}})
    kappa = row_of(result, "kappa_linear", judge="odd", aspect="clear", level="direct")
    assert (kappa["value"], kappa["note"]) == (None, REASONS.off_judge_scale)
    order = row_of(
        result, "accuracy_adjacent", judge="odd", aspect="clear", level="direct"
    )
    assert order["value"] is not None


STEPS = 4
Pair = tuple[int, int]


def pearson_row(item: int) -> list[Row]:
    """Return an item's texts: so many errors as their step."""
    cell = {
        "item": f"i{item:02}",
        "perturbation": "worse",
        "degree": "single",
        "text": "a",
    }
    return [
        {**cell, "target": f"i{item:02}:{step}", "step": step}
        for step in range(1, STEPS + 1)
    ]


def votes_told(
    vote: Callable[[int, int, int], float | None], pairs: list[Pair]
) -> list[Row]:
    """Return the rows of a judge that is asked about these pairs of steps of every
    item.

    vote(item, step, other) is 1 where the text shown first is called better.
    """
    where = {
        "judge": "judge",
        "aspect": "clear",
        "draw": 0,
        "perturbation": "worse.single",
    }
    votes = [
        {
            **where,
            "target": f"i{at:02}:{a}",
            "target_b": f"i{at:02}:{b}",
            "value": vote(at, a, b),
        }
        for at in range(ITEMS)
        for a, b in pairs
    ]
    targets = [row for item in range(ITEMS) for row in pearson_row(item)]
    judged = study({}, cards={"judge": {}}, draws=votes, targets=targets)
    return [dict(row) for row in pairwise.rows(judged)]


def rows_by_distance(rows: Iterable[Mapping[str, Any]]) -> dict[int, Row]:
    return {
        row["k"]: dict(row)
        for row in rows
        if row["statistic"] == "accuracy_comparison_by_distance"
    }


ALL = [*permutations(range(1, STEPS + 1), 2)]
NEIGHBOURS = [(a, b) for a, b in ALL if abs(a - b) == 1]


def sees(item: int, a: int, b: int, *, least: Callable[[int], int]) -> float:
    """Choose right where the texts are at least so many errors apart, else neither."""
    return float(np.sign(b - a)) if abs(a - b) >= least(item) else 0.0


def test_a_judge_that_sees_two_errors_is_right_from_two_on() -> None:
    result = rows_by_distance(
        votes_told(lambda *pair: sees(*pair, least=lambda item: 2), ALL)
    )
    assert {k: (row["value"], row["n"]) for k, row in result.items()} == {
        1: (0, 3 * ITEMS),
        2: (1, 2 * ITEMS),
        3: (1, ITEMS),
    }
    assert {
        (row["level"], row["perturbation"], row["degree"]) for row in result.values()
    } == {("pooled", "worse", "single")}


def test_every_distance_has_a_separate_share_and_interval() -> None:
    rows = votes_told(lambda *pair: sees(*pair, least=lambda item: 1 + item % 3), ALL)
    result = rows_by_distance(rows)
    assert [result[k]["value"] for k in (1, 2, 3)] == [5 / 15, 10 / 15, 1]
    for k in (1, 2):
        assert result[k]["ci_low"] < result[k]["value"] < result[k]["ci_high"]
    (record,) = (row for row in rows if row["statistic"] == "accuracy_comparison")
    parts = sum(row["value"] * row["n"] for row in result.values())
    assert "k" not in record
    assert record["value"] * record["n"] == pytest.approx(parts)


def test_only_distances_that_were_asked_have_a_row_and_no_vote_is_missing() -> None:
    def silent(item: int, a: int, b: int) -> float | None:
        return None if item < 3 else float(np.sign(b - a))

    result = rows_by_distance(votes_told(silent, NEIGHBOURS))
    assert list(result) == [1]
    assert (result[1]["value"], result[1]["n"], result[1]["n_missing"]) == (1, 36, 9)


def test_the_order_in_which_texts_are_named_changes_nothing() -> None:
    def vote(item: int, a: int, b: int) -> float:
        return float(np.sign(b - a)) if (item + a + b) % 3 else -1.0

    each = rows_by_distance(votes_told(vote, ALL))
    other = rows_by_distance(votes_told(vote, ALL[::-1]))
    assert each == other


def test_texts_that_people_rated_have_no_such_row() -> None:
    draws: list[dict[str, Any]] = [
        {
            "judge": "judge",
            "aspect": "clear",
            "draw": 0,
            "target": a,
            "target_b": b,
            "value": 1.0,
        }
        for a, b in combinations([TARGETS[system] for system in range(4)], 2)
    ]
    rows = list(pairwise.rows(study({}, cards={"judge": {}}, draws=draws)))
    assert rows and not rows_by_distance(rows)
