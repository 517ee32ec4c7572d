"""What several sections say in the same words."""

from collections.abc import Callable, Iterable

from judgescope.report.elements import Block, Body, Cell, Heading, Line
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows

PLANNED = "agreement with the quality planned by the authors, not with people"


def per_dataset(
    report: Report, table: str, blocks: Callable[[Report, Dataset, Rows], Iterable[Block]]
) -> list[Block]:
    """Return, under a heading each, the blocks of every dataset that has rows in a table."""
    found: list[Block] = []
    for dataset in report.datasets:
        rows = report.rows(table).where(dataset=dataset.id)
        if len(rows):
            found.append(Heading(dataset.name, f"{table}-{dataset.id}"))
            found += blocks(report, dataset, rows)
    return found


def agreed_with(dataset: Dataset) -> str:
    """Return what agreement means on this dataset."""
    return PLANNED if dataset.planned else "agreement with people's ratings"


def bodies(
    judges: Iterable[Judge], cells: Callable[[Judge], list[Cell] | None], title: str = ""
) -> list[Body]:
    """Return the judges' rows and, apart, the controls'; none for a judge without cells."""
    told = [(judge, cells(judge)) for judge in judges]
    lines = [(judge, _line(judge, found)) for judge, found in told if found is not None]
    real = [line for judge, line in lines if not judge.control]
    controls = [line for judge, line in lines if judge.control]
    return [
        *([Body(real, title)] if real else []),
        *([Body(controls, "" if real else title, style="controls")] if controls else []),
    ]


def leaders(judges: Iterable[Judge], rows: Iterable[Row]) -> list[Row]:
    """Return the rows with the highest value: several where judges tie.

    A control leads only where no other judge has a value; a judge that is given a rating of the
    very text never does.
    """
    own = list(judges)
    controls = {judge.id for judge in own if judge.control}
    hinted = {judge.id for judge in own if judge.hint}
    known = [(row.value, row) for row in rows if row.value is not None and row.judge not in hinted]
    real = [(value, row) for value, row in known if row.judge not in controls] or known
    most = max((value for value, _ in real), default=None)
    return [row for value, row in real if value == most]


def _line(judge: Judge, cells: list[Cell]) -> Line:
    badge = "control" if judge.control else ""
    return Line(judge.id, cells, about=judge.about, badge=badge, href=judge.card)


def labelled(judge: Judge) -> str:
    """Return the judge's name in a figure."""
    return f"{judge.id} (control)" if judge.control else judge.id
