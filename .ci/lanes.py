"""What the lanes of a run of CI took and passed, and whether a lane passed too little.

    python .ci/lanes.py test.log              the table; ends with 1 below a floor
    python .ci/lanes.py --raise test.log      raises the floors to what has passed

A floor is the smallest number of tests that a lane must pass, so that a lane that skips
most of its tests is noticed. It lies a twentieth below what once passed: a program that
is not installed skips a few tests. `CI_MUST` names lanes that must run.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

FLOORS = Path(__file__).with_name("floors.txt")
SLACK = 0.95
"""The share of the tests that passed once which must pass from then on."""
SHARES = {
    "demo": 2,
    "lint": 1,
    "docs": 2,
    "test": 13,
    "long": 6,
    "vllm": 5,
    "wheel": 4,
}
"""Lane -> minutes that it may take on two idle cores.

SLURM runs beside the others, the linters beside the documentation, and the wheel beside
vLLM.
"""
_ENDED = re.compile(r"^([a-z][a-z0-9' -]*): (\d+) s$")
_PASSED = re.compile(r"\b(\d+) passed\b")


class Lane(NamedTuple):
    """A lane that has ended: its name, its seconds, and how many tests passed in it."""

    name: str
    seconds: int
    passed: int | None

    @property
    def share(self) -> int | None:
        """Return the minutes that it may take, None if that is not said."""
        return SHARES.get(self.name.partition("-")[0])


def lanes_in(log: Iterable[str]) -> Iterator[Lane]:
    """Yield the lanes of a log: each ends with a line `NAME: N s`."""
    passed: int | None = None
    for line in log:
        if found := _PASSED.search(line):
            passed = int(found[1])
        if ended := _ENDED.match(line):
            yield Lane(ended[1], int(ended[2]), passed)
            passed = None


def read_floors(text: str) -> dict[str, int]:
    """Return lane -> the tests that must pass; a line each, comments after `#`."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in lines if words}


def raised(floors: Mapping[str, int], lanes: Iterable[Lane]) -> dict[str, int]:
    """Return the floors, raised to what has passed without its slack; none sinks."""
    higher = dict(floors)
    for lane in lanes:
        if lane.passed is not None:
            floor = int(SLACK * lane.passed)
            higher[lane.name] = max(floor, higher.get(lane.name, 0))
    return higher


def too_few(floors: Mapping[str, int], lanes: Iterable[Lane]) -> Iterator[str]:
    """Yield a sentence for each lane that passed fewer tests than its floor."""
    for lane in lanes:
        floor = floors.get(lane.name)
        if floor is not None and (lane.passed or 0) < floor:
            yield (
                f"lane {lane.name}: {lane.passed or 0:,} tests passed, its floor is "
                f"{floor:,} ({FLOORS.name}): see the skips and their reasons above"
            )


def table(lanes: Iterable[Lane], floors: Mapping[str, int]) -> Iterator[str]:
    """Yield the lines of the table: minutes, share, tests passed and floor by lane."""
    yield f"{'lane':24}{'minutes':>8}{'share':>7}{'passed':>8}{'floor':>8}"
    for lane in lanes:
        minutes = lane.seconds / 60
        passed = "" if lane.passed is None else f"{lane.passed:,}"
        floor = f"{floors[lane.name]:,}" if lane.name in floors else ""
        share = "" if lane.share is None else str(lane.share)
        over = lane.share is not None and minutes > lane.share
        note = "  over its share: mend it before anything is added" if over else ""
        yield f"{lane.name:24}{minutes:8.1f}{share:>7}{passed:>8}{floor:>8}{note}"


def main(*words: str) -> int:
    """Print the table of a log, or raise the floors; return the exit status."""
    *options, log = words
    lanes = list(lanes_in(Path(log).read_text(encoding="utf-8").splitlines()))
    text = FLOORS.read_text(encoding="utf-8")
    floors = read_floors(text)
    if options == ["--raise"]:
        head = [line for line in text.splitlines() if line.startswith("#")]
        lines = [f"{name} {n}" for name, n in sorted(raised(floors, lanes).items())]
        FLOORS.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
        return 0
    print("\n".join(table(lanes, floors)))
    failures = list(too_few(floors, lanes))
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
