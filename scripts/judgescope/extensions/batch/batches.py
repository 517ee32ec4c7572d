"""Batches: files of requests that an endpoint answers within a day, at a lower price.

A record next to each file holds its progress and is updated before each step: after a
kill, the command resumes where it stopped, and nothing is sent twice. The most that a
batch can cost is reserved in the study's ledger until its results are fetched; then its
actual cost is booked, once.
"""

import os
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write, locked
from judgescope.core.names import BATCH
from judgescope.engines.openai.connection import client
from judgescope.engines.openai.endpoint import ABSENT, QUOTED, REFUSED
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.wire import usage_of
from judgescope.engines.requests import Work
from judgescope.extensions.batch import batch
from judgescope.extensions.batch.batch import FinalError, Results
from judgescope.replies import ledger
from judgescope.replies.budget import Spending
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.lookup import KeyedDraw, KeyTable
from judgescope.replies.open_batches import (
    FOLDER,
    Batch,
    Record,
    close_lost,
    draws_in,
    under_way,
)
from judgescope.replies.pricing import nanodollars
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel, Price

if TYPE_CHECKING:
    from openai import OpenAI

MARK = "judgescope"  # the key in a batch's metadata whose value identifies its record
ENDED = ("completed", "expired", "cancelled", "failed")
NOT_SENT = "not sent"
GONE = {ABSENT}  # the status that says that the endpoint does not have a batch
FILE_SECONDS = 120.0  # the most that an endpoint may take to accept a file
LOOK_SECONDS = 2.0


class Fetched(NamedTuple):
    """The state of a batch, its results and its booked cost; no results while it
    runs.
    """

    status: str
    done: int
    messages: Sequence[str] = ()
    files: Sequence[tuple[str, str]] = ()
    """The kind of each file of results, and its id at the endpoint."""
    results: Results | None = None
    spent: ledger.SpentUnits | None = None


class Batches:
    """The batches of one study and one model."""

    def __init__(self, store: Path, study: str, card: OpenAIModel) -> None:
        self.store = store
        self.study = study
        self.card = card
        self.folder = store / FOLDER / study
        self.ledger = ledger.Ledger(store / ledger.FOLDER / study)
        self.price = card.price.of_batch() if card.price else None
        self.engine = OpenAIEngine(card)

    @cached_property
    def client(self) -> "OpenAI":
        """Return the client of the endpoint."""
        return client(self.card, self.engine.key)

    def mine(self) -> list[Batch]:
        """Return the model's batches whose results were not fetched yet."""
        batches = under_way(self.store, self.study)
        model = self.card.model
        return [each for each in batches if each.record.model == model]

    # --- out ---

    def submit(self, work: Iterable[Work], caps: Sequence[Cap]) -> list[Batch]:
        """Send missing requests that no batch has; first, those that an earlier call
        left unsent.

        Raises UserError if a cap does not allow a file's possible cost, the endpoint
        refuses it, another process is sending requests, or a job asks the model.
        """
        with self._locked():
            self._check_no_job()
            close_lost(self.store, self.study)
            for each in self.mine():
                self._send(each, caps)
            new = self._write(work)
            try:
                # Again: a job that began before the records were written asks for
                # their requests, and one that begins now sees the records.
                self._check_no_job()
            except UserError:
                for unsent in new:
                    unsent.remove()
                raise
            for number, each in enumerate(new):
                try:
                    self._send(each, caps)
                except UserError:
                    for unsent in new[number + 1 :]:
                        unsent.remove()
                    raise
        return new

    def _locked(self) -> AbstractContextManager[None]:
        """Lock the batches of all studies: another process could send the same
        requests.
        """
        folder = self.store / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        taken = UserError(
            "another `judgescope batch submit` is sending requests",
            where=str(folder),
            todo="run the same command again once it has finished",
        )
        return locked(folder / "lock", taken)

    def _check_no_job(self) -> None:
        """Raise UserError while a job of any study asks the model: it may be for the
        same draws.
        """
        now = ledger.Heartbeat(self.store / FOLDER, "submit")
        now.give()
        if studies := ledger.askers(
            Store(self.store, self.card.served_name).shard, now
        ):
            raise UserError(
                "a job is asking this model: a batch could pay for the same replies "
                "again",
                where=", ".join(f"study {study}" for study in sorted({*studies})),
                got=self.card.model,
                todo="submit again when that run has ended; a job that was killed on "
                "another machine counts as running for up to an hour",
            )

    def _write(self, work: Iterable[Work]) -> list[Batch]:
        """Write the requests and their records."""
        sent = set[KeyedDraw]()
        for each in under_way(self.store):
            sent.update(draws_in(each.path))
        name = f"{self.card.model}-{os.urandom(4).hex()}"
        store = Store(self.store, self.card.served_name)
        spending = Spending(store, self.study, self.card.model, self.price, [])
        holds: list[int] = []

        def lines() -> Iterator[bytes]:
            for request, draw in batch.missing(work):
                if (request.key, draw) not in sent:
                    holds.append(spending.maximum(request, 1).nanodollars)
                    yield batch.line_of(self.card, request, draw)

        written = batch.write(self.folder, name, lines())
        rest = iter(holds)
        new = []
        for path, count in written.items():
            held = {REQUESTS: count, NANOS: sum(islice(rest, count))}
            record = Record(
                study=self.study, model=self.card.model, requests=count, held=held
            )
            new.append(Batch(path, record))
        for each in new:
            each.save()
        return new

    def _send(self, each: Batch, caps: Sequence[Cap]) -> None:
        """Reserve the most that a batch can cost, upload its file and start it."""
        if self._begun(each):
            return
        record = each.record
        try:
            self._reserve(each, caps)
            if record.file is None:
                with each.path.open("rb") as file, self._asking(final=REFUSED):
                    named = (each.path.name, file)
                    record.file = self.client.files.create(
                        file=named, purpose="batch"
                    ).id
                each.save()
            self._wait(record.file)
            with self._asking(final=REFUSED):
                # never retried automatically: the first attempt may have arrived
                begun = self.client.with_options(max_retries=0).batches.create(
                    input_file_id=record.file,
                    endpoint=batch.URL,
                    completion_window="24h",
                    metadata={MARK: each.owner},
                )
                record.batch = begun.id
        except FinalError:
            self._close(each, ledger.SpentUnits())
            raise
        each.save()

    def _begun(self, each: Batch) -> bool:
        """Return whether a batch was started; look up its id if the answer with it was
        lost.
        """
        record = each.record
        # The endpoint's latest batches, searched for one whose id was not recorded.
        recent = 500
        if record.batch is None and record.file is not None:
            with self._asking(final=GONE):
                for answer in islice(self.client.batches.list(limit=100), recent):
                    marked = (answer.metadata or {}).get(MARK) == each.owner
                    if (
                        marked or answer.input_file_id == record.file
                    ):  # some keep no metadata
                        record.batch = answer.id
                        each.save()
                        break
        return record.batch is not None

    def _wait(self, file: str) -> None:
        """Wait until the endpoint has accepted a file; some endpoints check it
        first.
        """
        until = time.monotonic() + FILE_SECONDS
        while True:
            with self._asking():
                status = self.client.files.retrieve(file).status
            if status in ("processed", "uploaded"):
                return
            if status == "error":
                todo = "look up the reason at the endpoint, then submit again"
                raise FinalError.from_error(
                    self.engine.error(f"the endpoint refused the file {file}", todo)
                )
            if time.monotonic() > until:
                todo = "submit again later: the uploaded file is reused"
                raise self.engine.error(
                    "the endpoint has not accepted the file yet", todo
                )
            time.sleep(LOOK_SECONDS)

    # --- money ---

    def _reserve(self, each: Batch, caps: Sequence[Cap]) -> None:
        record = each.record
        held = Counter(each.record.held)

        def step(state: ledger.State) -> None:
            if each.owner in state.open:
                return
            for unit, need in held.items():
                room = state.free(unit, record.model, caps)
                if room is not None and need > room:
                    raise FinalError.from_error(self._no_room(unit, need, room, caps))
            state.open[each.owner] = ledger.Account(
                model=record.model,
                price=self.price.model_dump() if self.price else None,
                journals=os.path.relpath(each.path.with_suffix(""), self.store),
                host=BATCH,
                process=ledger.NO_PROCESS,
                held=held,
                under_way=Counter(held),
            )

        self.ledger.change(step)

    def _no_room(
        self, unit: str, need: int, room: int, caps: Sequence[Cap]
    ) -> UserError:
        keys = ", ".join(cap.key for cap in ledger.caps_on(caps, unit, self.card.model))
        return UserError(
            f"a batch may use {ledger.shown(need, unit)}, but the study's caps leave "
            f"{ledger.shown(room, unit)}",
            where=f"the study's card, key {keys}; models/{self.card.model}.yaml",
            todo="raise the cap, or lower max_tokens: a batch cannot be stopped at a "
            "cap, so its maximum cost is reserved. `judgescope run` reserves "
            "request by request",
        )

    def _close(
        self, each: Batch, spent: ledger.SpentUnits, keep: Iterable[Path] = ()
    ) -> None:
        """Book the cost of a batch, unless it is booked already; then delete its
        files.
        """
        self.ledger.change(lambda state: state.close(each.owner, spent))
        each.remove(keep)

    def _spent(self, each: Batch, files: Iterable[Path]) -> ledger.SpentUnits:
        """Return the cost of the results, or the entire reserve if one has no token
        counts.
        """
        account = self.ledger.state().open.get(each.owner)
        price = (
            self.price if account is None else account.price and Price(**account.price)
        )
        spent = ledger.SpentUnits()
        rows = chain.from_iterable(map(batch.rows, files))
        for row in rows:
            if row is None:
                continue
            response = row.get("response")
            if not isinstance(response, dict):
                response = {}
            status = response.get("status_code")
            spent[REQUESTS] += status is not None
            if status != 200 or not price:
                continue
            usage = usage_of(response.get("body"))
            if usage is None:
                return Counter(each.record.held)
            spent[NANOS] += nanodollars(usage, price)
        return spent

    # --- in ---

    def look(self, each: Batch) -> Fetched:
        """Return the state of a batch at the endpoint."""
        if not self._begun(each):
            return Fetched(NOT_SENT, 0)
        assert each.record.batch is not None
        with self._asking(final=GONE):
            answer = self.client.batches.retrieve(each.record.batch)
            errors = (answer.errors and answer.errors.data) or []
            messages = []
            for error in errors:
                messages.append(self.engine.safe(str(error.message or error.code)))
            counts = answer.request_counts
            done = 0
            if counts:
                done = counts.completed + counts.failed
            ids = (("output", answer.output_file_id), ("error", answer.error_file_id))
            files = [(kind, ident) for kind, ident in ids if ident]
            return Fetched(str(answer.status), done, messages, files)

    def fetch(self, each: Batch) -> Fetched:
        """Store the replies of a batch that has ended, and book their cost.

        Lines that cannot be read cost their share of the reserve; the result files are
        then kept.
        """
        state = self.look(each)
        if state.status not in ENDED:
            return state
        files = [self._download(each, *file) for file in state.files]
        spent = self._spent(each, files)
        keep = []
        rows = chain.from_iterable(map(batch.rows, files))
        torn = sum(row is None for row in rows)
        if torn:
            keep = files
            held = Counter(each.record.held)
            share = {}
            for unit, most_requests in held.items():
                share[unit] = -(-most_requests * torn // each.record.requests)
            spent |= (spent + Counter(share)) & held
            unread = (
                f"lines that cannot be read: {torn:,}, booked at their share of the "
                f"reserve; correct {' and '.join(map(str, files))}, then run "
                "`judgescope batch import`"
            )
            state = state._replace(messages=[*state.messages, unread])
        # from the file, because cards may have changed since; the draws of a key ascend
        sent = KeyTable.from_counts({key: n + 1 for key, n in draws_in(each.path)})
        try:
            with Store(self.store, self.card.served_name) as store:
                store.closes = True
                results = batch.read(files, [(self.card, store, sent)], engine=BATCH)
        except (
            FinalError
        ):  # every request was refused: nothing is stored, and the batch is over
            self._close(each, spent, keep)
            raise
        self._close(each, spent, keep)
        return state._replace(results=results, spent=spent)

    def _download(self, each: Batch, kind: str, ident: str) -> Path:
        path = each.path.with_suffix(f".{kind}.jsonl")
        with self._asking():
            content = self.client.files.content(ident)
            if (
                content.content[:QUOTED].lstrip().startswith(b"<")
            ):  # a page, not results
                raise ValueError(content.text)
            with atomic_write(path) as part:
                content.write_to_file(part)
        return path

    def cancel(self, each: Batch) -> str:
        """Cancel a batch at the endpoint unless it has ended; return its state in
        words.

        Requests answered by then are fetched as usual. A batch that was not sent is
        dropped, as is one that the endpoint does not have: its reserve counts as spent.
        """
        cancelling = "cancelling"
        try:
            if each.record.batch is None:
                with self._locked():  # its `submit` may be running
                    each.record = Batch.read(each.path).record
                    if not self._begun(each):
                        self._close(each, ledger.SpentUnits())
                        return NOT_SENT
            status = self.look(each).status
            if status in (*ENDED, cancelling):
                return f"batch {each.record.batch}: {status}"
            assert each.record.batch is not None
            with self._asking(final=GONE):
                cancelled = self.client.batches.cancel(each.record.batch).id
        except FinalError:
            self._close(each, Counter(each.record.held))
            name = each.record.batch or each.record.file
            return (
                f"{name} is unknown to the endpoint: dropped, its reserve counts as "
                "spent"
            )
        return f"batch {cancelled}: cancellation requested"

    @contextmanager
    def _asking(self, *, final: Container[int] = ()) -> Iterator[None]:
        """Turn the endpoint's errors into UserErrors without the key.

        `final`: HTTP statuses that become a FinalError.
        """
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            todo = f"check the key ({self.card.key_source}); fetched replies are stored"
            if final is GONE and error.status_code == ABSENT:
                todo = (
                    f"check base_url and the key ({self.card.key_source}); if the "
                    "batch no longer exists, `judgescope batch cancel` drops it and "
                    "books its reserve"
                )
            rejected = self.engine.error(
                f"the endpoint rejected a batch: {self.engine.safe(str(error))}", todo
            )
            if error.status_code in final:
                rejected = FinalError.from_error(rejected)
            raise rejected from None
        except openai.APIError as error:
            raise self.engine.error(
                f"the endpoint does not respond: {self.engine.safe(str(error))}",
                "run the same command again: nothing is sent twice",
            ) from None
        except (
            ValueError,
            AttributeError,
            TypeError,
        ) as error:  # of decoding the answer
            came = self.engine.safe(
                str(getattr(error, "doc", getattr(error, "obj", error)))
            )
            raise self.engine.error(
                f"the endpoint's answer is not that of a Batch API: {came[:QUOTED]!r}",
                "check base_url and the proxy, then run the same command again: "
                "nothing is sent twice",
            ) from None
