"""Judges that are shown a reference and a rubric, and answer with feedback and
[RESULT].
"""

from pathlib import Path

import pytest

from asking import AskedStudy
from judgescope.core.errors import UserError
from judgescope.engines.base import Subject
from judgescope.engines.requests import Reply
from judgescope.parsing.judgment import Scale
from judgescope.plan.applicable import not_applicable
from judgescope.plan.loading import load_plan
from judgescope.prompts import load
from judgescope.replies.judging import Questions, rows
from judgescope.schema.cards import (
    Aspect,
    Judge,
    OpenAIModel,
    PerturbationKind,
    RatedAspect,
)
from judgescope.schema.loading import read_card
from judgescope.schema.tables import read_table
from parsed import parse
from prompts_setup import SUMMARY
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve
from study import Study

FIVE = Scale(1, 5, 1)


@pytest.mark.parametrize(
    ("text", "status", "value", "rationale"),
    [
        (
            "Feedback: 2 of 3 facts are wrong. [RESULT] 4",
            "ok",
            4,
            "Feedback: 2 of 3 facts are wrong.",
        ),
        ("It deserves a score of 2. **[RESULT]** (3)", "ok", 3, None),
        ("[RESULT]: 5/5", "ok", 5, None),
        ("[Result] four", "ok", 4, None),
        ("[RESULT] 1\nOn second thought: [RESULT] 2", "ok", 2, None),
        ("<think>[RESULT] 1</think>Good. [RESULT] 5", "ok", 5, "Good."),
        ("Good. [RESULT] 7", "out_of_range", None, None),
        ("Good. [RESULT]", "unparsed", None, None),
        ("I rate it 4.", "unparsed", None, None),
        ("I'm sorry, I cannot rate this.", "refused", None, None),
        ("<think>[RESULT] 1", "truncated", None, None),
    ],
)
def test_only_what_stands_behind_the_mark_is_the_rating(
    text: str, status: str, value: float | None, rationale: str | None
) -> None:
    judgment = parse(text, scale=FIVE, finish="stop", parser="result")
    assert (judgment.status, judgment.value) == (status, value)
    if rationale is not None:
        assert judgment.rationale == rationale
    if status == "ok":
        assert judgment.rule is not None and judgment.rule.startswith("result.")


def subject(number: int, *references: str) -> Subject:
    return Subject(
        target=f"i{number}:original",
        item=f"i{number}",
        system=None,
        perturbation="original",
        text=f"text {number}",
        source=f"source {number}",
        references=references,
    )


def test_the_reference_is_another_one_and_what_has_none_is_not_asked() -> None:
    judge = Judge(judge="j", model="m", form="rubric", use_reference=True, draws=2)
    model = OpenAIModel.model_validate(
        {"model": "m", "engine": "openai", "base_url": "http://x"}
    )
    aspect = Aspect(aspect="clear", name="Clear", definition="Score 5: clear.")
    scale = RatedAspect(min=1, max=5, step=1)
    asked = Questions(
        model,
        judge,
        aspect,
        scale,
        [(subject(1, "text 1", "the second reference"),)],
        load("rubric", [HOME / "config"], where=""),
        0,
        SUMMARY,
        not_asked=[(subject(2), "only_reference")],
    )
    assert (
        "Reference answer, which deserves 5:\nthe second reference\n" in asked[0].prompt
    )
    assert "source 1" in asked[0].prompt and "Score 5: clear." in asked[0].prompt
    result = rows(
        asked, lambda number, draw: Reply(asked[number].key, draw, "[RESULT] 4")
    )
    assert [
        (row["target"], row["draw"], row["status"], row["text"]) for row in result
    ] == [
        ("i1:original", 0, "ok", "[RESULT] 4"),
        ("i1:original", 1, "ok", "[RESULT] 4"),
        ("i2:original", 0, "not_applicable", "only_reference"),
        ("i2:original", 1, "not_applicable", "only_reference"),
    ]
    assert [row.get("key") for row in result][2:] == [None, None]


def test_two_texts_that_are_compared_have_no_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change("judges", "rubric", form="compare", parser=None)
    monkeypatch.chdir(tmp_path)
    study = {"study": "s", "datasets": ["demo-dialogue"], "judges": ["rubric"]}
    with pytest.raises(UserError, match="not with a reference"):
        load_plan(study | {"methods": ["agreement"]}, HOME, source="study.yaml")


def near(body: Body) -> Said:
    """Rate by the words that response and reference share."""
    prompt = prompt_of(body)
    _, response = prompt.split("Response to assess:\n")
    own_part, reference = response.split("\n\nReference answer, which deserves 5:\n")
    shared = set(own_part.split()) & set(reference.split("\n\nRubric")[0].split())
    return reply(
        f"They share {len(shared)} words. [RESULT] {min(5, 1 + len(shared) // 2)}"
    )


@pytest.mark.long(9)
@pytest.mark.slow
def test_a_study_with_a_rubric(tmp_path: Path) -> None:
    with serve(near) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        fields = {
            "model": "loop",
            "form": "rubric",
            "use_reference": True,
            "parser": "result",
        }
        study.card("judges", "terse", **fields)
        study.write(perturbations=["reordering"], methods=["agreement", "discernment"])
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
    results = tmp_path / "results" / "asked"
    statuses: dict[str, int] = {}
    for path in results.glob("judgments/demo-dialogue/*/*/terse.parquet"):
        for row in read_table("judgments", path).to_pylist():
            statuses[row["status"]] = statuses.get(row["status"], 0) + 1
    assert statuses["ok"] >= len(endpoint.asked) > 0  # equal texts are asked about once
    items = read_table("items", results / "items" / "demo-dialogue.parquet").to_pylist()
    known = {reference for row in items for reference in row["references"]}
    for prompt in endpoint.prompts:
        own_part, reference = prompt.split("Response to assess:\n")[1].split(
            "\n\nReference answer, "
        )
        shown = reference.split(":\n", 1)[1].split("\n\nRubric")[0]
        assert shown in known and shown.split() != own_part.split()
    cost = {
        r["statistic"]: r["value"] for r in study.rows("cost") if r["judge"] == "terse"
    }
    assert cost["replies"] == len(endpoint.asked)


def test_texts_with_no_original_are_not_applicable() -> None:
    judge = Judge(judge="j", model="m", form="rubric", use_reference="original")
    model = OpenAIModel.model_validate(
        {"model": "m", "engine": "openai", "base_url": "http://x"}
    )
    path = HOME / "config" / "datasets" / "demo-news.yaml"
    dataset = read_card("dataset", path)

    def reason(perturbation: str, kind: PerturbationKind | None) -> str | None:
        return not_applicable(judge, model, dataset, perturbation, kind, pairs=False)

    lacking = "not applicable: made from no single original"
    assert reason("systems", None) == reason("errors.all", "graded") == lacking
    assert reason("original", None) is None
    assert reason("typos.minor", "once") is reason("row.all", "chain") is None


def test_a_measure_has_no_original_as_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change("judges", "rouge-1", use_reference="original")
    monkeypatch.chdir(tmp_path)
    study = {"study": "s", "datasets": ["demo-news"], "judges": ["rouge-1"]}
    with pytest.raises(UserError, match="`use_reference: original` needs a model"):
        load_plan(study | {"methods": ["agreement"]}, HOME, source="study.yaml")


@pytest.mark.long(6)
@pytest.mark.slow
def test_the_reference_may_be_the_text_that_was_perturbed(tmp_path: Path) -> None:
    """On texts with one reference: all are judged, and without the key none is."""
    with serve(near) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        fields = {"model": "loop", "form": "rubric", "parser": "result"}
        study.card("judges", "original", **fields, use_reference="original")
        study.card("judges", "another", **fields, use_reference=True)
        study.write(
            datasets=["demo-confusion-news"],
            aspects=["fluency"],
            judges=["original", "another"],
            perturbations=["spelling-mistake"],
            methods=["confusion"],
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
    results = tmp_path / "results" / "asked"
    texts = {
        row["target"]: row
        for path in (results / "targets" / "demo-confusion-news").glob("*.parquet")
        for row in read_table("targets", path).to_pylist()
    }
    originals = {
        row["text"] for row in texts.values() if row["perturbation"] == "original"
    }
    statuses: dict[str, list[str]] = {"original": [], "another": []}
    for name, statuse in statuses.items():
        for path in results.glob(f"judgments/demo-confusion-news/*/*/{name}.parquet"):
            statuse += [
                row["status"] for row in read_table("judgments", path).to_pylist()
            ]
    assert set(statuses["original"]) == {"ok"} and set(statuses["another"]) == {
        "not_applicable"
    }
    assert (
        len(statuses["original"]) == len(statuses["another"]) == 2 * len(originals) > 0
    )
    own_part = 0
    for prompt in endpoint.prompts:
        text, rest = prompt.split("Response to assess:\n")[1].split(
            "\n\nReference answer, "
        )
        reference = rest.split(":\n", 1)[1].split("\n\nRubric")[0]
        assert reference in originals
        own_part += text == reference
    assert own_part == len(originals) == len(endpoint.prompts) / 2
