"""The rows of an audit's tables, from its JSON: what a DataFrame of each has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

ESTIMATE: Final = ("value", "ci_low", "ci_high", "n")
VERDICTS: Final = (
    "judge",
    "kind",
    "aspect",
    "outcome",
    "sign",
    "statistic",
    "level",
    *ESTIMATE,
    "rival",
    "rival_value",
    "reasons",
    "literature",
)
NUMBERS: Final = (
    "judge",
    "claim",
    "group",
    "aspect",
    "statistic",
    "level",
    *ESTIMATE,
    "n_missing",
    "method",
    "note",
)
PEOPLE: Final = (
    "aspect",
    "statistic",
    "level",
    *ESTIMATE,
    "n_missing",
    "method",
    "note",
)
COLUMNS: Final = ("role", "aspect", "name", "column")
ERRORS: Final = {
    "row": "row",
    "judge": "judge",
    "aspect": "aspect",
    "judge_says": "judged",
    "people_say": "rated",
    "distance": "distance",
}
"""Column -> the field of a row in which judge and people differ."""
FLOATS: Final = ("value", "ci_low", "ci_high", "rival_value")
"""Columns of numbers, also where all of them are undefined."""
SIDES: Final = ("people", "judges", "missing", "not_used")
"""Keys of `columns` that are no role with one list of columns."""

Content = Mapping[str, Any]


def verdicts(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a row for each claim about a judge, in the order of the page."""
    for judge, of_judge in content["judges"].items():
        for claim in of_judge["claims"]:
            rival = claim["rival_value"]
            yield {
                **claim,
                "judge": judge,
                "rival_value": None if rival is None else rival["value"],
                "reasons": "; ".join(claim["reasons"]),
                "literature": claim["literature_line"],
            }


def numbers(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a row for each number: of judges claim by claim, then of people."""
    for judge, of_judge in content["judges"].items():
        for claim in of_judge["claims"]:
            head = {"judge": judge, "claim": claim["kind"], "group": ""}
            yield {**claim, **head}
            for measure in claim["others"].values():
                yield {**measure, **head}
            for group in claim["literature"]:
                of_group = {**head, "group": group["group"] or "literature"}
                for measure in group["measures"]:
                    yield {**measure, **of_group}
    for row in content["people"]:
        yield {**row, "judge": "people", "claim": "", "group": ""}


def columns(content: Content, known: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each column of the table that has a role, then for the others.

    known: the table's columns; an item of ours is none of them.
    """
    read = content["columns"]
    nothing = {"aspect": "", "name": ""}
    for role, named in read.items():
        if role in SIDES or not isinstance(named, list):
            continue
        for column in named:
            if column in known:
                yield {"role": role, **nothing, "column": column}
    for aspect, raters in read["people"].items():
        for column in raters:
            yield {"role": "people", "aspect": aspect, "name": "", "column": column}
    for judge, scores in read["judges"].items():
        for aspect, column in scores.items():
            of_aspect = "" if aspect == "*" else aspect
            yield {
                "role": "judge",
                "aspect": of_aspect,
                "name": judge,
                "column": column,
            }
    for column in read["not_used"]:
        yield {"role": "not used", **nothing, "column": column}


def beside(taken: Sequence[str]) -> dict[str, str]:
    """Return our columns -> names that the table's own columns do not have."""
    names = {}
    for name in ERRORS:
        free = name
        while free in taken:
            free += "_"
        names[name] = free
    return names
