"""Perturbations that need no model: edits at known offsets, by rule and by named random stream."""

from judgescope.perturb.edits import Edit, Perturbed, apply_edits
from judgescope.perturb.rules import (
    RULES,
    Option,
    OptionError,
    Rule,
    check_options,
    inject_errors,
    perturb_dataset,
)
from judgescope.perturb.sentences import split_sentences

__all__ = [
    "RULES",
    "Edit",
    "Option",
    "OptionError",
    "Perturbed",
    "Rule",
    "apply_edits",
    "check_options",
    "inject_errors",
    "perturb_dataset",
    "split_sentences",
]
