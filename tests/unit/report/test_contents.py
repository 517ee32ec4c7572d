"""The table of contents: its order, and the sections of other packages in it."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

import report_study
from judgescope.core.errors import UserError
from judgescope.report.contents import CONTENTS, SECTIONS, section_named, sections_of
from judgescope.report.report import Report
from judgescope.report.section import GROUPS
from judgescope.report.specs import ReportSpec

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
