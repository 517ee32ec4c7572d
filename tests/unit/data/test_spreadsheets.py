"""Spreadsheets: which sheet is read, its cells, and what is refused."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from judgescope.core.errors import UserError
from judgescope.data import spreadsheets
from judgescope.data.rows import read_rows
from judgescope.tables.opening import open_table
from spreadsheet_files import write_spreadsheet

HEADER: list[object] = ["text", "human", "judge"]


def test_rows_have_the_numbers_that_a_spreadsheet_shows(tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    rows: list[list[object]] = [
        ["A title"],
        [],
        HEADER,
        ["a", 1, 2.5],
        [],
        ["", 4, True],
    ]
    write_spreadsheet(path, {"Ratings": rows})
    assert list(read_rows(path)) == [
        (4, {"text": "a", "human": 1, "judge": 2.5}),
        (6, {"text": "", "human": 4, "judge": True}),
    ]
    assert open_table(path).lines == {}


def test_the_first_visible_sheet_with_two_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    sheets: dict[str, list[list[object]]] = {
        "Read me": [["notes"], ["x"]],
        "Old": [HEADER, ["o", 1, 1]],
    }
    sheets |= {"New": [HEADER, ["n", 2, 2]]}
    write_spreadsheet(path, sheets, hidden=["Old"])
    assert [row["text"] for _, row in read_rows(path)] == ["n"]


@pytest.mark.parametrize(
    ("sheets", "hidden", "parts"),
    [
        ({"A": [["text"], ["a"]]}, [], ["no visible sheet", "mine.xlsx"]),
        ({"A": [HEADER, ["a", 1, 2]]}, ["A"], ["hidden sheets: A"]),
        ({"A": [["x", "x"], [1, 2]]}, [], ["duplicate column", "sheet A, row 1"]),
        ({"A": [["x", "", "y"], [1, 2, 3]]}, [], ["a column has no name", "row 1"]),
    ],
)
def test_what_cannot_be_a_table_is_refused(
    tmp_path: Path,
    sheets: Mapping[str, Sequence[Sequence[object]]],
    hidden: Sequence[str],
    parts: Sequence[str],
) -> None:
    write_spreadsheet(tmp_path / "mine.xlsx", sheets, hidden=hidden)
    with pytest.raises(UserError) as error:
        list(read_rows(tmp_path / "mine.xlsx"))
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_an_archive_without_sheets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.xml", escape("<a>"))
    with pytest.raises(UserError, match="this spreadsheet cannot be read"):
        list(read_rows(path))


def test_a_file_that_unpacks_to_too_much_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.xlsx"
    write_spreadsheet(path, {"A": [HEADER, ["a", 1, 2]]})
    monkeypatch.setattr(spreadsheets, "MOST_UNPACKED", 100)
    with pytest.raises(UserError, match="unpacks to too much"):
        list(read_rows(path))
