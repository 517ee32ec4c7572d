"""Texts made by a model: checked, asked for again with the reason, or failed."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.engines.requests import Reply, Request
from judgescope.perturb.edits import edit_between
from judgescope.perturb.writing import MadeText, Replies, appended, checked, make_texts

CHECKS = ("differs", "not_refusal", "length")
PARENT = "The cat sat on the mat."


def made(
    says: dict[str, list[str]], *, checks: Sequence[str] = CHECKS, attempts: int = 2
) -> tuple[dict[str, MadeText], list[list[str]]]:
    """Let a model answer each item's requests in turn; return what came and what was
    asked.
    """
    rounds: list[list[str]] = []

    def ask_for(item: str, parent: str, problem: str | None) -> Request:
        asked = f"{item}: {parent}" + (f" ({problem})" if problem else "")
        return Request({"messages": [{"role": "user", "content": asked}]}, about=item)

    def obtain(requests: Sequence[Request]) -> Replies:
        rounds.append([request.prompt for request in requests])
        return {
            (request.key, draw): Reply(
                request.key, draw, says[request.about][len(rounds) - 1]
            )
            for request in requests
            for draw in range(request.draws)
        }

    parents = dict.fromkeys(says, PARENT)
    result = make_texts(
        parents, ask_for=ask_for, obtain=obtain, checks=checks, attempts=attempts
    )
    return result, rounds


def test_what_passes_is_asked_for_once_and_what_fails_again_with_the_reason() -> None:
    good = "The dog sat on the mat."
    result, rounds = made({"a": [good], "b": [PARENT, good], "c": [PARENT, PARENT]})
    assert rounds == [
        [f"{item}: {PARENT}" for item in "abc"],
        [f"{item}: {PARENT} (it is the same text)" for item in "bc"],
    ]
    assert {item: (reply.text, reply.status) for item, reply in result.items()} == {
        "a": (good, "ok"),
        "b": (good, "ok"),
        "c": (PARENT, "failed: it is the same text"),
    }
    assert result["b"].request.prompt == rounds[1][0] and result["b"].reply.text == good


def test_a_text_that_repeats_the_reason_of_its_request_is_not_used() -> None:
    """A small model wrote it into the text: `The original reply was cut.`"""
    good = "The dog sat on the mat."
    reason = "it is the same text"
    echo = f"{good} The model says it is the same text."
    result, rounds = made({"a": [PARENT, echo, good]}, attempts=3)
    assert (result["a"].text, result["a"].status) == (good, "ok")
    assert reason in rounds[1][0] and reason not in rounds[2][0]


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_never_more_attempts_than_the_card_allows(attempts: int) -> None:
    """As long as the replies differ from each other."""
    unusable = [PARENT + "\n" * at for at in range(9)]
    result, rounds = made({"a": unusable}, attempts=attempts)
    assert (
        len(rounds) == attempts and result["a"].status == "failed: it is the same text"
    )


def test_a_reply_equal_to_the_one_before_it_is_the_last() -> None:
    good = "The dog sat on the mat."
    result, rounds = made({"a": [PARENT, PARENT, good]}, attempts=3)
    assert len(rounds) == 2 and result["a"].status == "failed: it is the same text"


def warmed(first: float, **keys: Any) -> list[float]:
    """Return the temperature of each attempt at a text that never gets usable."""
    sent: list[float] = []

    def obtain(requests: Sequence[Request]) -> Replies:
        [request] = requests
        sent.append(request.asked["temperature"])
        text = PARENT + "\n" * len(sent)
        return {
            (request.key, draw): Reply(request.key, draw, text) for draw in range(9)
        }

    def ask_for(item: str, parent: str, problem: str | None) -> Request:
        messages = [{"role": "user", "content": f"{parent} {problem}"}]
        return Request({"messages": messages, "temperature": first})

    make_texts(
        {"a": PARENT},
        ask_for=ask_for,
        obtain=obtain,
        checks=CHECKS,
        attempts=3,
        **keys,
    )
    return sent


def test_further_attempts_at_temperature_0_have_the_temperature_of_the_card() -> None:
    assert warmed(0) == [0, 0.7, 0.7]
    assert warmed(0, retry_temperature=0) == [0, 0, 0]
    assert warmed(0, retry_temperature=1.5) == [0, 1.5, 1.5]
    assert warmed(0, retry_temperature=None) == [0]
    assert warmed(0.3) == [0.3, 0.3, 0.3]


def test_a_request_that_fails_for_the_reason_it_names_gets_another_draw() -> None:
    """The same reason makes the same request: without a new draw its reply would come
    again.
    """
    good = "The dog sat on the mat."
    drawn: list[int] = []

    def obtain(requests: Sequence[Request]) -> Replies:
        drawn.extend(request.draws for request in requests)
        texts = [PARENT + "\n" * len(drawn), good]
        return {
            (request.key, draw): Reply(request.key, draw, texts[draw])
            for request in requests
            for draw in range(request.draws)
        }

    def ask_for(item: str, parent: str, problem: str | None) -> Request:
        return Request(
            {"messages": [{"role": "user", "content": f"{parent} {problem}"}]}
        )

    result = make_texts(
        {"a": PARENT}, ask_for=ask_for, obtain=obtain, checks=CHECKS, attempts=4
    )
    assert drawn == [1, 1, 2] and result["a"].text == good


def written_reply(text: str, *, finish: str = "stop", status: str = "ok") -> Reply:
    return Reply("k", 0, text, finish, status)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (written_reply("The dog sat on the mat."), None),
        (written_reply(" The  cat sat\non the mat. "), "it is the same text"),
        (written_reply("I'm sorry, but I cannot do that."), "it is a refusal"),
        (written_reply("No."), "it has 0.13 times the length of the text"),
        (written_reply(PARENT * 3 + "!"), "it has 3.04 times the length of the text"),
        (written_reply("The dog sat", finish="length"), "the reply was cut"),
        (written_reply("<think>The dog"), "the reply was cut"),
        (written_reply("<think>Hm.</think>"), "the reply is empty"),
        (written_reply("<think>Hm.</think>The dog sat on the mat."), None),
        (
            written_reply("HTTP 400: too long", status="error"),
            "the endpoint refused: HTTP 400: too long",
        ),
    ],
)
def test_what_makes_a_text_unusable(reply: Reply, problem: str | None) -> None:
    text, result = checked(reply, PARENT, CHECKS)
    assert result == problem
    if problem is None:
        assert text == "The dog sat on the mat."


def test_only_the_checks_of_the_card_are_made_and_a_sorry_parent_may_stay_sorry() -> (
    None
):
    assert checked(written_reply("No."), PARENT, ["differs"]) == ("No.", None)
    sorry = "I'm sorry, but I cannot come on Monday."
    assert (
        checked(written_reply(sorry.replace("Monday", "Friday")), sorry, CHECKS)[1]
        is None
    )


@pytest.mark.parametrize(
    ("parent", "text"),
    [(PARENT, f"{PARENT} It purred."), (f"{PARENT}\n", f"{PARENT}\nIt purred.")],
)
def test_what_is_appended_stands_behind_the_text_as_it_was(
    parent: str, text: str
) -> None:
    assert checked(written_reply(" It purred.\n"), parent, CHECKS, read=appended) == (
        text,
        None,
    )
    refused = written_reply("I'm sorry, but I cannot do that.")
    assert checked(refused, parent, CHECKS, read=appended)[1] == "it is a refusal"
    assert (
        checked(written_reply(""), parent, CHECKS, read=appended)[1]
        == "the reply is empty"
    )


FRAMES = {
    "there are words before the text": [
        "Here is the adjusted summary:\n\n{}",
        "Sure! Here's the adjusted text with one error:\n{}",
        "Your reply, with the change:\n\n{}",
        "Here is the new sentence: {}",
        "**Summary:** {}",
        "New sentence 11: {}",
    ],
    "it is in a block of code": ["```\n{}\n```", "```text\n{}\n```"],
    "it is in quotation marks": ['"{}"', "“{}”", "'{}'"],
}
FRAMED = [(frame, problem) for problem, frames in FRAMES.items() for frame in frames]


@pytest.mark.parametrize(("frame", "problem"), FRAMED)
@pytest.mark.parametrize(
    "text", [PARENT, "The dog sat on the mat.", 'He said "no" and left it.']
)
def test_a_text_in_a_frame_is_not_used(frame: str, problem: str, text: str) -> None:
    parent = text.replace("dog", "cat")
    assert checked(written_reply(frame.format(text)), parent, CHECKS)[1] == problem
    assert (
        checked(written_reply(frame.format(text)), parent, CHECKS, read=appended)[1]
        == problem
    )
    framed = checked(
        written_reply(frame.format(text + " It purred.")), frame.format(parent), CHECKS
    )
    assert framed[1] is None  # the parent has the same


@pytest.mark.parametrize(
    ("parent", "text"),
    [
        ("Facts:\n- It is open.", "Facts:\n- It is shut."),
        ("We did it.\nReasons:\n1. Rain fell.", "Reasons:\n1. Rain fell. It was late."),
        ("Ann: Hi!\nBob: Hello!", "Ann: Hi!\nBob: Hello! Hello!"),
        ("Ann met Bob, her aim.", "Ann met one aim: Bob."),
        ('"Hi," he said. "Bye," she said.', '"Bye," he said. "Hi."'),
        ("Hi, he said, and bye.", '"Hi," he said. "Bye."'),
        ("", "There are three reasons:\n1. Rain fell."),
        ("", "```python\nprint(1)\n```"),
        ("", '"I was late."'),
    ],
)
def test_colons_and_quotation_marks_within_a_text_are_no_frame(
    parent: str, text: str
) -> None:
    assert checked(written_reply(text), parent, ["not_refusal"]) == (text, None)


@pytest.mark.parametrize(
    "preface", ["Here is a summary of the article: ", "Summary:\n"]
)
def test_a_reference_without_a_parent_has_no_preface_either(preface: str) -> None:
    problem = "there are words before the text"
    assert checked(written_reply(preface + PARENT), "", ["not_refusal"])[1] == problem


@given(st.text("ab\U0001f600 ", max_size=12), st.text("ab\U0001f600 ", max_size=12))
def test_the_edit_between_two_texts_makes_one_of_the_other(
    before: str, after: str
) -> None:
    edits = edit_between(before, after)
    assert len(edits) == (before != after)
    for offset, old, new in edits:
        assert before[offset : offset + len(old)] == old
        assert before[:offset] + new + before[offset + len(old) :] == after
        assert not old or not new or (old[0] != new[0] and old[-1] != new[-1])
