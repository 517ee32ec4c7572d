"""Replies that cannot be read, counted while they come: a process that runs beside Snakemake.

It follows the journals of the jobs that are asking and reads each reply as its cell's scoring will.
A job knows no parser: it notes beside its log which keys it asks for (replies/notes.py). What is
found is written beside the log too, where the lines of progress are taken from.
"""

import json
import os
import select
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgescope.parsing.judgment import Judgment
    from judgescope.plan import Plan
    from judgescope.replies.notes import Note

LOOK = 1.0
"""Seconds between two looks."""
END = 60.0
"""Seconds that the last look may take."""
ENOUGH = 20
"""Replies of a judge, before a warning says that most of them cannot be read."""
SHOWN = 160
"""Characters of a reply in a warning."""
SUFFIX = ".unread"
"""Of the file with what was found of a job, in the place of its log's."""
FINE = frozenset(("ok", "error", "not_applicable"))
"""Statuses of replies that were read, or never came: the endpoint's refusals count elsewhere."""


@contextmanager
def reading(study: Path, passed: list[str], out: Path) -> Iterator[None]:
    """Read replies while a study runs; at the end say of which judges most could not be read."""
    told = json.dumps({"study": str(study), "passed": passed, "out": str(out)})
    with Popen(
        [sys.executable, "-m", "judgescope.cli.unread_replies", told], stdin=PIPE
    ) as process:
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(END)
            except TimeoutExpired:
                process.kill()


@dataclass
class Tally:
    """The replies of one judge: how many were read, and what became of those that were not."""

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
    """One asking job: its note, how far its journals were read, and a tally for each judge."""

    def __init__(self, path: Path, note: "Note", read: Callable[..., "Judgment"]) -> None:
        self.path, self.note, self._read = path, note, read
        self.tallies: dict[str, Tally] = {}
        self.warnings: dict[str, str] = {}
        self._offsets: dict[Path, int] = {}

    def look(self, warn: Callable[[str, Tally], str]) -> None:
        """Read what came since the last look and write down what was found."""
        from judgescope.replies.journal import row_of

        rows = [row for line in self._lines() if (row := row_of(line)) and "text" in row]
        cells = self.note.cells_of([row["key"] for row in rows])
        for row, cell in zip(rows, cells, strict=True):
            if cell is not None and row["status"] == "ok":
                judgment = self._read(self.note.dataset, cell, row["text"], row["finish"])
                self.tallies.setdefault(cell[1], Tally()).add(row["text"], judgment)
        for judge, tally in self.tallies.items():
            if judge not in self.warnings and tally.replies >= ENOUGH and tally.mostly_unread:
                self.warnings[judge] = warn(judge, tally)
        if rows:
            self._write()

    def _lines(self) -> Iterator[bytes]:
        for path in self.note.journals():
            with path.open("rb") as file:
                file.seek(self._offsets.get(path, 0))
                whole = file.read()
            end = whole.rfind(b"\n") + 1
            self._offsets[path] = self._offsets.get(path, 0) + end
            yield from whole[:end].splitlines(keepends=True)

    def _write(self) -> None:
        told = {
            "replies": sum(one.replies for one in self.tallies.values()),
            "unread": sum(one.unread.total() for one in self.tallies.values()),
            "warnings": list(self.warnings.values()),
        }
        path = self.path.with_suffix(SUFFIX)
        whole = path.with_name(f".{path.name}.{os.getpid()}")
        whole.write_text(json.dumps(told), encoding="utf-8")
        os.replace(whole, path)


class Reader:
    """The asking jobs of a study's run; the plan is loaded when the first of them asks."""

    def __init__(self, study: Path, passed: list[str], out: Path) -> None:
        self.study, self.passed, self.out = study, passed, out
        self._before = {path: path.stat().st_mtime_ns for path in self._notes()}
        self._watches: dict[Path, tuple[int, Watch]] = {}
        self._plan: Plan | None = None
        self._readers: dict[tuple[str, ...], Callable[..., Judgment]] = {}

    def _notes(self) -> list[Path]:
        return sorted(self.out.glob("logs/ask/*/*.note"))

    def look(self) -> None:
        """Read what came since the last look."""
        for path in self._notes():
            written = path.stat().st_mtime_ns
            known = self._watches.get(path)
            if self._before.get(path) != written and (known is None or known[0] != written):
                from judgescope.replies.notes import read_note

                self._watches[path] = (written, Watch(path, read_note(path), self._read))
        for _, watch in self._watches.values():
            watch.look(self._warning)

    @property
    def plan(self) -> "Plan":
        """Return the study's plan."""
        if self._plan is None:
            from judgescope.cli.context import plan_of_study

            self._plan = plan_of_study(self.study, self.passed)
        return self._plan

    def _read(self, dataset: str, cell: tuple[str, str, str], text: str, end: str) -> "Judgment":
        """Return what a reply says, as the scoring of its cell will read it."""
        perturbation, judge, aspect = cell
        if (dataset, *cell) not in self._readers:
            from judgescope.plan.specs.judging import reading
            from judgescope.scoring.cell import reader

            self._readers[dataset, *cell] = reader(
                reading(self.plan, dataset, judge, aspect, perturbation)
            )
        return self._readers[dataset, *cell](text, end, "ok")

    def _warning(self, judge: str, tally: Tally) -> str:
        """Return what is to be said of a judge of whose replies most cannot be read."""
        from judgescope.core.control_chars import coded

        shown = " ".join(coded(tally.example).split())
        cut = f"{shown[:SHOWN]}…" if len(shown) > SHOWN else shown
        return (
            f"warning: {tally.unread.total()} of {tally.replies} replies of judges/{judge}.yaml "
            f"cannot be read: {self._reason(judge, tally.unread.most_common(1)[0][0])}\n"
            f"  such as: {cut!r}\n"
            f"  see:     judgescope replies read {self.study} --judge {judge}"
        )

    def _reason(self, judge: str, status: str) -> str:
        """Return why replies of a status are likely not read, and which key decides."""
        card = self.plan.judges[judge]
        reasons = {
            "truncated": f"cut at `max_tokens: {card.max_tokens}`",
            "empty": f"empty, or reasoning alone within `max_tokens: {card.max_tokens}`",
            "out_of_range": "a value outside the scale (key `scale`)",
            "off_grid": "a value between the steps of the scale (key `scale`)",
            "refused": "the model refuses",
            "unparsed": f"no verdict as the form {card.form} asks for one (keys `form`, `parser`)",
        }
        return reasons.get(status, status)

    def last(self) -> list[str]:
        """Return the last lines of a run: judges with most replies unread, and caps passed."""
        if not self._watches:
            return []
        from judgescope.plan.cost import passed_caps
        from judgescope.replies.notes import clear

        for path in self._watches:
            clear(path)
        totals: dict[str, Tally] = {}
        for _, watch in self._watches.values():
            for judge, tally in watch.tallies.items():
                total = totals.setdefault(judge, Tally())
                total.replies += tally.replies
                total.unread += tally.unread
                total.example = tally.example or total.example
        unread = [self._warning(judge, one) for judge, one in totals.items() if one.mostly_unread]
        return [*unread, *passed_caps(self.plan)]


def main(told: dict[str, Any]) -> None:
    """Look again and again until standard input ends, as it does when the command is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run: what came is told then
    reader = Reader(Path(told["study"]), told["passed"], Path(told["out"]))
    try:
        while True:
            ended, _, _ = select.select([sys.stdin], [], [], LOOK)
            reader.look()
            if ended:
                break
        for line in reader.last():
            print(line, flush=True)
    except Exception as error:  # a run does not depend on it
        print(f"replies are not read while they come: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
