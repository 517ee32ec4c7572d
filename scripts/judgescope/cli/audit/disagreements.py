"""The rows of a table in which a judge and people disagree most."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from judgescope.cli.audit.rated_rows import (
    AspectRows,
    aspects_of,
    first_draws,
    judge_columns,
)
from judgescope.cli.init.cards import StudyDraft

MOST_ROWS: Final = 10
LONGEST_TEXT: Final = 120
"""Characters of a text that a list of rows shows."""
WORDS_OF_CHOICE: Final = {1.0: "first", 0.0: "tie", -1.0: "second"}


class Disagreement(NamedTuple):
    """A row in which a judge's score is far from people's rating.

    `row` is the number that a spreadsheet shows (the header is 1), `line` the line of
    the file in which the row begins, None in files without lines. `distance` is between
    ranks of the two scales, 0 to 1; of labels and choices between values, 0 to 1.
    """

    judge: str
    aspect: str
    row: int
    line: int | None
    judged: str
    rated: str
    distance: float
    text: str


class _Values(NamedTuple):
    """The rows that a judge and people have both rated, with their values."""

    rows: list[int]
    judged: list[float]
    rated: list[float]


def disagreements(draft: StudyDraft) -> list[Disagreement]:
    """Return the rows in which a judge and people differ, the largest distance first.

    Of labels, bad texts that the judge passes come before good ones that it fails.
    """
    # The texts of a file of another tool are numbered, not its lines.
    of_another_tool = draft.table.known is not None and not draft.table.long
    lines = {} if of_another_tool else draft.table.lines
    by_aspect = aspects_of(draft)
    candidates: list[tuple[float, bool, Disagreement]] = []
    for judge, aspect, column in judge_columns(draft):
        rated_rows = by_aspect[aspect]
        values = _values(rated_rows, first_draws(draft, column))
        distances = _distances(rated_rows, values)
        for at, distance in enumerate(distances):
            if distance <= 0:
                continue
            row = values.rows[at]
            row_number = draft.table.numbers[row]
            judged = values.judged[at]
            rated = values.rated[at]
            each = Disagreement(
                judge=judge,
                aspect=aspect,
                row=row_number,
                line=lines.get(row_number),
                judged=_in_words(rated_rows, judged),
                rated=_in_words(rated_rows, rated),
                distance=round(distance, 6),
                text=_text(draft, row),
            )
            candidates.append((-each.distance, judged <= rated, each))
    candidates.sort(key=lambda ranked: (ranked[0], ranked[1], ranked[2].row))
    return [each for _, _, each in candidates]


def _values(rated_rows: AspectRows, scores: Sequence[float | None]) -> _Values:
    """Return the values of the rows that have a score and at least one rating.

    People's labels count as the study counts them, if the judge gives labels too; a
    score is compared with their mean.
    """
    values = _Values([], [], [])
    of_labels = rated_rows.are_labels(scores)
    for at, score in enumerate(scores):
        ratings = rated_rows.people[at]
        if score is None or not ratings:
            continue
        rated = rated_rows.truth(at) if of_labels else sum(ratings) / len(ratings)
        if rated is None:
            continue
        values.rows.append(at)
        values.judged.append(score)
        values.rated.append(rated)
    return values


def _distances(rated_rows: AspectRows, values: _Values) -> list[float]:
    """Return each row's distance, 0 to 1; 0 where both have the same value."""
    pairs = list(zip(values.judged, values.rated, strict=True))
    if rated_rows.compared:
        return [abs(judged - rated) / 2 for judged, rated in pairs]
    if rated_rows.are_labels(values.judged):
        if not rated_rows.ordered:
            return [float(judged != rated) for judged, rated in pairs]
        steps = max(1, len(rated_rows.labels) - 1)
        return [abs(judged - rated) / steps for judged, rated in pairs]
    ranks = zip(_ranks(values.judged), _ranks(values.rated), strict=True)
    distances = list[float]()
    for (judged, rated), (rank, other) in zip(pairs, ranks, strict=True):
        distances.append(0.0 if judged == rated else abs(rank - other))
    return distances


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the middle rank of each value as a share of all, 0 to 1.

    >>> _ranks([3.0, 1.0, 3.0, 5.0])
    [0.5, 0.125, 0.5, 0.875]
    """
    ordered = sorted(values)
    total = 2 * len(values)
    return [
        (bisect_left(ordered, value) + bisect_right(ordered, value)) / total
        for value in values
    ]


def _in_words(rated_rows: AspectRows, value: float) -> str:
    """Return a value as the table writes it: a number, a label or a choice."""
    if rated_rows.compared:
        return WORDS_OF_CHOICE.get(value, f"{value:+.2g}")
    if rated_rows.are_labels([value]):
        return rated_rows.labels[int(value)]
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _text(draft: StudyDraft, row: int) -> str:
    """Return the beginning of the judged text, "" in a table without texts."""
    names = draft.columns.texts or draft.columns.columns_of("text")
    cells = [draft.table.rows[row].get(name) for name in names]
    text = " | ".join(str(cell) for cell in cells if cell is not None)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
