"""The store at the size of large studies: writing, opening, compacting.

    python benchmarks/store.py

1.5 million replies in 16 journals of one shard, in a temporary folder (0.6 GB); the
disk's own part is that of the machine. Writing is timed through `Store.append`, one
line at a time as in a job.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import numpy as np

from judgescope.engines.requests import Reply
from judgescope.replies.compaction import compact
from judgescope.replies.lookup import KeyTable
from judgescope.replies.shard import files_of
from judgescope.replies.store import DAY, Store

REPLIES, JOURNALS = 1_500_000, 16
TEXT = (
    "Rating: 4\nThe text keeps to the source and reads well; one name is misspelt. " * 2
)
USAGE = {"prompt": 700, "completion": 40, "reasoning": 0, "cached": 512}
PROVENANCE = {
    "engine": "openai",
    "model": "some-org/some-model",
    "fingerprint": "fp_0123456789",
}


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def replies(keys: bytes) -> list[Reply]:
    """Return a reply to each key."""
    hexes = (keys[place : place + 32].hex() for place in range(0, len(keys), 32))
    return [Reply(key, 0, TEXT, usage=USAGE, provenance=PROVENANCE) for key in hexes]


def main() -> None:
    """Print a line per figure."""
    keys = os.urandom(32 * REPLIES)
    wanted = KeyTable(np.frombuffer(keys, "S32"), np.ones(REPLIES, np.int64))
    with tempfile.TemporaryDirectory() as folder:
        spent = 0.0
        for part in range(JOURNALS):
            step = 32 * (REPLIES // JOURNALS)
            told = replies(keys[part * step : (part + 1) * step])
            spent += timed(partial(written, Path(folder), told))
        rate = (REPLIES // JOURNALS) * JOURNALS / spent
        print(
            f"journal: {rate:,.0f} lines a second, {rate / 1e5:.2f} times the 100,000 "
            "wanted"
        )
        opening(folder, wanted, "journals")
        shard = Path(folder) / "m"
        spent = timed(lambda: compact(shard, now=time.time() + 2 * DAY))
        [path] = files_of(shard)
        print(f"compacting: {spent:.1f} s, to {path.stat().st_size / 1e6:,.0f} MB")
        opening(folder, wanted, "a compacted file")
        few = KeyTable(wanted.keys[:: REPLIES // 24][:24], np.ones(24, np.int64))
        spent = timed(lambda: Store(Path(folder), "m").find(few))
        print(f"opening the same for {few.slots} of them: {spent:.1f} s")
    print(
        "peak memory: "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"
    )


def written(folder: Path, told: list[Reply]) -> None:
    """Write replies as a job does."""
    with Store(folder, "m") as store:
        for reply in told:
            store.append(reply)


def opening(folder: str, wanted: KeyTable, what: str) -> None:
    """Print what it takes to find every reply."""
    spent = timed(lambda: Store(Path(folder), "m").find(wanted))
    found = Store(Path(folder), "m").find(wanted)
    assert found.count >= wanted.slots - JOURNALS
    some = timed(lambda: [found.reply(slot) for slot in range(0, found.count, 100)])
    print(
        f"opening {found.count:,} replies in {what}: {spent:.1f} s, {spent / 20:.2f} "
        f"of the 20 s limit; then {some / (found.count / 100) * 1e6:.0f} µs to read one"
    )


if __name__ == "__main__":
    main()
