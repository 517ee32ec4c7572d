"""Ctrl-C while a model is asked: what came is kept, how to go on is said, and the rest
is asked.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import running
from scripted import Body, Said, reply, serve
from waiting import patience

TEXTS = 24


@pytest.mark.slow
def test_an_interrupt_while_asking_loses_nothing_and_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    rows = [
        f"notice {at // 2},s{at % 2},summary {at},{1 + at % 5}" for at in range(TEXTS)
    ]
    table = "\n".join(["source,system,text,fluency", *rows])
    (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    pace = [0.5]

    def rate(_: Body) -> Said:
        time.sleep(pace[0])
        return reply("Rating: 4")

    with serve(rate) as endpoint:
        end = ["--endpoint", endpoint.url, "--model", "m", "--yes"]
        done = running.run("-m", "judgescope", "init", "mine.csv", *end, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        card = tmp_path / "config" / "models" / "m.yaml"
        limits = "probe: false\nlimits: {concurrency: 2, backoff: 0.01}\n"
        card.write_text(card.read_text("utf-8") + limits, encoding="utf-8")
        study = "config/studies/mine.yaml"
        process = subprocess.Popen(
            [sys.executable, "-m", "judgescope", "run", study],
            cwd=tmp_path,
            env=running.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        journals = tmp_path.joinpath("cache", "replies").rglob
        for _ in range(1200):
            if sum(path.read_bytes().count(b"\n") for path in journals("*.jsonl")) >= 4:
                break
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        result, _ = process.communicate(timeout=patience(60))
        assert process.returncode != 0 and "Traceback" not in result
        assert "same command" in result
        assert "All received replies are kept" in result
        kept = sum(path.read_bytes().count(b"\n") for path in journals("*.jsonl"))
        assert 4 <= kept < TEXTS
        pace[0] = 0
        endpoint.asked.clear()
        again = running.run(
            "-m", "judgescope", "run", study, "--until=ask_api", cwd=tmp_path
        )
        assert again.returncode == 0, again.stdout
        assert len(endpoint.asked) == TEXTS - kept
        assert f"{TEXTS - kept} of {TEXTS - kept} replies, 0 refused" in again.stdout
