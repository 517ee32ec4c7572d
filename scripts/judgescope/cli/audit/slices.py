"""The deciding number on parts of a table: by topic, language, subset …

Each part is audited as if the file had only its rows, so that a number is the same
either way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from judgescope.cli.audit import study
from judgescope.cli.audit.rated_rows import aspects_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.column_rows import cells_of
from judgescope.methods import deciding
from judgescope.report.rows import ReportRow
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import split_header

NAMES = (
    "segment",
    "slice",
    "category",
    "subset",
    "domain",
    "topic",
    "language",
    "lang",
    "split",
    "dataset",
)
"""Headers of columns that are parts by themselves."""


@dataclass(frozen=True)
class SliceLimits:
    """Which columns are parts without being named."""

    fewest_values: int = 2
    most_values: int = 20
    fewest_rated: int = 10
    """Rated texts of each value."""
    most_columns: int = 3


LIMITS = SliceLimits()


@dataclass(frozen=True)
class TableSlice:
    """The rows with one value of a column, and the numbers on them."""

    column: str
    value: str
    rows: int
    rated: int
    """Rows with a rating of some aspect."""
    numbers: Sequence[ReportRow]
    """A judge's deciding number on each aspect, "" of a value without one."""
    why_none: str = ""
    """Why there are no numbers, "" if there are."""


def slice_columns(draft: StudyDraft, named: Sequence[str]) -> list[str]:
    """The columns whose values are parts: those that are named, else the usual ones.

    Raises UserError for a name that the table does not have.
    """
    known = draft.table.columns
    for name in named:
        if name not in known:
            raise UserError(
                "the table has no such column of slices",
                where=f"{draft.table.file}, --slice",
                got=name,
                allowed=known,
            )
    if named:
        return list(dict.fromkeys(named))
    found = []
    for column in known:
        if column in draft.columns.used or split_header(column) not in _usual():
            continue
        counts = _rated_by_value(draft, column)
        in_range = LIMITS.fewest_values <= len(counts) <= LIMITS.most_values
        if in_range and min(counts.values()) >= LIMITS.fewest_rated:
            found.append(column)
    return found[: LIMITS.most_columns]


def _usual() -> list[list[str]]:
    return [[name] for name in NAMES]


def _values(draft: StudyDraft, column: str) -> list[str]:
    """The value of each row, "" where it is missing."""
    values = []
    for cell in cells_of(draft.table.rows, column):
        values.append("" if is_missing(cell) else str(cell).strip())
    return values


def _rated_rows(draft: StudyDraft) -> list[bool]:
    """Which rows have a rating of some aspect."""
    rated = [False] * len(draft.table.rows)
    for aspect in aspects_of(draft).values():
        for at, ratings in enumerate(aspect.people):
            rated[at] = rated[at] or bool(ratings)
    return rated


def _rated_by_value(draft: StudyDraft, column: str) -> dict[str, int]:
    """Value -> how many of its rows are rated, in the order of the values."""
    counts: dict[str, int] = {}
    for value, rated in zip(_values(draft, column), _rated_rows(draft), strict=True):
        if value:
            counts[value] = counts.get(value, 0) + rated
    return dict(sorted(counts.items()))


def slices_of(draft: StudyDraft, named: Sequence[str] = ()) -> Iterator[TableSlice]:
    """Yield the parts of a table with their numbers, column by column."""
    if not draft.columns.judges:
        return
    for column in slice_columns(draft, named):
        values = _values(draft, column)
        for value, rated in _rated_by_value(draft, column).items():
            places = [at for at, found in enumerate(values) if found == value]
            numbers: Sequence[ReportRow] = ()
            why = "" if rated else "no row is rated"
            if rated:
                try:
                    numbers = _numbers(_part(draft, places))
                except (UserError, UserErrors) as error:
                    first = error.errors[0] if isinstance(error, UserErrors) else error
                    why = first.what
            yield TableSlice(column, value, len(places), rated, numbers, why)


def _part(draft: StudyDraft, places: Sequence[int]) -> StudyDraft:
    """The study on some rows of the table."""
    table = replace(
        draft.table,
        rows=[draft.table.rows[at] for at in places],
        numbers=[draft.table.numbers[at] for at in places],
        copied=True,
    )
    return replace(draft, table=table, require={})


def _numbers(draft: StudyDraft) -> list[ReportRow]:
    with TemporaryDirectory(prefix="judgescope-") as folder:
        card = study.written(draft, Path(folder))
        results = study.deciding_numbers(draft, card, Path(folder))
    return list(results.rows(deciding.NUMBERS))
