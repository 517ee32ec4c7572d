"""docs/tutorial.md, run as it stands: its commands, in order, in a fresh copy of the project."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import running
from scripted import Body, Said, reply, serve

TUTORIAL = running.HOME / "docs" / "tutorial.md"
ADDRESS, KEY = "http://127.0.0.1:8000/v1", "the-key"


def commands() -> list[str]:
    """Return the lines of the document's shell blocks."""
    found = re.findall(r"^```sh\n(.*?)^```$", TUTORIAL.read_text("utf-8"), re.M | re.S)
    return [line for block in found for line in block.splitlines()]


def rate(body: Body) -> Said:
    """Rate by the length of the prompt, in the form that the prompt asks for."""
    return reply(f"It reads so and so.\nRating: {1 + len(body['messages'][0]['content']) % 5}")


def test_the_table_is_as_the_document_says() -> None:
    from judgescope.cli.init.guess import guess
    from judgescope.data.rows import read_rows

    rows = [row for _, row in read_rows(running.HOME / "docs" / "tutorial" / "summaries.csv")]
    found = guess(rows)
    assert (len(rows), len({row["notice"] for row in rows})) == (36, 12)
    assert (found.text, found.source, found.system) == ("summary", ["notice"], "model")


@pytest.mark.slow
def test_every_command_runs_and_the_report_is_there(tmp_path: Path) -> None:
    home = running.copy_project(tmp_path / "judgescope")
    (home / "docs" / "tutorial").mkdir(parents=True)
    source = running.HOME / "docs" / "tutorial" / "summaries.csv"
    (home / "docs" / "tutorial" / "summaries.csv").write_bytes(source.read_bytes())
    bin = tmp_path / "bin"
    bin.mkdir()
    start = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m judgescope "$@"\n'
    (bin / "judgescope").write_text(start)
    (bin / "judgescope").chmod(0o755)
    env = running.environment(home)
    env["PATH"] = f"{bin}{os.pathsep}{env['PATH']}"
    out: dict[str, str] = {}
    with serve(rate) as endpoint:
        for line in commands():
            name, _, value = line.removeprefix("export ").partition("=")
            if line.startswith("export "):
                env[name] = value
                continue
            told = line.replace(ADDRESS, endpoint.url)
            done = subprocess.run(
                ["sh", "-c", told],
                cwd=home,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=600,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}"
            out[line] = done.stdout
        asked = len(endpoint.asked)
        assert set(endpoint.authorised) == {f"Bearer {KEY}"}
    said = "\n".join(out.values())
    document = TUTORIAL.read_text("utf-8")
    init = next(text for line, text in out.items() if line.startswith("judgescope init"))
    for shown in re.findall(r"^    (mine\.csv: .*|  \w+ +.*)$", document, re.M):
        assert shown in init
    for card in re.findall(r"^    (config/\S+\.yaml) ", document, re.M):
        assert (home / card).is_file() and f"written: {card}" in init
    assert (home / "results" / "mine" / "report" / "index.html").is_file()
    assert "72 of 72, 0 refused" in said and 72 <= asked <= 80 and "requests to models: 72" in said
    assert "difference" in said and "p, Holm" in said and "better" not in said
    replies = [json.loads(line) for line in (home / "replies.jsonl").read_text().splitlines()]
    assert len(replies) == 72 and all("Text to rate" in one["prompt"] for one in replies)
    assert {one["status"] for one in replies} == {"ok"} and all(one["usd"] for one in replies)
    files = [path for name in ("config", "results", "cache") for path in (home / name).rglob("*.*")]
    assert not [path for path in files if path.is_file() and KEY.encode() in path.read_bytes()]
    again = running.run("-m", "judgescope", "run", "config/studies/mine.yaml", cwd=home, home=home)
    assert again.returncode == 0 and "no job ran" in again.stdout  # not even a key is needed
