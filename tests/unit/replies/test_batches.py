"""Batches at an endpoint: sent once, booked once, and their replies have the keys of
live ones.
"""

import re
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import running
from asking import AskedStudy
from batch_endpoint import LOST, BatchEndpoint, serve_batches
from batch_setup import MODEL, Asked
from judgescope.cli import batch as cli
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import BATCH
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Work
from judgescope.replies import batch
from judgescope.replies.asking import complete
from judgescope.replies.batches import Batch, Batches, Fetched, close_lost, under_way
from judgescope.replies.budget import Spending
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.ledger import Ledger, SpentUnits, State
from judgescope.replies.pricing import (
    ENOUGH,
    GUESSED,
    Pace,
    density,
    joined,
    nanodollars,
    read_pace,
    tokenizer,
    write_pace,
)
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel, Price
from scripted import Body, Said, refusal, reply

PRICE = {"input": 2, "output": 8, "batch": 0.5}
ONE = (7 * 2 + 3 * 8) * 1000 // 2
"""Billionths of a dollar for a reply in a batch: 7 tokens of prompt and 3 of reply, at
half."""
DRAWS = 8


def rate(body: Body) -> Said:
    return reply(f"Rating: {1 + body['seed'] % 5}")


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with serve_batches(rate) as running:
        yield running


class Night:
    """A study of eight draws, its store, and the batches of its model."""

    def __init__(
        self, folder: Path, endpoint: BatchEndpoint, *caps: Cap, **keys: Any
    ) -> None:
        self.endpoint, self.caps = endpoint, caps
        self.asked = Asked(folder)
        fields = MODEL.model_dump() | {"base_url": endpoint.url, "price": PRICE} | keys
        self.card = OpenAIModel.model_validate(fields)
        self.store = folder / "store"

    @property
    def batches(self) -> Batches:
        """Return the batches as a new process sees them."""
        return Batches(self.store, "s", self.card)

    def submit(self) -> int:
        """Submit and return how many requests the endpoint was sent in all."""
        self.batches.submit(self.asked.work(), self.caps)
        return sum(len(self.endpoint.lines(ident)) for ident in self.endpoint.batches)

    def fetch(self) -> list[Fetched]:
        return [self.batches.fetch(each) for each in self.batches.mine()]

    def booked(self) -> tuple[SpentUnits, SpentUnits]:
        """Return what was spent, and what is reserved."""
        state = Ledger(self.store / ".budget" / "s").state()
        held = [account.held for account in state.open.values()]
        return state.spent.get("it", SpentUnits()), sum(held, SpentUnits())

    def replies(self) -> dict[tuple[str, int], Reply]:
        return {(one.key, one.draw): one for one in self.asked.replies()}


@pytest.fixture
def night(tmp_path: Path, endpoint: BatchEndpoint) -> Night:
    return Night(tmp_path, endpoint)


def live(night: Night) -> dict[tuple[str, int], str]:
    """Return what the endpoint answers when it is asked at once."""
    came: list[Reply] = []
    OpenAIEngine(night.card)(night.asked.work(), True, came.append)
    return {(one.key, one.draw): one.text for one in came}


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
    found = night.replies()
    assert {draw: one.text for draw, one in found.items()} == asked
    assert {(one.provenance or {})["engine"] for one in found.values()} == {BATCH}
    assert {(one.provenance or {})["model"] for one in found.values()} == {"scripted"}
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
    assert Counter((one.provenance or {})["engine"] for one in more.replies()) == {
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
        said = rate(body)
        if "logprobs" in body and isinstance(said.body, dict):
            said.body["choices"][0]["logprobs"] = {
                "content": [{"token": "4", "logprob": -0.5}]
            }
        return said

    night.endpoint.script = script
    scored = Asked(night.asked.folder, estimator="logprob_mean", draws=1)
    night.batches.submit([*night.asked.work(), *scored.work()], [])
    night.endpoint.end()
    night.fetch()
    assert {one.logprobs is None for one in night.asked.replies()} == {True}
    assert [one.logprobs for one in scored.replies()] == [[[("4", -0.5)]]] * 4


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
def test_a_batch_whose_id_was_lost_is_found_by_every_command(
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
        monkeypatch.setattr("judgescope.replies.batches.Batch.save", _nth(3, killed))
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
    owner = Batches if at == "_close" else "judgescope.replies.batches.Batch"
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
    most = sum(spending.maximum(request, 1).nanodollars for request in requests)
    assert (spent, held) == (SpentUnits(), SpentUnits({REQUESTS: DRAWS, NANOS: most}))
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


def test_usage_that_is_not_told_costs_all_that_was_reserved(night: Night) -> None:
    def untold(body: Body) -> Said:
        said = rate(body)
        assert isinstance(said.body, dict)
        return Said(
            {name: value for name, value in said.body.items() if name != "usage"}
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
    told = (
        f"cannot be read: 2, booked at their share of the reserve; correct {kept}, then"
    )
    assert told in done.messages[0]


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


# --- what endpoints say ---


PAGE = b"<html>Log in</html>"


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
@pytest.mark.parametrize(
    "route",
    [
        "POST /v1/files",
        "GET /v1/files/*",
        "POST /v1/batches",
        "GET /v1/batches/*",
        "GET /v1/files/*/content",
        "POST /v1/batches/*/cancel",
    ],
)
def test_a_page_instead_of_an_answer_is_told_and_the_command_can_be_repeated(
    night: Night, route: str, kind: str
) -> None:
    night.endpoint.faults[route] = Said(PAGE, headers={"Content-Type": kind})
    with pytest.raises(
        UserError, match=r"not that of a Batch API: '<html>Log in</html>'"
    ) as caught:
        night.submit()
        if "cancel" in route:
            night.batches.cancel(*night.batches.mine())
        night.endpoint.end()
        night.fetch()
    assert "check base_url" in caught.value.todo
    assert night.submit() == DRAWS and len(night.endpoint.batches) == 1
    night.endpoint.end()
    night.fetch()
    assert len(night.replies()) == DRAWS and night.booked()[0][NANOS] == DRAWS * ONE


def test_an_answer_without_an_id_is_told(night: Night) -> None:
    night.endpoint.faults["POST /v1/files"] = Said({"object": "file"})
    with pytest.raises(UserError, match="not that of a Batch API"):
        night.submit()


def test_a_file_that_the_endpoint_refuses_leaves_nothing(night: Night) -> None:
    night.endpoint.faults["POST /v1/batches"] = refusal(400, "model it has no batches")
    with pytest.raises(UserError, match=r"rejected a batch: .*model it has no batches"):
        night.submit()
    assert night.booked() == (SpentUnits(), SpentUnits()) and night.batches.mine() == []
    assert night.submit() == DRAWS


def test_a_batch_that_fails_says_why_and_costs_nothing(night: Night) -> None:
    night.submit()
    errors = {
        "object": "list",
        "data": [{"code": "c", "message": "line 1: no such model"}],
    }
    night.endpoint.batches["batch-0"] |= {"status": "failed", "errors": errors}
    [done] = night.fetch()
    assert (done.status, done.messages) == ("failed", ["line 1: no such model"])
    assert night.booked() == (SpentUnits(), SpentUnits()) and night.batches.mine() == []


def test_a_fetch_that_cannot_store_the_replies_can_be_repeated(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UserError("the disk is full", where="store")

    night.submit()
    night.endpoint.end()
    with (
        monkeypatch.context() as disk,
        pytest.raises(UserError, match="the disk is full"),
    ):
        disk.setattr(Store, "append", full)
        night.fetch()
    assert night.booked()[1][REQUESTS] == DRAWS
    [done] = night.fetch()
    assert done.results is not None and done.results.new == DRAWS
    assert night.booked()[1] == SpentUnits()


def test_where_all_is_refused_nothing_is_stored_and_the_batch_is_over(
    night: Night,
) -> None:
    night.submit()
    night.endpoint.script = lambda _: refusal(400, "unknown field top_k")
    night.endpoint.end()
    with pytest.raises(
        UserError, match="every request was refused: HTTP 400: unknown field"
    ):
        night.fetch()
    assert not night.replies() and night.booked() == (
        SpentUnits({REQUESTS: DRAWS}),
        SpentUnits(),
    )
    assert night.batches.mine() == []


@pytest.mark.heavy
def test_a_file_is_waited_for_until_it_was_looked_through(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgescope.replies.batches.LOOK_SECONDS", 0.01)
    night.endpoint.checking += ["pending", "pending", "pending"]
    assert night.submit() == DRAWS
    monkeypatch.setattr("judgescope.replies.batches.FILE_SECONDS", 0.0)
    night.asked = Asked(night.asked.folder, temperature=0.5)
    night.endpoint.checking += ["pending"] * 4
    with pytest.raises(UserError, match="not accepted the file yet"):
        night.submit()
    night.endpoint.checking.clear()
    assert night.submit() == 2 * DRAWS and len(night.endpoint.files) == 2


def test_the_key_is_in_the_cards_header_alone_and_no_variable_counts(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_ADMIN_KEY",
    ):
        monkeypatch.setenv(name, "of-the-environment")
    for name in ("HTTP_PROXY", "http_proxy", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NIGHT_KEY", "key-of-the-card")
    keys = {
        "api_key_env": "NIGHT_KEY",
        "key_header": "api-key",
        "query": {"api-version": "v"},
    }
    night.card = night.card.model_copy(update=keys)
    night.submit()
    assert {headers.get("api-key") for headers in night.endpoint.headers} == {
        "key-of-the-card"
    }
    assert not any("authorization" in headers for headers in night.endpoint.headers)
    assert "of-the-environment" not in str(night.endpoint.headers)
    night.endpoint.faults["GET /v1/batches/*"] = refusal(
        401, "key-of-the-card is wrong"
    )
    with pytest.raises(UserError, match="<key> is wrong") as caught:
        night.fetch()
    assert "key-of-the-card" not in str(caught.value)
    assert len(night.batches.mine()) == 1


@pytest.mark.heavy
def test_a_cancelled_batch_is_fetched_as_far_as_it_came(night: Night) -> None:
    night.submit()
    [each] = night.batches.mine()
    night.batches.cancel(each)
    night.endpoint.end("cancelled", answered=2)
    [done] = night.fetch()
    assert done.results is not None and done.results.new == 2
    assert night.booked() == (SpentUnits({REQUESTS: 2, NANOS: 2 * ONE}), SpentUnits())


def test_a_batch_that_the_endpoint_does_not_have_is_dropped_by_cancel(
    night: Night,
) -> None:
    night.submit()
    held = night.booked()[1]
    [each] = night.batches.mine()
    night.endpoint.faults["GET /v1/batches/*"] = refusal(404, "No batch found")
    with pytest.raises(UserError, match="No batch found") as caught:
        night.batches.fetch(each)
    assert "`judgescope batch cancel` drops it" in caught.value.todo
    assert night.booked() == (SpentUnits(), held)
    night.endpoint.faults["GET /v1/batches/*"] = refusal(404, "No batch found")
    assert night.batches.cancel(each).startswith(
        "batch-0 is unknown to the endpoint: dropped"
    )
    assert night.booked() == (held, SpentUnits()) and night.batches.mine() == []


@pytest.mark.parametrize("command", ["cancel", "fetch", "status"])
def test_one_batch_with_an_error_does_not_stop_a_command(
    night: Night,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for temperature in (0, 0.5, 1):
        night.asked = Asked(night.asked.folder, temperature=temperature)
        night.submit()
    night.endpoint.batches["batch-1"]["status"] = "completed"
    order = sorted(night.batches.mine(), key=lambda each: str(each.record.batch))
    night.endpoint.faults["GET /v1/batches/*"] = refusal(401, "wrong key")
    monkeypatch.setattr(
        cli, "_under_way", lambda *_: ((night.batches, each) for each in order)
    )
    with pytest.raises(UserErrors, match="wrong key"):
        getattr(cli, command)(Namespace(study=Path("s.yaml")))
    told = capsys.readouterr().out
    assert "batch-0" not in told and "batch-1" in told and "batch-2" in told
    assert night.endpoint.cancelled == (["batch-2"] if command == "cancel" else [])
    assert len(night.batches.mine()) == (2 if command == "fetch" else 3)


# --- through the command line ---


def commands() -> list[str]:
    """Return the commands of the guide."""
    text = (running.HOME / "docs" / "guide" / "batches.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.slow
def test_the_guides_evening_and_morning(
    tmp_path: Path, endpoint: BatchEndpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)  # type: ignore[arg-type]
    study.model(price=PRICE)
    assert len(commands()) == 5
    for line in commands():
        if " status " in line:
            endpoint.end()
        words = line.replace("config/studies/mine.yaml", "study.yaml").split()
        done = running.run("-m", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
    assert (tmp_path / "results/asked/report/index.html").is_file()
    assert endpoint.asked == [] and len(endpoint.batches) == 1


@pytest.mark.slow
def test_a_study_pays_half_and_no_run_pays_again_meanwhile(
    tmp_path: Path, endpoint: BatchEndpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)  # type: ignore[arg-type]
    study.model(price=PRICE)
    study.write(max_usd=20)

    def judgescope(*arguments: str, status: int = 0) -> str:
        done = running.run("-m", "judgescope", *arguments, cwd=tmp_path)
        assert done.returncode == status, done.stdout
        return done.stdout

    told = judgescope("batch", "submit", "study.yaml")
    assert "loop: 120 requests in batch batch-0, at most" in told
    assert "every request has a stored reply" in judgescope(
        "batch", "submit", "study.yaml"
    )
    assert "120 requests of this study are in batches" in judgescope(
        "run", "study.yaml", status=1
    )
    other = (tmp_path / "study.yaml").read_text("utf-8").replace("asked", "other")
    (tmp_path / "other.yaml").write_text(other, encoding="utf-8")
    told = judgescope("run", "other.yaml", status=1)
    assert "120 of the missing replies are in batches" in told and "study asked" in told
    assert "are in batches" in study.ask().stdout and endpoint.asked == []
    assert "in_progress" in judgescope("batch", "status", "study.yaml")
    told = judgescope("batch", "fetch", "study.yaml", status=1)
    assert "0 of 120 done" in told and "not finished: 1" in told
    endpoint.end()
    told = judgescope("batch", "fetch", "study.yaml")
    assert "120 replies and 0 refusals added" in told
    assert f"cost: {120 * ONE / 1e9:.6g} US dollars" in told
    assert "no batch is in progress" in judgescope("batch", "status", "study.yaml")
    judgescope("run", "study.yaml")
    assert endpoint.asked == []
    [usd] = [
        row["value"]
        for row in study.rows("cost")
        if row["judge"] == "terse" and row["statistic"] == "usd"
    ]
    assert usd == pytest.approx(120 * ONE / 1e9)
    assert f"{120 * ONE / 1e9:.4f}" in judgescope("replies", "show", "study.yaml")


def test_a_price_by_kind_of_token_rounded_up() -> None:
    price = Price(input=2, output=8, cached_input=1)
    usage: dict[str, int | None] = {
        "prompt": 100,
        "completion": 30,
        "cached": 60,
        "reasoning": 20,
    }
    assert nanodollars(usage, price) == (40 * 2 + 60 * 1 + 30 * 8) * 1000
    assert nanodollars(usage, Price(input=2, output=8)) == (200 + 240) * 1000
    assert nanodollars({"prompt": 1}, Price(input=0.0001, output=0)) == 1
    assert (
        nanodollars({"prompt": 3, "completion": 1}, Price(input=0.1, output=0.3)) == 600
    )
    assert nanodollars({"prompt": None}, price) == 0
    assert nanodollars({"prompt": 5, "cached": 9}, price) == 5000


def test_the_density_is_that_of_replies_or_a_guess_that_says_so() -> None:
    assert density(50, 150, ENOUGH, "here") == (1 / 3, f"as in {ENOUGH} replies here")
    assert density(50, 150, ENOUGH - 1, "here") == GUESSED
    assert GUESSED.tokens == 1 / 4 and "assumed" in GUESSED.basis


def test_notes_of_jobs_are_added_and_a_torn_one_is_passed_over(tmp_path: Path) -> None:
    one = Pace(seconds=2.0).with_request(100, 20, 3).with_request(10, 5, 1)
    write_pace(tmp_path / "a", one)
    write_pace(tmp_path / "b", Pace(1, 3.0, 40, 4, 0.1))
    (tmp_path / "pace/c.json").write_text('{"replies": 1')
    assert read_pace(tmp_path) == Pace(5, 5.0, 150, 29, 0.5)
    assert joined([]) == Pace() == read_pace(tmp_path / "none")


def test_without_the_package_a_tokenizer_is_an_error_and_no_guess(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(
        UserError, match=r"not installed[\s\S]*models/m.yaml, key tokenizer"
    ):
        tokenizer(Path("tokenizer.json"), "models/m.yaml")


def test_a_file_that_is_no_tokenizer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package raises a plain Exception."""

    class Tokenizer:
        @staticmethod
        def from_file(path: str) -> Any:
            raise Exception(f"no such file {path}")

    package = ModuleType("tokenizers")
    package.Tokenizer = Tokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tokenizers", package)
    with pytest.raises(UserError, match=r"cannot be read: no such file lost\.json"):
        tokenizer(Path("lost.json"), "models/m.yaml")
