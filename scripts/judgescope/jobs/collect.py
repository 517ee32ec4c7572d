"""Concatenate scores and draws, count statuses per cell, list the replies of models."""

from judgescope.scoring.collecting import collect as run

__all__ = ["run"]
