"""The confidence in a recorded score: a column of probabilities."""

import math

from judgescope.core.errors import UserError
from judgescope.engines.base import AnswerConfidence
from judgescope.engines.recorded_rows import Row, is_missing
from judgescope.schema.cards import RecordedRows


def sure_draws(
    names: RecordedRows, row: Row, column: str, draws: int
) -> list[AnswerConfidence]:
    """Return the confidence of each recorded draw of a row.

    A list of scores has a list of as many confidences. Raises UserError for a
    confidence that is not a probability.
    """
    value = row.get(column)
    cells = value if isinstance(value, list) else [value]
    where = f"{row.where}, column {column}"
    if len(cells) != draws:
        raise UserError(
            "a list of scores needs a confidence for each of them",
            where=where,
            got=f"{len(cells)} for {draws} scores",
            todo="name a column with as many confidences, or leave `confidence` out "
            "under `rows`",
        )
    return [_sure(names, cell, where) for cell in cells]


def _sure(names: RecordedRows, value: object, where: str) -> AnswerConfidence:
    """Return a confidence as recorded; an empty cell is none."""
    about = names.confidence_about
    # The rule of a score whose cell of confidence is empty.
    not_recorded = "no_recorded_confidence"
    if is_missing(value, names.missing):
        return AnswerConfidence(None, "column", not_recorded, about)
    percent = names.confidence_as == "percent"
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%")) if percent else float(text)
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise UserError(
            "a recorded confidence is not a number",
            where=where,
            got=value,
            allowed="0 to 100" if percent else "0 to 1",
            todo=_todo(text),
        )
    top = 100.0 if percent else 1.0
    if not 0 <= number <= top:
        raise UserError(
            "a recorded confidence is not a probability",
            where=where,
            got=value,
            allowed=f"0 to {top:g}",
            todo=_todo(text),
        )
    return AnswerConfidence(number / top, "column", "recorded", about)


def _todo(text: str) -> str:
    """Return what to do about a cell that is no probability."""
    try:
        is_percent = 1 < float(text.removesuffix("%")) <= 100
    except ValueError:
        is_percent = False
    if is_percent:
        return (
            "if the column holds percentages, write `confidence_as: percent` under "
            "`rows`; if it is another judge's score, leave it out of `confidence`"
        )
    return (
        "name a column with probabilities, or list the cell in `missing` under `rows` "
        "if it means none; log-probabilities, logits and the scores of another judge "
        "are no confidence: leave them out"
    )
