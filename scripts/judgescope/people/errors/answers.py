"""People's verdicts on errors, read back: how valid each judge's are, and whether people agree."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.errors import UserError, UserErrors
from judgescope.people.errors.pages import LABELS, SPAN, WHY, page_id, questions_on
from judgescope.people.errors.samples import (
    Error,
    annotators,
    cells_of,
    errors_of,
    file_of,
    files_of,
    name_of,
)
from judgescope.people.pages import check_made
from judgescope.people.responses import Ballot, ballots, check_answers, id_of
from judgescope.people.tables import NUMBERS, Row, Table, numbers_of, write_tables, written
from judgescope.plan import Plan
from judgescope.statistics.alpha import krippendorff_alpha
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.result import Estimate
from judgescope.statistics.validity import (
    EXPLANATIONS,
    SPANS,
    explanation_ok,
    explanation_ok_at_error,
    span_ok,
)

OPEN = ""
"""The answer of who gave none."""
VOTER = re.compile(r"([1-9][0-9]{0,3})of([1-9][0-9]{0,3})")
PLACE = ["judge", "dataset", "aspect"]
STATISTICS = [*PLACE, "question", "statistic", *NUMBERS]
COUNTS = [*PLACE, "explanation", *SPANS, "total"]
VERDICTS = [*PLACE, "target", "draw", "number", "match", "severity", "voter", SPAN, WHY]
TOTAL = "total"
SHARES: Final = {
    "span_ok": (SPAN, span_ok),
    "explanation_ok": (WHY, explanation_ok),
    "explanation_ok_at_error": (WHY, explanation_ok_at_error),
}


class Verdict(NamedTuple):
    """What one voter, by number, says of an error's passage and explanation; OPEN: nothing.

    `asked` are the errors that look the same, of which it was said at once.
    """

    error: Error
    asked: tuple[Error, ...]
    voter: int
    span: str
    why: str


class Found(NamedTuple):
    """What people say: statistics, how often what was said, and every verdict."""

    statistics: list[Row]
    counts: list[Row]
    verdicts: list[Row]
    ballots: int

    @property
    def tables(self) -> dict[str, Table]:
        """Return the tables by their file names."""
        return {
            "annotations.csv": (STATISTICS, self.statistics),
            "counts.csv": (COUNTS, self.counts),
            "verdicts.csv": (VERDICTS, self.verdicts),
        }

    def lines(self) -> list[str]:
        """Return what is said of each judge as a whole: the counts, then the statistics."""
        told = []
        for judge in dict.fromkeys(row["judge"] for row in self.statistics):
            place = {"judge": judge, "dataset": "", "aspect": ""}
            told.append(judge or "all judges")
            told += _counted([row for row in self.counts if place.items() <= row.items()])
            for row in self.statistics:
                if place.items() <= row.items():
                    of = f", {row['question']}" if row["statistic"] not in SHARES else ""
                    told.append(f"  {row['statistic']}{of}: {written(row)}{_left(row)}")
        return told


def _counted(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table of counts, as paper 004 prints it; none without rows."""
    names = ["explanation", *SPANS, TOTAL]
    for row in [dict(zip(names, names, strict=True)), *rows] if rows else []:
        yield "  " + "  ".join(
            [f"{row[names[0]]:<17}", *(f"{row[name]!s:>{max(5, len(name))}}" for name in names[1:])]
        )


def _left(row: Row) -> str:
    return f", {row['n_missing']} missing" if row["n_missing"] else ""


class Known:
    """The errors that a study can ask about, found by the names of the questions on them."""

    def __init__(self, plan: Plan, errors: Iterable[Error]) -> None:
        self._errors = {name_of(plan, error): error for error in errors}

    def about(self, question: str) -> tuple[tuple[Error, ...], str] | None:
        """Return the errors of a question, and whether passage is meant or explanation.

        Of several errors, which look the same.
        """
        names, _, what = question.partition("-")
        found = [self._errors.get(name) for name in names.split(".")]
        errors = tuple(filter(None, found))
        if len(errors) < len(found) or len({one.shown for one in errors}) > 1:
            return None
        return (errors, what) if what in questions_on(errors[0]) else None

    def options(self, question: str) -> list[str] | None:
        """Return what can be answered to a question, None to one that the study does not ask."""
        asked = self.about(question)
        return [*LABELS[asked[1]], OPEN] if asked else None


def read(plan: Plan, out: Path, folder: Path) -> Found:
    """Return what a folder of answers says of a study whose tables are in `out`.

    Raises UserErrors for what are no answers to its questions.
    """
    known = Known(plan, _errors(plan, out))
    given = once(ballots(folder, partial(_check, known)))
    verdicts = list(verdicts_of(known, given))
    rows = [dict(zip(VERDICTS, _told(one), strict=True)) for one in verdicts]
    missing = missing_of(verdicts, given)
    return Found(statistics(verdicts, missing), list(counted(verdicts)), rows, len(given))


def _errors(plan: Plan, out: Path) -> list[Error]:
    """Return the errors of all cells that are there; raises UserError where none is."""
    cells = cells_of(plan, annotators(plan))
    made = [cell for cell in cells if file_of(plan, out, cell).is_file()]
    if not made:
        check_made(
            files_of(plan, out, cells),
            "judgments",
            "take the folder `results` with which the pages were made",
        )
    return errors_of(plan, out, made)


def _check(known: Known, ballot: Ballot, where: str) -> None:
    """Raise UserError unless a ballot answers all questions of one of the study's pages."""
    check_answers(ballot, _page(known, ballot), known.options, where)


def _page(known: Known, ballot: Ballot) -> str | None:
    """Return the name of the page that has a ballot's questions.

    None, if no page has: a page has all questions on each of its errors, and each error once.
    """
    voter, asked = voter_of(ballot), filter(None, map(known.about, ballot.answers))
    times = Counter(errors for errors, _ in asked)
    whole = all(number == len(questions_on(errors[0])) for errors, number in times.items())
    each = Counter(error for errors in times for error in errors)
    return page_id(ballot.answers, voter) if voter and whole and set(each.values()) == {1} else None


def voter_of(ballot: Ballot) -> tuple[int, int] | None:
    """Return the number of the voter whose page it is, and of how many; None: it does not say."""
    told = VOTER.fullmatch(ballot.survey.partition("-")[0])
    voter = (int(told[1]), int(told[2])) if told else None
    return voter if voter and voter[0] <= voter[1] else None


def once(given: Mapping[str, Ballot]) -> list[Ballot]:
    """Return what the files say, path -> ballot, each page once: it is for one voter.

    Raises UserErrors for a page that was answered in two ways, and where the same errors are on
    pages for different numbers of voters: nobody knows who gave which answers.
    """
    first: dict[str, str] = {}
    pages: dict[str, Ballot] = {}
    faults = []
    for path, ballot in given.items():
        made = first.setdefault(id_of(ballot.answers), path)
        before = first.setdefault(ballot.survey, path)
        if _voters(given[made]) != _voters(ballot):
            numbers = f"{_voters(given[made])} and {_voters(ballot)}"
            faults.append(_mixed("pages for different numbers of voters", path, made, numbers))
        elif pages.setdefault(ballot.survey, ballot).answers != ballot.answers:
            faults.append(_mixed("a page was answered twice, and otherwise", path, before))
    if faults:
        raise UserErrors(faults)
    return list(pages.values())


def _mixed(what: str, path: str, other: str, got: str | None = None) -> UserError:
    return UserError(
        what,
        where=f"{path}, beside {other}",
        got=got,
        todo="a page is for one person, and goes with those that were made at once with it: keep "
        "the files that count, and take the others away",
    )


def _voters(ballot: Ballot) -> int:
    """Return for how many voters pages were made of which a ballot answers one."""
    voter = voter_of(ballot)
    assert voter, "the ballot was checked"
    return voter[1]


def verdicts_of(known: Known, given: Iterable[Ballot]) -> Iterator[Verdict]:
    """Yield what each voter says of each error of the page, in the order of the study's errors."""
    for voter, ballot in enumerate(given, start=1):
        said: dict[tuple[Error, ...], dict[str, str]] = {}
        for question, answer in ballot.answers.items():
            asked = known.about(question)
            assert asked, "the ballot was checked"
            said.setdefault(asked[0], {})[asked[1]] = answer
        errors = [(error, own) for own in said for error in own]
        for error, own in sorted(errors, key=lambda one: one[0].place):
            told = said[own]
            yield Verdict(error, own, voter, told.get(SPAN, "no_span"), told[WHY])


def missing_of(verdicts: Sequence[Verdict], given: Sequence[Ballot]) -> dict[Error, int]:
    """Return how many verdicts on each error are not there, or not whole.

    A page says how many voters there are: of those who sent nothing, verdicts are missing. Who was
    asked about more errors later has pages with other questions.
    """
    made = [(id_of(ballot.answers), _voters(ballot)) for ballot in given]
    whole: Counter[Error] = Counter()
    planned: dict[Error, dict[str, int]] = {}
    for one in verdicts:
        questions, voters = made[one.voter - 1]
        planned.setdefault(one.error, {})[questions] = voters
        whole[one.error] += is_whole(one)
    return {error: sum(voters.values()) - whole[error] for error, voters in planned.items()}


def is_whole(one: Verdict) -> bool:
    """Return whether a voter answered both questions on an error."""
    return OPEN not in (one.span, one.why)


def statistics(verdicts: Sequence[Verdict], missing: dict[Error, int]) -> list[Row]:
    """Return the rows of every judge, and of all together whether people agree.

    Each judge has one row over all datasets and aspects (none named), one over all aspects of a
    dataset, and one for each aspect of it. Each source is deleted from all of them.
    """
    items = sorted({_item(error) for error in missing})
    weights = deletions(len(items))
    code = {item: number for number, item in enumerate(items)}
    found = []
    for place, own in _places(verdicts).items():
        estimates = agreement(own, code, weights)
        if place[0]:
            errors = list(dict.fromkeys(one.error for one in own))
            source = np.array([code[_item(error)] for error in errors], dtype=np.int64)
            lost = sum(missing[error] for error in errors)
            counts = counts_of(own, errors)
            estimates = {
                (question, name): share(counts, source, weights, lost)
                for name, (question, share) in SHARES.items()
            } | estimates
        for (question, name), estimate in estimates.items():
            told = {**dict(zip(PLACE, place, strict=True)), "question": question}
            found.append(told | {"statistic": name} | numbers_of(estimate))
    return found


def _item(error: Error) -> tuple[str, str]:
    return error.dataset, error.item


def _places(verdicts: Iterable[Verdict]) -> dict[tuple[str, str, str], list[Verdict]]:
    """Return (judge, dataset, aspect) -> the verdicts that count there; an empty one is any."""
    found: dict[tuple[str, str, str], list[Verdict]] = {}
    for one in verdicts:
        judge, dataset, aspect = one.error[:3]
        places = [("", "", ""), (judge, "", ""), (judge, dataset, ""), (judge, dataset, aspect)]
        for place in places:
            found.setdefault(place, []).append(one)
    return dict(sorted(found.items()))


def counts_of(verdicts: Iterable[Verdict], errors: Sequence[Error]) -> NDArray[np.int64]:
    """Return how many voters gave each pair of answers to each error: (errors, why, span)."""
    at = {error: number for number, error in enumerate(errors)}
    found = np.zeros((len(errors), len(EXPLANATIONS), len(SPANS)), dtype=np.int64)
    for one in filter(is_whole, verdicts):
        found[at[one.error], EXPLANATIONS.index(one.why), SPANS.index(one.span)] += 1
    return found


def agreement(
    verdicts: Sequence[Verdict], code: Mapping[tuple[str, str], int], weights: NDArray[np.int64]
) -> dict[tuple[str, str], Estimate]:
    """Return for each question how far voters agree; on passages only where there is one.

    code: (dataset, item) -> column of `weights`. What was asked of several errors at once is one
    thing to agree on.
    """
    voters = sorted({one.voter for one in verdicts})
    at = {asked: number for number, asked in enumerate(dict.fromkeys(v.asked for v in verdicts))}
    source = np.array([code[_item(asked[0])] for asked in at], dtype=np.int64)
    found = {}
    for question, answers in ((SPAN, SPANS), (WHY, EXPLANATIONS)):
        ratings = np.full((len(voters), len(at)), np.nan)
        for one in verdicts:
            answer = one.span if question == SPAN else one.why
            if question in questions_on(one.error) and answer != OPEN:
                ratings[voters.index(one.voter), at[one.asked]] = answers.index(answer)
        asked = np.array([question in questions_on(own[0]) for own in at])
        found[question, "alpha_nominal"] = krippendorff_alpha(
            ratings[:, asked],
            level="nominal",
            domain=range(len(answers)),
            source=source[asked],
            weights=weights,
        )
    return found


def counted(verdicts: Sequence[Verdict]) -> Iterator[Row]:
    """Yield the rows of the table of counts of every place of a judge, totals last."""
    for place, own in _places(verdicts).items():
        if not place[0]:
            continue
        errors = list(dict.fromkeys(one.error for one in own))
        table = counts_of(own, errors).sum(axis=0)
        for why, row in zip([*EXPLANATIONS, TOTAL], [*table, table.sum(axis=0)], strict=True):
            numbers = dict(zip(SPANS, row.tolist(), strict=True))
            told = dict(zip(PLACE, place, strict=True)) | {"explanation": why}
            yield told | numbers | {TOTAL: int(row.sum())}


def _told(one: Verdict) -> tuple[str | int | float | None, ...]:
    error = one.error
    return (*error.place, error.match, error.severity, one.voter, one.span, one.why)


def write(found: Found, folder: Path) -> list[Path]:
    """Write the tables into a folder and return their paths."""
    return write_tables(found.tables, folder)
