"""The rig of `llama.py`: what other tests take for granted about the server they
ask.
"""

import http.client
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import llama
from waiting import patience

llama.require()

CONTEXT, SLOTS = 512, 3
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("llama") / "random.gguf"
    llama.write_random_gguf(path)
    return path


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    with llama.serve(model, context=CONTEXT, slots=SLOTS) as url:
        yield url


def post(url: str, text: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    """Ask for a reply to one message and return the HTTP status and the body."""
    body = {"messages": [{"role": "user", "content": text}], "temperature": 1, **fields}
    request = urllib.request.Request(
        f"{url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with DIRECT.open(request, timeout=patience(60)) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def ask(url: str, text: str, **fields: Any) -> dict[str, Any]:
    """Return the body of an answer that must be one."""
    status, body = post(url, text, **fields)
    assert status == 200, body
    return body


def first_text(url: str, text: str, **fields: Any) -> str:
    """Return the text of the first reply."""
    content: str = ask(url, text, **fields)["choices"][0]["message"]["content"]
    return content


def answers(url: str) -> bool:
    """Say whether anybody listens there."""
    try:
        with DIRECT.open(f"{url}/models", timeout=patience(5)):
            return True
    except (OSError, http.client.HTTPException):
        return False


def test_the_model_is_a_small_file_that_only_its_seed_decides(tmp_path: Path) -> None:
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        llama.write_random_gguf(tmp_path / name, seed=seed)
    each, same, other = (
        (tmp_path / name).read_bytes() for name in ("one", "same", "other")
    )
    assert each == same
    assert each != other
    assert len(each) < 1_000_000


def test_the_answer_has_the_shape_of_openai(url: str) -> None:
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/v1")
    body = ask(url, "Grade 12345", max_tokens=4, seed=1, **llama.GIBBERISH)
    assert body["object"] == "chat.completion"
    assert body["model"] == llama.MODEL
    assert [choice["message"]["role"] for choice in body["choices"]] == ["assistant"]
    assert body["usage"]["prompt_tokens"] == llama.AROUND + len("Grade 12345")
    assert body["usage"]["completion_tokens"] == 4


def test_a_seed_decides_the_text(url: str) -> None:
    def noise(seed: int) -> str:
        return first_text(url, "Anything", seed=seed, max_tokens=40, **llama.GIBBERISH)

    assert noise(1) == noise(1)
    assert noise(1) != noise(2)


def test_requests_at_the_same_time_do_not_change_a_text(url: str) -> None:
    def noise(seed: int) -> str:
        return first_text(
            url, f"Item {seed % 4}", seed=seed, max_tokens=20, **llama.GIBBERISH
        )

    one_by_one = [noise(seed) for seed in range(12)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(noise, range(12))) == one_by_one
    assert len(set(one_by_one)) == 12


def test_as_many_draws_as_asked_for(url: str) -> None:
    body = ask(url, "Anything", n=SLOTS, seed=1, max_tokens=40, **llama.GIBBERISH)
    assert sorted(choice["index"] for choice in body["choices"]) == list(range(SLOTS))
    assert len({choice["message"]["content"] for choice in body["choices"]}) == SLOTS


def test_more_draws_than_slots_are_refused(url: str) -> None:
    status, body = post(url, "Anything", n=SLOTS + 1, max_tokens=4)
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")


def test_a_score_is_a_single_digit_and_not_always_the_same(url: str) -> None:
    bodies = [
        ask(url, "Rate it", seed=seed, max_tokens=8, **llama.SCORE)
        for seed in range(20)
    ]
    choices = [body["choices"][0] for body in bodies]
    digits = {choice["message"]["content"] for choice in choices}
    assert digits <= set("12345")
    assert len(digits) > 1
    assert {choice["finish_reason"] for choice in choices} == {"stop"}


def test_a_score_depends_on_the_text(url: str) -> None:
    texts = [
        f"Rate this: {word}" * 3
        for word in ("a cat", "rain", "42", "no", "Paris", "tea")
    ]
    scores = [
        first_text(url, text, temperature=0, max_tokens=2, **llama.SCORE)
        for text in texts
    ]
    assert len(set(scores)) > 1


def test_gibberish_is_no_text_and_ends_with_max_tokens(url: str) -> None:
    for seed in range(10):
        body = ask(url, "Rate it", seed=seed, max_tokens=100, **llama.GIBBERISH)
        choice = body["choices"][0]
        assert choice["finish_reason"] == "length"
        assert body["usage"]["completion_tokens"] == 100
        assert "\ufffd" in choice["message"]["content"]


def test_a_thought_comes_separately_from_the_score_and_can_eat_its_tokens(
    url: str,
) -> None:
    choice = ask(url, "Rate it", seed=1, max_tokens=60, **llama.THOUGHT)["choices"][0]
    assert choice["message"]["reasoning_content"].strip().isalpha()
    assert choice["message"]["content"] in set("12345")
    assert choice["finish_reason"] == "stop"
    cut = ask(url, "Rate it", seed=1, max_tokens=20, **llama.THOUGHT)["choices"][0]
    assert cut["message"]["reasoning_content"]
    assert cut["message"]["content"] == ""
    assert cut["finish_reason"] == "length"


def test_a_prompt_must_leave_room_in_the_context(url: str) -> None:
    room = CONTEXT - llama.AROUND
    body = ask(url, "x" * (room - 1), max_tokens=8, **llama.GIBBERISH)
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["total_tokens"] == CONTEXT
    status, refusal = post(url, "x" * room, max_tokens=8)
    assert status == 400
    assert refusal["error"]["type"] == "exceed_context_size_error"


def test_a_failure_fails_every_time_and_the_server_stays(url: str) -> None:
    statuses = {
        post(url, "x", seed=seed, max_tokens=8, **llama.FAILURE)[0] for seed in range(5)
    }
    assert statuses == {500}
    assert first_text(url, "x", max_tokens=2, **llama.SCORE) in set("12345")


def test_other_scripts_survive_both_ways(url: str) -> None:
    asked, replied = "Grüße, 漢字, नमस्ते, 😀", "Ähnlich: 良い 👍"
    body = ask(url, asked, max_tokens=60, grammar=f'root ::= "{replied}"')
    assert body["choices"][0]["message"]["content"] == replied
    assert body["usage"]["prompt_tokens"] == llama.AROUND + len(asked.encode())


@pytest.mark.heavy
def test_the_server_ends_with_an_error_of_its_user(model: Path) -> None:
    with pytest.raises(ZeroDivisionError), llama.serve(model, context=256) as url:
        assert answers(url)
        raise ZeroDivisionError
    assert not answers(url)


@pytest.mark.heavy
def test_the_server_ends_with_a_killed_user(model: Path) -> None:
    program = (
        "import pathlib, sys, time, llama\n"
        "with llama.serve(pathlib.Path(sys.argv[1]), context=256) as url:\n"
        "    print(url, flush=True)\n"
        "    time.sleep(60)\n"
    )
    user = subprocess.Popen(
        [sys.executable, "-c", program, str(model)],
        cwd=Path(llama.__file__).parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    with user:
        assert user.stdout is not None
        url = user.stdout.readline().strip()
        assert answers(url)
        user.send_signal(signal.SIGKILL)
    late = time.monotonic() + patience(10)
    while answers(url) and time.monotonic() < late:
        time.sleep(0.01)
    assert not answers(url)


@pytest.mark.heavy
def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"This is no model.")
    with (
        pytest.raises(RuntimeError, match=r"did not start(?s:.*)broken\.gguf"),
        llama.serve(path),
    ):
        raise AssertionError("it must not get here")


def test_a_context_that_the_server_would_change_is_refused(model: Path) -> None:
    with pytest.raises(ValueError, match="not 300"), llama.serve(model, context=300):
        raise AssertionError("it must not get here")
