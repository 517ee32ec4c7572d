"""Check the files and write the record of the study."""

from judgescope.plan.preflight import preflight as run

__all__ = ["run"]
