"""What the columns of somebody's own table hold: guessed from their names and cells.

A guess is a proposal: whoever starts a study is told it, with its reason, and can say otherwise.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]

NAMES = {
    "text": "summary output response reply generated generation completion hypothesis "
    "translation continuation prediction text",
    "source": "source article document input prompt context question src dialogue dialog passage "
    "text",
    "references": "reference references gold target ref human_summary",
    "system": "system model generator model_name system_name systems",
    "item": "item id item_id doc_id article_id source_id example_id document_id prompt_id doc key",
}
"""Role -> names that tell of it, the plainest first; `text` beside a `summary` is its source."""
UNNAMED = re.compile(r"|Unnamed(: \d+)?")
"""What pandas calls the column of an index: it holds nothing that was meant."""
TASKS = {
    "summary": "summarization",
    "article": "summarization",
    "response": "dialogue",
    "dialogue": "dialogue",
    "translation": "translation",
    "hypothesis": "translation",
    "story": "story",
    "answer": "qa",
    "question": "qa",
}
"""A column's name -> the task that it tells of; of several columns the first."""
OTHER_TASK = "text"
SCALES = ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100), (-1, 1))
"""Ranges in common use: the first that has all ratings is guessed."""
STEPS = (1, 0.5, 0.25)
MOST_STEPS = 11
"""Of a scale in whole steps in common use; more numbers in a row, each once, count the rows."""
RATERS = {"rater", "raters", "annotator", "expert", "worker", "judge", "human", "crowd", "a", "r"}
RATINGS = {"score", "rating", "label"}
"""Words of a column's name that tell whose rating it is, or that it is one, and not of what."""
MEANS = {"mean", "avg", "average"}
COUNTS = {"age", "chars", "count", "index", "len", "length", "seed", "tokens", "words", "year"}
"""Words of a column's name that tell of a count or a date, which is no rating of a text."""
MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "null", "missing"}
"""What people write where a rating is missing, in lower case."""
ALL = "overall"
"""The aspect of ratings whose columns name none."""
LONG = 40
"""Characters, on average, of a cell that may be a text."""


@dataclass(frozen=True)
class Guess:
    """Role -> column, aspect -> columns of ratings, and why each was taken."""

    item: str | None = None
    source: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    system: str | None = None
    text: str | None = None
    ratings: dict[str, list[str]] = field(default_factory=dict)
    means: bool = False
    task: str = OTHER_TASK
    left: list[str] = field(default_factory=list)


def guess(rows: Sequence[Row], told: Mapping[str, Sequence[str]] | None = None) -> Guess:
    """Return what the columns of some rows seem to hold; what nothing tells is left out.

    `told` is role -> columns that are known; the key `ratings` has columns that are no guess's.
    """
    told = told or {}
    known = {column for group in told.values() for column in group}
    columns = columns_of(rows)
    guessed = [one for one in columns if one not in known and not UNNAMED.fullmatch(one)]
    ratings, averages = _ratings(rows, guessed)
    rated = {column for group in ratings.values() for column in group} | set(averages)
    roles = _roles(rows, [column for column in guessed if column not in rated], told)
    text, system, item = (next(iter(roles[role]), None) for role in ("text", "system", "item"))
    if "item" not in told and item and _of_rows(rows, item, roles["source"], system):
        item = None
    used = {item, *rated, *known, *(c for role in roles if role != "item" for c in roles[role])}
    return Guess(
        item=item,
        system=system,
        text=text,
        source=roles["source"],
        references=roles["references"],
        ratings=ratings,
        means=bool(ratings) and all(map(_is_mean, (c for g in ratings.values() for c in g))),
        task=_task(columns),
        left=[column for column in columns if column not in used],
    )


def _roles(
    rows: Sequence[Row], free: Sequence[str], told: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return role -> columns: those that are told, else a free one by its name, else by length."""
    found = {role: list(told.get(role, [])) for role in NAMES}

    def left() -> list[str]:
        return [one for one in free if all(one not in group for group in found.values())]

    def take(role: str, column: str | None) -> None:
        found[role] += [] if column is None else [column]

    for role, names in NAMES.items():
        if role not in told:
            texts = [c for c in left() if role != "text" or numbers(rows, c) is None]
            take(role, _named(texts, names.split()))
    if not found["text"]:
        take("text", _longest(rows, left()))
    if not found["source"] and "source" not in told:
        take("source", _longest(rows, [one for one in left() if _repeats(rows, one)]))
    return found


def _of_rows(rows: Sequence[Row], item: str, source: Sequence[str], system: str | None) -> bool:
    """Return whether ids are of rows: all differ, and sources and systems tell what they are of."""
    sources = [str([row.get(column) for column in source]) for row in rows]
    texts = {(one, str(row.get(system or ""))) for one, row in zip(sources, rows, strict=True)}
    ids = {str(row.get(item)) for row in rows}
    return bool(source) and len(ids) == len(texts) == len(rows) > len(set(sources))


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of all columns, in the order in which they appear."""
    return list(dict.fromkeys(name for row in rows for name in row))


def numbers(rows: Iterable[Row], column: str) -> list[float] | None:
    """Return the numbers of a column; None if a cell holds something else, or none holds any."""
    found: list[float] = []
    for row in rows:
        for cell in _entries(row.get(column)):
            if is_missing(cell):
                continue
            if (value := number(cell)) is None:
                return None
            found.append(value)
    return found or None


def is_missing(cell: Any) -> bool:
    """Return whether a cell says that there is no rating."""
    return cell is None or str(cell).strip().lower() in MISSING


def missing_words(rows: Iterable[Row], columns: Iterable[str]) -> list[str]:
    """Return what columns of ratings hold where one is missing, but for what every table may."""
    columns = list(columns)
    cells = (cell for row in rows for column in columns for cell in _entries(row.get(column)))
    said = {str(cell).strip() for cell in cells if cell is not None and is_missing(cell)}
    return sorted(one for one in said if one.lower() not in {"", "nan"})


def number(cell: Any) -> float | None:
    """Return a cell as a finite number, None if it is none."""
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _entries(cell: Any) -> list[Any]:
    """Return the entries of a list, also of one that a cell of text holds in JSON."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except json.JSONDecodeError:
            return [cell]
    return cell if isinstance(cell, list) else [cell]


def scale(values: Sequence[float]) -> dict[str, float]:
    """Return the smallest scale in common use that has all ratings, else their own range."""
    low, high = min(values), max(values)
    ends = next((one for one in SCALES if one[0] <= low and high <= one[1]), (low, high))
    found = {"min": ends[0], "max": ends[1]}
    if ends[0] == ends[1]:
        found["max"] = ends[0] + 1
    steps = (one for one in STEPS if _on_grid(values, found["min"], found["max"], one))
    step = next(steps, None)
    return found if step is None else {**found, "step": step}


def _on_grid(values: Iterable[float], low: float, high: float, step: float) -> bool:
    return all(((value - low) / step).is_integer() for value in [*values, high])


def _ratings(rows: Sequence[Row], columns: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return aspect -> columns that hold ratings, and means that stand beside what they are of."""
    known = {name for names in NAMES.values() for name in names.split()}
    found: dict[str, list[str]] = {}
    for column in columns:
        if column.lower() in known or column.lower().endswith(("_id", " id")) or _counts(column):
            continue
        values = numbers(rows, column)
        if values is not None and _few(values, len(rows)):
            found.setdefault(aspect_of(column), []).append(column)
    averages = []
    for aspect, group in found.items():
        own = [column for column in group if not _is_mean(column)]
        averages += [column for column in group if own and column not in own]
        found[aspect] = own or group
    return found, averages


def _few(values: Sequence[float], rows: int) -> bool:
    """Return whether numbers look like ratings: in a usual range, and no count of the rows."""
    within = any(low <= min(values) and max(values) <= high for low, high in SCALES)
    run = sorted(values) == [min(values) + at for at in range(rows)]
    counts = run and (rows > MOST_STEPS or (rows > 2 and sorted(values) == list(values)))
    return within and not counts


def _words(column: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", column)
    return re.sub(r"[^a-z0-9]+", " ", spaced.lower()).split()


def aspect_of(column: str) -> str:
    """Return the aspect of a column: `fluency_rater2` is of fluency, `score` of all."""
    words = _words(column)
    kept = [w for w in words if w not in RATERS | RATINGS | MEANS and not w.isdigit()]
    return "-".join(kept) or ALL


def _counts(column: str) -> bool:
    """Return whether a name tells of a count; a `length_rating` is of the length, and is none."""
    words = set(_words(column))
    return bool(words & COUNTS) and not words & RATINGS


def _is_mean(column: str) -> bool:
    return bool(MEANS.intersection(_words(column)))


def _named(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the column of the plainest name, None if none has any."""
    by_name = {column.lower(): column for column in reversed(list(columns))}
    return next((by_name[name] for name in names if name in by_name), None)


def _longest(rows: Sequence[Row], columns: Iterable[str]) -> str | None:
    """Return the column of the longest texts, None if all cells are short."""
    length = {
        column: sum(len(cell) for row in rows if isinstance(cell := row.get(column), str))
        / max(1, len(rows))
        for column in columns
    }
    best = max(length, key=lambda column: length[column], default=None)
    return best if best is not None and length[best] >= LONG else None


def _repeats(rows: Sequence[Row], column: str) -> bool:
    """Return whether cells come several times, as what several texts were written from."""
    return len({str(row.get(column)) for row in rows}) <= len(rows) / 2


def _task(columns: Iterable[str]) -> str:
    names = [column.lower() for column in columns]
    return next((task for word, task in TASKS.items() if word in names), OTHER_TASK)
