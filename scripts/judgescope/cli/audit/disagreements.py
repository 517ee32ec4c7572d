"""The rows of a table in which a judge and people disagree most."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judgescope.cli.init.cards import StudyDraft, recorded_id
from judgescope.cli.init.flags import EVERY
from judgescope.cli.init.guess import number
from judgescope.cli.init.pair_columns import FIRST, SECOND, TIE
from judgescope.cli.init.tables import Label
from judgescope.data.rows import begin_lines, entries

MOST_ROWS: Final = 10
LONGEST_TEXT: Final = 120
"""Characters of a text that a list of rows shows."""
CHOSEN: Final = {FIRST: 1.0, TIE: 0.0, SECOND: -1.0}
"""Choice between two texts -> a number; of several people the mean counts."""
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
    lines = _lines(draft)
    candidates: list[tuple[float, bool, Disagreement]] = []
    for judge, scores in draft.columns.judges.items():
        for aspect, group in draft.columns.ratings.items():
            column = scores.get(aspect, scores.get(EVERY))
            if column is None:
                continue
            values = _values(draft, column, group)
            distances = _distances(draft, aspect, values)
            for at, distance in enumerate(distances):
                if distance <= 0:
                    continue
                row = values.rows[at]
                row_number = draft.table.numbers[row]
                judged = values.judged[at]
                rated = values.rated[at]
                each = Disagreement(
                    judge=recorded_id(judge),
                    aspect=aspect,
                    row=row_number,
                    line=lines.get(row_number),
                    judged=_in_words(draft, [column], judged),
                    rated=_in_words(draft, group, rated),
                    distance=round(distance, 6),
                    text=_text(draft, row),
                )
                candidates.append((-each.distance, judged <= rated, each))
    candidates.sort(key=lambda ranked: (ranked[0], ranked[1], ranked[2].row))
    return [each for _, _, each in candidates]


def _values(draft: StudyDraft, column: str, group: Sequence[str]) -> _Values:
    """Return the values of the rows that have a score and at least one rating."""
    rows: list[int] = []
    judged: list[float] = []
    rated: list[float] = []
    for at, row in enumerate(draft.table.rows):
        draws = entries(row.get(column))
        score = number(draws[0]) if draws else None
        ratings = list[float]()
        for name in group:
            values = map(number, entries(row.get(name)))
            ratings += [value for value in values if value is not None]
        if score is None or not ratings:
            continue
        if draft.columns.compared:
            score = CHOSEN[int(score)]
            ratings = [CHOSEN[int(value)] for value in ratings]
        rows.append(at)
        judged.append(score)
        rated.append(sum(ratings) / len(ratings))
    return _Values(rows, judged, rated)


def _distances(draft: StudyDraft, aspect: str, values: _Values) -> list[float]:
    """Return each row's distance, 0 to 1; 0 where both have the same value."""
    pairs = list(zip(values.judged, values.rated, strict=True))
    if draft.columns.compared:
        return [abs(judged - rated) / 2 for judged, rated in pairs]
    if aspect in draft.labelled and {*values.judged} <= {0.0, 1.0}:
        return [abs(judged - rated) for judged, rated in pairs]
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


def _in_words(draft: StudyDraft, columns: Sequence[str], value: float) -> str:
    """Return a value as the table writes it: a number, a label or a choice."""
    if draft.columns.compared:
        return WORDS_OF_CHOICE.get(value, f"{value:+.2g}")
    labels: Mapping[str, Label] = draft.table.labels
    pair = next((labels[name] for name in columns if name in labels), None)
    if pair is not None and value in (0.0, 1.0):
        return pair[int(value)]
    return f"{value:.3g}"


def _text(draft: StudyDraft, row: int) -> str:
    """Return the beginning of the judged text, "" in a table without texts."""
    names = draft.columns.texts or draft.columns.columns_of("text")
    cells = [draft.table.rows[row].get(name) for name in names]
    text = " | ".join(str(cell) for cell in cells if cell is not None)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def _lines(draft: StudyDraft) -> dict[int, int]:
    """Return row number -> the line in which the row begins.

    Empty for a file of another tool: its texts are numbered, not its lines.
    """
    file: Path = draft.table.file
    if draft.table.known is not None and not draft.table.long:
        return {}
    return begin_lines(file) if file.is_file() else {}
