"""From a table to a report at endpoints that refuse fields: `init`, `check --probe
--write`, `run`, and no edit by hand.
"""

import csv
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

import running
from asking import AskedStudy
from scripted import Body, Endpoint, Said, prompt_of, refusal, reply, serve

pytestmark = pytest.mark.slow
TEXTS = 72
MOST = 8
"""Test requests that a model may get."""
STUDY = "config/studies/mine.yaml"


def rated(body: Body) -> Said:
    """Rate by the seed, in as many words as the token limit allows."""
    seed = body.get("seed", len(prompt_of(body)))
    return reply(f"Fluent. Rating: {1 + seed % 5}")


def reasoning(body: Body) -> Said:
    """Refuse what OpenAI's reasoning models refuse; log probabilities with 403."""
    if "max_tokens" in body:
        return refusal(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
        )
    for name in ("temperature", "top_p"):
        if body.get(name, 1) != 1:
            return refusal(400, f"Unsupported value: '{name}' does not support this.")
    if "logprobs" in body:
        return refusal(403, "You are not allowed to request logprobs from this model.")
    return rated(body)


def one_of_two(body: Body) -> Said:
    """Refuse temperature together with top_p."""
    if {"temperature", "top_p"} <= body.keys():
        return refusal(
            400, "`temperature` and `top_p` cannot both be specified for this model."
        )
    return rated(body)


def without_seed(body: Body) -> Said:
    """Refuse a seed."""
    if "seed" in body:
        return refusal(422, "Extra inputs are not permitted: seed")
    return rated(body)


def slow_thinker() -> Callable[[Body], Said]:
    """Return a server that loads its weights for some requests, and then thinks."""
    loading = iter(range(3))

    def answer(body: Body) -> Said:
        if next(loading, None) is not None:
            return refusal(503, "Loading model", **{"Retry-After": "0.1"})
        verdict = rated(body).body
        assert isinstance(verdict, dict)
        text = verdict["choices"][0]["message"]["content"]
        return reply(f"<think>Rating: 9? It reads well.</think>\n{text}")

    return answer


@dataclass(frozen=True)
class Server:
    """An endpoint's behaviour, and what its card says in the end."""

    script: Callable[[], Callable[[Body], Said]]
    field_names: Body = field(default_factory=dict)
    keys: Body = field(default_factory=dict)
    """Keys that `init` has no option for."""


SERVERS = {
    "chat": Server(lambda: rated),
    "reasoning": Server(
        lambda: reasoning,
        {"max_tokens": "max_completion_tokens", "temperature": None},
    ),
    "azure": Server(
        lambda: rated,
        keys={"key_header": "api-key", "query": {"api-version": "2026-01-01"}},
    ),
    "one-of-two": Server(lambda: one_of_two, {"top_p": None}),
    "without-seed": Server(lambda: without_seed, {"seed": None}),
    "thinking": Server(slow_thinker),
}


def write_table(folder: Path) -> None:
    with (folder / "mine.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["article", "model", "summary", "fluency_1", "fluency_2"])
        for at in range(TEXTS):
            source = f"The mill at Orrin burnt down on day {at // 2}."
            text = f"The mill has burnt down, {at} people say."
            writer.writerow([source, "ab"[at % 2], text, 1 + at % 5, 1 + at % 3])


def judgescope(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return running.run("-m", "judgescope", *words, cwd=folder)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBED_KEY", "no-such-key-1234")


def began(folder: Path, endpoint: Endpoint, *words: str) -> str:
    write_table(folder)
    done = judgescope(
        folder,
        *("init", "mine.csv", "--yes", "--endpoint", endpoint.url, "--model", "it"),
        *("--key-env", "PROBED_KEY", *words),
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def card_of(folder: Path) -> Any:
    return yaml.safe_load((folder / "config/models/it.yaml").read_text("utf-8"))


def in_lanes(names: Iterable[str]) -> list[Any]:
    """Return names of servers: the long lane has all but the usual one."""
    long = pytest.mark.long(8)
    return [
        name if name == "chat" else pytest.param(name, marks=long) for name in names
    ]


@pytest.mark.parametrize("name", in_lanes(SERVERS))
def test_every_server_is_asked_without_an_edit_by_hand(
    tmp_path: Path, name: str
) -> None:
    server = SERVERS[name]
    with serve(server.script()) as endpoint:
        began(tmp_path, endpoint)
        path = tmp_path / "config/models/it.yaml"
        keys = {**card_of(tmp_path), **server.keys, "limits": {"backoff": 0.01}}
        path.write_text(f"# mine\n{yaml.safe_dump(keys, sort_keys=False)}", "utf-8")
        before = path.read_text("utf-8")
        probed = judgescope(tmp_path, "check", STUDY, "--probe", "--write")
        assert probed.returncode == 0, probed.stdout
        assert f"at most {MOST} requests to {endpoint.url}" in probed.stdout
        loading = 3 if name == "thinking" else 0
        assert 0 < len(endpoint.asked) <= MOST + loading
        assert card_of(tmp_path).get("field_names", {}) == server.field_names
        after = path.read_text("utf-8")
        assert after.startswith(before)
        assert ("+field_names" in probed.stdout) == (after != before)
        tests = len(endpoint.asked)
        done = judgescope(tmp_path, "run", STUDY)
        assert done.returncode == 0, done.stdout
        assert len(endpoint.asked) == tests + TEXTS
        coverage = running.rows(tmp_path / "results/mine", "coverage")
        [ok] = [
            row["value"]
            for row in coverage
            if (row["judge"], row["statistic"]) == ("it", "count_ok")
        ]
        assert ok == TEXTS


def test_without_write_the_line_is_printed_and_the_exit_code_is_one(
    tmp_path: Path,
) -> None:
    with serve(reasoning) as endpoint:
        began(tmp_path, endpoint)
        path = tmp_path / "config/models/it.yaml"
        before = path.read_bytes()
        done = judgescope(tmp_path, "check", STUDY, "--probe")
        assert done.returncode == 1
        line = "field_names: {max_tokens: max_completion_tokens, temperature: null}"
        assert f"models/it.yaml needs: {line}" in done.stdout
        assert "--write" in done.stdout
        assert path.read_bytes() == before
        wrong = judgescope(tmp_path, "check", STUDY, "--write")
        assert wrong.returncode == 2 and "add --probe" in wrong.stdout


def test_init_probes_the_card_that_it_writes(tmp_path: Path) -> None:
    with serve(reasoning) as endpoint:
        text = began(tmp_path, endpoint, "--probe")
        assert len(endpoint.asked) <= MOST
    assert "written: config/models/it.yaml" in text
    assert card_of(tmp_path)["field_names"]["temperature"] is None


def test_a_judge_that_cannot_run_is_named_and_nothing_is_judged(
    tmp_path: Path,
) -> None:
    with serve(reasoning) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        study.model(probe=True, field_names={"max_tokens": "max_completion_tokens"})
        study.card(
            *("judges", "terse"),
            model="loop",
            form="score-only",
            estimator="logprob_mean",
            temperature=1,
        )
        done = judgescope(tmp_path, "check", study.file, "--probe")
        assert done.returncode == 1
        assert "logprobs     refused" in done.stdout
        assert "judges/terse.yaml" in done.stdout
        assert "estimator: mean" in done.stdout and "fallback" in done.stdout
        assert study.journalled() == 0
        run = study.run()
        assert run.returncode == 1 and "estimator: mean" in run.stdout
        assert (
            "key"
            not in run.stdout.partition("does not support")[2]
            .partition("do:")[2]
            .partition("\n")[0]
        )


@pytest.mark.long(24)
def test_a_shipped_card_is_copied_and_its_comments_stay(tmp_path: Path) -> None:
    """Its address is that of a loopback server, so the copy of a study is the shipped
    one here.
    """
    shipped = (running.HOME / "config/models/vllm.yaml").read_text("utf-8")
    with serve(reasoning) as endpoint:
        home = running.copy_project(tmp_path / "home")
        model = home / "config/models/vllm.yaml"
        text = shipped.replace("http://127.0.0.1:8000/v1", endpoint.url)
        model.write_text(text, "utf-8")
        work = tmp_path / "work"
        study = AskedStudy(work, endpoint)
        study.card("judges", "terse", model="vllm", form="score-only")
        study.write()
        done = running.run(
            *("-m", "judgescope", "check", study.file, "--probe", "--write"),
            cwd=work,
            home=home,
        )
        assert done.returncode == 0, done.stdout
        assert "a copy of the shipped card vllm.yaml" in done.stdout
        assert model.read_text("utf-8") == text
        copied = (work / "config/models/vllm.yaml").read_text("utf-8")
        assert copied.startswith(text.rstrip("\n"))
        assert "max_completion_tokens" in copied
