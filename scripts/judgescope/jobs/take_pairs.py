"""Read the texts of one perturbation and degree that a dataset has already."""

from judgescope.perturb.ready import take_pairs as run

__all__ = ["run"]
