"""The pages on which people judge errors: the form of paper 004, for each error two questions.

All voters of a task judge the same errors, each in an order of their own. Nobody is told which
judge annotated one. Errors that look the same are asked about once.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.parsing.annotation import SEVERITIES
from judgescope.people.errors.samples import (
    Error,
    annotators,
    cells_of,
    errors_of,
    files_of,
    name_of,
)
from judgescope.people.pages import Options, check_made, check_numbers, write_pages
from judgescope.people.responses import id_of
from judgescope.people.sampling import balanced
from judgescope.plan import Plan
from judgescope.schema.cards import Aspect
from judgescope.statistics.validity import EXPLANATIONS, SPANS

SPAN, WHY = "span", "why"
"""The questions on an error: about its passage, and about its explanation."""
OF_SPANS: Final = dict(
    zip(
        SPANS,
        (
            "Yes, there is one",
            "No passage is given",
            "No, nothing is wrong there",
            "The passage is not in the text",
        ),
        strict=True,
    )
)
OF_EXPLANATIONS: Final = dict(
    zip(
        EXPLANATIONS,
        (
            "Correct",
            "Partially correct: something in it is wrong",
            "Incomplete: right, but something is left out",
            "Vague: it could be said of many passages",
            "Incorrect",
            "It describes no error",
        ),
        strict=True,
    )
)
LABELS: Final = {SPAN: OF_SPANS, WHY: OF_EXPLANATIONS}


class AskedError(NamedTuple):
    """An error as a page shows it; `source` where people may see it, `category` if it has any.

    `name` is that of the error, or, with dots, those of all that look like it.
    """

    name: str
    told: Aspect
    error: Error
    source: str | None
    category: str | None

    @property
    def severity(self) -> str | None:
        """Return the word for how severe the judge finds the error, and its number."""
        number = self.error.severity
        return None if number is None else f"{SEVERITIES[int(number) - 1]}, {number:g} of 5"

    @property
    def questions(self) -> dict[str, Options]:
        """Return the name of each question -> what may be answered."""
        return {
            f"{self.name}-{one}": tuple(LABELS[one].items()) for one in questions_on(self.error)
        }


class Page(NamedTuple):
    """What one of some voters is asked of the errors in texts of a task."""

    task: str
    voter: int
    voters: int
    questions: Sequence[AskedError]

    @property
    def file(self) -> str:
        """Return the name of the page's file."""
        return f"{self.task}-voter{self.voter}.html"

    @property
    def id(self) -> str:
        """Return what answers name: whose page of how many, and that no question is missing."""
        return page_id(
            (name for one in self.questions for name in one.questions), (self.voter, self.voters)
        )


class Draw(NamedTuple):
    """The errors that were drawn of a judge's, and how many it annotated."""

    judge: str
    errors: Sequence[Error]
    of: int


def page_id(questions: Iterable[str], voter: tuple[int, int]) -> str:
    """Return the name of a page with these questions: that of voter k of n."""
    place = "of".join(map(str, voter))
    return f"{place}-{id_of([*questions, place])}"


def questions_on(error: Error) -> list[str]:
    """Return what is asked about an error; that no passage is given needs no judge."""
    return [SPAN, WHY] if error.location else [WHY]


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    home: Path,
    *,
    errors: int,
    voters: int,
    judges: Collection[str] = (),
) -> tuple[list[Page], list[Draw]]:
    """Write the pages of a study whose tables are in `out`; return them, and what was drawn.

    Up to so many `errors` are drawn of each judge, or of the `judges` that are named. `home` is
    the workflow's folder.
    """
    check_numbers(errors=errors, voters=voters)
    cells = cells_of(plan, annotators(plan, judges))
    check_made(
        files_of(plan, out, cells),
        "judgments",
        "run the study first: judgescope run, with the study's file",
    )
    draws = draws_of(plan.study.seed, errors_of(plan, out, cells), errors)
    if not draws:
        raise UserError("there is nothing to ask: no judge found an error", where=str(out))
    made = list(pages_of(plan, draws, voters))
    write_pages(made, folder, home, "errors.html.jinja")
    return made, draws


def draws_of(seed: int, errors: Iterable[Error], most: int) -> list[Draw]:
    """Return up to `most` errors of each judge; its datasets and aspects take turns, and items."""
    of_judge: dict[str, list[Error]] = {}
    for error in errors:
        of_judge.setdefault(error.judge, []).append(error)
    found = []
    for judge, own in of_judge.items():
        some = balanced(
            sorted(own, key=lambda one: one.place),
            stream(seed, "annotations", "errors", judge),
            most,
            kind=lambda one: (one.dataset, one.aspect),
            item=lambda one: (one.dataset, one.item),
        )
        found.append(Draw(judge, some, len(own)))
    return found


def pages_of(plan: Plan, draws: Sequence[Draw], voters: int) -> Iterator[Page]:
    """Yield the pages of each task, for each voter one: all judges' errors are mixed."""
    for task in dict.fromkeys(card.task for card in plan.datasets.values()):
        errors = [one for draw in draws for one in draw.errors]
        own = asked(plan, [one for one in errors if plan.datasets[one.dataset].task == task])
        for voter in range(1, voters + 1) if own else ():
            order = stream(plan.study.seed, "annotations", "page", task, voter)
            yield Page(task, voter, voters, [own[at] for at in order.permutation(len(own))])


def asked(plan: Plan, errors: Sequence[Error]) -> list[AskedError]:
    """Return a task's errors as people are shown them, those that look the same once.

    The kind of error is shown if all have one: else it would tell some judges from others.
    """
    kinds = all(one.category for one in errors)
    alike: dict[tuple[object, ...], list[Error]] = {}
    for one in sorted(errors, key=lambda one: one.place):
        alike.setdefault((*one.shown, one.category if kinds else None), []).append(one)
    return [_asked(plan, own, kinds=kinds) for own in alike.values()]


def _asked(plan: Plan, alike: Sequence[Error], *, kinds: bool) -> AskedError:
    name, one = ".".join(name_of(plan, error) for error in alike), alike[0]
    visible = plan.scale_of(one.dataset, one.aspect).source_visible
    return AskedError(
        name,
        plan.aspect_of(one.dataset, one.aspect),
        one,
        one.source or None if visible else None,
        one.category if kinds else None,
    )
