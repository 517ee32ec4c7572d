"""Names that several packages know: of sets of texts, and those in cards that jobs need too.

Jobs take them from here, so that they do not import the types of cards.
"""

from typing import Final

ORIGINAL, SYSTEMS = "original", "systems"
"""The sets of texts that nobody perturbed; values of the column `perturbation`."""
REFERENCE = "reference"
"""The system of originals: the people who wrote the references."""
REFERENCES = "references"
"""The file of the texts that an improvement starts from, beside the sets of targets."""
ANALYSES = "analyses."
"""Prefix of the analyses by a model; the model's id follows."""
MERGES = "merges."
"""Prefix of the error lists that a supervisor merges; the supervisor's model follows."""
WRITTEN = "written."
"""Prefix of the texts that a model writes for a judge to learn from; the model's id follows."""
COMPARED = "comparisons."
"""Prefix of the comparisons behind a graded set; the set's id follows."""
ALL, TRIAL, REST, REFEREE = "all", "trial", "rest", "referee"
"""The parts of a graded set: all candidates at once; or some on trial, then the others; before
both, the comparator on the anchors alone."""
ORACLE = "oracle"
"""The control that knows the errors."""
BATCH = "openai-batch"
"""What the provenance of replies that came in a batch says of their engine: they had its price."""
COMPUTED: Final = "computed"
"""The parser of values that were never a reply."""
INJECT_ERRORS: Final = "inject_errors"
"""The rule that puts one error after the other into a text."""
WRONG_ENDING = "wrong_ending"
"""The key of an item's `meta` that holds an ending which does not fit."""


def new_target(item: str, perturbation: str) -> str:
    """Return the id of a text that a model writes about an item; the set is named after it."""
    return f"{item}:{perturbation}"
