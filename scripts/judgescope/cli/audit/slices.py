"""The deciding number on parts of a table: by topic, language, subset …

Each part is audited as if the file had only its rows, so that a number is the same
either way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from judgescope.cli.audit import study
from judgescope.cli.audit.rated_rows import aspects_of, sources_of
from judgescope.cli.init.cards import StudyDraft
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.column_rows import cells_of
from judgescope.methods import deciding
from judgescope.methods.claims.base import BAR
from judgescope.report.claims import ReportedClaim, own_claims
from judgescope.report.rows import ReportRow
from judgescope.report.worse_slices import GAP, P_HOLM
from judgescope.statistics.slices import LEVEL
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
class SliceTest:
    """A judge's number on a part minus that on the rest, and p after Holm's correction
    over all slices of the judge and aspect, those by length and system among them.
    """

    judge: str
    aspect: str
    gap: ReportRow
    p_holm: ReportRow

    @property
    def worse(self) -> bool:
        """Whether the judge is shown to be worse on the part."""
        p = self.p_holm.value
        return p is not None and p <= LEVEL and (self.gap.value or 0.0) < 0


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
    bars: Sequence[ReportedClaim] = ()
    """The required minimums on the part, if they are to hold on each."""
    tests: Sequence[SliceTest] = ()
    """The part beside the rest; empty of a part that is too small, and of a column
    whose values differ within a source."""
    mixed_sources: int = 0
    """Sources with several values of the column, which hence has no tests."""


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


def check_bars(draft: StudyDraft, columns: Sequence[str]) -> None:
    """Raise UserError where minimums are to hold on each part, and there are none."""
    where = f"{draft.table.file}, --require-slices"
    if not draft.require:
        raise UserError(
            "there is no minimum that could hold on each part",
            where=where,
            todo="name one, such as --require spearman=.5",
        )
    if not columns:
        raise UserError(
            "the table is shown in no parts",
            where=where,
            allowed=draft.table.columns,
            todo="name a column: --slice COLUMN",
        )


def slices_of(
    draft: StudyDraft, named: Sequence[str] = (), *, bars: bool = False
) -> Iterator[TableSlice]:
    """Yield the parts of a table with their numbers, column by column; bars: whether
    the draft's minimums are to hold on each.
    """
    if not draft.columns.judges:
        return
    columns = slice_columns(draft, named)
    tests = _tests(draft, columns)
    for column in columns:
        values = _values(draft, column)
        mixed = mixed_sources(draft, column)
        for value, rated in _rated_by_value(draft, column).items():
            places = [at for at, found in enumerate(values) if found == value]
            numbers: Sequence[ReportRow] = ()
            required: Sequence[ReportedClaim] = ()
            why = "" if rated else "no row is rated"
            if rated:
                try:
                    numbers = _numbers(_part(draft, places))
                    if bars:
                        required = _bars(draft, _part(draft, places))
                except (UserError, UserErrors) as error:
                    first = error.errors[0] if isinstance(error, UserErrors) else error
                    why = first.what
            tested = tests.get(f"{column}: {value}", ())
            yield TableSlice(
                column, value, len(places), rated, numbers, why, required, tested, mixed
            )


def mixed_sources(draft: StudyDraft, column: str) -> int:
    """How many sources have texts with different values of a column."""
    of_source: dict[object, set[str]] = {}
    for source, value in zip(sources_of(draft), _values(draft, column), strict=True):
        of_source.setdefault(source, set()).add(value)
    return sum(len(values) > 1 for values in of_source.values())


def _tests(draft: StudyDraft, columns: Sequence[str]) -> dict[str, list[SliceTest]]:
    """`column: value` -> the tests of it; a slice is a property of a source."""
    tested = []
    for column in columns:
        everywhere = all(column in row for row in draft.table.rows)
        if everywhere and not mixed_sources(draft, column):
            tested.append(column)
    if not tested:
        return {}
    sliced = replace(draft, slices=tuple(tested), require={})
    with TemporaryDirectory(prefix="judgescope-") as folder:
        card = study.written(sliced, Path(folder))
        rows = study.slice_numbers(sliced, card, Path(folder)).rows("slices")
    found: dict[str, list[SliceTest]] = {}
    for gap in rows:
        if not gap.statistic.startswith(GAP):
            continue
        statistic = P_HOLM + gap.statistic.removeprefix(GAP)
        p_holm = rows.where(
            judge=gap.judge, aspect=gap.aspect, slice=gap.slice, statistic=statistic
        ).first
        if p_holm is not None:
            test = SliceTest(gap.judge, gap.judged, gap, p_holm)
            found.setdefault(gap.slice, []).append(test)
    return found


def _part(draft: StudyDraft, places: Sequence[int]) -> StudyDraft:
    """The study on some rows of the table."""
    table = replace(
        draft.table,
        rows=[draft.table.rows[at] for at in places],
        numbers=[draft.table.numbers[at] for at in places],
        copied=True,
    )
    return replace(draft, table=table, require={})


def _bars(draft: StudyDraft, part: StudyDraft) -> list[ReportedClaim]:
    """The minimums of a table on one of its parts, of all judges."""
    with TemporaryDirectory(prefix="judgescope-") as folder:
        required = replace(part, require=draft.require)
        card = study.written(required, Path(folder))
        out = Path(folder) / "results"
        report = study.computed(required, card, Path(folder), out)
        claims = []
        for judge in report.judges:
            if judge.engine == "recorded":
                claims += own_claims(report, judge)
    return [claim for claim in claims if claim.kind.startswith(BAR)]


def _numbers(draft: StudyDraft) -> list[ReportRow]:
    with TemporaryDirectory(prefix="judgescope-") as folder:
        card = study.written(draft, Path(folder))
        results = study.deciding_numbers(draft, card, Path(folder))
    return list(results.rows(deciding.NUMBERS))
