"""A table in another shape: one row per text, numbered answers of a source, and without
numbers that stand for "no score".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgescope.cli.init.column_values import columns_of, number, numbers
from judgescope.cli.init.open_readings import UnclearColumns, readings_of_systems
from judgescope.cli.init.preferences import with_choices
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.tables import InitTable
from judgescope.cli.init.text_columns import longest
from judgescope.cli.terminal import plural
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.column_rows import cells_by_row, cells_of, with_cells
from judgescope.data.rows import TableRow
from judgescope.tables.leaving_out import far_off, is_on_wider_scale, off_scale
from judgescope.tables.one_hot import (
    with_checkboxes,
    with_one_choice,
    with_single_entries,
)
from judgescope.tables.rows_of_texts import RATERS, joined_rows
from judgescope.tables.structure import (
    SystemColumns,
    columns_by_system,
    flattened,
    is_conversation,
    is_list_of_objects,
    unpivoted,
    with_draws,
    with_listed_numbers,
    with_listed_texts,
    with_listed_words,
)
from judgescope.tables.words import split_header


def structured(table: InitTable) -> InitTable:
    """Return the table with a column for each key of objects in cells, conversations
    as texts, and a row per text where columns repeat for systems.
    """
    table = _with_plain_cells(table)
    if any(_is_nested(table, column) for column in table.columns):
        flat: Sequence[TableRow] = flattened(table.rows)
        flat, _ = with_single_entries(flat, columns_of(flat))
        table = replace(table, rows=flat, columns=columns_of(flat), copied=True)
    table = _with_two_texts(table)
    rows, split = with_listed_words(table.rows, table.columns)
    if split:
        notes = list(table.notes)
        for name, group in split.items():
            shown = ", ".join(group)
            notes.append(
                f"column {name}: each cell is a list of labels, read as {shown}"
            )
        columns = columns_of(rows)
        table = replace(table, rows=rows, columns=columns, notes=notes, copied=True)
    joined = joined_rows(table.rows, table.columns)
    if joined is not None:
        return replace(
            table,
            numbers=[table.numbers[index] for index in joined.places],
            rows=joined.rows,
            columns=columns_of(joined.rows),
            notes=[*table.notes, joined.note],
            copied=True,
        )
    by_system = columns_by_system(table.columns)
    if by_system is None or not _has_texts(table, by_system):
        return with_choices(table)
    name = "system"
    while name in table.columns:
        name += " "
    rows, places = unpivoted(table.rows, by_system, name)
    note = (
        f"columns of {' and '.join(by_system.systems)} were read as texts of these "
        f"systems: {', '.join(by_system.columns)}"
    )
    return replace(
        table,
        numbers=[table.numbers[index] for index in places],
        rows=rows,
        columns=columns_of(rows),
        notes=[*table.notes, note],
        copied=True,
    )


def _with_two_texts(table: InitTable) -> InitTable:
    """Return the table with two columns in place of lists of two texts each, and a note
    of each: `responses 1` and `responses 2`.
    """
    rows, split = with_listed_texts(table.rows, table.columns)
    if not split:
        return table
    notes = list(table.notes)
    for name, pair in split.items():
        notes.append(
            f"column {name}: each cell is a list of two texts, {' and '.join(pair)}"
        )
    return replace(table, rows=rows, columns=columns_of(rows), notes=notes, copied=True)


def _with_plain_cells(table: InitTable) -> InitTable:
    """Return the table with lists in place of lists in words, words in place of lists
    of one word, `unchecked` in empty boxes, and one column for a choice that stands in
    several.
    """
    rows, listed = with_listed_numbers(table.rows, table.columns)
    notes = []
    for name in listed:
        notes.append(
            f"column {name}: each cell is a list of numbers, of draws or of raters"
        )
    rows, single = with_single_entries(rows, table.columns)
    rows, box_notes = with_checkboxes(rows, table.columns)
    rows, choice_notes = with_one_choice(rows, table.columns)
    notes += [*box_notes, *choice_notes]
    if not notes and not single:
        return table
    return replace(
        table,
        rows=rows,
        columns=columns_of(rows),
        notes=[*table.notes, *notes],
        copied=True,
    )


def _is_nested(table: InitTable, column: str) -> bool:
    """Return whether a cell of a column is an object, a conversation, or a list of
    objects.
    """
    cells = cells_of(table.rows, column)
    kinds = {*map(type, cells)}
    if not any(issubclass(kind, Mapping | list) for kind in kinds):
        return False
    return any(
        isinstance(cell, Mapping) or is_conversation(cell) or is_list_of_objects(cell)
        for cell in cells
    )


def _has_texts(table: InitTable, by_system: SystemColumns) -> bool:
    """Return whether any columns of systems have more than numbers: `Rate the answer:
    Clarity` has none.
    """
    for group in by_system.columns.values():
        if all(numbers(table.rows, column) is None for column in group.values()):
            return True
    return False


def joined_draws(table: InitTable, taken: Collection[str]) -> InitTable:
    """Return the table with the draws of a judge as lists in one column.

    taken: columns that the user has named, which stay.
    """
    free = [column for column in table.columns if column not in taken]
    rows, joined = with_draws(table.rows, free)
    if not joined:
        return table
    notes = list(table.notes)
    labels = dict(table.labels)
    columns = list(table.columns)
    for stem, group in joined.items():
        notes.append(f"{', '.join(group)} were read as {len(group)} draws of {stem}")
        columns.insert(columns.index(group[0]), stem)
        columns = [column for column in columns if column not in group]
        if group[0] in labels:
            labels[stem] = labels[group[0]]
    return replace(
        table, rows=rows, columns=columns, labels=labels, notes=notes, copied=True
    )


def with_answers(table: InitTable, columns: Guess) -> tuple[InitTable, Guess]:
    """Return the table with a column that numbers the answers of a source, if a source
    or an item is repeated and nobody knows the systems.

    Raises UserError if the same text is repeated: then rows may be of raters.
    """
    shared = columns.source or columns.columns_of("item")
    if columns.system and not columns.compared and columns.text and not table.known:
        _check_one_row_each(table, columns, [*shared, columns.system])
    if columns.system or columns.compared:
        return table, columns
    if not shared:
        _check_no_repeats(table, columns, [""] * len(table.rows))
        return _with_repeated(table, columns), columns
    keys = []
    for cells in zip(*(cells_of(table.rows, name) for name in shared), strict=True):
        keys.append(str(list(cells)))
    if len(set(keys)) == len(keys):
        if not columns.source:
            _check_no_repeats(table, columns, [""] * len(table.rows))
        return table, columns
    _check_texts_differ(table, columns, keys)
    name = "answer number"
    while name in table.columns:
        name += " "
    numbered: dict[str, int] = {}
    answers = []
    for key in keys:
        numbered[key] = numbered.get(key, 0) + 1
        answers.append(str(numbered[key]))
    rows = with_cells(table.rows, {name: answers})
    sources = f"{len(numbered)} {'sources' if columns.source else 'items'}"
    note = (
        f"the rows of a source are answers by unknown systems; intervals go over the "
        f"{sources} ({', '.join(shared)}), and nothing is said about systems"
    )
    table = replace(table, rows=rows, notes=[*table.notes, note], copied=True)
    return table, replace(columns, system=name, anonymous=True)


def _check_one_row_each(
    table: InitTable, columns: Guess, shared: Sequence[str]
) -> None:
    """Raise UserError if systems' texts for a source stand in several rows each: they
    would count as further texts.
    """
    keys = [str(list(cells)) for cells in cells_by_row(table.rows, shared)]
    _check_texts_differ(table, columns, keys)


def _check_no_repeats(table: InitTable, columns: Guess, keys: Sequence[str]) -> None:
    """Raise UserError if long texts without a source stand in several rows each."""
    # Short answers, and some long ones, are the same by chance.
    if columns.text is not None and longest(table.rows, [columns.text]):
        _check_texts_differ(table, columns, keys, most_repeated=0.4)


def _check_texts_differ(
    table: InitTable, columns: Guess, keys: Sequence[str], most_repeated: float = 0.05
) -> None:
    """Raise UserError if more than `most_repeated` of the rows repeat a text of their
    source.
    """
    if columns.text is None:
        _check_no_raters(table, columns)
        return
    first: dict[tuple[str, str], int] = {}
    repeated = []
    texts = cells_of(table.rows, columns.text)
    for key, at, cell in zip(keys, table.numbers, texts, strict=True):
        text = (key, str(cell))
        if text in first:
            repeated.append((first[text], at))
        else:
            first[text] = at
    if len(repeated) > most_repeated * len(table.rows):
        before, at = repeated[0]
        options = readings_of_systems(table, columns)
        owner = "the same source"
        remedy = "of a source apart: --system COLUMN"
        if columns.system:
            owner = "the same system"
            remedy = "of a system apart: --item COLUMN"
        raise UnclearColumns.of(
            f"the same text of {owner} is in several rows ({len(repeated)} "
            "rows repeat one): is each row a rater's, or a criterion's?",
            options,
            where=f"{table.file}, rows {before} and {at}",
            todo="give the table one row per text, with a column for each rater or "
            f"criterion; or name the column that tells the texts {remedy}",
        )


def _with_repeated(table: InitTable, columns: Guess, shortest: int = 25) -> InitTable:
    """Return the table with a note of the rows that repeat a text of another row, of at
    least `shortest` characters.
    """
    if columns.text is None:
        return table
    seen = set[str]()
    count = 0
    for text in cells_of(table.rows, columns.text):
        if isinstance(text, str) and len(text) >= shortest:
            count += text in seen
            seen.add(text)
    if not count:
        return table
    repeat = "row repeats" if count == 1 else "rows repeat"
    note = f"{count} {repeat} the text of another row; each counts as a text of its own"
    return replace(table, notes=[*table.notes, note])


def _check_no_raters(table: InitTable, columns: Guess) -> None:
    """Raise UserError if rows of a source without texts may be those of raters, as a
    column of their ids says.
    """
    for column in table.columns:
        words = set(split_header(re.split(r"[:.]", column)[-1]))
        if words & RATERS and words <= RATERS | {"id", "name", "code", "key"}:
            raise UnclearColumns.of(
                "several rows have the same source and no text of their own: is each "
                "row a rater's?",
                readings_of_systems(table, columns),
                where=f"{table.file}, column {column}",
                todo="name the column of the judged texts: --text COLUMN; or give the "
                "table one row per text, with a column for each rater",
            )


def without_sentinels(table: InitTable, columns: Guess) -> InitTable:
    """Return the table without numbers that stand for "no score", and a note of each.

    A number that both people and judges give is no such sign, unless no scale has it.
    Raises UserErrors for numbers of which it is open whether they are scores.
    """
    if columns.compared:
        return table
    sides_of_values = []
    for group in (columns.rated, columns.scored):
        values = set(table.values(group))
        sides_of_values.append(values)
    given_by_both = {
        value for value in set.intersection(*sides_of_values) if abs(value) < 99
    }
    new_columns = dict[str, list[Any]]()
    notes = list(table.notes)
    for column in [*columns.rated, *columns.scored]:
        outliers = off_scale(numbers(table.rows, column) or [])
        if outliers is None or column in table.labels:
            continue
        for value, count in outliers.counts.items():
            if value in given_by_both and is_on_wider_scale(value, outliers):
                continue
            cells = new_columns.get(column, cells_of(table.rows, column))
            new_columns[column] = [
                None if number(cell) == value else cell for cell in cells
            ]
            notes.append(
                f"column {column}: {value:g} occurs {count} times; it is off the scale "
                f"{outliers.low} to {outliers.high} and was left out as no score"
            )
    left = replace(table, rows=with_cells(table.rows, new_columns))
    _check_far_off(left, columns)
    notes += _zeros_of_one_side(left, columns)
    if len(notes) == len(table.notes):
        return table
    return replace(left, notes=notes, copied=True)


def _check_far_off(table: InitTable, columns: Guess) -> None:
    """Raise UserErrors for numbers that repeat far off the scale of the others."""
    errors = []
    for column in [*columns.rated, *columns.scored]:
        outliers = far_off(numbers(table.rows, column) or [])
        if outliers is None or column in table.labels:
            continue
        shown = [
            f"{value:g} ({plural(times, 'cell')})"
            for value, times in outliers.counts.items()
        ]
        missing = " ".join(f"{value:g}" for value in outliers.counts)
        errors.append(
            UserError(
                "a number repeats far off the scale of the others: it may be a score, "
                "or stand for none",
                where=f"{table.file}, column {column}",
                got=", ".join(shown),
                allowed=f"{outliers.low} to {outliers.high}, as in the other cells",
                todo=f"say that it stands for no score: --missing {missing}; or state "
                "the scale: --scale LOWEST:HIGHEST:STEP",
            )
        )
    if errors:
        raise UserErrors(errors)


def _zeros_of_one_side(table: InitTable, columns: Guess) -> Iterator[str]:
    """Yield a note where only one side gives 0, below a scale that begins at 1."""
    sides = {"people": columns.rated, "judges": columns.scored}
    values = {side: set(table.values(group)) for side, group in sides.items()}
    for side, other in (("people", "judges"), ("judges", "people")):
        are_integers = all(float(value).is_integer() for value in values[side])
        from_one = min(values[side] - {0}, default=0) >= 1
        if not (are_integers and from_one and min(values[other], default=0) >= 1):
            continue
        for column in sides[side]:
            if column in table.labels:
                continue
            count = (numbers(table.rows, column) or []).count(0)
            if count:
                yield (
                    f"column {column}: 0 occurs {count} times, and {other} never give "
                    "it; it counts as a score (--missing 0: it stands for none)"
                )


def with_items(table: InitTable, columns: Guess) -> tuple[InitTable, Guess]:
    """Return the table with a column of item ids, if scores cannot be joined without
    one.

    Each source is an item; in a table without sources, each row is.
    """
    if columns.item or (columns.source and (columns.texts or columns.text)):
        return table, columns
    name = "row"
    while name in table.columns:
        name += "_"
    known: dict[object, int] = {}
    items = []
    width = len(str(len(table.rows)))
    sources: Iterable[object] = range(len(table.rows))
    if columns.source:
        of_sources = (cells_of(table.rows, column) for column in columns.source)
        sources = (str(list(cells)) for cells in zip(*of_sources, strict=True))
    for source in sources:
        item = known.setdefault(source, len(known) + 1)
        items.append(f"{item:0{width}}")
    rows = with_cells(table.rows, {name: items})
    return replace(table, rows=rows), replace(columns, item=name)
