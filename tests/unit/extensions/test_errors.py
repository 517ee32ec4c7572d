"""Pages on which people judge errors: what they show and hide, and that they work."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, browser, needs_browser
from harmless_pages import check_harmless
from judgescope.core.errors import UserError
from judgescope.extensions.people.errors import OPTIONS, SPAN, WHY, read
from judgescope.extensions.people.form import Page
from judgescope.statistics.spans import EXPLANATIONS, SPANS
from people_studies import HOSTILE, JUDGES, WORDS, AnnotationsStudy, content, repeat
from people_tables import rows_of
from report_setup import Page as Parsed


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AnnotationsStudy:
    monkeypatch.chdir(tmp_path)
    return AnnotationsStudy(tmp_path)


def test_a_page_asks_two_questions_on_every_error(study: AnnotationsStudy) -> None:
    [page], _ = study.ask(study.plan(), voters=1)
    parsed = Parsed(study.html(page))
    asked: dict[str, list[str]] = {}
    for radio in parsed.named("input"):
        asked.setdefault(str(radio["name"]), []).append(str(radio["value"]))
    errors = {
        item.questions[-1].id: error
        for item, error in zip(page.items, study.errors_on(page), strict=True)
    }
    assert len(errors) == 12 and errors.keys() <= asked.keys()
    for name, error in errors.items():
        assert asked[name] == list(dict(OPTIONS[WHY])) == list(EXPLANATIONS)
        span = asked.get(name.replace("-why", "-span"))
        assert span == (list(dict(OPTIONS[SPAN])) if error.location else None)
    assert list(dict(OPTIONS[SPAN])) == list(SPANS)
    # nothing is preset, and nothing need be answered
    assert not any(
        {"checked", "required"} & set(radio) for radio in parsed.named("input")
    )


def test_a_page_shows_the_passage_and_what_is_stated_of_it(
    study: AnnotationsStudy,
) -> None:
    [page], _ = study.ask(study.plan(), number=99, voters=1)
    html = study.html(page)
    counts = Counter(error.match for error in study.errors_on(page))
    assert counts == {"exact": 24 + 8, "not_found": 16}
    assert html.count("The cat sat on <mark>the the</mark> mat, ") == 32
    assert html.count("“the the”") == 32 and html.count("“a horse”") == 8
    assert html.count("these words were not found in the text") == 8
    assert html.count("No passage is given.") == 8 and html.count("Major, 4 of 5") == 48
    assert (
        html.count("<strong>Fluency</strong>: How well each sentence is written") == 24
    )
    # the source is there where raters see it
    assert html.count('class="source"') == 24
    assert all(
        (item.sources == ()) == (error.aspect == "fluency")
        for item, error in zip(page.items, study.errors_on(page), strict=True)
    )


def test_a_page_does_not_tell_whose_error_it_is(study: AnnotationsStudy) -> None:
    [page], _ = study.ask(study.plan(), number=99, voters=1)
    html = study.html(page).lower()
    for judge in (*JUDGES, "critique", "n01", "t01", "tiny", "news"):
        assert judge not in html, judge
    order = [each.judge for each in study.errors_on(page)]
    assert order != sorted(order)


def categorise(row: dict[str, Any], every: int = 1) -> None:
    """Name the kind of error in a judgment of every so many texts."""
    for span in row["spans"] if int(row["target"][1:]) % every == 0 else ():
        span["category"] = "doubled"


@pytest.mark.heavy
def test_the_kind_of_an_error_is_shown_if_all_have_one(study: AnnotationsStudy) -> None:
    def shown(*judges: str) -> int:
        [page], _ = study.ask(study.plan(), *judges, number=99, voters=1)
        return study.html(page).count("doubled</dd>")

    study.edit("careful", categorise)
    assert (shown(), shown("careful")) == (0, 24)
    # a judge that names some kinds could be told from one that names all
    study.edit("hasty", lambda row: categorise(row, every=2))
    assert (shown(), shown("hasty")) == (0, 0)
    study.edit("hasty", categorise)
    assert shown() == 48


@pytest.mark.heavy
def test_errors_that_look_the_same_are_asked_about_once(
    study: AnnotationsStudy,
) -> None:
    study.edit("hasty", repeat)
    [page], draws = study.ask(study.plan(), number=99, voters=1)
    assert [len(errors) for errors in draws.values()] == [24, 24]
    assert len(page.items) == 24 + 16 == study.html(page).count("<legend>How good is")
    assert len({each.shown for each in study.errors_on(page)}) == 40
    # where the kind is shown, errors of different kinds look different
    study.edit("careful", categorise)
    study.edit("hasty", lambda row: row["spans"][0].update(category="repeated"))
    assert len(study.ask(study.plan(), number=99, voters=1)[0][0].items) == 48
    # where it is not, they do not
    study.edit("hasty", lambda row: row["spans"][0].update(category=None))
    assert len(study.ask(study.plan(), number=99, voters=1)[0][0].items) == 40


def test_replies_that_were_not_read_completely_list_no_errors(
    study: AnnotationsStudy,
) -> None:
    study.edit(
        "careful", lambda row: row["target"] < "t04" and row.update(status="truncated")
    )
    [page], _ = study.ask(study.plan(), "careful", number=99, voters=1)
    assert study.lines[1:] == ["careful: 16 of 16 errors"] and len(page.items) == 16
    assert min(text.target for text in study.errors_on(page)) == "t04"


def test_each_voter_has_a_separate_order(study: AnnotationsStudy) -> None:
    pages, _ = study.ask(study.plan(), voters=3)
    assert [page.file for page in pages] == [
        f"summarization-voter{n}.html" for n in (1, 2, 3)
    ]
    assert len({page.id for page in pages}) == 3
    names = [[item.id.partition("-")[0] for item in page.items] for page in pages]
    assert names[0] != names[1] and sorted(names[0]) == sorted(names[1]) == sorted(
        names[2]
    )


@pytest.mark.heavy
def test_judges_aspects_and_items_are_balanced(study: AnnotationsStudy) -> None:
    _, draws = study.ask(study.plan(), number=6)
    assert study.lines[1:] == ["careful: 6 of 24 errors", "hasty: 6 of 24 errors"]
    assert [len(errors) for errors in draws.values()] == [6, 6]
    for errors in draws.values():
        assert Counter(error.aspect for error in errors) == {
            "fluency": 3,
            "adequacy": 3,
        }
        assert len({error.item for error in errors}) == 6
    _, more = study.ask(study.plan(), number=8)
    assert more["careful"][:6] == draws["careful"]
    _, only = study.ask(study.plan(), "hasty", number=99)
    assert {judge: len(errors) for judge, errors in only.items()} == {"hasty": 24}


@pytest.mark.simulation
def test_the_same_study_makes_the_same_pages(study: AnnotationsStudy) -> None:
    def made(**keys: Any) -> dict[str, str]:
        pages, _ = study.ask(study.plan(**keys))
        return {page.file: study.html(page) for page in pages}

    first = made()
    assert made() == first and made(seed=8) != first


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_can_do_harm(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = AnnotationsStudy(tmp_path, HOSTILE[kind], items=3)
    [page], _ = study.ask(study.plan(), number=99, voters=1)
    html = study.html(page)
    check_harmless(html)
    assert not re.search(r"https?://|url\(", html.replace("http-equiv", ""))


@pytest.mark.heavy
def test_what_cannot_be_asked_is_reported(study: AnnotationsStudy) -> None:
    with pytest.raises(UserError, match="must be 1 or greater") as error:
        study.ask(study.plan(), number=0)
    assert "--errors" in str(error.value)
    with pytest.raises(UserError, match="too many voters") as error:
        study.ask(study.plan(), voters=10_000)
    assert "1 to 9999" in str(error.value)
    with pytest.raises(UserError, match="no judge annotates") as error:
        study.ask(study.plan(judges=["length"]))
    assert "parser: annotation" in str(error.value)
    with pytest.raises(UserError, match="no such judge that annotates errors") as error:
        study.ask(study.plan(), "hastily")
    assert "nearest: hasty" in str(error.value)
    fields = {"perturbations": ["random-typos"], "methods": ["discernment"]}
    with pytest.raises(UserError, match="no texts by systems"):
        study.ask(study.plan(**fields))
    study.judgments("hasty").unlink()
    with pytest.raises(UserError, match="1 of 2 files with judgments") as error:
        study.ask(study.plan())
    assert "judgescope run" in str(error.value)
    assert len(study.ask(study.plan(), "careful")[0]) == 2
    (study.out / "targets" / "news" / "systems.parquet").unlink()
    with pytest.raises(
        UserError, match="1 of 2 files with texts of the study are missing"
    ):
        study.ask(study.plan(), "careful")


# --- in a browser ---------------------------------------------------------------------


def chosen(page: Page) -> dict[str, str]:
    """Return the first answer to two questions of a page, the second to the third."""
    names = [question.id for item in page.items for question in item.questions]
    return dict(zip(names, ("error", "correct", "no_span"), strict=False))


def opened(window: Browser, file: Path) -> Any:
    """Open a page anew and return how many answers are chosen.

    What a page has just stored may reach a page opened at once in another process a
    moment later.
    """
    window.open(file)
    return window.value("document.querySelectorAll('input:checked').length")


@pytest.mark.heavy
@needs_browser
def test_answers_are_chosen_by_keys_kept_and_saved(study: AnnotationsStudy) -> None:
    plan = study.plan()
    [page, another], _ = study.ask(plan, "careful", number=2, voters=2)
    file = study.folder / "pages" / page.file
    with browser(study.folder / "browser") as window:
        window.open(file)
        assert window.value("document.querySelector('mark').textContent") == "the the"
        window.value("document.querySelector('input').focus()")
        window.press("Space", "Tab", "Space", "Tab", "ArrowRight")
        window.open(file.with_name(another.file))
        assert window.value("document.querySelectorAll('input:checked').length") == 0
        window.until(lambda: opened(window, file) == 3)
        window.value("document.querySelector('[type=submit]').click()")
        window.until(
            lambda: any((study.folder / "browser" / "downloads").glob("*.json"))
        )
        assert "1 of 4 questions have no answer" in window.value(
            "document.querySelector('[role=status]').textContent"
        )
        window.value(
            "confirm = () => true; document.querySelector('[type=reset]').click()"
        )
        window.until(
            lambda: window.value("document.querySelector('input:checked')") is None
        )
        window.until(
            lambda: "error" not in window.value("Object.values(localStorage).join()")
        )
    [saved] = (study.folder / "browser" / "downloads").glob("*.json")
    result = content(saved)
    assert {
        name: answer for name, answer in result["answers"].items() if answer
    } == chosen(page)
    assert len(result["answers"]) == 4 and result["survey"] == page.id
    outcome = read(plan, study.out, saved.parent)
    row = next(
        row
        for row in rows_of(outcome, "annotations.csv")
        if row["statistic"] == "span_ok"
    )
    assert (row["value"], row["n"], row["n_missing"]) == (1, 1, 3)


@pytest.mark.heavy
@needs_browser
def test_hostile_texts_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = AnnotationsStudy(
        tmp_path, HOSTILE["script"].replace("alert(", "document.title=("), 3
    )
    [page], _ = study.ask(study.plan(), number=99, voters=1)
    with browser(tmp_path / "browser") as window:
        window.open(tmp_path / "pages" / page.file)
        assert window.value("document.title").startswith("Are these errors")
        assert window.value("document.images.length") == 0
        shown = window.value("document.querySelector('mark').parentNode.textContent")
    assert shown.startswith(WORDS) and "<script>" in shown
