"""The command `judgescope new`: a folder for studies, ready for `run` and for
Snakemake.
"""

import argparse
import shutil
from pathlib import Path
from typing import Final

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME

SNAKEFILE: Final = """\
from judgescope.paths import SNAKEFILE
include: SNAKEFILE
workflow.default_target = "all"
"""
"""The file by which `snakemake` finds the installed workflow."""
IGNORED: Final = """\
# What a run computes; replies in cache/replies cost money, so keep them.
results/
.snakemake/
.env
"""
README: Final = """\
# Studies of judges

`study.yaml` is a study: change it, or write others beside it. `judgescope check
study.yaml` says what a run would ask and cost; `judgescope run study.yaml` runs it.

Your own cards go into the folders here (datasets, models, judges, aspects,
perturbations, prompts). `judgescope cards` lists those that judgescope ships;
`judgescope cards copy judge/NAME` copies one to change it.
"""
STUDY: Final = """\
# What to judge, by which judges, and which questions to answer. `judgescope cards`
# lists the names that can stand here; your own table: judgescope init TABLE.
study: example
seed: 1
datasets: [demo-news]
aspects: [consistency, fluency]
judges: [rouge-l, length]
perturbations: [random-deletions]
methods: [agreement, discernment]
"""


def new(args: argparse.Namespace) -> int:
    """Write a folder for studies; nothing that exists is overwritten."""
    folder: Path = args.folder
    texts = {
        Path("Snakefile"): SNAKEFILE,
        Path(".gitignore"): IGNORED,
        Path("config/README.md"): README,
    }
    copies: dict[Path, Path] = {}
    if args.demo:
        copies = _demo_files()
    else:
        texts[Path("study.yaml")] = STUDY
    _check_absent(folder, [*texts, *copies])
    for path, text in texts.items():
        _written(folder / path).write_text(text, encoding="utf-8", newline="\n")
    for path, source in copies.items():
        shutil.copyfile(source, _written(folder / path))
    for path in sorted([*texts, *copies]):
        print(f"written: {folder / path}")
    inside = "" if folder == Path() else f"cd {folder} && "
    print(f"next: {inside}judgescope run study.yaml")
    return 0


def write_snakefile(folder: Path) -> bool:
    """Write the Snakefile of a folder unless it has one; return whether it was
    written.
    """
    path = folder / "Snakefile"
    if path.exists():
        return False
    path.write_text(SNAKEFILE, encoding="utf-8", newline="\n")
    return True


def write_beside_study(folder: Path, study: Path) -> list[Path]:
    """Write the README and .gitignore of a folder that had no config/, for a study in
    it; files that exist stay. Return what was written.
    """
    texts = {
        Path(".gitignore"): IGNORED,
        Path("config/README.md"): README.replace("study.yaml", study.as_posix()),
    }
    new = []
    for path, text in texts.items():
        if not (folder / path).exists():
            _written(folder / path).write_text(text, encoding="utf-8", newline="\n")
            new.append(path)
    return new


def _demo_files() -> dict[Path, Path]:
    """Return path in the new folder -> the shipped file that is copied there."""
    config = HOME / "config"
    copies = {Path("study.yaml"): config / "config.yaml"}
    demo_datasets = ("demo-hanna", "demo-news", "demo-dialogue")
    for name in demo_datasets:
        copies[Path(f"config/datasets/{name}.yaml")] = config / f"datasets/{name}.yaml"
    # The recorded scores beside people's ratings are read from the copied table, too.
    recorded = Path(f"models/{demo_datasets[0]}.yaml")
    copies["config" / recorded] = config / recorded
    for source in sorted((config / "demo").iterdir()):
        if source.name.startswith(("news_", "dialogue_", "hanna.")):
            copies[Path("config/demo") / source.name] = source
    return copies


def _check_absent(folder: Path, paths: list[Path]) -> None:
    """Raise UserErrors for files that exist: they may be somebody's."""
    existing = []
    for path in paths:
        if (folder / path).exists():
            existing.append(path)
    if existing:
        raise UserErrors(
            [
                UserError(
                    "this file exists and is not overwritten",
                    where=str(folder / path),
                    todo="name another folder: judgescope new FOLDER",
                )
                for path in existing
            ]
        )


def _written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
