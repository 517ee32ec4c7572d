"""Changing a key in the text of a card: what stays, and what is refused."""

import pytest

from judgescope.core.errors import UserError
from judgescope.schema.edited import with_names

NAMES = {"max_tokens": "max_completion_tokens", "top_p": None}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "# mine\nmodel: it  # id\n",
            "# mine\nmodel: it  # id\n"
            "names: {max_tokens: max_completion_tokens, top_p: null}\n",
        ),
        (
            "names: {top_p: p}  # why\n\nmodel: it\n",
            "names: {max_tokens: max_completion_tokens, top_p: null}  # why\n\n"
            "model: it\n",
        ),
        (
            "names:\n    # both\n    top_p: p  # no\n    seed: s\n# end\nmodel: it\n",
            "names:\n    # both\n    top_p: null  # no\n"
            "    max_tokens: max_completion_tokens\n# end\nmodel: it\n",
        ),
        (
            "'names': {top_p: p,\n  seed: s}\nmodel: it\n",
            "names: {max_tokens: max_completion_tokens, top_p: null}\nmodel: it\n",
        ),
    ],
)
def test_only_the_lines_of_the_key_change(before: str, after: str) -> None:
    assert with_names(before, "names", NAMES, "it.yaml") == after


@pytest.mark.parametrize("text", ["{model: it}\n", "model: it\n...\n"])
def test_a_card_in_another_form_is_left_to_its_author(text: str) -> None:
    with pytest.raises(UserError, match="cannot be changed") as error:
        with_names(text, "names", NAMES, "it.yaml")
    assert "names: {max_tokens: max_completion_tokens, top_p: null}" in error.value.todo
