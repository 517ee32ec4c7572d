"""Scales, what stands in for unparsed replies in sensitivity runs, and the errors of endpoints."""

from statistics import fmean
from typing import Any

import numpy as np
import pytest
from msgspec import ValidationError, convert

from judgescope.core.errors import UserError
from judgescope.parsing.judgment import Scale, stand_in
from judgescope.parsing.parsers import parse
from judgescope.plan.checks.judges import check_judge
from judgescope.schema.cards import Judge, OpenAIModel
from judgescope.scoring.specs import Missing

FIVE = Scale(1, 5, 1)
HALVES = Scale(1, 5, 0.5)
UNIT = Scale(0, 1, None)
WORDS = Scale(1, 5, 1, ("Unacceptable", "Poor", "Fair", "Good", "Very good"))


def test_scales_know_their_values() -> None:
    assert HALVES.grid() == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    assert UNIT.grid() is None
    assert [WORDS.value_of(place) for place in range(5)] == [1, 2, 3, 4, 5]
    assert Scale(0, 1, 0.1).on_grid(0.3)
    assert not HALVES.on_grid(2.25)
    assert UNIT.on_grid(0.123)
    assert [FIVE.contains(value) for value in (0.9, 1, 5, 5.1)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("policy", "scale", "filling"),
    [
        ("drop", FIVE, None),
        ("worst", FIVE, 1),
        ("mid", FIVE, 3),
        ("mid", Scale(1, 4, 1), 2),
        ("mid", UNIT, 0.5),
    ],
)
def test_policies_replace_what_is_missing(policy: Any, scale: Scale, filling: float | None) -> None:
    assert stand_in(policy, scale) == filling


@pytest.mark.parametrize("scale", [HALVES, UNIT])
def test_the_random_policy_is_seeded_and_uniform_on_the_scale(scale: Scale) -> None:

    def drawn_by(seed: int) -> list[float | None]:
        rng = np.random.default_rng(seed)
        return [stand_in("random", scale, rng) for _ in range(2_000)]

    drawn = drawn_by(7)
    assert drawn == drawn_by(7)
    assert drawn != drawn_by(8)
    values = [value for value in drawn if value is not None]
    assert len(values) == 2_000
    assert fmean(values) == pytest.approx((scale.min + scale.max) / 2, abs=0.15)
    assert set(values) == set(scale.grid() or values)
    assert all(scale.contains(value) for value in values)


def test_policies_refuse_what_they_cannot_do() -> None:
    for policy in ("drop", "worst", "mid", "random"):
        assert convert({"policy": policy, "seed": 1}, Missing).policy == policy
    with pytest.raises(ValueError, match="needs a generator"):
        stand_in("random", FIVE)
    with pytest.raises(ValidationError, match="Invalid enum value 'best'"):
        convert({"policy": "best", "seed": 1}, Missing)


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        ("HTTP 400: This model's maximum context length is 8192 tokens.", "context"),
        ("HTTP 400: context_length_exceeded", "context"),
        ("HTTP 400: the request exceeds the available context size (4096 tokens)", "context"),
        ("HTTP 400: prompt is too long: 210000 tokens > 200000 maximum", "context"),
        ("HTTP 400: The input token count (9) exceeds the maximum number of tokens (8)", "context"),
        ("HTTP 400: in this context, temperature must be below 1", "error"),
        ("HTTP 422: max_tokens is not a number", "error"),
    ],
)
def test_a_request_too_long_for_the_model_is_told_from_other_errors(told: str, rule: str) -> None:
    found = parse(told, scale=FIVE, finish="error", reply_status="error")
    assert (found.status, found.rule, found.value) == ("error", rule, None)


@pytest.mark.parametrize("name", ["merged", "scores"])
def test_a_judge_names_a_parser_that_exists_and_is_for_judges(name: str) -> None:
    judge = Judge.model_validate({"judge": "j", "model": "m", "form": "f", "parser": name})
    model = OpenAIModel(model="m", engine="openai", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(UserError, match="unknown parser") as error:
        check_judge(judge, model, {})
    assert "judges/j.yaml, key parser" in str(error.value) and "chiang-lee" in str(error.value)
    check_judge(judge.model_copy(update={"parser": "result"}), model, {})
