"""A value of a card that is accepted can be sent, and ends in no traceback."""

import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asking import AskedStudy
from engines_openai_setup import FAST, endpoint, requests
from judgescope.core.errors import UserError, UserErrors
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Work
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.loading import read_card
from scripted import Endpoint, reply, serve

__all__ = ["endpoint"]
HUGE = 1180591620717411303424


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path


def card_with(folder: Path, **keys: Any) -> OpenAIModel:
    path = folder / "it.yaml"
    fields = {"model": "it", "engine": "openai", "limits": FAST}
    fields["base_url"] = "http://127.0.0.1:9/v1"
    path.write_text(yaml.safe_dump(fields | keys, allow_unicode=True), "utf-8")
    card: OpenAIModel = read_card("model", path)
    return card


@pytest.mark.parametrize(
    ("value", "key", "problem"),
    [
        ({"a": float("nan")}, "extra_body.a", "not finite"),
        ({"a": {"b": [1, float("-inf")]}}, "extra_body.a.b.1", "not finite"),
        ({"a": HUGE}, "extra_body.a", "64 bits"),
        ({"a": -(2**63) - 1}, "extra_body.a", "64 bits"),
        ({"a": nested(32)}, "extra_body.a", "32 levels"),
        ({"a": date(2026, 1, 1)}, "extra_body.a", "date is not a value of JSON"),
        ({"a": {1: 2}}, "extra_body.a", "must be a text"),
    ],
)
def test_what_no_request_can_hold_is_an_error_of_its_key(
    folder: Path, value: Any, key: str, problem: str
) -> None:
    with pytest.raises(UserErrors) as caught:
        card_with(folder, extra_body=value)
    [error] = caught.value.errors
    assert problem in error.what and f"key {key}" in error.where
    assert "it.yaml:" in error.where and error.allowed and error.todo


@pytest.mark.parametrize("value", [2**64 - 1, -(2**63), nested(31), "ü", None, True])
def test_what_a_request_can_hold_is_accepted(folder: Path, value: Any) -> None:
    assert card_with(folder, extra_body={"a": value}).extra_body == {"a": value}


def test_an_integer_of_vllm_has_the_same_limits(folder: Path) -> None:
    keys = {"engine": "vllm", "name": "w", "model_args": {"a": HUGE}}
    path = folder / "it.yaml"
    path.write_text(yaml.safe_dump({"model": "it", **keys}), "utf-8")
    with pytest.raises(UserErrors, match=r"key model_args\.a"):
        read_card("model", path)


def test_more_connections_than_a_machine_has_are_refused(folder: Path) -> None:
    assert card_with(folder, limits={"concurrency": 4096}).limits.concurrency == 4096
    with pytest.raises(UserErrors, match="4096 or less"):
        card_with(folder, limits={"concurrency": 4097})


@pytest.mark.parametrize(
    "store", ["config/replies", "results", "./results/x", "cache/../results/y"]
)
def test_a_store_among_cards_or_results_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.yaml"
    for name in (store, str(tmp_path / store)):
        keys = {"study": "s", "datasets": ["d"], "judges": ["j"], "store": name}
        path.write_text(yaml.safe_dump(keys), "utf-8")
        with pytest.raises(UserErrors, match="outside of config and results"):
            read_card("study", path)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**62),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["\ud800", "\x00", "\u2028", date(2026, 1, 1), HUGE]),
)
NAMES = st.one_of(st.text(max_size=4), st.integers(0, 3), st.booleans())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(value=VALUES, name=st.one_of(st.none(), st.text(max_size=4)))
def test_an_accepted_value_is_sent(
    endpoint: Endpoint, value: Any, name: str | None
) -> None:
    with tempfile.TemporaryDirectory() as location:
        try:
            card = card_with(
                Path(location),
                base_url=endpoint.url,
                extra_body={"a": value},
                **({} if name is None else {"name": name}),
            )
        except (UserError, UserErrors):
            return
    [wanted] = requests(card, "a")
    endpoint.asked.clear()
    assert OpenAIEngine(card)([Work(wanted, (0,))], False, lambda _: None) == []
    assert endpoint.asked[0]["a"] == value


@pytest.mark.slow
@pytest.mark.parametrize("value", ["{a: .nan}", "{a: 1180591620717411303424}"])
def test_a_run_ends_with_the_message_and_no_traceback(
    tmp_path: Path, value: str
) -> None:
    with serve(lambda _: reply("4")) as server:
        study = AskedStudy(tmp_path, server)
        path = tmp_path / "config/models/loop.yaml"
        path.write_text(path.read_text("utf-8") + f"extra_body: {value}\n", "utf-8")
        for command in ("check", "run"):
            done = study.judgescope(command)
            assert done.returncode == 1 and "Traceback" not in done.stdout
            assert "loop.yaml" in done.stdout and "key extra_body.a" in done.stdout
        assert server.asked == []
