"""From cards to the jobs of a study: what is judged by whom, and what each job is told."""

from metajudge.plan.loading import load_plan
from metajudge.plan.study import Cell, CellAspect, Plan

__all__ = ["Cell", "CellAspect", "Plan", "load_plan"]
