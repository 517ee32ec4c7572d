"""The files in which pages save people's answers: how a folder of them is read."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError, UserErrors

MOST_BYTES = 1 << 20
"""A file of answers has a few thousand."""
KEYS = {"survey", "task", "voter", "answers"}


class Ballot(NamedTuple):
    """One person's answers to the questions of one page: question -> answer."""

    survey: str
    task: str
    voter: str
    answers: dict[str, str]


def ballots(folder: Path, check: Callable[[Ballot, str], None]) -> dict[str, Ballot]:
    """Return path -> what a file of a folder holds; a file that is there twice counts once.

    `check` is given each with its path and raises UserError for what is no answer. Raises
    UserErrors with all faults of all files, and UserError where there is no file.
    """
    found: dict[str, Ballot] = {}
    first: dict[tuple[str, str], str] = {}
    faults: list[UserError] = []
    for path in sorted(folder.glob("*.json")):
        try:
            ballot = ballot_in(path)
            check(ballot, str(path))
            before = first.setdefault((ballot.survey, ballot.voter), str(path))
            if found.setdefault(before, ballot) != ballot:
                raise UserError(
                    "a voter has answered twice, and otherwise",
                    where=f"{path}, beside {before}",
                    todo="keep the file that counts, and take the other away",
                )
        except UserError as error:
            faults.append(error)
    if faults:
        raise UserErrors(faults)
    if not found:
        raise UserError("there are no answers", where=str(folder), todo="put the files here")
    return found


def id_of(questions: Iterable[str]) -> str:
    """Return the name of a page with these questions."""
    return hashlib.sha256("\n".join(sorted(questions)).encode()).hexdigest()[:16]


def check_answers(
    ballot: Ballot, page: str | None, options: Callable[[str], Collection[str] | None], where: str
) -> None:
    """Raise UserError unless a ballot answers all questions of one of a study's pages.

    `page` is the name of the page that has just these questions, None if none has; a page has one
    at least. `options` returns what may be answered to a question, None to one that the study does
    not ask.
    """
    allowed = {name: options(name) for name in ballot.answers}
    if unknown := [name for name, told in allowed.items() if told is None]:
        raise UserError(
            "these answers belong to other questions",
            where=where,
            got=min(unknown),
            todo="the study's seed, texts, judgments or cards were changed since its pages were "
            "made: ask again, or use those of that time",
        )
    if page != ballot.survey or not ballot.answers:
        raise UserError(
            "a question has no answer, or an answer no question",
            where=where,
            todo="take the file as the page saved it",
        )
    for name, option in ballot.answers.items():
        if option not in (allowed[name] or ()):
            raise UserError(
                "there is no such option",
                where=f"{where}, answer to {name}",
                got=option,
                allowed=[one for one in allowed[name] or () if one],
                todo="take the file as the page saved it",
            )


def ballot_in(path: Path) -> Ballot:
    """Return what a file of answers holds; anybody may have written it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"this is no file of answers: {error}", where=str(path), todo="take it away"
        ) from None
    if not isinstance(told, dict) or set(told) != KEYS or not _are_answers(told["answers"]):
        raise UserError(
            "this is no file of answers", where=str(path), allowed=KEYS, todo="take it away"
        )
    return Ballot(str(told["survey"]), str(told["task"]), str(told["voter"]), told["answers"])


def _are_answers(told: object) -> bool:
    return isinstance(told, dict) and all(isinstance(one, str) for one in told.values())
