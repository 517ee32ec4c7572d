"""A small study that was run once, and copies of it: what is planned, asked and run
there.
"""

import logging
import os
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr
from importlib import invalidate_caches
from io import StringIO
from pathlib import Path
from typing import Any

import running
from asking import FAST
from scripted import Endpoint
from study import Card, Study
from warm import client_for_now

Jobs = dict[str, int]
"""What runs -> how many jobs; `score terse` are those of one judge."""


CHANGING: Card = {
    **{"study": "changing", "datasets": ["demo-news", "demo-dialogue"], "seed": 5},
    **{"aspects": ["coherence", "fluency"], "judges": ["terse", "wordy", "rules"]},
    **{"perturbations": ["reordering"], "methods": ["agreement", "discernment"]},
}


class Place(Study):
    """A checkout in which the study was run: Snakefile, cards, results and store."""

    file = "config/config.yaml"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, CHANGING)

    def set_up(self, endpoint: Endpoint) -> None:
        """Set the study up."""
        running.copy_project(self.folder)
        fields = {"base_url": endpoint.url, "limits": FAST, "probe": False}
        self.card("models", "loop", engine="openai", **fields)
        self.card("judges", "terse", model="loop", form="score-only", temperature=1.0)
        self.card("judges", "wordy", model="loop", form="rate-explain")
        for name in ("dialogue", "news"):
            self.amend("datasets", f"demo-{name}", select={"n": 6})
        self.write()

    def vary(self, **changes: Any) -> None:
        """Change keys of the study's card for good."""
        self.keys |= changes
        self.write()

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a piece of a file that has it once or more; the first counts."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def reach(self, target: str) -> Counter[str]:
        """Run the workflow up to a target; return rule -> how many jobs ran."""
        forked = target == "all" and not running.COLD & os.environ.keys()
        with client_for_now(self.folder) if forked else nullcontext("") as python:
            done = running.snakemake(
                target, cwd=self.folder, home=self.folder, interpreter=python
            )
        assert done.returncode == 0, done.stdout
        ran = re.findall(r"^Finished jobid: \d+ \(Rule: (\S+)\)", done.stdout, re.M)
        return Counter(rule for rule in ran if rule != target)

    def planned(self, target: str) -> Counter[str]:
        """Return the jobs of a dry run, which is made in this process."""
        from snakemake.cli import main

        command = [
            "-n",
            target,
            "--snakefile",
            str(self.folder / "workflow" / "Snakefile"),
        ]
        command += ["--workflow-profile", str(self.folder / "profiles" / "default")]
        with _heard() as (jobs, errors), _inside(self.folder):
            try:
                main(command)
            except SystemExit as end:
                assert end.code == 0, "\n".join(errors)
        del jobs[target]
        return jobs


@contextmanager
def _heard() -> Iterator[tuple[Counter[str], list[str]]]:
    """Give the jobs and the errors that Snakemake tells of; nothing is printed."""
    from snakemake.logging import logger

    jobs: Counter[str] = Counter()
    errors: list[str] = []

    def hear(record: logging.LogRecord) -> bool:
        if str(getattr(record, "event", "")) == "job_info":
            jobs[label(record.__dict__["rule_name"], record.__dict__["wildcards"])] += 1
        elif record.levelno >= logging.ERROR:
            errors.append(record.getMessage())
        return False

    logger.addFilter(hear)
    try:
        with redirect_stderr(StringIO()):
            yield jobs, errors
    finally:
        logger.removeFilter(hear)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder, with its workflow, imports and versions of packages.

    The workflow sets variables that name interpreters: what runs later must not find
    them.
    """
    from judgescope.core import paths
    from judgescope.plan import code, inputs, workflow

    before, path, home = Path.cwd(), list(sys.path), paths.HOME
    package = paths.PACKAGE
    variables = dict(os.environ)
    os.chdir(folder)
    sys.path.insert(0, str(folder / "scripts"))
    invalidate_caches()
    code._version.cache_clear()
    for module in (paths, inputs, workflow):
        vars(module).update(HOME=folder, WORKFLOW=folder / "workflow")
    vars(paths).update(PACKAGE=folder / "scripts" / "judgescope")
    try:
        yield
    finally:
        for module in (paths, inputs, workflow):
            vars(module).update(HOME=home, WORKFLOW=home / "workflow")
        vars(paths).update(PACKAGE=package)
        sys.path[:] = path
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        code._version.cache_clear()
        os.chdir(before)


def label(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return what a job is called in the table."""
    if rule in {"ask_api", "compute"}:
        return f"{rule.removesuffix('_api')} {wildcards['model']}"
    if rule == "perturb":
        return f"perturb {wildcards['perturbation']}"
    return f"score {wildcards['model']}" if rule == "score" else rule


def copied(base: Place, folder: Path) -> Place:
    """Return a copy of a place as it is, times and Snakemake's notes included."""
    shutil.copytree(base.folder, folder)
    return Place(folder)


def cloned(base: Place, folder: Path) -> Place:
    """Return a fresh checkout with the cards, results and store of another; all times
    are new.

    The files are as old as their names say, whatever order the file system lists them
    in.
    """
    running.copy_project(folder)
    for name in ("config", "results", "cache"):
        to = folder / name
        shutil.copytree(
            base.folder / name, to, copy_function=shutil.copyfile, dirs_exist_ok=True
        )
    copies = sorted([*folder.glob("config/**/*"), *folder.glob("results/**/*")])
    now = time.time()
    for number, path in enumerate(copies):
        os.utime(path, (now, now - 0.01 * (len(copies) - number)))
    return Place(folder)


def cloned_with_notes(base: Place, folder: Path) -> Place:
    """Return the same with what Snakemake noted of the jobs that made the results."""
    home = cloned(base, folder)
    shutil.copytree(base.folder / ".snakemake", folder / ".snakemake")
    return home
