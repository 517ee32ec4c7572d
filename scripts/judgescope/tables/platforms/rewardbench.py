"""Scores of RewardBench 1 and 2: rows, or one object with a list for each column."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from judgescope.core.errors import UserError
from judgescope.data.rows import FileRow
from judgescope.tables.choices import larger
from judgescope.tables.platforms.base import (
    TODO,
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import text_of
from judgescope.tables.platforms.rewards import RewardedPair, rewarded
from judgescope.tables.profile import numbers_in

FIRST_EDITION = "scores_chosen"
SECOND_EDITION = "num_correct"


def _recognise(export: OpenedExport) -> bool:
    if export.has_columns(FIRST_EDITION):
        return True
    if export.has_columns(SECOND_EDITION, "scores"):
        return True
    both = export.has_keys(SECOND_EDITION, "scores")
    return export.has_keys(FIRST_EDITION) or both


def _parts(export: OpenedExport) -> list[ExportPart]:
    """The rows of the file; of an object, the entries of its lists."""
    if export.rows:
        return export.parts
    root = export.root
    lists: dict[str, list[Any]] = {}
    single: dict[str, Any] = {}
    for name, cell in root.content.items():
        if isinstance(cell, list):
            lists[name] = cell
        else:
            single[name] = cell
    lengths = {len(cell) for cell in lists.values()}
    if len(lengths) != 1:
        raise UserError(
            f"the lists of this export of {export.title} have different lengths",
            where=export.where,
            got=", ".join(f"{name}: {len(cell)}" for name, cell in lists.items())[:80],
            todo=TODO,
        )
    parts = []
    for number in range(lengths.pop()):
        row = {name: cell[number] for name, cell in lists.items()}
        where = f"{export.where}, entry {number + 1}"
        parts.append(ExportPart({**single, **row}, where, export.title))
    return parts


def _number(cell: Any) -> float | None:
    while isinstance(cell, list):
        cell = cell[0] if cell else None
    values = numbers_in(cell)
    return values[0] if values else None


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each pair of a right and a wrong answer; a prompt is a source."""
    pairs: list[RewardedPair] = []
    places: list[int] = []
    # Pairs of a prompt with many right and wrong answers that are compared.
    most_pairs = 64
    for index, part in enumerate(_parts(export)):
        first = FIRST_EDITION in part.content or "text_chosen" in part.content
        of_prompt = [_of_first(part)] if first else _of_second(part)
        pairs += of_prompt[:most_pairs]
        places += [index] * len(of_prompt[:most_pairs])
    table = rewarded(pairs, places)
    has_prompt = any(pair.cells.get("prompt") for pair in pairs)
    if has_prompt:
        table.source = ["prompt"]
    else:
        table.item = "id"
    return table


def _cells(part: ExportPart) -> FileRow:
    ident = part.get("id")
    return {
        "id": part.where if ident is None else str(ident),
        "subset": part.get("subset"),
        "prompt": text_of(part.get("prompt")),
    }


def _model(part: ExportPart) -> str:
    return str(part.get("model") or "reward model")


def _of_first(part: ExportPart) -> RewardedPair:
    better = _number(part.need("scores_chosen"))
    worse = _number(part.need("scores_rejected"))
    names = ("text_chosen", "text_rejected")
    if names[0] not in part.content and "chosen" in part.content:
        names = ("chosen", "rejected")
    return RewardedPair(
        text_of(part.need(names[0])),
        text_of(part.need(names[1])),
        {_model(part): larger(better, worse)},
        _cells(part),
    )


def _of_second(part: ExportPart) -> list[RewardedPair]:
    """The pairs of each right answer, of which the first ones are, with each wrong
    one.
    """
    scores = part.need("scores")
    right = int(_number(part.need(SECOND_EDITION)) or 0)
    texts = part.need("text") if "text" in part.content else part.need("texts")
    if not isinstance(scores, Sequence) or not isinstance(texts, Sequence):
        part.parts("scores")
    numbered = [_number(score) for score in scores]
    pairs = []
    for good, bad in product(range(right), range(right, len(numbered))):
        choice = larger(numbered[good], numbered[bad])
        pairs.append(
            RewardedPair(
                text_of(texts[good]),
                text_of(texts[bad]),
                {_model(part): choice},
                _cells(part),
            )
        )
    return pairs


REWARDBENCH = Platform(
    name="rewardbench",
    title="RewardBench",
    version="1 and 2",
    link="https://github.com/allenai/reward-bench",
    found_by="`scores_chosen`, or `num_correct` with `scores`",
    people="the chosen text, or the first `num_correct` ones",
    judge="the file's model, by its scores",
    recognise=_recognise,
    read=_read,
)
