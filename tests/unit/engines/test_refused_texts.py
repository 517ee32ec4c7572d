"""Refusals that name the text, and models that are gone: what is stored, and what ends
a job.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

import running
from asking import FAST as STUDY_FAST
from asking import AskedStudy
from engines_openai_setup import FAST, ask, card, endpoint, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.refusals import codes_of, refusal_rule
from judgescope.engines.requests import Reply, Work
from scripted import Body, Endpoint, Said, prompt_of, refusal, reply, serve

__all__ = ["endpoint"]
INNER = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}}
NAMING: dict[str, tuple[int, Body, str]] = {
    "content_filter": (400, {"code": "content_filter"}, "filtered"),
    "policy": (400, {"code": "content_policy_violation"}, "filtered"),
    "azure": (400, {"code": None, "innererror": INNER}, "filtered"),
    "moderation": (403, {"type": "content_policy_violation"}, "filtered"),
    "invalid_prompt": (400, {"code": "invalid_prompt"}, "filtered"),
    "blocked": (422, {"type": "prompt_blocked"}, "filtered"),
    "context": (400, {"code": "context_length_exceeded"}, "too_long"),
    "string": (400, {"code": "string_above_max_length"}, "too_long"),
    "size": (413, {}, "too_long"),
}
"""Name -> status, error object, the rule of the judgment."""


def naming(name: str) -> Said:
    status, error, _ = NAMING[name]
    return Said({"error": {"message": "not this text", **error}}, status)


@pytest.mark.parametrize("name", NAMING)
def test_the_rule_comes_from_status_and_codes(name: str) -> None:
    status, _, rule = NAMING[name]
    assert refusal_rule(status, json.dumps(naming(name).body)) == rule


@pytest.mark.parametrize(
    "text", ["", "content_filter", "[]", '{"error": {"code": 400}}', '{"error": "x"}']
)
def test_an_error_without_a_code_names_no_text(text: str) -> None:
    assert refusal_rule(400, text) is None
    assert all(isinstance(code, str) for code in codes_of(text))


@pytest.mark.parametrize("concurrency", [2, 16])
@pytest.mark.parametrize("name", NAMING)
def test_refused_texts_at_the_beginning_do_not_end_the_job(
    endpoint: Endpoint, name: str, concurrency: int
) -> None:
    endpoint.script = lambda body: (
        naming(name) if int(prompt_of(body)) < 20 else reply("4")
    )
    model = card(endpoint, limits={**FAST, "concurrency": concurrency})
    kept: list[Reply] = []
    wanted = requests(model, *map(str, range(60)))
    missing = [Work(each, (0,)) for each in wanted]
    assert OpenAIEngine(model)(missing, False, kept.append) == []
    assert Counter(reply.status for reply in kept) == {"ok": 40, "error": 20}
    rules = {reply.finish for reply in kept if reply.status == "error"}
    assert rules == {NAMING[name][2]}
    assert len(endpoint.asked) == 60


def test_an_answered_test_request_proves_the_card(endpoint: Endpoint) -> None:
    """All that follow are refused without a code."""
    model = card(endpoint)
    engine = OpenAIEngine(model)
    [plain, *wanted] = requests(model, "plain", *map(str, range(20)))
    assert engine.request(plain, [0])[0].text == "4"
    endpoint.script = lambda _: refusal(400, "not this text")
    kept: list[Reply] = []
    assert engine([Work(each, (0,)) for each in wanted], False, kept.append) == []
    assert len(kept) == 20 and {reply.status for reply in kept} == {"error"}


@pytest.mark.parametrize("texts", [3, 20])
def test_an_answered_test_request_does_not_excuse_404(
    endpoint: Endpoint, texts: int
) -> None:
    model = card(endpoint)
    engine = OpenAIEngine(model)
    [plain, *wanted] = requests(model, "plain", *map(str, range(texts)))
    engine.request(plain, [0])
    endpoint.asked.clear()
    endpoint.script = lambda _: refusal(404, "no such model")
    kept: list[Reply] = []
    with pytest.raises(UserError, match="refuses every request: HTTP 404"):
        engine([Work(each, (0,)) for each in wanted], False, kept.append)
    assert kept == [] and len(endpoint.asked) <= 8 + FAST["concurrency"]


def test_a_model_that_is_gone_ends_the_job_after_three_refusals(
    endpoint: Endpoint,
) -> None:
    endpoint.script = lambda body: (
        reply("4") if int(prompt_of(body)) < 5 else refusal(404, "no such model")
    )
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    kept: list[Reply] = []
    missing = [Work(request, (0,)) for request in requests(model, *map(str, range(20)))]
    with pytest.raises(UserError, match="no longer knows the model") as caught:
        OpenAIEngine(model)(missing, False, kept.append)
    assert "5 replies are stored" in str(caught.value)
    assert "retired or renamed" in caught.value.todo
    assert "key" not in caught.value.todo
    assert [each.text for each in kept] == ["4"] * 5
    assert len(endpoint.asked) == 8


def test_a_404_between_replies_is_about_its_request(endpoint: Endpoint) -> None:
    odd = {"3", "4", "7", "8"}
    endpoint.script = lambda body: (
        refusal(404, "no") if prompt_of(body) in odd else reply("4")
    )
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    came, failures = ask(model, *requests(model, *map(str, range(10))))
    assert not failures
    assert {name for name, text in came.items() if text.startswith("error")} == odd


@pytest.mark.slow
@pytest.mark.parametrize(
    "concurrency", [2, pytest.param(16, marks=pytest.mark.long(8))]
)
def test_a_study_with_refused_texts_ends_and_says_which_are_missing(
    tmp_path: Path, concurrency: int
) -> None:
    """120 texts: 18 are filtered and 2 are too long, all of them at the front."""
    refused: dict[str, str] = {}

    def script(body: Body) -> Said:
        prompt = prompt_of(body)
        if body["max_tokens"] == 8:  # a test request
            return reply("4")
        if prompt not in refused and len(refused) < 20:
            refused[prompt] = "context" if len(refused) < 2 else "azure"
        if prompt in refused:
            return naming(refused[prompt])
        return reply(f"Rating: {1 + body['seed'] % 5}")

    with serve(script) as running_endpoint:
        study = AskedStudy(tmp_path, running_endpoint)
        limits = {**STUDY_FAST, "concurrency": concurrency}
        study.model(probe=True, limits=limits)
        study.card("judges", "terse", model="loop", form="score-only", max_tokens=9)
        done = study.run()
        asked = [body for body in running_endpoint.asked if body["max_tokens"] == 9]
    assert done.returncode == 0, done.stdout
    assert len(asked) == 120
    end = done.stdout.splitlines()[-8:]
    assert "20 judgments have no reply: content filter 18, too long 2" in end
    [count] = [
        row
        for row in running.rows(study.out, "coverage")
        if (row["judge"], row["statistic"]) == ("terse", "count_error")
    ]
    assert count["value"] == 20 and count["note"] == "filtered 18, too_long 2"
