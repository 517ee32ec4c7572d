"""A judge is trained for real, on a CPU and over a tiny model, and then asked with
vLLM.

`make test-vllm` builds the environment that trains and asks, and runs these tests.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import running
import taught
import vllm_model
from judgescope.data.files import resolve, sha256_of
from judgescope.extensions.distill.specs import CheckStudentSpec, TrainSpec
from judgescope.schema.tables import read_table
from vllm_job import HERE, ON_A_CPU, PYTHON, SECONDS, TINY, Asking
from waiting import patience

pytestmark = pytest.mark.vllm

QUICK = {"chat_template_kwargs": {"enable_thinking": False}}
"""How the judge is asked: what the template adds for it must be learnt, too."""
RECIPE = {
    **{"rank": 16, "alpha": 32, "dropout": 0.1, "epochs": 8, "learning_rate": 5e-3},
    **{"weight_decay": 0.01, "warmup": 0.05, "batch": 8, "device_batch": 4},
    **{"checkpoint_steps": 10, "device": "cpu"},
}
STEPS = 70
"""8 times 70 examples, 8 at a time."""
OUTPUTS = [
    *("adapter/adapter_config.json", "adapter/adapter_model.safetensors"),
    *("training.parquet", "losses.parquet"),
]
SPECS = {"check_student": CheckStudentSpec, "train_judge": TrainSpec}


class Jobs:
    """A folder in which judges are trained."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "config" / "models").mkdir(parents=True)
        taught.write(folder)
        (folder / "known.json").write_text(
            '{"chat_template": "…", "commit": null}', "utf-8"
        )
        self.card("base")

    def card(self, name: str, /, **keys: Any) -> None:
        """Write a model card."""
        card = {**TINY, "extra_body": QUICK, **keys, "model": name}
        path = self.folder / "config" / "models" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(card), encoding="utf-8")

    def spec(self, out: str, card: str = "base", **keys: Any) -> dict[str, Any]:
        """Return a spec of both scripts; keys `recipe` and `model` change parts of
        theirs.
        """
        path = self.folder / "config" / "models" / f"{card}.yaml"
        result = yaml.safe_load(path.read_text(encoding="utf-8"))
        names = (
            "engine",
            "model",
            "name",
            "dtype",
            "quantization",
            "model_args",
            "extra_body",
        )
        model = {name: result[name] for name in names if name in result}
        folder = self.folder / out
        return {
            **{"code": "", "versions": {}, "seed": 3},
            "model": {
                "engine": "",
                "card": model,
                "folder": str(path.parent),
                "data": "data",
            },
            **{"max_tokens": 100, "sample": str(self.folder / "sample.parquet")},
            **{"student": str(self.folder / "known.json")},
            **{
                name: str(self.folder / f"{name}.jsonl")
                for name in ("train", "held_out")
            },
            **{
                "adapter": str(folder / "adapter"),
                "adapter_files": [],
                "log": str(folder / "training.parquet"),
            },
            **{
                "losses": str(folder / "losses.parquet"),
                "output": str(folder / "student.json"),
            },
            **keys,
            "recipe": RECIPE | keys.get("recipe", {}),
        }

    def start(
        self, job: str, spec: dict[str, Any], card: str = "base", **options: str
    ) -> subprocess.Popen[str]:
        """Begin a job with the interpreter that can train."""
        line = [PYTHON, str(running.HOME / "scripts" / "job.py"), job, "--spec", "-"]
        line += ["--card", f"config/models/{card}.yaml"]
        line += [
            part for name, value in options.items() for part in (f"--{name}", value)
        ]
        process = subprocess.Popen(
            line,
            cwd=self.folder,
            env={**running.environment(), **ON_A_CPU},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdin is not None
        fields = SPECS[job].__struct_fields__
        process.stdin.write(json.dumps({name: spec[name] for name in fields}))
        process.stdin.close()
        process.stdin = None
        return process

    def train(self, out: str, checkpoints: str = "kept", **keys: Any) -> str:
        """Train to the end and return what was printed."""
        process = self.start(
            "train_judge", self.spec(out, **keys), checkpoints=checkpoints
        )
        printed, _ = process.communicate(timeout=patience(SECONDS))
        assert process.returncode == 0, printed
        return printed

    def refused(
        self, job: str, spec: dict[str, Any], card: str = "base", **keys: str
    ) -> str:
        """Return the error with which a script ends."""
        process = self.start(job, spec, card, **keys)
        printed, _ = process.communicate(timeout=patience(SECONDS))
        assert process.returncode == 1, printed
        return printed

    def bytes(self, out: str) -> dict[str, bytes]:
        """Return what a training wrote."""
        return {name: (self.folder / out / name).read_bytes() for name in OUTPUTS}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    assert os.access(PYTHON, os.X_OK), f"{PYTHON}: run `make test-vllm`"
    folder = tmp_path_factory.mktemp("training")
    program = [PYTHON, str(HERE / "vllm_model.py"), str(folder)]
    subprocess.run(
        program, check=True, env={**os.environ, **ON_A_CPU}, capture_output=True
    )
    return Jobs(folder)


@pytest.fixture(scope="module")
def printed(jobs: Jobs) -> str:
    """Train once, without being interrupted; return what was printed."""
    return jobs.train("whole")


# What is learnt


def test_the_losses_fall_on_what_is_held_out_too(jobs: Jobs, printed: str) -> None:
    rows = read_table(
        "training", jobs.folder / "whole" / "training.parquet"
    ).to_pylist()
    learnt = [row for row in rows if row["split"] == "train"]
    assert [row["step"] for row in learnt] == list(range(1, STEPS + 1))
    assert learnt[-1]["examples"] == 560 and learnt[-1]["tokens"] == 560 * (28 + 56) / 2
    assert learnt[0]["loss"] > 5 and learnt[-1]["loss"] < 0.3
    assert max(row["learning_rate"] for row in learnt) == RECIPE["learning_rate"]
    assert all(row["learning_rate"] > 0 for row in learnt)
    kept = [row for row in rows if row["split"] == "held_out"]
    assert [row["step"] for row in kept] == list(range(0, STEPS + 1, 10))
    assert {(row["examples"], row["tokens"]) for row in kept} == {(10, 5 * 28 + 5 * 56)}
    assert kept[0]["loss"] > 5 and kept[-1]["loss"] < 0.3
    assert (
        f"starts after step 0 of {STEPS}" in printed and "tokens per second" in printed
    )


def test_the_loss_of_every_example_that_is_held_out_falls(
    jobs: Jobs, printed: str
) -> None:
    rows = read_table("losses", jobs.folder / "whole" / "losses.parquet").to_pylist()
    assert [row["target"] for row in rows] == [
        row["target"] for row in taught.examples()[1]
    ]
    assert {row["tokens"] for row in rows} == {
        len(reply) + 1 for reply in taught.REPLIES.values()
    }
    assert all(row["before"] > 4 and row["after"] < 0.5 for row in rows)
    log = read_table("training", jobs.folder / "whole" / "training.parquet").to_pylist()
    for step, column in ((0, "before"), (STEPS, "after")):
        [result] = [
            row["loss"]
            for row in log
            if (row["step"], row["split"]) == (step, "held_out")
        ]
        total = sum(row[column] * row["tokens"] for row in rows)
        assert result == pytest.approx(total / sum(row["tokens"] for row in rows))


def test_an_adapter_tells_nothing_of_the_machine_or_the_run(
    jobs: Jobs, printed: str
) -> None:
    adapter = jobs.folder / "whole" / "adapter"
    assert sorted(path.name for path in adapter.iterdir()) == [
        *("adapter_config.json", "adapter_model.safetensors")
    ]
    text = (adapter / "adapter_config.json").read_text(encoding="utf-8")
    assert str(jobs.folder) not in text
    config = json.loads(text)
    assert config["base_model_name_or_path"] == "tiny-random"
    assert (config["r"], config["lora_alpha"], config["bias"]) == (16, 32, "none")
    assert len(config["target_modules"]) == 7 * vllm_model.LAYERS


# What is kept


def test_the_same_is_not_trained_twice(jobs: Jobs, printed: str) -> None:
    """Not for another study either; and checkpoints go when they are of no use any
    more.
    """
    again = jobs.train("again")
    assert "already trained" in again and "step" not in again
    assert jobs.bytes("again") == jobs.bytes("whole")
    [kept] = (jobs.folder / "kept").iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["lock", "result"]


def test_after_kill_9_it_goes_on_and_ends_with_the_same_bytes(
    jobs: Jobs, printed: str
) -> None:
    """Killed twice; the second time while it writes a checkpoint, which is not gone on
    from.
    """
    spec, folder = jobs.spec("killed"), jobs.folder / "killed-kept"
    for step in (10, 30):
        process = jobs.start("train_judge", spec, checkpoints="killed-kept")
        end = time.monotonic() + patience(SECONDS)
        while not list(folder.glob(f"*/steps/checkpoint-{step}/whole")):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        result, _ = process.communicate()
        assert f"after step {STEPS}" not in result and not list(folder.glob("*/result"))
    steps = {
        int(path.parent.name.rpartition("-")[2])
        for path in folder.glob("*/steps/*/whole")
    }
    (last,) = folder.glob(f"*/steps/checkpoint-{max(steps)}")
    torn = last.with_name(f"checkpoint-{max(steps) + 10}")
    shutil.copytree(last, torn, dirs_exist_ok=True)
    (torn / "whole").unlink()
    result = jobs.train("killed", "killed-kept")
    assert max(steps) >= 30 and f"resumes after step {max(steps)} of {STEPS}" in result
    assert jobs.bytes("killed") == jobs.bytes("whole")


def test_two_jobs_do_not_train_the_same_at_once(jobs: Jobs, printed: str) -> None:
    spec = jobs.spec("locked", seed=4)
    first = jobs.start("train_judge", spec, checkpoints="locked-kept")
    while not list(jobs.folder.glob("locked-kept/*/steps/*/whole")):
        assert first.poll() is None
        time.sleep(0.05)
    message = jobs.refused("train_judge", spec, checkpoints="locked-kept")
    first.terminate()
    printed, _ = first.communicate()
    assert (
        "another job is training the same judge" in message
        and "Traceback" not in printed
    )


# What cannot be trained


def test_a_check_tells_what_a_training_takes(jobs: Jobs) -> None:
    process = jobs.start("check_student", jobs.spec("checked"))
    result, _ = process.communicate(timeout=patience(SECONDS))
    assert process.returncode == 0, result
    content = json.loads(
        (jobs.folder / "checked" / "student.json").read_text(encoding="utf-8")
    )
    wide, inner = vllm_model.WIDTH, vllm_model.HIDDEN
    layer = 4 * wide * wide + 3 * wide * inner + 2 * wide
    words = 256 + len(vllm_model.CONTROL)
    assert content["parameters"] == 2 * words * wide + vllm_model.LAYERS * layer + wide
    assert content["trainable"] == vllm_model.LAYERS * 16 * (
        4 * 2 * wide + 3 * (wide + inner)
    )
    prompt = len("Rate: awful candle 0") + vllm_model.AROUND + vllm_model.NO_THINKING
    assert (content["longest_prompt"], content["context"]) == (
        prompt + 5,
        vllm_model.LONGEST,
    )
    assert content["bytes"] > 4 * content["parameters"] + 16 * content["trainable"]


NO_CARD: dict[str, Any] = {}
FAULTS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "no GPU": (
        NO_CARD,
        {"recipe": {"device": "cuda"}},
        ["distill.recipe.device", "no usable GPU"],
    ),
    "memory": (
        NO_CARD,
        {"recipe": {"device_batch": 10**9}},
        ["distill.recipe.device_batch", "GB free", "smaller base"],
    ),
    "too long": (
        NO_CARD,
        {"max_tokens": 4096},
        ["key name", "base model's context", "+ 4096 tokens"],
    ),
    "too long for the card": (
        {"max_model_len": 120},
        {},
        ["key max_model_len", "base model's context", "120 tokens"],
    ),
    "no template": ({"path": "../../silent"}, {}, ["key name", "no chat template"]),
    "endless": (
        {"path": "../../endless"},
        {},
        ["key name", "ends a reply without a token"],
    ),
    "no weights": ({"path": "../../empty"}, {}, ["key path", "no weights"]),
    "another day": (
        {"path": "../../dated"},
        {},
        ["chat_template_kwargs", "includes today's date"],
    ),
    "half on a CPU": (
        {"dtype": "half"},
        {},
        ["key dtype", "float16", "bfloat16, float32"],
    ),
    "broken": ({"path": "../../broken"}, {}, ["key path", "cannot be loaded"]),
    "not on the hub": (
        {"path": None, "name": "nobody/nothing"},
        {},
        ["key name", "be loaded"],
    ),
    "quantized": (
        {"quantization": "fp8"},
        {},
        ["key quantization", "cannot be trained"],
    ),
    "quantized weights": (
        {"path": "../../small"},
        {},
        ["key name", "cannot be trained"],
    ),
}


@pytest.fixture(scope="module")
def faulty(jobs: Jobs) -> Jobs:
    """Bases beside the good one that each have one fault."""
    (jobs.folder / "empty").mkdir()
    changed = {"silent": "", "endless": vllm_model.TEMPLATE.replace("<|im_end|>", "")}
    changed["dated"] = "{{ strftime_now('%d %b %Y') }}" + vllm_model.TEMPLATE
    for name in ("silent", "endless", "dated", "broken", "small"):
        shutil.copytree(jobs.folder / "model", jobs.folder / name)
    for name, template in changed.items():
        (jobs.folder / name / "chat_template.jinja").write_text(template)
    (jobs.folder / "broken" / "config.json").write_text('{"model_type": "unheard-of"}')
    path = jobs.folder / "small" / "config.json"
    config = json.loads(path.read_text()) | {
        "quantization_config": {"quant_method": "fp8"}
    }
    path.write_text(json.dumps(config))
    return jobs


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_trained_is_reported_before_weights_are_loaded(
    faulty: Jobs, fault: str
) -> None:
    keys, changes, result = FAULTS[fault]
    name = fault.lower().replace(" ", "-")
    faulty.card(name, **keys)
    printed = faulty.refused(
        "check_student", faulty.spec("none", name, **changes), name
    )
    assert all(part in printed for part in result), printed
    assert "Loading weights" not in printed and not (faulty.folder / "none").exists()


def test_a_reply_that_the_judge_could_not_write_is_not_cut(jobs: Jobs) -> None:
    spec = jobs.spec("none", max_tokens=40)
    message = jobs.refused("train_judge", spec, checkpoints="none-kept")
    assert (
        "are longer than the judge's max_tokens" in message
        and "train.jsonl:4, toy: apple" in message
    )


def test_without_examples_nothing_is_trained(jobs: Jobs) -> None:
    (jobs.folder / "nothing.jsonl").write_text("")
    spec = jobs.spec("none", train=str(jobs.folder / "nothing.jsonl"))
    message = jobs.refused("train_judge", spec, checkpoints="none-kept")
    assert "no training examples" in message and "nothing.jsonl" in message


def test_a_loss_that_is_no_number_ends_the_training(jobs: Jobs) -> None:
    spec = jobs.spec("none", recipe={"learning_rate": 1e9})
    message = jobs.refused("train_judge", spec, checkpoints="none-kept")
    assert "not finite" in message and "distill.recipe.learning_rate" in message
    assert not list((jobs.folder / "none-kept").glob("*/result"))


# What it says


@pytest.fixture(scope="module")
def judge(jobs: Jobs, printed: str) -> Iterator[dict[str, Any]]:
    """Write the cards of the trained judge, offline and served."""
    files = {"adapter": "whole/adapter/adapter_{part}"}
    sha256 = sha256_of(resolve(files, "adapter", jobs.folder, jobs.folder))
    tuned = {"adapter": {"path": "../../whole/adapter", "sha256": sha256}}
    jobs.card("taught", **tuned)
    jobs.card("taught-served", **tuned, mode="served", start_timeout=SECONDS)
    yield tuned


@pytest.mark.parametrize(
    "card", ["taught", pytest.param("taught-served", marks=pytest.mark.long(50))]
)
def test_vllm_is_answered_what_was_taught(
    jobs: Jobs, judge: dict[str, Any], card: str
) -> None:
    """Greedy replies, word for word, to what was taught and to what was held out."""
    rows = [row for rows in taught.examples() for row in rows]
    asking = Asking(jobs.folder)
    prompts = [row["messages"][0]["content"] for row in rows]
    decoding = {"temperature": 0, "max_tokens": 100}
    answers = asking.ask(card, prompts, store=card, decoding=decoding)
    asking.end()
    assert [reply["text"] for [reply] in answers] == [row["reply"] for row in rows]
    assert {reply["finish"] for [reply] in answers} == {"stop"}
