"""Text made to be slow: reading it takes time in step with its length, whatever stands
in it.
"""

import time
from collections.abc import Callable

import pytest

from judgescope.data.sentences import split_sentences
from judgescope.parsing.judgment import Scale
from judgescope.parsing.parsers import read_number
from judgescope.parsing.quotes import quotations
from judgescope.parsing.text import LARGEST, NOWHERE, locate
from judgescope.parsing.written import (
    problem_with_analysis,
    read_sub_aspects,
    without_rating,
)
from parsed import parse

SCALE = Scale(1, 5, 1)
LENGTH = 100_000
PATIENCE = 20
"""Seconds, a hundred times what is needed: in quadratic time it would be minutes."""


def score(text: str) -> object:
    return parse(text, scale=SCALE, finish="stop")


def choice(text: str) -> object:
    return parse(
        text, scale=None, finish="stop", parser="choice", settings={"tie": "C"}
    )


def number(text: str) -> object:
    return read_number(text, SCALE)


def ending(text: str) -> object:
    return problem_with_analysis(text, 4.0, SCALE)


def locate_last(text: str) -> object:
    return locate([text[:3000] + "y"], text)


CASES: dict[
    str, tuple[Callable[[str], object], str, str, str]
] = {  # what reads it, ends, middle
    "full stops": (split_sentences, "x ", ". ", "y"),
    "exclamations": (split_sentences, "x ", "! ", "y"),
    "questions in quotes": (split_sentences, "x ", '? "', "y"),
    "ellipses": (split_sentences, "x ", "... ", "y"),
    "initials": (split_sentences, "x ", "a. ", "y"),
    "numbers": (split_sentences, "x ", "1. ", "y"),
    "wide stops": (split_sentences, "x ", "。 ", "y"),
    "spaces in an analysis": (without_rating, "x", " ", "x"),
    "spaces behind a rating": (without_rating, "rating", " ", "x"),
    "ratings": (without_rating, "x", " rating:", " 4: x"),
    "spaces in a whole analysis": (ending, "x", " ", "x"),
    "digits": (number, "", "1", "x"),
    "digits behind a point": (number, ".", "1", "x"),
    "digits of an exponent": (number, "1e", "1", "x"),
    "hashes": (read_sub_aspects, "", "#", "x"),
    "brackets": (read_sub_aspects, "", "(1", "x"),
    "escaped quotation marks": (score, "Rating: 4 ", '\\"', ""),
    "escaped quotation marks that end": (score, "Rating: 4 ", '\\"', '"'),
    "quoted lines": (score, "", '"Rating: 4" x\n', ""),
    "named lines": (score, "", "x: 3. y\n", ""),
    "named lines in one": (score, "x: 3. ", "y, 1. ", "z"),
    "goals": (score, "", "a perfect score of 5 ", ""),
    "steps of a walk": (score, "", "rating 1\nrating 2\nrating 3\n", ""),
    "qualities": (score, "", "scoring a perfect fluency of 4 ", ""),
    "meanings": (score, "", "x is 3 (good) ", ""),
    "words before a meaning": (score, "", "x ", "is 3 (good)."),
    "tops of a scale": (score, "", "rating out of 5 ", "x"),
    "spaces before a top": (score, "max", " ", "x"),
    "spaces behind a label": (score, "rating", " ", "x"),
    "spaces behind values": (score, "", "4          or ", "x"),
    "undecided": (score, "", "3 or ", "x"),
    "keys and texts": (score, "", '"rating": "Rating: 5"\n', ""),
    "objects of a rating": (score, "", "rate the x ", "at 4"),
    "choices at the start": (choice, "a: ", "b: x ", ""),
    "conclusions": (choice, "", "output (a) is better ", "x"),
    "reasons of a choice": (choice, "", "text b is better because ", "x"),
    "sentences of a choice": (choice, "", "i prefer a because it, ", "x"),
    "choices with no end": (choice, "", "output (a ", "x"),
    "a long quote": (locate_last, "", "x", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_a_text_that_is_made_to_be_slow_comes_to_an_end(name: str) -> None:
    read, start, middle, end = CASES[name]
    began = time.process_time()
    read(start + middle * (LENGTH // len(middle)) + end)
    assert time.process_time() - began < PATIENCE


def test_choices_in_very_many_lines_come_to_an_end() -> None:
    began = time.process_time()
    choice("choice: a\n" * 200_000)
    assert time.process_time() - began < PATIENCE


def test_a_quote_too_long_to_look_for_its_like_is_detected_as_it_is_only() -> None:
    text = "ab " * 4000
    limit = LARGEST // (len(text) - 1)
    near, exact = "ab " * (limit // 3) + "ax ab ", "ab " * (limit // 3) + "ab ab"
    assert len(near.strip()) * (len(text) - 1) > LARGEST
    assert locate([near], text) == [NOWHERE]
    assert locate([exact], text)[0].match == "exact"
    assert locate(["ab ab ab ax ab ab ab ab"], text)[0].match == "fuzzy"


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        (r'it says \"4\" and "5"', [r'"4\" and "']),
        (r"it says \"4\" and 5", []),
        (r'it says "4 \" 5" so', [r'"4 \" 5"']),
        (r"it says \"" + r"\"" * 4000 + '" so', [r'"' + r"\"" * 4000 + '"']),
        (r"it says \"" + r"\"" * 4001 + '" so', [r'"' + r"\"" * 4000 + '"']),
    ],
)
def test_an_escaped_quotation_mark_begins_a_quotation_where_a_single_closes(
    line: str, quoted: list[str]
) -> None:
    assert [line[start:end] for start, end in quotations(line)] == quoted


def test_a_dash_within_a_name_is_kept() -> None:
    line = "- Word choice - register: what is said, and 1. how."
    assert read_sub_aspects(line) == [
        ("Word choice - register", "what is said, and 1. how.")
    ]
    assert read_sub_aspects("Word choice - register: what is said.")[0].name[5:] == (
        "choice - register"
    )
