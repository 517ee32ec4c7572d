"""Answers about judges' errors: verdicts, agreement, faults of files, commands."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.extensions.people.answers import FormResults
from judgescope.extensions.people.errors import COUNTS, ShownError, read
from judgescope.extensions.people.form import page_id
from judgescope.plan.study import Plan
from people_studies import AnnotationsStudy, content, repeat
from people_tables import rows_of
from running import run


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AnnotationsStudy:
    monkeypatch.chdir(tmp_path)
    return AnnotationsStudy(tmp_path)


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


def numbers(results: FormResults) -> dict[tuple[str, str, str, str], Mapping[str, Any]]:
    """Return (judge, aspect, question, statistic) -> its row, where the dataset is
    named or all.
    """
    return {
        (row["judge"], row["aspect"], row["question"], row["statistic"]): row
        for row in rows_of(results, "annotations.csv")
    }


@pytest.mark.heavy
def test_every_verdict_counts_where_it_belongs(study: AnnotationsStudy) -> None:
    plan = study.plan()
    for page in study.ask(plan, number=99)[0]:
        study.judge(page, honest)
    result = answers(study, plan)
    counts = {
        (row["judge"], row["aspect"], row["explanation"]): row
        for row in rows_of(result, "counts.csv")
    }
    assert counts["careful", "fluency", "correct"]["error"] == 24
    assert counts["careful", "adequacy", "incorrect"]["not_an_error"] == 24
    # of 12 texts 4 have a passage, 4 words that are not there, 4 no passage: that is
    # not asked
    text = counts["hasty", "fluency", "not_an_error"]
    assert (text["hallucination"], text["no_span"], text["error"]) == (8, 8, 0)
    total = counts["hasty", "fluency", "total"]
    assert [total[name] for name in COUNTS[4:]] == [8, 8, 0, 8, 24]
    outcome = numbers(result)
    for location, value in (
        (("careful", "fluency", "span", "span_ok"), 1),
        (("careful", "", "span", "span_ok"), 1 / 2),
        (("hasty", "fluency", "span", "span_ok"), 1 / 3),
        (("hasty", "fluency", "why", "explanation_ok"), 1 / 3),
        (("hasty", "fluency", "why", "explanation_ok_at_error"), 1),
        (("hasty", "", "why", "explanation_ok"), 1 / 6),
    ):
        assert outcome[location]["value"] == pytest.approx(value), location
    row = outcome["hasty", "", "span", "span_ok"]
    assert (row["n"], row["n_missing"]) == (48, 0)
    assert (
        row["ci_low"] < row["value"] < row["ci_high"] and "12 sources" in row["method"]
    )
    assert outcome["", "", "span", "alpha_nominal"]["value"] == 1
    assert outcome["", "", "span", "alpha_nominal"]["n"] == 24 + 16
    assert outcome["", "", "why", "alpha_nominal"]["n"] == 48


@pytest.mark.heavy
def test_a_verdict_counts_for_all_judges_of_which_it_was_asked(
    study: AnnotationsStudy,
) -> None:
    """Of 24 errors each, the judges share 8: two voters are asked about these once."""
    study.edit("hasty", repeat)
    plan = study.plan()
    for page in study.ask(plan, number=99)[0]:
        study.judge(page, honest)
    result = answers(study, plan)
    assert len(rows_of(result, "verdicts.csv")) == 2 * 48
    outcome = numbers(result)
    for judge in ("careful", "hasty"):
        row = outcome[judge, "", "why", "explanation_ok"]
        assert (row["n"], row["n_missing"]) == (48, 0)
    assert outcome["hasty", "fluency", "span", "span_ok"]["value"] == pytest.approx(
        1 / 3
    )
    # nobody agrees twice about what was asked once
    assert outcome["", "", "why", "alpha_nominal"]["n"] == 40
    assert outcome["hasty", "", "why", "alpha_nominal"]["n"] == 24


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
        second, lambda each: ("error", "vague" if each.aspect == "fluency" else "")
    )
    result = numbers(answers(study, plan))
    row = result["careful", "adequacy", "span", "span_ok"]
    assert (row["value"], row["n"], row["n_missing"]) == (1, 12, 24)
    row = result["careful", "fluency", "why", "explanation_ok"]
    assert (row["value"], row["n"], row["n_missing"]) == (0.5, 24, 12)
    # what one voter alone says agrees with nobody
    row = result["careful", "adequacy", "why", "alpha_nominal"]
    assert (row["value"], row["n_missing"], row["note"]) == (
        None,
        12,
        "no text has 2 ratings",
    )


def test_a_page_is_for_a_single_person(study: AnnotationsStudy) -> None:
    """The same answers from another browser count once; other answers are refused."""
    plan = study.plan()
    page = study.ask(plan, "careful", number=99)[0][0]
    paths = [study.judge(page, honest, voter) for voter in ("one", "two")]
    result = answers(study, plan)
    row = numbers(result)["careful", "", "span", "span_ok"]
    assert (result.responses, row["n"], row["n_missing"]) == (1, 24, 24)
    study.judge(page, lambda _: ("error", "vague"), "two")
    with pytest.raises(UserErrors) as errors:
        answers(study, plan)
    message = str(errors.value)
    assert "conflicting responses to the same page" in message and all(
        str(path.name) in message for path in paths
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
    message = str(errors.value)
    assert "pages for different numbers of voters" in message and "2 and 3" in message
    assert all(str(path.name) in message for path in paths)


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

    def at(error: ShownError, start: int) -> tuple[str, str]:
        return "error" if start <= int(
            error.item[1:]
        ) < start + 6 else "not_an_error", "correct"

    study.judge(first, lambda each: at(each, 0))
    study.judge(second, lambda each: at(each, 3))
    result = numbers(answers(study, plan))
    row = result["careful", "", "span", "alpha_nominal"]
    assert row["value"] == pytest.approx(1 - (1 / 2) / (2 * 12 * 12 / (24 * 23)))
    assert (
        result["careful", "", "why", "alpha_nominal"]["note"] == "all values are equal"
    )


def test_the_tables_hold_every_verdict_and_no_text(study: AnnotationsStudy) -> None:
    plan = study.plan()
    for page in study.ask(plan, number=3)[0]:
        study.judge(page, honest)
    result = answers(study, plan)
    paths = result.write(study.out)
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
        table = [row for row in csv.DictReader(file) if not row["dataset"]]
    assert (
        sum(int(row["total"]) for row in table if row["explanation"] == "total") == 12
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


def test_all_faults_are_reported_at_once_each_with_its_file(
    study: AnnotationsStudy,
) -> None:
    plan = study.plan()
    path = study.judge(study.ask(plan)[0][0], honest)
    good = content(path)
    names = list(good["answers"])
    why = next(name for name in names if name.endswith("-why"))

    def bad(name: str, **parts: object) -> None:
        path.with_name(f"{name}.json").write_text(json.dumps(good | parts), "utf-8")

    bad("less", answers={name: good["answers"][name] for name in names[1:]})
    bad("option", voter="o", answers=good["answers"] | {why: "hallucination"})
    bad("foreign", answers={"e0-why": "vague"})
    bad("part", voter="p", answers=good["answers"] | {f"{why}s": "vague"})
    bad("page", voter="q", survey=good["survey"].replace("1of2", "2of2"))
    bad("many", voter="r", survey=good["survey"].replace("1of2", "1of99999"))
    bad("mind", answers=good["answers"] | {why: "vague"})

    def page(name: str, message: dict[str, str], voter: str = "1of2") -> None:
        bad(name, voter=name, survey=page_id(message, voter), answers=message)

    def both(name: str) -> dict[str, str]:
        return {f"{name}-span": "error", f"{name}-why": "vague"}

    each, two = [name.partition("-")[0] for name in names if name.endswith("-span")][:2]
    page("empty", {})
    page("ninth", both(each), "9of2")
    page("half", {f"{each}-span": "error"})
    page("again", both(each) | both(f"{each}.{each}"))
    page("unlike", both(f"{each}.{two}"))
    path.with_name("torn.json").write_text('{"survey": ', "utf-8")
    with pytest.raises(UserErrors) as errors:
        answers(study, plan)
    by_stem = {
        Path(error.where.partition(",")[0]).stem: error for error in errors.value.errors
    }
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
    assert by_stem.keys() == words.keys()
    assert all(words[name] in error.what for name, error in by_stem.items())
    assert all(error.todo for error in by_stem.values())


@pytest.mark.simulation
@pytest.mark.parametrize("change", ["seed", "text", "definition"])
def test_answers_to_what_the_study_no_longer_asks_are_reported(
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
    each = answers(study, plan)
    path.with_name("copy (1).json").write_bytes(path.read_bytes())
    assert answers(study, plan) == each


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
