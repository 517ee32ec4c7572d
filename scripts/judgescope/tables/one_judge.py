"""Two columns of one judge: a verdict and the number behind it."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from judgescope.tables.words import classes_of, split_header

JudgeValues = Mapping[str, Sequence[float | None]]
"""Column -> the value of each row, None where it is missing."""


def second_columns(values: JudgeValues, *, labels: bool) -> dict[str, str]:
    """Column that only repeats another one of the same judge -> the other one.

    Such are `Status` and `Score`, `label` and `score`: their headers differ only in
    words for ratings and verdicts, one has two values, and one determines the other.
    labels: whether people gave labels, so that the verdict is kept and not the number.

    >>> second_columns({"Status": [1, 0, 1], "Score": [0.9, 0.2, 0.7]}, labels=True)
    {'Score': 'Status'}
    >>> second_columns({"Status": [1, 0, 1], "Score": [0.9, 0.9, 0.7]}, labels=True)
    {}
    """
    second: dict[str, str] = {}
    for verdict, score in permutations(values, 2):
        if verdict in second or score in second or not _is_verdict(verdict, score):
            continue
        if _stem(verdict) != _stem(score) or not _has_two(values[verdict]):
            continue
        if determines(values[score], values[verdict]):
            if labels or _has_two(values[score]):
                second[score] = verdict
            else:
                second[verdict] = score
    return second


def numbers_behind(values: JudgeValues, rated: Sequence[float]) -> dict[str, str]:
    """Column of a judge with a number behind another of its columns -> that column:
    `suggestion_score` beside `suggestion`.

    Its header has one more word, for a number, and its numbers lie from 0 to 1, where
    those of the other one lie, as people's do, outside.
    rated: people's ratings.

    >>> behind = {"llm_tone": [3, 5, 4], "llm_tone_score": [0.8, 0.9, 0.7]}
    >>> numbers_behind(behind, rated=[2, 5, 4])
    {'llm_tone_score': 'llm_tone'}
    """
    numbers = {"score", "scores", "value", "prob", "p"}
    behind: dict[str, str] = {}
    if not rated or max(rated) <= 1:
        return behind
    for column, judge in permutations(values, 2):
        words = split_header(column)
        is_behind = words[:-1] == split_header(judge) and words[-1] in numbers
        if is_behind and _is_share(values[column]) and not _is_share(values[judge]):
            behind[column] = judge
    return behind


def _is_share(cells: Sequence[float | None]) -> bool:
    filled = [cell for cell in cells if cell is not None]
    return bool(filled) and min(filled) >= 0 and max(filled) <= 1


def _stem(column: str) -> list[str]:
    """The words of a header without those for ratings and verdicts."""
    words = []
    for word in split_header(column):
        if {"rating", "outcome"}.isdisjoint(classes_of(word)):
            words.append(word)
    return words


def _is_verdict(verdict: str, score: str) -> bool:
    """Whether of two headers the second one names a number, and the first does not."""
    numbers = {"score", "scores", "points", "value"}
    in_verdict = numbers.intersection(split_header(verdict))
    return not in_verdict and bool(numbers.intersection(split_header(score)))


def _has_two(cells: Sequence[float | None]) -> bool:
    return {cell for cell in cells if cell is not None} == {0.0, 1.0}


def determines(
    numbers: Sequence[float | None], verdicts: Sequence[float | None]
) -> bool:
    """Whether rows with the same number always have the same verdict, the better one
    from some number on.

    >>> determines([2, 5, 3], [0, 1, 0]), determines([2, 5, 2], [0, 1, 1])
    (True, False)
    """
    pairs: dict[float, set[float]] = {}
    for number, verdict in zip(numbers, verdicts, strict=True):
        if (number is None) != (verdict is None):
            return False
        if number is not None and verdict is not None:
            pairs.setdefault(number, set()).add(verdict)
    if any(len(of_number) > 1 for of_number in pairs.values()):
        return False
    in_order = [min(pairs[number]) for number in sorted(pairs)]
    return in_order == sorted(in_order)
