"""Joins a dataset's cells: scores, draws, status counts of judgments, and paid
replies.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import by_cell, joined
from judgescope.core.files import write_text
from judgescope.core.names import ASKED_AGAIN, BATCH, SYSTEMS
from judgescope.core.paths import Paths
from judgescope.schema.rows import StatusRow
from judgescope.schema.tables import (
    SCHEMAS,
    TEXT,
    count_rows,
    key_ranges,
    read_key_range,
    read_table,
    table_of,
    tuples_of,
    write_parts,
    write_table,
)
from judgescope.scoring.specs import CollectSpec

TOKENS = ("prompt", "completion", "reasoning", "cached")


class CollectedCell(NamedTuple):
    """A cell and its files."""

    perturbation: str
    judge: str
    judgments: str
    scores: str
    replies: str | None


def collect(spec: CollectSpec) -> None:
    """Concatenate scores and draws, count statuses per cell, list the replies of
    models.
    """
    cells = _cells(spec)
    scores = (read_table("scores", cell.scores) for cell in cells)
    write_parts("scores", scores, spec.output.scores)
    rated = [cell for cell in cells if cell.perturbation == SYSTEMS]
    repeated = _of_judges("draws", spec, spec.repeated, cells)
    write_parts("draws", repeated, spec.output.draws)
    marked = _of_judges("marked", spec, spec.annotators, cells)
    write_parts("marked", marked, spec.output.marked)
    confident = _of_judges("confidences", spec, spec.confident, cells)
    write_parts("confidences", confident, spec.output.confidences)
    rationales = _of_judges("rationales", spec, spec.explained, rated)
    write_parts("rationales", rationales, spec.output.rationales)
    statuses = list[StatusRow]()
    for cell in cells:
        statuses += _statuses(spec.dataset, cell, spec.asked)
    write_table("statuses", table_of("statuses", statuses), spec.output.statuses)
    write_parts("bought", _bought(spec, cells), spec.output.bought)
    write_text(Path(spec.output.cells), _hash_of(cells) + "\n")


def _of_judges(
    name: str,
    spec: CollectSpec,
    judges: Collection[str],
    cells: Iterable[CollectedCell],
) -> Iterator[pa.Table]:
    """Yield the judgments of some judges as table `name`, cell by cell."""
    for cell in cells:
        if cell.judge in judges:
            yield _of_cell(name, spec.dataset, cell)


def _cells(spec: CollectSpec) -> list[CollectedCell]:
    """Return the dataset's cells, with the paths of their files."""
    paths = Paths(spec.results)
    cells = list[CollectedCell]()
    for perturbation, judge in by_cell(spec.cells):
        cell_key = (spec.dataset, spec.models[judge], perturbation, judge)
        replies = None
        if judge in spec.replied:
            replies = paths.cell("replies", *cell_key)
        cell = CollectedCell(
            perturbation=perturbation,
            judge=judge,
            judgments=paths.cell("judgments", *cell_key),
            scores=paths.cell("scores", *cell_key),
            replies=replies,
        )
        cells.append(cell)
    return cells


def _hash_of(cells: Iterable[CollectedCell]) -> str:
    """Return a hash of all files of all cells, on which later jobs depend instead of
    the files.
    """
    digest = hashlib.sha256()
    for cell in cells:
        for path in (cell.scores, cell.judgments, cell.replies):
            if path is not None:
                digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()


def _judgments(cell: CollectedCell, names: Collection[str]) -> pa.Table:
    """Return columns of a cell's judgments; `aspect` includes the criterion."""
    wanted = {*names, "aspect", "criterion", "status", "value"}
    columns = wanted.intersection(SCHEMAS["judgments"].names)
    table = read_table("judgments", cell.judgments, sorted(columns))
    aspect = table["aspect"]
    criterion = table["criterion"]
    worded = pc.binary_join_element_wise(aspect, criterion, ".")
    aspects = pc.if_else(pc.is_null(criterion), aspect, worded)
    is_ok = pc.equal(table["status"], "ok")
    values = pc.if_else(is_ok, table["value"], None)
    table = table.set_column(table.column_names.index("aspect"), "aspect", aspects)
    return table.set_column(table.column_names.index("value"), "value", values)


def _of_cell(name: str, dataset: str, cell: CollectedCell) -> pa.Table:
    """Return a cell's judgments as table `name`; in `rationales`, `text` is the
    rationale.
    """
    keys = {
        "dataset": dataset,
        "perturbation": cell.perturbation,
        "judge": cell.judge,
    }
    schema = SCHEMAS[name]
    names = list(schema.names)
    if name == "rationales":
        names[names.index("text")] = "rationale"
    judgments = _judgments(cell, names)
    columns = list[Any]()
    for column in names:
        if column in keys:
            columns.append(pa.repeat(keys[column], len(judgments)))
        else:
            columns.append(judgments[column])
    return pa.table(columns, schema=schema)


def _statuses(
    dataset: str, cell: CollectedCell, asked: Collection[str]
) -> Iterator[StatusRow]:
    """Yield a cell's status counts by aspect, and once the model and fingerprint that
    answered.
    """
    names = ["aspect", "status", "rule"]
    counts = _judgments(cell, ["rule"]).group_by(names).aggregate([([], "count_all")])
    replies = cell.replies if cell.judge in asked else None
    served = _served(replies) if replies else {}
    shortened = _cut(replies) if replies else {}
    again = _asked_again(replies) if replies else {}
    for aspect, status, rule, n in sorted(tuples_of(counts, counts.column_names)):
        # `pop`: only the first row of an aspect has what is counted once for it.
        models = served.pop(aspect, None)
        cut = shortened.pop(aspect, None)
        yield {
            "dataset": dataset,
            "perturbation": cell.perturbation,
            "judge": cell.judge,
            "aspect": aspect,
            "status": status,
            "rule": rule,
            "n": n,
            "served": None if models is None else sorted(models),
            "cut": cut.n_cut if cut else None,
            "cut_parts": cut.parts if cut else None,
            "n_shown": cut.n_shown if cut else None,
            "n_asked_again": again.pop(aspect, None),
        }


class ShortenedSources(NamedTuple):
    """How many questions on an aspect showed a shortened source."""

    n_cut: int
    n_shown: int
    """The number of questions."""
    parts: list[str]
    """The names of the parts that were cut."""


def _cut(path: str) -> dict[str, ShortenedSources]:
    """Return aspect -> its shortened sources; aspects without one are left out."""
    names = ["aspect", "criterion", "target", "target_b", "cut_parts"]
    by_aspect: dict[str, dict[tuple[str, str | None], list[str]]] = {}
    answers = read_table("answers", path, names)
    for aspect, criterion, target, target_b, parts in tuples_of(answers, names):
        questions = by_aspect.setdefault(joined(aspect, criterion), {})
        questions[target, target_b] = parts or []
    shortened = {}
    for aspect, questions in by_aspect.items():
        cut = [parts for parts in questions.values() if parts]
        if cut:
            parts = list(dict.fromkeys(chain.from_iterable(cut)))
            shortened[aspect] = ShortenedSources(len(cut), len(questions), parts)
    return shortened


def _served(path: str) -> dict[str, set[str]]:
    """Return aspect -> the model and fingerprint that answered, as the endpoints report
    them.
    """
    answers = read_table("answers", path, ["aspect", "criterion", "provenance"])
    columns = {name: answers[name] for name in ("aspect", "criterion")}
    for name in ("engine", "model", "fingerprint"):
        columns[name] = pc.struct_field(answers["provenance"], name)
    names = list(columns)
    origins = pa.table(columns).group_by(names).aggregate([])
    served: dict[str, set[str]] = {}
    for aspect, criterion, engine, *origin in tuples_of(origins, names):
        endpoints = served.setdefault(joined(aspect, criterion), set())
        reported = [part for part in origin if part]
        if engine and reported:
            endpoints.add(" ".join(reported))
    return served


def _asked_again(path: str) -> dict[str, int]:
    """Return aspect -> the number of replies that were requested again because they
    were empty.
    """
    answers = read_table("answers", path, ["aspect", "criterion", "provenance"])
    repeats = pc.struct_field(answers["provenance"], ASKED_AGAIN)
    repeated = answers.filter(pc.is_valid(repeats))
    counts: Counter[str] = Counter()
    for aspect, criterion in tuples_of(repeated, ["aspect", "criterion"]):
        counts[joined(aspect, criterion)] += 1
    return dict(counts)


def _bought(spec: CollectSpec, cells: Iterable[CollectedCell]) -> Iterator[pa.Table]:
    """Yield the replies of each judge, then of each model that wrote texts, with their
    usage.
    """
    files_of_judge: dict[str, list[str]] = {}
    for cell in cells:
        if cell.replies and cell.judge in spec.asked:
            files_of_judge.setdefault(cell.judge, []).append(cell.replies)
    for judge, files in sorted(files_of_judge.items()):
        yield from _once(files, judge, None)
    for writer, files in sorted(spec.made.items()):
        yield from _once(files, None, writer)


def _once(
    paths: list[str], judge: str | None, writer: str | None
) -> Iterator[pa.Table]:
    """Yield every reply in some files once, by key: several cells can share a reply."""
    n_replies = sum(count_rows("answers", path) for path in paths)
    names = [*TOKENS, "batch"]
    for low, high in key_ranges(n_replies):
        replies = pa.concat_tables(_usage(path, low, high) for path in paths)
        maxima = [(name, "max") for name in names]
        unique = replies.group_by(["key", "draw"]).aggregate(maxima)
        unique = unique.sort_by([("key", "ascending"), ("draw", "ascending")])
        columns = list[Any]()
        for buyer in (judge, writer):
            columns.append(pa.repeat(pa.scalar(buyer, TEXT), len(unique)))
        columns += [unique["key"], unique["draw"]]
        columns += [unique[f"{name}_max"] for name in names]
        yield pa.table(columns, schema=SCHEMAS["bought"])


def _usage(path: str, low: str, high: str) -> pa.Table:
    """Return the usage of replies with low <= key < high; replies without a key cost
    nothing.
    """
    names = ["key", "draw", "usage", "provenance"]
    answers = read_key_range("answers", path, names, low, high)
    columns = {"key": answers["key"], "draw": answers["draw"]}
    for name in TOKENS:
        columns[name] = pc.struct_field(answers["usage"], name)
    engine = pc.struct_field(answers["provenance"], "engine")
    columns["batch"] = pc.fill_null(pc.equal(engine, BATCH), False)
    return pa.table(columns)
