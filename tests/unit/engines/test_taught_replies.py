"""What a judge is taught to write, and that it reads as what it was made of."""

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from annotation_setup import PIECES, PLAIN
from judgescope.extensions.distill.examples import taught_reply, taught_score
from judgescope.parsing.annotation import COUNTED, MOST, read_annotation
from judgescope.parsing.annotation_lines import ErrorEntry
from judgescope.parsing.judgment import ErrorSpan, Scale
from judgescope.parsing.text import locate_errors
from judgescope.schema.cards.annotations import PERCENT
from parsed import parse

SCALE = Scale(PERCENT.min, PERCENT.max, PERCENT.step)
SCORES = st.integers(0, 20).map(lambda step: 5 * step)
SEVERITIES = st.none() | st.integers(1, 5)


def read(errors: list[ErrorSpan], score: int = 75) -> list[ErrorSpan]:
    """Return the errors that are read from what is taught, after a look at the
    score.
    """
    result, _, counts = read_annotation(taught_reply(errors, score), SCALE)
    assert (result.status, result.value) == ("ok", score)
    assert not any(counts[name] for name in (*COUNTED, "other_verdicts"))
    return [*result.errors]


# --- replies ---


def test_a_reply_has_the_lines_that_annotators_are_asked_for() -> None:
    errors = read_annotation(PLAIN).judgment.errors
    before = PLAIN.partition("Overall score")[0]
    assert taught_reply(errors, 45) == f"{before}Overall score: 45"
    assert taught_reply(locate_errors(errors, "Al Horford scored"), 45) == taught_reply(
        errors, 45
    )
    assert taught_reply([], 100) == "No Error\n\nOverall score: 100"
    assert read_annotation(taught_reply([], 100), SCALE).clean


def test_what_an_error_lacks_is_read_as_lacking() -> None:
    errors = [ErrorSpan(None, "A goal is left out.", None), ErrorSpan("a", "", 1)]
    assert taught_reply(errors, 5) == (
        "Error 1:\nLocation: None\nExplanation: A goal is left out.\n\n"
        "Error 2:\nLocation: a\nExplanation:\nSeverity: 1\n\nOverall score: 5"
    )
    assert read(errors, 5) == errors


@pytest.mark.parametrize(
    ("location", "written"),
    [
        ("the team's win", "the team's win"),
        ('"Yes," he said', '"Yes," he said'),
        ('"Yes"', '“"Yes"”'),
        ('"Yes" and “no”', '«"Yes" and “no”»'),
        ("*win*", '"*win*"'),
        ("Severity: 4", "“Severity: 4”"),
        ("There are no errors.", "«There are no errors.»"),
    ],
)
def test_a_place_is_in_quotation_marks_only_where_it_would_be_read_as_another(
    location: str, written: str
) -> None:
    error = ErrorSpan(location, "It is wrong.", 2)
    assert f"\nLocation: {written}\n" in taught_reply([error], 50)
    assert read([error]) == [error]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("two\nlines,\u2028a\ttab", "two lines, a tab"),
        ("It says Severity: 5 here.", "It says severity: 5 here."),
        ("a; Overall score: 10", "a; overall score: 10"),
        ("a. **Explanation of the score**: b", "a. **explanation of the score**: b"),
        ('{"errors": []} is [no] text', '("errors": ()) is (no) text'),
        ("<think>a</think> b", "(think)a(/think) b"),
        ("a list[1] < b", "a list[1] < b"),
        ("Error 2: another", "Error 2: another"),
        ("“Café” ≠ ‘naïve’ — 好。", "“Café” ≠ ‘naïve’ — 好。"),
    ],
)
def test_what_lines_cannot_hold_is_changed_and_nothing_else(
    text: str, message: str
) -> None:
    assert read([ErrorSpan("here", text, 3)]) == [ErrorSpan("here", message, 3)]
    assert read([ErrorSpan(f"so {text}", "why", 3)]) == [
        ErrorSpan(f"so {message}", "why", 3)
    ]


def test_what_cannot_be_reported_is_read_as_what_it_says() -> None:
    for text in ("N/A", "NOT APPLICABLE"):
        assert read([ErrorSpan(text, "It is wrong.", 2)]) == [
            ErrorSpan(None, "It is wrong.", 2)
        ]
    assert read([ErrorSpan("a", "**It** is **wrong**", 2)]) == [
        ErrorSpan("a", "It** is **wrong", 2)
    ]
    assert read([ErrorSpan(None, "No errors.", 2)]) == []
    assert read([ErrorSpan("a", "Bad.", 2, "NAME")]) == [ErrorSpan("a", "Bad.", 2)]


ANY = st.text() | st.lists(st.sampled_from(PIECES.split("|")), max_size=12).map("".join)
WORDS = st.lists(
    st.from_regex(r"[A-Za-z0-9äß好'’\"“”(),.;!?&$-]{1,8}", fullmatch=True), min_size=1
)
PLAIN_TEXTS = WORDS.map(lambda words: "A " + " ".join(words) + " z.")


FOR_NOTHING = {"", "none", "null", "nil", "nothing", "na", "nolocation"}
FOR_NOTHING |= {"notapplicable", "notavailable", "notspecified"}
"""Words of a place that say there is none, as they are read."""


def errors_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[ErrorSpan]]:
    return st.lists(
        st.builds(ErrorSpan, st.none() | texts, texts, SEVERITIES, st.none()).filter(
            says
        ),
        max_size=MOST,
    )


def says(error: ErrorSpan) -> bool:
    """Return whether an error's words tell of one."""
    location, why = (" ".join((text or "").split()) for text in error[:2])
    return not ErrorEntry(location, why).says_nothing()


def letters(text: str | None) -> str:
    return "".join(sign for sign in (text or "").lower() if sign.isalnum())


@pytest.mark.simulation
@settings(deadline=None)
@given(errors_of(PLAIN_TEXTS), SCORES)
def test_errors_in_plain_words_come_back_as_they_are(
    errors: list[ErrorSpan], score: int
) -> None:
    assume(all_different(errors))
    assert read(errors, score) == errors


def all_different(errors: list[ErrorSpan]) -> bool:
    """Whether no entry repeats another: a repeated one counts once."""
    written = {
        (letters(error.location), letters(error.explanation)) for error in errors
    }
    return len(written) == len(errors)


@pytest.mark.simulation
@settings(deadline=None, max_examples=300)
@given(errors_of(ANY), SCORES)
def test_of_any_text_all_letters_and_digits_come_back(
    errors: list[ErrorSpan], score: int
) -> None:
    assume(all_different(errors))
    # An entry without a letter says nothing.
    assume(
        all(letters(error.location) or letters(error.explanation) for error in errors)
    )
    result = read(errors, score)
    assert [error.severity for error in result] == [error.severity for error in errors]
    for error, problem in zip(errors, result, strict=True):
        assert letters(problem.explanation) == letters(error.explanation)
        assert letters(problem.location) in (letters(error.location), "")
        if problem.location is None:
            assert letters(error.location) in FOR_NOTHING


@pytest.mark.parametrize(
    ("errors", "score"), [([("a", "b", 1)] * 9, 50), ([], 52), ([], 105)]
)
def test_what_no_annotator_may_write_is_not_taught(
    errors: list[Any], score: int
) -> None:
    with pytest.raises(ValueError, match=r"more than 8|is not a score"):
        taught_reply([ErrorSpan(*error) for error in errors], score)


def test_the_parser_reads_a_taught_score_on_the_judge_s_scale() -> None:
    for score in range(0, 101, 5):
        read_ = parse(
            taught_reply([], score), scale=SCALE, finish="stop", parser="annotation"
        )
        assert (read_.status, read_.value) == ("ok", score)


# --- scores ---


@pytest.mark.parametrize("members", range(1, 9))
def test_every_mean_of_members_is_taught_as_its_fraction(members: int) -> None:
    taught = set()
    for total in range(members, 5 * members + 1):
        mean = Fraction(total, members)
        below, rest = divmod((mean - 1) * 25, 5)
        wanted = 5 * (int(below) + (rest >= Fraction(5, 2)))
        assert taught_score(round(total / members, 9)) == wanted
        taught.add(wanted)
    assert {0, 25, 50, 75, 100} <= taught <= {*range(0, 101, 5)}


def test_five_members_reach_every_score() -> None:
    means = {sum(each) / 5 for each in combinations_with_replacement(range(1, 6), 5)}
    assert {taught_score(round(mean, 9)) for mean in means} == {*range(0, 101, 5)}


@pytest.mark.parametrize(
    ("mean", "score"),
    [
        (1.1, 5),
        (1.09, 0),
        (1.3, 10),
        (2.3, 35),
        (3.333333333, 60),
        (4.9, 100),
        (4.7, 95),
    ],
)
def test_halves_go_up_though_a_float_lies_below(mean: float, score: int) -> None:
    assert taught_score(mean) == score


@pytest.mark.parametrize("mean", [0.9, 5.000001, float("nan")])
def test_a_mean_off_the_ensemble_s_scale_is_an_error(mean: float) -> None:
    with pytest.raises(ValueError, match="is not from 1 to 5"):
        taught_score(mean)
