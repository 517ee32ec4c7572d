"""How the form matters: the judges of one model beside each other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import compress

from judgescope.report.charts import MOST_SIGNS
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    estimate,
)
from judgescope.report.numbers import plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row
from judgescope.report.sections.shared import chart
from judgescope.report.words import LEVELS, label

READ = {"openai", "vllm", "recorded"}
"""Engines whose judges may be a model that reads a form; a recorded score has none."""
STATISTICS = ("pearson", "spearman", "kendall_b")
AVERAGE = "average"
"""The aspect of rows that hold the mean over all aspects."""
LEAD = (
    "The same model judges the same texts in several ways: by what it is asked to write, by how "
    "its words are drawn, by how many rated texts it is shown. A difference is that from the "
    "model's first judge in the study, with its paired interval."
)
Models = dict[str, list[Judge]]


def section(report: Report) -> Section | None:
    """Return per dataset what each model's judges reach, by one statistic; the others folded."""
    blocks: list[Block] = []
    for dataset in report.datasets:
        models = _models(report, dataset)
        if models:
            blocks.append(Heading(dataset.name, f"forms-{dataset.id}"))
            blocks += _dataset(report, dataset, models)
    return Section("forms", "How the form matters", LEAD, blocks) if blocks else None


def _models(report: Report, dataset: Dataset) -> Models:
    """Return the judges of a dataset that read a form, by model, for models with several."""
    rated = set(report.rows("agreement").where(dataset=dataset.id).names("judge"))
    found: Models = {}
    for judge in report.judges:
        card = report.spec.judges[judge.id]
        if judge.id in rated and judge.engine in READ and card.parser != "number":
            found.setdefault(card.model, []).append(judge)
    return {model: judges for model, judges in found.items() if len(judges) > 1}


def _dataset(report: Report, dataset: Dataset, models: Models) -> Iterator[Block]:
    """Yield the tables of the first statistic, which paper 001 tells, and the others folded."""
    each = [
        _Forms(report, dataset, models, statistic, level)
        for level in LEVELS
        for statistic in STATISTICS
    ]
    told = [(one, tables) for one in each if (tables := [*one.tables()])]
    for one, tables in told[:1]:
        yield tables[0]
        yield from map(one.drawn, tables[1:])
    if rest := [table for _, tables in told[1:] for table in tables]:
        yield Fold(f"Other correlations and levels, {dataset.name}", rest)


@dataclass(frozen=True)
class _Forms:
    """One statistic at one level, of the judges of every model on one dataset."""

    report: Report
    dataset: Dataset
    models: Models
    statistic: str
    level: str

    def tables(self) -> Iterator[Table]:
        """Yield what every judge reaches and, where judges are compared, what they differ by."""
        told = f"{self.dataset.name}: {label(self.statistic)}, {LEVELS[self.level][0]}"
        reached = self._table(f"{told}, by form.", "agreement", 0, self._reached)
        gaps = self._table(
            f"{told}: difference from the model's first judge; above 0 is better than that.",
            "comparison",
            1,
            self._gap,
        )
        yield from filter(None, (reached, gaps))

    def drawn(self, gaps: Table) -> Figure | Table:
        """Return the differences from each model's first judge as a figure, beside their table.

        The table alone where none is defined.
        """
        others = [(judges, judge) for judges in self.models.values() for judge in judges[1:]]
        rows = [
            (name, judge, row)
            for judges, judge in others[:MOST_SIGNS]
            for name in self._names
            if (row := self._gap(judges, judge, name)) and row.value is not None
        ]
        if not rows:
            return gaps
        axis = f"difference in {label(self.statistic)}"
        apart = sum(row.lo is not None and (row.lo > 0 or (row.hi or 0) < 0) for *_, row in rows)
        summary = (
            f"{gaps.caption} Of {plural(len(rows), 'difference')} drawn, {apart} have an interval "
            "that does not hold 0."
        )
        if len(others) > MOST_SIGNS:
            summary += f" Drawn are the first {MOST_SIGNS} judges; the table has all."
        title = f"{self.dataset.name}: what the form changes"
        values = [(self.report.aspect(name), judge.id, row) for name, judge, row in rows]
        names = [judge.id for _, judge in others[:MOST_SIGNS]]
        return chart(title, summary, gaps, values, line=0, axis=axis, names=names)

    def _table(
        self,
        caption: str,
        source: str,
        start: int,
        row: Callable[[list[Judge], Judge, str], Row | None],
    ) -> Table | None:
        """Return the rows of each model's judges from `start` on; None where there are none."""
        places = [
            (model, judge, [row(judges, judge, name) for name in self._names])
            for model, judges in self.models.items()
            for judge in judges[start:]
        ]
        shown = [any(rows[at] for *_, rows in places) for at in range(len(self._names))]
        if not any(shown):
            return None
        lines: dict[str, list[Line]] = {}
        for model, judge, rows in places:
            lines.setdefault(model, []).append(self._line(judge, compress(rows, shown)))
        bodies = [Body(each, model) for model, each in lines.items()]
        columns = [Column(self.report.aspect(name)) for name in compress(self._names, shown)]
        return Table(caption, "Model and judge", columns, bodies, source=f"tables/{source}.csv")

    @property
    def _names(self) -> list[str]:
        """Return the aspects and their mean, in every wording."""
        wordings = dict.fromkeys(name.partition(".")[2] for name in self.dataset.aspects)
        averages = [".".join(filter(None, (AVERAGE, wording))) for wording in wordings]
        return [*self.dataset.aspects, *averages]

    def _line(self, judge: Judge, rows: Iterable[Row | None]) -> Line:
        cells: list[Cell] = [estimate(row) for row in rows]
        return Line(judge.id, cells, about=about(self.report, judge))

    def _reached(self, _: list[Judge], judge: Judge, aspect: str) -> Row | None:
        place = (self.dataset.id, judge.id, self.statistic)
        return self.report.rows("agreement").at(*place, aspect=aspect, level=self.level)

    def _gap(self, judges: list[Judge], judge: Judge, aspect: str) -> Row | None:
        """Return a judge's statistic less the first judge's; the table may have it turned."""
        there = self._compared(judge, judges[0], aspect)
        back = self._compared(judges[0], judge, aspect)
        return there or (back and turned(back))

    def _compared(self, judge: Judge, other: Judge, aspect: str) -> Row | None:
        place = (self.dataset.id, judge.id, f"difference_{self.statistic}")
        rows = self.report.rows("comparison")
        return rows.at(*place, aspect=aspect, level=self.level, judge_b=other.id)


def turned(row: Row) -> Row:
    """Return the difference of two judges as the second less the first."""
    value, lo, hi = (None if end is None else 0.0 - end for end in (row.value, row.hi, row.lo))
    return row._replace(judge=row.judge_b, judge_b=row.judge, value=value, lo=lo, hi=hi)


def about(report: Report, judge: Judge) -> str:
    """Return what a judge's card says of how its model is asked."""
    card = report.spec.judges[judge.id]
    parts = (
        card.form,
        plural(card.shots, "rated text") if card.shots else "",
        "" if card.temperature is None else f"temperature {card.temperature:g}",
        plural(card.draws, "draw"),
        card.annotation,
    )
    return ", ".join(filter(None, parts))
