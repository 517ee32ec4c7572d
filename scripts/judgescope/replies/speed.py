"""How fast a model answered and how many tokens its prompts were: notes beside its journals.

Every job that asks leaves a note of its own; no lock, as for journals. They serve estimates only:
nothing in a table comes from here.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import orjson

FOLDER = "pace"


class Pace(NamedTuple):
    """Sums over replies whose usage is known, and over the jobs' seconds.

    `size` is the bytes of the prompts, `densest` the most prompt tokens per byte in one request.
    """

    replies: int = 0
    seconds: float = 0.0
    size: int = 0
    prompt: int = 0
    densest: float = 0.0

    def with_request(self, size: int, prompt: int, replies: int) -> "Pace":
        """Return the pace with one more request."""
        return self._replace(
            replies=self.replies + replies,
            size=self.size + size,
            prompt=self.prompt + prompt,
            densest=max(self.densest, prompt / size),
        )


def joined(paces: Iterable[Pace]) -> Pace:
    """Return the pace of several jobs together."""
    each = list(zip(*paces, strict=True))
    if not each:
        return Pace()
    replies, seconds, size, prompt, densest = each
    return Pace(sum(replies), sum(seconds), sum(size), sum(prompt), max(densest))


def read_pace(shard: Path) -> Pace:
    """Return the pace of all earlier jobs of a model; a torn note is passed over."""
    found = []
    for path in sorted((shard / FOLDER).glob("*.json")):
        try:
            told = Pace(**orjson.loads(path.read_bytes()))
            sum(told)  # all of them are numbers
        except (orjson.JSONDecodeError, TypeError):
            continue
        found.append(told)
    return joined(found)


def write_pace(journals: Path, pace: Pace) -> None:
    """Leave the note of the job whose journals' names begin so."""
    path = journals.parent / FOLDER / f"{journals.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(pace._asdict()))
