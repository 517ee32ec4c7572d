"""Judges that ask how probable a text is: what `check` refuses, and what is asked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data_samples import table
from judgescope import prompts
from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject
from judgescope.engines.requests import Request
from judgescope.plan.checks.judges import check_hint, check_judge
from judgescope.plan.checks.likelihood import check_seen
from judgescope.plan.judges import shares_score
from judgescope.plan.notices import scored_alone
from judgescope.plan.study import Plan
from judgescope.prompts import filling
from judgescope.replies.scored_texts import ScoredTextQuestions
from judgescope.schema import cards
from judgescope.schema.cards import (
    Aspect,
    Dataset,
    Judge,
    LlamaModel,
    OpenAIModel,
    RatedAspect,
    RecordedModel,
    VllmModel,
)
from prompts_setup import about
from running import HOME
from study import Study

POINTS = {"min": 1, "max": 5, "step": 1}
LLAMA = LlamaModel(
    model="small", engine="llama", path="x.gguf", sha256={"data": "0" * 64}
)
VLLM = VllmModel(model="large", engine="vllm", name="large")
OPENAI = OpenAIModel(model="far", engine="openai", base_url="http://127.0.0.1:1/v1")
RECORDED = RecordedModel.model_validate(
    {
        "model": "old",
        "engine": "recorded",
        "dataset": "mine",
        "files": "x.jsonl",
        "rows": {"item": "id", "scores": {"*": "s"}},
    }
)
FORM = {
    "likelihood.jinja": (HOME / "config" / "prompts" / "likelihood.jinja").read_text(
        "utf-8"
    )
}


def data(source: str | None = "q") -> dict[str, Dataset]:
    columns = {"item": "id", "text": "a"} | ({"source": source} if source else {})
    return {"mine": table("x.jsonl", columns, aspects={"fluency": POINTS})}


def judge(**keys: Any) -> Judge:
    fields = {"judge": "j", "model": "small", "form": "likelihood", "estimator": "pmi"}
    return Judge.model_validate({**fields, **keys})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("draws", 2),
        ("temperature", 0.5),
        ("top_p", 0.9),
        ("seed", "study"),
        ("structured", "choice"),
        ("stop", ["."]),
        ("scale", POINTS),
        ("parser", "score"),
        ("read", {"pattern": "(?P<verdict>.)"}),
        ("examples", [{"reply": "5", "value": 5}]),
        ("hint", {"baseline": "other"}),
        ("shots", {"n": 2}),
        ("annotation", {}),
        ("spotlight", True),
        ("use_reference", True),
        ("off_grid", "keep"),
        ("threshold", "best"),
        ("cut", "read"),
    ],
)
def test_key_that_needs_a_written_reply_is_refused(key: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"`{key}` cannot be used with") as caught:
        check_judge(judge(**{key: value}), LLAMA, data())
    assert f"judges/j.yaml, key {key}" in str(caught.value)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (OPENAI, "an endpoint returns no probabilities of a given text"),
        (RECORDED, "recorded replies are not scored again"),
    ],
)
def test_engine_without_the_probabilities_of_a_text_is_refused(
    model: cards.Model, why: str
) -> None:
    with pytest.raises(UserError, match=why) as caught:
        check_judge(judge(), model, data())
    assert "key estimator" in str(caught.value) and "llama or vllm" in str(caught.value)


@pytest.mark.parametrize("model", [LLAMA, VLLM])
@pytest.mark.parametrize("estimator", ["likelihood", "pmi"])
def test_models_of_this_machine_are_accepted(model: Any, estimator: str) -> None:
    check_judge(judge(estimator=estimator), model, data())


def test_form_that_compares_is_refused() -> None:
    with pytest.raises(UserError, match="a form that shows no text"):
        check_judge(judge(form="compare"), LLAMA, data())


def test_grammar_of_the_model_card_is_refused() -> None:
    model = LLAMA.model_copy(update={"extra_body": {"grammar": "root ::= [1-5]"}})
    with pytest.raises(UserError, match="replaces the grammar") as caught:
        check_judge(judge(), model, data())
    assert "models/small.yaml, key extra_body.grammar" in str(caught.value)


def test_pmi_without_sources_is_refused_and_likelihood_is_not() -> None:
    with pytest.raises(UserError, match="this dataset has no sources"):
        check_judge(judge(), LLAMA, data(source=None))
    check_judge(judge(estimator="likelihood"), LLAMA, data(source=None))


def test_pmi_of_an_aspect_whose_raters_saw_no_source_is_refused() -> None:
    blind = RatedAspect.model_validate(POINTS | {"source_visible": False})
    with pytest.raises(UserError, match="raters of this aspect did not see it"):
        check_seen(judge(), "mine, fluency", blind)
    check_seen(judge(estimator="likelihood"), "mine, fluency", blind)


def test_judge_that_scores_texts_is_no_baseline_of_a_hint() -> None:
    hinted = Judge.model_validate(
        {
            "judge": "h",
            "model": "small",
            "form": "rate-hinted",
            "hint": {"baseline": "j"},
        }
    )
    with pytest.raises(UserError, match="the baseline must be a judge"):
        check_hint(hinted, {"j": judge(), "h": hinted}, set())


def test_lowest_rating_that_is_best_needs_no_scale() -> None:
    """A likelihood is better the higher it is, whatever people's scale."""
    turned = {
        "mine": table(
            "x.jsonl",
            {"item": "id", "text": "a", "source": "q"},
            aspects={"errors": POINTS | {"best": "min"}},
        )
    }
    check_judge(judge(), LLAMA, turned)


def questions(estimator: str, *texts: str) -> ScoredTextQuestions:
    shown = [
        (
            Subject(
                f"t{number}",
                "i",
                "s",
                "systems",
                text,
                parts=(SourcePart("Question", "Why?"),),
            ),
        )
        for number, text in enumerate(texts)
    ]
    return ScoredTextQuestions(
        model=LLAMA,
        judge=judge(estimator=estimator, max_tokens=24),
        aspect=Aspect(aspect="fluency", name="Fluency", definition="It flows."),
        scale=RatedAspect.model_validate(POINTS),
        shown=shown,
        templates=FORM,
        seed=1,
        about_texts=about("qa"),
    )


def test_pmi_asks_twice_the_second_time_without_the_source() -> None:
    asked = questions("pmi", "Because.", "So.")
    assert len(asked) == 4
    kinds = [asked.kind(number) for number in range(4)]
    assert kinds == ["score", "score-free"] * 2
    assert [asked.text_columns(number)["target"] for number in range(4)] == [
        *("t0", "t0", "t1", "t1")
    ]
    with_source = "Write an answer to the question.\n\nQuestion:\nWhy?"
    assert [asked.prompt(number) for number in range(2)] == [
        with_source,
        "Write an answer to the question.",
    ]
    assert len(questions("likelihood", "Because.")) == 1


def test_request_has_the_text_and_no_token() -> None:
    [request] = questions("likelihood", "Because.")
    assert isinstance(request, Request)
    assert request.asked["continuation"] == "Because."
    assert request.asked["max_tokens"] == 24
    assert (request.asked["temperature"], request.asked["top_p"]) == (0, 1)
    assert request.asked["variant"].endswith(", scored by decoding")
    assert not {"grammar", "logprobs", "prompt"} & request.asked.keys()


def test_planned_key_is_that_of_the_request() -> None:
    asked = questions("pmi", "Because.", "So.")
    planned = [asked.outline(number).key.hex() for number in range(len(asked))]
    assert planned == [request.key for request in asked]
    assert len({*planned}) == 4


def test_equal_texts_of_a_source_are_a_single_request() -> None:
    keys = {request.key for request in questions("pmi", "Because.", "Because.")}
    assert len(keys) == 2


@pytest.mark.parametrize("task", ["qa", "story", "limericks"])
@pytest.mark.parametrize("source", ["The source.", None])
def test_form_prints_the_task_and_the_source_under_a_heading(
    task: str, source: str | None
) -> None:
    parts = [SourcePart("Given", source)] if source else []
    names = about(task).names | prompts.material(parts)
    [message] = filling.messages("likelihood", FORM, **names)
    head, _, rest = message["content"].partition("\n\n")
    assert head == names["write"]
    heading = [f"{part['name']}:\n{part['text']}" for part in names["parts"]]
    assert rest == "\n\n".join(heading)
    assert bool(rest) == (source is not None)


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planned_study(tmp_path: Path, form: str | None = None) -> Plan:
    """Return the plan of a study whose judge scores texts, with a form of its own."""
    study = Study(tmp_path)
    study.card(
        "models", "small", model="small", engine="llama", path=str(tmp_path / "x.gguf")
    )
    fields = {"model": "small", "form": "likelihood", "estimator": "pmi"}
    if form is not None:
        folder = tmp_path / "config" / "prompts"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mine.jinja").write_text(form)
        fields["form"] = "mine"
    study.card("judges", "fits", **fields)
    return study.plan(judges=["fits"])


def test_form_that_shows_the_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="shows the variable `text`"):
        planned_study(tmp_path, "{{ write }} {{ parts }} {{ text }}")


def test_form_of_pmi_that_hides_the_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the same without the source"):
        planned_study(tmp_path, "{{ write }}")


def test_form_of_ones_own_may_name_the_aspect(tmp_path: Path) -> None:
    form = "{{ write }} Mind its {{ aspect.name }}. {{ parts }}"
    plan = planned_study(tmp_path, form)
    assert not shares_score(plan, plan.judges["fits"])


def test_shipped_form_gives_every_aspect_the_same_score(tmp_path: Path) -> None:
    plan = planned_study(tmp_path)
    assert shares_score(plan, plan.judges["fits"])


def test_a_study_without_length_and_copies_is_noted(tmp_path: Path) -> None:
    plan = planned_study(tmp_path)
    lines = [*scored_alone(plan)]
    assert any("copies of the source" in line for line in lines)
    assert not [*scored_alone(replace(plan, judges={}))]
