"""People's reliability: variance components, the ceiling beside every judge, and how
many sources and ratings settle the order of systems.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from judgescope.report import tables
from judgescope.report.cells import NO_CELL, ReportCell, estimate
from judgescope.report.elements import (
    Body,
    PageBlock,
    PageTable,
    Paragraph,
    TableLine,
    columns_of,
)
from judgescope.report.report import Report, ShownDataset, ids_of
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import known_names, label, plural

SOURCE: Final = "tables/reliability.csv"
PEOPLE: Final = (
    "var_text",
    "var_rater",
    "var_rest",
    "reliability_people",
    "dependability_people",
    "ceiling_true",
)
LEVELS: Final = {"pooled": "all texts", "by_source": "texts of one source"}


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield per aspect people's components, judges beside the ceiling, and the plan."""
    for aspect in dataset.aspects:
        of_aspect = rows.where(aspect=aspect)
        name = f"{dataset.name}, {report.aspect(aspect)}"
        people = of_aspect.where(judge=tables.PEOPLE)
        components = ReportRows(row for row in people if not row.k)
        undefined = [row for row in components if row.value is None]
        for why in dict.fromkeys(row.note for row in undefined):
            yield Paragraph(f"{name}: {why}.")
        yield from _components(components.defined, name)
        yield from _judges(report, of_aspect, components, name)
        yield from _plan(people.where(statistic="reliability_systems"), name)


def _components(rows: ReportRows, name: str) -> Iterator[PageTable]:
    """Yield a table with a line for all texts and one for the texts of a source."""
    lines = []
    for level, words in LEVELS.items():
        of_level = {row.statistic: row for row in rows.where(level=level)}
        if of_level:
            lines.append(TableLine(words, _cells(map(of_level.get, PEOPLE))))
    if lines:
        yield PageTable(
            f"{name}; people's ratings.",
            "Compared",
            columns_of(map(label, PEOPLE)),
            [Body(lines)],
            code=False,
            source=SOURCE,
        )


def _judges(
    report: Report, rows: ReportRows, people: ReportRows, name: str
) -> Iterator[PageTable]:
    """Yield a table with a line for each judge, for each level that has a ceiling."""
    judge_statistics = ("correlation_people", "ceiling_true", "correlation_true")
    for level, words in LEVELS.items():
        ceiling = people.where(level=level, statistic="ceiling_true").first
        of_judges = rows.where(
            level=level, statistic=(judge_statistics[0], judge_statistics[2])
        )
        lines = []
        for judge in known_names(ids_of(report.judges), of_judges.names("judge")):
            of_judge = of_judges.where(judge=judge)
            for criterion, of_criterion in of_judge.by("criterion").items():
                title = f"{judge}, {criterion}" if criterion else judge
                of = {row.statistic: row for row in of_criterion}
                cells = [
                    of.get(judge_statistics[0]),
                    ceiling,
                    of.get(judge_statistics[2]),
                ]
                lines.append(TableLine(title, _cells(cells)))
        if lines:
            yield PageTable(
                f"{name}, {words}; judges beside the ceiling.",
                "Judge",
                columns_of(map(label, judge_statistics)),
                [Body(lines)],
                source=SOURCE,
            )


def _plan(rows: ReportRows, name: str) -> Iterator[PageBlock]:
    """Yield the grid of sources and ratings a text, or why there is none."""
    for row in rows.undefined:
        yield Paragraph(f"{name}: no plan for systems, {row.note}.")
    planned = rows.defined
    if not len(planned):
        return
    by_size: dict[int, dict[int, ReportRow]] = {}
    for row in planned:
        by_size.setdefault(row.k_b, {})[row.k] = row
    raters = sorted({row.k for row in planned})
    first = planned.first
    assert first is not None
    lines = []
    for sources, cells in sorted(by_size.items()):
        shown = _cells(map(cells.get, raters))
        lines.append(TableLine(plural(sources, "source"), shown))
    yield PageTable(
        f"{name}; {tables.statistic_caption('reliability_systems')}. "
        f"{first.method.partition(';')[0]}; ratings: sources × systems × ratings a "
        "text.",
        "Planned",
        columns_of(f"{plural(k, 'rating')} a text" for k in raters),
        [Body(lines)],
        notes=_scope(first),
        code=False,
        source=SOURCE,
    )


def _cells(rows: Iterable[ReportRow | None]) -> list[ReportCell]:
    """Return the cells of rows; an empty one where the design has no such number."""
    return [NO_CELL if row is None else estimate(row) for row in rows]


def _scope(row: ReportRow) -> list[str]:
    """Return the note on raters whose tastes are not in the variance."""
    if "with these raters" not in row.method:
        return []
    return ["With these raters: what others would prefer is not part of it."]
