"""Tables with two texts per row and choices between them: columns, and choices as numbers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from judgescope.cli.init.guess import (
    ALL,
    MOST_LABELS,
    NOUNS,
    PEOPLE,
    REFERENCES,
    Guess,
    Row,
    aspect_of,
    guess,
    is_judge,
    is_missing,
    judges_of,
    longest,
    numbers,
    words_of,
)
from judgescope.data.rows import word_of

SIDES: Final = (("a", "b"), ("1", "2"), ("first", "second"), ("left", "right"))
"""Words that distinguish the two texts of a row, in the names of columns and in choices."""
TIES: Final = {"tie", "tied", "draw", "equal", "both", "neither", "same"}
FIRST, SECOND, TIE = 1, 2, 0
"""Choices as numbers: the first text, the second, neither."""
CODES: Final = {FIRST: ["1"], SECOND: ["2"], TIE: ["0"]}
"""Choice -> its words, if choices are written as numbers."""
CHOICE: Final = {
    *("winner", "choice", "choices", "chosen", "preference", "preferred", "prefers", "better"),
    *("best", "vote", "pick"),
}
"""Words of a column's name that mark it as choices, without naming an aspect."""
MOST_WORDS: Final = 3
"""A cell with more words is a text that happens to contain a word for a choice."""


@dataclass(frozen=True)
class Pairs:
    """The columns of a table of pairs, and the meaning of its choices."""

    texts: list[str]
    systems: list[str]
    choices: dict[str, list[int | None]]
    """Column -> the choice of each row, None where it is missing."""
    words: dict[int, list[str]]
    """Choice -> its words in the data, except the names of systems."""
    by_system: list[str]
    """The columns of choices that name the chosen system."""

    @property
    def named(self) -> dict[str, list[str]]:
        """Return role -> columns, as flags name them."""
        roles = {"texts": self.texts, "systems": self.systems}
        return {role: columns for role, columns in roles.items() if columns}

    def coded(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return the rows with numbers instead of choices."""
        coded = [dict(row) for row in rows]
        for column, codes in self.choices.items():
            for row, code in zip(coded, codes, strict=True):
                row[column] = row.get(column) if code is None else code
        return coded

    def guessed(
        self,
        rows: Sequence[Row],
        named: Mapping[str, Sequence[str]],
        aspects: Collection[str] = (),
    ) -> Guess:
        """Return the roles of all columns; a column's name shows whether its choices are a judge's.

        `aspects` are those that have cards; the columns `ratings` of `named` have another role.
        """
        taken = named.get("ratings", [])
        free = [column for column in self.choices if column not in taken]
        found = guess(rows, {**named, **self.named, "ratings": [*taken, *free]})
        scored = [column for column in free if is_judge(column)]
        ratings: dict[str, list[str]] = {}
        for column in free:
            if column not in scored:
                ratings.setdefault(_aspect(column, aspects), []).append(column)
        judges = judges_of(scored, ratings)
        return replace(found, ratings=ratings, judges=judges, choice_words=self.words)


def _says_who_chose(column: str) -> bool:
    return bool((CHOICE | PEOPLE).intersection(words_of(column))) or is_judge(column)


def _aspect(column: str, aspects: Collection[str]) -> str:
    """Return the aspect of a column of choices: `clarity_winner` is of clarity, `ann` of all."""
    words = aspect_of(column).split("-")
    kept = [word for word in words if word not in CHOICE]
    named = len(kept) < len(words) or "-".join(kept) in aspects
    return "-".join(kept) if kept and named else ALL


def pairs_of(
    rows: Sequence[Row], columns: Sequence[str], named: Mapping[str, Sequence[str]]
) -> Pairs | None:
    """Return the columns of pairs, None without a choice between two texts, or two systems."""
    taken = {column for group in named.values() for column in group}
    sided = _sided([column for column in columns if column not in taken])
    systems = list(named.get("systems", [])) or next(
        (two for stem, two in sided if set(NOUNS["system"].split()).intersection(stem)), []
    )
    candidates = {
        two[0]: two
        for _, two in sided
        if two != systems and all(_like_texts(rows, column) for column in two)
    }
    texts = list(named.get("texts", [])) or candidates.get(
        longest(rows, candidates) or next(iter(candidates), ""), []
    )
    if not texts and not systems:
        return None
    free = [column for column in columns if column not in {*taken, *texts, *systems}]
    read = {column: codes for column in free if (codes := _codes(rows, column, systems, texts))}
    hinted = "texts" in named or any(map(_says_who_chose, read))
    doubtful = not texts or guess(rows, {"ratings": [*read]}).ratings
    if not read or (doubtful and not hinted):
        return None  # a group A or B next to ratings is not a choice
    words: dict[int, dict[str, None]] = {}
    by_system = []
    for column, codes in read.items():
        for row, code in zip(rows, codes, strict=True):
            word = word_of(row.get(column)).casefold()
            if code is not None and word not in _names(row, systems):
                words.setdefault(code, {})[word] = None
            elif code is not None and column not in by_system:
                by_system.append(column)
    listed = {code: [*found] for code, found in words.items()}
    return Pairs(texts, systems, read, listed, by_system)


def choices_of_nothing(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return the columns that look like choices, in rows without two texts or systems."""
    return [c for c in columns if _says_who_chose(c) and _codes(rows, c, (), ()) is not None]


def _sided(columns: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Return pairs of columns whose names differ only by side, with their common words."""
    found: dict[tuple[str, ...], dict[int, str]] = {}
    for column in columns:
        words = words_of(column)
        for number, sides in enumerate(SIDES):
            for place, side in enumerate(sides):
                if side in words:
                    at = words.index(side)
                    stem = (str(number), str(at), *words[:at], *words[at + 1 :])
                    found.setdefault(stem, {}).setdefault(place, column)
    return [([*stem[2:]], [two[0], two[1]]) for stem, two in found.items() if len(two) == 2]


def _like_texts(rows: Sequence[Row], column: str) -> bool:
    """Return whether a column may contain the judged texts, not numbers or raters' remarks."""
    if numbers(rows, column) is not None or (PEOPLE | REFERENCES).intersection(words_of(column)):
        return False
    return len({str(row.get(column)) for row in rows}) > MOST_LABELS


def _codes(
    rows: Sequence[Row], column: str, systems: Sequence[str], texts: Sequence[str]
) -> list[int | None] | None:
    """Return the choices of a column; None if a cell is not a choice, or no text is chosen."""
    codes: list[int | None] = []
    for row in rows:
        cell = row.get(column)
        code = None if is_missing(cell) else _code(cell, row, systems, texts)
        if code is None and not is_missing(cell):
            return None
        codes.append(code)
    return codes if {FIRST, SECOND}.intersection(codes) else None


def _code(cell: object, row: Row, systems: Sequence[str], texts: Sequence[str]) -> int | None:
    word, names = word_of(cell), _names(row, systems)
    if names.count(word.casefold()) == 1:
        return FIRST + names.index(word.casefold())
    return _meaning(word, texts, systems)


def _names(row: Row, systems: Sequence[str]) -> list[str]:
    return [word_of(row.get(system)).casefold() for system in systems]


def _meaning(word: str, texts: Sequence[str], systems: Sequence[str]) -> int | None:
    """Return what a word chooses in every row; None if it has no fixed meaning."""
    for two in (texts, systems):
        if word in two:
            return FIRST + two.index(word)
    words = words_of(word)
    if len(words) > MOST_WORDS:
        return None
    if TIES.intersection(words):
        return TIE
    found = {place for sides in SIDES for place, side in enumerate(sides) if side in words}
    return FIRST + found.pop() if len(found) == 1 else None
