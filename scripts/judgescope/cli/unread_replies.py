"""A process next to Snakemake that counts unreadable replies while they arrive.

It follows the journals of the jobs that send requests and parses each reply in the same
way as the scoring of its cell. Jobs do not know parsers: next to their logs they write
which keys they request (replies/progress_note.py). The counts are also written next to
the log, for the progress lines.
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

from judgescope.core.files import atomic_write
from judgescope.core.names import CONTENT

if TYPE_CHECKING:
    from judgescope.parsing.judgment import Judgment
    from judgescope.plan.study import Plan
    from judgescope.replies.journal import ReplyLine
    from judgescope.replies.progress_note import ProgressNote

ENOUGH = 20
"""The fewest replies of a judge for a warning that most of them cannot be read."""
SUFFIX = ".unread"
"""The suffix, instead of the log's, of the file with a job's counts."""
FINE = frozenset(("ok", "error", "not_applicable"))
"""Statuses of replies that were read or never arrived: refusals are counted
elsewhere."""


@contextmanager
def reading(study: Path, passed: Sequence[str], out: Path) -> Iterator[None]:
    """Read replies during a run; finally warn of judges with mostly unreadable
    replies.
    """
    command = [
        sys.executable,
        "-m",
        __name__,
        str(study),
        str(out),
        *passed,
    ]
    with Popen(command, stdin=PIPE) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(60.0)  # seconds for the last count
            except TimeoutExpired:
                process.kill()


@dataclass
class UnreadTally:
    """The replies of one judge: their number, the statuses of unread ones, the rules of
    empty ones, and an example.
    """

    replies: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def add(self, text: str, judgment: "Judgment") -> None:
        """Count a reply."""
        self.replies += 1
        if judgment.status not in FINE:
            self.unread[judgment.status] += 1
            self.example = text
        if judgment.status == "empty":
            self.empty[judgment.rule] += 1

    @property
    def mostly_unread(self) -> bool:
        """Return whether more than half cannot be read."""
        return 2 * self.unread.total() > self.replies


class Watch:
    """A job that sends requests: its note, positions in its journals, a tally per
    judge.
    """

    def __init__(
        self, path: Path, note: "ProgressNote", read: Callable[..., "Judgment"]
    ) -> None:
        self.path = path
        self.note = note
        self._read = read
        self.tallies: dict[str, UnreadTally] = {}
        self.warnings: dict[str, str] = {}
        self._offsets: dict[Path, int] = {}

    def look(self, warn: Callable[[str, UnreadTally], str]) -> None:
        """Read the replies that arrived since the last look and write the counts."""
        from judgescope.replies.journal import ReplyLine, read_line

        lines = []
        for line in map(read_line, self._lines()):
            if isinstance(line, ReplyLine):
                lines.append(line)
        cells = self.note.cells_of([line.key for line in lines])
        for line, cell in zip(lines, cells, strict=True):
            if cell is not None and line.status == "ok":
                judgment = self._read(self.note.dataset, cell, line)
                self.tallies.setdefault(cell[1], UnreadTally()).add(line.text, judgment)
        replies = 0
        unread = 0
        for judge, tally in self.tallies.items():
            replies += tally.replies
            unread += tally.unread.total()
            warned = judge in self.warnings
            if tally.mostly_unread and not warned and tally.replies >= ENOUGH:
                self.warnings[judge] = warn(judge, tally)
        if lines:
            counts = {
                "replies": replies,
                "unread": unread,
                "warnings": list(self.warnings.values()),
            }
            with atomic_write(self.path.with_suffix(SUFFIX)) as part:
                part.write_text(json.dumps(counts), encoding="utf-8")

    def _lines(self) -> Iterator[bytes]:
        for path in self.note.journals():
            with path.open("rb") as file:
                file.seek(self._offsets.get(path, 0))
                content = file.read()
            end = content.rfind(b"\n") + 1
            self._offsets[path] = self._offsets.get(path, 0) + end
            yield from content[:end].splitlines(keepends=True)


class UnreadReader:
    """The jobs of a run that send requests; the plan is loaded when the first one
    starts.
    """

    def __init__(self, study: Path, passed: Sequence[str], out: Path) -> None:
        self.study = study
        self.passed = passed
        self.out = out
        self._written = {path: path.stat().st_mtime_ns for path in self._notes()}
        self._watches: dict[Path, Watch] = {}
        self._parsers: dict[tuple[str, ...], Callable[..., Judgment]] = {}

    def _notes(self) -> list[Path]:
        return sorted(self.out.glob("logs/ask/*/*.note"))

    def look(self) -> None:
        """Read the replies that arrived since the last look."""
        for path in self._notes():
            written = path.stat().st_mtime_ns
            if self._written.get(path) != written:
                from judgescope.replies.progress_note import read_note

                self._written[path] = written
                self._watches[path] = Watch(path, read_note(path), self._read)
        for watch in self._watches.values():
            watch.look(self._warning)

    @cached_property
    def plan(self) -> "Plan":
        """Return the study's plan."""
        from judgescope.cli.context import plan_of_study

        return plan_of_study(self.study, self.passed)

    def _read(
        self, dataset: str, cell: tuple[str, str, str], line: "ReplyLine"
    ) -> "Judgment":
        """Return the judgment in a reply, as the scoring of its cell will parse it."""
        perturbation, judge, aspect = cell
        if (dataset, *cell) not in self._parsers:
            from judgescope.plan.specs.judging import reading
            from judgescope.scoring.cell import reader

            read = reading(self.plan, dataset, judge, aspect, perturbation)
            self._parsers[dataset, *cell] = reader(read)
        content = (line.provenance or {}).get(CONTENT)
        return self._parsers[dataset, *cell](line.text, line.finish, "ok", content)

    def _warning(self, judge: str, tally: UnreadTally) -> str:
        """Return the warning that most replies of a judge cannot be read, and the
        likely reason.
        """
        from judgescope.core.errors import coded

        card = self.plan.judges[judge]
        [(status, _)] = tally.unread.most_common(1)
        shown = " ".join(coded(tally.example).split())
        cut = shown
        if len(shown) > 160:
            cut = f"{shown[:160]}…"
        reasons = {
            "truncated": f"cut off at `max_tokens: {card.max_tokens}`",
            "empty": _why_empty(tally, card.max_tokens),
            "out_of_range": "a value outside the scale (key `scale`)",
            "off_grid": "a value between the steps of the scale (key `scale`)",
            "refused": "the model refused",
            "unparsed": f"not in the format of the prompt form {card.form} (keys "
            "`form`, `read`, `parser`)",
        }
        return (
            f"warning: {tally.unread.total()} of {tally.replies} replies of "
            f"judges/{judge}.yaml cannot be read: {reasons.get(status, status)}\n"
            f"  example: {cut!r}\n"
            f"  see:     judgescope replies show {self.study} --judge {judge}"
        )

    def last(self) -> list[str]:
        """Return the last lines of a run: warnings of unread replies, and exceeded
        limits.
        """
        if not self._watches:
            return []
        from judgescope.plan.bill import passed_caps
        from judgescope.replies.progress_note import clear_note

        for path in self._watches:
            clear_note(path)
        totals: dict[str, UnreadTally] = {}
        for watch in self._watches.values():
            for judge, tally in watch.tallies.items():
                total = totals.setdefault(judge, UnreadTally())
                total.replies += tally.replies
                total.unread += tally.unread
                total.empty += tally.empty
                total.example = tally.example or total.example
        lines = []
        for judge, total in totals.items():
            if total.mostly_unread:
                lines.append(self._warning(judge, total))
        return [*lines, *passed_caps(self.plan)]


def _why_empty(tally: UnreadTally, max_tokens: int) -> str:
    """The commonest reason why replies are empty."""
    reasons = {
        "null_content": "no text: the endpoint sent null",
        "empty_tool_call": "no text: only a tool call without arguments",
    }
    for rule, _ in tally.empty.most_common(1):
        if rule in reasons:
            return reasons[rule]
    return f"empty, or reasoning used up `max_tokens: {max_tokens}`"


def main(study: str, out: str, *passed: str) -> None:
    """Look repeatedly until standard input ends, which happens when the command is
    gone.
    """
    # Ctrl-C ends the run; one last count follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reader = UnreadReader(Path(study), passed, Path(out))
    try:
        while True:
            seconds_between_looks = 1.0
            ended, _, _ = select.select([sys.stdin], [], [], seconds_between_looks)
            reader.look()
            if ended:
                break
        for line in reader.last():
            print(line, flush=True)
    except Exception as error:  # a failure here must not end the run
        print(f"this run cannot count unreadable replies: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
