"""Demonstrations with analyses: asked for, checked, asked again with the reason,
shown.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import running
from asking import AskedStudy, rate
from judgescope.core.errors import UserError
from judgescope.parsing.judgment import Scale
from judgescope.parsing.written import problem_with_analysis, without_rating
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging, texts
from judgescope.schema.loading import load_yaml
from judgescope.schema.tables import read_table
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Endpoint, Said, prompt_of, reply, serve
from study import Study

FIVE = Scale(1, 5, 1)
WRITING = "Tell what led them to their rating"
GIVEN = re.compile(r"^Their rating: (\d)$", re.M)
ANALYSED: dict[str, Any] = {"n": 3, "analyses": {"model": "loop", "form": "analysis"}}


# --- what is an analysis ---


@pytest.mark.parametrize(
    ("text", "analysis"),
    [
        ("It reads well.\nRating: 4", "It reads well."),
        ("It reads well. **Rating:** 4/5", "It reads well."),
        (
            "Analysis: on a scale from 1 to 5 it is good; it has 2 slips.\n\nRating: "
            "4.",
            None,
        ),
    ],
)
def test_an_analysis_leads_to_its_rating(text: str, analysis: str | None) -> None:
    assert problem_with_analysis(text, 4, FIVE) is None
    assert without_rating(text) == analysis or analysis is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("florble wug", 'line "Rating: 4"'),
        ("Rating: 4\nIt reads well.", 'line "Rating: 4"'),
        ("It reads badly.\nRating: 2", "last line"),
        ("It reads well.\nRating: high", "last line"),
        ("Rating: 4", "before the rating"),
        ("***\nRating: 4", "before the rating"),
        ("Rating: 2 at first sight.\nRating: 4", "another rating than 4"),
        ("I would give it 3/5.\nRating: 4", "another rating than 4"),
    ],
)
def test_what_is_no_analysis_is_reported(text: str, problem: str) -> None:
    assert problem in (problem_with_analysis(text, 4, FIVE) or "")


def test_ratings_between_the_steps_and_in_words() -> None:
    assert (
        problem_with_analysis("It reads well.\nRating: 3.67", 3.67, Scale(1, 5, None))
        is None
    )
    yes = Scale(0, 1, 1, ("no", "yes"))
    analysis = "There is no fault, and yes, it is true.\nRating: 1"
    assert problem_with_analysis(analysis, 1, yes) is None


# --- the plan ---


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ({"shots": {"n": 5}}, "prints analyses"),
        ({"form": "score-shots"}, "form score-shots does not print the analyses"),
        (
            {"shots": {"n": 1, "analyses": {"model": "lexical", "form": "analysis"}}},
            "cannot write",
        ),
        (
            {"shots": {"n": 1, "analyses": {"model": "judge", "form": "none"}}},
            "unknown prompt",
        ),
        (
            {"shots": {"n": 1, "analyses": {"model": "judge", "form": "blind"}}},
            "variable `rating`",
        ),
    ],
)
def test_what_cannot_be_shown_is_reported_before_anything_is_asked(
    judge: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change("judges", "analyze-five-shot", **judge)
    (tmp_path / "config" / "prompts").mkdir()
    (tmp_path / "config" / "prompts" / "blind.jinja").write_text("Explain: {{ text }}")
    monkeypatch.chdir(tmp_path)
    study = {
        "study": "s",
        "datasets": ["demo-dialogue"],
        "judges": ["analyze-five-shot"],
    }
    with pytest.raises(UserError, match=message):
        load_plan(study | {"methods": ["agreement"]}, HOME, source="study.yaml")


@pytest.mark.parametrize("form", ["analyze-shots", "explain-shots"])
def test_the_shipped_cards_and_forms_go_together(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["analyze-one-shot", "analyze-five-shot"]
    for name in names:
        Study(tmp_path).change("judges", name, form=form)
    monkeypatch.chdir(tmp_path)
    study = {"study": "s", "datasets": ["demo-dialogue"], "judges": names}
    plan = load_plan(study | {"methods": ["agreement"]}, HOME, source="study.yaml")
    assert {"analysis.jinja"} <= plan.templates["analysis"].keys()


# --- the run ---


def stubborn(body: Body) -> Said:
    """Explain every rating; that of the worst text rightly only when told what was
    wrong.
    """
    prompt = prompt_of(body)
    if WRITING not in prompt:
        return rate(body)
    given = int(GIVEN.findall(prompt)[0])
    named = 5 if given == 1 and "An earlier attempt" not in prompt else given
    return reply(
        f"The text: because of its wording {body['seed'] % 999}.\n\nRating: {named}"
    )


@pytest.fixture
def study(tmp_path: Path) -> Iterator[AskedStudy]:
    with serve(stubborn) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        study.card("judges", "bare", model="loop", form="score-shots", shots={"n": 3})
        study.card(
            "judges", "terse", model="loop", form="analyze-shots", shots=ANALYSED
        )
        study.write(judges=["terse", "bare"])
        yield study


def asked(endpoint: Endpoint) -> tuple[list[str], list[str]]:
    """Return the prompts of the writer, and those of the judges."""
    writer = [prompt for prompt in endpoint.prompts if WRITING in prompt]
    return writer, [prompt for prompt in endpoint.prompts if WRITING not in prompt]


def check(study: AskedStudy) -> str:
    """Return what a check says; it asks nothing."""
    before = len(study.endpoint.asked)
    done = running.snakemake("check", "--configfile", "study.yaml", cwd=study.folder)
    assert done.returncode == 0 and len(study.endpoint.asked) == before, done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.long(22)
def test_a_study_with_analyses(study: AskedStudy) -> None:
    checked = check(study)
    done = study.run()
    assert done.returncode == 0, done.stdout[-3000:]
    writer, judged = asked(study.endpoint)
    results = study.folder / "results" / "asked"
    analyses = read_table(
        "analyses", results / "construction/demo-dialogue/analyses.loop.parquet"
    ).to_pylist()

    # the wrong one is asked for again with the reason; nothing is asked twice
    again = [prompt for prompt in writer if "An earlier attempt" in prompt]
    assert again and all("does not give the rating 1." in prompt for prompt in again)
    assert len(set(writer)) == len(writer) == len(analyses) + len(again)
    assert len(again) == sum(row["rating"] == 1 for row in analyses)
    worst = f"≤ analyses for terse, demo-dialogue {3 * len(analyses):>9}"
    assert worst.split() == next(
        line.split()[:6] for line in checked.splitlines() if "analyses for" in line
    )

    # every judge is shown the same texts, one of them with the analyses that lead to
    # the ratings
    items = read_table("items", results / "items" / "demo-dialogue.parquet").to_pylist()
    sources = [row["parts"][0]["text"] for row in items]
    by_text = {row["text"]: row["rating"] for row in analyses}
    shown: dict[bool, set[str]] = {True: set(), False: set()}
    for prompt in judged:
        before, after = prompt.split("Now rate another text")
        collected = [source for source in sources if source in after]
        assert collected and not any(source in before for source in collected)
        parts = re.findall(r"Answer:\n(.*)\nRating: (\d)", before)
        assert len(parts) == (3 if "Answer:" in before else 0)
        assert all(by_text[text] == int(rating) for text, rating in parts)
        texts = re.findall(
            r"^(?:Reply|Summary):\n(.*?)\n\n(?:Answer|Rating)", before, re.M | re.S
        )
        assert len(texts) == 3
        shown["Answer:" in before] |= set(texts)
    assert shown[True] == shown[False] and len(judged) == 240

    # what they took is told and never asked again
    rows = [row for row in study.rows("cost") if row["perturbation"] == "analyses.loop"]
    assert {row["statistic"]: row["value"] for row in rows}["replies"] == len(writer)
    page = text_of_pages(results / "report")
    assert "analyses by loop" in page
    assert (
        "analyze-shots, 3 rated texts, temperature 0, 1 draw" in page
    )  # how the form matters
    before_again = len(study.endpoint.asked)
    forced = running.snakemake(
        "--configfile", "study.yaml", "--forceall", cwd=study.folder
    )
    assert forced.returncode == 0 and len(study.endpoint.asked) == before_again
    assert "requests to models: 0," in check(study)
    more = {"n": 4, "analyses": ANALYSED["analyses"]}
    study.card("judges", "terse", model="loop", form="analyze-shots", shots=more)
    partly = check(study)  # some analyses are there, and some are not
    assert (
        "≤ analyses for terse" in partly
        and "≤ terse" in partly
        and "≤ bare" not in partly
    )
    study.card("judges", "terse", model="loop", form="analyze-shots", shots=ANALYSED)
    pruned = running.run(
        "-m", "judgescope", "replies", "prune", "study.yaml", cwd=study.folder
    )
    assert ": 0 lines are not used" in pruned.stdout, pruned.stdout


@pytest.mark.slow
def test_gibberish_stops_the_job_before_the_judge_is_asked(study: AskedStudy) -> None:
    study.endpoint.script = lambda body: reply(
        f"florble wug {len(study.endpoint.asked)}"
    )
    done = study.run()
    assert done.returncode != 0
    text = " ".join(done.stdout.split())
    assert "after 3 attempts" in text
    assert 'line "Rating: ' in text and "florble wug" in text
    assert "judges/terse.yaml, key shots.analyses: loop on terse naturalness" in text
    writer, judged = asked(study.endpoint)
    assert judged == []
    assert study.run().returncode != 0
    assert len(study.endpoint.prompts) == len(writer)  # the same come again, unasked


@pytest.mark.slow
def test_an_export_for_a_batch_waits_for_analyses(study: AskedStudy) -> None:
    finished = running.run(
        "-m", "judgescope", "batch", "export", "study.yaml", "b", cwd=study.folder
    )
    assert finished.returncode == 0, finished.stdout
    assert (
        "not included: 1 cells of demo-dialogue about analyses.loop" in finished.stdout
    )
    assert "loop: 120 requests" in finished.stdout and study.endpoint.asked == []


@pytest.mark.slow
def test_judges_share_analyses_and_every_wording_has_its_own(study: AskedStudy) -> None:
    shots = {"n": 1, "analyses": ANALYSED["analyses"]}
    study.card("judges", "other", model="loop", form="explain-shots", shots=ANALYSED)
    study.card(
        "judges", "single", model="loop", form="analyze-shots", shots=shots, share=0.2
    )
    study.write(
        judges=["terse", "other", "single"], criteria=["term-only", "description-only"]
    )
    assert study.ask().returncode == 0
    writer, _ = asked(study.endpoint)
    assert len(set(writer)) == len(writer)
    table = (
        study.folder / "results/asked/construction/demo-dialogue/analyses.loop.parquet"
    )
    rows = read_table("analyses", table).to_pylist()
    by = {(row["judge"], row["criterion"], row["target"]): row["text"] for row in rows}
    assert {criterion for _, criterion, _ in by} == {"term-only", "description-only"}
    assert all(
        text == by["other", *question]
        for (judge, *question), text in by.items()
        if judge == "terse"
    )
    few = {target for judge, _, target in by if judge == "single"}
    assert 1 <= len(few) <= 2


@pytest.mark.heavy
def test_the_plan_reads_its_cards(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spec of a judge's job has nothing of how analyses are made: their file tells
    it.
    """
    monkeypatch.chdir(study.folder)
    asked, analyses = [], []
    for attempts in (2, 4):
        shots = {"n": 3, "analyses": {**ANALYSED["analyses"], "attempts": attempts}}
        study.card("judges", "terse", model="loop", form="analyze-shots", shots=shots)
        plan = load_plan(
            load_yaml(study.folder / "study.yaml")[0], HOME, source="study.yaml"
        )
        asked.append(judging.ask(plan, "demo-dialogue", "loop"))
        analyses.append(texts.analyse(plan, "demo-dialogue", "loop"))
    assert asked[0] == asked[1] and asked[0].analysts == {"terse": "loop"}
    assert analyses[0] != analyses[1]
