"""One row for each judge, dataset and aspect: what is claimed, and by which number."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from judgescope.methods.base import HUMAN
from judgescope.methods.claims.base import AGREEMENT, LABELS, PAIRS, VERDICT
from judgescope.methods.claims.rows import RIVAL, SIGN
from judgescope.methods.measures import DECIDES
from judgescope.report.claims import KINDS
from judgescope.statistics.verdict import Outcome

SUMMARY: Final = (
    "dataset",
    "judge",
    "aspect",
    "claim",
    "outcome",
    "sign",
    "statistic",
    "level",
    "value",
    "ci_low",
    "ci_high",
    "n",
    "people",
    "rival",
    "rival_value",
    "reasons",
)
CLAIM: Final = ["dataset", "judge", "aspect", "criterion", "form", "level"]
"""The columns that tell claims apart; a study may lack some of them."""

ResultCells = Mapping[str, Any]


def summary_of(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the summary of a study's result tables, by name; `verdicts` is one of
    them.
    """
    people = dict[tuple[str, ...], float]()
    for table in tables.values():
        for row in _records(table[table["judge"] == HUMAN]):
            if row["value"] == row["value"]:
                people.setdefault(_place(row, row["statistic"]), row["value"])
    rows = list(_rows(_records(tables["verdicts"]), people))
    frame = pd.DataFrame(rows, columns=list(SUMMARY))
    number_columns = ("value", "ci_low", "ci_high", "people", "rival_value")
    return frame.astype({**dict.fromkeys(number_columns, "float64"), "n": "Int64"})


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table; columns with words have "" for nothing."""
    words = []
    for name in (*CLAIM, "statistic", "note"):
        if name in table:
            words.append(name)
    filled = table.assign(**{name: table[name].fillna("") for name in words})
    return [dict(row) for row in filled.to_dict("records")]


def _place(row: ResultCells, statistic: str) -> tuple[str, ...]:
    """Where a number stands: a judge's and people's have the same place."""
    names = ("dataset", "aspect", "criterion", "level")
    return (*(str(row.get(name, "")) for name in names), statistic)


def _rows(
    records: list[dict[str, Any]], people: Mapping[tuple[str, ...], float]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each claim that compares a judge with people."""
    claims: dict[tuple[str, ...], dict[str, ResultCells]] = {}
    # The kinds of claims that say how a judge compares with people.
    with_people = (AGREEMENT, LABELS, PAIRS)
    for row in records:
        if row["form"] in with_people:
            key = tuple(str(row.get(name, "")) for name in CLAIM)
            claims.setdefault(key, {})[row["statistic"]] = row
    for by_statistic in claims.values():
        if VERDICT not in by_statistic:
            continue
        verdict = by_statistic[VERDICT]
        kind = verdict["form"]
        statistic = KINDS[kind].number
        if kind == AGREEMENT:
            statistic = DECIDES.get(verdict["level"], "")
        number = by_statistic.get(statistic, verdict)
        outcome, _, reasons = verdict["note"].partition("; ")
        if outcome not in {*Outcome}:  # the note only says why there is no claim
            outcome = str(Outcome.NO_CLAIM)
            reasons = verdict["note"]
        yield {
            **number,
            # Without a number there is only the reason why not.
            "value": number["value"] if number is not verdict else None,
            "statistic": statistic,
            "claim": kind,
            "outcome": outcome,
            "sign": by_statistic[SIGN]["note"],
            "people": people.get(_place(verdict, statistic)),
            "rival": by_statistic.get(RIVAL, {}).get("note", ""),
            "rival_value": by_statistic.get(f"{RIVAL}_value", {}).get("value"),
            "reasons": reasons,
        }
