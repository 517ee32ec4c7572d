"""Annotations of AlpacaEval: a JSON file of them, or a folder of such files."""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.rows import FileRow
from judgescope.tables.choices import FIRST, SECOND, TIE
from judgescope.tables.platforms.base import (
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.sides import EVERY, OVERALL, is_machines, is_persons
from judgescope.tables.profile import numbers_in
from judgescope.tables.sides import MOST_RATERS

TEXTS = ["output_1", "output_2"]
KEYS = (*TEXTS, "preference")


def _read(export: OpenedExport) -> PlatformTable:
    return _read_several([export])


def _read_several(exports: Sequence[OpenedExport]) -> PlatformTable:
    """A row for each instruction and pair of outputs, a column for each annotator.

    Annotations without `annotator` are people's. A preference above 1.5 is for the
    second output. If an annotator has annotated a pair several times, the first counts.
    """
    rows: dict[str, FileRow] = {}
    places: list[int] = []
    raters: dict[str, bool] = {}
    annotations = list(chain.from_iterable(export.parts for export in exports))
    system_columns = ["generator_1", "generator_2"]
    for number, part in enumerate(annotations):
        # These keys identify a pair, as in AlpacaEval's own analysis.
        pair = {name: part.need(name) for name in ("instruction", *TEXTS)}
        key = json.dumps(pair)
        if key not in rows:
            rows[key] = {name: text_of(cell) for name, cell in pair.items()}
            places.append(number)
        row = rows[key]
        for name in system_columns:
            if part.get(name):
                row[name] = part.get(name)
        model = part.get("annotator")
        index = part.get("annotator_index")
        which = 1 if index is None else index
        rater = str(model) if model else f"person {which}"
        raters[rater] = not model or is_persons(rater)
        row.setdefault(rater, _preferred(part))
    people = [rater for rater, is_person in raters.items() if is_person]
    models = [rater for rater, is_person in raters.items() if not is_person]
    people_id = "people"
    if len(people) > MOST_RATERS:
        for row in rows.values():
            row[people_id] = [row[name] for name in people if row.get(name) is not None]
        people = [people_id]
    table = PlatformTable(
        list(rows.values()), places, source=["instruction"], texts=TEXTS
    )
    if all(row.keys() >= {*system_columns} for row in rows.values()):
        table.systems = system_columns
    if people:
        table.people = {OVERALL: people}
    table.judges = {slug(name): {EVERY: name} for name in models}
    return table


def _preferred(part: ExportPart) -> int | None:
    """The choice of a preference: 1 to 2, or 0 for a tie."""
    preference: Any = part.need("preference")
    numbers = numbers_in(preference)
    if not numbers:
        return None
    [value] = numbers
    if value != 0 and not 1 <= value <= 2:
        raise UserError(
            "this preference of AlpacaEval is not known",
            where=part.where,
            got=f"preference {value:g}",
            allowed="preferences from 1 to 2, and 0 for a tie (version 0.6)",
        )
    if value in (0, 1.5):
        return TIE
    return FIRST if value < 1.5 else SECOND


def _recognise(export: OpenedExport) -> bool:
    """Whether rows have AlpacaEval's keys, and no further column of a judge's choices:
    such a table is a user's own.
    """
    if not export.has_columns(*KEYS):
        return False
    for name in export.columns:
        if name not in KEYS and is_machines(name) and "preference" in name.casefold():
            return False
    return True


ALPACA_EVAL = Platform(
    name="alpaca-eval",
    title="AlpacaEval",
    version="0.6",
    link="https://github.com/tatsu-lab/alpaca_eval/blob/main/src/alpaca_eval/analyze.py",
    found_by="`output_1`, `output_2`, `preference`; a folder of such files",
    people="annotations without `annotator`",
    judge="`annotator`; a preference above 1.5 is for the second output, 0 is a tie",
    recognise=_recognise,
    read=_read,
    read_several=_read_several,
)
