"""Pages on which people judge errors: what they show and hide, and that they work."""

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, browser, needs_browser
from judgescope.core.errors import UserError, UserErrors
from judgescope.people.answers import FormResults
from judgescope.people.errors import COUNTS, OPTIONS, SPAN, WHY, ShownError, read
from judgescope.people.form import Page, page_id
from judgescope.plan.study import Plan
from judgescope.report.html import script_hash
from judgescope.statistics.spans import EXPLANATIONS, SPANS
from people_studies import HOSTILE, JUDGES, WORDS, AnnotationsStudy, content, repeat
from people_tables import rows_of
from report_setup import Page as Parsed
from running import HOME, run


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


def test_a_page_shows_the_passage_and_what_is_said_of_it(
    study: AnnotationsStudy,
) -> None:
    [page], _ = study.ask(study.plan(), number=99, voters=1)
    html = study.html(page)
    found = Counter(one.match for one in study.errors_on(page))
    assert found == {"exact": 24 + 8, "not_found": 16}
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
    for told in (*JUDGES, "critique", "n01", "t01", "tiny", "news"):
        assert told not in html, told
    order = [one.judge for one in study.errors_on(page)]
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
    assert len({one.shown for one in study.errors_on(page)}) == 40
    # where the kind is shown, errors of different kinds look different
    study.edit("careful", categorise)
    study.edit("hasty", lambda row: row["spans"][0].update(category="repeated"))
    assert len(study.ask(study.plan(), number=99, voters=1)[0][0].items) == 48
    # where it is not, they do not
    study.edit("hasty", lambda row: row["spans"][0].update(category=None))
    assert len(study.ask(study.plan(), number=99, voters=1)[0][0].items) == 40


def test_replies_that_were_not_read_whole_list_no_errors(
    study: AnnotationsStudy,
) -> None:
    study.edit(
        "careful", lambda row: row["target"] < "t04" and row.update(status="truncated")
    )
    [page], _ = study.ask(study.plan(), "careful", number=99, voters=1)
    assert study.lines[1:] == ["careful: 16 of 16 errors"] and len(page.items) == 16
    assert min(one.target for one in study.errors_on(page)) == "t04"


def test_each_voter_has_an_order_of_their_own(study: AnnotationsStudy) -> None:
    pages, _ = study.ask(study.plan(), voters=3)
    assert [page.file for page in pages] == [
        f"summarization-voter{n}.html" for n in (1, 2, 3)
    ]
    assert len({page.id for page in pages}) == 3
    names = [[one.id.partition("-")[0] for one in page.items] for page in pages]
    assert names[0] != names[1] and sorted(names[0]) == sorted(names[1]) == sorted(
        names[2]
    )


@pytest.mark.heavy
def test_judges_aspects_and_items_are_balanced(study: AnnotationsStudy) -> None:
    _, draws = study.ask(study.plan(), number=6)
    assert study.lines[1:] == ["careful: 6 of 24 errors", "hasty: 6 of 24 errors"]
    assert [len(errors) for errors in draws.values()] == [6, 6]
    for errors in draws.values():
        assert Counter(one.aspect for one in errors) == {"fluency": 3, "adequacy": 3}
        assert len({one.item for one in errors}) == 6
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
    parsed = Parsed(html)
    assert (parsed.wrong, parsed.open) == ([], [])
    script = (HOME / "workflow" / "people" / "save.js").read_text(encoding="utf-8")
    assert [tag for tag, _ in parsed.elements if tag in {"script", "img"}] == ["script"]
    [policy] = [one["content"] for one in parsed.named("meta") if "http-equiv" in one]
    assert policy and policy.endswith(f"script-src 'sha256-{script_hash(script)}'")
    assert not any(
        name.startswith("on") for _, told in parsed.elements for name in told
    )
    assert not set("\x00\x1b\x85\ufffe\u202e\u2066") & set(html)
    assert not re.search(r"https?://|url\(", html.replace("http-equiv", ""))


@pytest.mark.heavy
def test_what_cannot_be_asked_is_told(study: AnnotationsStudy) -> None:
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
    told = {"perturbations": ["random-typos"], "methods": ["discernment"]}
    with pytest.raises(UserError, match="no texts by systems"):
        study.ask(study.plan(**told))
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
    names = [one.id for item in page.items for one in item.questions]
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
    told = content(saved)
    assert {name: said for name, said in told["answers"].items() if said} == chosen(
        page
    )
    assert len(told["answers"]) == 4 and told["survey"] == page.id
    found = read(plan, study.out, saved.parent)
    row = next(
        one
        for one in rows_of(found, "annotations.csv")
        if one["statistic"] == "span_ok"
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


def answers(study: AnnotationsStudy, plan: Plan) -> FormResults:
    return read(plan, study.out, study.folder / "answers")


def honest(error: ShownError) -> tuple[str, str]:
    """Return that doubled words are errors of fluency alone, and what is said of all is
    vague.
    """
    if error.match == "not_found":
        return "hallucination", "not_an_error"
    fluency = error.aspect == "fluency"
    return ("error", "correct") if fluency else ("not_an_error", "incorrect")


def numbers(found: FormResults) -> dict[tuple[str, str, str, str], Mapping[str, Any]]:
    """Return (judge, aspect, question, statistic) -> its row, where the dataset is
    named or all.
    """
    return {
        (row["judge"], row["aspect"], row["question"], row["statistic"]): row
        for row in rows_of(found, "annotations.csv")
    }


@pytest.mark.heavy
def test_every_verdict_counts_where_it_belongs(study: AnnotationsStudy) -> None:
    plan = study.plan()
    for page in study.ask(plan, number=99)[0]:
        study.judge(page, honest)
    found = answers(study, plan)
    counts = {
        (row["judge"], row["aspect"], row["explanation"]): row
        for row in rows_of(found, "counts.csv")
    }
    assert counts["careful", "fluency", "correct"]["error"] == 24
    assert counts["careful", "adequacy", "incorrect"]["not_an_error"] == 24
    # of 12 texts 4 have a passage, 4 words that are not there, 4 no passage: that is
    # not asked
    said = counts["hasty", "fluency", "not_an_error"]
    assert (said["hallucination"], said["no_span"], said["error"]) == (8, 8, 0)
    total = counts["hasty", "fluency", "total"]
    assert [total[name] for name in COUNTS[4:]] == [8, 8, 0, 8, 24]
    told = numbers(found)
    for place, value in (
        (("careful", "fluency", "span", "span_ok"), 1),
        (("careful", "", "span", "span_ok"), 1 / 2),
        (("hasty", "fluency", "span", "span_ok"), 1 / 3),
        (("hasty", "fluency", "why", "explanation_ok"), 1 / 3),
        (("hasty", "fluency", "why", "explanation_ok_at_error"), 1),
        (("hasty", "", "why", "explanation_ok"), 1 / 6),
    ):
        assert told[place]["value"] == pytest.approx(value), place
    row = told["hasty", "", "span", "span_ok"]
    assert (row["n"], row["n_missing"]) == (48, 0)
    assert (
        row["ci_low"] < row["value"] < row["ci_high"] and "12 sources" in row["method"]
    )
    assert told["", "", "span", "alpha_nominal"]["value"] == 1
    assert told["", "", "span", "alpha_nominal"]["n"] == 24 + 16
    assert told["", "", "why", "alpha_nominal"]["n"] == 48


@pytest.mark.heavy
def test_a_verdict_counts_for_all_judges_of_which_it_was_asked(
    study: AnnotationsStudy,
) -> None:
    """Of 24 errors each, the judges share 8: two voters are asked about these once."""
    study.edit("hasty", repeat)
    plan = study.plan()
    for page in study.ask(plan, number=99)[0]:
        study.judge(page, honest)
    found = answers(study, plan)
    assert len(rows_of(found, "verdicts.csv")) == 2 * 48
    told = numbers(found)
    for judge in ("careful", "hasty"):
        row = told[judge, "", "why", "explanation_ok"]
        assert (row["n"], row["n_missing"]) == (48, 0)
    assert told["hasty", "fluency", "span", "span_ok"]["value"] == pytest.approx(1 / 3)
    # nobody agrees twice about what was asked once
    assert told["", "", "why", "alpha_nominal"]["n"] == 40
    assert told["hasty", "", "why", "alpha_nominal"]["n"] == 24


def test_a_verdict_does_not_count_for_judges_that_were_not_drawn(
    study: AnnotationsStudy,
) -> None:
    """What `hasty` shares with `careful` is no sample of what it finds."""
    study.edit("hasty", repeat)
    plan = study.plan()
    for page in study.ask(plan, "careful", number=99)[0]:
        study.judge(page, honest)
    assert {row["judge"] for row in rows_of(answers(study, plan), "verdicts.csv")} == {
        "careful"
    }


def test_what_nobody_answered_is_missing_and_no_verdict(
    study: AnnotationsStudy,
) -> None:
    """Of three voters one sent nothing, and one left explanations of adequacy open."""
    plan = study.plan()
    first, second, _ = study.ask(plan, "careful", number=99, voters=3)[0]
    study.judge(first, lambda _: ("error", "correct"))
    study.judge(
        second, lambda one: ("error", "vague" if one.aspect == "fluency" else "")
    )
    told = numbers(answers(study, plan))
    row = told["careful", "adequacy", "span", "span_ok"]
    assert (row["value"], row["n"], row["n_missing"]) == (1, 12, 24)
    row = told["careful", "fluency", "why", "explanation_ok"]
    assert (row["value"], row["n"], row["n_missing"]) == (0.5, 24, 12)
    # what one voter alone says agrees with nobody
    row = told["careful", "adequacy", "why", "alpha_nominal"]
    assert (row["value"], row["n_missing"], row["note"]) == (
        None,
        12,
        "no text has 2 ratings",
    )


def test_a_page_is_for_one_person(study: AnnotationsStudy) -> None:
    """The same answers from another browser count once; other answers are refused."""
    plan = study.plan()
    page = study.ask(plan, "careful", number=99)[0][0]
    paths = [study.judge(page, honest, voter) for voter in ("one", "two")]
    found = answers(study, plan)
    row = numbers(found)["careful", "", "span", "span_ok"]
    assert (found.responses, row["n"], row["n_missing"]) == (1, 24, 24)
    study.judge(page, lambda _: ("error", "vague"), "two")
    with pytest.raises(UserErrors) as errors:
        answers(study, plan)
    told = str(errors.value)
    assert "conflicting responses to the same page" in told and all(
        str(path.name) in told for path in paths
    )


@pytest.mark.heavy
def test_pages_for_two_voters_and_for_three_do_not_mix(study: AnnotationsStudy) -> None:
    plan = study.plan()
    paths = [
        study.judge(study.ask(plan, voters=number)[0][-1], honest, f"of{number}")
        for number in (2, 3)
    ]
    with pytest.raises(UserErrors) as errors:
        answers(study, plan)
    told = str(errors.value)
    assert "pages for different numbers of voters" in told and "2 and 3" in told
    assert all(str(path.name) in told for path in paths)


def test_more_errors_may_be_asked_about_later(study: AnnotationsStudy) -> None:
    """Of 4 errors that are on all pages, both voters of the second round owe verdicts
    but one.
    """
    plan = study.plan()
    few, more = (study.ask(plan, "careful", number=number)[0] for number in (4, 6))
    for page in (*few, more[0]):
        study.judge(page, honest, f"{page.file}{len(page.items)}")
    row = numbers(answers(study, plan))["careful", "", "span", "span_ok"]
    assert (row["n"], row["n_missing"]) == (2 * 4 + 6, 6)


def test_agreement_is_that_of_two_voters(study: AnnotationsStudy) -> None:
    """Both find an error in half of the passages; in half of these the same: by hand α
    < 0.

    Of 12 fluency passages one voter names 0 to 5, the other 3 to 8: 6 of 12 agree, D_o
    = 1 / 2, and 12 of 24 verdicts are `error`: D_e = 2 · 12 · 12 / (24 · 23).
    """
    plan = study.plan(aspects=["fluency"])
    first, second = study.ask(plan, "careful", number=99)[0]

    def at(one: ShownError, start: int) -> tuple[str, str]:
        return "error" if start <= int(
            one.item[1:]
        ) < start + 6 else "not_an_error", "correct"

    study.judge(first, lambda one: at(one, 0))
    study.judge(second, lambda one: at(one, 3))
    told = numbers(answers(study, plan))
    row = told["careful", "", "span", "alpha_nominal"]
    assert row["value"] == pytest.approx(1 - (1 / 2) / (2 * 12 * 12 / (24 * 23)))
    assert told["careful", "", "why", "alpha_nominal"]["note"] == "all values are equal"


def test_the_tables_hold_every_verdict_and_no_text(study: AnnotationsStudy) -> None:
    plan = study.plan()
    for page in study.ask(plan, number=3)[0]:
        study.judge(page, honest)
    found = answers(study, plan)
    paths = found.write(study.out)
    assert [path.name for path in paths] == [
        "annotations.csv",
        "counts.csv",
        "verdicts.csv",
    ]
    with paths[2].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 6 and {row["voter"] for row in rows} == {"1", "2"}
    assert not any("horse" in path.read_text("utf-8") for path in paths)
    with paths[1].open(encoding="utf-8", newline="") as file:
        whole = [row for row in csv.DictReader(file) if not row["dataset"]]
    assert (
        sum(int(row["total"]) for row in whole if row["explanation"] == "total") == 12
    )


def test_judges_whose_judgments_are_gone_are_not_needed(
    study: AnnotationsStudy,
) -> None:
    plan = study.plan()
    for page in study.ask(plan, "careful")[0]:
        study.judge(page, honest)
    study.judgments("hasty").unlink()
    assert answers(study, plan).responses == 2
    study.judgments("careful").unlink()
    with pytest.raises(UserError, match="2 of 2 files with judgments"):
        answers(study, plan)


def test_all_faults_are_told_at_once_each_with_its_file(
    study: AnnotationsStudy,
) -> None:
    plan = study.plan()
    path = study.judge(study.ask(plan)[0][0], honest)
    good = content(path)
    names = list(good["answers"])
    why = next(name for name in names if name.endswith("-why"))

    def bad(name: str, **told: object) -> None:
        path.with_name(f"{name}.json").write_text(json.dumps(good | told), "utf-8")

    bad("less", answers={name: good["answers"][name] for name in names[1:]})
    bad("option", voter="o", answers=good["answers"] | {why: "hallucination"})
    bad("foreign", answers={"e0-why": "vague"})
    bad("part", voter="p", answers=good["answers"] | {f"{why}s": "vague"})
    bad("page", voter="q", survey=good["survey"].replace("1of2", "2of2"))
    bad("many", voter="r", survey=good["survey"].replace("1of2", "1of99999"))
    bad("mind", answers=good["answers"] | {why: "vague"})

    def page(name: str, told: dict[str, str], voter: str = "1of2") -> None:
        bad(name, voter=name, survey=page_id(told, voter), answers=told)

    def both(name: str) -> dict[str, str]:
        return {f"{name}-span": "error", f"{name}-why": "vague"}

    one, two = [name.partition("-")[0] for name in names if name.endswith("-span")][:2]
    page("empty", {})
    page("ninth", both(one), "9of2")
    page("half", {f"{one}-span": "error"})
    page("again", both(one) | both(f"{one}.{one}"))
    page("unlike", both(f"{one}.{two}"))
    path.with_name("torn.json").write_text('{"survey": ', "utf-8")
    with pytest.raises(UserErrors) as errors:
        answers(study, plan)
    told = {Path(one.where.partition(",")[0]).stem: one for one in errors.value.errors}
    words = {
        "option": "is not an option",
        **dict.fromkeys(["foreign", "part", "unlike"], "does not ask these questions"),
        **dict.fromkeys(
            ["less", "page", "many", "empty", "ninth", "half", "again"],
            "do not match the questions",
        ),
        "torn": "not a file of answers",
        path.stem: "conflicting responses",
    }
    assert told.keys() == words.keys()
    assert all(words[name] in one.what for name, one in told.items())
    assert all(one.todo for one in told.values())


@pytest.mark.simulation
@pytest.mark.parametrize("change", ["seed", "text", "definition"])
def test_answers_to_what_the_study_no_longer_asks_are_told(
    change: str, study: AnnotationsStudy
) -> None:
    plan = study.plan()
    study.judge(study.ask(plan)[0][0], honest)
    if change == "text":
        study.write_texts(" More.")
    if change == "definition":
        for aspect in ("fluency", "adequacy"):
            study.change("aspects", aspect, definition="Something else.")
    with pytest.raises(UserErrors) as errors:
        answers(study, study.plan(seed=8 if change == "seed" else 7))
    assert "does not ask these questions" in str(errors.value)


def test_a_file_twice_counts_once(study: AnnotationsStudy) -> None:
    plan = study.plan()
    path = study.judge(study.ask(plan)[0][0], honest)
    one = answers(study, plan)
    path.with_name("copy (1).json").write_bytes(path.read_bytes())
    assert answers(study, plan) == one


@pytest.mark.heavy
def test_the_commands(study: AnnotationsStudy) -> None:
    command = ("-m", "judgescope", "people", "errors")
    some = ("--errors", "4", "--voters", "2", "--judges", "careful", "hasty")
    made = run(*command, "make", str(study.write()), "pages", *some, cwd=study.folder)
    assert made.returncode == 0 and "2 pages with 16 errors" in made.stdout, made.stdout
    assert "hasty: 4 of 24 errors" in made.stdout
    (study.folder / "answers").mkdir(exist_ok=True)
    nothing = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert nothing.returncode == 1 and "no answers found" in nothing.stdout
    for page in study.ask(study.plan(), number=4)[0]:
        study.judge(page, honest)
    done = run(*command, "import", str(study.write()), "answers", cwd=study.folder)
    assert done.returncode == 0 and "2 files of answers, 16 answers" in done.stdout, (
        done.stdout
    )
    assert "  span_ok: 0.500, n = 8" in done.stdout
    assert (
        "  correct                4        0             0              0      4"
        in done.stdout
    )
    assert (study.out / "annotations" / "annotations.csv").is_file()
    assert "not part of the study's report" in done.stdout
