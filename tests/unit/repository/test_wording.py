"""The list of names and words that `make lint` holds."""

import pytest

from wording import banned_words, empty_names


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
        ("The file exists already", [(1, "exists already")]),
        (
            "What came of it,\nand what\n# came of them",
            [(1, "what came of"), (3, "what came of")],
        ),
        ("This exists; already read", []),
    ],
)
def test_a_banned_word_is_noticed(text: str, words: list[tuple[int, str]]) -> None:
    assert list(banned_words(text)) == words
