"""Print datasets, judges, cells, requests, tokens and prices; send no request."""

from judgescope.plan.check_job import check as run

__all__ = ["run"]
