"""Decision models on loopback: what is sent, what is read, what a refusal says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from budget_jobs import requests as at_most
from deciding import decider, decision, listed, reply_of
from judgescope.cli.decision_probe import answered
from judgescope.core.errors import UserError
from judgescope.engines.factory import asking
from judgescope.engines.requests import HOPELESS, Reply, Request, Work
from judgescope.engines.systemone import SystemOneEngine
from judgescope.engines.systemone_wire import usage_of
from judgescope.parsing.decisions import read_decision
from judgescope.parsing.judgment import Scale
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.budget import Spending
from judgescope.replies.caps import NANOS, Cap
from judgescope.replies.store import Store
from judgescope.schema.cards import SystemOneModel
from scripted import Body, Endpoint, Said, refusal, serve

FAST = {"backoff": 0.01, "attempts": 2, "concurrency": 2, "timeout": 10, "patience": 20}
CHOICE = {"type": "choice", "instructions": "Which?", "criteria": {"a": None, "b": "B"}}
NOUL = {
    "type": "noul",
    "instructions": "Is it good?",
    "criteria": {"true": "good", "false": "bad"},
}
SCORE = {"type": "score", "instructions": "How good?", "criteria": ["1", "2", "3"]}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that gives each option the same probability, the first one more."""
    with serve(decider(lambda _, question: _shares(question))) as running:
        yield running


def _shares(question: Any) -> list[float]:
    return {"noul": [0.8, 0.2], "choice": [0.7, 0.3], "score": [0.2, 0.3, 0.5]}[
        question["type"]
    ]


def card(endpoint: Endpoint, **keys: Any) -> SystemOneModel:
    fields = {"model": "it", "engine": "systemone", "base_url": endpoint.url}
    return SystemOneModel.model_validate(fields | {"limits": FAST} | keys)


def request(
    model: SystemOneModel, question: Any = CHOICE, text: str = "A text."
) -> Request:
    asked = {**model.identity(), "state": {"text": text}, "question": question}
    return Request(asked, about=text)


def ask(model: SystemOneModel, *asked: Request) -> list[Reply]:
    """Return the replies to some requests; a failure fails the test."""
    came = list[Reply]()
    failures = asking(model)([Work(each, (0,)) for each in asked], False, came.append)
    assert not failures, failures
    return came


# --- what is sent ---------------------------------------------------------------------


def test_a_request_has_a_state_and_a_single_question_and_no_decoding(
    endpoint: Endpoint,
) -> None:
    model = card(endpoint, name="org/it", extra_body={"keep_alive": "1m"})
    ask(model, request(model))
    assert endpoint.asked == [
        {
            "model": "org/it",
            "state": {"text": "A text."},
            "questions": {"verdict": CHOICE},
            "keep_alive": "1m",
        }
    ]
    assert endpoint.paths == ["/v1/systemone"]


def test_a_key_has_what_changes_a_decision_and_no_address(endpoint: Endpoint) -> None:
    model = card(endpoint)
    asked = request(model).asked
    assert asked.keys() == {
        *("engine", "model", "revision", "variant", "extra_body", "wire"),
        *("state", "question"),
    }
    moved = card(endpoint, path="/other", price={"input": 1, "output": 0})
    assert request(moved).key == request(model).key
    for keys in ({"variant": "q4"}, {"revision": "r2"}, {"wire": "decisions"}):
        assert request(card(endpoint, **keys)).key != request(model).key
    assert request(model, NOUL).key != request(model).key


def test_the_path_and_the_key_are_the_cards(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECIDER_KEY", "sk-very-secret")
    model = card(endpoint, path="/decide", api_key_env="DECIDER_KEY")
    ask(model, request(model))
    assert endpoint.paths == ["/v1/decide"]
    assert endpoint.authorised == ["Bearer sk-very-secret"]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"base_url": "http://127.0.0.1:1/v1/systemone"}, "is added to it"),
        ({"extra_body": {"state": "x"}}, "extra_body may not contain state"),
        ({"extra_body": {"temperature": 0}}, "may not contain temperature"),
        ({"wire": "chat"}, "decisions"),
        ({"field_names": {}}, "field_names"),
    ],
)
def test_a_card_that_cannot_work_is_refused(
    endpoint: Endpoint, keys: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        card(endpoint, **keys)


# --- what is kept ---------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["bare", "vllm", "llama"])
@pytest.mark.parametrize("question", [CHOICE, NOUL, SCORE])
def test_the_answer_is_kept_complete_with_version_and_usage(
    endpoint: Endpoint, dialect: Any, question: dict[str, Any]
) -> None:
    endpoint.script = decider(lambda _, asked: _shares(asked), dialect)
    model = card(endpoint)
    [reply] = ask(model, request(model, question))
    kept = json.loads(reply.text)
    mass = {"label_mass": 0.98} if dialect == "vllm" else {}
    assert kept == {**decision(question, _shares(question)), **mass}
    assert reply.usage == {"prompt": 11, "completion": 0}
    assert reply.provenance == {"engine": "systemone", "model": "decider-1"}


@pytest.mark.parametrize("question", [CHOICE, NOUL, SCORE])
def test_the_protocol_of_decisions_is_kept_in_the_same_spelling(
    endpoint: Endpoint, question: dict[str, Any]
) -> None:
    answer = decision(question, _shares(question))
    endpoint.script = lambda _: listed(answer)
    model = card(endpoint, wire="decisions")
    [reply] = ask(model, request(model, question))
    kept = json.loads(reply.text)
    for name in ("type", "noul", "choice", "probabilities"):
        assert kept.get(name) == answer.get(name)
    assert endpoint.paths == ["/v1/decisions"]


@pytest.mark.parametrize("wire", ["systemone", "decisions"])
def test_levels_with_other_labels_than_asked_have_no_verdict(
    endpoint: Endpoint, wire: str
) -> None:
    answer = decision(SCORE, _shares(SCORE))
    model = card(endpoint, wire=wire)
    verdicts = []
    for labels in (("1", "2", "3"), ("3", "2", "1")):
        answer["legend"] = dict(zip("012", labels, strict=True))
        spelled = reply_of(answer) if wire == "systemone" else listed(answer)
        endpoint.script = lambda _, spelled=spelled: spelled  # type: ignore[misc]
        [reply] = ask(model, request(model, SCORE))
        verdicts.append(read_decision(reply.text, Scale(1, 3, 1)).rule)
    assert verdicts == ["decision.score", "contradiction"]


@pytest.mark.parametrize("question", [CHOICE, NOUL, SCORE])
def test_the_protocol_of_decisions_is_that_of_the_pinned_package(
    endpoint: Endpoint, question: dict[str, Any]
) -> None:
    params = pytest.importorskip("openai.types.decision_create_params")
    answers = pytest.importorskip("openai.types").Decision
    answer = listed(decision(question, _shares(question)))
    endpoint.script = lambda _: answer
    model = card(endpoint, wire="decisions")
    ask(model, request(model, question))
    [sent] = endpoint.asked
    checked = TypeAdapter(params.DecisionCreateParams).validate_python(sent)
    [listed_question] = list(checked["questions"])
    assert listed_question["name"] == "verdict"
    assert json.loads(sent["input"]) == {"text": "A text."}
    if question is NOUL:
        assert listed_question["instructions"].endswith("true: good\nfalse: bad")
    usage = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}}
    assert isinstance(answer.body, dict)
    content = {**answer.body, "usage": {**answer.body["usage"], **usage}}
    answers.model_validate(content)


def test_a_question_that_is_declined_or_not_answered_is_kept_and_not_asked_again(
    endpoint: Endpoint,
) -> None:
    model = card(endpoint)
    endpoint.script = lambda _: reply_of(None)
    [reply] = ask(model, request(model))
    assert reply.text == ""
    assert reply.provenance is not None and reply.provenance["content"] == "empty"
    endpoint.script = lambda _: Said(
        {"model": "m", "answers": [{"type": "refusal", "name": "verdict"}]}
    )
    listing = card(endpoint, wire="decisions")
    [reply] = ask(listing, request(listing))
    assert reply.finish == "refusal"
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"choices": [{"message": {"content": "a"}}]}, "without `answers`"),
        ({"answers": {"verdict": {"type": "noul", "noul": 1}}}, "another type"),
    ],
)
def test_an_answer_that_is_no_decision_is_asked_again_and_named(
    endpoint: Endpoint, body: Body, says: str
) -> None:
    endpoint.script = lambda _: Said(body)
    model = card(endpoint)
    came = list[Reply]()
    [failure] = asking(model)([Work(request(model), (0,))], False, came.append)
    assert not came
    assert says in failure.reason
    assert len(endpoint.asked) == FAST["attempts"]


# --- refusals -------------------------------------------------------------------------


@pytest.mark.parametrize("status", [405, 501])
def test_a_model_that_gives_no_decisions_ends_the_job_at_once(
    endpoint: Endpoint, status: int
) -> None:
    endpoint.script = lambda _: refusal(status, "This model is not a decision model")
    model = card(endpoint)
    with pytest.raises(UserError) as caught:
        ask(model, *[request(model, text=str(number)) for number in range(20)])
    message = str(caught.value)
    assert "This model is not a decision model" in message
    assert "no decision model at this address (/systemone)" in message
    assert "estimator: logprob_mean" in message
    assert len(endpoint.asked) <= FAST["concurrency"]


def test_an_endpoint_without_the_address_is_named_after_a_few_refusals(
    endpoint: Endpoint,
) -> None:
    endpoint.script = lambda _: refusal(404, "Not Found")
    model = card(endpoint)
    with pytest.raises(UserError) as caught:
        ask(model, *[request(model, text=str(number)) for number in range(20)])
    assert "HTTP 404" in str(caught.value)
    assert "no decision model at this address" in str(caught.value)
    assert "base_url, path, wire" in str(caught.value)
    assert len(endpoint.asked) <= HOPELESS + FAST["concurrency"]


def test_a_refusal_of_a_single_request_is_kept_as_an_error(endpoint: Endpoint) -> None:
    def script(body: Body) -> Said:
        if body["state"]["text"] == "odd":
            return refusal(400, "yes and no are several tokens")
        return reply_of(decision(CHOICE, [0.7, 0.3]))

    endpoint.script = script
    model = card(endpoint)
    texts = ("1", "2", "3", "odd")
    replies = ask(model, *[request(model, text=text) for text in texts])
    assert sorted(reply.status for reply in replies) == ["error", "ok", "ok", "ok"]


def test_a_test_question_of_each_type_says_what_the_model_can(
    endpoint: Endpoint,
) -> None:
    engine = SystemOneEngine(card(endpoint))
    endpoint.script = decider(lambda _, __: [0.2, 0.8])
    came = answered(engine, ["noul", "score", "choice", "score"])
    assert came == dict.fromkeys(("choice", "noul", "score"), "answered by decider-1")
    assert len(endpoint.asked) == 3
    endpoint.script = lambda _: reply_of({"type": "noul", "noul": 80})
    with pytest.raises(UserError, match="cannot be read: percentages"):
        answered(engine, ["noul"])
    endpoint.script = lambda _: refusal(404, "no such model")
    with pytest.raises(UserError, match="no decision model at this address"):
        answered(engine, ["noul"])


# --- store, price, caps ---------------------------------------------------------------


def test_a_cap_holds_and_stored_decisions_are_not_paid_again(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    model = card(endpoint, price={"input": 1000, "output": 0})
    asked = [request(model, text=str(number)) for number in range(6)]

    def run(cap: int) -> int:
        """Return how many decisions the study has, and has paid."""
        with Store(tmp_path, "it") as store:
            caps = [at_most(cap)]
            with Spending(store, "s", "it", model.price, caps) as budget:
                job = AskingJob.of(model, store, budget)
                came = obtain(asked, job)
                assert budget.spent["nanos"] == len(came) * 11 * 1_000_000
                return len(came)

    with pytest.raises(UserError, match="max_requests"):
        run(4)
    assert len(endpoint.asked) == 4
    with pytest.raises(UserError, match="max_requests"):
        run(4)
    assert len(endpoint.asked) == 4
    with Store(tmp_path, "it") as store:
        replies = obtain(asked, AskingJob(store, asking(model)))
    assert len(replies) == len(endpoint.asked) == 6


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"input_tokens": 7, "output_tokens": None}, (7, 0)),
        ({"input_tokens": 7}, (7, 0)),
        ({"prompt_tokens": 7, "completion_tokens": 2}, (7, 2)),
        ({"input_tokens": None, "prompt_tokens": 7, "output_tokens": 1}, (7, 1)),
        ({"output_tokens": 1}, None),
        ({"input_tokens": 0, "output_tokens": 1}, None),
    ],
)
def test_tokens_are_counted_in_both_spellings(
    usage: dict[str, Any], counts: tuple[int, int] | None
) -> None:
    expected = counts and dict(zip(("prompt", "completion"), counts, strict=True))
    assert usage_of({"usage": usage}) == expected


def test_the_warning_about_a_dear_decision_names_no_limit_of_tokens(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = decision(CHOICE, [0.7, 0.3])
    endpoint.script = lambda _: reply_of(
        answer, usage={"input_tokens": 100_000, "output_tokens": 0}
    )
    model = card(endpoint, price={"input": 1000, "output": 0})
    cap = Cap("max_usd", NANOS, 10**15)
    with (
        Store(tmp_path, "it") as store,
        Spending(store, "s", "it", model.price, [cap]) as budget,
    ):
        obtain([request(model)], AskingJob.of(model, store, budget))
    out = capsys.readouterr().out
    assert "reserved for it: are its" in out and "max_tokens" not in out


# --- from the answer to the verdict ---------------------------------------------------


def test_rounded_probabilities_of_a_host_are_read(endpoint: Endpoint) -> None:
    endpoint.script = decider(lambda _, __: [0.33, 0.33, 0.33])
    model = card(endpoint)
    [reply] = ask(model, request(model, SCORE))
    assert read_decision(reply.text, Scale(1, 3, 1)).value == 2.0
