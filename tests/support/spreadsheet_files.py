"""Spreadsheets written by hand: no package that writes them is needed."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_spreadsheet(
    path: Path,
    sheets: Mapping[str, Sequence[Sequence[object]]],
    hidden: Sequence[str] = (),
    merged: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """Write sheet -> rows as an .xlsx file; return its path.

    merged: sheet -> its merged cells, such as C1:D1.
    """
    entries, links, kinds = [], [], []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, (name, rows) in enumerate(sheets.items(), start=1):
            state = ' state="hidden"' if name in hidden else ""
            entries.append(
                f'<sheet name={quoteattr(name)} sheetId="{at}"{state} r:id="r{at}"/>'
            )
            links.append(
                f'<Relationship Id="r{at}" Type="{OFFICE}/worksheet" '
                f'Target="worksheets/sheet{at}.xml"/>'
            )
            kinds.append(
                f'<Override PartName="/xl/worksheets/sheet{at}.xml" '
                f'ContentType="{TYPES}.worksheet+xml"/>'
            )
            areas = (merged or {}).get(name, ())
            archive.writestr(f"xl/worksheets/sheet{at}.xml", _sheet(rows, areas))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
            f"{''.join(entries)}</sheets></workbook>",
        )
        archive.writestr("xl/_rels/workbook.xml.rels", _relations("".join(links)))
        archive.writestr(
            "_rels/.rels",
            _relations(
                f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" '
                'Target="xl/workbook.xml"/>'
            ),
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml" '
            f'ContentType="{TYPES}.sheet.main+xml"/>{"".join(kinds)}</Types>',
        )
    return path


def _relations(links: str) -> str:
    return f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'


def _sheet(rows: Sequence[Sequence[object]], merged: Sequence[str]) -> str:
    lines = []
    for number, cells in enumerate(rows, start=1):
        parts = []
        for column, cell in enumerate(cells):
            if cell != "":
                parts.append(_cell(f"{chr(ord('A') + column)}{number}", cell))
        lines.append(f'<row r="{number}">{"".join(parts)}</row>')
    areas = "".join(f'<mergeCell ref="{area}"/>' for area in merged)
    merges = f"<mergeCells>{areas}</mergeCells>" if merged else ""
    data = f"<sheetData>{''.join(lines)}</sheetData>{merges}"
    return f'<worksheet xmlns="{MAIN}">{data}</worksheet>'


def _cell(words: str, cell: object) -> str:
    if isinstance(cell, bool):
        return f'<c r="{words}" t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, int | float):
        return f'<c r="{words}"><v>{cell}</v></c>'
    text = escape(str(cell))
    return f'<c r="{words}" t="inlineStr"><is><t>{text}</t></is></c>'
