"""How many recorded rows and texts of a study belong together."""

from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

MIN_JOINED = 0.9
"""A smaller share of joined rows or scored texts causes a warning."""


class Join(Struct, frozen=True, kw_only=True):
    """How many rows and texts of one judge and aspect were joined.

    `texts_scored` counts the texts with a row that contains a reply or score. `poor`:
    less than MIN_JOINED of the rows were joined, or less than MIN_JOINED of the texts
    have a score.
    """

    model: str
    judge: str
    aspect: str
    rows: int
    rows_joined: int
    texts: int
    texts_joined: int
    texts_scored: int
    poor: bool
    pairs: bool = False
    """Whether rows are comparisons: then `texts` counts ordered pairs."""


def read_joins(path: str | Path) -> list[Join]:
    """Return the join counts that a job has written."""
    return decode(Path(path).read_bytes(), type=list[Join])


def join_lines(joins: Iterable[Join], *, poor: bool = False) -> list[str]:
    """Return the lines about joins: one for all judges and aspects of a model with
    equal counts.

    With `poor`, return only the lines about poor joins.
    """
    alike: dict[Join, list[Join]] = {}
    for join in joins:
        if join.poor or not poor:
            counts = replace(join, judge="", aspect="")
            alike.setdefault(counts, []).append(join)
    return [_line(counts, group) for counts, group in alike.items()]


def _line(counts: Join, group: Collection[Join]) -> str:
    """Return the line about joins with the same counts."""
    warning = "warning: " if counts.poor else ""
    text = "pair" if counts.pairs else "text"
    scored = ""
    if counts.texts_scored < counts.texts_joined:
        scored = f", {counts.texts_scored} have a score"
    judges = _listed({join.judge for join in group}, "judges")
    aspects = _listed({join.aspect for join in group}, "aspects")
    return (
        f"{warning}{counts.model}: {counts.rows_joined} of {counts.rows} rows match a "
        f"{text}, {counts.texts_joined} of {counts.texts} {text}s have a row{scored} "
        f"({judges} on {aspects})"
    )


def _listed(names: Collection[str], kind: str, limit: int = 4) -> str:
    """Return the names, or how many there are if these are more than `limit`."""
    if len(names) <= limit:
        return ", ".join(sorted(names))
    return f"{len(names)} {kind}"
