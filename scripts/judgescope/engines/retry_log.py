"""Attempts that failed and are made again: lines on a job's log while nothing comes."""

from time import monotonic

from judgescope.core.errors import CONTROL

EVERY = 5.0
"""Seconds between two lines in the first minutes."""
SLOWER = 0.02
"""Later lines come after so much of the time so far."""
FAILED = "attempts failed: "
"""How a line begins."""


class Setbacks:
    """A line at the first failed attempt, and now and then at a later one."""

    def __init__(self) -> None:
        self.count = 0
        self._began = self._next = 0.0

    def add(self, reason: str) -> None:
        """Count an attempt, and tell if it is time."""
        now = monotonic()
        if not self.count:
            self._began = self._next = now
        self.count += 1
        if now >= self._next:
            self._next = now + max(EVERY, SLOWER * (now - self._began))
            print(f"{FAILED}{self.count}, the last with: {CONTROL.sub(' ', reason)}", flush=True)
