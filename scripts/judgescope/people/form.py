"""The HTML form for all questions to people: drawing samples, writing pages, reading
answers.

Each kind of question is a module with `make`, which draws subjects and writes their
pages, and `read`, which turns answers into tables. Both read the study's tables in a
folder `out`. `make` raises UserError for a number below 1, if tables are missing, and
if there is nothing to ask; `read` raises UserErrors for answers that do not match the
questions, and UserError if answers or tables are missing.

Pages show texts from data and models: the template escapes them all. A file of answers
may come from anybody, so all its content is checked.
"""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from functools import cache
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import yaml
from numpy.random import Generator

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.files import write_text
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.plan.study import Plan
from judgescope.report.html import environment_of, page_from
from judgescope.report.words import plural
from judgescope.schema.cards import Aspect
from judgescope.statistics.result import Estimate

Record = TypeVar("Record")
Named = TypeVar("Named")
Key = TypeVar("Key", bound=Hashable)
Asked = TypeVar("Asked", covariant=True)
Options = tuple[tuple[str, str], ...]
"""(the answer as it is saved, its label), …."""
COMPARED: Options = (
    ("A", "Text 1 is better"),
    ("B", "Text 2 is better"),
    ("C", "There is no difference"),
)
UNDECIDED: Options = (("D", "I cannot decide"),)
UNANSWERED = ""
"""What is saved of an optional question without an answer."""
MAKE_TEXTS = (
    "make the texts first: judgescope run STUDY.yaml, or snakemake texts "
    "--configfile STUDY.yaml"
)
MAX_VOTERS = 9999
"""Page ids contain the number of voters, with at most four digits."""
SECRET = re.compile("[0-9a-f]{32}(?![0-9a-f])")
VOTER = re.compile(r"([1-9][0-9]{0,3})of([1-9][0-9]{0,3})-")
MAX_BYTES = 1 << 20
"""The largest size of a file of answers; a usual one has a few thousand bytes."""
KEYS = {"survey", "task", "voter", "answers"}
UNCHANGED = "use the file as the page saved it"
ONE_VOTER = (
    "each page is for one person, and pages of different runs cannot be mixed: keep "
    "the valid files, and remove the others"
)
NUMBERS = [field.name for field in fields(Estimate)]


class About(Protocol):
    """The subject of a question: something in a dataset, and an aspect."""

    @property
    def dataset(self) -> str: ...  # noqa: D102
    @property
    def aspect(self) -> str: ...  # noqa: D102


Subject = TypeVar("Subject", bound=About)


class Question(NamedTuple, Generic[Asked]):
    """One question: its id, the possible answers, its subject, and its wording ("": the
    page's).
    """

    id: str
    options: Options
    subject: Asked
    label: str = ""
    optional: bool = False

    @property
    def values(self) -> list[str]:
        """Return the allowed answers as they are saved."""
        return [*dict(self.options), *([UNANSWERED] if self.optional else [])]


class Item(NamedTuple):
    """One block of a form: the texts shown, and the questions about them.

    `sources` is empty, or has the source of all texts, or one source for each text.
    `passage` is a text in three parts; the second one is marked.
    """

    questions: tuple[Question[object], ...]
    aspect: Aspect | None = None
    texts: tuple[str, ...] = ()
    sources: tuple[str | None, ...] = ()
    passage: tuple[str, str, str] | None = None
    details: tuple[tuple[str, str, str], ...] = ()
    """(label, text, remark), …; remarks are ours, texts may come from anywhere."""

    @property
    def id(self) -> str:
        """Return the id of the first question."""
        return self.questions[0].id

    @property
    def compares(self) -> bool:
        """Return whether the question asks which of several texts is better."""
        return len(self.texts) > 1


class Page(NamedTuple):
    """The form that one person fills in; `kind` chooses its introduction.

    `id` is saved with the answers, to check that they are complete and belong to this
    page.
    """

    kind: str
    task: str
    file: str
    id: str
    items: Sequence[Item]
    set: int = 1
    definitions: Sequence[tuple[str, str]] = ()


Drawn = dict[tuple[str, ...], list[Record]]
"""Labels of a group -> the records drawn from it."""


class Made(NamedTuple, Generic[Record]):
    """The pages that were written, the records drawn for them by group, and lines to
    print.
    """

    pages: Sequence[Page]
    drawn: Drawn[Record]
    lines: list[str]


# --- checks ---------------------------------------------------------------------------


def check_numbers(**numbers: int) -> None:
    """Raise UserError for a command-line option below 1, or for too many voters."""
    for name, number in numbers.items():
        if number < 1:
            raise UserError(
                "the number must be 1 or greater", where=f"--{name}", got=number
            )
    if (voters := numbers.get("voters", 1)) > MAX_VOTERS:
        allowed = f"1 to {MAX_VOTERS}"
        raise UserError(
            "too many voters", where="--voters", got=voters, allowed=allowed
        )


def check_made(
    needed: Sequence[Path], what: str = "texts", todo: str = MAKE_TEXTS
) -> None:
    """Raise UserError if a file that pages are made from is missing."""
    if absent := [path for path in needed if not path.is_file()]:
        problem = (
            f"{len(absent)} of {len(needed)} files with {what} of the study are missing"
        )
        raise UserError(problem, where=str(absent[0]), todo=todo)


def nothing_to_ask(plan: Plan, reason: str = "", todo: str = "") -> UserError:
    """Return the error for a study that has no questions for people."""
    what = ": ".join(filter(None, ["there is nothing to ask", reason]))
    return UserError(what, where=plan.study.study, todo=todo)


# --- drawing and arranging ------------------------------------------------------------


def balanced(
    records: Sequence[Record],
    rng: Generator,
    limit: int,
    *,
    kind: Callable[[Record], Hashable],
    item: Callable[[Record], Hashable],
) -> list[Record]:
    """Draw up to `limit` of some ordered records without replacement.

    Kinds take turns while they have records; within a kind, the item drawn least often
    so far comes first. A smaller draw is the beginning of a larger one.
    """
    of_kind = grouped(shuffled(records, rng), kind)
    used: Counter[Hashable] = Counter()
    drawn: list[Record] = []
    while len(drawn) < min(limit, len(records)):
        for left in filter(None, of_kind.values()):
            record = min(left, key=lambda each: used[item(each)])
            left.remove(record)
            used[item(record)] += 1
            drawn.append(record)
    return drawn[:limit]


def grouped(
    records: Iterable[Record], key: Callable[[Record], Key]
) -> dict[Key, list[Record]]:
    """Return key -> its records, both in the order of the records."""
    groups: dict[Key, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def shuffled(records: Sequence[Record], rng: Generator) -> list[Record]:
    """Return records in random order."""
    return [records[at] for at in rng.permutation(len(records))]


def half_swapped(
    records: Sequence[Record], rng: Generator
) -> list[tuple[Record, bool]]:
    """Return records in random order, half of them to be shown with their texts
    swapped.
    """
    swapped = rng.permutation(len(records)) % 2 == rng.integers(2)
    return [(records[at], bool(swapped[at])) for at in rng.permutation(len(records))]


def by_aspect(subjects: Iterable[Subject], rng: Generator) -> Iterator[list[Subject]]:
    """Yield the subjects of each aspect, the aspects in random order."""
    groups = grouped(subjects, lambda subject: subject.aspect)
    for name in shuffled(sorted(groups), rng):
        yield groups[name]


# --- pages ----------------------------------------------------------------------------


def texts_in(
    plan: Plan, out: Path, sets: Mapping[str, Sequence[str]]
) -> dict[str, Subjects]:
    """Return dataset -> its texts, of which these sets must have been made."""
    files = [
        file
        for dataset, names in sets.items()
        for file in (
            f"items/{dataset}",
            *(f"targets/{dataset}/{name}" for name in names),
        )
    ]
    check_made([out / f"{file}.parquet" for file in files])
    return {dataset: Subjects(str(out), dataset, plan.study.seed) for dataset in sets}


def secret(plan: Plan, *parts: str) -> str:
    """Return a part of questions' ids; it reveals nothing to people, and depends on the
    seed.
    """
    return f"{stream_seed(plan.study.seed, *parts):032x}"


def wording_of(plan: Plan, dataset: str, aspect: str) -> str:
    """Return a text that changes with everything that a form shows about an aspect."""
    card = plan.aspect_of(dataset, aspect)
    visible = plan.scale_of(dataset, aspect).source_visible
    return canonical((aspect, card.name, card.definition, visible))


def rating_options(plan: Plan, dataset: str, aspect: str) -> Options:
    """Return the values of an aspect's scale, worst first, with their labels; ()
    without steps.

    A scale of labels has no numbers, and no best and worst end if its labels have no
    order.
    """
    scale = plan.scale_of(dataset, aspect)
    names = values = [f"{value:.12g}" for value in scale.values() or []]
    if scale.categorical:
        names = [*scale.labels]
    elif scale.labels:
        names = [
            f"{value}: {label}"
            for value, label in zip(values, scale.labels, strict=True)
        ]
    if scale.best == "min":
        names, values = names[::-1], values[::-1]
    if values and scale.ordered:
        names = [f"{names[0]} (worst)", *names[1:-1], f"{names[-1]} (best)"]
    return tuple(zip(values, names, strict=True))


def item_about(
    plan: Plan,
    about: About,
    questions: Iterable[Question[object]],
    texts: Iterable[str],
    *sources: str | None,
) -> Item:
    """Return the block of questions about texts, with their common source or the source
    of each.

    Sources are omitted if raters of the aspect do not see them.
    """
    visible = plan.scale_of(about.dataset, about.aspect).source_visible and any(sources)
    aspect = plan.aspect_of(about.dataset, about.aspect)
    return Item(tuple(questions), aspect, tuple(texts), sources if visible else ())


def page_id(questions: Iterable[str], prefix: str = "") -> str:
    """Return the id of a page with these questions; `prefix` names its voter."""
    parts = sorted([*questions, *([prefix] if prefix else [])])
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return "-".join(filter(None, [prefix, digest]))


def ask(
    plan: Plan,
    folder: Path,
    streams: str,
    drawn: Drawn[Subject],
    items: Callable[[list[Subject], Generator], list[Item]],
    *,
    voters: int,
    kind: str = "texts",
    force: bool = False,
) -> Made[Subject]:
    """Write a page for each voter and task with drawn subjects; return pages and
    subjects.

    `items` arranges the subjects of a task by a random stream of the voter, so that
    each page has its own order. Raises UserError if nothing was drawn.
    """
    pages, subjects = [], [subject for some in drawn.values() for subject in some]
    for task in tasks_of(plan):
        shown = [each for each in subjects if plan.datasets[each.dataset].task == task]
        for voter in range(1, voters + 1) if shown else ():
            page = items(shown, stream(plan.study.seed, streams, "page", task, voter))
            names = [question.id for item in page for question in item.questions]
            name = page_id(names, f"{voter}of{voters}")
            pages.append(Page(kind, task, f"{task}-voter{voter}.html", name, page))
    if not pages:
        raise nothing_to_ask(plan)
    return Made(pages, drawn, [write_pages(pages, folder, force=force)])


def tasks_of(plan: Plan) -> list[str]:
    """Return the tasks of a study's datasets."""
    return list(dict.fromkeys(card.task for card in plan.datasets.values()))


def write_pages(pages: Sequence[Page], folder: Path, *, force: bool = False) -> str:
    """Write pages into a folder; return a line with the numbers of pages and questions.

    Unless `force` is set, raises UserError instead of changing an existing page, which
    people may already have; with it, pages of other voters are removed, too.
    """
    template = environment_of("people").get_template("page.html.jinja")
    texts = {
        folder / page.file: page_from(template, scripts=["people/save.js"], page=page)
        for page in pages
    }
    others = {*folder.glob("*-voter*.html")} - {*texts}
    others |= {path for path, text in texts.items() if _differs(path, text)}
    if others and not force:
        todo = (
            "choose another folder, or replace the pages with --force if nobody has "
            "them"
        )
        raise UserError(
            "this folder has other pages", where=str(min(others)), todo=todo
        )
    for path in others:
        path.unlink()
    for path, text in texts.items():
        write_text(path, text)
    what = "errors" if pages[0].kind == "errors" else "questions"
    number = sum(len(page.items) for page in pages)
    return f"{folder}: {plural(len(pages), 'page')} with {number:,} {what}"


def _differs(path: Path, text: str) -> bool:
    """Return whether a file exists that has another content."""
    return path.is_file() and path.read_text("utf-8") != text


# --- answers --------------------------------------------------------------------------


class Response(NamedTuple, Generic[Record]):
    """One person's answers to a page, and the questions of the study, both by question
    id.
    """

    survey: str
    task: str
    person: str
    answers: dict[str, str]
    questions: str
    """Identifies the page's questions; pages of other rounds have others."""
    voter: tuple[int, int]
    """The page's voter, number k of n; (0, 0) if the page's id does not name one."""
    asked: Mapping[str, Question[Record]]

    @property
    def given(self) -> Iterator[tuple[Question[Record], str]]:
        """Yield every question with its answer."""
        return (
            (self.asked[question], answer) for question, answer in self.answers.items()
        )


Find = Callable[[str], Question[Record] | None]
"""A question's id -> the question; None if it is not one of the study's."""


def finder(
    named: Mapping[str, Named],
    questions: Callable[[tuple[Named, ...]], Iterable[Question[Record]]],
) -> Find[Record]:
    """Return a function that finds questions by their ids, which contain `secret`
    names.

    named: name -> what it stands for; questions: what an id names -> all questions on
    it.
    """

    @cache  # people answer few of the questions of a large study
    def known(things: tuple[Named, ...]) -> dict[str, Question[Record]]:
        return {question.id: question for question in questions(things)}

    def find(question: str) -> Question[Record] | None:
        names = SECRET.findall(question)
        return known(tuple(named[name] for name in names if name in named)).get(
            question
        )

    return find


def read_responses(
    folder: Path,
    find: Callable[[Response[Record]], Find[Record]],
    page: Callable[[Response[Record]], str | None] = lambda response: (
        response.questions
    ),
    *,
    one_voter: bool = False,
) -> list[Response[Record]]:
    """Return the responses in all files of a folder; duplicate files are read once.

    `page` returns the id of the page with exactly the questions of a response, or None.
    With `one_voter`, each page is for one person and read once, and pages with the same
    questions must be for the same number of voters: otherwise it is unknown who gave
    which answers. Raises UserErrors with the faults of all files, and UserError if
    there are no files.
    """
    responses: dict[Hashable, Response[Record]] = {}
    first: dict[Hashable, tuple[Path, object]] = {}
    faults: list[UserError] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith(".") or path.suffix == ".html":  # the pages themselves
            continue
        try:
            content: Response[Record] = _read(path)
            response = _checked(content, find(content), page, str(path))
            answers, person = response.answers, (response.survey, response.person)
            todo = "keep the valid file, and remove the other"
            same: list[tuple[Hashable, object, str, str]] = [
                (person, response, "conflicting responses from the same voter", todo)
            ]
            if one_voter:
                what = "these are pages for different numbers of voters"
                same.append((response.questions, response.voter[1], what, ONE_VOTER))
                what = "conflicting responses to the same page"
                same.append((response.survey, answers, what, ONE_VOTER))
            for key, value, what, todo in same:
                before, other = first.setdefault(key, (path, value))
                if other != value:
                    got = f"{other} and {value}" if isinstance(value, int) else None
                    where = f"{path}, in conflict with {before}"
                    raise UserError(what, where=where, got=got, todo=todo)
            responses.setdefault(key, response)
        except UserError as error:
            faults.append(error)
    if faults:
        raise UserErrors(faults)
    if not folder.is_dir():
        todo = "name the folder with the files that people sent"
        raise UserError("folder not found", where=str(folder), todo=todo)
    if not responses:
        todo = "put the files that people sent into this folder"
        raise UserError("no answers found", where=str(folder), todo=todo)
    return sorted(
        responses.values(), key=lambda each: (each.questions, each.voter, each.person)
    )


def absent(responses: Sequence[Response[Record]]) -> list[str]:
    """Return a line for each voter of pages with numbered voters from whom there is no
    file.
    """
    there = {(each.questions, *each.voter) for each in responses}
    pages = {each.questions: each for each in responses}
    return [
        f"no file of answers from voter {voter} of {page.voter[1]} ({page.task})"
        for questions, page in pages.items()
        for voter in range(1, page.voter[1] + 1)
        if (questions, voter, page.voter[1]) not in there
    ]


def voter_page(response: Response[Record]) -> str | None:
    """Return the id of the page with a response's questions for its voter; None without
    a voter.
    """
    prefix = response.survey.partition("-")[0]
    return page_id(response.answers, prefix) if response.voter != (0, 0) else None


def _read(path: Path) -> Response[Record]:
    """Return the contents of a file of answers, which may come from anybody."""
    if path.is_dir():
        todo = (
            "move the files of answers in it one folder up, and this folder elsewhere"
        )
        raise UserError(
            "this is a folder, whose files are not read", where=str(path), todo=todo
        )
    if path.suffix.lower() != ".json":
        todo = (
            "if it is a file of answers, rename it so that it ends in .json; or "
            "move it elsewhere"
        )
        raise UserError(
            "the name of this file does not end in .json", where=str(path), todo=todo
        )
    todo = (
        "ask for the file again as the page saved it; or remove it if it has no answers"
    )
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        json.dumps(
            content, ensure_ascii=False
        ).encode()  # an unpaired surrogate cannot be written
    except (OSError, ValueError, RecursionError) as error:
        what = f"this is not a file of answers: {error}"
        raise UserError(what, where=str(path), todo=todo) from None
    keys = set(content) if isinstance(content, dict) else set()
    answers = content["answers"] if keys == KEYS else None
    if not isinstance(answers, dict) or not all(
        isinstance(each, str) for each in answers.values()
    ):
        what = "this is not a file of answers"
        raise UserError(what, where=str(path), allowed=KEYS, todo=todo)
    survey, task, person = (str(content[name]) for name in ("survey", "task", "voter"))
    match = VOTER.match(survey)
    voter, voters = (int(match[1]), int(match[2])) if match else (0, 0)
    number = (voter, voters) if voter <= voters else (0, 0)
    return Response(survey, task, person, answers, page_id(answers), number, {})


def _checked(
    content: Response[Record],
    find: Find[Record],
    page: Callable[[Response[Record]], str | None],
    where: str,
) -> Response[Record]:
    """Return a response with its questions; UserError unless it answers its entire
    page.
    """
    asked = {question: find(question) for question in content.answers}
    if unknown := [question for question, each in asked.items() if each is None]:
        raise UserError(
            "this study does not ask these questions",
            where=where,
            got=min(unknown),
            todo="check that the file belongs to this study and to this kind of "
            "question. If it does, the study's seed, texts, judgments or cards "
            "have changed since its pages were made, or tables are missing: "
            "restore them, or ask people again",
        )
    response = content._replace(
        asked={question: each for question, each in asked.items() if each}
    )
    if not response.answers or page(response) != response.survey:
        reason = "the answers do not match the questions of the page"
        raise UserError(reason, where=where, todo=UNCHANGED)
    for question, answer in response.given:
        if answer not in question.values:
            what, place = (
                "this answer is not an option",
                f"{where}, answer to {question.id}",
            )
            check_known(
                [answer], dict(question.options), what, where=place, todo=UNCHANGED
            )
    return response


# --- results --------------------------------------------------------------------------


class Table(NamedTuple):
    """The columns of a table, and its rows in their order."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


Statistics = dict[tuple[str, ...], Estimate]
"""Labels, which name a statistic and the answers that it was computed from -> its
value."""


def measured_table(labels: Sequence[str], statistics: Statistics) -> Table:
    """Return a table of statistics, with columns for these labels."""
    rows = [(*names, *astuple(estimate)) for names, estimate in statistics.items()]
    return Table([*labels, *NUMBERS], rows)


class Results(NamedTuple):
    """The tables by file name, the lines to print, and the cards made from the answers.

    All are written to `folder` in the study's results. `responses` is the number of
    files that were read, `about` their subject.
    """

    folder: str
    responses: int
    about: str
    tables: Mapping[str, Table]
    lines: list[str]
    cards: Sequence[Mapping[str, object]] = ()

    def write(self, out: Path) -> list[Path]:
        """Write tables (CSV) and cards (YAML, named by their ids) and return their
        paths.
        """
        folder = out / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / name for name in self.tables]
        for path, table in zip(paths, self.tables.values(), strict=True):
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([table.columns, *table.rows])
        for card in self.cards:
            paths.append(folder / f"{next(iter(card.values()))}.yaml")
            write_text(
                paths[-1], yaml.safe_dump(card, sort_keys=False, allow_unicode=True)
            )
        return paths


def formatted(estimate: Estimate) -> str:
    """Return value, interval and n of an estimate as text."""
    if estimate.value is None:
        return f"undefined ({estimate.note})"
    low, high = estimate.ci_low, estimate.ci_high
    bounds = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{estimate.value:.3f}{bounds}, n = {estimate.n}"
