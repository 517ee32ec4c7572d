"""The survey of experts: its pages, and the weights that its answers give."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.extensions.people.form import Page
from judgescope.extensions.people.weights import make, pages_of, read
from judgescope.schema.loading import read_card, write_new_card
from people_studies import plan_of
from study import Study


def survey_of(task: str) -> Page:
    return next(page for page in pages_of(plan_of()) if page.task == task)


def answer(folder: Path, survey: Page, voter: str, **chosen: str) -> Path:
    """Write one voter's file: fluency for whatever is not chosen otherwise."""
    answers = dict.fromkeys((item.id for item in survey.items), "fluency") | {
        name.replace("_", "-"): aspect for name, aspect in chosen.items()
    }
    fields = {
        "survey": survey.id,
        "task": survey.task,
        "voter": voter,
        "answers": answers,
    }
    path = folder / f"{survey.task}-{voter}-{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


@pytest.mark.heavy
def test_a_page_asks_about_every_perturbation_of_its_task_and_nothing_else(
    tmp_path: Path,
) -> None:
    paths = [Path(line) for line in make(plan_of(), tmp_path / "pages").lines]
    # one aspect alone has all the weight: answers to questions are not asked about
    assert [path.stem for path in paths] == ["summarization", "story", "translation"]
    page = paths[1].read_text(encoding="utf-8")
    asked = re.findall(r'<fieldset class="question">\n<legend>(.+)</legend>', page)
    assert len(asked) == 6 and "The ending is that of another story." in asked
    assert page.count('type="radio"') == 6 * 3 and page.count("required") == 6 * 3
    assert (
        survey_of("story").id in page and "How well the ending hangs together" in page
    )
    assert "http" not in re.sub(r"http-equiv", "", page)


@pytest.mark.heavy
def test_what_cards_say_stays_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Study(tmp_path).change(
        "perturbations", "wrong-ending", issue="</legend><script>alert(1)</script>"
    )
    paths = [Path(line) for line in make(plan_of(), tmp_path / "pages").lines]
    page = paths[1].read_text(encoding="utf-8")
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


@pytest.mark.heavy
def test_a_perturbation_without_an_issue_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Study(tmp_path).change("perturbations", "wrong-ending", issue=None)
    with pytest.raises(UserError, match="has no description for people") as error:
        make(plan_of(), tmp_path / "pages")
    assert "perturbations/wrong-ending.yaml" in str(error.value)
    with pytest.raises(UserError, match="there is nothing to ask"):
        make(plan_of(datasets=["answer-equivalence"]), tmp_path / "pages")


@pytest.mark.heavy
def test_weights_are_the_shares_of_votes_and_a_study_uses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = survey_of("story")
    for voter, ending in (("a", "coherence"), ("b", "coherence"), ("c", "consistency")):
        answer(tmp_path, story, voter, wrong_ending=ending, random_ending="coherence")
    answer(
        tmp_path, story, "a", wrong_ending="coherence", random_ending="coherence"
    )  # sent twice
    card, lines = read(plan_of(), tmp_path, "ours")
    assert card.voters == {"story": 3}
    tasks = card.tasks["story"]
    assert tasks["wrong-ending"] == {"coherence": 2 / 3, "consistency": 1 / 3}
    assert tasks["random-ending"] == {"coherence": 1.0} and tasks["random-typos"] == {
        "fluency": 1.0
    }
    # 18 votes: 12 fluency, 5 coherence, 1 consistency; only one question has pairs that
    # differ
    disagreement, by_chance = 2 * 2 / 2 / 18, (18**2 - 12**2 - 5**2 - 1) / (18 * 17)
    assert card.agreement["story"] == pytest.approx(1 - disagreement / by_chance)
    assert "story: 3 voters, 6 questions, agreement (nominal alpha) 0.78" in lines
    assert "summarization: no answers, so all aspects have the same weight" in lines

    path = tmp_path / "config" / "weights" / "ours.yaml"
    write_new_card(card.model_dump(mode="json"), path)
    assert read_card("weights", path).voters == {"story": 3}
    with pytest.raises(UserError, match="a card with this name already exists"):
        write_new_card(card.model_dump(mode="json"), path)
    with pytest.raises(UserError, match="file name ends in"):
        write_new_card(card.model_dump(mode="json"), path.with_suffix(".yml"))
    monkeypatch.chdir(tmp_path)
    weights = plan_of(weights="ours").weights
    assert weights is not None and weights.tasks["story"] == tasks


def wrong(name: str, message: dict[str, Any]) -> Any:
    answers = message["answers"]
    return {
        "other questions": {**message, "survey": "0" * 16},
        "another task": {**message, "task": "summarization"},
        "an answer missing": {**message, "answers": {"wrong-ending": "fluency"}},
        "an unknown aspect": {
            **message,
            "answers": {**answers, "wrong-ending": "fluenzy"},
        },
        "a key more": {**message, "more": 1},
        "a list": [message],
    }[name]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other questions", "does not ask these questions"),
        ("another task", "does not ask these questions"),
        ("an answer missing", "do not match the questions"),
        ("an unknown aspect", "nearest: fluency"),
        ("a key more", "this is not a file of answers"),
        ("a list", "this is not a file of answers"),
    ],
)
def test_what_is_no_answer_is_reported_with_its_file(
    name: str, message: str, tmp_path: Path
) -> None:
    story = survey_of("story")
    answer(tmp_path, story, "good")
    path = answer(tmp_path, story, "bad")
    path.write_text(
        json.dumps(wrong(name, json.loads(path.read_text("utf-8")))), "utf-8"
    )
    with pytest.raises(UserErrors) as errors:
        read(plan_of(), tmp_path, "ours")
    assert message in str(errors.value) and path.name in str(errors.value)


@pytest.mark.heavy
def test_a_voter_who_changed_a_mind_and_a_file_cut_short_are_reported(
    tmp_path: Path,
) -> None:
    story = survey_of("story")
    answer(tmp_path, story, "a")
    answer(tmp_path, story, "a", wrong_ending="coherence")
    (tmp_path / "torn.json").write_text('{"survey": ', encoding="utf-8")
    with pytest.raises(UserErrors) as errors:
        read(plan_of(), tmp_path, "ours")
    assert "conflicting responses from the same voter" in str(errors.value)
    assert "this is not a file of answers" in str(errors.value)
    (tmp_path / "none").mkdir()
    with pytest.raises(UserError, match="no answers found"):
        read(plan_of(), tmp_path / "none", "ours")
