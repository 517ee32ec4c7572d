"""Every request to a model goes through this module, which skips those that the store
answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, cast

import numpy as np

from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Ask, Probed, Reply, Request, Work, request_of
from judgescope.prompts import Templates, messages
from judgescope.replies.budget import Spending, spending
from judgescope.replies.claims import union
from judgescope.replies.giving_up import GivingUp, unanswered
from judgescope.replies.lookup import Draw, KeyTable, StoredReplies
from judgescope.replies.pricing import nanodollars
from judgescope.replies.probing import answers
from judgescope.replies.specs import ModelSpec, PromptSpec, WriterSpec
from judgescope.replies.store import Store
from judgescope.schema.cards import (
    AskedModel,
    Decoding,
    Price,
    ProbedModel,
    PromptedModel,
)
from judgescope.schema.loading import read_card

LOG_SECONDS = 5.0  # between two progress lines, in the first minutes
LOG_INTERVAL_FRACTION = 0.02
"""Later, lines are 2 % of the elapsed time apart: a night writes hundreds, not
thousands."""
PROGRESS = "replies: "  # the beginning of a line of progress; the logger reads it

Obtain = Callable[[Iterable[Request]], dict[Draw, Reply]]
"""Requests -> the reply to each of their draws; missing ones are requested."""
RequestFor = Callable[[str, Mapping[str, Any]], Request]
"""(name for messages, variables of the prompt form) -> the request to a writer."""


class Progress:
    """Prints progress lines to the job's log: replies, speed, cost, time left.

    The command line shows the last line of every job that is asking.
    """

    def __init__(self, total: int, price: Price | None = None) -> None:
        self.total, self.price = total, price
        self.done = self.refused = self.nanodollars = 0
        self.tokens = {"prompt": 0, "completion": 0}
        self._began = self._printed = 0.0

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
        interval = max(LOG_SECONDS, LOG_INTERVAL_FRACTION * (now - self._began))
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
            hours, minutes = left // 3600, left // 60
            time = (
                f"{hours} h {minutes % 60} min"
                if hours
                else f"{minutes} min {left % 60} s"
            )
            speed = self.done / seconds
            rate = f"{speed:.0f}/s" if speed >= 10 else f"{speed:.2g}/s"
            parts += [rate, f"{time} left", f"tokens/s {read} in, {written} out"]
        return PROGRESS + ", ".join(parts)


def complete(
    stored: StoredReplies,
    work: Iterable[Work],
    store: Store,
    ask: Ask,
    price: Price | None = None,
    giving_up: GivingUp | None = None,
) -> None:
    """Request all missing replies; `price` is for the progress lines.

    Every reply is in the journal before this returns or raises. Raises UserError if a
    missing reply is in a batch, or draws failed for a transient reason and are not
    given up.
    """
    present, total = stored.count, stored.key_table.slots
    print(f"replies: {present} in the store, {total - present} to request", flush=True)
    if stored.skipped:
        print(f"invalid lines in the store, skipped: {stored.skipped}")
    if present == total:
        return

    from judgescope.replies.batches import check_not_in_batch  # loads the HTTP client

    check_not_in_batch(stored)
    store.ready()
    progress = Progress(total - present, price)

    def keep(reply: Reply) -> None:
        stored.add(reply, *store.append(reply))
        progress.count(reply)

    requests = int(np.count_nonzero(stored.lacking()))
    failures = ask(work, store.is_proven(requests), keep)
    if not failures:
        return
    kept = stored.count - present
    noted = giving_up.note(failures, stored, store) if giving_up else None
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


def complete_in_turn(
    stored: StoredReplies,
    work: Callable[[StoredReplies], Iterable[Work]],
    store: Store,
    ask: Ask,
    spending: Spending,
    giving_up: GivingUp | None = None,
) -> StoredReplies:
    """Request all missing replies, as `complete`; return all replies.

    Replies that an earlier job requests, of this study or another, are awaited at the
    end; what that job left is then requested. `work` returns the requests that lack a
    reply.
    """
    table = stored.key_table
    if stored.count < table.slots:
        # On a full disk the job ends here, before it claims or asks anything.
        store.ready()
        lacking = stored.lacking()
        claims = spending.claim(table.keys[lacking > 0])
        for claim, keys in claims:
            if keys is None:
                print(
                    "another run asks this model now; up to "
                    f"{table.slots - stored.count} replies may be paid twice",
                    flush=True,
                )
            else:
                count = int(lacking[table.indices(keys)].sum())
                print(
                    f"{count} replies are being requested by {claim}: waiting for them "
                    "at the end",
                    flush=True,
                )
        claimed = table.indices(union(table.keys, claims))
        if len(claimed):
            theirs = table.only(claimed)
            rest = np.delete(np.arange(len(table.keys)), claimed)
            own = store.find(table.only(rest))
            complete(own, work(own), store, ask, spending.price, giving_up)
            spending.wait(lambda: store.find(theirs).count == theirs.slots)
        stored = store.find(table)  # other jobs may have stored some
    complete(stored, work(stored), store, ask, spending.price, giving_up)
    return stored


def obtain(
    requests: Iterable[Request],
    store: Store,
    ask: Ask,
    spending: Spending | None = None,
    giving_up: GivingUp | None = None,
) -> dict[Draw, Reply]:
    """Return the reply to every draw of some requests; ask for those that the store
    lacks.

    Requests are sent in the order of their prompts, so that an engine can share
    prefixes. Without `spending` other jobs are not waited for.
    """
    largest: dict[str, Request] = {}
    for request in requests:
        if request.key not in largest or request.draws > largest[request.key].draws:
            largest[request.key] = request
    key_table = KeyTable.from_counts(
        {key: request.draws for key, request in largest.items()}
    )
    stored = store.find(key_table)
    ordered = sorted(
        largest.values(), key=lambda request: (request.prompt, request.key)
    )

    def work(replies: StoredReplies) -> Iterator[Work]:
        for request in ordered:
            if draws := replies.missing(key_table.index(request.key)):
                yield Work(request, draws)

    if spending is None:
        complete(stored, work(stored), store, ask, None, giving_up)
    else:
        stored = complete_in_turn(stored, work, store, ask, spending, giving_up)
    return dict(stored.replies())


@contextmanager
def asker(
    spec: ModelSpec, *, card: str, store: str, budget: str
) -> Iterator[tuple[PromptedModel, Obtain]]:
    """Open a model for requests other than judgments; they use the store, and caps
    apply.

    `card`, `store` and `budget` are the job's options.
    """
    model = read_card("model", Path(card)).model_copy(update=spec.card)
    model = settled(model, Path(spec.folder), Path(spec.data))
    assert isinstance(model, PromptedModel)
    with (
        Store(Path(store), model.served_name) as shard,
        spending(budget, shard, model) as allowed,
    ):
        engine = asking(model, allowed)
        giving_up = giving_up_of(model, engine)
        yield (
            model,
            lambda requests: obtain(requests, shard, engine, allowed, giving_up),
        )


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
    filled = messages(spec.form, templates, **variables)
    decoding = Decoding.model_validate(spec.decoding)
    return request_of(model, decoding, filled, seed=seed, about=about)
