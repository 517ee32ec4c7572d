"""Confidence of replies: the probability of the verdict, or the stated number."""

from math import log
from typing import Any

import pytest

from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.schema.tables import table_of
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import CellPart, ReplyReading

PART = CellPart("d", "systems", "j", "a")
WORDS = Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0), ("pass", 1)))
FIVE = Scale(1, 5, 1)


def judged(
    replies: list[str],
    logprobs: list[Any] | None = None,
    scale: Scale | None = WORDS,
    **reading: Any,
) -> list[dict[str, Any]]:
    """Return the judgments of replies to one question each."""
    rows = []
    for number, text in enumerate(replies):
        row: dict[str, Any] = {
            "judge": "j",
            "kind": "rate",
            "target": f"t{number}",
            "aspect": "a",
        }
        row |= {"key": f"{number:064}", "draw": 0, "text": text, "finish": "stop"}
        row |= {"status": "ok", "logprobs": logprobs and logprobs[number]}
        rows.append(row)
    given = {"parser": PARSERS.target("score"), "estimator": "mean", **reading}
    read = ReplyReading(pairs=[("a", None)], scale=scale, **given)
    judgments, _ = score_part(table_of("answers", rows), read, part=PART)
    return list(judgments.to_pylist())


def token(chosen: str, **others: float) -> list[tuple[str, float]]:
    """Return a position whose first token was written, with probabilities."""
    first = others.pop("p")
    rest = [(text, log(p)) for text, p in others.items()]
    return [(chosen, log(first)), *rest]


def test_the_probability_of_a_label_is_among_all_labels() -> None:
    sure = [token("pass", p=0.6, fail=0.2, The=0.1)]
    [row] = judged(["pass"], [sure], confidence="logprobs")
    assert row["confidence"] == pytest.approx(0.75)
    assert row["confidence_source"] == "logprobs"
    assert row["confidence_rule"] == "mass 0.80"
    assert row["value"] == 1


def test_labels_with_little_probability_have_no_confidence() -> None:
    unsure = [token("pass", p=0.3, fail=0.1, The=0.5)]
    behind = [token("Verdict", p=1.0), token(": ", p=1.0), token("fail", p=0.9)]
    rows = judged(
        ["pass", "Verdict: fail", "pass"],
        [unsure, behind, None],
        confidence="logprobs",
    )
    assert [row["confidence"] for row in rows] == [None, pytest.approx(1.0), None]
    rules = [row["confidence_rule"] for row in rows]
    assert rules == ["low_mass", "mass 0.90", "no_logprobs"]


def test_a_number_has_the_probability_of_its_token() -> None:
    four = [token("4", **{"p": 0.5, "5": 0.3, "3": 0.2})]
    [row] = judged(["4"], [four], FIVE, confidence="logprobs")
    assert (row["value"], row["confidence"]) == (4, pytest.approx(0.5))


def test_a_choice_has_the_probability_of_its_letter() -> None:
    choice = [token("Choice", p=1.0), token(": ", p=1.0), token("B", p=0.7, A=0.3)]
    [row] = judged(
        ["Choice: B"],
        [choice],
        None,
        confidence="logprobs",
        parser=PARSERS.target("choice"),
    )
    assert (row["value"], row["confidence"]) == (-1, pytest.approx(0.7))


def test_the_weighted_mean_keeps_its_score_beside_the_confidence() -> None:
    four = [token("4", **{"p": 0.6, "5": 0.2})]
    [row] = judged(["4"], [four], FIVE, confidence="logprobs", estimator="logprob_mean")
    assert row["value"] == 4
    assert row["confidence"] == pytest.approx(0.75)


def test_a_stated_confidence_is_that_of_its_reply() -> None:
    replies = ["Verdict: pass\nConfidence: 80 %", "Verdict: fail", "no idea"]
    rows = judged(replies, confidence="stated")
    assert [row["confidence"] for row in rows] == [pytest.approx(0.8), None, None]
    rules = [row["confidence_rule"] for row in rows]
    assert rules == ["percent", "none_stated", None]
    assert rows[2]["confidence_source"] is None


def test_judges_without_a_confidence_have_empty_columns() -> None:
    [row] = judged(["pass"])
    names = [name for name in row if name.startswith("confiden")]
    assert len(names) == 4
    assert all(row[name] is None for name in names)
