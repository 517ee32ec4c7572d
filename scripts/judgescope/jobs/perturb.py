"""Read the originals, perturb each, write the perturbed targets with their edits."""

from judgescope.perturb.targets import perturb as run

__all__ = ["run"]
