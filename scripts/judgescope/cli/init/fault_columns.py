"""Columns that answer yes or no, or 1 or 0, to a question for a fault: yes is bad.

In `is_toxic_human`, 1 means toxic. A column of the other side that names no question
of its own, such as `gpt4`, answers the same one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from judgescope.cli.init.column_values import numbers
from judgescope.cli.init.vocabulary import WORDS
from judgescope.data.rows import TableRow
from judgescope.tables.labels import is_fault
from judgescope.tables.polarity import praises
from judgescope.tables.raters import ASPECT_WORDS, is_given_name
from judgescope.tables.spelling import MISSING
from judgescope.tables.words import (
    ALL_LANGUAGES,
    RATING_CLASSES,
    ROLE_NOUNS,
    classes_of,
    split_header,
)

PRESENCE: Final = frozenset(
    {
        "contain",
        "contains",
        "detected",
        "flag",
        "flags",
        "has",
        "have",
        "include",
        "includes",
        "mention",
        "mentions",
        "present",
    }
)
"""Words of a header which ask whether something is there, be it good or bad."""
CONNECTING: Final = frozenset(
    {
        "and",
        "answer",
        "are",
        "by",
        "does",
        "final",
        "for",
        "from",
        "id",
        "in",
        "is",
        "it",
        "of",
        "output",
        "response",
        "summary",
        "text",
        "the",
        "this",
        "was",
    }
)
"""Words of a header that ask for nothing."""


def answering(
    rows: Sequence[TableRow], words: Mapping[str, Sequence[str]], columns: Iterable[str]
) -> list[str]:
    """The columns whose cells are 1 and 0, or answer yes or no.

    words: column with labels -> its cells in lower case.
    """
    fault_columns = []
    yes_or_no = frozenset({"yes", "no", "true", "false", "y", "n", "t", "f"})
    for column in columns:
        if column in words:
            is_answer = set(words[column]) - MISSING <= yes_or_no
        else:
            is_answer = set(numbers(rows, column) or ()) == {0.0, 1.0}
        if is_answer:
            fault_columns.append(column)
    return fault_columns


def fault_columns(answers: Collection[str]) -> list[str]:
    """The columns of yes and no in which yes is the bad answer.

    >>> fault_columns(["toxic_human", "gpt4"]), fault_columns(["human", "gpt4"])
    (['toxic_human', 'gpt4'], [])
    >>> fault_columns(["human", "gpt4", "has_error"])  # another fact on the texts
    []
    """
    evidence = {column: classes_of(column, ALL_LANGUAGES) for column in answers}
    side_words = frozenset({"person", "machine", "measure"})
    sided = [column for column in answers if side_words & evidence[column].keys()]
    sides = set[str]()
    for column in sided:
        sides.add("people" if "person" in evidence[column] else "judge")
    faults = []
    for column in answers:
        # Without a word for a side it may be the column of the side that is missing.
        if is_fault([column]) and (column in sided or len(sides) < 2):
            faults.append(column)
    if not faults:
        return []
    others = [column for column in sided if column not in faults]
    same = [column for column in others if asks_nothing(column)]
    if all(column in same or praises(column) for column in others):
        faults += same
    return [column for column in answers if column in faults]


def fault_in(columns: Iterable[str]) -> str:
    """The first word for a fault in some headers."""
    for column in columns:
        for word in split_header(column):
            if is_fault([word]):
                return word
    raise AssertionError("no header has a word for a fault")


def asks_for_property(column: str) -> bool:
    """Whether a header asks for something that is not known to be good.

    >>> asks_for_property("contains_address"), asks_for_property("human_formal")
    (True, True)
    >>> asks_for_property("is_correct_human"), asks_for_property("human_label")
    (False, False)
    >>> asks_for_property("attack_success")
    True
    """
    if not PRESENCE.isdisjoint(split_header(column)):
        return True
    # `attack_success` praises what may be bad.
    if praises(column) and "fault" not in classes_of(column, ALL_LANGUAGES):
        return False
    ignored = WORDS.general | WORDS.means | WORDS.people | WORDS.ratings | ROLE_NOUNS
    for word in split_header(column):
        says_who = RATING_CLASSES & classes_of(word, ALL_LANGUAGES).keys()
        is_name = is_given_name(word) or word.isdigit() or len(word) == 1
        if not (says_who or is_name or word in ignored | ASPECT_WORDS | CONNECTING):
            return True
    return False


def asks_nothing(column: str) -> bool:
    """Whether a header only says who rated: `gpt4_verdict`, `Human label`.

    >>> asks_nothing("gpt4_verdict"), asks_nothing("judge_pass")
    (True, False)
    """
    if praises(column):
        return False
    for word in split_header(column):
        says_who = RATING_CLASSES & classes_of(word, ALL_LANGUAGES).keys()
        is_known = says_who or word in ROLE_NOUNS
        if not (is_known or word.isdigit() or len(word) == 1):
            return False
    return True
