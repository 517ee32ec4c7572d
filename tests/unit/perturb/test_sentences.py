"""Sentence boundaries: hand-made cases, properties over any text, and input made to be
slow.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.data.sentences import split_sentences

CASES = {  # a bar stands where a sentence ends and another one follows
    "two": "It rained.| We stayed in.",
    "marks": "Really?!| Yes!| Then go...",
    "title": "We met Mr. Hale and Dr. J. K. Orr at St. Ives.| They left.",
    "latin": "Some birds, e.g. Penguins, i.e. those, cannot fly.| Others can.",
    "country": "A U.S. Navy ship sank.| It was built in the U.S.| The crew swam.",
    "time": "It opens at 9 a.m. Monday.| We close at 5 p.m.| He knows.",
    "decimals": "It costs 3.5 euros, not 1,000.00.| Fine.",
    "numbered": "See No. 7 and fig. 2 for it.| Is it red?| No.| It is blue.",
    "list": "1. Boil water.|\n2. Add salt.",
    "company": "Hale Inc. sold it to Orr Ltd.| The price is secret.",
    "initial": "Meet me at J. Orr's place.| It was only you and I.| Nobody came.",
    "quotes": "'Why me?' she asked.| \"I know.\"| (She did not.)| “Stop.”| He stopped.",
    "ellipsis": "I thought... maybe not.| But then...| Never mind.",
    "species": "it is common in p. syringae and others.| see p. 7 for more.",
    "lower-cased": "the match was lost .| they went home .| a new coach came .",
    "lines": "A: hello there|\nB: hi.| how are you?|\r\n\r\nA: fine",
    "chinese": "下雨了。|我们没走！|为什么？|“因为冷。”",
    "japanese": "雨だ。|「寒い。」|終わり",
    "arabic": "هل جاء؟| نعم.| ذهب ثم عاد.",
    "hindi": "वह आया।| वह गया।",
    "emoji": "Great!| 😀 See you.",
    "none": "no end at all",
}


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_those_a_reader_sees(name: str) -> None:
    expected = [sentence.strip() for sentence in CASES[name].split("|")]
    assert sentences(CASES[name].replace("|", "")) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\t \u2028"])
def test_white_space_has_no_sentence(text: str) -> None:
    assert split_sentences(text) == []


PIECES = st.sampled_from(
    [
        "Mr.",
        "word",
        " ",
        "  ",
        "\n",
        ".",
        "?!",
        "...",
        "3.5",
        "p.m.",
        '"',
        "(",
        ")",
        "I",
        "你好。",
        "。",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


@settings(deadline=None)
@given(TEXTS)
def test_spans_are_ordered_and_leave_out_white_space_only(text: str) -> None:
    done = 0
    for start, end in split_sentences(text):
        assert start < end and text[start:end] == text[start:end].strip()
        assert start >= done and not text[done:start].strip()
        done = end
    assert not text[done:].strip()


@settings(deadline=None)
@given(TEXTS)
def test_a_sentence_is_never_longer_than_its_line(text: str) -> None:
    assert all(len(sentence.splitlines()) == 1 for sentence in sentences(text))


def test_long_runs_of_marks_and_letters_are_read_in_a_single_pass() -> None:
    text = "a" + "." * 30_000 + "b " + "c" * 30_000 + ". " + "!" * 30_000 + "d. End"
    assert sentences(text)[-1] == "End"
