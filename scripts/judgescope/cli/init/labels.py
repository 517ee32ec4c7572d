"""Two labels in words, such as pass and fail: read as 1 and 0, and named in the study's cards."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from judgescope.cli.init.guess import Row, is_missing, numbers

Pair = tuple[str, str]
"""The worse label, then the better one."""
FAIL_PASS: Final[Pair] = ("fail", "pass")
"""The labels of ratings that are 0 and 1."""
PAIRS: Final[tuple[Pair, ...]] = (
    FAIL_PASS,
    ("failed", "passed"),
    ("no", "yes"),
    ("false", "true"),
    ("bad", "good"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("reject", "accept"),
    ("rejected", "accepted"),
    ("unacceptable", "acceptable"),
    ("unsafe", "safe"),
    ("unfaithful", "faithful"),
    ("not ok", "ok"),
)
"""Words that name two labels, whatever their case; others are named in a study's cards."""
CODES: Final = {word: code for pair in PAIRS for code, word in enumerate(pair)}


class Coded(NamedTuple):
    """Rows with 0 and 1 instead of two labels."""

    rows: list[dict[str, Any]]
    labels: dict[str, Pair]
    """Column -> its labels; if it uses several of PAIRS, the first of them."""
    others: dict[str, int]
    """Words of other pairs -> 0 or 1."""


def in_numbers(rows: Sequence[Row], columns: Iterable[str]) -> Coded:
    """Return the rows with 0 and 1 instead of labels.

    A column has labels if all its cells are words of PAIRS, some worse and some better ones.
    """
    labels: dict[str, Pair] = {}
    others: dict[str, int] = {}
    for column in columns:
        cells = [row.get(column) for row in rows]
        words = {str(cell).strip().lower() for cell in cells if not is_missing(cell)}
        if not words <= CODES.keys() or {CODES[word] for word in words} != {0, 1}:
            continue
        if not any(isinstance(cell, bool | list) for cell in cells):
            labels[column] = next(pair for pair in PAIRS if words.intersection(pair))
            others |= {word: CODES[word] for word in words - {*labels[column]}}
    coded = [
        {**row, **{column: _code(row.get(column)) for column in labels}} if labels else {**row}
        for row in rows
    ]
    return Coded(coded, labels, others)


def _code(cell: object) -> object:
    return cell if is_missing(cell) else CODES[str(cell).strip().lower()]


def is_labelled(rows: Sequence[Row], *columns: str) -> bool:
    """Return whether the values of columns are 0 and 1, both of which occur."""
    return {value for name in columns for value in numbers(rows, name) or ()} == {0.0, 1.0}


def labelled(
    rows: Sequence[Row],
    ratings: Mapping[str, Sequence[str]],
    words: Mapping[str, Pair],
    stated: Collection[str],
) -> dict[str, Pair]:
    """Return the aspects that people rated with two labels, unless a scale is `stated` for them.

    `rows` and `words` are those of `in_numbers`.
    """
    found = {
        aspect: next((words[column] for column in group if column in words), FAIL_PASS)
        for aspect, group in ratings.items()
        if aspect not in stated and is_labelled(rows, *group)
    }
    alike = len({*found.values()}) == 1  # a judge's card has one translation of 0 and 1
    return found if alike else dict.fromkeys(found, FAIL_PASS)


def label_scale(pair: Pair, others: Mapping[str, int] | None) -> dict[str, Any]:
    """Return the scale of an aspect with two labels, as cards write it.

    `others` are further words in the data; None: the data have 0 and 1.
    """
    words = read_as(pair) if others is None else {word: pair[at] for word, at in others.items()}
    return {"labels": [*pair], **({"read_as": words} if words else {})}


def judge_keys(
    rows: Sequence[Row],
    scores: Mapping[str, str],
    labels: Mapping[str, Pair],
    words: Mapping[str, Pair],
    others: Mapping[str, int],
) -> dict[str, object]:
    """Return how a recorded judge's scores, aspect -> column, are read as people's labels.

    `words` and `others` are those of `in_numbers`; empty: the study's data have 0 and 1.
    """
    on_labels = [name for name in scores if name == "*" or name in labels]
    if not labels or not on_labels:
        return {}
    if not all(is_labelled(rows, scores[name]) for name in on_labels):
        return {"threshold": "best"}
    pair = next(iter(labels.values()))
    given = [words[scores[name]] for name in on_labels if scores[name] in words]
    if len(given) < len(on_labels):
        return {"read_as": read_as(pair)}
    read = {word: pair[code] for word, code in others.items()}
    read |= {word: label for two in given for word, label in zip(two, pair, strict=True)}
    return {"read_as": read} if others or {*given} != {pair} else {}


def read_as(pair: Pair) -> dict[str, str]:
    """Return the key `read_as` of cards, for data with 0 and 1."""
    return {str(code): label for code, label in enumerate(pair)}
