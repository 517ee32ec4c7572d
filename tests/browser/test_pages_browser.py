"""Every page in a real browser: it runs alone, can be used by keyboard, and can be read
by all.
"""

import csv
import json
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

import cards_study
import pages
import report_study
from audit_setup import chosen, passed, write
from audit_setup import made as rated_texts
from browser import Browser, browser, needs_browser
from explore_study import ExploreStudy
from judgescope.cli.audit import slices, study, table
from judgescope.cli.audit.findings import AuditFindings
from judgescope.cli.audit.html_page import as_html
from judgescope.cli.main import command_line
from judgescope.extensions.people import weights
from judgescope.extensions.people.pairs import read as read_votes
from judgescope.report import judge_card as cards
from judgescope.report.contents import sections_of
from judgescope.report.page import write_pages
from people_studies import AnnotationsStudy, RatingsStudy, VotesStudy, plan_of
from people_tables import rows_of
from spotcheck_study import Study

pytestmark = [pytest.mark.heavy, needs_browser]
EVIL = '=HYPERLINK("http://x", "y")'


def report(folder: Path, **changes: Any) -> Path:
    """Write the report of the synthetic study."""
    folder.mkdir(parents=True)
    spec = report_study.make(folder, **changes)
    page = Path(spec["output"])
    contents = report_study.loaded(spec)
    write_pages(contents, sections_of(contents), page.parent)
    return page


def texts(folder: Path) -> Path:
    """Write the page of perturbed texts."""
    study = Study(
        folder,
        {
            f"n{n}": f"The old bridge number {n} stays closed. So it is."
            for n in range(9)
        },
    )
    study.perturbation("typos", k=4)
    page = folder / "texts.html"
    page.write_text(study.page(), encoding="utf-8")
    return page


def card(folder: Path) -> Path:
    """Write the page of a judge."""
    folder.mkdir(parents=True)
    spec = cards_study.make(folder)
    page = folder / "gamma.html"
    pages = dict(cards.render(cards_study.loaded(spec)))
    page.write_text(pages["gamma"], "utf-8")
    return page


def audited(name: str, folder: Path) -> Path:
    """Write the page of an audit of ratings, labels or pairs."""
    folder.mkdir(parents=True)
    rows = {"audit": ratings_of_judges, "audit-labels": passed, "audit-pairs": chosen}
    write(rows[name](), folder / "t.csv")
    page = folder / "page.html"
    args = command_line().parse_args(["audit", str(folder / "t.csv")])
    draft = table.draft_of(args, {})
    card_file = study.written(draft, folder / "study")
    results = study.computed(draft, card_file, folder / "study", folder / "results")
    parts = list(slices.slices_of(draft))
    findings = AuditFindings(draft, results, slices=parts)
    page.write_text(as_html(findings), encoding="utf-8", newline="\n")
    return page


def ratings_of_judges() -> list[dict[str, Any]]:
    """Two judges, two aspects, a column of topics."""
    rows = []
    for at, row in enumerate(rated_texts(120)):
        again = {f"Tone ({name})": row[f"Quality ({name})"] for name in ("Anna", "Ben")}
        judges = {"tone_gpt4": row["quality_gpt4"], "tone_llama": at % 5 + 1}
        topic = ("law", "sport")[at % 2]
        rows.append({**row, **again, **judges, "quality_llama": at % 4, "topic": topic})
    return rows


def made(name: str, folder: Path) -> Path:
    """Write one of the pages that the commands write, from the smallest study that has
    it.
    """
    if name == "report":
        return report(folder)
    if name == "section":
        return report(folder).parent / "sections" / "discernment.html"
    if name == "texts":
        return texts(folder)
    if name == "card":
        return card(folder)
    if name == "explore":
        return ExploreStudy(folder).write()
    if name.startswith("audit"):
        return audited(name, folder)
    if name == "survey":
        return folder / weights.make(plan_of(), folder).pages[1].file
    folder.mkdir()
    with chdir(folder):
        if name == "votes":
            votes = VotesStudy(folder)
            return folder / "pages" / votes.pages(votes.plan())[0].file
        if name == "ratings":
            rated = RatingsStudy(folder)
            return folder / "pages" / rated.ask(rated.plan())[0].file
        asked = AnnotationsStudy(folder)
        return folder / "pages" / asked.ask(asked.plan())[0][0].file


MADE = (
    "audit",
    "audit-labels",
    "audit-pairs",
    "report",
    "section",
    "texts",
    "card",
    "explore",
    "survey",
    "votes",
    "ratings",
    "annotations",
)
RUN = (
    "index",
    "sections/perspectives",
    "sections/evidence",
    "texts",
    "explore",
    "judges/rouge-1",
)


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("browser") / "own") as opened:
        yield opened


OF_THE_DEMO = [pytest.param(f"demo-{name}", marks=pytest.mark.slow) for name in RUN]


@pytest.fixture(scope="module", params=[*MADE, *OF_THE_DEMO])
def page(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a page, whose folder has its name."""
    name: str = request.param
    if name in MADE:
        return made(name, tmp_path_factory.mktemp("pages") / name)
    demo: Path = request.getfixturevalue("demo")
    return demo / "results" / "demo" / "report" / f"{name.removeprefix('demo-')}.html"


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.callspec.params["page"]).replace("/", "-")


def test_a_page_needs_nothing_else_and_fits_every_device(
    window: Browser, page: Path, name: str
) -> None:
    for _ in pages.views(window, page, name):
        pages.stands_alone(window, page)
        pages.fits(window)


@pages.needs_axe
@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.long(35))])
def test_a_page_can_be_read_by_all(
    window: Browser, page: Path, name: str, turn: int
) -> None:
    """Pages take turns on a phone and a desktop: each is read on one of them."""
    folded = not name.startswith("demo")  # in thousands of cells it would take minutes
    devices = ((pages.PHONE, False), (pages.DESKTOP, True))
    names = [*MADE, *(f"demo-{each}".replace("/", "-") for each in RUN)]
    width, dark = devices[(names.index(name) + turn) % 2]
    window.show(width, dark=dark)
    window.open(page)
    if folded:
        window.value(
            "for (const one of document.querySelectorAll('details')) one.open = true"
        )
    assert pages.violations(window) == []


def test_the_tab_key_reaches_every_control(window: Browser, page: Path) -> None:
    window.show(pages.DESKTOP)
    window.open(page)
    assert pages.walked(window) > 1
    pages.stands_alone(window, page)


# --- the report -----------------------------------------------------------------------


def focus(window: Browser, script: str) -> None:
    """Go to an element; the keys that follow are pressed there."""
    window.value(f"({script}).focus()")


FIRST = "document.querySelector('#limits details table')"
"""The first table that can be sorted: the numbers by which judges are compared."""
UNFOLD = f"{FIRST}.closest('details').open = true"


def heads(window: Browser) -> Any:
    """Return the rows' headings in the first body of the first table."""
    return window.value(
        f"[...{FIRST}.tBodies[0].rows].map((row) => "
        "row.cells[0].querySelector('code').textContent)"
    )


def limits(folder: Path) -> Path:
    """Write the report, and return the page with the numbers that are compared."""
    return report(folder).parent / "sections" / "limits.html"


def test_columns_are_sorted_and_folds_opened_by_keyboard(
    window: Browser, tmp_path: Path
) -> None:
    window.open(limits(tmp_path / "own"))
    window.value(UNFOLD)
    focus(
        window, f"{FIRST}.tHead.rows[{FIRST}.tHead.rows.length - 1].cells[1].firstChild"
    )
    window.press("Enter")
    sort = "document.querySelector('th[aria-sort]').getAttribute('aria-sort')"
    first = heads(window)
    assert window.value(sort) == "descending" and first[0] == "gamma"
    window.press("Space")
    assert window.value(sort) == "ascending" and heads(window)[0] == "rules"
    window.value(f"{UNFOLD.replace('true', 'false')}")
    focus(window, f"{FIRST}.closest('details').querySelector('summary')")
    window.press("Enter")
    assert window.value(f"{FIRST}.closest('details').open") is True


def test_a_cell_of_the_matrix_opens_its_evidence_by_keyboard(
    window: Browser, tmp_path: Path
) -> None:
    """The evidence is folded on the judge's page: the way to it unfolds it."""
    folder = tmp_path / "own" / "report"
    spec = cards_study.make(tmp_path / "own")
    folder.mkdir(exist_ok=True)
    (folder / "judges").mkdir()
    for judge, html in cards.render(cards_study.loaded(spec)):
        (folder / "judges" / f"{judge}.html").write_text(html, "utf-8")
    contents = cards_study.loaded({**spec, "cards": "judges/", "files": {}})
    write_pages(contents, sections_of(contents), folder)
    window.open(folder / "index.html")
    cell = "document.querySelector('.matrix td a')"
    result = window.value(f"{cell}.querySelector('b').textContent")
    focus(window, cell)
    window.press("Enter")
    window.until(lambda: window.value("location.pathname.includes('/judges/')"))
    text = "document.getElementById(location.hash.slice(1))"
    window.until(lambda: window.value(f"{text}?.checkVisibility()") is True)
    summary = f"{text}.closest('details').querySelector('summary').textContent"
    assert result in window.value(summary)


def test_the_matrix_is_sorted_by_keyboard(window: Browser, tmp_path: Path) -> None:
    window.open(report(tmp_path / "own"))
    judges = (
        "[...document.querySelectorAll('.matrix tbody:nth-of-type(2) tr')]"
        ".map((row) => row.cells[0].textContent.trim().split(/\\s/)[0])"
    )
    before = window.value(judges)
    focus(window, "document.querySelector('.matrix thead tr:last-child button')")
    window.press("Enter")
    after = window.value(judges)
    assert sorted(after) == sorted(before) and len(after) == 4
    assert window.value("document.querySelector('.matrix th[aria-sort]') !== null")


def test_the_first_screen_has_the_answer_and_the_first_judges(
    window: Browser, tmp_path: Path
) -> None:
    """At 1400 x 900 the headline, people and six judges; on a phone the first one."""
    fields = {"n": 24, "aspect": "fluency", "form": "agreement"}
    fields["level"] = "within_source"
    rows = []
    names = [f"judge-{number}" for number in range(8)]
    for name in names:
        rows.append(report_study.row("chat", name, "normal_scores", 0.5, **fields))
        verdict = report_study.row("chat", name, "verdict", 2.0, **fields)
        rows.append(verdict | {"note": "better"})
    folder = tmp_path / "own"
    folder.mkdir()
    spec = report_study.make(folder, {"verdicts": rows})
    spec["study"]["judges"] = names
    spec["judges"] = dict.fromkeys(names, spec["judges"]["alpha"])
    contents = report_study.loaded(spec)
    page = Path(spec["output"])
    write_pages(contents, sections_of(contents), page.parent)
    bottom = "document.querySelectorAll('.matrix tbody')[{}].rows[{}]"
    for width, high, last in ((1400, 900, 5), (pages.PHONE, 844, 0)):
        window.show(width)
        window.open(page)
        people = f"{bottom.format(0, 0)}.getBoundingClientRect().bottom"
        judge = f"{bottom.format(1, last)}.getBoundingClientRect().bottom"
        headline = "document.querySelector('h1').getBoundingClientRect().top"
        assert 0 <= window.value(headline) < window.value(people) < high
        assert window.value(judge) <= high
        assert window.value("document.querySelectorAll('*').length") <= 5000


def test_what_stands_in_titles_is_shown_by_keyboard(
    window: Browser, tmp_path: Path
) -> None:
    window.open(limits(tmp_path / "own"))
    window.value(UNFOLD)
    titles = f"[...{FIRST}.querySelectorAll('td[title]')]"
    result = window.value(f"{titles}.map((cell) => cell.title)")
    assert result and all(name.startswith("n = ") for name in result)
    focus(window, f"{FIRST}.closest('.scroll').previousElementSibling.lastChild")
    window.press("Enter")
    assert (
        window.value(f"{titles}.map((cell) => cell.querySelector('.more').textContent)")
        == result
    )
    window.press("Enter")
    assert window.value("document.querySelectorAll('small.more').length") == 0


def saved_table(
    folder: Path, caption: str, **changes: Any
) -> tuple[str, list[dict[str, str]]]:
    """Return the name and the rows of the CSV file of the table whose caption begins
    so.
    """
    with browser(folder / "browser") as window:
        window.open(
            report(folder / "own", **changes).parent / "sections" / "agreement.html"
        )
        script = (
            "[...document.querySelectorAll('.tools button')].find((one) => "
            "one.getAttribute"
            f"('aria-label').startsWith({json.dumps(f'Download CSV: {caption}')}))"
        )
        window.value(f"{script}.closest('details')?.setAttribute('open', '')")
        focus(window, script)
        window.press("Enter")
        [file] = window.saved()
        assert (
            window.complaints() == [] and len(window.requests()) <= 2
        )  # the page, and the file
        with file.open(encoding="utf-8", newline="") as opened:
            return file.name, list(csv.DictReader(opened))


def test_a_table_is_saved_unrounded_with_all_that_is_known(tmp_path: Path) -> None:
    rows = [
        each | {"ci_low": 1 / 7, "ci_high": 2 / 3} for each in report_study.agreement()
    ]
    for row in rows:
        if row["value"] is not None:
            row |= {
                "value": 1 / 3,
                "n_missing": 4,
                "n_tied": 2,
                "method": "by hand",
                "note": "odd",
            }
    fields = {"tables": {"agreement": rows}}
    name, result = saved_table(tmp_path, "The news, all targets pooled", **fields)
    assert name.startswith("tiny-the-news-all-targets-pooled-") and name.endswith(
        ".csv"
    )
    assert len(result) == 16  # eight judges, two aspects
    alpha, control = result[0], result[7]
    numbers = [float(alpha[f"Pearson r{kind}"]) for kind in ("", " (low)", " (high)")]
    assert numbers == [1 / 3, 1 / 7, 2 / 3]
    assert [
        alpha[f"Pearson r ({kind})"] for kind in ("n", "missing", "tied", "note")
    ] == [*("120", "4", "2", "by hand; odd")]
    assert (alpha["Linear κ"], alpha["Linear κ (note)"]) == ("", "continuous")
    head = "Aspect and judge"
    assert [
        alpha[f"{head}{kind}"] for kind in ("", " (kind)", " (about)", " (group)")
    ] == [*("alpha", "", "lexical, rouge1, against the references", "Fluency")]
    assert (control[f"{head} (kind)"], control[f"{head} (group)"]) == (
        "control",
        "Fluency",
    )


def test_no_text_of_a_saved_table_is_a_formula(tmp_path: Path) -> None:
    keys = {"aspects": {"fluency": EVIL}, "judges": {"gamma": {"engine": "=1+1"}}}
    name, result = saved_table(tmp_path, "The news, all targets pooled", **keys)
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    head = "Aspect and judge"
    assert {each[f"{head} (group)"] for each in result} == {f"'{EVIL}", "Coherence"}
    assert any(each[f"{head} (about)"].startswith("'=1+1") for each in result)
    fields = [
        value for each in result for value in each.values() if value[:1] in set("=+-@")
    ]
    assert fields and all(float(field) < 0 for field in fields)


@pytest.mark.slow
def test_the_first_page_of_the_demo_has_no_more_than_six_screens(
    window: Browser, demo: Path
) -> None:
    window.show(1400)
    window.open(demo / "results" / "demo" / "report" / "index.html")
    assert window.value("document.documentElement.scrollHeight") <= 6 * 900


# --- paper ----------------------------------------------------------------------------


def test_on_paper_a_page_is_light_and_no_table_is_cut(
    window: Browser, page: Path
) -> None:
    with pages.paper(window):
        window.open(page)
        window.value(
            "for (const one of document.querySelectorAll('details')) one.open = true"
        )
        pages.fits(window)
        shown = window.value("getComputedStyle(document.documentElement).colorScheme")
        ink = window.value("getComputedStyle(document.body).color")
        assert "light" in shown and max(map(int, re.findall(r"\d+", ink)[:3])) < 64


def test_paper_says_what_is_folded_and_has_no_buttons(
    window: Browser, tmp_path: Path
) -> None:
    with pages.paper(window):
        window.open(limits(tmp_path / "own"))
        after = (
            "getComputedStyle(document.querySelector('main summary'), "
            "'::after').content"
        )
        assert "folded" in window.value(after)
        assert (
            window.value("getComputedStyle(document.querySelector('.tools')).display")
            == "none"
        )


# --- answers --------------------------------------------------------------------------


def answered(window: Browser) -> dict[str, str]:
    """Answer every question of the open page by keyboard, save, and return what was
    chosen.
    """
    names = window.value(
        "[...new Set([...document.querySelectorAll('input')].map((i) => i.name))]"
    )
    reached: set[str] = set()
    while len(reached) < len(names):
        window.press("Tab")
        at = window.value("document.activeElement.name ?? ''")
        if at in names and at not in reached:
            window.press(*(("Space", "ArrowDown") if len(reached) % 2 else ("Space",)))
            reached.add(at)
    script = "Object.fromEntries(new FormData(document.querySelector('form')))"
    chosen: dict[str, str] = window.value(script)
    while window.value("document.activeElement.type") != "submit":
        window.press("Tab")
    window.press("Enter")
    return chosen


def test_a_survey_is_filled_in_by_keyboard_and_read_back(tmp_path: Path) -> None:
    plan = plan_of()
    page = tmp_path / "pages" / weights.make(plan, tmp_path / "pages").pages[1].file
    with browser(tmp_path / "browser") as window:
        window.open(page)
        chosen = answered(window)
        [file] = window.saved()
        assert window.complaints() == []
        status = window.value("document.querySelector('[role=status]').textContent")
        assert status == f"Saved as {file.name}. Please send this file."
    assert len(set(chosen.values())) > 1
    card, lines = weights.read(plan, file.parent, "ours")
    assert card.voters == {"story": 1} and any(
        line.startswith("story: 1 voter,") for line in lines
    )
    assert card.tasks["story"] == {
        perturbation: {aspect: 1.0} for perturbation, aspect in chosen.items()
    }


def test_votes_are_given_by_keyboard_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = VotesStudy(tmp_path)
    plan = study.plan()
    [page] = study.pages(plan)
    with browser(tmp_path / "browser") as window:
        window.open(tmp_path / "pages" / page.file)
        chosen = answered(window)
        [file] = window.saved()
        assert window.complaints() == []
    assert (
        set(chosen) == {item.id for item in page.items}
        and len(set(chosen.values())) > 1
    )
    assert json.loads(file.read_text(encoding="utf-8"))["answers"] == chosen
    observed = read_votes(plan, study.out, file.parent)
    votes = ["original_better", "perturbed_better", "no_difference", "cannot_decide"]
    result = rows_of(observed, "effects.csv")
    assert sum(row[vote] for row in result for vote in votes) == len(chosen)
