"""People's votes, read back: which text they found better, in what, and how far they agree."""

import csv
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.people.pages import SWAPPED
from judgescope.people.pairs.questions import Pair, Questions, pairs_of
from judgescope.people.responses import Ballot, ballots, check_answers, id_of
from judgescope.people.tables import NUMBERS, Row, numbers_of, write_tables, written
from judgescope.plan import Plan
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.result import Estimate
from judgescope.statistics.votes import (
    OPTIONS,
    UNDECIDED,
    Cell,
    Counts,
    expectations,
    match_vote_all,
    match_vote_vote,
    outcomes,
    pair_weights,
    vote_consistency,
)

VOTES = ["criterion", "aspect", "statistic", *NUMBERS]
CHOSEN = ["original_better", "damaged_better", "no_difference", "cannot_decide"]
EFFECTS = ["perturbation", "aspect", "human", "expected", *CHOSEN, "pairs"]
Tally = Mapping[tuple[Pair, str], Counts]
"""(pair, aspect of a cell) -> its votes for each of OPTIONS."""


class Found(NamedTuple):
    """What people say: tables by file name (columns, rows), and cards of expectations."""

    tables: dict[str, tuple[list[str], list[Row]]]
    cards: list[Row]
    ballots: int
    pairs: int

    def lines(self) -> list[str]:
        """Return the statistics over all aspects, a line each."""
        return [
            f"{row['criterion'] or 'own definition'}: {row['statistic']} {written(row)}"
            for row in self.tables["votes.csv"][1]
            if not row["aspect"]
        ]


def read(plan: Plan, out: Path, folder: Path, expected: Path | None = None) -> Found:
    """Return what a folder of answers says of a study whose texts are in `out`.

    `expected` is a CSV with the columns perturbation, aspect and expected: 1 if the perturbation
    should lower the aspect, 0 if not. Raises UserErrors for what are no answers to its questions.
    """
    hopes = _expected(expected) if expected else {}
    asked = Questions(plan, chain.from_iterable(pairs_of(plan, out).values()))
    given = ballots(folder, partial(_check, asked)).values()
    tally = tallied(asked, given)
    tables: dict[str, tuple[list[str], list[Row]]] = {"votes.csv": (VOTES, [])}
    cards = []
    for criterion in sorted({split(aspect)[1] or "" for _, aspect in tally}):
        own = {key: n for key, n in tally.items() if (split(key[1])[1] or "") == criterion}
        tables["votes.csv"][1].extend(_statistics(plan.study.seed, criterion, own, hopes))
        name = f"effects.{criterion}.csv" if criterion else "effects.csv"
        tables[name] = EFFECTS, effects(own, hopes)
        cards += card_of(f"votes-{plan.study.study}", criterion, tables[name][1])
    return Found(tables, cards, len(given), len({pair for pair, _ in tally}))


def _check(asked: Questions, ballot: Ballot, where: str) -> None:
    """Raise UserError unless a ballot answers all questions of one of the study's pages."""
    check_answers(
        ballot, id_of(ballot.answers), lambda name: OPTIONS if asked.get(name) else None, where
    )


def tallied(asked: Questions, given: Iterable[Ballot]) -> Tally:
    """Return the votes, as if the original were always shown first; sorted by pair and aspect."""
    found: dict[tuple[Pair, str], Counts] = {}
    for ballot in given:
        for name, option in ballot.answers.items():
            question = asked.get(name)
            assert question, "the ballot was checked"
            pair, aspect, swapped = question
            told = SWAPPED.get(option, option) if swapped else option
            row = found.setdefault((pair, aspect), np.zeros(len(OPTIONS), dtype=np.int64))
            row[OPTIONS.index(told)] += 1
    return dict(sorted(found.items()))


def effects(tally: Tally, expected: Mapping[Cell, int]) -> list[Row]:
    """Return a row for each perturbation and aspect: what all votes together say it does."""
    total: dict[Cell, Counts] = {}
    pairs: dict[Cell, set[Pair]] = {}
    for (pair, aspect), votes in tally.items():
        cell = pair.perturbation, split(aspect)[0]
        total[cell] = total.get(cell, 0) + votes
        pairs.setdefault(cell, set()).add(pair)
    return [
        {
            **{"perturbation": cell[0], "aspect": cell[1], "expected": expected.get(cell)},
            "human": None if outcome == UNDECIDED else outcome,
            **dict(zip(CHOSEN, votes.tolist(), strict=True)),
            "pairs": len(pairs[cell]),
        }
        for cell, votes in sorted(total.items())
        for outcome in [int(outcomes(votes))]
    ]


def card_of(name: str, criterion: str, rows: Iterable[Row]) -> list[Row]:
    """Return the card of expectations that a table of effects makes; none if it decides nothing.

    An aspect is in it where people are decided, and find what was expected if anything was.
    """
    found = expectations(
        {key: "" if one is None else str(one) for key, one in row.items()} for row in rows
    )
    told: dict[str, dict[str, list[str]]] = {}
    for key, cells in (("drop", found.drops), ("same", found.stays)):
        for perturbation, aspect in cells:
            told.setdefault(perturbation, {}).setdefault(key, []).append(aspect)
    card = {
        "expectations": "-".join(filter(None, [name, criterion])),
        "name": " ".join(filter(None, ["people's votes", criterion and f"by {criterion}"])),
        "perturbations": told,
    }
    return [card] if told else []


def _statistics(seed: int, criterion: str, tally: Tally, expected: Mapping[Cell, int]) -> list[Row]:
    """Return the statistics of a criterion, over all aspects (none named) and of each."""
    aspects = list(dict.fromkeys(split(aspect)[0] for _, aspect in tally))
    found = []
    for one in ["", *sorted(aspects)]:
        own = {key: n for key, n in tally.items() if one in ("", split(key[1])[0])}
        for name, estimate in _estimates(seed, own, expected).items():
            place = {"criterion": criterion, "aspect": one, "statistic": name}
            found.append(place | numbers_of(estimate))
    return found


def _estimates(seed: int, tally: Tally, expected: Mapping[Cell, int]) -> dict[str, Estimate]:
    pairs = {pair: at for at, pair in enumerate(dict.fromkeys(pair for pair, _ in tally))}
    kinds = sorted({pair.perturbation for pair in pairs})
    cells: dict[Cell, int] = {}
    for pair, aspect in tally:
        cells.setdefault((pair.perturbation, split(aspect)[0]), len(cells))
    stratum = np.array([kinds.index(pair.perturbation) for pair in pairs])
    weights = pair_weights(stream(seed, "votes", "bootstrap"), stratum)
    votes = np.array(list(tally.values()))
    pair_code = np.array([pairs[pair] for pair, _ in tally])
    cell_code = np.array([cells[pair.perturbation, split(aspect)[0]] for pair, aspect in tally])
    hopes = np.array([expected.get(cell, np.nan) for cell in cells], dtype=np.float64)
    told = votes, pair_code, cell_code, hopes, weights
    return {
        "vote_consistency": vote_consistency(votes, pair_code, deletions(len(pairs))),
        "match_vote_vote": match_vote_vote(*told),
        "match_vote_all": match_vote_all(*told),
    }


def _expected(path: Path) -> dict[Cell, int]:
    """Read which perturbation should lower which aspect."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"this table cannot be read: {error}", where=str(path)) from None
    found = {}
    for number, row in enumerate(rows, start=2):
        cell, told = (row.get("perturbation"), row.get("aspect")), row.get("expected")
        if None in cell or told not in ("", "0", "1"):
            raise UserError(
                "a row says for a perturbation and an aspect what is expected: 1, 0 or nothing",
                where=f"{path}:{number}",
                got=told,
                allowed="the columns perturbation, aspect, expected",
            )
        if told:
            found[str(cell[0]), str(cell[1])] = int(told)
    return found


def write(found: Found, folder: Path) -> list[Path]:
    """Write tables and cards into a folder and return their paths."""
    paths = write_tables(found.tables, folder)
    for card in found.cards:
        path = folder / f"{card['expectations']}.yaml"
        path.write_text(yaml.safe_dump(card, sort_keys=False), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths
