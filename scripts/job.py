"""Run a job of the workflow: `python scripts/job.py score --spec -`."""

import runpy
import sys

runpy.run_module(f"judgescope.jobs.{sys.argv.pop(1)}", run_name="__main__")
