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
    """A judge's reading of a text, or people's where `judge` is ""; `value` is None if nothing.

    `errors` is None where there is no list: nothing was read, or an ensemble could not make one.
    """

    judge: str
    value: float | None
    status: str
    errors: Sequence[Error] | None


class AnnotatedText(NamedTuple):
    """A text, and aspect -> its readings; the errors that people marked are of no aspect."""

    target: str
    text: str
    gold: Sequence[Error] | None
    readings: Mapping[str, Sequence[Reading]]


def sample(source: AnnotatedTexts, seed: int, dataset: str) -> list[AnnotatedText]:
    """Return some texts of a set with the first draw of every judge, by the id of the text.

    Drawn among the texts that a judge was asked about; which ones they are, and in which aspects
    they are shown, depends on nothing but their ids and the aspects'.
    """
    marked = read_table("marked", source.marked)
    of_set = pc.and_(pc.equal(marked["perturbation"], source.set), pc.equal(marked["draw"], 0))
    marked = marked.filter(pc.and_(of_set, pc.not_equal(marked["status"], "not_applicable")))
    chosen = _drawn(marked, seed, dataset)
    names = sorted({name for name, _ in chosen})
    readings: dict[str, dict[str, list[Reading]]] = {name: defaultdict(list) for name in names}
    for row in _of_targets(marked, names):
        if (row["target"], row["aspect"]) in chosen:
            spans = row["spans"]
            errors = spans and [_error(one, one["severity"], one["explanation"]) for one in spans]
            reading = Reading(row["judge"], row["value"], row["status"], errors)
            readings[row["target"]][row["aspect"]].append(reading)
    gold: dict[str, list[Error]] = defaultdict(list)
    for row in _of_targets(read_table("gold_spans", source.gold), names) if source.gold else ():
        instead = f"instead: {row['correction']}" if row["correction"] else ""
        why = "; ".join(filter(None, (instead, row["comment"])))
        gold[row["target"]].append(_error(row | {"location": row["text"]}, None, why))
    targets = _of_targets(read_table("targets", source.targets, ["target", "text"]), names)
    texts = {row["target"]: row["text"] or "" for row in targets}
    return [
        AnnotatedText(name, texts[name], gold[name] if source.gold else None, readings[name])
        for name in names
    ]


def _drawn(marked: pa.Table, seed: int, dataset: str) -> set[tuple[str, str]]:
    """Return targets, each with an aspect in which it is shown: other targets in every aspect.

    The targets are put in an order by the seed, and each aspect takes the next ones that are judged
    in it; where these run out, the first ones again.
    """
    judged: dict[str, set[str]] = defaultdict(set)
    columns = (marked[name].to_pylist() for name in ("aspect", "target"))
    for aspect, target in zip(*columns, strict=True):
        judged[aspect].add(target)
    names = sorted(set[str]().union(*judged.values()))
    order = stream(seed, "annotated", dataset).permutation(len(names)).tolist()
    each, chosen = max(DRAWN // max(len(judged), 1), LEAST), set[tuple[str, str]]()
    for number, aspect in enumerate(sorted(judged)):
        in_order = [names[index] for index in order if names[index] in judged[aspect]]
        start = number * each % len(in_order)
        rotated = in_order[start:] + in_order[:start]
        chosen |= {(name, aspect) for name in rotated[:each]}
    return chosen


def _of_targets(table: pa.Table, names: Sequence[str]) -> list[Row]:
    """Return the rows of some targets."""
    wanted = pc.is_in(table["target"], pa.array(names, pa.string()))
    rows: list[Row] = table.filter(wanted).to_pylist()
    return rows


def _error(row: Row, severity: float | None, why: str | None) -> Error:
    level = min(max(round(severity or 0), 0), MOST_SEVERE)
    texts = (
        text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
        for text in (row["category"] or "", why or "", row["location"] or "")
    )
    return Error(row["start"], row["end"], level, *texts)


def pieces(text: str, errors: Sequence[Error]) -> tuple[list[Piece], list[list[int]]]:
    """Return the pieces of a text, and which errors lie over each piece of kind error.

    A piece's `number` is its place in the second list. Errors may overlap: a text is cut wherever
    one begins or ends. A long text is shortened far from every error, and where very much of it is
    marked it ends early. What has no length lies over nothing.
    """
    placed = [
        (start, end, number)
        for number, error in enumerate(errors)
        if error.start is not None and error.end is not None
        for start, end in [(max(error.start, 0), min(error.end, len(text)))]
        if start < end
    ]
    cuts = sorted({0, len(text), *(cut for start, end, _ in placed for cut in (start, end))})
    found, over = list[Piece](), list[list[int]]()
    for start, end in pairwise(cuts):
        here = [number for left, right, number in placed if left <= start and end <= right]
        if here:
            over.append(here)
            found.append(Piece("error", text[start:end], len(over) - 1))
        else:
            found.append(Piece("same", text[start:end]))
    return shortened(found), over


def grouped(
    found: Sequence[Piece], over: Sequence[Sequence[int]]
) -> list[list[tuple[Piece, Sequence[int]]]]:
    """Return pieces with the errors over each, together where they share errors.

    What is not marked stands alone, but for a gap within an error.
    """
    pairs = [(piece, over[piece.number] if piece.kind == "error" else ()) for piece in found]
    last = {error: index for index, (_, errors) in enumerate(pairs) for error in errors}
    groups, end = list[list[tuple[Piece, Sequence[int]]]](), -1
    for index, (piece, errors) in enumerate(pairs):
        if index > end:
            groups.append([])
        groups[-1].append((piece, errors))
        end = max(end, *(last[error] for error in errors), index)
    return groups
