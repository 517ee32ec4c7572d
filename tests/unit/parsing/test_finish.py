"""Reasons to stop: no reply that was cut, filtered or failed is ever a value."""

import pytest

from judgescope.core.finish import CUT, ENDED, FAILED, FILTERED, ending, is_unknown
from judgescope.parsing.judgment import PARSERS, Scale
from parsed import parse, settings_for

FIVE = Scale(1, 5, 1)
EXPECTED = {
    **dict.fromkeys(CUT, ("truncated", "finish_length")),
    **dict.fromkeys(FILTERED, ("refused", "filtered")),
    **dict.fromkeys(FAILED, ("error", "failed")),
}
READABLE = {
    "number": "4",
    "returned": "4",
    "decision": '{"probabilities":{"0":0,"1":0,"2":0,"3":1,"4":0},"type":"score"}',
    "choice": "[[A]]",
    "annotation": "Overall score: 4",
    "merged": "No Error",
    "errors": "No errors",
    "result": "[RESULT] 4",
    "path": '{"rating": 4}',
    "pattern": "rating: 4",
}
"""Parser -> a reply that it reads; others read a rating."""


def judged(parser: str, finish: str | None) -> tuple[str, str]:
    read = parse(
        READABLE.get(parser, "Rating: 4"),
        scale=FIVE,
        finish=finish,
        parser=parser,
        settings=settings_for(parser),
    )
    return read.status, read.rule


@pytest.mark.parametrize("parser", sorted(PARSERS))
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_no_parser_reads_a_reply_that_did_not_end(name: str, parser: str) -> None:
    for spelling in (name, name.upper(), name.title(), name.replace("_", "-")):
        assert judged(parser, spelling) == EXPECTED[name], spelling


@pytest.mark.parametrize("parser", sorted(PARSERS))
@pytest.mark.parametrize("name", sorted(ENDED))
def test_a_reply_that_ended_is_read(name: str, parser: str) -> None:
    status, rule = judged(parser, name)
    assert status == "ok" and "finish" not in rule
    assert judged(parser, None)[0] == "ok"


def test_an_unknown_reason_is_an_end_that_the_rule_names() -> None:
    assert ending("Bored") == "end" and is_unknown("Bored")
    assert judged("score", "Bored") == ("ok", "labelled+finish bored")


def test_the_sets_share_no_name() -> None:
    sets = (CUT, FILTERED, FAILED, ENDED)
    assert sum(map(len, sets)) == len(frozenset().union(*sets))


def test_a_cut_reply_keeps_its_first_line_where_the_card_says_so() -> None:
    text = "Rating: 4\nIt flows, but"
    for finish in ("length", "MAX_TOKENS", "model_length"):
        read = parse(text, scale=FIVE, finish=finish, cut=True)
        assert (read.value, read.rule) == (4, "labelled.cut")
