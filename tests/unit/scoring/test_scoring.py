"""From draws to scores: the mean, the mode and its ties, and how many draws a score needs."""

from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from judgescope.jobs import collect
from judgescope.parsing.annotation import OVERALL
from judgescope.schema import tables
from judgescope.schema.tables import SCHEMAS, table_of, write_table
from judgescope.scoring.aggregate import ESTIMATORS, mode, scores
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import CellPart, Reading

NAN = float("nan")


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        ([3, 3, 4], 3),
        ([3, 4, 5, 5, 4], 4),  # 4 and 5 tie; the mean is 4.2
        ([2, 4], 2),  # both are 1 from the mean: the lower
        ([1, 1, 5, 5, 4], 5),  # mean 3.2: 5 is 1.8 away, 1 is 2.2
        ([NAN, 2, NAN], 2),
        ([NAN, NAN, NAN], NAN),
    ],
)
def test_mode_of_a_tie_is_the_nearest_to_the_mean_then_the_lower(
    draws: list[float], expected: float
) -> None:
    assert np.array_equal(mode(np.array([draws], dtype=float)), [expected], equal_nan=True)


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
        tied = [value for value, count in counts.items() if count == max(counts.values())]
        assert mean_found == float(centre)
        assert mode_found == min(tied, key=lambda value: (abs(value - centre), value))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_score_needs_half_of_its_draws(estimator: str) -> None:
    table = np.array([[1, NAN, NAN], [1, 1, NAN], [2, NAN, NAN], [NAN, NAN, NAN]])
    planned = np.array([3, 3, 2, 2])
    found, given = scores(table, planned, estimator)
    assert np.array_equal(found, [NAN, 1, 2, NAN], equal_nan=True)
    assert given.tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 0)])
def test_without_any_draw_there_is_no_score(estimator: str, shape: tuple[int, int]) -> None:
    with np.errstate(all="ignore"):
        found, given = scores(np.empty(shape), np.zeros(shape[0], np.int64), estimator)
    assert len(found) == len(given) == shape[0] and np.isnan(found).all()


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
    for one in (table, others):
        assert np.array_equal(ESTIMATORS["first"](one), table[:, 0], equal_nan=True)


def test_a_cell_has_a_score_per_target_sorted_and_counts_what_was_not_parsed() -> None:
    said = [("b", "4"), ("a", "3"), ("b", "none"), ("a", "5"), ("c", "what?"), ("c", "who?")]
    answers = table_of(
        "answers",
        [
            {"judge": "j", "kind": "rate", "target": target, "draw": index, "text": text}
            | {"aspect": "x", "key": "k", "finish": "stop", "status": "ok"}
            for index, (target, text) in enumerate(said)
        ],
    )
    part = CellPart("d", "systems", "j", "x")
    reading = Reading(pairs=[("x", None)], scale=None, parser="number", estimator="mean")
    judged, found = score_part(answers, reading, part=part)
    assert judged["status"].to_pylist() == ["ok", "ok", "unparsed", "ok", "unparsed", "unparsed"]
    told = ["target", "value", "n_draws", "n_missing"]
    assert [tuple(row.values()) for row in found.select(told).to_pylist()] == [
        ("a", 4.0, 2, 0),
        ("b", 4.0, 2, 1),
        ("c", None, 2, 2),
    ]
    assert isinstance(found, pa.Table) and set(found["judge"].to_pylist()) == {"j"}


def test_errors_are_located_in_the_text_that_was_judged() -> None:
    said = (
        'Error 1:\nLocation: "the the"\nExplanation: twice\nSeverity: 2\n'
        'Error 2:\nLocation: "a horse"\nExplanation: there is none\nSeverity: 5\n'
        "Overall score: Fair\nExplanation of the score: flawed"
    )
    asked = {"judge": "j", "kind": "rate", "aspect": "fluency", "finish": "stop", "status": "ok"}
    clean = "No Error\nOverall score: Excellent"
    answers = table_of(
        "answers",
        [
            {**asked, "target": target, "key": f"k{number}", "draw": 0, "text": text}
            for number, (target, text) in enumerate([("a", said), ("b", said), ("c", clean)])
        ],
    )
    part = CellPart("x", "x", "x", "x")
    texts = {"a": "It is the the cat.", "b": "The\u00a0the; a horse", "c": "A cat."}
    reading = Reading(
        pairs=[("fluency", None)], scale=OVERALL, parser="annotation", estimator="mean"
    )
    score = partial(score_part, answers, reading, part=part)
    judgments, scores = score(texts=texts)
    assert scores["value"].to_pylist() == [3, 3, 5]
    spans = dict(zip("abc", judgments["spans"].to_pylist(), strict=True))
    told = [(one["start"], one["end"], one["match"], one["severity"]) for one in spans["a"]]
    assert told == [(6, 13, "exact", 2), (None, None, "not_found", 5)]
    assert [one["location"] for one in spans["a"]] == ["the the", "a horse"]
    assert [(one["start"], one["end"], one["match"]) for one in spans["b"]] == [
        (0, 7, "normalised"),
        (9, 16, "exact"),
    ]
    assert spans["c"] == []
    unlocated, _ = score()
    assert unlocated["spans"].null_count == 3


USAGE = {"prompt": 7, "completion": 2, "reasoning": 0, "cached": None}


def reply(key: str | None, draw: int, **more: Any) -> dict[str, Any]:
    told = {"judge": "it", "kind": "rate", "aspect": "a", "status": "ok", "target": "t"}
    return {**told, "key": key, "draw": draw, "usage": USAGE if key else None, **more}


@pytest.mark.parametrize("bucket", [100, 2, 1])
def test_a_reply_that_serves_several_cells_is_bought_once(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever number of replies is compared at once; a reply without a key was not bought."""
    monkeypatch.setattr(tables, "BUCKET", bucket)
    cells = [
        [reply("bb", 1), reply("aa", 0)],
        [reply("aa", 0), reply("bb", 0, target="v"), reply(None, 0, target="u")],
    ]
    paths = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    for path, rows in zip(paths, cells, strict=True):
        write_table("answers", table_of("answers", rows), path)
    parts = list(collect._once(paths, "it", None))
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
