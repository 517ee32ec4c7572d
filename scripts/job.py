"""Run a job of the workflow: `python scripts/job.py score --spec -`."""

import sys
from pathlib import Path

from judgescope.jobs.run import run_job

if __name__ == "__main__":  # a model's engine starts processes that import this file
    folder = Path(__file__).parent / "judgescope" / "jobs"
    jobs = sorted({path.stem for path in folder.glob("*.py")} - {"__init__", "run"})
    job = sys.argv.pop(1) if sys.argv[1:] else ""
    if job not in jobs:
        problem = f"there is no job {job!r}" if job else "no job is named"
        sys.exit(f"{problem}: the first argument of job.py must be one of {', '.join(jobs)}")
    run_job(job)
