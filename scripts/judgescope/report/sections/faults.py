"""The faults that the authors of a dataset planned: who notices them."""

from judgescope.report.elements import Block, Body, Column, Line, Section, Table, Text, estimate
from judgescope.report.numbers import count, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import section_of
from judgescope.report.words import spoken

ALL, EVERY = "all", "every-lexical-judge"


def section(report: Report) -> Section | None:
    """Return per dataset how many planned faults every lexical judge misses, and who sees which."""
    lead = (
        "The authors of these texts planned a fault into some of them. A judge notices a fault "
        "when it scores the faulty text strictly below the clean text of the same item."
    )
    return section_of(report, "faults", "Planned faults", lead, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    return [*_headline(dataset, rows), _table(report, dataset, rows)]


def _headline(dataset: Dataset, rows: Rows) -> list[Text]:
    row = rows.at(dataset.id, EVERY, "miss_rate", level="pooled", criterion=ALL)
    if row is None or row.value is None:
        return []
    missed = round(row.value * row.n)
    verb = "is" if missed == 1 else "are"
    faults = plural(row.n, "planned fault")
    return [
        Text(f"{count(missed)} of {faults} {verb} missed by every lexical judge.", style="finding")
    ]


def _table(report: Report, dataset: Dataset, rows: Rows) -> Table:
    kinds = [kind for kind in rows.names("criterion") if kind != ALL]
    columns = [*kinds, ALL]
    sizes = {kind: {row.n for row in rows.where(criterion=kind)} for kind in columns}
    counts = any(len(found) > 1 for found in sizes.values())
    parts = []
    for controls in (False, True):
        lines = [
            line
            for judge in report.judges
            if judge.control == controls
            for line in _lines(report, dataset, rows.where(judge=judge.id), judge, columns, counts)
        ]
        if lines:
            parts.append(Body(lines, style="controls" if controls else ""))
    missed = [
        rows.at(dataset.id, EVERY, "miss_rate", level="pooled", criterion=kind) for kind in columns
    ]
    if any(missed):
        told = Line(
            "missed by every lexical judge", [estimate(row, counts=counts) for row in missed]
        )
        parts.append(Body([told], style="sums"))
    return Table(
        f"{dataset.name}: share of planned faults noticed, by kind of fault.",
        "Judge",
        [
            Column(
                spoken(kind) if kind != ALL else "all kinds",
                note="" if counts else f"n = {count(*sizes[kind])}",
            )
            for kind in columns
        ],
        parts,
    )


def _lines(
    report: Report, dataset: Dataset, rows: Rows, judge: Judge, kinds: list[str], counts: bool
) -> list[Line]:
    """Return a judge's rows: one for all aspects that it cannot tell apart, else one for each."""
    same: dict[tuple[float | None, ...], list[str]] = {}
    found: dict[tuple[float | None, ...], list[Row | None]] = {}
    for aspect in dataset.aspects:
        place = [
            rows.at(
                dataset.id, judge.id, "notice_rate", aspect=aspect, level="pooled", criterion=kind
            )
            for kind in kinds
        ]
        if any(place):
            key = tuple(row.value if row else None for row in place)
            same.setdefault(key, []).append(report.aspect(aspect))
            found[key] = place
    told = sum(map(len, same.values()))
    badge = "control" if judge.control else ""
    return [
        Line(
            judge.id,
            [estimate(row, counts=counts) for row in found[key]],
            _aspects(names, told),
            badge,
        )
        for key, names in same.items()
    ]


def _aspects(names: list[str], told: int) -> str:
    return "all aspects alike" if len(names) == told > 1 else ", ".join(names)
