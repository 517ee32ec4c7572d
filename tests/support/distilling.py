"""A study whose judge learns from an ensemble of three scripted annotators, on the demo
data.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from asking import FAST, AskedStudy
from running import HOME
from scripted import Body, Endpoint, Said, prompt_of, reply

MEMBERS = ["m1", "m2", "m3"]
VERDICTS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
TEXT = re.compile(
    r"\n\n[A-Z][a-z]+ to annotate:\n(.*?)\n\n(?:Rules|Steps|Answer|Write for)",
    re.DOTALL,
)
STUDENT = {
    "engine": "vllm",
    "name": "org/student",
    "dtype": "float32",
    "adapter": "trained",
}
LEARNING = {"teacher": "together", "judge": "distilled", "datasets": ["demo-news"]}
STAND_IN = """
import sys
sys.path.insert(0, {tests!r})
import distilling_stand_in
distilling_stand_in.{part}()
"""


def text_of(prompt: str) -> str:
    """Return the text that a prompt shows."""
    [result] = TEXT.findall(prompt)
    return str(result)


def score_of(member: str, text: str) -> int:
    """Return what a member says of a text, 1 to 5: much the same as the others."""
    own_part = crc32(f"{member}{text}".encode()) % 3 - 1
    return min(5, max(1, 1 + crc32(text.encode()) % 5 + own_part))


def annotate(body: Body) -> Said:
    """Mark the first two words unless the text is excellent; write a text where one is
    wanted.
    """
    prompt, model = prompt_of(body), body["model"]
    if " to annotate:" not in prompt:
        return reply(
            f"{model} writes: {prompt.split()[-9]} and {crc32(prompt.encode())}."
        )
    text = text_of(prompt)
    score = score_of(model, text)
    first = " ".join(text.split()[:2])
    error = (
        f"Error 1:\nLocation: {first}\nExplanation: {model} says so\nSeverity: "
        f"{6 - score}"
    )
    listed = "No Error" if score == 5 else error
    return reply(f"{listed}\n\nOverall score: {VERDICTS[score - 1]}")


def distilling(folder: Path, endpoint: Endpoint, **keys: Any) -> AskedStudy:
    """Return the study: it learns from the demo's news and is evaluated on its
    dialogues.
    """
    study = AskedStudy(folder, endpoint)
    alike = {
        "engine": "openai",
        "base_url": endpoint.url,
        "probe": False,
        "limits": FAST,
    }
    price = {"input": 1, "output": 2}
    for name in MEMBERS:
        study.card("models", name, **alike, price=price)
        annotating = {"form": "annotate", "annotation": {}, "max_tokens": 300}
        study.card("judges", name, model=name, **annotating)
    study.card("judges", "together", members=MEMBERS, min_annotators=2)
    study.card("models", "student", **STUDENT)
    write(study, **keys)
    return study


def write(
    study: AskedStudy, distill: dict[str, Any] | None = None, **keys: Any
) -> None:
    """Write the study's card with changes to its own keys, and to those of
    `distill`.
    """
    fields = {
        "aspects": [
            "naturalness",
            "groundedness",
            "fluency",
            "consistency",
            "coherence",
        ],
        "judges": [*MEMBERS, "together", "distilled"],
        "methods": ["agreement", "ensemble"],
        "distill": {**LEARNING, **(distill or {})},
    }
    study.write(**{**fields, **keys})


def table(
    study: AskedStudy, name: str, rows: list[dict[str, Any]], *, rated: bool = False
) -> None:
    """Write a dataset of dialogues with the columns item, source, system, text, and any
    rating.
    """
    path = study.folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    columns = {"item": "item", "source": "source", "system": "system", "text": "text"}
    study.card(
        "datasets",
        name,
        name=name.title(),
        task="dialogue",
        format="table",
        files=str(path),
        columns={
            **columns,
            **({"ratings": {"naturalness": "rating"}} if rated else {}),
        },
        ratings="planned" if rated else "none",
        aspects={"naturalness": {"min": 1, "max": 5, "step": 1}},
        licence="none",
        citation="none",
    )


def stand_ins(study: AskedStudy, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put stand-ins in the place of what trains and of vLLM; return the folder of their
    notes.

    What they do is told by distilling_stand_in.py; `make test-vllm` has the real ones.
    """
    notes = study.folder / "notes"
    notes.mkdir()
    package = study.folder / "stand_in" / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    tests = str(HOME / "tests" / "support")
    served = STAND_IN.format(tests=tests, part="serve")
    (package / "api_server.py").write_text(served, encoding="utf-8")
    path = f"{HOME / 'scripts'}:{study.folder / 'stand_in'}"
    lines = {
        "vllm": '"$@"',
        "train": f'{HOME / "tests" / "support" / "distilling_stand_in.py"} "$@"',
    }
    for name, line in lines.items():
        python = study.folder / f"python-{name}"
        python.write_text(
            f"#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} {line}\n", "utf-8"
        )
        python.chmod(0o700)
        monkeypatch.setenv(f"JUDGESCOPE_PYTHON_{name.upper()}", str(python))
    (study.folder / "pids").mkdir()
    monkeypatch.setenv("PIDS", str(study.folder / "pids"))
    monkeypatch.setenv("NOTES", str(notes))
    return notes
