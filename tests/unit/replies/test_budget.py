"""Caps: shared by jobs at once, never passed, used up in the end, whatever dies on the
way.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest

from budget_jobs import PRICE, USAGE, Job, request, requests, used
from judgescope.core import hosts
from judgescope.core.errors import UserError
from judgescope.engines.factory import within
from judgescope.engines.requests import Failure, Reply, Work
from judgescope.plan.checks.study import caps_of, check_caps
from judgescope.replies import ledger
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.ledger import (
    FOLDER,
    JOURNALS_STAY,
    SILENT,
    Ledger,
    SpentUnits,
    State,
)
from judgescope.schema.cards import OpenAIModel, Study
from waiting import patience

COST = 13_000
"""What such a reply costs, in billionths of a dollar."""
MODEL = OpenAIModel(
    model="m", engine="openai", base_url="http://127.0.0.1:1/v1", price=PRICE
)
Fork = multiprocessing.get_context("fork")


def in_processes(count: int, work: Callable[..., None], *arguments: Any) -> None:
    processes = [
        Fork.Process(target=work, args=(*arguments, number)) for number in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(patience(60))
        assert process.exitcode == 0


def add_one(folder: Path, times: int, _: int) -> None:
    def step(state: State) -> None:
        state.spent["m"] = state.spent.get("m", SpentUnits()) + SpentUnits(
            {REQUESTS: 1}
        )

    for _ in range(times):
        Ledger(folder).change(step)


@pytest.mark.heavy
def test_no_change_is_lost_when_many_make_them_at_once(tmp_path: Path) -> None:
    in_processes(6, add_one, tmp_path, 30)
    assert Ledger(tmp_path).state().spent == {"m": {REQUESTS: 180}}
    assert len(list(tmp_path.iterdir())) == 180  # nothing beside the chain is left


def test_a_stale_listing_of_the_chain_is_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file server may show a folder as it was: what is there by name is found all the
    same.
    """
    add_one(tmp_path, 5, 0)
    shown = sorted(tmp_path.iterdir())[:2]
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(shown))
    add_one(tmp_path, 1, 0)
    assert Ledger(tmp_path).state().spent == {"m": {REQUESTS: 6}}


def test_a_change_that_a_file_server_made_but_reported_as_failed_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.rename

    def lost(self: Path, target: Path) -> Path:
        real(self, target)
        raise FileNotFoundError("the answer was lost, and the second try found nothing")

    monkeypatch.setattr(Path, "rename", lost)
    add_one(tmp_path, 2, 0)
    assert Ledger(tmp_path).state().spent == {"m": {REQUESTS: 2}}


def test_a_job_whose_first_change_comes_too_late_opens_its_account_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, late = Path.rename, [True]

    def slower(self: Path, target: Path) -> Path:
        if late:
            late.pop()
            add_one(target.parent, 1, 0)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", slower)
    assert Job(tmp_path, requests(10)).all(range(20)) == 9
    assert used(tmp_path) == (10, 0)


def test_a_single_job_uses_a_cap_up_to_the_last_request_and_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    job = Job(tmp_path, requests(10))
    with pytest.raises(UserError) as error, job.store, job.budget:
        for number in range(12):
            job.ask(number)
    assert "could exceed the cap of 10 requests" in str(error.value)
    assert "key max_requests" in str(error.value) and "raise the cap" in str(
        error.value
    )
    assert used(tmp_path) == (10, 0) and used(tmp_path, NANOS) == (10 * COST, 0)
    assert Job(tmp_path, requests(10)).all(range(12, 20)) == 0
    assert Job(tmp_path, requests(13)).all(range(12, 20)) == 3


def test_a_cap_set_later_counts_what_was_spent_before(tmp_path: Path) -> None:
    assert Job(tmp_path).all(range(7)) == 7
    assert Job(tmp_path, requests(10)).all(range(7, 20)) == 3
    assert Job(tmp_path, requests(5)).all(range(20, 30)) == 0


def test_money_is_set_aside_no_more_than_and_booked_as_it_was(tmp_path: Path) -> None:
    """A reply may cost 20 tokens' price more than it does; the cap is used to within
    that.
    """
    size = len(request(0).prompt) + 16
    limit = (size + 2 * 10) * 1000
    job = Job(tmp_path, Cap("max_usd", NANOS, 10 * COST))
    hold = job.budget.reserve(request(0), 1)
    assert hold is not None and hold.nanodollars == limit
    assert used(tmp_path, NANOS)[1] >= limit
    job.budget.settle(hold, [])  # nothing came
    came = job.all(range(10))
    spent, held = used(tmp_path, NANOS)
    assert (spent, held) == (came * COST, 0)
    assert 10 * COST - limit < spent <= 10 * COST


def test_after_some_replies_prompts_are_estimated_by_theirs(tmp_path: Path) -> None:
    job = Job(tmp_path, Cap("max_usd", NANOS, 10**12))
    for number in range(20):
        job.ask(number)
    hold = job.budget.reserve(request(50), 1)
    assert hold is not None
    dense = 7 / min(len(request(n).prompt) + 16 for n in range(20))
    tokens = -(-hold.size * 1.25 * dense // 1)
    assert hold.nanodollars == (tokens + 20) * 1000


def test_a_reply_without_usage_counts_as_the_most_it_could_cost(tmp_path: Path) -> None:
    job = Job(tmp_path, Cap("max_usd", NANOS, 10**12))
    with job.store, job.budget:
        job.ask(0, usage=None)
    assert used(tmp_path, NANOS) == ((len(request(0).prompt) + 16 + 20) * 1000, 0)


def test_a_refusal_is_a_request_and_costs_nothing(tmp_path: Path) -> None:
    job = Job(tmp_path, requests(10))
    with job.budget:
        hold = job.budget.reserve(request(0), 1)
        assert hold is not None
        job.budget.settle(hold, [Reply(request(0).key, 0, "HTTP 400", status="error")])
    assert used(tmp_path) == (1, 0) and used(tmp_path, NANOS) == (0, 0)


def test_draws_in_a_single_request_are_counted_each_and_their_usage_once(
    tmp_path: Path,
) -> None:
    job = Job(tmp_path, requests(10))
    with job.budget:
        hold = job.budget.reserve(request(0), 3)
        assert hold is not None and hold.draws == 3
        values = [USAGE, {"prompt": 0, "completion": 0}, {"prompt": 0, "completion": 0}]
        replies = [
            Reply(request(0).key, at, "4", usage=usage)
            for at, usage in enumerate(values)
        ]
        job.budget.settle(hold, replies)
    assert used(tmp_path) == (3, 0) and used(tmp_path, NANOS) == (COST, 0)


def test_a_draw_without_usage_beside_others_counts_as_the_most_that_all_could_cost(
    tmp_path: Path,
) -> None:
    job = Job(tmp_path)
    with job.budget:
        hold = job.budget.reserve(request(0), 3)
        assert hold is not None
        usages = (USAGE, None, USAGE)
        replies = [
            Reply(request(0).key, at, "4", usage=usage)
            for at, usage in enumerate(usages)
        ]
        job.budget.settle(hold, replies)
    assert used(tmp_path, NANOS) == (hold.nanodollars, 0)


def test_a_refusal_costs_the_tokens_that_it_reports_whether_its_job_ends_or_dies(
    tmp_path: Path,
) -> None:
    """A program may refuse after it has paid."""
    job = Job(tmp_path, requests(80))
    hold = job.budget.reserve(request(0), 1)
    assert hold is not None
    refused = Reply(request(0).key, 0, "no words", status="error", usage=USAGE)
    job.store.append(refused)
    job.budget.settle(hold, [refused])
    assert job.budget.spent[NANOS] == COST
    elsewhere(tmp_path, SILENT + 60)
    Job(tmp_path, requests(80)).all([1])
    assert used(tmp_path, NANOS) == (2 * COST, 0)


def test_room_under_way_is_waited_for_and_no_room_at_all_ends_the_job(
    tmp_path: Path,
) -> None:
    budget = Job(tmp_path, requests(2)).budget
    first, second = (budget.reserve(request(number), 1) for number in range(2))
    assert first and second
    assert budget.reserve(request(2), 1) is None
    budget.settle(first, [])  # it failed for a passing reason
    third = budget.reserve(request(2), 1)
    assert third and budget.reserve(request(3), 1) is None
    budget.settle(second, [Reply("k", 0, "4")])
    budget.settle(third, [Reply("k", 0, "4")])
    with pytest.raises(UserError, match="could exceed the cap of 2 requests"):
        budget.reserve(request(3), 1)


def test_what_another_job_has_set_aside_is_named_and_comes_back(tmp_path: Path) -> None:
    first, second = Job(tmp_path, requests(20)), Job(tmp_path, requests(20))
    with first.budget:
        first.ask(0)
        held = used(tmp_path)[1]
        assert held == 20 // 8
        with pytest.raises(UserError, match=f"{held} requests reserved by other jobs"):
            for number in range(100, 130):
                second.ask(number)
    second.budget.__exit__(None, None, None)
    assert used(tmp_path) == (20 - held + 1, 0)
    assert Job(tmp_path, requests(20)).all(range(200, 300)) == held - 1


def test_a_models_cap_binds_its_jobs_only(tmp_path: Path) -> None:
    caps = [requests(30), requests(5, "m")]
    assert Job(tmp_path, *caps).all(range(20)) == 5
    assert Job(tmp_path, *caps, model="other").all(range(50)) == 25
    assert used(tmp_path, model="m") == (5, 0) and used(tmp_path) == (30, 0)


def ask_and_count(folder: Path, caps: Sequence[Cap], each: int, number: int) -> None:
    job = Job(folder, *caps)
    came = job.all(range(each * number, each * (number + 1)))
    (folder / f"came.{number}").write_text(str(came))


@pytest.mark.heavy
@pytest.mark.parametrize("cap", [requests(400), Cap("max_usd", NANOS, 400 * COST)])
def test_jobs_at_once_never_pass_a_cap_and_use_it_in_the_end(
    tmp_path: Path, cap: Cap
) -> None:
    limit = cap.limit
    for _ in range(2):
        in_processes(5, ask_and_count, tmp_path, [cap], 200)
        came = sum(
            int((tmp_path / f"came.{number}").read_text()) for number in range(5)
        )
        spent, held = used(tmp_path, cap.unit)
        assert held == 0 and spent <= limit and came * COST <= 400 * COST
    assert spent >= 0.9 * limit


def ask_until_killed(
    folder: Path, caps: Sequence[Cap], ready: Event, number: int
) -> None:
    """Have three requests under way beside those that are answered one after the
    other.
    """
    job = Job(folder, *caps)
    for under_way in range(3):
        assert job.budget.reserve(request(10_000 + under_way), 1)
    for estimate in range(number, 1000):
        job.ask(estimate)
        if estimate - number == 20:
            ready.set()
        time.sleep(0.002)


def test_what_a_killed_job_spent_is_read_from_its_journal(tmp_path: Path) -> None:
    ready = Fork.Event()
    process = Fork.Process(
        target=ask_until_killed, args=(tmp_path, [requests(500)], ready, 0)
    )
    process.start()
    assert ready.wait(patience(30))
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    [journal] = tmp_path.glob("m/*.jsonl")
    kept = len(journal.read_bytes().splitlines())
    assert used(tmp_path)[0] == 0 and used(tmp_path)[1] > 0
    assert Job(tmp_path, requests(500)).all(range(2000, 2001)) == 1
    spent, held = used(tmp_path)
    assert (
        held == 0 and kept + 3 < spent <= kept + 1 + 2 * 4
    )  # at most twice what was under way
    left = Job(tmp_path, requests(500)).all(range(3000, 4000))
    assert left == 500 - spent


def elsewhere(folder: Path, silent: float) -> None:
    """Make the one open job look like one of another machine that gave no sign for so
    long.
    """

    def step(state: State) -> None:
        [account] = state.open.values()
        account.host = "another machine"

    Ledger(folder / FOLDER / "s").change(step)
    be_silent(folder, silent)


def be_silent(folder: Path, seconds: float) -> None:
    """Let the one open job have given no sign for so long."""
    [sign] = folder.glob(f"{FOLDER}/s/*.alive")
    then = time.time() - seconds
    os.utime(sign, (then, then))


def test_a_job_elsewhere_is_dead_after_a_long_silence_only(tmp_path: Path) -> None:
    job = Job(tmp_path, requests(80))
    job.ask(0)
    held = used(tmp_path)[1]
    assert held == 10
    elsewhere(tmp_path, SILENT - 60)
    Job(tmp_path, requests(80)).all([1])
    assert used(tmp_path) == (1, held)
    elsewhere(tmp_path, SILENT + 60)
    Job(tmp_path, requests(80)).all([2])
    assert used(tmp_path) == (
        2 + 1 + 2,
        0,
    )  # its reply, and two that it may have had under way
    with pytest.raises(UserError, match="treated it as stopped"):
        for number in range(5, 100):
            job.ask(number)


def test_a_job_on_this_machine_lives_as_long_as_its_process(tmp_path: Path) -> None:
    """A start of a program may take longer than any silence that another machine puts
    up with.
    """
    job = Job(tmp_path, requests(80))
    job.ask(0)
    be_silent(tmp_path, SILENT + 60)
    Job(tmp_path, requests(80)).all([1])
    assert used(tmp_path) == (1, 10)
    job.ask(2)


def test_a_machine_of_the_same_name_is_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boot = tmp_path / "boot_id"
    boot.write_text("1-2-3\n", "utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(hosts, "BOOT_ID", boot)
        patched.setattr(os, "getpid", lambda: 2**22 + 1)  # no process of this machine
        Job(tmp_path, requests(80)).ask(0)
    Job(tmp_path, requests(80)).all([1])
    assert used(tmp_path) == (1, 10)
    monkeypatch.setattr(hosts, "BOOT_ID", tmp_path / "no file")
    assert hosts.machine_id() == hosts.host_id()


def test_a_reply_is_a_sign_of_life_and_hides_no_long_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path, requests(80))
    hold = job.budget.reserve(request(0), 1)
    assert hold is not None
    elsewhere(tmp_path, SILENT + 60)
    [sign] = tmp_path.glob(f"{FOLDER}/s/*.alive")
    Job(tmp_path, requests(80)).all([1])
    assert not sign.exists()
    monkeypatch.setattr(ledger.Heartbeat, "age", lambda _: SILENT + 60)
    job.budget.settle(hold, [Reply(request(0).key, 0, "4")])
    assert time.time() - sign.stat().st_mtime < 60
    with pytest.raises(UserError, match="treated it as stopped"):
        job.budget.reserve(request(2), 1)


def test_where_the_journal_is_gone_all_that_was_held_counts_as_spent(
    tmp_path: Path,
) -> None:
    job = Job(tmp_path, requests(80))
    job.ask(0)
    elsewhere(tmp_path, JOURNALS_STAY + 60)
    for journal in tmp_path.glob("m/*.jsonl"):
        journal.unlink()
    Job(tmp_path, requests(80)).all([1])
    assert used(tmp_path) == (11, 0)


def test_a_damaged_ledger_is_named_and_never_taken_for_an_empty_one(
    tmp_path: Path,
) -> None:
    Job(tmp_path, requests(10)).all(range(3))
    last = max((tmp_path / FOLDER / "s").glob("0*"))
    (last / "state.json").write_text("{")
    with pytest.raises(UserError, match=r"cannot be read[\s\S]*state\.json"):
        Job(tmp_path, requests(10)).ask(5)


def study(**keys: Any) -> Study:
    fields = {
        "study": "s",
        "datasets": ["d"],
        "judges": ["j"],
        "methods": ["agreement"],
    }
    return Study.model_validate(fields | keys)


def test_caps_of_a_study_and_of_its_models() -> None:
    result = caps_of(study(max_usd=1.5, caps={"m": {"max_requests": 7}}))
    assert result == [
        Cap("max_usd", NANOS, 1_500_000_000),
        Cap("caps.m.max_requests", REQUESTS, 7, "m"),
    ]
    assert caps_of(study()) == [] and caps_of(study(max_requests=0)) == [requests(0)]


def test_a_cap_on_money_needs_prices_and_a_models_cap_a_model() -> None:
    priced, free = MODEL, MODEL.model_copy(update={"model": "free", "price": None})
    models: dict[str, Any] = {"m": priced, "free": free}
    check_caps(study(max_requests=5, caps={"m": {"max_usd": 1}}), models, "study.yaml")
    for keys in ({"max_usd": 5}, {"caps": {"free": {"max_usd": 5}}}):
        with pytest.raises(UserError, match=r"needs the price[\s\S]*models/free\.yaml"):
            check_caps(study(**keys), models, "study.yaml")
    with pytest.raises(
        UserError, match=r"`caps` may only name models[\s\S]*nearest: +free"
    ):
        check_caps(study(caps={"fre": {"max_requests": 5}}), models, "study.yaml")


def test_any_engine_is_given_work_only_as_far_as_there_is_room(tmp_path: Path) -> None:
    """An engine that takes work four at a time and answers every second draw of the
    third.
    """
    job, kept = Job(tmp_path, requests(21)), list[Reply]()
    taken: list[int] = []

    def engine(
        work: Iterable[Work], proven: bool, keep: Callable[[Reply], None]
    ) -> list[Failure]:
        failures = []
        waiting = iter(work)
        while batch := list(islice(waiting, 4)):
            taken.append(len(batch))
            for asked, draws in batch:
                for draw in draws:
                    if asked == request(2) and draw:
                        failures.append(Failure("third", "busy"))
                    else:
                        keep(Reply(asked.key, draw, "4"))
        return failures

    work = [Work(request(number), (0, 1)) for number in range(20)]
    with (
        job.budget,
        pytest.raises(UserError, match="could exceed the cap of 21 requests"),
    ):
        within(job.budget, engine)(work, True, kept.append)
    assert 19 < len(kept) <= 21
    assert used(tmp_path) == (len(kept), 0) and sum(taken) < 20
    again = Job(tmp_path, requests(100))
    with again.budget:
        failures = within(again.budget, engine)(work, True, kept.append)
    assert failures == [Failure("third", "busy")]


def test_a_reply_dearer_than_was_set_aside_stops_new_requests_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is under way may pass the cap; nothing is sent beside it, and it is said."""
    dollar = 10**9
    job = Job(tmp_path, Cap("max_usd", NANOS, 10 * dollar))
    asked = [request(number) for number in range(40)]
    with pytest.raises(UserError) as error, job.store, job.budget:
        under_way = [(each, job.budget.reserve(each, 1)) for each in asked[:16]]
        for reply, hold in under_way:
            assert hold is not None
            usage = {"prompt": 7, "completion": 500_000}  # a dollar
            job.budget.settle(hold, [Reply(reply.key, 0, "4", usage=usage)])
            if reply is not under_way[-1][0]:
                assert job.budget.reserve(asked[16], 1) is None
        job.budget.reserve(asked[16], 1)
    spent, held = used(tmp_path, NANOS)
    assert spent == pytest.approx(16 * dollar, rel=1e-3) and held == 0
    assert "max_usd" in error.value.where and "models/m.yaml" in error.value.where
    assert "6.0001" in str(error.value.got)  # of 16.0001 dollars, beside the cap
    warned = capsys.readouterr().out
    assert warned.count("warning") == 1
    assert "models/m.yaml" in warned and "1.00001" in warned


def test_after_a_dear_reply_more_is_set_aside_and_a_far_cap_stops_nothing(
    tmp_path: Path,
) -> None:
    job = Job(tmp_path, Cap("max_usd", NANOS, 100 * 10**9))
    before = job.budget.reserve(request(0), 1)
    assert before is not None
    dear = {"prompt": 7, "completion": 50_000}  # .1 dollars
    job.budget.settle(before, [Reply(request(0).key, 0, "4", usage=dear)])
    after = job.budget.reserve(request(1), 1)
    assert after is not None and 10**8 < after.nanodollars < 2 * 10**8
    job.budget.settle(after, [])
    with job.store, job.budget:
        for number in range(2, 12):
            job.ask(number, dear)
    assert used(tmp_path, NANOS)[0] == pytest.approx(11 * 10**8, rel=1e-3)


def test_other_jobs_see_at_once_what_a_dear_reply_took(tmp_path: Path) -> None:
    first, second = (Job(tmp_path, Cap("max_usd", NANOS, 10**9)) for _ in range(2))
    hold = first.budget.reserve(request(0), 1)
    assert hold is not None
    dear = {"prompt": 7, "completion": 600_000}  # 1.2 dollars
    first.budget.settle(hold, [Reply(request(0).key, 0, "4", usage=dear)])
    with pytest.raises(UserError, match="max_usd"):
        second.budget.reserve(request(1), 1)
