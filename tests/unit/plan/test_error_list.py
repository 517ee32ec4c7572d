"""Judges that list errors: what a list says, and the score that is computed from it."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from judgescope.parsing.judgment import Judgment, Scale
from judgescope.plan.judges import facts_of
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging
from judgescope.schema.cards import Judge, Severities
from parsed import parse
from prompts_setup import FIVE as PROMPTED
from prompts_setup import filled
from running import HOME
from study import Study
from waiting import patience

FIVE = Scale(1, 5, 1)
MQM = Severities().model_dump()


def judged(
    text: str, scale: Scale = FIVE, finish: str | None = "stop", **more: Any
) -> Judgment:
    return parse(text, scale=scale, finish=finish, parser="errors", settings=MQM | more)


@pytest.mark.parametrize(
    ("text", "penalty"),
    [
        ('minor: "teh" - misspelt', 1),
        ('Major: "He go" – no agreement\nminor: "teh" - misspelt', 6),
        ('critical: "all of it" - of another article', 10),
        ('1. **Minor**: "teh" is misspelt.\n2. **Major**: "go"', 6),
        ('- [major] "go" is wrong', 5),
        ('* (minor) "go" is wrong', 1),
        ('Error 1 (major): "go" is wrong', 5),
        ('Severity: minor - "go" is wrong', 1),
        ("Major error - the verb is wrong", 5),
        ("| minor | teh |\n|---|---|\n| major | go |", 6),
        ('- "teh" is misspelt (minor)\n- "go": wrong form. Severity: **major**', 6),
        ("The errors are:\n\nminor: the first is minor\nThere are no more.", 1),
        ("Ｍｉｎｏｒ： 「teh」", 1),
        ("Critical: none\nMajor: none.\nMinor: a comma is missing", 1),
        ("No critical errors.\nminor: a comma is missing", 1),
        ("Minor: none of the verbs agree", 1),
        ("minor: no comma after However", 1),
        ("Minor: no mistakes were made up for the source", 1),
        ("major: no errors found\nminor: a comma is missing", 1),
        ("<think>critical: all of it</think>minor: a comma", 1),
        ("```\nminor: a comma\n```", 1),
        ("minor: a comma\nThere are no other errors.", 1),
        ("minor: a comma\n\nNo further errors were found.", 1),
        ("\n".join(["major: again"] * 4), 20),
    ],
)
def test_penalties_of_a_list_are_summed(text: str, penalty: float) -> None:
    judgments = judged(text)
    assert (judgments.status, judgments.rule) == ("ok", "listed")
    assert judgments.value == pytest.approx(5 - 4 * penalty / 25)
    assert judgments.label is None and judgments.parser.startswith("errors@")


@pytest.mark.parametrize(
    "text",
    [
        "No errors",
        "**No errors.**",
        "- No errors",
        "None.",
        "There are no errors in the text that concern fluency.",
        "I found no such errors.",
        "Errors: none",
        "No errors. It reads well.",
        "No grammatical errors were found.\n\nThe text is fluent.",
        "Minor: none\nMajor: none\nCritical: no errors",
        "minor: No minor errors found.\nmajor: No major errors found.\ncritical: none "
        "in this text",
        "Minor: 0 errors\nMajor: zero issues detected\nCritical: not applicable",
        "Minor: no mistakes were found in the summary.\nMajor: there are no "
        "errors\nCritical: 0",
        "<think>major: a comma? No.</think>No errors",
    ],
)
def test_a_text_without_errors_is_at_the_top(text: str) -> None:
    judgments = judged(text)
    assert (judgments.status, judgments.rule, judgments.value) == ("ok", "no_errors", 5)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('- "teh" is misspelt', "no_severity"),
        ('minor: "teh"\n- "go" is wrong', "no_severity"),
        ('Error: "go" is wrong', "no_severity"),
        ('1. moderate: "go" is wrong', "no_severity"),
        ("No errors\n- the verb is wrong", "no_severity"),
        ("Minor:\nMajor:", "no_text"),
        ("Minor: 2\nMajor: 1", "no_text"),
        ("minor: 2, major: 1", "two_severities"),
        ('"teh" is misspelt (minor)', "unclear"),
        ("Overall severity: minor.", "unclear"),
        ("No errors\nminor: a comma is missing", "contradiction"),
        ("Minor: none\nMinor: a comma is missing", "contradiction"),
        ("No errors.\nHowever, a verb is wrong.", "doubted"),
        ("No errors. But the verb is wrong.", "no_list"),
        ("No errors, except for the verb", "no_list"),
        ("There are no errors other than a missing comma.", "no_list"),
        ("No major errors.", "no_list"),
        ("No errors\nThere is a major one in line 2", "doubted"),
        ("Major: none\nCritical: none", "incomplete"),
        ("The text is fluent.", "no_list"),
        ("Rating: 5", "no_list"),
        ("5", "no_list"),
        ("No other errors.", "no_list"),
        ("There are no errors in the first sentence.", "no_list"),
        ("No errors.\nThe name is wrong.", "doubted"),
        ("minor-league teams are named", "no_list"),
    ],
)
def test_what_is_no_list_of_errors_has_no_score(text: str, rule: str) -> None:
    judgments = judged(text)
    assert (judgments.status, judgments.rule, judgments.value) == (
        "unparsed",
        rule,
        None,
    )


@pytest.mark.parametrize(
    ("text", "finish", "status"),
    [
        ("minor: a comma", "length", "truncated"),
        ("<think>minor: a comma", "stop", "truncated"),
        ("<think>minor: a comma</think>", "stop", "empty"),
        ("", "stop", "empty"),
        ("I'm sorry, I cannot evaluate this text.", "stop", "refused"),
        ("I am unable to assess it. No errors", "stop", "refused"),
    ],
)
def test_what_is_no_answer_is_not_a_text_without_errors(
    text: str, finish: str, status: str
) -> None:
    judgments = judged(text, finish=finish)
    assert (judgments.status, judgments.value) == (status, None)


def test_the_scale_s_ends_and_the_card_s_numbers_make_the_score() -> None:
    reply = "minor: a comma\nmajor: a verb"
    assert judged(reply, Scale(0, 100)).value == pytest.approx(76)
    assert judged(reply, Scale(-1, 1, 1)).value == pytest.approx(1 - 2 * 6 / 25)
    assert judged(reply, major=1, bottom=4).value == pytest.approx(3)
    assert judged("critical: all of it", bottom=10).value == 1
    assert judged("\n".join(["critical: all of it"] * 9)).value == 1


PIECES = (
    "minor|major|critical|: |\n|- |1. |(|)|no "
    "errors|none|error|severity|but|teh|however|**|<think>|</think>|there are |,| "
    "|[|]|however|\ud800|\u202e"
)
TEXTS = st.lists(st.sampled_from(PIECES.split("|"))).map("".join)


@settings(deadline=None)
@given(text=st.text() | TEXTS, low=st.integers(-3, 3), width=st.integers(1, 9))
def test_any_text_has_a_score_on_the_scale_or_none(
    text: str, low: int, width: int
) -> None:
    scale = Scale(low, low + width, 1)
    judgments = judged(text, scale)
    assert (judgments.value is not None) == (
        judgments.status == "ok"
    ) and judgments.rule
    assert judgments.value is None or scale.contains(judgments.value)
    assert judgments.rule != "listed" or (judgments.value or low) < scale.max


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["minor", "major", "critical"]), min_size=1, max_size=6)
)
def test_a_single_error_more_is_never_a_better_score(severities: list[str]) -> None:
    lines = [f"{severity}: an error" for severity in severities]
    value, less = (
        judged("\n".join(lines)).value,
        judged("\n".join(lines[1:]) or "No errors").value,
    )
    assert value is not None and less is not None and value <= less


@pytest.mark.parametrize(
    "piece", ["no ", "minor", "(", "error ", "- ", "a-", "minor: ,", "'", "\n"]
)
def test_the_time_grows_with_the_length_of_a_reply_and_no_faster(piece: str) -> None:
    begin = time.perf_counter()
    judged(piece * (200_000 // len(piece)))
    judged("no " + piece * (200_000 // len(piece)))
    assert time.perf_counter() - begin < patience(5)


# --- cards and plans ---


def test_the_shipped_judge_has_the_usual_numbers_and_compares_with_ten_draws() -> None:
    def card(name: str) -> dict[str, Any]:
        path = HOME / "config" / "judges" / f"{name}.yaml"
        fields: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        return fields

    plain = card("ten-draws")
    for name in ("step-by-step", "error-list"):
        own_part = card(name)
        assert [own_part[key] for key in ("model", "draws", "temperature")] == [
            "judge",
            10,
            1,
        ]
        assert [plain[key] for key in ("model", "draws", "temperature")] == [
            "judge",
            10,
            1,
        ]
        assert own_part["form"] == name
    assert card("error-list")["severities"] == MQM


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"severities": {"minor": 6}}, "needs at least the same penalty"),
        ({"severities": {"bottom": 0}}, "greater than 0"),
        ({"severities": {"minor": -1}}, "greater than or equal to 0"),
        ({"estimator": "logprob_mean"}, "cannot be used with `parser: errors`"),
        ({"structured": "choice"}, "cannot be used with `parser: errors`"),
        ({"parser": "score", "severities": {"minor": 2}}, "needs `parser: errors`"),
    ],
)
def test_cards_that_contradict_themselves(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Judge.model_validate(
            {"judge": "j", "model": "m", "form": "error-list", "parser": "errors"}
            | keys
        )


@pytest.mark.heavy
def test_other_penalties_score_anew_and_ask_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = {"study": "s", "datasets": ["demo-dialogue"], "judges": ["error-list"]}
    asked, scored = [], []
    for minor in (1, 2):
        Study(tmp_path).change("judges", "error-list", severities={"minor": minor})
        plan = load_plan(study | {"methods": ["agreement"]}, HOME, source="study.yaml")
        asked.append(judging.ask(plan, "demo-dialogue", "judge"))
        [cells] = judging.score(plan, "demo-dialogue", "judge").cells
        scored += cells.readings
    assert asked[0] == asked[1]
    assert [reading.settings["minor"] for reading in scored] == [1, 2]
    assert (
        scored[0].scale and scored[0].scale.step is None
    )  # scores lie between the steps of the aspect's scale
    facts = facts_of(plan, "demo-dialogue", "error-list")
    assert facts.grid["naturalness"] is None and facts.ends["naturalness"]


# --- forms ---


def test_the_form_of_the_list_asks_for_severities_and_for_no_rating() -> None:
    prompt = filled("error-list")
    assert prompt.startswith(
        "You look for errors in a text that concern one quality: fluency. "
        "The text is a summary of an article. "
    )
    assert "Fluency: How well it reads.\n\nArticle:\nTHE SOURCE\n" in prompt
    assert "Summary to check:\nTHE TEXT\n" in prompt
    assert all(
        f"\n- {severity}: " in prompt for severity in ("minor", "major", "critical")
    )
    assert prompt.endswith("write only: No errors")
    assert "rating" not in prompt.lower() and str(PROMPTED.max) not in prompt
    (example,) = [line for line in prompt.splitlines() if line.startswith("major:")]
    assert judged(example).rule == "listed" and judged("No errors").rule == "no_errors"


def test_step_by_step_sorts_what_it_finds_before_it_rates() -> None:
    prompt = filled("step-by-step")
    assert prompt.startswith("You rate one quality of a text: fluency. The text is")
    steps = [line[:2] for line in prompt.splitlines() if line[:1].isdigit()]
    assert steps == ["1.", "2.", "3.", "4."]
    assert '"about this quality"' in prompt and '"about another"' in prompt
    assert prompt.endswith('End with one line, "Rating: " and a number from 1 to 5.')
    reply = (
        "1. It covers 2 things.\n2. Findings:\n1) good\n3. Sorting: 1 counts.\n4. "
        "5 of 5.\n"
    )
    judgment = parse(f"{reply}Rating: 2", scale=FIVE, finish="stop")
    assert (judgment.value, judgment.rule) == (2, "labelled")


@pytest.mark.parametrize("form", ["step-by-step", "error-list"])
def test_a_form_without_an_aspect_shows_no_qualities(
    form: str,
) -> None:
    prompt = filled(form, aspect={"name": "", "definition": ""})
    assert "quality" not in prompt.lower() and "qualities" not in prompt.lower()
    unnamed = filled(form, aspect={"name": "", "definition": "How well it reads."})
    assert "\n\nHow well it reads.\n" in unnamed and "quality" in unnamed
