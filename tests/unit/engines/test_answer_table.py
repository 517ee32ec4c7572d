"""What an endpoint's answer leads to, row by row: what happens, and what the message
advises.
"""

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from pydantic import ValidationError

from engines_openai_setup import FAST, card, endpoint, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.refusals import answer_rule
from judgescope.engines.requests import Failure, Reply, Work
from judgescope.replies.asking import complete
from judgescope.replies.lookup import KeyTable
from judgescope.replies.probing import probe
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel
from scripted import Endpoint, Said, refusal, reply, serve, unsigned

__all__ = ["endpoint"]
KEYED = {"api_key_env": "TABLE_KEY", "limits": {**FAST, "concurrency": 1}}
NAMES_KEY = "TABLE_KEY"
NEW = "https://new.example.org/v2"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLE_KEY", "no-such-key-1234")


def failed(model: OpenAIModel, texts: int = 3) -> UserError:
    """Return the error that ends the job; no reply is kept."""
    kept: list[Reply] = []
    work = [Work(request, (0,)) for request in requests(model, *map(str, range(texts)))]
    with pytest.raises(UserError) as caught:
        OpenAIEngine(model)(work, False, kept.append)
    assert kept == [] and f"models/{model.model}.yaml" in caught.value.where
    return caught.value


def failures(model: OpenAIModel) -> list[Failure]:
    [wanted] = requests(model, "a")
    return OpenAIEngine(model)([Work(wanted, (0,))], False, lambda _: None)


QUOTA = Said({"error": {"message": "over", "code": "insufficient_quota"}}, 429)
REGION = refusal(403, "Country, region, or territory not supported")
DISABLED = refusal(403, "Project p does not have access to model m")


@pytest.mark.parametrize(
    ("answer", "advised", "names_key"),
    [
        (Said({}, 301, {"Location": f"{NEW}/chat/completions"}), NEW, False),
        (Said({}, 302, {"Location": f"{NEW}/chat/completions?x=1"}), NEW, False),
        (Said({}, 303, {"Location": NEW}), NEW, False),
        (Said({}, 307, {"Location": "/v3/chat/completions"}), "/v3`", False),
        (Said({}, 308, {"Location": f"{NEW}/"}), f"base_url: {NEW}`", False),
        (refusal(401, "bad key"), "check the card's key", True),
        (refusal(402, "pay"), "credit", False),
        (QUOTA, "credit or quota", False),
        (REGION, "region", False),
        (DISABLED, "model is not enabled for this key", False),
        (refusal(403, "no"), "check the card's key", True),
        (refusal(405, "only GET"), "does not take chat requests", False),
        (refusal(418, "teapot"), "does not take chat requests", False),
        (refusal(426, "upgrade"), "does not take chat requests", False),
        (refusal(451, "blocked"), "region", False),
        (refusal(501, "no chat"), "does not take chat requests", False),
        (refusal(410, "gone"), "`base_url`", False),
    ],
)
def test_an_answer_to_every_request_ends_the_job_at_once(
    endpoint: Endpoint, answer: Said, advised: str, names_key: bool
) -> None:
    endpoint.script = lambda _: answer
    error = failed(card(endpoint, **KEYED))
    assert len(endpoint.asked) == 1
    assert f"HTTP {answer.status}" in error.what
    assert advised in error.todo
    assert (NAMES_KEY in error.todo) == names_key
    assert ("key" in error.todo.replace("for this key", "")) == names_key
    assert "no-such-key-1234" not in str(error)


def test_a_card_without_a_key_says_how_to_name_one(endpoint: Endpoint) -> None:
    endpoint.script = lambda _: refusal(401, "bad key")
    error = failed(card(endpoint))
    assert "check the card's key: it names none: add `api_key_env`" in error.todo


@pytest.mark.parametrize("status", [202, 204, 206])
def test_a_half_answer_is_retried_and_then_a_proxy_is_suspected(
    endpoint: Endpoint, status: int
) -> None:
    endpoint.script = lambda _: Said(b"" if status == 204 else {}, status)
    [failure] = failures(card(endpoint))
    assert len(endpoint.asked) == FAST["attempts"]
    assert f"HTTP {status}" in failure.reason
    assert "proxy" in failure.advice and "chat endpoint" in failure.advice


@pytest.mark.parametrize(
    "answer",
    [
        Said(reply("4").body, lacks=5),
        Said(b"<html>sign in</html>"),
        Said({"choices": []}),
    ],
)
def test_a_cut_answer_is_retried_and_then_a_proxy_is_suspected(
    endpoint: Endpoint, answer: Said, tmp_path: Path
) -> None:
    endpoint.script = lambda _: answer
    model = card(endpoint)
    wanted = requests(model, "a")
    store = Store(tmp_path, "it")
    stored = store.find(KeyTable.from_counts({wanted[0].key: 1}))
    work = [Work(wanted[0], (0,))]
    with store, pytest.raises(UserError, match="1 of 1 requests failed") as caught:
        complete(stored, work, store, OpenAIEngine(model))
    assert len(endpoint.asked) == FAST["attempts"]
    assert "proxy" in caught.value.todo and "run again" in caught.value.todo


@pytest.mark.parametrize(
    ("answer", "advised"),
    [
        (Said({}, 202), "proxy"),
        (Said(b"", 204), "proxy"),
        (Said(reply("4").body, lacks=5), "proxy"),
        (Said(b"<html>sign in</html>"), "chat endpoint"),
        (Said(b"", wire=()), "https://"),
        (Said({}, 301, {"Location": NEW}), NEW),
        (Said({}, 302), "without naming another address"),
        (Said({}, 302, {"Location": "http://[::"}), "without naming another address"),
        (refusal(401, "bad key"), NAMES_KEY),
        (QUOTA, "credit or quota"),
        (REGION, "region"),
        (DISABLED, "model is not enabled for this key"),
        (refusal(404, "no such route"), "field_names"),
        (refusal(501, "no chat"), "does not take chat requests"),
        (refusal(503, "loading"), "endpoint is running"),
    ],
)
def test_a_test_request_advises_as_a_judgment_does(
    endpoint: Endpoint, answer: Said, advised: str
) -> None:
    endpoint.script = lambda _: answer
    engine = OpenAIEngine(card(endpoint, **KEYED))
    with pytest.raises(UserError) as caught:
        probe(engine)
    assert advised in caught.value.todo
    assert (NAMES_KEY in str(caught.value)) == (advised == NAMES_KEY)
    assert "models/it.yaml" in caught.value.where and ":  " not in caught.value.what


def test_a_missing_model_is_suspected_after_eight_answers(endpoint: Endpoint) -> None:
    endpoint.script = lambda _: refusal(404, "no such route")
    error = failed(card(endpoint, **KEYED), texts=20)
    assert len(endpoint.asked) == 8
    for named in ("name", "base_url", "field_names"):
        assert named in error.todo
    assert "key" not in error.todo


@pytest.mark.parametrize("ending", ["/chat/completions", "/chat/completions/"])
def test_an_address_with_the_route_is_no_base_url(ending: str) -> None:
    fields = {"model": "it", "engine": "openai"}
    with pytest.raises(ValidationError, match=r"write http://127\.0\.0\.1/v1"):
        OpenAIModel(**fields, base_url=f"http://127.0.0.1/v1{ending}")
    for url in ("http://127.0.0.1/v1", "http://127.0.0.1/chat/completions/v1"):
        assert OpenAIModel(**fields, base_url=url).base_url == url


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529, 599])
def test_what_passes_is_waited_for_without_advice(
    endpoint: Endpoint, status: int
) -> None:
    left = iter(range(2))
    endpoint.script = lambda _: (
        refusal(status, "later") if next(left, None) is not None else reply("4")
    )
    assert failures(card(endpoint)) == []
    assert len(endpoint.asked) == 3
    rule = answer_rule(status, "later")
    assert (rule.outcome, rule.advice) == ("retry", "")


# --- connections ----------------------------------------------------------------------


@pytest.fixture
def untrusted(tmp_path: Path) -> Iterator[Endpoint]:
    """An endpoint on https whose certificate nobody signs."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    with serve(lambda _: reply("4"), tls=unsigned(tmp_path)) as running:
        yield running


@pytest.mark.heavy
def test_a_certificate_that_is_not_trusted_ends_the_job_at_once(
    untrusted: Endpoint,
) -> None:
    error = failed(card(untrusted, **KEYED))
    assert "`ca_file`" in error.todo and "key" not in error.todo
    assert "attempts" not in error.what


def test_https_at_a_port_for_http_names_the_scheme(endpoint: Endpoint) -> None:
    url = endpoint.url.replace("http:", "https:")
    error = failed(card(endpoint, base_url=url, **KEYED))
    assert "write http://" in error.todo and "attempts" not in error.what


@contextmanager
def answering(sent: bytes) -> Iterator[str]:
    """Run a server that answers these bytes to whatever comes; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(sent)

        thread = Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        thread.join()


NGINX = b"The plain HTTP request was sent to HTTPS port"
GO = b"Client sent an HTTP request to an HTTPS server.\n"
HEAD = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"\x15\x03\x03\x00\x02\x02\x28",
        HEAD % len(NGINX) + NGINX,
        HEAD % len(GO) + GO,
    ],
)
def test_http_at_a_port_for_https_names_the_scheme(
    endpoint: Endpoint, sent: bytes
) -> None:
    with answering(sent) as url:
        error = failed(card(endpoint, base_url=url, **KEYED), texts=1)
    assert "write https://" in error.todo and "key" not in error.todo


def test_a_host_that_is_not_detected_is_looked_up_twice(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "http://no-such-host.invalid/v1"
    error = failed(card(endpoint, base_url=url, **KEYED))
    assert "(2 attempts)" in error.what
    assert "`base_url`" in error.todo and "key" not in error.todo
    assert "attempts failed: 1," in capsys.readouterr().out
