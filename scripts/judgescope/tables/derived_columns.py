"""Columns of numbers that are computed from another column beside them: the smallest of
several ratings, a score on another scale, a verdict by a threshold.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from judgescope.tables.one_judge import JudgeValues, determines
from judgescope.tables.words import classes_of, split_header

COMPUTED: Final = frozenset(
    {
        "max",
        "maximum",
        "median",
        "min",
        "minimum",
        "norm",
        "normalised",
        "normalized",
        "percentile",
        "rescaled",
        "scaled",
        "standardised",
        "standardized",
        "z",
        "zscore",
    }
)
"""Words of a header that say by what a column was computed from another one."""


def computed_columns(columns: Sequence[str]) -> dict[str, str]:
    """Column -> the one that it was computed from, by a word of its header.

    `human_max` beside `human_1`, `judge_score_normalized` beside `judge_score`.

    >>> computed_columns(["human_raw", "human_z", "judge", "max"])
    {'human_z': 'human_raw'}
    """
    base_of: dict[frozenset[str], str] = {}
    for column in columns:
        if COMPUTED.isdisjoint(split_header(column)):
            base_of.setdefault(_stem(column), column)
    computed = {}
    for column in columns:
        stem = _stem(column)
        if not COMPUTED.isdisjoint(split_header(column)) and stem and stem in base_of:
            computed[column] = base_of[stem]
    return computed


def _stem(column: str) -> frozenset[str]:
    """The words of a header without numbers and those that say how it was computed."""
    words = set()
    for word in split_header(column):
        if not (word.isdigit() or word == "raw" or word in COMPUTED):
            words.add(word)
    return frozenset(words)


def chances_of_scores(values: JudgeValues) -> list[str]:
    """The columns of a judge that have the probability of each score: headers equal but
    for one number, and numbers from 0 to 1 that add up to 1 in every row.

    >>> chances = {"p1": [0.1, 0.2], "p2": [0.3, 0.3], "p3": [0.6, 0.5]}
    >>> chances_of_scores({**chances, "judge": [3, 3]})
    ['p1', 'p2', 'p3']
    """
    families: dict[str, list[str]] = {}
    for column in values:
        stem = re.sub(r"\d+(?=\D*$)", "", column)
        if stem != column:
            families.setdefault(stem, []).append(column)
    chances = []
    # Two numbers may add up to 1 by what they measure: a share and the rest.
    fewest = 3
    for group in families.values():
        if len(group) >= fewest and _add_up_to_one([values[name] for name in group]):
            chances += group
    return chances


def _add_up_to_one(columns: Sequence[Sequence[float | None]]) -> bool:
    """Whether numbers from 0 to 1, some of them fractions, add up to 1 in each row."""
    rounding = 0.02
    has_fraction = False
    for cells in zip(*columns, strict=True):
        filled = [cell for cell in cells if cell is not None]
        if not filled:
            continue
        if min(filled) < 0 or abs(sum(filled) - 1) > rounding:
            return False
        has_fraction = has_fraction or any(0 < cell < 1 for cell in filled)
    return has_fraction


def repeated_scores(values: JudgeValues) -> dict[str, str]:
    """Column without a word for its side -> the judge's column that it repeats.

    It has the other words of that header, and each number of the judge always comes
    with the same of its numbers: `coherence` and `coherence_result` beside
    `gpt_coherence`.

    >>> scores = [1, 2, 3, 4, 5] * 2
    >>> results = [0, 0, 1, 1, 1] * 2
    >>> repeated_scores({"gpt_tone": scores, "tone_result": results, "tone": scores})
    {'tone_result': 'gpt_tone', 'tone': 'gpt_tone'}
    """
    repeated = {}
    # Rows in which two columns are the same by no accident.
    fewest_values = 10
    for column, numbers in values.items():
        if not {"person", "machine", "measure"}.isdisjoint(classes_of(column)):
            continue
        for judge, scores in values.items():
            is_machines = {"machine", "measure"} & classes_of(judge).keys()
            if not is_machines or "person" in classes_of(judge):
                continue
            if _rated(column) != _rated(judge) or not _rated(column):
                continue
            # Two labels of people and a judge may agree in all rows.
            several = len({*scores} - {None}) > 2 and len(scores) >= fewest_values
            differ = len({*numbers} - {None}) > 1
            if several and differ and determines(scores, numbers):
                repeated[column] = judge
    return repeated


def _rated(column: str) -> frozenset[str]:
    """The words of a header for what was rated."""
    words = set()
    for word in split_header(column):
        classes: Mapping[str, bool] = classes_of(word)
        if {"rating", "outcome", "machine", "measure"}.isdisjoint(classes):
            words.add(word)
    return frozenset(words)
