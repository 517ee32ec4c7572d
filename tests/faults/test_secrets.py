"""Keys and passwords: refused in cards, masked in messages, taken out of what comes
back.
"""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgescope
from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.secrets import SHORTEST, Redactor, masked, print_exception
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.loading import load_yaml, read_card, validate_card
from running import HOME, environment
from waiting import patience

KEY = "sk-proj-4f5Gh7Jk9LqWz1"
ENDPOINT = {"model": "it", "engine": "openai", "base_url": "http://127.0.0.1:1/v1"}
PROGRAM = {"model": "it", "engine": "command", "argv": ["{python}", "-"]}


# --- cards ---


@pytest.mark.parametrize(
    ("kind", "card", "key"),
    [
        (
            "model",
            {**ENDPOINT, "headers": {"X-Api-Key": "zebra-55"}},
            "headers.X-Api-Key",
        ),
        ("model", {**ENDPOINT, "headers": {"Cookie": "zebra-55"}}, "headers.Cookie"),
        (
            "model",
            {**ENDPOINT, "headers": {"X-Team": f"Bearer {KEY}"}},
            "headers.X-Team",
        ),
        ("model", {**ENDPOINT, "query": {"token": "zebra-55"}}, "query.token"),
        (
            "model",
            {**ENDPOINT, "extra_body": {"api_key": "zebra-55"}},
            "extra_body.api_key",
        ),
        ("model", {**ENDPOINT, "extra_body": {"a": [{"b": KEY}]}}, "extra_body.a.0.b"),
        ("model", {**ENDPOINT, "api_key_env": "hf_AbCdEfGh12zebra"}, "api_key_env"),
        ("model", {**ENDPOINT, "api_key_env": "zebra55" * 4}, "api_key_env"),
        ("model", {**ENDPOINT, "api_key_file": "zebra55" * 4}, "api_key_file"),
        ("model", {**ENDPOINT, "api_key_file": KEY}, "api_key_file"),
        ("model", {**ENDPOINT, "base_url": f"http://h.org/{KEY}/v1"}, "base_url"),
        ("model", {**PROGRAM, "argv": ["{python}", f"--key={KEY}"]}, "argv.1"),
        ("model", {**PROGRAM, "argv": ["sh", "http://u:zebra55@h.org/x"]}, "argv.1"),
        ("model", {**PROGRAM, "env": ["zebra55" * 4]}, "env.0"),
        (
            "dataset",
            {"dataset": "d", "citation": "https://u:zebra55@h.org/paper"},
            "citation",
        ),
        ("dataset", {"dataset": "d", "files": "https://h.org/a?sig=zebra55"}, "files"),
        ("study", {"study": "s", "store": f"/mnt/{KEY}"}, "store"),
    ],
)
def test_a_card_with_what_may_be_a_key_is_refused_by_its_line_and_not_shown(
    tmp_path: Path, kind: str, card: dict[str, Any], key: str
) -> None:
    path = tmp_path / "it.yaml"
    path.write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(UserErrors) as caught:
        read_card(kind, path)
    [error] = caught.value.errors
    assert (
        "may be a key or a password" in error.what
        and f"it.yaml:1, key {key}" in error.where
    )
    assert "zebra" not in str(caught.value) and KEY not in str(caught.value)


def test_what_only_sounds_like_a_key_is_none() -> None:
    body: dict[str, Any] = {
        "max_tokens_per_step": 5,
        "stop_token_ids": [7],
        "prompt_cache_key": "all",
        "key": 3,
    }
    body |= {"keywords": ["monkey"], "chat_template_kwargs": {"bos_token": "<s>"}}
    more: dict[str, Any] = {
        "headers": {"X-Team": "us"},
        "query": {"api-version": "2026-01-01"},
    }
    more |= {
        "api_key_file": "../keys/our-teams-endpoint-2026",
        "revision": "a1" * 20,
        "variant": "risk-4-free",
    }
    assert validate_card("model", {**ENDPOINT, "extra_body": body, **more}, "it.yaml")


@pytest.mark.parametrize(
    "text",
    [
        f'api_key_env: "{KEY}\n',
        f"model: it\napi_key_env: {KEY}: {KEY}\n",
        f"headers:\n  X: {KEY}\n Y: 1\n",
        f"key_header: 'Bearer {KEY}'\nmodel: it\nengine: openai\nbase_url: "
        "http://h/v1\n",
        f"headers: zebra {KEY}\nmodel: it\nengine: openai\nbase_url: http://h/v1\n",
        "headers: zebra-4411-and-more\nmodel: it\nengine: openai\nbase_url: "
        "http://h/v1\n",
        "base_url: h/zebra-4411\nmodel: it\nengine: openai\n",
    ],
)
def test_a_card_that_cannot_be_read_is_not_quoted_where_a_key_may_stand(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "it.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((UserError, UserErrors)) as caught:
        read_card("model", path)
    words = f"{caught.value} {caught.value.__cause__}"
    assert (
        "it.yaml" in words
        and KEY not in str(words)
        and "zebra" not in str(caught.value)
    )


def test_a_fault_of_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    path.write_text("a: 1\nb: [1, 2\nc: 3\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"expected ',' or ']'.* \(line 3, column 2\)"):
        load_yaml(path)


# --- messages ---


def test_no_message_shows_a_key_or_a_password() -> None:
    address = "https://ann:pa55@h.org/v1?api_key=zebra&x=1#y"
    error = UserError(
        f"no answer from {address}", where=f"{KEY}.yaml", got=f"Bearer {KEY}"
    )
    shown = str(error)
    assert not [each for each in (KEY, "pa55", "zebra") if each in shown]
    assert "https://<not shown>@h.org/v1?api_key=<not shown>&x=1#y" in shown


@pytest.mark.parametrize(
    "text",
    [
        "risk-based_approaches_2026",
        "http://h.org/v1?api-version=2026-01-01",
        "see a@b.org, or http://h.org/@ann",
        "the key is missing",
        "a1" * 32,
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert masked(text) == text


# --- what comes back ---


@pytest.mark.heavy
@given(
    st.text(
        st.characters(codec="ascii", min_codepoint=33), min_size=SHORTEST, max_size=30
    )
)
def test_a_secret_is_taken_out_in_every_spelling(key: str) -> None:
    hidden = Redactor({"\0": key})
    around = [f"{before}:{key}:after" for before in ("", "a", "ab", "abc")]
    coded = [base64.b64encode(text.encode()).decode() for text in around]
    coded += [base64.urlsafe_b64encode(text.encode()).decode() for text in around]
    small = re.sub("%..", lambda sign: sign[0].lower(), quote(key))
    for text in [
        *around,
        *coded,
        json.dumps({"said": key}),
        quote(key, safe=""),
        small,
    ]:
        cleaned = hidden.redact(text)
        assert "\0" in cleaned and key not in cleaned


def test_a_placeholder_is_no_secret_and_the_longer_of_two_goes_first() -> None:
    assert not Redactor({"<key>": "test", "<other>": ""})
    both = Redactor({"<a>": "abcdefgh", "<b>": "abcdefgh-longer"})
    assert both.redact("abcdefgh-longer and abcdefgh") == "<b> and <a>"


def engine(key: str) -> OpenAIEngine:
    return OpenAIEngine(
        OpenAIModel.model_validate(ENDPOINT | {"api_key_env": "IT_KEY"}), key
    )


def test_tokens_that_spell_the_key_are_not_kept() -> None:
    ours = engine(KEY)
    tokens = [[(KEY[:9], -0.5), ("4", -1.0)], [(KEY[9:], -0.5)]]
    values = [[("4", -0.5), (f" {KEY}", -1.0)]]
    harmless = [[("4", -0.5), ("5", -1.0)]]
    kept = [
        ours.cleaned(Reply("k", 0, "4", logprobs=each)).logprobs
        for each in (tokens, values, harmless)
    ]
    assert kept == [None, None, harmless]


def test_a_secret_with_white_space_is_taken_out_before_lines_are_joined() -> None:
    assert (
        engine("two  words and more").safe("bad: two  words and more") == "bad: <key>"
    )


@pytest.mark.parametrize(
    "key", ["sk-one\nsk-two-two", "sk-\x00-nothing-there", "\x1b[1msk-bold-key"]
)
def test_a_key_that_no_header_can_carry_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Before anything is asked, and by whoever asks without that look."""
    monkeypatch.setattr(
        "os.environ", {"IT_KEY": key}
    )  # the real one takes no zero byte
    keyed = OpenAIModel.model_validate(ENDPOINT | {"api_key_env": "IT_KEY"})
    for look in (
        lambda: OpenAIEngine(keyed),
        KeySource(model="it", variable="IT_KEY").check,
    ):
        with pytest.raises(UserError, match="not allowed in an HTTP header") as caught:
            look()
        assert "IT_KEY" in str(caught.value) and "sk-" not in str(caught.value)


# --- tracebacks ---

CRASHES = """
import os
from judgescope.plan.jobs import run
from msgspec import Struct

class Spec(Struct):
    pass

def main(spec: Spec):
    "Fail as nobody has foreseen."
    raise ValueError(f"bad header {os.environ['OUR_API_KEY']!r} for \
http://u:pa55@h.org/v1")

run(main)
"""


@pytest.mark.heavy
def test_a_traceback_is_complete_and_shows_no_secret(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text("{}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CRASHES, "--spec", str(tmp_path / "spec.json")],
        env=environment() | {"OUR_API_KEY": "zebra/4411'+x"},
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(60),
    )
    assert done.returncode == 1 and done.stderr.startswith(
        "Traceback (most recent call last):"
    )
    assert (
        "<OUR_API_KEY>" in done.stderr and "http://<not shown>@h.org/v1" in done.stderr
    )
    assert "zebra" not in done.stderr and "pa55" not in done.stderr


def test_an_exception_that_is_reported_and_goes_on_shows_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", "zebra/4411'+x")
    try:
        raise OSError("no weights for zebra/4411'+x")
    except OSError:
        print_exception()
    errors = capsys.readouterr().err
    assert "OSError: no weights for <HF_TOKEN>" in errors and "zebra" not in errors
    assert (
        'File "tests/faults/test_secrets.py", line' in errors
        and str(HOME) not in errors
    )


def test_no_traceback_shows_the_key_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "key"
    path.write_text("zebra/4411'+x\n", encoding="utf-8")
    path.chmod(0o600)
    key = KeySource(model="it", file=str(path)).read()
    try:
        raise OSError(f"bad header {key}")
    except OSError:
        print_exception()
    shown = capsys.readouterr().err
    assert "OSError: bad header <key of it>" in shown and "zebra" not in shown


# --- telling ---

ASKED = """
import os, sys
import judgescope.cli.main, judgescope.engines.vllm
from judgescope import NO_TELEMETRY
import huggingface_hub.constants as hub
off = {name: os.environ[name] for name in NO_TELEMETRY}
print(hub.HF_HUB_DISABLE_TELEMETRY, off == NO_TELEMETRY)
"""


@pytest.mark.heavy
def test_no_package_tells_that_it_is_used_whatever_the_environment_says() -> None:
    """The hub's client reads it when it is imported: here after ours, as everywhere."""
    assert set(judgescope.NO_TELEMETRY) >= {
        "HF_HUB_DISABLE_TELEMETRY",
        "VLLM_NO_USAGE_STATS",
    }
    loud = dict.fromkeys(judgescope.NO_TELEMETRY, "0")
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        env=environment() | loud,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(60),
    )
    assert done.stdout.split() == ["True", "True"], done.stderr
