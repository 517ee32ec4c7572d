"""What cards name and jobs look for: a job that reads no card imports no typed ones for it."""

from typing import Final

ORACLE = "oracle"
"""The control that knows the errors."""
COMPUTED: Final = "computed"
"""Stands for the parser of what was never a reply."""
INJECT_ERRORS: Final = "inject_errors"
"""The rule that puts one error after the other into a text."""
WRONG_ENDING = "wrong_ending"
"""The key of an item's `meta` that holds an ending which does not fit."""
