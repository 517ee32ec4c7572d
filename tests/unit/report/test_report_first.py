"""The first screen, for studies without agreement: what each judge comes to, and the controls."""

from pathlib import Path
from typing import Any

import report_study as study
from judgescope.report.elements import Table, Text
from judgescope.report.sections import judges

Row = dict[str, Any]


def screen(folder: Path, table: str, *rows: Row) -> tuple[Table, list[Text]]:
    """Return the table of the first dataset with a value, and the warnings beside it."""
    section = judges.section(study.loaded(study.make(folder, {table: list(rows)})))
    (found,) = (block for block in section.blocks if isinstance(block, Table))
    warned = [b for b in section.blocks if isinstance(b, Text) and b.style == "warning"]
    return found, warned


def cells(table: Table) -> dict[str, list[str]]:
    return {line.head: [c.text for c in line.cells] for body in table.bodies for line in body.lines}


def test_a_low_confusion_index_is_the_good_one(tmp_path: Path) -> None:
    values = {"alpha": (0.2, 0.9), "beta": (0.8, 0.55), "random": (0.5, 0.5)}
    rows = [
        study.row("news", judge, name, value, criterion=word, n=12)
        for judge, both in values.items()
        for name, value in zip(("confusion_index", "confusion_auc"), both, strict=True)
        for word in ("default", "term")
    ]
    table, warned = screen(tmp_path, "confusion", *rows)
    assert (
        table.groups == [("Confusion, wording default", 2), ("Confusion, wording term", 2)]
        and "n = 12 items" in table.caption
    )
    told, other = (one for text in warned for one in text.items)
    assert "(wording default)" in told and "(wording term)" in other
    assert "control `random`" in told and "`beta`" in told and "`alpha`" not in told
    assert len(cells(table)["alpha"]) == 4 and "†" in "".join(
        cell.mark for body in table.bodies for line in body.lines for cell in line.cells
    )


def test_perspectives_stand_by_their_means(tmp_path: Path) -> None:
    rows = [
        study.row("news", "alpha", name, 0.75, aspect="average", level=level, n=4)
        for name, level in (("kappa_linear", "direct"), ("accuracy_adjacent_half", "local"))
    ]
    table, warned = screen(tmp_path, "perspectives", *rows)
    assert [group for group, _ in table.groups] == ["Perspectives, direct", "Perspectives, local"]
    assert not warned and "n = 4 aspects" in table.caption
