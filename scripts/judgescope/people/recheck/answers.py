"""People's judgments, read back: how often they find what is known of texts.

Of two texts it is which is better, of a text of a graded set its rating.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.people.pages import COMPARED
from judgescope.people.recheck.pages import page_id, texts_of
from judgescope.people.recheck.pairs import NEW, ORIGINAL, About, Pair, pair_of
from judgescope.people.recheck.texts import GRADED, KINDS, ROW, Text, name_of, rating_options
from judgescope.people.responses import Ballot, ballots, check_answers
from judgescope.people.tables import NUMBERS, Row, numbers_of, write_tables, written
from judgescope.plan import Plan
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.result import Estimate

BOTH: Final = "constructed"
"""The group of all texts that were made: in rows, and of graded sets; where there are both."""
GROUPS: Final = {
    NEW: {NEW},
    ORIGINAL: {ORIGINAL},
    ROW: {ROW},
    GRADED: {GRADED},
    BOTH: {ROW, GRADED},
}
AGREEMENT, NO_DIFFERENCE = "reevaluation_agreement", "reevaluation_no_difference"
DISTANCE = "reevaluation_distance"
STATISTICS = ["dataset", "aspect", "group", "statistic", *NUMBERS]
JUDGED = ["for_better", "for_worse", "no_difference", "n_missing"]
PAIRS = ["dataset", "aspect", "group", "set", "better", "worse", "level_better", "level_worse"]
RATED_AGAIN = ["same", "lower", "higher", "n_missing", "steps"]
TEXTS = ["dataset", "aspect", "set", "target", "rating"]
VOTERS = re.compile(r"[1-9][0-9]{0,3}")
OF = "of judgments; of two sources a pair counts to the one that more pairs have"
OF_TEXTS = "of judgments"


class Judged(NamedTuple):
    """How many people found what is known, something else, no difference, and did not answer.

    Of a text's ratings, those that are `worse` differ from its own: `lower` are below it, and all
    together are so many `steps` of the scale away.
    """

    better: int
    worse: int
    same: int
    missing: int
    lower: int = 0
    steps: int = 0


Tally = Mapping[About, Judged]


class Found(NamedTuple):
    """What people say: a table of statistics, and what they said of each pair and single text."""

    statistics: list[Row]
    pairs: list[Row]
    texts: list[Row]
    ballots: int

    def lines(self) -> list[str]:
        """Return what people say of all aspects, a line for each dataset and group."""
        told: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.statistics:
            if not row["aspect"]:
                told.setdefault((row["dataset"], row["group"]), {})[row["statistic"]] = row
        return [f"{', '.join(place)}: {_line(rows)}" for place, rows in told.items()]


def _line(rows: Mapping[str, Row]) -> str:
    parts = [f"agreement {written(rows[AGREEMENT])}"]
    if NO_DIFFERENCE in rows:
        parts.append(f"no difference {rows[NO_DIFFERENCE]['value']:.3f}")
    if DISTANCE in rows:
        parts.append(f"mean distance {rows[DISTANCE]['value']:.3f} steps of the scale")
    return "; ".join(parts)


class Known:
    """The texts that a study can ask about, found by what stands for them in questions' names."""

    def __init__(self, plan: Plan, texts: Iterable[Text]) -> None:
        self._plan = plan
        self._texts = {name_of(plan, text): text for text in texts}

    def about(self, question: str) -> tuple[About, bool] | None:
        """Return what a question is about, and whether the better text comes first; or None."""
        texts = [self._texts.get(name) for name in question[1:].split("-")]
        if question[:1] != "q" or len(texts) > 2 or not texts[0]:
            return None
        one = texts[0]
        if len(texts) == 1:
            return (one, True) if one.kind == GRADED else None
        found = pair_of(one, texts[1]) if texts[1] else None
        return (found, found.better is one) if found else None

    def options(self, question: str) -> list[str] | None:
        """Return what can be answered to a question, None to one that the study does not ask."""
        asked = self.about(question)
        if not asked:
            return None
        about, _ = asked
        told = COMPARED if isinstance(about, Pair) else rating_options(self._plan, about)
        return [answer for answer, _ in told]

    def said(self, question: str, answer: str) -> tuple[About, int]:
        """Return what a question is about, and what an answer says of it.

        Of a pair 1: the better text is better, -1: the worse one, 0: neither. Of a text: by how
        many steps of the scale the rating is above the text's own. Both were checked.
        """
        asked, options = self.about(question), self.options(question)
        assert asked and options, "the ballot was checked"
        about, first = asked
        at = options.index(answer)
        if isinstance(about, Pair):
            return about, (1, -1, 0)[at] * (1 if first else -1)
        return about, at - about.places[0]


def read(plan: Plan, out: Path, folder: Path) -> Found:
    """Return what a folder of answers says of a study whose tables are in `out`.

    Raises UserErrors for what are no answers to its questions.
    """
    known = Known(plan, _texts(plan, out))
    given = ballots(folder, partial(_check, known)).values()
    tally = tallied(known, given)
    rows = [row for name in plan.evaluated for row in _statistics(name, tally)]
    pairs = [_pair_row(one, told) for one, told in tally.items() if isinstance(one, Pair)]
    texts = [_text_row(one, told) for one, told in tally.items() if isinstance(one, Text)]
    return Found(rows, pairs, texts, len(given))


def _texts(plan: Plan, out: Path) -> Iterator[Text]:
    """Yield the texts of every kind that is there; raises UserError where none is."""
    made = [
        kind
        for kind, how in KINDS.items()
        for files in [[path for name in plan.evaluated for path in how.files(plan, out, name)]]
        if files and all(path.is_file() for path in files)
    ]
    for kind in made or KINDS:
        yield from texts_of(plan, out, kind)


def _check(known: Known, ballot: Ballot, where: str) -> None:
    """Raise UserError unless a ballot answers all questions of one of the study's pages."""
    told = ballot.survey.partition("-")[0]
    page = page_id(ballot.answers, told if VOTERS.fullmatch(told) else "1")
    check_answers(ballot, page, known.options, where)


def tallied(known: Known, given: Iterable[Ballot]) -> Tally:
    """Return what people said of each pair and text; sorted by dataset, aspect, group and texts.

    A page says how many voters there are: of those who did not answer, judgments are missing.
    """
    found: dict[About, list[int]] = {}
    planned: dict[About, int] = {}
    for ballot in given:
        voters = int(ballot.survey.partition("-")[0])
        for name, answer in ballot.answers.items():
            about, said = known.said(name, answer)
            found.setdefault(about, []).append(said)
            planned[about] = max(voters, planned.get(about, 0))
    return {one: _judged(one, found[one], planned[one]) for one in sorted(found, key=_place)}


def _judged(about: About, told: list[int], planned: int) -> Judged:
    missing = max(0, planned - len(told))
    if isinstance(about, Pair):
        better, worse, same = (told.count(one) for one in (1, -1, 0))
        return Judged(better, worse, same, missing)
    same, lower = told.count(0), sum(one < 0 for one in told)
    return Judged(same, len(told) - same, 0, missing, lower, sum(map(abs, told)))


def _place(about: About) -> tuple[str, ...]:
    first = about.texts[0]
    targets = (one.target for one in about.texts)
    return (first.dataset, first.aspect, about.group, first.set, *targets)


def _statistics(dataset: str, tally: Tally) -> Iterator[Row]:
    """Yield a dataset's statistics, over all aspects (none named) and of each, group by group."""
    own = {about: told for about, told in tally.items() if about.texts[0].dataset == dataset}
    if not own:
        return
    items = sorted({source for about in own for source in about.sources})
    weights = deletions(len(items))
    for aspect in ["", *sorted({about.texts[0].aspect for about in own})]:
        for group, parts in GROUPS.items():
            some = {
                about: told
                for about, told in own.items()
                if about.group in parts and aspect in ("", about.texts[0].aspect)
            }
            whole = {about.group for about in some} == parts
            found = _estimates(group, some, items, weights) if whole else {}
            for name, estimate in found.items():
                place = {"dataset": dataset, "aspect": aspect, "group": group, "statistic": name}
                yield place | numbers_of(estimate)


def _estimates(
    group: str, tally: Tally, items: Sequence[str], weights: NDArray[np.int64]
) -> dict[str, Estimate]:
    """Return the shares of judgments that find what is known, and that see no difference.

    Of ratings there is no such share: of how many steps they are away in the mean.
    """
    better, worse, same, missing, _, steps = np.array(list(tally.values())).T
    source = np.searchsorted(items, sources_of(list(tally)))
    total = (better + worse + same).astype(np.float64)
    counts = {AGREEMENT: better}
    counts |= {GRADED: {DISTANCE: steps}, BOTH: {}}.get(group, {NO_DIFFERENCE: same})
    of = OF_TEXTS if GRADED in GROUPS[group] else OF
    return {
        name: share(
            each.astype(np.float64),
            total,
            source,
            weights,
            int(missing.sum()),
            of=of,
            ends=None if name == DISTANCE else SHARE,
            scale=scale_of(name),
        )
        for name, each in counts.items()
    }


def sources_of(those: Sequence[About]) -> list[str]:
    """Return the source to which each pair or text counts: of two the one that more pairs have.

    Where few texts have a rating, many pairs share one of them, and say less than as many others.
    """
    times = Counter(source for about in those for source in about.sources)
    return [max(about.sources, key=lambda source: (times[source], source)) for about in those]


def _pair_row(pair: Pair, told: Judged) -> Row:
    better, worse = pair.better, pair.worse
    found = better.dataset, better.aspect, pair.group, better.set, better.target, worse.target
    numbers = dict(zip(JUDGED, told[: len(JUDGED)], strict=True))
    return dict(zip(PAIRS, (*found, better.level, worse.level), strict=True)) | numbers


def _text_row(text: Text, told: Judged) -> Row:
    place = text.dataset, text.aspect, text.set, text.target, text.level
    counts = told.better, told.lower, told.worse - told.lower, told.missing, told.steps
    return dict(zip([*TEXTS, *RATED_AGAIN], [*place, *counts], strict=True))


def write(found: Found, folder: Path) -> list[Path]:
    """Write the tables into a folder and return their paths."""
    tables = {
        "reevaluation.csv": (STATISTICS, found.statistics),
        "pairs.csv": ([*PAIRS, *JUDGED], found.pairs),
        "texts.csv": ([*TEXTS, *RATED_AGAIN], found.texts),
    }
    return write_tables(tables, folder)
