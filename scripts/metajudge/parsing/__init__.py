"""From raw replies to judgments: one named, versioned parser per kind of reply."""

from metajudge.parsing.judgment import Judgment, Scale, Status
from metajudge.parsing.parsers import NO_SETTINGS, PARSERS, parse
from metajudge.parsing.policy import POLICIES, apply_policy

__all__ = [
    "NO_SETTINGS",
    "PARSERS",
    "POLICIES",
    "Judgment",
    "Scale",
    "Status",
    "apply_policy",
    "parse",
]
