"""Replies whose verdict a judge's card locates: by a pattern, or by a path in JSON."""

import doctest
import time
from typing import Any

import pytest

from judgescope.parsing import card_rules
from judgescope.parsing.card_rules import (
    SEARCHED,
    TIME_LIMIT,
    TIMEOUT,
    PatternError,
    compiled,
    steps_of,
)
from judgescope.parsing.judgment import Judgment, OffGrid, Scale
from parsed import parse
from waiting import patience

FIVE = Scale(1, 5, 1)
WORDED = Scale(1, 5, 1, ("Awful", "Poor", "Fair", "Good", "Great"))
VERDICTS = Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0), ("pass", 1)))
GRADE = r"Final grade:\s*(?P<verdict>[^\n]*)"
CATASTROPHIC = r"(?:a|aa)+$(?P<verdict>x)?"


def by_pattern(
    text: str, scale: Scale | None = FIVE, pattern: str = GRADE, **settings: Any
) -> Judgment:
    return parse(
        text,
        scale=scale,
        finish="stop",
        parser="pattern",
        settings={"pattern": pattern, **settings},
    )


def by_path(
    text: str,
    path: str = "result.score",
    scale: Scale | None = FIVE,
    **settings: Any,
) -> Judgment:
    return parse(
        text,
        scale=scale,
        finish="stop",
        parser="path",
        settings={"path": path, **settings},
    )


def test_the_last_match_decides_and_the_rest_is_the_rationale() -> None:
    result = by_pattern("Final grade: 2\nOn reflection it flows.\nFinal grade: 4")
    assert (result.status, result.rule, result.value) == ("ok", "pattern", 4)
    assert result.rationale == "Final grade: 2\nOn reflection it flows."
    assert result.parser == "pattern@2"


def test_a_last_match_without_the_group_is_skipped() -> None:
    pattern = r"grade (?P<verdict>\d)|grade unknown"
    assert by_pattern("grade 3, then grade unknown", pattern=pattern).value == 3


@pytest.mark.parametrize(
    ("stated", "scale", "value", "label", "rule"),
    [
        ("4", FIVE, 4, None, "pattern"),
        (" ４ ", FIVE, 4, None, "pattern"),  # full-width digits
        ("4.0", FIVE, 4, None, "pattern"),
        ("good", WORDED, 4, "Good", "pattern"),
        ("PASS", VERDICTS, 1, "pass", "pattern"),
        ("a", None, 1, "a", "pattern"),
        ("B", None, -1, "b", "pattern"),
        ("Tie", None, 0, "tie", "pattern"),
    ],
)
def test_values_labels_and_choices_are_read(
    stated: str,
    scale: Scale | None,
    value: float,
    label: str | None,
    rule: str,
) -> None:
    result = by_pattern(f"Final grade: {stated}", scale)
    assert (result.value, result.label, result.rule) == (value, label, rule)


@pytest.mark.parametrize(
    ("stated", "scale"),
    [("4 of 5", FIVE), ("nice", WORDED), ("1", VERDICTS), ("C", None), ("", FIVE)],
)
def test_words_that_are_not_on_the_menu_are_unparsed(
    stated: str, scale: Scale | None
) -> None:
    result = by_pattern(f"Final grade: {stated}", scale)
    assert (result.status, result.rule) == ("unparsed", "pattern.off_menu")
    assert result.value is None


@pytest.mark.parametrize(
    ("stated", "off_grid", "status", "value"),
    [
        ("9", "drop", "out_of_range", None),
        ("3.5", "drop", "off_grid", None),
        ("3.5", "keep", "ok", 3.5),
        ("4.4", "round", "ok", 4),
    ],
)
def test_numbers_off_the_scale_have_the_statuses_of_all_parsers(
    stated: str, off_grid: OffGrid, status: str, value: float | None
) -> None:
    scale = Scale(1, 5, 1, off_grid=off_grid)
    result = by_pattern(f"Final grade: {stated}", scale)
    assert (result.status, result.value) == (status, value)


def test_mapped_words_are_read_as_their_meaning() -> None:
    grades = {"Very good": "5", "so so": "2"}
    assert by_pattern("Final grade: very  GOOD", mapped=grades).value == 5
    assert by_pattern("Final grade: so so", mapped=grades).value == 2
    assert by_pattern("Final grade: 3", mapped=grades).value == 3
    reversed_marks = {"1": "5", "5": "1"}
    assert by_pattern("Final grade: 1", mapped=reversed_marks).value == 5
    kinds = {"good": "pass", "bad": "fail"}
    assert by_pattern("Final grade: Good", VERDICTS, mapped=kinds).label == "pass"
    order = {"first": "A", "second": "B", "equal": "tie"}
    assert by_pattern("Final grade: second", None, mapped=order).value == -1
    assert by_pattern("Final grade: equal", None, mapped=order).value == 0


def test_the_letter_of_a_tie_means_a_tie() -> None:
    assert by_pattern("Final grade: C", None, tie="C").label == "tie"


def test_reasoning_and_refusals_are_handled_as_for_all_parsers() -> None:
    assert by_pattern("<think>Final grade: 1</think>\nFinal grade: 5").value == 5
    assert by_pattern("<think>Final grade: 1").rule == "unclosed_reasoning"
    assert by_pattern("I cannot rate this text.").status == "refused"
    assert by_pattern("It is fine.").rule == "pattern.no_match"
    assert by_path("I cannot rate this text.").status == "refused"


def test_only_the_end_of_a_long_answer_is_searched() -> None:
    padding = "x" * SEARCHED
    early = by_pattern(f"Final grade: 4\n{padding}")
    assert (early.status, early.rule) == ("unparsed", "pattern.no_match")
    late = by_pattern(f"{padding}\nFinal grade: 4")
    assert (late.value, late.rationale) == (4, padding)


def test_a_search_without_end_is_stopped_and_has_a_separate_rule() -> None:
    begin = time.monotonic()
    result = by_pattern("a" * 200 + "b", pattern=CATASTROPHIC)
    assert (result.status, result.rule) == ("unparsed", TIMEOUT)
    assert time.monotonic() - begin < patience(20 * TIME_LIMIT)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (r"grade: (\d)", r"has no group \(\?P<verdict>…\)"),
        (r"grade: (?P<grade>\d)", "has no group"),
        (r"grade: (?P<verdict>\d", "cannot be compiled: missing \\)"),
        (r"*", "cannot be compiled"),
        (r"\L<names>(?P<verdict>a)", "cannot be compiled"),
        ("(" * 900 + ")" * 900, "cannot be compiled|has no group"),
        ("(?V0)(?V1)(?P<verdict>a)", "cannot be compiled"),
    ],
)
def test_unusable_patterns_are_rejected(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError, match=problem):
        compiled(pattern)


@pytest.mark.parametrize("path", ["", "a..b", ".a", "a."])
def test_a_path_with_an_empty_key_is_rejected(path: str) -> None:
    with pytest.raises(PatternError, match="empty key"):
        steps_of(path)


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ('{"result": {"score": 4}}', "result.score", 4),
        ('Here:\n```json\n{"result": {"score": "3"}}\n```\nDone.', "result.score", 3),
        ('{"result": {"score": 1}} no: {"result": {"score": 2}}', "result.score", 2),
        ('{"result": {"score": 5}} {"other": 1}', "result.score", 5),
        ('{"scores": [1, 2, 3]}', "scores.1", 2),
        ('{"scores": [1, 2, 3]}', "scores.-1", 3),
        ('[{"score": 4}]', "0.score", 4),
        ('{"0": 4}', "0", 4),
        ('{"note": "two\nlines", "score": 4}', "score", 4),
        ('see [1] and {x}: {"score": 4}', "score", 4),
    ],
)
def test_a_path_locates_a_value_in_the_last_json_that_has_it(
    text: str, path: str, value: float
) -> None:
    result = by_path(text, path)
    assert (result.status, result.rule, result.value) == ("ok", "path", value)


def test_the_text_around_an_object_is_the_rationale() -> None:
    assert by_path('It flows.\n{"result": {"score": 4}}').rationale == "It flows."
    assert by_path('{"result": {"score": 4}}').rationale is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Rating: 4", "path.no_json"),
        ('{"result": 4', "path.no_json"),
        ('{"result": 4}', "path.missing"),
        ('{"result": {"Score": 4}}', "path.missing"),
        ('{"result": {"score": null}}', "path.missing"),
        ('{"result": {"score": [4]}}', "path.missing"),
        ('{"result": [1]}', "path.missing"),
        ('{"result": {"score": "high"}}', "path.off_menu"),
        ('{"result": {"score": true}}', "path.off_menu"),
        ('{"result": {"score": NaN}}', "path.off_menu"),
    ],
)
def test_json_without_a_usable_value_is_unparsed(text: str, rule: str) -> None:
    result = by_path(text)
    assert (result.status, result.rule, result.value) == ("unparsed", rule, None)


def test_an_index_beyond_a_list_is_missing() -> None:
    assert by_path('{"scores": [1]}', "scores.1").rule == "path.missing"
    assert by_path('{"scores": [1]}', "scores.-2").rule == "path.missing"


def test_truth_values_can_be_mapped() -> None:
    kinds = {"true": "pass", "false": "fail"}
    result = by_path('{"correct": false}', "correct", VERDICTS, mapped=kinds)
    assert (result.value, result.label) == (0, "fail")


def test_nested_braces_take_no_long_time() -> None:
    begin = time.monotonic()
    assert by_path("[" * SEARCHED).rule == "path.no_json"
    assert by_path('{"a":' * (SEARCHED // 5)).rule == "path.no_json"
    assert time.monotonic() - begin < patience(20)


def test_a_cut_reply_counts_if_its_first_line_is_the_verdict() -> None:
    def cut(text: str) -> Judgment:
        return parse(
            text,
            scale=FIVE,
            finish="length",
            parser="pattern",
            settings={"pattern": GRADE},
            cut=True,
        )

    assert cut("Final grade: 4\nThe text").rule == "pattern.cut"
    assert cut("First.\nFinal grade: 4\nThe").status == "truncated"


def test_the_examples_in_docstrings_hold() -> None:
    failed, tried = doctest.testmod(card_rules)
    assert tried and not failed
