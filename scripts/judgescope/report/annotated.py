"""A sample of judged texts with the errors that judges list, to see by eye what they mark.

Texts are drawn by the study's seed. They come from data and models, as do the errors: all of it is
escaped where it is written.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.rng import stream
from judgescope.report.marked import Piece, shortened
from judgescope.report.specs import AnnotatedTexts
from judgescope.schema.tables import read_table

DRAWN, LEAST = 6, 2
"""Texts of a dataset that are shown, spread over its aspects; and of each aspect at least."""
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
    """What one judge says of a text, or people where `judge` is "": `value` is None if nothing.

    `errors` is None where there is no list: nothing was read, or an ensemble could not make one.
    """

    judge: str
    value: float | None
    status: str
    errors: Sequence[Error] | None


class Judged(NamedTuple):
    """A text, and aspect -> its readings; the errors that people marked are of no aspect."""

    target: str
    text: str
    gold: Sequence[Error] | None
    readings: Mapping[str, Sequence[Reading]]


def sample(source: AnnotatedTexts, seed: int, dataset: str) -> list[Judged]:
    """Return some texts of a set with the first draw of every judge, by the id of the text.

    Drawn among the texts that a judge was asked about; which ones they are, and in which aspects
    they are shown, depends on nothing but their ids and the aspects'.
    """
    marked = read_table("marked", source.marked)
    here = pc.equal(marked["perturbation"], source.set)
    marked = marked.filter(pc.and_(here, pc.equal(marked["draw"], 0)))
    marked = marked.filter(pc.not_equal(marked["status"], "not_applicable"))
    chosen = _drawn(marked, seed, dataset)
    names = sorted({name for name, _ in chosen})
    readings: dict[str, dict[str, list[Reading]]] = {name: defaultdict(list) for name in names}
    for row in _of(marked, names).to_pylist():
        if (row["target"], row["aspect"]) in chosen:
            readings[row["target"]][row["aspect"]].append(_reading(row))
    gold = _gold(source.gold, names) if source.gold else None
    table = _of(read_table("targets", source.targets, ["target", "text"]), names)
    columns = (table[name].to_pylist() for name in ("target", "text"))
    texts = dict(zip(*columns, strict=True))
    return [
        Judged(name, texts[name] or "", None if gold is None else gold[name], readings[name])
        for name in names
    ]


def _drawn(marked: pa.Table, seed: int, dataset: str) -> set[tuple[str, str]]:
    """Return targets, each with an aspect in which it is shown: other targets in every aspect.

    The targets are put in an order by the seed, and each aspect takes the next ones that are judged
    in it; where these run out, the first ones again.
    """
    columns = (marked[name].to_pylist() for name in ("aspect", "target"))
    judged: dict[str, set[str]] = defaultdict(set)
    for aspect, target in zip(*columns, strict=True):
        judged[aspect].add(target)
    names = sorted(set[str]().union(*judged.values()))
    order = stream(seed, "annotated", dataset).permutation(len(names)).tolist()
    each, found = max(DRAWN // max(len(judged), 1), LEAST), set[tuple[str, str]]()
    for at, aspect in enumerate(sorted(judged)):
        own = [names[place] for place in order if names[place] in judged[aspect]]
        start = at * each % len(own)
        found |= {(name, aspect) for name in (own[start:] + own[:start])[:each]}
    return found


def _of(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the rows of some targets."""
    return table.filter(pc.is_in(table["target"], pa.array(names, pa.string())))


def _reading(row: Row) -> Reading:
    told = row["spans"]
    errors = told and [_error(one, one["severity"], one["explanation"]) for one in told]
    return Reading(row["judge"], row["value"], row["status"], errors)


def _gold(path: str, names: Sequence[str]) -> dict[str, list[Error]]:
    """Return target -> the errors that people marked in it, with what it should say instead."""
    found: dict[str, list[Error]] = defaultdict(list)
    for row in _of(read_table("gold_spans", path), names).to_pylist():
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
    one begins or ends. A long text is shortened far from every error, and where very much of it is
    marked it ends early. What has no length lies over nothing.
    """
    spans = (
        (max(one.start, 0), min(one.end, len(text)), at)
        for at, one in enumerate(errors)
        if one.start is not None and one.end is not None
    )
    placed = [one for one in spans if one[0] < one[1]]
    cuts = sorted({0, len(text), *(end for one in placed for end in one[:2])})
    found, over = list[Piece](), list[list[int]]()
    for start, end in pairwise(cuts):
        own = [at for left, right, at in placed if left <= start and end <= right]
        if own:
            over.append(own)
        at = len(over) - 1
        found.append(Piece("error", text[start:end], at) if own else Piece("same", text[start:end]))
    return shortened(found), over


def grouped(
    found: Sequence[Piece], over: Sequence[Sequence[int]]
) -> list[list[tuple[Piece, Sequence[int]]]]:
    """Return pieces with the errors over each, together where they share errors.

    What is not marked stands alone, but for a gap within an error.
    """
    told = [(one, over[one.number] if one.kind == "error" else ()) for one in found]
    last = {error: at for at, (_, own) in enumerate(told) for error in own}
    groups, end = list[list[tuple[Piece, Sequence[int]]]](), -1
    for at, (piece, own) in enumerate(told):
        if at > end:
            groups.append([])
        groups[-1].append((piece, own))
        end = max(end, *(last[error] for error in own), at)
    return groups
