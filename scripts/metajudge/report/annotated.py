"""A sample of judged texts with the errors that judges list, to see by eye what they mark.

Texts are drawn by the study's seed. They come from data and models, as do the errors: all of it is
escaped where it is written.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow.compute as pc

from metajudge.report.marked import Piece, shortened
from metajudge.schema.tables import read_table
from metajudge.streams import stream

DRAWN = 6
"""Texts of a dataset that are shown."""
MOST_SEVERE = 5
LONGEST = 600
"""Characters of an error's words, kind and explanation that are shown, each."""

Row = dict[str, Any]


class Error(NamedTuple):
    """An error: where it is (None: nowhere in the text), how severe, its kind, and why it is one.

    `severity` is a whole number up to MOST_SEVERE, 0 where none is known.
    """

    start: int | None
    end: int | None
    severity: int
    category: str
    explanation: str
    quoted: str


class Reading(NamedTuple):
    """What one judge says of a text, or people where `judge` is "": `value` is None if nothing."""

    judge: str
    value: float | None
    status: str
    errors: Sequence[Error]


class Judged(NamedTuple):
    """A text, and aspect -> its readings; the errors that people marked are of no aspect."""

    target: str
    text: str
    gold: Sequence[Error] | None
    readings: Mapping[str, Sequence[Reading]]


def sample(told: Mapping[str, Any], seed: int, dataset: str) -> list[Judged]:
    """Return DRAWN texts of a set with the first draw of every judge, by the id of the text.

    `told` has `set`, and the files `marked`, `targets` and `gold` (None without one). Drawn among
    the texts that a judge was asked about; which ones they are depends on nothing but their ids.
    """
    marked = read_table("marked", told["marked"])
    here = pc.equal(marked["perturbation"], told["set"])
    marked = marked.filter(pc.and_(here, pc.equal(marked["draw"], 0)))
    marked = marked.filter(pc.not_equal(marked["status"], "not_applicable"))
    names = sorted(set(marked["target"].to_pylist()))
    order = stream(seed, "annotated", dataset).permutation(len(names))[:DRAWN]
    chosen = sorted(names[at] for at in order.tolist())
    readings: dict[str, dict[str, list[Reading]]] = {name: defaultdict(list) for name in chosen}
    for row in marked.to_pylist():
        if row["target"] in readings:
            readings[row["target"]][row["aspect"]].append(_reading(row))
    gold = _gold(told["gold"]) if told["gold"] else None
    table = read_table("targets", told["targets"], ["target", "text"])
    columns = (table[name].to_pylist() for name in ("target", "text"))
    texts = dict(zip(*columns, strict=True))
    return [
        Judged(name, texts[name] or "", None if gold is None else gold[name], readings[name])
        for name in chosen
    ]


def _reading(row: Row) -> Reading:
    errors = [_error(one, one["severity"], one["explanation"]) for one in row["spans"] or []]
    return Reading(row["judge"], row["value"], row["status"], errors)


def _gold(path: str) -> dict[str, list[Error]]:
    """Return target -> the errors that people marked in it, with what it should say instead."""
    found: dict[str, list[Error]] = defaultdict(list)
    for row in read_table("gold_spans", path).to_pylist():
        instead = f"instead: {row['correction']}" if row["correction"] else ""
        why = "; ".join(filter(None, (instead, row["comment"])))
        found[row["target"]].append(_error(row | {"location": row["text"]}, None, why))
    return found


def _error(row: Row, severity: float | None, why: str | None) -> Error:
    level = min(max(round(severity or 0), 0), MOST_SEVERE)
    words = (_cut(row["category"]), _cut(why), _cut(row["location"]))
    return Error(row["start"], row["end"], level, *words)


def _cut(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def pieces(text: str, errors: Sequence[Error]) -> tuple[list[Piece], list[list[int]]]:
    """Return the pieces of a text, and which errors lie over each piece of kind error.

    A piece's `number` is its place in the second list. Errors may overlap: a text is cut wherever
    one begins or ends. A long text is shortened far from every error.
    """
    placed = [
        (max(one.start, 0), min(one.end, len(text)), at)
        for at, one in enumerate(errors)
        if one.start is not None and one.end is not None
    ]
    cuts = sorted({0, len(text), *(end for one in placed for end in one[:2])})
    found, over = list[Piece](), list[list[int]]()
    for start, end in pairwise(cuts):
        own = [at for left, right, at in placed if left <= start and end <= right]
        if own:
            over.append(own)
        at = len(over) - 1
        found.append(Piece("error", text[start:end], at) if own else Piece("same", text[start:end]))
    return shortened(found), over
