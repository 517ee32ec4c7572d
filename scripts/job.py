"""Run a job of the workflow: `python scripts/job.py score --spec -`."""

import runpy
import sys

if __name__ == "__main__":  # a model's engine starts processes that import this file
    runpy.run_module(f"judgescope.jobs.{sys.argv.pop(1)}", run_name="__main__")
