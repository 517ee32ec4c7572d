"""Write the judgments and scores of every cell of a model that computes scores."""

from judgescope.scoring.computed import compute as run

__all__ = ["run"]
