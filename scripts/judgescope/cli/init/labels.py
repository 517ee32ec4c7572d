"""Two labels in words, such as pass and fail: read as 1 and 0, and named in the study's cards."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

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


def in_numbers(
    rows: Sequence[Row], columns: Iterable[str]
) -> tuple[list[dict[str, Any]], dict[str, Pair]]:
    """Return the rows with 0 and 1 in place of two labels, and column -> its labels.

    A column has labels where all of its cells are words of one pair, and both words occur.
    """
    labels: dict[str, Pair] = {}
    for column in columns:
        cells = [row.get(column) for row in rows]
        words = {str(cell).strip().lower() for cell in cells if not is_missing(cell)}
        pair = next((pair for pair in PAIRS if words == {*pair}), None)
        if pair and not any(isinstance(cell, bool | list) for cell in cells):
            labels[column] = pair
    return [{**row, **_codes(row, labels)} for row in rows], labels


def _codes(row: Row, labels: Mapping[str, Pair]) -> dict[str, Any]:
    return {
        column: cell if is_missing(cell) else pair.index(str(cell).strip().lower())
        for column, pair in labels.items()
        for cell in [row.get(column)]
    }


def is_labelled(rows: Sequence[Row], *columns: str) -> bool:
    """Return whether columns hold 0 and 1 and nothing else, both of them."""
    return {value for name in columns for value in numbers(rows, name) or ()} == {0.0, 1.0}


def labelled(
    rows: Sequence[Row],
    ratings: Mapping[str, Sequence[str]],
    words: Mapping[str, Pair],
    stated: Collection[str],
) -> dict[str, Pair]:
    """Return the aspects that people rate by two labels, unless a scale is `stated` for them.

    `rows` and `words` are those of `in_numbers`.
    """
    found = {
        aspect: next((words[column] for column in group if column in words), FAIL_PASS)
        for aspect, group in ratings.items()
        if aspect not in stated and is_labelled(rows, *group)
    }
    alike = len({*found.values()}) == 1  # a judge's card has one translation of 0 and 1
    return found if alike else dict.fromkeys(found, FAIL_PASS)


def label_scale(pair: Pair, *, in_words: bool) -> dict[str, Any]:
    """Return the scale of an aspect with two labels, as cards write it; else data have 0 and 1."""
    return {"labels": [*pair]} if in_words else {"labels": [*pair], "read_as": read_as(pair)}


def judge_keys(
    rows: Sequence[Row],
    scores: Mapping[str, str],
    labels: Mapping[str, Pair],
    words: Mapping[str, Pair],
) -> dict[str, object]:
    """Return how a recorded judge's scores, aspect -> column, are read as people's labels.

    `words` are those of `in_numbers` where the study has them, and empty where it has 0 and 1.
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
    other = {word: label for two in given for word, label in zip(two, pair, strict=True)}
    return {"read_as": other} if {*given} != {pair} else {}


def read_as(pair: Pair) -> dict[str, str]:
    """Return the key `read_as` of cards, for data with 0 and 1."""
    return {str(code): label for code, label in enumerate(pair)}
