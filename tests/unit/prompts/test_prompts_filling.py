"""Filling a form of one's own: its letters, its edges, and what it may not do."""

from pathlib import Path

import pytest

from judgescope.core.errors import UserError
from judgescope.prompts import load, messages


def filled(folder: Path, form: str, **values: object) -> str:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "mine.jinja").write_text(form, encoding="utf-8")
    [message] = messages("mine", load("mine", [folder], where="judge x"), **values)
    return message["content"]


def test_letters_stay_as_they_are_and_blank_ends_go(tmp_path: Path) -> None:
    assert filled(tmp_path, "\n  Größe – {{ text }}\n\n", text="naïve\n") == "Größe – naïve"


@pytest.mark.parametrize("form", ["{{ labels.append('x') }}", "{{ labels.clear() }}"])
def test_a_form_cannot_change_what_it_is_given(tmp_path: Path, form: str) -> None:
    labels = ["bad", "good"]
    with pytest.raises(UserError, match="cannot be rendered"):
        filled(tmp_path, form, labels=labels)
    assert labels == ["bad", "good"]


def test_a_name_that_is_not_given_tells_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'txt' is undefined") as error:
        filled(tmp_path, "{{ txt }}", text="", source="")
    assert error.value.allowed == ["source", "text"]


@pytest.mark.parametrize(
    "form",
    [
        "{{ source | length }}",
        "{{ 1 / 0 }}",
        "{{ range(10 ** 9) | list }}",
        "{{ text.nothing.more }}",
        '{% include "mine.jinja" %}',
    ],
)
def test_a_form_that_fails_as_a_program_is_the_users_error(tmp_path: Path, form: str) -> None:
    with pytest.raises(UserError, match=r"cannot be rendered: .+") as error:
        filled(tmp_path, form, text="", source=None)
    assert error.value.where == "prompts/mine.jinja"


def test_a_form_that_is_not_utf8_is_named_with_the_byte(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.jinja").write_bytes("Gr\xf6\xdfe".encode("latin-1"))
    with pytest.raises(UserError, match="not UTF-8") as error:
        load("mine", [tmp_path], where="judge x")
    assert error.value.where == "prompts/mine.jinja, byte 2"


def test_a_form_includes_no_file_that_a_text_names(tmp_path: Path) -> None:
    """Only names written in a form are read; a value names nothing."""
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be rendered"):
        filled(tmp_path, "{% include text %}", text="../secret")
