"""Programs for tests, and asking them without a study."""

import os
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Reply, Request, Work
from judgescope.schema.cards import CommandModel
from waiting import patience

HEAD = """
import json, os, subprocess, sys, time
def tell(given, **told):
    print(json.dumps({"id": given["id"], **told}))
def read():
    return [json.loads(line) for line in sys.stdin]
"""
LENGTHS = """
for line in sys.stdin:
    given = json.loads(line)
    tell(given, score=len(given["text"]))
"""


def card(folder: Path, program: str = LENGTHS, **keys: Any) -> CommandModel:
    """Write a program in Python and return the settled card that starts it."""
    (folder / "score.py").write_text(HEAD + textwrap.dedent(program), encoding="utf-8")
    fields: dict[str, Any] = {"model": "mine", "engine": "command"}
    fields |= {"argv": ["{python}", "{program}"]}
    fields |= {"files": {"program": "score.py"}, "timeout": 20}
    result = settled(CommandModel.model_validate(fields | keys), folder, folder)
    assert isinstance(result, CommandModel)
    return result


def requests(model: CommandModel, *texts: str) -> list[Request]:
    return [
        Request(
            {**model.identity(), "target": {"text": text}}, about=f"text {text[:9]}"
        )
        for text in texts
    ]


def ask(model: CommandModel, *texts: str, draws: int = 1) -> list[Reply]:
    """Ask for the texts in their order and return what was kept, in the order of the
    texts.
    """
    asked, kept = requests(model, *texts), list[Reply]()
    work = (Work(request, tuple(range(draws))) for request in asked)
    assert asking(model)(work, False, kept.append) == []
    by_key = {request.key: number for number, request in enumerate(asked)}
    return sorted(kept, key=lambda reply: (by_key[reply.key], reply.draw))


def refused(model: CommandModel, *texts: str) -> tuple[UserError, list[Reply]]:
    """Ask for texts that end in an error; return it and what was kept before."""
    kept: list[Reply] = []
    work = [Work(request, (0,)) for request in requests(model, *texts)]
    with pytest.raises(UserError) as error:
        asking(model)(work, False, kept.append)
    assert error.value.where == "models/mine.yaml"
    assert "run again for the rest" in error.value.todo
    return error.value, kept


def texts_of(replies: list[Reply]) -> list[str]:
    return [reply.text for reply in replies]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(
        f"/proc/{pid}/stat"
    )  # a dead child that nobody has waited for is dead
    return (
        not status.exists()
        or status.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    )


def gone(pid: int, seconds: float = 5) -> bool:
    end = time.monotonic() + patience(seconds)
    while alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def number_in(path: Path) -> int:
    """Return the process id that a program has written to a file, once it has."""
    for _ in range(400):
        if path.is_file() and (text := path.read_text("utf-8")).endswith("\n"):
            return int(text)
        time.sleep(0.05)
    raise AssertionError(f"nothing was written to {path}")


SLEEPERS = """
child = subprocess.Popen(["sleep", "60"])
given = read()
tell(given[0], score=1)
with open("{folder}/child", "w") as file: print(child.pid, file=file)
"""
