"""The answers of people who filled in pages, and the tables made from them.

A file of answers may come from anybody, so all its content is checked.
"""

import csv
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import yaml

from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.files import write_text
from judgescope.extensions.people.form import FormQuestion, page_id
from judgescope.statistics.result import Estimate

Record = TypeVar("Record")
Named = TypeVar("Named")
ASK_AGAIN = (
    "ask for the file again as the page saved it; or remove it if it has no answers"
)


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
    asked: Mapping[str, FormQuestion[Record]]

    @property
    def given(self) -> Iterator[tuple[FormQuestion[Record], str]]:
        """Yield every question with its answer."""
        for question, answer in self.answers.items():
            yield self.asked[question], answer


Find = Callable[[str], FormQuestion[Record] | None]
"""A question's id -> the question; None if it is not one of the study's."""


def finder(
    named: Mapping[str, Named],
    questions: Callable[[tuple[Named, ...]], Iterable[FormQuestion[Record]]],
) -> Find[Record]:
    """Return a function that finds questions by their ids, which contain `secret`
    names.

    named: name -> what it stands for; questions: what an id names -> all questions on
    it.
    """

    @cache  # people answer few of the questions of a large study
    def known(things: tuple[Named, ...]) -> dict[str, FormQuestion[Record]]:
        return {question.id: question for question in questions(things)}

    def find(question: str) -> FormQuestion[Record] | None:
        names = re.findall("[0-9a-f]{32}(?![0-9a-f])", question)
        things = tuple(named[name] for name in names if name in named)
        return known(things).get(question)

    return find


class Identity(NamedTuple):
    """Something that several files can share, and what must then be equal in them."""

    key: Hashable
    content: object
    conflict: str
    """What is wrong if the contents differ."""
    todo: str


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
        is_page = path.suffix == ".html"
        if path.name.startswith(".") or is_page:
            continue
        try:
            content: Response[Record] = _read(path)
            response = _checked(content, find(content), page, str(path))
            identities = _identities(response, one_voter=one_voter)
            _check_consistent(identities, path, first)
        except UserError as error:
            faults.append(error)
        else:
            responses.setdefault(identities[-1].key, response)
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


def _identities(response: Response[Record], *, one_voter: bool) -> list[Identity]:
    """Return what other files can share with a response; the last one names its
    duplicates.
    """
    person = Identity(
        (response.survey, response.person),
        response,
        "conflicting responses from the same voter",
        "keep the valid file, and remove the other",
    )
    if not one_voter:
        return [person]
    todo = (
        "each page is for one person, and pages of different runs cannot be mixed: "
        "keep the valid files, and remove the others"
    )
    round_of_pages = Identity(
        response.questions,
        response.voter[1],
        "these are pages for different numbers of voters",
        todo,
    )
    page = Identity(
        response.survey,
        response.answers,
        "conflicting responses to the same page",
        todo,
    )
    return [person, round_of_pages, page]


def _check_consistent(
    identities: Iterable[Identity],
    path: Path,
    first: dict[Hashable, tuple[Path, object]],
) -> None:
    """Raise UserError if a file contradicts an earlier one.

    first: key of an identity -> the first file that has it, and its content there; the
    new ones are added.
    """
    for identity in identities:
        content = identity.content
        earlier, expected = first.setdefault(identity.key, (path, content))
        if content == expected:
            continue
        got = None
        if isinstance(content, int):
            got = f"{expected} and {content}"
        raise UserError(
            identity.conflict,
            where=f"{path}, in conflict with {earlier}",
            got=got,
            todo=identity.todo,
        )


def absent(responses: Sequence[Response[Record]]) -> list[str]:
    """Return a line for each voter of pages with numbered voters from whom there is no
    file.
    """
    received = {(each.questions, each.voter) for each in responses}
    pages = {each.questions: each for each in responses}
    lines = []
    for questions, page in pages.items():
        voters = page.voter[1]
        for voter in range(1, voters + 1):
            if (questions, (voter, voters)) not in received:
                lines.append(
                    f"no file of answers from voter {voter} of {voters} ({page.task})"
                )
    return lines


def voter_page(response: Response[Record]) -> str | None:
    """Return the id of the page with a response's questions for its voter; None without
    a voter.
    """
    if response.voter == (0, 0):
        return None
    prefix = response.survey.partition("-")[0]
    return page_id(response.answers, prefix)


def _read(path: Path) -> Response[Record]:
    """Return the contents of a file of answers, which may come from anybody."""
    _check_file(path)
    keys = {"survey", "task", "voter", "answers"}
    content = _json_of(path)
    answers: object = None
    if isinstance(content, dict) and content.keys() == keys:
        answers = content["answers"]
    if not isinstance(answers, dict) or not _only_texts(answers.values()):
        raise UserError(
            "this is not a file of answers",
            where=str(path),
            allowed=keys,
            todo=ASK_AGAIN,
        )
    survey = str(content["survey"])
    return Response(
        survey=survey,
        task=str(content["task"]),
        person=str(content["voter"]),
        answers=answers,
        questions=page_id(answers),
        voter=_voter_of(survey),
        asked={},
    )


def _only_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _check_file(path: Path) -> None:
    """Raise UserError if a path cannot be a file of answers."""
    if path.is_dir():
        raise UserError(
            "this is a folder, whose files are not read",
            where=str(path),
            todo="move the files of answers in it one folder up, and this folder "
            "elsewhere",
        )
    if path.suffix.lower() != ".json":
        raise UserError(
            "the name of this file does not end in .json",
            where=str(path),
            todo="if it is a file of answers, rename it so that it ends in .json; or "
            "move it elsewhere",
        )


def _json_of(path: Path) -> Any:
    """Return the JSON value in a file of answers; UserError if it has none."""
    max_bytes = 1 << 20  # a usual file has a few thousand
    try:
        if path.stat().st_size > max_bytes:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        # JSON can hold an unpaired surrogate, which no table can.
        json.dumps(content, ensure_ascii=False).encode()
    except (OSError, ValueError, RecursionError) as error:
        what = f"this is not a file of answers: {error}"
        raise UserError(what, where=str(path), todo=ASK_AGAIN) from None
    return content


def _voter_of(survey: str) -> tuple[int, int]:
    """Return number k of n voters from a page's id, (0, 0) if it does not name one."""
    match = re.match(r"([1-9][0-9]{0,3})of([1-9][0-9]{0,3})-", survey)
    if not match:
        return 0, 0
    voter = int(match[1])
    voters = int(match[2])
    if voter <= voters:
        return (voter, voters)
    return (0, 0)


def _checked(
    content: Response[Record],
    find: Find[Record],
    page: Callable[[Response[Record]], str | None],
    where: str,
) -> Response[Record]:
    """Return a response with its questions; UserError unless it answers its entire
    page.
    """
    todo = "use the file as the page saved it"
    asked = {}
    unknown = []
    for name in content.answers:
        question = find(name)
        if question is None:
            unknown.append(name)
        else:
            asked[name] = question
    if unknown:
        raise UserError(
            "this study does not ask these questions",
            where=where,
            got=min(unknown),
            todo="check that the file belongs to this study and to this kind of "
            "question. If it does, the study's seed, texts, judgments or cards "
            "have changed since its pages were made, or tables are missing: "
            "restore them, or ask people again",
        )
    response = content._replace(asked=asked)
    if not response.answers or page(response) != response.survey:
        reason = "the answers do not match the questions of the page"
        raise UserError(reason, where=where, todo=todo)
    for question, answer in response.given:
        if answer not in question.values:
            check_known(
                [answer],
                dict(question.options),
                "this answer is not an option",
                where=f"{where}, answer to {question.id}",
                todo=todo,
            )
    return response


# --- results --------------------------------------------------------------------------


class FormTable(NamedTuple):
    """The columns of a table, and its rows in their order."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


Statistics = dict[tuple[str, ...], Estimate]
"""Labels, which name a statistic and the answers that it was computed from -> its
value."""


def measured_table(labels: Sequence[str], statistics: Statistics) -> FormTable:
    """Return a table of statistics, with columns for these labels."""
    numbers = [field.name for field in fields(Estimate)]
    rows = [(*names, *astuple(estimate)) for names, estimate in statistics.items()]
    return FormTable([*labels, *numbers], rows)


class FormResults(NamedTuple):
    """The tables by file name, the lines to print, and the cards made from the answers.

    All are written to `folder` in the study's results. `responses` is the number of
    files that were read, `about` their subject.
    """

    folder: str
    responses: int
    about: str
    tables: Mapping[str, FormTable]
    lines: list[str]
    cards: Sequence[Mapping[str, object]] = ()

    def write(self, out: Path) -> list[Path]:
        """Write tables (CSV) and cards (YAML, named by their ids) and return their
        paths.
        """
        folder = out / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, table in self.tables.items():
            path = folder / name
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(table.columns)
                writer.writerows(table.rows)
            paths.append(path)
        for card in self.cards:
            card_id = next(iter(card.values()))
            path = folder / f"{card_id}.yaml"
            text = yaml.safe_dump(card, sort_keys=False, allow_unicode=True)
            write_text(path, text)
            paths.append(path)
        return paths


def formatted(estimate: Estimate) -> str:
    """Return value, interval and n of an estimate as text."""
    if estimate.value is None:
        return f"undefined ({estimate.note})"
    low = estimate.ci_low
    high = estimate.ci_high
    bounds = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{estimate.value:.3f}{bounds}, n = {estimate.n}"
