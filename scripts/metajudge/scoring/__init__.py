"""From a cell's replies to its judgments and scores."""

from metajudge.scoring.cell import score_cell
from metajudge.scoring.estimators import ESTIMATORS

__all__ = ["ESTIMATORS", "score_cell"]
