"""The roles of the columns of a user's table, guessed from their names and cells.

A guess is a proposal: `judgescope init` prints it, and flags or answers replace it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from judgescope.cli.init.column_values import columns_of, numbers
from judgescope.cli.init.rating_columns import (
    is_judge,
    judges_of,
    rating_columns,
    without_unrated,
    words_of,
)
from judgescope.cli.init.role_names import (
    clear_words,
    describes,
    is_remark,
    names_role,
    names_text,
    role_of,
    role_of_plural,
)
from judgescope.cli.init.roles import OTHER_TASK, PAIRED, Guess
from judgescope.cli.init.text_columns import free_texts, longest
from judgescope.cli.init.vocabulary import ROLE_NAMES, ROLE_NOUNS, WORDS
from judgescope.core.names import slug, without_accents
from judgescope.data.column_rows import cells_by_row, cells_of, with_names
from judgescope.data.rows import TableRow
from judgescope.tables.crossed import crossed_with
from judgescope.tables.profile import is_design, profile
from judgescope.tables.sides import END_USERS
from judgescope.tables.words import classes_of, english_names

UNNAMED = re.compile(r"|Unnamed(: \d+)?")
"""The name that pandas gives the column of an index."""
TASKS = {
    "summary": "summarization",
    "article": "summarization",
    "response": "dialogue",
    "dialogue": "dialogue",
    "translation": "translation",
    "hypothesis": "translation",
    "story": "story",
    "answer": "qa",
    "question": "qa",
}
"""A column's name -> the task that it indicates; the first match counts."""
ASKING = frozenset({"query", "question", "search"})
"""Words of a header of queries, for which passages are found."""
FOUND = frozenset({"chunk", "doc", "document", "passage", "snippet"})
"""Words of a header of texts that are found for a query."""
ALONE_TEXTS = frozenset(
    {
        "chat",
        "conversation",
        "dialog",
        "dialogue",
        "doc",
        "document",
        "essay",
        "message",
        "post",
        "text",
        "thread",
        "ticket",
        "transcript",
        "tweet",
    }
)
"""Words of a source's name that may be judged itself, without an answer to it."""
MESSAGES = frozenset(
    {"input", "message", "prompt", "query", "question", "request", "turn", "utterance"}
)
"""Words of a header of what users write to a system."""
MOST_LABELS = 2
"""A column with no more distinct cells has labels (yes, no), not references or
texts."""


def guess(
    rows: Sequence[TableRow],
    named: Mapping[str, Sequence[str]] | None = None,
    aspects: Collection[str] = (),
) -> Guess:
    """Return the likely roles of the columns of some rows.

    `named` is role -> columns that the user has named; `ratings` is one of its keys.
    `aspects` are the aspects that have cards. Headers in other languages are read as
    their English words.
    """
    named = named or {}
    english = english_names(columns_of(rows))
    if all(name == column for column, name in english.items()):
        return _guess_in_english(rows, named, aspects)
    renamed = with_names(rows, english)
    named_in_english = {}
    for role, columns in named.items():
        named_in_english[role] = [english.get(name, name) for name in columns]
    original = {name: column for column, name in english.items()}
    guessed = _guess_in_english(renamed, named_in_english, aspects).renamed(original)
    return replace(guessed, judges=_named_by_columns(guessed.judges))


def _named_by_columns(
    judges: Mapping[str, Mapping[str, str]],
) -> dict[str, dict[str, str]]:
    """Return the judges of one column with the ids of their own headers, where these
    have Latin letters.
    """
    named = {}
    for judge, scores in judges.items():
        columns = list(scores.values())
        is_latin = without_accents(columns[0]).isascii()
        single = len(columns) == 1 and "*" in scores and is_latin
        named[slug(columns[0]) if single else judge] = dict(scores)
    return named


def _guess_in_english(
    rows: Sequence[TableRow],
    named: Mapping[str, Sequence[str]],
    aspects: Collection[str],
) -> Guess:
    """Return the roles of columns whose names are English, if they have a meaning."""
    known = set(chain.from_iterable(named.values()))
    columns = columns_of(rows)
    free = [c for c in columns if c not in known and not UNNAMED.fullmatch(c)]
    rating = rating_columns(rows, free, aspects, columns)
    ratings = rating.people
    rated = list(chain.from_iterable(ratings.values()))
    other = [c for c in free if c not in {*rated, *rating.averages, *rating.judges}]
    roles = _roles(rows, other, named)
    text = _first(roles.columns["text"])
    system = _first(roles.columns["system"])
    item = _first(roles.columns["item"])
    if item is not None and "item" not in named:
        source = roles.columns["source"]
        numbers_rows = _identifies_rows(rows, item, source, system)
        if numbers_rows or _differ_in_source(rows, item, source):
            item = None
    texts, systems, lengths = (list(named.get(role, [])) for role in PAIRED)
    length = _first(named.get("length", []))
    if length and text and "text" not in named and not names_text(text):
        text = None  # a column that is named has precedence over a guess from cells
    is_pair = bool(texts or systems)
    judges = judges_of(rating.judges, ratings)
    judges, unrated = without_unrated(judges, known)
    return Guess(
        item=item,
        system=None if is_pair else system,
        text=None if is_pair else text,
        texts=texts,
        systems=systems,
        length=length,
        lengths=lengths,
        source=roles.columns["source"],
        references=roles.columns["references"],
        ratings={slug(name): group for name, group in ratings.items()},
        judges={judge: _with_ids(scores) for judge, scores in judges.items()},
        names={slug(name): name for name in ratings if slug(name) != name},
        assumed={**roles.assumed, **rating.assumed},
        unused=rating.unused | unrated,
        doubtful=rating.doubtful,
        means=bool(rated) and all(map(_is_average, rated)),
        task=_task(columns),
    )


def _with_ids(scores: Mapping[str, str]) -> dict[str, str]:
    """Return a judge's columns by the ids of aspects; * stays."""
    by_id = {}
    for name, column in scores.items():
        by_id[name if name == "*" else slug(name)] = column
    return by_id


def _first(columns: Sequence[str]) -> str | None:
    return columns[0] if columns else None


def _is_average(column: str) -> bool:
    """Return whether a column's name says that it has mean ratings."""
    return bool(WORDS.means.intersection(words_of(column)))


def _task(columns: Iterable[str]) -> str:
    """Return the task that columns' names indicate."""
    words = set(chain.from_iterable(map(words_of, columns)))
    for word, task in TASKS.items():
        if word in words:
            return task
    return OTHER_TASK


class _Roles:
    """The columns of each role while they are guessed; a column has one role."""

    def __init__(
        self,
        rows: Sequence[TableRow],
        free: Sequence[str],
        named: Mapping[str, Sequence[str]],
    ) -> None:
        self.rows = rows
        self.free = free
        self.named = named
        self.columns = {role: list(named.get(role, [])) for role in ROLE_NAMES}
        self.assumed: dict[str, str] = {}
        """Column -> why it has its role, if its name does not say so."""

    def remaining(self, columns: Iterable[str] | None = None) -> list[str]:
        """Return the columns without a role, of all or of some."""
        used = set(chain.from_iterable(self.columns.values()))
        wanted = self.free if columns is None else list(columns)
        return [column for column in wanted if column not in used]

    def take(self, role: str, column: str | None, why: str = "") -> None:
        """Give a column a role; None changes nothing.

        why: the reason, if the column's name is none.
        """
        if column is not None:
            self.columns[role].append(column)
            if why and not names_role(column, role):
                self.assumed[column] = why

    def is_open(self, role: str) -> bool:
        """Return whether a role has no column yet, and the user has named none."""
        return role not in self.named and not self.columns[role]

    def may_be_id(self, column: str) -> bool:
        """Return whether cells are short: no documents, and no lists of ids; and not
        the id of a rater, or of something that all rows share, as a run.
        """
        if longest(self.rows, [column]) or classes_of(column).get("person"):
            return False
        if len(self.rows) > 1 and _different(self.rows, [column]) == 1:
            return False
        cells = cells_of(self.rows, column)
        return not any(isinstance(cell, list | dict) for cell in cells)

    def take_by_name(self, role: str) -> None:
        """Give a role the column with the clearest of its names."""
        by_name: dict[str, str] = {}
        for column in self.remaining():
            if role == "item" and not self.may_be_id(column):
                continue
            if role != "text" or numbers(self.rows, column) is None:
                by_name.setdefault("_".join(words_of(column)), column)
        for name in ROLE_NAMES[role]:
            if name in by_name:
                if name == role == "text" and self._names_clearer_text():
                    return
                self.take(role, by_name[name])
                return

    def _names_clearer_text(self) -> bool:
        """Return whether a further column of texts has an answer or a summary in its
        name: beside it, a column `text` is the source.
        """
        for column in self.remaining():
            of_text = role_of(column) == "text" or role_of_plural(column) == "text"
            if of_text and profile(self.rows, column).kind == "text":
                return True
        return False

    def take_by_last_word(self) -> None:
        """Give columns the roles that the last words of their names indicate."""
        for column in self.remaining():
            role = role_of(column) or role_of_plural(column)
            if role is None or not self.is_open(role):
                continue
            if role == "system" and profile(self.rows, column).kind == "text":
                # `ответ модели`: the words of a model, not its name.
                nouns = {*ROLE_NOUNS["text"]} & {*words_of(column)}
                role = "text" if nouns and self.is_open("text") else None
                if role is None:
                    continue
            is_number = numbers(self.rows, column) is not None
            is_text = not is_number and _different(self.rows, [column]) > MOST_LABELS
            if role == "text" and profile(self.rows, column).kind == "label":
                continue  # the letter of a candidate, not its text
            if role == "item" and not self.may_be_id(column):
                continue
            if role in ("item", "system") or is_text:
                self.take(role, column)

    def take_source_of_user(self) -> None:
        """Take `user_message` beside `assistant_message` for the source: what a user
        wrote is no rating, and the answer to it is judged.
        """
        if not self.is_open("source"):
            return
        texts = []
        for column in self.remaining():
            if profile(self.rows, column).kind == "text" and not is_remark(column):
                texts.append(column)
        if not self.columns["text"] and len(texts) < 2:
            return
        for column in texts:
            words = set(clear_words(column))
            of_user = not words.isdisjoint(END_USERS | {"human"})
            if of_user and not words.isdisjoint(MESSAGES):
                self.take("source", column)
                return

    def take_text_by_any_word(self) -> None:
        """Take the texts of `respuesta del asistente`: the noun may stand first."""
        if not self.is_open("text"):
            return
        for column in self.remaining():
            nouns = {*ROLE_NOUNS["text"]} & {*clear_words(column)}
            if not nouns or role_of(column) is not None or describes(column):
                continue
            if profile(self.rows, column).kind == "text" and not is_remark(column):
                self.take("text", column)
                return

    def take_letters(self) -> None:
        """Give the texts of q and a the roles of a question and its answer."""
        named = {column.casefold(): column for column in self.remaining()}
        letters = [named[letter] for letter in ("q", "a") if letter in named]
        if len(letters) < 2 or not self.is_open("text") or not self.is_open("source"):
            return
        # Else they are raters, or the choices of a question.
        if all(profile(self.rows, column).kind == "text" for column in letters):
            self.take("source", letters[0])
            self.take("text", letters[1])

    def take_by_cells(self) -> None:
        """Give the judged text, its source and its system the columns that fit best."""
        rows = self.rows
        # Several texts share a source.
        repeated = []
        unique = []
        for column in self.remaining():
            different = _different(rows, [column])
            if different <= len(rows) / 2:
                repeated.append(column)
            if different >= 0.9 * len(rows):
                unique.append(column)
        if self.is_open("text") and self.columns["source"]:
            self._take_found()
        if not self.columns["text"]:
            texts = [name for name in self.remaining() if not is_remark(name)]
            unique = [name for name in unique if name in texts]
            single = free_texts(rows, unique) if longest(rows, repeated) else []
            text = _first(single) or longest(rows, texts)
            self.take("text", text, "it has the longest texts")
        if self.is_open("source"):
            # A judge's replies repeat, too.
            free = [name for name in self.remaining(repeated) if not is_judge(name)]
            self.take("source", longest(rows, free), "its texts repeat")
        if self.is_open("text") and self.columns["source"]:
            self._take_target()
            self._take_only_text()
        if self.is_open("system"):
            why = "it tells the texts of a source apart"
            self.take("system", self._system(repeated), why)
        if self.is_open("system") and not self.columns["source"]:
            self._take_numbered_systems(repeated)
        if self.columns["system"] and self.is_open("source") and self.is_open("item"):
            why = "its values have a row of each system"
            free = [name for name in self.remaining(repeated) if not is_judge(name)]
            self.take("item", crossed_with(rows, free, self.columns["system"]), why)

    def _take_target(self) -> None:
        """Take a column named target for the text, if no other column may be it."""
        for column in self.columns["references"]:
            if words_of(column) == ["target"] and "references" not in self.named:
                self.columns["references"].remove(column)
                self.take("text", column, "no other column has texts")
                return

    def _take_found(self) -> None:
        """Take a passage for the judged text if another column has the query for which
        it was found.
        """
        if "source" in self.named:
            return
        [column, *more] = self.columns["source"]
        asked = [
            name
            for name in self.remaining()
            if not ASKING.isdisjoint(words_of(name))
            and numbers(self.rows, name) is None
        ]
        if FOUND.intersection(words_of(column)) and asked and not more:
            self.columns["source"] = []
            self.take("text", column, "it may answer the other texts")
            self.take("source", asked[0])

    def _take_only_text(self) -> None:
        """Take the only column of texts for the judged ones, if its name is that of a
        source that may be judged itself, such as a conversation.
        """
        if "source" in self.named or self.columns["text"]:
            return
        [column, *more] = self.columns["source"]
        words = ALONE_TEXTS.intersection(words_of(column))
        is_own = _different(self.rows, [column]) == len(self.rows)
        if words and is_own and not more:
            self.columns["source"].remove(column)
            self.take("text", column, "no other column has texts")

    def _take_numbered_systems(self, repeated: Sequence[str]) -> None:
        """Take numbers that repeat for items, and the words that tell their texts apart
        for systems.
        """
        if not self.is_open("item"):
            return
        for numbered in self.remaining(repeated):
            if not is_design(self.rows, numbered):
                continue
            for column in self.remaining(repeated):
                if numbers(self.rows, column) is not None or describes(column):
                    continue
                if _different(self.rows, [numbered, column]) == len(self.rows):
                    self.take("item", numbered, "its numbers repeat")
                    self.take("system", column, "it tells rows of a number apart")
                    return

    def _system(self, repeated: Sequence[str], least_filled: float = 0.8) -> str | None:
        """Return the column of words that distinguishes the texts of a source.

        Its words recur from source to source: at least `least_filled` of all pairs of
        a source and a word have a text. That two rows of a source differ is no sign.
        """
        shared = self.columns["source"] or self.columns["item"]
        if not shared or _different(self.rows, shared) == len(self.rows):
            return None
        for column in self.remaining(repeated):
            if describes(column) or is_judge(column):
                continue
            if numbers(self.rows, column) is not None:
                continue
            if _different(self.rows, [*shared, column]) != len(self.rows):
                continue
            cells = _different(self.rows, shared) * _different(self.rows, [column])
            if len(self.rows) < least_filled * cells:
                continue
            with_text = [*shared, *self.columns["text"]]
            if not self.columns["text"] or (
                # The same text in several rows has several criteria or raters.
                _different(self.rows, with_text) > 0.9 * len(self.rows)
            ):
                return column
        return None


def _roles(
    rows: Sequence[TableRow], free: Sequence[str], named: Mapping[str, Sequence[str]]
) -> _Roles:
    """Return the columns of each role: those that are named, or else the free column
    that fits best.
    """
    roles = _Roles(rows, free, named)
    for role in ROLE_NAMES:
        if role not in named:
            roles.take_by_name(role)
    roles.take_by_last_word()
    roles.take_text_by_any_word()
    roles.take_source_of_user()
    roles.take_letters()
    roles.take_by_cells()
    return roles


def _different(rows: Sequence[TableRow], columns: Sequence[str]) -> int:
    """Return how many different cells some columns have together."""
    return len({str(cells) for cells in cells_by_row(rows, columns)})


def _identifies_rows(
    rows: Sequence[TableRow], item: str, source: Sequence[str], system: str | None
) -> bool:
    """Return whether ids only number the rows, and source and system identify a
    text.
    """
    if not source:
        return False
    sources = set()
    texts = set()
    ids = set()
    for of_item, of_system, *cells in cells_by_row(rows, [item, system or "", *source]):
        shared = str(cells)
        sources.add(shared)
        texts.add((shared, str(of_system)))
        ids.add(str(of_item))
    return len(ids) == len(texts) == len(rows) > len(sources)


def _differ_in_source(
    rows: Sequence[TableRow], item: str, source: Sequence[str]
) -> bool:
    """Return whether most rows that share an id have different sources, so that it is
    the id of something else.
    """
    sources: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    for of_item, *cells in cells_by_row(rows, [item, *source]):
        of_row = str(of_item)
        times[of_row] += 1
        sources.setdefault(of_row, set()).add(str(cells))
    repeated = [name for name in sources if times[name] > 1]
    different = sum(len(sources[name]) > 1 for name in repeated)
    return different > len(repeated) / 2
