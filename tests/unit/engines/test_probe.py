"""What an endpoint does with the fields that it is sent, and what follows for its
judges.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import llama
import running
from asking import AskedStudy
from engines_openai_setup import ask, card, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.replies.probing import (
    FIELDS,
    Finding,
    Findings,
    able,
    probe,
    read_findings,
    tried_out,
    try_out,
    untested,
)
from judgescope.replies.store import Store
from judgescope.schema.cards import Judge
from scripted import Body, Endpoint, Said, answer, refusal, replies, reply, serve

PROBES = 7
"""Requests that test every field, if the judges sample as the probe does."""
PLAIN = 3
"""Requests without an additional field, which are always sent."""
PLAIN_FIELDS = tuple(name for name in FIELDS if name != "system")
"""The fields that judges without a system message need."""
ABLE: Findings = dict.fromkeys(PLAIN_FIELDS, "honoured")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(lambda _: reply("4")) as running:
        yield running


def honest(body: Body) -> Said:
    """Honour every field."""
    if "structured_outputs" in body:
        return reply(body["structured_outputs"]["choice"][0])
    if "response_format" in body:
        return reply('{"direction": "south"}')
    texts = [f"one, two {body['seed'] + i}" for i in range(body.get("n", 1))]
    result = replies(*texts)
    if "logprobs" in body:
        assert isinstance(result.body, dict)
        token = {
            "token": "H",
            "logprob": -0.1,
            "top_logprobs": [{"token": "A", "logprob": -2}],
        }
        result.body["choices"][0]["logprobs"] = {"content": [token]}
    return result


def careless(body: Body) -> Said:
    """Know nothing but the messages: as long as it likes, and never the same."""
    careless.count = getattr(careless, "count", 0) + 1  # type: ignore[attr-defined]
    result = reply(f"Hello, {careless.count}!")  # type: ignore[attr-defined]
    assert isinstance(result.body, dict)
    result.body["usage"]["completion_tokens"] = 500
    return result


def strict(body: Body) -> Said:
    """Refuse what it does not know."""
    known = {"model", "messages", "temperature", "top_p", "max_tokens", "seed"}
    if unknown := sorted(body.keys() - known):
        return refusal(400, f"unknown: {unknown}")
    return reply(f"one, two, {body['seed']}")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (honest, ABLE),
        (
            lambda _: reply("4"),
            {
                **dict.fromkeys(PLAIN_FIELDS, "ignored"),
                "max_tokens": "honoured",
                "seed": "unknown",
            },
        ),
        (careless, dict.fromkeys(PLAIN_FIELDS, "ignored")),
        (
            strict,
            {
                **dict.fromkeys(PLAIN_FIELDS, "refused"),
                "max_tokens": "honoured",
                "seed": "honoured",
            },
        ),
    ],
)
def test_each_field_is_detected(
    endpoint: Endpoint, script: Callable[[Body], Said], expected: Findings
) -> None:
    endpoint.script = script
    engine = OpenAIEngine(card(endpoint))
    assert probe(engine, EVERY_NEED) == (expected, engine)
    assert len(endpoint.asked) == PROBES


def judge(**keys: Any) -> Judge:
    return Judge.model_validate(
        {"judge": "j", "model": "it", "form": "score-only", **keys}
    )


EVERY_NEED = [
    judge(temperature=1, draws=2, structured="json"),
    judge(temperature=1, structured="choice", estimator="logprob_mean"),
]
"""Judges that need every field and sample as the probe does."""


@pytest.mark.parametrize(
    ("judges", "fields"),
    [
        ([], []),
        ([{"temperature": 1}], []),
        ([{"temperature": 1, "draws": 2}], ["n"]),
        ([{"temperature": 1, "estimator": "logprob_mean"}], ["logprobs"]),
        (
            [{"estimator": "logprob_mean", "fallback": {"draws": 5}, "temperature": 1}],
            ["n", "logprobs"],
        ),
        ([{"temperature": 1, "structured": "json"}], ["json_schema"]),
        ([{"temperature": 1, "structured": "choice"}], ["choice"]),
    ],
)
def test_only_fields_that_a_judge_needs_are_tested(
    endpoint: Endpoint, tmp_path: Path, judges: list[Any], fields: list[str]
) -> None:
    endpoint.script = honest
    cards, store = [judge(**keys) for keys in judges], Store(tmp_path, "it")
    engine = OpenAIEngine(card(endpoint))
    findings = try_out(store, engine, cards)
    assert findings == dict.fromkeys(["max_tokens", "seed", *fields], "honoured")
    assert len(endpoint.asked) == PLAIN + len(fields)
    assert not untested(read_findings(store, engine.card), cards)
    # another judge needs more: one plain request, and one for each missing field
    endpoint.asked.clear()
    assert try_out(store, engine, EVERY_NEED) == ABLE
    assert len(endpoint.asked) == 1 + len(PLAIN_FIELDS) - len(findings)
    assert read_findings(store, engine.card) == ABLE


@pytest.mark.parametrize("status", [400, 403, 404, 405, 415, 422])
def test_a_refused_field_is_a_finding_whatever_the_status(
    endpoint: Endpoint, tmp_path: Path, status: int
) -> None:
    """A plain request was answered, so the key is right."""
    endpoint.script = lambda body: (
        refusal(status, "You are not allowed to request logprobs from this model")
        if "logprobs" in body
        else honest(body)
    )
    result = try_out(Store(tmp_path, "it"), OpenAIEngine(card(endpoint)), EVERY_NEED)
    assert result == {**ABLE, "logprobs": "refused"}
    with pytest.raises(UserError, match="does not support a setting") as error:
        able(judge(estimator="logprob_mean"), result)
    assert "`estimator: mean` with `draws`" in error.value.todo
    assert "`fallback`" in error.value.todo


@pytest.mark.parametrize("status", [401, 402, 407])
def test_a_lost_key_or_account_ends_the_probe(
    endpoint: Endpoint, tmp_path: Path, status: int
) -> None:
    endpoint.script = lambda body: (
        refusal(status, "no") if "logprobs" in body else honest(body)
    )
    store = Store(tmp_path, "it")
    with pytest.raises(UserError, match=f"HTTP {status}: no"):
        try_out(store, OpenAIEngine(card(endpoint)), EVERY_NEED)
    assert read_findings(store, card(endpoint)) is None


def test_no_more_requests_are_sent_than_allowed(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = reasoning
    cards = [
        judge(temperature=0, top_p=0.5, draws=2, estimator="logprob_mean"),
        judge(temperature=0.5, structured="json"),
    ]
    tried = tried_out(Store(tmp_path, "it"), OpenAIEngine(card(endpoint)), cards, 8)
    assert len(endpoint.asked) == 8
    assert untested(tried.findings, cards)
    assert tried.refused == ["max_tokens", "temperature", "top_p"]


def test_a_passing_failure_is_waited_for_and_a_refusal_of_everything_is_reported(
    endpoint: Endpoint,
) -> None:
    left = iter(range(2))
    endpoint.script = lambda body: (
        refusal(503, "starting") if next(left, None) is not None else honest(body)
    )
    assert probe(OpenAIEngine(card(endpoint)), EVERY_NEED)[0] == ABLE
    endpoint.script = lambda _: refusal(400, "use max_completion_tokens")
    with pytest.raises(
        UserError, match="simple test request: HTTP 400: use max_completion"
    ) as error:
        probe(OpenAIEngine(card(endpoint)))
    assert "field_names" in error.value.todo
    endpoint.script = lambda _: refusal(500, "down")
    with pytest.raises(UserError, match="test request failed: HTTP 500: down"):
        probe(OpenAIEngine(card(endpoint)))


def test_findings_are_kept_for_a_single_model_at_a_single_address(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script = honest
    model, store = card(endpoint), Store(tmp_path, "it")
    assert read_findings(store, model) is None
    try_out(store, OpenAIEngine(model), EVERY_NEED)
    assert "max_tokens honoured, seed honoured, n honoured" in capsys.readouterr().out
    assert read_findings(store, model) == ABLE
    other = card(endpoint, base_url=endpoint.url.replace("/v1", "/v2"))
    assert read_findings(store, other) is None
    assert read_findings(store, card(endpoint, variant="int4")) is None
    [kept] = store.shard.glob("probe-*.json")
    assert endpoint.url not in kept.read_text("utf-8")
    kept.write_text('{"half', encoding="utf-8")
    assert read_findings(store, model) is None


# --- fields that are refused by name ---


def reasoning(body: Body) -> Said:
    """Refuse what models that reason refuse, in OpenAI's words."""
    if "max_tokens" in body:
        return refusal(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
        )
    for name in ("temperature", "top_p"):
        if body.get(name, 1) != 1:
            return refusal(
                400,
                f"Unsupported value: '{name}' does not support {body[name]} with this "
                "model. Only the default (1) value is supported.",
            )
    if "logprobs" in body:
        return refusal(400, "'logprobs' is not supported with this model")
    return honest(body)


def tried(endpoint: Endpoint, folder: Path, *judges: Judge, **keys: Any) -> UserError:
    """Return the error about a card that an endpoint refuses; the findings are kept
    even so.
    """
    store = Store(folder, "it")
    with pytest.raises(UserError, match="refuses fields that the card sends") as caught:
        try_out(store, OpenAIEngine(card(endpoint, **keys)), judges)
    assert "models/it.yaml" in caught.value.where
    return caught.value


@pytest.mark.parametrize(
    ("judges", "refused", "line"),
    [
        ((), "max_tokens", "{max_tokens: max_completion_tokens}"),
        (({"temperature": 1},), "max_tokens", "{max_tokens: max_completion_tokens}"),
        (
            ({"temperature": 0},),
            "max_tokens, temperature",
            "{max_tokens: max_completion_tokens, temperature: null}",
        ),
        (
            ({"temperature": 1, "top_p": 0.5}, {"temperature": 0}),
            "max_tokens, temperature, top_p",
            "{max_tokens: max_completion_tokens, temperature: null, top_p: null}",
        ),
    ],
)
def test_a_card_whose_fields_are_refused_gets_the_line_that_it_lacks(
    endpoint: Endpoint, tmp_path: Path, judges: tuple[Any, ...], refused: str, line: str
) -> None:
    """Only what the judges' own settings need."""
    endpoint.script = reasoning
    cards = [judge(**keys) for keys in judges]
    error = tried(endpoint, tmp_path, *cards)
    assert str(error).splitlines()[0].endswith(f"sends: {refused}")
    assert f"`field_names: {line}`" in error.todo
    names = yaml.safe_load(f"field_names: {line}")
    mended = card(endpoint, **names)
    findings = read_findings(
        Store(tmp_path, "it"), mended
    )  # nothing is found out twice
    assert findings == dict.fromkeys(["max_tokens", "seed"], "honoured")
    assert try_out(Store(tmp_path, "it"), OpenAIEngine(mended), cards) == findings


def test_what_the_card_says_already_stays_in_the_line(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    known = {"model", "messages", "max_tokens"}

    def script(body: Body) -> Said:
        unknown = sorted(body.keys() - known)
        return (
            refusal(400, f'Unknown name "{unknown[0]}": no such field')
            if unknown
            else reply("4")
        )

    endpoint.script = script
    keys = {"field_names": {"max_tokens": "max_completion_tokens", "top_p": None}}
    error = tried(endpoint, tmp_path, **keys)
    assert "sends: max_completion_tokens, seed, temperature" in str(error)
    assert "`field_names: {top_p: null, seed: null, temperature: null}`" in error.todo


def test_a_refusal_that_no_change_cures_changes_nothing(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """Every message names a field, and the last of them for no reason."""
    endpoint.script = lambda body: refusal(
        400, f"bad max_tokens, temperature, top_p: {[*body]}"
    )
    with pytest.raises(UserError, match="simple test request"):
        try_out(Store(tmp_path, "it"), OpenAIEngine(card(endpoint)))
    assert 2 <= len(endpoint.asked) <= 8
    endpoint.script = lambda body: (
        refusal(400, "temperature and logprobs exclude each other")
        if "logprobs" in body
        else honest(body)
    )
    result = try_out(Store(tmp_path, "it"), OpenAIEngine(card(endpoint)), EVERY_NEED)
    assert result == {**ABLE, "logprobs": "refused"}


@pytest.mark.parametrize("other", ["temperature", "seed", "max_tokens"])
def test_a_refused_field_changes_no_other_field_that_the_message_names(
    endpoint: Endpoint, tmp_path: Path, other: str
) -> None:
    """The plain request with the other field was answered."""
    endpoint.script = lambda body: (
        refusal(400, f"logprobs cannot be used with {other}")
        if {"logprobs", other} <= body.keys()
        else honest(body)
    )
    engine = OpenAIEngine(card(endpoint))
    result = tried_out(Store(tmp_path, "it"), engine, EVERY_NEED)
    assert (result.refused, result.names) == ([], {})
    assert result.findings == {**ABLE, "logprobs": "refused"}


def test_an_endpoint_that_refuses_temperature_beside_top_p_keeps_the_temperature(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = one_of_two
    error = tried(endpoint, tmp_path, judge(temperature=0))
    assert str(error).splitlines()[0].endswith("sends: top_p")
    assert "`field_names: {top_p: null}`" in error.todo


def one_of_two(body: Body) -> Said:
    """Refuse temperature together with top_p."""
    if {"temperature", "top_p"} <= body.keys():
        return refusal(
            400,
            "`temperature` and `top_p` cannot both be specified for this model. Please "
            "use only one.",
        )
    return honest(body)


def test_without_a_probe_the_error_suggests_the_line(endpoint: Endpoint) -> None:
    endpoint.script = reasoning
    model = card(endpoint, probe=False)
    with pytest.raises(UserError, match="refuses every request") as caught:
        ask(model, *requests(model, "a"))
    assert "field_names (try field_names: {max_tokens: max_completion_tokens})" in str(
        caught.value
    )


UNTOLD: Findings = dict.fromkeys(PLAIN_FIELDS, "unknown")


def test_a_judge_is_asked_as_it_is_where_the_endpoint_can() -> None:
    for keys in ({}, {"estimator": "logprob_mean"}, {"structured": "json"}):
        for findings in (ABLE, {}, UNTOLD):
            assert able(judge(**keys), findings) == judge(**keys)
    nothing: Findings = dict.fromkeys(PLAIN_FIELDS, "refused")
    assert able(judge(), nothing) == judge()


@pytest.mark.parametrize("finding", ["ignored", "refused"])
def test_it_falls_back_only_where_its_card_allows_it(finding: Finding) -> None:
    unable: Findings = dict.fromkeys(PLAIN_FIELDS, finding)
    weighted = judge(
        estimator="logprob_mean", fallback={"draws": 7, "temperature": 0.5}
    )
    sampled = able(weighted, unable)
    assert (sampled.estimator, sampled.draws, sampled.temperature) == ("mean", 7, 0.5)
    with pytest.raises(UserError, match="does not support") as error:
        able(judge(estimator="logprob_mean"), unable)
    assert (
        f"logprobs is {finding}" in str(error.value) and "fallback" in error.value.todo
    )
    for structured, field in (("choice", "choice"), ("json", "json_schema")):
        with pytest.raises(UserError, match=f"the field {field} is {finding}"):
            able(judge(structured=structured), unable)


@pytest.mark.heavy
def test_a_real_server(tmp_path: Path) -> None:
    """llama.cpp: no choice of vLLM's kind, no more draws at once than it has slots."""
    llama.require()
    path = tmp_path / "random.gguf"
    llama.write_random_gguf(path)
    with llama.serve(path, context=512) as url:
        model = {
            "model": "random",
            "name": llama.MODEL,
            "engine": "openai",
            "base_url": url,
        }
        engine = OpenAIEngine(card(Endpoint(url, honest), **model))
        findings, _ = probe(engine, EVERY_NEED)
    assert findings == {**ABLE, "choice": "ignored"}


# --- a study ---


def weighing(body: Body) -> Said:
    """Say 4, with as much probability for 5."""
    result = answer({"finish_reason": "stop", "message": {"content": "4"}})
    if "logprobs" in body and isinstance(result.body, dict):
        half = {"logprob": -0.6931471805599453}
        token = {"token": "4", **half, "top_logprobs": [{"token": "5", **half}]}
        result.body["choices"][0]["logprobs"] = {"content": [token]}
    return result


WEIGHED = "demo-dialogue/loop/systems/weighed"


def estimators(study: AskedStudy) -> set[tuple[float, int, str]]:
    rows = running.cell(
        study.folder / "results/asked", "scores", WEIGHED, "naturalness"
    )
    return {(row["value"], row["n_draws"], row["estimator"]) for row in rows}


@pytest.mark.long(11)
@pytest.mark.slow
def test_a_study_weighs_probabilities_or_samples_and_each_score_says_which(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)
    study.model(probe=True)
    fallback = {"draws": 3, "temperature": 1.0}
    weighed = {"model": "loop", "form": "score-only", "estimator": "logprob_mean"}
    study.card("judges", "weighed", **weighed)
    study.write(judges=["weighed"])
    endpoint.script = weighing
    done = study.make("coverage")
    assert done.returncode == 0, done.stdout
    tests = PLAIN + len(["temperature 0", "logprobs"])
    assert len(endpoint.asked) == tests + 120
    assert estimators(study) == {(4.5, 1, "logprob_mean")}
    assert all(body["top_logprobs"] == 20 for body in endpoint.asked[tests:])
    assert study.make("coverage").returncode == 0 and len(endpoint.asked) == tests + 120
    # another address, where no probabilities are told
    with serve(lambda _: reply("4")) as other:
        study.endpoint = other
        study.model(probe=True, variant="elsewhere")
        done = study.run()
        assert (
            done.returncode == 1
            and "does not support a setting of this judge" in done.stdout
        )
        assert len(other.asked) == tests
        study.card("judges", "weighed", **weighed, fallback=fallback)
        done = study.make("coverage")
        assert done.returncode == 0, done.stdout
        more = len(["plain", "temperature 0", "n"])
        assert len(other.asked) == tests + more + 3 * 120
        assert estimators(study) == {(4.0, 3, "mean")}


@pytest.mark.slow
def test_nothing_is_judged_until_the_line_stands_in_the_card(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """Then the keys are those of the card, and the endpoint is not tried out again."""
    endpoint.script = reasoning
    study = AskedStudy(tmp_path, endpoint)
    study.model(probe=True)
    done = study.ask()
    line = "field_names: {max_tokens: max_completion_tokens, temperature: null}"
    assert done.returncode == 1 and f"write `{line}` into the card" in done.stdout
    assert study.journalled() == 0
    endpoint.asked.clear()
    study.model(probe=True, **yaml.safe_load(line))
    done = study.ask()
    assert done.returncode == 0, done.stdout
    assert study.journalled() == len(endpoint.asked) == 120
    for body in endpoint.asked:
        assert (
            "max_completion_tokens" in body
            and not {"max_tokens", "temperature"} & body.keys()
        )


@pytest.mark.heavy
def test_what_no_endpoint_can_do_is_stated_before_anything_is_asked(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)
    study.card(
        "judges", "weighed", model="loop", form="compare", estimator="logprob_mean"
    )
    study.write(judges=["weighed"])
    done = study.ask()
    assert done.returncode == 1 and "key estimator" in done.stdout
    assert endpoint.asked == []
    assert json.dumps(done.stdout).count("Traceback") == 0


def test_a_refused_system_message_ends_the_job_before_any_judgment() -> None:
    card = {"judge": "j", "model": "m", "form": "score-only", "system": "impartial"}
    judge = Judge.model_validate(card)
    assert able(judge, {**ABLE, "system": "honoured"}) == judge
    with pytest.raises(UserError, match="accepts no system message") as error:
        able(judge, {**ABLE, "system": "refused"})
    assert "`system_role: user` in models/m.yaml" in str(error.value)
