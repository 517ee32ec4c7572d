"""What every parser says of a reply besides its value: the status, the rule, the rest
of it.
"""

from statistics import fmean
from typing import Any

import numpy as np
import pytest
from msgspec import ValidationError, convert

from judgescope.core.errors import UserError
from judgescope.parsing.annotation import OVERALL, read_annotation, read_merged
from judgescope.parsing.annotation_lines import (
    ErrorEntry,
    field_of,
    is_nothing,
    read_labelled,
)
from judgescope.parsing.annotation_objects import TRIES, read_objects
from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import PARSERS, ErrorSpan, Scale, stand_in
from judgescope.parsing.parsers import NO_SETTINGS
from judgescope.parsing.reasoning import without_reasoning
from judgescope.parsing.text import NOWHERE, QuoteLocation, locate, locate_errors
from judgescope.plan.checks.judges import check_judge
from judgescope.schema.cards import Judge, OpenAIModel
from judgescope.scoring.specs import Unread
from parsed import CARD_RULES, parse

FIVE = Scale(1, 5, 1)
PENALTIES = {"minor": 1.0, "major": 5.0, "critical": 10.0, "bottom": 20.0}


def read(
    text: str, parser: str, scale: Scale | None = FIVE
) -> tuple[str, str, float | None]:
    settings = PENALTIES if parser == "errors" else CARD_RULES.get(parser, NO_SETTINGS)
    parsed = parse(text, scale=scale, finish="stop", parser=parser, settings=settings)
    return parsed.status, parsed.rule, parsed.value


# A likelihood is read from the text that was judged, not from a reply about it; what a
# function returns is no prose.
REASONS = sorted(
    PARSERS.keys() - {"number", "chiang-lee", "likelihood", "returned", "decision"}
)


@pytest.mark.parametrize("parser", REASONS)
def test_reasoning_is_no_answer(parser: str) -> None:
    assert read("<think>Rating: 4", parser) == ("truncated", "unclosed_reasoning", None)
    assert read("<think>Rating: 4</think> ", parser) == (
        "empty",
        "only_reasoning",
        None,
    )
    assert read("It is a [thought]", parser)[:2] == ("truncated", "unclosed_reasoning")


@pytest.mark.parametrize("parser", sorted({*REASONS} - {"choice"}))
def test_a_refusal_is_distinguished_from_a_reply_that_cannot_be_read(
    parser: str,
) -> None:
    refused = "I am sorry, but I cannot rate this."
    assert read(refused, parser) == ("refused", "refusal", None)
    assert read("Purple, with a green stripe.", parser)[0] == "unparsed"


@pytest.mark.parametrize(
    ("text", "parser", "status", "rule", "value"),
    [
        ("nothing to say", "score", "unparsed", "no_verdict", None),
        ("Rating: 6", "score", "out_of_range", "labelled.outside", None),
        ("Rating: 3.5", "score", "off_grid", "labelled.off_grid", None),
        ("Rating: 3/7", "score", "out_of_range", "labelled.denominator", None),
        ("Rating: 4%", "score", "out_of_range", "labelled.denominator", None),
        ("nothing to say", "choice", "unparsed", "no_choice", None),
        ("Choice: B", "choice", "ok", "labelled", -1),
        ("A", "choice", "ok", "alone", 1),
        ("tie", "choice", "ok", "alone", 0),
        ("4", "result", "unparsed", "no_result", None),
        ("[RESULT] 4", "result", "ok", "result.labelled", 4),
        ("[ result ]**: 4", "result", "ok", "result.labelled", 4),
        ("[RESULT] 6", "result", "out_of_range", "result.labelled.outside", None),
        ("[RESULT] 2 or rather [RESULT] 3", "result", "ok", "result.labelled", 3),
        ("four", "number", "unparsed", "no_number", None),
        ("1e999", "number", "unparsed", "no_number", None),
        ("1 2", "number", "unparsed", "no_number", None),
        ("1.", "number", "ok", "number", 1),
        (" +2e0 ", "number", "ok", "number", 2),
        (" +2.5e0 ", "number", "off_grid", "number.off_grid", None),
        ("NaN", "number", "empty", "nan", None),
        ("5", "number", "ok", "number", 5),
        ("1", "number", "ok", "number", 1),
        ("5.01", "number", "out_of_range", "number.outside", None),
        ("0.99", "number", "out_of_range", "number.outside", None),
        ("Rating: none", "chiang-lee", "unparsed", "after_rating.no_digit", None),
        ("none", "chiang-lee", "unparsed", "whole_text.no_digit", None),
        ("RATING: 3, then Rating: 27", "chiang-lee", "ok", "after_rating", 2),
        ("I say 3 of 5", "chiang-lee", "ok", "whole_text", 3),
        ("nothing to say", "errors", "unparsed", "no_list", None),
        ("No errors.", "errors", "ok", "no_errors", 5),
        ("minor: a", "errors", "ok", "listed", 5 - 4 * 1 / 20),
        ("minor: a\nmajor: b", "errors", "ok", "listed", 5 - 4 * 6 / 20),
        ("critical: a\ncritical: b", "errors", "ok", "listed", 1),
        ("critical: a\ncritical: b\nminor: c", "errors", "ok", "listed", 1),
        ("No errors.\nminor: a", "errors", "unparsed", "contradiction", None),
        ("minor: none", "errors", "unparsed", "incomplete", None),
        ("minor: none\nmajor: none\ncritical: none", "errors", "ok", "no_errors", 5),
        ("No errors.\nBut it is wrong.", "errors", "unparsed", "doubted", None),
        ("No errors.\nI read it all.", "errors", "ok", "no_errors", 5),
        ("- a word is wrong", "errors", "unparsed", "no_severity", None),
        ("minor: 2", "errors", "unparsed", "no_text", None),
        ("minor: 2, major: 1", "errors", "unparsed", "two_severities", None),
        ("minor: a, major: b", "errors", "unparsed", "two_severities", None),
        ("a word (major)", "errors", "unparsed", "unclear", None),
        ("- a word (major)", "errors", "ok", "listed", 5 - 4 * 5 / 20),
    ],
)
def test_status_rule_and_value(
    text: str, parser: str, status: str, rule: str, value: float | None
) -> None:
    result = read(text, parser)
    assert result[:2] == (status, rule)
    assert result[2] == (value if value is None else pytest.approx(value))


def test_the_rest_of_a_reply_is_its_reason() -> None:
    def rationale(text: str, parser: str) -> str | None:
        settings = PENALTIES if parser == "errors" else NO_SETTINGS
        return parse(
            text, scale=FIVE, finish="stop", parser=parser, settings=settings
        ).rationale

    assert rationale("It flows. [RESULT] 4", "result") == "It flows."
    assert rationale("[RESULT] 4", "result") is None
    assert rationale("It flows.\nChoice: A", "choice") == "It flows."
    assert rationale("Choice: A", "choice") is None
    assert rationale("<think>Hm.</think>minor: a", "errors") == "minor: a"


def test_the_tail_of_a_result_is_not_reported() -> None:
    judged = parse(
        "Good. [RESULT] 4 as it flows", scale=FIVE, finish="stop", parser="result"
    )
    assert (judged.value, judged.tail, judged.label) == (4, None, None)


# --- annotations ---


def test_a_merged_list_has_errors_or_says_that_it_has_none() -> None:
    error = "Error 1:\nLocation: a\nExplanation: b\nSeverity: 2\n"
    assert read_merged("Overall score: Good", None)[:3] == ("unparsed", "no_list", None)
    assert read_merged("No Error", None)[:3] == ("ok", "no_errors", None)
    assert read_merged(error, None)[:3] == ("ok", "listed", None)
    assert read_merged(error + "Overall score: 7", None)[:4] == (
        "ok",
        "listed",
        None,
        None,
    )
    unread = error.replace("2", "high")
    assert read_merged(unread, None)[:2] == ("ok", "listed+unread")
    again = f"{error}Overall score: Good\n{error.replace('2', 'high')}"
    assert read_merged(again, None)[:2] == ("ok", "listed+superseded+unread")


def test_what_is_counted_is_named_behind_the_rule() -> None:
    error = "Error 1:\nLocation: a\nExplanation: b\nSeverity: 5\n"
    judgment = read_annotation(f"No Error\n{error}Overall score: Excellent").judgment
    assert judgment.rule == "labelled.labelled+errors_beside_none+best_with_severe"
    assert judgment.label == "Excellent"
    assert read_annotation("Overall score: Good").judgment.rule.endswith(
        "+less_without_errors"
    )
    for text in ("Overall score: Good", "Good", "Nothing."):
        assert read_annotation(text).counts["other_verdicts"] == 0
    both, _, counts = read_annotation(f"{error}\nScore: 2\nOverall score: Good")
    assert counts["other_verdicts"] == 1 and both.value == 4
    mild = read_annotation(f"{error.replace('5', '3')}Overall score: Excellent")
    assert mild.counts["best_with_severe"] == 0
    severe = read_annotation(f"{error.replace('5', '4')}Overall score: Excellent")
    assert severe.counts["best_with_severe"] == 1


@pytest.mark.parametrize(
    ("written", "severity"),
    [
        ("2", 2),
        ("Level 2", 2),
        ("severity level: 2", 2),
        ("Severity 2", 2),
        ("Critical", 5),
        ("neutral", 1),
        ("0", None),
        ("6", None),
        ("2.5", None),
        ("level level", None),
    ],
)
def test_severities_are_numbers_or_words(written: str, severity: int | None) -> None:
    judgment = read_annotation(
        f"Location: a\nExplanation: b\nSeverity: {written}\n"
    ).judgment
    (error,) = judgment.errors
    assert error.severity == severity


@pytest.mark.parametrize(
    ("written", "places"),
    [
        ("a b", ["a b"]),
        ("'a b'", ["a b"]),
        ("‘a b’", ["a b"]),
        ("'a", ["'a"]),
        ("X'aX'", ["X'aX'"]),
        ("Xa'", ["Xa'"]),
        ("''", [None]),
        ("' '", [None]),
        ('"a", "b" and «c»', ["a", "b", "c"]),
        ('"a" / `b`; 「c」 (twice).', ["a", "b", "c"]),
        ('"a" and more', ['"a" and more']),
        ("**a**", ["a"]),
        ("n/a", [None]),
        ('" "', [None]),
    ],
)
def test_a_location_is_a_single_passage_or_the_passages_it_quotes(
    written: str, places: list[str | None]
) -> None:
    judgment = read_annotation(
        f"Location: {written}\nExplanation: x\nSeverity: 3\n"
    ).judgment
    assert [error.location for error in judgment.errors] == places


def test_an_unread_severity_counts_once_for_an_error_of_several_places() -> None:
    result, _, counts = read_annotation(
        'Location: "a" and "b"\nExplanation: x\nSeverity: high\n'
    )
    assert len(result.errors) == 2 and counts["unread"] == 1


def test_a_heading_loses_its_marks_and_gives_what_fields_do_not() -> None:
    (each,) = read_annotation('Error 1: **"go" is wrong**\n').judgment.errors
    assert each == ErrorSpan("go", '"go" is wrong', None)
    text = 'Error 1: > see "go"\nExplanation: y\nCategory: `GRAMMAR`\n'
    (two,) = read_annotation(text).judgment.errors
    assert two == ErrorSpan(None, "y", None, "GRAMMAR")


def test_a_label_a_number_and_a_heading_are_a_single_line() -> None:
    for name in (
        "Severity: 2",
        "Category: X",
        "Overall score: 3",
        "Score: 3",
        "Error 1: Bad",
    ):
        labelled = read_labelled(f"Location: a\nExplanation: b\n{name}\nA remark.")
        assert labelled.remarks == ["A remark."], name
    open_still = read_labelled("Explanation: b\ngoes on")
    assert open_still.remarks == [] and open_still.errors[0].explanation == "b goes on"


def test_marks_alone_are_nothing() -> None:
    assert (
        is_nothing(" *-# ")
        and is_nothing("none.")
        and is_nothing("")
        and not is_nothing("x")
    )
    assert read_labelled("Explanation: **\n> so it is").errors == [
        ErrorEntry(explanation="> so it is")
    ]
    assert read_labelled("Severity: -\n3\nA remark.").errors == [
        ErrorEntry(severity="3")
    ]


def test_an_error_after_a_verdict_does_not_make_later_words_its_reason() -> None:
    labelled = read_labelled(
        "Overall score: 3\nError 1:\nExplanation: b\nOverall score: 4\nReason: c"
    )
    assert [entry.explanation for entry in labelled.errors] == ["b"]
    assert labelled.why == "c" and labelled.verdicts == [(True, "3"), (True, "4")]


def test_only_a_first_error_after_a_verdict_begins_the_list_anew() -> None:
    error = "Error {}:\nExplanation: x\nOverall score: 3\n"
    assert read_labelled(error.format(1) + error.format(2)).superseded == 0
    twice = read_labelled(error.format(1) + error.format(1))
    assert (twice.superseded, len(twice.errors)) == (1, 1)
    thrice = read_labelled(error.format(1) * 3)
    assert (thrice.superseded, len(thrice.errors)) == (2, 1)


def test_labels_alone_stand_for_fields() -> None:
    assert (
        field_of("Error_Span") == "location" and field_of("overall_score") == "overall"
    )
    assert field_of(" Severity_Level ") == "severity" and field_of("colour") is None


# --- JSON ---


def test_json_is_read_and_the_rest_is_left() -> None:
    text, rest = read_objects('Well, {"score": 3} so. {"x": 1} End')
    assert text and text.verdicts == [(False, "3")]
    assert rest == 'Well,  so. {"x": 1} End'
    assert read_objects("no JSON") == (None, "no JSON")
    text, rest = read_objects('{"a" {"score": 3}')
    assert text and text.verdicts == [(False, "3")] and rest == '{"a" '


def test_a_later_list_replaces_an_earlier_one_and_counts_it() -> None:
    listed = '{"errors": ["a", {"location": "b", "reason_for_the_rating": "c"}]}'
    text, rest = read_objects(f"{listed} {listed} {listed}")
    assert text and text.superseded == 4 and rest == "  "
    assert text.errors == [ErrorEntry(heading="a"), ErrorEntry("b", "c")]


def test_entries_in_json_have_a_location_each_or_none() -> None:
    text, _ = read_objects(
        '[{"description": "x", "severity": 2.0, "type": "T", "other": 1}]'
    )
    assert text and text.errors == [ErrorEntry("", "x", "2", "T")]
    text, _ = read_objects('[{"quoted_text": [], "reason": true, "explanation": "x"}]')
    assert text and text.errors == [ErrorEntry("", "x")]
    text, _ = read_objects('[{"error_span": ["a", "b c"], "severity": 2.5}]')
    assert text and text.errors == [
        ErrorEntry("a", "", "2.5"),
        ErrorEntry("b c", "", "2.5"),
    ]
    text, _ = read_objects(
        '[{"quoted_text": "a", "Error_Span": "b", "description": "x"}]'
    )
    assert text and text.errors == [ErrorEntry("b", "x")]
    text, _ = read_objects('[{"quoted_text": "a", "description": "x"}]')
    assert text and text.errors == [ErrorEntry("a", "x")]
    assert read_objects("[1, 2]") == (None, "[1, 2]")
    text, rest = read_objects("[]")
    assert text and text.clean and rest == ""


def test_only_so_many_places_are_tried_for_json() -> None:
    assert read_objects('{"' * (TRIES - 1) + '{"score": 3}')[0] is not None
    assert read_objects('{"' * TRIES + '{"score": 3}')[0] is None


# --- places ---


def test_an_error_without_a_location_is_not_detected_whatever_the_text() -> None:
    text = "XXXX ran"
    (each, two) = locate_errors(
        [ErrorSpan(None, "x", 2), ErrorSpan("ran", "y", 3, "C")], text
    )
    assert each == (None, "x", 2, None, None, None, None, "not_found")
    assert two == ("ran", "y", 3, "C", 5, 8, 1, "exact")


def test_half_of_a_ligature_is_detected_neither_at_an_end_nor_at_the_start() -> None:
    assert locate(["f"], "ﬁ") == [NOWHERE]
    assert locate(["i"], "ﬁ", cutoff=100) == [NOWHERE]
    assert locate(["af"], "aﬁb", cutoff=100) == [NOWHERE]
    assert locate(["ib"], "aﬁb", cutoff=100) == [NOWHERE]
    assert locate(["Fi"], "ﬁ") == [QuoteLocation(0, 1, 1, "normalised")]
    assert locate(["A"], "a") == [QuoteLocation(0, 1, 1, "normalised")]


# --- scales and texts ---


def test_a_scale_has_its_ends_its_steps_and_its_words() -> None:
    assert [FIVE.contains(value) for value in (0.99, 1, 5, 5.01)] == [
        False,
        True,
        True,
        False,
    ]
    tenth = Scale(0, 1, 0.1)
    assert tenth.on_grid(0.3) and not tenth.on_grid(0.35) and Scale(0, 1).on_grid(0.35)
    assert tenth.grid() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert Scale(1, 2, 0.4).grid() == [1, 1.4, 1.8] and Scale(0, 1).grid() is None
    assert Scale(1, 3, 1, ("a", "b", "c")).value_of(1) == 2
    assert Scale(1, 4, 1, ("a", "b", "c")).value_of(2) == 4
    assert Scale(1, 3, 1, ("only",)).value_of(0) == 3
    assert OVERALL.value_of(0) == 1


def test_folding_keeps_the_length() -> None:
    assert fold("ＡＢ：「İ」\u00a0’−") == 'ab:"İ" \'-'
    for text in ("İ", "ẞ", "AİB", "ǅ"):
        assert len(fold(text)) == len(text)
    assert fold("AİB") == "aİb"


def test_what_stands_outside_of_reasoning_is_kept() -> None:
    assert without_reasoning("a<think>b</think>c") == ("ac", False)
    assert without_reasoning("a[THINKING]b<thought>c[/thought]d") == ("ad", False)
    assert without_reasoning("b</think>c") == ("c", False)
    assert without_reasoning("a<think>b</think>c<think>d") == ("ac", True)
    assert without_reasoning("a</think>b</think>c") == ("c", False)


# --- what holds for all ---


def test_a_parser_exists_and_has_its_settings() -> None:
    assert "scores" not in PARSERS and "score" in PARSERS
    with pytest.raises(
        ValueError, match=r"the parser score has the settings \(\), not \['a'\]"
    ):
        parse("4", scale=FIVE, finish=None, settings={"a": 1.0})
    with pytest.raises(ValueError, match="the parser errors has the settings"):
        parse("No errors.", scale=FIVE, finish=None, parser="errors")
    for parser in ("score", "errors"):
        with pytest.raises(ValueError, match=f"the parser {parser} needs a scale: min"):
            read("Rating: 4", parser, scale=None)


@pytest.mark.parametrize(
    ("text", "finish", "status", "expected"),
    [
        ("Rating: 4", "length", "ok", ("truncated", "finish_length")),
        ("Rating: 4", "content_filter", "ok", ("refused", "filtered")),
        ("Well,", "content_filter", "ok", ("refused", "filtered")),
        (" ", "content_filter", "ok", ("refused", "filtered")),
        (" ", "stop", "ok", ("empty", "empty")),
        (None, "stop", "ok", ("empty", "empty")),
        (
            " has no reference ",
            None,
            "not_applicable",
            ("not_applicable", "has no reference"),
        ),
        (None, None, "not_applicable", ("not_applicable", "not_applicable")),
        (
            "this model's maximum context length is 9",
            None,
            "error",
            ("error", "too_long"),
        ),
        ("a prompt of 9 tokens exceeds it", None, "error", ("error", "too_long")),
        ("Bad request", None, "error", ("error", "error")),
    ],
)
def test_a_reply_that_is_no_answer_is_not_read(
    text: str | None, finish: str | None, status: str, expected: tuple[str, str]
) -> None:
    parsed = parse(text, scale=FIVE, finish=finish, reply_status=status)
    assert (parsed.status, parsed.rule) == expected
    assert (parsed.value is None) == (
        expected[0] != "ok"
    ) and parsed.parser == "score@17"


HALVES = Scale(1, 5, 0.5)
UNIT = Scale(0, 1, None)
WORDS = Scale(1, 5, 1, ("Unacceptable", "Poor", "Fair", "Good", "Very good"))


def test_scales_know_their_values() -> None:
    assert HALVES.grid() == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    assert UNIT.grid() is None
    assert [WORDS.value_of(index) for index in range(5)] == [1, 2, 3, 4, 5]
    assert Scale(0, 1, 0.1).on_grid(0.3)
    assert not HALVES.on_grid(2.25)
    assert UNIT.on_grid(0.123)
    assert [FIVE.contains(value) for value in (0.9, 1, 5, 5.1)] == [
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("policy", "scale", "filling"),
    [
        ("missing", FIVE, None),
        ("wrong", FIVE, None),
        ("worst", FIVE, 1),
        ("mid", FIVE, 3),
        ("mid", Scale(1, 4, 1), 2),
        ("mid", UNIT, 0.5),
    ],
)
def test_policies_replace_what_is_missing(
    policy: Any, scale: Scale, filling: float | None
) -> None:
    assert stand_in(policy, scale) == filling


@pytest.mark.parametrize("scale", [HALVES, UNIT])
def test_the_random_policy_is_seeded_and_uniform_on_the_scale(scale: Scale) -> None:

    def drawn_by(seed: int) -> list[float | None]:
        rng = np.random.default_rng(seed)
        return [stand_in("random", scale, rng) for _ in range(2_000)]

    drawn = drawn_by(7)
    assert drawn == drawn_by(7)
    assert drawn != drawn_by(8)
    values = [value for value in drawn if value is not None]
    assert len(values) == 2_000
    assert fmean(values) == pytest.approx((scale.min + scale.max) / 2, abs=0.15)
    assert set(values) == set(scale.grid() or values)
    assert all(scale.contains(value) for value in values)


def test_policies_refuse_what_they_cannot_do() -> None:
    for policy in ("missing", "wrong", "worst", "mid", "random"):
        assert convert({"policy": policy, "seed": 1}, Unread).policy == policy
    with pytest.raises(ValueError, match="needs a random generator"):
        stand_in("random", FIVE)
    with pytest.raises(ValidationError, match="Invalid enum value 'best'"):
        convert({"policy": "best", "seed": 1}, Unread)


def test_a_refusal_that_says_its_rule_is_not_guessed_at() -> None:
    for rule in ("filtered", "too_long", "given_up"):
        parsed = parse("HTTP 400: no", scale=FIVE, finish=rule, reply_status="error")
        assert (parsed.status, parsed.rule) == ("error", rule)
    program = parse("no words", scale=FIVE, finish="error", reply_status="error")
    assert (program.status, program.rule) == ("error", "error")


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("HTTP 400: This model's maximum context length is 8192 tokens.", "too_long"),
        ("HTTP 400: context_length_exceeded", "too_long"),
        (
            "HTTP 400: the request exceeds the available context size (4096 tokens)",
            "too_long",
        ),
        ("HTTP 400: prompt is too long: 210000 tokens > 200000 maximum", "too_long"),
        (
            "HTTP 400: The input token count (9) exceeds the maximum number of tokens "
            "(8)",
            "too_long",
        ),
        ("HTTP 400: in this context, temperature must be below 1", "refused"),
        ("HTTP 422: max_tokens is not a number", "refused"),
    ],
)
def test_a_request_too_long_for_the_model_is_distinguished_from_other_errors(
    message: str, rule: str
) -> None:
    parsed = parse(message, scale=FIVE, finish="error", reply_status="error")
    assert (parsed.status, parsed.rule, parsed.value) == ("error", rule, None)


@pytest.mark.parametrize("name", ["merged", "scores"])
def test_a_judge_names_a_parser_that_exists_and_is_for_judges(name: str) -> None:
    judge = Judge.model_validate(
        {"judge": "j", "model": "m", "form": "f", "parser": name}
    )
    model = OpenAIModel(model="m", engine="openai", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(UserError, match="unknown parser") as error:
        check_judge(judge, model, {})
    assert "judges/j.yaml, key parser" in str(error.value) and "chiang-lee" in str(
        error.value
    )
    check_judge(judge.model_copy(update={"parser": "result"}), model, {})
