"""The row types of tables: the same columns as the tables' files."""

import doctest
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from judgescope.schema import tables
from judgescope.schema.tables import SCHEMAS, TABLES

TYPES = {"string": str, "double": float, "int64": int, "bool": bool}
VALUES = {"string": "a text", "double": 0.5, "int64": 3, "bool": True}


def value_of(kind: pa.DataType) -> Any:
    """Return a value that a column of this Arrow type may hold."""
    if pa.types.is_struct(kind):
        return {field.name: value_of(field.type) for field in kind}
    if pa.types.is_map(kind):
        return [(value_of(kind.key_type), value_of(kind.item_type))]
    if pa.types.is_list(kind):
        return [value_of(kind.value_type)]
    return VALUES[str(kind)]


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_a_table_are_the_fields_of_its_row_type(name: str) -> None:
    fields = TABLES[name].row.__annotations__
    assert list(fields) == SCHEMAS[name].names
    assert set(TABLES[name].key) <= set(fields)
    for column in SCHEMAS[name]:
        declared = fields[column.name]
        if str(column.type) in TYPES:
            plain = TYPES[str(column.type)]
            assert declared in (plain, plain | None)


@pytest.mark.parametrize("name", TABLES)
def test_rows_that_are_read_from_a_table_are_of_its_row_type(name: str) -> None:
    row = {column.name: value_of(column.type) for column in SCHEMAS[name]}
    [read] = tables.table_of(name, [row]).to_pylist()
    assert read == row
    assert msgspec.convert(read, TABLES[name].row) == row
    for field in row:
        wrong: dict[str, Any] = {**row, field: object()}
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, TABLES[name].row)


def test_type_without_a_column_type_is_an_error() -> None:
    with pytest.raises(TypeError, match="no column holds values of the type"):
        tables.column_type(dict[str, str])


def test_examples_in_tables() -> None:
    result = doctest.testmod(tables)
    assert result.failed == 0 and result.attempted >= 2
