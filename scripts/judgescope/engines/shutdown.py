"""How a job ends that is told to: nothing new is sent, and what is under way may still come."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judgescope.core.errors import UserError

SECONDS = 5.0
"""How long what is under way may still come."""
AGAIN = 1.0
"""Seconds after which a signal is a second one: the same wish can come as SIGINT and SIGTERM."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """Counts the requests that are sent and not answered; `cut` are those that nobody waited for.

    A first signal lets them come for SECONDS, a second one ends the job at once.
    """

    def __init__(self) -> None:
        self.sent = self.cut = 0
        self.asked_to = False

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Count a request as under way."""
        self.sent += 1
        try:
            yield
        except asyncio.CancelledError:
            self.cut += 1
            raise
        finally:
            self.sent -= 1

    @contextmanager
    def heeded(self, stop: Callable[[], None]) -> Iterator[None]:
        """Heed signals while the current task runs: `stop` keeps it from sending more.

        The task is cancelled when nothing is under way, or has been for too long.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        first = loop.time()
        waiting: list[asyncio.Task[None]] = []

        def told() -> None:
            nonlocal first
            if self.asked_to:
                if loop.time() > first + AGAIN:
                    task.cancel()
                return
            self.asked_to, first = True, loop.time()
            stop()
            waiting.append(loop.create_task(self._drain(task)))

        for number in SIGNALS:
            loop.add_signal_handler(number, told)
        try:
            yield
        except asyncio.CancelledError:
            if not self.asked_to:
                raise
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
            for one in waiting:
                one.cancel()

    async def _drain(self, task: asyncio.Task[object]) -> None:
        until = asyncio.get_running_loop().time() + SECONDS
        while self.sent and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0)  # the last reply is kept
        task.cancel()

    def error(self, where: str) -> UserError:
        """Return what to say of a job that ended so."""
        return UserError(
            f"{STOPPED}: {self.cut} requests were under way and may be billed"
            if self.cut
            else f"{STOPPED}: no request was under way any more",
            where=where,
            todo="the same command asks for the rest; every reply that came is kept",
        )


STOPPED = "stopped"
"""What the line begins with that says how a job ended that was told to."""
