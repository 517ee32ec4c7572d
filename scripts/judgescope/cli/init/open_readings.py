"""Readings of a table between which only a person can choose.

Nothing in the table says whose scores a column has. Every reading is offered with the
flags that state it; none is taken.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from judgescope.cli.init.column_values import numbers, scale
from judgescope.cli.init.rating_columns import like_ratings
from judgescope.cli.init.role_names import JUDGING
from judgescope.cli.init.roles import Guess, rating_text
from judgescope.cli.init.tables import InitTable
from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.column_rows import cells_by_row
from judgescope.report.words import listed
from judgescope.tables.leaving_out import values_on_scale
from judgescope.tables.profile import is_design, profile
from judgescope.tables.raters import is_given_name, names_aspect
from judgescope.tables.sides import not_a_rating
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of, split_header

MOST_READINGS: Final = 6
"""More readings are no question that a person can answer at once."""
OVERALL: Final = "overall"
EVERY: Final = "*"
"""Stands for all aspects of a judge's scores."""


@dataclass(frozen=True)
class OpenReading:
    """One of several readings, and the flags that state it."""

    meaning: str
    flags: Mapping[str, Sequence[str]]
    """Flag without dashes (judge, human, system) -> its values."""

    @property
    def words(self) -> list[str]:
        """The words of a command line: `--judge c1 --human c2`."""
        words = []
        for flag, values in self.flags.items():
            for value in values:
                words += [f"--{flag}", value]
        return words


class UnclearColumns(UserError):
    """A table whose columns can be read in several ways."""

    options: Sequence[OpenReading] = ()

    @classmethod
    def of(
        cls,
        what: str,
        options: Sequence[OpenReading],
        *,
        where: str,
        todo: str,
        allowed: Sequence[str] = (),
    ) -> "UnclearColumns":
        """Return the error with its readings."""
        error = cls(what, where=where, allowed=allowed or None, todo=todo)
        error.options = tuple(options)
        return error


def readings_of_sides(table: InitTable, columns: Guess) -> list[OpenReading]:
    """Return the ways in which columns of numbers may be a judge's scores and people's
    ratings; [] if the table has no such columns.

    Columns of people are known if their headers say so; else each candidate may be the
    judge's, and the others people's.
    """
    candidates = list(_candidates(table, columns))
    letters = letters_of_sides(candidates)
    if letters and not columns.judges:
        return [_of_letters(letters), _of_letters(letters[::-1])]
    ranks = list(_readings_of_ranks(table))
    if ranks:
        return ranks
    people = []
    for name in columns.rated:
        evidence = classes_of(name)
        if evidence.get("person") or ("person" in evidence and name in table.labels):
            people.append(name)
    if columns.judges:
        whose = [name for name in candidates if name not in columns.scored]
        if not whose and len(columns.scored) > 1:
            whose = columns.scored  # `AI response rating` may be that of a response
        return [_of_people(name) for name in whose[:MOST_READINGS]]
    if people:
        free = [name for name in candidates if name not in people][:MOST_READINGS]
        readings = [_of_judge(name) for name in free]
        if len(free) > 1:
            meaning = f"{listed(free)} have scores, each of a judge of its own"
            readings.append(OpenReading(meaning, {"judge": free}))
        return readings
    if not candidates and not columns.rated:
        candidates = _with_the_same_labels(table)
    readings = []
    machines = []
    for name in candidates:
        evidence = classes_of(name)
        if "machine" in evidence and "person" not in evidence:
            machines.append(name)
    for judge in (machines or candidates)[:MOST_READINGS]:
        others = [name for name in candidates if name != judge]
        if others and machines in ([], [judge]):
            readings.append(_of_both(judge, others))
    return readings


def letters_of_sides(columns: Sequence[str]) -> list[dict[str, str]]:
    """Return aspect -> column for each of two letters in front of the same aspects, one
    of which may stand for a human or a judge: `H_tone` and `J_tone`; [] for others.

    >>> letters_of_sides(["H_tone", "J_tone"])
    [{'tone': 'H_tone'}, {'tone': 'J_tone'}]
    """
    by_letter: dict[str, dict[str, str]] = {}
    for column in columns:
        split = re.fullmatch(r"([A-Za-z])[\W_]+(.+)", column)
        if split is None:
            return []
        by_letter.setdefault(split[1].casefold(), {})[split[2]] = column
    same = len({frozenset(group) for group in by_letter.values()}) == 1
    if len(by_letter) != 2 or not same or {"h", "j"}.isdisjoint(by_letter):
        return []
    return [by_letter[letter] for letter in sorted(by_letter)]


def _of_letters(letters: Sequence[Mapping[str, str]]) -> OpenReading:
    """Return the reading in which the first letter is people's, the second a
    judge's.
    """
    people, judge = letters
    return OpenReading(
        f"{listed([*people.values()])} have people's ratings, "
        f"{listed([*judge.values()])} a judge's scores",
        {
            "judge": [*judge.values()],
            "human": [rating_text(slug(name), [people[name]]) for name in people],
        },
    )


def _readings_of_ranks(table: InitTable) -> Iterator[OpenReading]:
    """Yield the reading of `human_rank` and `judge_rank`: ranks of people and of one
    judge are compared as ratings are, whichever end is the best.
    """
    people = []
    judges = []
    for column in table.columns:
        evidence = classes_of(column)
        is_rank = {"rank", "ranking"} & set(split_header(column))
        if not is_rank or numbers(table.rows, column) is None:
            continue
        if evidence.get("person"):
            people.append(column)
        elif evidence.get("machine"):
            judges.append(column)
    if people and judges:
        meaning = (
            f"{listed(people)} are people's ranks and {listed(judges)} a judge's; "
            "agreement is the same whether 1 is the best rank or the worst"
        )
        human = people[0] if len(people) == 1 else rating_text(OVERALL, people)
        yield OpenReading(meaning, {"judge": judges, "human": [human]})


def _candidates(table: InitTable, columns: Guess) -> Iterator[str]:
    """Yield the columns whose cells may be ratings or scores."""
    taken = columns.used - {*columns.rated}
    for column in table.columns:
        values = numbers(table.rows, column)
        if column in taken or column in columns.flagged or values is None:
            continue
        if not_a_rating(column, classes_of(column)) or is_design(table.rows, column):
            continue
        is_id = split_header(column)[-1:] in (["id"], ["ids"], ["key"], ["uid"])
        if is_id or len(set(values)) == 1:
            continue
        if like_ratings(values_on_scale(values), len(table.rows)):
            yield column


def _with_the_same_labels(table: InitTable) -> list[str]:
    """Return the first columns of words that have the same two or more labels, whose
    headers name nobody.
    """
    by_labels: dict[frozenset[str], list[str]] = {}
    for column in table.columns:
        if profile(table.rows, column).kind == "label":
            cells = [row.get(column) for row in table.rows]
            words = {str(cell).strip() for cell in cells if not is_missing(cell)}
            by_labels.setdefault(frozenset(words), []).append(column)
    for labels, columns in by_labels.items():
        if len(labels) > 1 and len(columns) > 1:
            return columns
    return []


def _of_judge(judge: str) -> OpenReading:
    return OpenReading(f"{judge} has a judge's scores", {"judge": [judge]})


def _of_people(person: str) -> OpenReading:
    return OpenReading(f"{person} has people's ratings", {"human": [person]})


def _of_both(judge: str, people: Sequence[str]) -> OpenReading:
    """Return the reading in which one column is a judge's and the others people's."""
    human = people[0] if len(people) == 1 else rating_text(OVERALL, people)
    meaning = f"{judge} has a judge's scores, {' and '.join(people)} people's ratings"
    return OpenReading(meaning, {"judge": [judge], "human": [human]})


def check_numbers_clear(table: InitTable, columns: Guess) -> None:
    """Raise UnclearColumns if the numbers of a rating or a score can be read in two
    ways, 1,234 beside 99, which give different results.
    """
    for column in [*columns.rated, *columns.scored]:
        written = table.two_ways.get(column)
        if written is None:
            continue
        options = []
        for sign, value in written.readings.items():
            meaning = f"{written.example} is {value:.{0 if value >= 1000 else 3}f}"
            options.append(OpenReading(meaning, {"decimal": [sign]}))
        raise UnclearColumns.of(
            "numbers of this column can be read in two ways",
            options,
            where=f"{table.file}, column {column}",
            todo="say which sign stands before decimals: --decimal comma, or --decimal "
            "point",
        )


def check_raters(table: InitTable, columns: Guess) -> None:
    """Raise UnclearColumns if columns may be raters' or aspects', a model's or a
    person's.
    """
    options = readings_of_names(columns)
    what = "a header may be the name of a model, or of a person"
    in_doubt = readings_of_doubtful(columns)
    all_in_doubt = columns.doubtful.keys() >= {*columns.rated}
    if not options and not all_in_doubt:
        options = in_doubt
        what = "the headers do not say whether these columns have ratings or scores"
    if not options:
        options = readings_of_raters(table, columns)
        what = "columns of ratings may be of several raters, or of several aspects"
    if not options:
        options = in_doubt
        what = "the headers do not say whether these columns have ratings or scores"
    if options:
        raise UnclearColumns.of(
            what,
            options,
            where=str(table.file),
            allowed=table.columns,
            todo="say which, by the flags of one of the readings",
        )


def readings_of_raters(table: InitTable, columns: Guess) -> list[OpenReading]:
    """Return the readings of columns that may be raters of one aspect, or aspects:
    `JK`, `MB` and `SL`; of two, one may be a judge's. [] if headers or flags say which.
    """
    names = columns.rated
    if table.known is not None or columns.compared or columns.flagged & {*names}:
        return []
    if len(names) < 2 or len(names) > len(columns.ratings):
        return []
    if any(set(scores) != {EVERY} for scores in columns.judges.values()):
        return []  # a judge scores aspects by their names
    for aspect, [column] in columns.ratings.items():
        if aspect in table.aspects or names_aspect(column):
            return []
    ends = set()
    for name in names:
        limits = scale(table.values([name]))
        ends.add((limits["min"], limits["max"]))
    if len(ends) > 1:
        return []
    shown = listed(names)
    one_each = []
    for aspect, group in columns.ratings.items():
        one_each.append(rating_text(columns.names.get(aspect, aspect), group))
    of_one_judge = []
    if len(names) == 2 and not columns.judges:
        of_one_judge = [_of_both(names[1], names[:1]), _of_both(names[0], names[1:])]
    return [
        *of_one_judge,
        OpenReading(
            f"{shown} are raters of one aspect",
            {"human": [rating_text(OVERALL, names)]},
        ),
        OpenReading(f"{shown} are different aspects", {"human": one_each}),
    ]


def readings_of_doubtful(columns: Guess) -> list[OpenReading]:
    """Return the readings of columns of a side with a word that nothing explains, such
    as `judge_zest` beside `judge`; [] if there are none, or flags name the side.
    """
    in_doubt = []
    for name in columns.doubtful:
        if name not in columns.flagged:
            in_doubt.append(name)
    people = [name for name in columns.rated if name in in_doubt]
    if people and not columns.flagged & {*columns.rated}:
        if len(people) == len(columns.rated):
            return [_of_people(name) for name in people[:MOST_READINGS]]
        kept = columns.without(people)
        meaning = f"{listed(people)} {_has(people)} no ratings"
        other = f"{listed(people)} {_has(people)} ratings, too"
        return [
            OpenReading(meaning, {"human": _human_flags(kept)}),
            OpenReading(other, {"human": _human_flags(columns)}),
        ]
    judges = [name for name in columns.scored if name in in_doubt]
    if judges and not columns.flagged & {*columns.scored}:
        kept_judges = [name for name in columns.scored if name not in judges]
        meaning = f"{listed(judges)} {_has(judges)} no scores"
        other = f"{listed(judges)} {_has(judges)} scores, too"
        return [
            OpenReading(meaning, {"judge": kept_judges}),
            OpenReading(other, {"judge": columns.scored}),
        ]
    return []


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _human_flags(columns: Guess) -> list[str]:
    """Return the values of `--human` that state the ratings of each aspect."""
    values = []
    for aspect, group in columns.ratings.items():
        values.append(rating_text(columns.names.get(aspect, aspect), group))
    return values


def readings_of_names(columns: Guess) -> list[OpenReading]:
    """Return the readings of a name that a model and a person may have, such as Claude
    beside Marie and Paul; [] without one.
    """
    names = columns.rated
    if columns.flagged & {*names, *columns.scored} or columns.compared:
        return []
    if not names or not all(map(is_given_name, names)):
        return []
    named = []
    for name in columns.scored:
        if is_given_name(name):
            named.append(name)
    if not named:
        return []
    others = [name for name in columns.scored if name not in named]
    everyone = [*named, *names]
    people = rating_text(OVERALL, names)
    return [
        OpenReading(
            f"{listed(named)} is a model, {listed(names)} are people",
            {"judge": columns.scored, "human": [people]},
        ),
        OpenReading(
            f"{listed(everyone)} are people",
            {"judge": others, "human": [rating_text(OVERALL, everyone)]},
        ),
    ]


def readings_of_systems(table: InitTable, columns: Guess) -> list[OpenReading]:
    """Return the columns that tell rows with the same text and source apart, as the
    systems that wrote them.
    """
    shared = [*columns.source, *columns.columns_of("item")]
    readings = []
    for column in table.columns:
        if column in columns.used or numbers(table.rows, column) is not None:
            continue
        if "person" in classes_of(column):
            continue  # the id of a rater
        if not JUDGING.isdisjoint(split_header(column)):
            continue  # the model that judged
        cells = set()
        names = set()
        for of_row in cells_by_row(table.rows, [*shared, column]):
            cells.add(str(of_row))
            names.add(str(of_row[-1]))
        # An id or a time of its own in each row is no system's name.
        if len(cells) == len(table.rows) and 2 * len(names) <= len(table.rows):
            meaning = f"{column} names the system that wrote each text"
            readings.append(OpenReading(meaning, {"system": [column]}))
    return readings[:MOST_READINGS]
