"""Are the errors that judges annotate errors, and are they explained correctly?

There are two questions on each error, as in OpeNLGauge (Kartáč et al. 2025): on its
passage and on its explanation. All voters of a task judge the same errors, each in a
different order. Pages do not show which judge annotated an error. Errors that look the
same are shown once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError, check_known
from judgescope.core.names import SYSTEMS
from judgescope.core.rng import stream
from judgescope.parsing.annotation import SEVERITIES
from judgescope.people import form
from judgescope.people.form import (
    UNANSWERED,
    Question,
    Response,
    Results,
    Statistics,
    Table,
)
from judgescope.plan.study import Plan
from judgescope.schema.tables import read_part
from judgescope.statistics.intervals import deletions
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.result import Estimate
from judgescope.statistics.spans import EXPLANATIONS, SPANS, verdict_shares

SPAN, WHY = "span", "why"
"""The questions on an error: about its passage, and about its explanation."""
OPTIONS: Final[dict[str, form.Options]] = {
    SPAN: (
        ("error", "Yes"),
        ("no_span", "No passage is given"),
        ("not_an_error", "No, the passage is correct"),
        ("hallucination", "The passage is not in the text"),
    ),
    WHY: (
        ("correct", "Correct"),
        ("partially_correct", "Partially correct: part of it is wrong"),
        ("incomplete", "Incomplete: correct, but something is missing"),
        ("vague", "Vague: it would fit many passages"),
        ("incorrect", "Incorrect"),
        ("not_an_error", "It describes no error"),
    ),
}
WORDING: Final = {
    SPAN: "Is there an error in the passage?",
    WHY: "How good is the explanation?",
}
PLACE = ["judge", "dataset", "aspect"]
TOTAL = "total"
COUNTS = [*PLACE, "explanation", *SPANS, TOTAL]
VERDICTS = [*PLACE, "target", "draw", "number", "match", "severity", "voter", SPAN, WHY]
Count = tuple[object, ...]
"""A row of counts.csv."""
QUESTION: Final = {
    "span_ok": SPAN,
    "explanation_ok": WHY,
    "explanation_ok_at_error": WHY,
}
"""Statistic (a share of verdicts) -> its question."""


# --- errors ---------------------------------------------------------------------------


class Error(NamedTuple):
    """An error in a judge's list: its number there, its description, and its position.

    `aspect` is that of a cell. The offsets are None if the quoted words were not found,
    and `location` is None if no words were quoted.
    """

    judge: str
    dataset: str
    aspect: str
    target: str
    draw: int
    number: int
    item: str
    source: str | None
    text: str
    location: str | None
    start: int | None
    end: int | None
    match: str
    explanation: str
    severity: float | None
    category: str | None

    @property
    def key(self) -> tuple[str, str, str, str, int, int]:
        """Return the error's identity and position among all errors of the study."""
        return self[:6]

    @property
    def source_item(self) -> tuple[str, str]:
        """Return the dataset and item that the error belongs to."""
        return self.dataset, self.item

    @property
    def shown(self) -> tuple[str | int | float | None, ...]:
        """Return what people see of the error, except its type, which not all pages
        show.

        Errors can look the same: an ensemble may repeat an error in the words of a
        member.
        """
        place = (
            self.dataset,
            self.target,
            self.aspect,
            self.location,
            self.start,
            self.end,
        )
        return (*place, self.explanation, self.severity)

    @property
    def parts(self) -> tuple[str, str, str] | None:
        """Return the text before, in and after the passage; None if it is not found or
        empty.
        """
        if self.start is None or self.end is None or self.start >= self.end:
            return None
        start, end = self.start, self.end
        return self.text[:start], self.text[start:end], self.text[end:]


Alike = tuple[Error, ...]
"""Errors that look the same."""
Part = tuple[Alike, str]
"""The subject of a question: errors that look the same, and SPAN or WHY."""


def errors_of(
    plan: Plan, out: Path, judges: Collection[str] = (), *, complete: bool = True
) -> list[Error]:
    """Return all errors that judges annotate in texts by systems, as in spans.csv.

    `judges`: their names, by default all that annotate errors. `complete`: judgments of
    all their cells must exist, otherwise of one.
    """
    known = [name for name in (*plan.judges, *plan.derived) if plan.annotates(name)]
    if not known:
        todo = "name a judge whose card has `annotation: {}` or `parser: annotation`"
        raise form.nothing_to_ask(plan, "no judge annotates errors", todo)
    what = "the study has no such judge that annotates errors"
    check_known(judges, known, what, where="--judges")
    files = {
        cell: Path(plan.file(out, "judgments", cell))
        for cell in plan.cell_aspects
        if cell.perturbation == SYSTEMS and cell.judge in (judges or known)
    }
    if not files:
        todo = (
            "use a dataset with texts by systems, and a method for them, such as "
            "agreement"
        )
        raise form.nothing_to_ask(plan, "no texts by systems are judged", todo)
    made = {cell: path for cell, path in files.items() if path.is_file()}
    if complete or not made:
        again = "use the folder `results` from which the pages were made"
        todo = "run the study first: judgescope run STUDY.yaml" if complete else again
        form.check_made(list(dict.fromkeys(files.values())), "judgments", todo)
    sets = {cell.dataset: [SYSTEMS] for cell in made}
    subjects = {
        (dataset, subject.target): subject
        for dataset, texts in form.texts_in(plan, out, sets).items()
        for subject in texts.in_set(SYSTEMS)
    }
    errors = []
    columns = ["target", "draw", "spans", "status"]
    for cell, path in made.items():
        for row in read_part(
            "judgments", path, *split(cell.aspect), columns
        ).to_pylist():
            subject = subjects[cell.dataset, row["target"]]
            spans = row["spans"] if row["status"] == "ok" else None
            for number, span in enumerate(spans or [], start=1):
                fields = {name: span[name] for name in Error._fields if name in span}
                place = (
                    cell.judge,
                    cell.dataset,
                    cell.aspect,
                    subject.target,
                    row["draw"],
                    number,
                )
                text = subject.item, subject.source, subject.text
                errors.append(Error(*place, *text, **fields))
    return errors


# --- pages ----------------------------------------------------------------------------


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    errors: int,
    voters: int,
    judges: Collection[str] = (),
    force: bool = False,
) -> form.Made[Error]:
    """Write the pages of a study into a folder.

    Up to `errors` errors are drawn from each judge, or each of `judges`, in turn from
    its datasets, aspects and items.
    """
    form.check_numbers(errors=errors, voters=voters)
    of_judge = form.grouped(errors_of(plan, out, judges), lambda error: error.judge)
    drawn: form.Drawn[Error] = {
        (judge,): form.balanced(
            sorted(annotated, key=lambda error: error.key),
            stream(plan.study.seed, "annotations", "errors", judge),
            errors,
            kind=lambda error: (error.dataset, error.aspect),
            item=lambda error: error.source_item,
        )
        for judge, annotated in of_judge.items()
    }
    if not drawn:
        raise UserError(
            "there is nothing to ask: no judge annotated an error", where=str(out)
        )
    items = partial(_items, plan)
    made = form.ask(
        plan,
        folder,
        "annotations",
        drawn,
        items,
        voters=voters,
        kind="errors",
        force=force,
    )
    for (judge,), some in drawn.items():
        made.lines.append(f"{judge}: {len(some)} of {len(of_judge[judge]):,} errors")
    return made


def _items(plan: Plan, errors: Iterable[Error], rng: Generator) -> list[form.Item]:
    """Return the items of a voter's page; errors that look the same are one item."""
    ordered = sorted(errors, key=lambda error: error.key)
    kinds = all(error.category for error in ordered)
    alike = form.grouped(
        ordered, lambda error: (*error.shown, error.category if kinds else None)
    )
    groups = form.shuffled([*alike.values()], rng)
    return [_item(plan, tuple(group), kinds=kinds) for group in groups]


def _item(plan: Plan, alike: Alike, *, kinds: bool) -> form.Item:
    error = alike[0]
    details = [("Passage", "", "No passage is given.")]
    if error.location:
        lost = "" if error.parts else "(these words were not found in the text)"
        details = [("Passage", f"“{error.location}”", lost)]
    remark = "" if error.explanation else "No explanation is given."
    details.append(("Explanation", error.explanation, remark))
    if kinds and error.category:
        details.append(("Error type", error.category, ""))
    if error.severity is not None:
        word = SEVERITIES[int(error.severity) - 1]
        details.append(("Severity", f"{word}, {error.severity:g} of 5", ""))
    texts = () if error.parts else (error.text,)
    item = form.item_about(plan, error, questions_on(plan, alike), texts, error.source)
    return item._replace(passage=error.parts, details=tuple(details))


def questions_on(plan: Plan, alike: Alike) -> list[Question[Part]]:
    """Return the questions on errors that look the same: none on a missing passage."""
    if len({error.shown for error in alike}) != 1:
        return []
    name = ".".join(_name(plan, error) for error in alike)
    return [
        Question(f"{name}-{part}", options, (alike, part), WORDING[part], optional=True)
        for part, options in OPTIONS.items()
        if part == WHY or alike[0].location
    ]


def _name(plan: Plan, error: Error) -> str:
    shown = canonical([*error, form.wording_of(plan, error.dataset, error.aspect)])
    return f"e{form.secret(plan, 'annotations', 'error', shown)}"


# --- answers --------------------------------------------------------------------------


class Verdict(NamedTuple):
    """A voter's answers on the passage and the explanation of an error, or UNANSWERED.

    `voter` is a number. `alike` are the errors that look the same, which were shown as
    one.
    """

    error: Error
    alike: Alike
    voter: int
    span: str
    why: str

    @property
    def complete(self) -> bool:
        """Return whether the voter answered both questions."""
        return UNANSWERED not in (self.span, self.why)


def finder(plan: Plan, errors: Iterable[Error]) -> form.Find[Part]:
    """Return a function that finds questions about errors by their ids."""
    named = {_name(plan, error)[1:]: error for error in errors}
    return form.finder(named, partial(questions_on, plan))


def _page(plan: Plan, response: Response[Part]) -> str | None:
    """Return the id of a response's page, if it can be one: all questions on each
    error, once.
    """
    shown = {question.subject[0] for question in response.asked.values()}
    errors = [error for alike in shown for error in alike]
    asked = {question.id for alike in shown for question in questions_on(plan, alike)}
    valid = asked == response.asked.keys() and len(errors) == len({*errors})
    return form.voter_page(response) if valid else None


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the results of a folder of answers; judgments of some cells may be
    missing.
    """
    find = finder(plan, errors_of(plan, out, complete=False))
    responses = form.read_responses(
        folder, lambda _: find, partial(_page, plan), one_voter=True
    )
    verdicts = list(_verdicts(responses))
    statistics, counts = _tables(verdicts, _missing(verdicts, responses))
    rows = [(*v.error.key, v.error.match, v.error.severity, *v[2:]) for v in verdicts]
    tables = {
        "annotations.csv": form.measured_table(
            [*PLACE, "question", "statistic"], statistics
        ),
        "counts.csv": Table(COUNTS, counts),
        "verdicts.csv": Table(VERDICTS, rows),
    }
    about = f"{len(rows)} answers about annotated errors"
    lines = [*_lines(statistics, counts), *form.absent(responses)]
    return Results("annotations", len(responses), about, tables, lines)


def _lines(statistics: Statistics, counts: Sequence[Count]) -> Iterator[str]:
    """Yield each judge's results over all datasets: the counts, then the statistics."""
    for judge in dict.fromkeys(judge for judge, *_ in statistics):
        yield judge or "all judges"
        table = [row[3:] for row in counts if row[:2] == (judge, "")]
        for first, *cells in [COUNTS[3:], *table] if table else []:
            padded = (
                f"{each!s:>{max(5, len(name))}}"
                for name, each in zip(COUNTS[4:], cells, strict=True)
            )
            yield "  " + "  ".join([f"{first:<17}", *padded])
        for (*level, question, name), estimate in statistics.items():
            if level[:2] == [judge, ""]:
                asked = f", {question}" if name not in QUESTION else ""
                left = f", {estimate.n_missing} missing" if estimate.n_missing else ""
                yield f"  {name}{asked}: {form.formatted(estimate)}{left}"


def _verdicts(responses: Iterable[Response[Part]]) -> Iterator[Verdict]:
    """Yield each voter's verdict on each error of the page, in the order of the study's
    errors.
    """
    for voter, response in enumerate(responses, start=1):
        answers = {question.subject: answer for question, answer in response.given}
        shown = [
            (error, alike) for alike, part in answers if part == WHY for error in alike
        ]
        for error, alike in sorted(shown, key=lambda each: each[0].key):
            span = answers.get((alike, SPAN), "no_span")
            yield Verdict(error, alike, voter, span, answers[alike, WHY])


def _missing(
    verdicts: Iterable[Verdict], responses: Sequence[Response[Part]]
) -> dict[Error, int]:
    """Return how many verdicts on each error are missing or incomplete.

    Pages contain the number of voters: verdicts of voters who sent no file are missing.
    Pages of a later round, with more errors, have other questions.
    """
    rounds = {response.questions: response for response in responses}
    planned: Counter[Error] = Counter()
    for response in rounds.values():
        shown = {question.subject[0] for question in response.asked.values()}
        planned.update(dict.fromkeys(chain(*shown), response.voter[1]))
    planned.subtract(verdict.error for verdict in verdicts if verdict.complete)
    return planned


def _tables(
    verdicts: Sequence[Verdict], missing: Mapping[Error, int]
) -> tuple[Statistics, list[Count]]:
    """Return the statistics and counts of every judge, and people's agreement on all
    judges.

    Each judge has rows over all datasets and aspects (""), over all aspects of a
    dataset, and for each of its aspects. The jackknife deletes each source from all of
    them.
    """
    items = sorted({error.source_item for error in missing})
    weights = deletions(len(items))
    code = {item: number for number, item in enumerate(items)}
    levels: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        place = verdict.error[:3]
        for depth in range(4):
            levels.setdefault((*place[:depth], *[""] * (3 - depth)), []).append(verdict)
    statistics: Statistics = {}
    counts: list[Count] = []
    for level, part in sorted(levels.items()):
        if level[0]:
            votes = np.zeros((len(part), len(EXPLANATIONS), len(SPANS)), dtype=np.int64)
            for vote, verdict in zip(votes, part, strict=True):
                if verdict.complete:
                    vote[EXPLANATIONS.index(verdict.why), SPANS.index(verdict.span)] = 1
            table = votes.sum(axis=0)
            for why, row in zip(
                [*EXPLANATIONS, TOTAL], [*table, table.sum(axis=0)], strict=True
            ):
                counts.append((*level, why, *row.tolist(), int(row.sum())))
            source = np.array(
                [code[each.error.source_item] for each in part], dtype=np.int64
            )
            lost = sum(missing[error] for error in {verdict.error for verdict in part})
            for name, share in verdict_shares(votes, source, weights, lost).items():
                statistics[*level, QUESTION[name], name] = share
        for question in OPTIONS:
            alpha = _agreement(question, part, code, weights)
            statistics[*level, question, "alpha_nominal"] = alpha
    return statistics, counts


def _agreement(
    question: str,
    verdicts: Sequence[Verdict],
    code: Mapping[tuple[str, str], int],
    weights: NDArray[np.int64],
) -> Estimate:
    """Return voters' agreement on a question; errors that look the same are one unit.

    code: (dataset, item) -> column of `weights`.
    """
    values = [value for value, _ in OPTIONS[question]]
    voters = sorted({verdict.voter for verdict in verdicts})
    units = list(
        dict.fromkeys(v.alike for v in verdicts if question == WHY or v.error.location)
    )
    given = {
        (v.voter, v.alike): v.span if question == SPAN else v.why for v in verdicts
    }
    answers = [[given.get((voter, unit)) for unit in units] for voter in voters]
    ratings = [
        [values.index(each) if each else np.nan for each in row] for row in answers
    ]
    return krippendorff_alpha(
        np.array(ratings, dtype=np.float64),
        level="nominal",
        domain=range(len(values)),
        source=np.array(
            [code[alike[0].source_item] for alike in units], dtype=np.int64
        ),
        weights=weights,
    ).estimate
