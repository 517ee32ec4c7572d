"""Checks of the columns that a flag or an answer of `judgescope init` names."""

from collections.abc import Iterable, Mapping
from functools import partial

from judgescope.cli.init.column_values import number, numbers
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.tables import InitTable
from judgescope.core.errors import UserError, check_known

NO_COLUMN = "the table does not have this column"


def check_column(name: str, table: InitTable, flag: str) -> None:
    """Raise UserError for a column that the table does not have."""
    if not name.strip() and name not in table.columns:
        raise UserError(
            "a flag names no column",
            where=flag,
            allowed=table.columns,
            todo=f"name it: {flag} COLUMN",
        )
    todo = "name a column as the header has it; put a name with spaces in quotes"
    check_known([name], table.columns, NO_COLUMN, where=flag, todo=todo)


def check_free(name: str, taken: Mapping[str, Iterable[str]], where: str) -> None:
    """Raise UserError for a column that already has a role."""
    for role, columns in taken.items():
        if name in columns:
            raise UserError(
                "a column can have only one role",
                where=where,
                got=name,
                todo=f"it is also used for {role}: drop one of the two",
            )


def check_lengths(table: InitTable, columns: Guess) -> None:
    """Raise UserError for lengths that are not needed, or no lengths.

    They must be finite and not negative; a missing one is allowed.
    """
    option = "--lengths" if columns.lengths else "--length"
    fault = partial(UserError, where=option, got=", ".join(columns.measured))
    if columns.measured and columns.has_texts:
        texts = ", ".join([*columns.columns_of("text"), *columns.texts])
        raise fault(
            f"the texts have lengths of their own (column {texts})",
            todo=f"leave {option} out",
        )
    if columns.length and columns.compared:
        raise fault(
            "a row has two texts, and this option names one column",
            todo="name both columns: --lengths FIRST SECOND",
        )
    if columns.lengths and not columns.compared:
        raise fault(
            "these are the lengths of two texts, but people did not choose between two",
            todo="name the column of the judged text's length: --length COLUMN",
        )
    for column in columns.measured:
        for at, row in table.filled(column):
            length = number(row[column])
            if length is None or length < 0 or isinstance(row[column], bool):
                raise UserError(
                    "a length is not a number from 0",
                    where=f"{table.file}, row {at}, column {column}",
                    got=row[column],
                    allowed="a finite number, 0 or above",
                    todo="write the number; leave the cell of an unknown length empty, "
                    "or write NA",
                )


def check_numbers(column: str, table: InitTable) -> None:
    """Raise UserError for a column of ratings with a cell that is not a number."""
    if numbers(table.rows, column) is not None:
        return
    for at, row in table.filled(column):
        if numbers([row], column) is None:
            raise UserError(
                "a rating is not a number",
                where=f"{table.file}, row {at}, column {column}",
                got=row[column],
                todo="name a column of numbers, or turn the words into numbers first "
                "(with a decimal point); leave the cell of a missing rating empty, "
                "or write NA",
            )
    raise UserError(
        "this column of ratings is empty", where=str(table.file), got=column
    )
