"""What a person has to say about a table of two texts a row before it can be read."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final

from judgescope.cli.init.column_values import numbers
from judgescope.cli.init.label_checks import check_one_of_two
from judgescope.cli.init.open_readings import OpenReading, UnclearColumns
from judgescope.cli.init.pair_columns import (
    PairColumns,
    names_place,
    says_who_chose,
    sided_columns,
    sided_systems,
    sided_texts,
)
from judgescope.cli.init.rating_columns import aspect_of, is_judge, words_of
from judgescope.cli.init.roles import rating_text
from judgescope.cli.init.tables import InitTable
from judgescope.cli.init.vocabulary import ROLE_NOUNS, WORDS
from judgescope.core.errors import UserError
from judgescope.data.column_rows import cells_by_row, cells_of
from judgescope.report.words import listed
from judgescope.tables.choices import SIDES
from judgescope.tables.labels import plain_label
from judgescope.tables.profile import profile
from judgescope.tables.sides import not_a_rating
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of, english_names

SHOWN: Final = frozenset(
    {
        "displayed",
        "flip",
        "flipped",
        "inverted",
        "order",
        "ordering",
        "position",
        "positions",
        "presentation",
        "presented",
        "reversed",
        "shown",
        "swap",
        "swapped",
    }
)
"""Words of a header which says which of two texts was shown first."""


def check_choices_clear(
    table: InitTable, named: Mapping[str, Sequence[str]], judging: Collection[str]
) -> None:
    """Raise UserError for a table of two texts a row whose choices, or whose rated
    text, nothing names.

    Flags that name a text, or all columns that may have choices, answer it.
    """
    if named.get("text") or named.get("system"):
        return
    taken = set(chain.from_iterable(named.values()))
    sided = sided_columns([name for name in table.columns if name not in taken])
    texts = sided_texts(table.rows, sided, sided_systems(sided))
    if not texts:
        return
    english = english_names(table.columns)
    for column in table.columns:
        if column in {*taken, *texts, *judging}:
            continue
        if _has_unknown_choices(table, column, english[column]):
            raise _unknown_choices(table, column, texts)
    if ROLE_NOUNS_OF_TEXTS.isdisjoint(words_of(english[texts[0]])):
        return
    rated = []
    for column in table.columns:
        evidence = classes_of(english[column])
        is_side = {"person", "machine", "measure"} & evidence.keys()
        if not is_side or column in {*taken, *texts, *judging}:
            continue
        if not_a_rating(column, evidence):
            continue
        if profile(table.rows, column).kind in {"number", "label"}:
            rated.append(column)
    people = [name for name in rated if classes_of(english[name]).get("person")]
    if people and len(rated) > len(people):
        raise UnclearColumns.of(
            f"a row has two texts, and nothing says which of them {listed(rated)} rate",
            [
                OpenReading(f"{text} is the rated text", {"text": [text]})
                for text in texts
            ],
            where=str(table.file),
            allowed=texts,
            todo=f"name the rated text: --text {texts[0]}; or, if they choose between "
            "the texts, add columns with A, B and tie",
        )


ROLE_NOUNS_OF_TEXTS: Final = frozenset(ROLE_NOUNS["text"])


def _has_unknown_choices(table: InitTable, column: str, english: str) -> bool:
    """Whether a column chooses between the two texts of a row by codes that may mean
    either: 0 and 1, -1 to 1, 1 to 7, or A, B and C.
    """
    values = numbers(table.rows, column)
    is_choice = not WORDS.choices.isdisjoint(words_of(english))
    if values is not None:
        complete = all(float(value).is_integer() for value in values)
        grades = says_who_chose(english) and bool(values) and min(values) < 0
        return complete and (is_choice or (grades and max(values) > 0))
    if profile(table.rows, column).kind != "label" or not says_who_chose(english):
        return False
    words = set[str]()
    for cell in cells_of(table.rows, column):
        if not is_missing(cell):
            words.add(plain_label(cell).strip("[]()"))
    check_one_of_two(table, column, {word: word for word in words})
    return any(words.issuperset(pair) for pair in SIDES)


def _unknown_choices(
    table: InitTable, column: str, texts: list[str], most_shown: int = 7
) -> UserError:
    cells = {str(cell) for cell in cells_of(table.rows, column) if not is_missing(cell)}
    shown = sorted(cells)[:most_shown]
    return UserError(
        f"a row has two texts ({listed(texts)}), and nothing says which of them each "
        "of these cells chooses",
        where=f"{table.file}, column {column}",
        got=", ".join(shown),
        allowed="A, B and tie; 1, 2 and 0; first and second; left and right; the name "
        "of a column or of a system",
        todo="add a column with the choices in such words, for people and for the "
        f"judge; or, if these are ratings of one text, name it: --text {texts[0]}",
    )


def check_order_clear(
    table: InitTable, pairs: PairColumns, judging: Collection[str]
) -> None:
    """Raise UnclearColumns if a column says which text was shown first, and choices
    such as A may name the text shown first or that of the first column.
    """
    english = english_names(table.columns)
    chosen = []
    for name in pairs.choices:
        if says_who_chose(english[name]):
            chosen.append(name)
    if {*judging}.issuperset(chosen) or not pairs.words:
        return
    for column in table.columns:
        if column in {*pairs.texts, *pairs.systems, *pairs.other_order}:
            continue
        if column in pairs.choices and says_who_chose(english[column]):
            continue
        if not _says_order(table, column) or _are_moved(table, column, pairs):
            continue
        first, second = pairs.texts or pairs.systems
        judges = [name for name in chosen if is_judge(english[name])]
        people = [name for name in chosen if name not in judges]
        flags: dict[str, list[str]] = {}
        if judges:
            flags["judge"] = judges
        if people:
            flags["human"] = [_human_flag(people)]
        meaning = (
            f"{listed(chosen)} name the columns {first} and {second}, "
            "whichever was shown first"
        )
        raise UnclearColumns.of(
            "a column says which text was shown first: do the choices name the text "
            "that was shown first, or the column of the table?",
            [OpenReading(meaning, flags)],
            where=f"{table.file}, column {column}",
            todo="if they name columns, say so by the flags of the reading; if they "
            f"name what was shown first, make columns with the texts in that order in "
            f"place of {first} and {second}",
        )


def _human_flag(people: Sequence[str]) -> str:
    """The value of --human for some columns of choices."""
    if len(people) == 1:
        return people[0]
    return rating_text("overall", people)


def _says_order(table: InitTable, column: str) -> bool:
    """Whether a column with two different cells says which text was shown first."""
    is_shown = not SHOWN.isdisjoint(words_of(column)) and aspect_of(column) != "overall"
    if not is_shown and not names_place(column):
        return False
    cells = {str(cell) for cell in cells_of(table.rows, column) if not is_missing(cell)}
    return len(cells) == 2


def _are_moved(table: InitTable, column: str, pairs: PairColumns) -> bool:
    """Whether the rows have the same two texts in both orders: then the columns have
    them in the order in which they were shown.
    """
    names = pairs.texts or pairs.systems
    orders = {tuple(map(str, cells)) for cells in cells_by_row(table.rows, names)}
    moved = [order for order in orders if order[::-1] in orders]
    return 2 * len(moved) >= len(orders)
