"""Rows of people's choices between two texts, and of judges beside them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dataset_in_memory import Row, rows_of
from judgescope.methods import pairwise
from judgescope.methods.claims.base import PAIRS
from judgescope.methods.claims.ratings import pair_claims
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import table_of
from judgescope.statistics.verdict import Outcome, verdicts
from methods_setup import ITEMS, SYSTEMS, study

NOBODY: dict[str, Any] = {"clear": np.empty((0, ITEMS * SYSTEMS))}
Choose = Callable[[int, int, int], float]


def target(item: int, system: int) -> str:
    return f"i{item:02}.s{system}"


def chosen(
    judged: EvaluationData, choose: Choose, raters: int = 1, systems: int = 2
) -> EvaluationData:
    """Return the study with people's choices: choose(item, rater, other) of system
    0.
    """
    rows = [
        {
            **{"dataset": "d", "aspect": "clear", "rater": f"r{rater}"},
            **{"target": target(item, a), "target_b": target(item, b)},
            "value": choose(item, rater, b) if a == 0 else 0.0,
        }
        for item in range(ITEMS)
        for rater in range(raters)
        for b in range(1, systems)
        for a in range(b)
    ]
    return replace(judged, ratings=table_of("ratings", rows))


def votes(judge: str, vote: Callable[[int, bool], float]) -> list[Row]:
    """Return a judge's votes in both orders; vote(item, swapped) is for the text shown
    first.
    """
    where = {"judge": judge, "aspect": "clear", "draw": 0, "perturbation": "systems"}
    return [
        {
            **where,
            **{
                "target": target(item, int(swapped)),
                "target_b": target(item, int(not swapped)),
            },
            "value": vote(item, swapped),
        }
        for item in range(ITEMS)
        for swapped in (False, True)
    ]


def rows_by_place(judged: EvaluationData) -> dict[tuple[str, str, str], Row]:
    rows: Iterable[Any] = list(pairwise.rows(judged))
    return {(row["judge"], row["statistic"], row["level"]): dict(row) for row in rows}


def compared(vote: Callable[[int, bool], float], **keys: Any) -> EvaluationData:
    cards = {"judge": {"compares": True, **keys.pop("card", {})}}
    return study({}, NOBODY, cards=cards, draws=votes("judge", vote), **keys)


def test_both_tie_rules_and_ours() -> None:
    """Votes of three raters 1, 1, 0 and a judge that ties on every third item."""
    judged = compared(
        lambda item, swapped: 0.0 if item % 3 == 0 else (-1.0 if swapped else 1.0)
    )
    rows = rows_by_place(
        chosen(judged, lambda item, rater, _: float(rater < 2), raters=3)
    )
    s1, s2 = (
        rows["judge", f"vote_agreement_{name}", "pooled"]
        for name in ("ties", "decided")
    )
    assert s1["value"] == pytest.approx((10 * 2 + 5 * 1) / 45) and s1["n"] == 45
    assert (s2["value"], s2["n"]) == (1.0, 20)
    assert rows["judge", "accuracy_comparison", "pooled"]["value"] == pytest.approx(
        10 / 15
    )
    assert rows["judge", "accuracy_comparison_half", "pooled"][
        "value"
    ] == pytest.approx(12.5 / 15)
    people = rows["human", "vote_agreement_ties", "pooled"]
    assert (people["value"], people["n"]) == (pytest.approx(1 / 3), 45)
    assert rows["human", "first_position_rate", "pooled"]["value"] == 1.0
    # two raters choose the first text against the other one's choice and a tie; the
    # third ties
    half = rows["human", "accuracy_comparison_half", "pooled"]
    assert (half["value"], half["n"]) == (pytest.approx((1 + 1 + 0.5) / 3), 45)


def test_a_judge_of_the_first_location_is_right_in_a_single_order_only() -> None:
    rows = rows_by_place(chosen(compared(lambda *_: 1.0), lambda *_: 1.0))
    right = {
        level: rows["judge", "accuracy_comparison", level]["value"]
        for level in ("as_listed", "swapped", "pooled")
    }
    assert right == {"as_listed": 1.0, "swapped": 0.0, "pooled": 0.0}
    assert rows["judge", "accuracy_both_orders", "pooled"]["value"] == 0.0
    assert rows["judge", "first_position_rate", "pooled"]["value"] == 1.0
    assert rows["judge", "kappa_orders", "pooled"]["value"] == pytest.approx(0)


def test_a_preference_for_its_family_beyond_peoples() -> None:
    """System 0 is of the judge's family; it always chooses it, people two times of
    three.
    """
    judged = compared(
        lambda _, swapped: -1.0 if swapped else 1.0,
        card={"family": "own"},
        families={"s0": "own", "s1": "other"},
    )
    rows = rows_by_place(
        chosen(judged, lambda item, *_: -1.0 if item % 3 == 0 else 1.0)
    )
    assert rows["judge", "own_family_chosen", "pooled"]["value"] == 1.0
    assert rows["judge", "own_family_excess", "pooled"]["value"] == pytest.approx(1 / 3)


def test_without_a_family_there_is_no_row_of_it() -> None:
    rows = rows_by_place(chosen(compared(lambda *_: 1.0), lambda *_: 1.0))
    assert not any(name.startswith("own_family") for _, name, _ in rows)


def test_a_judge_that_scores_chooses_the_higher_score() -> None:
    scores = {"judge": {"clear": np.tile([2.0, 1.0, 0.0, 0.0], ITEMS)}}
    rows = rows_by_place(chosen(study(scores, NOBODY), lambda *_: 1.0))
    assert rows["judge", "accuracy_comparison", "pooled"]["value"] == 1.0
    assert ("judge", "first_position_rate", "pooled") not in rows
    assert ("judge", "accuracy_comparison", "as_listed") not in rows


def test_the_best_of_three() -> None:
    """People prefer system 0 to both others; a judge that scores it highest on 10 of 15
    items.
    """
    best = [
        np.array([3.0 if item < 10 else 0.0, 1.0, 2.0, 0.0]) for item in range(ITEMS)
    ]
    judged = study({"judge": {"clear": np.concatenate(best)}}, NOBODY)
    row = rows_by_place(chosen(judged, lambda *_: 1.0, systems=3))[
        "judge", "best_of_n", "pooled"
    ]
    assert (row["value"], row["n"]) == (pytest.approx(10 / 15), ITEMS)


def test_two_judges_on_the_same_pairs() -> None:
    scores = {
        "good": {"clear": np.tile([2.0, 1.0, 0.0, 0.0], ITEMS)},
        "bad": {"clear": np.tile([1.0, 2.0, 0.0, 0.0], ITEMS)},
    }
    rows = rows_by_place(chosen(study(scores, NOBODY), lambda *_: 1.0))
    [gap] = [row for (_, name, _), row in rows.items() if name.startswith("difference")]
    assert abs(gap["value"]) == 1.0 and {gap["judge"], gap["judge_b"]} == {
        "good",
        "bad",
    }
    [p] = [row for (_, name, _), row in rows.items() if name == "p_mcnemar"]
    assert p["value"] == pytest.approx(2.0 ** (1 - ITEMS))


def test_letters_of_judges_that_choose_are_those_of_their_half_credit() -> None:
    """Two judges are right on all pairs, one on one pair."""
    right = np.tile([2.0, 1.0, 0.0, 0.0], ITEMS)
    wrong = np.tile([1.0, 2.0, 0.0, 0.0], ITEMS)
    wrong[:4] = right[:4]
    scores = {"good": {"clear": right}, "bad": {"clear": wrong}}
    scores["twin"] = {"clear": right.copy()}
    judged = chosen(study(scores, NOBODY), lambda *_: 1.0)
    rows = list(pairwise.rows(judged))
    ranks = {
        row["judge"]: row for row in rows_of(rows, "rank_accuracy_comparison_half")
    }
    values = {name: row["value"] for name, row in ranks.items()}
    assert values == {"good": 1.5, "twin": 1.5, "bad": 3}
    groups = {name: row["note"].split("group ")[-1] for name, row in ranks.items()}
    assert groups == {"good": "a", "twin": "a", "bad": "b"}
    p = {
        (row["judge"], row["judge_b"]): row["value"]
        for row in rows_of(rows, "p_holm_mcnemar")
    }
    least = 2.0 ** (2 - ITEMS)
    assert p["good", "twin"] == 1
    assert p["good", "bad"] == p["bad", "twin"] == pytest.approx(3 * least)


def test_systems_that_are_columns_have_no_strength() -> None:
    judged = chosen(compared(lambda *_: 1.0, anonymous_systems=True), lambda *_: 1.0)
    rows = rows_by_place(judged)
    assert not any(
        name.startswith("strength") or "system" in level for _, name, level in rows
    )


def test_strengths_order_systems_and_the_position_is_separately() -> None:
    """Who is shown first wins three times of four, whichever system that is."""
    judged = compared(lambda item, swapped: 1.0 if (item + 2 * swapped) % 4 else -1.0)
    rows = rows_by_place(chosen(judged, lambda item, *_: 1.0 if item % 2 else -1.0))
    assert rows["judge", "strength_position", "by_system"]["value"] > 0.5


def test_a_single_more_rater_is_of_peoples_votes() -> None:
    judged = compared(lambda _, swapped: -1.0 if swapped else 1.0)
    judged = chosen(
        judged,
        lambda item, rater, _: -1.0 if (item + rater) % 5 == 0 else 1.0,
        raters=3,
    )
    [claim] = pair_claims(judged)
    assert claim.estimate.value is not None and claim.estimate.value > 0.9


def test_a_study_without_choices_has_the_rows_that_it_had() -> None:
    rows = list(pairwise.rows(compared(lambda *_: 1.0)))
    assert {row["statistic"] for row in rows} == {
        *("order_consistency", "first_position_rate", "nontransitive_share")
    }


def test_a_judge_that_scores_has_a_claim_on_pairs_that_people_compared() -> None:
    scores = {"judge": {"clear": np.tile([2.0, 1.0, 0.0, 0.0], ITEMS)}}
    [claim] = pair_claims(chosen(study(scores, NOBODY), lambda *_: 1.0))
    assert (claim.judge, claim.kind, claim.estimate.value) == ("judge", PAIRS, 1.0)
    assert not [*pair_claims(study(scores))]


def vote_of(people: NDArray[np.float64], item: int, rater: int, _: int) -> float:
    return float(people[item, rater])


@pytest.mark.simulation
def test_false_alarms_of_judges_that_know_nothing() -> None:
    """People and judge choose at random: it is better than chance and length in 5 % at
    most.
    """
    rng, alarms, repeats = np.random.default_rng(11), 0, 300
    for _ in range(repeats):
        people = rng.choice([-1.0, 0.0, 1.0], size=(ITEMS, 3))
        scores = {"judge": {"clear": rng.normal(size=ITEMS * SYSTEMS)}}
        judged = chosen(study(scores, NOBODY), partial(vote_of, people), raters=3)
        for claim in pair_claims(judged):
            [verdict] = verdicts([claim.evidence])
            alarms += verdict.outcome in {Outcome.BETTER, Outcome.AS_RATER}
    assert alarms <= 0.05 * repeats + 3 * (0.05 * 0.95 * repeats) ** 0.5
