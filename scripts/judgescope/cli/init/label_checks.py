"""What a person has to say about columns of labels before they can be read."""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import chain
from typing import Final

from judgescope.cli.init.column_values import numbers
from judgescope.cli.init.open_readings import OpenReading, UnclearColumns
from judgescope.cli.init.tables import FAIL_PASS, InitTable, Label
from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.tables.labels import plain_label
from judgescope.tables.polarity import goodness, praises
from judgescope.tables.words import RATING_CLASSES, classes_of

LABELS: Final[tuple[Label, ...]] = (
    FAIL_PASS,
    ("failed", "passed"),
    ("no", "yes"),
    ("false", "true"),
    ("bad", "good"),
    ("incorrect", "correct"),
    ("wrong", "right"),
    ("reject", "accept"),
    ("rejected", "accepted"),
    ("unacceptable", "acceptable"),
    ("unsafe", "safe"),
    ("unfaithful", "faithful"),
    ("not ok", "ok"),
)
"""Words that name two labels, whatever their case; others are named in a study's
cards."""


def check_one_label(table: InitTable, column: str, words: Mapping[str, str]) -> None:
    """Raise UserError for cells with several labels each, `facts; tone`, beside cells
    with one of them.
    """
    parts_of: dict[str, list[str]] = {}
    for word in words:
        parts_of[word] = [part.strip(" []\"'") for part in re.split(r"[;,|]", word)]
    times = Counter(chain.from_iterable(parts_of.values()))
    for word, as_written in words.items():
        parts = parts_of[word]
        # Each part stands in another cell, too: alone, or beside other parts.
        if len(parts) > 1 and all(times[part] > 1 for part in parts):
            raise UserError(
                "cells of this column have several labels each",
                where=f"{table.file}, column {column}",
                got=as_written,
                allowed="one label in a cell",
                todo="make a column for each label, for people and for the judge, with "
                f"1 or 0: {column}_{slug(parts[0])}",
            )


def check_one_of_two(table: InitTable, column: str, words: Mapping[str, str]) -> None:
    """Raise UserError for choices among three or more texts, which the columns A, B
    and C have.
    """
    names = {name.casefold() for name in table.columns}
    parts = list[str]()
    for word in words:
        # A ranking of several texts names them all: `A>B>C`.
        parts += [part.strip() for part in re.split(r"[<>=,]", word)]
    chosen = [part for part in dict.fromkeys(parts) if part in names]
    if len(chosen) > 2:
        raise UserError(
            "these are choices among more than two texts, and audit compares two",
            where=f"{table.file}, column {column}",
            got=", ".join([*words.values()][:3]),
            todo="make a row for each two texts of a question, with both texts "
            "(text_a, text_b) and the choice between them (A, B, tie)",
        )


def check_ones_clear(table: InitTable, stated: Collection[str]) -> None:
    """Raise UnclearColumns for 1 and 0 beside words of which one is a fault, toxic and
    not toxic: 1 may stand for the fault, or for the good label.

    stated: columns whose words say it, or flags.
    """
    answers = {FAIL_PASS, *LABELS}
    faults = {}
    for column, pair in table.labels.items():
        bad = plain_label(pair[0])
        if column not in stated and len(pair) == 2 and goodness(bad) < 0:
            has_fault = "fault" in classes_of(bad) or "fault" in classes_of(pair[1])
            if has_fault and tuple(map(plain_label, pair)) not in answers:
                faults[column] = pair
    if not faults:
        return
    [column, *_] = faults
    bad, good = faults[column]
    for name in table.columns:
        if name in table.labels or not RATING_CLASSES & classes_of(name).keys():
            continue
        if set(numbers(table.rows, name) or ()) != {0.0, 1.0} or praises(name):
            continue
        options = []
        for one, zero in ((good, bad), (bad, good)):
            flag = f"{zero},{one}"
            options.append(
                OpenReading(f"1 means {one}, and 0 {zero}", {"labels": [flag]})
            )
        raise UnclearColumns.of(
            f"1 in this column may mean {bad} or {good}, the labels of {column}",
            options,
            where=f"{table.file}, column {name}",
            todo=f"say which label is 1, by the labels of 0 and of 1: --labels "
            f"{shlex.quote(f'{bad},{good}')}",
        )
