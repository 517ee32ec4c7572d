"""Whatever stands in a reply, a text or a journal: nothing raises, and what is promised
holds.
"""

import json
import string
import unicodedata
import zlib
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from judgescope.core.errors import UserError
from judgescope.data.sentences import split_sentences
from judgescope.engines.openai.wire import NoReplyError, read_replies
from judgescope.engines.requests import Reply
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.text import locate, locate_errors
from judgescope.parsing.written import (
    problem_with_analysis,
    problem_with_steps,
    problem_with_sub_aspects,
    read_steps,
    read_sub_aspects,
    without_rating,
)
from judgescope.perturb.edits import Perturbed, apply_edits, edit_between, undone_edits
from judgescope.perturb.inject import BETWEEN, WITHIN
from judgescope.perturb.rules import RULES, replace_text, wrong_ending
from judgescope.perturb.targets import perturb_dataset
from judgescope.replies.journal import CRC, forgetting, line_of
from judgescope.replies.ledger import STATE, Ledger
from judgescope.replies.pricing import PACE_FOLDER, Pace, read_pace
from judgescope.replies.shard import compacted_blocks
from judgescope.replies.store import Store
from judgescope.schema.tables import table_of
from parsed import parse, settings_for

some = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

COUNT = st.integers(-(2**63), 2**63 - 1)
CELL = st.none() | st.booleans() | COUNT | st.floats() | st.text(max_size=9)
VALUE = st.recursive(CELL, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
WHOLE = st.text(st.characters(codec="utf-8"), max_size=20)

# --- replies --------------------------------------------------------------------------

SAID = (
    "rating: |4|5/5|-1|0.5|1e400|９|٤|½|1_0|[RESULT] |good|very good|minor: "
    "|critical|no errors|\n"
)
SAID += (
    "|- |A|tie|choice: |<think>|</think>|Severity: 3|Location: |overall: "
    '|{|"score": |}|NaN|[|%|'
)
PIECES = st.lists(st.sampled_from(SAID.split("|")), max_size=12).map("".join)
BYTES = st.binary(max_size=60).map(partial(str, encoding="utf-8", errors="replace"))
HALVES = st.binary(max_size=60).map(
    partial(str, encoding="utf-8", errors="surrogateescape")
)
REPLIES = PIECES | BYTES | HALVES | st.text(st.characters(codec=None), max_size=40)
SCALES = [
    *(
        Scale(1, 5, 1),
        Scale(0, 1),
        Scale(-2, 2, 0.5),
        Scale(0, 100, 5),
        Scale(1, 3, 1, ("a", "b", "c")),
    ),
    Scale(1, 5, 1, ("Unacceptable", "Poor", "Fair", "Good", "Very good")),
]
FREE = {
    "chiang-lee": set(map(float, range(10))),
    "choice": {-1.0, 0.0, 1.0},
    "merged": set[float](),
}
"""Parsers whose values are no points of the scale -> their values."""


@pytest.mark.simulation
@pytest.mark.parametrize("parser", PARSERS)
@settings(some, max_examples=150)
@given(
    text=REPLIES,
    scale=st.sampled_from(SCALES),
    finish=st.sampled_from(["stop", None, "length"]),
)
def test_a_value_is_on_the_scale_or_none(
    parser: str, text: str, scale: Scale, finish: str | None
) -> None:
    result = settings_for(parser, 2.0)
    judgment = parse(text, scale=scale, finish=finish, parser=parser, settings=result)
    assert judgment.parser == f"{parser}@{PARSERS[parser].version}" and judgment.rule
    if parser in {"merged", "likelihood"} or judgment.status != "ok":
        assert judgment.value is None
    elif parser in FREE:
        assert judgment.value in FREE[parser]
    else:
        assert judgment.value is not None and scale.contains(judgment.value)
        assert parser in {"number", "errors"} or scale.on_grid(judgment.value)
    assert judgment == parse(
        text, scale=scale, finish=finish, parser=parser, settings=result
    )


@some
@given(
    text=REPLIES, rating=st.sampled_from([1.0, 4.0, 0.5]), scale=st.sampled_from(SCALES)
)
def test_what_models_write_for_others_is_read_or_has_a_problem(
    text: str, rating: float, scale: Scale
) -> None:
    assert problem_with_analysis(text, rating, scale) or without_rating(text)
    assert problem_with_steps(text) or read_steps(text)
    assert problem_with_sub_aspects(text) or read_sub_aspects(text)


JSON = st.recursive(
    CELL,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "usage", "logprobs", "token"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=15,
)


@pytest.mark.simulation
@settings(some, max_examples=300)
@given(
    answer=JSON
    | st.fixed_dictionaries({"choices": VALUE | st.lists(JSON), "usage": JSON})
)
@example({"choices": 5})
@example(
    {
        "choices": [{"message": {"content": "4"}, "logprobs": {"content": 5}}],
        "usage": [5],
    }
)
def test_any_answer_of_an_endpoint_is_a_reply_or_none(answer: object) -> None:
    for text in (json.dumps(answer), str(answer)):
        with suppress(NoReplyError):
            replies = read_replies(text, KEYS[0], [0, 1], logprobs=True)
            assert all(isinstance(reply.text, str) for reply in replies)


# --- places ---------------------------------------------------------------------------

QUOTED = st.text(
    st.characters(codec=None) | st.sampled_from('aAeE\u0301ßﬁ 　\n\u200b“"…Ａ中가ſ.-'),
    max_size=30,
)


def bare(text: str) -> str:
    """Return letters and digits in one spelling: what all ways to write a quote have in
    common.
    """
    plain = unicodedata.normalize(
        "NFKD", unicodedata.normalize("NFKD", text).casefold()
    )
    return "".join(sign for sign in plain if sign.isalnum())


@pytest.mark.simulation
@settings(some, max_examples=200)
@given(text=QUOTED, at=st.integers(0, 30), length=st.integers(1, 15), other=QUOTED)
def test_a_location_lies_in_the_text_and_has_the_quoted_words(
    text: str, at: int, length: int, other: str
) -> None:
    quotes = [text[at : at + length].upper(), f"“{text[at : at + length]}…”", other]
    for quote, error in zip(quotes, locate(quotes, text), strict=True):
        if error.start is None or error.end is None:
            assert error == (None, None, None, "not_found")
            continue
        words = text[error.start : error.end]
        assert 0 <= error.start < error.end <= len(text)
        if error.match == "exact":
            assert words == quote
        elif error.match == "normalised":
            assert bare(words) == bare(quote)


@pytest.mark.simulation
@some
@given(reply=REPLIES, text=QUOTED)
def test_errors_of_any_reply_have_places_in_the_text_or_none(
    reply: str, text: str
) -> None:
    judgment = parse(reply, scale=SCALES[0], finish="stop", parser="annotation")
    located = locate_errors(judgment.errors, text)
    assert [each[:4] for each in located] == [tuple(error) for error in judgment.errors]
    assert all(
        each.start is None or 0 <= each.start < (each.end or 0) <= len(text)
        for each in located
    )


# --- perturbations --------------------------------------------------------------------

LATIN = (
    "He is 3 not. |Ana ran to Oslo, |Mr. Orr? |e\u0301|9|A b c d. |\n| |…|their "
    "|because of it."
)
OTHER = ["\u2028", "👩\u200d⚕️", "你好。", "٣٤ ", "क्\u200dषि ", "\0", "\ud800"]
PARTS = st.lists(st.sampled_from([*LATIN.split("|"), *OTHER]), max_size=15).map("".join)
TEXTS = st.text(max_size=40) | PARTS


@some
@given(text=TEXTS)
def test_sentences_are_parts_of_the_text_in_their_order(text: str) -> None:
    spans = split_sentences(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(each[1] <= other[0] for each, other in pairwise(spans))
    within = {at for span in spans for at in range(*span)}
    assert not any(text[at].isalnum() for at in set(range(len(text))) - within)


@some
@given(text=TEXTS, other=TEXTS)
def test_edits_make_a_text_of_the_other_and_can_be_undone(
    text: str, other: str
) -> None:
    edits = edit_between(text, other)
    assert apply_edits(text, edits) == other and undone_edits(other, edits) == text


def kept(original: str, reply: Perturbed) -> None:
    """Check what holds for every perturbed text."""
    if reply.status.startswith("impossible: "):
        assert (reply.text, reply.edits) == (original, ())
    else:
        assert reply.status == "ok" and reply.text != original
    assert apply_edits(original, reply.edits) == reply.text
    assert undone_edits(reply.text, reply.edits) == original


@pytest.mark.simulation
@some
@given(texts=st.lists(TEXTS, max_size=4), other=TEXTS, seed=st.integers(0, 2**32))
def test_texts_that_are_exchanged_keep_the_promises(
    texts: list[str], other: str, seed: int
) -> None:
    result = replace_text(texts, np.random.default_rng(seed))
    assert result == replace_text(texts, np.random.default_rng(seed))
    for text, each in zip(texts, result, strict=True):
        kept(text, each)
        assert each.text in texts
        kept(text, wrong_ending(text, np.random.default_rng(seed), other))


@pytest.mark.simulation
@settings(some, max_examples=40)
@given(
    text=TEXTS,
    kinds=st.sets(st.sampled_from([*WITHIN, *BETWEEN]), min_size=1),
    seed=st.integers(0),
)
@example(text=f"He has {'4' * 5000} of them.", kinds={"number"}, seed=0)
def test_errors_in_a_row_keep_the_promises(
    text: str, kinds: set[str], seed: int
) -> None:
    names = {"dataset": "d", "perturbation": "p", "degree": "single"}
    options = {"kinds": sorted(kinds), "count": 4}
    row = perturb_dataset("inject_errors", options, {"i": text}, seed=seed, **names)[
        "i"
    ]
    both = perturb_dataset(
        "inject_errors", options, {"h": "", "i": text}, seed=seed, **names
    )
    assert row == both["i"]
    assert len(row) == 4 or row[-1].status.startswith("impossible: ")
    for before, each in zip([text, *(each.text for each in row)], row, strict=False):
        kept(before, each)


def test_no_rule_is_forgotten() -> None:
    """Those with a number of edits are held to more in test_perturb."""
    rest = {name for name, rule in RULES.items() if "k" not in rule.options}
    assert rest == {"replace_text", "wrong_ending", "inject_errors"}


# --- journals -------------------------------------------------------------------------

KEYS = [digit * 64 for digit in string.hexdigits[:6]]
GOOD = st.builds(
    Reply,
    st.sampled_from(KEYS),
    st.integers(0, 2),
    WHOLE,
    usage=st.none()
    | st.fixed_dictionaries(
        {"prompt": st.integers(0, 9), "completion": st.integers(0, 9)},
        optional={"cached": st.integers(0, 9)},
    ),
    logprobs=st.none() | st.just([[("4", -0.5), ("5", -1.0)]]),
)


def strange(row: dict[str, Any]) -> bytes:
    """Return a line of another program; of a newer version, see test_machine_faults."""
    key = {"key": KEYS[0], "draw": 0}
    content = json.loads(line_of(Reply(KEYS[0], 0, "4")))
    del content["crc"]
    body = json.dumps({**key, **content, **row}, separators=(",", ":")).encode()[:-1]
    return b'%b%b%08x"}' % (body, CRC, zlib.crc32(body))  # it is as it was written


NAMES = [
    "draw",
    "text",
    "finish",
    "status",
    "usage",
    "provenance",
    "logprobs",
    "attempt",
    "forget",
]
ANY = CELL | st.lists(VALUE, max_size=2)
# a field that no version knows is a newer one's: the store refuses it, see
# test_machine_faults.py
ODD = (
    st.tuples(st.sampled_from([*NAMES, "key"]), ANY).map(lambda each: dict([each]))
    | st.fixed_dictionaries({"logprobs": st.lists(ANY | st.lists(st.tuples(ANY, ANY)))})
    | st.fixed_dictionaries(
        {"usage": st.dictionaries(st.sampled_from(["prompt", "x"]), ANY)}
    )
    | st.fixed_dictionaries(
        {"provenance": st.dictionaries(st.sampled_from(["model", "x"]), ANY)}
    )
)
TORN = st.tuples(GOOD, st.integers(1, 60)).map(
    lambda each: line_of(each[0])[: -1 - each[1]]
)
FORGET = st.sampled_from(KEYS).map(lambda key: forgetting(key, 5, 1)[:-1])
FOREIGN = st.binary(max_size=90) | TORN | ODD.map(strange) | FORGET


@pytest.mark.simulation
@settings(some, max_examples=150)
@given(
    lines=st.lists(st.tuples(st.lists(FOREIGN, max_size=2), GOOD), max_size=5),
    end=FOREIGN,
)
@example(lines=[([strange({"logprobs": [1]})], Reply(KEYS[1], 0, "4"))], end=b"")
@example(
    lines=[([strange({"usage": {"prompt": "x"}})], Reply(KEYS[1], 0, "4"))], end=b""
)
def test_every_complete_reply_of_a_journal_is_detected_whatever_stands_between(
    tmp_path: Path, lines: list[tuple[list[bytes], Reply]], end: bytes
) -> None:
    shard = tmp_path / "m"
    shard.mkdir(exist_ok=True)
    rows = [
        *(
            b"".join(each + b"\n" for each in odd) + line_of(good)
            for odd, good in lines
        ),
        end,
    ]
    (shard / "a.jsonl").write_bytes(b"".join(rows))
    store = Store(tmp_path, "m")
    result = store.read(dict.fromkeys(KEYS, 3))
    assert {(reply.key, reply.draw) for _, reply in lines} <= set(result)
    texts = {each.text for _, each in lines}
    assert {each.text for draw, each in result.items() if draw[0] != KEYS[0]} <= texts
    assert set(store.errors()) <= set(result)
    answers = [asdict(each) for each in result.values()]
    assert table_of("answers", answers).num_rows == len(result)


@pytest.mark.simulation
@some
@given(
    note=st.binary(max_size=30) | ANY.map(json.dumps).map(str.encode) | ODD.map(strange)
)
@example(b'{"replies": "x"}')
@example(b'{"spent": [], "open": {}}')
@example(b'{"spent": {}, "open": {"a": []}}')
def test_notes_beside_a_journal_are_passed_over_or_an_error_with_the_file(
    tmp_path: Path, note: bytes
) -> None:
    for path in (tmp_path / PACE_FOLDER / "a.json", tmp_path / "l" / "000001" / STATE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(note)
    assert read_pace(tmp_path) == Pace()
    with pytest.raises(UserError, match="cannot be read") as error:
        Ledger(tmp_path / "l").state()
    assert str(path) in error.value.where


@some
@given(content=st.binary(max_size=90), head=st.sampled_from([b"", b"PAR1"]))
def test_replies_that_were_put_together_are_read_or_an_error_with_the_file(
    tmp_path: Path, content: bytes, head: bytes
) -> None:
    (path := tmp_path / "all.parquet").write_bytes(head + content + head)
    with pytest.raises(UserError) as error:
        list(compacted_blocks(path))
    assert str(path) in error.value.where
