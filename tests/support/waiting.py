"""How long a test waits for something that another process or thread does."""

import os

MOST = 10.0
"""The factor by which a loaded machine may lengthen a wait at most."""


def patience(seconds: float) -> float:
    """Return seconds, times the load on each core: what takes a second on an idle
    machine takes ten where ten processes share a core. At least as given, and at most
    MOST times as long.
    """
    load, _, _ = os.getloadavg()
    return seconds * min(MOST, max(1.0, load / (os.cpu_count() or 1)))
