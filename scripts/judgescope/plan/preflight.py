"""The checks of a study's files before any of its jobs run."""

import json
from pathlib import Path
from typing import Annotated

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.files import write_text
from judgescope.core.job_files import IN, OUT
from judgescope.data.files import verify
from judgescope.engines import command, python_function
from judgescope.schema.cards import CommandModel, Hub, PythonModel


class FileOwner(SpecPart, frozen=True, kw_only=True):
    """A card that names files."""

    named: dict[str, str | dict[str, object]] = field(name="files")
    """Role -> path, or the keys of a file on the hub."""
    sha256: dict[str, str]
    published: dict[str, str]
    """Path below `{data}` -> sha256 of the files that can be fetched."""
    folder: str
    """The folder of the card; its paths are relative to it."""
    where: str
    """The name of the card in errors."""

    @property
    def files(self) -> dict[str, str | Hub]:
        """Return role -> path or file on the hub."""
        return {
            role: Hub.model_validate(file) if isinstance(file, dict) else file
            for role, file in self.named.items()
        }


class PreflightSpec(JobSpec, frozen=True, kw_only=True):
    """The job that checks every file of a study against its card."""

    study: dict[str, object]
    """The study's card, without keys that only say where things are."""
    cards: dict[str, str]
    """Kind and id -> a hash of the card."""
    owners: dict[str, FileOwner]
    """Kind and id -> the card: a dataset and a model may have the same id."""
    data: str
    """The folder that `{data}` stands for in paths."""
    cells: dict[str, int]
    """Dataset -> its number of cells."""
    judges: dict[str, str]
    """Judge -> its engine."""
    asked: dict[str, int]
    """Model that is asked -> its number of cells."""
    programs: dict[str, dict[str, object]]
    """Model that is a program -> its card."""
    output: Annotated[str, OUT]


class CheckSpec(SpecPart, frozen=True, kw_only=True):
    """The job that prints the results of the preflight, and what a run would
    request.
    """

    config: dict[str, object]
    """The study's config as Snakemake has read it."""
    source: str
    """The name of the study's file in errors."""
    preflight: Annotated[str, IN]
    """The output file of the preflight."""
    unfetched: list[str]
    """The datasets that a run must download from the hub first."""


def verified(spec: PreflightSpec) -> dict[str, object]:
    """Compare every file of the study with its card; return what the study covers.

    Raises UserErrors for a file that is not the one its card describes.
    """
    data = Path(spec.data)
    hashes = {}
    for name, owner in spec.owners.items():
        hashes[name] = verify(
            owner, Path(owner.folder), data, where=owner.where, fetch=False
        )
    for model, card in spec.programs.items():
        folder = Path(spec.owners[f"model:{model}"].folder)
        if card["engine"] == "python":
            function = PythonModel.model_validate(card)
            python_function.build(python_function.located(function, folder, data))
        else:
            program = CommandModel.model_validate(card)
            command.build(command.located(program, folder, data))
    covered = {
        name: getattr(spec, name)
        for name in ("study", "cards", "cells", "judges", "asked")
    }
    return {**covered, "sha256": hashes}


def preflight(spec: PreflightSpec) -> None:
    """Check the files and write the record of the study."""
    text = json.dumps(verified(spec), indent=1, sort_keys=True, ensure_ascii=False)
    write_text(Path(spec.output), text + "\n")
