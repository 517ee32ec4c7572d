"""Claims about perturbations, made of one small dataset in memory, and their rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import row_of
from discernment_setup import ASPECTS, ITEMS, NAN, scored, study
from judgescope.methods import discernment, verdicts
from judgescope.methods.claims import perturbations
from judgescope.methods.claims.base import Claim
from judgescope.methods.claims.registry import CLAIMS
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import table_of
from judgescope.statistics.verdict import Outcome

Scores = dict[str, dict[str, np.ndarray]]
SETS = ("typos.minor", "cuts.single")


def drops(*first: float, rest: float = 0) -> np.ndarray:
    """Return how far each item's score drops."""
    return np.array([*first, *[rest] * (ITEMS - len(first))])


def fallen(falls: Mapping[str, np.ndarray] | np.ndarray) -> Scores:
    """Return a judge whose scores start at 4 and fall so, by set; on both aspects
    alike.
    """
    before = np.full(ITEMS, 4.0)
    each = falls if isinstance(falls, Mapping) else dict.fromkeys(SETS, falls)
    by_name = {
        name: dict.fromkeys(ASPECTS, before - fall) for name, fall in each.items()
    }
    return {"original": dict.fromkeys(ASPECTS, before), **by_name}


def made(
    judge: Scores, texts: Mapping[str, str] | None = None, **more: Any
) -> EvaluationData:
    """Return a study of one judge; texts: set -> the text of its targets."""
    data = study({"j": judge}, **more)
    rows = [
        {**row, "text": (texts or {}).get(row["target"].partition(":")[2], "words")}
        for row in data.targets.to_pylist()
    ]
    return replace(data, targets=table_of("targets", rows))


def claims_of(data: EvaluationData) -> dict[str, Claim]:
    return {
        claim.perturbation or "": claim
        for claim in perturbations.perturbation_claims(data)
    }


def test_24_of_24_zero_differences_are_a_miss() -> None:
    quiet = fallen(np.where(np.arange(ITEMS) < 24, 0.0, NAN))
    short = {
        name: {a: v.copy() for a, v in each.items()} for name, each in quiet.items()
    }
    for each in short.values():
        for values in each.values():
            values[24:] = NAN
    claims = claims_of(made(short, status=dict.fromkeys(SETS, "ok")))
    # 16 of 40 have no score at all: more than a fifth is lost, and nothing is said
    assert claims["typos"].outcome == Outcome.NO_CLAIM
    assert claims["typos"].reasons[0] == "too_many_lost"
    claims = claims_of(made(fallen(drops())))
    assert [claim.outcome for claim in claims.values()] == [Outcome.MISSES] * 2


def test_a_judge_with_60_percent_ties_and_no_wrong_order_misses_nothing() -> None:
    claims = claims_of(made(fallen(drops(*[1] * 16))))
    assert claims["typos"].outcome == Outcome.NOTICED and not claims["typos"].reasons
    rarely = claims_of(made(fallen(drops(*[1] * 5))))["typos"]
    assert rarely.outcome == Outcome.NOT_SHOWN  # p .03 in each cell, .06 after Holm
    assert rarely.reasons == ("holm",)


def test_what_the_length_shows_too_is_no_merit_in_either_direction() -> None:
    noticed = fallen(drops(*[1] * 20))
    for text in ("word", "words and more"):
        claims = claims_of(made(noticed, {"typos.minor": text}))
        assert (claims["typos"].outcome, claims["typos"].reasons) == (
            Outcome.NOT_SHOWN,
            ("length",),
        )
        assert claims["cuts"].outcome == Outcome.NOTICED


def test_perturbations_that_raise_scores_are_missed() -> None:
    assert claims_of(made(fallen(drops(*[-1] * 20))))["typos"].outcome == Outcome.MISSES


def test_an_aspect_that_weighs_nothing_does_not_count() -> None:
    scores = fallen(drops(*[1] * 20))
    for name in SETS:
        scores[name]["true"] = np.full(ITEMS, 4.0)
    weights = {
        "id": "w",
        "by_perturbation": {"typos": {"true": 1.0}, "cuts": {"clear": 1.0}},
    }
    claims = claims_of(made(scores, weights=weights))
    assert claims["typos"].outcome == Outcome.MISSES
    assert claims["cuts"].outcome == Outcome.NOTICED
    assert (
        claims_of(made(scores))["typos"].outcome == Outcome.NOTICED
    )  # on one aspect is enough


def test_a_verdict_must_hold_with_lost_pairs_at_the_worst_end() -> None:
    lost = drops(*[NAN] * 6, rest=0)  # 6 of 40 might have shown it: up to .29
    assert claims_of(made(fallen(lost)))["typos"].outcome == Outcome.NOT_SHOWN
    few = drops(*[NAN] * 4, rest=0)  # 4 of 40: up to .23
    assert claims_of(made(fallen(few)))["typos"].outcome == Outcome.MISSES
    weak = drops(*[NAN] * 4, *[1] * 8)
    assert claims_of(made(fallen(drops(*[1] * 8))))["typos"].outcome == Outcome.NOTICED
    assert claims_of(made(fallen(weak)))["typos"].outcome == Outcome.NOT_SHOWN
    limit = drops(*[NAN] * 9, *[1] * 20)
    assert claims_of(made(fallen(limit)))["typos"].outcome == Outcome.NO_CLAIM


def test_texts_that_could_not_be_made_are_not_lost() -> None:
    own_part = made(fallen(drops(*[NAN] * 9, rest=1)))
    rows = own_part.targets.to_pylist()
    for row in rows:
        if (
            row["item"] in {f"i0{n}" for n in range(9)}
            and row["perturbation"] != "original"
        ):
            row["status"] = "impossible: too short"
    kept = replace(own_part, targets=table_of("targets", rows))
    assert claims_of(own_part)["typos"].outcome == Outcome.NO_CLAIM
    assert (
        claims_of(kept)["typos"].outcome == Outcome.NOTICED
        and claims_of(kept)["typos"].lost == 0
    )


def ended(data: EvaluationData, **counts: int) -> EvaluationData:
    """Return the study with so many judgments of each set of perturbed texts by
    status.
    """
    rows = [
        {
            **{"dataset": "d", "perturbation": texts, "judge": "j", "aspect": aspect},
            **{"status": status, "rule": status, "n": n},
        }
        for texts in SETS
        for aspect in ASPECTS
        for status, n in counts.items()
    ]
    return replace(data, statuses=table_of("statuses", rows))


@pytest.mark.parametrize("draws", [1, 2])
def test_texts_that_the_judge_does_not_apply_to_are_not_lost(draws: int) -> None:
    cards = {"j": {"draws": draws}}
    own_part = made(fallen(drops(*[NAN] * 9, rest=1)), cards=cards)
    claim = claims_of(ended(own_part, ok=31 * draws, not_applicable=9 * draws))["typos"]
    assert (claim.outcome, claim.lost) == (Outcome.NOTICED, 0)
    own_part = made(fallen(drops(*[NAN] * 11, rest=1)), cards=cards)
    claim = claims_of(
        ended(own_part, ok=29 * draws, not_applicable=9 * draws, unparsed=2 * draws)
    )["typos"]
    assert (claim.outcome, claim.lost) == (Outcome.NOTICED, 2 / 31)


def test_the_p_of_a_cell_is_that_of_its_d_and_holm_is_over_the_cells() -> None:
    own_part = made(scored(1, 0.25))
    rows = list(discernment.rows(own_part))
    claims = claims_of(own_part)
    for name, claim in claims.items():
        d = row_of(rows, "D_exact", perturbation=name)["value"]
        assert claim.estimate.value == pytest.approx(d)
        assert claim.beside["p_noticed"].value == pytest.approx(0.05**d)
    ordered = sorted(claim.beside["p_noticed"].value or 0 for claim in claims.values())
    assert min(
        claim.beside["p_noticed_holm"].value or 0 for claim in claims.values()
    ) == (pytest.approx(2 * ordered[0]))


def test_an_aspect_without_pairs_leaves_nothing_to_claim_and_controls_make_none() -> (
    None
):
    scores = scored(1)
    scores["typos.minor"]["true"] = np.full(ITEMS, NAN)
    data = study({"j": scores, "c": scored(1)}, cards={"c": {"engine": "control"}})
    claims = list(perturbations.perturbation_claims(data))
    assert {claim.judge for claim in claims} == {"j"}
    assert (claims[0].outcome, claims[0].reasons) == (Outcome.NO_CLAIM, ("not_judged",))
    assert claims[1].outcome == Outcome.NOTICED


def test_rows_of_the_table_say_verdict_reasons_and_numbers() -> None:
    own_part = made(fallen(drops(*[1] * 20)), claims=[CLAIMS.target("discernment")])
    rows = list(verdicts.rows(own_part))
    assert rows == list(
        verdict_rows(own_part, perturbations.perturbation_claims(own_part))
    )
    row = row_of(rows, "verdict", perturbation="typos")
    assert (row["form"], row["value"], row["note"]) == ("perturbation", 2, "noticed")
    share = row_of(rows, "net_share", perturbation="typos")
    assert (
        share["value"] == 0.5 and 0.3 < share["ci_low"] < 0.5 < share["ci_high"] < 0.7
    )
    assert row_of(rows, "p_shorter", perturbation="typos")["value"] == 1


def level(rng: np.random.Generator, *, share: float, studies: int) -> tuple[int, int]:
    """Return in how many studies a cell is noticed, and in how many missed."""
    noticed = misses = 0
    for _ in range(studies):
        each = {}
        for name in SETS:
            fall = (rng.random(ITEMS) < share).astype(float)
            each[name] = fall if share else rng.choice([-1.0, 0.0, 0.0, 1.0], ITEMS)
        outcomes = {
            perturbation_claim.outcome
            for perturbation_claim in perturbations.perturbation_claims(
                made(fallen(each))
            )
        }
        noticed += Outcome.NOTICED in outcomes
        misses += Outcome.MISSES in outcomes
    return noticed, misses


@pytest.mark.simulation
def test_false_alarms() -> None:
    """Under no effect at most 5 % of studies notice any; a quarter shown is missed in
    2.5 %.
    """
    rng = np.random.default_rng(3)
    noticed, _ = level(rng, share=0, studies=120)
    assert noticed <= 120 * 0.05 + 2 * (120 * 0.05 * 0.95) ** 0.5
    _, misses = level(rng, share=0.25, studies=120)
    assert misses <= 2 * 120 * 0.025 + 2 * (2 * 120 * 0.025) ** 0.5  # of two cells
