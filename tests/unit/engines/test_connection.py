"""The connection to an endpoint: proxy, certificates and keys that expire, all by the
card.
"""

import shutil
import socket
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from engines_openai_setup import ask, card, endpoint, requests
from judgescope.core.errors import UserError
from judgescope.engines.factory import located, settled
from judgescope.engines.openai.connection import client as openai_client
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.loading import validate_card
from scripted import (
    Body,
    Endpoint,
    Said,
    Server,
    Silent,
    refusal,
    reply,
    running,
    serve,
    unsigned,
)

__all__ = ["endpoint"]
HTTP, ALL = (
    "http_proxy",
    ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)
SECRET = "anna:pass@word/of nobody"
LOGIN = f"Basic {b64encode(SECRET.encode()).decode()}"
DEAD = "http://127.0.0.1:9"


@pytest.fixture
def proxy() -> Iterator[Endpoint]:
    """A proxy, which answers in the place of the endpoint that it should pass requests
    on to.
    """
    with serve(lambda _: reply("2")) as running:
        yield running


def test_variables_name_no_proxy(
    endpoint: Endpoint, proxy: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ALL:
        monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    model = card(endpoint)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])
    assert len(endpoint.asked) == 1 and proxy.asked == []


def test_a_card_names_the_proxy(
    endpoint: Endpoint, proxy: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ALL:
        monkeypatch.setenv(name, DEAD)
    monkeypatch.setenv("no_proxy", "*")
    model = card(endpoint, proxy=proxy.url.removesuffix("/v1"))
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 2"}, [])
    assert endpoint.asked == []
    assert proxy.paths == [f"{endpoint.url}/chat/completions"]  # as a proxy is asked
    other = card(endpoint)
    assert [request.key for request in requests(model, "a")] == [
        request.key for request in requests(other, "a")
    ]


def test_a_proxy_that_does_not_answer_is_no_way_around_it(endpoint: Endpoint) -> None:
    model = card(endpoint, proxy=DEAD, limits={"attempts": 1, "backoff": 0.01})
    came, [failure] = ask(model, *requests(model, "a"))
    assert came == {} and "no response" in failure.reason and endpoint.asked == []


@pytest.mark.parametrize(
    "proxy",
    [
        "http://me:secret@host:3128",
        "socks5://host:1080",
        "host:3128",
        "http://h/path?x=1",
    ],
)
def test_a_proxy_is_an_address_without_a_password(
    endpoint: Endpoint, proxy: str
) -> None:
    keys = {"model": "it", "engine": "openai", "base_url": endpoint.url, "proxy": proxy}
    with pytest.raises(Exception, match="key proxy") as caught:
        validate_card("model", keys, "it.yaml")
    assert "secret@" not in str(caught.value)


@pytest.mark.heavy
@pytest.mark.parametrize("held", ["variable", "file"])
def test_a_proxy_may_want_a_password_that_no_card_and_no_text_shows(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    def guarded(body: Body) -> Said:
        if heads[-1].get("Proxy-Authorization") != LOGIN:
            return refusal(407, f"no access with {SECRET}")
        return reply(f"{SECRET} 2")

    with serve(guarded) as proxy:
        heads = proxy.headers
        keys: dict[str, Any] = {"proxy": proxy.url.removesuffix("/v1")}
        monkeypatch.setenv("PROXY_LOGIN", SECRET)
        path = tmp_path / "login"
        path.write_text(f"{SECRET}\n", encoding="utf-8")
        path.chmod(0o600)
        named = {
            "variable": ("proxy_auth_env", "PROXY_LOGIN"),
            "file": ("proxy_auth_file", path),
        }
        model = card(endpoint, **keys, **{named[held][0]: str(named[held][1])})
        assert ask(model, *requests(model, "a")) == (
            {"a": "ok: anna:<proxy password> 2"},
            [],
        )
        assert endpoint.asked == [] and SECRET not in str(model)
        plain = card(endpoint, **keys)
        assert requests(model, "a")[0].key == requests(plain, "a")[0].key
        with pytest.raises(UserError, match="HTTP 407") as refused:
            ask(plain, *requests(plain, "a"))
        assert "the proxy's user and password: none" in str(refused.value)
        client = openai_client(model, "some-key")
        client.chat.completions.create(model="m", messages=[])
    assert len(heads) == 3


@pytest.mark.parametrize(
    ("value", "message"), [("", "is not set"), ("anna", "not a user and a password")]
)
def test_a_proxys_login_is_checked_before_anything_is_sent(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    monkeypatch.setenv("PROXY_LOGIN", value)
    model = card(endpoint, proxy=DEAD, proxy_auth_env="PROXY_LOGIN")
    with pytest.raises(UserError, match=message) as refused:
        OpenAIEngine(model)
    assert "key proxy_auth_env" in str(refused.value)
    with pytest.raises(Exception, match="only together with `proxy`"):
        card(endpoint, proxy_auth_env="PROXY_LOGIN")


# --- certificates ---


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Endpoint, Path]]:
    """An endpoint on https, with a certificate that no system trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    with serve(lambda _: reply("4"), tls=unsigned(tmp_path)) as running:
        yield running, tmp_path / "ca.pem"


def test_a_card_names_the_certificates_that_it_trusts(
    secure: tuple[Endpoint, Path], tmp_path: Path
) -> None:
    endpoint, certificate = secure
    strange = card(endpoint)
    with pytest.raises(UserError, match="certificate") as caught:
        ask(strange, *requests(strange, "a"))
    assert "`ca_file`" in caught.value.todo and endpoint.asked == []
    model = settled(card(endpoint, ca_file=certificate.name), tmp_path, tmp_path)
    assert isinstance(model, OpenAIModel)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])


class Tunnel(Silent):
    """A proxy that opens a tunnel (CONNECT) for whoever gives the password, and counts
    them.
    """

    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_CONNECT(self) -> None:
        """Pass bytes on in both directions, or refuse."""
        given = self.headers.get("Proxy-Authorization")
        self.seen.append((self.path, given))
        self.close_connection = True
        if given != LOGIN:
            self.send_response(407, f"no access with {given}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as server:
            self.send_response(200)
            self.end_headers()
            present = Thread(target=_pass_on, args=(self.connection, server))
            present.start()
            _pass_on(server, self.connection)
            present.join()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def tunnel(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A proxy for https; the variable PROXY_LOGIN has its user and password."""
    monkeypatch.setenv("PROXY_LOGIN", SECRET)
    monkeypatch.setattr(Tunnel, "seen", [])
    server = Server(("127.0.0.1", 0), Tunnel)
    with running(server):
        yield f"http://127.0.0.1:{server.server_port}"


def test_https_goes_through_a_proxy_that_wants_a_password(
    secure: tuple[Endpoint, Path], tunnel: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The proxy sees the host and the password, the endpoint no password; a journal has
    none.
    """
    endpoint, certificate = secure
    endpoint.script = lambda _: reply(f"4, says {SECRET}")
    keys: dict[str, Any] = {"proxy": tunnel, "ca_file": str(certificate)}
    model = card(endpoint, **keys, proxy_auth_env="PROXY_LOGIN")
    came, failures = ask(model, *requests(model, "a"))
    assert (came, failures) == ({"a": "ok: 4, says anna:<proxy password>"}, [])
    assert Tunnel.seen == [(endpoint.url.split("/")[2], LOGIN)]
    [headers] = endpoint.headers
    assert "Proxy-Authorization" not in headers and SECRET not in str(headers)
    client = openai_client(model, "some-key")
    client.chat.completions.create(model="m", messages=[])
    assert Tunnel.seen[-1][1] == LOGIN and len(endpoint.asked) == 2
    assert SECRET.partition(":")[2] not in "".join(capfd.readouterr())


@pytest.mark.parametrize("login", [None, "anna:another-word"])
def test_a_proxy_for_https_that_refuses_is_named_without_a_password(
    secure: tuple[Endpoint, Path],
    tunnel: str,
    monkeypatch: pytest.MonkeyPatch,
    login: str | None,
) -> None:
    endpoint, certificate = secure
    keys: dict[str, Any] = {
        "proxy": tunnel,
        "ca_file": str(certificate),
        "limits": {"attempts": 1},
    }
    if login:
        monkeypatch.setenv("PROXY_LOGIN", login)
        keys["proxy_auth_env"] = "PROXY_LOGIN"
    model = card(endpoint, **keys)
    with pytest.raises(UserError, match="407") as refused:
        ask(model, *requests(model, "a"))
    assert "another-word" not in str(refused.value) and endpoint.asked == []
    assert b64encode(b"anna:another-word").decode() not in str(refused.value)
    assert "the proxy's user and password" in str(refused.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "file not found"), (b"text", "no certificate"), (b"", "no cert")],
)
def test_a_file_without_a_certificate_is_refused_before_anything_is_asked(
    endpoint: Endpoint, tmp_path: Path, content: bytes | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_bytes(content)
    with pytest.raises(UserError, match=problem) as caught:
        settled(card(endpoint, ca_file="ca.pem"), tmp_path, tmp_path)
    assert "models/it.yaml, key ca_file" in str(caught.value) and endpoint.asked == []


# --- keys that expire ---


def printing(folder: Path, *tokens: str) -> list[str]:
    """Return a program that prints the next token whenever it runs, and at last always
    the last.
    """
    (folder / "tokens").write_text("\n".join(tokens))
    program = folder / "token.py"
    program.write_text(
        "from pathlib import Path\n"
        f"path = Path({str(folder / 'tokens')!r})\n"
        "token, _, rest = path.read_text().partition('\\n')\n"
        "path.write_text(rest or token)\n"
        "print(token)\n"
    )
    return [sys.executable, str(program)]


def accepting(endpoint: Endpoint, *tokens: str) -> None:
    """Let an endpoint take these tokens, the first for two requests, and answer 401 to
    others.
    """
    taken: list[str] = []

    def script(_: Body) -> Said:
        given = str(endpoint.authorised[-1]).removeprefix("Bearer ")
        taken.append(given)
        if given not in tokens or (given == tokens[0] and taken.count(given) > 2):
            return refusal(401, f"token {given} has expired")
        return reply(f"4, says {given}")

    endpoint.script = script


def test_a_token_is_renewed_when_it_ends(endpoint: Endpoint, tmp_path: Path) -> None:
    first, second = "token-one-1234", "token-two-5678"
    accepting(endpoint, first, second)
    program = printing(tmp_path, first, second)
    model = card(endpoint, token_command=program, limits={"concurrency": 1})
    came, failures = ask(model, *requests(model, "a", "b", "c", "d"))
    assert failures == [] and set(came.values()) == {"ok: 4, says <key>"}
    sent = [str(each).removeprefix("Bearer ") for each in endpoint.authorised]
    assert sent == [first, first, first, second, second]


@pytest.mark.parametrize(
    "printed", [["token-one-1234", "token-two-5678"], ["token-one-1234"]]
)
def test_a_token_that_is_refused_anew_ends_the_job(
    endpoint: Endpoint, tmp_path: Path, printed: list[str]
) -> None:
    accepting(endpoint, "another")
    model = card(endpoint, token_command=printing(tmp_path, *printed))
    with pytest.raises(
        UserError, match=r"HTTP 401: token <(old )?key> has expired"
    ) as caught:
        ask(model, *requests(model, "a"))
    # a program that prints the same token again is not run for ever
    assert len(endpoint.asked) == len(printed) and "token-one" not in str(caught.value)


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("print('')", "prints nothing"),
        ("print('two\\nlines')", "not allowed in an HTTP header"),
        ("import sys; sys.exit('run az login')", "status 1: run az login"),
        (
            "import sys; sys.exit('Bearer abcdefgh12345678abcdefgh')",
            "status 1: <not shown>",
        ),
    ],
)
def test_a_program_that_prints_no_key_is_named(
    endpoint: Endpoint, program: str, problem: str
) -> None:
    model = card(endpoint, token_command=[sys.executable, "-c", program])
    with pytest.raises(UserError, match=problem) as caught:
        model.key_source.check()
    assert "models/it.yaml, key token_command" in str(caught.value)


def test_a_program_that_is_missing_or_hangs_is_named(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    absent = card(endpoint, token_command=[str(tmp_path / "az")])
    with pytest.raises(UserError, match="cannot be started: No such file"):
        OpenAIEngine(absent)
    monkeypatch.setattr("judgescope.core.api_keys.COMMAND_SECONDS", 0.2)
    hung = card(
        endpoint, token_command=[sys.executable, "-c", "import time; time.sleep(60)"]
    )
    with pytest.raises(UserError, match="took over"):
        OpenAIEngine(hung)


def test_a_key_comes_from_a_single_location(endpoint: Endpoint, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give only one"):
        card(endpoint, token_command=["az"], api_key_env="IT_KEY")
    assert not located(card(endpoint), tmp_path, tmp_path).key_source
