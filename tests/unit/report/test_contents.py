"""The table of contents: its order, and the sections of other packages in it."""

import re
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

import report_study
from judgescope.core.errors import UserError
from judgescope.report.contents import CONTENTS, SECTIONS, section_named, sections_of
from judgescope.report.drawing import CountGrid
from judgescope.report.elements import (
    Fold,
    PageBlock,
    PageFigure,
    Paragraph,
    SmallMultiples,
)
from judgescope.report.page import every_block, write_pages
from judgescope.report.report import Report, ShownDataset
from judgescope.report.rows import ReportRows
from judgescope.report.section import GROUPS, ReportSection
from judgescope.report.specs import ReportSpec
from report_setup import Page

SOURCE = """
from judgescope.report.elements import Paragraph
from judgescope.report.section import ReportSection

SECTION = ReportSection(
    id="{id}",
    group="{group}",
    title="Added",
    lead=lambda report: f"Of {{report.study}}.",
    of_dataset=lambda report, dataset, rows: [Paragraph(dataset.name)],
    table="coverage",
)
"""


def with_section(
    folder: Path, monkeypatch: pytest.MonkeyPatch, **fields: Any
) -> Report:
    """Return the report of a study that uses a package with one section."""
    module = f"added_{folder.name}"  # imported once a process, so once a test
    source = SOURCE.format(**fields)
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    target = f"{module}:SECTION"
    point = EntryPoint(fields["id"], target, SECTIONS.group)
    monkeypatch.setitem(vars(SECTIONS), "add_ons", {fields["id"]: point})
    monkeypatch.setattr(SECTIONS, "_loaded", {})
    spec = report_study.make(folder, add_ons=[target])
    return Report.load(convert(spec, ReportSpec))


def test_the_sections_of_a_group_stand_together_under_ids_of_their_own() -> None:
    ranks = [GROUPS.index(record.group) for record in CONTENTS]
    assert ranks == sorted(ranks)
    assert len({record.id for record in CONTENTS}) == len(CONTENTS)


def test_a_record_says_which_rows_it_shows_when_and_whether_they_are_folded(
    tmp_path: Path,
) -> None:
    names = {"statistic": "coverage"}
    record = ReportSection(
        id="read",
        group="Data quality",
        title="Read",
        lead="",
        table="coverage",
        rows=names,
        columns=("coverage",),
        when="coverage",
        fold="all numbers",
    )
    report = report_study.loaded(report_study.make(tmp_path))
    section = record.made(report)
    assert section is not None
    folds = [block for block in section.blocks if isinstance(block, Fold)]
    [news, chat] = [fold.summary for fold in folds]
    assert (news, chat) == ("The news: all numbers", "The chat: all numbers")
    assert replace(record, when="flip_rate").made(report) is None
    seen: list[str] = []

    def blocks(_: Report, dataset: ShownDataset, rows: ReportRows) -> list[PageBlock]:
        seen.extend(row.statistic for row in rows)
        return [Paragraph(dataset.name)]

    replace(record, of_dataset=blocks).made(report)
    assert seen and {*seen} == {"coverage"}


@pytest.mark.heavy
def test_every_figure_has_its_numbers_a_caption_and_words_in_its_location(
    tmp_path: Path,
) -> None:
    """Of all sections, with pictures, and of the page as it is written."""
    report = report_study.loaded(report_study.make(tmp_path))
    figures = 0
    for section in sections_of(report):
        for block in every_block(section.blocks):
            if isinstance(block, PageFigure):
                figures += 1
                assert block.title and block.summary.rstrip().endswith(".")
                assert any(body.lines for body in block.table.bodies), block.title
            elif isinstance(block, SmallMultiples):
                assert block.lead and block.axes
                for panel in block.panels:
                    assert panel.heads and panel.rows
                    assert re.search(r'role="img" aria-label="[^"]+"', panel.drawn)
    assert figures > 10
    write_pages(report, sections_of(report), tmp_path / "report")
    pictures = 0
    for path in (tmp_path / "report").rglob("*.html"):
        page = Page(path.read_text(encoding="utf-8"))
        for tag in (*page.named("svg"), *page.named("div")):
            if tag.get("role") == "img":
                pictures += 1
                assert tag.get("aria-label"), path
    assert pictures >= figures


def test_the_counts_of_a_picture_are_those_that_it_draws() -> None:
    names = ["bad", "", "good"]
    counts = {(0, 0): 3, (2, 0): 1, (1, 2): 5}
    drawn = CountGrid(counts, names, names, lambda a, b: a != b)
    assert drawn.heads == ["bad", "2", "good"]
    assert drawn.rows == [
        ("good", [0, 5, 0]),
        ("2", [0, 0, 0]),
        ("bad", [3, 0, 1]),
    ]


def test_a_section_of_a_package_comes_last_in_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = with_section(tmp_path, monkeypatch, id="stars", group="Evidence")
    groups = [section.group for section in sections_of(report)]
    ids = [section.id for section in sections_of(report)]
    assert ids.index("stars") == len(groups) - 1 - groups[::-1].index("Evidence")
    [added] = [section for section in sections_of(report) if section.id == "stars"]
    assert (added.title, added.lead) == ("Added", "Of tiny.")
    assert [len(added.blocks), str(added.blocks).count("Paragraph")] == [4, 2]


def test_a_package_that_the_study_does_not_use_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_section(tmp_path, monkeypatch, id="stars", group="Evidence")
    report = report_study.loaded(report_study.make(tmp_path))
    assert "stars" not in [section.id for section in sections_of(report)]


def test_a_package_must_not_use_the_id_of_a_section_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = with_section(tmp_path, monkeypatch, id="cost", group="Evidence")
    with pytest.raises(UserError, match="already has"):
        sections_of(report)


def test_a_package_must_name_a_group_of_the_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = with_section(tmp_path, monkeypatch, id="stars", group="Evidences")
    with pytest.raises(UserError, match="Evidence"):
        sections_of(report)


def test_a_section_that_stands_alone_is_in_no_group(tmp_path: Path) -> None:
    report = report_study.loaded(report_study.make(tmp_path))
    coverage = section_named("coverage", report)
    assert coverage is not None and coverage.group == ""
    assert section_named("spans", report) is None
    with pytest.raises(KeyError):
        section_named("nothing", report)
