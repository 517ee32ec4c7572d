"""Do people confirm the known quality of texts: which of two is better, how good one is?"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.rng import stream
from judgescope.people import form
from judgescope.people.answers import (
    NUMBERS,
    Allowed,
    Response,
    Results,
    Row,
    formatted,
    numbers_of,
    page_id,
    read_responses,
)
from judgescope.people.texts import (
    GRADED,
    NEEDS,
    RATED,
    ROW,
    Text,
    files_of,
    name_of,
    texts_of,
)
from judgescope.plan import Plan
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.result import Estimate

if TYPE_CHECKING:
    from numpy.random import Generator

NEW, ORIGINAL = "new-level", "original-level"
"""The groups of pairs of rated texts; the group of other texts has the name of their kind.

All raters gave one of the texts the same rating. NEW: all but one gave it to the other, too, and
the one a neighbouring rating. ORIGINAL: all gave the other a neighbouring rating.
"""
BOTH: Final = "constructed"
"""The group of all constructed texts, where there are texts in rows and of graded sets."""
GROUPS: Final = {name: {name} for name in (NEW, ORIGINAL, ROW, GRADED)} | {BOTH: {ROW, GRADED}}
RATED_PAIRS, CONSTRUCTED_PAIRS = 50, 100
"""How many pairs are drawn by default."""
POOL: Final = 10_000
"""So many pairs are drawn; those come first whose sources no other pair has."""
VOTERS = re.compile(r"[1-9][0-9]{0,3}")
AGREEMENT, NO_DIFFERENCE = "reevaluation_agreement", "reevaluation_no_difference"
DISTANCE = "reevaluation_distance"
STATISTICS = ["dataset", "aspect", "group", "statistic", *NUMBERS]
PAIRS = ["dataset", "aspect", "group", "set", "better", "worse", "level_better", "level_worse"]
PAIRS += ["for_better", "for_worse", "no_difference", "n_missing"]
TEXTS = ["dataset", "aspect", "set", "target", "rating"]
TEXTS += ["same", "lower", "higher", "n_missing", "steps"]
UNIT = "of judgments; of two sources a pair counts to the one that more pairs have"


# --- pairs -------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two texts, the one that is known to be better first, and the group of the pair."""

    group: str
    better: Text
    worse: Text

    @property
    def texts(self) -> tuple[Text, ...]:
        """Return the texts that a question about the pair shows, the better first."""
        return (self.better, self.worse)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the item of both texts, or their two items."""
        return tuple(sorted({self.better.item, self.worse.item}))


About = Pair | Text
"""The subject of a question: which text of a pair is better, or how good a text is."""
Block = tuple[Sequence[Text], Sequence[Text]]
"""Every text of the first makes a pair with every text of the second."""


def pair_of(first: Text, second: Text) -> Pair | None:
    """Return the pair that two texts make, in whatever order they come, or None."""
    kind, group = first.kind, None
    if first[:4] != second[:4]:  # of another kind, dataset, set or aspect
        return None
    if kind == RATED:
        ratings = agreed(first), agreed(second)
        if ratings[0] is None or ratings[1] is None:
            group = NEW if {*ratings} & {*nearly(first), *nearly(second)} else None
        elif abs(ratings[0] - ratings[1]) == 1:
            group = ORIGINAL
    elif kind == ROW and first.item == second.item and abs(first.level - second.level) == 1:
        group = ROW
    better, worse = sorted((first, second), key=lambda text: text.level, reverse=kind == RATED)
    return Pair(group, better, worse) if group else None


def agreed(text: Text) -> int | None:
    """Return the position on the scale of the rating that all raters gave, two of them at least."""
    return text.positions[0] if len(text.positions) > 1 and len({*text.positions}) == 1 else None


def nearly(text: Text) -> list[int]:
    """Return the positions of a rating that all but one rater gave, and this one a neighbour of it.

    If two raters gave neighbouring ratings, either may be the one.
    """
    low, *_, high = text.positions if len(text.positions) > 1 else (0, 0)
    if high - low != 1:
        return []
    return [at for at in (low, high) if text.positions.count(at) == len(text.positions) - 1]


def blocks_of(texts: Iterable[Text]) -> dict[str, list[Block]]:
    """Return group -> the pairs that rated texts of one aspect make; a pair is in one block."""
    alike: dict[int, list[Text]] = {}
    close: dict[int, list[Text]] = {}
    for text in sorted(texts, key=lambda text: text.target):
        if (position := agreed(text)) is not None:
            alike.setdefault(position, []).append(text)
        for base in nearly(text):
            close.setdefault(base, []).append(text)
    return {
        NEW: [(alike[at], close.get(at, [])) for at in sorted(alike)],
        ORIGINAL: [(alike[at], alike.get(at + 1, [])) for at in sorted(alike)],
    }


def drawn(blocks: Sequence[Block], rng: "Generator", limit: int) -> list[Pair]:
    """Draw up to `limit` pairs of the blocks without replacement.

    First come those whose sources no pair before them has: so many texts are judged, and each pair
    adds information. A smaller draw is the beginning of a larger one, up to POOL.
    """
    ends = list(accumulate(len(one) * len(other) for one, other in blocks))
    if not ends or not ends[-1]:
        return []
    used: set[str] = set()
    first: list[Pair] = []
    others: list[Pair] = []
    for at in rng.choice(ends[-1], min(ends[-1], max(POOL, limit)), replace=False).tolist():
        block = bisect_right(ends, at)
        firsts, seconds = blocks[block]
        one, other = divmod(ends[block] - 1 - at, len(seconds))
        pair = pair_of(firsts[one], seconds[other])
        assert pair, "a block holds pairs"
        if used.isdisjoint(pair.sources):
            used.update(pair.sources)
            first.append(pair)
        else:
            others.append(pair)
    return [*first, *others][:limit]


def sampled(texts: Iterable[Text], rng: "Generator", limit: int) -> list[Text]:
    """Draw up to `limit` texts of graded sets; the ratings of all sets take turns."""
    return form.balanced(
        sorted(texts, key=lambda text: (text.set, text.aspect, text.target)),
        rng,
        limit,
        kind=lambda text: (text.set, text.aspect, text.level),
        item=lambda text: text.item,
    )


# --- pages -------------------------------------------------------------------------------------


class Draw(NamedTuple):
    """The pairs, or texts of graded sets, drawn of a group: of one aspect, or of any ("")."""

    dataset: str
    aspect: str
    group: str
    pairs: Sequence[About]


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    kinds: Sequence[str] = (RATED,),
    pairs: int | None = None,
    voters: int = 2,
) -> form.Made[Draw]:
    """Write the pages of a study whose tables are in `out`, about texts of some `kinds`.

    `pairs` are drawn of each kind: of rated texts for each dataset, aspect and group, of texts in
    rows for each dataset; so many single texts of graded sets.
    """
    if pairs is None:
        pairs = RATED_PAIRS if RATED in kinds else CONSTRUCTED_PAIRS
    form.check_numbers(pairs=pairs, voters=voters)
    texts = [text for kind in kinds for text in texts_of(plan, out, kind)]
    draws = list(_draws(plan.study.seed, texts, pairs))
    if not any(draw.pairs for draw in draws):
        needs = "; or ".join(NEEDS[kind] for kind in kinds)
        raise form.nothing_to_ask(plan, todo=f"use {needs}")
    records = [(draw.dataset, about) for draw in draws for about in draw.pairs]
    items = partial(_items, plan)
    pages = form.voter_pages(plan, "reevaluation", records, items, voters=voters, prefix="{voters}")
    lines = [form.write_pages(pages, folder)]
    for draw in draws:
        if len(draw.pairs) < pairs:
            place = ", ".join(filter(None, [draw.dataset, draw.aspect, draw.group]))
            what = "texts" if draw.group == GRADED else "pairs"
            lines.append(f"{place}: there are {len(draw.pairs)} of {pairs} {what}")
    return form.Made(pages, draws, lines)


def _draws(seed: int, texts: Iterable[Text], limit: int) -> Iterator[Draw]:
    """Yield what is drawn of all texts, up to `limit` pairs each, or texts of graded sets."""
    places: dict[tuple[str, str, str], list[Text]] = {}
    for text in texts:
        aspect = text.aspect if text.kind == RATED else ""
        places.setdefault((text.kind, text.dataset, aspect), []).append(text)
    for (kind, dataset, aspect), some in places.items():
        if kind == GRADED:
            rng = stream(seed, "reevaluation", dataset, aspect, GRADED)
            yield Draw(dataset, aspect, GRADED, sampled(some, rng, limit))
            continue
        blocks = blocks_of(some)
        if kind == ROW:  # the texts of one item, of which one has an error more
            ordered = sorted(some, key=lambda text: (text.set, text.aspect, text.item, text.level))
            blocks = {ROW: [((a,), (b,)) for a, b in pairwise(ordered) if pair_of(a, b)]}
        for group, pairs in blocks.items():
            rng = stream(seed, "reevaluation", dataset, aspect, group)
            yield Draw(dataset, aspect, group, drawn(pairs, rng, limit))


def _items(plan: Plan, records: list[About], rng: "Generator") -> list[form.Item]:
    """Return a voter's questions, aspect by aspect, of each first the pairs, then single texts.

    In half of an aspect's pairs the better text comes first.
    """
    items = []
    for questions in form.by_aspect(records, rng, lambda about: about.texts[0].aspect):
        for number in (2, 1):
            alike = [about for about in questions if len(about.texts) == number]
            for about, swapped in form.half_swapped(alike, rng) if alike else ():
                items.append(_item(plan, about.texts[::-1] if swapped else about.texts))
    return items


def _item(plan: Plan, texts: tuple[Text, ...]) -> form.Item:
    """Return the question about texts in the order in which they are shown: one, or two."""
    dataset, aspect = texts[0].dataset, texts[0].aspect
    sources = tuple(form.visible_source(plan, dataset, aspect, text.source) for text in texts)
    alike = len({text.item for text in texts}) == 1
    name = f"q{'-'.join(name_of(plan, text) for text in texts)}"
    return form.Item(
        (form.Question(name, _options(plan, texts)),),
        plan.aspect_of(dataset, aspect),
        tuple(text.text for text in texts),
        sources[0] if alike else None,
        () if alike else sources,
    )


def _options(plan: Plan, texts: Sequence[Text]) -> form.Options:
    if len(texts) > 1:
        return form.COMPARED
    return form.rating_options(plan, texts[0].dataset, texts[0].aspect)


# --- answers -----------------------------------------------------------------------------------


class Judged(NamedTuple):
    """How many people confirmed the known quality, contradicted it, or saw no difference.

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


class Known:
    """The texts that a study can ask about, found by their parts of question ids."""

    def __init__(self, plan: Plan, texts: Iterable[Text]) -> None:
        self._plan = plan
        self._texts = {name_of(plan, text): text for text in texts}

    def about(self, question: str) -> tuple[About, bool] | None:
        """Return the subject of a question, and whether the better text comes first; or None."""
        texts = [self._texts.get(name) for name in question[1:].split("-")]
        if question[:1] != "q" or len(texts) > 2 or not texts[0]:
            return None
        first = texts[0]
        if len(texts) == 1:
            return (first, True) if first.kind == GRADED else None
        pair = pair_of(first, texts[1]) if texts[1] else None
        return (pair, pair.better is first) if pair else None

    def options(self, question: str) -> list[str] | None:
        """Return what may be answered to a question, None to one that the study does not ask."""
        asked = self.about(question)
        return [answer for answer, _ in _options(self._plan, asked[0].texts)] if asked else None


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the results of a folder of answers, of a study whose tables are in `out`.

    Raises UserErrors for answers that do not fit its questions.
    """
    files = {
        kind: [path for name in plan.evaluated for path in files_of(plan, out, kind, name)]
        for kind in NEEDS
    }
    made = [kind for kind, paths in files.items() if paths and all(p.is_file() for p in paths)]
    known = Known(plan, (text for kind in made or NEEDS for text in texts_of(plan, out, kind)))

    def page(response: Response) -> tuple[str, Allowed]:
        prefix = response.prefix if VOTERS.fullmatch(response.prefix) else "1"
        return page_id(response.answers, prefix), known.options

    responses = read_responses(folder, page).values()
    tally = _tallied(known, responses)
    rows = [row for name in plan.evaluated for row in _statistics(name, tally)]
    pairs = [_pair_row(about, each) for about, each in tally.items() if isinstance(about, Pair)]
    texts = [_text_row(about, each) for about, each in tally.items() if isinstance(about, Text)]
    tables = {
        "reevaluation.csv": (STATISTICS, rows),
        "pairs.csv": (PAIRS, pairs),
        "texts.csv": (TEXTS, texts),
    }
    single = f" and {len(texts)} single texts" if texts else ""
    about = f"about {len(pairs)} pairs of texts{single}"
    return Results("reevaluation", len(responses), about, tables, list(_lines(rows)))


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the results over all aspects, a line for each dataset and group."""
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if not row["aspect"]:
            groups.setdefault((row["dataset"], row["group"]), {})[row["statistic"]] = row
    for group, by_statistic in groups.items():
        parts = [f"agreement {formatted(by_statistic[AGREEMENT])}"]
        if NO_DIFFERENCE in by_statistic:
            parts.append(f"no difference {by_statistic[NO_DIFFERENCE]['value']:.3f}")
        if DISTANCE in by_statistic:
            parts.append(f"mean distance {by_statistic[DISTANCE]['value']:.3f} steps of the scale")
        yield f"{', '.join(group)}: {'; '.join(parts)}"


def _tallied(known: Known, responses: Iterable[Response]) -> Tally:
    """Return people's judgments of each pair and text, by dataset, aspect, group and texts.

    A page says how many voters there are: of those who did not answer, judgments are missing.
    """
    # of a pair 1: the better text is better, -1: the worse one, 0: neither; of a text: by how many
    # steps of the scale the rating is above the text's own
    judgments: dict[About, list[int]] = {}
    planned: Counter[About] = Counter()
    for response in responses:
        for question, answer in response.answers.items():
            asked, options = known.about(question), known.options(question)
            assert asked and options, "the response was checked"
            (about, better_first), position = asked, options.index(answer)
            if isinstance(about, Pair):
                judgment = (1, -1, 0)[position] * (1 if better_first else -1)
            else:
                judgment = position - about.positions[0]
            judgments.setdefault(about, []).append(judgment)
            planned[about] = max(int(response.prefix), planned[about])

    def order(about: About) -> tuple[str, ...]:
        first, targets = about.texts[0], (text.target for text in about.texts)
        return (first.dataset, first.aspect, about.group, first.set, *targets)

    tally: dict[About, Judged] = {}
    for about in sorted(judgments, key=order):
        values = judgments[about]
        missing, same = max(0, planned[about] - len(values)), values.count(0)
        if isinstance(about, Pair):
            tally[about] = Judged(values.count(1), values.count(-1), same, missing)
        else:
            lower, steps = sum(value < 0 for value in values), sum(map(abs, values))
            tally[about] = Judged(same, len(values) - same, 0, missing, lower, steps)
    return tally


def _statistics(dataset: str, tally: Tally) -> Iterator[Row]:
    """Yield a dataset's statistics, over all aspects (none named) and of each, group by group."""
    judged = {about: each for about, each in tally.items() if about.texts[0].dataset == dataset}
    if not judged:
        return
    items = sorted({source for about in judged for source in about.sources})
    weights = deletions(len(items))
    for aspect in ["", *sorted({about.texts[0].aspect for about in judged})]:
        for group, parts in GROUPS.items():
            some = {
                about: each
                for about, each in judged.items()
                if about.group in parts and aspect in ("", about.texts[0].aspect)
            }
            if {about.group for about in some} == parts:
                for name, estimate in _estimates(group, some, items, weights).items():
                    place = (dataset, aspect, group, name)
                    yield dict(zip(STATISTICS, place, strict=False)) | numbers_of(estimate)


def _estimates(
    group: str, tally: Tally, items: Sequence[str], weights: NDArray[np.int64]
) -> dict[str, Estimate]:
    """Return the shares of judgments that confirm the known quality, and that see no difference.

    Ratings have no such share; they have the mean number of steps between them and the known one.
    """
    better, worse, same, missing, _, steps = np.array(list(tally.values())).T
    source = np.searchsorted(items, sources_of(list(tally)))
    total = (better + worse + same).astype(np.float64)
    counts = {AGREEMENT: better}
    counts |= {GRADED: {DISTANCE: steps}, BOTH: {}}.get(group, {NO_DIFFERENCE: same})
    return {
        name: share(
            each.astype(np.float64),
            total,
            source,
            weights,
            int(missing.sum()),
            averaged="of judgments" if GRADED in GROUPS[group] else UNIT,
            ends=None if name == DISTANCE else SHARE,
            scale=scale_of(name),
        )
        for name, each in counts.items()
    }


def sources_of(questions: Sequence[About]) -> list[str]:
    """Return the source to which each pair or text counts: of two the one that more pairs have.

    Where few texts have a rating, many pairs share a text and carry less information.
    """
    times = Counter(source for about in questions for source in about.sources)
    return [max(about.sources, key=lambda source: (times[source], source)) for about in questions]


def _pair_row(pair: Pair, judged: Judged) -> Row:
    better, worse = pair.better, pair.worse
    place = better.dataset, better.aspect, pair.group, better.set, better.target, worse.target
    return dict(zip(PAIRS, (*place, better.level, worse.level, *judged[:4]), strict=True))


def _text_row(text: Text, judged: Judged) -> Row:
    place = text.dataset, text.aspect, text.set, text.target, text.level
    counts = judged.better, judged.lower, judged.worse - judged.lower, judged.missing, judged.steps
    return dict(zip(TEXTS, (*place, *counts), strict=True))
