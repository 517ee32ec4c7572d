"""Write many references of each item; keep the most diverse, and one as the
original.
"""

from judgescope.perturb.references import write_references as run

__all__ = ["run"]
