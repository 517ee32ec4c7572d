"""Scores of a plain table computed from its columns, not from the rows of a file.

The tables are those of the study's own jobs, which hold a dozen objects for each text
and judge. What is not plain is left to the jobs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from judgescope.cli.init.cards import StudyDraft, copied_cells
from judgescope.data.plain_table import ingest_plain
from judgescope.plan.specs import judging, texts
from judgescope.plan.study import Plan
from judgescope.scoring.recorded_columns import compute_by_columns


class AuditColumns:
    """The cells of an audited table by column, and the texts that are made of them.

    `targets` are the ids of these texts, sorted, and None for a table that is not
    plain; `order` has the row of each.
    """

    def __init__(self, draft: StudyDraft, plan: Plan, dataset: str) -> None:
        self.plan = plan
        self.dataset = dataset
        self.cells: Mapping[str, Sequence[Any]] = {}
        self.targets: pa.Array | None = None
        self.order: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        if draft.table.copied and not draft.columns.compared:
            self.cells = copied_cells(draft)
            specs = texts.ingest(plan, dataset), texts.read_ratings(plan, dataset)
            read = ingest_plain(*specs, self.cells, len(draft.table.rows))
            if read is not None:
                self.targets = read.texts["target"].chunk(0)
                self.order = read.order

    def compute(self, model: str) -> bool:
        """Write a model's scores; return False where it is not plain."""
        if self.targets is None or not self.plan.computes(model):
            return False
        spec = judging.compute(self.plan, self.dataset, model)
        return compute_by_columns(spec, self.cells, self.targets, self.order)
