"""Prompt tokens that a server computes, by the order in which a job's requests are
sent.

    python benchmarks/prefixes.py [folder of the public data]

A real server (llama.cpp, random weights, a token a byte, two slots, each with the
prompt that it had last) tells of every request how many tokens of its prompt it had
already. It is asked about SummEval's texts where the data are, else about the demo's:
in the order in which an asking job sends them, all draws of a prompt in one request; in
the order of the file; system by system, as many data sets come; and each draw by
itself, all of one draw before the next, as a loop over draws around a loop over the
file does.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import yaml
from msgspec.json import encode

import llama
from jobs import HOME
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Work
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging, texts
from judgescope.replies.questions import plan_questions
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel

Orders = dict[str, list[Work]]
ITEMS, DRAWS, SLOTS, CONTEXT = 8, 2, 2, 16384
DATA = HOME.parent / "shared" / "data"


def card(kind: str, **keys: object) -> None:
    """Write a card into the working folder."""
    place = Path("config", f"{kind}s", f"{keys[kind]}.yaml")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(yaml.safe_dump(keys), encoding="utf-8")


def prepare(url: str, data: Path) -> tuple[str, Orders, OpenAIModel]:
    """Return what is asked about, in several orders, and of which model."""
    name = "summeval" if (data / "summeval").is_dir() else "demo-news"
    told = yaml.safe_load(
        (HOME / f"config/datasets/{name}.yaml").read_text(encoding="utf-8")
    )
    files = told["files"] if name == "summeval" else _absolute(told["files"])
    select = {**told.get("select", {}), "n": ITEMS}
    card("dataset", **{**told, "files": files, "select": select, "sha256": {}})
    limits = {"concurrency": SLOTS}
    card(
        "model",
        model="it",
        engine="openai",
        base_url=url,
        name=llama.MODEL,
        limits=limits,
    )
    card(
        "judge",
        judge="j",
        model="it",
        form="score-only",
        draws=DRAWS,
        temperature=1.0,
        max_tokens=1,
    )
    study = {
        "study": "s",
        "datasets": [name],
        "judges": ["j"],
        "methods": ["agreement"],
    }
    plan = load_plan({**study, "data": str(data)}, HOME, source="study")
    ingest = [sys.executable, str(HOME / "scripts" / "job.py"), "ingest", "--spec", "-"]
    subprocess.run(
        ingest, input=encode(texts.ingest(plan, name)).decode(), text=True, check=True
    )
    model = plan.models["it"]
    assert isinstance(model, OpenAIModel)
    job = plan_questions(judging.ask(plan, name, "it"), model)
    found = Store(Path("store"), "it").find(job.key_table)
    draws = tuple(range(DRAWS))
    asked = [
        (shown[0].system or "", Work(request, draws))
        for cell in job.cells.values()
        for shown, request in zip(cell.shown, cell, strict=True)
    ]
    orders = {
        "as a job sends them": list(job.work(found)),
        "in the order of the file": [work for _, work in asked],
        "one system after the other": [
            work for _, work in sorted(asked, key=lambda one: one[0])
        ],
        "each draw by itself, as in the file": [
            Work(work.request, (draw,)) for draw in draws for _, work in asked
        ],
    }
    return name, orders, model


def _absolute(files: dict[str, str]) -> dict[str, str]:
    place = HOME / "config" / "datasets"
    return {role: os.path.normpath(place / path) for role, path in files.items()}


def computed(model: OpenAIModel, work: Iterable[Work], folder: Path) -> tuple[int, int]:
    """Return the prompt tokens that a fresh server computed, of how many it was
    sent.
    """
    kept: list[Reply] = []
    with llama.serve(folder / "random.gguf", context=CONTEXT, slots=SLOTS) as url:
        engine = OpenAIEngine(model.model_copy(update={"base_url": url}))
        failures = engine(work, False, kept.append)
    assert not failures and all(one.status == "ok" for one in kept), failures[:1]
    usage = [one.usage or {} for one in kept]
    sent = sum(one["prompt"] for one in usage)
    return sent - sum(one.get("cached", 0) for one in usage), sent


def main() -> None:
    """Print a line per order."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        llama.write_random_gguf(Path(folder) / "random.gguf")
        name, orders, model = prepare("http://127.0.0.1:1/v1", data.resolve())
        count = len(next(iter(orders.values())))
        print(f"{name}: {count} prompts, {DRAWS} draws of each")
        first = 0
        for told, work in orders.items():
            tokens, sent = computed(model, work, Path(folder))
            first = first or tokens
            print(
                f"{told:<36}{tokens:>12,} tokens computed of {sent:>12,} sent, "
                f"{tokens / first:.2f} times the first"
            )
        os.chdir("/")


if __name__ == "__main__":
    main()
