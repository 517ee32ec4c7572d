"""Replies that are cut, or that end at a text: what counts, and what is sent."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from judgescope.core.errors import UserError
from judgescope.engines import vllm as engine
from judgescope.engines.openai.wire import body
from judgescope.engines.requests import Work, request_of
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.plan.checks.judges import check_judge
from judgescope.replies.judging import Questions
from judgescope.schema.cards import Aspect, Judge, OpenAIModel, RatedAspect, VllmModel
from judgescope.schema.tables import table_of
from judgescope.scoring.cell import reader, score_part
from judgescope.scoring.specs import CellPart, ReplyReading
from parsed import parse
from prompts_setup import SUMMARY

FIVE = Scale(1, 5, 1)
MODEL = OpenAIModel(model="m", engine="openai", base_url="http://127.0.0.1:1/v1")
LOCAL = VllmModel.model_validate(
    {"model": "v", "engine": "vllm", "name": "v", "path": "weights"}
)


@pytest.mark.parametrize(
    ("text", "parser", "value", "rule"),
    [
        ("Rating: 4\nThe text is", "score", 4, "labelled.cut"),
        ("**Rating: 4/5**\n\nThe text is", "score", 4, "labelled.cut"),
        ("4\nThe text is", "score", 4, "bare.cut"),
        ("<think>5?</think>\nRating: 2\nThe", "score", 2, "labelled.cut"),
        ("Choice: A\nBecause it", "choice", 1, None),
        ("Rating: 4", "score", None, "finish_length"),  # perhaps 4.5
        ("Rating: 4 because it is\nlong", "score", None, "finish_length"),
        ("The score for fluency is 4\nThe", "score", 4, "labelled.cut"),
        ("It has no errors, so a score of 4\nThe", "score", None, "finish_length"),
        ("First, the text\nRating: 4\nbut", "score", None, "finish_length"),
        ("Rating: 9\nThe text", "score", None, "finish_length"),
        ("<think>Rating: 4\nno end", "score", None, "finish_length"),
        ("", "score", None, "finish_length"),
    ],
)
def test_a_cut_reply_counts_where_its_complete_first_line_is_the_verdict(
    text: str, parser: str, value: float | None, rule: str | None
) -> None:
    scale = FIVE if parser == "score" else None
    judgment = parse(text, scale=scale, finish="length", parser=parser, cut=True)
    assert judgment.value == value
    assert judgment.rule == rule or (rule is None and judgment.rule.endswith(".cut"))
    assert judgment.status == ("truncated" if value is None else "ok")
    without = parse(text, scale=scale, finish="length", parser=parser)
    assert (without.status, without.rule) == ("truncated", "finish_length")


def test_a_complete_reply_is_read_as_ever() -> None:
    for text in ("Rating: 4\nThe text is", "Well.\nRating: 3"):
        assert parse(text, scale=FIVE, finish="stop", cut=True) == parse(
            text, scale=FIVE, finish="stop"
        )


def test_scores_count_cut_replies_where_the_spec_says_so() -> None:
    row = {
        "judge": "j",
        "kind": "rate",
        "aspect": "a",
        "target": "t",
        "draw": 0,
        "status": "ok",
    }
    answers = table_of(
        "answers", [{**row, "text": "Rating: 4\nThe", "finish": "length"}]
    )
    part = CellPart("d", "systems", "j", "a")
    reading = ReplyReading(
        pairs=[("a", None)],
        scale=FIVE,
        parser=PARSERS.target("score"),
        estimator="mean",
    )
    cut = replace(reading, cut=True)

    def value(table: pa.Table) -> Any:
        return table["value"].to_pylist()[0]

    assert value(score_part(answers, reading, part=part)[1]) is None
    assert value(score_part(answers, cut, part=part)[1]) == 4
    assert reader(reading)("Rating: 4\nThe", "length", "ok").value is None
    assert reader(cut)("4\nThe", "length", "ok").value == 4


@pytest.mark.parametrize(
    "keys", [{"annotation": {}}, {"parser": "errors"}, {"parser": "result"}]
)
def test_a_list_that_is_cut_lacks_some(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="cut: read"):
        Judge.model_validate(
            {"judge": "j", "model": "m", "form": "f", "cut": "read", **keys}
        )


def questions(**keys: Any) -> Questions:
    judge = Judge.model_validate({"judge": "j", "model": "m", "form": "f", **keys})
    aspect, scale = (
        Aspect(aspect="a", name="A", definition="D."),
        RatedAspect(min=1, max=5, step=1),
    )
    return Questions(MODEL, judge, aspect, scale, [], {}, 1, SUMMARY)


def test_stop_is_sent_and_is_part_of_the_key_only_where_it_is_set() -> None:
    assert "stop" not in questions().wants and "stop" not in questions(cut="read").wants
    message = [{"role": "user", "content": "p"}]
    judge = questions(stop=["\n", "END"]).judge
    wants = questions(stop=["\n", "END"]).wants
    plain, stopped = (
        request_of(MODEL, judge, message, seed=1, wants=w) for w in ({}, wants)
    )
    assert plain.key != stopped.key and "stop" not in plain.asked
    assert "stop" not in body(MODEL, plain, [0])
    assert body(MODEL, stopped, [0])["stop"] == ["\n", "END"]
    plain, stopped = (
        request_of(LOCAL, judge, message, seed=1, wants=w) for w in ({}, wants)
    )
    [entry], [other] = (
        list(engine.spans(Work(each, (0,)))) for each in (plain, stopped)
    )
    assert "stop" not in engine.sampling(entry) and engine.sampling(other)["stop"] == [
        "\n",
        "END",
    ]


def test_a_single_card_alone_says_where_replies_end(tmp_path: Path) -> None:
    judge = Judge.model_validate(
        {"judge": "j", "model": "m", "form": "f", "stop": ["END"]}
    )
    check_judge(judge, MODEL, {})
    twice = MODEL.model_copy(update={"extra_body": {"stop": ["\n"]}})
    with pytest.raises(UserError) as error:
        check_judge(judge, twice, {})
    assert (
        "judges/j.yaml, key stop" in error.value.where
        and "models/m.yaml" in error.value.where
    )
