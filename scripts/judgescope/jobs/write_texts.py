"""Make texts from a dataset's originals, at once or step by step; or make the
originals.
"""

from judgescope.perturb.writing import write_texts as run

__all__ = ["run"]
