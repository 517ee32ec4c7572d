"""A check of a finished study in this process, without Snakemake."""

import io
import os
from contextlib import redirect_stdout
from pathlib import Path

from judgescope.cli.context import study_content
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.plan.check_job import print_check
from judgescope.plan.code import unhashed
from judgescope.plan.guard import check_before_jobs, export_places
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import study as study_specs


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
