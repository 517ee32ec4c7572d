"""Details of OpenCompass: a model's verdicts, and those that are expected."""

from typing import Any

from judgescope.core.errors import UserError
from judgescope.tables.platforms.base import (
    TODO,
    ExportPart,
    OpenedExport,
    Platform,
    PlatformTable,
)
from judgescope.tables.platforms.reading import kind_of, text_of
from judgescope.tables.platforms.sides import EVERY, OVERALL

KEYS = ("origin_prediction", "predictions", "references")


def _details(export: OpenedExport) -> list[ExportPart]:
    """The entries of `details`: an object by number, or a list."""
    root = export.root
    details = root.need("details")
    if isinstance(details, list):
        return root.parts("details")
    entries = root.part("details")
    return [entries.part(name) for name in entries.content if name != "type"]


def _recognise(export: OpenedExport) -> bool:
    if not export.has_keys("details"):
        return False
    details = export.content["details"]
    entries = details
    if isinstance(details, dict):
        entries = details.values()
    if not isinstance(details, dict | list):
        return False
    objects = [entry for entry in entries if isinstance(entry, dict)]
    if not objects:
        return False
    return {*KEYS} <= objects[0].keys()


def _read(export: OpenedExport) -> PlatformTable:
    """A row for each entry; UserError if verdicts are neither labels nor numbers."""
    rows: list[dict[str, Any]] = []
    for number, entry in enumerate(_details(export), start=1):
        row = {name: entry.need(name) for name in KEYS}
        row["id"] = str(number)
        row["origin_prediction"] = text_of(row["origin_prediction"])
        row["prompt"] = text_of(entry.get("prompt"))
        rows.append(row)
    for name in ("predictions", "references"):
        if kind_of(rows, name) not in {"label", "number"}:
            raise UserError(
                "the verdicts in these details are neither labels nor numbers",
                where=f"{export.where}, details, {name}",
                got=rows[0][name] if rows else None,
                allowed="up to seven different labels, or numbers",
                todo=TODO,
            )
    table = PlatformTable(rows, item="id", text="origin_prediction")
    if all(row["prompt"] for row in rows):
        table.source = ["prompt"]
    table.people = {OVERALL: ["references"]}
    table.judges = {"predictions": {EVERY: "predictions"}}
    return table


OPENCOMPASS = Platform(
    name="opencompass",
    title="OpenCompass",
    version="of 2025",
    link="https://github.com/open-compass/opencompass",
    found_by="`details` with `origin_prediction`, `predictions`, `references`",
    people="`references`",
    judge="`predictions`",
    recognise=_recognise,
    read=_read,
)
