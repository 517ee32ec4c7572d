"""Requests that a host seems to cut: far fewer tokens than their length lets expect."""

import pytest

from judgescope.replies.pricing import ENOUGH, cut_requests

SHORT = [400] * ENOUGH


def test_a_plateau_of_tokens_is_a_cut() -> None:
    long = [3000, 4000, 5000]
    assert cut_requests(SHORT + long, [100] * ENOUGH + [320] * 3) == 3


@pytest.mark.parametrize("density", [1 / 6, 1 / 4, 1.2])
def test_long_states_of_any_language_are_not(density: float) -> None:
    sizes = [*SHORT, 3000, 9000]
    tokens = [round(density * size) for size in sizes]
    assert cut_requests(sizes, tokens) == 0


def test_requests_that_are_all_long_are_judged_by_their_length() -> None:
    assert cut_requests([9000] * ENOUGH, [512] * ENOUGH) == ENOUGH
    assert cut_requests([9000] * ENOUGH, [2000] * ENOUGH) == 0


def test_nothing_is_reported_of_few_requests() -> None:
    assert cut_requests([9000] * (ENOUGH - 1), [5] * (ENOUGH - 1)) == 0
