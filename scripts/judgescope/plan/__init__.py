"""From cards to the jobs of a study: who judges what, and the spec of each job."""

from judgescope.plan.loading import load_plan
from judgescope.plan.study import Cell, CellAspect, Plan

__all__ = ["Cell", "CellAspect", "Plan", "load_plan"]
