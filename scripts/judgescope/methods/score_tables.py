"""The scores of a dataset, from one table or read part by part."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa

from judgescope.core.cells import joined
from judgescope.methods.aligned_values import TargetValues, rows_by
from judgescope.parsing.judgment import WRONG
from judgescope.schema.tables import tuples_of

CellName = tuple[str, str, str]
"""Set of texts, judge, aspect (`<aspect>[.<criterion>]`)."""
UnitId = tuple[str, str | None]
"""A text, or a pair in the order shown."""


class CellScores(NamedTuple):
    """The scores of all cells, and which of them stand for replies not read."""

    values: dict[CellName, TargetValues]
    wrong: dict[CellName, set[UnitId]]
    """The texts or pairs whose judgment was not read and counts as wrong."""


@dataclass(frozen=True)
class ScoreTables:
    """The scores of a dataset; `read` yields them part by part.

    Those of a large table with many judges take much memory at once.
    """

    read: Callable[[], Iterable[pa.Table]]

    @classmethod
    def of_table(cls, table: pa.Table) -> Self:
        """The scores that one table has.

        >>> scores = ScoreTables.of_table(pa.table({"value": [1.0, 2.0]}))
        >>> scores.table()["value"].to_pylist()
        [1.0, 2.0]
        """
        return cls(lambda: [table])

    def parts(self) -> Iterator[pa.Table]:
        """Yield the tables, each read when it is asked for."""
        yield from self.read()

    def table(self) -> pa.Table:
        """All scores in one table."""
        return pa.concat_tables(self.parts())

    def cells(self) -> CellScores:
        """The scores by cell, and the judgments that count as wrong."""
        import pyarrow.compute as pc  # not for planning

        parts: dict[CellName, list[TargetValues]] = {}
        wrong: dict[CellName, set[UnitId]] = {}
        names = ("perturbation", "judge", "aspect", "criterion")
        last: pa.Array | None = None
        for table in self.parts():
            for (perturbation, judge, aspect, criterion), rows in rows_by(table, names):
                name = perturbation, judge, joined(aspect, criterion)
                scored = TargetValues.of(rows)
                if last is not None and last.equals(scored.targets):
                    # Most judges score the same texts, whose ids are kept once.
                    scored = scored._replace(targets=last)
                last = scored.targets
                parts.setdefault(name, []).append(scored)
                marked = rows.filter(pc.equal(rows["estimator"], WRONG))
                if len(marked):
                    units = tuples_of(marked, ["target", "target_b"])
                    wrong.setdefault(name, set()).update(units)
        values = {name: _one_cell(of_cell) for name, of_cell in parts.items()}
        return CellScores(values, wrong)


def _one_cell(parts: Sequence[TargetValues]) -> TargetValues:
    """Return the scores of a cell that come in parts."""
    if len(parts) == 1:
        return parts[0]
    targets = pa.concat_arrays([part.targets for part in parts])
    return TargetValues(targets, np.concatenate([part.values for part in parts]))
