"""Requests per second and CPU per request of an asking job, against the `openai`
client.

    python benchmarks/clients.py

Ours is job `ask` as a rule runs it, from its cold start to the written reply files:
prompts, keys, requests, journal, parsing of the answers, tables. The peer is
AsyncOpenAI with ready prompts, so many requests at once, and nothing around it. Both
ask the same static server on loopback, which has a process of its own; the client's
calls are fewer, because each takes so long.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from loopback import BODY, static_server

from jobs import Job
from judgescope.schema.tables import read_table

REQUESTS, OF_THE_CLIENT = 50_000, 2_000
CONNECTIONS = (64, 256)
TIMES, PER_CORE = 8, 5_000
"""What is to be reached at 256 connections: times the client's requests, requests a
core-second."""


class Cost(NamedTuple):
    """What requests took: so many of them, wall-clock seconds, seconds of a core."""

    requests: int
    seconds: float
    cpu: float

    def __str__(self) -> str:
        """Return the rates."""
        each = self.cpu / self.requests
        return (
            f"{self.requests / self.seconds:8,.0f} a second, {1e6 * each:6,.0f} us of "
            f"CPU each, {1 / each:7,.0f} a core-second"
        )


def ours(folder: Path, url: str, connections: int, *, requests: int) -> Cost:
    """Run one asking job of so many requests: texts on ten aspects."""
    job = Job(folder, requests // 10, base_url=url, limits={"concurrency": connections})
    start = time.perf_counter()
    process = job.start(job.spec(aspects=10), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, "the job failed"
    files = sorted(job.out.glob("replies/**/*.parquet"))
    assert sum(len(read_table("answers", path)) for path in files) == requests
    return Cost(requests, seconds, used.ru_utime + used.ru_stime)


def client(url: str, connections: int, *, prompt: str) -> Cost:
    """Ask with AsyncOpenAI, so many requests at once."""
    from openai import AsyncOpenAI

    async def all_of_them() -> None:
        left = iter(range(OF_THE_CLIENT))
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=2) as asking:

            async def work() -> None:
                for number in left:
                    answer = await asking.chat.completions.create(
                        model="static",
                        messages=[{"role": "user", "content": f"{number} {prompt}"}],
                        temperature=0,
                        max_tokens=100,
                        seed=number,
                    )
                    assert answer.choices[0].message.content == "Rating: 4"

            await asyncio.gather(*(work() for _ in range(connections)))

    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    asyncio.run(all_of_them())
    seconds, after = (
        time.perf_counter() - start,
        resource.getrusage(resource.RUSAGE_SELF),
    )
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(OF_THE_CLIENT, seconds, cpu)


def main() -> None:
    """Print a line per client and number of connections, and what was to be reached."""
    with static_server() as url:
        for connections in CONNECTIONS:
            with tempfile.TemporaryDirectory() as folder:
                job = Job(Path(folder), 10, base_url=url)
                prompt = (
                    "A sentence of the source. " * 80 + "A sentence of a summary. " * 12
                )
                theirs = client(url, connections, prompt=prompt)
                own = ours(
                    Path(folder) / job.model.model, url, connections, requests=REQUESTS
                )
            times = own.requests / own.seconds / (theirs.requests / theirs.seconds)
            print(f"{connections} connections, answers of {len(BODY)} bytes")
            print(f"  openai   {theirs}")
            print(f"  ask.py   {own}, {times:.1f} times the client")
    reached = own.requests / own.cpu
    print(
        f"at {CONNECTIONS[-1]} connections: {times / TIMES:.2f} of the {TIMES} times "
        f"wanted, {reached / PER_CORE:.2f} of the {PER_CORE:,} a core-second wanted"
    )


if __name__ == "__main__":
    main()
