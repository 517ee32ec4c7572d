"""A budget around any engine: what it takes is paid for before it takes it."""

from collections.abc import Iterable, Iterator

from judgescope.core.errors import UserError
from judgescope.engines.requests import Ask, Budget, Failure, Hold, Keep, Reply, Work


def within(budget: Budget, ask: Ask) -> Ask:
    """Return an engine that is given work only as far as the budget has room for it.

    Where there is room again once something is settled, the engine is called again for the rest;
    where there is none, the error is raised when all that was under way is kept.
    """

    def asked(work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        paid = _Paid(budget, iter(work), keep)
        failures: list[Failure] = []
        while paid.begin():
            failures += ask(paid.work(), proven, paid.keep)
            paid.release()
        if paid.stop is not None:
            raise paid.stop
        return failures

    return asked


class _Paid:
    """Work for which there was room, and what is set aside for it until its draws have come."""

    def __init__(self, budget: Budget, work: Iterator[Work], keep: Keep) -> None:
        self.budget, self.rest, self._keep = budget, work, keep
        self.next: Work | None = None
        self.stop: UserError | None = None
        self._holds: dict[str, tuple[Hold, list[Reply]]] = {}

    def begin(self) -> bool:
        """Return whether there is work left that may be done."""
        if self.stop is None and self.next is None:
            self.next = next(self.rest, None)
        return self.stop is None and self.next is not None

    def work(self) -> Iterator[Work]:
        """Yield work until there is no room for more."""
        while self.begin() and self.next is not None:
            try:
                hold = self.budget.reserve(self.next.request, len(self.next.draws))
            except UserError as error:
                self.stop = error
                return
            if hold is None:
                return
            one, self.next = self.next, None
            self._holds[one.request.key] = (hold, [])
            yield one

    def keep(self, reply: Reply) -> None:
        """Keep a reply; when all draws of its request are there, settle what they cost."""
        self._keep(reply)
        hold, replies = self._holds[reply.key]
        replies.append(reply)
        if len(replies) == hold.draws:
            self.budget.settle(*self._holds.pop(reply.key))

    def release(self) -> None:
        """Settle what did not come whole."""
        for hold, replies in self._holds.values():
            self.budget.settle(hold, replies)
        self._holds.clear()
