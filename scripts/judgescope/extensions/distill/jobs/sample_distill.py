"""Read items and texts of all datasets, compare sources, write the sample."""

from judgescope.extensions.distill.sampling import sample_distill as run

__all__ = ["run"]
