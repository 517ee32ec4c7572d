"""Specs of the job `statistics` from what a test cares for."""

from collections.abc import Mapping
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from judgescope.methods.base import JudgeFacts, StatisticsSpec

SPEC: dict[str, Any] = {
    **{"code": "", "versions": {}, "table": "agreement", "dataset": "d", "seed": 7},
    "method": "judgescope.methods.agreement:METHOD",
    **{
        "ratings": "people",
        "fault_free_system": None,
        "aspects": {},
        "judges": {},
        "excluded": [],
    },
    **{
        "perturbed": [],
        "allow_missing": False,
        "families": {},
        "reference_systems": [],
    },
    **{"exclude_reference_systems": True, "targets": [], "output": ""},
}
JUDGE: dict[str, Any] = {
    **{"card": "c0de", "engine": "llama", "form": "points", "draws": 1, "share": 1.0},
    **{"prompt": None, "references": False, "family": None, "grid": {}, "ends": {}},
    **{"weighted": False, "first_draw": False, "discrete": True, "hint": None},
}


def spec_of(row: Mapping[str, Any]) -> StatisticsSpec:
    """Return a spec of some fields, and of some facts of each judge; the rest is SPEC
    and JUDGE.
    """
    judges = {name: JUDGE | facts for name, facts in row.get("judges", {}).items()}
    return convert({**SPEC, **row, "judges": judges}, StatisticsSpec)


def change(spec: StatisticsSpec, judge: str, **facts: Any) -> None:
    """Change facts of one judge."""
    spec.judges[judge] = replace(spec.judges[judge], **facts)


def facts_of(**facts: Any) -> JudgeFacts:
    """Return the facts of a judge."""
    return convert(JUDGE | facts, JudgeFacts)
