"""Annotators: what their form asks for, that it can be read, and what aspects tell
it.
"""

import re
from typing import Any

import pytest

from annotation_setup import ASPECT, VARIANTS
from judgescope.data.rated import SourcePart
from judgescope.parsing import annotation as parser
from judgescope.parsing.judgment import ErrorSpan, Scale
from judgescope.prompts import annotating, load, rated
from judgescope.prompts.filling import PreparedForm
from judgescope.schema.cards import AnnotationKeys, Aspect, Criterion, Wording
from judgescope.schema.cards import annotations as cards
from judgescope.schema.loading import read_card
from prompts_setup import CONFIG, FIVE, SUMMARY, about, filled

EMPTY = Criterion(criterion="empty", name="", definition="")
SCALES = (
    parser.OVERALL,
    Scale(cards.PERCENT.min, cards.PERCENT.max, cards.PERCENT.step),
)
"""That of words and 1 to 5, and that of 0 to 100."""
ASPECTS = {
    path.stem: read_card("aspect", path)
    for path in sorted((CONFIG / "aspects").glob("*.yaml"))
}
OF_TASKS = {
    "summarization": "consistency accuracy relevance coverage coherence fluency",
    "data-to-text": "faithfulness correctness coverage informativeness fluency "
    "grammaticality naturalness",
    "dialogue": "coherence relevance appropriateness empathy interesting engagingness "
    "fluency understandability understandable natural naturalness "
    "maintains-context groundedness uses-knowledge overall",
    "story": "relevance coherence engagement empathy surprise complexity",
    "qa": "correctness informativeness completeness conciseness relevance factuality "
    "faithfulness fluency naturalness grammaticality answer-quality",
    "simplification": "fluency meaning-preservation simplicity",
    "paraphrase": "overall readability fluency grammaticality coherence simplicity "
    "adequacy faithfulness non-contradiction non-hallucination informativeness",
}
"""The aspects of Kartáč et al.'s (2025) tasks, and those of the data sets that have a
card."""


def asked(aspect: Aspect = ASPECT, task: str = "summarization", **keys: Any) -> str:
    """Return an annotator's prompt."""
    result = annotating(AnnotationKeys(**keys)) | about(task).names
    return filled("annotate", **rated(aspect.in_task(task), FIVE), **result)


def told_form(prompt: str) -> str:
    """Return the lines in which a prompt wants its answer."""
    form = prompt.split("with nothing before, between or after them:\n\n")[1]
    return form.split("\n\nWhere there is no error")[0]


def told_scale(prompt: str, label: str) -> list[str]:
    """Return what a prompt allows on a line of its answer."""
    [allowed] = re.findall(rf"^{label}: <(.+)>$", told_form(prompt), re.MULTILINE)
    if allowed == "a whole number from 1 to 5":
        return ["1", "2", "3", "4", "5"]
    if allowed == "a multiple of 5 from 0 to 100":
        return ["0", "25", "50", "75", "100"]
    return re.fullmatch(r"one of: (.*)", allowed)[1].split(", ")  # type: ignore[index]


# --- the form ---


def test_the_form_s_words_are_those_that_the_parser_reads() -> None:
    words = (parser.VERDICTS, parser.SEVERITIES, parser.MOST)
    assert words == (cards.VERDICTS, cards.SEVERITIES, cards.MOST_ERRORS)
    OVERALL, read = cards.OVERALL, parser.OVERALL
    assert (OVERALL.min, OVERALL.max, OVERALL.step, (*OVERALL.labels,)) == (
        *(read.min, read.max, read.step),
        read.labels,
    )


@pytest.mark.parametrize("keys", VARIANTS, ids=str)
def test_an_answer_in_the_lines_that_are_asked_for_is_read(
    keys: dict[str, Any],
) -> None:
    prompt = asked(**keys)
    scores, severities = (
        told_scale(prompt, "Overall score"),
        told_scale(prompt, "Severity"),
    )
    scale = SCALES[keys["score"] == "percent"]
    for location, (score, severity) in enumerate(
        zip(scores, severities, strict=True), start=1
    ):
        value = float(score) if score.isdecimal() else location
        error, rest = told_form(prompt).split("\n\nError 2:\n(and so on)\n")
        category = (keys["categories"] or [None])[-1]
        for label, text in {
            "Location": "the red milk",
            "Explanation": "Milk is white.",
            "Severity": severity,
            "Category": category,
            "Overall score": score,
            "Explanation of the score": "One thing is off.",
        }.items():
            error = re.sub(
                rf"^{label}: <.*>$", f"{label}: {text}", error, flags=re.MULTILINE
            )
            rest = re.sub(
                rf"^{label}: <.*>$", f"{label}: {text}", rest, flags=re.MULTILINE
            )
        second = error.replace("Error 1", "Error 2").replace("the red milk", "None")
        result, _, counts = parser.read_annotation(
            f"{error}\n\n{second}\n{rest}", scale
        )
        assert "<" not in error + rest
        assert (result.status, result.value, counts["unread"]) == ("ok", value, 0)
        assert result.rationale == "One thing is off."
        first = ErrorSpan("the red milk", "Milk is white.", location, category)
        assert result.errors == (first, first._replace(location=None))
        result, clean, _ = parser.read_annotation(f"No Error\n{rest}", scale)
        assert (result.value, result.errors, clean) == (value, (), True)
    assert 'write the line "No Error"' in prompt


@pytest.mark.parametrize("keys", VARIANTS, ids=str)
def test_a_model_that_only_repeats_the_lines_has_not_answered(
    keys: dict[str, Any],
) -> None:
    echo = told_form(asked(**keys))
    judgment = parser.read_annotation(echo, SCALES[keys["score"] == "percent"]).judgment
    assert judgment.status == "unparsed"


def test_the_form_tells_task_quality_source_text_rules_steps_and_both_scales() -> None:
    prompt = asked()
    assert (
        "in one quality: clarity." in prompt
        and "The text is a summary of an article. " in prompt
    )
    assert "\n\nClarity: How clear it is.\n\nArticle:\nTHE SOURCE\n\n" in prompt
    assert "\n\nSummary to annotate:\n" in prompt
    assert "Do not mistake it for another: grammar, length." in prompt
    assert "A score below Excellent needs at least one error." in prompt
    assert "word for word" in prompt and "at most 8 errors" in prompt
    assert prompt.count("\n4. ") == 1 and "\n5. " not in prompt
    assert (
        "Unacceptable means that the text is a riddle; Excellent, that it is clear at o"
        in prompt
    )
    assert "severity is a whole number from 1 (" in prompt and "ategory" not in prompt
    assert "Unacceptable, Poor, Fair, Good, Excellent" in prompt


def test_a_variant_changes_what_it_says_and_nothing_else() -> None:
    plain, integers = asked(), asked(score="integers")
    assert "1 means that the text is a riddle; 5, that it is" in integers
    assert "A score below 5 needs" in integers and "Excellent" not in integers
    words = asked(severity="categories")
    assert (
        "Neutral, Minor, Moderate, Major, Critical" in words and "Neutral" not in plain
    )
    bare = asked(rules=False)
    before, rest = plain.split("\n\nRules:\n")
    assert bare == before + "\n\nSteps:\n" + rest.split("\n\nSteps:\n")[1]
    named = asked(categories=["Wrong name", "Other"])
    assert (
        "\n- Wrong name\n- Other\n" in named
        and "\nCategory: <one of the categ" in named
    )


def test_what_an_aspect_is_unlike_need_not_be_reported() -> None:
    prompt = asked(ASPECT.model_copy(update={"unlike": []}))
    assert (
        "Annotate this quality and nothing else.\n" in prompt
        and "mistake" not in prompt
    )


@pytest.mark.parametrize("keys", VARIANTS, ids=str)
def test_a_judge_that_was_taught_is_reported_little(keys: dict[str, Any]) -> None:
    result = annotating(AnnotationKeys(**keys))
    prompt = filled("distilled", **rated(ASPECT.in_task("qa"), FIVE), **result)
    assert "in one quality: clarity. The text is a summary of an article. " in prompt
    assert "\n\nClarity: How clear it is.\n" in prompt
    assert "\n\nArticle:\nTHE SOURCE\n\nSummary to annotate:\nTHE TEXT\n\n" in prompt
    assert "at most 8 errors" in prompt
    for more in ("grammar", "no reply", "clear at once", "Look.", "Rules", "Steps"):
        assert more not in prompt
    first, last = result["annotation"]["scores"][0], result["annotation"]["scores"][-1]
    assert f"from {first} (worst) to {last} (best)" in prompt
    assert ("in steps of 5" in prompt) == (keys["score"] == "percent")
    unnamed = filled("distilled", **rated(ASPECT.worded(EMPTY), FIVE), **result)
    assert "quality" not in unnamed and "larity" not in unnamed


def test_the_form_of_a_judge_that_was_taught_is_filled_by_places() -> None:
    result = SUMMARY.names | rated(ASPECT, FIVE)
    result |= annotating(AnnotationKeys(score="percent"))
    form = PreparedForm("distilled", load("distilled", [CONFIG], where=""), result)
    parts = [SourcePart("Article", "A")]
    complete = form.fill({"source_plain": "A", "text": "B"}, parts)
    expected = filled("distilled", parts, **result, text="B")
    assert form.prints and complete.prompt == expected


def test_steps_are_the_aspect_s_own_where_it_has_some() -> None:
    assert "Steps:\n1. Look.\n2. Weigh.\n\nAn error's severity" in asked(task="qa")


@pytest.mark.parametrize("task", [*OF_TASKS, "dialogue-summarization", "translation"])
def test_every_task_is_reported_in_words(task: str) -> None:
    assert "The text is a" in asked(task=task) and "of the task" not in asked(task=task)
    assert "The text is a text (task: haiku)." in asked(task="haiku")


def test_a_form_for_texts_is_filled_by_their_places() -> None:
    """Else it would be rendered for each of a hundred thousand texts."""
    result = SUMMARY.names | rated(ASPECT, FIVE) | annotating(AnnotationKeys())
    form = PreparedForm("annotate", load("annotate", [CONFIG], where=""), result)
    parts = [SourcePart("Article", "A")]
    complete = form.fill({"source_plain": "A", "text": "B"}, parts)
    expected = filled("annotate", parts, **result, text="B")
    assert form.prints and complete.prompt == expected


# --- aspects ---


def test_a_task_s_own_words_replace_the_general_ones() -> None:
    result = ASPECT.in_task("qa")
    assert (result.unlike, result.worst, result.best) == (
        ["truth"],
        "no reply",
        "clear at once",
    )
    result = ASPECT.in_task("story")
    assert (result.worst, result.best, result.unlike) == (
        "a riddle",
        "a clear tale",
        ASPECT.unlike,
    )
    assert ASPECT.in_task("translation").worst == "a riddle"


@pytest.mark.parametrize(
    ("wording", "kept"),
    [
        (Wording(definition="Is it clear?"), True),
        (Wording(name=""), True),
        (Wording(note="Be strict."), True),
        (Criterion(criterion="c", note="Be strict."), True),
        (Wording(definition=""), False),
        (Wording(definition="", note="Be strict."), False),
        (Criterion(criterion="c", definition=""), False),
        (Criterion(criterion="c", definition="How glavorous it is."), False),
    ],
)
def test_a_wording_that_withholds_the_meaning_withholds_the_ends(
    wording: Wording, kept: bool
) -> None:
    result = ASPECT.in_task("qa").worded(wording)
    prompt = asked(result, "qa")
    for shown_ in ("no reply", "clear at once", "truth", "1. Look."):
        assert (shown_ in prompt) == kept
    assert ("Unacceptable is the worst, Excellent the best." in prompt) != kept
    unsaid = Aspect(aspect="a", name="A", definition="B").worded(wording)
    assert (unsaid.worst, unsaid.best, unsaid.unlike) == (None, None, [])


def test_an_annotator_that_is_not_told_what_it_judges_is_not_told_of_qualities() -> (
    None
):
    prompt = asked(ASPECT.worded(EMPTY))
    assert "quality" not in prompt and "clarity" not in prompt.lower()


@pytest.mark.parametrize("name", ASPECTS)
def test_every_shipped_aspect_has_two_ends_that_complete_a_sentence(name: str) -> None:
    card = ASPECTS[name]
    for task in ["translation", *OF_TASKS]:
        result = card.in_task(task)
        assert result.worst and result.best and result.worst != result.best
        for end in (result.worst, result.best):
            assert end[0].islower() and end[-1].isalpha() and "\n" not in end
        assert result.unlike or name in {"overall", "annotation"}
        assert not {card.name.lower(), name.replace("-", " ")} & {*result.unlike}


@pytest.mark.parametrize("task", OF_TASKS)
def test_the_aspects_of_a_task_make_prompts(task: str) -> None:
    prompts = [asked(ASPECTS[name], task) for name in OF_TASKS[task].split()]
    assert len({*prompts}) == len(prompts) == len(OF_TASKS[task].split())
