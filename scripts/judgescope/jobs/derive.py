"""Read the members' scores and errors for the cell, write its judgments and scores."""

from judgescope.scoring.ensembles import derive as run

__all__ = ["run"]
