"""Files as `audit` and `init` open them: exports of platforms, or plain tables."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from judgescope.cli.context import check_input
from judgescope.cli.init.column_values import columns_of
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.shapes import structured
from judgescope.cli.init.tables import InitTable, TableSource, table_of
from judgescope.core.errors import UserError
from judgescope.schema.loading import Cards
from judgescope.tables.json_objects import under_a_key
from judgescope.tables.opening import OpenedTable, open_file
from judgescope.tables.platforms.base import (
    PLATFORMS,
    OpenedExport,
    Platform,
    PlatformTable,
)

PLAIN: Final = "table"
"""The value of --tool for a table that no tool has written."""
OPTION: Final = "--tool"


def opened(file: Path, cards: Cards, source: TableSource | None = None) -> InitTable:
    """The rows of a file, with the roles of their columns if a platform exported it.

    A folder has exports of one platform.
    """
    source = source or TableSource()
    tool = source.tool
    if tool not in (None, PLAIN) and tool not in PLATFORMS:
        raise UserError(
            "this tool is not known",
            where=OPTION,
            got=tool,
            allowed=[*PLATFORMS, PLAIN],
        )
    if file.is_dir():
        return _of_folder(file, cards, tool)
    check_input(file)
    content = open_file(file)
    export = _export(file, content)
    platform = _platform(export, tool)
    page = under_a_key(content)
    if platform is None and page is not None:
        content = page
        export = _export(file, content)
        platform = _platform(export, tool)
    if platform is not None:
        read = platform.read(replace(export, title=platform.title))
        table = _known(file, content, cards, platform, read)
        return _with_further(table, source)
    source.check_rows(file, len(content.rows))
    if content.content is not None or content.members:
        raise UserError(
            "this file is neither a table nor an export of a known tool",
            where=str(file),
            got=", ".join(content.content or content.members)[:80],
            allowed=[each.title for each in PLATFORMS.working().values()],
            todo="put scores and ratings into a CSV or JSONL table",
        )
    rows = source.joined(file, content)
    table = table_of(file, rows, cards, source.missing, source.decimal)
    return structured(table)


def _with_further(table: InitTable, source: TableSource) -> InitTable:
    """An export with the columns of further files, such as the texts of its ids.

    Raises UserError if a column of the export has other cells in a further file.
    """
    if not source.more:
        return table
    rows = [dict(row) for row in table.rows]
    opened = OpenedTable(rows=rows, numbers=list(table.numbers))
    joined = source.joined(table.file, opened)
    columns = columns_of(joined.rows)
    assert table.known is not None
    for name in table.known.used:
        if name not in columns:
            raise UserError(
                "a column of this export has other cells in a further file",
                where=f"{table.file} and {', '.join(map(str, source.more))}",
                got=name,
                todo="name the id that both share: --on COLUMN; or leave the column "
                "out of the further file",
            )
    return replace(
        table,
        rows=joined.rows,
        numbers=joined.numbers,
        columns=columns,
        notes=[*table.notes, *joined.notes],
    )


def _export(file: Path, content: OpenedTable) -> OpenedExport:
    return OpenedExport(
        where=str(file),
        content=content.content,
        rows=content.rows,
        archive=file if content.members else None,
        members=content.members,
    )


def _platform(export: OpenedExport, tool: str | None) -> Platform | None:
    """The platform that is named or whose keys the export has; None for a table.

    Raises UserError for an export that has the keys of two.
    """
    if tool == PLAIN:
        return None
    if tool is not None:
        return PLATFORMS[tool]
    matching = []
    for platform in PLATFORMS.working().values():
        if platform.recognise(export):
            matching.append(platform)
    if len(matching) > 1:
        raise UserError(
            "this file has the keys of two tools",
            where=export.where,
            got=", ".join(platform.title for platform in matching),
            todo=f"name the tool: {OPTION} {matching[0].name}, or {OPTION} {PLAIN}",
        )
    return matching[0] if matching else None


def _of_folder(folder: Path, cards: Cards, tool: str | None) -> InitTable:
    """The exports of one platform in a folder, as one table.

    Raises UserError for a folder without such files, and for any other file of these
    types in it.
    """
    files = sorted([*folder.glob("*.json"), *folder.glob("*.eval")])
    several = {}
    for platform in PLATFORMS.working().values():
        if platform.read_several is not None and tool in (None, platform.name):
            several[platform.name] = platform
    titles = " or ".join(platform.title for platform in several.values())
    if not files or not several:
        names = sorted(path.name for path in folder.iterdir())
        raise UserError(
            f"this folder has no exports of {titles or tool}",
            where=str(folder),
            got=", ".join(names[:5]) or "an empty folder",
            todo="name a file, or a folder with such files",
        )
    exports = [_export(path, open_file(path)) for path in files]
    first = [each for each in several.values() if each.recognise(exports[0])]
    if not first:
        raise UserError(
            f"this file is no export of {titles}",
            where=exports[0].where,
            todo="move it elsewhere, or audit it separately",
        )
    [platform, *_] = first
    for export in exports:
        if not platform.recognise(export):
            raise UserError(
                f"this file is no export of {platform.title}",
                where=export.where,
                todo="move it elsewhere, or audit it separately",
            )
    assert platform.read_several is not None
    named = [replace(export, title=platform.title) for export in exports]
    read = platform.read_several(named)
    return _known(folder, OpenedTable(), cards, platform, read)


def _known(
    file: Path,
    content: OpenedTable,
    cards: Cards,
    platform: Platform,
    read: PlatformTable,
) -> InitTable:
    """The table of an export; its rows keep the numbers that they have in the file."""
    numbers: Sequence[int] = range(1, len(read.rows) + 1)
    if content.numbers:
        places = read.places or range(len(read.rows))
        numbers = [content.numbers[index] for index in places]
    columns = Guess(
        item=read.item,
        source=read.source,
        references=read.references,
        system=read.system,
        anonymous=read.anonymous,
        text=read.text,
        texts=read.texts,
        systems=read.systems,
        ratings=read.people,
        judges=read.judges,
        swapped=read.swapped,
    )
    return InitTable(
        file,
        numbers,
        read.rows,
        columns_of(read.rows),
        cards.names("aspect"),
        known=columns,
        stated=read.scales,
        points=read.points,
        notes=[
            *content.notes,
            f"read as an export of {platform.title} ({OPTION} {platform.name})",
            *read.notes,
        ],
        copied=True,
    )
