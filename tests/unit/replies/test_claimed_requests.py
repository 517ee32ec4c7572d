"""Requests that jobs claim: who sends those in common, and who waits."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from budget_jobs import Job, keys, request, requests, used
from judgescope.core import hosts
from judgescope.core.errors import UserError
from judgescope.engines.requests import Failure, Reply, Work
from judgescope.replies import budget, claims, ledger
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.claims import union
from judgescope.replies.ledger import (
    FOLDER,
    SILENT,
)
from judgescope.schema.cards import Study


def test_of_jobs_with_common_requests_the_first_sends_them(tmp_path: Path) -> None:
    jobs = [Job(tmp_path, requests(80)) for _ in range(4)]
    for job, wanted, left in zip(
        jobs,
        [keys(0, 1), keys(1, 2), keys(3, 2, 1), keys(4)],
        [keys(), keys(1), keys(1, 2), keys()],
        strict=True,
    ):
        earlier = job.budget.claim(wanted)
        assert union(wanted, earlier).tolist() == sorted(left.tolist())
    for job in jobs:
        job.budget.__exit__(None, None, None)
    assert Job(tmp_path).budget.claim(keys(0, 1, 2)) == []
    assert used(tmp_path) == (0, 0) and not list(tmp_path.glob("m/pace/*"))


@pytest.mark.parametrize("end", ["stored", "closed", "killed", "silent", "lost"])
def test_a_job_waits_for_an_earlier_a_single_until_it_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """What it has reserved is free meanwhile: the earlier job may need it to end."""
    monkeypatch.setattr(budget, "WAIT_SECONDS", 0.0)
    first, second = Job(tmp_path, requests(20)), Job(tmp_path, requests(20))
    first.budget.claim(keys(0, 1))
    [(claim, common)] = second.budget.claim(keys(1, 2))
    assert claim.owner == first.budget.owner and common is not None
    second.ask(2)
    assert used(tmp_path) == (0, 20 // 8)
    looks = 0

    def stored() -> bool:
        nonlocal looks
        looks += 1
        if looks < 3:
            return False
        assert looks == 3 and used(tmp_path) == (0, 1)
        if end == "closed":
            first.budget.__exit__(None, None, None)
        elif end == "killed":
            monkeypatch.setattr(ledger, "is_running", lambda _: False)
        elif end in ("silent", "lost"):
            then = time.time() - (SILENT if end == "silent" else claims.QUIET) - 60
            os.utime(
                tmp_path / FOLDER / "s" / f"{first.budget.owner}.alive", (then, then)
            )
        if end == "lost":
            monkeypatch.setattr(hosts, "machine_id", lambda: "another")
        return end == "stored"

    second.budget.wait(stored)
    assert looks == 3
    second.ask(1)
    assert second.all([]) == 0 and used(tmp_path)[0] == 2


def test_jobs_of_all_studies_have_a_single_order_and_a_new_claim_is_the_last(
    tmp_path: Path,
) -> None:
    first, second = Job(tmp_path, study="a"), Job(tmp_path, study="b")
    assert first.budget.claim(keys(0)) == []
    assert second.budget.claim(keys(1, 2)) == []
    [(claim, common)] = first.budget.claim(keys(2, 3))
    assert str(claim).startswith(f"study b (process {os.getpid()} on host ")
    assert common is not None and common.tolist() == keys(2).tolist()
    assert second.budget.claim(keys(0, 1)) == []  # the first claim of 0 was replaced
    for job in (first, second):
        job.budget.__exit__(None, None, None)
    assert not list(tmp_path.glob("m/.claims/*.keys"))


def test_the_claim_of_a_dead_job_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Job(tmp_path, study="a").budget.claim(keys(0))
    monkeypatch.setattr(ledger, "is_running", lambda _: False)
    later = Job(tmp_path, study="b")
    assert later.budget.claim(keys(0)) == []
    [only] = tmp_path.glob("m/.claims/*.keys")
    assert only.name.startswith(later.store.start)


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_a_claim_that_cannot_be_read_is_reported_and_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    Job(tmp_path, study="a").budget.claim(keys(0))
    [path] = tmp_path.glob("m/.claims/*.keys")
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    second = Job(tmp_path, study="b")

    def answer(
        work: Iterable[Work], _: bool, keep: Callable[[Reply], None]
    ) -> list[Failure]:
        for piece in work:
            keep(Reply(piece.request.key, 0, "4"))
        return []

    with second.store, second.budget:
        job = AskingJob(second.store, answer, second.budget)
        replies = obtain([request(0), request(1)], job)
    assert len(replies) == 2
    warning = "another run asks this model now; up to 2 replies may be paid twice"
    assert warning in capsys.readouterr().out


def test_a_damaged_record_of_claims_is_named(tmp_path: Path) -> None:
    Job(tmp_path, study="a").budget.claim(keys(0))
    [state] = tmp_path.glob("m/.claims/*/state.json")
    state.write_text("{", "utf-8")
    with pytest.raises(UserError, match="record of running requests") as error:
        Job(tmp_path, study="b").budget.claim(keys(0))
    assert error.value.where == str(state) and "delete its folder" in error.value.todo


def study(**keys: Any) -> Study:
    fields = {
        "study": "s",
        "datasets": ["d"],
        "judges": ["j"],
        "methods": ["agreement"],
    }
    return Study.model_validate(fields | keys)
