"""The role of a column of a user's table that the words of its name say."""

import re

from judgescope.cli.init.rating_columns import without_brackets, words_of
from judgescope.cli.init.vocabulary import ROLE_NAMES, ROLE_NOUNS, WORDS
from judgescope.tables.words import ALL_LANGUAGES, classes_of

JUDGING = frozenset(
    {"autorater", "eval", "evaluator", "grader", "judge", "metric", "scorer"}
)
"""Words of a header such as `eval.model`: the model that judged, no system."""


def role_of(column: str) -> str | None:
    """Return the role that a column's name indicates: `Gold Summary` is a reference."""
    words = clear_words(column)
    if not words or describes(column):
        return None
    if WORDS.references.intersection(words):
        return "references"
    if words[-1] in WORDS.ids:
        is_system = not set(ROLE_NOUNS["system"]).isdisjoint(words)
        return "system" if is_system else "item"
    for role, nouns in ROLE_NOUNS.items():
        if words[-1] in nouns:
            of_judge = role == "system" and not JUDGING.isdisjoint(words)
            return None if of_judge else role
    return None


def role_of_plural(column: str) -> str | None:
    """Return the role text for a name of several of them, such as `model summaries`."""
    last = "".join(clear_words(column)[-1:])
    singular = re.sub(r"s$", "", re.sub(r"ies$", "y", last))
    is_plural = last != singular and singular in ROLE_NOUNS["text"]
    return "text" if is_plural and not describes(column) else None


def names_text(column: str) -> bool:
    """Return whether a column's name says that it has the judged texts."""
    return names_role(column, "text")


def names_role(column: str, role: str) -> bool:
    """Return whether a column's name says that it has a role."""
    return column.lower() in ROLE_NAMES[role] or role_of(column) == role


def is_remark(column: str) -> bool:
    """Return whether a column has what people or a judge wrote about a text, as its
    name says: `judge.rationale`, `human_comment`.
    """
    words = clear_words(column)
    # One German header in an English table is a remark all the same.
    of_column = classes_of(column, ALL_LANGUAGES).keys()
    by_whom = {"person", "machine", "measure", "rating"} & of_column
    last = " ".join(words[-1:])
    if by_whom:
        ends = f"{words[0]} {last}" if words else ""
        return "remark" in classes_of(ends, ALL_LANGUAGES)
    # Comments of readers are judged themselves.
    return "remark" in classes_of(last) and last not in {"comment", "comments"}


def describes(column: str) -> bool:
    """Return whether a name says that a column is people's, or only describes a
    text.
    """
    words = clear_words(column)
    return bool(
        WORDS.people.intersection(words) or WORDS.remarks.intersection(words[-1:])
    )


def clear_words(column: str) -> list[str]:
    """Return the words of a name, without those in brackets and without fillers at the
    end.
    """
    words = words_of(without_brackets(column))
    while len(words) > 1 and words[-1] in WORDS.fillers:
        words = words[:-1]
    return words
