"""The list of names and words that `make lint` holds."""

import pytest

from wording import TRANSLATED, empty_names, unused_words


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("def rows(told): ...", "parameter told of rows"),
        ("async def rows(*, at=1): ...", "parameter at of rows"),
        ("def rows(*of): ...", "parameter of of rows"),
        ("class Row:\n    place: int", "field place of Row"),
    ],
)
def test_an_empty_name_is_noticed(source: str, what: str) -> None:
    assert [problem for _, problem in empty_names(source, "rows")] == [what]


def test_a_module_with_an_empty_name_is_noticed() -> None:
    assert list(empty_names("", "told")) == [(1, "module told")]


def test_other_names_pass() -> None:
    assert not list(
        empty_names("class Row:\n    rows_told: int\ndef rows(row, spec): ...", "row")
    )


@pytest.mark.parametrize(
    ("last", "noticed"),
    [
        ("return found", True),
        ("return [found + each for each in range(3)]", True),
        ("return [found for found in range(3)]", False),
        ("return 1", False),
    ],
)
def test_an_empty_name_that_lives_long_is_noticed(last: str, noticed: bool) -> None:
    source = "def rows():\n    found = 1\n" + "    print()\n" * 18 + f"    {last}\n"
    problems = [problem for _, problem in empty_names(source, "rows")]
    assert problems == ["local variable found of rows"] * noticed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x\n(paper 003)", [(2, "paper 003")]),
        ("Papers 001", [(1, "Papers 001")]),
        ("a paper", []),
        ('UserError("there is no such card")', [(1, "there is no such")]),
        ("Where there are no such errors", []),
        ("a key comes twice", [(1, "key comes twice")]),
        ("the prompt is no template", [(1, "is no template")]),
    ],
)
def test_a_word_that_is_not_used_is_noticed(
    text: str, words: list[tuple[int, str]]
) -> None:
    assert list(unused_words(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("D is no effect size", [(1, "is no e")]),
        ("a name\nthat is\n# no number", [(3, "is no n")]),
        ("Here there is\nno value, and it is no longer asked; 5 is no less", []),
        ("texts that a model has yet to write", [(1, "has yet to")]),
        (
            "What came of it, held against people",
            [(1, "What came of"), (1, "held against")],
        ),
    ],
)
def test_words_that_read_as_translated_are_noticed(
    text: str, words: list[tuple[int, str]]
) -> None:
    assert list(unused_words(text, TRANSLATED)) == words
