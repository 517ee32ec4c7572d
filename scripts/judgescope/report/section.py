"""The record of a section: where it stands in the contents, and how its blocks are
made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from judgescope.report.elements import Fold, PageBlock, Paragraph, Section
from judgescope.report.report import Report, ShownDataset
from judgescope.report.rows import ReportRows
from judgescope.report.tables import (
    AspectFigure,
    aspect_chart,
    aspect_table,
    by_dataset,
)

SectionGroup = Literal["Verdict", "Evidence", "Data quality", "Reproduce"]
GROUPS: Final[tuple[str, ...]] = get_args(SectionGroup)
"""The groups of the table of contents, in their order."""
StudyBlocks = Callable[[Report], Iterable[PageBlock]]
DatasetBlocks = Callable[[Report, ShownDataset, ReportRows], Iterable[PageBlock]]


def _no_blocks(_: Report) -> Iterable[PageBlock]:
    return ()


@dataclass(frozen=True)
class ReportSection:
    """A section of the report; built-in ones are listed in `report/contents.py`.

    It is about the whole study (`of_study`), or has a part for each dataset. Such a
    part is made by `of_dataset`; without it, it is the `figure` and a table with a
    line for each aspect and judge. A section without blocks is left out.
    """

    id: str
    """The name of its page, and of the entry point of a section of another package."""
    group: SectionGroup
    title: str
    lead: str | Callable[[Report], str]
    """The paragraph below the title, or what writes it."""
    table: str = ""
    """The result table whose rows the parts get, if it is not named like `id`."""
    rows: Mapping[str, str] = field(default_factory=dict)
    """Which of these rows the parts get; all without it."""
    when: str = ""
    """The statistic without which a dataset has no part; any row is enough without
    it."""
    columns: Sequence[str] = ()
    """The statistics of the table, in its order; those without rows are left out."""
    figure: AspectFigure | None = None
    fold: str = ""
    """What the table is folded under, after its dataset; it is open without it."""
    of_dataset: DatasetBlocks | None = None
    of_study: StudyBlocks | None = None
    before: StudyBlocks = _no_blocks
    """What makes the blocks before those of the first dataset."""
    after: StudyBlocks = _no_blocks
    """What makes the blocks after those of the last dataset."""
    empty: str = ""
    """What is said of a dataset without rows, if another dataset has some."""
    always: bool = False
    """Whether a dataset without rows has a part, too."""

    @property
    def name(self) -> str:
        """The name under which a package provides the section."""
        return self.id

    def made(self, report: Report) -> Section | None:
        """The section of a study, None if the study has nothing for it."""
        if self.of_study is not None:
            blocks = list(self.of_study(report))
        else:
            blocks = self._of_datasets(report)
        if not blocks:
            return None
        lead = self.lead if isinstance(self.lead, str) else self.lead(report)
        return Section(self.id, self.title, lead, blocks)

    def _of_datasets(self, report: Report) -> list[PageBlock]:
        """The parts of all datasets, each under a heading, and what frames them."""
        table = self.table or self.id
        any_rows = len(report.rows(table)) > 0

        def part(dataset: ShownDataset) -> Iterator[PageBlock]:
            rows = report.rows(table, dataset.id).where(**self.rows)
            known = not self.when or bool(len(rows.where(statistic=self.when)))
            if (len(rows) and known) or self.always:
                yield from self._of_dataset(report, dataset, rows)
            elif self.empty and any_rows:
                yield Paragraph(self.empty)

        parts = by_dataset(report.datasets, table, part)
        if not parts:
            return []
        return [*self.before(report), *parts, *self.after(report)]

    def _of_dataset(
        self, report: Report, dataset: ShownDataset, rows: ReportRows
    ) -> Iterator[PageBlock]:
        if self.of_dataset is not None:
            yield from self.of_dataset(report, dataset, rows)
            return
        table = self.table or self.id
        if self.figure is not None:
            source = f"tables/{table}.csv"
            yield from aspect_chart(report, dataset, rows, self.figure, source=source)
        caption = f"{dataset.name}."
        numbers = aspect_table(report, dataset, rows, self.columns, caption, table)
        folded = Fold(f"{dataset.name}: {self.fold}", [numbers])
        yield folded if self.fold else numbers
