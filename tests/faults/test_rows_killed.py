"""A chain that dies in the middle goes on where it was: each text of a row is paid for
once.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import running
from asking import FAST, AskedStudy
from scripted import Body, Said, prompt_of, reply, serve
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long(15)]
ITEMS, STEPS = 24, 3
TEXT = re.compile(r"\nThe summary:\n(.+?)\n\n", re.DOTALL)


def write(body: Body) -> Said:
    """Put one more stray word behind a text."""
    time.sleep(0.02)
    [text] = TEXT.findall(prompt_of(body))
    return reply(f"{text} Word{text.count('Word')}.")


def test_killed_in_the_middle_of_the_second_step(tmp_path: Path) -> None:
    with serve(write) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        Study(tmp_path).change(
            "perturbations", "local-llm-fluency", model="loop", steps=STEPS
        )
        study.write(
            datasets=["demo-news"],
            aspects=["fluency"],
            judges=["rouge-l", "oracle"],
            perturbations=["local-llm-fluency"],
            methods=["perspectives"],
        )
        command = [sys.executable, "-m", "judgescope", "run", "study.yaml"]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=running.environment(),
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        while study.journalled() < ITEMS + 6:
            assert process.poll() is None
            time.sleep(0.01)
        running.kill_all(process.pid)
        process.wait()
        time.sleep(0.2)  # what was on its way has arrived
        kept, sent = study.journalled(), len(endpoint.asked)
        assert ITEMS < kept < 2 * ITEMS and sent - kept <= FAST["concurrency"]
        unlocked = running.run(
            "-m", "judgescope", "run", "study.yaml", "--unlock", cwd=tmp_path
        )
        assert unlocked.returncode == 0, unlocked.stdout
        done = study.make("perspectives")
        assert done.returncode == 0, done.stdout[-3000:]
        assert len(endpoint.asked) - sent == ITEMS * STEPS - kept
        assert study.journalled() == ITEMS * STEPS
    [row] = [
        row
        for row in study.rows("perspectives")
        if (row["judge"], row["statistic"]) == ("oracle", "accuracy_adjacent")
        and row["level"] == "local"
        and row["aspect"] == "fluency"
    ]
    assert (row["value"], row["n"]) == (1, ITEMS * STEPS)
