"""Holm over one judge's claims, step by step, and what the p-values come to."""

from math import nan

import pytest

from judgescope.statistics.verdict import HOLM, NO_INTERVAL, Evidence, Outcome, verdicts


def alone(rater: float = nan, **nulls: float) -> tuple[Outcome, tuple[str, ...]]:
    [found] = verdicts([Evidence(nulls, rater)])
    return found.outcome, found.reasons


@pytest.mark.parametrize(
    ("nulls", "wanted"),
    [
        ({"chance": 0.001, "length": 0.025}, (Outcome.BETTER, ())),
        ({"chance": 0.001, "length": 0.026}, (Outcome.NOT_SHOWN, ("length",))),
        (
            {"chance": 0.2, "length": 0.3, "systems": 0.01},
            (Outcome.NOT_SHOWN, ("chance", "length")),
        ),
        ({"chance": 0.98}, (Outcome.BELOW, ("chance",))),
        ({"chance": 0.001, "brevity": 0.99}, (Outcome.BELOW, ("brevity",))),
        ({"chance": 0.001, "systems": 0.99}, (Outcome.NOT_SHOWN, ("systems",))),
        ({"chance": nan, "length": 0.01}, (Outcome.NO_CLAIM, (NO_INTERVAL,))),
        ({}, (Outcome.NO_CLAIM, (NO_INTERVAL,))),
    ],
)
def test_a_claim_holds_only_against_each_of_its_nulls(
    nulls: dict[str, float], wanted: tuple[Outcome, tuple[str, ...]]
) -> None:
    assert alone(**nulls) == wanted


def test_the_next_step_is_asked_only_of_what_holds_the_one_before() -> None:
    assert alone(rater=0.001, chance=0.001)[0] == Outcome.AS_RATER
    assert alone(rater=0.001, chance=0.5)[0] == Outcome.NOT_SHOWN
    assert alone(rater=0.03, chance=0.001)[0] == Outcome.BETTER


def test_holm_corrects_within_the_family_and_says_so() -> None:
    family = [Evidence({"chance": p}) for p in (0.001, 0.02, 0.3, nan)]
    told = verdicts(family)
    assert [one.outcome for one in told] == [
        *(Outcome.BETTER, Outcome.NOT_SHOWN, Outcome.NOT_SHOWN, Outcome.NO_CLAIM)
    ]
    assert told[1].reasons == (HOLM,) and told[1].adjusted == pytest.approx(0.04)
    assert {one.family for one in told} == {3}  # what is not computable is no test


def test_the_correction_of_the_second_step_is_over_those_that_reach_it() -> None:
    raters = (0.02, 0.02, 0.02)
    told = verdicts([Evidence({"chance": 0.001}, rater) for rater in raters])
    assert {one.outcome for one in told} == {Outcome.BETTER}  # 3 x .02
    first = [0.001, 0.9, 0.9]
    told = verdicts([Evidence({"chance": p}, r) for p, r in zip(first, raters, strict=True)])
    assert told[0].outcome == Outcome.AS_RATER  # the only one that is asked


def test_a_bar_is_met_missed_or_cannot_be_told() -> None:
    told = verdicts([Evidence({"bar": p}, bar=True) for p in (0.001, 0.5, 0.99)])
    assert [one.outcome for one in told] == [*(Outcome.MEETS, Outcome.CANNOT_TELL, Outcome.MISSES)]
