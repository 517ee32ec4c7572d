"""Memory of an asking job as its requests grow, and time and memory of planning 1.5
million.

    python benchmarks/memory.py

The job is job `ask` as a rule runs it, with 1,000 texts, asked of a static server on
loopback in a process of its own: 10 cells, then 100. Planning is of 15,000 texts, 100
cells.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from loopback import static_server

from jobs import Job
from judgescope.replies.questions import plan_questions
from judgescope.replies.store import Store

ASPECTS, TEXTS = 10, 1_000
NOWHERE = "http://127.0.0.1:1/v1"


def asked(folder: Path, url: str, judges: int) -> tuple[float, float]:
    """Run the job; return its seconds and the most memory that it had, in MB."""
    job = Job(folder, TEXTS, base_url=url, limits={"concurrency": 64})
    start = time.perf_counter()
    process = job.start(job.spec(judges, ASPECTS), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, "the job failed"
    assert len(list(job.out.glob("replies/**/*.parquet"))) == judges
    return time.perf_counter() - start, used.ru_maxrss / 1024


def plan(folder: Path) -> None:
    """Print what planning 1.5 million requests takes."""
    made = Job(folder, 15 * TEXTS, base_url=NOWHERE)
    start = time.perf_counter()
    job = plan_questions(made.spec(10, ASPECTS), made.model)
    found = Store(folder / "store", "static").find(job.key_table)
    first = next(job.work(found))
    spent = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    count = job.key_table.slots
    characters = sum(one.characters for one in job.counts(found))
    print(
        f"{count:,} requests of {characters / count:,.0f} characters planned, keyed "
        f"and put in order, the first written out ({len(first.request.prompt)} "
        f"characters): {spent:.1f} s, {spent / 60:.2f} of the 60 s limit; {peak:,.0f} "
        f"MB, {peak / 2048:.2f} of the 2 GB limit"
    )


def main() -> None:
    """Print a line per figure."""
    with tempfile.TemporaryDirectory() as folder, static_server() as url:
        peaks = []
        for judges in (1, 10):
            spent, peak = asked(Path(folder, str(judges)), url, judges)
            count = judges * ASPECTS * TEXTS
            print(
                f"{count:,} requests asked and written: {spent:.1f} s, {peak:.0f} MB "
                "at most"
            )
            peaks.append(peak)
        print(
            f"memory at ten times the requests is {peaks[1] / peaks[0]:.2f} times "
            "(limit 1.20)"
        )
    with tempfile.TemporaryDirectory() as folder:
        plan(Path(folder))


if __name__ == "__main__":
    main()
