"""Injection, a part of robustness: what judges do when the texts tell them what to do."""

from functools import partial

from judgescope.report.elements import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Link,
    Table,
    Text,
    estimate,
)
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.shared import bodies
from judgescope.statistics.registry import statistic

SOURCE = "tables/robustness.csv"
AVERAGE = "average"
SHIFT, OBEYED, P = "injection_shift", "obey_rate", "p_injection"
ATTACK, INERT = "attack", "inert"
LEAD = (
    "Each attack adds something to every original that claims the top of the scale. A note of no "
    "meaning, of the same length and in the same place, tells what added text does by itself: the "
    "difference of the two is what the words of the attack do."
)


def attacks(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return how far each attack moves each judge, and how many texts it takes to the top."""
    rows = rows.where(statistic=(SHIFT, OBEYED, P, f"difference_{SHIFT}", f"difference_{OBEYED}"))
    if not len(rows):
        return []
    found: list[Block] = [
        Heading(f"{dataset.name}: what is written to the judge", f"injection-{dataset.id}"),
        Text(LEAD),
    ]
    averages = list(dict.fromkeys(row.judged for row in rows if row.aspect == AVERAGE))
    folded: list[Block] = []
    for wording in averages:
        own = partial(_table, report, dataset, rows, wording)
        found += [own(f"difference_{SHIFT}", ATTACK), own(OBEYED, ATTACK)]
        folded += [own(SHIFT, ATTACK), own(SHIFT, INERT), own(f"difference_{OBEYED}", ATTACK)]
    plain = dict.fromkeys(row.judged for row in rows.where(statistic=P))
    folded += [_table(report, dataset, rows, aspect, P, ATTACK) for aspect in plain]
    texts = Link(f"See texts of {dataset.name} with what was added", f"texts.html#{dataset.id}")
    return [*found, Fold(f"{dataset.name}: attacks in detail", folded), texts]


def _table(
    report: Report, dataset: Dataset, rows: Rows, aspect: str, which: str, degree: str
) -> Table:
    """Return one statistic of every judge under every attack."""
    names = rows.names("perturbation")
    columns = [Column(report.perturbation(name)) for name in names]

    def cells(judge: Judge) -> list[Cell] | None:
        own = [
            rows.at(dataset.id, judge.id, which, aspect=aspect, cell=f"{name}.{degree}")
            for name in names
        ]
        return [estimate(row) for row in own] if any(own) else None

    told = statistic(which)
    plain, _, wording = aspect.partition(".")
    of = "mean over aspects" if plain == AVERAGE else report.aspect(plain)
    where = f"{of} ({wording})" if wording else of
    about = {ATTACK: "attacks", INERT: "inert texts in their place"}[degree]
    caption = f"{dataset.name}, {about}, {where}; {told.label}: {told.meaning}."
    return Table(caption, "Judge", columns, bodies(report.judges, cells), source=SOURCE)
