"""Token counts: prices by kind of token, and tokenizers of cards."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.replies.pricing import (
    ENOUGH,
    GUESSED,
    Pace,
    density,
    joined,
    nanodollars,
    read_pace,
    tokenizer,
    write_pace,
)
from judgescope.schema.cards import Price


def test_a_price_by_kind_of_token_rounded_up() -> None:
    price = Price(input=2, output=8, cached_input=1)
    usage: dict[str, int | None] = {
        "prompt": 100,
        "completion": 30,
        "cached": 60,
        "reasoning": 20,
    }
    assert nanodollars(usage, price) == (40 * 2 + 60 * 1 + 30 * 8) * 1000
    assert nanodollars(usage, Price(input=2, output=8)) == (200 + 240) * 1000
    assert nanodollars({"prompt": 1}, Price(input=0.0001, output=0)) == 1
    assert (
        nanodollars({"prompt": 3, "completion": 1}, Price(input=0.1, output=0.3)) == 600
    )
    assert nanodollars({"prompt": None}, price) == 0
    assert nanodollars({"prompt": 5, "cached": 9}, price) == 5000


def test_the_density_is_that_of_replies_or_a_guess_that_says_so() -> None:
    assert density(50, 150, ENOUGH, "here") == (1 / 3, f"as in {ENOUGH} replies here")
    assert density(50, 150, ENOUGH - 1, "here") == GUESSED
    assert GUESSED.tokens == 1 / 4 and "assumed" in GUESSED.basis


def test_notes_of_jobs_are_added_and_a_torn_one_is_passed_over(tmp_path: Path) -> None:
    each = Pace(seconds=2.0).with_request(100, 20, 3).with_request(10, 5, 1)
    write_pace(tmp_path / "a", each)
    write_pace(tmp_path / "b", Pace(1, 3.0, 40, 4, 0.1))
    (tmp_path / "pace/c.json").write_text('{"replies": 1')
    assert read_pace(tmp_path) == Pace(5, 5.0, 150, 29, 0.5)
    assert joined([]) == Pace() == read_pace(tmp_path / "none")


def test_without_the_package_a_tokenizer_is_an_error_and_no_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(
        UserError, match=r"not installed[\s\S]*models/m.yaml, key tokenizer"
    ):
        tokenizer(Path("tokenizer.json"), "models/m.yaml")


def test_a_file_that_is_no_tokenizer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package raises a plain Exception."""

    class Tokenizer:
        @staticmethod
        def from_file(path: str) -> Any:
            raise Exception(f"no such file {path}")

    package = ModuleType("tokenizers")
    package.Tokenizer = Tokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tokenizers", package)
    with pytest.raises(UserError, match=r"cannot be read: no such file lost\.json"):
        tokenizer(Path("lost.json"), "models/m.yaml")
