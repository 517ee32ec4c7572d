"""Replies and scores that already exist: rows of files, joined to the targets they
judge.
"""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import permutations, product, zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any

from msgspec import Struct
from msgspec.json import decode

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import NO_RECORDED_VALUE, NOT_JUDGED, slug
from judgescope.data.alttest import annotations
from judgescope.data.files import resolve
from judgescope.data.hanna import ENTRY, entries
from judgescope.data.rows import read_rows, word_of
from judgescope.engines.base import Answer, EngineInputs, Subject, not_applicable
from judgescope.engines.recorded_rows import (
    SWAPPED,
    Key,
    Row,
    Table,
    indexed,
    joined_name,
    normal_text,
    row_key,
    shown_key,
    subject_keys,
)
from judgescope.schema.cards import ASPECT, Judge, RatingScale, RecordedModel
from judgescope.schema.cards.base import plain_word
from judgescope.schema.cards.engines import Engine

MIN_JOINED = 0.9  # a smaller share of joined rows or scored texts causes a warning
MAX_NAMED = 3  # a notice names at most this many unmatched rows or texts
MAX_LISTED = 4  # a line lists this many judges or aspects; more are counted
_NUMBER = re.compile(
    r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII
)

NOT_RECORDED = "no_recorded_row"
"""Why a judge does not apply to a text that it was not meant to judge."""
REPLY = "reply"
"""The column with the reply of a comparison, in either order."""
CHOICES: dict[str, tuple[str, str]] = {
    "first": ("A", "A"),
    "second": ("B", "B"),
    "tie": ("tie", "tie"),
    "text": ("A", "B"),
    "text_b": ("B", "A"),
}
"""Choice of a label -> the letter of the chosen text, if shown in the row's order or
swapped."""

Pair = tuple[Subject, Subject]
"""The two texts of a comparison, in the order in which they were shown."""


class Join(Struct, frozen=True, kw_only=True):
    """How many rows and texts of one judge and aspect were joined.

    `texts_scored` counts the texts with a row that contains a reply or score. `poor`:
    less than MIN_JOINED of the rows were joined, or less than MIN_JOINED of the texts
    have a score.
    """

    model: str
    judge: str
    aspect: str
    rows: int
    rows_joined: int
    texts: int
    texts_joined: int
    texts_scored: int
    poor: bool
    pairs: bool = False
    """Whether rows are comparisons: then `texts` counts ordered pairs."""


def read_joins(path: str | Path) -> list[Join]:
    """Return the join counts that a job has written."""
    return decode(Path(path).read_bytes(), type=list[Join])


def join_lines(joins: Iterable[Join], *, poor: bool = False) -> list[str]:
    """Return the lines about joins: one for all judges and aspects of a model with
    equal counts.

    With `poor`, return only the lines about poor joins.
    """
    groups: dict[tuple[Any, ...], list[Join]] = {}
    for join in joins:
        if join.poor or not poor:
            counts = (
                join.rows_joined,
                join.rows,
                join.texts_joined,
                join.texts,
                join.pairs,
            )
            groups.setdefault(
                (join.model, *counts, join.texts_scored, join.poor), []
            ).append(join)
    lines = []
    for group in groups.values():
        join = group[0]
        text = "pair" if group[0].pairs else "text"
        scored = (
            f", {join.texts_scored} have a score"
            if join.texts_scored < join.texts_joined
            else ""
        )
        lines.append(
            f"{'warning: ' if join.poor else ''}{join.model}: {join.rows_joined} of "
            f"{join.rows} rows match a {text}, {join.texts_joined} of {join.texts} "
            f"{text}s have a row{scored} "
            f"({_listed({each.judge for each in group}, 'judges')} on "
            f"{_listed({each.aspect for each in group}, 'aspects')})"
        )
    return lines


def _listed(names: Collection[str], kind: str) -> str:
    return (
        ", ".join(sorted(names)) if len(names) <= MAX_LISTED else f"{len(names)} {kind}"
    )


@dataclass
class _Matches:
    table: Table
    keys: dict[str, Key] = field(default_factory=dict)
    used: set[Key] = field(default_factory=set)
    missing: dict[str, None] = field(default_factory=dict)
    scored: set[str] = field(default_factory=set)

    def add(
        self, name: str, key: Key, draws: Sequence[Answer], *, joined: bool
    ) -> None:
        self.keys[name] = key
        if joined:
            self.used.add(key)
        else:
            self.missing[name] = None
        if any(answer.status == "ok" for answer in draws):
            self.scored.add(name)


class RecordedEngine:
    """Answers from files; expects all targets of a dataset in one call.

    Rows are joined by target, by item (and system) or by text (and source and system).
    Items and systems match by their names in the data (`names`) or by their ids; texts
    match with white space normalised. If the card's `files` has a role with the name of
    a judge's form, that form reads its rows; all other forms read the role `data`.
    """

    def __init__(self, card: RecordedModel, inputs: EngineInputs) -> None:
        self.card = card
        self.dataset = inputs.dataset
        self.names = inputs.names
        self.folder = inputs.folder
        self.data = inputs.data
        self.preferences = inputs.preferences
        self._keys_of = cache(partial(subject_keys, card.rows, inputs.names))
        self._tables: dict[str, Table] = {}
        self._by_aspect: dict[tuple[str, str], Table] = {}
        self._matches: dict[tuple[str, str, str], _Matches] = {}
        self._changed: dict[str, None] = {}

    def answer(
        self, judge: Judge, aspect: str, scale: RatingScale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return the first `judge.draws` recorded draws of every subject.

        Raises UserError if a row matches two targets, if two rows match one target, and
        for a recorded score that is not a number.
        """
        matches = self._matches_on(judge, aspect)
        keyed = [(self._key(matches.table, aspect, (one,)), (one,)) for one in subjects]
        _check_distinct(matches.table, keyed)
        path, words = (
            self._path(judge, aspect),
            list[str](),
        )  # no words: scores are numbers
        if scale.categorical and judge.threshold is None:
            words = [*scale.labels, *judge.read_as]
        answers = []
        for key, (subject,) in keyed:
            rows = self._with_same_text(matches.table.get(key, ()), subject)
            answers.append(self._draws(rows, path, judge.draws, words))
            matches.add(subject.target, key, answers[-1], joined=bool(rows))
        return answers

    def compare(
        self, judge: Judge, aspect: str, subjects: Sequence[Subject]
    ) -> tuple[list[Pair], list[list[Answer]]]:
        """Return the recorded comparisons of two texts of an item, and the draws of
        each.

        A pair is listed in each recorded order. A pair that people compared, but that
        has no row, is listed once, without an answer. Raises UserError for a row that
        matches two pairs.
        """
        matches = self._matches_on(judge, aspect)
        table = matches.table
        recorded: list[tuple[Key, Pair]] = []
        example: Key | None = None
        for pair in _orders(subjects):
            key = self._key(table, aspect, pair)
            example = example or key
            if key in table:
                recorded.append((key, pair))
        if example is None:
            raise UserError(
                "no item has two texts to compare",
                where=f"models/{self.card.model}.yaml, key rows; judge {judge.judge}",
                got=self.dataset,
            )
        rank = {
            key: number for number, key in enumerate(table)
        }  # pairs in the order of the rows
        _check_distinct(table, recorded)
        recorded.sort(key=lambda each: rank[each[0]])
        pairs = {(pair[0].target, pair[1].target): pair for _, pair in recorded}
        known = {subject.target: subject for subject in subjects}
        for first, second in self.preferences.get(aspect, ()):
            if (second, first) not in pairs and first in known and second in known:
                pairs.setdefault((first, second), (known[first], known[second]))
        answers = []
        for pair, joined in zip_longest(pairs.values(), (key for key, _ in recorded)):
            answers.append(
                self._draws(table[joined] if joined else (), REPLY, judge.draws)
            )
            name = f"{pair[0].target} {pair[1].target}"
            key = joined or self._keys(aspect, pair)[0]
            matches.add(name, key, answers[-1], joined=joined is not None)
        if not pairs:
            matches.keys["the first pair"] = example
        return list(pairs.values()), answers

    def version(self, judge: Judge) -> str:
        """Return the sha256 of the judge's files, if it is on the card."""
        roles = self._roles(self._role(judge))
        return " ".join(
            self.card.sha256[role] for role in roles if role in self.card.sha256
        )

    def joins(
        self, shared: Collection[str] = (), *, selected: bool = False
    ) -> list[Join]:
        """Return the join of every judge and aspect answered so far.

        `selected`: only some texts are judged, so rows about other texts are expected;
        `shared` names judges of whom that holds in any case.
        """
        joins = []
        for (judge, aspect, _), matches in self._matches.items():
            rows = sum(map(len, matches.table.values()))
            texts = len(matches.keys)
            scored = len(matches.scored)
            joined = sum(len(matches.table[key]) for key in matches.used)
            expected = min(rows, texts) if selected or judge in shared else rows
            joins.append(
                Join(
                    model=self.card.model,
                    judge=judge,
                    aspect=aspect,
                    rows=rows,
                    rows_joined=joined,
                    texts=texts,
                    texts_joined=texts - len(matches.missing),
                    texts_scored=scored,
                    poor=joined < MIN_JOINED * expected or scored < MIN_JOINED * texts,
                    pairs=self.card.rows.compares,
                )
            )
        return joins

    def checked_joins(
        self, shared: Collection[str] = (), *, selected: bool = False
    ) -> list[Join]:
        """Return `joins`.

        Raises UserErrors if for a judge and aspect no row matches a target, or no
        matching row has a value.
        """
        errors = [
            self._unjoined(*names, matches)
            for names, matches in self._matches.items()
            if matches.keys and not matches.used
        ]
        errors += [
            self._unscored(judge, aspect, matches.table)
            for (judge, aspect, _), matches in self._matches.items()
            if matches.used and not matches.scored
        ]
        if errors:
            raise UserErrors(errors[:MAX_NAMED])
        return self.joins(shared, selected=selected)

    @property
    def notices(self) -> list[str]:
        """Return notices about unmatched rows and targets, changed texts and repeated
        rows.
        """
        used: dict[tuple[str, str], set[Key]] = defaultdict(set)
        for (_, aspect, role), matches in self._matches.items():
            used[aspect if self.card.rows.aspect else "", role] |= matches.used
        unmatched = {
            "recorded rows that match no text": (
                row.where
                for (aspect, role), keys in used.items()
                for key, rows in self._rows_on(aspect, role).items()
                for row in rows
                if key not in keys and row.where not in self._changed
            ),
            "texts without a recorded row": (
                target
                for matches in self._matches.values()
                for target in matches.missing
            ),
            "recorded rows whose text differs from the dataset's": self._changed,
            "recorded rows that repeat a text": (
                row.where
                for table in self._tables.values()
                for rows in table.values()
                for row in rows[1:]
            ),
        }
        distinct = {
            problem: list(dict.fromkeys(names)) for problem, names in unmatched.items()
        }
        return [
            f"{self.card.model}: {problem}: {len(names)}, first "
            f"{'; '.join(names[:MAX_NAMED])}"
            for problem, names in distinct.items()
            if names
        ]

    def _unjoined(
        self, judge: str, aspect: str, role: str, matches: _Matches
    ) -> UserError:
        names = self.card.rows
        table = matches.table
        where = (
            f"models/{self.card.model}.yaml, key rows; judge {judge}, aspect {aspect}"
        )
        if names.aspect and not table and self._tables[role]:
            rows = (same[0] for same in self._tables[role].values())
            return UserError(
                "no recorded row has this aspect",
                where=where,
                got=names.aspects.get(aspect, aspect),
                allowed={str(row.get(names.aspect)) for row in rows},
                todo=f"map it to a name in the rows (`aspects: {{{aspect}: …}}` under "
                "`rows`), or remove it from `aspects` in the judge's card",
            )
        shown = "no row of this dataset"
        if table:
            key = next(iter(table))
            where = f"{where}; {table[key][0].where}"
            shown = shown_key(names, key)
        return UserError(
            "no recorded row matches a text of the study",
            where=where,
            got=shown,
            allowed=f"such as {shown_key(names, next(iter(matches.keys.values())))}",
            todo="map other columns under `rows`, or spell names and texts as the "
            "dataset does",
        )

    def _unscored(self, judge: str, aspect: str, table: Table) -> UserError:
        names = self.card.rows
        row = next(iter(table.values()))[0]
        kind, key = ("score", "scores") if names.reply is None else ("reply", "reply")
        columns = ", ".join(f"{name}: {path}" for name, path in names.scores.items())
        return UserError(
            f"no matching recorded row has a {kind} for this aspect",
            where=f"models/{self.card.model}.yaml, key rows.{key}; judge {judge}, "
            f"aspect {aspect}; first: {row.where}",
            got=names.reply or columns,
            todo=f"name the column with its {kind}s, or remove the aspect from "
            "`aspects` in the judge's card",
        )

    def _with_same_text(self, rows: Sequence[Row], subject: Subject) -> Sequence[Row]:
        """Return the rows; if joined by target, only those with the target's text."""
        names = self.card.rows
        if not rows or not (names.target and names.text):
            return rows
        same = [
            row
            for row in rows
            if normal_text(row.get(names.text)) == normal_text(subject.text)
        ]
        self._changed |= {row.where: None for row in rows if row not in same}
        return same

    def _keys(self, aspect: str, shown: tuple[Subject, ...]) -> list[Key]:
        """Return the possible keys of a row about a text, or about two in the order
        shown.
        """
        aspect = slug(aspect) if self.card.rows.aspect else ""
        keys = (self._keys_of(aspect, subject) for subject in shown)
        return [
            sum((other[1:] for other in others), key) for key, *others in product(*keys)
        ]

    def _key(self, table: Table, aspect: str, shown: tuple[Subject, ...]) -> Key:
        keys = self._keys(aspect, shown)
        return next((key for key in keys if key in table), keys[0])

    def _matches_on(self, judge: Judge, aspect: str) -> _Matches:
        names = judge.judge, aspect, self._role(judge)
        if names not in self._matches:
            self._matches[names] = _Matches(self._rows_on(aspect, names[2]))
        return self._matches[names]

    def _rows_on(self, aspect: str, role: str) -> Table:
        """Return a role's rows on an aspect; all rows if they name no aspect."""
        aspect = slug(aspect) if self.card.rows.aspect else ""
        if (aspect, role) not in self._by_aspect:
            if role not in self._tables:
                names = self.card.rows
                keyed = (
                    (row_key(names, row, self.names), row) for row in self._read(role)
                )
                rows = self._compared(role) if names.compares else keyed
                self._tables[role] = indexed(names, rows)
            table = self._tables[role].items()
            self._by_aspect[aspect, role] = {
                key: same for key, same in table if key[0] == aspect
            }
        return self._by_aspect[aspect, role]

    def _compared(self, role: str) -> Iterator[tuple[Key, Row]]:
        """Yield a role's comparisons, one per order; labels are turned into letters."""
        names = self.card.rows
        other = names.model_copy(
            update={"system": names.system_b, "text": names.text_b}
        )
        for each in self._roles(role):
            for row in self._read(each):
                first, second = (
                    row_key(which, row, self.names) for which in (names, other)
                )
                swapped = each == SWAPPED or any(
                    joined_name(row.get(column)) in values
                    for column, values in names.swapped.items()
                )
                orders = [(names.reply, swapped)]
                orders += [(names.reply_swapped, True)] if names.reply_swapped else []
                for path, turned in orders:
                    keys = (second, first) if turned else (first, second)
                    where = f"{row.where}, column {path}"
                    reply = self._labelled(row.get(path or ""), where, turned)
                    yield (
                        keys[0] + keys[1][1:],
                        Row(row.where, {REPLY: reply}, row.fields),
                    )

    def _labelled(self, reply: object, where: str, swapped: bool) -> object:
        """Return a reply; if replies are labels, the letter of the text that the label
        chose.
        """
        names = self.card.rows
        if isinstance(reply, list):
            return [self._labelled(draw, where, swapped) for draw in reply]
        if not names.labels:
            return reply
        if _is_missing(reply, names.missing):
            return None
        for chosen, words in names.labels.items():
            if joined_name(reply).strip().casefold() in {
                word.casefold() for word in words
            }:
                return CHOICES[chosen][swapped]
        raise UserError(
            "the choice of a recorded comparison is not among the labels",
            where=where,
            got=reply,
            allowed=[word for words in names.labels.values() for word in words],
            todo="add it under `rows.labels` or `rows.missing` in "
            f"models/{self.card.model}.yaml",
        )

    def _role(self, judge: Judge) -> str:
        return judge.form if judge.form in self.card.files else "data"

    def _roles(self, role: str) -> list[str]:
        """Return the roles of a judge's files: comparisons may have one for each
        order.
        """
        both = role == "data" and self.card.rows.compares and SWAPPED in self.card.files
        return [role, SWAPPED] if both else [role]

    def _path(self, judge: Judge, aspect: str) -> str | None:
        """Return the column or JSON path of the judge's replies or scores, or None."""
        names = self.card.rows
        for_aspect = names.scores.get(aspect)
        for_all = names.scores.get("*")
        if names.reply is None and ASPECT in judge.form:
            return for_aspect and judge.form.replace(ASPECT, for_aspect)
        path = names.reply or (
            for_all if judge.form and for_all else for_aspect or for_all
        )
        return path and path.replace("{form}", judge.form)

    def _read(self, role: str) -> Iterator[Row]:
        names = self.card.rows
        for path, fields in resolve(self.card.files, role, self.folder, self.data):
            by_judge = self.card.kind == "alttest"
            for number, cells in (
                annotations(path) if by_judge else read_rows(path, self.card.kind)
            ):
                where = f"{path}, row {number}"
                if names.lists:
                    for entry in entries(cells, self.dataset, where):
                        yield Row(f"{where} {entry[ENTRY]}", entry, fields)
                    continue
                row = Row(where, cells, fields)
                if names.dataset is None or self._is_here(row.get(names.dataset)):
                    yield row

    def _is_here(self, name: object) -> bool:
        """Return whether a row belongs to this dataset; a file may mix several."""
        called = self.card.rows.datasets.get(self.dataset)
        return (
            slug(str(name)) == self.dataset
            if called is None
            else joined_name(name) == called
        )

    def _draws(
        self,
        rows: Sequence[Row],
        path: str | None,
        draws: int,
        words: Sequence[str] = (),
    ) -> list[Answer]:
        """Return recorded draws; `words` are the labels that scores may be, empty for
        numbers.
        """
        if not rows:
            return [not_applicable(NOT_RECORDED)] * draws
        repeated = self.card.rows.repeated
        answer = partial(self._answer, words=words, column=path)
        if repeated == "mean" and path and len(rows) > 1 and not words:
            each = [answer(row.get(path), row) for row in rows]
            values = [float(answer.text) for answer in each if answer.status == "ok"]
            answers = [Answer(repr(fmean(values))) if values else each[0]]
        else:
            row = rows[-1] if repeated == "last" else rows[0]
            value = row.get(path) if path else None
            recorded = value if isinstance(value, list) else [value]
            answers = [answer(draw, row) for draw in recorded[:draws]]
        return answers + [not_applicable("no_recorded_draw")] * (draws - len(answers))

    def _answer(
        self, value: object, row: Row, *, words: Sequence[str], column: str | None
    ) -> Answer:
        """Return one draw; an empty text is a valid reply, but not a score."""
        scored = self.card.rows.reply is None
        missing = self.card.rows.missing
        if isinstance(value, str) and scored:
            value = value.strip()
        a_reply = isinstance(value, str) and not scored
        if value in missing if a_reply else _is_missing(value, missing):
            planned = not isinstance(value, str) or value.lower() != NOT_JUDGED
            return not_applicable(NO_RECORDED_VALUE if planned else NOT_RECORDED)
        where = f"{row.where}, column {column}"
        if words and scored:
            return Answer(_label(value, where, words))
        if isinstance(value, str) and (
            not scored or (_NUMBER.fullmatch(value) and math.isfinite(float(value)))
        ):
            return Answer(value)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
        ):
            return Answer(repr(value))
        if scored and isinstance(value, str | float):
            raise UserError(
                "a recorded score is not a number",
                where=where,
                got=value,
                todo="write it as a number (4.5), or list it in `missing` under `rows` "
                "if it means no score",
            )
        raise UserError(
            "a recorded reply or score is neither a string nor a number",
            where=where,
            got=value,
        )


def _is_missing(value: object, words: Sequence[str]) -> bool:
    """Return whether a score or choice is missing: empty, NaN, or one of the card's
    words.
    """
    if isinstance(value, str):
        return value.strip() in ("", *words)
    return (
        value is None
        or value in words
        or (isinstance(value, float) and math.isnan(value))
    )


def _label(value: object, where: str, words: Sequence[str]) -> str:
    """Return a recorded label as written; raise UserError if it is not one of
    `words`.
    """
    word = word_of(value)
    if plain_word(word) not in map(plain_word, words):
        raise UserError(
            "a recorded score is not one of the labels",
            where=where,
            got=word,
            allowed=words,
            todo="map it to a label in the judge's card (`read_as`), or list it in "
            "`missing` under `rows` if it means no score",
        )
    return word


def _orders(subjects: Sequence[Subject]) -> Iterator[Pair]:
    """Yield every two texts of an item, in both orders."""
    items: dict[str, list[Subject]] = {}
    for subject in subjects:
        items.setdefault(subject.item, []).append(subject)
    for texts in items.values():
        yield from permutations(texts, 2)


def _check_distinct(
    table: Table, keyed: Iterable[tuple[Key, tuple[Subject, ...]]]
) -> None:
    """Raise UserError if a row matches two targets that differ in text or source.

    Two pairs of texts may have the same row if their sources are equal.
    """
    first: dict[Key, tuple[Subject, ...]] = {}
    for key, shown in keyed:
        other = first.setdefault(key, shown)
        if key not in table or other is shown:
            continue
        pair = len(shown) == 2
        texts = [
            (each.source, None if pair else each.text) for each in (other[0], shown[0])
        ]
        if len({tuple(map(normal_text, text)) for text in texts}) > 1:
            raise UserError(
                f"a recorded row matches two {'pairs of texts' if pair else 'targets'}",
                where=table[key][0].where,
                got=" and ".join(
                    ", ".join(one.target for one in each) for each in (other, shown)
                ),
                todo="map the column that distinguishes them under `rows`: "
                f"{'item' if pair else 'system'} or source",
            )


build = RecordedEngine
ENGINE = Engine(name="recorded", card=RecordedModel, build=build)
