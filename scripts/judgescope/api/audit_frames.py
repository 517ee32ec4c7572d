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
COLUMNS: Final = ("role", "aspect", "name", "column", "grade", "why")
CONFUSION: Final = ("judge", "aspect", "kind", "people_say", "judge_says", "count")
SLICES: Final = (
    "slice",
    "part",
    "rows",
    "rated",
    "judge",
    "aspect",
    "statistic",
    "level",
    *ESTIMATE,
    "gap",
    "p_holm",
    "note",
)
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
    """Yield a row for each column of the table: its role, how certain it is, and why.

    known: the table's columns; an item of ours is none of them.
    """
    for reading in content["columns"]["each"]:
        if reading["column"] in known:
            words = {name: reading[name] or "" for name in ("aspect", "name")}
            yield {**reading, **words}


def confusion(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a row for each pair of what people and a judge say that some rows have.

    Without a judge it is one person by the others.
    """
    for picture in content["pictures"]:
        head = {name: picture[name] for name in ("judge", "aspect", "kind")}
        for judged, counts in zip(picture["judged"], picture["counts"], strict=True):
            for human, count in zip(picture["people"], counts, strict=True):
                pair = {"people_say": human, "judge_says": judged, "count": count}
                yield {**head, **pair}


def slices(content: Content) -> Iterator[dict[str, Any]]:
    """Yield a row for each number on a part of the table, or one if it has none."""
    for part in content["slices"]:
        head = {
            "slice": part["column"],
            "part": part["value"],
            "rows": part["rows"],
            "rated": part["rated"],
        }
        tests = {(test["judge"], test["aspect"]): test for test in part["tests"]}
        for number in part["numbers"]:
            test = tests.get((number["judge"], number["aspect"]))
            gap = test["difference"]["value"] if test else None
            p_holm = test["p_holm"] if test else None
            yield {**number, **head, "gap": gap, "p_holm": p_holm}
        if not part["numbers"]:
            nothing = dict.fromkeys(("judge", "aspect", "statistic", "level"), "")
            yield {**nothing, **head, "n": 0, "note": part["why_none"]}


def beside(taken: Sequence[str]) -> dict[str, str]:
    """Return our columns -> names that the table's own columns do not have."""
    names = {}
    for name in ERRORS:
        free = name
        while free in taken:
            free += "_"
        names[name] = free
    return names
