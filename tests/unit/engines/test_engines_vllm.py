"""Models that a job loads with vLLM: cards, keys, parameters. What needs vLLM is in
test_vllm.
"""

import hashlib
import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import running
from judgescope.core.errors import UserErrors
from judgescope.engines.factory import settled
from judgescope.engines.requests import Reply, Request, Work, request_of
from judgescope.engines.vllm import (
    API_SERVER,
    SERVE,
    DrawSpan,
    _Run,
    command_line,
    flags,
    replies,
    sampling,
    server_arguments,
    spans,
)
from judgescope.engines.vllm_options import arguments
from judgescope.plan.judges import card_hash
from judgescope.replies.asking import Progress
from judgescope.schema.cards import Decoding, VllmModel
from judgescope.schema.loading import validate_card
from study import Study

CARD = {"model": "it", "engine": "vllm", "name": "org/it"}
ADAPTER = {"path": "tuned", "sha256": "a" * 64}


def card(**keys: Any) -> VllmModel:
    made = validate_card("model", CARD | keys, "it.yaml")
    assert isinstance(made, VllmModel)
    return made


def request(model: VllmModel | None = None, **decoding: Any) -> Request:
    chosen = Decoding(**{"temperature": 1.0} | decoding)
    return request_of(
        model or card(), chosen, [{"role": "user", "content": "Hi"}], seed=0
    )


def with_base(seed: int, temperature: float = 1.0) -> Request:
    """Return a request whose draw 0 has this seed."""
    made = request(temperature=temperature)
    vars(made)["key"] = f"{seed:08x}" + "0" * 56
    return made


@pytest.mark.parametrize(
    "keys",
    [
        {"mode": "served", "data_parallel": 2},
        {"tensor_parallel": 4, "gpu_memory_utilization": 0.5, "max_model_len": 100},
        {"path": "somewhere", "engine_args": {"max_num_seqs": 3}},
        {"gpu_model": "a100", "mem_mb": 1, "runtime": 1, "start_timeout": 1},
        {
            "price": {"input": 1, "output": 2},
            "limits": {"concurrency": 3},
            "family": "x",
        },
    ],
)
def test_how_a_model_is_asked_changes_no_key(keys: dict[str, Any]) -> None:
    assert request(card(**keys)).key == request().key


@pytest.mark.parametrize(
    "keys",
    [
        {
            "mode": "served",
            "data_parallel": 2,
            "tensor_parallel": 4,
            "start_timeout": 1,
        },
        {"gpu_memory_utilization": 0.5, "engine_args": {"max_num_seqs": 3}},
        {"gpu_model": "a100", "mem_mb": 1, "runtime": 1},
    ],
)
def test_where_a_model_runs_changes_no_signature(keys: dict[str, Any]) -> None:
    assert (
        card_hash(card(**keys))
        == card_hash(card())
        != card_hash(card(revision="0123abc"))
    )


@pytest.mark.parametrize(
    "keys",
    [
        {"name": "org/other"},
        {"revision": "0123abc"},
        {"variant": "merged"},
        {"dtype": "float32"},
        {"quantization": "fp8"},
        {"adapter": ADAPTER},
        {"model_args": {"hf_overrides": {"x": 1}}},
        {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}},
        {"extra_body": {"top_k": 5}},
    ],
)
def test_what_changes_a_reply_changes_the_key(keys: dict[str, Any]) -> None:
    assert request(card(**keys)).key != request().key


def test_an_adapter_is_known_by_its_content_and_not_by_its_location() -> None:
    other = request(card(adapter=ADAPTER | {"path": "elsewhere"}))
    assert other.key == request(card(adapter=ADAPTER)).key
    assert other.key != request(card(adapter=ADAPTER | {"sha256": "b" * 64})).key


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"engine_args": {"hf_overrides": {}}},
            "hf_overrides may change replies and belongs in model_args",
        ),
        (
            {"model_args": {"max_num_seqs": 3}},
            "model_args may not contain max_num_seqs",
        ),
        ({"model_args": {"api_key": "x"}}, "key model_args.api_key"),
        ({"data_parallel": 2}, "data_parallel needs `mode: served`"),
        ({"extra_body": {"temperature": 1}}, "extra_body may not contain temperature"),
        ({"mode": "online"}, "unknown value"),
        ({"gpu_model": "a100:2"}, "gpu_model"),
        ({"name": None}, "must be text"),
    ],
)
def test_a_card_that_cannot_work_says_why(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UserErrors) as caught:
        card(**keys)
    assert message in str(caught.value)


def test_folders_are_detected_from_the_card(tmp_path: Path) -> None:
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "adapter_config.json").write_text("{}")
    adapter = {"path": "tuned", "sha256": hashlib.sha256(b"{}").hexdigest()}
    model = card(path="{data}/weights", adapter=adapter)
    result = settled(model, tmp_path, Path("/data"))
    assert isinstance(result, VllmModel) and result.tuned is not None
    assert (result.path, result.tuned.path) == ("/data/weights", f"{tmp_path}/tuned")
    with pytest.raises(UserErrors, match="checksum differs from the card's"):
        settled(card(adapter=adapter | {"sha256": "a" * 64}), tmp_path, Path())


def test_draws_that_follow_each_other_are_a_single_request() -> None:
    each = request()
    assert list(spans(Work(each, (0, 1, 2)))) == [DrawSpan(each, 0, 3)]
    assert list(spans(Work(each, (1, 3, 4)))) == [
        DrawSpan(each, 1, 1),
        DrawSpan(each, 3, 2),
    ]


def test_at_temperature_0_every_draw_is_a_request() -> None:
    each = request(temperature=0)
    assert list(spans(Work(each, (0, 1)))) == [
        DrawSpan(each, 0, 1),
        DrawSpan(each, 1, 1),
    ]


def test_a_request_ends_where_seeds_begin_again() -> None:
    each = with_base(2**31 - 2)
    assert list(spans(Work(each, (0, 1, 2, 3)))) == [
        DrawSpan(each, 0, 2),
        DrawSpan(each, 2, 2),
    ]
    assert sampling(DrawSpan(each, 2, 2))["seed"] == 0


@given(
    st.integers(2**31 - 8, 2**31 + 8),
    st.sets(st.integers(0, 12), min_size=1),
    st.sampled_from([0.0, 0.7]),
)
def test_every_draw_gets_its_seed(
    base: int, draws: set[int], temperature: float
) -> None:
    """vLLM gives the i-th reply of a request the seed of the request plus i."""
    each = with_base(base, temperature)
    actual = [
        (span.first + i, sampling(span)["seed"] + i)
        for span in spans(Work(each, tuple(sorted(draws))))
        for i in range(sampling(span)["n"])
    ]
    assert actual == [(draw, each.seed(draw)) for draw in sorted(draws)]


def test_no_sampling_parameter_is_left_to_a_default() -> None:
    model = card(
        extra_body={"top_k": 7, "chat_template_kwargs": {"enable_thinking": False}}
    )
    each = request(model, temperature=0.5, top_p=0.9, max_tokens=33)
    assert sampling(DrawSpan(each, 0, 2)) == {
        **{"frequency_penalty": 0.0, "min_p": 0.0, "presence_penalty": 0.0},
        **{"repetition_penalty": 1.0, "top_k": 7},
        **{"temperature": 0.5, "top_p": 0.9, "max_tokens": 33},
        **{"n": 2, "seed": each.seed(0), "logprobs": None, "structured_outputs": None},
    }


@pytest.mark.parametrize(
    ("asked", "structure"),
    [
        ({"choices": ["1", "2"]}, {"choice": ["1", "2"]}),
        ({"json_schema": {"type": "object"}}, {"json": {"type": "object"}}),
    ],
)
def test_structure_and_log_probabilities_are_asked_for_where_a_request_wants_them(
    asked: dict[str, Any], structure: dict[str, Any]
) -> None:
    each = Request({**request().asked, **asked, "logprobs": 5})
    result = sampling(DrawSpan(each, 0, 1))
    assert (result["structured_outputs"], result["logprobs"]) == (structure, 5)


def completion(index: int, tokens: list[int], known: Any = None) -> Any:
    return SimpleNamespace(
        index=index,
        text=f"t{index}",
        token_ids=tokens,
        finish_reason="stop",
        logprobs=known,
    )


def known(token: str, logprob: float, rank: int) -> Any:
    return SimpleNamespace(decoded_token=token, logprob=logprob, rank=rank)


def test_the_prompt_is_counted_once_and_the_cache_where_it_is_known() -> None:
    output = SimpleNamespace(prompt_token_ids=[1, 2, 3], num_cached_tokens=2)
    output.outputs = [completion(0, [7, 8]), completion(1, [7])]
    result = list(replies(DrawSpan(request(), 3, 2), output, {"engine": "vllm"}))
    assert [(reply.draw, reply.text) for reply in result] == [(3, "t0"), (4, "t1")]
    assert [each.usage for each in result] == [
        {"prompt": 3, "completion": 2},
        {"prompt": 0, "completion": 1},
    ]
    output.outputs = [completion(0, [7])]
    [alone] = replies(DrawSpan(request(), 0, 1), output, {"engine": "vllm"})
    assert alone.usage == {"prompt": 3, "completion": 1, "cached": 2}


def test_a_draw_that_the_context_cuts_is_an_error_and_not_a_reply() -> None:
    output = SimpleNamespace(prompt_token_ids=[1, 2, 3], num_cached_tokens=None)
    output.outputs = [completion(0, [7]), completion(1, [7]), completion(2, [7, 8])]
    output.outputs[1].finish_reason = output.outputs[2].finish_reason = "length"
    kept: list[Reply] = []
    run = _Run.__new__(_Run)
    span = DrawSpan(request(max_tokens=2), 0, 3)
    run.card, run.keep, run.provenance, run.refusals = card(), kept.append, {}, []
    run.under_way, run.draws_under_way = {"1": span}, 3
    run.scored = {}
    output.request_id = "1"
    run._take(output)
    assert [each.text for each in kept] == [
        "t0",
        "the context is full: raise `max_model_len`",
        "t2",
    ]
    assert [reply.status for reply in kept] == ["ok", "error", "ok"]


def test_the_token_that_came_is_before_the_likeliest_others() -> None:
    output = SimpleNamespace(prompt_token_ids=[1], num_cached_tokens=0)
    at = {5: known("3", -2.0, 3), 4: known("5", -0.5, 1), 6: known("4", -1.0, 2)}
    at[9] = known("!", -math.inf, 4)
    output.outputs = [completion(0, [5], [at])]
    [reply] = replies(DrawSpan(request(), 0, 1), output, {})
    assert reply.logprobs == [[("3", -2.0), ("5", -0.5), ("4", -1.0)]]


def adapter(folder: Path, rank: int) -> str:
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank}))
    return str(folder)


def test_an_adapter_gets_room_and_all_else_its_argument(tmp_path: Path) -> None:
    tuned = {"path": adapter(tmp_path, 20), "sha256": "a" * 64}
    model = card(
        adapter=tuned,
        tensor_parallel=2,
        dtype="float16",
        engine_args={"max_num_seqs": 3},
    )
    assert arguments(model) == {
        **{
            "model": "org/it",
            "dtype": "float16",
            "tensor_parallel_size": 2,
            "max_num_seqs": 3,
        },
        **{"enable_lora": True, "max_lora_rank": 32},
    }


def test_a_server_knows_the_model_by_the_name_in_requests(tmp_path: Path) -> None:
    """With an adapter that name is the adapter's: every request uses it."""
    plain = server_arguments(card(), 1, "token")
    assert plain["served_model_name"] == ["org/it", "token"]
    tuned = {"path": adapter(tmp_path, 4), "sha256": "a" * 64}
    result = server_arguments(card(adapter=tuned), 1, "token")
    assert result["served_model_name"] == ["token"]
    assert json.loads(result["lora_modules"][0])["name"] == "org/it"


def test_several_copies_are_served_by_the_command_serve() -> None:
    """It runs an API process for each copy, and takes the model without an option."""
    each = command_line(card(mode="served"), 8001, "token")
    assert each[: len(API_SERVER)] == API_SERVER
    assert each[len(API_SERVER) :][:2] == ["--model", "org/it"]
    assert each[each.index("--data-parallel-size") + 1] == "1"
    several = command_line(card(mode="served", data_parallel=4), 8001, "token")
    assert several[: len(SERVE)] == SERVE
    assert SERVE[1:] == ["-m", "vllm.entrypoints.cli.main", "serve"]
    assert several[len(SERVE)] == "org/it"
    assert "--model" not in several
    assert several[several.index("--data-parallel-size") + 1] == "4"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, 512),
        ({"mode": "served", "data_parallel": 3}, 1536),
        ({"mode": "served", "data_parallel": 3, "limits": {"timeout": 9}}, 1536),
        ({"mode": "served", "data_parallel": 3, "limits": {"concurrency": 7}}, 7),
        ({"mode": "served", "data_parallel": 16}, 4096),
    ],
)
def test_the_default_concurrency_fills_every_copy(
    keys: dict[str, Any], expected: int
) -> None:
    made = card(**keys)
    assert made.limits.concurrency == expected
    assert made.limits.timeout == keys.get("limits", {}).get("timeout", 300)


class Queue:
    """Stands in for vLLM in the job: it takes a chunk as a whole or not at all."""

    def __init__(self, processed: int, refused: set[str]) -> None:
        config = SimpleNamespace(max_num_seqs=processed)
        self.vllm_config = SimpleNamespace(scheduler_config=config)
        self.llm_engine, self.refused = self, refused
        self.chunks: list[int] = []
        self.options: list[Any] = []
        self.queued: dict[str, int] = {}
        self.peak, self.steps = 0, 0
        self.aborted: list[str] = []

    def enqueue_chat(
        self, messages: list[Any], parameters: list[Any], **options: Any
    ) -> list[str]:
        assert not options["use_tqdm"]
        self.options.append(options["chat_template_kwargs"])
        assert len(messages) == len(parameters)
        self.chunks.append(len(messages))
        added: dict[str, int] = {}
        for message, parameter in zip(messages, parameters, strict=True):
            if message[0]["content"] in self.refused:
                self.aborted += added
                raise ValueError("too long")
            added[str(len(self.queued) + len(added) + 1000 * len(self.chunks))] = (
                parameter.n
            )
        self.queued |= added
        self.peak = max(self.peak, sum(self.queued.values()))
        return [f"{ident}-1" for ident in added]

    def step(self) -> list[Any]:
        """End a third of what is queued."""
        self.steps += 1
        ended = list(self.queued)[: 1 + len(self.queued) // 3]
        outputs = [self._output(ident, self.queued.pop(ident)) for ident in ended]
        outputs += [self._output(ident, 1) for ident in self.aborted]
        self.aborted = []
        return outputs

    def _output(self, ident: str, draws: int) -> Any:
        return SimpleNamespace(
            request_id=ident,
            finished=True,
            prompt_token_ids=[1],
            num_cached_tokens=None,
            outputs=[completion(number, [7]) for number in range(draws)],
        )


@pytest.fixture
def vllm_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the names of vLLM that a job in its own process uses exist."""
    modules: dict[str, dict[str, Any]] = {
        "vllm.version": {"__version__": "0.0"},
        "vllm.exceptions": {"VLLMClientError": KeyError},
        "vllm.v1.engine.exceptions": {"EngineDeadError": OSError},
        "vllm.sampling_params": {"SamplingParams": SimpleNamespace},
    }
    for name, content in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))


def asked_offline(
    queue: Queue, prompts: list[str], draws: int = 1, model: VllmModel | None = None
) -> dict[str, list[Reply]]:
    """Return prompt -> its replies, asked for in the job's own process."""
    made = model or card(path="weights")
    prompt_of: dict[str, str] = {}
    work = []
    for prompt in prompts:
        messages = [{"role": "user", "content": prompt}]
        asked = request_of(made, Decoding(temperature=1.0), messages, seed=0)
        prompt_of[asked.key] = prompt
        work.append(Work(asked, tuple(range(draws))))
    by_prompt: dict[str, list[Reply]] = {prompt: [] for prompt in prompts}

    def keep(reply: Reply) -> None:
        by_prompt[prompt_of[reply.key]].append(reply)

    assert _Run(made, queue, work, False, keep).all() == []
    return by_prompt


@pytest.mark.usefixtures("vllm_modules")
def test_requests_are_submitted_in_chunks_and_keep_the_engine_full() -> None:
    prompts = [f"text {number}" for number in range(2000)]
    queue = Queue(processed=300, refused=set())
    result = asked_offline(queue, prompts)
    assert {len(replies) for replies in result.values()} == {1}
    assert queue.chunks[:3] == [256, 256, 88]
    assert max(queue.chunks) == 256
    assert queue.peak == 600  # twice what is processed at once
    assert sum(queue.chunks) == 2000


@pytest.mark.usefixtures("vllm_modules")
def test_the_room_is_counted_in_draws() -> None:
    queue = Queue(processed=16, refused=set())
    result = asked_offline(queue, [f"text {number}" for number in range(50)], draws=10)
    assert {len(replies) for replies in result.values()} == {10}
    assert queue.chunks[0] == 4  # the last of them begins in the room for 32
    assert queue.peak <= 32 + 9


@pytest.mark.usefixtures("vllm_modules")
def test_a_chunk_with_a_refused_prompt_loses_that_prompt_alone() -> None:
    prompts = [f"text {number}" for number in range(600)]
    refused = {"text 17", "text 300"}
    queue = Queue(processed=300, refused=refused)
    result = asked_offline(queue, prompts)
    for prompt in prompts:
        [reply] = result[prompt]
        expected = ("error", "vLLM: too long") if prompt in refused else ("ok", "t0")
        assert (reply.status, reply.text) == expected


def test_arguments_are_spelled_as_flags() -> None:
    fields = {
        "max_model_len": 9,
        "enforce_eager": True,
        "enable_x": False,
        "a": {"b": 1},
        "c": ["d"],
    }
    assert flags(fields) == [
        *(
            "--max-model-len",
            "9",
            "--enforce-eager",
            "--no-enable-x",
            "--a",
            '{"b": 1}',
        ),
        *("--c", "d"),
    ]


def test_the_log_tells_how_far_how_fast_and_how_long(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(300)
    for draw in range(150):
        progress.count(Reply("k", draw, "4", usage={"prompt": 100, "completion": 2}))
    text = "150 of 300, 0 refused, 2.5/s, 1 min 0 s left, tokens/s 250 in, 5 out"
    assert progress.line(60) == f"replies: {text}"
    progress.count(Reply("k", 150, "refused", status="error"))
    assert capsys.readouterr().out == ""
    for draw in range(151, 300):
        progress.count(Reply("k", draw, "4"))
    assert capsys.readouterr().out.startswith("replies: 300 of 300")


@pytest.mark.heavy
def test_a_study_stops_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For lack of vLLM, or for an adapter that is not the card's."""
    tuned = tmp_path / "config" / "models" / "tuned"
    tuned.mkdir(parents=True)
    (tuned / "adapter_config.json").write_text("{}")
    judge = {"judge": "terse", "model": "it", "form": "score-only"}
    (tmp_path / "config" / "judges").mkdir()
    (tmp_path / "config" / "judges" / "terse.yaml").write_text(json.dumps(judge))
    Study(tmp_path).write(judges=["terse"], perturbations=[], methods=["agreement"])

    def adapter_error(python: str, sha256: str) -> str:
        model = CARD | {"adapter": {"path": "tuned", "sha256": sha256}}
        (tmp_path / "config" / "models" / "it.yaml").write_text(json.dumps(model))
        monkeypatch.setenv("JUDGESCOPE_PYTHON_VLLM", python)
        return running.snakemake("--configfile", "study.yaml", cwd=tmp_path).stdout

    right = hashlib.sha256(b"{}").hexdigest()
    assert "the environment with vLLM is not installed" in adapter_error(
        "/nowhere", right
    )
    assert "checksum differs" in adapter_error(sys.executable, "a" * 64)
    assert not list(tmp_path.glob("results/*/items/*"))
