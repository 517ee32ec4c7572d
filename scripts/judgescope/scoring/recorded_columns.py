"""The recorded scores of a table with one text a row, read by columns.

The rows of such a table are those of its dataset, so that nothing has to be joined:
each different cell is read once, by the rules of recorded scores.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from msgspec import to_builtins
from numpy.typing import NDArray

from judgescope.core.canonical import canonical
from judgescope.core.cells import by_cell, split
from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.core.names import SYSTEMS
from judgescope.engines.recorded import value_path, words_of
from judgescope.engines.recorded_joins import MIN_JOINED, Join
from judgescope.engines.recorded_rows import Row
from judgescope.engines.recorded_values import recorded_draws
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.schema.cards import Judge, RatedAspect, RecordedModel
from judgescope.schema.loading import adapter
from judgescope.schema.tables import of_columns
from judgescope.scoring.aggregate import (
    ScoredCell,
    estimator_on,
    scores,
    write_cells,
)
from judgescope.scoring.computed import ComputeSpec, scales_of, verdict

PLAIN_KEYS: Final = {"item", "system", "source", "text", "scores", "missing"}
"""The keys of recorded rows that a plain table needs."""


def compute_by_columns(
    spec: ComputeSpec,
    cells: Mapping[str, Sequence[Any]],
    targets: pa.Array,
    order: NDArray[np.int64],
) -> bool:
    """Write the judgments and scores of every cell of a model with recorded scores;
    False, and nothing, where the model or a score is not plain.

    cells: column -> its cells, one per row of the dataset's own file. targets (rows,)
    are sorted, and `order` says of which rows they are.
    """
    model = adapter("model", spec.model).validate_python(spec.model)
    judges = {name: Judge(**card) for name, card in spec.judges.items()}
    if not _is_plain(spec, model, list(judges.values())):
        return False
    scales = scales_of(spec)
    joins = list[Join]()
    made: dict[str, list[ScoredCell]] = {}
    for (perturbation, name), aspects in by_cell(spec.cells).items():
        judge = judges[name]
        for aspect in aspects:
            plain, criterion = split(aspect)
            path = value_path(model, judge, plain)
            if perturbation != SYSTEMS or criterion or path is None:
                return False
            if path not in cells:
                return False
            rated = judge.scale_on(plain) or RatedAspect(**spec.scales[aspect])
            column = _ColumnOfScores(model, judge, plain, words_of(judge, rated))
            scale = scales[perturbation, name, aspect]
            read = column.judgments(cells[path], scale)
            if read is None:
                return False
            different, places = read
            scored = np.array([one.status == "ok" for one in different])
            joins.append(column.join(len(order), int(scored[places].sum())))
            if not joins[-1].texts_scored:
                return False
            of_targets = places[order]
            part = column.tables(spec.dataset, different, of_targets, targets, scale)
            made.setdefault(name, []).append(part)
    named = ((f"{SYSTEMS}/{name}", parts) for name, parts in made.items())
    write_cells(named, spec.judgments, spec.scores, spec.hashes)
    if spec.joined is not None:
        write_text(Path(spec.joined.path), canonical(to_builtins(joins)) + "\n")
    return True


def _is_plain(spec: ComputeSpec, model: object, judges: Sequence[Judge]) -> bool:
    """Whether a model has one score for each row, in a column, and nothing else."""
    if not isinstance(model, RecordedModel) or spec.unread is not None:
        return False
    for key in type(model.rows).model_fields:
        default = (
            type(model.rows).model_fields[key].get_default(call_default_factory=True)
        )
        if key not in PLAIN_KEYS and getattr(model.rows, key) != default:
            return False
    if set(model.files) != {"data"} or (spec.joined and spec.joined.selected):
        return False
    return all(judge.draws == 1 and judge.share == 1 for judge in judges)


class _ColumnOfScores:
    """A judge's scores on an aspect, all in one column."""

    def __init__(
        self, model: RecordedModel, judge: Judge, aspect: str, words: Sequence[str]
    ) -> None:
        self.model = model
        self.judge = judge
        self.aspect = aspect
        self.words = words
        """The labels that scores may be; none: numbers."""

    def judgments(
        self, cells: Sequence[Any], scale: Scale | None
    ) -> tuple[list[Judgment], NDArray[np.int32]] | None:
        """The judgment of each different cell, and the place of each row's among them;
        None for a cell that is no score.
        """
        known: dict[object, int] = {}
        different = list[Judgment]()
        places = np.empty(len(cells), dtype=np.int32)
        for row, cell in enumerate(cells):
            place = known.get(cell)
            if place is None:
                read = self._read(cell, scale)
                if read is None:
                    return None
                place = known[cell] = len(different)
                different.append(read)
            places[row] = place
        return different, places

    def _read(self, cell: object, scale: Scale | None) -> Judgment | None:
        column = "score"
        row = Row("", {column: cell}, {})
        try:
            [answer] = recorded_draws(self.model.rows, [row], column, 1, self.words)
        except UserError:
            return None  # the reader of rows says in which row
        return verdict(answer, scale)

    def join(self, n_rows: int, n_scored: int) -> Join:
        """The counts of the column's rows, each of which is joined to its own text."""
        return Join(
            model=self.model.model,
            judge=self.judge.judge,
            aspect=self.aspect,
            rows=n_rows,
            rows_joined=n_rows,
            texts=n_rows,
            texts_joined=n_rows,
            texts_scored=n_scored,
            poor=n_scored < MIN_JOINED * n_rows,
        )

    def tables(
        self,
        dataset: str,
        different: Sequence[Judgment],
        places: NDArray[np.int32],
        targets: pa.Array,
        scale: Scale | None,
    ) -> ScoredCell:
        """The judgments and scores of sorted targets; `places` as in `judgments`."""
        n_rows = len(targets)
        where = pa.array(places)
        values = np.array([one.value for one in different], dtype=np.float64)[places]
        columns: dict[str, object] = {}
        for name in ("status", "rule", "label", "parser"):
            of_different = pa.array([getattr(one, name) for one in different])
            columns[name] = of_different.take(where)
        judgments = of_columns(
            "judgments",
            n_rows,
            judge=self.judge.judge,
            kind="rate",
            target=targets,
            aspect=self.aspect,
            draw=0,
            value=pa.array(values, from_pandas=True),
            **columns,
        )
        estimator = estimator_on(scale, self.judge.estimator)
        draws = np.ones(n_rows, dtype=np.int64)
        combined, n_values = scores(values[:, None], draws, estimator)
        scored = of_columns(
            "scores",
            n_rows,
            dataset=dataset,
            perturbation=SYSTEMS,
            judge=self.judge.judge,
            aspect=self.aspect,
            target=targets,
            value=pa.array(combined, from_pandas=True),
            n_draws=1,
            n_missing=pa.array(draws - n_values),
            estimator=estimator,
        )
        return judgments, scored
