"""Read candidates and comparisons; write the set's targets, and the grades of all."""

from judgescope.perturb.grading import grade as run

__all__ = ["run"]
