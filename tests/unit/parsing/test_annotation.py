"""Annotators' replies: errors with places and severities, and a verdict."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation_setup import PIECES, PLAIN
from judgescope.parsing.annotation import (
    CONTRADICTIONS,
    COUNTED,
    MOST,
    OVERALL,
    read_annotation,
)
from judgescope.parsing.annotation_lines import PLACEHOLDERS
from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import ErrorSpan, Scale
from parsed import parse

HORFORD = ErrorSpan("Al Horford", "The source has another player.", 4)
POINTS = ErrorSpan("18 points", "The source says 16.", 2)
TEMPLATE = """Error 1:
Location: [the words of the text]
Explanation: [what is wrong with them]
Severity: [1 to 5]

Overall score: Good
Explanation: It flows."""
OBJECT = {
    "errors": [
        {"location": "Al Horford", "explanation": HORFORD.explanation, "severity": 4},
        {
            "location": "18 points",
            "explanation": POINTS.explanation,
            "severity": "Minor",
        },
    ],
    "overall_score": "Fair",
    "explanation": "Two facts are wrong.",
}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n\n", "\n"),
        PLAIN.replace("\n", "\r\n"),
        f"```\n{PLAIN}```",
        f"<think>Overall score: Poor\nError 1:</think>\n{PLAIN}",
        f"Here is my evaluation.\n\n{PLAIN}",
        PLAIN.replace("Error 1:", "**Error 1:**").replace("Error 2:", "### Error #2"),
        PLAIN.replace("Location:", "- **Location**:").replace(
            "Severity:", "- **Severity:**"
        ),
        PLAIN.replace("Location: Al Horford", 'Location: "Al Horford"'),
        PLAIN.replace(
            "Location: Al Horford", "Location: `Al Horford` (second sentence)"
        ),
        PLAIN.replace("Location: Al Horford", "Location:\n> “Al Horford”"),
        PLAIN.replace("Error 1:\n", "1. ").replace("Error 2:\n", "2. "),
        PLAIN.replace("Error 1:\n", "").replace("Error 2:\n", ""),
        PLAIN.replace("Severity: 4", "Severity: **4/5**").replace(
            "Severity: 2", "severity = two"
        ),
        PLAIN.replace("Severity: 4", "Severity: Major").replace(
            "Severity: 2", "Severity: minor."
        ),
        PLAIN.replace("Severity: 4", "Severity: 4 (Major)").replace(": 2", ": Level 2"),
        PLAIN.replace("Severity: 4\n", "").replace("Error 1:", "Error 1 (Major):"),
        PLAIN.replace("Severity: 4\n", "").replace("Error 1:", "Error 1 [severity: 4]"),
        PLAIN.replace(": Fair", ":\n**Fair** (3/5)"),
        PLAIN.replace("Overall score: Fair", "Overall score for consistency: Fair."),
        PLAIN.replace("Overall score: Fair", "The overall score is Fair"),
        PLAIN.replace("Overall score: Fair", "**Overall Rating (1-5):** 3"),
        PLAIN.replace("Explanation of the score", "Explanation"),
        PLAIN.replace("Explanation of the score", "Score explanation"),
        PLAIN.replace("Explanation of the score", "**Reason for the rating**"),
        PLAIN.replace("The source has", "The source\nhas"),
        PLAIN.replace(":", "："),
        PLAIN.replace("\nExplanation: The", " Explanation: The").replace(
            "\nSev", " Sev"
        ),
        f"Overall score: Poor\n\nOn second thought:\n\n{PLAIN}",
        json.dumps(OBJECT),
        f"```json\n{json.dumps(OBJECT, indent=2)}\n```\nI hope that this helps. [1]",
        json.dumps(OBJECT["errors"])
        + "\n\nOverall score: Fair\nExplanation: Two facts are wrong.",
        json.dumps(
            {"Error List": OBJECT["errors"]}
            | {"Overall": {"Score": 3, "Explanation": "Two facts are wrong."}}
        ),
    ],
)
def test_errors_and_verdict_in_many_forms(text: str) -> None:
    result, clean, counts = read_annotation(text)
    assert result.errors == (HORFORD, POINTS)
    assert (result.status, result.value, result.rationale) == (
        "ok",
        3,
        "Two facts are wrong.",
    )
    assert not clean and not any(counts[name] for name in COUNTED)
    assert result.rule.split("+")[1:] == (
        ["other_verdicts"] if counts["other_verdicts"] else []
    )


@pytest.mark.parametrize(
    "text",
    [
        "No Error\n\nOverall score: Excellent\nExplanation of the score: It is right.",
        "**No errors.**\n**Overall score:** Excellent\n\nExplanation: It is right.",
        "Error 1: No Error\nOverall score: 5\nExplanation of the score: It is right.",
        "Error 1:\nLocation: None\nExplanation: None\nSeverity: N/A\nOverall score: "
        "Excellent\n"
        "Explanation of the score: It is right.",
        "Location: No Error\nOverall score: Excellent\nExplanation of the score: It is "
        "right.",
        '{"errors": [], "overall_score": "Excellent", "explanation": "It is right."}',
    ],
)
def test_a_clean_text_has_the_best_verdict_and_no_errors(text: str) -> None:
    result, clean, counts = read_annotation(text)
    assert (result.status, result.value, result.errors) == ("ok", 5, ())
    assert clean and result.rationale == "It is right."
    assert not any(counts[name] for name in CONTRADICTIONS)


@pytest.mark.parametrize(
    ("text", "status", "value", "rule"),
    [
        ("No Error\nExcellent", "ok", 5, "free.trailing"),
        ("I would give it an overall score of Good.", "ok", 4, "free.labelled"),
        ("Excellent", "ok", 5, "free.bare"),
        ("Overall score: Fair\nOverall score: Good", "ok", 4, "labelled.labelled"),
        ("Overall score: Good\nCoherence score: 2", "ok", 4, "labelled.labelled"),
        ("Coherence score: 2", "ok", 2, "labelled.labelled"),
        ("Overall score: 7", "out_of_range", None, "labelled.labelled.outside"),
        ("Overall score: 3.5", "off_grid", None, "labelled.labelled.off_grid"),
        (
            "Overall score: 80/100",
            "out_of_range",
            None,
            "labelled.labelled.denominator",
        ),
        ("Overall score: Fair to Good", "unparsed", None, "unread_verdict"),
        (
            "Overall score: <one of: Unacceptable, Poor, Fair>",
            "unparsed",
            None,
            "unread_verdict",
        ),
        ("Overall score: Mediocre", "unparsed", None, "unread_verdict"),
        ("Overall score: 1-5", "unparsed", None, "unread_verdict"),
        ("No Error", "ok", 5, "no_error_alone"),
        ("No Error in a text is rare.", "unparsed", None, "no_verdict"),
        ("Severity: 3", "unparsed", None, "no_verdict"),
        (
            "Error 1:\nLocation: a\nExplanation: It is Good.",
            "unparsed",
            None,
            "no_verdict",
        ),
        ("The text has 3 errors.", "unparsed", None, "no_verdict"),
        ("I am sorry, I cannot evaluate this.", "refused", None, "refusal"),
        ("<think>Overall score: Good", "truncated", None, "unclosed_reasoning"),
        ("<think>Overall score: Good</think> ", "empty", None, "only_reasoning"),
        ("", "empty", None, "only_reasoning"),
    ],
)
def test_the_verdict_that_counts(
    text: str, status: str, value: float | None, rule: str
) -> None:
    judgment = read_annotation(text).judgment
    assert (judgment.status, judgment.value, judgment.rule.split("+")[0]) == (
        status,
        value,
        rule,
    )


@pytest.mark.parametrize(
    ("lines", "errors"),
    [
        (
            "Location: None\nExplanation: A goal is left out.",
            [(None, "A goal is left out.", None)],
        ),
        ("Explanation: Bad.\nLocation: a\nSeverity: 1", [("a", "Bad.", 1)]),
        (
            'Location: "a" and "b"\nExplanation: Bad.',
            [("a", "Bad.", None), ("b", "Bad.", None)],
        ),
        ("Location: 'the team's win'\nExplanation: x", [("the team's win", "x", None)]),
        ("Location: 'a'\nExplanation: x", [("a", "x", None)]),
        ('Location: "Yes," he said\nExplanation: x', [('"Yes," he said', "x", None)]),
        ("Location: a\nSeverity: N/A\nExplanation: x", [("a", "x", None)]),
        ('Error 1: "go" should be "goes" (severity 2)', [("go", "X (severity 2)", 2)]),
        ("Error 1: The verb\nLocation: go\nSeverity: 2", [("go", "The verb", 2)]),
        (
            "Location: a\nExplanation: x\n\nThis concerns the start.\nSeverity: 5",
            [("a", "x", 5)],
        ),
    ],
)
def test_errors_as_they_are_written(
    lines: str, errors: list[tuple[str | None, str, int | None]]
) -> None:
    result, _, counts = read_annotation(f"{lines}\nOverall score: Poor")
    locations = [
        (error.location, error.explanation, error.severity) for error in result.errors
    ]
    quoted = '"go" should be "goes"'
    assert locations == [
        (location, why.replace("X", quoted), level) for location, why, level in errors
    ]
    assert (result.status, result.value, counts["unread"]) == ("ok", 2, 0)


def test_categories_are_kept() -> None:
    text = PLAIN.replace("Severity: 4", "Severity: 4\nCategory: **NAME**")
    assert [error.category for error in read_annotation(text).judgment.errors] == [
        "NAME",
        None,
    ]
    listed = [{"text": "a", "reason": "b", "severity": None, "type": "NAME"}]
    judgment = read_annotation(
        json.dumps({"errors": listed, "overall": "poor"})
    ).judgment
    assert (
        judgment.errors == (ErrorSpan("a", "b", None, "NAME"),) and judgment.value == 2
    )
    places = [{"location": ["a", "b"], "severity": 3.0}]
    assert [
        error[0] for error in read_annotation(json.dumps(places)).judgment.errors
    ] == [
        "a",
        "b",
    ]


def test_the_most_severe_errors_are_kept_in_their_order() -> None:
    severities = [1, 5, None, 2, 2, 3, 4, 1, 5, 1]
    lines = [
        f"Error {at}:\nLocation: {at}\nExplanation: x\nSeverity: {severity}"
        for at, severity in enumerate(severities, start=1)
    ]
    result, _, counts = read_annotation("\n\n".join([*lines, "Overall score: Poor"]))
    assert [error.location for error in result.errors] == [
        "1",
        "2",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
    ]
    assert len(result.errors) == MOST and counts["dropped"] == 2


def test_contradictions_and_what_cannot_be_read_are_counted() -> None:
    both = read_annotation(f"No Error\n\n{PLAIN}").counts
    assert (both["errors_beside_none"], both["best_with_severe"]) == (2, 0)
    best = read_annotation(PLAIN.replace("Fair", "Excellent")).counts
    assert (best["errors_beside_none"], best["best_with_severe"]) == (0, 1)
    assert read_annotation("Overall score: Good").counts["less_without_errors"] == 1
    none = read_annotation("No Error\nOverall score: Good").counts
    assert (none["less_without_errors"], none["errors_beside_none"]) == (1, 0)
    several, _, counts = read_annotation(
        "Overall score: Good\nScore: 4\nOverall score: Poor"
    )
    assert several.value == 2 and counts["other_verdicts"] == 2
    unread, _, counts = read_annotation(PLAIN.replace("Severity: 4", "Severity: high"))
    assert counts["unread"] == 1 and [error.severity for error in unread.errors] == [
        None,
        2,
    ]


HUNDRED = Scale(0, 100, 5)


@pytest.mark.parametrize(
    ("reply", "status", "value", "rule"),
    [
        ("Overall score: 75", "ok", 75, "labelled.labelled"),
        ("Overall score: **75/100**", "ok", 75, "labelled.labelled"),
        ("Overall score: 0 out of 100", "ok", 0, "labelled.labelled"),
        ("Overall score: 100%", "ok", 100, "labelled.labelled"),
        ('{"errors": [], "overall_score": 35.0}', "ok", 35, "json.labelled"),
        ("Overall score: 87", "off_grid", None, "labelled.labelled.off_grid"),
        ("Overall score: 105", "out_of_range", None, "labelled.labelled.outside"),
        ("Overall score: 4/5", "out_of_range", None, "labelled.labelled.denominator"),
        ("Overall score: Good", "unparsed", None, "unread_verdict"),
        (
            "Overall score: from 0 (worst) to 100 (best)",
            "unparsed",
            None,
            "unread_verdict",
        ),
        ("75", "ok", 75, "free.bare"),
    ],
)
def test_a_verdict_is_on_the_scale_that_is_given(
    reply: str, status: str, value: float | None, rule: str
) -> None:
    result, _, counts = read_annotation(reply, HUNDRED)
    assert (result.status, result.value, result.rule.split("+")[0]) == (
        status,
        value,
        rule,
    )
    assert counts["less_without_errors"] == (value is not None and value < 100)


def test_the_best_verdict_is_the_scale_s_top() -> None:
    changed = PLAIN.replace("Fair", "{}")
    for score, severe in (("100", 1), ("95", 0), ("5", 0)):
        result, _, counts = read_annotation(changed.format(score), HUNDRED)
        assert result.errors == (HORFORD, POINTS) and result.value == float(score)
        assert counts["best_with_severe"] == severe


def test_a_verdict_without_a_scale_is_none() -> None:
    with pytest.raises(ValueError, match="the parser annotation needs a scale"):
        parse(PLAIN, scale=None, finish="stop", parser="annotation")


def test_a_list_that_is_begun_anew_replaces_the_first() -> None:
    draft = PLAIN.replace("Al Horford", "Kemba Walker").replace("Fair", "Poor")
    result, _, counts = read_annotation(f"{draft}\nThe final annotation:\n\n{PLAIN}")
    assert (
        result.errors == (HORFORD, POINTS)
        and counts["superseded"] == 2
        and result.value == 3
    )
    first, _, counts = read_annotation(
        "Overall score: Fair\n\n" + PLAIN.partition("Overall")[0]
    )
    assert first.errors == (HORFORD, POINTS) and (
        first.value,
        counts["superseded"],
    ) == (3, 0)
    twice = read_annotation(
        json.dumps(OBJECT | {"errors": []}) + json.dumps(OBJECT)
    ).judgment
    assert twice.errors == (HORFORD, POINTS)


TEXTS = st.lists(st.sampled_from([*PIECES.split("|"), "|"]), max_size=40).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "errors",
                    "location",
                    "severity",
                    "overall",
                    "explanation",
                    "type",
                    "x",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
).map(json.dumps)


@pytest.mark.simulation
@settings(deadline=None)
@given(st.text() | TEXTS | JSON)
def test_any_text_is_read_and_a_value_is_a_verdict(text: str) -> None:
    result, _, counts = read_annotation(text)
    assert (result.status == "ok") == (result.value in (1, 2, 3, 4, 5))
    assert len(result.errors) <= MOST and min(counts.values(), default=0) >= 0
    for error in result.errors:
        assert error.severity in (None, 1, 2, 3, 4, 5)
        assert error.location is None or error.location.strip()
        assert error.category is None or error.category.strip()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "piece",
    [
        '{"',
        "[[",
        "Error 1 ",
        '"a" and ',
        "Location: ",
        "*",
        "overall score ",
        "no errors ",
        "\n> ",
    ],
)
def test_the_time_grows_with_the_length_and_no_faster(piece: str) -> None:
    began = time.process_time()
    read_annotation(piece * (60_000 // len(piece)))
    read_annotation(
        "Location: " + piece * (60_000 // len(piece)) + "\nOverall score: Poor"
    )
    assert time.process_time() - began < 5


def test_placeholders_are_those_of_the_shipped_forms() -> None:
    folder = Path(__file__).resolve().parents[3] / "config" / "prompts"
    placeholders = list[str]()
    for name in ("annotate", "merge-errors"):
        form = (folder / f"{name}.jinja").read_text(encoding="utf-8")
        placeholders += re.findall(r"<([^<>\n]+)>", form)
    plain = {fold(text) for text in placeholders if "{" not in text}
    computed = [text for text in placeholders if "{" in text]
    number = "a whole number from 1 to 5"
    assert plain | {number} == PLACEHOLDERS
    assert computed and all(number in text for text in computed)


def test_an_entry_of_brackets_repeats_a_form() -> None:
    parsed = parse(TEMPLATE, scale=OVERALL, finish="stop", parser="annotation")
    assert (parsed.value, parsed.errors) == (4, ())
    filled = TEMPLATE.replace("[what is wrong with them]", "It should be 1921.")
    parsed = parse(filled, scale=OVERALL, finish="stop", parser="annotation")
    assert len(parsed.errors or ()) == 1
    numbered = TEMPLATE.replace("[1 to 5]", "[4]")
    parsed = parse(numbered, scale=OVERALL, finish="stop", parser="annotation")
    assert [error.severity for error in parsed.errors or ()] == [4]
