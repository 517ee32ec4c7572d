"""The report: one honest, offline, accessible page from synthetic result tables."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report import elements, headline
from judgescope.report import page as page_module
from judgescope.report.charts import signs
from judgescope.report.contents import sections_of
from judgescope.report.page import PageBudget, write_pages
from report_setup import LOADS, Page, on_one_page

HOME = Path(__file__).resolve().parents[3]
TEMPLATES = HOME / "workflow" / "report"
EVERY_STUDY = ("coverage", "unmeasured", "data", "reproduce", "legend")
BESIDE = {"texts.html", "explore.html"}
"""The pages of perturbed texts and of all judgments: to be followed, never loaded."""


def page(spec: dict[str, Any]) -> str:
    return on_one_page(study.loaded(spec))


def visible(html: str) -> str:
    return Page(html).text


def part(html: str, start: str, end: str) -> str:
    """Return the page from one id to another."""
    return html[html.index(f'id="{start}"') : html.index(f'id="{end}"')]


@pytest.fixture(scope="module")
def complete_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page(study.make(tmp_path_factory.mktemp("study")))


@pytest.mark.heavy
def test_nothing_is_loaded_from_anywhere(complete_report: str) -> None:
    for tag, attributes in Page(complete_report).elements:
        for name in LOADS & set(attributes):
            way = attributes[name] or ""
            beside = tag == "a" and (
                way.partition("#")[0] in BESIDE
                or way.startswith(("sections/", "index.html#"))
            )
            assert beside or way.startswith("#"), attributes
    assert not re.search(
        r"url\(|@import|@font-face|\bfetch\(|XMLHttpRequest", complete_report
    )
    links = set(re.findall(r"https?://[^\"'\s<>]+", complete_report))
    assert links == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }  # namespaces


def test_the_policy_allows_the_single_inline_script_and_nothing_else(
    complete_report: str,
) -> None:
    from base64 import b64encode
    from hashlib import sha256

    scripts = re.findall(r"<script>(.*?)</script>", complete_report, re.DOTALL)
    assert len(scripts) == 1
    wanted = b64encode(sha256(scripts[0].encode()).digest()).decode()
    policies = [
        m["content"] or ""
        for m in Page(complete_report).named("meta")
        if "http-equiv" in m
    ]
    assert f"script-src 'sha256-{wanted}'" in policies[0]
    assert "default-src 'none'" in policies[0]


@pytest.mark.long(8)
@pytest.mark.heavy
def test_the_script_writes_the_same_bytes_for_any_hash_seed(tmp_path: Path) -> None:
    spec = study.make(tmp_path)
    stale = (
        tmp_path / "confusion.csv"
    )  # a table of a method that the study no longer has
    stale.write_text("old", encoding="utf-8")
    texts = Path(spec["output"]).with_name("texts.html")
    texts.parent.mkdir()
    texts.write_text("made beside the report", encoding="utf-8")
    written = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"}
        subprocess.run(
            [sys.executable, str(HOME / "scripts" / "job.py"), "report", "--spec", "-"],
            input=json.dumps(spec),
            text=True,
            env=environment,
            cwd=tmp_path,
            check=True,
        )
        written.append(Path(spec["output"]).read_bytes())
    assert written[0] == written[1] and not stale.exists() and texts.exists()
    assert all(Path(path).exists() for path in spec["tables"].values())
    assert str(tmp_path).encode() not in written[0]
    assert len(written[0]) < 3_000_000


def test_the_page_is_well_formed(complete_report: str) -> None:
    parsed = Page(complete_report)
    assert (parsed.wrong, parsed.open) == ([], [])
    assert parsed.named("html") == [{"lang": "en"}]
    ids = Counter(
        attributes["id"] for _, attributes in parsed.elements if "id" in attributes
    )
    assert set(ids.values()) == {1}


@pytest.mark.heavy
def test_every_link_leads_to_a_location_on_a_page(tmp_path: Path) -> None:
    report = study.loaded(study.make(tmp_path))
    folder = (tmp_path / "report").resolve()
    write_pages(report, sections_of(report), folder)
    pages = {path: Page(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    ids = {
        path: {result.get("id") for _, result in page.elements}
        for path, page in pages.items()
    }
    ways = Counter[str]()
    for path, page in pages.items():
        assert (page.wrong, page.open) == ([], [])
        for link in page.named("a"):
            name, _, location = (link["href"] or "").partition("#")
            to = (path.parent / name).resolve() if name else path
            ways[to.stem] += 1
            assert to in pages or (to.parent == folder and to.name in BESIDE), link
            assert not location or to not in pages or location in ids[to], link
    assert {f"{section.id}" for section in sections_of(report)} - {*elements.FRONT} <= {
        *ways
    }
    assert ways["evidence"] >= 16  # each cell of the matrix leads to its evidence


def test_headings_are_in_order(complete_report: str) -> None:
    levels = [
        int(tag[1])
        for tag, _ in Page(complete_report).elements
        if re.fullmatch("h[1-6]", tag)
    ]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_and_scopes_and_rectangular_rows(
    complete_report: str,
) -> None:
    tables = re.findall(r"<table.*?</table>", complete_report, re.DOTALL)
    assert len(tables) > 20
    for table in tables:
        parsed = Page(table)
        assert len(parsed.named("caption")) == 1
        assert all(head.get("scope") for head in parsed.named("th"))
        widths = {
            sum(
                int(cell.get("colspan") or 1)
                for _, cell in Page(row).elements
                if _ in ("th", "td")
            )
            for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        }
        assert len(widths) == 1


def test_figures_tell_what_they_show_and_hold_their_numbers(
    complete_report: str,
) -> None:
    figures = re.findall(r"<figure>.*?</figure>", complete_report, re.DOTALL)
    # five of each dataset, people's agreement and the faults of one
    assert len(figures) == 12
    for figure in figures:
        labels = [
            result["aria-label"] or ""
            for result in Page(figure).named("div")
            if "role" in result
        ]
        kinds = (
            *(
                "response styles",
                "The highest ",
                "how well people agree",
                "planned faults that",
            ),
            *("perturbed as planned", "judgments with a score"),
        )
        assert sum(kind in labels[0] for kind in kinds) == 1
        assert not re.search(r"\d\.\d{4}", labels[0])  # rounded
        assert "<table" in figure.split("</svg>")[1]


def test_every_colour_of_the_figures_follows_the_page(complete_report: str) -> None:
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    drawn = set(re.findall(r'(?:fill|stroke)="#[0-9a-f]{3,6}"', complete_report))
    assert len(drawn) > 6
    assert not [each for each in drawn if f"svg [{each}]" not in style]


@pytest.mark.heavy
def test_untrusted_text_stays_text(tmp_path: Path) -> None:
    evil = "</style></script><script>alert(1)</script>`<b onclick=x>`"
    rows = {name: list(made()) for name, made in study.TABLES.items()}
    for row in rows.values():
        for each in row:
            each["note"] = each["note"] and evil
            each["signature"] = each["method"] = evil
    spec = study.make(
        tmp_path,
        rows,
        datasets={
            "news": {"licence": evil, "citation": evil, "name": evil, "task": evil}
        },
        perturbations={"typos": {"name": evil, "level": evil}},
        aspects={"fluency": evil},
        judges={"gamma": {"form": evil, "model": evil}},
        command=evil,
        versions={evil: evil},
    )
    report = json.loads(Path(spec["datasets"]["news"]["report"]).read_text())
    report |= {"problems": [evil], "sha256": {evil: evil}}
    Path(spec["datasets"]["news"]["report"]).write_text(json.dumps(report))
    html = page(spec)
    parsed = Page(html)
    assert (parsed.wrong, parsed.open) == ([], [])
    assert len(parsed.named("script")) == 1
    assert not [
        attributes for _, attributes in parsed.elements if "onclick" in attributes
    ]
    assert "alert(1)" in parsed.text


@pytest.mark.heavy
def test_a_hostile_id_stays_text(tmp_path: Path) -> None:
    evil = "x<script>alert(1)</script>"
    rows = [
        {**each, "judge": evil}
        for each in study.agreement()
        if each["judge"] == "alpha"
    ]
    card = study.spec(tmp_path, [])["judges"]["alpha"]
    changes = {"study": {"judges": [evil]}, "judges": {evil: card}}
    html = page(study.make(tmp_path, {"agreement": rows}, **changes))
    assert len(Page(html).named("script")) == 1
    assert evil in Page(html).text


def test_undefined_numbers_show_a_dash_and_the_reason(complete_report: str) -> None:
    cells = re.findall(r'<td class="undefined">(.*?)</td>', complete_report)
    assert len(cells) > 50
    assert all(re.fullmatch("–<small>.+</small>", cell) for cell in cells)
    assert "–<small>constant judge</small>" in cells
    assert "not applicable: needs ratings" in visible(
        part(complete_report, "discernment", "faults")
    )


@pytest.mark.heavy
def test_planned_ratings_are_never_called_human(tmp_path: Path) -> None:
    spec = study.make(tmp_path, datasets={"chat": {"ratings": "planned"}})
    text = visible(page(spec))
    assert "planned by the authors" in text
    assert "human" not in text.lower().replace("ratings are planned, not people's", "")
    assert "people among themselves" not in text
    assert "agreement with people's ratings" not in text


def test_human_ratings_show_what_people_reach(complete_report: str) -> None:
    chat = visible(part(complete_report, "agreement-chat", "discernment"))
    assert "agreement of people with each other" in chat
    assert "0.514 [0.414, 0.614]" in chat
    news = visible(part(complete_report, "agreement-news", "agreement-chat"))
    assert "people among themselves" not in news


def test_a_control_above_a_judge_is_warned_of_with_numbers(
    complete_report: str,
) -> None:
    news = visible(part(complete_report, "limits-news", "limits-chat"))
    assert "a control ranks above" in news
    text = (
        "control length (0.350) ranks above 2 of 4 judges: beta (0.200) and rules "
        "(−0.100)."
    )
    assert f"Fluency: {text}" in news
    assert "alpha (0.600)" not in news
    marked = re.findall(
        r'<code>(\w+)</code>.*?data-v="([-.\d]+)"[^>]*>([^<]+)<sup>†', complete_report
    )
    assert ("beta", "0.2", "0.200") in marked
    assert all(judge in ("beta", "rules") for judge, *_ in marked)


@pytest.mark.heavy
def test_no_warning_where_every_judge_beats_every_control(tmp_path: Path) -> None:
    kept = ("alpha", "gamma", "constant-top", "random", "length")
    rows = [verdict for verdict in study.verdicts() if verdict["judge"] in kept]
    spec = study.make(tmp_path, {"verdicts": rows}, study={"judges": list(kept)})
    text = visible(page(spec))
    assert "Agreement: Pairwise correlation" in text
    assert "Warning" not in text
    assert "Below at least one control" not in text


def test_controls_are_marked_and_stand_separate(complete_report: str) -> None:
    first = part(complete_report, "judges", "evidence")
    real, controls = first.split('<tbody class="rules" role="rowgroup">')
    assert "Rules that ignore quality" in controls
    names = ("alpha", "beta", "rules", "gamma")
    assert all(f"<b>{name}</b>" in real for name in names)
    assert not any(f"<b>{name}</b>" in real for name in ("length", "random"))
    limits = part(complete_report, "limits-news", "limits-chat")
    assert limits.count('<em class="badge">control</em>') == 4


def test_every_judge_is_signed_once_even_without_a_first_column(tmp_path: Path) -> None:
    rows = [
        verdict
        for verdict in study.verdicts()
        if verdict["judge"] != "gamma" or verdict["aspect"] == "coherence"
    ]
    html = page(study.make(tmp_path, {"verdicts": rows}))
    signed = re.findall(
        r"<code>judge:([^|]+)\|", part(html, "limits-news", "limits-chat")
    )
    assert sorted(signed) == sorted(study.JUDGES)


def test_the_numbers_of_the_study_open_the_page(complete_report: str) -> None:
    first = visible(complete_report.split("<nav")[0])
    assert "tiny" in first
    assert "2 datasets · 48 items · 240 rated texts · 4 judges and 4 controls" in first
    assert "2 perturbations · 3\u202f456 judgments in 16 cells" in first


def test_discernment_marks_flags_and_lists(complete_report: str) -> None:
    news = visible(part(complete_report, "discernment-news", "discernment-chat"))
    assert "typos, minor" in news
    assert "cuts length alone detects this" in news  # the heading of that column alone
    assert news.count("length alone detects this") == 1
    assert "5.20 ‡ [5.10, 5.30]" in news  # gamma
    assert "‡ Beyond 5" in news
    assert "shuffled : not applicable: needs ratings." in news


def test_series_differ_by_sign_as_well_as_colour() -> None:
    assert len({sign.sign for sign in signs(list("abcdef"))}) == 6


def test_faults_are_counted_and_alike_aspects_joined(complete_report: str) -> None:
    result = visible(part(complete_report, "faults-news", "cost"))
    assert "5 of 20 planned faults are missed by every lexical judge." in result
    assert (
        result.count("gamma") == 4
    )  # in figure and table: Fluency and Coherence differ
    assert result.count("alpha") == 2
    assert "alpha the same on all aspects 50\u202f% [40\u202f%, 60\u202f%]" in result
    assert "negation n = 8" in result
    assert "faults-chat" not in complete_report


def test_a_single_missed_fault_is_singular(tmp_path: Path) -> None:
    rows = [
        fault for fault in study.faults() if fault["judge"] == "every-lexical-judge"
    ]
    rows[-1] |= {"value": 0.05}
    text = visible(page(study.make(tmp_path, {"faults": rows})))
    assert "1 of 20 planned faults is missed by every lexical judge." in text


def test_perturbations_are_counts_with_reasons(complete_report: str) -> None:
    result = visible(part(complete_report, "perturbations-news", "perturbations-chat"))
    assert "18 of 24" in result
    assert "6 of 24" in result
    assert "impossible: one sentence" in result


def test_coverage_adds_up_over_cells(complete_report: str) -> None:
    result = visible(part(complete_report, "coverage-news", "coverage-chat"))
    assert (
        "alpha lexical, rouge1, against the references 240 216 24 90\u202f%" in result
    )
    assert "systems Fluency 120 108 12 90\u202f%" in result


def test_licences_versions_and_the_command_exist(complete_report: str) -> None:
    text = visible(complete_report)
    for wanted in ("MIT", "judgescope run tiny.yaml", "altair", "seed 7", "ab" * 32):
        assert wanted in text


def test_tables_that_a_study_lacks_have_no_section(tmp_path: Path) -> None:
    html = page(study.make(tmp_path, {"coverage": list(study.coverage())}))
    collected = [each["id"] for each in Page(html).named("section")]
    assert collected == ["judges", "evidence", "limits", *EVERY_STUDY]


@pytest.mark.heavy
def test_a_very_long_table_has_a_separate_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Unless that would be too long as well: then its file alone has it.
    monkeypatch.setattr(page_module, "BUDGET", PageBudget(section=10_000_000))
    systems = next(study.coverage())
    rows = [
        {**systems, "perturbation": f"p{number}"}
        for number in range(elements.LONGEST + 1)
    ]
    report = study.loaded(study.make(tmp_path, {"coverage": rows}))
    sections = sections_of(report)
    write_pages(report, sections, tmp_path / "report")
    html = (tmp_path / "report" / "sections" / "coverage.html").read_text("utf-8")
    text = "With 601 rows it has a page of its own and is stored in"
    assert text in visible(html).replace(" ,", ",")
    [page] = (tmp_path / "report" / "sections").glob("*-*.html")
    assert f'<a href="../sections/{page.name}">a page of its own</a>' in html
    alone = page.read_text("utf-8")
    assert "too long for this page: see tables/" in visible(on_one_page(report))
    [table] = Page(alone).named("table")
    assert alone.count('<tr><th scope="row">') == 601 and table["class"] == "sortable"
    assert '<a href="../index.html">tiny</a>' in alone


def test_the_control_that_ranks_highest_is_the_first_of_equals(tmp_path: Path) -> None:
    rows = list(study.agreement())
    for row in rows:
        if row["judge"] in ("random", "length"):
            row["value"], row["ci_low"], row["ci_high"] = 0.4, None, None
    report = study.loaded(study.make(tmp_path, {"agreement": rows}))
    measure = headline.HeadlineColumn(
        *(
            report,
            report.datasets[0],
            "agreement",
            "spearman",
            "",
            "targets",
            "fluency",
            "pooled",
        )
    )
    best = measure.best_control
    assert best is not None
    assert best.judge == "random"
