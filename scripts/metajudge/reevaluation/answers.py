"""People's judgments, read back: how often they name the text that is known to be better."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metajudge.ballot_pages import COMPARED
from metajudge.ballot_tables import NUMBERS, Row, numbers_of, write_csv, written
from metajudge.ballots import Ballot, ballots, check_answers
from metajudge.plan import Plan
from metajudge.reevaluation.pages import page_id, texts_of
from metajudge.reevaluation.pairs import NEW, ORIGINAL, Pair, pair_of
from metajudge.reevaluation.texts import KINDS, ROW, Text, name_of
from metajudge.statistics.estimate import Estimate
from metajudge.statistics.means import share
from metajudge.statistics.resampling import source_weights
from metajudge.streams import stream

GROUPS: Final = (NEW, ORIGINAL, ROW)
AGREEMENT, NO_DIFFERENCE = "reevaluation_agreement", "reevaluation_no_difference"
STATISTICS = ["dataset", "aspect", "group", "statistic", *NUMBERS]
JUDGED = ["for_better", "for_worse", "no_difference", "n_missing"]
PAIRS = ["dataset", "aspect", "group", "set", "better", "worse", "level_better", "level_worse"]
VOTERS = re.compile(r"[1-9][0-9]{0,3}")
OF = "of judgments; of two sources a pair counts to the one that more pairs have"


class Judged(NamedTuple):
    """How many people chose the better text of a pair, the worse, neither, and did not answer."""

    better: int
    worse: int
    same: int
    missing: int


Tally = Mapping[Pair, Judged]


class Found(NamedTuple):
    """What people say: a table of statistics, and one of what they said of each pair."""

    statistics: list[Row]
    pairs: list[Row]
    ballots: int

    def lines(self) -> list[str]:
        """Return what people say of all aspects, a line for each dataset and group."""
        told: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.statistics:
            if not row["aspect"]:
                told.setdefault((row["dataset"], row["group"]), {})[row["statistic"]] = row
        return [
            f"{dataset}, {group}: agreement {written(rows[AGREEMENT])}; "
            f"no difference {rows[NO_DIFFERENCE]['value']:.3f}"
            for (dataset, group), rows in told.items()
        ]


class Known:
    """The texts that a study can ask about, found by what stands for them in questions' names."""

    def __init__(self, plan: Plan, texts: Iterable[Text]) -> None:
        self._texts = {name_of(plan, text): text for text in texts}

    def pair(self, question: str) -> tuple[Pair, bool] | None:
        """Return what a question is about, and whether the better text comes first; or None."""
        texts = [self._texts.get(name) for name in question[1:].split("-")]
        if question[:1] != "q" or len(texts) != 2:
            return None
        one, other = texts
        found = pair_of(one, other) if one and other else None
        return (found, found.better is one) if found else None


def read(plan: Plan, out: Path, folder: Path) -> Found:
    """Return what a folder of answers says of a study whose tables are in `out`.

    Raises UserErrors for what are no answers to its questions.
    """
    known = Known(plan, _texts(plan, out))
    given = ballots(folder, partial(_check, known))
    tally = tallied(known, given)
    rows = [row for name in plan.datasets for row in _statistics(plan.study.seed, name, tally)]
    return Found(rows, [_row(*one) for one in tally.items()], len(given))


def _texts(plan: Plan, out: Path) -> Iterator[Text]:
    """Yield the texts of every kind that is there; raises UserError where none is."""
    made = [
        kind
        for kind, how in KINDS.items()
        for files in [[path for name in plan.datasets for path in how.files(plan, out, name)]]
        if files and all(path.is_file() for path in files)
    ]
    for kind in made or KINDS:
        yield from texts_of(plan, out, kind)


def _check(known: Known, ballot: Ballot, where: str) -> None:
    """Raise UserError unless a ballot answers all questions of one of the study's pages."""
    told = ballot.survey.partition("-")[0]
    page = page_id(ballot.answers, told if VOTERS.fullmatch(told) else "1")
    letters = [letter for letter, _ in COMPARED]
    check_answers(ballot, page, lambda name: letters if known.pair(name) else None, where)


def tallied(known: Known, given: Iterable[Ballot]) -> Tally:
    """Return what people said of each pair; sorted by dataset, aspect, group and texts.

    A page says how many voters there are: of those who did not answer, judgments are missing.
    """
    found: dict[Pair, list[str]] = {}
    planned: dict[Pair, int] = {}
    for ballot in given:
        voters = int(ballot.survey.partition("-")[0])
        for name, answer in ballot.answers.items():
            asked = known.pair(name)
            assert asked, "the ballot was checked"
            pair, first = asked
            chosen = {"A": "better", "B": "worse"} if first else {"A": "worse", "B": "better"}
            found.setdefault(pair, []).append(chosen.get(answer, "same"))
            planned[pair] = max(voters, planned.get(pair, 0))
    return {pair: _judged(found[pair], planned[pair]) for pair in sorted(found, key=_place)}


def _judged(told: list[str], planned: int) -> Judged:
    better, worse, same = (told.count(one) for one in ("better", "worse", "same"))
    return Judged(better, worse, same, max(0, planned - len(told)))


def _place(pair: Pair) -> tuple[str, ...]:
    better, worse = pair.better, pair.worse
    return (better.dataset, better.aspect, pair.group, better.set, better.target, worse.target)


def _statistics(seed: int, dataset: str, tally: Tally) -> Iterator[Row]:
    """Yield a dataset's statistics, over all aspects (none named) and of each, group by group."""
    own = {pair: told for pair, told in tally.items() if pair.better.dataset == dataset}
    if not own:
        return
    items = sorted({source for pair in own for source in pair.sources})
    weights = source_weights(stream(seed, "reevaluation", "bootstrap", dataset), len(items))
    for aspect in ["", *sorted({pair.better.aspect for pair in own})]:
        for group in GROUPS:
            some = {
                pair: told
                for pair, told in own.items()
                if pair.group == group and aspect in ("", pair.better.aspect)
            }
            for name, estimate in _estimates(some, items, weights).items() if some else ():
                place = {"dataset": dataset, "aspect": aspect, "group": group, "statistic": name}
                yield place | numbers_of(estimate)


def _estimates(
    tally: Tally, items: Sequence[str], weights: NDArray[np.int64]
) -> dict[str, Estimate]:
    """Return the shares of judgments that name the better text, and that see no difference."""
    better, worse, same, missing = np.array(list(tally.values())).T
    source = np.searchsorted(items, sources_of(list(tally)))
    total = (better + worse + same).astype(np.float64)
    absent = int(missing.sum())
    return {
        name: share(hits.astype(np.float64), total, source, weights, absent, of=OF)
        for name, hits in ((AGREEMENT, better), (NO_DIFFERENCE, same))
    }


def sources_of(pairs: Sequence[Pair]) -> list[str]:
    """Return the source to which each pair counts: of its two the one that more pairs have.

    Where few texts have a rating, many pairs share one of them, and say less than as many others.
    """
    times = Counter(source for pair in pairs for source in pair.sources)
    return [max(pair.sources, key=lambda source: (times[source], source)) for pair in pairs]


def _row(pair: Pair, told: Judged) -> Row:
    better, worse = pair.better, pair.worse
    found = better.dataset, better.aspect, pair.group, better.set, better.target, worse.target
    numbers = dict(zip(JUDGED, told, strict=True))
    return dict(zip(PAIRS, (*found, better.level, worse.level), strict=True)) | numbers


def write(found: Found, folder: Path) -> list[Path]:
    """Write the tables into a folder and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "reevaluation.csv", folder / "pairs.csv"]
    write_csv(paths[0], STATISTICS, found.statistics)
    write_csv(paths[1], [*PAIRS, *JUDGED], found.pairs)
    return paths
