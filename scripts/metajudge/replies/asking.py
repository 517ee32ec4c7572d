"""Every question to a model goes through here: what the store has is not asked again."""

from collections.abc import Iterable

from metajudge.engines.asked import Ask, Missing, Reply, Request
from metajudge.replies.store import Draw, Store
from metajudge.schema.errors import UserError


def obtain(requests: Iterable[Request], store: Store, ask: Ask) -> dict[Draw, Reply]:
    """Return the reply to every draw of every request; ask for what the store lacks.

    Requests go out in the order of their prompts, so that an engine can share beginnings. Every
    reply is in the journal before this returns or raises. Raises UserError for draws that failed
    for a passing reason.
    """
    wanted: dict[str, Request] = {}
    for request in requests:
        if request.key not in wanted or request.draws > wanted[request.key].draws:
            wanted[request.key] = request
    replies = store.read({key: request.draws for key, request in wanted.items()})
    missing = [
        (request, draw)
        for request in sorted(wanted.values(), key=lambda request: (request.prompt, request.key))
        for draw in range(request.draws)
        if (request.key, draw) not in replies
    ]
    print(f"replies: {len(replies)} in the store, {len(missing)} to ask for", flush=True)
    if store.skipped:
        print(f"lines of the store that are no whole reply, passed over: {store.skipped}")
    if missing:
        replies |= _asked(missing, store, ask, proven=bool(replies))
    return replies


def _asked(missing: Missing, store: Store, ask: Ask, *, proven: bool) -> dict[Draw, Reply]:
    came: dict[Draw, Reply] = {}

    def keep(reply: Reply) -> None:
        store.append(reply)
        came[reply.key, reply.draw] = reply

    failures = ask(missing, proven, keep)
    if failures:
        raise UserError(
            f"{len(failures)} of {len(missing)} requests failed: {failures[0].reason}",
            where=", ".join(failure.about for failure in failures[:5]),
            todo=f"the {len(came)} other replies are kept; run again to ask for the rest",
        )
    return came
