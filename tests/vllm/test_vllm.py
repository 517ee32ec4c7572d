"""vLLM for real: offline and served, on a CPU, with a tiny model of random weights.

`make test-vllm` builds the environment that these tests ask in and runs them.
"""

import json
import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import running
import vllm_model
from judgescope.data.files import resolve, sha256_of
from study import Study
from vllm_job import HERE, ON_A_CPU, PYTHON, SECONDS, TINY, Asking
from waiting import patience

pytestmark = pytest.mark.vllm

PROMPTS = ["Rate A.", "Rate B."]
SYSTEM = "You assess written texts."
WITH_SYSTEM = {
    "messages": [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": PROMPTS[0]},
    ]
}
AROUND_SYSTEM = 10
"""Tokens that the template adds to a system message."""


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the model, an adapter, and a card for each way to ask
    them.
    """
    assert os.access(PYTHON, os.X_OK), f"{PYTHON}: run `make test-vllm`"
    folder = tmp_path_factory.mktemp("vllm")
    program = [PYTHON, str(HERE / "vllm_model.py"), str(folder)]
    subprocess.run(
        program, check=True, env={**os.environ, **ON_A_CPU}, capture_output=True
    )
    files = {"adapter": "adapter/adapter_{part}"}
    sha256 = sha256_of(resolve(files, "adapter", folder, folder))
    tuned = {"adapter": {"path": "../../adapter", "sha256": sha256}}
    served = {"mode": "served", "start_timeout": SECONDS}
    cards: dict[str, dict[str, Any]] = {"tiny": {}, "tiny-served": served}
    cards |= {"tuned": tuned, "tuned-served": tuned | served}
    (folder / "config" / "models").mkdir(parents=True)
    for name, keys in cards.items():
        card = {"model": name, **TINY, **keys}
        (folder / "config" / "models" / f"{name}.yaml").write_text(yaml.safe_dump(card))
    return folder


@pytest.fixture(scope="module")
def offline(study_folder: Path) -> Iterator[Asking]:
    asking = Asking(study_folder)
    yield asking
    asking.end()


def texts(answers: list[list[dict[str, Any]]]) -> list[list[str]]:
    return [[reply["text"] for reply in draws] for draws in answers]


def keys(answers: list[list[dict[str, Any]]]) -> list[str]:
    return [draws[0]["key"] for draws in answers]


def journalled(folder: Path) -> list[tuple[str, int]]:
    lines = [
        line
        for path in folder.glob("*/*.jsonl")
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    collected = [json.loads(line) for line in lines if line.startswith(b'{"key":')]
    return [(row["key"], row["draw"]) for row in collected]


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + patience(SECONDS)
    while not what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def gone(pids: set[int]) -> bool:
    """Return whether none of the processes runs; one that nobody has buried does
    not.
    """
    for pid in pids:
        try:
            if (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[
                2
            ].split()[0] != "Z":
                return False
        except OSError:
            continue
    return True


def test_draws_come_again_and_can_be_topped_up(
    offline: Asking, study_folder: Path
) -> None:
    """Three draws and then two more are the five that come at once."""
    three = texts(offline.ask("tiny", PROMPTS, 3, store="three"))
    assert len(journalled(study_folder / "three")) == 6
    five = texts(offline.ask("tiny", PROMPTS, 5, store="three"))
    assert len(journalled(study_folder / "three")) == 10
    assert [draws[:3] for draws in five] == three
    assert texts(offline.ask("tiny", PROMPTS, 5, store="five")) == five
    assert len({text for draws in five for text in draws}) == 10


def test_a_prompt_is_counted_once(offline: Asking) -> None:
    [first, second] = offline.ask("tiny", PROMPTS, 2)[0]
    prompt = len(PROMPTS[0]) + vllm_model.AROUND
    assert first["usage"] == {"prompt": prompt, "completion": 12}
    assert second["usage"] == {"prompt": 0, "completion": 12}
    assert first["finish"] == "length"
    assert first["provenance"] == {
        "engine": "vllm",
        "model": "tiny-random",
        "version": "0.32.0",
    }


def test_a_system_message_reaches_the_model_and_is_part_of_the_key(
    offline: Asking,
) -> None:
    greedy = {"temperature": 0}
    [[plain]] = offline.ask("tiny", PROMPTS[:1], decoding=greedy)
    [[result]] = offline.ask("tiny", PROMPTS[:1], decoding=greedy, asked=WITH_SYSTEM)
    assert result["key"] != plain["key"] and result["text"] != plain["text"]
    more = result["usage"]["prompt"] - plain["usage"]["prompt"]
    assert more == len(SYSTEM) + AROUND_SYSTEM


def test_what_was_read_before_is_not_read_again(offline: Asking) -> None:
    long = "Long words. " * 60
    [[first]] = offline.ask("tiny", [f"{long}One."])
    [[second]] = offline.ask("tiny", [f"{long}Two."])
    assert first["usage"]["cached"] == 0
    assert 500 < second["usage"]["cached"] < len(long) + vllm_model.AROUND


def test_a_choice_is_one_of_those_named(offline: Asking) -> None:
    """Its probabilities are those of the choices alone: they sum to 1."""
    wanted = {"choices": ["1", "2", "3"], "logprobs": 5}
    [draws] = offline.ask("tiny", PROMPTS[:1], 8, asked=wanted)
    assert {reply["text"] for reply in draws} <= set("123")
    assert {reply["finish"] for reply in draws} == {"stop"}
    for reply in draws:
        first = reply["logprobs"][0]
        assert first[0][0] == reply["text"]
        assert {token for token, _ in first} == set("123")
        assert sum(math.exp(logprob) for _, logprob in first) == pytest.approx(
            1, abs=1e-3
        )


def test_a_schema_is_kept_to(offline: Asking) -> None:
    score = {"type": "integer", "enum": [1, 2, 3]}
    asked = {"json_schema": {"type": "object", "properties": {"score": score}}}
    [[reply]] = offline.ask(
        "tiny", PROMPTS[:1], asked=asked, decoding={"max_tokens": 300}
    )
    assert json.loads(reply["text"])["score"] in (1, 2, 3)


def test_log_probabilities_have_the_token_that_came_first(offline: Asking) -> None:
    [[reply]] = offline.ask("tiny", ["Think of it."], asked={"logprobs": 3})
    assert len(reply["logprobs"]) == reply["usage"]["completion"]
    for (_, came), *others in reply["logprobs"]:
        assert 2 <= len(others) <= 3 and came <= 0
        assert [each for _, each in others] == sorted(
            (each for _, each in others), reverse=True
        )


def test_a_prompt_that_is_too_long_fails_alone(offline: Asking) -> None:
    prompts = ["a short one", "y" * vllm_model.LONGEST, "z, another short one"]
    answers = offline.ask("tiny", prompts, 2, store="long")
    assert [reply["status"] for draws in answers for reply in draws] == [
        *("ok", "ok", "error", "error", "ok", "ok")
    ]
    assert "maximum context length is 4096" in answers[1][0]["text"]


def test_where_every_request_is_refused_nothing_is_recorded(
    offline: Asking, study_folder: Path
) -> None:
    result = offline.ask("tiny", ["y" * vllm_model.LONGEST], store="never")
    assert "vLLM refuses every request" in result["error"]
    assert not journalled(study_folder / "never")


def test_thinking_is_turned_off_by_the_template(offline: Asking) -> None:
    off = {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    [[plain]] = offline.ask("tiny", PROMPTS[:1], decoding={"temperature": 0})
    [[quick]] = offline.ask("tiny", PROMPTS[:1], decoding={"temperature": 0}, asked=off)
    assert quick["usage"]["prompt"] == plain["usage"]["prompt"] + vllm_model.NO_THINKING
    assert quick["text"] != plain["text"]


def test_after_kill_9_only_the_missing_is_asked_for(
    offline: Asking, study_folder: Path
) -> None:
    """And nothing that the job had started is left."""
    prompts = [f"Rate text {number}." for number in range(60)]
    long = {"max_tokens": 200, "temperature": 1.0}
    killed = Asking(study_folder)
    killed.send("tiny", prompts, 3, store="killed", decoding=long)
    until(lambda: len(journalled(study_folder / "killed")) >= 10)
    started = killed.others()
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait()
    present = journalled(study_folder / "killed")
    assert 10 <= len(present) < 180
    until(lambda: gone(started))
    answers = offline.ask("tiny", prompts, 3, store="killed", decoding=long)
    after = journalled(study_folder / "killed")
    assert len(after) == len(set(after)) == 180 and set(present) < set(after)
    assert texts(answers) == texts(
        offline.ask("tiny", prompts, 3, store="whole", decoding=long)
    )


SERVED = [
    ("tiny", "tiny-served"),
    pytest.param("tuned", "tuned-served", marks=pytest.mark.long(70)),
]


@pytest.mark.parametrize(("local", "other"), SERVED)
def test_a_server_answers_as_the_job_itself_does(
    study_folder: Path, offline: Asking, local: str, other: str
) -> None:
    """Also where the model's own generation config says otherwise; a kill -9 ends it
    too.
    """
    inside = offline if local == "tiny" else Asking(study_folder)
    greedy = {"temperature": 0}
    alone = inside.ask(local, PROMPTS, store=local, decoding=greedy)
    sampled = inside.ask(local, PROMPTS, 3, store=local)
    chosen = inside.ask(
        local,
        PROMPTS,
        3,
        store=local,
        asked={"choices": ["1", "2"], "logprobs": 2},
    )
    result = inside.ask(
        local, PROMPTS[:1], store=local, decoding=greedy, asked=WITH_SYSTEM
    )
    if inside is not offline:
        inside.end()
    served = Asking(study_folder)
    came = served.ask(other, PROMPTS, store=other, decoding=greedy)
    assert (keys(came), texts(came)) == (keys(alone), texts(alone))
    heard = served.ask(
        other, PROMPTS[:1], store=other, decoding=greedy, asked=WITH_SYSTEM
    )
    assert (keys(heard), texts(heard)) == (keys(result), texts(result))
    again = served.ask(other, PROMPTS, 3, store=other)
    assert (keys(again), texts(again)) == (keys(sampled), texts(sampled))
    assert again[0][0]["provenance"] == sampled[0][0]["provenance"]
    chose = served.ask(
        other, PROMPTS, 3, store=other, asked={"choices": ["1", "2"], "logprobs": 2}
    )
    assert texts(chose) == texts(chosen)
    assert chose[0][0]["logprobs"][0][0] == pytest.approx(
        chosen[0][0]["logprobs"][0][0]
    )
    mixed = served.ask(other, ["y" * vllm_model.LONGEST, *PROMPTS], store=other)
    assert [reply["status"] for [reply] in mixed] == ["error", "ok", "ok"]
    started = served.others()
    assert len(started) >= 2
    served.process.kill()
    served.process.wait()
    until(lambda: gone(started))


def test_an_adapter_changes_replies_and_keys(
    study_folder: Path, offline: Asking
) -> None:
    """What was asked offline is not asked of a server: nothing is started."""
    greedy = {"temperature": 0}
    inside = Asking(study_folder)
    inside.ask("tuned", PROMPTS, store="tuned", decoding=greedy)
    inside.end()
    fresh = Asking(study_folder)
    tuned = fresh.ask("tuned-served", PROMPTS, store="tuned", decoding=greedy)
    assert fresh.others() == set()
    fresh.end()
    plain = offline.ask("tiny", PROMPTS, decoding=greedy)
    assert not set(keys(tuned)) & set(keys(plain))
    assert texts(tuned) != texts(plain)


def test_a_study_with_a_judge_of_vllm(
    study_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ON_A_CPU.items():
        monkeypatch.setenv(name, value)
    (study_folder / "config" / "judges").mkdir()
    judge = {"judge": "terse", "model": "tiny", "form": "score-only", "temperature": 1}
    judge |= {"draws": 2, "max_tokens": 8}
    (study_folder / "config" / "judges" / "terse.yaml").write_text(
        yaml.safe_dump(judge)
    )
    Study(study_folder).write(
        aspects=["naturalness"],
        judges=["terse"],
        perturbations=[],
        methods=["agreement"],
    )
    run = running.snakemake("--configfile", "study.yaml", cwd=study_folder)
    assert run.returncode == 0, run.stdout[-5000:]
    rows = running.rows(study_folder / "results" / "small", "cost")
    replies = [
        row["value"]
        for row in rows
        if (row["judge"], row["statistic"]) == ("terse", "replies")
    ]
    assert [float(value) for value in replies] == [240]
    log = (
        study_folder
        / "results"
        / "small"
        / "logs"
        / "ask"
        / "demo-dialogue"
        / "tiny.log"
    )
    assert (
        "240 to request" in log.read_text() and "replies: 240 of 240" in log.read_text()
    )
    again = running.snakemake(
        "asked", "--configfile", "study.yaml", "--forceall", cwd=study_folder
    )
    assert again.returncode == 0, again.stdout[-5000:]
    assert "240 in the store, 0 to request" in log.read_text()
    assert "Initializing" not in log.read_text()


MESSAGE, SCORED = "Write a reply.", "A naïve reply, <|im_end|>!"


def scored(asking: Asking, card: str, store: str, limit: int = 40) -> dict[str, Any]:
    """Return the reply that says how probable the model finds a text."""
    decoding = {"temperature": 0, "max_tokens": limit}
    wanted = {"continuation": SCORED}
    [[reply]] = asking.ask(
        card, [MESSAGE], store=store, decoding=decoding, asked=wanted
    )
    result: dict[str, Any] = reply
    return result


def token_values(reply: dict[str, Any]) -> list[float]:
    return [value for [(_, value)] in reply["logprobs"]]


def test_text_has_equal_values_offline_served_and_token_by_token(
    study_folder: Path, offline: Asking
) -> None:
    """A token of the tiny model is a byte; each byte of a character has a value."""
    inside = scored(offline, "tiny", "scored-offline")
    assert inside["text"] == SCORED and inside["finish"] == "stop"
    assert inside["usage"] == {
        "prompt": len(MESSAGE) + vllm_model.AROUND,
        "completion": len(SCORED.encode()),
    }
    served = Asking(study_folder)
    outside = scored(served, "tiny-served", "scored-served")
    assert (outside["key"], outside["text"]) == (inside["key"], SCORED)
    plain = scored(served, "tiny-served", "scored-served", limit=5)
    assert plain["text"] == "A na"  # the next character has two tokens
    assert len(texts(served.ask("tiny-served", PROMPTS, store="after"))) == 2
    served.end()
    alone = subprocess.run(
        [
            PYTHON,
            str(HERE / "vllm_token_scores.py"),
            str(study_folder / "model"),
            MESSAGE,
            "A na\u00efve reply, ",
        ],
        env={**os.environ, **ON_A_CPU},
        capture_output=True,
        text=True,
        check=True,
    )
    # vLLM's own lines are on standard output, too.
    [printed] = [line for line in alone.stdout.splitlines() if line.startswith("[-")]
    by_token = json.loads(printed)
    values = token_values(inside)
    assert token_values(outside) == pytest.approx(values, abs=0.01)
    assert values[: len(by_token)] == pytest.approx(by_token, abs=0.01)
    assert len({round(value, 3) for value in values}) > len(values) / 2


def test_text_without_tokens_asks_vllm_nothing(offline: Asking) -> None:
    decoding = {"temperature": 0, "max_tokens": 40}
    [[reply]] = offline.ask(
        "tiny",
        [MESSAGE],
        store="scored-nothing",
        decoding=decoding,
        asked={"continuation": ""},
    )
    assert (reply["status"], reply["text"], reply["logprobs"]) == ("ok", "", [])
