"""Replies and scores that exist already: rows of files, joined to the targets they judge."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.slugs import slug
from judgescope.data.files import resolve
from judgescope.data.hanna import ENTRY, entries
from judgescope.data.rated import NO_NAMES, Names
from judgescope.data.rows import read_rows
from judgescope.engines.base import Answer, Subject, not_applicable
from judgescope.engines.recorded.joins import (
    Join,
    Key,
    Row,
    Table,
    check_distinct,
    indexed,
    normal,
    shown,
    subject_keys,
)
from judgescope.schema.cards import ASPECT, Judge, RecordedModel, Scale

NAMED = 3
"""Of rows without a target and targets without a row, so many are named in a notice."""
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII)


class _Met:
    """What of one judge and aspect has been joined so far."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {}
        self.used: set[Key] = set()
        self.missing: dict[str, None] = {}
        self.scored: set[str] = set()


class RecordedEngine:
    """Answers from files; expects all targets of a dataset in one call.

    Rows are joined by target, by item (and system) or by text (and source and system). Names are
    those of the data (`names`), or the ids made of them; in texts, white space is normalised.
    A role of the card's files that is named like a judge's form holds that form's rows; all other
    forms read the role `data`.
    """

    def __init__(
        self,
        card: RecordedModel,
        dataset: str,
        folder: Path,
        data: Path,
        names: Names = NO_NAMES,
    ) -> None:
        self.card, self.dataset, self.folder, self.data = card, dataset, folder, data
        self.names = names
        self._tables: dict[str, Table] = {}
        self._parts: dict[tuple[str, str], Table] = {}
        self._met: dict[tuple[str, str, str], _Met] = defaultdict(_Met)
        self._changed: dict[str, None] = {}

    def answer(
        self, judge: Judge, aspect: str, scale: Scale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return the recorded draws of every subject: the first `judge.draws` of them.

        Raises UserError where a row could belong to two targets, two rows to one target, and for a
        recorded score that is no number.
        """
        role = self._role(judge)
        table, met = self._on(aspect, role), self._met[judge.judge, aspect, role]
        keys = [self._key(table, aspect, subject) for subject in subjects]
        check_distinct(table, keys, subjects)
        path, answers = self._path(judge, aspect), []
        for key, subject in zip(keys, subjects, strict=True):
            rows = self._same(table.get(key, ()), subject)
            met.keys[subject.target] = key
            if rows:
                met.used.add(key)
            else:
                met.missing[subject.target] = None
            answers.append(self._draws(rows, path, judge.draws))
            if any(one.status == "ok" for one in answers[-1]):
                met.scored.add(subject.target)
        return answers

    def version(self, judge: Judge) -> str:
        """Return the sha256 of the judge's files, where the card says it."""
        return self.card.sha256.get(self._role(judge), "")

    @property
    def joins(self) -> list[Join]:
        """Return for every judge and aspect asked so far how many rows and targets met."""
        return [
            Join(
                judge=judge,
                aspect=aspect,
                rows=sum(map(len, table.values())),
                rows_joined=sum(len(table[key]) for key in met.used),
                texts=len(met.keys),
                texts_joined=len(met.keys) - len(met.missing),
                texts_scored=len(met.scored),
            )
            for (judge, aspect, role), met in self._met.items()
            for table in [self._on(aspect, role)]
        ]

    def checked_joins(
        self, shared: Collection[str] = (), *, selected: bool = False
    ) -> list[dict[str, Any]]:
        """Return `joins` as records, `poor` those in which too little was joined.

        `selected`: only a part of the texts is judged; `shared` are the judges of which that holds.
        Raises UserErrors where no row at all is about a target of a judge and aspect, or none that
        is holds anything.
        """
        errors = [
            self._unjoined(judge, aspect, role, next(iter(met.keys.values())))
            for (judge, aspect, role), met in self._met.items()
            if met.keys and not met.used
        ]
        errors += [
            self._unscored(judge, aspect, role)
            for (judge, aspect, role), met in self._met.items()
            if met.used and not met.scored
        ]
        if errors:
            raise UserErrors(errors[:NAMED])
        return [
            {
                "model": self.card.model,
                **asdict(join),
                "poor": join.is_poor(selected=selected or join.judge in shared),
            }
            for join in self.joins
        ]

    @property
    def notices(self) -> list[str]:
        """Return what the user should know: rows without a target, targets without a row."""
        used: dict[tuple[str, str], set[Key]] = defaultdict(set)
        for (_, aspect, role), met in self._met.items():
            used[aspect if self.card.rows.aspect else "", role] |= met.used
        found = {
            "recorded rows without a target": (
                row.where
                for (aspect, role), keys in used.items()
                for key, rows in self._on(aspect, role).items()
                for row in rows
                if key not in keys and row.where not in self._changed
            ),
            "targets without a recorded row": (
                target for met in self._met.values() for target in met.missing
            ),
            "recorded rows about another text than their target's": self._changed,
            "recorded rows that repeat a text": (
                row.where
                for table in self._tables.values()
                for rows in table.values()
                for row in rows[1:]
            ),
        }
        told = {what: list(dict.fromkeys(names)) for what, names in found.items()}
        return [
            f"{self.card.model}: {what}: {len(names)}, first {', '.join(names[:NAMED])}"
            for what, names in told.items()
            if names
        ]

    def _unjoined(self, judge: str, aspect: str, role: str, wanted: Key) -> UserError:
        """Return the error of a judge and aspect without a row, with a key of each side."""
        names, table = self.card.rows, self._on(aspect, role)
        where = f"models/{self.card.model}.yaml, key rows; judge {judge}, aspect {aspect}"
        if names.aspect and not table and self._tables[role]:
            rows = (same[0] for same in self._tables[role].values())
            return UserError(
                "no recorded row is on this aspect",
                where=where,
                got=names.aspects.get(aspect, aspect),
                allowed={str(row.get(names.aspect)) for row in rows},
                todo=f"say what the rows call it (`aspects: {{{aspect}: …}}` under `rows`), or "
                "leave it out (`aspects` in the judge's card)",
            )
        rows_shown = "no row of this dataset"
        if table:
            key = next(iter(table))
            where, rows_shown = f"{where}; {table[key][0].where}", shown(names, key)
        return UserError(
            "no recorded row joins a text of the study",
            where=where,
            got=rows_shown,
            allowed=f"such as {shown(names, wanted)}",
            todo="name other columns under `rows`, or write names and texts as the dataset does",
        )

    def _unscored(self, judge: str, aspect: str, role: str) -> UserError:
        """Return the error of a judge and aspect of which the rows that join hold nothing."""
        names, what = self.card.rows, "score" if self.card.rows.reply is None else "reply"
        row = next(iter(self._on(aspect, role).values()))[0]
        key = "rows.scores" if names.reply is None else "rows.reply"
        return UserError(
            f"no recorded row that joins has a {what} on this aspect",
            where=f"models/{self.card.model}.yaml, key {key}; judge {judge}, aspect {aspect}; "
            f"first row {row.where}",
            got=names.reply or ", ".join(f"{one}: {path}" for one, path in names.scores.items()),
            todo=f"name the column that holds its {what}s, or leave the aspect out (`aspects` in "
            "the judge's card)",
        )

    def _same(self, rows: Sequence[Row], subject: Subject) -> Sequence[Row]:
        """Return the rows, unless they were joined by target and their text is another one."""
        names = self.card.rows
        if not rows or not (names.target and names.text):
            return rows
        same = [row for row in rows if normal(row.get(names.text)) == normal(subject.text)]
        self._changed |= {row.where: None for row in rows if row not in same}
        return same

    def _key(self, table: Table, aspect: str, subject: Subject) -> Key:
        keys = subject_keys(self.card.rows, self.names, self._asked(aspect), subject)
        return next((key for key in keys if key in table), keys[0])

    def _asked(self, aspect: str) -> str:
        return slug(aspect) if self.card.rows.aspect else ""

    def _on(self, aspect: str, role: str) -> Table:
        """Return a role's rows on an aspect: all, where rows are not of an aspect each."""
        asked = self._asked(aspect)
        if (asked, role) not in self._parts:
            if role not in self._tables:
                self._tables[role] = indexed(self.card.rows, self._rows(role), self.names)
            rows = self._tables[role].items()
            self._parts[asked, role] = {key: same for key, same in rows if key[0] == asked}
        return self._parts[asked, role]

    def _role(self, judge: Judge) -> str:
        return judge.form if judge.form in self.card.files else "data"

    def _path(self, judge: Judge, aspect: str) -> str | None:
        """Return the column or JSON path that holds the judge's replies or scores, if any does."""
        rows = self.card.rows
        own, shared = rows.scores.get(aspect), rows.scores.get("*")
        if rows.reply is None and ASPECT in judge.form:
            return own and judge.form.replace(ASPECT, own)
        path = rows.reply or (shared if judge.form and shared else own or shared)
        return path and path.replace("{form}", judge.form)

    def _rows(self, role: str) -> Iterator[Row]:
        for path, fields in resolve(self.card.files, role, self.folder, self.data):
            for number, cells in read_rows(path, self.card.kind):
                where = f"{path}:{number}"
                if self.card.rows.lists:
                    for entry in entries(cells, self.dataset, where):
                        yield Row(f"{where} {entry[ENTRY]}", entry, fields)
                elif self._is_ours(row := Row(where, cells, fields)):
                    yield row

    def _is_ours(self, row: Row) -> bool:
        name = self.card.rows.dataset
        return name is None or slug(str(row.get(name))) == self.dataset

    def _draws(self, rows: Sequence[Row], path: str | None, draws: int) -> list[Answer]:
        if not rows:
            return [not_applicable("no_recorded_row")] * draws
        row = rows[-1] if self.card.rows.repeated == "last" else rows[0]
        value = row.get(path) if path else None
        recorded = value if isinstance(value, list) else [value]
        answers = [self._answer(one, row) for one in recorded[:draws]]
        if self.card.rows.repeated == "mean" and path and len(rows) > 1:
            answers = [self._mean(rows, path)]
        return answers + [not_applicable("no_recorded_draw")] * (draws - len(answers))

    def _mean(self, rows: Sequence[Row], path: str) -> Answer:
        """Return the mean of the scores of rows about one text; one that is missing has no say."""
        told = [self._answer(row.get(path), row) for row in rows]
        values = [float(one.text) for one in told if one.status == "ok"]
        return Answer(repr(fmean(values))) if values else told[0]

    def _answer(self, value: object, row: Row) -> Answer:
        """Return one draw; an empty text is a reply, but no score."""
        scored = self.card.rows.reply is None
        if isinstance(value, str) and scored:
            value = value.strip() or None
        if value is None or value in self.card.rows.missing:
            return not_applicable("no_value")
        if isinstance(value, float) and math.isnan(value):
            return not_applicable("no_value")
        if isinstance(value, str) and (not scored or _is_number(value)):
            return Answer(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return Answer(repr(value))
        if scored and isinstance(value, str | float):
            raise UserError(
                "a recorded score is not a number",
                where=row.where,
                got=value,
                todo="write it as a number (4.5), or name under `rows` what means no score "
                "(`missing`)",
            )
        raise UserError(
            "a recorded reply or score is neither a text nor a number", where=row.where, got=value
        )


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and math.isfinite(float(text))


def build(
    model: RecordedModel,
    *,
    dataset: str,
    folder: Path,
    data: Path,
    names: Names = NO_NAMES,
    **_: object,
) -> RecordedEngine:
    """Return the engine of a recorded card for one dataset."""
    return RecordedEngine(model, dataset, folder, data, names)
