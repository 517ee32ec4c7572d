"""What commands share: the study that is meant, its plan, its results folder, and Snakemake."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgescope.cli import child_process
from judgescope.cli.live_runs import living, recorded
from judgescope.cli.snakemake_args import is_dry, options_of
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME

if TYPE_CHECKING:
    from judgescope.plan import Plan

STOPPED = (
    "\nStopped. The same command goes on where this one ended.\n"
    "Every reply that came is kept: none is asked for or paid again."
)
"""What is said after Ctrl-C."""


def demo() -> Path:
    """Return the study that is meant where none is named, as seen from the working directory."""
    return Path(os.path.relpath(HOME / "config" / "config.yaml"))


def plan_of_study(study: Path, passed: Sequence[str] = (), *, drafting: bool = False) -> "Plan":
    """Return the plan of a study's file, changed by what is passed on to Snakemake."""
    from judgescope.cli.snakemake_args import study_of
    from judgescope.plan import load_plan

    return load_plan(study_of(study, passed), HOME, source=str(study), drafting=drafting)


def snakemake(
    study: Path | None,
    target: str | list[str],
    passed: list[str],
    *,
    snakefile: str = "workflow/Snakefile",
) -> int:
    """Run Snakemake on the workflow and return its exit status."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(HOME / snakefile)]
    targets = [target] if isinstance(target, str) else target
    command += [*targets, "--configfile", str(study or demo()), "--logger", "judgescope"]
    if not any(option.startswith(("--profile", "--workflow-profile")) for option in passed):
        command += options_of(HOME / "profiles" / "default")
    command += passed
    if "--unlock" in passed:
        _check_unlock()
    if is_dry(passed) or "--unlock" in passed:
        return child_process.run(command)[0]
    return _run(command, results_folder(study, passed).name)


def _run(command: list[str], study: str) -> int:
    """Run Snakemake, on record as a run of a study; 128 + signal where one stopped it."""
    with recorded(study) as record:
        status, stopped = child_process.run(command, keep_open=[record])
    if stopped is None:
        return status
    print(STOPPED, file=sys.stderr)
    return 128 + stopped


def _check_unlock() -> None:
    """Raise UserError while a run lives here: unlocked, two would write the same files."""
    if runs := living():
        raise UserError(
            "this folder is locked by a run that lives",
            where=".snakemake",
            got="; ".join(map(str, runs)),
            todo=f"let it end, or end it (kill {runs[0].process}) and run again: "
            "a run that was ended needs no --unlock",
        )


def results_folder(study: Path | None, passed: Sequence[str] = ()) -> Path:
    """Return where the study's results lie, under the working directory."""
    from judgescope.cli.snakemake_args import card_of

    return Path("results") / card_of(study or demo(), passed).study
