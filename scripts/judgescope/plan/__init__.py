"""From cards to the jobs of a study: what is judged by whom, and what each job is told."""

from judgescope.plan.loading import load_plan
from judgescope.plan.study import Cell, CellAspect, Plan

__all__ = ["Cell", "CellAspect", "Plan", "load_plan"]
