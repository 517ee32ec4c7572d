"""What became of every planned damage."""

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Line,
    Link,
    Section,
    Table,
    Text,
    estimate,
    words_cell,
)
from judgescope.report.numbers import count
from judgescope.report.report import Damage, Dataset, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import section_of
from judgescope.report.words import spoken
from judgescope.statistics.registry import STATISTICS

OUTCOMES = {
    "share_ok": "ok",
    "share_short": "short",
    "share_impossible": "impossible",
    "share_failed": "failed",
}


def section(report: Report) -> Section | None:
    """Return per dataset the counts of outcomes, the edits and the edit distance."""
    lead = (
        "Every damaged text differs from its original. Short means that fewer edits took effect "
        "than planned, impossible that the text offers no place for the damage."
    )
    return section_of(report, "perturbations", "Perturbations", lead, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    link = Link(
        f"See texts of {dataset.name}, with their damage marked", f"texts.html#{dataset.id}"
    )
    links: list[Block] = [link] if report.spec.texts else []
    return [*_improved(dataset, rows), _table(report, dataset, rows), *links]


def _improved(dataset: Dataset, rows: Rows) -> list[Block]:
    """Say how many originals a model wrote, where one improved the references."""
    ok, kept, failed = (
        rows.at(dataset.id, "", f"share_{name}", cell="original")
        for name in ("ok", "kept", "failed")
    )
    if ok is None:
        return []
    told = f"Originals of {dataset.name}: a model improved {_number(ok)} of {ok.n} references"
    left = f"{_number(failed)} could not be and are left out" if _number(failed) else ""
    same = f"{_number(kept)} could not be and are as they were" if _number(kept) else ""
    return [Text("; ".join(filter(None, (told, left, same))) + ".")]


def _number(share: Row | None) -> int:
    """Return the count that a share stands for."""
    return round((share.value or 0) * share.n) if share else 0


def _table(report: Report, dataset: Dataset, rows: Rows) -> Table:
    cells = set(rows.names("cell"))
    damages = [damage for damage in report.damages if damage.cell in cells]
    levels = dict.fromkeys(damage.level for damage in damages)
    parts = [
        Body(
            [_line(dataset, rows, damage) for damage in damages if damage.level == level],
            f"{level} level",
        )
        for level in levels
    ]
    sizes = [Column(STATISTICS[name].label, STATISTICS[name].meaning) for name in _SIZES]
    columns = [*(Column(name, group="Texts") for name in OUTCOMES.values()), *sizes]
    columns.append(Column("Reasons", style="words"))
    return Table(
        f"{dataset.name}: number of texts by outcome, and the size of the damage.",
        "Damage",
        columns,
        parts,
        code=False,
    )


_SIZES = ("edits", "edit_distance")


def _line(dataset: Dataset, rows: Rows, damage: Damage) -> Line:
    def at(statistic: str) -> Row | None:
        return rows.at(dataset.id, "", statistic, cell=damage.cell)

    cells = [_outcome(at(statistic)) for statistic in OUTCOMES]
    cells += [estimate(at(statistic)) for statistic in _SIZES]
    impossible = at("share_impossible")
    cells.append(words_cell(spoken(impossible.note) if impossible else ""))
    return Line(damage.name, cells, about=damage.degree)


def _outcome(row: Row | None) -> Cell:
    """Return a share as the count that it stands for."""
    if row is None or row.value is None:
        return estimate(row)
    number = round(row.value * row.n)
    style = "number" if number else "number none"
    text = f"{count(number)} of {count(row.n)}"
    return Cell(text, sort=row.value, style=style, row=row)
