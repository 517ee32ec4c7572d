"""Texts that never get an answer, and empty replies: what a study does with them, and
what is paid for.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import running
from asking import DEMO, FAST, AskedStudy
from judgescope.replies.journal import closed_count
from scripted import Body, Said, answer, prompt_of, refusal, reply, serve

pytestmark = pytest.mark.slow
TEXTS = 40
ATTEMPTS = FAST["attempts"]


def judged(body: Body) -> bool:
    """Return whether a request is a judgment, not a test request."""
    return bool(body["max_tokens"] == 9)


class Server:
    """Answers all but one of the judgments, and while it is up."""

    def __init__(self, bad: Said) -> None:
        self.bad, self.up, self.left = bad, True, 10**6
        self.mended = False

    def __call__(self, body: Body) -> Said:
        if not self.up:
            return refusal(503, "down")
        if not judged(body):
            return reply("4")
        self.left -= 1
        if self.left < 0:
            self.up = False
            return refusal(503, "down")
        if not self.mended and "The bad text" in prompt_of(body):
            return self.bad
        return reply(f"Rating: {1 + body['seed'] % 5}")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., tuple[AskedStudy, Server]]]:
    """Return a function that makes a study of 40 texts, one of which is bad."""
    servers = []

    def make(bad: Said, **limits: Any) -> tuple[AskedStudy, Server]:
        server = Server(bad)
        context = serve(server)
        endpoint = context.__enter__()
        servers.append(context)
        study = AskedStudy(tmp_path, endpoint)
        lines = (DEMO / "dialogue_outputs.jsonl").read_text("utf-8").splitlines()
        texts = study.own_data()
        kept = lines[:TEXTS]
        head, _, tail = kept[7].partition('"response": "')
        kept[7] = f'{head}"response": "The bad text. {tail}'
        texts.write_text("\n".join(kept) + "\n", "utf-8")
        study.model(limits={**FAST, **limits})
        study.card("judges", "terse", model="loop", form="score-only", max_tokens=9)
        return study, server

    yield make
    for context in servers:
        context.__exit__(None, None, None)


def statuses(study: AskedStudy) -> Counter[str]:
    rows = running.rows(study.out, "coverage")
    return Counter(
        {
            row["statistic"]: round(row["value"])
            for row in rows
            if row["judge"] == "terse" and row["statistic"].startswith("count_")
        }
    )


AGAIN = "1 reply was requested again because it was empty"


def coverage_note(study: AskedStudy) -> str:
    """Return the note of the judge's share of usable judgments."""
    [note] = [
        str(row["note"])
        for row in running.rows(study.out, "coverage")
        if row["judge"] == "terse" and row["statistic"] == "coverage"
    ]
    return note


Make = Callable[..., tuple[AskedStudy, Server]]
BAD = [answer(), refusal(500, "cannot serve this prompt")]


@pytest.mark.parametrize(
    "bad", [BAD[0], *(pytest.param(bad, marks=pytest.mark.long(18)) for bad in BAD[1:])]
)
def test_a_text_without_an_answer_is_given_up_after_three_runs(
    made: Make, bad: Said
) -> None:
    study, server = made(bad)
    asked = study.endpoint.asked
    for run, more in ((1, "after 2 more"), (2, "after one more")):
        done = study.run()
        assert done.returncode == 1
        runs = "1 run" if run == 1 else f"{run} runs"
        assert f"1 of {TEXTS} requests failed in {runs}; {more}" in done.stdout
        assert "judgescope replies give-up STUDY" in done.stdout
    listed = running.run(
        *("-m", "judgescope", "replies", "give-up", study.file), cwd=study.folder
    )
    assert listed.returncode == 0 and "no answer in 2 runs" in listed.stdout
    assert "add --yes" in listed.stdout
    done = study.run()
    assert done.returncode == 0, done.stdout
    assert "1 judgment has no reply: given up 1" in done.stdout
    assert statuses(study) == {"count_ok": TEXTS - 1, "count_error": 1}
    assert sum(map(judged, asked)) == TEXTS - 1 + 3 * ATTEMPTS
    assert len(asked) - sum(map(judged, asked)) == 3
    assert study.run().returncode == 0
    # retry takes it back, and then the answer is stored
    server.mended = True
    before = len(asked)
    assert study.judgescope("replies", "retry").returncode == 0
    done = study.run()
    assert done.returncode == 0, done.stdout
    assert len(asked) == before + 1
    assert statuses(study) == {"count_ok": TEXTS}


@pytest.mark.long(13)
def test_a_request_is_given_up_at_once_if_the_user_says_so(made: Make) -> None:
    study, _ = made(answer(), give_up_after=None)
    for _ in range(3):
        done = study.run()
        assert (
            done.returncode == 1
            and "more"
            not in done.stdout.partition("requests failed in")[2].partition("\n")[0]
        )
    command = ("-m", "judgescope", "replies", "give-up", study.file, "--yes")
    given = running.run(*command, cwd=study.folder)
    assert given.returncode == 0 and "1 requests count as errors now" in given.stdout
    journals = study.folder.glob("cache/replies/*/*.jsonl")
    newest = max(journals, key=lambda path: path.stat().st_mtime_ns)
    assert closed_count(newest.read_bytes().splitlines(keepends=True)[-1]) == 1
    before = len(study.endpoint.asked)
    done = study.run()
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == before
    assert statuses(study)["count_error"] == 1
    nothing = running.run(*command, cwd=study.folder)
    assert "nothing to give up" in nothing.stdout


@pytest.mark.long(14)
@pytest.mark.parametrize("answered", [0, 36])
def test_three_outages_give_nothing_up(made: Make, answered: int) -> None:
    """From the start, and halfway; few enough requests are left that the job goes on
    to the end.
    """
    study, server = made(reply("Rating: 3"))
    server.left = answered
    for _ in range(3):
        done = study.run()
        assert done.returncode == 1 and "runs" not in done.stdout, done.stdout
    command = ("-m", "judgescope", "replies", "give-up", study.file)
    listed = running.run(*command, cwd=study.folder)
    assert "nothing to give up" in listed.stdout
    server.up, server.left = True, 10**6
    assert study.run().returncode == 0
    assert statuses(study) == {"count_ok": TEXTS}


@pytest.mark.long(20)
def test_empty_replies_are_requested_again_twice_at_most(made: Make) -> None:
    study, _ = made(reply(""))
    assert study.run().returncode == 0
    assert statuses(study) == {"count_ok": TEXTS - 1, "count_empty": 1}
    assert "again" not in coverage_note(study)
    asked, retry = study.endpoint.asked, ("replies", "retry")

    def again(*options: str) -> str:
        command = ("-m", "judgescope", *retry, study.file, "--empty", *options)
        done = running.run(*command, cwd=study.folder)
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "terse: 1 empty replies" in again() and "add --yes" in again()
    before = len(asked)
    assert study.run().returncode == 0 and len(asked) == before
    for _ in range(2):
        assert "1 requests will be sent again" in again("--yes", "--model", "loop")
        before = len(asked)
        assert study.run().returncode == 0
        assert len(asked) == before + 1
        assert statuses(study) == {"count_ok": TEXTS - 1, "count_empty": 1}
        assert AGAIN in coverage_note(study)
    text = again("--yes")
    assert "1 empty replies stay" in text and "No empty reply" in text
    before = len(asked)
    assert study.run().returncode == 0 and len(asked) == before


@pytest.mark.long(15)
def test_an_answer_to_a_repeated_request_replaces_the_empty_one(made: Make) -> None:
    study, server = made(reply(""))
    assert study.run().returncode == 0
    server.mended = True
    done = running.run(
        *("-m", "judgescope", "replies", "retry", study.file, "--empty", "--yes"),
        cwd=study.folder,
    )
    assert done.returncode == 0, done.stdout
    for _ in range(2):
        assert study.run().returncode == 0
        assert statuses(study) == {"count_ok": TEXTS}
        assert AGAIN in coverage_note(study)
    compacted = running.run(
        *("-m", "judgescope", "replies", "verify", study.file), cwd=study.folder
    )
    assert compacted.returncode == 0 and "errors: 0" in compacted.stdout
    wrong = running.run(
        *("-m", "judgescope", "replies", "retry", study.file, "--model", "lop"),
        cwd=study.folder,
    )
    assert wrong.returncode == 1 and "loop" in wrong.stdout
