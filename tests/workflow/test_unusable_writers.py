"""Whole studies whose writer echoes: the set stops, others go on, and the run says
why.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asking import FAST, AskedStudy, rate
from judgescope.schema.tables import read_table
from scripted import Body, Endpoint, Said, prompt_of, reply, serve

pytestmark = pytest.mark.slow
TEXTS = 24
SETS = ("swapped", "replaced")
STOPPED = (
    "stopped: the first 10 texts are unusable (it is the same text 10); 14 replies "
    "were not requested"
)


class Writer:
    """A model that writes and rates. In set `swapped` it echoes; `works`: from this
    attempt at a text on it changes the text.

    Its echoes differ from each other by their line breaks if it works later.
    """

    def __init__(self, works: int | None = None) -> None:
        self.works = works
        self.attempts: dict[str, list[float]] = {}

    def __call__(self, body: Body) -> Said:
        prompt = prompt_of(body)
        if "\nAdjustment: " not in prompt:
            return rate(body)
        text = prompt.rsplit("The reply:\n", 1)[1].split("\n\n")[0]
        if f"a {SETS[1]} word" in prompt:
            return reply(f"{text} Indeed.")
        attempts = self.attempts.setdefault(text, [])
        attempts.append(body["temperature"])
        if self.works is None:
            return reply(text)
        if len(attempts) >= self.works:
            return reply(f"{text} Indeed.")
        return reply(text + "\n" * len(attempts))


def study_of(folder: Path, endpoint: Endpoint, **keys: Any) -> AskedStudy:
    """Write a study with two sets of texts by a scripted model."""
    study = AskedStudy(folder, endpoint)
    fields = {
        "engine": "openai",
        "base_url": endpoint.url,
        "limits": FAST,
        "probe": False,
    }
    study.card("models", "generator", **fields)
    for name in SETS:
        study.card(
            "perturbations",
            name,
            name=name,
            level="sentence",
            method="llm",
            model="generator",
            form="adjust-steps",
            adjustment=f"a {name} word",
            instructions=["Change one word."],
            checks=["differs"],
            attempts=3,
        )
    study.write(perturbations=[*SETS], methods=["discernment"], **keys)
    return study


Command = Callable[[AskedStudy], subprocess.CompletedProcess[str]]
COMMANDS: dict[str, Command] = {
    "run": lambda study: study.run(),
    "spotcheck": lambda study: study.judgescope("spotcheck"),
}


def made(study: AskedStudy, name: str) -> list[dict[str, Any]]:
    path = study.out / f"targets/demo-dialogue/{name}.single.parquet"
    rows: list[dict[str, Any]] = read_table("targets", path).to_pylist()
    return rows


@pytest.mark.parametrize("command", COMMANDS)
def test_a_set_of_echoes_stops_and_the_other_set_is_made(
    tmp_path: Path, command: str
) -> None:
    writer = Writer()
    with serve(writer) as endpoint:
        study = study_of(tmp_path, endpoint)
        done = COMMANDS[command](study)
    assert done.returncode == 1, done.stdout
    assert STOPPED in done.stdout
    assert "perturbations/swapped.yaml, dataset demo-dialogue" in done.stdout
    # an echo at temperature 0, and one at .7: equal replies end the text
    assert [*writer.attempts.values()] == [[0, 0.7]] * 10
    assert {row["status"] for row in made(study, "replaced")} == {"ok"}


@pytest.mark.parametrize(
    "command",
    [
        each if each == "spotcheck" else pytest.param(each, marks=pytest.mark.long(8))
        for each in COMMANDS
    ],
)
def test_a_study_that_allows_missing_texts_ends_well_and_warns(
    tmp_path: Path, command: str
) -> None:
    with serve(Writer()) as endpoint:
        study = study_of(tmp_path, endpoint, allow_missing=True)
        done = COMMANDS[command](study)
    assert done.returncode == 0, done.stdout
    assert f"warning: perturbations/swapped.yaml, dataset demo-dialogue: {STOPPED}" in (
        done.stdout
    )
    assert "10 of 10 texts of perturbations/swapped.yaml" in done.stdout
    assert "are unusable: it is the same text\n  example: " in done.stdout
    assert "10 unusable" in done.stdout
    assert len(made(study, "replaced")) == TEXTS
    assert len(made(study, "swapped")) == 10


def test_a_writer_that_echoes_twice_and_then_works_makes_every_text(
    tmp_path: Path,
) -> None:
    writer = Writer(works=3)
    with serve(writer) as endpoint:
        study = study_of(tmp_path, endpoint)
        done = study.judgescope("spotcheck")
    assert done.returncode == 0, done.stdout
    assert "stopped" not in done.stdout
    assert "96 of 96 replies, 0 refused\n" in done.stdout  # and none unusable
    assert {row["status"] for row in made(study, "swapped")} == {"ok"}
    assert [*writer.attempts.values()] == [[0, 0.7, 0.7]] * TEXTS
