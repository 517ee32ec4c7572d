"""From cards to the jobs of a study: what is judged by whom, and what each job is told."""

from metajudge.plan.loading import load_plan
from metajudge.plan.study import Cell, Plan

__all__ = ["Cell", "Plan", "load_plan"]
