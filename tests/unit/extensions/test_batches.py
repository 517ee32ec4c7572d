"""Batches at an endpoint: sent once, booked once, and their replies have the keys of
live ones.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batch_endpoint import LOST, BatchEndpoint, serve_batches
from batch_night import DRAWS, ONE, Night, rate
from batch_setup import Asked
from judgescope.core.errors import UserError
from judgescope.core.names import BATCH
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Work
from judgescope.extensions.batch import batch
from judgescope.extensions.batch.batches import Batches
from judgescope.replies.asking import complete
from judgescope.replies.budget import Spending
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.ledger import SpentUnits, State
from judgescope.replies.open_batches import Batch, close_lost, under_way
from judgescope.replies.store import Store
from scripted import Body, Said, refusal


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with serve_batches(rate) as running:
        yield running


@pytest.fixture
def night(tmp_path: Path, endpoint: BatchEndpoint) -> Night:
    return Night(tmp_path, endpoint)


def live(night: Night) -> dict[tuple[str, int], str]:
    """Return what the endpoint answers when it is asked at once."""
    came: list[Reply] = []
    OpenAIEngine(night.card)(night.asked.work(), True, came.append)
    return {(reply.key, reply.draw): reply.text for reply in came}


@pytest.mark.heavy
def test_replies_of_a_batch_are_those_of_live_requests_under_their_keys(
    night: Night,
) -> None:
    night.card = night.card.model_copy(
        update={"limits": night.card.limits.model_copy(update={"draws_per_request": 1})}
    )
    asked = live(night)
    assert len(asked) == DRAWS and not night.replies()
    bodies = night.endpoint.asked
    assert night.submit() == DRAWS
    sent = [line["body"] for line in night.endpoint.lines("batch-0")]
    assert sorted(map(str, sent)) == sorted(map(str, bodies))
    [running] = night.fetch()
    assert (running.status, running.results) == (
        "in_progress",
        None,
    ) and not night.replies()
    night.endpoint.end()
    [done] = night.fetch()
    assert done.results is not None and done.results.new == DRAWS
    replies = night.replies()
    assert {draw: reply.text for draw, reply in replies.items()} == asked
    assert {(reply.provenance or {})["engine"] for reply in replies.values()} == {BATCH}
    assert {(reply.provenance or {})["model"] for reply in replies.values()} == {
        "scripted"
    }
    assert not night.batches.mine() and not [
        *(night.store / ".batches" / "s").iterdir()
    ]
    assert night.submit() == DRAWS  # nothing is missing


def test_what_is_in_a_batch_is_not_sent_again_by_any_study(
    night: Night, tmp_path: Path
) -> None:
    night.submit()
    assert night.submit() == DRAWS
    other = Batches(night.store, "other", night.card)
    assert other.submit(night.asked.work(), []) == []
    assert len(night.endpoint.batches) == 1
    assert [each.record.study for each in under_way(night.store)] == ["s"]


def test_no_job_of_any_study_asks_for_what_is_in_a_batch(night: Night) -> None:
    def run(asked: Asked) -> None:
        with asked.store:
            stored = asked.store.find(asked.job.key_table)
            complete(
                stored, asked.job.work(stored), asked.store, OpenAIEngine(night.card)
            )

    night.submit()
    run(Asked(night.asked.folder, temperature=0.5))
    assert night.endpoint.asked
    night.endpoint.asked.clear()
    more = Asked(night.asked.folder, count=6, draws=3)
    with pytest.raises(
        UserError, match="8 of the missing replies are in batches"
    ) as caught:
        run(more)
    assert caught.value.where == "study s" and night.endpoint.asked == []
    night.endpoint.end()
    night.fetch()
    run(more)
    assert Counter((reply.provenance or {})["engine"] for reply in more.replies()) == {
        BATCH: DRAWS,
        "openai": 18 - DRAWS,
    }


@pytest.mark.parametrize("study", ["s", "other"])
def test_what_a_living_job_asks_is_not_sent(night: Night, study: str) -> None:
    [draw, *_] = batch.missing(Asked(night.asked.folder).work())

    def asking(model: str) -> Spending:
        spending = Spending(
            Store(night.store, model), study, "it", night.card.price, []
        )
        assert spending.reserve(draw[0], 1) is not None
        return spending

    with asking("org/other"), asking(night.card.served_name):
        with pytest.raises(UserError, match="a job is asking this model") as caught:
            night.submit()
        assert caught.value.where == f"study {study}" and night.endpoint.files == {}
    with asking("org/other"):
        assert night.submit() == DRAWS
    dead = asking(night.card.served_name)

    def elsewhere(state: State) -> None:
        state.open[dead.owner].host = "elsewhere"

    dead.ledger.change(elsewhere)
    dead._sign.path.unlink()
    assert night.submit() == DRAWS


def test_a_job_that_begins_while_requests_are_written_is_not_paid_twice(
    night: Night,
) -> None:
    store = Store(night.store, night.card.served_name)

    def work() -> Iterator[Work]:
        pieces = list(night.asked.work())
        spending = Spending(store, "s", "it", night.card.price, [])
        assert spending.reserve(pieces[0].request, 1) is not None
        yield from pieces

    with pytest.raises(UserError, match="a job is asking this model"):
        night.batches.submit(work(), night.caps)
    assert night.endpoint.files == {} and under_way(night.store) == []


@pytest.mark.parametrize("study", ["s", "other"])
@pytest.mark.parametrize("step", ["_write", "_send"])
def test_two_submits_at_once_send_nothing_twice(
    night: Night, study: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(Batches, step)

    def meanwhile(self: Batches, *arguments: Any, **keys: Any) -> Any:
        monkeypatch.undo()
        other = Batches(night.store, study, night.card)
        with pytest.raises(UserError, match="another `judgescope batch submit`"):
            other.submit(night.asked.work(), [])
        for each in other.mine():
            with pytest.raises(UserError, match="another `judgescope batch submit`"):
                other.cancel(each)
        return real(self, *arguments, **keys)

    monkeypatch.setattr(Batches, step, meanwhile)
    assert night.submit() == DRAWS and len(night.endpoint.batches) == 1
    assert night.submit() == DRAWS


def test_results_are_stored_also_if_the_study_asks_otherwise_by_then(
    night: Night,
) -> None:
    night.submit()
    before = set(live(night))
    night.asked.job = Asked(night.asked.folder, temperature=0.5).job
    night.endpoint.end()
    [done] = night.fetch()
    assert done.results is not None and (done.results.new, done.results.foreign) == (
        DRAWS,
        0,
    )
    assert len(night.asked.store.read({key: 2 for key, _ in before})) == DRAWS


def test_log_probabilities_are_kept_whatever_other_requests_of_the_file_ask(
    night: Night,
) -> None:
    def script(body: Body) -> Said:
        rating = rate(body)
        if "logprobs" in body and isinstance(rating.body, dict):
            rating.body["choices"][0]["logprobs"] = {
                "content": [{"token": "4", "logprob": -0.5}]
            }
        return rating

    night.endpoint.script = script
    scored = Asked(night.asked.folder, estimator="logprob_mean", draws=1)
    night.batches.submit([*night.asked.work(), *scored.work()], [])
    night.endpoint.end()
    night.fetch()
    assert {reply.logprobs is None for reply in night.asked.replies()} == {True}
    assert [reply.logprobs for reply in scored.replies()] == [[[("4", -0.5)]]] * 4


# --- killed at every step ---


@pytest.mark.heavy
@pytest.mark.parametrize(
    "route", ["POST /v1/files", "GET /v1/files/*", "POST /v1/batches"]
)
def test_a_lost_answer_sends_nothing_twice(night: Night, route: str) -> None:
    night.endpoint.faults[route] = LOST
    if route.startswith("POST /v1/batches"):
        with pytest.raises(UserError, match="does not respond") as caught:
            night.submit()
        assert "nothing is sent twice" in caught.value.todo
    assert night.submit() == DRAWS and len(night.endpoint.batches) == 1
    [each] = night.batches.mine()
    assert each.record.batch == "batch-0"
    assert night.booked()[1][REQUESTS] == DRAWS


@pytest.mark.parametrize("metadata", [True, False])
def test_a_batch_whose_id_was_lost_is_detected_by_every_command(
    night: Night, metadata: bool
) -> None:
    def lose() -> Batch:
        night.asked = Asked(
            night.asked.folder, temperature=len(night.endpoint.batches) / 10
        )
        night.endpoint.faults["POST /v1/batches"] = LOST
        with pytest.raises(UserError, match="does not respond"):
            night.submit()
        [each] = night.batches.mine()
        if not metadata:
            night.endpoint.batches[f"batch-{len(night.endpoint.batches) - 1}"][
                "metadata"
            ] = None
        return each

    assert night.batches.look(lose()).status == "in_progress"
    [each] = night.batches.mine()
    assert each.record.batch == "batch-0"
    night.endpoint.end()
    assert [done.status for done in night.fetch()] == ["completed"]
    each = lose()
    assert night.batches.cancel(each) == "batch batch-1: cancellation requested"
    assert night.endpoint.cancelled == ["batch-1"]
    night.endpoint.end("cancelled", answered=0)
    night.fetch()
    lose()
    night.endpoint.end()
    assert [done.status for done in night.fetch()] == ["completed"]
    assert night.booked() == (
        SpentUnits({REQUESTS: 2 * DRAWS, NANOS: 2 * DRAWS * ONE}),
        SpentUnits(),
    )


def test_requests_that_were_not_sent_are_dropped_by_cancel(night: Night) -> None:
    night.endpoint.faults["GET /v1/files/*"] = refusal(401, "wrong key")
    with pytest.raises(UserError, match="wrong key"):
        night.submit()
    [each] = night.batches.mine()
    assert night.batches.cancel(each) == "not sent" and night.endpoint.batches == {}
    assert night.booked() == (SpentUnits(), SpentUnits()) and night.batches.mine() == []


@pytest.mark.heavy
@pytest.mark.parametrize("step", ["_reserve", "_wait", "_begun"])
def test_a_command_that_was_killed_goes_on(
    night: Night, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if step == "_begun":  # the batch was made, and the record does not say so
        monkeypatch.setattr(
            "judgescope.replies.open_batches.Batch.save", _nth(3, killed)
        )
    else:
        monkeypatch.setattr(Batches, step, killed)
    with pytest.raises(KeyboardInterrupt):
        night.submit()
    monkeypatch.undo()
    assert night.submit() == DRAWS and len(night.endpoint.batches) == 1
    night.endpoint.end()
    night.fetch()
    assert len(night.replies()) == DRAWS and night.booked() == (
        SpentUnits({REQUESTS: DRAWS, NANOS: DRAWS * ONE}),
        SpentUnits(),
    )


def _nth(number: int, fault: Any) -> Any:
    """Return a method that fails at its n-th call."""
    save, left = Batch.save, iter(range(number - 1))

    def method(self: Batch) -> None:
        fault() if next(left, None) is None else save(self)

    return method


@pytest.mark.heavy
@pytest.mark.parametrize("at", ["_close", "remove"])
def test_a_fetch_that_was_killed_books_once(
    night: Night, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    night.submit()
    night.endpoint.end()
    owner = Batches if at == "_close" else "judgescope.replies.open_batches.Batch"
    if isinstance(owner, str):
        monkeypatch.setattr(f"{owner}.{at}", killed)
    else:
        monkeypatch.setattr(owner, at, killed)
    with pytest.raises(KeyboardInterrupt):
        night.fetch()
    monkeypatch.undo()
    [done] = night.fetch()
    assert done.results is not None and (done.results.new, done.results.known) == (
        0,
        DRAWS,
    )
    assert night.booked() == (
        SpentUnits({REQUESTS: DRAWS, NANOS: DRAWS * ONE}),
        SpentUnits(),
    )


# --- money ---


def test_the_most_is_reserved_and_what_it_cost_is_booked_once(night: Night) -> None:
    night.submit()
    spent, held = night.booked()
    spending = Spending(
        Store(night.store, "it"),
        "s",
        "it",
        night.card.price.of_batch(),  # type: ignore[union-attr]
        [],
    )
    requests = [
        request for request, _ in batch.missing(Asked(night.asked.folder).work())
    ]
    total = sum(spending.maximum(request, 1).nanodollars for request in requests)
    assert (spent, held) == (SpentUnits(), SpentUnits({REQUESTS: DRAWS, NANOS: total}))
    night.endpoint.end()
    [done] = night.fetch()
    assert done.spent == SpentUnits({REQUESTS: DRAWS, NANOS: DRAWS * ONE})
    assert night.booked() == (done.spent, SpentUnits()) and night.fetch() == []


@pytest.mark.heavy
def test_a_batch_that_expires_half_done_is_booked_by_half_and_the_rest_goes_out_again(
    night: Night,
) -> None:
    night.submit()
    night.endpoint.end("expired", answered=3)
    [done] = night.fetch()
    assert done.results is not None and done.results.new == 3
    assert sum(done.results.failed.values()) == DRAWS - 3
    assert night.booked() == (SpentUnits({REQUESTS: 3, NANOS: 3 * ONE}), SpentUnits())
    assert night.submit() == DRAWS + DRAWS - 3
    night.endpoint.end()
    night.fetch()
    assert len(night.replies()) == DRAWS
    assert night.booked() == (
        SpentUnits({REQUESTS: DRAWS, NANOS: DRAWS * ONE}),
        SpentUnits(),
    )


def test_missing_usage_costs_all_that_was_reserved(night: Night) -> None:
    def untold(body: Body) -> Said:
        rating = rate(body)
        assert isinstance(rating.body, dict)
        return Said(
            {name: value for name, value in rating.body.items() if name != "usage"}
        )

    night.submit()
    held = night.booked()[1]
    night.endpoint.script = untold
    night.endpoint.end()
    night.fetch()
    assert night.booked() == (held, SpentUnits())


def test_lines_that_cannot_be_read_cost_their_share_and_their_files_are_kept(
    night: Night,
) -> None:
    night.submit()
    held = night.booked()[1]
    night.endpoint.end()
    ident = night.endpoint.batches["batch-0"]["output_file_id"]
    lines = night.endpoint.files[ident].splitlines(keepends=True)
    night.endpoint.files[ident] = b"".join(
        [*lines[2:], b"\n", lines[0][:50], b"\n", b"{}"]
    )
    [done] = night.fetch()
    assert done.results is not None and (done.results.new, done.results.torn) == (
        DRAWS - 2,
        2,
    )
    share = -(-held[NANOS] * 2 // DRAWS)
    spent = SpentUnits({REQUESTS: DRAWS, NANOS: (DRAWS - 2) * ONE + share})
    assert night.booked() == (spent, SpentUnits()) and night.batches.mine() == []
    [kept] = (night.store / ".batches" / "s").iterdir()
    assert kept.read_bytes() == night.endpoint.files[ident]
    message = (
        f"cannot be read: 2, booked at their share of the reserve; correct {kept}, then"
    )
    assert message in done.messages[0]


@pytest.mark.parametrize(
    ("unit", "key"), [(NANOS, "max_usd"), (REQUESTS, "max_requests")]
)
def test_nothing_is_sent_if_a_cap_does_not_allow_the_most(
    tmp_path: Path, endpoint: BatchEndpoint, unit: str, key: str
) -> None:
    night = Night(
        tmp_path, endpoint, Cap(key, unit, 7 if unit == REQUESTS else 1_000_000)
    )
    with pytest.raises(
        UserError, match=r"a batch may use .* but the study's caps leave"
    ) as caught:
        night.submit()
    assert key in str(caught.value) and endpoint.files == {}
    assert night.booked() == (SpentUnits(), SpentUnits()) and night.batches.mine() == []


def test_no_live_job_takes_a_batch_for_dead_or_spends_what_it_holds(
    night: Night,
) -> None:
    night.submit()
    held = night.booked()[1]
    [draw] = [*batch.missing(Asked(night.asked.folder).work())][:1]
    for room, fits in ((0, False), (10**12, True)):
        cap = Cap("max_usd", NANOS, held[NANOS] + room)
        with (
            Store(night.store, "it") as store,
            Spending(store, "s", "it", night.card.price, [cap]) as spending,
        ):
            if fits:
                hold = spending.reserve(draw[0], 1)
                assert hold is not None
                spending.settle(hold, [])
            else:
                with pytest.raises(UserError, match="exceed the cap"):
                    spending.reserve(draw[0], 1)
    assert night.booked()[1] == held and len(night.batches.mine()) == 1


def test_the_reserve_of_a_batch_whose_record_was_deleted_counts_as_spent(
    tmp_path: Path, endpoint: BatchEndpoint
) -> None:
    night = Night(tmp_path, endpoint, Cap("max_requests", REQUESTS, 2 * DRAWS))
    night.submit()
    held = night.booked()[1]
    close_lost(night.store, "s")
    assert night.booked() == (SpentUnits(), held)
    [each] = night.batches.mine()
    each.path.with_suffix(".json").write_bytes(b"{")
    with pytest.raises(UserError, match="record of a batch cannot be read") as caught:
        night.submit()
    assert "its reserve then counts as spent" in caught.value.todo
    each.path.with_suffix(".json").unlink()
    assert night.submit() == 2 * DRAWS
    assert night.booked() == (held, held)
