"""What a form of the estimators likelihood and pmi may not print.

The text itself is never in the prompt: it is scored as the model's continuation.
"""

from typing import Final

HIDDEN: Final = frozenset(
    ("text", "text_b", "reference", "hint", "shots", "annotation")
)
"""Names that such a form may not print: it shows only what the text was made from."""
