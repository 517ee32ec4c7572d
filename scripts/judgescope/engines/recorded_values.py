"""The values of recorded rows: replies, scores, labels, and what stands for none."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from judgescope.core.errors import UserError
from judgescope.core.names import NO_RECORDED_VALUE, NOT_JUDGED
from judgescope.data.rows import word_of
from judgescope.engines.base import Answer, AnswerConfidence, not_applicable
from judgescope.engines.recorded_confidence import sure_draws
from judgescope.engines.recorded_rows import Row, is_missing
from judgescope.schema.cards import RecordedRows
from judgescope.schema.cards.base import plain_word

NOT_RECORDED = "no_recorded_row"
"""Why a judge does not apply to a text that it was not meant to judge."""
_NUMBER = re.compile(
    r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII
)


def recorded_draws(
    names: RecordedRows,
    rows: Sequence[Row],
    path: str | None,
    draws: int,
    words: Sequence[str] = (),
    sure: str | None = None,
) -> list[Answer]:
    """Return so many recorded draws of a text with these rows.

    names: the columns of the model's card; path: the column or JSON path of the values;
    words: the labels that scores may be, empty for numbers; sure: the column of their
    confidence, if there is one. Raises UserError for a score that is neither, and for a
    confidence that is no probability.
    """
    if not rows:
        return [not_applicable(NOT_RECORDED)] * draws
    read = partial(_answer, names, words=words, column=path)
    if names.repeated == "mean" and path and len(rows) > 1 and not words:
        each = [read(row.get(path), row) for row in rows]
        values = []
        for answer in each:
            if answer.status == "ok":
                values.append(float(answer.text))
        answers = [Answer(repr(fmean(values))) if values else each[0]]
    else:
        row = rows[-1] if names.repeated == "last" else rows[0]
        value = None
        if path:
            value = row.get(path)
        recorded = value if isinstance(value, list) else [value]
        answers = [read(draw, row) for draw in recorded[:draws]]
        if sure is not None:
            sures = sure_draws(names, row, sure, len(recorded))[:draws]
            answers = list(map(_sure_answer, answers, sures))
    return answers + [not_applicable("no_recorded_draw")] * (draws - len(answers))


def _answer(
    names: RecordedRows,
    value: object,
    row: Row,
    *,
    words: Sequence[str],
    column: str | None,
) -> Answer:
    """Return one draw; an empty text is a valid reply, but not a score."""
    scored = names.reply is None
    if isinstance(value, str) and scored:
        value = value.strip()
    if isinstance(value, str) and not scored:
        missing = value in names.missing
    else:
        missing = is_missing(value, names.missing)
    if missing:
        planned = not isinstance(value, str) or value.lower() != NOT_JUDGED
        return not_applicable(NO_RECORDED_VALUE if planned else NOT_RECORDED)
    where = f"{row.where}, column {column}"
    if words and scored:
        return Answer(_label(value, where, words))
    if isinstance(value, str) and (not scored or _is_number(value)):
        return Answer(value)
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)  # true is a number for Python
        and math.isfinite(value)
    ):
        return Answer(repr(value))
    if scored and isinstance(value, str | float):
        raise UserError(
            "a recorded score is not a number",
            where=where,
            got=value,
            todo="write it as a number (4.5), or list it in `missing` under `rows` "
            "if it means no score",
        )
    raise UserError(
        "a recorded reply or score is neither a string nor a number",
        where=where,
        got=value,
    )


def _sure_answer(answer: Answer, sure: AnswerConfidence) -> Answer:
    if answer.status == "ok":
        return replace(answer, confidence=sure)
    return answer


def _is_number(text: str) -> bool:
    if _NUMBER.fullmatch(text) is None:
        return False
    return math.isfinite(float(text))


def _label(value: object, where: str, words: Sequence[str]) -> str:
    """Return a recorded label as written; raise UserError if it is not one of
    `words`.
    """
    word = word_of(value)
    if plain_word(word) not in map(plain_word, words):
        raise UserError(
            "a recorded score is not one of the labels",
            where=where,
            got=word,
            allowed=words,
            todo="map it to a label in the judge's card (`read_as`), or list it in "
            "`missing` under `rows` if it means no score",
        )
    return word
