"""People's answers: how a folder of them is read and checked, and what an import writes."""

import csv
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from judgescope.core.errors import UserError, UserErrors
from judgescope.statistics.result import Estimate

MAX_BYTES = 1 << 20
"""A file of answers has a few thousand."""
KEYS = {"survey", "task", "voter", "answers"}
VOTER = re.compile(r"([1-9][0-9]{0,3})of([1-9][0-9]{0,3})")
UNCHANGED = "use the file as the page saved it"
NUMBERS = ["value", "ci_low", "ci_high", "n", "n_missing", "n_tied", "method", "note"]
Row = dict[str, Any]
Table = tuple[Sequence[str], Sequence[Row]]
"""Columns and rows."""


class Response(NamedTuple):
    """One person's answers to the questions of one page: question -> answer."""

    survey: str
    task: str
    voter: str
    answers: dict[str, str]

    @property
    def prefix(self) -> str:
        """Return the part of the page's id that says for whom the page is."""
        return self.survey.partition("-")[0]

    @property
    def voter_number(self) -> tuple[int, int] | None:
        """Return whose page it is, voter k of n; None: the page's id does not say so."""
        match = VOTER.fullmatch(self.prefix)
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


# --- reading -----------------------------------------------------------------------------------


def read_responses(folder: Path, form: Form) -> dict[str, Response]:
    """Return path -> contents of each file of a folder; a duplicate file counts once.

    Raises UserErrors with all faults of all files, and UserError if there is no file.
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


def read_pages(
    folder: Path, allowed: Allowed, complete: Callable[[Collection[str]], bool] = bool
) -> list[Response]:
    """Return the responses to pages that are for one voter each, every page's once.

    `complete` says whether a page may have just these questions. Raises UserErrors as
    `read_responses`, for conflicting responses to a page, and if the same questions are on pages
    for different numbers of voters: then it is unknown who gave which answers.
    """

    def form(response: Response) -> tuple[str | None, Allowed]:
        made = response.voter_number is not None and complete(response.answers)
        return page_id(response.answers, response.prefix) if made else None, allowed

    responses = read_responses(folder, form)
    first: dict[str, str] = {}
    pages: dict[str, Response] = {}
    faults = []
    for path, response in responses.items():
        made = first.setdefault(page_id(response.answers), path)
        before = first.setdefault(response.survey, path)
        conflict = None
        if responses[made].voters != response.voters:
            conflict = "pages for different numbers of voters"
            before, got = made, f"{responses[made].voters} and {response.voters}"
        elif pages.setdefault(response.survey, response).answers != response.answers:
            conflict, got = "conflicting responses to the same page", None
        if conflict:
            todo = (
                "a page is for one person, and goes with those that were made with it: keep the "
                "files that count, and remove the others"
            )
            faults.append(UserError(conflict, where=f"{path}, beside {before}", got=got, todo=todo))
    if faults:
        raise UserErrors(faults)
    return list(pages.values())


def page_id(questions: Iterable[str], prefix: str = "") -> str:
    """Return the id of a page with these questions; `prefix` says for whom the page is."""
    parts = sorted([*questions, *([prefix] if prefix else [])])
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return "-".join(filter(None, [prefix, digest]))


def _read(path: Path) -> Response:
    """Return the contents of a file of answers; anybody may have written it."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"this is no file of answers: {error}", where=str(path), todo="remove it"
        ) from None
    if (
        not isinstance(content, dict)
        or set(content) != KEYS
        or not isinstance(answers := content["answers"], dict)
        or not all(isinstance(answer, str) for answer in answers.values())
    ):
        raise UserError(
            "this is no file of answers", where=str(path), allowed=KEYS, todo="remove it"
        )
    return Response(str(content["survey"]), str(content["task"]), str(content["voter"]), answers)


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
        reason = "a question has no answer, or an answer no question"
        raise UserError(reason, where=where, todo=UNCHANGED)
    for question, answer in response.answers.items():
        if answer not in (options[question] or ()):
            raise UserError(
                "there is no such option",
                where=f"{where}, answer to {question}",
                got=answer,
                allowed=[option for option in options[question] or () if option],
                todo=UNCHANGED,
            )


# --- results -----------------------------------------------------------------------------------


class Results(NamedTuple):
    """The tables by file name, the lines to print, and the cards that answers make.

    `folder` is the one in the study's results they are written to; `responses` files were read;
    `about` says what they are about.
    """

    folder: str
    responses: int
    about: str
    tables: Mapping[str, Table]
    lines: list[str]
    cards: Sequence[Row] = ()

    def rows(self, name: str) -> Sequence[Row]:
        """Return the rows of a table."""
        return self.tables[name][1]

    def write(self, out: Path) -> list[Path]:
        """Write tables (CSV) and cards (YAML, named by their ids) and return their paths."""
        folder = out / self.folder
        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / name for name in self.tables]
        for path, (columns, rows) in zip(paths, self.tables.values(), strict=True):
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, columns, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        for card in self.cards:
            paths.append(folder / f"{next(iter(card.values()))}.yaml")
            text = yaml.safe_dump(card, sort_keys=False, allow_unicode=True)
            paths[-1].write_text(text, encoding="utf-8", newline="\n")
        return paths


def numbers_of(estimate: Estimate) -> Row:
    """Return the columns NUMBERS of an estimate."""
    return {key: getattr(estimate, key) for key in NUMBERS}


def formatted(row: Mapping[str, Any]) -> str:
    """Return the numbers of a row as text."""
    if row["value"] is None:
        return f"undefined ({row['note']})"
    bounds = "" if row["ci_low"] is None else f" [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"
    return f"{row['value']:.3f}{bounds}, n = {row['n']}"
