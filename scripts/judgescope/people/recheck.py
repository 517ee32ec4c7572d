"""Do people find what is known of texts: which of two is better, how good one is?"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.people import form
from judgescope.people.responses import Allowed, Response, page_id, read_responses
from judgescope.people.tables import NUMBERS, Results, Row, formatted, numbers_of
from judgescope.people.texts import (
    CONSTRUCTED,
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
RATED_PAIRS, CONSTRUCTED_PAIRS = 50, 100
"""How many pairs are drawn by default."""
POOL: Final = 10_000
"""So many pairs are drawn; those come first whose sources no other pair has."""
BOTH: Final = "constructed"
"""The group of all constructed texts, where there are texts in rows and of graded sets."""
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
TEXTS = ["dataset", "aspect", "set", "target", "rating"]
RATED_AGAIN = ["same", "lower", "higher", "n_missing", "steps"]
VOTERS = re.compile(r"[1-9][0-9]{0,3}")
UNIT = "of judgments; of two sources a pair counts to the one that more pairs have"


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
"""What a question is about: which text of a pair is better, or how good a text is."""
Block = tuple[Sequence[Text], Sequence[Text]]
"""Every text of the first makes a pair with every text of the second."""


# --- pairs -----------------------------------------------------------------------------------


def pair_of(first: Text, second: Text) -> Pair | None:
    """Return the pair that two texts make, in whatever order they come, or None."""
    kind = first.kind
    if (kind, first.dataset, first.set, first.aspect) != (
        *(second.kind, second.dataset, second.set, second.aspect),
    ):
        return None
    group = None
    if kind == RATED:
        group = _rated_group(first, second)
    elif kind == ROW and first.item == second.item and abs(first.level - second.level) == 1:
        group = ROW
    better, worse = sorted((first, second), key=lambda text: text.level, reverse=kind == RATED)
    return Pair(group, better, worse) if group else None


def _rated_group(first: Text, second: Text) -> str | None:
    ratings = agreed(first), agreed(second)
    if ratings[0] is not None and ratings[1] is not None:
        return ORIGINAL if abs(ratings[0] - ratings[1]) == 1 else None
    return NEW if {*ratings} & {*nearly(first), *nearly(second)} else None


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
    return [
        place for place in (low, high) if text.positions.count(place) == len(text.positions) - 1
    ]


def blocks_of(texts: Iterable[Text]) -> dict[str, list[Block]]:
    """Return group -> the pairs that rated texts of one aspect make; a pair is in one block."""
    alike: dict[int, list[Text]] = {}
    close: dict[int, list[Text]] = {}
    for text in sorted(texts, key=lambda text: text.target):
        if (place := agreed(text)) is not None:
            alike.setdefault(place, []).append(text)
        for base in nearly(text):
            close.setdefault(base, []).append(text)
    return {
        NEW: [(alike[place], close.get(place, [])) for place in sorted(alike)],
        ORIGINAL: [(alike[place], alike.get(place + 1, [])) for place in sorted(alike)],
    }


def neighbours(texts: Iterable[Text]) -> list[Block]:
    """Return the pairs that texts in rows make: of one item, and one has an error more."""
    ordered = sorted(texts, key=lambda text: (text.set, text.aspect, text.item, text.level))
    return [((one,), (other,)) for one, other in pairwise(ordered) if pair_of(one, other)]


def drawn(blocks: Sequence[Block], rng: "Generator", limit: int) -> list[Pair]:
    """Draw up to `limit` pairs of the blocks without replacement.

    First come those whose sources no pair before them has: so many texts are judged, and each pair
    adds information. A smaller draw is the beginning of a larger one, up to POOL.
    """
    ends = list(accumulate(len(one) * len(other) for one, other in blocks))
    if not ends or not ends[-1]:
        return []
    chosen = rng.choice(ends[-1], min(ends[-1], max(POOL, limit)), replace=False)
    return list(islice(_spread([_pair_at(blocks, ends, at) for at in chosen.tolist()]), limit))


def _pair_at(blocks: Sequence[Block], ends: Sequence[int], number: int) -> Pair:
    """Return a pair by its number; `ends` says how many there are up to each block's end."""
    block = bisect_right(ends, number)
    firsts, seconds = blocks[block]
    first, second = divmod(ends[block] - 1 - number, len(seconds))
    pair = pair_of(firsts[first], seconds[second])
    assert pair, "a block holds pairs"
    return pair


def _spread(pairs: Sequence[Pair]) -> Iterator[Pair]:
    used: set[str] = set()
    others = []
    for pair in pairs:
        if used.isdisjoint(pair.sources):
            used.update(pair.sources)
            yield pair
        else:
            others.append(pair)
    yield from others


def sampled(texts: Iterable[Text], rng: "Generator", limit: int) -> list[Text]:
    """Draw up to `limit` texts of graded sets; the ratings of all sets take turns."""
    return form.balanced(
        sorted(texts, key=lambda text: (text.set, text.aspect, text.target)),
        rng,
        limit,
        kind=lambda text: (text.set, text.aspect, text.level),
        item=lambda text: text.item,
    )


# --- pages -----------------------------------------------------------------------------------


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
    constructed: bool = False,
    pairs: int | None = None,
    voters: int = 2,
    kinds: Sequence[str] = (),
) -> form.Made[Draw]:
    """Write the pages of a study whose tables are in `out`, about texts of some `kinds`.

    Default: rated texts, or the `constructed` ones. `pairs` are drawn of each kind: of rated texts
    for each dataset, aspect and group, of texts in rows for each dataset; so many single texts of
    graded sets.
    """
    kinds = kinds or (CONSTRUCTED if constructed else (RATED,))
    pairs = pairs if pairs is not None else CONSTRUCTED_PAIRS if constructed else RATED_PAIRS
    form.check_numbers(pairs=pairs, voters=voters)
    texts = [text for kind in kinds for text in texts_of(plan, out, kind)]
    draws = list(_draws(plan.study.seed, texts, pairs))
    if not any(draw.pairs for draw in draws):
        needs = "; or ".join(NEEDS[kind] for kind in kinds)
        raise UserError("there is nothing to ask", where=plan.study.study, todo=f"use {needs}")
    records = [(draw.dataset, about) for draw in draws for about in draw.pairs]
    items = partial(_items, plan)
    pages = form.voter_pages(plan, "reevaluation", records, items, voters=voters, prefix="{voters}")
    form.write_pages(pages, folder)
    lines = [form.count(pages, folder)]
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
        blocks = blocks_of(some) if kind == RATED else {ROW: neighbours(some)}
        for group, pairs in blocks.items():
            rng = stream(seed, "reevaluation", dataset, aspect, group)
            yield Draw(dataset, aspect, group, drawn(pairs, rng, limit))


def _items(plan: Plan, records: list[About], rng: "Generator") -> list[form.Item]:
    """Return a voter's questions, aspect by aspect, of each first the pairs, then single texts.

    In half of an aspect's pairs the better text comes first.
    """
    items = []
    for questions in form.by_aspect(records, rng, lambda about: about.texts[0].aspect):
        for number in sorted({len(about.texts) for about in questions}, reverse=True):
            alike = [about for about in questions if len(about.texts) == number]
            swapped = rng.permutation(len(alike)) % 2 == rng.integers(2)
            for which in rng.permutation(len(alike)):
                texts = alike[which].texts
                items.append(_item(plan, texts[::-1] if swapped[which] else texts))
    return items


def _item(plan: Plan, texts: tuple[Text, ...]) -> form.Item:
    """Return the question about texts in the order in which they are shown: one, or two."""
    dataset, aspect = texts[0].dataset, texts[0].aspect
    sources = tuple(form.visible_source(plan, dataset, aspect, text.source) for text in texts)
    alike = len({text.item for text in texts}) == 1
    options = form.COMPARED if len(texts) > 1 else form.rating_options(plan, dataset, aspect)
    return form.Item(
        (form.Question(f"q{'-'.join(name_of(plan, text) for text in texts)}", options),),
        plan.aspect_of(dataset, aspect),
        tuple(text.text for text in texts),
        sources[0] if alike else None,
        () if alike else sources,
    )


# --- answers ---------------------------------------------------------------------------------


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


class Known:
    """The texts that a study can ask about, found by what stands for them in question ids."""

    def __init__(self, plan: Plan, texts: Iterable[Text]) -> None:
        self._plan = plan
        self._texts = {name_of(plan, text): text for text in texts}

    def about(self, question: str) -> tuple[About, bool] | None:
        """Return what a question is about, and whether the better text comes first; or None."""
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
        if not asked:
            return None
        about, _ = asked
        if isinstance(about, Pair):
            return [answer for answer, _ in form.COMPARED]
        options = form.rating_options(self._plan, about.dataset, about.aspect)
        return [answer for answer, _ in options]

    def judgment(self, question: str, answer: str) -> tuple[About, int]:
        """Return what a question is about, and what an answer, which was checked, says of it.

        Of a pair 1: the better text is better, -1: the worse one, 0: neither. Of a text: by how
        many steps of the scale the rating is above the text's own.
        """
        asked, options = self.about(question), self.options(question)
        assert asked and options, "the response was checked"
        about, first = asked
        at = options.index(answer)
        if isinstance(about, Pair):
            return about, (1, -1, 0)[at] * (1 if first else -1)
        return about, at - about.positions[0]


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return what a folder of answers says of a study whose tables are in `out`.

    Raises UserErrors for what are no answers to its questions.
    """
    known = Known(plan, _texts(plan, out))

    def page(response: Response) -> tuple[str, Allowed]:
        voters = response.survey.partition("-")[0]
        prefix = voters if VOTERS.fullmatch(voters) else "1"
        return page_id(response.answers, prefix), known.options

    responses = read_responses(folder, page).values()
    tally = _tallied(known, responses)
    rows = [row for name in plan.evaluated for row in _statistics(name, tally)]
    pairs = [_pair_row(about, each) for about, each in tally.items() if isinstance(about, Pair)]
    texts = [_text_row(about, each) for about, each in tally.items() if isinstance(about, Text)]
    tables = {
        "reevaluation.csv": (STATISTICS, rows),
        "pairs.csv": ([*PAIRS, *JUDGED], pairs),
        "texts.csv": ([*TEXTS, *RATED_AGAIN], texts),
    }
    single = f" and {len(texts)} single texts" if texts else ""
    about = f"about {len(pairs)} pairs of texts{single}"
    return Results("reevaluation", len(responses), about, tables, list(_lines(rows)))


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what people say of all aspects, a line for each dataset and group."""
    places: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if not row["aspect"]:
            places.setdefault((row["dataset"], row["group"]), {})[row["statistic"]] = row
    for place, found in places.items():
        parts = [f"agreement {formatted(found[AGREEMENT])}"]
        if NO_DIFFERENCE in found:
            parts.append(f"no difference {found[NO_DIFFERENCE]['value']:.3f}")
        if DISTANCE in found:
            parts.append(f"mean distance {found[DISTANCE]['value']:.3f} steps of the scale")
        yield f"{', '.join(place)}: {'; '.join(parts)}"


def _texts(plan: Plan, out: Path) -> Iterator[Text]:
    """Yield the texts of every kind that is made; raises UserError if none is."""
    made = []
    for kind in NEEDS:
        files = [path for name in plan.evaluated for path in files_of(plan, out, kind, name)]
        if files and all(path.is_file() for path in files):
            made.append(kind)
    for kind in made or NEEDS:
        yield from texts_of(plan, out, kind)


def _tallied(known: Known, responses: Iterable[Response]) -> Tally:
    """Return what people said of each pair and text; sorted by dataset, aspect, group and texts.

    A page says how many voters there are: of those who did not answer, judgments are missing.
    """
    judgments: dict[About, list[int]] = {}
    planned: dict[About, int] = {}
    for response in responses:
        voters = int(response.survey.partition("-")[0])
        for question, answer in response.answers.items():
            about, judgment = known.judgment(question, answer)
            judgments.setdefault(about, []).append(judgment)
            planned[about] = max(voters, planned.get(about, 0))
    tally: dict[About, Judged] = {}
    for about in sorted(judgments, key=_sort_key):
        values = judgments[about]
        missing, same = max(0, planned[about] - len(values)), values.count(0)
        if isinstance(about, Pair):
            tally[about] = Judged(values.count(1), values.count(-1), same, missing)
        else:
            lower, steps = sum(value < 0 for value in values), sum(map(abs, values))
            tally[about] = Judged(same, len(values) - same, 0, missing, lower, steps)
    return tally


def _sort_key(about: About) -> tuple[str, ...]:
    first = about.texts[0]
    targets = (text.target for text in about.texts)
    return (first.dataset, first.aspect, about.group, first.set, *targets)


def _statistics(dataset: str, tally: Tally) -> Iterator[Row]:
    """Yield a dataset's statistics, over all aspects (none named) and of each, group by group."""
    rows = {about: each for about, each in tally.items() if about.texts[0].dataset == dataset}
    items = sorted({source for about in rows for source in about.sources})
    weights = deletions(len(items)) if items else None
    for aspect in ["", *sorted({about.texts[0].aspect for about in rows})] if items else ():
        for group, parts in GROUPS.items():
            some = {
                about: each
                for about, each in rows.items()
                if about.group in parts and aspect in ("", about.texts[0].aspect)
            }
            if weights is None or {about.group for about in some} != parts:
                continue
            for name, estimate in _estimates(group, some, items, weights).items():
                place = {"dataset": dataset, "aspect": aspect, "group": group, "statistic": name}
                yield place | numbers_of(estimate)


def _estimates(
    group: str, tally: Tally, items: Sequence[str], weights: NDArray[np.int64]
) -> dict[str, Estimate]:
    """Return the shares of judgments that find what is known, and that see no difference.

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
            of="of judgments" if GRADED in GROUPS[group] else UNIT,
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
    texts = better.dataset, better.aspect, pair.group, better.set, better.target, worse.target
    numbers = dict(zip(JUDGED, judged[: len(JUDGED)], strict=True))
    return dict(zip(PAIRS, (*texts, better.level, worse.level), strict=True)) | numbers


def _text_row(text: Text, judged: Judged) -> Row:
    place = text.dataset, text.aspect, text.set, text.target, text.level
    counts = judged.better, judged.lower, judged.worse - judged.lower, judged.missing, judged.steps
    return dict(zip([*TEXTS, *RATED_AGAIN], [*place, *counts], strict=True))
