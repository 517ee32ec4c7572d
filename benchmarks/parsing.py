"""How long a reply takes to be read, beside the time that it may take.

    python benchmarks/parsing.py [repetitions]

A reply in prose may take 20 microseconds of the processor, one with an object 60.
These limits hold where `unit`, a regular expression over a fixed text, takes
`UNIT_SECONDS`; on a slower machine they are longer by as much as the unit is. Each kind
of reply is shown as a ratio to its limit. Long replies of brackets and tags show that
the time grows with the length: twice the length takes at most `GROWTH` times as long.
"""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.parsing.parsers import parsed_by

REPETITIONS = 2000
LONG = 500_000
"""The number of characters of a long reply."""
GROWTH = 4.0
"""The most times as long that a reply of twice the length takes."""
PROSE = "The text keeps to its source, but the last sentence adds a name.\n"
OBJECT = '{"reason": "It keeps to its source, but adds a name.", "score": 4}'
DAMAGED = "{'reason': 'It keeps to its source', 'score': 4, // fine\n}"
SENTENCE = "The text keeps to its source, resulting in a score of 4."
LONG_PROSE = (
    "The answer takes up the question about the old harbour and adds that ships from "
    "the north still land there, which fits what was said before, but it leaves the "
    "second question aside and ends without one of its own"
)
"""As long as what recorded judges of dialogues and summaries write."""
PAIR_PROSE = (
    "Output (a) names three writers who lived by the harbour, and says what each of "
    "them wrote about it. Output (b) names only two, although the instruction asks for "
    "three, and it doesn't say what they wrote. Therefore, Output (a) is better."
)
"""As judges write who reason about both texts before they choose."""
PROSE_LIMIT = 20e-6
OBJECT_LIMIT = 60e-6
"""The seconds that a reply of each sort may take."""
UNIT_SECONDS = 18.5e-6
"""The seconds of the unit on the machine for which the limits are stated."""
RUNS = (
    "{",
    "[",
    "<think>",
    "|",
    '"',
    "[[A]] ",
    '{"a":',
    "Score: 5 (not ",
    "{a}. ",
    "> A is good.\n",
)
FIVE = Scale(1, 5, 1)
WORDS = Scale(0, 1, 1, ("fail", "pass"), words=(("fail", 0), ("pass", 1)))


class ReplyKind(NamedTuple):
    """A reply, its parser and scale, and the seconds that it may take."""

    reply: str
    parser: str
    scale: Scale | None
    limit: float


KINDS = {
    "prose": ReplyKind(f"{PROSE}Rating: 4", "score", FIVE, PROSE_LIMIT),
    "label first": ReplyKind(f"Rating: 4\n{PROSE}", "score", FIVE, PROSE_LIMIT),
    "label in a sentence": ReplyKind(SENTENCE, "score", FIVE, PROSE_LIMIT),
    "word of a scale": ReplyKind(f"{PROSE}Verdict: fail", "score", WORDS, PROSE_LIMIT),
    "prose of a pair": ReplyKind(f"{PROSE}Winner: A", "choice", None, PROSE_LIMIT),
    "long, label first": ReplyKind(
        f"Rating: 3\nRationale: {LONG_PROSE}.", "score", FIVE, PROSE_LIMIT
    ),
    "long, label last": ReplyKind(
        f"Analysis: {LONG_PROSE}.\n\nRating: 3", "score", FIVE, PROSE_LIMIT
    ),
    "long, label in a sentence": ReplyKind(
        f"{LONG_PROSE}, earning a score of 3.", "score", FIVE, PROSE_LIMIT
    ),
    "long, with its scale": ReplyKind(
        f"{LONG_PROSE}. Score: 3/5.", "score", FIVE, PROSE_LIMIT
    ),
    "long, prose of a pair": ReplyKind(PAIR_PROSE, "choice", None, PROSE_LIMIT),
    "object": ReplyKind(OBJECT, "score", FIVE, OBJECT_LIMIT),
    "fenced object": ReplyKind(f"```json\n{OBJECT}\n```", "score", FIVE, OBJECT_LIMIT),
    "damaged object": ReplyKind(DAMAGED, "score", FIVE, OBJECT_LIMIT),
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


class Speed(NamedTuple):
    """The seconds that a kind of reply takes, and their ratio to its limit."""

    seconds: float
    ratio: float


def speeds(repetitions: int = REPETITIONS) -> dict[str, Speed]:
    """Return kind of reply -> its time."""
    slowness = unit(repetitions) / UNIT_SECONDS
    found = dict[str, Speed]()
    for name, kind in KINDS.items():
        read = parsed_by(PARSERS[kind.parser], scale=kind.scale)
        spent = seconds(lambda: read(kind.reply, "stop", "ok"), repetitions)  # noqa: B023
        found[name] = Speed(spent, spent / (kind.limit * slowness))
    return found


def growth(run: str, length: int = LONG) -> float:
    """Return how many times as long a reply of twice the length takes."""
    read = parsed_by(PARSERS["score"], scale=FIVE)
    choose = parsed_by(PARSERS["choice"], scale=None)
    spent = list[float]()
    for size in (length, 2 * length):
        reply = run * (size // len(run))
        begin = time.process_time()
        read(reply, "stop", "ok")
        choose(reply, "stop", "ok")
        spent.append(time.process_time() - begin)
    return spent[1] / max(spent[0], 1e-3)


def main() -> None:
    """Print the times and the growth, as ratios to their limits."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    for name, speed in speeds(repetitions).items():
        limit = KINDS[name].limit * 1e6
        print(
            f"{name}: {speed.seconds * 1e6:.1f} µs, {speed.ratio:.2f} of the limit "
            f"({limit:.0f} µs)"
        )
    for run in RUNS:
        times = growth(run, LONG)
        print(f"twice as many {run!r}: {times:.2f} times as long (at most {GROWTH:g})")


if __name__ == "__main__":
    main()
