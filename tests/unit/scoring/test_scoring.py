"""From draws to scores: the mean, the mode and its ties, and how many draws a score
needs.
"""

from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.parsing.annotation import OVERALL
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.schema import tables
from judgescope.schema.tables import SCHEMAS, table_of, write_table
from judgescope.scoring.aggregate import ESTIMATORS, mean, mode, scores
from judgescope.scoring.cell import score_part
from judgescope.scoring.collecting import _once
from judgescope.scoring.shares import expectation
from judgescope.scoring.specs import CellPart, ReplyReading

NAN = float("nan")


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        ([3, 3, 4], 3),
        ([3, 4, 5, 5, 4], 4),  # 4 and 5 tie; the mean is 4.2
        ([2, 4], 2),  # both are 1 from the mean: the lower
        ([1, 1, 5, 5, 4], 5),  # mean 3.2: 5 is 1.8 away, 1 is 2.2
        ([0.1, 0.1, 0.2, 0.2], 0.1),  # as far, though not in binary
        ([NAN, 2, NAN], 2),
        ([NAN, NAN, NAN], NAN),
    ],
)
def test_mode_of_a_tie_is_the_nearest_to_the_mean_then_the_lower(
    draws: list[float], expected: float
) -> None:
    assert np.array_equal(
        mode(np.array([draws], dtype=float)), [expected], equal_nan=True
    )


def test_means_of_tenths_that_are_equal_on_paper_are_equal_numbers() -> None:
    draws = np.array([*product(range(11), repeat=3)])
    result = mean(draws / 10)
    by_sum = {
        total: {*result[draws.sum(axis=1) == total].tolist()} for total in range(31)
    }
    assert {total: len(means) for total, means in by_sum.items()} == dict.fromkeys(
        range(31), 1
    )
    assert (
        np.unique(mean(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2] * 3]))).size
        == 1
    )


@pytest.mark.parametrize("seed", range(5))
def test_estimators_are_what_exact_arithmetic_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, size=(200, 7)).astype(float)
    table[rng.random(table.shape) < 0.2] = NAN
    for row, mean_found, mode_found in zip(
        table, ESTIMATORS["mean"](table), ESTIMATORS["mode"](table), strict=True
    ):
        given = [Fraction(value) for value in row if not np.isnan(value)]
        centre = sum(given) / len(given)
        counts = Counter(given)
        tied = [
            value for value, count in counts.items() if count == max(counts.values())
        ]
        assert mean_found == float(centre)
        assert mode_found == min(tied, key=lambda value: (abs(value - centre), value))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_score_needs_half_of_its_draws(estimator: str) -> None:
    table = np.array([[1, NAN, NAN], [1, 1, NAN], [2, NAN, NAN], [NAN, NAN, NAN]])
    planned = np.array([3, 3, 2, 2])
    result, given = scores(table, planned, estimator)
    assert np.array_equal(result, [NAN, 1, 2, NAN], equal_nan=True)
    assert given.tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_no_draw_means_no_score(estimator: str, shape: tuple[int, int]) -> None:
    with np.errstate(all="ignore"):
        result, given = scores(np.empty(shape), np.zeros(shape[0], np.int64), estimator)
    assert len(result) == len(given) == shape[0] and np.isnan(result).all()


@pytest.mark.parametrize("estimator", sorted({*ESTIMATORS} - {"first"}))
def test_the_order_of_draws_changes_nothing(estimator: str) -> None:
    table = np.random.default_rng(1).integers(1, 11, size=(300, 10)) / 1.0
    estimate = ESTIMATORS[estimator]
    assert np.array_equal(estimate(table), estimate(table[:, ::-1]), equal_nan=True)


def test_the_first_draw_is_the_score_whatever_the_others_say() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(1, 11, size=(300, 10)) / 1.0
    table[rng.random(table.shape) < 0.2] = NAN
    others = np.column_stack([table[:, 0], rng.permuted(table[:, 1:], axis=1)])
    for each in (table, others):
        assert np.array_equal(ESTIMATORS["first"](each), table[:, 0], equal_nan=True)


def test_a_cell_has_a_score_per_target_sorted_and_counts_what_was_not_parsed() -> None:
    values = [
        ("b", "4"),
        ("a", "3"),
        ("b", "none"),
        ("a", "5"),
        ("c", "what?"),
        ("c", "who?"),
    ]
    answers = table_of(
        "answers",
        [
            {
                "judge": "j",
                "kind": "rate",
                "target": target,
                "draw": index,
                "text": text,
            }
            | {"aspect": "x", "key": "k", "finish": "stop", "status": "ok"}
            for index, (target, text) in enumerate(values)
        ],
    )
    part = CellPart("d", "systems", "j", "x")
    reading = ReplyReading(
        pairs=[("x", None)],
        scale=None,
        parser=PARSERS.target("number"),
        estimator="mean",
    )
    judged, result = score_part(answers, reading, part=part)
    assert judged["status"].to_pylist() == [
        "ok",
        "ok",
        "unparsed",
        "ok",
        "unparsed",
        "unparsed",
    ]
    outcome = ["target", "value", "n_draws", "n_missing"]
    assert [tuple(row.values()) for row in result.select(outcome).to_pylist()] == [
        ("a", 4.0, 2, 0),
        ("b", 4.0, 2, 1),
        ("c", None, 2, 2),
    ]
    assert isinstance(result, pa.Table) and set(result["judge"].to_pylist()) == {"j"}


def test_the_strength_of_a_choice_is_in_its_judgment() -> None:
    replies = ("[[A>>B]]", "[[B>A]]", "[[A=B]]", "[[B]]", "Who knows?")
    asked = {"judge": "j", "kind": "compare", "aspect": "x", "key": "k"}
    rows = [
        asked | {"target": "a", "draw": draw, "text": text, "finish": "stop"}
        for draw, text in enumerate(replies)
    ]
    answers = table_of("answers", [row | {"status": "ok"} for row in rows])
    reading = ReplyReading(
        pairs=[("x", None)],
        scale=None,
        parser=PARSERS.target("choice"),
        estimator="mean",
    )
    judgments, _ = score_part(answers, reading, part=CellPart("d", "systems", "j", "x"))
    assert judgments["value"].to_pylist() == [1, -1, 0, -1, None]
    assert judgments["strength"].to_pylist() == [2, -1, 0, None, None]


def test_errors_are_located_in_the_text_that_was_judged() -> None:
    words = (
        'Error 1:\nLocation: "the the"\nExplanation: twice\nSeverity: 2\n'
        'Error 2:\nLocation: "a horse"\nExplanation: there is none\nSeverity: 5\n'
        "Overall score: Fair\nExplanation of the score: flawed"
    )
    asked = {
        "judge": "j",
        "kind": "rate",
        "aspect": "fluency",
        "finish": "stop",
        "status": "ok",
    }
    clean = "No Error\nOverall score: Excellent"
    answers = table_of(
        "answers",
        [
            {**asked, "target": target, "key": f"k{number}", "draw": 0, "text": text}
            for number, (target, text) in enumerate(
                [("a", words), ("b", words), ("c", clean)]
            )
        ],
    )
    part = CellPart("x", "x", "x", "x")
    texts = {"a": "It is the the cat.", "b": "The\u00a0the; a horse", "c": "A cat."}
    reading = ReplyReading(
        pairs=[("fluency", None)],
        scale=OVERALL,
        parser=PARSERS.target("annotation"),
        estimator="mean",
    )
    score = partial(score_part, answers, reading, part=part)
    judgments, scores = score(texts=texts)
    assert scores["value"].to_pylist() == [3, 3, 5]
    spans = dict(zip("abc", judgments["spans"].to_pylist(), strict=True))
    actual = [
        (each["start"], each["end"], each["match"], each["severity"])
        for each in spans["a"]
    ]
    assert actual == [(6, 13, "exact", 2), (None, None, "not_found", 5)]
    assert [each["location"] for each in spans["a"]] == ["the the", "a horse"]
    assert [(each["start"], each["end"], each["match"]) for each in spans["b"]] == [
        (0, 7, "normalised"),
        (9, 16, "exact"),
    ]
    assert spans["c"] == []
    unlocated, _ = score()
    assert unlocated["spans"].null_count == 3


USAGE = {"prompt": 7, "completion": 2, "reasoning": 0, "cached": None}


def reply(key: str | None, draw: int, **more: Any) -> dict[str, Any]:
    fields = {
        "judge": "it",
        "kind": "rate",
        "aspect": "a",
        "status": "ok",
        "target": "t",
    }
    return {**fields, "key": key, "draw": draw, "usage": USAGE if key else None, **more}


@pytest.mark.parametrize("bucket", [100, 2, 1])
def test_a_reply_that_serves_several_cells_is_bought_once(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever number of replies is compared at once; a reply without a key was not
    bought.
    """
    monkeypatch.setattr(tables, "BUCKET", bucket)
    cells = [
        [reply("bb", 1), reply("aa", 0)],
        [reply("aa", 0), reply("bb", 0, target="v"), reply(None, 0, target="u")],
    ]
    paths = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    for path, rows in zip(paths, cells, strict=True):
        write_table("answers", table_of("answers", rows), path)
    parts = list(_once(paths, "it", None))
    assert len(parts) == 5 // bucket + 1
    bought = pa.concat_tables(parts)
    assert bought.schema.equals(SCHEMAS["bought"])
    assert bought.select(["key", "draw"]).to_pydict() == {
        "key": ["aa", "bb", "bb"],
        "draw": [0, 0, 1],
    }
    assert bought["prompt"].to_pylist() == [7, 7, 7]
    assert bought["cached"].to_pylist() == [None] * 3
    assert bought["judge"].to_pylist() == ["it"] * 3


DIGITS = {str(value): float(value) for value in range(1, 6)}
TEN = {str(value): float(value) for value in range(1, 11)}
HALVES = {f"{value / 2:g}": value / 2 for value in range(2, 11)}
WORDS = {"bad": 1.0, "so-so": 2.0, "good": 3.0}
PART = CellPart("d", "systems", "j", "a")


def spot(*shares: tuple[str, float]) -> list[tuple[str, float]]:
    """Return a place: tokens with their log probabilities, the one that came first."""
    return [(token, log(share)) for token, share in shares]


@pytest.mark.parametrize(
    ("expected", "message", "values", "mean"),
    [
        # (4 x .5 + 5 x .3 + 3 x .2) / 1
        ([spot(("4", 0.5), ("5", 0.3), ("3", 0.2))], "4", DIGITS, 4.1),
        # what is no value is left out: (4 x .6 + 2 x .2) / .8
        ([spot(("4", 0.6), ("2", 0.2), ("The", 0.1), ("7", 0.1))], "4", DIGITS, 3.5),
        # blanks before it and what follows it in one token: 4 has .7, 5 has .3
        (
            [spot((" 4", 0.5), ("4", 0.1), ("4.", 0.05), ("4/", 0.05), ("5", 0.3))],
            "4",
            DIGITS,
            4.3,
        ),
        # in the middle of a token, in one token, in several and in any case
        ([spot(("Rating", 1)), spot((": 2", 0.5), (": 4", 0.5))], "2", DIGITS, 3),
        ([spot(("10", 0.5), ("9", 0.5))], "10", TEN, 9.5),
        (
            [spot(("So", 0.5), ("Good", 0.3), ("bad", 0.2)), spot(("-so", 1))],
            "So-so",
            WORDS,
            2.1,
        ),
    ],
)
def test_the_mean_of_the_values_by_their_probabilities(
    expected: list[Any], message: str, values: dict[str, float], mean: float
) -> None:
    assert expectation(expected, message, values) == pytest.approx(mean, abs=1e-12)


def test_the_verdict_is_detected_behind_what_comes_before_it() -> None:
    """Numbers in the reasoning are not the verdict."""
    values = ["Of", " 5", " facts", " one", " is", " wrong", ".\n", "Rating", ":", " 2"]
    collected = [spot((token, 1)) for token in values]
    collected[-1] = spot((" 2", 0.75), (" 3", 0.25))
    assert expectation([*collected, spot(("\n", 1))], "2", DIGITS) == pytest.approx(
        2.25, abs=1e-12
    )


def test_ten_is_distinguished_from_one_where_a_single_came() -> None:
    """P(10) = .6 x .5, P(1) = .6 x .5 (an end and a full stop), P(9) = .4."""
    values = [
        spot(("1", 0.6), ("9", 0.4)),
        spot(("0", 0.5), ("<end>", 0.3), (".", 0.2)),
    ]
    assert expectation(values, "10", TEN) == pytest.approx(
        10 * 0.3 + 1 * 0.3 + 9 * 0.4, abs=1e-12
    )


def test_one_or_ten_is_unknown_where_neither_came() -> None:
    """Of 1 the share that would have gone on to 10 is not told: (9 x .6 + 8 x .2) /
    .8.
    """
    values = [spot(("9", 0.6), ("8", 0.2), ("1", 0.2)), spot(("<end>", 1))]
    assert expectation(values, "9", TEN) == pytest.approx(8.75, abs=1e-12)
    assert expectation([spot(("1", 0.9), ("9", 0.1))], "1", TEN) == pytest.approx(
        1.8, abs=1e-12
    )


def test_halves_are_followed_over_three_tokens() -> None:
    """3 (ends) .8 x .25, 3.5 .8 x .75 x .5, 3.0 is 3 only as 3; 4 cannot be told from
    4.5.
    """
    values = [
        spot(("3", 0.8), ("4", 0.2)),
        spot((".", 0.75), ("", 0.25)),
        spot(("5", 0.5)),
    ]
    known = 0.8 * 0.25, 0.8 * 0.75 * 0.5
    wanted = (3 * known[0] + 3.5 * known[1]) / sum(known)
    assert expectation(values, "3.5", HALVES) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "tail"),
    [
        ([spot(("4", 0.4), ("The", 0.6))], "4"),  # less than half of it is about values
        ([], "4"),
        ([spot(("4", 1))], "four"),  # the tokens are not those of the reply
        ([spot(("44", 1))], "44"),
        ([spot(("4.5", 1))], "4.5"),
    ],
)
def test_where_the_probabilities_say_nothing_there_is_no_score(
    first: Any, tail: str
) -> None:
    assert expectation(first, tail, DIGITS) is None


@given(st.lists(st.floats(0.01, 1), min_size=5, max_size=5), st.randoms())
def test_it_lies_within_the_scale_and_no_order_of_the_others_matters(
    weights: list[float], random: Any
) -> None:
    shares = [weight / sum(weights) for weight in weights]
    collected = [(str(value), log(share)) for value, share in enumerate(shares, 1)]
    wanted = sum(value * share for value, share in enumerate(shares, 1))
    random.shuffle(collected)
    result = expectation([collected], collected[0][0], DIGITS)
    assert (
        result == pytest.approx(wanted, abs=1e-9)
        and result is not None
        and 1 <= result <= 5
    )


# --- a cell ---


def cell(
    *replies: tuple[str, str, Any],
    estimator: str = "logprob_mean",
    samples: bool = False,
) -> list[tuple[str, Any, int, str]]:
    """Return (target, value, missing, estimator) of each score of (target, text,
    logprobs).
    """
    draws: dict[str, int] = {}
    rows = []
    for target, text, logprobs in replies:
        draws[target] = draws.get(target, -1) + 1
        row = {"judge": "j", "kind": "rate", "target": target, "draw": draws[target]}
        rows.append(
            {
                **row,
                "text": text,
                "finish": "stop",
                "status": "ok",
                "logprobs": logprobs,
            }
        )
    answers = table_of("answers", rows)
    reading = ReplyReading(
        pairs=[("x", None)],
        scale=Scale(1, 5, 1),
        parser=PARSERS.target("score"),
        estimator=estimator,
        samples=samples,
    )
    _, scores = score_part(answers, reading, part=PART)
    return [
        (row["target"], row["value"], row["n_missing"], row["estimator"])
        for row in scores.to_pylist()
    ]


SURE_4 = [spot(("4", 0.5), ("5", 0.5))]


def test_a_score_is_the_expectation_and_says_so() -> None:
    result = cell(
        ("a", "4", SURE_4), ("b", "Rating: 4", [spot(("Rating: ", 1)), *SURE_4])
    )
    assert result == [
        ("a", pytest.approx(4.5), 0, "logprob_mean"),
        ("b", pytest.approx(4.5), 0, "logprob_mean"),
    ]


def test_without_probabilities_nothing_is_made_up() -> None:
    assert cell(("a", "4", SURE_4), ("b", "4", None)) == [
        ("a", pytest.approx(4.5), 0, "logprob_mean"),
        ("b", None, 1, "logprob_mean"),
    ]
    assert cell(("a", "4", None)) == [("a", None, 1, "logprob_mean")]
    # a reply that is no verdict has no expectation, whatever its first tokens were
    assert cell(("a", "The text has 4 faults", [spot(("4", 1))])) == [
        ("a", None, 1, "logprob_mean")
    ]


def test_samples_count_where_the_card_allows_it_and_are_called_a_mean() -> None:
    values = [
        ("a", "4", None),
        ("a", "5", None),
        ("b", "2", None),
        ("b", "no idea", None),
    ]
    assert cell(*values, samples=True) == [("a", 4.5, 0, "mean"), ("b", 2.0, 1, "mean")]


def test_probabilities_are_not_used_by_other_estimators() -> None:
    assert cell(("a", "4", SURE_4), estimator="mean") == [("a", 4.0, 0, "mean")]


def test_the_column_comes_back_as_it_was() -> None:
    table = table_of("answers", [{"judge": "j", "draw": 0, "logprobs": SURE_4}])
    assert isinstance(table, pa.Table) and table["logprobs"].to_pylist() == [SURE_4]
