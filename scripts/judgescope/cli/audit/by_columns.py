"""Scores of a plain table computed from its columns, not from the rows of a file.

The tables are those of the study's own jobs, which hold a dozen objects for each text
and judge. What is not plain is left to the jobs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from judgescope.cli.init.cards import StudyDraft, copied_cells
from judgescope.data.plain_table import PlainDataset, ingest_plain
from judgescope.plan.specs import judging, texts
from judgescope.plan.study import Plan
from judgescope.scoring.recorded_columns import compute_by_columns


class AuditColumns:
    """The cells of an audited table by column, and the texts that are made of them.

    `read` are these texts, sorted by target, and None for a table that is not plain.
    """

    def __init__(self, draft: StudyDraft, plan: Plan, dataset: str) -> None:
        self.plan = plan
        self.dataset = dataset
        self.cells: Mapping[str, Sequence[Any]] = {}
        self.read: PlainDataset | None = None
        if draft.table.copied and not draft.columns.compared:
            self.cells = copied_cells(draft)
            specs = texts.ingest(plan, dataset), texts.read_ratings(plan, dataset)
            self.read = ingest_plain(*specs, self.cells, len(draft.table.rows))

    def compute(self, model: str) -> bool:
        """Write a model's scores; return False where it is not plain."""
        if self.read is None or not self.plan.computes(model):
            return False
        spec = judging.compute(self.plan, self.dataset, model)
        targets = self.read.texts["target"].chunk(0)
        return compute_by_columns(spec, self.cells, targets, self.read.order)
