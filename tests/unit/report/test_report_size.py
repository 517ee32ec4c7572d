"""A report of many judges, aspects and datasets stays small."""

import random
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from claims_setup import MODEL, claim
from judgescope.core.paths import HOME
from judgescope.report.cells import count_cell
from judgescope.report.contents import sections_of
from judgescope.report.elements import Body, PageTable, Section, TableLine, columns_of
from judgescope.report.html import compact, with_used_style
from judgescope.report.page import BUDGET, fitted, write_pages
from report_setup import Page

Row = dict[str, Any]
OUTCOMES = (
    *("better", "as_rater", "not_shown; chance", "not_shown; length"),
    "not_shown; chance; worse_than_chance",
)


@pytest.mark.heavy
def test_fifty_judges_on_twenty_aspects_of_five_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    judges = [f"judge-{number:02d}" for number in range(50)]
    datasets = [f"set-{number}" for number in range(5)]
    aspects = [f"aspect-{number:02d}" for number in range(20)]
    monkeypatch.setattr(study, "DATASETS", dict.fromkeys(datasets, "people"))
    monkeypatch.setattr(study, "ASPECTS", aspects)
    rows: list[Row] = []
    agreement: list[Row] = []
    for dataset in datasets:
        for judge in judges:
            for aspect in aspects:
                value = chance.random() - 0.2
                content = {"dataset": dataset, "aspect": aspect}
                rows += claim(judge, value, chance.choice(OUTCOMES), **content)
                for level in ("pooled", "by_source"):
                    where = {"aspect": aspect, "level": level}
                    agreement.append(
                        study.row(dataset, judge, "spearman", value, **where)
                    )
    spec = study.make(tmp_path, {"verdicts": rows, "agreement": agreement})
    spec["study"]["judges"] = judges
    spec["judges"] = dict.fromkeys(judges, MODEL)
    spec["cards"] = "judges/"
    report = study.loaded(spec)
    folder = tmp_path / "report"
    write_pages(report, sections_of(report), folder)
    sizes = {path.name: path.stat().st_size for path in folder.rglob("*.html")}
    assert sizes["index.html"] <= 300_000
    assert max(sizes.values()) <= 300_000, sizes
    index = Page((folder / "index.html").read_text("utf-8"))
    assert len(index.elements) <= 5_000
    assert "38 more judges: none holds on more than" in index.text
    assert "follows people on" in index.text and "no other judge on more" in index.text


@pytest.mark.long(12)
@pytest.mark.heavy
def test_the_pages_of_fifty_judges_have_no_more_than_three_megabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(HOME / "benchmarks"))
    report_sizes = import_module("report_sizes")

    # The benchmark replaces them: they come back after this test.
    for name in ("DATASETS", "ASPECTS"):
        monkeypatch.setattr(study, name, getattr(study, name))
    sizes = report_sizes.write(tmp_path, [50, 20, 5])
    judges = [size for name, size in sizes.items() if name.startswith("judges/")]
    assert len(judges) == 50 and max(judges) <= 40_000
    assert sum(sizes.values()) <= 3_000_000


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_has_only_the_rules_and_colours_that_it_uses(dark: bool) -> None:
    media = "@media (prefers-color-scheme: dark){:root{--a:#000;--b:#111}}"
    style = ":root{--a:#fff;--b:#eee}.x{color:var(--a)}.y{color:var(--b)}"
    style += media if dark else ""
    page = f'<style>{style}</style></head><body><p class="x">it</p>'
    shown = with_used_style(page, "")
    assert ".x{color:var(--a)}" in shown
    assert ".y" not in shown and "--b" not in shown
    assert shown.count("--a:") == 1 + dark
    # A script may add what the page does not have yet.
    assert ".y{color:var(--b)}" in with_used_style(page, "add('y')")


def test_the_largest_table_is_left_to_its_file_until_the_page_fits() -> None:
    def table(rows: int, name: str) -> PageTable:
        lines = [TableLine(f"{at}", [count_cell(at)] * 4) for at in range(rows)]
        columns = columns_of(["a", "b", "c", "d"])
        return PageTable(name, "", columns, [Body(lines)], source=f"tables/{name}.csv")

    small = table(10, "small")
    large = table(500, "large")
    shown = fitted(Section("s", "S", "", [small, large]))
    assert [getattr(block, "elsewhere", None) for block in shown.blocks] == [
        *(False, True)
    ]
    assert fitted(Section("s", "S", "", [small])).blocks == [small]
    assert BUDGET.table(large) > BUDGET.section


def test_a_compact_style_keeps_its_strings_and_selectors() -> None:
    style = compact(
        'a::before { content: " deleted: "; }\n/* no */\nb > i a:hover { x: 1 }'
    )
    assert style == 'a::before{content:" deleted: "}b > i a:hover{x:1}'
