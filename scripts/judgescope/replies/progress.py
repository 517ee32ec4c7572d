"""How far an asking job is, how fast, what it cost, how much longer: lines on its log.

The command line shows the last of them, of every job that is asking, in the terminal.
"""

from time import monotonic

from judgescope.engines.requests import Reply
from judgescope.replies.pricing import nanodollars
from judgescope.schema.cards import Price

EVERY = 5.0
"""Seconds between two lines in the first minutes."""
SLOWER = 0.02
"""Later lines come after so much of the time so far: a night leaves hundreds, not thousands."""
BEGINS = "replies: "
"""How a line begins."""


class Progress:
    """A line on the job's log now and then: how far it is, how fast, what it cost."""

    def __init__(self, total: int, price: Price | None = None) -> None:
        self.total, self.price = total, price
        self.done = self.refused = self.nanodollars = 0
        self.tokens = {"prompt": 0, "completion": 0}
        self.began = self.told = 0.0

    def count(self, reply: Reply) -> None:
        """Count a reply, and tell if it is time; the time before the first is not counted."""
        now = monotonic()
        if not self.done:
            self.began = self.told = now
        self.done += 1
        self.refused += reply.status == "error"
        usage = reply.usage or {}
        for name in self.tokens:
            self.tokens[name] += usage.get(name) or 0
        if self.price is not None and usage:
            self.nanodollars += nanodollars(usage, self.price)
        if now - self.told > max(EVERY, SLOWER * (now - self.began)) or self.done == self.total:
            self.told = now
            print(self.line(now - self.began), flush=True)

    def line(self, seconds: float) -> str:
        """Return what is known after so many seconds; of less than one, no speed."""
        told = [f"{self.done} of {self.total}", f"{self.refused} refused"]
        if self.price is not None:
            told.append(f"{self.nanodollars / 1e9:.4f} US$")
        if seconds >= 1:
            read, written = (round(count / seconds) for count in self.tokens.values())
            left = round(seconds / self.done * (self.total - self.done))
            told += [f"{_span(left)} left", f"tokens/s {read} in, {written} out"]
        return BEGINS + ", ".join(told)


def _span(seconds: int) -> str:
    """Return a time in words: hours only where there are any."""
    hours, minutes = seconds // 3600, seconds // 60
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min {seconds % 60} s"
