"""Find the demonstrations of every judge; write analyses and the underlying replies."""

from judgescope.perturb.drafting import analyse as run

__all__ = ["run"]
