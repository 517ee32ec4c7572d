"""Print datasets, judges, cells, requests, tokens and prices; send no request."""

from judgescope.plan.cost import check as run

__all__ = ["run"]
