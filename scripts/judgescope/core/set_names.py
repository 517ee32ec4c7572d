"""Names of sets of texts, of their parts and of texts by models, in tables and in paths."""

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


def new_target(item: str, perturbation: str) -> str:
    """Return the id of a text that a model writes about an item; the set is named after it."""
    return f"{item}:{perturbation}"
