"""Steps that a model drafts for cards without any, to be read and pasted into the
card.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

import running
from asking import AskedStudy, rate
from judgescope.core.errors import UserError
from judgescope.parsing.written import LONGEST, STEPS, problem_with_steps, read_steps
from judgescope.plan.drafts import draft_spec, drafts_of
from judgescope.plan.loading import load_plan
from judgescope.plan.study import Plan
from judgescope.prompts import DRAFTING, PARTS, load
from judgescope.prompts.filling import messages
from judgescope.schema.loading import load_yaml, read_card
from prompts_setup import about
from running import HOME
from scripted import Body, Said, prompt_of, reply

ONE, TWO, THREE = (
    "Read the reply once.",
    "Look for stiff phrases.",
    "Weigh what you found.",
)
LIST = f"1. {ONE}\n2. {TWO}\n3. {THREE}"
HOSTILE = [
    "Look: 'here' # and there.",
    "!!python/name:os {{ 7 * 7 }}",
    "--- &a *a | > look \U0001f600",
]
ADJUSTMENT = "Name a colour that is wrong."


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"1) {ONE}\n2) {TWO}\n3) {THREE}",
        f"**1.** {ONE}\n**2.** {TWO}\n**3.** {THREE}",
        f"**1. {ONE}**\n\n**2. {TWO}**\n\n**3. {THREE}**",
        f"Step 1: {ONE}\nStep 2: {TWO}\nStep 3: {THREE}",
        f"### 1. {ONE}\n### 2. {TWO}\n### 3. {THREE}",
        f"Here are 3 steps, from 1. to 3:\n\n{LIST}\n\nTell me if you need more.",
        f"```\n{LIST}\n```",
        f"1.\n   Read the reply\nonce.\n2.   Look for\n\n   stiff phrases.\n3. {THREE}",
        LIST.replace("Look", "Lo\x1b\x00ok\u202e").replace(" ", "\u00a0\t"),
    ],
)
def test_a_numbered_list_is_read_whatever_stands_around_it(text: str) -> None:
    assert read_steps(text).texts == [ONE, TWO, THREE]
    assert problem_with_steps(text) is None


def steps(*texts: str) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


MANY = [f"This is step {'x' * number} of many." for number in range(11)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Read it, then weigh it all up.", "it has no numbered list"),
        ("- Read the reply once.\n- Weigh it.", "it has no numbered list"),
        ("I'm sorry, but I cannot help with that.", "it is a refusal"),
        (f"I'm sorry, but I cannot help with that. Yet:\n{LIST}", "it is a refusal"),
        (steps(ONE, TWO), "it has 2 steps, not 3 to 10"),
        (steps(*MANY), "it has 11 steps, not 3 to 10"),
        (f"{LIST}\n\nOr:\n\n{LIST}", "not one list"),
        (LIST.replace("2.", "4."), "not one list"),
        (steps(ONE, TWO, "Weigh it all."), "step 3 has 13 characters, not 15 to 400"),
        (steps(ONE, "Look. " * 70, THREE), "step 2 has 419 characters, not 15 to 400"),
        (steps(ONE, "1 2 3 4 5 = a b c d e f", THREE), "step 2 is no sentence"),
        (steps(ONE, TWO, ONE.upper()), "step 3 repeats another"),
        (steps(*MANY[:10]), None),
        (steps(ONE, "Note claims that cannot be assessed.", THREE), None),
        (steps("L" + "o" * 398 + "k", TWO, "Weigh it up all"), None),
    ],
)
def test_what_is_no_usable_list_is_reported(text: str, problem: str | None) -> None:
    result = problem_with_steps(text)
    assert (result is None) == (problem is None) and (problem or "") in (result or "")


def test_the_prompts_ask_for_what_is_checked() -> None:
    names: dict[str, Any] = {**about("story").names, "problem": None}
    names["adjustment"] = ADJUSTMENT
    names["aspect"] = {"name": "Warmth", "definition": "How warm it is."}
    names["amounts"] = [{"k": 1, "min_edits": None}, {"k": None, "min_edits": 2}]
    for form in [form for kind, form in DRAFTING.items() if kind != PARTS]:
        templates = load(form, [HOME / "config"], where="")
        prompt = messages(form, templates, **names)[0]["content"]
        assert (
            f"{STEPS[0]} to {STEPS[-1]} steps" in prompt
            and f"at most {LONGEST} characters" in prompt
        )
        assert "one story" in prompt and "cannot be used" not in prompt
        again = messages(form, templates, **names | {"problem": "it is short"})[0][
            "content"
        ]
        assert "An earlier attempt cannot be used: it is short." in again
    assert "exactly one change; or 2 or more changes. " in prompt


# --- through the real workflow


def draft_or_rate(body: Body) -> Said:
    """Draft where steps are asked for, perturbation where a text is, else rate."""
    prompt = prompt_of(body)
    if "Write the list alone" in prompt:
        return reply(f"<think>Hm: 1. no</think>Here is the text:\n\n{LIST}\n")
    if "Adjustment: " in prompt:
        return reply(prompt.split("The reply:\n")[1].split("\n\n")[0] + " It was blue!")
    return rate(body)


@pytest.fixture
def lacking(study: AskedStudy) -> AskedStudy:
    """A study whose judge shows steps that its aspect lacks, and a change without
    instructions.
    """
    study.card("judges", "terse", model="loop", form="score-steps")
    colour = {"name": "Wrong colour", "level": "word", "method": "llm", "model": "loop"}
    study.card(
        "perturbations", "colour", form="adjust-steps", adjustment=ADJUSTMENT, **colour
    )
    study.write(drafter="loop", perturbations=["colour"], methods=["discernment"])
    study.endpoint.script = draft_or_rate
    return study


def draft(study: AskedStudy, *options: str) -> CompletedProcess[str]:
    return running.run(
        "-m", "judgescope", "draft", "study.yaml", *options, cwd=study.folder
    )


def drafted(study: AskedStudy, name: str) -> tuple[str, Any]:
    """Return the comment above a draft, and what it says."""
    text = (study.folder / "results/asked/drafts" / name).read_text(encoding="utf-8")
    head = "".join(
        line for line in text.splitlines(keepends=True) if line.startswith("#")
    )
    return head, yaml.safe_load(text)


ASPECT, CHANGE = (
    "aspects/naturalness.dialogue.yaml",
    "perturbations/colour.dialogue.yaml",
)
slow = pytest.mark.slow


@slow
@pytest.mark.long(15)
def test_drafts_are_made_once_and_pasted_into_the_cards_they_make_the_study_run(
    lacking: AskedStudy,
) -> None:
    for command in (lacking.run, lacking.ask):
        done = command()
        assert done.returncode == 1 and "card has none" in done.stdout
        assert "judgescope draft" in done.stdout
    assert lacking.endpoint.asked == []
    dry = draft(lacking, "-n")
    assert dry.returncode == 0 and lacking.endpoint.asked == [], dry.stdout

    done = draft(lacking)
    assert done.returncode == 0, done.stdout
    for name in (ASPECT, CHANGE):
        assert f"results/asked/drafts/{name}" in done.stdout
    assert len(lacking.endpoint.asked) == 2
    assert {body["temperature"] for body in lacking.endpoint.asked} == {0}
    head, result = drafted(lacking, ASPECT)
    assert result == {"tasks": {"dialogue": {"steps": [ONE, TWO, THREE]}}}
    assert "into aspects/naturalness.yaml" in head
    assert "# model: loop\n# prompt: draft-steps\n" in head
    keys = [
        json.loads(line)["key"]
        for path in lacking.folder.glob("cache/replies/loop/*.jsonl")
        for line in path.read_text("utf-8").splitlines()
        if '"text"' in line
    ]
    assert sum(key in head for key in keys) == 1
    assert drafted(lacking, CHANGE)[1] == {"instructions": [ONE, TWO, THREE]}

    assert draft(lacking).returncode == 0 and len(lacking.endpoint.asked) == 2
    (lacking.folder / "results/asked/drafts" / ASPECT).unlink()
    assert draft(lacking).returncode == 0 and len(lacking.endpoint.asked) == 2
    assert lacking.run().returncode == 1  # a draft is used by nothing

    pasted = (
        yaml.safe_load((HOME / "config/aspects/naturalness.yaml").read_text("utf-8"))
        | result
    )
    lacking.card("aspects", pasted.pop("aspect"), **pasted)
    path = lacking.folder / "config/perturbations/colour.yaml"
    path.write_text(
        path.read_text("utf-8") + yaml.safe_dump(drafted(lacking, CHANGE)[1]), "utf-8"
    )
    assert read_card("perturbation", path).instructions == [ONE, TWO, THREE]
    checked = lacking.judgescope("check")
    assert checked.returncode == 0 and "colour.single, demo-dialogue" in checked.stdout
    done = lacking.run()
    assert done.returncode == 0, done.stdout
    prompts = lacking.endpoint.prompts[2:]
    writing = [prompt for prompt in prompts if f"Adjustment: {ADJUSTMENT}\n" in prompt]
    assert len(writing) == 24 and all(
        f"Steps:\n{LIST}\n\nThe reply:\n" in each for each in writing
    )
    assert sum(f"How to go about it:\n{LIST}" in prompt for prompt in prompts) == 48
    assert len(prompts) == 72
    told_ = draft(lacking)
    assert told_.returncode == 0 and "No drafts are needed" in told_.stdout


@slow
def test_a_reply_that_cannot_be_used_is_asked_for_again_with_the_reason(
    lacking: AskedStudy,
) -> None:
    def stubborn(body: Body) -> Said:
        mends = "cannot be used: it has 2 steps, not 3 to 10." in prompt_of(body)
        return reply(steps(*HOSTILE) if mends else steps(ONE, TWO))

    lacking.endpoint.script = stubborn
    done = draft(lacking)
    assert done.returncode == 0, done.stdout
    assert len(lacking.endpoint.asked) == 4
    head, result = drafted(lacking, CHANGE)
    assert result == {"instructions": HOSTILE}
    assert len(re.findall(r"^# +[0-9a-f]{64}$", head, re.MULTILINE)) == 2


@slow
def test_replies_that_are_never_a_list_end_with_the_reason_and_are_kept(
    lacking: AskedStudy,
) -> None:
    # An attempt that equals the last one ends a text, so that each differs.
    lacking.endpoint.script = lambda body: reply(
        f"blah \x1b[31m blah {len(lacking.endpoint.asked)}"
    )
    for _ in range(2):
        done = draft(lacking)
        assert done.returncode == 1 and "Traceback" not in done.stdout
        assert "usable (3 tried)" in (done.stdout)
        assert "steps of aspects/naturalness.yaml for the task dialogue" in done.stdout
        assert "\x1b[31m" not in done.stdout and "name another `drafter`" in done.stdout
        assert len(lacking.endpoint.asked) == lacking.journalled() == 6
    assert not list(lacking.folder.glob("results/asked/drafts/*/*"))


@slow
def test_a_cap_holds_for_drafts_and_a_key_is_needed_for_them_alone(
    lacking: AskedStudy,
) -> None:
    lacking.model(api_key_env="NO_SUCH_KEY")
    done = draft(lacking)
    assert done.returncode == 1 and "endpoint's key is not set" in done.stdout
    assert "'NO_SUCH_KEY'" in done.stdout
    lacking.model()
    lacking.write(**config_of(lacking), max_requests=1)
    done = draft(lacking)
    assert done.returncode == 1 and "could exceed the cap of 1 requests" in done.stdout
    assert len(lacking.endpoint.asked) == 1


@slow
@pytest.mark.long
def test_a_run_needs_nothing_of_its_drafter(study: AskedStudy) -> None:
    fields = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "NO_SUCH_KEY"}
    study.card("models", "writer", engine="openai", **fields)
    assert study.run().returncode == 0
    before = len(study.endpoint.asked)
    study.write(drafter="writer")
    done = study.run()
    assert done.returncode == 0 and "Everything is up to date" in done.stdout, (
        done.stdout
    )
    checked = study.judgescope("check")
    assert checked.returncode == 0 and "writer" not in checked.stdout
    assert len(study.endpoint.asked) == before


# --- what the plan says


def config_of(study: AskedStudy, **keys: Any) -> dict[str, Any]:
    result: dict[str, Any] = load_yaml(study.folder / "study.yaml")[0]
    return result | keys


@pytest.mark.parametrize(
    ("drafter", "says"),
    [
        (
            "lop",
            ["unknown model card", "nearest: loop", "where: study.yaml:5, key drafter"],
        ),
        (
            "lexical",
            [
                "this model cannot write",
                "engine lexical",
                "where: study.yaml:5, key drafter",
            ],
        ),
    ],
)
def test_an_unknown_drafter_is_reported_whether_or_not_it_is_to_draft(
    lacking: AskedStudy, monkeypatch: pytest.MonkeyPatch, drafter: str, says: list[str]
) -> None:
    monkeypatch.chdir(lacking.folder)
    for drafting in (False, True):
        with pytest.raises(UserError) as error:
            config = config_of(lacking, drafter=drafter)
            load_plan(config, HOME, source="study.yaml", drafting=drafting)
        text = " ".join(str(error.value).split())
        assert all(part in text for part in says), text


def test_a_cap_may_name_the_drafter_whose_price_only_drafting_needs(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(study.folder)
    study.model(price={"input": 1, "output": 1})
    study.card("models", "writer", engine="openai", base_url="http://127.0.0.1:9/v1")
    config = config_of(study, drafter="writer", caps={"writer": {"max_usd": 1}})
    assert "writer" not in load_plan(config, HOME, source="study.yaml").models
    with pytest.raises(UserError, match=r"caps\.writer\.max_usd needs the price"):
        load_plan(config, HOME, source="study.yaml", drafting=True)


@slow
def test_a_missing_drafter_is_reported(lacking: AskedStudy) -> None:
    lacking.write(**{**config_of(lacking), "drafter": None})
    done = draft(lacking)
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert (
        "no model to draft" in done.stdout and "study.yaml, key drafter" in done.stdout
    )
    assert "add `drafter: <a model card>`" in done.stdout


def planned(study: AskedStudy, monkeypatch: pytest.MonkeyPatch, **keys: Any) -> Plan:
    monkeypatch.chdir(study.folder)
    return load_plan(config_of(study, **keys), HOME, source="study.yaml", drafting=True)


def test_drafts_are_of_what_the_study_judges_and_lacks(
    lacking: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = {"datasets": ["demo-dialogue", "demo-news"], "aspects": []}
    plan = planned(lacking, monkeypatch, **datasets)
    drafts = {f"drafts/{draft.file}.yaml" for draft in drafts_of(plan, "study.yaml")}
    assert {f"drafts/{ASPECT}", f"drafts/{CHANGE}"} < drafts
    assert "drafts/perturbations/colour.summarization.yaml" in drafts
    for dataset, result in plan.datasets.items():
        for aspect in plan.aspects_of(dataset):
            file = f"drafts/aspects/{aspect}.{result.task}.yaml"
            assert (file in drafts) == (not plan.aspect_of(dataset, aspect).steps)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda study: study.model(price={"input": 1, "output": 1}), True),
        (lambda study: study.model(api_key_env="ELSEWHERE"), True),
        (lambda study: study.write(**config_of(study), seed=9), True),
        (lambda study: study.model(revision="b"), False),
    ],
)
def test_the_spec_of_a_draft_has_only_what_changes_it(
    lacking: AskedStudy,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[AskedStudy], None],
    same: bool,
) -> None:
    before = planned(lacking, monkeypatch)
    [aspect, _] = drafts_of(before, "study.yaml")
    drafts = {aspect.file: aspect}
    change(lacking)
    after = planned(lacking, monkeypatch)
    specs = [draft_spec(plan, drafts, aspect.file) for plan in (before, after)]
    assert (specs[0] == specs[1]) == same


def test_the_replies_behind_drafts_count_as_used(
    lacking: AskedStudy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from judgescope.plan.asking_jobs import used_keys

    plan = replace(planned(lacking, monkeypatch), results=str(tmp_path / "out"))
    path = tmp_path / "out" / "drafts" / ASPECT
    path.parent.mkdir(parents=True)
    key = "ab" * 32
    path.write_text(
        f"# replies, the last one used:\n#   {key}\n{'cd' * 32}: x\n", "utf-8"
    )
    monkeypatch.setattr("judgescope.plan.asking_jobs.jobs_of", lambda *_, **__: [])
    used = used_keys(plan, require_texts=False)
    assert [bytes(each) for each in used["loop"]] == [bytes.fromhex(key)]
