"""Read the reply file of each cell, write judgments and scores, and a hash of all
files.
"""

from judgescope.scoring.cell import score as run

__all__ = ["run"]
