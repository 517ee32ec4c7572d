"""The command `judgescope replies reread`: which stored judgments the present parsers
would change.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from judgescope.cli.context import command_on, plan_and_results
from judgescope.cli.replies import (
    content_of,
    judgments_of,
    match_of,
    no_replies,
    rows_of,
)
from judgescope.cli.terminal import aligned, plain
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.unread_shapes import shortened
from judgescope.plan.applicable import replays
from judgescope.plan.asking_jobs import jobs_of
from judgescope.plan.specs.judging import reading
from judgescope.plan.study import CellAspect, Plan
from judgescope.replies.store import Store
from judgescope.scoring.cell import reader


class Reread(NamedTuple):
    """A stored reply, its stored judgment (None if it was not scored yet), and how it
    is read now.
    """

    judge: str
    aspect: str
    target: str
    text: str
    stored: dict[str, Any] | None
    now: Judgment

    @property
    def moved(self) -> bool:
        """Whether the status, value or label changes."""
        stored = self.stored
        if stored is None:
            return False
        before = stored["status"], stored["value"], stored["label"]
        return before != (self.now.status, self.now.value, self.now.label)


@dataclass
class RereadTally:
    """Counts of one judge's replies."""

    replies: int = 0
    unscored: int = 0
    moved: int = 0
    other_rule: int = 0


@dataclass
class RereadComparison:
    """What changed, by judge, and by old and new status and rule."""

    judges: dict[str, RereadTally] = field(default_factory=dict)
    changes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(judge, old status and rule, new status and rule) -> number."""
    examples: dict[tuple[str, str, str], list[Reread]] = field(default_factory=dict)

    def add(self, reread: Reread) -> None:
        """Count a reply."""
        tally = self.judges.setdefault(reread.judge, RereadTally())
        tally.replies += 1
        stored = reread.stored
        if stored is None:
            tally.unscored += 1
            return
        old = f"{stored['status']} ({stored['rule']})"
        new = f"{reread.now.status} ({reread.now.rule})"
        if not reread.moved:
            tally.other_rule += old != new
            return
        tally.moved += 1
        change = reread.judge, old, new
        self.changes[change] += 1
        examples = self.examples.setdefault(change, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(reread)

    def shown(self) -> Iterator[Reread]:
        """Yield examples: the first of each kind of change, then the second of each,
        and so on.
        """
        ranked = [change for change, _ in self.changes.most_common()]
        remaining = MAX_EXAMPLES
        for number in range(MAX_EXAMPLES):
            for change in ranked:
                if remaining and number < len(self.examples[change]):
                    remaining -= 1
                    yield self.examples[change][number]


def reread(args: argparse.Namespace) -> int:
    """Print which stored judgments the present parsers would change; change nothing."""
    plan, out = plan_and_results(args.study)
    comparison = RereadComparison()
    for reply in rereadings(plan, out):
        comparison.add(reply)
    if not comparison.judges:
        raise no_replies(plan, out / "replies", args.study)
    print("\n".join(lines(comparison, args.study)))
    return 0


def lines(comparison: RereadComparison, study: Path) -> Iterator[str]:
    """Yield the lines that say what the present parsers would change."""
    rows = [["judge", "replies", "moved", "same, by another rule", "not scored yet"]]
    for judge, tally in sorted(comparison.judges.items()):
        line = [
            plain(judge),
            f"{tally.replies:,}",
            f"{tally.moved:,}",
            f"{tally.other_rule:,}",
            f"{tally.unscored:,}",
        ]
        rows.append(line)
    yield from aligned(rows)
    yield ""
    if not comparison.changes:
        yield "The stored judgments are what the present parsers read."
        return
    rows = [["judge", "number", "stored", "read now"]]
    for (judge, old, new), number in comparison.changes.most_common():
        rows.append([plain(judge), f"{number:,}", plain(old), plain(new)])
    yield from aligned(rows)
    yield ""
    rows = [["judge", "aspect", "target", "stored", "read now", "reply"]]
    for example in comparison.shown():
        stored = example.stored
        assert stored is not None, "only judgments that exist move"
        now = example.now
        cells = [
            example.judge,
            example.aspect,
            example.target,
            _verdict(stored["status"], stored["value"], stored["label"]),
            _verdict(now.status, now.value, now.label),
            shortened(example.text),
        ]
        rows.append(list(map(plain, cells)))
    yield from aligned(rows)
    yield ""
    again = command_on("run", study)
    yield f"Nothing was changed. {again} scores all replies in this way."


def _verdict(status: str, value: float | None, label: str | None) -> str:
    if value is None:
        return status
    return f"{value:g} ({label})" if label else f"{value:g}"


def rereadings(plan: Plan, out: Path) -> Iterator[Reread]:
    """Yield every reply of a study's judges, from reply files or else from the store,
    as it is read now.

    Requests that were refused and texts that cannot be judged have no reply.
    """
    for cell, rows in _replies(plan, out):
        judgments = judgments_of(plan, out, cell)
        how = reading(plan, cell.dataset, cell.judge, cell.aspect, cell.perturbation)
        read = reader(how)
        for row in rows:
            if row["status"] != "ok":
                continue
            yield Reread(
                cell.judge,
                cell.aspect,
                row["target"],
                row["text"] or "",
                judgments.get(match_of(row)),
                read(row["text"], row["finish"], row["status"], content_of(row)),
            )


MAX_EXAMPLES: Final = 10
"""How many changed judgments are shown."""


def _replies(
    plan: Plan, out: Path
) -> Iterator[tuple[CellAspect, Sequence[dict[str, Any]]]]:
    for job in jobs_of(plan):
        store = Store(Path(plan.study.store), job.card.served_name)
        # once a job, and only if a reply file is missing
        search = cache(partial(store.find, job.job.key_table))
        for name in job.job.cells:
            cell = CellAspect(job.dataset, *name)
            rows = rows_of("answers", plan.file(out, "replies", cell), cell.aspect)
            yield cell, rows or job.job.rows(name, search(), so_far=True)
    for dataset in plan.datasets:
        for model, card in plan.models.items():
            if replays(card):
                for cell in plan.cell_aspects_of(dataset, model):
                    path = plan.file(out, "replies", cell)
                    yield cell, rows_of("answers", path, cell.aspect)
