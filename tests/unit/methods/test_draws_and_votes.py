"""Rows of repeated draws and of votes on pairs; what every table of results has."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import ArrayLike

from dataset_in_memory import Row, row_of, rows_of
from judgescope import __version__
from judgescope.methods import agreement, comparison, pairwise, repeatability
from judgescope.methods.repeatability import CURVE
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.reliability import spearman_brown
from judgescope.statistics.result import REASONS
from methods_setup import (
    FAIR,
    FIELD,
    GOOD,
    ITEM,
    ITEMS,
    NAN,
    NOISE,
    QUALITY,
    RATINGS,
    SYSTEM,
    TARGETS,
    N,
    agreement_rows,
    comparison_rows,
    draws_of,
    on_clear,
    points,
    study,
)

# Draws


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


def test_a_judge_that_draws_at_random_attains_nothing_and_the_reason_is_reported() -> (
    None
):
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
    where = {"judge": judge, "aspect": "clear", "draw": 0, **more}
    return [
        {**where, "target": TARGETS[a], "target_b": TARGETS[b], "value": vote(a, b)}
        for a, b in pairs
    ]


def voted(vote: Vote) -> dict[str, tuple[Any, int, int]]:
    data = study({}, cards={"judge": {}}, draws=votes_of("judge", vote))
    return {
        row["statistic"]: (row["value"], row["n"], row["n_missing"])
        for row in pairwise.rows(data)
    }


PEOPLE = RATINGS["clear"].mean(axis=0)
PAIRS = [(a, b) for a in range(N) for b in range(a + 1, N) if ITEM[a] == ITEM[b]]
DECIDED = sum(PEOPLE[a] != PEOPLE[b] for a, b in PAIRS)


def test_who_votes_as_people_do_is_right_wherever_people_decide() -> None:
    votes = voted(lambda a, b: float(np.sign(PEOPLE[a] - PEOPLE[b])))
    assert votes["accuracy_comparison"] == (1, DECIDED, 0)
    assert votes["accuracy_comparison_half"] == (1, DECIDED, 0)
    assert votes["tie_rate"] == (0, DECIDED, 0)
    assert votes["order_consistency"] == (1, len(PAIRS), 0)
    assert votes["first_position_rate"] == (0.5, 2 * DECIDED, 0)
    assert votes["nontransitive_share"][0] == 0
    assert 0 < DECIDED < len(PAIRS)


def test_the_majority_of_several_draws_is_what_both_orders_share() -> None:
    draws = votes_of("judge", lambda a, b: float(a < b))
    for draw in (1, 2):
        draws += votes_of("judge", lambda a, b: 0.0, draw=draw)
    data = study({}, cards={"judge": {"draws": 3}}, draws=draws)
    result = row_of(pairwise.rows(data), "order_consistency")
    assert (result["value"], result["n"]) == (1, len(PAIRS))


def test_who_always_takes_the_first_says_nothing() -> None:
    votes = voted(lambda a, b: 1.0)
    assert votes["order_consistency"] == (0, len(PAIRS), 0)
    assert votes["first_position_rate"] == (1, 2 * len(PAIRS), 0)
    assert votes["accuracy_comparison"] == (0, DECIDED, 0)
    assert votes["accuracy_comparison_half"] == (0.5, DECIDED, 0)
    assert votes["tie_rate"] == (1, DECIDED, 0)
    assert votes["nontransitive_share"] == (None, 0, ITEMS * 4)


def test_who_goes_round_in_circles_is_detected() -> None:
    # of four systems 0 beats 1, 1 beats 2, 2 beats 3, 3 beats 0, 0 beats 2 and 1 beats
    # 3: the triples 0 1 3 and 0 2 3 are circles, 0 1 2 and 1 2 3 are not
    beaten = {(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)}
    votes = voted(lambda a, b: 1.0 if (SYSTEM[a], SYSTEM[b]) in beaten else -1.0)
    assert votes["nontransitive_share"] == (0.5, ITEMS * 4, 0)
    assert votes["order_consistency"] == (1, len(PAIRS), 0)


def test_a_vote_in_a_single_order_is_a_verdict_and_no_vote_is_missing() -> None:
    def vote(a: int, b: int) -> float | None:
        if ITEM[a] == 0 or a > b:
            return None
        return float(np.sign(PEOPLE[a] - PEOPLE[b]))

    unknown = sum(PEOPLE[a] != PEOPLE[b] for a, b in PAIRS if ITEM[a] == 0)
    votes = voted(vote)
    assert votes["accuracy_comparison"] == (1, DECIDED - unknown, unknown)
    assert votes["accuracy_comparison_half"] == (1, DECIDED - unknown, unknown)
    assert votes["order_consistency"] == (None, 0, len(PAIRS))


def test_votes_on_other_texts_have_their_location_and_no_people() -> None:
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
    data = study({"good": GOOD}, cards=cards)
    assert data.signature("good", "pearson", "by_source") == (
        "judge:good|card:c0de|prompt:ab12|draws:3|temperature:0.7|parser:number@1"
        f"|data:d@0123abcd|stat:pearson|level:by_source|seed:7|v:{__version__}"
    )
    assert data.signature("human", "alpha_ordinal", "") == (
        f"judge:human|data:d@0123abcd|stat:alpha_ordinal|seed:7|v:{__version__}"
    )
    for name in ("kendall_b", "difference_kendall_b", "p_holm_kendall_b"):
        assert f"|level:pooled|ties:tau-b|seed:7|v:{__version__}" in data.signature(
            "good", name, "pooled"
        )
    assert "|ties:" not in data.signature("good", "p_holm_pearson", "pooled")


def test_every_row_of_every_table_is_signed_and_fits_its_table(tmp_path: Path) -> None:
    draws = draws_of("good", points(QUALITY[0] + NOISE[:2, 0]))
    votes = votes_of("noisy", lambda a, b: 1.0)
    data = study(
        FIELD, cards={"good": {"draws": 2}, "noisy": {}}, draws=[*draws, *votes]
    )
    tables = {
        **{"agreement": agreement_rows(), "comparison": comparison_rows()},
        **{
            "repeatability": list(repeatability.rows(data)),
            "pairwise": list(pairwise.rows(data)),
        },
    }
    for name, rows in tables.items():
        write_table("results", table_of("results", rows), tmp_path / f"{name}.parquet")
        assert len({row["signature"] for row in rows}) > 1
        for row in rows:
            values = (
                *(f"judge:{row['judge']}|", "data:d@0123abcd|", "|seed:7|"),
                f"|stat:{row['statistic']}|level:{row['level']}|",
            )
            assert all(part in row["signature"] for part in values)


def reversed_rows(table: pa.Table) -> pa.Table:
    return table.take(np.arange(table.num_rows)[::-1])


@pytest.mark.simulation
def test_the_order_of_rows_in_the_tables_makes_no_difference_and_the_seed_does() -> (
    None
):
    judges = on_clear(good=GOOD["clear"], fair=FAIR["clear"])
    data, other = study(judges), study(judges, seed=8)
    backwards: dict[str, Any] = {}
    for name in ("items", "targets", "ratings"):
        backwards[name] = reversed_rows(getattr(data, name))
    scores = ScoreTables.of_table(reversed_rows(data.scores.table()))
    turned = replace(data, scores=scores, **backwards)
    for method in (agreement, comparison):
        assert list(method.rows(turned)) == list(method.rows(data))
    first, second = (
        row_of(agreement.rows(each), "pearson", judge="good", level="pooled")
        for each in (data, other)
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
        for each in (data, other)
    ]
    assert drawn[0] != drawn[1]
