"""Replies and scores that exist already: rows of files, joined to the targets they judge."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from metajudge.data.files import pick, read_rows, resolve
from metajudge.data.hanna import ENTRY, entries
from metajudge.engines.base import Answer, Subject, not_applicable
from metajudge.schema.cards import ASPECT, Judge, RecordedModel, RecordedRows, Scale
from metajudge.schema.errors import UserError
from metajudge.schema.slugs import slug

SAME = 1e-6
"""Scores of one text that are nearer to each other are one score, computed twice."""
NAMED = 3
"""Of rows without a target and targets without a row, so many are named in a notice."""

Key = tuple[str, ...]
"""The aspect's id first ('' where rows have none), then what a row is joined by."""


class Row(NamedTuple):
    """A recorded row; `fields` are the parts of its file's name that a pattern names."""

    where: str
    cells: dict[str, Any]
    fields: Mapping[str, str]

    def get(self, name: str) -> Any:
        """Return a field of the file's name, a column, or what lies at a JSON path."""
        return self.fields[name] if name in self.fields else pick(self.cells, name, self.where)


class RecordedEngine:
    """Answers from files; expects all targets of a dataset in one call.

    Rows are joined by target, by item (and system) or by text (and source and system), white space
    normalised. Of rows with one text and the same scores, the first is read.
    A role of the card's files that is named like a judge's form holds that form's rows; all other
    forms read the role `data`.
    """

    def __init__(self, card: RecordedModel, dataset: str, folder: Path, data: Path) -> None:
        self.card, self.dataset, self.folder, self.data = card, dataset, folder, data
        self._tables: dict[str, dict[Key, Row]] = {}
        self._seen: dict[str, None] = {}
        self._used: set[str] = set()
        self._missing: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._repeated: dict[str, None] = {}

    def answer(
        self, judge: Judge, aspect: str, scale: Scale, subjects: Sequence[Subject]
    ) -> list[list[Answer]]:
        """Return the recorded draws of every subject: the first `judge.draws` of them.

        Raises UserError where a row could belong to two targets, or two rows to one target.
        """
        table = self._table(self._role(judge))
        asked = slug(aspect) if self.card.rows.aspect else ""
        keys = [_subject_key(self.card.rows, asked, subject) for subject in subjects]
        _check_distinct(table, keys, subjects)
        rows = [self._same(table.get(key), one) for key, one in zip(keys, subjects, strict=True)]
        self._count(table, asked, rows, subjects)
        path, scored = self._path(judge, aspect), self.card.rows.reply is None
        return [_draws(row, path, judge.draws, scored=scored) for row in rows]

    def version(self, judge: Judge) -> str:
        """Return the sha256 of the judge's files, where the card says it."""
        return self.card.sha256.get(self._role(judge), "")

    @property
    def unmatched_rows(self) -> int:
        """Return how many rows of the aspects asked for fit no target."""
        return len(self._unmatched())

    @property
    def notices(self) -> list[str]:
        """Return what the user should know: rows without a target, targets without a row."""
        found = {
            "recorded rows without a target": self._unmatched(),
            "targets without a recorded row": list(self._missing),
            "recorded rows about another text than their target's": list(self._changed),
            "recorded rows that repeat a text and its scores": list(self._repeated),
        }
        return [
            f"{self.card.model}: {what}: {len(names)}, first {', '.join(names[:NAMED])}"
            for what, names in found.items()
            if names
        ]

    def _same(self, row: Row | None, subject: Subject) -> Row | None:
        """Return the row, unless it was joined by target and its text is another one."""
        names = self.card.rows
        if row is None or not (names.target and names.text):
            return row
        if _normal(row.get(names.text)) == _normal(subject.text):
            return row
        self._changed[row.where] = None
        self._used.add(row.where)
        return None

    def _unmatched(self) -> list[str]:
        return [where for where in self._seen if where not in self._used]

    def _count(
        self,
        table: Mapping[Key, Row],
        aspect: str,
        rows: Sequence[Row | None],
        subjects: Sequence[Subject],
    ) -> None:
        self._seen |= {row.where: None for key, row in table.items() if key[0] == aspect}
        self._used |= {row.where for row in rows if row is not None}
        pairs = zip(subjects, rows, strict=True)
        self._missing |= {subject.target: None for subject, row in pairs if row is None}

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

    def _table(self, role: str) -> dict[Key, Row]:
        if role not in self._tables:
            self._tables[role] = _index(self.card.rows, self._rows(role), self._repeated)
        return self._tables[role]

    def _rows(self, role: str) -> Iterator[Row]:
        for path, fields in resolve(self.card.files, role, self.folder, self.data):
            for number, cells in read_rows(path):
                where = f"{path}:{number}"
                if self.card.rows.lists:
                    for entry in entries(cells, self.dataset, where):
                        yield Row(f"{where} {entry[ENTRY]}", entry, fields)
                elif self._is_ours(row := Row(where, cells, fields)):
                    yield row

    def _is_ours(self, row: Row) -> bool:
        name = self.card.rows.dataset
        return name is None or slug(str(row.get(name))) == self.dataset


def _index(names: RecordedRows, rows: Iterator[Row], repeated: dict[str, None]) -> dict[Key, Row]:
    """Return the rows by key, and note in `repeated` where one says what another one said."""
    table: dict[Key, Row] = {}
    for row in rows:
        key = _row_key(names, row)
        if key in table:
            if _says_the_same(names, table[key], row):
                repeated[row.where] = None
                continue
            raise UserError(
                "two recorded rows are about one text",
                where=f"{table[key].where} and {row.where}",
                got=" | ".join(key),
                todo="name what tells them apart under `rows`: system, source or aspect",
            )
        table[key] = row
    return table


def _says_the_same(names: RecordedRows, one: Row, other: Row) -> bool:
    """Return whether all scores of two rows are numbers, and equal but for rounding."""
    if not (names.text and names.scores) or any("{" in path for path in names.scores.values()):
        return False
    try:
        pairs = [(float(one.get(path)), float(other.get(path))) for path in names.scores.values()]
    except (TypeError, ValueError):
        return False
    return all(abs(first - second) <= SAME for first, second in pairs)


def _row_key(names: RecordedRows, row: Row) -> Key:
    aspect = slug(str(row.get(names.aspect))) if names.aspect else ""
    if names.target:
        return (aspect, str(row.get(names.target)))
    system = slug(str(row.get(names.system))) if names.system else ""
    if names.item:
        return (aspect, system, slug(str(row.get(names.item))))
    source = _normal(" ".join(_normal(row.get(column)) for column in names.source))
    return (aspect, system, _normal(row.get(names.text or "")), source)


def _subject_key(names: RecordedRows, aspect: str, subject: Subject) -> Key:
    if names.target:
        return (aspect, subject.target)
    system = slug(subject.system or "") if names.system else ""
    if names.item:
        return (aspect, system, slug(subject.item))
    return (aspect, system, _normal(subject.text), _normal(subject.source) if names.source else "")


def _check_distinct(
    table: Mapping[Key, Row], keys: Sequence[Key], subjects: Sequence[Subject]
) -> None:
    """Two targets may share a row only if they are the same text about the same source."""
    first: dict[Key, Subject] = {}
    for key, subject in zip(keys, subjects, strict=True):
        other = first.setdefault(key, subject)
        if key in table and _content(other) != _content(subject):
            raise UserError(
                "a recorded row fits two targets",
                where=table[key].where,
                got=f"{other.target} and {subject.target}",
                todo="name what tells them apart under `rows`: system or source",
            )


def _content(subject: Subject) -> tuple[str, str]:
    return _normal(subject.text), _normal(subject.source)


def _normal(text: object) -> str:
    return "" if text is None else " ".join(str(text).split())


def _draws(row: Row | None, path: str | None, draws: int, *, scored: bool) -> list[Answer]:
    if row is None:
        return [not_applicable("no_recorded_row")] * draws
    value = row.get(path) if path else None
    recorded = value if isinstance(value, list) else [value]
    answers = [_answer(one, row, scored) for one in recorded[:draws]]
    return answers + [not_applicable("no_recorded_draw")] * (draws - len(answers))


def _answer(value: object, row: Row, scored: bool) -> Answer:
    """Return one draw; an empty text is a reply, but no score."""
    empty = isinstance(value, str) and scored and value.strip().lower() in {"", "nan"}
    if value is None or empty or (isinstance(value, float) and isnan(value)):
        return not_applicable("no_value")
    if isinstance(value, str):
        return Answer(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Answer(repr(value))
    raise UserError(
        "a recorded reply or score is neither a text nor a number", where=row.where, got=value
    )


def build(
    model: RecordedModel, *, dataset: str, folder: Path, data: Path, **_: object
) -> RecordedEngine:
    """Return the engine of a recorded card for one dataset."""
    return RecordedEngine(model, dataset, folder, data)
