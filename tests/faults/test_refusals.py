"""What commands say of files that are none of theirs, and when nobody reads on."""

import asyncio
import gzip
import json
import random
import subprocess
import threading
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

import running
from batch_setup import Asked, result
from engines_openai_setup import FAST, ask, card, requests
from judgescope.core.errors import UserError
from judgescope.core.process_limits import STATE
from judgescope.engines.openai import wire
from judgescope.engines.openai.wire import AT_ONCE, NoReplyError, read_replies, text_of
from judgescope.engines.requests import MOST_TOKENS, counted
from judgescope.replies import shard
from judgescope.replies.journal import ReplyLine, read_line, sealed
from judgescope.schema.cards import OpenAIModel
from running import HOME
from scripted import Body, Endpoint, Said, prompt_of, reply, serve
from waiting import patience


def judgescope(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; it has nothing to read from."""
    return subprocess.run(
        [running.python(), "-m", "judgescope", *words],
        cwd=folder,
        env=running.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(120),
    )


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words",
    [
        ("export", "table.csv", "card", "x.md"),
        ("replies", "show", "table.csv"),
        ("show", "table.csv"),
        ("check", "nowhere.yaml"),
        ("show", "nowhere.yaml"),
    ],
)
def test_a_file_that_is_no_study_is_named_without_a_traceback(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "table.csv").write_text("id,text\n1,one\n", encoding="utf-8")
    done = judgescope(tmp_path, *words)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    named = next(word for word in words if "." in word)
    assert named in done.stderr


@pytest.mark.heavy
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "there.md").mkdir()
    study = str(HOME / "config" / "config.yaml")
    done = judgescope(tmp_path, "export", study, "card", "there.md", "--force")
    assert done.returncode == 1 and "Traceback" not in done.stderr


NO_COUNTS = [2**63, 2**62, MOST_TOKENS + 1, -1, -(10**9), True, 1.0, "7", None]
KEY = "ab" * 32
USAGE = {"prompt": 7, "completion": 3}


@pytest.mark.parametrize("count", NO_COUNTS)
def test_what_is_no_number_of_tokens_leaves_the_cost_unknown(
    count: object, endpoint: Endpoint
) -> None:
    body = reply("4").body
    assert isinstance(body, dict)
    [request] = requests(card(endpoint), "What?")
    fields = {**body, "usage": {"prompt_tokens": count, "completion_tokens": 3}}
    [read_reply] = read_replies(json.dumps(fields), request.key, [0], logprobs=False)
    assert read_reply.usage is None
    assert counted({"prompt": count, "completion": 3}) is None
    assert counted({**USAGE, "cached": count}) == USAGE


def line(**changes: Any) -> bytes:
    row = {"key": KEY, "draw": 0, "text": "4", "finish": "stop", "status": "ok"}
    row |= {
        "usage": {"prompt": 7, "completion": None},
        "provenance": None,
        "logprobs": None,
    }
    return sealed(row | changes)


def test_an_older_line_with_half_a_usage_has_no_usage() -> None:
    for usage in (None, {}, {"prompt": 7}, {"prompt": 7, "completion": None}):
        older = read_line(line(usage=usage))
        assert isinstance(older, ReplyLine) and older.reply().usage is None
    newer = read_line(line(usage=USAGE))
    assert isinstance(newer, ReplyLine) and newer.reply().usage == USAGE


def test_a_line_of_a_journal_counts_tokens_and_has_a_known_status() -> None:
    assert (
        read_line(line())
        and read_line(line(usage=None))
        and read_line(line(status="error"))
    )
    assert read_line(line(usage={"prompt": MOST_TOKENS}))
    for wrong in (MOST_TOKENS + 1, -1, True, 1.5):
        assert read_line(line(usage={"prompt": wrong})) is None
    assert read_line(line(usage={"invented": 3})) is None
    assert read_line(line(status="w\x1b[31meird")) is None


@pytest.mark.parametrize("packed", [True, False])
def test_an_answer_that_unfolds_into_too_much_is_none(
    packed: bool, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 1 << 20)
    outcome = reply("4").body
    assert isinstance(outcome, dict)
    large = json.dumps({**outcome, "much": "x" * (3 << 20)}).encode()
    body = gzip.compress(large) if packed else large
    assert not packed or len(body) < 1 << 14
    headers = {"Content-Encoding": "gzip"} if packed else {}
    endpoint.script = lambda _: Said(body, headers=headers)
    model = card(endpoint)
    came, [failure] = ask(model, *requests(model, "What?"), proven=True)
    assert not came and "more than 1,048,576 bytes" in failure.reason
    monkeypatch.undo()
    came, failures = ask(model, *requests(model, "What?"))
    assert came == {"What?": "ok: 4"} and not failures


@pytest.mark.parametrize(
    "keys",
    [
        {"headers": {"X-A": "a\r\nX-Evil: 1"}},
        {"headers": {"X-A": "a\0"}},
        {"headers": {"X\r\nEvil": "a"}},
        {"headers": {"": "a"}},
        {"headers": {"X A": "a"}},
        *(
            {"headers": {name: "1"}}
            for name in ("Host", "content-length", "Transfer-Encoding")
        ),
        *(
            {"headers": {name: "1"}}
            for name in ("Content-Encoding", "Expect", "Connection")
        ),
        *(
            {"base_url": f"http://{host}/v1"}
            for host in ("[::1", "h:99999", "h:abc", "h:0")
        ),
        *(
            {"base_url": f"http://{host}/v1"}
            for host in ("....", "a" * 300, "h\u202ei", ":80")
        ),
        *({"base_url": f"http://{host}/v1"} for host in ("a\\b", "xn--", "\uff11%")),
    ],
)
def test_a_card_whose_requests_could_not_be_sent_is_refused(
    keys: dict[str, Any],
) -> None:
    fields = {"model": "it", "engine": "openai", "base_url": "http://localhost:1/v1"}
    with pytest.raises(ValidationError, match=r"headers|not a URL"):
        OpenAIModel.model_validate(fields | keys)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:80", "[::1]:8000", "bücher.example."]
)
def test_addresses_and_headers_that_are_some(host: str) -> None:
    fields = {"model": "it", "engine": "openai", "base_url": f"https://{host}/v1"}
    OpenAIModel.model_validate(fields | {"headers": {"X-Title": "A study, of mine"}})


DEEP = {"deep": json.loads("[" * 400 + "]" * 400)}


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ({"status_code": [], "body": {"error": {"message": "no"}}}, "no"),
        ({"status_code": "\x1b[31m", "body": {"error": "no"}}, "no"),
        (
            {"status_code": 500, "body": {"message": "\x1b]0;x\x07 no"}},
            "HTTP 500: ]0;x no",
        ),
        ({"status_code": 200, "body": DEEP}, "a response that is not JSON"),
        ({"status_code": 500, "body": DEEP}, "HTTP 500: "),
    ],
)
def test_a_result_of_a_batch_is_reported_without_what_moves_a_cursor(
    response: dict[str, Any], message: str, tmp_path: Path
) -> None:
    asked = Asked(tmp_path)
    done = asked.take(result(asked.lines()[0], response))
    assert done.failed == {message: 1} and (done.new, done.torn, done.foreign) == (
        0,
        0,
        0,
    )


def written(path: Path, **columns: list[Any]) -> Path:
    schema = shard.SCHEMA
    table = pa.table(
        {each.name: pa.array(columns[each.name], each.type) for each in schema}, schema
    )
    pq.write_table(table, path)
    return path


@pytest.mark.parametrize("missing", ["key", "model", "line"])
def test_a_file_of_replies_without_something_is_refused(
    missing: str, tmp_path: Path
) -> None:
    columns: dict[str, list[Any]] = {"key": [bytes(32)] * 2, "model": ["m"] * 2}
    columns |= {"line": [line()] * 2}
    columns |= {name: [0, 0] for name in shard.SCHEMA.names if name not in columns}
    assert (
        len(list(shard.compacted_blocks(written(tmp_path / "a.parquet", **columns))))
        == 1
    )
    columns[missing][1] = None
    with pytest.raises(UserError, match="not a reply file of this version"):
        list(shard.compacted_blocks(written(tmp_path / "b.parquet", **columns)))


def test_a_file_of_replies_that_unfolds_into_too_many_lines_is_refused(
    tmp_path: Path,
) -> None:
    rows = shard.ROWS + 1
    columns: dict[str, list[Any]] = {name: [0] * rows for name in shard.SCHEMA.names}
    columns |= {
        "key": [bytes(32)] * rows,
        "model": ["m"] * rows,
        "line": [line()] * rows,
    }
    with pytest.raises(UserError, match="more than 4,096 lines at once"):
        list(shard.compacted_blocks(written(tmp_path / "a.parquet", **columns)))


@pytest.mark.heavy
@pytest.mark.skipif(
    not STATE.exists(), reason="how much a process takes is not known here"
)
def test_a_file_of_replies_that_unfolds_into_gigabytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text of a megabyte, 4,096 times: two kilobytes on disk, four gigabytes in
    memory.
    """
    rows = shard.ROWS
    columns: dict[str, list[Any]] = {name: [0] * rows for name in shard.SCHEMA.names}
    columns |= {
        "key": [bytes(32)] * rows,
        "model": ["m"] * rows,
        "line": [b"x" * 900_000] * rows,
    }
    path = tmp_path / "a.parquet"
    schema = shard.SCHEMA
    small = {each.name: pa.array(columns[each.name][:1], each.type) for each in schema}
    folded = {
        name: pa.DictionaryArray.from_arrays(
            pa.array([0] * rows, pa.int32()), each
        ).cast(each.type)
        if name != "line"
        else pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), each)
        for name, each in small.items()
    }
    pq.write_table(pa.table(folded), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 1 << 16
    monkeypatch.setattr(shard, "MOST_UNFOLDED", 1 << 30)
    with pytest.raises(UserError, match="not a reply file") as error:
        list(shard.compacted_blocks(path))
    assert error.value.where == str(path) and "decompress" in str(error.value.got)


TEXT = "R\u00e4ting: 4 " * 5


def deflated(data: bytes, bits: int) -> bytes:
    packer = zlib.compressobj(wbits=bits)
    return packer.compress(data) + packer.flush()


def unpacked(data: bytes, packing: str) -> str:
    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(data), 1000):
            yield data[start : start + 1000]

    async def go() -> str:
        return await text_of(parts(), packing)

    return asyncio.run(go())


@pytest.mark.parametrize("times", [1, 10_000])
@pytest.mark.parametrize(
    ("packing", "pack"),
    [
        *(
            ("", bytes),
            ("identity", bytes),
            ("gzip", gzip.compress),
            ("X-Gzip", gzip.compress),
        ),
        *(("deflate", zlib.compress), ("deflate", lambda data: deflated(data, -15))),
    ],
)
def test_any_packing_that_was_asked_for_is_unpacked(
    times: int, packing: str, pack: Callable[[bytes], bytes]
) -> None:
    assert unpacked(pack((TEXT * times).encode()), packing) == TEXT * times


@pytest.mark.parametrize(
    ("data", "packing", "reason"),
    [
        (b"{}", "br", "unrequested encoding"),
        (b"{}", "gzip, gzip", "unrequested encoding"),
        (b"{}" * 50, "gzip", "cannot be decompressed"),
        (
            gzip.compress(b"{}" * 50, mtime=0)[:-9],
            "gzip",
            "ends before its compressed data does",
        ),
        (
            gzip.compress(bytes(AT_ONCE * 4), mtime=0)[:-9],
            "gzip",
            "ends before its compressed data does",
        ),
    ],
)
def test_what_cannot_be_unpacked_is_no_reply(
    data: bytes, packing: str, reason: str
) -> None:
    with pytest.raises(NoReplyError, match=reason):
        unpacked(data, packing)


def test_much_is_unpacked_in_another_thread_and_up_to_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = zlib.decompressobj, list[tuple[bool, int]]()
    monkeypatch.setattr(wire, "MOST_BYTES", 4 * AT_ONCE)

    class Watched:
        """An unpacker that notes in which thread it works, and up to how many bytes."""

        def __init__(self, bits: int) -> None:
            self.real = real(bits)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def decompress(self, data: bytes, limit: int) -> bytes:
            calls.append((threading.current_thread() is threading.main_thread(), limit))
            return self.real.decompress(data, limit)

    monkeypatch.setattr("judgescope.engines.openai.wire.zlib.decompressobj", Watched)
    unpacked(gzip.compress(bytes(AT_ONCE - 1)), "gzip")
    assert calls == [(True, AT_ONCE)]
    calls.clear()
    with pytest.raises(NoReplyError, match="decompresses to more"):
        unpacked(gzip.compress(bytes(100 * AT_ONCE)), "gzip")
    assert calls == [(True, AT_ONCE), *[(False, AT_ONCE)] * 4]
    assert len(unpacked(gzip.compress(bytes(4 * AT_ONCE)), "gzip")) == 4 * AT_ONCE
    calls.clear()
    noise = random.Random(1).randbytes(AT_ONCE).hex()  # large as it comes
    assert unpacked(gzip.compress(noise.encode()), "gzip") == noise
    assert calls and not any(main for main, _ in calls)


@pytest.mark.heavy
def test_a_bomb_among_packed_answers_costs_its_neighbours_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 1 << 22)
    bomb = gzip.compress(bytes(1 << 26))

    def script(body: Body) -> Said:
        result = reply("4")
        if prompt_of(body) == "bomb":
            return Said(bomb, headers={"Content-Encoding": "gzip"})
        packed = gzip.compress(json.dumps(result.body).encode())
        return Said(packed, headers={"Content-Encoding": "gzip"})

    with serve(script) as endpoint:
        model = card(endpoint, limits={**FAST, "concurrency": 4, "timeout": 60})
        came, failures = ask(model, *requests(model, "a", "bomb", *"bcdef"))
    assert came == dict.fromkeys("abcdef", "ok: 4")
    assert [failure.about for failure in failures] == [
        "bomb"
    ] and "decompresses" in failures[0].reason
    assert Counter(endpoint.prompts) == {
        **dict.fromkeys("abcdef", 1),
        "bomb": FAST["attempts"],
    }
    assert endpoint.headers[0]["Accept-Encoding"] == "gzip, deflate"
