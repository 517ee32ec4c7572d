"""A process beside Snakemake that counts unreadable replies as they come.

It follows the journals of the jobs that are asking and parses each reply as its cell's scoring
will. Jobs know no parsers: they note beside their logs which keys they ask for
(replies/planning.py). The counts are written beside the log too, for the lines of progress.
"""

import json
import select
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import TYPE_CHECKING

from judgescope.core.files import whole

if TYPE_CHECKING:
    from judgescope.parsing.judgment import Judgment
    from judgescope.plan.study import Plan
    from judgescope.replies.planning import Note

INTERVAL = 1.0
"""Seconds between two looks at the journals."""
LAST_LOOK = 60.0
"""Time limit of the last count, in seconds."""
ENOUGH = 20
"""Replies of a judge that are needed for a warning that most of them cannot be read."""
SHOWN = 160
"""Characters of a reply in a warning."""
SUFFIX = ".unread"
"""The suffix of the file with the counts of a job, instead of its log's."""
FINE = frozenset(("ok", "error", "not_applicable"))
"""Statuses of replies that were read, or never came: refusals are counted elsewhere."""


@contextmanager
def reading(study: Path, passed: Sequence[str], out: Path) -> Iterator[None]:
    """Read replies while a study runs; at the end warn of judges of whom most could not be read."""
    command = [sys.executable, "-m", "judgescope.cli.unread_replies", str(study), str(out), *passed]
    with Popen(command, stdin=PIPE) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(LAST_LOOK)
            except TimeoutExpired:
                process.kill()


@dataclass
class Tally:
    """The replies of one judge: their number, the statuses of unread ones, and an example."""

    replies: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def add(self, text: str, judgment: "Judgment") -> None:
        """Count a reply."""
        self.replies += 1
        if judgment.status not in FINE:
            self.unread[judgment.status] += 1
            self.example = text

    @property
    def mostly_unread(self) -> bool:
        """Return whether more than half cannot be read."""
        return 2 * self.unread.total() > self.replies


class Watch:
    """One asking job: its note, the position in its journals, and a tally for each judge."""

    def __init__(self, path: Path, note: "Note", read: Callable[..., "Judgment"]) -> None:
        self.path, self.note, self._read = path, note, read
        self.tallies: dict[str, Tally] = {}
        self.warnings: dict[str, str] = {}
        self._offsets: dict[Path, int] = {}

    def look(self, warn: Callable[[str, Tally], str]) -> None:
        """Read the replies that came since the last look and write the counts."""
        from judgescope.replies.journal import ReplyLine, read_line

        lines = [line for line in map(read_line, self._lines()) if isinstance(line, ReplyLine)]
        cells = self.note.cells_of([line.key for line in lines])
        for line, cell in zip(lines, cells, strict=True):
            if cell is not None and line.status == "ok":
                judgment = self._read(self.note.dataset, cell, line.text, line.finish)
                self.tallies.setdefault(cell[1], Tally()).add(line.text, judgment)
        for judge, tally in self.tallies.items():
            if judge not in self.warnings and tally.replies >= ENOUGH and tally.mostly_unread:
                self.warnings[judge] = warn(judge, tally)
        if lines:
            counts = {
                "replies": sum(tally.replies for tally in self.tallies.values()),
                "unread": sum(tally.unread.total() for tally in self.tallies.values()),
                "warnings": list(self.warnings.values()),
            }
            with whole(self.path.with_suffix(SUFFIX)) as part:
                part.write_text(json.dumps(counts), encoding="utf-8")

    def _lines(self) -> Iterator[bytes]:
        for path in self.note.journals():
            with path.open("rb") as file:
                file.seek(self._offsets.get(path, 0))
                content = file.read()
            end = content.rfind(b"\n") + 1
            self._offsets[path] = self._offsets.get(path, 0) + end
            yield from content[:end].splitlines(keepends=True)


class Reader:
    """The asking jobs of a study's run; the plan is loaded when the first of them asks."""

    def __init__(self, study: Path, passed: Sequence[str], out: Path) -> None:
        self.study, self.passed, self.out = study, passed, out
        self._before = {path: path.stat().st_mtime_ns for path in self._notes()}
        self._watches: dict[Path, tuple[int, Watch]] = {}
        self._parsers: dict[tuple[str, ...], Callable[..., Judgment]] = {}

    def _notes(self) -> list[Path]:
        return sorted(self.out.glob("logs/ask/*/*.note"))

    def look(self) -> None:
        """Read the replies that came since the last look."""
        for path in self._notes():
            written = path.stat().st_mtime_ns
            known = self._watches.get(path)
            if self._before.get(path) != written and (known is None or known[0] != written):
                from judgescope.replies.planning import read_note

                self._watches[path] = (written, Watch(path, read_note(path), self._read))
        for _, watch in self._watches.values():
            watch.look(self._warning)

    @cached_property
    def plan(self) -> "Plan":
        """Return the study's plan."""
        from judgescope.cli.context import plan_of_study

        return plan_of_study(self.study, self.passed)

    def _read(self, dataset: str, cell: tuple[str, str, str], text: str, end: str) -> "Judgment":
        """Return the judgment in a reply, as the scoring of its cell will parse it."""
        perturbation, judge, aspect = cell
        if (dataset, *cell) not in self._parsers:
            from judgescope.plan.specs.judging import reading
            from judgescope.scoring.cell import reader

            read = reading(self.plan, dataset, judge, aspect, perturbation)
            self._parsers[dataset, *cell] = reader(read)
        return self._parsers[dataset, *cell](text, end, "ok")

    def _warning(self, judge: str, tally: Tally) -> str:
        """Return the warning that most replies of a judge cannot be read."""
        from judgescope.core.errors import coded

        shown = " ".join(coded(tally.example).split())
        cut = f"{shown[:SHOWN]}…" if len(shown) > SHOWN else shown
        return (
            f"warning: {tally.unread.total()} of {tally.replies} replies of judges/{judge}.yaml "
            f"cannot be read: {self._reason(judge, tally.unread.most_common(1)[0][0])}\n"
            f"  such as: {cut!r}\n"
            f"  see:     judgescope replies show {self.study} --judge {judge}"
        )

    def _reason(self, judge: str, status: str) -> str:
        """Return the likely reason for a status, and the key that decides it."""
        card = self.plan.judges[judge]
        reasons = {
            "truncated": f"cut at `max_tokens: {card.max_tokens}`",
            "empty": f"empty, or only reasoning within `max_tokens: {card.max_tokens}`",
            "out_of_range": "a value outside the scale (key `scale`)",
            "off_grid": "a value between the steps of the scale (key `scale`)",
            "refused": "the model refuses",
            "unparsed": f"no verdict as the form {card.form} asks for one (keys `form`, `parser`)",
        }
        return reasons.get(status, status)

    def last(self) -> list[str]:
        """Return the last lines of a run: warnings of unread replies, and exceeded limits."""
        if not self._watches:
            return []
        from judgescope.plan.cost import passed_caps
        from judgescope.replies.planning import clear_note

        for path in self._watches:
            clear_note(path)
        totals: dict[str, Tally] = {}
        for _, watch in self._watches.values():
            for judge, tally in watch.tallies.items():
                total = totals.setdefault(judge, Tally())
                total.replies += tally.replies
                total.unread += tally.unread
                total.example = tally.example or total.example
        unread = [self._warning(judge, t) for judge, t in totals.items() if t.mostly_unread]
        return [*unread, *passed_caps(self.plan)]


def main(study: str, out: str, *passed: str) -> None:
    """Look again and again until standard input ends, as it does when the command is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the run; one last count follows
    reader = Reader(Path(study), passed, Path(out))
    try:
        while True:
            ended, _, _ = select.select([sys.stdin], [], [], INTERVAL)
            reader.look()
            if ended:
                break
        for line in reader.last():
            print(line, flush=True)
    except Exception as error:  # a failure here must not end the run
        print(f"this run cannot count unreadable replies: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
