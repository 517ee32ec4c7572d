"""Batch files: what is missing goes out, what came is taken in, and nothing is asked
again.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import running
from asking import AskedStudy
from batch_setup import MODEL, Asked, Row, asked, result
from judgescope.core.errors import UserError
from judgescope.engines.openai.wire import body
from judgescope.engines.requests import HOPELESS, Reply
from judgescope.extensions.batch import batch
from judgescope.extensions.batch.batch import Results
from judgescope.replies.store import Store
from scripted import Body, Said, refusal, reply, serve, text_in

__all__ = ["asked"]


def good(line: Row, text: str = "Rating: 4") -> Row:
    body = reply(text).body
    return result(line, {"status_code": 200, "request_id": "r", "body": body})


# --- out ---


def test_a_line_is_what_the_engine_would_send_for_a_single_draw(asked: Asked) -> None:
    expected = [
        {
            "custom_id": f"{request.key}-{draw}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": body(MODEL, request, [draw]),
        }
        for request, draws in asked.work()
        for draw in draws
    ]
    assert asked.lines() == expected and len(expected) == 8
    first = asked.lines()[0]["body"]
    assert first["model"] == "org/it" and first["top_k"] == 3 and "n" not in first
    assert (
        first["max_completion_tokens"] == 512
        and "Text 0 \u2028é." in first["messages"][0]["content"]
    )
    assert len({line["body"]["seed"] for line in asked.lines()}) == 8


def test_only_missing_draws_go_out_and_a_key_of_two_jobs_once(asked: Asked) -> None:
    known = asked.lines()[3]["custom_id"]
    key, _, draw = known.partition("-")
    with asked.store:
        asked.store.append(Reply(key, int(draw), "Rating: 5"))
    twice = [*asked.work(), *asked.work()]
    custom_ids = [json.loads(line)["custom_id"] for line in batch.lines(MODEL, twice)]
    assert len(custom_ids) == len(set(custom_ids)) == 7 and known not in custom_ids
    more = Asked(asked.folder, draws=3)
    every = [request.key for request, _ in batch.missing([*asked.work(), *more.work()])]
    assert len(every) == 11 and every.count(key) == 2


def test_files_keep_to_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [b"x" * 9 + b"\n"] * 10
    monkeypatch.setattr(batch, "REQUESTS", 4)
    by_count = batch.write(tmp_path / "a", "m", values)
    assert list(by_count.values()) == [4, 4, 2]
    monkeypatch.setattr(batch, "BYTES", 35)
    by_size = batch.write(tmp_path / "b", "m", values)
    assert list(by_size.values()) == [3, 3, 3, 1]
    assert [path.name for path in by_size] == [f"m-00{n}.jsonl" for n in (1, 2, 3, 4)]
    assert all(path.stat().st_size <= 35 for path in by_size)
    assert b"".join(path.read_bytes() for path in by_size) == b"".join(values)
    with pytest.raises(UserError, match="earlier export"):
        batch.write(tmp_path / "b", "m", values)
    assert batch.write(tmp_path / "c", "m", []) == {}


def test_a_model_whose_id_begins_anothers_goes_into_the_same_folder(
    tmp_path: Path,
) -> None:
    for name in ("gpt-4o-mini", "gpt-4o"):
        assert [*batch.write(tmp_path, name, [b"{}\n"])] == [
            tmp_path / f"{name}-001.jsonl"
        ]


# --- in ---


def test_results_in_any_order_are_replies_with_usage_and_provenance(
    asked: Asked,
) -> None:
    lines = asked.lines()
    done = asked.take(
        *[good(line, f"Rating: {n % 5 + 1}") for n, line in enumerate(lines)][::-1]
    )
    assert done == Results(new=8) and asked.lines() == []
    by_key = {f"{reply.key}-{reply.draw}": reply for reply in asked.replies()}
    first = by_key[lines[0]["custom_id"]]
    assert (first.text, first.finish, first.status) == ("Rating: 1", "stop", "ok")
    assert first.usage == {"prompt": 7, "completion": 3}
    assert first.provenance == {
        "engine": "openai",
        "model": "scripted",
        "fingerprint": "fp",
    }


def test_what_may_yet_succeed_is_no_reply(asked: Asked) -> None:
    lines = asked.lines()
    expired = {
        "code": "batch_expired",
        "message": "This request could not be executed in time.",
    }
    passing = {"error": {"message": "Rate limit reached"}}
    done = asked.take(
        good(lines[0]),
        result(lines[1], None, expired),
        result(lines[2], {"status_code": 429, "body": passing}),
        result(lines[3], {"status_code": 500, "body": {"error": {"message": "oops"}}}),
        result(
            lines[4],
            {"status_code": 404, "body": {"error": {"message": "no such model"}}},
        ),
        result(lines[5], {"status_code": 200, "body": {"choices": []}}),
        result(lines[6], {"status_code": 401, "body": "who are you"}),
    )
    assert (done.new, done.refused, sum(done.failed.values())) == (1, 0, 6)
    assert done.failed["This request could not be executed in time."] == 1
    assert done.failed["HTTP 429: Rate limit reached"] == 1
    assert len(asked.lines()) == 7 and len(asked.replies()) == 1


REFUSALS: list[tuple[Row, str]] = [
    # OpenAI's error file, and what `vllm run-batch` writes
    (
        {"response": {"status_code": 400, "body": {"error": {"message": "too long"}}}},
        "HTTP 400: too long",
    ),
    (
        {
            "response": {"status_code": 400, "request_id": "v"},
            "error": {"message": "too long"},
        },
        "HTTP 400: too long",
    ),
]


@pytest.mark.parametrize(("fields", "text"), REFUSALS)
def test_a_refusal_beside_a_reply_is_an_error_for_good(
    asked: Asked, fields: Row, text: str
) -> None:
    lines = asked.lines()
    done = asked.take(result(lines[0], None) | fields, good(lines[1]))
    assert (done.new, done.refused) == (1, 1)
    assert {reply.text for reply in asked.replies() if reply.status == "error"} == {
        text
    }
    assert len(asked.lines()) == 6


def test_where_all_is_refused_nothing_is_kept(asked: Asked) -> None:
    """A wrong field in the card must not become a thousand errors that stand."""
    fields = {"status_code": 400, "body": {"error": {"message": "unknown field top_k"}}}
    with pytest.raises(
        UserError, match="every request was refused: HTTP 400: unknown field"
    ):
        asked.take(*(result(line, fields) for line in asked.lines()))
    assert len(asked.lines()) == 8


def test_a_few_refusals_alone_are_kept_if_the_model_has_answered_others(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path, count=HOPELESS, draws=1)
    fields = {
        "status_code": 400,
        "body": {"error": {"message": "not allowed by our policy"}},
    }
    refusals = [result(line, fields) for line in asked.lines()]
    with asked.store:
        asked.store.append(Reply("f" * 64, 0, "of another study"))
    asked = Asked(tmp_path, count=HOPELESS, draws=1)
    with pytest.raises(UserError, match="every request was refused"):
        asked.take(*refusals)
    assert asked.take(*refusals[1:]) == Results(refused=HOPELESS - 1)
    assert len(asked.lines()) == 1


def test_foreign_and_torn_lines_are_counted_and_repeated_ones_change_nothing(
    asked: Asked,
) -> None:
    lines = asked.lines()
    strange = [f"{'0' * 64}-0", "request-1", f"{lines[0]['custom_id'][:64]}-9", ""]
    complete = json.dumps(good(lines[0])).encode()
    done = asked.take(
        good(lines[0]),
        good(lines[0], "Rating: 1"),
        *(good({"custom_id": name}) for name in strange),
        b"[1]",
        b'"x"',
        b'{"custom_id":5}',
        complete[: len(complete) // 2],
    )
    assert done == Results(new=1, known=1, foreign=4, torn=4)
    assert [reply.text for reply in asked.replies()] == ["Rating: 4"]
    assert asked.take(good(lines[0], "Rating: 2")) == Results(known=1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Rating: 4 \ud83d", -0.5),
        ("Rating: 4", float("nan")),
        ("Rating: 4", float("-inf")),
    ],
)
def test_a_result_that_a_live_answer_could_have_is_a_reply(
    asked: Asked, text: str, value: float
) -> None:
    row = good(asked.lines()[0], text)
    row["response"]["body"]["choices"][0]["logprobs"] = {
        "content": [{"token": "4", "logprob": value}]
    }
    assert asked.take(row, b"") == Results(new=1)
    assert [reply.text for reply in asked.replies()] == [
        text.replace("\ud83d", "\ufffd")
    ]


def test_results_are_counted_by_file_and_requests_are_none(asked: Asked) -> None:
    lines = asked.lines()
    [path] = asked.take(good(lines[0])).of_files
    assert asked.take(good(lines[0])).of_files == {path: 1}
    assert asked.take(*lines).of_files == asked.take(b"").of_files == {}
    assert asked.take(*lines).torn == len(lines)


def test_a_key_that_was_stated_back_is_taken_out(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCH_KEY", "sk-never-to-be-seen")
    keyed = MODEL.model_copy(update={"api_key_env": "BATCH_KEY"})
    lines = asked.lines()
    path = asked.folder / "results.jsonl"
    bad = {
        "status_code": 400,
        "body": {"error": {"message": "sk-never-to-be-seen is bad"}},
    }
    values = [good(lines[0], "My key is sk-never-to-be-seen."), result(lines[1], bad)]
    path.write_text("\n".join(map(json.dumps, values)))
    with asked.store:
        done = batch.read([path], [(keyed, asked.store, asked.job.key_table)])
    assert (done.new, done.refused) == (1, 1)
    assert sorted(reply.text for reply in asked.replies()) == [
        "HTTP 400: <key> is bad",
        "My key is <key>.",
    ]


# --- through the command line ---


def answers(files: Iterable[Path], script: Any = None) -> list[Row]:
    lines = [
        json.loads(line)
        for path in files
        for line in path.read_text("utf-8").splitlines()
    ]
    return [good(line, f"Rating: {1 + line['body']['seed'] % 5}") for line in lines]


@pytest.mark.long(23)
@pytest.mark.slow
def test_a_study_goes_out_and_comes_back_and_the_run_asks_nothing(
    tmp_path: Path,
) -> None:
    """Also a text that a model has yet to make: it is told, and comes with the next
    export.
    """

    def script(asked: Body) -> Said:
        prompt = asked["messages"][0]["content"]
        if "Change exactly one fact" not in prompt:
            return refusal(500, "nothing is judged here")
        return reply(text_in(prompt).split("\n\nAnswer with")[0] + " Wrong!")

    with serve(script) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        made = {
            "level": "sentence",
            "method": "llm",
            "model": "loop",
            "form": "wrong-fact",
        }
        study.card("perturbations", "lie", name="A lie", **made)
        study.write(perturbations=["lie"], methods=["agreement", "discernment"])

        def judgescope(*arguments: str, status: int = 0) -> str:
            done = running.run("-m", "judgescope", *arguments, cwd=tmp_path)
            assert done.returncode == status, done.stdout
            return done.stdout

        result = judgescope("batch", "export", "study.yaml", "out")
        assert "loop: 144 requests in 1 file" in result
        assert "not included: 1 cells of demo-dialogue about lie.single" in result
        assert endpoint.asked == []
        requests = tmp_path / "out" / "loop-001.jsonl"
        for content in ("", "no JSON\n", requests.read_text(encoding="utf-8")):
            (tmp_path / "results.jsonl").write_text(content, encoding="utf-8")
            result = judgescope(
                "batch", "import", "study.yaml", "results.jsonl", status=1
            )
            assert "contains no result" in result and "where:   results.jsonl" in result
        results = answers([requests])
        (tmp_path / "results.jsonl").write_text(
            "\n".join(map(json.dumps, results[::-1]))
        )
        assert "144 replies and 0 refusals" in judgescope(
            "batch", "import", "study.yaml", "results.jsonl"
        )
        judgescope("run", "study.yaml", status=1)
        writing = [
            prompt for prompt in endpoint.prompts if "Change exactly one fact" in prompt
        ]
        judged = len(endpoint.asked) - len(writing)
        assert len(writing) == 24 and judged
        endpoint.asked.clear()
        assert "24 requests in 1 file" in judgescope(
            "batch", "export", "study.yaml", "next"
        )
        results = answers([tmp_path / "next" / "loop-001.jsonl"])
        (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, results)))
        judgescope("batch", "import", "study.yaml", "results.jsonl")
        judgescope("run", "study.yaml")
        assert endpoint.asked == []
        result = judgescope("batch", "export", "study.yaml", "none")
        assert "0 requests" in result and not list((tmp_path / "none").glob("*"))
        _tools(tmp_path, judgescope)
        assert endpoint.asked == []


def _tools(folder: Path, judgescope: Any) -> None:
    """The store's tools on the store of this study, and nothing is asked again."""
    result = judgescope("replies", "stats", "study.yaml")
    assert "loop: 192 replies to 192 questions" in result and "576 completion" in result
    assert "errors: 0; notes: 0" in judgescope("replies", "verify", "study.yaml")
    assert "192 lines" in judgescope("replies", "dump", "all.parquet")
    assert "192 lines" in judgescope("export", "study.yaml", "replies", "study.parquet")
    assert "already exists" in judgescope(
        "export", "study.yaml", "replies", "study.parquet", status=1
    )
    result = judgescope("replies", "import", "all.parquet", "--store", "elsewhere")
    assert "loop: 192 new replies, 0 already stored" in result
    [journal] = folder.glob("elsewhere/loop/*.jsonl")
    stray = Store(folder / "cache/replies", "loop")
    with stray:
        stray.append(Reply("ab" * 32, 0, "of no study"))
    result = judgescope("replies", "prune", "study.yaml")
    assert "1 lines are not used" in result and "Nothing was dropped" in result
    journal.write_bytes(journal.read_bytes() + b"not ours\n")
    result = judgescope("replies", "verify", "--store", "elsewhere", status=1)
    assert f"{journal.relative_to(folder)}:193: " in result and "'not ours" in result
    assert "no reply store found" in judgescope(
        "replies", "stats", "--store", "nowhere", status=1
    )
    judgescope("replies", "compact", "study.yaml")
    judgescope("replies", "prune", "study.yaml", "--yes")
    for path in folder.glob("results/asked/replies/*/*.json"):
        path.unlink()
    judgescope("run", "study.yaml")
