"""Run a job of the workflow: `python scripts/job.py score --spec -`."""

import sys

from judgescope.plan.jobs import JOBS, job, run

if __name__ == "__main__":  # an engine may start processes that import this file
    name = sys.argv.pop(1) if sys.argv[1:] else ""
    if name not in JOBS:
        problem = f"unknown job {name!r}" if name else "no job is named"
        known = ", ".join(sorted(JOBS))
        sys.exit(f"{problem}: the first argument of job.py must be one of {known}")
    run(job(name))
