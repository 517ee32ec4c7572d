"""Join the datasets' parts and what they make up together; the CSV has what applies."""

from judgescope.report.result_tables import tables as run

__all__ = ["run"]
