"""The score that the probabilities of a reply's tokens say."""

from math import log
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.parsing.judgment import Scale
from judgescope.schema.tables import table_of
from judgescope.scoring.cell import expectation, score_part
from judgescope.scoring.specs import CellPart, Reading

FIVE = {str(value): float(value) for value in range(1, 6)}
TEN = {str(value): float(value) for value in range(1, 11)}
HALVES = {f"{value / 2:g}": value / 2 for value in range(2, 11)}
WORDS = {"bad": 1.0, "so-so": 2.0, "good": 3.0}
PART = CellPart("d", "systems", "j", "a")


def place(*shares: tuple[str, float]) -> list[tuple[str, float]]:
    """Return a place: tokens with their log probabilities, the one that came first."""
    return [(token, log(share)) for token, share in shares]


def test_the_mean_of_the_values_by_their_probabilities() -> None:
    """(4 x .5 + 5 x .3 + 3 x .2) / 1 = 4.1, worked out by hand."""
    told = [place(("4", 0.5), ("5", 0.3), ("3", 0.2))]
    assert expectation(told, "4", FIVE) == pytest.approx(4.1, abs=1e-12)


def test_what_is_no_value_is_left_out_and_the_rest_fills_its_place() -> None:
    """(4 x .6 + 2 x .2) / .8 = 3.5."""
    told = [place(("4", 0.6), ("2", 0.2), ("The", 0.1), ("7", 0.1))]
    assert expectation(told, "4", FIVE) == pytest.approx(3.5, abs=1e-12)


def test_one_value_in_several_spellings_is_one() -> None:
    """Blanks before it and what follows it in one token: 4 has .7, 5 has .3."""
    told = [place((" 4", 0.5), ("4", 0.1), ("4.", 0.05), ("4/", 0.05), ("5", 0.3))]
    assert expectation(told, "4", FIVE) == pytest.approx(4.3, abs=1e-12)


def test_the_verdict_is_found_behind_what_comes_before_it() -> None:
    """Numbers in the reasoning are not the verdict."""
    said = ["Of", " 5", " facts", " one", " is", " wrong", ".\n", "Rating", ":", " 2"]
    told = [place((token, 1)) for token in said]
    told[-1] = place((" 2", 0.75), (" 3", 0.25))
    assert expectation([*told, place(("\n", 1))], "2", FIVE) == pytest.approx(2.25, abs=1e-12)


def test_a_token_may_have_the_verdict_in_its_middle() -> None:
    told = [place(("Rating", 1)), place((": 2", 0.5), (": 4", 0.5))]
    assert expectation(told, "2", FIVE) == pytest.approx(3, abs=1e-12)


def test_ten_is_told_from_one_where_one_came() -> None:
    """P(10) = .6 x .5, P(1) = .6 x .5 (an end and a full stop), P(9) = .4."""
    told = [place(("1", 0.6), ("9", 0.4)), place(("0", 0.5), ("<end>", 0.3), (".", 0.2))]
    assert expectation(told, "10", TEN) == pytest.approx(10 * 0.3 + 1 * 0.3 + 9 * 0.4, abs=1e-12)


def test_one_or_ten_is_unknown_where_neither_came() -> None:
    """Of 1 the share that would have gone on to 10 is not told: (9 x .6 + 8 x .2) / .8."""
    told = [place(("9", 0.6), ("8", 0.2), ("1", 0.2)), place(("<end>", 1))]
    assert expectation(told, "9", TEN) == pytest.approx(8.75, abs=1e-12)
    assert expectation([place(("1", 0.9), ("9", 0.1))], "1", TEN) == pytest.approx(1.8, abs=1e-12)


def test_ten_in_one_token_is_ten() -> None:
    told = [place(("10", 0.5), ("9", 0.5))]
    assert expectation(told, "10", TEN) == pytest.approx(9.5, abs=1e-12)


def test_halves_are_followed_over_three_tokens() -> None:
    """3 (ends) .8 x .25, 3.5 .8 x .75 x .5, 3.0 is 3 only as 3; 4 cannot be told from 4.5."""
    told = [place(("3", 0.8), ("4", 0.2)), place((".", 0.75), ("", 0.25)), place(("5", 0.5))]
    known = 0.8 * 0.25, 0.8 * 0.75 * 0.5
    wanted = (3 * known[0] + 3.5 * known[1]) / sum(known)
    assert expectation(told, "3.5", HALVES) == pytest.approx(wanted, abs=1e-12)


def test_words_of_several_tokens_in_any_case() -> None:
    told = [place(("So", 0.5), ("Good", 0.3), ("bad", 0.2)), place(("-so", 1))]
    assert expectation(told, "So-so", WORDS) == pytest.approx(2 * 0.5 + 3 * 0.3 + 0.2, abs=1e-12)


@pytest.mark.parametrize(
    ("told", "tail"),
    [
        ([place(("4", 0.4), ("The", 0.6))], "4"),  # less than half of it is about values
        ([], "4"),
        ([place(("4", 1))], "four"),  # the tokens are not those of the reply
        ([place(("44", 1))], "44"),
        ([place(("4.5", 1))], "4.5"),
    ],
)
def test_where_the_probabilities_say_nothing_there_is_no_score(told: Any, tail: str) -> None:
    assert expectation(told, tail, FIVE) is None


@given(st.lists(st.floats(0.01, 1), min_size=5, max_size=5), st.randoms())
def test_it_lies_within_the_scale_and_no_order_of_the_others_matters(
    weights: list[float], random: Any
) -> None:
    shares = [weight / sum(weights) for weight in weights]
    told = [(str(value), log(share)) for value, share in enumerate(shares, 1)]
    wanted = sum(value * share for value, share in enumerate(shares, 1))
    random.shuffle(told)
    found = expectation([told], told[0][0], FIVE)
    assert found == pytest.approx(wanted, abs=1e-9) and found is not None and 1 <= found <= 5


# --- a cell ---


def cell(
    *replies: tuple[str, str, Any], estimator: str = "logprob_mean", samples: bool = False
) -> list[tuple[str, Any, int, str]]:
    """Return (target, value, missing, estimator) of each score of (target, text, logprobs)."""
    draws: dict[str, int] = {}
    rows = []
    for target, text, logprobs in replies:
        draws[target] = draws.get(target, -1) + 1
        row = {"judge": "j", "kind": "rate", "target": target, "draw": draws[target]}
        rows.append({**row, "text": text, "finish": "stop", "status": "ok", "logprobs": logprobs})
    answers = table_of("answers", rows)
    reading = Reading(
        pairs=[("x", None)],
        scale=Scale(1, 5, 1),
        parser="score",
        estimator=estimator,
        samples=samples,
    )
    _, scores = score_part(answers, reading, part=PART)
    return [
        (row["target"], row["value"], row["n_missing"], row["estimator"])
        for row in scores.to_pylist()
    ]


SURE = [place(("4", 0.5), ("5", 0.5))]


def test_a_score_is_the_expectation_and_says_so() -> None:
    found = cell(("a", "4", SURE), ("b", "Rating: 4", [place(("Rating: ", 1)), *SURE]))
    assert found == [
        ("a", pytest.approx(4.5), 0, "logprob_mean"),
        ("b", pytest.approx(4.5), 0, "logprob_mean"),
    ]


def test_without_probabilities_nothing_is_made_up() -> None:
    assert cell(("a", "4", SURE), ("b", "4", None)) == [
        ("a", pytest.approx(4.5), 0, "logprob_mean"),
        ("b", None, 1, "logprob_mean"),
    ]
    assert cell(("a", "4", None)) == [("a", None, 1, "logprob_mean")]
    # a reply that is no verdict has no expectation, whatever its first tokens were
    assert cell(("a", "The text has 4 faults", [place(("4", 1))])) == [
        ("a", None, 1, "logprob_mean")
    ]


def test_samples_count_where_the_card_allows_it_and_are_called_a_mean() -> None:
    told = [("a", "4", None), ("a", "5", None), ("b", "2", None), ("b", "no idea", None)]
    assert cell(*told, samples=True) == [("a", 4.5, 0, "mean"), ("b", 2.0, 1, "mean")]


def test_probabilities_are_not_used_by_other_estimators() -> None:
    assert cell(("a", "4", SURE), estimator="mean") == [("a", 4.0, 0, "mean")]


def test_the_column_comes_back_as_it_was() -> None:
    table = table_of("answers", [{"judge": "j", "draw": 0, "logprobs": SURE}])
    assert isinstance(table, pa.Table) and table["logprobs"].to_pylist() == [SURE]
