"""Columns of labels and of choices between two texts: read as numbers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from judgescope.cli.init.column_values import number, numbers
from judgescope.cli.init.fault_columns import (
    answering,
    asks_for_property,
    fault_columns,
    fault_in,
)
from judgescope.cli.init.label_checks import (
    LABELS,
    check_one_label,
    check_one_of_two,
    check_ones_clear,
)
from judgescope.cli.init.pair_checks import check_choices_clear, check_order_clear
from judgescope.cli.init.pair_columns import has_choices, pairs_of
from judgescope.cli.init.rating_columns import is_judge, is_mean, words_of
from judgescope.cli.init.reversed_scores import with_reversed_scores
from judgescope.cli.init.tables import InitTable, Label
from judgescope.core.errors import UserError
from judgescope.data.column_rows import cells_of, with_cells
from judgescope.data.rows import TableRow
from judgescope.report.words import listed, plural
from judgescope.tables.label_failures import label_failures
from judgescope.tables.labels import LabelOrder, are_answers, order_of, plain_label
from judgescope.tables.profile import profile
from judgescope.tables.raters import is_given_name, is_numbered_rater
from judgescope.tables.sides import not_a_rating
from judgescope.tables.spelling import MISSING, is_missing
from judgescope.tables.words import (
    RATING_CLASSES,
    asks_for_a_rating,
    classes_of,
    languages_of,
)

LABEL_CODES: Final[dict[str, int]] = {}
for _low_label, _high_label in LABELS:
    LABEL_CODES[_low_label] = 0
    LABEL_CODES[_high_label] = 1


def coded(
    table: InitTable, named: Mapping[str, Sequence[str]], judging: Collection[str] = ()
) -> InitTable:
    """Return the table with numbers instead of two labels, or of choices between two
    texts.

    A column has labels if all its cells are words of LABELS, some worse and some better
    ones. One with a single label counts, too, if it is named as ratings or scores
    (`judging`) or as a judge's, and another column has this label: a judge that passes
    everything must be judged as well.
    """
    table = _without_failures(table)
    pairs = pairs_of(table.rows, table.columns, named, judging)
    if pairs is not None:
        check_order_clear(table, pairs, judging)
        rows = _with_codes(table.rows, pairs.choices)
        notes = list(table.notes)
        for column in pairs.other_order:
            notes.append(
                f"column {column}: choices in the other order of the texts; nothing "
                "says whether its first text is the one that was shown first, so it is "
                "not used"
            )
        return replace(
            table, rows=rows, pairs=pairs, labels={}, other_labels={}, notes=notes
        )
    if named.get("texts"):
        allowed = ["1", "2", "A", "B", "left", "right", "tie"]
        raise UserError(
            "no column has only choices between these two texts",
            where=f"{table.file}, --texts",
            got=", ".join(named["texts"]),
            allowed=[*allowed, "a column's or a system's name"],
            todo="add a column of choices; leave the cell of a missing choice empty",
        )
    check_choices_clear(table, named, judging)
    return _with_labels(table, judging)


def coded_export(table: InitTable, judging: Collection[str] = ()) -> InitTable:
    """Return the table of an export with numbers instead of labels, in the columns that
    its reader or a flag (`judging`) takes for ratings and scores.

    A column with cells that are neither belongs to no side; a note says so.
    """
    known = table.known
    if known is None or known.compared:
        return table
    columns = [*known.rated, *known.scored]
    columns += [name for name in table.columns if name in {*judging} - {*columns}]
    only = replace(table, columns=columns, pairs=None, labels={}, other_labels={})
    read = replace(_with_labels(only, set(columns)), columns=table.columns)
    read = _with_own_labels(read, known.rated, known.scored)
    unread = []
    other_labels = []
    sizes = {len(read.labels[name]) for name in known.rated if name in read.labels}
    for column in [*known.rated, *known.scored]:
        if numbers(read.rows, column) is None:
            unread.append(column)
        elif column in read.labels and len(read.labels[column]) not in sizes:
            other_labels.append(column)
    notes = list(read.notes)
    if unread:
        notes.append(
            f"neither numbers nor labels that people and judges share: "
            f"{', '.join(unread)}; not used"
        )
    if sizes and other_labels:
        names = ", ".join(other_labels)
        notes.append(f"labels of another scale than people's: {names}; not used")
        unread += other_labels
    return replace(read, known=known.without(unread), notes=notes)


def _with_own_labels(
    table: InitTable, rated: Collection[str], scored: Collection[str]
) -> InitTable:
    """Return the table with numbers in place of labels that only people give, or that
    people and judges share although they may also be choices, such as A and B.

    Labels that only a judge gives stay words.
    """
    of_people = _own_labels(table, rated)
    of_judges = _own_labels(table, scored)
    together: dict[str, str] = {}
    for words in of_people.values():
        together = {**words, **together}
    used = dict(of_people)
    for column, words in of_judges.items():
        if words.keys() <= together.keys():
            used[column] = words
    order = order_of(together.values(), list(used))
    if order is None or not order.ordered:
        return table
    codes: dict[str, list[int | None]] = {}
    labels = dict(table.labels)
    code_of_word = {plain_label(word): at for at, word in enumerate(order.labels)}
    for column in used:
        codes[column] = []
        for cell in cells_of(table.rows, column):
            codes[column].append(code_of_word.get(plain_label(cell)))
        labels[column] = order.labels
    notes = list(table.notes)
    for note in filter(None, (order.note, order.remark)):
        notes.append(f"{', '.join(used)}: {note}")
    rows = _with_codes(table.rows, codes)
    return replace(table, rows=rows, labels=labels, notes=notes)


def _own_labels(
    table: InitTable, columns: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return column -> its labels, for the columns of labels that are not read yet."""
    used: dict[str, dict[str, str]] = {}
    for column in columns:
        is_label = profile(table.rows, column).kind == "label"
        if column in table.labels or not is_label:
            continue
        used[column] = _words_in(table.rows, column)
    return used


def _words_in(rows: Sequence[TableRow], column: str) -> dict[str, str]:
    """Return the labels of a column: plain word -> as it is written first."""
    words: dict[str, str] = {}
    for cell in cells_of(rows, column):
        if not is_missing(cell):
            words.setdefault(plain_label(cell), str(cell).strip())
    return words


def _with_labels(table: InitTable, judging: Collection[str]) -> InitTable:
    """Return the table with numbers instead of labels."""
    words: dict[str, list[str]] = {}
    one_label: dict[str, list[str]] = {}
    known: set[str] = set()
    for column in table.columns:
        if column in table.labels:
            continue  # the command line states its labels
        cells = _label_words(table.rows, column)
        used = set(cells) - MISSING
        if {LABEL_CODES[word] for word in used} == {0, 1}:
            words[column] = cells
            known |= used
        elif used and (column in judging or is_judge(column)):
            one_label[column] = cells
    for column, cells in one_label.items():
        if set(cells) - MISSING <= known:
            words[column] = cells
    codes: dict[str, list[int | None]] = {}
    labels: dict[str, Label] = dict(table.labels)
    others: dict[str, int] = {}
    for column, cells in words.items():
        codes[column] = [LABEL_CODES.get(word) for word in cells]
        used = set(cells) - MISSING
        labels[column] = next(pair for pair in LABELS if used.intersection(pair))
        for word in used.difference(labels[column]):
            others[word] = LABEL_CODES[word]
    free = [name for name in table.columns if name not in table.labels]
    answers = answering(table.rows, words, free)
    faults = fault_columns(answers)
    for column in faults:
        if column in codes:
            codes[column] = _reversed_codes(codes[column])
            labels[column] = labels[column][::-1]
    notes = [*table.notes, *_notes_on_answers(answers, faults, labels)]
    rows = _with_codes(table.rows, codes)
    table = replace(
        table,
        rows=rows,
        pairs=None,
        labels=labels,
        other_labels=others,
        notes=notes,
        copied=table.copied or bool(faults),
    )
    stated = set(table.labels) - set(words)
    table = _with_other_labels(_with_faults(table, faults), judging)
    check_ones_clear(table, stated)
    table = with_reversed_scores(table, faults, stated)
    return replace(table, notes=[*table.notes, *_notes_on_none(table)])


def _reversed_codes(codes: Iterable[int | None]) -> list[int | None]:
    """Return 0 for 1, and 1 for 0."""
    return [None if code is None else 1 - code for code in codes]


def _notes_on_answers(
    answers: Collection[str], faults: list[str], labels: Mapping[str, Label]
) -> Iterator[str]:
    """Yield which of yes and no, or 1 and 0, is the bad answer, where it is no plain
    matter.
    """
    if faults:
        yes = "1"
        if faults[0] in labels:
            yes = labels[faults[0]][0]
        fault = fault_in(faults)
        yield f"{listed(faults)}: {yes} means {fault}, the bad label"
    open_columns: dict[Label, list[str]] = {}
    for column in answers:
        if column not in faults and asks_for_property(column):
            pair = labels.get(column, ("0", "1"))
            open_columns.setdefault(pair, []).append(column)
    for (no, yes), columns in open_columns.items():
        yield (
            f"{listed(columns)}: it is not known whether {yes} is good; it counts as "
            f"the good label (--labels {yes},{no} says otherwise)"
        )


def _without_failures(table: InitTable) -> InitTable:
    """Return the table without words that say there is no label, and a note of each."""
    cells = {}
    languages = languages_of(table.columns)
    for column in table.columns:
        of_column = classes_of(column, languages).keys()
        if column not in table.labels and RATING_CLASSES & of_column:
            cells[column] = cells_of(table.rows, column)
    failures_of = label_failures(cells)
    if not failures_of:
        return table
    notes = list(table.notes)
    for column, failures in failures_of.items():
        for word, count in failures.items():
            times = "cell says" if count == 1 else "cells say"
            notes.append(
                f"column {column}: {count} {times} {word!r}, which is no label; left "
                "out"
            )
    without = {}
    for column, failures in failures_of.items():
        left = list[Any]()
        for cell in cells_of(table.rows, column):
            left.append(None if str(cell).strip() in failures else cell)
        without[column] = left
    rows = with_cells(table.rows, without)
    return replace(table, rows=rows, notes=notes, copied=True)


def _with_other_labels(table: InitTable, judging: Collection[str]) -> InitTable:
    """Return the table with numbers in place of labels that are in no list.

    Two columns have such labels if they share at least two of up to seven words, and
    if their headers name people, a judge or a rating, or are in `judging`. A judge that
    uses one of the words only is read, too.
    """
    used = _labels_by_column(table, judging)
    alone = _of_people_alone(table, used)
    if alone and len(alone[0]) > 2 and _has_scores(table):
        return _as_steps(table, used, alone[0])
    shared = [*_sharing(used), *alone]
    if not shared:
        return table
    codes: dict[str, list[int | None]] = {}
    labels = dict(table.labels)
    unordered = set(table.unordered)
    notes = list(table.notes)
    for words in shared:
        columns = []
        for name in used:
            if used[name].keys() <= words.keys():
                columns.append(name)
        words = {**words, **_word_none(table.rows, columns)}
        faults = fault_columns(columns)
        good = [name for name in columns if name not in faults]
        for group in filter(None, (faults, good)):
            order = order_of(words.values(), faults if group is faults else [])
            if order is None:
                continue
            for column in group:
                codes[column] = _places_of(table, column, order.labels)
                labels[column] = order.labels
            if not order.ordered:
                unordered.add(order.labels)
            for note in filter(None, (order.note, order.remark)):
                notes.append(f"{', '.join(group)}: {note}")
            notes += _notes_on_property(group, order)
    return replace(
        table,
        rows=_with_codes(table.rows, codes),
        labels=labels,
        unordered=frozenset(unordered),
        notes=notes,
        copied=True,
    )


def _places_of(
    table: InitTable, column: str, labels: Sequence[str]
) -> list[int | None]:
    """Return the place of each row's label among some labels."""
    place_of = {plain_label(word): place for place, word in enumerate(labels)}
    return [place_of.get(plain_label(cell)) for cell in cells_of(table.rows, column)]


def _notes_on_property(columns: Sequence[str], order: LabelOrder) -> Iterator[str]:
    """Yield the note on yes and no that answer a question of which nobody knows whether
    yes is good.
    """
    if order.note or not order.ordered or not are_answers(order.labels):
        return
    asking = [name for name in columns if asks_for_property(name)]
    if asking:
        no, yes = order.labels
        yield (
            f"{listed(asking)}: it is not known whether {yes} is good; it counts as "
            f"the good label (--labels {yes},{no} says otherwise)"
        )


def _has_scores(table: InitTable) -> bool:
    """Return whether a column that may be a judge's has numbers."""
    languages = languages_of(table.columns)
    for column in table.columns:
        evidence = classes_of(column, languages)
        scored = {"machine", "measure", "rating", "outcome"} & evidence.keys()
        if scored and "person" not in evidence and numbers(table.rows, column):
            return True
    return False


def _as_steps(
    table: InitTable,
    used: Mapping[str, Mapping[str, str]],
    words: Mapping[str, str],
) -> InitTable:
    """Return the table with 1, 2, 3 … for people's ordered labels beside a judge's
    numbers: ranks agree or not, and no number stands for one of several labels.
    """
    [column] = [name for name in used if used[name].keys() == words.keys()]
    order = order_of(words.values(), [column])
    assert order is not None
    steps = {plain_label(word): at for at, word in enumerate(order.labels, start=1)}
    values = [steps.get(plain_label(row.get(column))) for row in table.rows]
    note = (
        f"column {column}: {order.labels[0]} to {order.labels[-1]} were read as 1 to "
        f"{len(order.labels)}, because the judge gives numbers"
    )
    return replace(
        table,
        rows=_with_codes(table.rows, {column: values}),
        notes=[*table.notes, note],
        copied=True,
    )


def _of_people_alone(
    table: InitTable, used: Mapping[str, Mapping[str, str]]
) -> list[dict[str, str]]:
    """Return the labels of known order of people's columns, if no other column has
    labels: a judge's scores are compared with them by a threshold.
    """
    people = {}
    languages = languages_of(table.columns)
    for column, words in used.items():
        evidence = classes_of(column, languages)
        if "person" in evidence or asks_for_a_rating(column):
            people[column] = dict(words)
        elif len(words) > 1 and "machine" in evidence:
            return []
    if len(people) != 1 or table.labels:
        return []
    [(column, words)] = people.items()
    order = order_of(words.values(), [column])
    if order and order.ordered and not order.note:
        return [words]
    return []


def _notes_on_none(table: InitTable) -> Iterator[str]:
    """Yield how many cells of each column of labels say none, and count as missing."""
    for column in table.labels:
        count = 0
        for cell in cells_of(table.rows, column):
            count += isinstance(cell, str) and plain_label(cell) == "none"
        if count:
            yield (
                f"column {column}: {plural(count, 'cell')} with 'none', which counts "
                "as missing (--labels names it as a label)"
            )


def _word_none(rows: Sequence[TableRow], columns: Sequence[str]) -> dict[str, str]:
    """Return the word none, plain and as it is written, if two columns of labels have
    it: then it is an answer, as in favor, against, none; else a missing label.
    """
    written: dict[str, str] = {}
    with_none = set[str]()
    for of_row in zip(*(cells_of(rows, column) for column in columns), strict=True):
        for column, cell in zip(columns, of_row, strict=True):
            if plain_label(cell) == "none" and cell is not None:
                written.setdefault("none", str(cell).strip())
                with_none.add(column)
    if len(with_none) > 1:
        return written
    return {}


def _labels_by_column(
    table: InitTable, judging: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return column -> its labels as plain words -> as they are written first, for the
    columns that may have ratings or scores in words.
    """
    used: dict[str, dict[str, str]] = {}
    others: dict[str, dict[str, str]] = {}
    languages = languages_of(table.columns)
    for column in table.columns:
        if column in table.labels:
            continue
        if profile(table.rows, column).kind != "label":
            continue
        if has_choices(table.rows, column):
            continue  # A, B or tie is a choice between two texts
        may_rate = RATING_CLASSES & classes_of(column, languages).keys()
        may_rate |= {"rating"} if asks_for_a_rating(column) else set()
        if not_a_rating(column, classes_of(column, languages)) and (
            column not in judging
        ):
            continue
        whose = used if may_rate or column in judging else others
        words = _words_in(table.rows, column)
        if whose is used:
            check_one_of_two(table, column, words)
            check_one_label(table, column, words)
        whose[column] = words
    for column, words in others.items():
        if any(_rate_the_same(column, words, name, used[name]) for name in [*used]):
            used[column] = words
    return used


def _rate_the_same(
    column: str, words: Mapping[str, str], judge: str, of_judge: Mapping[str, str]
) -> bool:
    """Return whether a column has a judge's labels, and most words of its header:
    `qa_polite` beside `ai_polite`; or raters' labels beside a judge's, `ann1`.
    """
    evidence = classes_of(judge)
    machine = evidence.get("machine") or evidence.get("measure")
    if not machine or evidence.get("person") or len(words) < 2:
        return False
    if words.keys() ^ of_judge.keys():
        return False
    of_column = words_of(column)
    of_machine = words_of(judge)
    in_common = set(of_column) & set(of_machine)
    if in_common and len(of_column) == len(of_machine) == len(in_common) + 1:
        return True
    of_rater = is_numbered_rater(column) or is_mean(column)
    return of_rater or any(map(is_given_name, of_column))


def _sharing(used: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the vocabularies that columns share: plain word -> as it is written."""
    vocabularies: list[dict[str, str]] = []
    for column, words in used.items():
        partners = []
        for other, theirs in used.items():
            if other != column and len(words.keys() & theirs.keys()) >= 2:
                partners.append(theirs)
        if not partners:
            continue
        together = dict(words)
        for theirs in partners:
            together = {**theirs, **together}
        known = [each for each in vocabularies if each.keys() & together.keys()]
        if known:
            known[0].update({**together, **known[0]})
        else:
            vocabularies.append(together)
    return vocabularies


def _with_faults(table: InitTable, faults: Sequence[str]) -> InitTable:
    """Return the table with 0 for a fault, where 1 in a column says that there is one.

    In `is_toxic_human` and `is_toxic_llm`, 1 means toxic, the worse label.
    """
    codes: dict[str, list[int | None]] = {}
    labels = dict(table.labels)
    for column in faults:
        if column in labels:
            continue
        values = [number(cell) for cell in cells_of(table.rows, column)]
        codes[column] = _reversed_codes(
            None if value is None else int(value) for value in values
        )
        fault = fault_in(faults)
        labels[column] = (fault, f"not {fault}")
    return replace(table, rows=_with_codes(table.rows, codes), labels=labels)


def _label_words(rows: Sequence[TableRow], column: str) -> list[str]:
    """Return the cells of a column in lower case; [] if one is neither a label nor
    missing.
    """
    words = []
    for cell in cells_of(rows, column):
        word = plain_label(cell)
        # A cell that JSON types is no word.
        is_typed = isinstance(cell, bool | list)
        if is_typed or (word not in MISSING and word not in LABEL_CODES):
            return []
        words.append(word)
    return words


def _with_codes(
    rows: Sequence[TableRow], codes: Mapping[str, Sequence[int | None]]
) -> Sequence[TableRow]:
    """Return rows with numbers in some columns; a cell without a number stays.

    codes: column -> the number of each row.
    """
    coded_cells = {}
    for column, of_rows in codes.items():
        cells = list[Any]()
        for cell, code in zip(cells_of(rows, column), of_rows, strict=True):
            cells.append(cell if code is None else code)
        coded_cells[column] = cells
    return with_cells(rows, coded_cells)
