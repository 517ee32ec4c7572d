"""Read one dataset, check it, and write its texts."""

from judgescope.data.tables import ingest as run

__all__ = ["run"]
