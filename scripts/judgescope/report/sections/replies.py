"""Whether judges say the same twice, and what they say of pairs."""

from functools import partial

from judgescope.report.elements import Block, Section, Table
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import by_aspect, columns_of, section_of

REPEATED = ("alpha_draws", "flip_rate", "tied_modes", "reliability", "draws_needed")
PAIRS = (
    *("order_consistency", "first_position_rate", "nontransitive_share"),
    *("accuracy_comparison", "accuracy_comparison_half", "tie_rate"),
)


def repeatability(report: Report) -> Section | None:
    """Return per dataset a table of what several draws of one judgment have in common."""
    lead = (
        "Several replies to one question: how often they differ, and how many must be averaged "
        "for 95 % of the correlation with people that endless draws would reach."
    )
    return section_of(report, "repeatability", "Repeatability", lead, _repeated)


def pairwise(report: Report) -> Section | None:
    """Return per dataset a table of judges that choose between two texts."""
    lead = (
        "Judges that choose between two texts are asked in both orders. A first-position rate "
        "of 50 % is fair; accuracy is over the pairs that people do not tie."
    )
    return section_of(report, "pairwise", "Comparing judges", lead, _compared)


def _repeated(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    return [_table(report, dataset, rows, REPEATED, "repeatability")]


def _compared(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return a table per set of texts: the systems', and each chain."""
    found: list[Block] = []
    for cell in dict.fromkeys(row.cell for row in rows):
        part = Rows(row for row in rows if row.cell == cell)
        found.append(_table(report, dataset, part, PAIRS, "pairwise", cell))
    return found


def _table(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    names: tuple[str, ...],
    table: str,
    cell: str = "",
) -> Table:
    told = [name for name in names if len(rows.where(statistic=name))]

    def found(judge: Judge, aspect: str) -> list[Row | None]:
        at = partial(rows.at, dataset.id, judge.id, aspect=aspect, level="pooled", cell=cell)
        return [at(name) for name in told]

    parts, columns = by_aspect(report, dataset.aspects, found), columns_of(told)
    of = f", {cell}" if cell else ""
    return Table(
        f"{dataset.name}{of}.", "Aspect and judge", columns, parts, source=f"tables/{table}.csv"
    )
