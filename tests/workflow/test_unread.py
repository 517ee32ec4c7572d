"""Replies that cannot be read are counted and shown while they come, and again at the
end.
"""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import running
from asking import AskedStudy
from judgescope.cli.unread_replies import ENOUGH, SUFFIX, UnreadTally, Watch
from judgescope.engines.requests import Reply
from judgescope.parsing.judgment import Judgment
from judgescope.replies.journal import KEY, ReplyLine
from judgescope.replies.lookup import KeyTable
from judgescope.replies.progress_note import ProgressNote
from judgescope.replies.store import Store
from scripted import Body, Said, reply, serve
from snakemake_logger_plugin_judgescope.progress import Asking
from waiting import patience

CELLS = [("systems", "good", "a"), ("systems", "bad", "a")]


def key(number: int) -> str:
    return f"{number:064x}"


def judged(status: str) -> Judgment:
    value = 4.0 if status == "ok" else None
    return Judgment(status, "rule", value, parser="score@1")  # type: ignore[arg-type]


class Followed:
    """A store that a job writes to, and the watch that follows it; even keys are of
    `good`.
    """

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder, "m")
        wanted = KeyTable.from_counts({key(number): 1 for number in range(1, 200)})
        start = self.store.shard / self.store.start
        import numpy as np

        numbers = np.array(
            [int(each[-1]) % 2 for each in (k.ljust(32, b"\0") for k in wanted.keys)]
        )
        note = ProgressNote("d", start, CELLS, wanted.keys.astype(KEY), numbers)
        self.log = folder / "m.log"
        self.warned: list[tuple[str, int]] = []
        self.watch = Watch(folder / "m.note", note, self._read)

    def _read(self, dataset: str, cell: Any, line: ReplyLine) -> Judgment:
        assert dataset == "d" and (cell[1] == "good") == (line.text == "4")
        if line.text == "4":
            return judged("ok")
        return judged("truncated" if line.finish == "length" else "unparsed")

    def came(self, number: int, text: str, **keys: Any) -> None:
        self.store.append(Reply(key(number), 0, text, **keys))

    def look(self) -> dict[str, Any]:
        def warn(judge: str, tally: UnreadTally) -> str:
            self.warned.append((judge, tally.replies))
            return f"warning: {judge}"

        self.watch.look(warn)
        content: dict[str, Any] = json.loads(
            self.log.with_suffix(SUFFIX).read_text("utf-8")
        )
        return content


def test_journals_are_followed_and_each_judge_is_counted_alone(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    with followed.store:
        for number in range(2, 100, 2):
            followed.came(number, "4")
        for number in range(1, 2 * ENOUGH - 1, 2):
            followed.came(number, "no idea")
        followed.came(
            150, "HTTP 400", status="error", finish="error"
        )  # the endpoint's refusal
        followed.came(500, "?")  # another study's: not this job's
        first = followed.look()
        assert first == {"replies": 49 + 19, "unread": 19, "warnings": []}
        followed.came(2 * ENOUGH - 1, "cut", finish="length")
        assert followed.look() == {
            "replies": 69,
            "unread": 20,
            "warnings": ["warning: bad"],
        }
        assert followed.look()["unread"] == 20  # nothing is counted twice
        followed.came(99, "?")
        followed.look()
    assert followed.warned == [("bad", ENOUGH)]
    assert followed.watch.tallies["bad"].unread == {"unparsed": 20, "truncated": 1}


def test_a_line_that_is_not_complete_yet_waits(tmp_path: Path) -> None:
    followed = Followed(tmp_path)
    with followed.store:
        followed.came(2, "4")
        followed.came(4, "4")
    [journal] = followed.watch.note.journals()
    content = journal.read_bytes()
    journal.write_bytes(content[:-9])
    assert followed.look()["replies"] == 1
    journal.write_bytes(content)
    assert followed.look()["replies"] == 2


def test_the_line_of_progress_counts_them_and_each_warning_comes_once(
    tmp_path: Path,
) -> None:
    log = tmp_path / "m.log"
    log.write_text("replies: 30 of 90, 0 refused\n", "utf-8")
    log.with_suffix(SUFFIX).write_text("of an earlier run", "utf-8")
    asking = Asking()
    asking.begin(1, "m", [str(log)])
    told_first = "   asking m: 30 of 90 replies, 0 refused"
    assert asking.line() == told_first and not list(asking.warnings())
    fields = {"replies": 30, "unread": 29, "warnings": ["warning: look"]}
    log.with_suffix(SUFFIX).write_text(json.dumps(fields), "utf-8")
    assert asking.line() == f"{told_first}, 29 unread"
    assert list(asking.warnings()) == ["warning: look"] and not list(asking.warnings())


def test_the_line_of_progress_says_that_more_jobs_will_ask(tmp_path: Path) -> None:
    """What they ask for is not among those wanted: it depends on texts that are not
    there.
    """
    log = tmp_path / "m.log"
    log.write_text("replies: 30 of 90, 0 refused\n", "utf-8")
    asking = Asking()
    asking.expect({"ask_api": 2, "write_gpu": 1, "score": 9, "total": 12})
    asking.begin(1, "m", [str(log)], "ask_api")
    asking.begin(2, "score", [], "score")
    line = "   asking m: 30 of 90 replies, 0 refused"
    assert asking.line() == f"{line}, 2 more jobs ask later"
    asking.begin(3, "n", [str(tmp_path / "n.log")], "write_gpu")
    assert asking.line() == f"{line}, 1 more job asks later"
    asking.begin(4, "o", [str(tmp_path / "o.log")], "ask_api")
    assert asking.line() == line


@pytest.fixture
def study(tmp_path: Path) -> Iterator[AskedStudy]:
    with serve(lambda _: reply("4")) as endpoint:
        yield AskedStudy(tmp_path, endpoint)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + patience(240)
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.mark.slow
def test_a_run_says_so_while_it_asks_and_in_its_last_lines(study: AskedStudy) -> None:
    study.card("judges", "wordy", model="loop", form="rate-explain", max_tokens=77)
    study.write(judges=["terse", "wordy"])
    go_on, came = threading.Event(), threading.Semaphore(0)

    def script(body: Body) -> Said:
        if body["max_tokens"] != 77:
            return reply("Rating: 4")
        if len(study.endpoint.asked) > 200:
            go_on.wait(patience(300))
        came.release()
        return reply("This text is \x1b[2J rather long and", finish="length")

    study.endpoint.script = script
    output = study.folder / "output.txt"
    command = [running.python(), "-m", "judgescope", "run", "study.yaml"]
    with (
        output.open("wb") as file,
        subprocess.Popen(
            command,
            cwd=study.folder,
            env=running.environment(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            until(lambda: "judges/wordy.yaml" in output.read_text("utf-8"))
            half = study.judgescope("replies", "show")
        finally:
            go_on.set()
        assert process.wait(patience(300)) == 0
    assert half.returncode == 0
    counts = {
        line.split()[0]: line for line in half.stdout.splitlines() if line.strip()
    }
    assert "ok" in counts["terse"] and "truncated" in counts["wordy"]
    text = output.read_text("utf-8")
    warned, *_ = text.split("judges/wordy.yaml")[1].splitlines()
    assert "max_tokens: 77" in warned
    assert "⟨U+001B⟩[2J rather long" in text and "\x1b[2J" not in text
    end = text[text.index("report: ") :]
    assert (
        "120 of 120" in end
        and "judges/wordy.yaml" in end
        and "judges/terse.yaml" not in text
    )
    assert not list(study.folder.glob("results/asked/logs/ask/*/*.npy"))
