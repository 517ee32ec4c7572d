"""The command `judgescope audit` as a function: a table in, an object with the page and
its numbers out.

The reader, the numbers and the page are those of the command. Nothing is asked: if it
is open what a column holds, `Unclear` lists the readings.
"""

import argparse
import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from judgescope.api import audit_frames, plain_signature
from judgescope.api.given_tables import as_file
from judgescope.cli.audit import page, study, table
from judgescope.cli.audit import slices as parts
from judgescope.cli.audit.error_rows import cells_by_row
from judgescope.cli.commands import add_audit
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.open_readings import OpenReading
from judgescope.cli.options import audit_options
from judgescope.cli.terminal import with_commas
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.extras import missing_package
from judgescope.report.words import plural

if TYPE_CHECKING:
    import pandas as pd

NamedColumns = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""A column, several, or aspect -> its columns."""
FLAG: Final = re.compile(r"--([a-z]+)\b(?: ([A-Z]+\b(?:,…)?))?")
"""An option in a message of the command, and what stands for its value."""


class Unclear(UserErrors):
    """It is open what the columns of a table hold; nothing was computed.

    `options` has each possible reading as the keyword arguments that choose it, so
    `audit(table, **error.options[0])` takes the first. It is empty where the readings
    cannot be listed; the message then says which argument to give.
    """

    def __init__(
        self,
        errors: list[UserError],
        options: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(errors)
        self.options = [dict(option) for option in options]


class Audit:
    """What an audit found: `print(audit)` shows the page, a notebook shows it as HTML.

    Tables are DataFrames and need pandas; nothing else of this object does.
    """

    def __init__(
        self, findings: page.AuditFindings, cells: Mapping[int, Mapping[str, Any]]
    ) -> None:
        self._findings = findings
        self._cells = cells

    def __str__(self) -> str:
        """The page, as `judgescope audit` prints it."""
        return with_commas(page.as_text(self._findings))

    def __repr__(self) -> str:
        """One line: the table, its size and the exit code."""
        read = self._findings.draft.table
        judges = plural(len(self._findings.judges), "judge")
        return (
            f"<judgescope audit of {read.file.name}: {len(read.rows):,} rows, "
            f"{judges}, exit code {self.exit_code}>"
        )

    def _repr_html_(self) -> str:
        """The page as a part of another HTML page, without style and scripts."""
        main = page.as_html(self._findings).partition("<main>")[2]
        content = main.partition("</main>")[0]
        # Ids of several outputs would be the same, and labels would name the first.
        content = re.sub(r' (?:id|aria-labelledby)="[^"]*"', "", content)
        content = re.sub(r'<a href="#[^"]*">(.*?)</a>', r"\1", content)
        return f'<div class="judgescope">{content}</div>'

    @property
    def exit_code(self) -> int:
        """That of the command: 0 bars are met or none is set, 1 missed, 2 cannot tell.

        >>> rows = [{"human": 1 + at % 5, "judge": 1 + at % 4} for at in range(40)]
        >>> audit(rows, require={"spearman": 0.9}).exit_code
        1
        """
        return self._findings.status

    def to_json(self) -> str:
        """The page and all of its numbers as JSON, as `--json` prints it."""
        return page.as_json(self._findings)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the page to a file that needs no other file, as `--html` does."""
        text = page.as_html(self._findings)
        Path(path).write_text(text, encoding="utf-8", newline="\n")

    @cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    @property
    def verdicts(self) -> "pd.DataFrame":
        """A row for each claim about a judge: outcome, number, best rival, reasons.

        >>> rows = [{"human": 1 + at % 5, "judge": 1 + at % 5} for at in range(40)]
        >>> verdict = audit(rows).verdicts.iloc[0]
        >>> verdict[["judge", "outcome", "statistic"]].tolist()
        ['judge', 'better', 'spearman']
        """
        return _framed(audit_frames.verdicts(self._content), audit_frames.VERDICTS)

    @property
    def numbers(self) -> "pd.DataFrame":
        """A row for each number of the page, also in the measures of the literature.

        `claim` is the kind of claim that it belongs to, `group` the literature's name
        for a group of measures.
        """
        return _framed(audit_frames.numbers(self._content), audit_frames.NUMBERS)

    @property
    def people(self) -> "pd.DataFrame":
        """How well one rater agrees with the others, by aspect; empty for one rater."""
        rows = self._content["people"]
        return _framed(rows, audit_frames.PEOPLE)

    @property
    def columns(self) -> "pd.DataFrame":
        """What each column was read as: role, aspect, the judge's name, the column.

        >>> rows = [{"human": 1 + at % 5, "judge": 1 + at % 4} for at in range(40)]
        >>> audit(rows).columns[["role", "column"]].values.tolist()
        [['people', 'human'], ['judge', 'judge']]
        """
        rows = audit_frames.columns(self._content, self._findings.draft.table.columns)
        return _framed(rows, audit_frames.COLUMNS)

    @property
    def confusion(self) -> "pd.DataFrame":
        """How many rows have each pair of what people and a judge say.

        `kind` says what is paired: labels, choices, steps of a scale, or ranges of
        ranks. Rows without a judge are of one person by the others.

        >>> rows = [{"human": at % 2, "judge": int(at % 4 > 0)} for at in range(40)]
        >>> counts = audit(rows).confusion.pivot(
        ...     index="people_say", columns="judge_says", values="count"
        ... )
        >>> counts.loc["fail"].to_dict()  # of 20 bad texts the judge passes 10
        {'fail': 10, 'pass': 10}
        """
        return _framed(audit_frames.confusion(self._content), audit_frames.CONFUSION)

    @property
    def slices(self) -> "pd.DataFrame":
        """The deciding number on each part of the table, such as a topic or language.

        `slice` is the column, `part` its value; `gap` is the number minus that of the
        rest, `p_holm` its p after Holm's correction, NaN where a part is not tested.
        """
        return _framed(audit_frames.slices(self._content), audit_frames.SLICES)

    @property
    def errors(self) -> "pd.DataFrame":
        """Each row in which a judge and people differ, the worst first.

        The table's own columns come first, as in the file of `--errors`. `row` is the
        row's number on the page: of a table in memory its place, from 1.
        """
        own_columns = list(
            dict.fromkeys(name for row in self._cells.values() for name in row)
        )
        names = audit_frames.beside(own_columns)
        rows = []
        for disagreement in self._findings.disagreements:
            row = dict(self._cells.get(disagreement.row, {}))
            for name in audit_frames.ERRORS:
                row[names[name]] = getattr(disagreement, audit_frames.ERRORS[name])
            rows.append(row)
        return _framed(rows, [*own_columns, *names.values()])


@plain_signature
def audit(
    table: object,
    *,
    judge: NamedColumns | None = None,
    human: NamedColumns | None = None,
    text: str | None = None,
    source: str | Sequence[str] | None = None,
    references: str | Sequence[str] | None = None,
    item: str | None = None,
    system: str | None = None,
    length: str | None = None,
    scale: str | Mapping[str, str] | None = None,
    texts: tuple[str, str] | None = None,
    systems: tuple[str, str] | None = None,
    lengths: tuple[str, str] | None = None,
    labels: Sequence[str] | None = None,
    ordered: bool = True,
    positive: str | None = None,
    missing: Sequence[str] = (),
    decimal: Literal["comma", "point"] | None = None,
    slices: str | Sequence[str] | None = None,
    tool: str | None = None,
    require: Mapping[str, float] | None = None,
) -> Audit:
    """Say whether a judge is any good, from one table of its scores and people's
    ratings.

    This is the command `judgescope audit`: it reads the same tables in the same way and
    computes the same numbers. Columns that you do not name are recognised by their
    headers.

    table: a path; a list of dicts; or anything with `__arrow_c_stream__`, such as a
    DataFrame of pandas (2.2 or newer) or polars, or a Table of pyarrow. judge, human: a
    column, several, or {aspect: column or columns}. text, source, references, item,
    system, length: columns; texts, systems, lengths: the two columns of choices between
    two texts. scale: "1:5:1" (lowest, highest, step) or {aspect: scale}. labels:
    the words of labels, the worst first, or in any order if they are not ordered;
    positive: the good one of two labels; missing: cells that stand for nothing;
    decimal: the sign before decimals, where 1,234 can be read in two ways. slices:
    columns on each of whose values numbers are shown, such as a topic. tool: the one
    that exported the file, found by its keys if you do not name it; "table" for none.
    require: bars, such as {"spearman": .5}.

    Returns an `Audit`. Raises Unclear if it is open which columns hold the scores or
    the ratings (nothing is asked), UserError or UserErrors for a table that cannot be
    used.

    >>> rows = [{"human": 1 + at % 5, "gpt_score": 1 + at % 4} for at in range(40)]
    >>> result = audit(rows)
    >>> print(str(result).splitlines()[0])
    rows: 40 rows, 2 columns
    >>> result.exit_code
    0
    >>> try:
    ...     audit([{"a": 1 + at % 5, "b": 1 + at % 4} for at in range(40)])
    ... except Unclear as error:
    ...     print(error)
    cannot tell which column has a judge's scores
      where:   rows
      allowed: a, b
      do:      name it: judge=COLUMN
    """
    given = {
        "judge": _parts(judge),
        "human": _parts(human),
        "text": text,
        "source": _listed(source),
        "references": _listed(references),
        "item": item,
        "system": system,
        "length": length,
        "scale": _scales(scale),
        "texts": _pair(texts, "texts"),
        "systems": _pair(systems, "systems"),
        "lengths": _pair(lengths, "lengths"),
        "labels": None if labels is None else _csv_line(labels),
        "unordered": not ordered,
        "positive": positive,
        "missing": _listed(missing),
        "decimal": decimal,
        "slice": _listed(slices),
        "tool": tool,
        "require": [f"{name}={bar!r}" for name, bar in (require or {}).items()],
    }
    with as_file(table) as (file, name):
        args = _arguments(file, given)
        try:
            return _audited(args, name)
        except (UserError, UserErrors) as error:
            raise _in_python(error, file, name) from None


def _audited(args: argparse.Namespace, name: str | None) -> Audit:
    draft = table.draft_of(args, study.bars(args.require))
    parts.slice_columns(draft, args.slice)
    cells = cells_by_row(draft)
    if name is not None:
        draft = _renamed(draft, name)
    with TemporaryDirectory(prefix="judgescope-") as folder:
        card = study.written(draft, Path(folder))
        report = study.computed(draft, card, Path(folder), Path(folder) / "results")
    slices = list(parts.slices_of(draft, args.slice))
    return Audit(page.AuditFindings(draft, report, slices=slices), cells)


def _renamed(draft: StudyDraft, name: str) -> StudyDraft:
    """The draft with the name of a table in memory instead of its file's."""
    return replace(draft, table=replace(draft.table, file=Path(name)))


# --- arguments ------------------------------------------------------------------------


def _arguments(file: Path, given: Mapping[str, Any]) -> argparse.Namespace:
    """The command's arguments: its own defaults, and what was given."""
    parser = argparse.ArgumentParser()
    add_audit(parser.add_subparsers())
    args = parser.parse_args(["audit", "table"])
    args.file = file
    for name, value in given.items():
        if value is not None:
            setattr(args, name, value)
    return args


def _listed(columns: str | Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str):
        return [columns]
    return [str(column) for column in columns]


def _pair(columns: Sequence[str] | None, name: str) -> list[str] | None:
    """Two columns; UserError for another number."""
    if columns is None:
        return None
    if isinstance(columns, str) or len(columns) != 2:
        raise UserError(
            "two columns are needed, of the first and of the second text",
            where=name,
            got=columns,
            allowed=f'{name}=("first", "second")',
        )
    return list(columns)


def _parts(columns: NamedColumns | None) -> list[str] | None:
    """The option's values for columns, or for aspects with their columns."""
    if not isinstance(columns, Mapping):
        return _listed(columns)
    parts = []
    for aspect, of_aspect in columns.items():
        if "=" in aspect:
            raise UserError(
                "the name of an aspect must not contain =",
                where="judge or human",
                got=aspect,
            )
        parts.append(f"{aspect}={_csv_line(_listed(of_aspect) or [])}")
    return parts


def _csv_line(cells: Iterable[str]) -> str:
    """Names in one value of an option; those with commas are quoted."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _scales(scale: str | Mapping[str, str] | None) -> list[str] | None:
    if isinstance(scale, Mapping):
        return [f"{aspect}={limits}" for aspect, limits in scale.items()]
    return _listed(scale)


# --- errors ---------------------------------------------------------------------------


def _in_python(
    error: UserError | UserErrors, file: Path, name: str | None
) -> UserError | UserErrors:
    """An error that names arguments instead of options, and no temporary file.

    `Unclear` if it asks for an argument that names columns.
    """
    errors = error.errors if isinstance(error, UserErrors) else [error]
    options = list[Mapping[str, Any]]()
    asks = False
    for each in errors:
        options += map(_keywords, getattr(each, "options", ()))
        asks = asks or _asks_for_columns(each)
        each.what = _reworded(each.what, file, name)
        each.where = _reworded(each.where, file, name)
        each.todo = _reworded(each.todo, file, name)
    if asks or options:
        return Unclear(errors, options)
    return error


def _keywords(reading: OpenReading) -> dict[str, Any]:
    """The arguments of `audit` that choose a reading."""
    keywords = dict[str, Any]()
    for option, values in reading.flags.items():
        keywords[option] = values[0] if len(values) == 1 else list(values)
    return keywords


def _asks_for_columns(error: UserError) -> bool:
    """Whether what is to be done is to name columns."""
    flags = set()
    for option in audit_options():
        if "COLUMN" in str(option):
            flags.add(option.flag)
    return any(f"--{option[1]}" in flags for option in FLAG.finditer(error.todo))


def _reworded(text: str, file: Path, name: str | None) -> str:
    if name is not None:
        text = text.replace(str(file), name)
    return FLAG.sub(_argument, text)


def _argument(match: re.Match[str]) -> str:
    """`judge=COLUMN` for `--judge COLUMN`; options that are no argument stay."""
    if match[1] == "slice":
        return "slices=…"
    known = {option.flag for option in audit_options()} | {"--require"}
    if f"--{match[1]}" not in known:
        return match[0]
    return f"{match[1]}={match[2] or '…'}"


# --- tables ---------------------------------------------------------------------------


def _framed(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str]
) -> "pd.DataFrame":
    """Rows as a DataFrame; UserError if pandas is not installed."""
    try:
        import pandas as pd  # an extra: the page and its JSON do not need it
    except ModuleNotFoundError as error:
        missing = missing_package(error)
        if missing is None:
            raise
        raise missing from None
    frame = pd.DataFrame([dict(row) for row in rows], columns=list(columns))
    numbers = [name for name in audit_frames.FLOATS if name in columns]
    return frame.astype(dict.fromkeys(numbers, "float64"))
