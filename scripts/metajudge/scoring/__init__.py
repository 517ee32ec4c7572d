"""From a cell's replies to its judgments and scores."""

from metajudge.scoring.cell import score_cell, scored

__all__ = ["score_cell", "scored"]
