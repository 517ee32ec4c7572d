"""The files that a study reads: its cards and its data."""

import os
from pathlib import Path

from judgescope.data.files import absent, resolve
from judgescope.plan.study import Plan
from judgescope.schema.cards import FOLDERS, Hub

Files = dict[str, dict[str, list[str]]]


def without_folders(study: str | Path, home: Path) -> str:
    """Return a study's file as the report names it: nothing of the folders of this machine.

    A file below the working directory, or below the workflow's folder `home`, keeps its path from
    there; of any other only the name is left.
    """
    path = Path(study).resolve()
    for base in (Path.cwd(), home.resolve()):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.name


def data_files(plan: Plan) -> Files:
    """Return owner (dataset or recorded model) -> role -> paths.

    A file on a hub is pinned by its card: its place in a cache is nothing that a job depends on.
    Raises UserError for a file that is not there.
    """
    found: Files = {}
    for kind, name, card in plan.cards():
        roles = getattr(card, "files", None)
        if not roles:
            continue
        folder, data = Path(plan.folders[kind, name]), Path(plan.study.data)
        where = str(folder / f"{name}.yaml")
        found[name] = {
            role: [
                os.path.normpath(path)
                for path, _ in resolve(roles, role, folder, data, where=where)
            ]
            for role, file in roles.items()
            if not isinstance(file, Hub)
        }
    return found


def unfetched(plan: Plan) -> dict[str, list[Hub]]:
    """Return dataset -> its files on a hub that a run has to fetch first."""
    found = {name: [*absent(card.files).values()] for name, card in plan.datasets.items()}
    return {name: files for name, files in found.items() if files}


def card_files(plan: Plan, home: Path) -> list[str]:
    """Return the files of all cards of the study."""
    paths = []
    for kind, name, _ in plan.cards():
        here = [base / "config" / FOLDERS[kind] / f"{name}.yaml" for base in (Path(), home)]
        paths += [os.path.relpath(path) for path in here if path.is_file()][:1]
    return paths
