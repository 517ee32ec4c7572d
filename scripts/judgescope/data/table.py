"""Users' own data: CSV, TSV, JSON, JSONL or Parquet, read with the card's `columns`.

The role `data` has one row per rated text. The role `items`, if present, has one row
per item, with source, references and meta; otherwise these are in the rows of `data`.
If nothing is rated, items are enough: their references are perturbed. The role `pairs`
has one row per text that somebody has perturbed already, the role `spans` one per error
that people marked in a text.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import (
    MEAN,
    ONLY_SYSTEM,
    Draft,
    FilesByRole,
    RowFault,
    TextKey,
)
from judgescope.data.marked import Marks, unmarked
from judgescope.data.pairs import PairsDraft
from judgescope.data.rated import PerturbedText
from judgescope.data.rows import FileRow, all_rows, cell_list, entries, word_of
from judgescope.schema.cards import ColumnMapping, Format
from judgescope.schema.cards.columns import TIE
from judgescope.schema.cards.data import PAIRS, SPANS

RowsByKey = dict[str, list[tuple[Path, int, FileRow]]]
ChoiceWords = dict[str, set[int | None]]
"""Word -> positions of the texts of a row that it may choose; None: a tie."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add all rows; raters are rater-1, …, or columns if an aspect has several."""
    columns = draft.card.columns
    assert columns is not None  # the card's own check
    if PAIRS in files:
        pairs(draft, files)
        return
    rows = {role: all_rows(of_role) for role, of_role in files.items()}
    _check_columns(draft, columns, rows)
    for path, number, row in rows.get("items", []):
        with draft.reading(path, number):
            _item(draft, columns, row, len(rows["items"]))
    if "items" in rows and not draft.has_items:
        return
    marks = None
    if columns.spans:
        marks = Marks(draft, columns.spans)
    named: dict[str, dict[str, object]] = {}
    for path, number, row in rows.get("data", []):
        with draft.reading(path, number):
            if "items" in rows:
                item = draft.name(draft.pick(row, columns.item or ""), "item")
            else:
                item = _item(draft, columns, row, len(rows["data"]))
            if columns.compared:
                _compared(draft, columns, row, item, named.setdefault(item, {}))
            elif marks is None:
                _output(draft, columns, row, item)
            else:
                _marked_output(draft, marks, row, item, beside=SPANS in files)
    if marks is not None:
        _add_marks(draft, marks, rows.get(SPANS, []))


def _marked_output(
    draft: Draft, marks: Marks, row: FileRow, item: str, *, beside: bool
) -> None:
    """Add the text of a row and the errors that the row has; `beside`: these are in a
    role of their own.
    """
    columns = draft.card.columns
    assert columns is not None
    if beside or marks.columns.marked is None:
        output = _output(draft, columns, row, item)
        marks.texts[output] = str(draft.pick(row, str(columns.text)))
        if not beside:
            marks.add_listed(output, row)
        return
    text = str(columns.text)
    made = unmarked(str(draft.pick(row, text)), marks.columns.marks)
    output = _output(draft, columns, {**row, text: made.text}, item)
    marks.texts[output] = made.text
    marks.add(output, row, made.places)


def _add_marks(
    draft: Draft, marks: Marks, rows: Sequence[tuple[Path, int, FileRow]]
) -> None:
    """Add the errors of the role `spans`, a row each, and give them to the draft."""
    columns = draft.card.columns
    assert columns is not None
    for path, number, row in rows:
        with draft.reading(path, number):
            item = draft.name(draft.pick(row, str(columns.item)), "item")
            system = ONLY_SYSTEM
            if columns.system:
                system = draft.pick(row, columns.system)
            marks.add_row((item, draft.name(system, "system")), row)
    marks.finish()


def pairs(draft: Draft, files: FilesByRole) -> list[PerturbedText]:
    """Add the items of the role `pairs`, whose references are their originals; return
    the perturbed texts.
    """
    columns = draft.card.columns
    assert columns is not None and columns.original and columns.perturbed
    rows = {PAIRS: all_rows(files[PAIRS])}
    _check_columns(draft, columns, rows)
    adding = PairsDraft(draft)
    names = columns.part_names(draft.only_part)
    # The only perturbation needs no column.
    only = ""
    if columns.perturbation is None:
        only = next(iter(adding.known))
    for path, number, row in rows[PAIRS]:
        with draft.reading(path, number):
            texts = [draft.pick(row, column) for column in columns.source_columns]
            name = None
            if columns.item:
                name = draft.pick(row, columns.item)
            item = adding.item(
                draft.number(texts, len(rows[PAIRS])) if name is None else name,
                list(zip(names, texts, strict=True)),
                draft.pick(row, columns.original),
            )
            perturbation = only
            if columns.perturbation:
                perturbation = draft.pick(row, columns.perturbation)
            degree = ""
            if columns.degree:
                degree = draft.pick(row, columns.degree)
            perturbed = draft.pick(row, columns.perturbed)
            adding.perturbed(item, perturbation, degree, perturbed)
    adding.note(files[PAIRS])
    return adding.texts


def _check_columns(draft: Draft, columns: ColumnMapping, rows: RowsByKey) -> None:
    """Check for all columns at once, in the first row of each role."""
    needed = _needed_columns(draft, columns, has_items="items" in rows)
    for role, role_rows in rows.items():
        for path, number, row in role_rows[:1]:
            if row and not any(_has(draft, row, column) for column in needed[role]):
                raise UserError(
                    "none of the card's columns is in this table",
                    where=f"{path}, row {number}",
                    got=", ".join(needed[role]),
                    allowed=row,
                    todo="check that its first row is a header with the columns of the "
                    "card",
                )
            for column in needed[role]:
                with draft.reading(path, number):
                    draft.pick(row, column)


def _needed_columns(
    draft: Draft, columns: ColumnMapping, *, has_items: bool
) -> dict[str, list[str]]:
    """Return role -> the columns that each of its rows must have."""
    item = [columns.item] if columns.item else []
    per_item = [*item, *columns.source_columns, *columns.references, *columns.meta]
    per_text = list(item)
    for column in (columns.text, columns.system):
        if column:
            per_text.append(column)
    per_text += [*columns.texts, *columns.systems]
    for column in (columns.length, *columns.lengths, columns.rater):
        if column:
            per_text.append(column)
    for aspect in draft.columns:
        per_text += _paths(draft, columns, aspect)
    per_pair = [*item, *columns.source_columns]
    for column in (
        columns.original,
        columns.perturbed,
        columns.perturbation,
        columns.degree,
    ):
        if column:
            per_pair.append(column)
    per_span = [*item, *([columns.system] if columns.system else ())]
    if columns.spans:
        per_span += columns.spans.per_error
        if columns.spans.listed:
            per_text.append(columns.spans.listed)
    return {
        PAIRS: per_pair,
        SPANS: per_span,
        "items": per_item,
        "data": per_text if has_items else per_item + per_text,
    }


def _has(draft: Draft, row: FileRow, column: str) -> bool:
    try:
        draft.pick(row, column)
    except UserError:
        return False
    return True


def _paths(draft: Draft, columns: ColumnMapping, aspect: str) -> list[str]:
    if columns.preferences:
        return columns.preferences[aspect]
    return columns.ratings.get(aspect, [draft.columns[aspect]])


def _item(draft: Draft, columns: ColumnMapping, row: FileRow, count: int) -> str:
    """Add the item of a row; without an item column, rows with equal sources are one
    item.
    """
    texts = [draft.pick(row, path) for path in columns.source_columns]
    names = columns.part_names(draft.only_part)
    references: list[object] | None = None
    if columns.references:
        references = []
        for path in columns.references:
            references += entries(draft.pick(row, path))
    column = columns.item
    name = draft.pick(row, column) if column else draft.number(texts, count)
    meta = {path: draft.pick(row, path) for path in columns.meta}
    return draft.item(name, list(zip(names, texts, strict=True)), references, meta)


def _output(draft: Draft, columns: ColumnMapping, row: FileRow, item: str) -> TextKey:
    """Add the text of a row, and its ratings; return the text's key."""
    system = ONLY_SYSTEM
    if columns.system:
        system = draft.pick(row, columns.system)
    text = None
    if columns.text:
        text = draft.pick(row, columns.text)
    output = draft.output(item, system, text)
    if columns.length:
        draft.length(output, draft.pick(row, columns.length), columns.length)
    for aspect in draft.columns:
        paths = _paths(draft, columns, aspect)
        for path in paths:
            # A column names its rater only if there are several.
            rater = path if len(paths) > 1 else ""
            with draft.caught():
                _rate(draft, output, aspect, draft.pick(row, path), rater)
    return output


def _compared(
    draft: Draft,
    columns: ColumnMapping,
    row: FileRow,
    item: str,
    named: dict[str, object],
) -> None:
    """Add the texts of a row, and each rater's choice: preferred over every other text,
    or a tie.

    `named`: name -> text, for the item's texts whose system is unknown.
    """
    cells = [draft.pick(row, path) for path in columns.compared]
    systems = [draft.pick(row, path) for path in columns.systems]
    positions = list[int]()
    for position, cell in enumerate(cells):
        if cell is not None and str(cell).strip():
            positions.append(position)
    if len(positions) < 2:
        given = ", ".join(columns.compared[position] for position in positions)
        raise RowFault(
            "this row has fewer than two texts to compare",
            got=given or None,
            allowed=f"two or more of {', '.join(columns.compared)}",
        )
    names = systems or _names(columns.texts, cells, named)
    keys: dict[int, TextKey] = {}
    for position in positions:
        text = cells[position] if columns.texts else ""
        keys[position] = draft.output(item, names[position], text, again=True)
    if len(set(keys.values())) < len(positions):
        problem = "this row compares two texts of the same system"
        raise RowFault(problem, got=", ".join(map(str, names)))
    if columns.lengths:
        for position, key in keys.items():
            column = columns.lengths[position]
            draft.length(key, draft.pick(row, column), column, again=True)
    words = _words(columns, systems)
    rater = ""
    if columns.rater:
        rater = draft.name(draft.pick(row, columns.rater), "rater")
    for aspect in draft.columns:
        paths = _paths(draft, columns, aspect)
        for path in paths:
            name = rater or (path if len(paths) > 1 else "")
            for who, value in _by_rater(draft.pick(row, path), name):
                with draft.caught():
                    _prefer(draft, keys, aspect, who, value, words)


def _names(
    columns: Sequence[str], texts: Sequence[object], named: dict[str, object]
) -> list[str]:
    """Return a name for each text of a row: its column's name, with a number if that is
    taken.
    """
    names = list[str]()
    for column, text in zip(columns, texts, strict=True):
        same = [name for name, known in named.items() if known == text]
        unused = [name for name in same if name not in names]
        if unused:
            name = unused[0]
        else:
            name = column
            number = 2
            while name in named:
                name = f"{column} {number}"
                number += 1
        names.append(name)
        named[name] = text
    return names


def _prefer(
    draft: Draft,
    keys: dict[int, TextKey],
    aspect: str,
    rater: str,
    cell: object,
    words: ChoiceWords,
) -> None:
    """Add a rater's choice: the chosen text is preferred to every other text of the
    row.
    """
    if draft.is_missing(cell, aspect):
        return
    chosen = words.get(word_of(cell).casefold(), set())
    if len(chosen) != 1 or not chosen <= {*keys, None}:
        what = "a choice of a text that is not in the row"
        if not chosen:
            what = "unknown choice"
        elif len(chosen) > 1:
            what = "a choice of two texts at once"
        clear = [word for word, positions in words.items() if len(positions) == 1]
        raise RowFault(
            what,
            got=cell,
            allowed=sorted(clear),
            todo="give its meaning under `columns.choices` in the dataset's card",
        )
    [position] = chosen
    for first, second in combinations(keys, 2):
        if position is None:
            value = 0.0
        elif position == first:
            value = 1.0
        elif position == second:
            value = -1.0
        else:
            # Neither was chosen, so the choice does not compare them.
            continue
        draft.preference(keys[first], keys[second], aspect, rater, value)


def _words(columns: ColumnMapping, systems: Sequence[object]) -> ChoiceWords:
    """Return word -> the positions of the texts that it may choose, None for a tie."""
    words: ChoiceWords = {TIE: {None}}
    for position, column in enumerate(columns.compared):
        known = {str(position + 1), chr(ord("a") + position), column}
        known.update(columns.systems[position : position + 1])
        known.update(str(name) for name in systems[position : position + 1])
        for word in known:
            words.setdefault(word.strip().casefold(), set()).add(position)
    # The words of the card replace the usual ones.
    of_card: ChoiceWords = {}
    for name, listed in columns.choices.items():
        chosen = None
        if name != TIE:
            chosen = columns.compared.index(name)
        for word in listed:
            of_card.setdefault(word.strip().casefold(), set()).add(chosen)
    return words | of_card


def _rate(
    draft: Draft, output: TextKey, aspect: str, cell: object, column: str
) -> None:
    """Add the rating in a cell, or its list of ratings; `column` names the rater if it
    can.
    """
    name = column
    # The rater of ratings that the data's authors planned and no person gave.
    planned = "planned"
    if not name and draft.card.ratings == planned:
        name = planned
    elif not name and draft.card.raters == MEAN:
        name = MEAN
    for rater, value in _by_rater(cell, name):
        draft.rating(output, aspect, rater, value)


def _by_rater(cell: object, name: str) -> list[tuple[str, object]]:
    """Return (rater, value) for a cell, which has one value or a list; `name` is "" if
    unknown.
    """
    values = cell_list(cell)
    if values is None:
        return [(name or "rater-1", cell)]
    prefix = name or "rater"
    return [(f"{prefix}-{index}", value) for index, value in enumerate(values, start=1)]


FORMAT = Format(
    name="table", read=read, optional=("items", PAIRS, SPANS), chosen=True, pairs=pairs
)
