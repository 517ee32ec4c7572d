"""A check of a study: of a finished one in this process, without Snakemake."""

import io
import os
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from judgescope.cli import context, finished
from judgescope.cli.context import study_content
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.plan.check_job import print_check
from judgescope.plan.code import unhashed
from judgescope.plan.guard import check_before_jobs, export_places
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import study as study_specs


def check_study(study: Path | None, passed: Sequence[str]) -> int:
    """Check a study, in this process if nothing has changed since Snakemake has made
    what the check reads; return the exit status.
    """
    file = study or context.demo()
    if finished.goal_of("check", passed):
        name = context.results_folder(study).name
        if finished.shown_lines(file, name, "check") is not None:
            report = report_of_check(file)
            if report is not None:
                print(report, end="", flush=True)
                return 0
    return context.snakemake(study, "check", passed)


def report_of_check(study: Path) -> str | None:
    """Return what the job `check` prints, if the files that it reads are up to date.

    None: something is wrong; Snakemake then shows the error as it always does.
    """
    content = study_content(study)
    source = os.path.relpath(study)
    printed = io.StringIO()
    try:
        plan = load_plan(content, HOME, source=source)
        spec = study_specs.check(plan, content, source, [])
        with redirect_stdout(printed), unhashed():
            export_places(conda=False)
            check_before_jobs(plan, conda=False, sends=False)
            print_check(spec, plan)
    except (UserError, UserErrors, OSError):
        return None
    return printed.getvalue()
