"""The report in files: its figures and sections, and what `snakemake --report` says of
them.
"""

import json
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

import report_study as study
import running
from judgescope.report.contents import sections_of
from judgescope.report.elements import Fold, LegendKey, PageFigure, PageTable
from judgescope.report.page import alone, figures_of, title_of, write_parts
from judgescope.report.report import Report
from report_setup import on_one_page
from study import Study

NASTY = "</script>{x} & <b>\u202e"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="marks" width="100" '
    'height="40"><path/></svg>'
)
SPACE = "{http://www.w3.org/2000/svg}"


def figure(title: str = "T", *keys: LegendKey) -> PageFigure:
    return PageFigure(title, SVG, "What it shows.", keys, PageTable("C", "J", [], []))


def written(folder: Path, **changes: Any) -> tuple[Report, Path, Path]:
    report = study.loaded(study.make(folder, **changes))
    figures, pages = folder / "figures", folder / "sections"
    write_parts(report, sections_of(report), figures, pages)
    return report, figures, pages


@pytest.mark.heavy
def test_every_figure_of_the_report_is_a_file(tmp_path: Path) -> None:
    report, figures, _ = written(tmp_path)
    by_id = {
        question.id: list(figures_of(question.blocks))
        for question in sections_of(report)
    }
    files = {path.name: len(list(path.iterdir())) for path in figures.iterdir()}
    assert files == {name: len(result) for name, result in by_id.items() if result}
    assert {"agreement", "discernment"} <= set(files)
    page = on_one_page(report)
    assert page.count("<figure>") == sum(files.values()), (
        "none is hidden deeper than that"
    )


@pytest.mark.heavy
def test_every_section_is_a_page_with_its_tables(tmp_path: Path) -> None:
    report, _, pages = written(tmp_path)
    complete = on_one_page(report)
    by_stem = {path.stem: path.read_text("utf-8") for path in pages.iterdir()}
    assert set(by_stem) == {section.id for section in sections_of(report)}
    assert sum(page.count("<table") for page in by_stem.values()) == complete.count(
        "<table"
    )
    assert all(
        "<nav" not in page and 'src="http' not in page for page in by_stem.values()
    )
    assert "<nav" in complete and "<title>tiny</title>" in complete


@pytest.mark.heavy
def test_two_runs_write_the_same_files(tmp_path: Path) -> None:
    both = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _, figures, pages = written(tmp_path / name)
        paths = sorted([*figures.rglob("*.svg"), *pages.rglob("*.html")])
        both.append(
            {str(p.relative_to(tmp_path / name)): p.read_bytes() for p in paths}
        )
    assert both[0] == both[1] and len(both[0]) > 10


def test_a_figure_alone_has_title_summary_and_legend() -> None:
    result = ElementTree.fromstring(
        alone(figure("T & u", LegendKey("●", "blue", "a <key>")))
    )
    texts = ["".join(each.itertext()) for each in result.iter(f"{SPACE}text")]
    assert texts == ["T & u", "● a <key>"]
    assert result.findtext(f"{SPACE}title") == "T & u"
    assert result.findtext(f"{SPACE}desc") == "What it shows."
    assert result.find(f"{SPACE}g/{SPACE}svg/{SPACE}path") is not None
    assert float(result.attrib["height"]) == 40 + 20 + 20 + 10 + 20


def test_figures_on_demand_are_detected() -> None:
    each, two = figure("one"), figure("two")
    assert list(figures_of([each, Fold("More", [Fold("Still more", [two])])])) == [
        each,
        two,
    ]


def test_a_label_cannot_leave_its_location(tmp_path: Path) -> None:
    path = tmp_path / "f.svg"
    path.write_text(alone(figure(NASTY)), encoding="utf-8")
    assert title_of(path) == "‹/script›(x) & ‹b›⟨U+202E⟩"
    assert (
        ElementTree.parse(path).findtext(f"{SPACE}title")
        == "</script>{x} & <b>⟨U+202E⟩"
    )


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a small study whose dataset has an evil name; return where."""
    folder = tmp_path_factory.mktemp("reported")
    demo = running.HOME / "config" / "demo"
    files = {
        role: str(demo / f"dialogue_{role}.jsonl") for role in ("items", "outputs")
    }
    files = {"items": files["items"], "data": files["outputs"]}
    Study(folder).change("datasets", "demo-dialogue", name=NASTY, files=files)
    fields = {"aspects": ["naturalness"], "methods": ["agreement", "discernment"]}
    path = Study(folder).write(**fields, perturbations=["reordering"])
    done = running.run("-m", "judgescope", "run", str(path), cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder


def report(folder: Path, name: str) -> str:
    """Return the page of Snakemake's report; nothing can be fetched while it is
    made.
    """
    with pytest.MonkeyPatch.context() as patched:
        for kind in ("http", "https", "all"):
            patched.setenv(f"{kind}_proxy", "http://127.0.0.1:9")
        values = ("--configfile", "study.yaml", "--report", name)
        done = running.snakemake(*values, cwd=folder)
    assert done.returncode == 0 and "Report created" in done.stdout, done.stdout[-3000:]
    path = folder / name
    if path.suffix == ".html":
        return path.read_text("utf-8")
    with zipfile.ZipFile(path) as packed:
        [page] = [name for name in packed.namelist() if name.endswith("report.html")]
        return packed.read(page).decode()


def told_in(page: str, name: str) -> Any:
    """Return what one of the scripts of Snakemake's report holds."""
    script = page.index(f'<script id="{name}">')
    return json.JSONDecoder().raw_decode(page, page.index(" = ", script) + 3)[0]


def paths_of(category: dict[str, list[str]]) -> list[str]:
    """Return the results of a category, of all its subcategories."""
    return [path for paths in category.values() for path in paths]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.html", "out.zip"])
def test_snakemakes_report_has_all_figures_sections_and_tables(
    reported: Path, name: str
) -> None:
    page = report(reported, name)
    results, shown = told_in(page, "results"), told_in(page, "categories")
    out = reported / "results" / "small"
    for category, pattern in (
        ("Figures", "figures/*/*.svg"),
        ("Sections", "sections/*.html"),
        ("Numbers", "tables/*.csv"),
        ("Texts", "report/texts.html"),
    ):
        files = {str(path.relative_to(reported)) for path in out.glob(pattern)}
        collected = {path for paths in shown[category].values() for path in paths}
        assert files == collected and files, category
    with_figures = {path.parent.name for path in out.glob("figures/*/*.svg")}
    assert set(shown["Figures"]) == with_figures
    for path, collected in results.items():
        assert "<p>" in collected["caption"] and "small" in collected["caption"], path
        assert (
            "System Message" not in collected["caption"]
            and "``" not in collected["caption"]
        )
        assert collected["labels"] and all(collected["labels"].values()), path
        assert collected["mime_type"] in {"image/svg+xml", "text/html", "text/csv"}, (
            path
        )
    tables = [results[path]["labels"] for path in paths_of(shown["Numbers"])]
    assert {labels["table"] for labels in tables} == {
        path.stem for path in out.glob("tables/*.csv")
    }
    assert {labels["table"]: labels["contents"] for labels in tables}[
        "agreement"
    ] == "How well each judge agrees with people, and people with each other."
    assert len({labels["contents"] for labels in tables}) == len(tables)
    assert "can be claimed" in told_in(page, "workflow-desc")


@pytest.mark.slow
def test_no_name_leaves_the_scripts_of_snakemakes_report(reported: Path) -> None:
    page = report(reported, "out.zip")
    labels = [each["labels"] for each in told_in(page, "results").values()]
    assert any("‹/script›(x)" in label.get("title", "") for label in labels)
    assert "{x} & <b>" not in page and "</script>{x}" not in page
    for name in ("results", "categories", "rules"):
        script = page.partition(f'<script id="{name}">')[2].partition("</script>")[0]
        held = json.dumps(told_in(page, name))
        assert len(script.strip()) >= len(held) and script.strip().endswith(";"), name


@pytest.mark.slow
def test_the_marks_make_nothing_run_again(reported: Path) -> None:
    report(reported, "again.zip")
    done = running.snakemake("--configfile", "study.yaml", "-n", cwd=reported)
    assert "Nothing to be done" in done.stdout


@pytest.mark.slow
def test_a_real_study_can_be_exported(reported: Path) -> None:
    def export(*words: str) -> str:
        done = running.run(
            "-m", "judgescope", "export", "study.yaml", *words, cwd=reported
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    export("card", "card.md")
    card = (reported / "card.md").read_text("utf-8")
    assert "`judgescope run study.yaml`" in card and "<script" not in card
    assert "1 table;" in export("tables", "agreement", "t.tex", *("--statistic", "spa"))
    assert "\\textless{}/script\\textgreater{}" in (reported / "t.tex").read_text(
        "utf-8"
    )
    export("judgments", "j.parquet", "--texts")
    judged = pq.read_table(reported / "j.parquet").to_pylist()
    counted = running.rows(reported / "results" / "small", "coverage")
    ok = sum(row["value"] for row in counted if row["statistic"] == "count_ok")
    assert sum(row["status"] == "ok" for row in judged) == ok > 0
    assert {row["judge"] for row in judged} == {
        row["judge"] for row in counted if row["value"]
    }
