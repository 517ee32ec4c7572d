"""What confusion changes by: another form of a model, another wording of the aspects."""

from collections.abc import Iterator

from judgescope.report.elements import Body, Column, Line, Table, estimate
from judgescope.report.headline import between
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import label
from judgescope.statistics.registry import STATISTICS

SUMS = ("s_t_mean", "s_f_mean", "confusion_index", "confusion_auc")
OWN_WORDING = "the cards' wording"
NOTES = (
    "A form less the first judge of its model, a wording less the first one of the study, on the "
    "same drops of the same items. Where the interval holds 0, no change is shown.",
    "Points of a score that is computed from errors are no points of a rating: of such a form, "
    "read the index and the AUC.",
)


def changes(report: Report, dataset: Dataset, rows: Rows) -> list[Table]:
    """Return the table of changes against plain forms and the first wording, if there are any."""
    parts = [*_forms(report, dataset, rows), *_wordings(report, rows)]
    if not parts:
        return []
    columns = [Column(label(f"difference_{one}"), STATISTICS[one].meaning) for one in SUMS]
    caption = f"{dataset.name}: what another form, or another wording, changes."
    return [Table(caption, "Wording", columns, parts, NOTES, code=False)]


def _forms(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Body]:
    """Yield, for every judge whose model has a judge before it, its changes by wording."""
    first = {judge.model: judge for judge in reversed(report.judges)}
    for judge in report.judges:
        plain = first[judge.model]
        if not judge.model or judge is plain:
            continue
        found = {
            criterion: [between(rows, dataset, judge, plain, one, criterion) for one in SUMS]
            for criterion in rows.where(statistic=SUMS).names("criterion")
        }
        lines = [
            Line(criterion or OWN_WORDING, [estimate(row) for row in each])
            for criterion, each in found.items()
            if any(each)
        ]
        if lines:
            yield Body(lines, f"{judge.id}, less {plain.id}")


def _wordings(report: Report, rows: Rows) -> Iterator[Body]:
    """Yield, for every judge with a value in several wordings, their changes."""
    for judge in report.judges:
        for first in filter(None, rows.names("criterion_b")):
            changed = rows.where(judge=judge.id, criterion_b=first)
            if not judge.control and any(row.value is not None for row in changed):
                lines = [
                    Line(criterion, [estimate(_changed(changed, criterion, one)) for one in SUMS])
                    for criterion in changed.names("criterion")
                ]
                yield Body(lines, f"{judge.id}, less the wording {first}")


def _changed(rows: Rows, criterion: str, name: str) -> Row | None:
    return next(iter(rows.where(criterion=criterion, statistic=f"difference_{name}")), None)
