"""Stands in for what trains, and for vLLM's server with what was trained.

`python distilling_stand_in.py …/train_judge.py --spec - …` writes an adapter whose
bytes depend on the examples alone; every call leaves a line in $NOTES. The server
answers as a student might.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import vllm_stand_in
from judgescope.core.canonical import canonical
from judgescope.plan.jobs import read_spec
from judgescope.schema.tables import read_table, table_of, write_table


def note(name: str, line: str) -> None:
    """Add a line to a note."""
    with (Path(os.environ["NOTES"]) / name).open("a", encoding="utf-8") as file:
        print(line, file=file)


def check(spec: dict[str, Any]) -> None:
    """Write that a model can be trained."""
    prompts = read_table("samples", spec["sample"], ["prompt"])["prompt"].to_pylist()
    fields = {
        "parameters": 1,
        "trainable": 1,
        "bytes": 1,
        "longest": max(map(len, prompts)),
    }
    Path(spec["output"]).write_text(canonical(fields) + "\n", encoding="utf-8")
    note("checked", str(len(prompts)))


def train(spec: dict[str, Any]) -> None:
    """Write what a training writes."""
    examples = Path(spec["train"]).read_bytes()
    adapter = Path(spec["adapter"])
    adapter.mkdir(parents=True, exist_ok=True)
    (adapter / "adapter_config.json").write_text('{"r": 16}', encoding="utf-8")
    (adapter / "adapter_model.safetensors").write_bytes(
        hashlib.sha256(examples).digest()
    )
    n = examples.count(b"\n")
    log = [
        {
            "step": step,
            "split": split,
            "loss": 2.0 - step / 10,
            "examples": 16 * step,
            "tokens": n,
        }
        for step in (0, 5, 10)
        for split in ("train", "held_out")
        if step or split == "held_out"
    ]
    write_table("training", table_of("training", log), spec["log"])
    held = [
        json.loads(line)
        for line in Path(spec["held_out"]).read_text("utf-8").splitlines()
    ]
    names = ("dataset", "item", "target", "aspect")
    losses = [
        {name: row[name] for name in names}
        | {"tokens": 9, "before": 2.0, "after": 1.0 + at % 3 / 9}
        for at, row in enumerate(held)
    ]
    write_table("losses", table_of("losses", losses), spec["losses"])
    note("trained", str(n))


def answer(self: vllm_stand_in.Pages) -> None:
    """Answer with a score that the text decides, and an error below the best."""
    body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
    prompt = body["messages"][0]["content"]
    note("asked", body["model"])
    score = crc32(prompt.encode()) % 21 * 5
    error = "Error 1:\nLocation: None\nExplanation: so\nSeverity: 2\n\n"
    text = f"{error if score < 100 else 'No Error'}\nOverall score: {score}"
    fields = {"message": {"content": text}, "finish_reason": "stop"}
    self._say({"model": body["model"], "choices": [fields]})


def serve() -> None:
    """Be vLLM's server."""
    vllm_stand_in.Pages.do_POST = answer  # type: ignore[method-assign]
    vllm_stand_in.main("well", sys.argv[1:])


if __name__ == "__main__":
    job = sys.argv[2]
    told = read_spec("-", sys.stdin)
    {"check_student": check, "train_judge": train}[job](told)
