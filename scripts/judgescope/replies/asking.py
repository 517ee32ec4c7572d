"""Every request whose reply is kept goes through this module, which skips those that
the store answers. (What an endpoint can do is tried in `probing`.)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, Self, cast

import numpy as np

from judgescope.core.paths import located_folder
from judgescope.engines.devices import take_for
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Ask, Probed, Reply, Request, Work, request_of
from judgescope.prompts import Templates
from judgescope.prompts.filling import as_messages, messages, system_message
from judgescope.replies.budget import Spending, spending
from judgescope.replies.claims import union
from judgescope.replies.giving_up import GivingUp, unanswered
from judgescope.replies.journal import KEY, Integers
from judgescope.replies.lookup import KeyedDraw, KeyTable, StoredReplies
from judgescope.replies.open_batches import check_not_in_batch
from judgescope.replies.pricing import nanodollars
from judgescope.replies.probing import answers
from judgescope.replies.specs import ModelSpec, PromptSpec, StoppedPrompt, WriterSpec
from judgescope.replies.store import Store
from judgescope.schema.cards import (
    AskedModel,
    Decoding,
    Price,
    ProbedModel,
    PromptedModel,
)
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.loading import read_card

Obtain = Callable[[Iterable[Request]], dict[KeyedDraw, Reply]]
"""Requests -> the reply to each of their draws; missing ones are requested."""
RequestFor = Callable[[str, Mapping[str, Any]], Request]
"""(name for messages, variables of the prompt form) -> the request to a writer."""


class Progress:
    """Prints progress lines to the job's log: replies, speed, cost, time left.

    The command line shows the last line of every job that is asking. Of a job that asks
    in several rounds, such as a writer's, it counts all of them.
    """

    def __init__(self, total: int = 0, price: Price | None = None) -> None:
        self.total = total
        self.price = price
        self.done = self.refused = self.nanodollars = 0
        self.tokens = {"prompt": 0, "completion": 0}
        self._began = self._printed = 0.0

    def expect(self, more: int) -> None:
        """Add the missing replies of a round."""
        self.total += more
        if self.done:
            self._printed = monotonic()
            print(self.line(self._printed - self._began), flush=True)

    def count(self, reply: Reply) -> None:
        """Count a reply; print a line when one is due. The clock starts with the first
        reply.
        """
        now = monotonic()
        if not self.done:
            self._began = self._printed = now
        self.done += 1
        self.refused += reply.status == "error"
        usage = reply.usage or {}
        for name in self.tokens:
            self.tokens[name] += usage.get(name) or 0
        if self.price is not None and usage:
            self.nanodollars += nanodollars(usage, self.price)
        log_seconds = 5.0  # between two progress lines, in the first minutes
        # Later, lines are 2 % of the elapsed time apart: a night writes hundreds, not
        # thousands.
        log_interval_fraction = 0.02
        interval = max(log_seconds, log_interval_fraction * (now - self._began))
        if now - self._printed > interval or self.done == self.total:
            self._printed = now
            print(self.line(now - self._began), flush=True)

    def line(self, seconds: float) -> str:
        """Return the line after `seconds`; in the first second it has no speed."""
        parts = [f"{self.done} of {self.total}", f"{self.refused} refused"]
        if self.price is not None:
            parts.append(f"{self.nanodollars / 1e9:.4f} US$")
        if seconds >= 1:
            read, written = (round(count / seconds) for count in self.tokens.values())
            left = round(seconds / self.done * (self.total - self.done))
            hours = left // 3600
            minutes = left // 60
            if hours:
                time = f"{hours} h {minutes % 60} min"
            else:
                time = f"{minutes} min {left % 60} s"
            speed = self.done / seconds
            rate = f"{speed:.0f}/s" if speed >= 10 else f"{speed:.2g}/s"
            parts += [rate, f"{time} left", f"tokens/s {read} in, {written} out"]
        # The beginning of a line of progress; the logger reads it.
        progress_note = "replies: "
        return progress_note + ", ".join(parts)


def complete(
    stored: StoredReplies,
    work: Iterable[Work],
    store: Store,
    ask: Ask,
    progress: Progress | None = None,
    giving_up: GivingUp | None = None,
) -> None:
    """Request all missing replies; `progress` prints how far the job is.

    Every reply is in the journal before this returns or raises. Raises UserError if a
    missing reply is in a batch, or draws failed for a transient reason and are not
    given up.
    """
    present = stored.count
    total = stored.key_table.slots
    print(f"replies: {present} in the store, {total - present} to request", flush=True)
    if stored.skipped:
        print(f"invalid lines in the store, skipped: {stored.skipped}")
    if present == total:
        return

    check_not_in_batch(stored)
    store.ready()
    progress = progress or Progress()
    progress.expect(total - present)

    def keep(reply: Reply) -> None:
        stored.add(reply, *store.append(reply))
        progress.count(reply)

    requests = int(np.count_nonzero(stored.lacking()))
    failures = ask(work, store.is_proven(requests), keep)
    if not failures:
        return
    kept = stored.count - present
    noted = None
    if giving_up:
        noted = giving_up.note(failures, stored, store)
    if noted and noted.given_up:
        print(f"{len(noted.given_up)} requests were given up: they count as errors")
    if error := unanswered(noted, failures, total, total - present, kept):
        raise error


def giving_up_of(card: AskedModel, engine: Ask) -> GivingUp | None:
    """Return when draws of a model behind an endpoint are given up; None for another
    model.
    """
    if not isinstance(card, ProbedModel):
        return None
    works = partial(answers, cast(Probed, engine))
    return GivingUp(card.limits.give_up_after, works)


class RequestPlan(Protocol):
    """The requests that a job wants answered."""

    @property
    def key_table(self) -> KeyTable:
        """Every key once, with the draws that are wanted of it."""

    def work(self, stored: StoredReplies) -> Iterable[Work]:
        """The requests of `stored`'s keys that lack a reply, in the order in which they
        are sent.
        """


@dataclass
class AskingJob:
    """A job that asks one model: it looks up, claims, asks, waits for other jobs, and
    asks what they left.

    `spending` shares caps and claims with other jobs; without it no other job is waited
    for. `prepare` waits for what the model needs, such as GPUs.
    """

    store: Store
    engine: Ask
    spending: Spending | None = None
    giving_up: GivingUp | None = None
    prepare: Callable[[], None] | None = None
    progress: Progress | None = None

    @classmethod
    def of(cls, model: AskedModel, store: Store, spending: Spending) -> Self:
        """The job that asks a settled model within a budget."""
        engine = asking(model, spending)
        giving_up = giving_up_of(model, engine)
        progress = Progress(price=spending.price)
        prepare = partial(take_for, model)
        return cls(store, engine, spending, giving_up, prepare, progress)

    def answered(self, plan: RequestPlan, stored: StoredReplies) -> StoredReplies:
        """All replies to the keys of `stored`: those that are missing are asked for.

        Replies that an earlier job requests, of this study or another, are awaited at
        the end; what that job leaves is then asked here. Raises UserError as `complete`
        does.
        """
        if self.spending is not None and stored.lacking().any():
            self._prepare()
            claimed = self._claimed_by_others(self.spending, stored)
            if len(claimed):
                self._send_unclaimed(plan, stored, claimed)
                self._wait_for_others(self.spending, stored, claimed)
            stored = self.store.find(stored.key_table)  # other jobs may have added some
        self._send(plan, stored)
        return stored

    def _prepare(self) -> None:
        # On a full disk the job ends here, before it claims or asks anything.
        self.store.ready()
        if self.prepare is not None:
            # Before the claims: a job that has GPUs may wait for a job with claims,
            # which must therefore not wait for GPUs.
            self.prepare()

    def _claimed_by_others(self, spending: Spending, stored: StoredReplies) -> Integers:
        """Claim the missing keys; return the indices of those that earlier jobs
        claimed.
        """
        table = stored.key_table
        lacking = stored.lacking()
        earlier = spending.claim(table.keys[lacking > 0])
        for claim, keys in earlier:
            if keys is None:
                missing = table.slots - stored.count
                print(
                    "another run asks this model now; up to "
                    f"{missing} replies may be paid twice",
                    flush=True,
                )
            else:
                count = int(lacking[table.indices(keys)].sum())
                print(
                    f"{count} replies are being requested by {claim}: waiting for them "
                    "at the end",
                    flush=True,
                )
        return table.indices(union(table.keys, earlier))

    def _send_unclaimed(
        self, plan: RequestPlan, stored: StoredReplies, claimed: Integers
    ) -> None:
        table = stored.key_table
        rest = np.delete(np.arange(len(table.keys)), claimed)
        self._send(plan, self.store.find(table.only(rest)))

    def _wait_for_others(
        self, spending: Spending, stored: StoredReplies, claimed: Integers
    ) -> None:
        theirs = stored.key_table.only(claimed)
        spending.wait(lambda: self.store.find(theirs).count == theirs.slots)

    def _send(self, plan: RequestPlan, stored: StoredReplies) -> None:
        complete(
            stored,
            plan.work(stored),
            self.store,
            self.engine,
            self.progress,
            self.giving_up,
        )


class RequestList:
    """Requests in the order of their prompts, so that an engine can share prefixes.

    Of equal requests, the one with the most draws counts.
    """

    def __init__(self, requests: Iterable[Request]) -> None:
        largest: dict[str, Request] = {}
        for request in requests:
            known = largest.get(request.key)
            if known is None or request.draws > known.draws:
                largest[request.key] = request
        self._requests = sorted(
            largest.values(), key=lambda request: (request.prompt, request.key)
        )
        draws = {key: request.draws for key, request in largest.items()}
        self.key_table = KeyTable.from_counts(draws)

    def work(self, stored: StoredReplies) -> Iterator[Work]:
        """Yield the requests that lack a reply; `stored` may have some of the keys."""
        for request in self._requests:
            key = np.array([bytes.fromhex(request.key)], KEY)
            [index] = stored.key_table.indices(key)
            if index < 0:
                continue
            draws = stored.missing(int(index))
            if draws:
                yield Work(request, draws)


def obtain(requests: Iterable[Request], job: AskingJob) -> dict[KeyedDraw, Reply]:
    """Return the reply to every draw of some requests; ask for those that the store
    lacks.
    """
    plan = RequestList(requests)
    stored = job.answered(plan, job.store.find(plan.key_table))
    return dict(stored.replies())


@contextmanager
def asker(
    spec: ModelSpec, *, card: str, store: str, budget: str
) -> Iterator[tuple[PromptedModel, Obtain]]:
    """Open a model for requests other than judgments; they use the store, and caps
    apply.

    `card`, `store` and `budget` are the job's options.
    """
    ENGINES.load(spec.engine)
    model = read_card("model", Path(card)).model_copy(update=spec.card)
    model = settled(model, located_folder(spec.folder), Path(spec.data))
    assert isinstance(model, PromptedModel)
    with (
        Store(Path(store), model.served_name) as shard,
        spending(budget, shard, model) as allowed,
    ):
        job = AskingJob.of(model, shard, allowed)
        yield model, partial(obtain, job=job)


@contextmanager
def writer(
    spec: WriterSpec, seed: int, **options: str
) -> Iterator[tuple[RequestFor, Obtain]]:
    """Open a writer's model (see `asker`); yield a function that makes requests, and a
    sender.
    """
    with asker(spec.model, **options) as (model, obtain):

        def request_for(about: str, variables: Mapping[str, Any]) -> Request:
            return prompted(
                spec, spec.templates, model, variables, seed=seed, about=about
            )

        yield request_for, obtain


def prompted(
    spec: PromptSpec,
    templates: Templates,
    model: PromptedModel,
    variables: Mapping[str, Any],
    *,
    seed: int,
    about: str,
) -> Request:
    """Return the request with a prompt form filled with variables; `seed` is the
    study's.
    """
    [filled] = messages(spec.form, templates, **variables)
    decoding = Decoding.model_validate(spec.decoding)
    system = system_message(decoding.system, templates, variables)
    asked = as_messages(filled["content"], system, model.system_role)
    stop = []
    if isinstance(spec, StoppedPrompt):
        stop = spec.stop
    wants = {}
    if stop:
        wants = {"stop": stop}
    return request_of(model, decoding, asked, seed=seed, about=about, wants=wants)
