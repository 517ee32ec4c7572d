"""The lines of draws without an answer, and replies that are requested again."""

from pathlib import Path

import orjson
import pytest

from judgescope.core.errors import UserError
from judgescope.engines.requests import Failure, Reply
from judgescope.replies import compaction, inspection
from judgescope.replies.giving_up import GivingUp, candidates, unanswered
from judgescope.replies.journal import FailedLine, failing, read_line, sealed
from judgescope.replies.lookup import KeyTable
from judgescope.replies.store import Store

KEY, OTHER = "ab" * 32, "cd" * 32
TABLE = KeyTable.from_counts({KEY: 1, OTHER: 1})
FAILURES = [Failure("a text", "HTTP 500: no", key=KEY)]


def failed_run(folder: Path, runs: int | None = 3, *, works: bool = True) -> bool:
    """Let a job fail; return whether its failures are no error of the job any more."""
    with Store(folder, "m") as store:
        stored = store.find(TABLE)
        noted = GivingUp(runs, lambda: works).note(FAILURES, stored, store)
        return unanswered(noted, FAILURES, 2, 1, 0) is None


def test_the_third_run_gives_up_and_later_ones_find_the_error(tmp_path: Path) -> None:
    assert [failed_run(tmp_path) for _ in range(3)] == [False, False, True]
    store = Store(tmp_path, "m")
    [reply] = store.read({KEY: 1, OTHER: 1}).values()
    assert (reply.status, reply.finish) == ("error", "given_up")
    assert reply.text == "given up after 3 runs: HTTP 500: no"
    assert candidates(store, [KEY, OTHER]) == {}
    assert inspection.stats(store.shard).failed == 3


def test_an_outage_counts_for_nothing(tmp_path: Path) -> None:
    assert not any(failed_run(tmp_path, 1, works=False) for _ in range(3))
    assert candidates(Store(tmp_path, "m"), [KEY]) == {}


def test_without_a_limit_runs_are_noted_and_nothing_is_given_up(tmp_path: Path) -> None:
    assert not any(failed_run(tmp_path, None) for _ in range(4))
    [reasons] = candidates(Store(tmp_path, "m"), [KEY]).values()
    assert len(reasons) == 4
    assert candidates(Store(tmp_path, "m"), [OTHER]) == {}


def test_runs_count_anew_after_a_retry_and_survive_compaction(tmp_path: Path) -> None:
    for _ in range(3):
        failed_run(tmp_path)
    with Store(tmp_path, "m") as store:
        assert compaction.forget_errors(store) == 1
    assert [failed_run(tmp_path) for _ in range(2)] == [False, False]
    compaction.compact(tmp_path / "m")
    assert failed_run(tmp_path)
    assert Store(tmp_path, "m").read({KEY: 1})[KEY, 0].status == "error"


def test_an_older_version_stops_at_the_new_lines() -> None:
    """It knows neither `failed` nor `of`, but the field `format`."""
    line = read_line(failing(KEY, 0, "no", job="j", attempt=2))
    assert isinstance(line, FailedLine) and line.attempt == 2
    assert orjson.loads(failing(KEY, 0, "no", job="j", attempt=1))["format"] == 2
    newer = {"key": KEY, "draw": 0, "failed": "no", "job": "j", "format": 3}
    assert read_line(sealed(newer)) is None


def test_a_line_of_a_newer_format_stops_this_version(tmp_path: Path) -> None:
    newer = {"key": KEY, "draw": 0, "failed": "no", "job": "j", "format": 3}
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.1.jsonl").write_bytes(sealed(newer))
    with pytest.raises(UserError, match="a newer version") as caught:
        Store(tmp_path, "m").find(TABLE)
    assert caught.value.got == "format"


def test_a_marked_reply_is_missing_until_the_next_a_single_comes(
    tmp_path: Path,
) -> None:
    draw = (KEY, 0)
    for round_, text in enumerate(["", "", "4"]):
        with Store(tmp_path, "m") as store:
            assert store.read({KEY: 1}) == {}
            store.append(Reply(*draw, text))
        with Store(tmp_path, "m") as store:
            assert store.read({KEY: 1})[draw].text == text
            again = compaction.repeatable(store, {draw})
            assert again == ([draw] if round_ < 2 else [])
            compaction.forget_empty(store, again)
    compaction.compact(tmp_path / "m")
    assert Store(tmp_path, "m").read({KEY: 1})[draw].text == "4"


def test_a_marked_reply_of_another_machine_does_not_return(tmp_path: Path) -> None:
    """The mark and the new reply are exchanged with all other lines."""
    draw = (KEY, 0)
    with Store(tmp_path, "m") as first:
        first.append(Reply(*draw, ""))
    compaction.export(tmp_path, tmp_path / "old.parquet")
    with Store(tmp_path, "m") as store:
        compaction.forget_empty(store, compaction.repeatable(store, {draw}))
    with Store(tmp_path, "m") as store:
        store.find(TABLE)
        store.append(Reply(*draw, "5"))
    compaction.merge(tmp_path / "old.parquet", tmp_path)
    assert Store(tmp_path, "m").read({KEY: 1})[draw].text == "5"
