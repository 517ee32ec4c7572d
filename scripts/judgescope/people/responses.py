"""The files in which forms save people's answers: how a folder of them is read and checked."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError, UserErrors

MAX_BYTES = 1 << 20
"""A file of answers has a few thousand."""
KEYS = {"survey", "task", "voter", "answers"}
VOTER = re.compile(r"([1-9][0-9]{0,3})of([1-9][0-9]{0,3})")
INCOMPLETE = "a question has no answer, or an answer no question"
UNCHANGED = "take the file as the page saved it"


class Response(NamedTuple):
    """One person's answers to the questions of one page: question -> answer."""

    survey: str
    task: str
    voter: str
    answers: dict[str, str]

    @property
    def voter_number(self) -> tuple[int, int] | None:
        """Return whose page it is, voter k of n; None: the page's id does not say so."""
        match = VOTER.fullmatch(self.survey.partition("-")[0])
        number = (int(match[1]), int(match[2])) if match else None
        return number if number and number[0] <= number[1] else None

    @property
    def voters(self) -> int:
        """Return for how many voters the pages were made; 0: the page's id does not say so."""
        return self.voter_number[1] if self.voter_number else 0


Allowed = Callable[[str], Collection[str] | None]
"""What may be answered to a question; None to one that the study does not ask."""
Form = Callable[[Response], tuple[str | None, Allowed]]
"""The id of the page that has exactly a response's questions (None: no page has), and `Allowed`."""


def read_responses(folder: Path, form: Form) -> dict[str, Response]:
    """Return path -> what each file of a folder holds; a file that is there twice counts once.

    Raises UserErrors with all faults of all files, and UserError where there is no file.
    """
    responses: dict[str, Response] = {}
    first: dict[tuple[str, str], str] = {}
    faults: list[UserError] = []
    for path in sorted(folder.glob("*.json")):
        try:
            response = _read(path)
            _check(response, *form(response), str(path))
            before = first.setdefault((response.survey, response.voter), str(path))
            if responses.setdefault(before, response) != response:
                raise UserError(
                    "conflicting responses from the same voter",
                    where=f"{path}, beside {before}",
                    todo="keep the file that counts, and remove the other",
                )
        except UserError as error:
            faults.append(error)
    if faults:
        raise UserErrors(faults)
    if not responses:
        raise UserError("there are no answers", where=str(folder), todo="put the files here")
    return responses


def page_id(questions: Iterable[str], prefix: str = "") -> str:
    """Return the id of a page with these questions; `prefix` says for whom the page is."""
    parts = sorted([*questions, *([prefix] if prefix else [])])
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return "-".join(filter(None, [prefix, digest]))


def read_pages(
    folder: Path, allowed: Allowed, complete: Callable[[Collection[str]], bool] = bool
) -> list[Response]:
    """Return the responses to pages that are for one voter each, every page's once.

    `complete` says whether a page may have just these questions. Raises UserErrors as
    `read_responses`, for conflicting responses to a page, and where the same questions are on pages
    for different numbers of voters: nobody knows who gave which answers.
    """

    def form(response: Response) -> tuple[str | None, Allowed]:
        made = response.voter_number is not None and complete(response.answers)
        prefix = response.survey.partition("-")[0]
        return page_id(response.answers, prefix) if made else None, allowed

    responses = read_responses(folder, form)
    first: dict[str, str] = {}
    pages: dict[str, Response] = {}
    faults = []
    for path, response in responses.items():
        made = first.setdefault(page_id(response.answers), path)
        before = first.setdefault(response.survey, path)
        if responses[made].voters != response.voters:
            numbers = f"{responses[made].voters} and {response.voters}"
            faults.append(_conflict("pages for different numbers of voters", path, made, numbers))
        elif pages.setdefault(response.survey, response).answers != response.answers:
            faults.append(_conflict("conflicting responses to the same page", path, before))
    if faults:
        raise UserErrors(faults)
    return list(pages.values())


def _conflict(what: str, path: str, other: str, got: str | None = None) -> UserError:
    return UserError(
        what,
        where=f"{path}, beside {other}",
        got=got,
        todo="a page is for one person, and goes with those that were made with it: keep the files "
        "that count, and remove the others",
    )


def _check(response: Response, page: str | None, allowed: Allowed, where: str) -> None:
    """Raise UserError unless a response answers all questions of the page that it names."""
    options = {question: allowed(question) for question in response.answers}
    if unknown := [question for question, answers in options.items() if answers is None]:
        raise UserError(
            "these answers belong to other questions",
            where=where,
            got=min(unknown),
            todo="the study's seed, texts, judgments or cards were changed since its pages were "
            "made: ask again, or use those of that time",
        )
    if page != response.survey or not response.answers:
        raise UserError(INCOMPLETE, where=where, todo=UNCHANGED)
    for question, answer in response.answers.items():
        if answer not in (options[question] or ()):
            raise UserError(
                "there is no such option",
                where=f"{where}, answer to {question}",
                got=answer,
                allowed=[option for option in options[question] or () if option],
                todo=UNCHANGED,
            )


def _read(path: Path) -> Response:
    """Return what a file of answers holds; anybody may have written it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"this is no file of answers: {error}", where=str(path), todo="remove it"
        ) from None
    answers = content.get("answers") if isinstance(content, dict) else None
    if not isinstance(answers, dict) or not all(isinstance(each, str) for each in answers.values()):
        answers = None
    if answers is None or set(content) != KEYS:
        raise UserError(
            "this is no file of answers", where=str(path), allowed=KEYS, todo="remove it"
        )
    return Response(str(content["survey"]), str(content["task"]), str(content["voter"]), answers)
