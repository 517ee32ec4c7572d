"""How long a reply takes to be read, beside a stated number of plain scans of it.

    python benchmarks/parsing.py [repetitions]

Seconds differ by machine, so each kind of reply is measured as a ratio: the time that
its parser takes, divided by that of `UNIT`, a regular expression over a fixed text,
in the same run. `LIMITS` holds the ratio that each kind may have. Long replies of
brackets and tags show that the time grows with the length: twice the length takes at
most `GROWTH` times as long.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.parsing.judgment import Scale
from judgescope.parsing.parsers import parsed_by

REPETITIONS = 2000
LONG = 500_000
"""The number of characters of a long reply."""
GROWTH = 4.0
"""The most times as long that a reply of twice the length takes."""
PROSE = "The text keeps to its source, but the last sentence adds a name.\n"
OBJECT = '{"reason": "It keeps to its source, but adds a name.", "score": 4}'
DAMAGED = "{'reason': 'It keeps to its source', 'score': 4, // fine\n}"
RUNS = ("{", "<think>", "[[A]] ", '{"a":')
FIVE = Scale(1, 5, 1)


class ReplyKind(NamedTuple):
    """A reply, the parser that reads it, and the ratio that its time may have."""

    reply: str
    parser: str
    limit: float


KINDS = {
    "prose": ReplyKind(f"{PROSE}Rating: 4", "score", 2.5),
    "prose of a pair": ReplyKind(f"{PROSE}Winner: A", "choice", 3),
    "object": ReplyKind(OBJECT, "score", 3),
    "fenced object": ReplyKind(f"```json\n{OBJECT}\n```", "score", 3),
    "damaged object": ReplyKind(DAMAGED, "score", 4),
}


def seconds(read: Callable[[], object], repetitions: int) -> float:
    """Return the seconds of the processor that one reading takes, the best of three."""
    read()
    times = list[float]()
    for _ in range(3):
        begin = time.process_time()
        for _ in range(repetitions):
            read()
        times.append((time.process_time() - begin) / repetitions)
    return min(times)


def unit(repetitions: int) -> float:
    """Return the seconds of the unit: a search through a page of prose."""
    page = PROSE * 20
    pattern = re.compile(r"\b(?:rating|score|verdict)\s?[:=]\s?\d")
    return seconds(lambda: pattern.search(page), repetitions)


def ratios(repetitions: int = REPETITIONS) -> dict[str, float]:
    """Return kind of reply -> its time as a multiple of the unit's."""
    one = unit(repetitions)
    found = dict[str, float]()
    for name, kind in KINDS.items():
        scale = None if kind.parser == "choice" else FIVE
        read = parsed_by(kind.parser, scale=scale)
        spent = seconds(lambda: read(kind.reply, "stop", "ok"), repetitions)  # noqa: B023
        found[name] = spent / one
    return found


def growth(run: str, length: int = LONG) -> float:
    """Return how many times as long a reply of twice the length takes."""
    read = parsed_by("score", scale=FIVE)
    choose = parsed_by("choice", scale=None)
    spent = list[float]()
    for size in (length, 2 * length):
        reply = run * (size // len(run))
        begin = time.process_time()
        read(reply, "stop", "ok")
        choose(reply, "stop", "ok")
        spent.append(time.process_time() - begin)
    return spent[1] / max(spent[0], 1e-3)


def main() -> None:
    """Print the ratios and the growth, and end with 1 if one is above its limit."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    over = False
    for name, ratio in ratios(repetitions).items():
        limit = KINDS[name].limit
        over |= ratio > limit
        print(f"{name}: {ratio:.2f} units (at most {limit:g})")
    for run in RUNS:
        times = growth(run)
        over |= times > GROWTH
        print(f"twice as many {run!r}: {times:.2f} times as long (at most {GROWTH:g})")
    sys.exit(over)


if __name__ == "__main__":
    main()
