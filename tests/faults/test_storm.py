"""Thousands of requests to an endpoint that fails one time in ten: each answer is kept
once.

`JUDGESCOPE_STORM` requests, 3,000 by default: `make soak` sends 100,000.
"""

import os
import statistics
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from jobs import Job
from judgescope.schema.tables import read_table
from storm import FAULTS, IN_A_ROW, storm

REQUESTS = int(os.environ.get("JUDGESCOPE_STORM", "3000"))
LIMITS = {"concurrency": 64, "backoff": 0.02, "attempts": IN_A_ROW + 1, "timeout": 120}
GROWTH = 8_000
"""kB by which the usual memory may grow while replies come: its median while the last
fifth of them comes, against the first two. A single peak is the collector's business:
what is kept for each request raises the median."""


def memory(process: "subprocess.Popen[bytes]") -> int:
    """Return the kB that a process has; 0 when it has ended."""
    try:
        text = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(text.partition("VmRSS:")[2].split()[0]) if "VmRSS:" in text else 0


def watched(job: Job, process: "subprocess.Popen[bytes]") -> list[tuple[int, int]]:
    """Wait for a job; return (bytes of its journal, kB of its memory) now and then."""
    seen = []
    while process.poll() is None:
        size = sum(path.stat().st_size for path in job.folder.glob("store/*/*.jsonl"))
        seen.append((size, memory(process)))
        time.sleep(0.01)
    return seen


@pytest.mark.heavy
def test_every_answer_is_in_the_store_once_and_memory_is_flat(tmp_path: Path) -> None:
    with storm() as endpoint:
        job = Job(tmp_path, 0, base_url=endpoint.url, limits=LIMITS)
        job.write_texts(REQUESTS, source=2, text=2)
        began = time.monotonic()
        process = job.start(job.spec(), stdout=subprocess.DEVNULL)
        seen = watched(job, process)
        spent = time.monotonic() - began
    assert process.returncode == 0
    result = endpoint.told
    assert result["answers"] == {"1": REQUESTS}, (
        "an answer was not kept, and asked for again"
    )
    assert all(result["said"].get(name) for name in FAULTS), "every fault was met"
    kept = Counter(job.replies())
    assert len(kept) == REQUESTS and set(kept.values()) == {1}
    [table] = [
        read_table("answers", path) for path in job.out.glob("replies/**/*.parquet")
    ]
    statuses = Counter(table["status"].to_pylist())
    assert statuses == {
        "ok": REQUESTS - statuses["error"],
        "error": result["said"]["refused"],
    }

    size = max(size for size, _ in seen)
    first = [used for now, used in seen if 0.1 * size < now <= 0.4 * size]
    last = [used for now, used in seen if 0.8 * size < now < size]
    assert first and last
    assert statistics.median(last) - statistics.median(first) < GROWTH
    faults = sum(count for name, count in result["said"].items() if name != "good")
    print(
        f"{REQUESTS} requests in {spent:.0f} s, sent {result['requests']} times with "
        f"{faults} faults ({dict(sorted(result['said'].items()))}); each answer kept "
        f"once; memory {statistics.median(first) / 1000:.1f} MB near the beginning, "
        f"{statistics.median(last) / 1000:.1f} MB near the end, "
        f"{max(last) / 1000:.1f} MB at most"
    )
