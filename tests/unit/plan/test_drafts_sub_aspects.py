"""Sub-aspects that a model drafts for an aspect that has none in a task."""

from subprocess import CompletedProcess
from typing import Any

import pytest
import yaml

import running
from asking import AskedStudy, rate
from judgescope.core.errors import UserError
from judgescope.parsing.written import (
    LONGEST,
    SUB_ASPECTS,
    SubAspect,
    problem_with_sub_aspects,
    read_sub_aspects,
)
from judgescope.plan.drafts import drafts_of
from judgescope.plan.loading import load_plan
from judgescope.prompts import DRAFTING, PARTS, load
from judgescope.prompts.filling import messages
from judgescope.schema.loading import load_yaml
from prompts_setup import about
from running import HOME
from scripted import Body, Said, prompt_of, reply

ONE = ("Own words", "It is said as people say such things.")
TWO = ("Ease", "It reads without a stop: nothing is stiff.")
THREE = ("Fit", "Its tone goes with what was said before.")
PARTED = [SubAspect(*each) for each in (ONE, TWO, THREE)]
LIST = "\n".join(f"{name}: {definition}" for name, definition in PARTED)
DRAFT = "results/asked/drafts/sub-aspects/naturalness.dialogue.yaml"


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"Here are 3 parts:\n\n{LIST}\n",
        f"```\n{LIST}\n```",
        "\n\n".join(f"- **{name}**: {definition}" for name, definition in PARTED),
        "\n".join(f"{n}. **{a}:** {b}" for n, (a, b) in enumerate(PARTED, start=1)),
        "\n".join(f"({n}) {a} ： {b}" for n, (a, b) in enumerate(PARTED, start=1)),
        LIST.replace("Own", "O\x1b\x00wn\u202e").replace(" ", "\u00a0\t"),
    ],
)
def test_names_with_definitions_are_read_whatever_marks_them(text: str) -> None:
    assert read_sub_aspects(text) == PARTED
    assert problem_with_sub_aspects(text) is None


def lines(*parts: tuple[str, str]) -> str:
    return "\n".join(f"{name}: {definition}" for name, definition in parts)


MANY = [(f"Part {number}", f"It is good in way {number}.") for number in range(9)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I'm sorry, but I cannot help with that.", "it is a refusal"),
        (f"I'm sorry, but I cannot help with that. Yet:\n{LIST}", "it is a refusal"),
        ("I'm sorry: I can say nothing about this at all.\n" + LIST, "it is a refusal"),
        ("Words and ease.", "line 1 is no name"),
        (f"{LIST}\nTell me more!", "line 4 is no name"),
        ("", "it has 0 sub-aspects, not 2 to 8"),
        (lines(ONE), "it has 1 sub-aspect, not 2 to 8"),
        (lines(*MANY), "it has 9 sub-aspects, not 2 to 8"),
        (lines(ONE, ("12", TWO[1])), "name 2 is no name of at most 60 characters"),
        (
            lines(ONE, ("word " * 13, TWO[1])),
            "name 2 is no name of at most 60 characters",
        ),
        (
            lines(ONE, ("Ease", "It reads well.")),
            "definition 2 has 14 characters, not 15 to 400",
        ),
        (
            lines(ONE, ("Ease", "Well. " * 70)),
            "definition 2 has 419 characters, not 15 to 400",
        ),
        (
            lines(ONE, ("Ease", "1 2 3 4 5 = a b c d e f")),
            "definition 2 is no sentence",
        ),
        (lines(ONE, ("OWN WORDS", TWO[1])), "name 2 repeats another"),
        (lines(ONE, ("Ease", ONE[1].upper())), "definition 2 repeats another"),
        (lines(*MANY[:8]), None),
        (lines(ONE, ("w" * 60, "It reads well!!")), None),
        (lines(ONE, ("w" * 61, TWO[1])), "name 2 is no name of at most 60 characters"),
        (lines(ONE, ("Ease", "It says so where it cannot be assessed.")), None),
    ],
)
def test_what_is_no_usable_list_is_reported(text: str, problem: str | None) -> None:
    result = problem_with_sub_aspects(text)
    assert (result is None) == (problem is None) and (problem or "") in (result or "")


def test_the_prompt_asks_for_what_is_checked() -> None:
    fields: dict[str, Any] = {**about("story").names, "problem": None}
    fields["aspect"] = {"name": "Warmth", "definition": "How warm it is."}
    form = DRAFTING[PARTS]
    templates = load(form, [HOME / "config"], where="")
    prompt = messages(form, templates, **fields)[0]["content"]
    assert "three to five" in prompt and {3, 5} <= {*SUB_ASPECTS}
    assert f"at most {LONGEST} characters" in prompt and "one story" in prompt
    assert "Warmth: How warm it is." in prompt and "cannot be used" not in prompt
    again = messages(form, templates, **fields | {"problem": "it is short"})[0][
        "content"
    ]
    assert "An earlier attempt cannot be used: it is short." in again


# --- a study whose chains need the parts of an aspect without any


@pytest.fixture
def lacking(study: AskedStudy) -> AskedStudy:
    aspect = yaml.safe_load(
        (HOME / "config/aspects/naturalness.yaml").read_text("utf-8")
    )
    tasks = {"dialogue": {"steps": ["Read it.", "Rate it."]}}
    study.card("aspects", aspect.pop("aspect"), **aspect | {"tasks": tasks})
    row = {
        "name": "Worse",
        "level": "sentence",
        "method": "inject",
        "model": "loop",
        "steps": 2,
    }
    study.card(
        "perturbations", "worse", form="inject-error", aspects=["naturalness"], **row
    )
    study.write(drafter="loop", perturbations=["worse"], methods=["perspectives"])
    study.endpoint.script = write_or_rate
    return study


def write_or_rate(body: Body) -> Said:
    """Draft where parts are asked for, add a sentence where an error is, else rate."""
    prompt = prompt_of(body)
    if "Write the list alone" in prompt:
        return reply(f"<think>Hm: no</think>Here they are:\n\n{LIST}\n")
    if "Put exactly one more error" in prompt:
        return reply(prompt.split("The reply:\n")[1].split("\n\n")[0] + " It was blue!")
    return rate(body)


def draft(study: AskedStudy) -> CompletedProcess[str]:
    return running.run("-m", "judgescope", "draft", "study.yaml", cwd=study.folder)


@pytest.mark.long(14)
@pytest.mark.slow
def test_a_study_without_parts_stops_is_drafted_and_runs_with_what_is_pasted(
    lacking: AskedStudy,
) -> None:
    stopped = lacking.run()
    assert stopped.returncode == 1 and "Traceback" not in stopped.stdout
    assert (
        "aspects/naturalness.yaml:7, key tasks.dialogue.sub_aspects" in stopped.stdout
    )
    assert "judgescope draft" in stopped.stdout and lacking.endpoint.asked == []

    done = draft(lacking)
    assert done.returncode == 0 and DRAFT in done.stdout, done.stdout
    assert len(lacking.endpoint.asked) == 1
    text = (lacking.folder / DRAFT).read_text(encoding="utf-8")
    fields = yaml.safe_load(text)
    parts = [each._asdict() for each in PARTED]
    assert fields == {"tasks": {"dialogue": {"sub_aspects": parts}}}
    assert text.startswith(
        "# A model's draft of sub-aspects for the task dialogue. The study does"
    )
    assert "and paste it into aspects/naturalness.yaml.\n# model: loop\n" in text
    assert "# prompt: draft-sub-aspects\n" in text
    assert draft(lacking).returncode == 0 and len(lacking.endpoint.asked) == 1
    assert lacking.run().returncode == 1  # a draft is used by nothing

    path = lacking.folder / "config/aspects/naturalness.yaml"
    card = yaml.safe_load(path.read_text("utf-8"))
    card["tasks"]["dialogue"] |= fields["tasks"]["dialogue"]
    lacking.card("aspects", card.pop("aspect"), **card)
    done = lacking.run()
    assert done.returncode == 0, done.stdout
    writing = [
        prompt
        for prompt in lacking.endpoint.prompts
        if "exactly one more error" in prompt
    ]
    shown = {f"The error is about {name}: {about}" for name, about in PARTED}
    assert writing
    for prompt in writing:
        assert any(line in prompt for line in shown)
    assert "No drafts are needed" in draft(lacking).stdout


@pytest.mark.slow
def test_a_list_that_cannot_be_used_or_is_cut_is_asked_for_again_with_the_reason(
    lacking: AskedStudy,
) -> None:
    reasons = iter([reply(lines(ONE)), reply(LIST, "length"), reply(LIST)])
    lacking.endpoint.script = lambda body: next(reasons)
    done = draft(lacking)
    assert done.returncode == 0, done.stdout
    _, second, third = lacking.endpoint.prompts
    assert "cannot be used: it has 1 sub-aspect, not 2 to 8." in second
    assert "cannot be used: the reply was cut." in third
    head = (lacking.folder / DRAFT).read_text("utf-8").split("tasks:")[0]
    assert head.count("#   ") == 3


@pytest.mark.slow
def test_replies_that_are_never_a_list_end_with_the_reason(lacking: AskedStudy) -> None:
    lacking.endpoint.script = lambda body: reply("no \x1b[31m")
    done = draft(lacking)
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert (
        "asked for the sub-aspects of aspects/naturalness.yaml for the task"
        in done.stdout
    )
    assert (
        "or write the sub-aspects yourself" in done.stdout
        and "\x1b[31m" not in done.stdout
    )


# --- what the plan says


def drafted(
    study: AskedStudy,
    monkeypatch: pytest.MonkeyPatch,
    drafting: bool = True,
    **keys: Any,
) -> list[str]:
    monkeypatch.chdir(study.folder)
    config: dict[str, Any] = load_yaml(study.folder / "study.yaml")[0]
    plan = load_plan(config | keys, HOME, source="study.yaml", drafting=drafting)
    return [each.file for each in drafts_of(plan, "study.yaml")]


@pytest.mark.heavy
def test_parts_are_drafted_where_a_form_shows_them_and_the_aspect_has_none(
    lacking: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert drafted(lacking, monkeypatch) == ["sub-aspects/naturalness.dialogue"]
    assert drafted(lacking, monkeypatch, perturbations=[]) == []
    prompts = lacking.folder / "config/prompts"
    prompts.mkdir()
    (prompts / "mine.jinja").write_text("Mend {{ text }}", encoding="utf-8")
    row = {
        "name": "Worse",
        "level": "sentence",
        "method": "inject",
        "model": "loop",
        "steps": 2,
    }
    lacking.card("perturbations", "worse", form="mine", aspects=["naturalness"], **row)
    assert drafted(lacking, monkeypatch) == []


def test_a_missing_drafter_is_reported_with_what_it_would_write(
    lacking: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        UserError, match="no model to draft the missing sub-aspects"
    ) as error:
        drafted(lacking, monkeypatch, drafter=None)
    assert "or write the sub-aspects of aspects/naturalness.yaml" in error.value.todo


def test_a_writer_that_lowers_no_aspect_must_name_one(
    lacking: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "name": "Worse",
        "level": "sentence",
        "method": "inject",
        "model": "loop",
        "steps": 2,
    }
    lacking.card("perturbations", "worse", form="inject-error", **row)
    assert drafted(lacking, monkeypatch) == []
    with pytest.raises(UserError, match="and this card names no aspect") as error:
        drafted(lacking, monkeypatch, drafting=False)
    assert error.value.where == "perturbations/worse.yaml, key aspects"
