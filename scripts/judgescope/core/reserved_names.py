"""Names in cards that jobs need too, so that these jobs do not import the types of cards."""

from typing import Final

ORACLE = "oracle"
"""The control that knows the errors."""
COMPUTED: Final = "computed"
"""The parser of values that were never a reply."""
INJECT_ERRORS: Final = "inject_errors"
"""The rule that puts one error after the other into a text."""
WRONG_ENDING = "wrong_ending"
"""The key of an item's `meta` that holds an ending which does not fit."""
