"""Claims that a judge keeps criteria apart: rules by hand, false alarms, and rows."""

from dataclasses import replace

import numpy as np
import pytest

from confusion_rows_setup import ASPECTS, ITEMS, NAN, Scores, judge, study
from dataset_in_memory import row_of
from judgescope.methods.claims import perturbations
from judgescope.methods.claims.base import INDEX, Claim
from judgescope.methods.claims.perturbations import CriteriaDrops
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.tables import table_of
from judgescope.statistics.verdict import Outcome, verdicts

N = len(ITEMS)
RNG = np.random.default_rng(8)


def noise(size: float = 0.5) -> np.ndarray:
    return size * RNG.standard_normal(N)


def made(scores: Scores, cut: int = 0) -> EvaluationData:
    """Return a study of one judge; the perturbation `cuts` takes so many characters
    away.
    """
    data = study({"j": scores}, aspects=("clear", "true"))
    rows = [
        {**row, "text": "words and words"[: 15 - cut * (row["perturbation"] == "cuts")]}
        for row in data.targets.to_pylist()
    ]
    return replace(data, targets=table_of("targets", rows))


def criteria_verdict(data: EvaluationData) -> tuple[str, list[str], Claim]:
    [claim] = perturbations.criteria_claims(data)
    [row] = [
        row for row in verdict_rows(data, [claim]) if row["statistic"] == "verdict"
    ]
    outcome, *reasons = row["note"].split("; ")
    return outcome, reasons, claim


def test_a_judge_that_lowers_the_right_aspect_alone_keeps_them_separately() -> None:
    rater = judge(typos_clear=1 + noise(), typos_true=noise(), cuts_true=1 + noise())
    outcome, reasons, claim = criteria_verdict(made(rater))
    assert (outcome, reasons) == (Outcome.BETTER, [])
    assert (
        claim.estimate.value == 1
        and claim.estimate.ci_low is not None
        and claim.estimate.ci_low > 0.85
    )
    assert set(claim.nulls) == {"chance", "index", "length", "brevity"}


def test_a_single_that_lowers_all_alike_or_the_wrong_one_does_not() -> None:
    alike = 1 + noise()
    outcome, reasons, _ = criteria_verdict(
        made(judge(typos_clear=alike, typos_true=alike, cuts_true=alike))
    )
    assert outcome == Outcome.NOT_SHOWN and INDEX in reasons
    wrong = judge(
        typos_clear=0.2 + noise(), typos_true=2 + noise(), cuts_true=0.2 + noise()
    )
    outcome, reasons, _ = criteria_verdict(made(wrong))
    assert outcome == Outcome.NOT_SHOWN and INDEX in reasons


@pytest.mark.parametrize(("span", "p"), [(4.0, (0, 0.025)), (np.inf, (0.5, 0.5))])
def test_drops_that_are_the_same_for_all_items_are_not_held_against_a_judge(
    span: float, p: tuple[float, float]
) -> None:
    values = np.tile([2.0, 2.0, 0.0], (N, 1))
    wanted = np.array([True, True, False])
    assert p[0] <= CriteriaDrops(values, wanted, ~wanted, span).p_index() <= p[1]


def test_a_judge_that_takes_nothing_off_keeps_nothing_separately() -> None:
    outcome, reasons, _ = criteria_verdict(
        made(judge(typos_clear=noise(), cuts_true=noise()))
    )
    assert outcome == Outcome.NOT_SHOWN and INDEX in reasons


def test_lost_drops_at_the_worst_end() -> None:
    some = np.where(np.arange(N) < 4, NAN, 1 + noise(0.1))
    weak = judge(typos_clear=some, typos_true=0.6 + noise(0.1), cuts_true=some)
    assert criteria_verdict(made(weak))[:2] == (Outcome.NOT_SHOWN, ["lost"])
    strong = judge(typos_clear=some, typos_true=noise(0.1), cuts_true=1 + noise(0.1))
    assert criteria_verdict(made(strong))[0] == Outcome.BETTER
    limit = np.where(np.arange(N) < 20, NAN, 1.0)
    outcome, reasons, _ = criteria_verdict(
        made(judge(typos_clear=limit, typos_true=limit, cuts_true=limit))
    )
    assert outcome == Outcome.NO_CLAIM and "too_many_lost" in reasons


@pytest.mark.parametrize("lost", [0, 1])
def test_texts_that_the_judge_does_not_apply_to_are_not_lost(lost: int) -> None:
    some = np.where(np.arange(N) < 8 + lost, NAN, 1 + noise(0.1))
    own_part = made(
        judge(typos_clear=some, typos_true=noise(0.1) + 0 * some, cuts_true=some)
    )
    counts = {"ok": N - 8 - lost, "not_applicable": 8, "unparsed": lost}
    rows = [
        {
            **{"dataset": "d", "perturbation": texts, "judge": "j", "aspect": aspect},
            **{"status": status, "rule": status, "n": n},
        }
        for texts in ("typos.single", "cuts.single")
        for aspect in ASPECTS
        for status, n in counts.items()
    ]
    outcome, reasons, claim = criteria_verdict(
        replace(own_part, statuses=table_of("statuses", rows))
    )
    assert (outcome, reasons, claim.lost) == (Outcome.BETTER, [], lost / (N - 8))


@pytest.mark.parametrize("cut", [8, -8], ids=["length", "brevity"])
def test_at_the_worst_end_a_judge_must_beat_both_lengths(cut: int) -> None:
    """Four perturbations of one aspect change lengths by `cut`; without that the claim
    holds.
    """

    def lossy(cut: int) -> EvaluationData:
        rng, scores = np.random.default_rng(0), {**judge()}
        names = [f"{kind}{k}" for kind in ("typos", "cuts") for k in range(4)]
        for name in names:
            typo, k = name.startswith("typos"), int(name[-1])
            for aspect in ("clear", "true"):
                wanted = (aspect == "clear") == typo
                drop = (
                    0.8 + 0.1 * k if wanted else 0.05 * k * typo
                ) + 0.5 * rng.normal(size=N)
                if wanted:
                    drop[rng.random(N) < 0.17] = NAN
                scores[f"{name}.single", aspect] = scores["original", aspect] - drop
        typos, cuts = (
            {"drop": ["clear"], "same": ["true"]},
            {"drop": ["true"], "same": []},
        )
        expected = {name: typos if name.startswith("typos") else cuts for name in names}
        perturbed = [[name, "single", "character"] for name in names]
        data = study(
            {"j": scores},
            perturbed=perturbed,
            expected={"id": "e@1", "changes": expected, "margin": 0.2},
        )
        rows = [
            {**row, "text": "w" * (15 - cut * row["perturbation"].startswith("cuts"))}
            for row in data.targets.to_pylist()
        ]
        return replace(data, targets=table_of("targets", rows))

    assert criteria_verdict(lossy(0))[:2] == (Outcome.BETTER, [])
    outcome, reasons, claim = criteria_verdict(lossy(cut))
    assert (outcome, reasons) == (Outcome.NOT_SHOWN, ["lost"])
    assert max(p for name, p in claim.nulls.items() if name != "lost") < 0.01
    assert claim.nulls["lost"] > 0.05


def test_rows_name_the_wording() -> None:
    data = study(
        {"j": {**judge(typos_clear=1.0), **{}}},
        aspects=("clear", "true"),
        allow_missing=True,
    )
    rows = list(verdict_rows(data, perturbations.criteria_claims(data)))
    assert row_of(rows, "verdict")["form"] == "criteria"
    assert row_of(rows, "confusion_auc")["n"] == N


def rate(drops: np.ndarray, wanted: np.ndarray, studies: int) -> float:
    """Return in which share of studies aspects are claimed to be distinguished; drops
    (cells,).
    """
    held = 0
    lengths = np.zeros((N, drops.size))
    for _ in range(studies):
        common = RNG.standard_normal((N, 1))
        values = drops + 0.7 * common + RNG.standard_normal((N, drops.size))
        nulls = CriteriaDrops(values, wanted, ~wanted).nulls(lengths).p
        [verdict] = verdicts(
            [Claim("j", "criteria", "", "", "", NOTHING, nulls).evidence]
        )
        held += verdict.outcome == Outcome.BETTER
    return held / studies


NOTHING = (
    CriteriaDrops(np.eye(N), np.array([True] * N), np.array([False] * N)).auc().estimate
)


@pytest.mark.simulation
@pytest.mark.parametrize("cells", [2, 12])
def test_false_alarms_where_every_perturbation_lowers_every_aspect_alike(
    cells: int,
) -> None:
    wanted = np.arange(cells) < cells // 2
    rating = rate(np.full(cells, 0.8), wanted, 200)
    assert rating <= 0.025 + 2 * (0.025 * 0.975 / 200) ** 0.5


@pytest.mark.heavy
def test_power() -> None:
    wanted = np.arange(12) < 6
    assert rate(np.where(wanted, 0.9, 0.3), wanted, 40) > 0.6
