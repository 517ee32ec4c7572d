"""What the members of an ensemble found wrong in a text: whose lists are heard, and one of all."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, Final, NamedTuple

import pyarrow as pa

from judgescope.parsing.locate import LocatedSpan, locate_errors
from judgescope.parsing.parsers import parse
from judgescope.scoring.merging import merge_spans
from judgescope.statistics.outliers import outliers

Lists = Sequence[Sequence[LocatedSpan]]
Row = dict[str, Any]
MERGED: Final = "merged"
"""The parser of a supervisor's replies."""
BY_RULE: Final = "errors merged by rule"
DROPPED: Final = "+dropped"
"""Behind the rule of a list of which errors were left out."""
NOT_HEARD: Final = "no errors: too few members with a score"
NOTHING: Final = "no member lists an error"


class Listed(NamedTuple):
    """The errors of an ensemble, None where there is no list, and how they came about."""

    errors: Sequence[LocatedSpan] | None
    rule: str

    @property
    def columns(self) -> Row:
        """Return the errors as a column of a judgment."""
        told = None if self.errors is None else [one._asdict() for one in self.errors]
        return {"spans": told}


def heard(
    judgments: Sequence[pa.Table],
    scores: Sequence[pa.Table],
    *,
    min_annotators: int,
) -> dict[str, Lists]:
    """Return target -> the lists of errors that are merged, in the order of the members.

    Tables of judgments and of scores, one per member. A member is heard with the first of its draws
    that was parsed, if it has a score and that is no outlier among the members' (methods.md 5).
    Targets that a member was not given are left out, and those of which fewer than `min_annotators`
    members have a score.
    """
    values = [_means(table) for table in scores]
    errors = [first_lists(table) for table in judgments]
    found = dict[str, Lists]()
    for target in sorted(set(values[0]).intersection(*values)):
        own = [each[target] for each in values]
        known = [score for score in own if score is not None]
        if len(known) < min_annotators:
            continue
        far = outliers(own, step=Fraction(1, lcm(*(score.denominator for score in known))))
        found[target] = [
            listed[target]
            for listed, score, out in zip(errors, own, far, strict=True)
            if score is not None and not out
        ]
    return found


def by_rule(lists: Mapping[str, Lists], texts: Mapping[str, str]) -> dict[str, Listed]:
    """Return target -> the errors of several lists as one, merged by rule."""
    merged = {target: merge_spans(own, texts[target]) for target, own in lists.items()}
    return {
        target: Listed([error.span for error in one.errors], BY_RULE + DROPPED * bool(one.dropped))
        for target, one in merged.items()
    }


def by_supervisor(
    lists: Mapping[str, Lists], texts: Mapping[str, str], answers: Sequence[Row]
) -> dict[str, Listed]:
    """Return target -> the errors that a supervisor names, located anew in the text.

    `answers`: its replies, one a target. It was not asked where no list has an error. A reply that
    cannot be read leaves the target without a list: nothing else takes its place.
    """
    said = {row["target"]: row for row in answers}
    return {target: _said(said.get(target), texts[target]) for target in lists}


def with_errors(lists: Mapping[str, Lists]) -> Iterator[tuple[str, Lists]]:
    """Yield (target, lists) of what a supervisor is asked about: where there is an error at all."""
    return ((target, own) for target, own in lists.items() if any(own))


def _said(answer: Row | None, text: str) -> Listed:
    if answer is None:
        return Listed([], NOTHING)
    reply = {"finish": answer["finish"], "reply_status": answer["status"]}
    read = parse(answer["text"], scale=None, parser=MERGED, **reply)
    if read.status != "ok":
        return Listed(None, f"no errors: supervisor {read.status}, {read.rule}")
    return Listed(locate_errors(read.errors, text), f"errors merged by supervisor: {read.rule}")


def _means(scores: pa.Table) -> dict[str, Fraction | None]:
    """Return target -> the score, a mean of whole numbers: exact, which a float is not."""
    names = ["target", "value", "n_draws", "n_missing"]
    return {
        row["target"]: None
        if row["value"] is None
        else Fraction(round(row["value"] * draws), draws)
        for row in scores.select(names).to_pylist()
        for draws in [row["n_draws"] - row["n_missing"]]
    }


def first_lists(judgments: pa.Table) -> dict[str, list[LocatedSpan]]:
    """Return target -> the errors of its first parsed draw; of an ensemble some have no list."""
    rows = judgments.select(["target", "draw", "status", "spans"]).to_pylist()
    parsed = [row for row in rows if row["status"] == "ok" and row["spans"] is not None]
    ordered = sorted(parsed, key=lambda row: -row["draw"])
    return {row["target"]: [_span(one) for one in row["spans"]] for row in ordered}


def _span(row: Row) -> LocatedSpan:
    severity = row["severity"]
    return LocatedSpan(**{**row, "severity": None if severity is None else int(severity)})
