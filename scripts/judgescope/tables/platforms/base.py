"""The record of a platform's export, and what its reader gets and returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from judgescope.core.errors import UserError
from judgescope.core.registry import Registry
from judgescope.data.rows import FileRow

TODO: Final = (
    "export it again with the tool, or put scores and ratings into a CSV or JSONL table"
)


@dataclass(frozen=True)
class ExportPart:
    """An object of an export, and where it stands, for messages."""

    content: Mapping[str, Any]
    where: str
    title: str
    """The tool, for messages."""

    def get(self, key: str) -> Any:
        """The value of a key; None without it."""
        return self.content.get(key)

    def need(self, key: str) -> Any:
        """The value of a key; UserError that names it without it."""
        if key not in self.content:
            raise UserError(
                f"this export of {self.title} lacks the key {key}",
                where=self.where,
                got=", ".join(map(str, self.content))[:80] or "an object without keys",
                todo=TODO,
            )
        return self.content[key]

    def part(self, key: str) -> "ExportPart":
        """The object of a key; UserError if there is none."""
        return self._object(self.need(key), key)

    def parts(self, key: str) -> list["ExportPart"]:
        """The objects in the list of a key; UserError if it has another form."""
        value = self.need(key)
        if not isinstance(value, list):
            raise self._wrong(key, value, "a list")
        parts = []
        for number, entry in enumerate(value, start=1):
            parts.append(self._object(entry, f"{key} {number}"))
        return parts

    def optional(self, key: str) -> "ExportPart":
        """The object of a key, an empty one where there is none; UserError for another
        value.
        """
        value = self.content.get(key)
        return self._object({} if value is None else value, key)

    def several(self, key: str) -> list["ExportPart"]:
        """The objects in the list of a key, none where there is no list."""
        if self.content.get(key) is None:
            return []
        return self.parts(key)

    def _object(self, value: object, key: str) -> "ExportPart":
        if not isinstance(value, Mapping):
            raise self._wrong(key, value, "an object")
        return ExportPart(value, f"{self.where}, {key}", self.title)

    def _wrong(self, key: str, value: object, allowed: str) -> UserError:
        return UserError(
            f"the key {key} of this export of {self.title} has another form",
            where=self.where,
            got=value,
            allowed=allowed,
            todo=TODO,
        )


@dataclass(frozen=True)
class OpenedExport:
    """A file as it was opened: a JSON object, rows, or an archive."""

    where: str
    """The file, for messages."""
    content: Any = None
    """The JSON object of a file that is one; else None."""
    rows: Sequence[FileRow] = ()
    archive: Path | None = None
    """The file, if it is a zip archive."""
    members: tuple[str, ...] = ()
    """The names of the archive's files."""
    title: str = ""
    """The tool whose reader has the export, for messages."""

    @cached_property
    def columns(self) -> dict[str, None]:
        """The keys of all rows, in the order of their first use."""
        columns: dict[str, None] = {}
        for row in self.rows:
            columns.update(dict.fromkeys(row))
        return columns

    def has_columns(self, *names: str) -> bool:
        """Whether the export has rows with these keys."""
        if not self.rows:
            return False
        return self.columns.keys() >= {*names}

    def has_keys(self, *names: str) -> bool:
        """Whether the export is an object with these keys."""
        if not isinstance(self.content, dict):
            return False
        return self.content.keys() >= {*names}

    @property
    def root(self) -> ExportPart:
        """The object of the file; UserError if it is none."""
        if isinstance(self.content, dict):
            return ExportPart(self.content, self.where, self.title)
        raise UserError(
            f"an export of {self.title} is a JSON object",
            where=self.where,
            got="rows" if self.rows else "an archive",
            todo=TODO,
        )

    @property
    def parts(self) -> list[ExportPart]:
        """The rows of the file; UserError if it has none."""
        if not self.rows:
            raise UserError(
                f"an export of {self.title} is a table, or a list of objects",
                where=self.where,
                got="an object" if self.content is not None else "no row",
                todo=TODO,
            )
        parts = []
        for number, row in enumerate(self.rows, start=1):
            parts.append(ExportPart(row, f"{self.where}, row {number}", self.title))
        return parts

    def check_columns(self, *names: str) -> None:
        """Raise UserError for the first of these keys that no row has."""
        for name in names:
            if self.rows and name not in self.columns:
                ExportPart(self.columns, self.where, self.title).need(name)


@dataclass
class PlatformTable:
    """An export as rows of texts, with the roles of their columns."""

    rows: list[FileRow]
    places: list[int] | None = None
    """For each row, the place of its first row in the file; None if they are the
    file's rows.
    """
    item: str | None = None
    source: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    system: str | None = None
    anonymous: bool = False
    """Whether `system` only numbers the texts of an item."""
    text: str | None = None
    texts: list[str] = field(default_factory=list)
    """If people chose between two texts: their columns."""
    systems: list[str] = field(default_factory=list)
    """The columns of the systems that wrote the two texts."""
    people: dict[str, list[str]] = field(default_factory=dict)
    """Aspect -> the columns of people's ratings."""
    judges: dict[str, dict[str, str]] = field(default_factory=dict)
    """Judge -> aspect, or * for every one -> the column of its scores."""
    swapped: dict[str, str] = field(default_factory=dict)
    """Column of a judge's choices -> that of its choices with the texts in the other
    order.
    """
    scales: dict[str, Mapping[str, float]] = field(default_factory=dict)
    """Aspect -> its scale, if the export states it."""
    points: Mapping[str, float] | None = None
    """Aspect -> its points, if aspects are the criteria of a rubric; empty if the
    export states none; None: they are no criteria."""
    notes: list[str] = field(default_factory=list)
    """How the export was read, where that is not plain."""


@dataclass(frozen=True)
class Platform:
    """A platform's export: how it is found, and its reader."""

    name: str
    """The value of `--tool`."""
    title: str
    version: str
    """The version of the tool, or of its format, whose exports the reader was tested
    with.
    """
    link: str
    """Where the format is published."""
    found_by: str
    """The keys by which an export is found."""
    people: str
    """Whose entries are people's, for the guide."""
    judge: str
    """Whose entries are a judge's, for the guide."""
    recognise: Callable[[OpenedExport], bool]
    read: Callable[[OpenedExport], PlatformTable]
    """Raises UserError that names a key which is missing."""
    read_several: Callable[[Sequence[OpenedExport]], PlatformTable] | None = None
    """The reader of a folder of such files, if they belong together."""


PLATFORMS: Final = Registry("platforms", Platform, "judgescope.tables.platforms")


def newer(stated: object, tested: object, title: str) -> list[str]:
    """A note if a file states another version than the reader was tested with."""
    if stated is None or str(stated).split(".")[0] == str(tested).split(".")[0]:
        return []
    return [
        f"this export of {title} states version {stated}; the reader was tested with "
        f"{tested} and found all keys that it needs"
    ]
