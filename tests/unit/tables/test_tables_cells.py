"""Numbers, labels and headers that are in no file of the pack."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.init.rating_columns import aspect_of
from judgescope.tables.labels import order_of
from judgescope.tables.leaving_out import is_nameless_total, is_total_row, off_scale
from judgescope.tables.opening import open_table
from judgescope.tables.sides import sides
from judgescope.tables.spelling import spelled
from judgescope.tables.structure import conversation, with_draws
from judgescope.tables.words import english_names, is_total


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["3 of 7", "7 of 7"], [3, 7]),
        (["Excellent - 5", "Poor - 1"] * 2, [5, 1] * 2),
        (["2: weak", "3: fair"] * 3, [2, 3] * 3),
        (["42 dollars", "7 apples"], None),
        (["★★☆☆☆", "★★★★★"], [2, 5]),
        (["１２", "３"], [12, 3]),
        (["1 200", "900"], [1200, 900]),
        (["-1,5", "2"], [-1.5, 2]),
        (["12.5 %", "9%"], [12.5, 9]),
        (["points: 4", "points: 2"], None),
        (["3 apples and 2 pears", "4"], None),
        (["2026-03-01", "2026-03-02"], None),
        (["1-a", "1-b"], None),
        (["5 €", "6 €"], None),
        (["2 days", "2 weeks"], None),
    ],
)
def test_a_column_is_numbers_if_a_single_way_of_writing_explains_it(
    cells: list[str], numbers: list[float] | None
) -> None:
    read = spelled(cells)
    if numbers is None:
        assert read is None
    else:
        assert read is not None and [read.numbers[cell] for cell in cells] == numbers


@pytest.mark.parametrize(
    "labels",
    [
        ("unhelpful", "helpful"),
        ("not compliant", "compliant"),
        ("disagree", "agree"),
        ("poor", "fair", "good", "excellent"),
        ("never", "sometimes", "always"),
        ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
        ("falsch", "richtig"),
        ("错误", "正确"),
        ("biased", "unbiased"),
        ("unsupported", "partially supported", "supported"),
    ],
)
def test_labels_are_ordered_from_the_worst_to_the_best(labels: tuple[str, ...]) -> None:
    order = order_of(sorted(labels))
    assert order is not None and order.labels == labels and not order.note


def test_labels_without_a_known_order_say_so() -> None:
    two = order_of(["cat", "dog"])
    three = order_of(["billing", "delivery", "returns"])
    assert two and "not known which is better" in two.note
    assert three and not three.ordered


def test_a_value_that_repeats_off_the_scale_is_no_score() -> None:
    scores = [1.0, 2, 3, 4, 5] * 6
    result = off_scale([*scores, -1, -1])
    assert result is not None and result.counts == {-1: 2}
    assert off_scale([*scores, -1]) is None  # one slip is no sign
    assert off_scale([*scores, 6, 6, 7, 7]) is None  # a wider scale


def test_averages_below_the_rows_are_no_text() -> None:
    assert is_total("Grand total") and is_total("Mittelwert") and is_total("平均")
    assert not is_total("Total recall is a film")
    assert is_total_row({"id": "Mean", "text": "", "score": 3.2}, ["id", "text"])
    assert not is_total_row({"id": "q1", "text": "", "score": 3.2}, ["id", "text"])
    nameless = {"id": "", "text": "", "score": 3.2}
    assert is_nameless_total(nameless, ["id", "text"], ["score"])
    assert not is_nameless_total({**nameless, "score": 3}, ["id", "text"], ["score"])


def test_a_number_that_is_left_over_is_no_judge() -> None:
    result = sides(["human", "temperature", "x"], aspect_of)
    assert result.people == ["human"] and result.judges == []
    result = sides(["gpt4", "anna", "ben"], aspect_of)
    assert result.people == ["anna", "ben"] and result.judges == ["gpt4"]
    assert result.why == dict.fromkeys(["anna", "ben"], "the others are a judge's")
    result = sides(["human", "gpt4", "judge_confidence"], aspect_of)
    assert result.unused == {"judge_confidence": "a confidence"}


def test_words_of_another_language_need_two_headers() -> None:
    german = english_names(["Frage", "Antwort", "Note", "Note KI"])
    assert german["Note KI"] == "score judge" and german["Frage"] == "question"
    english = ["question", "answer", "human", "judge", "note"]
    assert english_names(english) == {name: name for name in english}


def test_a_conversation_is_a_text_with_the_calls_of_tools() -> None:
    call = {"function": {"name": "search", "arguments": {"q": "x"}}}
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Find x."}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    assert conversation(turns) == 'user: Find x.\nassistant calls search: {"q": "x"}'


def test_numbered_raters_are_no_draws() -> None:
    rows = [{"human_run1": 1, "human_run2": 2, "gpt4_run1": 1, "gpt4_run2": 2}]
    new_rows, joined = with_draws(rows, list(rows[0]))
    assert joined == {"gpt4": ["gpt4_run1", "gpt4_run2"]}
    assert new_rows == [{"human_run1": 1, "human_run2": 2, "gpt4": [1, 2]}]


def test_lines_above_the_header_are_skipped_with_a_note(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("Exported on Monday\n\nid;human;judge\n1;2;3\n2;3;3\n", "utf-8")
    table = open_table(file)
    assert table.rows[0] == {"id": "1", "human": "2", "judge": "3"}
    assert table.numbers == [4, 5]
    assert any("above the header" in note for note in table.notes)
