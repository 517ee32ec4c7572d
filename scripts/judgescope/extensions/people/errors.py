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
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError, check_known
from judgescope.core.names import SYSTEMS
from judgescope.core.rng import stream
from judgescope.engines.base import Subject
from judgescope.extensions.people import answers, form
from judgescope.extensions.people.answers import (
    FormResults,
    FormTable,
    Response,
    Statistics,
)
from judgescope.extensions.people.form import UNANSWERED, FormQuestion
from judgescope.parsing.annotation import SEVERITIES
from judgescope.plan.study import CellAspect, Plan
from judgescope.schema.tables import read_part
from judgescope.statistics.intervals import deletions
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights
from judgescope.statistics.spans import EXPLANATIONS, SPANS, verdict_shares

SPAN = "span"
"""The question whether the passage of an error is one."""
WHY = "why"
"""The question how good the explanation of an error is."""
OPTIONS: Final[dict[str, form.AnswerOptions]] = {
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
PLACE = ["judge", "dataset", "aspect"]
COUNTS = [*PLACE, "explanation", *SPANS, "total"]
"""The columns of counts.csv; the last one is the sum of those of SPANS."""
QUESTIONS_OF_SHARES: Final = {
    "span_ok": SPAN,
    "explanation_ok": WHY,
    "explanation_ok_at_error": WHY,
}
"""Statistic (a share of verdicts) -> its question."""
Count = tuple[object, ...]
"""A row of counts.csv."""


# --- errors ---------------------------------------------------------------------------


class ShownError(NamedTuple):
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
        return (
            self.dataset,
            self.target,
            self.aspect,
            self.location,
            self.start,
            self.end,
            self.explanation,
            self.severity,
        )

    @property
    def parts(self) -> tuple[str, str, str] | None:
        """Return the text before, in and after the passage; None if it is not found or
        empty.
        """
        if self.start is None or self.end is None or self.start >= self.end:
            return None
        start = self.start
        end = self.end
        return self.text[:start], self.text[start:end], self.text[end:]


Alike = tuple[ShownError, ...]
"""Errors that look the same."""
ErrorQuestion = tuple[Alike, str]
"""The subject of a question: errors that look the same, and SPAN or WHY."""


def errors_of(
    plan: Plan, out: Path, judges: Collection[str] = (), *, complete: bool = True
) -> list[ShownError]:
    """Return all errors that judges annotate in texts by systems, as in spans.csv.

    `judges`: their names, by default all that annotate errors. `complete`: judgments of
    all their cells must exist, otherwise of one.
    """
    files = _judgments_of(plan, out, judges)
    made = {cell: path for cell, path in files.items() if path.is_file()}
    if complete or not made:
        todo = "use the folder `results` from which the pages were made"
        if complete:
            todo = "run the study first: judgescope run STUDY.yaml"
        form.check_made(list(dict.fromkeys(files.values())), "judgments", todo)
    sets = {cell.dataset: [SYSTEMS] for cell in made}
    subjects = {}
    for dataset, texts in form.texts_in(plan, out, sets).items():
        for subject in texts.in_set(SYSTEMS):
            subjects[dataset, subject.target] = subject
    errors: list[ShownError] = []
    columns = ["target", "draw", "spans", "status"]
    for cell, path in made.items():
        table = read_part("judgments", path, *split(cell.aspect), columns)
        for row in table.to_pylist():
            if row["status"] == "ok":
                subject = subjects[cell.dataset, row["target"]]
                errors += _errors_in(cell, row, subject)
    return errors


def _judgments_of(
    plan: Plan, out: Path, judges: Collection[str]
) -> dict[CellAspect, Path]:
    """Return the cells in which judges annotate errors -> their tables of judgments."""
    known = []
    for name in (*plan.judges, *plan.derived):
        if plan.annotates(name):
            known.append(name)
    if not known:
        todo = "name a judge whose card has `annotation: {}` or `parser: annotation`"
        raise form.nothing_to_ask(plan, "no judge annotates errors", todo)
    what = "the study has no such judge that annotates errors"
    check_known(judges, known, what, where="--judges")
    files = {}
    for cell in plan.cell_aspects:
        if cell.perturbation == SYSTEMS and cell.judge in (judges or known):
            files[cell] = Path(plan.file(out, "judgments", cell))
    if not files:
        raise form.nothing_to_ask(
            plan,
            "no texts by systems are judged",
            "use a dataset with texts by systems, and a method for them, such as "
            "agreement",
        )
    return files


def _errors_in(
    cell: CellAspect, judgment: Mapping[str, Any], subject: Subject
) -> Iterator[ShownError]:
    """Yield the errors of a judgment; a judge may give none."""
    for number, span in enumerate(judgment["spans"] or [], start=1):
        yield ShownError(
            judge=cell.judge,
            dataset=cell.dataset,
            aspect=cell.aspect,
            target=subject.target,
            draw=judgment["draw"],
            number=number,
            item=subject.item,
            source=subject.source,
            text=subject.text,
            location=span["location"],
            start=span["start"],
            end=span["end"],
            match=span["match"],
            explanation=span["explanation"],
            severity=span["severity"],
            category=span["category"],
        )


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
) -> form.Made[ShownError]:
    """Write the pages of a study into a folder.

    Up to `errors` errors are drawn from each judge, or each of `judges`, in turn from
    its datasets, aspects and items.
    """
    form.check_numbers(errors=errors, voters=voters)
    by_judge = form.grouped(errors_of(plan, out, judges), lambda error: error.judge)
    drawn: form.DrawnRecords[ShownError] = {}
    for judge, annotated in by_judge.items():
        drawn[judge,] = form.balanced(
            sorted(annotated, key=lambda error: error.key),
            stream(plan.study.seed, "annotations", "errors", judge),
            errors,
            kind=lambda error: (error.dataset, error.aspect),
            item=lambda error: error.source_item,
        )
    if not drawn:
        raise UserError(
            "there is nothing to ask: no judge annotated an error", where=str(out)
        )
    made = form.ask(
        plan,
        folder,
        "annotations",
        drawn,
        partial(_items, plan),
        voters=voters,
        kind="errors",
        force=force,
    )
    for (judge,), shown in drawn.items():
        made.lines.append(f"{judge}: {len(shown)} of {len(by_judge[judge]):,} errors")
    return made


def _items(
    plan: Plan, errors: Iterable[ShownError], rng: Generator
) -> list[form.FormItem]:
    """Return the items of a voter's page; errors that look the same are one item."""
    ordered = sorted(errors, key=lambda error: error.key)
    kinds = all(error.category for error in ordered)
    alike: dict[tuple[object, ...], list[ShownError]] = {}
    for error in ordered:
        look = (*error.shown, error.category if kinds else None)
        alike.setdefault(look, []).append(error)
    groups = form.shuffled(list(alike.values()), rng)
    return [_item(plan, tuple(group), kinds=kinds) for group in groups]


def _item(plan: Plan, alike: Alike, *, kinds: bool) -> form.FormItem:
    error = alike[0]
    details = [_passage_detail(error)]
    remark = "" if error.explanation else "No explanation is given."
    details.append(("Explanation", error.explanation, remark))
    if kinds and error.category:
        details.append(("Error type", error.category, ""))
    if error.severity is not None:
        word = SEVERITIES[int(error.severity) - 1]
        details.append(("Severity", f"{word}, {error.severity:g} of 5", ""))
    texts: tuple[str, ...] = ()
    if not error.parts:
        texts = (error.text,)
    item = form.item_about(plan, error, questions_on(plan, alike), texts, error.source)
    return item._replace(passage=error.parts, details=tuple(details))


def _passage_detail(error: ShownError) -> tuple[str, str, str]:
    if not error.location:
        return "Passage", "", "No passage is given."
    remark = "(these words were not found in the text)"
    if error.parts:
        remark = ""
    return "Passage", f"“{error.location}”", remark


def questions_on(plan: Plan, alike: Alike) -> list[FormQuestion[ErrorQuestion]]:
    """Return the questions on errors that look the same: none on a missing passage."""
    if len({error.shown for error in alike}) != 1:
        return []
    wording = {
        SPAN: "Is there an error in the passage?",
        WHY: "How good is the explanation?",
    }
    name = ".".join(_name(plan, error) for error in alike)
    questions = []
    for part, options in OPTIONS.items():
        if part == SPAN and not alike[0].location:
            continue
        question = FormQuestion(
            f"{name}-{part}", options, (alike, part), wording[part], optional=True
        )
        questions.append(question)
    return questions


def _name(plan: Plan, error: ShownError) -> str:
    shown = canonical([*error, form.wording_of(plan, error.dataset, error.aspect)])
    return f"e{form.secret(plan, 'annotations', 'error', shown)}"


# --- answers --------------------------------------------------------------------------


class Verdict(NamedTuple):
    """A voter's answers on the passage and the explanation of an error, or UNANSWERED.

    `voter` is a number. `alike` are the errors that look the same, which were shown as
    one.
    """

    error: ShownError
    alike: Alike
    voter: int
    span: str
    why: str

    @property
    def complete(self) -> bool:
        """Return whether the voter answered both questions."""
        return UNANSWERED not in (self.span, self.why)


def finder(plan: Plan, errors: Iterable[ShownError]) -> answers.Find[ErrorQuestion]:
    """Return a function that finds questions about errors by their ids."""
    named = {_name(plan, error)[1:]: error for error in errors}
    return answers.finder(named, partial(questions_on, plan))


def _page(plan: Plan, response: Response[ErrorQuestion]) -> str | None:
    """Return the id of a response's page, if it can be one: all questions on each
    error, once.
    """
    errors: list[ShownError] = []
    questions: set[str] = set()
    for alike in _shown_in(response):
        errors += alike
        questions.update(question.id for question in questions_on(plan, alike))
    if questions != response.asked.keys() or len(errors) != len(set(errors)):
        return None
    return answers.voter_page(response)


def _shown_in(response: Response[ErrorQuestion]) -> set[Alike]:
    """Return the errors on a response's page, those that look the same as one."""
    return {question.subject[0] for question in response.asked.values()}


def read(plan: Plan, out: Path, folder: Path) -> FormResults:
    """Return the results of a folder of answers; judgments of some cells may be
    missing.
    """
    find = finder(plan, errors_of(plan, out, complete=False))
    responses = answers.read_responses(
        folder, lambda _: find, partial(_page, plan), one_voter=True
    )
    verdicts = list(_verdicts(responses))
    statistics, counts = _tables(verdicts, _missing(verdicts, responses))
    verdict_columns = [*PLACE, "target", "draw", "number", "match", "severity"]
    verdict_columns += ["voter", SPAN, WHY]
    rows = []
    for verdict in verdicts:
        error = verdict.error
        given = (verdict.voter, verdict.span, verdict.why)
        rows.append((*error.key, error.match, error.severity, *given))
    tables = {
        "annotations.csv": answers.measured_table(
            [*PLACE, "question", "statistic"], statistics
        ),
        "counts.csv": FormTable(COUNTS, counts),
        "verdicts.csv": FormTable(verdict_columns, rows),
    }
    about = f"{len(rows)} answers about annotated errors"
    lines = [*_lines(statistics, counts), *answers.absent(responses)]
    return FormResults("annotations", len(responses), about, tables, lines)


def _lines(statistics: Statistics, counts: Sequence[Count]) -> Iterator[str]:
    """Yield each judge's results over all datasets: the counts, then the statistics."""
    for judge in dict.fromkeys(labels[0] for labels in statistics):
        yield judge or "all judges"
        table = [row[3:] for row in counts if row[:2] == (judge, "")]
        if table:
            header = COUNTS[3:]
            for row in [header, *table]:
                yield _count_line(row, header)
        for (*level, question, name), estimate in statistics.items():
            if level[:2] != [judge, ""]:
                continue
            line = f"  {name}"
            if name not in QUESTIONS_OF_SHARES:
                line += f", {question}"
            line += f": {answers.formatted(estimate)}"
            if estimate.n_missing:
                line += f", {estimate.n_missing} missing"
            yield line


def _count_line(row: Sequence[object], header: Sequence[str]) -> str:
    """Return a row of counts, each below its column's name."""
    line = f"  {row[0]:<17}"
    for name, cell in zip(header[1:], row[1:], strict=True):
        line += "  " + str(cell).rjust(max(5, len(name)))
    return line


def _verdicts(responses: Iterable[Response[ErrorQuestion]]) -> Iterator[Verdict]:
    """Yield each voter's verdict on each error of the page, in the order of the study's
    errors.
    """
    for voter, response in enumerate(responses, start=1):
        given = {question.subject: answer for question, answer in response.given}
        verdicts = []
        for alike in _shown_in(response):
            span = given.get((alike, SPAN), "no_span")
            why = given[alike, WHY]
            verdicts += [Verdict(error, alike, voter, span, why) for error in alike]
        yield from sorted(verdicts, key=lambda verdict: verdict.error.key)


def _missing(
    verdicts: Iterable[Verdict], responses: Sequence[Response[ErrorQuestion]]
) -> dict[ShownError, int]:
    """Return how many verdicts on each error are missing or incomplete.

    Pages contain the number of voters: verdicts of voters who sent no file are missing.
    Pages of a later round, with more errors, have other questions.
    """
    rounds = {response.questions: response for response in responses}
    planned: Counter[ShownError] = Counter()
    for response in rounds.values():
        for error in set(chain.from_iterable(_shown_in(response))):
            planned[error] += response.voter[1]
    planned.subtract(verdict.error for verdict in verdicts if verdict.complete)
    return planned


def _tables(
    verdicts: Sequence[Verdict], missing: Mapping[ShownError, int]
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
    statistics: Statistics = {}
    counts: list[Count] = []
    for level, part in sorted(_by_level(verdicts).items()):
        if level[0]:
            votes = _votes(part)
            counts += _count_rows(level, votes.sum(axis=0))
            lost_of = {}
            sources = []
            for verdict in part:
                lost_of[verdict.error] = missing[verdict.error]
                sources.append(code[verdict.error.source_item])
            source = np.array(sources, dtype=np.int64)
            lost = sum(lost_of.values())
            for name, share in verdict_shares(votes, source, weights, lost).items():
                statistics[*level, QUESTIONS_OF_SHARES[name], name] = share
        for question in OPTIONS:
            alpha = _agreement(question, part, code, weights)
            statistics[*level, question, "alpha_nominal"] = alpha
    return statistics, counts


def _by_level(
    verdicts: Iterable[Verdict],
) -> dict[tuple[str, ...], list[Verdict]]:
    """Return (judge, dataset, aspect) -> its verdicts; "" stands for all of them."""
    levels: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        labels = (verdict.error.judge, verdict.error.dataset, verdict.error.aspect)
        for depth in range(len(labels) + 1):
            all_others = [""] * (len(labels) - depth)
            level = (*labels[:depth], *all_others)
            levels.setdefault(level, []).append(verdict)
    return levels


def _votes(verdicts: Sequence[Verdict]) -> NDArray[np.int64]:
    """Return complete verdicts as ones: (verdict, its EXPLANATIONS, its SPANS)."""
    shape = (len(verdicts), len(EXPLANATIONS), len(SPANS))
    votes = np.zeros(shape, dtype=np.int64)
    for vote, verdict in zip(votes, verdicts, strict=True):
        if verdict.complete:
            vote[EXPLANATIONS.index(verdict.why), SPANS.index(verdict.span)] = 1
    return votes


def _count_rows(level: tuple[str, ...], table: NDArray[np.int64]) -> Iterator[Count]:
    """Yield the rows of counts.csv for a table of EXPLANATIONS by SPANS."""
    for explanation, row in zip(EXPLANATIONS, table, strict=True):
        yield (*level, explanation, *row.tolist(), int(row.sum()))
    total = table.sum(axis=0)
    yield (*level, "total", *total.tolist(), int(total.sum()))


def _agreement(
    question: str,
    verdicts: Sequence[Verdict],
    code: Mapping[tuple[str, str], int],
    weights: Weights,
) -> Estimate:
    """Return voters' agreement on a question; errors that look the same are one unit.

    code: (dataset, item) -> column of `weights`.
    """
    values = list(dict(OPTIONS[question]))
    ratings: dict[Alike, dict[int, float]] = {}
    for verdict in verdicts:
        if question == WHY:
            answer = verdict.why
        elif verdict.error.location:
            answer = verdict.span
        else:
            continue
        given = ratings.setdefault(verdict.alike, {})
        given[verdict.voter] = values.index(answer) if answer else np.nan
    voters = sorted({verdict.voter for verdict in verdicts})
    by_unit = []
    for given in ratings.values():
        by_unit.append([given.get(voter, np.nan) for voter in voters])
    sources = [code[alike[0].source_item] for alike in ratings]
    return krippendorff_alpha(
        np.array(by_unit, dtype=np.float64).reshape(-1, len(voters)).T,
        level="nominal",
        domain=range(len(values)),
        source=np.array(sources, dtype=np.int64),
        weights=weights,
    ).estimate
