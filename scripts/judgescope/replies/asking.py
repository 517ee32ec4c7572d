"""Every question to a model goes through here: what the store has is not asked again."""

from collections.abc import Iterable

from judgescope.core.errors import UserError
from judgescope.engines.requests import Ask, Reply, Request, Work
from judgescope.replies.key_table import Wanted
from judgescope.replies.lookup import Draw, Found
from judgescope.replies.progress import Progress
from judgescope.replies.store import Store
from judgescope.schema.cards import Price


def complete(
    found: Found, work: Iterable[Work], store: Store, ask: Ask, price: Price | None = None
) -> None:
    """Ask for the work that is left, so that everything wanted is found.

    `price` is what tokens cost, for the lines that say how far it is.

    Every reply is in the journal before this returns or raises. Raises UserError for draws that
    failed for a passing reason.
    """
    there, wanted = found.count, found.wanted.slots
    print(f"replies: {there} in the store, {wanted - there} to ask for", flush=True)
    if found.skipped:
        print(f"lines of the store that are no whole reply, passed over: {found.skipped}")
    if there == wanted:
        return

    store.ready()
    progress = Progress(wanted - there, price)

    def keep(reply: Reply) -> None:
        found.add(reply, *store.append(reply))
        progress.count(reply)

    failures = ask(work, store.proven, keep)
    if failures:
        raise UserError(
            f"{len(failures)} of {wanted - there} requests failed: {failures[0].reason}",
            where=", ".join(failure.about for failure in failures[:5]),
            todo=f"the {found.count - there} other replies are kept; run again to ask for the rest",
        )


def obtain(
    requests: Iterable[Request], store: Store, ask: Ask, price: Price | None = None
) -> dict[Draw, Reply]:
    """Return the reply to every draw of some requests; ask for what the store lacks.

    Requests go out in the order of their prompts, so that an engine can share beginnings.
    """
    most: dict[str, Request] = {}
    for request in requests:
        if request.key not in most or request.draws > most[request.key].draws:
            most[request.key] = request
    wanted = Wanted.of({key: request.draws for key, request in most.items()})
    found = store.find(wanted)
    ordered = sorted(most.values(), key=lambda request: (request.prompt, request.key))
    work = (Work(one, found.missing(wanted.place(one.key))) for one in ordered)
    complete(found, (one for one in work if one.draws), store, ask, price)
    return dict(found.replies())
