"""Prompts: what a template is given and nothing else; texts are never templates."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject
from judgescope.prompts import (
    WriterChange,
    change_of,
    load,
    material,
    rated,
    to_merge_names,
    to_write,
)
from judgescope.prompts.filling import messages
from judgescope.replies.few_shot import Demonstrations, Rated
from judgescope.replies.judging import Questions
from judgescope.schema.cards import (
    Aspect,
    AspectInTask,
    Judge,
    OpenAIModel,
    RatedAspect,
    RatingScale,
)
from parsed import parse
from prompts_setup import (
    ASPECT,
    CONFIG,
    FIVE,
    FORMS,
    IMPROVING,
    SUMMARY,
    VALUES,
    VERDICTS,
    about,
    asked_about,
    filled,
)

VALUES["aspect"] |= {"sub_aspects": [{"name": "Spelling", "definition": "No slips."}]}
ADJUSTING = (
    *("adjust-examples", "adjust-steps"),
    *("fictional-entities", "grammatical-errors", "rewriting-insertion"),
)
"""Writers' forms that show no source: what they change is in the text."""
RATING = ("score-only", "rate-explain", "analyze-rate")


def fill(folder: Path, form: str, *others: Path, **values: object) -> str:
    """Fill a template of the user's own, which may include those in other folders."""
    (folder / "prompts").mkdir()
    (folder / "prompts" / "mine.jinja").write_text(form, encoding="utf-8")
    [message] = messages(
        "mine", load("mine", [folder, *others], where="judge x"), **values
    )
    return message["content"]


def filled_with(folder: Path, text: str, **values: Any) -> str:
    return fill(folder, text, CONFIG, **VALUES | values)


@pytest.mark.parametrize("form", FORMS)
def test_every_shipped_form_shows_the_text_and_the_source_given_one(
    form: str,
) -> None:
    assert "THE TEXT" in filled(form)
    assert ("THE SOURCE" in filled(form)) == (form not in ADJUSTING)
    assert "source" not in filled(form, parts=[]).lower()
    assert filled(form) == filled(form).strip()


@pytest.mark.parametrize(("form", "shown"), IMPROVING.items())
def test_a_form_that_improves_shows_the_source_and_the_reference_only_if_it_is_of_use(
    form: str, shown: str
) -> None:
    assert "\nTHE SOURCE\n" in filled(form)
    assert ("THE TEXT" in filled(form)) == bool(shown)
    again = filled(form, problem="it is a refusal")
    assert again.count("An earlier attempt cannot be used: it is a refusal.") == 1
    assert "earlier" not in filled(form)


def test_supervisor_sees_the_text_every_list_and_the_categories_if_any() -> None:
    error = {"location": "THE", "explanation": "Why.", "severity": 4, "category": None}
    bare = [
        [{**error, "location": None, "severity": None}],
        [error, {**error, "severity": 1}],
    ]
    prompt = filled("merge-errors", **to_merge_names(SUMMARY, "THE TEXT", bare))
    assert "THE TEXT" in prompt and "THE SOURCE" not in prompt
    assert (
        "Annotator 2\n\nError 1:\nLocation: THE\nExplanation: Why.\nSeverity: 4\n"
        in prompt
    )
    assert (
        "Annotator 1\n\nError 1:\nLocation: None\n" in prompt
        and "Annotator 3" not in prompt
    )
    assert prompt.count("Error 2:") == 1 and "Category" not in prompt
    result = filled(
        "merge-errors",
        **to_merge_names(SUMMARY, "THE TEXT", [[{**error, "category": "Style"}]]),
    )
    assert "Severity: 4\nCategory: Style\n" in result and result.count("Category:") == 2


@pytest.mark.parametrize("task", ["summarization", "dialogue", "translation"])
def test_a_reference_is_written_from_the_source_alone(task: str) -> None:
    prompt = filled("write-reference", task=task)
    assert "THE SOURCE" in prompt and "THE TEXT" not in prompt


@pytest.mark.parametrize("form", ADJUSTING)
def test_a_form_that_adjusts_says_how_much_and_what_the_text_is(form: str) -> None:
    each, several = (
        filled(form),
        filled(form, k=None, min_edits=2, **about("story").names),
    )
    assert "exactly one" in each and "one summary" in each
    assert (
        "2 or more" in several and "one story" in several and "summary" not in several
    )
    again = filled(form, problem="it is the same text")
    assert again.count("An earlier attempt cannot be used: it is the same text.") == 1


def test_change_described_by_a_card_is_a_prompt_name_only_where_given() -> None:
    degree = {"k": 1, "min_edits": None}
    answer, changed = about("qa"), change_of({"adjustment": None, "k": 2})
    silent = to_write(answer, degree, changed, text="x")
    result = {"k", "min_edits", "problem", "text", "reply"}
    assert set(silent) == result | answer.names.keys() | material([]).keys()
    change = WriterChange(
        adjustment="Name a wrong colour.", instructions=["Look.", "Change it."]
    )
    prompt = filled("adjust-steps", **to_write(about("qa"), degree, change))
    assert "Name a wrong colour. Make exactly one such change.\n" in prompt
    assert "Steps:\n1. Look.\n2. Change it.\n\nThe answer:\n" in prompt
    assert "exactly 5 such changes" in filled("adjust-steps", k=5)
    assert "wherever it can be made" in filled("adjust-steps", k="all")


def test_a_form_with_examples_shows_them_in_order_and_what_is_wanted() -> None:
    shown = [{"text": f"Old {n}.", "changed": f"New {n}."} for n in (1, 2)]
    prompt = filled("adjust-examples", demonstrations=shown)
    assert "Text 1:\nOld 1.\nAdjusted text 1:\nNew 1.\n\nText 2:\nOld 2.\n" in prompt
    assert "Adjusted text 2:\nNew 2.\n\nThe summary:\nTHE TEXT" in prompt
    assert prompt.endswith(
        "Write the adjusted summary alone, with no word before or after it."
    )
    appended = filled("adjust-examples", demonstrations=shown, reply="appended")
    assert (
        "\nNew sentence 2:\nNew 2.\n" in appended and "djusted summary" not in appended
    )
    assert appended.endswith(
        "Write the new sentence alone, with no word before or after it."
    )


def test_a_form_shows_the_steps_of_its_task_and_fails_without_any() -> None:
    fields = {
        "story": AspectInTask(steps=["Read.", "Weigh."], definition="How it goes on.")
    }
    card = ASPECT.model_copy(update={"tasks": fields})
    prompt = filled("score-steps", **rated(card.in_task("story"), FIVE))
    assert "Fluency: How it goes on." in prompt and "1. Read.\n2. Weigh.\n" in prompt
    with pytest.raises(UserError, match="steps"):
        filled("score-steps", **rated(card.in_task("qa"), FIVE))


@pytest.mark.parametrize("form", RATING)
def test_a_rating_form_names_aspect_definition_and_both_ends_of_the_scale(
    form: str,
) -> None:
    prompt = filled(form)
    assert "Fluency: How well it reads." in prompt and "from 1 to 5" in prompt
    assert "1.0" not in prompt and "steps of 1" in prompt
    halves = filled(
        form, **rated(ASPECT, RatingScale(min=0, max=1, step=0.5, labels=[]))
    )
    assert "from 0 to 1" in halves and "steps of 0.5" in halves
    worded = RatingScale(min=1, max=2, step=1, labels=["bad", "good"])
    assert ": bad, good." in filled(form, **rated(ASPECT, worded))
    assert "steps" not in filled(
        form, **rated(ASPECT, RatingScale(min=0, max=1, labels=[]))
    )


@pytest.mark.parametrize("form", VERDICTS)
def test_a_verdict_form_names_aspect_definition_and_labels(form: str) -> None:
    prompt = filled(form)
    assert "Fluency: How well it reads." in prompt
    assert "one of 2 labels: fail or pass." in prompt
    assert "THE SOURCE" not in filled(form, parts=[])
    three = rated(ASPECT, RatingScale(labels=["no", "partly", "yes"], ordered=False))
    assert "one of 3 labels: no, partly or yes." in filled(form, **three)
    with pytest.raises(UserError, match="choices"):
        filled(form, **rated(ASPECT, FIVE))
    with pytest.raises(UserError, match="min"):
        filled("score-only", **three)


@pytest.mark.parametrize(
    "text",
    [
        "{{ aspect }}",
        "{% include 'task.jinja' %}",
        "{# gone #}",
        "{{ 7 * 7 }}",
        "{%",
        "<b>",
    ],
)
def test_what_looks_like_a_template_in_a_text_stays_text(text: str) -> None:
    for name in ("text", "text_b"):
        assert text in filled("compare", **{name: text})
    assert text in filled("compare", parts=[SourcePart("Article", text)])


def test_the_users_form_goes_before_the_shipped_and_may_include_it(
    tmp_path: Path,
) -> None:
    assert filled_with(tmp_path, '{% include "score-only.jinja" %} Yes.').endswith(
        "nothing else. Yes."
    )
    (tmp_path / "prompts" / "score-only.jinja").write_text(
        "Mine: {{ text }}", encoding="utf-8"
    )
    templates = load("score-only", [tmp_path, CONFIG], where="")
    assert messages("score-only", templates, **VALUES)[0]["content"] == "Mine: THE TEXT"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ txt }}", "'txt' is undefined"),
        ("{{ text.format.__globals__ }}", "cannot be rendered"),
        ("{{ ''.__class__.__mro__ }}", "cannot be rendered"),
        ("{% if %}", "is not a valid template"),
        ('{% include "nothing.jinja" %}', "unknown prompt"),
    ],
)
def test_a_template_that_cannot_be_filled_is_named(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UserError, match=message) as error:
        filled_with(tmp_path, text)
    assert "mine.jinja" in error.value.where or error.value.where == "judge x"


def test_a_form_that_is_missing_tells_the_nearest() -> None:
    with pytest.raises(UserError) as error:
        load("score_only", [CONFIG], where="judges/x.yaml, key form")
    assert "nearest: score-only" in str(
        error.value
    ) and "judges/x.yaml, key form" in str(error.value)


def test_letters_stay_as_they_are_and_blank_ends_go(tmp_path: Path) -> None:
    assert (
        fill(tmp_path, "\n  Größe – {{ text }}\n\n", text="naïve\n") == "Größe – naïve"
    )


@pytest.mark.parametrize("form", ["{{ labels.append('x') }}", "{{ labels.clear() }}"])
def test_a_form_cannot_change_what_it_is_given(tmp_path: Path, form: str) -> None:
    labels = ["bad", "good"]
    with pytest.raises(UserError, match="cannot be rendered"):
        fill(tmp_path, form, labels=labels)
    assert labels == ["bad", "good"]


def test_a_name_that_is_not_given_tells_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'txt' is undefined") as error:
        fill(tmp_path, "{{ txt }}", text="", source="")
    assert error.value.allowed == ["source", "text"]


@pytest.mark.parametrize(
    "form",
    [
        "{{ source | length }}",
        "{{ 1 / 0 }}",
        "{{ range(10 ** 9) | list }}",
        "{{ text.nothing.more }}",
        '{% include "mine.jinja" %}',
    ],
)
def test_a_form_that_fails_as_a_program_is_the_users_error(
    tmp_path: Path, form: str
) -> None:
    with pytest.raises(UserError, match=r"cannot be rendered: .+") as error:
        fill(tmp_path, form, text="", source=None)
    assert error.value.where == "prompts/mine.jinja"


def test_a_form_that_is_not_utf8_is_named_with_the_byte(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.jinja").write_bytes("Gr\xf6\xdfe".encode("latin-1"))
    with pytest.raises(UserError, match="not UTF-8") as error:
        load("mine", [tmp_path], where="judge x")
    assert error.value.where == "prompts/mine.jinja, byte 2"


def test_a_form_includes_no_file_that_a_text_names(tmp_path: Path) -> None:
    """Only names written in a form are read; a value names nothing."""
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be rendered"):
        fill(tmp_path, "{% include text %}", text="../secret")


FORM = (
    "{{ text }} {{ scale.choices }}{% if hint %} A friend says {{ hint }}.{% endif %}"
    "{% for shot in shots or [] %} [{{ shot.text }}: {{ shot.rating }}]{% endfor %}"
)
VERDICT_ = RatedAspect(labels=["fail", "pass"])
TEXTS = [Subject("i:a", "i", "a", "systems", "TEXT", "SOURCE")]


def asked(**keys: Any) -> Questions:
    """Return the questions of a cell on labels."""
    judge = Judge.model_validate({"judge": "j", "model": "m", "form": "mine"} | keys)
    rated = [
        Rated(Subject(f"o{n}:s", f"o{n}", "s", "systems", f"SHOT-{n}", None), n / 4)
        for n in range(5)
    ]
    return Questions(
        OpenAIModel(model="m", engine="openai", base_url="http://127.0.0.1:1/v1"),
        judge,
        Aspect(aspect="right", name="Right", definition="It is right."),
        VERDICT_,
        asked_about(judge, TEXTS),
        {
            "mine.jinja": FORM.replace(
                "shots or []", "shots" if judge.shots else "[]"
            ).replace("if hint", "if true" if judge.hint else "if false")
        },
        0,
        SUMMARY,
        demonstrations=Demonstrations(rated, judge.shots, VERDICT_, None)
        if judge.shots
        else None,
        hints={"i:a": "1"} if judge.hint else None,
    )


def test_a_hint_and_ratings_of_demonstrations_are_labels() -> None:
    assert asked().prompt(0) == "TEXT fail or pass"
    hint = {"rating": "right", "baseline": "b"}
    assert asked(hint=hint).prompt(0) == "TEXT fail or pass A friend says pass."
    prompt = asked(shots={"n": 2}).prompt(0)
    assert prompt.count(": fail]") == prompt.count(": pass]") == 1
    assert not any(
        digit in prompt.replace("SHOT-", "") for digit in (".0", ": 0", ": 1")
    )


def test_a_structured_comparison_is_one_of_its_three_answers() -> None:
    card = {"model": "m", "form": "compare", "structured": "choice"}
    judge = Judge.model_validate({"judge": "j", **card})
    templates = load("compare", [CONFIG], where="")
    model = OpenAIModel(model="m", engine="openai", base_url="http://127.0.0.1:1/v1")
    aspect = Aspect(aspect="right", name="Right", definition="It is right.")
    cell = Questions(model, judge, aspect, VERDICT_, [], templates, 0, SUMMARY)
    wants = cell.wants
    values = [
        parse(choice, scale=None, finish="stop", parser="choice")
        for choice in wants["choices"]
    ]
    assert [value.value for value in values] == [1.0, -1.0, 0.0]


@pytest.mark.parametrize(
    ("structured", "key", "value"),
    [
        ("choice", "choices", ["fail", "pass"]),
        ("json", "json_schema", {"enum": ["fail", "pass"]}),
    ],
)
def test_structured_replies_are_labels(
    structured: str, key: str, value: object
) -> None:
    wants = asked(structured=structured).wants[key]
    assert (wants["properties"]["rating"] if key == "json_schema" else wants) == value
