"""A user's table as `init` and `audit` read it: labels and choices as numbers, a row
per text.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from judgescope.cli.context import check_input
from judgescope.cli.init.guess import (
    ALL,
    MISSING,
    MOST_LABELS,
    NOUNS,
    PAIRED,
    PEOPLE,
    REFERENCES,
    ROLES,
    Guess,
    Row,
    aspect_of,
    columns_of,
    guess,
    is_judge,
    is_missing,
    judges_of,
    longest,
    numbers,
    scale,
    words_of,
)
from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.rows import entries, read_rows, word_of
from judgescope.schema.loading import Cards

CHOICES: Final = {"min": -1, "max": 1}
"""The scale of choices between two texts: 1 stands for the first text."""
Scale = Mapping[str, float]
Label = tuple[str, str]
"""The worse label, then the better one."""
FAIL_PASS: Final[Label] = ("fail", "pass")
"""The labels of ratings that are 0 and 1."""
LABELS: Final[tuple[Label, ...]] = (
    FAIL_PASS,
    ("failed", "passed"),
    ("no", "yes"),
    ("false", "true"),
    ("bad", "good"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("reject", "accept"),
    ("rejected", "accepted"),
    ("unacceptable", "acceptable"),
    ("unsafe", "safe"),
    ("unfaithful", "faithful"),
    ("not ok", "ok"),
)
"""Words that name two labels, whatever their case; others are named in a study's
cards."""
LABEL_CODES: Final = {word: code for pair in LABELS for code, word in enumerate(pair)}
SIDES: Final = (("a", "b"), ("1", "2"), ("first", "second"), ("left", "right"))
"""Words that distinguish the two texts of a row, in the names of columns and in
choices."""
TIES: Final = {"tie", "tied", "draw", "equal", "both", "neither", "same"}
FIRST, SECOND, TIE = 1, 2, 0
"""Choices as numbers: the first text, the second, neither."""
CODES: Final = {FIRST: ["1"], SECOND: ["2"], TIE: ["0"]}
"""Choice -> its words, if choices are written as numbers."""
CHOICE: Final = {
    *(
        "winner",
        "choice",
        "choices",
        "chosen",
        "preference",
        "preferred",
        "prefers",
        "better",
    ),
    *("best", "vote", "pick"),
}
"""Words of a column's name that mark it as choices, without naming an aspect."""
MOST_WORDS: Final = 3
"""A cell with more words is a text that happens to contain a word for a choice."""
RATER: Final = {"rater", "annotator", "judge", "worker", "evaluator"}
VALUE: Final = {"value", "score", "rating", "label", "annotation", *CHOICE}
ASPECT: Final = {"aspect", "dimension", "criterion", "attribute"}
KIND: Final = {"kind", "type"}
"""Words that name the columns of a long table."""
MODELS: Final = {
    "model",
    "llm",
    "judge",
    "ai",
    "machine",
    "auto",
    "automatic",
    "metric",
}
"""Words in the cells of a column of KIND that indicate a judge instead of a person."""
MOST_RATERS: Final = 20
"""With more raters, one column has a list of their ratings, without their names."""


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


@dataclass(frozen=True)
class Table:
    """A file's rows and columns, and the ids of all aspects that have cards."""

    file: Path
    numbers: Sequence[int]
    """The rows' numbers in the file, of a long table the first row of each text."""
    rows: Sequence[Row]
    columns: Sequence[str]
    aspects: Sequence[str]
    labels: Mapping[str, Label] = field(default_factory=dict)
    """Column with two labels (its rows have 0 and 1 instead) -> the labels; if it uses
    several of LABELS, the first of them."""
    other_labels: Mapping[str, int] = field(default_factory=dict)
    """Further words of these columns -> 0 or 1."""
    pairs: Pairs | None = None
    """The columns of choices between two texts, if there are any; rows have them as
    numbers."""
    known: Guess | None = None
    """The roles of the columns, if the file's format determines them."""
    stated: Mapping[str, Scale] = field(default_factory=dict)
    """Aspect -> its scale, if the file gives it."""
    long: int = 0
    """The number of rows in a long file, where a row has one rating or choice; else
    0."""
    copied: bool = False
    """Whether a study needs a copy of these rows, as cards cannot describe the original
    file."""

    @property
    def title(self) -> str:
        """Return the file and its size; for a long table, also how many rows were made
        from it.
        """
        rows = f"{len(self.rows):,} rows"
        if self.long:
            rows = (
                f"{self.long:,} rows of one rating or choice each, read as {rows} "
                "of texts or pairs"
            )
        return f"{self.file}: {rows}, {len(self.columns)} columns"

    def nearest_aspect(self, name: str) -> str:
        """Return the aspect with a card that has the most similar name, or else all of
        them.
        """
        near = UserError("", where="", got=name, allowed=self.aspects).nearest()
        all_aspects = ", ".join(self.aspects)
        return (
            f"the most similar card is {near}"
            if near
            else f"aspects with cards: {all_aspects}"
        )

    def filled(self, column: str) -> list[tuple[int, Row]]:
        """Return the rows with a value in a column, each with its number."""
        rows = zip(self.numbers, self.rows, strict=True)
        return [
            (number, row) for number, row in rows if not is_missing(row.get(column))
        ]

    def missing_cells(self, columns: Iterable[str]) -> dict[str, int]:
        """Return how many rows have no value, for the columns that lack any."""
        cells = {
            name: [entries(row.get(name)) for row in self.rows] for name in columns
        }
        counts = {
            name: sum(all(map(is_missing, each)) for each in of)
            for name, of in cells.items()
        }
        return {name: count for name, count in counts.items() if count}

    def values(self, columns: Iterable[str]) -> list[float]:
        """Return all numbers of some columns."""
        return [
            value for column in columns for value in numbers(self.rows, column) or []
        ]

    def described(self, columns: Sequence[str]) -> str:
        """Return the range of some columns' ratings: `3 columns, values 1 to 5`."""
        values = self.values(columns)
        raters = f"{len(columns)} columns, " if len(columns) > 1 else ""
        if self.labels.keys() >= {*columns}:
            return f"{raters}labels"
        return f"{raters}values {min(values):g} to {max(values):g}"

    def guessed(
        self, named: Mapping[str, Sequence[str]], taken: Sequence[str]
    ) -> Guess:
        """Return the roles of the columns; `taken` are the columns of ratings and
        scores.

        The name of a column of choices shows whether they are a judge's.
        """
        if self.known is not None:
            measured = [*named.get("length", ()), *named.get("lengths", ())]
            known = self.known.without(measured)
            length = next(iter(named.get("length", ())), None)
            return replace(known, length=length, lengths=[*named.get("lengths", ())])
        if self.pairs is None:
            return guess(self.rows, {**named, "ratings": taken}, self.aspects)
        free = [column for column in self.pairs.choices if column not in taken]
        guessed = guess(self.rows, {**named, "ratings": [*taken, *free]})
        scored = [column for column in free if is_judge(column)]
        ratings: dict[str, list[str]] = {}
        for column in free:
            if column not in scored:
                ratings.setdefault(_aspect(column, self.aspects), []).append(column)
        judges = judges_of(scored, ratings)
        return replace(
            guessed, ratings=ratings, judges=judges, choice_words=self.pairs.words
        )

    def labels_of(self, columns: Guess, stated: Collection[str]) -> dict[str, Label]:
        """Return aspect -> its two labels, if people gave labels and no scale is
        `stated`.
        """
        labels = {
            aspect: next((self.labels[c] for c in group if c in self.labels), FAIL_PASS)
            for aspect, group in columns.ratings.items()
            if not columns.compared
            and aspect not in stated
            and self._zeros_and_ones(group)
        }
        alike = (
            len({*labels.values()}) == 1
        )  # a judge's card has one translation of 0 and 1
        return labels if alike else dict.fromkeys(labels, FAIL_PASS)

    def _zeros_and_ones(self, columns: Iterable[str]) -> bool:
        return {*self.values(columns)} == {0.0, 1.0}

    def _in_words(self, columns: Iterable[str]) -> bool:
        """Return whether the data that cards describe have words of LABELS in all
        columns.
        """
        return not self.copied and self.labels.keys() >= {*columns}

    def scales(
        self, columns: Guess, stated: Mapping[str, Scale]
    ) -> dict[str, Mapping[str, Any]]:
        """Return aspect -> its scale: the stated one, or a guess from all of its
        ratings.
        """
        if columns.compared:
            return dict.fromkeys(columns.ratings, CHOICES)
        labels = self.labels_of(columns, stated)
        scales: dict[str, Mapping[str, Any]] = {}
        for name, group in columns.ratings.items():
            if (pair := labels.get(name)) is None:
                scales[name] = (
                    stated[name] if name in stated else scale(self.values(group))
                )
                continue
            words = {"0": pair[0], "1": pair[1]}
            if self._in_words(group):
                words = {word: pair[code] for word, code in self.other_labels.items()}
            scales[name] = {"labels": [*pair], **({"read_as": words} if words else {})}
        return scales

    def judge_keys(
        self, scores: Mapping[str, str], labels: Mapping[str, Label]
    ) -> dict[str, Any]:
        """Return how a judge's card reads its scores, by aspect, as people's labels."""
        judged = [
            column for name, column in scores.items() if name == "*" or name in labels
        ]
        if not labels or not judged:
            return {}
        if not all(self._zeros_and_ones([column]) for column in judged):
            return {"threshold": "best"}
        pair = next(iter(labels.values()))
        if not self._in_words(judged):
            return {"read_as": {"0": pair[0], "1": pair[1]}}
        given = [self.labels[column] for column in judged]
        read = {word: pair[code] for word, code in self.other_labels.items()}
        read |= {
            word: label for two in given for word, label in zip(two, pair, strict=True)
        }
        return {"read_as": read} if self.other_labels or {*given} != {pair} else {}

    def missing(self, columns: Guess) -> list[str]:
        """Return the words for missing ratings, scores and lengths, such as NaN."""
        names = [*columns.rated, *columns.scored, *columns.measured]
        cells = (
            cell
            for row in self.rows
            for name in names
            for cell in entries(row.get(name))
        )
        return sorted(
            {c.strip() for c in cells if isinstance(c, str) and is_missing(c)} - {""}
        )

    def readable(self, columns: Guess) -> tuple["Table", Guess]:
        """Return the table and its columns as a study's cards can read them.

        It is a copy if a judge's choices name systems. In a copy, choices are numbers.
        """
        by_system = self.pairs is not None and {*columns.scored}.intersection(
            self.pairs.by_system
        )
        table = replace(self, copied=self.copied or bool(by_system))
        if table.copied and columns.compared:
            columns = replace(columns, choice_words=CODES)
        return table, columns


def load_table(file: Path, cards: Cards) -> Table:
    """Read a table; raise UserError if it does not exist or has no rows."""
    if file.is_dir():
        todo = "name a file in it"
        raise UserError("this is a folder, not a table", where=str(file), todo=todo)
    check_input(file)
    numbered = list(read_rows(file))
    if not numbered:
        todo = "add a row for each judged text below the names of the columns"
        raise UserError("this table has no rows", where=str(file), todo=todo)
    row_numbers, rows = zip(*numbered, strict=True)
    return Table(file, row_numbers, rows, columns_of(rows), cards.names("aspect"))


def coded(table: Table, named: Mapping[str, Sequence[str]]) -> Table:
    """Return the table with numbers instead of two labels, or of choices between two
    texts.

    A column has labels if all its cells are words of LABELS, some worse and some better
    ones.
    """
    pairs = pairs_of(table.rows, table.columns, named)
    if pairs is None and named.get("texts"):
        raise UserError(
            "no column has only choices between these two texts",
            where=f"{table.file}, --texts",
            got=", ".join(named["texts"]),
            allowed=[
                "1",
                "2",
                "A",
                "B",
                "left",
                "right",
                "tie",
                "a column's or a system's name",
            ],
            todo="add a column of choices; leave the cell of a missing choice empty",
        )
    codes = pairs.choices if pairs else {}
    labels: dict[str, Label] = {}
    others: dict[str, int] = {}
    for column in () if pairs else table.columns:
        cells = [row.get(column) for row in table.rows]
        words = [str(cell).strip().lower() for cell in cells]
        used = {*words} - MISSING
        if not used <= LABEL_CODES.keys() or {LABEL_CODES[word] for word in used} != {
            0,
            1,
        }:
            continue
        if not any(isinstance(cell, bool | list) for cell in cells):
            codes[column] = [LABEL_CODES.get(word) for word in words]
            labels[column] = next(pair for pair in LABELS if used.intersection(pair))
            others |= {word: LABEL_CODES[word] for word in used - {*labels[column]}}
    rows = [{**row} for row in table.rows]
    for column, of_rows in codes.items():
        for row, code in zip(rows, of_rows, strict=True):
            row[column] = row.get(column) if code is None else code
    return replace(table, rows=rows, pairs=pairs, labels=labels, other_labels=others)


# --- choices between two texts of a row -----------------------------------------------


def says_who_chose(column: str) -> bool:
    """Return whether a column's name indicates choices, people, a model or a
    measure.
    """
    return bool((CHOICE | PEOPLE).intersection(words_of(column))) or is_judge(column)


def _aspect(column: str, aspects: Collection[str]) -> str:
    """Return the aspect of a column of choices: `clarity_winner` is of clarity, `ann`
    of all.
    """
    words = aspect_of(column).split("-")
    kept = [word for word in words if word not in CHOICE]
    named = len(kept) < len(words) or "-".join(kept) in aspects
    return "-".join(kept) if kept and named else ALL


def pairs_of(
    rows: Sequence[Row], columns: Sequence[str], named: Mapping[str, Sequence[str]]
) -> Pairs | None:
    """Return the columns of pairs, None without a choice between two texts, or two
    systems.
    """
    taken = {column for group in named.values() for column in group}
    sided = _sided([column for column in columns if column not in taken])
    systems = list(named.get("systems", [])) or next(
        (two for stem, two in sided if set(NOUNS["system"].split()).intersection(stem)),
        [],
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
    read = {
        column: codes
        for column in free
        if (codes := _codes(rows, column, systems, texts))
    }
    hinted = "texts" in named or any(map(says_who_chose, read))
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
    listed = {code: [*each] for code, each in words.items()}
    return Pairs(texts, systems, read, listed, by_system)


def choices_of_nothing(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return the columns that look like choices, in rows without two texts or
    systems.
    """
    return [
        c for c in columns if says_who_chose(c) and _codes(rows, c, (), ()) is not None
    ]


def _sided(columns: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Return pairs of columns whose names differ only by side, with their common
    words.
    """
    by_stem: dict[tuple[str, ...], dict[int, str]] = {}
    for column in columns:
        words = words_of(column)
        for number, sides in enumerate(SIDES):
            for place, side in enumerate(sides):
                if side in words:
                    at = words.index(side)
                    stem = (str(number), str(at), *words[:at], *words[at + 1 :])
                    by_stem.setdefault(stem, {}).setdefault(place, column)
    return [
        ([*stem[2:]], [two[0], two[1]])
        for stem, two in by_stem.items()
        if len(two) == 2
    ]


def _like_texts(rows: Sequence[Row], column: str) -> bool:
    """Return whether a column may contain the judged texts, not numbers or raters'
    remarks.
    """
    if numbers(rows, column) is not None or (PEOPLE | REFERENCES).intersection(
        words_of(column)
    ):
        return False
    return len({str(row.get(column)) for row in rows}) > MOST_LABELS


def _codes(
    rows: Sequence[Row], column: str, systems: Sequence[str], texts: Sequence[str]
) -> list[int | None] | None:
    """Return the choices of a column; None if a cell is not a choice, or no text is
    chosen.
    """
    codes: list[int | None] = []
    for row in rows:
        if is_missing(row.get(column)):
            codes.append(None)
            continue
        if (code := code_of(row, column, systems, texts)) is None:
            return None
        codes.append(code)
    return codes if {FIRST, SECOND}.intersection(codes) else None


def code_of(
    row: Row, column: str, systems: Sequence[str], texts: Sequence[str]
) -> int | None:
    """Return the choice in a cell; None if it is not a choice."""
    if isinstance(cell := row.get(column), Mapping):
        return None
    names, word = _names(row, systems), word_of(cell)
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
    named = {
        place for sides in SIDES for place, side in enumerate(sides) if side in words
    }
    return FIRST + named.pop() if len(named) == 1 else None


# --- long tables (one row per rating) -------------------------------------------------


class Long(NamedTuple):
    """The columns of a long table."""

    rater: str
    value: str
    aspect: str | None
    kind: str | None


def unfolded(table: Table, named: Mapping[str, Sequence[str]]) -> Table:
    """Return a long table with one row per text and known columns; any other table
    unchanged.

    There is a column for each rater and aspect. Raises UserError for a rater who rates
    a text twice.
    """
    taken = {column for group in named.values() for column in group}
    long = _long(table, [column for column in table.columns if column not in taken])
    if long is None:
        return table
    left = [column for column in table.columns if column not in long]
    if any(
        _by_model(row, long) for row in table.rows
    ):  # what no two rows share is a remark
        left = [
            c
            for c in left
            if len({str(row.get(c)) for row in table.rows}) < len(table.rows)
        ]
    roles = guess([{name: row.get(name) for name in left} for row in table.rows], named)
    named_keys = [name for role in (*ROLES, *PAIRED) for name in roles.columns_of(role)]
    beside = [*roles.references, *roles.measured]
    keys = [name for name in named_keys if name not in beside] or left
    kept = dict.fromkeys([*keys, *beside])
    texts: dict[str, dict[str, Any]] = {}
    starts: dict[str, int] = {}
    first: dict[tuple[str, ...], int] = {}
    columns: dict[tuple[str, str], str] = {}
    models: set[str] = set()
    many = len({str(row.get(long.rater)) for row in table.rows}) > MOST_RATERS
    for number, row in zip(table.numbers, table.rows, strict=True):
        rater = str(row.get(long.rater)).strip()
        aspect = slug(str(row.get(long.aspect))) if long.aspect else ALL
        model = _by_model(row, long)
        models |= {rater} if model else set()
        name = rater if model or not many else "people"
        column = f"{name} ({aspect})" if long.aspect else name
        columns[aspect, name] = column
        key = str([row.get(name) for name in keys])
        text = texts.setdefault(key, {name: row.get(name) for name in kept})
        start = starts.setdefault(key, number)
        for name in roles.measured:
            if text[name] != row.get(name):
                raise UserError(
                    "rows of the same text differ in its length",
                    where=f"{table.file}, rows {start} and {number}, column {name}",
                    got=row.get(name),
                    allowed=str(text[name]),
                    todo="give the text the same length in all its rows, or name the "
                    "columns that distinguish texts: --item, --system",
                )
        if (before := first.setdefault((key, rater, aspect), number)) != number:
            raise UserError(
                "two ratings of one text by the same rater",
                where=f"{table.file}, rows {before} and {number}",
                got=rater,
                todo="keep one of the rows, or name the columns that distinguish "
                "texts: --item, --system",
            )
        if name == rater:
            text[column] = row.get(long.value)
        else:
            text.setdefault(column, []).append(row.get(long.value))
    if len(texts) == len(table.rows):
        return table  # a row per text
    ratings: dict[str, list[str]] = {}
    judges: dict[str, dict[str, str]] = {}
    for (aspect, name), column in columns.items():
        if name in models:
            judges.setdefault(slug(name), {})[aspect if long.aspect else "*"] = column
        else:
            ratings.setdefault(aspect, []).append(column)
    names = [*kept, *columns.values()]
    rows = [{name: text.get(name) for name in names} for text in texts.values()]
    known = replace(roles, ratings=ratings, judges=judges)
    table = replace(table, numbers=[*starts.values()], rows=rows, long=len(table.rows))
    return replace(table, columns=names, known=known, copied=True)


def _by_model(row: Row, long: Long) -> bool:
    kind = words_of(str(row.get(long.kind))) if long.kind else ()
    return is_judge(str(row.get(long.rater))) or bool(MODELS.intersection(kind))


def _long(table: Table, free: Iterable[str]) -> Long | None:
    """Return the columns of a long table (rater, value, …), None for any other
    table.
    """
    words = {column: set(words_of(column)) for column in free}

    def named(wanted: Collection[str], beside: Collection[str]) -> Iterator[str]:
        return (
            c for c, of in words.items() if of & {*wanted} and of <= {*wanted, *beside}
        )

    def numeric(column: str) -> bool:
        return numbers(table.rows, column) is not None

    raters = (
        c for c in named(RATER, ("id", "name")) if "id" in words[c] or not numeric(c)
    )
    values = (c for c, of in words.items() if of <= VALUE and numeric(c))
    rater, value = next(raters, None), next(values, None)
    if rater is None or value is None:
        return None
    aspects, kinds = named(ASPECT, ("name", "id")), named(KIND, RATER)
    return Long(rater, value, next(aspects, None), next(kinds, None))
