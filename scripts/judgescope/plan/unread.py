"""Stored and recorded replies of a study that its parsers cannot read, for `check`."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from judgescope.core.names import CONTENT
from judgescope.engines.base import Answer
from judgescope.parsing.parsers import ReplyReader
from judgescope.parsing.unread_shapes import UnreadReplies, read_remedy
from judgescope.plan.judges import parser_of
from judgescope.plan.specs.judging import reading
from judgescope.plan.study import CellAspect, Plan
from judgescope.replies.lookup import StoredReplies
from judgescope.replies.questions import QuestionPlan
from judgescope.scoring.cell import reader

SAMPLE: Final = 1_000
"""About how many replies of a judge are read, of evenly spread texts or pairs."""


class StudyReplies:
    """The unread replies of each judge of a study that writes replies.

    Sends no request: it reads what is stored or recorded already.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.judges: dict[str, UnreadReplies] = {}
        self._sampled: set[str] = set()
        self._reader = cache(self._new_reader)

    def _new_reader(self, cell: CellAspect) -> ReplyReader:
        dataset, perturbation, judge, aspect = cell
        return reader(reading(self.plan, dataset, judge, aspect, perturbation))

    def _add(
        self,
        cell: CellAspect,
        text: str,
        finish: str,
        status: str,
        content: str | None = None,
    ) -> None:
        judgment = self._reader(cell)(text, finish, status, content)
        self.judges.setdefault(cell.judge, UnreadReplies()).add(text, judgment)

    def add_recorded(
        self, cell: CellAspect, answers: Sequence[Sequence[Answer]]
    ) -> None:
        """Read the recorded replies of a cell, all or an even sample; ignore recorded
        scores.
        """
        if self.plan.computes(self.plan.judges[cell.judge].model):
            return
        step = self._step(cell.judge, sum(len(draws) for draws in answers))
        for draws in answers[::step]:
            for answer in draws:
                self._add(cell, answer.text, "stop", answer.status)

    def add_stored(
        self, dataset: str, job: QuestionPlan, stored: StoredReplies
    ) -> None:
        """Read the stored replies to a job's requests: all, or an even sample of a
        judge's.
        """
        cells = list(job.cells)
        owners = job.cell_numbers()
        table = stored.key_table
        for judge in dict.fromkeys(judge for _, judge, _ in cells):
            places = job.places(judge)
            step = self._step(judge, int(table.draws[places].sum()))
            for index in places[::step].tolist():
                # A request that judges share is listed for the first of them.
                perturbation, _, aspect = cells[int(owners[index])]
                cell = CellAspect(dataset, perturbation, judge, aspect)
                first = int(table.first[index])
                for slot in range(first, first + int(table.draws[index])):
                    if stored.has(slot):
                        reply = stored.reply(slot)
                        content = (reply.provenance or {}).get(CONTENT)
                        self._add(cell, reply.text, reply.finish, reply.status, content)

    def _step(self, judge: str, n_replies: int) -> int:
        """Return of how many texts one is read, and note that it is a sample."""
        step = max(1, n_replies // SAMPLE)
        if step > 1:
            self._sampled.add(judge)
        return step

    def lines(self) -> Iterator[str]:
        """Yield a warning for each judge of whose replies more than a tenth is unread
        or without text: what would help, and the commonest shapes.
        """
        for judge, replies in sorted(self.judges.items()):
            if not replies.many:
                continue
            remedy = read_remedy(parser_of(self.plan, judge))
            replied = "replies"
            if judge in self._sampled:
                replied = "sampled replies"
            without = replies.unread + replies.without_text
            yield (
                f"warning: {without:,} of {replies.replies:,} {replied} of "
                f"judges/{judge}.yaml have no verdict that its parser finds"
            )
            for line in replies.remedies(remedy):
                yield f"  {line}"
            for line in replies.commonest():
                yield f"  {line}"
