"""Read one dataset, check it, and write its ratings and a report."""

from judgescope.data.tables import read_ratings as run

__all__ = ["run"]
