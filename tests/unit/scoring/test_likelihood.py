"""Scores of judges that ask how probable a text is, by hand-made replies."""

import math
from typing import Any

import pytest

from judgescope.schema.tables import table_of
from judgescope.scoring.cell import score_part
from judgescope.scoring.likelihood import judged_text, mean_gain, split_share
from judgescope.scoring.specs import CellPart, ReplyReading

PART = CellPart("data", "systems", "judge", "coherence")
TEXT = "One two three"
GIVEN = [[("One", -1.0)], [(" two", -2.0)], [(" three", -6.0)]]
FREE = [[("One", -3.0)], [(" two", -2.5)], [(" three", -6.0)]]


def answer(kind: str, **columns: Any) -> dict[str, Any]:
    row = {
        "judge": "judge",
        "kind": kind,
        "target": "t",
        "aspect": "coherence",
        "key": kind,
        "draw": 0,
        "text": TEXT,
        "finish": "stop",
        "status": "ok",
        "logprobs": GIVEN if kind == "score" else FREE,
    }
    return {**row, **columns}


def scored(
    estimator: str, *rows: dict[str, Any], text: str = TEXT
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the only judgment and the only score of some answers."""
    reading = ReplyReading(
        pairs=[("coherence", None)],
        scale=None,
        parser="judgescope.parsing.likelihood:read_scored_text",
        estimator=estimator,
    )
    tables = score_part(
        table_of("answers", rows), reading, part=PART, texts={"t": text}
    )
    [judgment], [score] = (table.to_pylist() for table in tables)
    return judgment, score


def test_likelihood_is_the_mean_log_probability_of_the_tokens() -> None:
    judgment, score = scored("likelihood", answer("score"))
    assert judgment["value"] == score["value"] == -3.0
    assert (judgment["status"], judgment["rule"]) == ("ok", "likelihood")
    assert judgment["parser"] == "likelihood@1"
    assert (score["estimator"], score["n_draws"], score["n_missing"]) == (
        "likelihood",
        1,
        0,
    )


def test_pmi_is_the_mean_gain_of_the_same_tokens_by_the_source() -> None:
    judgment, score = scored("pmi", answer("score"), answer("score-free"))
    assert judgment["value"] == pytest.approx((2.0 + 0.5 + 0.0) / 3)
    assert judgment["rule"] == "pmi"
    assert (score["estimator"], score["n_draws"]) == ("pmi", 1)


def test_text_that_is_longer_than_its_scored_part_is_marked() -> None:
    judgment, _ = scored("likelihood", answer("score"), text=f"{TEXT} four")
    assert judgment["rule"] == "likelihood.cut"


def test_tokens_without_a_value_are_left_out_on_both_sides() -> None:
    part = "A naïve friend of the king"
    given = [[("A na", -1.0)], [], [], [("ve friend of the king", -2.0)]]
    free = [[("A na", -2.0)], [], [], [("ve friend of the king", -5.0)]]
    columns = {"text": part}
    judgment, _ = scored(
        "pmi",
        answer("score", logprobs=given, **columns),
        answer("score-free", logprobs=free, **columns),
        text=part,
    )
    assert judgment["value"] == 2.0
    assert judgment["rule"] == "pmi.split"


def test_text_whose_characters_are_split_has_no_value() -> None:
    given: list[list[tuple[str, float]]] = [[], [], [(" is red", -1.0)]]
    judgment, score = scored(
        "likelihood", answer("score", text="Ç is red", logprobs=given), text="Ç is red"
    )
    assert split_share("Ç is red", given) == pytest.approx(1 / 8)
    assert judgment["status"] == "not_applicable"
    assert judgment["rule"] == "the tokenizer splits its characters"
    assert judgment["value"] is None and score["value"] is None


@pytest.mark.parametrize("failed", ["score", "score-free"])
def test_pmi_needs_both_replies(failed: str) -> None:
    broken = {
        "status": "error",
        "finish": "not_reproduced",
        "text": "not reproduced: …",
        "logprobs": None,
    }
    rows = [
        answer(kind, **(broken if kind == failed else {}))
        for kind in ("score", "score-free")
    ]
    judgment, score = scored("pmi", *rows)
    assert (judgment["status"], judgment["rule"]) == ("error", "not_reproduced")
    assert score["value"] is None


def test_text_without_tokens_is_empty() -> None:
    judgment, _ = scored("likelihood", answer("score", text="", logprobs=[]), text="")
    assert judgment["status"] == "empty"


def test_reply_without_probabilities_is_an_error() -> None:
    judgment, _ = scored("likelihood", answer("score", logprobs=None))
    assert (judgment["status"], judgment["rule"]) == ("error", "no_logprobs")


def test_sides_with_other_tokens_give_no_number() -> None:
    other = [[("One two", -1.0)], [(" thr", -2.0)], [("ee", -3.0)]]
    with pytest.raises(ValueError, match="other tokens"):
        mean_gain(GIVEN, other)
    row, free = answer("score"), answer("score-free", logprobs=other)
    judgment = judged_text(row, free, text=TEXT, estimator="pmi")
    assert (judgment.status, judgment.rule) == ("error", "not_reproduced")


def test_pmi_without_a_source_is_not_asked() -> None:
    row = answer("score", status="not_applicable", text="no_source", logprobs=None)
    judgment, _ = scored("pmi", row)
    assert (judgment["status"], judgment["rule"]) == ("not_applicable", "no_source")


def test_sum_does_not_depend_on_the_order_of_tokens() -> None:
    tokens = [[("a", -1e16)], [("b", -1.0)], [("c", 1e16)]]
    assert (
        mean_gain(tokens, [[(token[0][0], 0.0)] for token in tokens])
        == math.fsum([-1.0]) / 3
    )
