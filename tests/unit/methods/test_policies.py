"""The policies `gold`, `orders` and `unread`, on tables small enough to do by hand."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import Row, row_of
from judgescope.methods import agreement, comparison, labels, pairwise, system_pairs
from judgescope.methods.claims.agreement import claims as agreement_claims
from judgescope.methods.claims.base import LABELS
from judgescope.methods.claims.labels import label_claims
from judgescope.methods.claims.ratings import pair_claims
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.parsing.judgment import WRONG
from judgescope.schema.tables import table_of
from judgescope.statistics.raters import majority_else_mean
from methods_setup import (
    ITEM,
    ITEMS,
    SYSTEM,
    SYSTEMS,
    TARGETS,
    N,
    r_of,
    study,
)

NAN = float("nan")
RATERS = np.array([[1.0, 5, 2, 2], [1, 5, 2, 3], [4, 3, 5, 4]]).repeat(ITEMS, axis=1)
"""By texts of four kinds: majorities 1, 5 and 2, and no majority of 2, 3, 4."""
MEAN, MEDIAN, MAJORITY = (
    np.repeat(each, ITEMS)
    for each in ([2.0, 13 / 3, 3, 3], [1.0, 5, 2, 3], [1.0, 5, 2, 3])
)
SCORES = np.random.default_rng(3).integers(1, 6, N).astype(float)


def rated(rule: str, people: Any = RATERS) -> EvaluationData:
    """Return a study of one judge and three raters with a rule for the gold value."""
    return study({"judge": {"clear": SCORES}}, {"clear": people}, gold_rule=rule)


def of_judge(rows: Any, statistic: str, level: str = "pooled") -> Row:
    return row_of(rows, statistic, judge="judge", level=level, aspect="clear")


@pytest.mark.parametrize(
    ("rule", "gold", "name"),
    [
        ("auto", MEAN, "mean"),
        ("mean", MEAN, "mean"),
        ("median", MEDIAN, "lower median"),
        ("majority_else_mean", MAJORITY, "majority, else mean"),
    ],
)
def test_correlations_are_with_the_gold_value(rule: str, gold: Any, name: str) -> None:
    data = rated(rule)
    row = of_judge(agreement.rows(data), "pearson")
    assert row["value"] == pytest.approx(r_of(SCORES, gold))
    assert row["method"].startswith(f"against the raters' {name}")
    assert (f"|gold:{rule}|" in row["signature"]) == (rule != "auto")
    [claim] = agreement_claims(data)
    assert f"against the raters' {name}" in claim.estimate.method
    no_majority = f"no majority in {ITEMS} of {N} texts: their mean counts"
    assert (no_majority in row["note"]) == (rule == "majority_else_mean")
    assert (no_majority in claim.estimate.note) == (rule == "majority_else_mean")


def test_a_majority_is_more_than_half_of_the_raters_of_a_text() -> None:
    ratings = [[1, 1, 2, NAN], [1, 3, 4, NAN], [5, NAN, 5, NAN], [5, NAN, NAN, 2]]
    gold = majority_else_mean(np.array(ratings, dtype=float))
    assert gold.tolist() == pytest.approx([3.0, 2.0, 11 / 3, 2.0])


def test_a_gold_value_off_the_scale_leaves_no_statistics_of_classes() -> None:
    for rule, off in (("mean", ITEMS), ("majority_else_mean", 0)):
        row = of_judge(agreement.rows(rated(rule)), "kappa_linear")
        assert (row["value"] is None) == bool(off)
        if off:
            assert row["note"] == (
                f"gold: mean is not a value of the scale in {off} of {N} rated texts"
            )
    uneven = RATERS.copy()
    uneven[2, -1] = 5.0  # 2, 3, 5: no majority, and 10/3 is not on the scale
    row = of_judge(agreement.rows(rated("majority_else_mean", uneven)), "kappa_linear")
    assert f"is not a value of the scale in 1 of {N} rated texts" in row["note"]
    compared = comparison.rows(
        study(
            {"judge": {"clear": SCORES}, "other": {"clear": SCORES[::-1]}},
            {"clear": RATERS},
            gold_rule="mean",
        )
    )
    gaps = [row for row in compared if row["statistic"] == "difference_kappa_linear"]
    assert not any(row["value"] is not None for row in gaps)


def test_each_rater_meets_the_gold_value_of_the_others() -> None:
    row = row_of(
        agreement.rows(rated("median")), "pearson", judge="human", level="pooled"
    )
    others = [np.sort(np.delete(RATERS, at, axis=0), axis=0)[0] for at in range(3)]
    each = [r_of(rater, gold) for rater, gold in zip(RATERS, others, strict=True)]
    assert row["value"] == pytest.approx(np.mean(each))
    assert "each rater against the lower median of the others" in row["method"]


def test_pairs_of_systems_are_distinguished_by_the_gold_value() -> None:
    rows = [*system_pairs.rows(rated("majority_else_mean"))]
    gap = row_of(rows, "system_difference", judge="human", system_subset="s0+s1")
    people = MAJORITY[SYSTEM == 0] - MAJORITY[SYSTEM == 1]
    assert gap["value"] == pytest.approx(people.mean())


# --- orders ---------------------------------------------------------------------------

SIX = [(1, 1), (1, 0), (1, -1), (0, 0), (0, -1), (-1, -1)]
"""The verdicts of both orders for the better text: RR, RT, RW, TT, TW, WW."""
RIGHT: dict[str, list[float]] = {
    "both": [1, 0.5, 0.5, 0.5, 0.5, 0],
    "net": [1, 1, 0.5, 0.5, 0, 0],
    "strict": [1, 0, 0, 0, 0, 0],
}
"""Half credit of each; ½ is a tie."""


def compared(
    votes: Any, *, draws: int = 1, marked: Any = (), **spec: Any
) -> EvaluationData:
    """Return a judge's votes on one pair an item; people choose the first text.

    votes: item -> the draws of both orders for the first text, NaN = not read;
    `marked`: (item, order) of scores that count as wrong.
    """
    where = {"judge": "judge", "aspect": "clear", "perturbation": "systems"}
    rows, scores = list[Row](), list[Row]()
    for item, order in product(range(len(votes)), (0, 1)):
        texts = [f"i{item:02}.s0", f"i{item:02}.s1"]
        shown = texts[::-1] if order else texts
        pair = {**where, "target": shown[0], "target_b": shown[1]}
        scores.append(
            {"dataset": "d", **pair, "estimator": WRONG}
            if (item, order) in marked
            else {"dataset": "d", **pair, "estimator": "mean"}
        )
        each = votes[item][order]
        for draw, vote in enumerate(each if isinstance(each, list) else [each]):
            value = None if np.isnan(vote) else (-vote if order else vote)
            rows.append({**pair, "draw": draw, "value": value})
    data = study(
        {},
        {"clear": np.empty((0, ITEMS * SYSTEMS))},
        cards={"judge": {"compares": True, "draws": draws}},
        draws=rows,
        **spec,
    )
    chosen = [
        {
            **{"dataset": "d", "aspect": "clear", "rater": "r0", "value": 1.0},
            **{"target": f"i{item:02}.s0", "target_b": f"i{item:02}.s1"},
        }
        for item in range(len(votes))
    ]
    ratings = table_of("ratings", chosen)
    scored = ScoreTables.of_table(table_of("scores", scores))
    return replace(data, ratings=ratings, scores=scored)


def by_name(data: EvaluationData) -> dict[str, Row]:
    rows = [dict(row) for row in pairwise.rows(data) if row["judge"] == "judge"]
    return {str(row["statistic"]): row for row in rows if row["level"] == "pooled"}


@pytest.mark.parametrize("rule", RIGHT)
def test_the_six_outcomes_of_two_orders(rule: str) -> None:
    for outcome, credit in zip(SIX, RIGHT[rule], strict=True):
        rows = by_name(compared([outcome], orders=rule))
        strict, half, ties = (
            rows[name]["value"]
            for name in ("accuracy_comparison", "accuracy_comparison_half", "tie_rate")
        )
        assert (strict, half, ties) == (credit == 1, credit, credit == 0.5)


def test_a_verdict_of_orders_names_its_rule_and_differs_from_every_choice() -> None:
    rows = by_name(compared(SIX * 2, orders="strict"))
    named = {
        *("accuracy_comparison", "accuracy_comparison_half", "tie_rate"),
        *("kappa_nominal", "vote_agreement_ties", "vote_agreement_decided"),
    }
    for name in named:
        assert rows[name]["method"].startswith("orders: strict"), name
        assert "|orders:strict|" in rows[name]["signature"]
    assert rows["vote_agreement_ties"]["value"] == pytest.approx(1 / 6)
    assert rows["vote_agreement_decided"]["n"] == 12  # a wrong verdict is no tie
    assert rows["accuracy_both_orders"]["value"] == pytest.approx(1 / 6)
    plain = by_name(compared(SIX * 2))
    assert "orders" not in plain["accuracy_comparison"]["signature"]
    assert not plain["accuracy_comparison"]["method"].startswith("orders")
    assert plain["accuracy_comparison_half"]["value"] == pytest.approx(3 / 6)


def test_the_claim_on_pairs_rests_on_the_rule() -> None:
    credit = {}
    for rule in RIGHT:
        [claim] = pair_claims(compared(SIX * 2, orders=rule))
        credit[rule] = claim.estimate.value
        assert claim.estimate.method.startswith(f"orders: {rule}") == (rule != "both")
    assert credit == pytest.approx({"both": 0.5, "net": 0.5, "strict": 1 / 6})


def test_the_draws_of_an_order_choose_by_more_votes_than_the_others() -> None:
    votes = [
        ([1, 1, -1], [1, -1, 0]),  # right; a tie of one vote each
        ([1, 0, 0], [1, 1, NAN]),  # a tie; right, by two of three draws
        ([1, NAN, NAN], [1, 1, 1]),  # one of three draws: not read
    ]
    rows = by_name(compared(votes, draws=3, orders="net"))
    right = rows["accuracy_comparison"]
    assert (right["value"], right["n"], right["n_missing"]) == (1.0, 2, 1)
    rows = by_name(compared(votes, draws=3, orders="strict"))
    right = rows["accuracy_comparison"]
    assert (right["value"], right["n"], right["n_missing"]) == (0.0, 2, 1)


def test_an_unread_order_makes_the_pair_unread() -> None:
    votes = [(1, 1), (1, NAN), (-1, -1)]
    for rule, n in (("net", 2), ("strict", 2)):
        right = by_name(compared(votes, orders=rule))["accuracy_comparison"]
        assert (right["value"], right["n"], right["n_missing"]) == (0.5, n, 3 - n)


# --- unread ---------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RIGHT)
def test_an_unread_pair_that_counts_as_wrong_stays_in_the_denominator(
    rule: str,
) -> None:
    votes = [(1, 1), (1, NAN), (-1, -1), (1, 1)]
    data = compared(votes, marked={(1, 1)}, orders=rule, unread="wrong")
    rows = by_name(data)
    for name in ("accuracy_comparison", "accuracy_comparison_half"):
        row = rows[name]
        assert (row["value"], row["n"], row["n_missing"]) == (0.5, 4, 0)
        assert "unread: wrong (1 pairs)" in row["method"]
        assert "|unread:wrong|" in row["signature"]
    assert rows["tie_rate"]["value"] == 0.0
    assert (rows["vote_agreement_ties"]["value"], rows["vote_agreement_ties"]["n"]) == (
        0.5,
        4,
    )
    consistent = rows["order_consistency"]
    assert (consistent["value"], consistent["n"]) == (0.75, 4)
    [claim] = pair_claims(data)
    assert claim.estimate.value == 0.5 and claim.estimate.n_missing == 0


SCALE = {"labels": ["fail", "pass"], "values": [0.0, 1.0], "ends": (0.0, 1.0)}
GOLD = np.array([1.0, 1, 0] * (N // 3))


def labelled(
    codes: Any, people: Any = GOLD, marked: Any = (), **spec: Any
) -> EvaluationData:
    """Return a judge's labels, NaN = missing; `marked` texts count as wrong."""
    card = {"grid": {"clear": [0.0, 1.0]}, "ends": {"clear": (0.0, 1.0)}}
    data = study(
        {"judge": {"clear": codes}},
        {"clear": np.atleast_2d(people)},
        cards={"judge": card},
        aspects={"clear": SCALE},
        **spec,
    )
    rows = data.scores.table().to_pylist()
    for row in rows:
        if row["target"] in marked:
            row["estimator"] = WRONG
    scores = ScoreTables.of_table(table_of("scores", rows))
    return replace(data, scores=scores)


def unread_labels(**spec: Any) -> EvaluationData:
    """Return labels of a judge that is right, but for 8 of 40 good and 4 of 20 bad
    texts: the first 5 and 2 of these were not read, the others do not apply.
    """
    codes = GOLD.copy()
    good, bad = np.flatnonzero(GOLD == 1)[:8], np.flatnonzero(GOLD == 0)[:4]
    codes[[*good, *bad]] = NAN
    marked = [TARGETS[at] for at in (*good[:5], *bad[:2])]
    return labelled(codes, marked=set(marked), **spec)


def test_unread_labels_that_count_as_wrong_have_a_column_of_their_own() -> None:
    rows = [*labels.rows(unread_labels(unread="wrong"))]
    shares = {
        name: (row["value"], row["n"], row["n_missing"])
        for name in ("tpr", "tnr", "precision", "label_accuracy")
        for row in [of_judge(rows, name)]
    }
    assert shares == {
        "tpr": (pytest.approx(32 / 37), 37, 5),
        "tnr": (pytest.approx(16 / 18), 18, 5),
        "precision": (1.0, 32, 5),
        "label_accuracy": (pytest.approx(48 / 55), 55, 5),
    }
    assert of_judge(rows, "f1")["value"] == pytest.approx(64 / (64 + 5))
    macro = (64 / (64 + 5) + 32 / (32 + 2)) / 2
    assert of_judge(rows, "f1_macro")["value"] == pytest.approx(macro)
    counts = {
        (row["k"], row["k_b"]): row["value"]
        for row in rows
        if row["statistic"] == "class_count"
    }
    assert counts == {(1, 1): 16, (2, 2): 32, (1, 3): 2, (2, 3): 5}
    noted = next(row for row in rows if row.get("k_b") == 3)
    assert noted["note"].endswith("judge: unread")
    assert "unread: 7 count as wrong" in of_judge(rows, "tpr")["note"]
    [claim] = [
        c for c in label_claims(unread_labels(unread="wrong")) if c.kind == LABELS
    ]
    assert claim.estimate.value == pytest.approx((32 / 37 + 16 / 18) / 2)


def test_labels_that_do_not_apply_are_left_out_under_every_policy() -> None:
    codes = GOLD.copy()
    codes[:6] = NAN
    rows = [*labels.rows(labelled(codes, unread="wrong"))]
    assert of_judge(rows, "label_accuracy")["value"] == 1.0
    assert of_judge(rows, "label_accuracy")["n"] == N - 6


def test_every_verdict_unread_is_no_agreement_and_no_crash() -> None:
    data = labelled(np.full(N, NAN), marked=set(TARGETS), unread="wrong")
    rows = [*labels.rows(data)]
    assert of_judge(rows, "label_accuracy")["value"] == 0.0
    assert of_judge(rows, "f1_macro")["value"] == 0.0
    assert of_judge(rows, "precision")["value"] is None
    assert next(iter(label_claims(data))).estimate.value == 0.0


def test_the_gold_label_of_raters_that_are_split() -> None:
    people = np.stack([GOLD, GOLD, GOLD, GOLD])
    people[2:, 0] = 0.0  # the first text has two votes for each label
    split = {
        rule: [*labels.rows(labelled(GOLD.copy(), people, gold_rule=rule))]
        for rule in ("auto", "median", "majority_else_mean")
    }
    auto = of_judge(split["auto"], "label_accuracy")
    assert auto["value"] == pytest.approx((N - 1) / N)  # the lower median is fail
    assert of_judge(split["median"], "label_accuracy")["value"] == auto["value"]
    why = f"majority_else_mean is not a value of the scale in 1 of {N} rated texts"
    undefined = of_judge(split["majority_else_mean"], "balanced_accuracy")
    assert undefined["value"] is None and why in undefined["note"]
    share = row_of(split["majority_else_mean"], "label_share", judge="human")
    assert share["value"] is None and why in share["note"]
    three = labelled(GOLD.copy(), people[:3], gold_rule="majority_else_mean")
    rows = [*labels.rows(three)]
    assert of_judge(rows, "label_accuracy")["value"] == 1.0
    assert "majority, else mean" in of_judge(rows, "label_accuracy")["method"]
    assert ITEM.size == N
