"""Do people confirm the known quality of texts: which of two is better, or how good one is?

The known quality is: for a rated text, all people's ratings of an aspect; for a text of an
error-injection chain (a row), its number of errors; for a text of a graded set, the rating that it
was made for.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from math import fsum, isclose
from pathlib import Path
from statistics import fmean
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from judgescope.core.canonical import canonical
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.subjects import Subjects
from judgescope.people import form
from judgescope.people.form import Asked, Measured, Response, Results, Table
from judgescope.plan.study import Plan
from judgescope.schema.tables import CHOSEN, read_table
from judgescope.statistics.declared import scale_of
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.result import Estimate

RATED, ROW, GRADED = "rated", "row", "graded"
"""The kinds of texts."""
CONSTRUCTED: Final = (ROW, GRADED)
"""The kinds of texts whose quality is known by construction."""
NEEDS: Final = {
    RATED: "a dataset with several people's ratings of each text, on scales that have a `step`",
    ROW: "perturbations with several `steps`, which make error-injection chains",
    GRADED: "perturbations of method `graded`, which make texts of every rating",
}
"""What a study needs for questions about each kind of texts."""
NEW, ORIGINAL = "new-level", "original-level"
"""The groups of pairs of rated texts; for other texts, the group has the name of their kind.

All raters gave the first text the same rating. NEW: all but one gave the second text this rating,
and that one a neighbouring rating. ORIGINAL: all gave the second text a neighbouring rating.
"""
BOTH: Final = "constructed"
"""The group of all constructed texts, if there are both chains and graded sets."""
GROUPS: Final = {name: {name} for name in (NEW, ORIGINAL, ROW, GRADED)} | {BOTH: {ROW, GRADED}}
RATED_PAIRS, CONSTRUCTED_PAIRS = 50, 100
"""The default numbers of drawn pairs."""
POOL: Final = 10_000
"""The number of drawn candidate pairs; pairs with unused sources come first."""
AGREEMENT, NO_DIFFERENCE = "reevaluation_agreement", "reevaluation_no_difference"
DISTANCE = "reevaluation_distance"
LINE: Final = {
    AGREEMENT: "agreement {0}",
    NO_DIFFERENCE: "no difference {1:.3f}",
    DISTANCE: "mean distance {1:.3f} steps of the scale",
}
"""Statistic -> its text in a line, made of the formatted estimate and its value."""
STATISTICS = ["dataset", "aspect", "group", "statistic"]
PAIRS = ["dataset", "aspect", "group", "set", "better", "worse", "level_better", "level_worse"]
PAIRS += ["for_better", "for_worse", "no_difference", "n_missing"]
TEXTS = ["dataset", "aspect", "set", "target", "rating"]
TEXTS += ["same", "lower", "higher", "n_missing", "steps"]
UNIT = "share of judgments; a pair of two sources counts for the source with more pairs"


# --- texts ---------------------------------------------------------------------------------------


class Text(NamedTuple):
    """A text, one aspect of it, and its known quality.

    `level` is the mean rating, the number of errors, or the rating of a graded set. `positions` are
    the places of its ratings on the aspect's scale, 0 for the worst value; empty if a rating is not
    on the scale.
    """

    kind: str
    dataset: str
    set: str
    aspect: str
    target: str
    item: str
    source: str | None
    text: str
    level: float
    positions: tuple[int, ...] = ()


def texts_of(plan: Plan, out: Path, kind: str) -> list[Text]:
    """Return all texts of a kind; raise UserError if they are not made yet."""
    files = {name: files_of(plan, out, kind, name) for name in plan.evaluated}
    form.check_made([path for paths in files.values() for path in paths])
    read = {RATED: _rated, ROW: _in_rows, GRADED: _graded}[kind]
    return [
        text
        for name, paths in files.items()
        if paths
        for text in read(plan, out, form.subjects_of(plan, out, name))
    ]


def files_of(plan: Plan, out: Path, kind: str, dataset: str) -> list[Path]:
    """Return the files that texts of a kind are read from; none if a dataset has no such texts."""
    names = []
    if kind == RATED and plan.datasets[dataset].ratings == "human":
        names = [f"targets/{dataset}/systems", f"ratings/{dataset}"]
    elif kind == ROW and (rows := _sets(plan, dataset, "chain")):
        names = [f"targets/{dataset}/{name}" for name in [*_originals(plan, dataset), *rows]]
    elif kind == GRADED:
        sets = _sets(plan, dataset, "graded")
        names = [f"{table}/{dataset}/{name}" for name in sets for table in ("targets", "graded")]
    return [out / f"{name}.parquet" for name in [f"items/{dataset}", *names] if names]


def _sets(plan: Plan, dataset: str, kind: Literal["chain", "graded"]) -> list[str]:
    return [f"{name}.{degree}" for name, degree in plan.perturbed(dataset, kind)]


def _originals(plan: Plan, dataset: str) -> list[str]:
    """Return the set of texts without errors; rows that a dataset contains have their own."""
    return [] if plan.datasets[dataset].gives_texts else ["original"]


def _rated(plan: Plan, _: Path, subjects: Subjects) -> Iterator[Text]:
    """Yield the texts that people rated, once for each aspect."""
    dataset = subjects.dataset
    for aspect in plan.plain_aspects(dataset):
        for subject in subjects.in_set("systems"):
            if values := sorted(subjects.ratings.get((subject.target, aspect), [])):
                place = RATED, dataset, "systems", aspect, subject.target, subject.item
                positions = _positions(plan, dataset, aspect, values)
                mean = fsum(values) / len(values)
                yield Text(*place, subject.source, subject.text, mean, positions)


def _positions(plan: Plan, dataset: str, aspect: str, ratings: list[float]) -> tuple[int, ...]:
    options = form.rating_options(plan, dataset, aspect)
    scale = [float(value) for value, _ in options]
    found = [at for rating in ratings for at, value in enumerate(scale) if isclose(rating, value)]
    return tuple(sorted(found)) if len(found) == len(ratings) else ()


def _in_rows(plan: Plan, _: Path, subjects: Subjects) -> Iterator[Text]:
    """Yield the texts in rows, once for each aspect that the row's card names (default: all)."""
    dataset = subjects.dataset
    for row in _sets(plan, dataset, "chain"):
        aspects = plan.perturbations[row.partition(".")[0]].aspects
        texts = [
            text for name in [*_originals(plan, dataset), row] for text in subjects.in_set(name)
        ]
        for aspect in plan.plain_aspects(dataset):
            for subject in texts if not aspects or aspect in aspects else ():
                place = ROW, dataset, row, aspect, subject.target, subject.item
                yield Text(*place, subject.source, subject.text, subject.step)


def _graded(plan: Plan, out: Path, subjects: Subjects) -> Iterator[Text]:
    """Yield the texts of graded sets whose rating is on the aspect's scale."""
    dataset = subjects.dataset
    for name in _sets(plan, dataset, "graded"):
        made = {subject.target: subject for subject in subjects.in_set(name)}
        for row in read_table("graded", out / "graded" / dataset / f"{name}.parquet").to_pylist():
            subject, aspect, rating = made.get(row["target"]), row["aspect"], row["rating"]
            used = row["status"] == CHOSEN and aspect in plan.plain_aspects(dataset)
            if subject and used and (at := _positions(plan, dataset, aspect, [rating])):
                place = GRADED, dataset, name, aspect, subject.target, subject.item
                yield Text(*place, subject.source, subject.text, rating, at)


def name_of(plan: Plan, text: Text) -> str:
    """Return the part of question ids that stands for a text.

    It reveals nothing to people, and changes with the study's seed, with everything shown about the
    text and its aspect, and with its known quality.
    """
    options = [form.rating_options(plan, text.dataset, text.aspect)] if text.kind == GRADED else []
    shown = canonical([*text, form.wording_of(plan, text.dataset, text.aspect), *options])
    return f"{stream_seed(plan.study.seed, 'reevaluation', 'text', shown):032x}"


# --- pairs -------------------------------------------------------------------------------------


class Case(NamedTuple):
    """The subject of a question: which of two texts is better, or how good a single text is.

    The text of a pair that is known to be better comes first.
    """

    group: str
    texts: tuple[Text, ...]

    @property
    def is_pair(self) -> bool:
        """Return whether there are two texts."""
        return len(self.texts) == 2

    @property
    def dataset(self) -> str:
        """Return the dataset of the texts."""
        return self.texts[0].dataset

    @property
    def aspect(self) -> str:
        """Return the aspect of the question."""
        return self.texts[0].aspect

    @property
    def place(self) -> tuple[str, ...]:
        """Return the dataset, aspect, group, set of texts and targets."""
        targets = (text.target for text in self.texts)
        return (self.dataset, self.aspect, self.group, self.texts[0].set, *targets)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the texts' items without duplicates."""
        return tuple(sorted({text.item for text in self.texts}))


Block = tuple[Sequence[Text], Sequence[Text]]
"""Every text of the first makes a pair with every text of the second."""


def pair_of(first: Text, second: Text) -> Case | None:
    """Return the pair that two texts form, in either order, or None."""
    kind, group = first.kind, None
    if first[:4] != second[:4]:  # texts of another kind, dataset, set or aspect
        return None
    if kind == RATED:
        ratings = agreed(first), agreed(second)
        if ratings[0] is None or ratings[1] is None:
            group = NEW if {*ratings} & {*nearly(first), *nearly(second)} else None
        elif abs(ratings[0] - ratings[1]) == 1:
            group = ORIGINAL
    elif kind == ROW and first.item == second.item and abs(first.level - second.level) == 1:
        group = ROW
    texts = sorted((first, second), key=quality, reverse=True)
    return Case(group, tuple(texts)) if group else None


def quality(text: Text) -> float:
    """Return a number that is higher for the better text, by its ratings or its errors."""
    return fmean(text.positions) if text.positions else -text.level


def agreed(text: Text) -> int | None:
    """Return the position of the rating that all raters (at least two) gave, or None."""
    return text.positions[0] if len(text.positions) > 1 and len({*text.positions}) == 1 else None


def nearly(text: Text) -> list[int]:
    """Return the positions of ratings that all raters but one gave, who gave a neighbouring one.

    With two raters who gave neighbouring ratings, there are two such positions.
    """
    low, *_, high = text.positions if len(text.positions) > 1 else (0, 0)
    if high - low != 1:
        return []
    return [at for at in (low, high) if text.positions.count(at) == len(text.positions) - 1]


def blocks_of(texts: Iterable[Text]) -> dict[str, list[Block]]:
    """Return group -> the pairs of rated texts of one aspect; each pair is in one block."""
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


def drawn(blocks: Sequence[Block], rng: Generator, limit: int) -> list[Case]:
    """Draw up to `limit` pairs of the blocks without replacement.

    Pairs whose sources no earlier pair has come first: more texts are judged, and each pair adds
    information. A smaller draw is the beginning of a larger one, up to POOL.
    """
    ends = list(accumulate(len(one) * len(other) for one, other in blocks))
    if not ends or not ends[-1]:
        return []
    used: set[str] = set()
    first: list[Case] = []
    others: list[Case] = []
    for at in rng.choice(ends[-1], min(ends[-1], max(POOL, limit)), replace=False).tolist():
        block = bisect_right(ends, at)
        firsts, seconds = blocks[block]
        one, other = divmod(ends[block] - 1 - at, len(seconds))
        pair = pair_of(firsts[one], seconds[other])
        assert pair, "every combination in a block is a pair"
        if used.isdisjoint(pair.sources):
            used.update(pair.sources)
            first.append(pair)
        else:
            others.append(pair)
    return [*first, *others][:limit]


def sampled(texts: Iterable[Text], rng: Generator, limit: int) -> list[Text]:
    """Draw up to `limit` texts of graded sets, in turn from each rating of each set."""
    return form.balanced(
        sorted(texts, key=lambda text: (text.set, text.aspect, text.target)),
        rng,
        limit,
        kind=lambda text: (text.set, text.aspect, text.level),
        item=lambda text: text.item,
    )


# --- pages -------------------------------------------------------------------------------------


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    kinds: Sequence[str] = (RATED,),
    pairs: int | None = None,
    voters: int = 2,
) -> form.Made[Case]:
    """Write the pages of a study whose tables are in `out`, about texts of some `kinds`.

    `pairs` is the number of drawn pairs: of rated texts for each dataset, aspect and group, of
    texts in rows for each dataset; also of single texts of graded sets. Raises UserError for a
    number below 1, if tables are missing, and if there is nothing to ask.
    """
    if pairs is None:
        pairs = RATED_PAIRS if RATED in kinds else CONSTRUCTED_PAIRS
    form.check_numbers(pairs=pairs, voters=voters)
    texts = [text for kind in kinds for text in texts_of(plan, out, kind)]
    drawn = _drawn(plan.study.seed, texts, pairs)
    if not any(drawn.values()):
        needs = "; or ".join(NEEDS[kind] for kind in kinds)
        raise form.nothing_to_ask(plan, todo=f"use {needs}")
    items = partial(_items, plan)
    made = form.ask(plan, folder, "reevaluation", drawn, items, voters=voters)
    for labels, cases in drawn.items():
        if len(cases) < pairs:
            what = "texts" if GRADED in labels else "pairs"
            place = ", ".join(filter(None, labels))
            made.lines.append(f"{place}: only {len(cases)} of {pairs} {what} available")
    return made


def _drawn(seed: int, texts: Iterable[Text], limit: int) -> form.Drawn[Case]:
    """Return dataset, aspect ("": any) and group -> up to `limit` pairs, or single texts."""
    places: dict[tuple[str, str, str], list[Text]] = {}
    for text in texts:
        aspect = text.aspect if text.kind == RATED else ""
        places.setdefault((text.kind, text.dataset, aspect), []).append(text)
    result: form.Drawn[Case] = {}
    for (kind, *place), some in places.items():
        if kind == GRADED:
            chosen = sampled(some, stream(seed, "reevaluation", *place, GRADED), limit)
            result[*place, GRADED] = [Case(GRADED, (text,)) for text in chosen]
            continue
        blocks = blocks_of(some)
        if kind == ROW:  # the texts of one item, of which one has an error more
            ordered = sorted(some, key=lambda text: (text.set, text.aspect, text.item, text.level))
            blocks = {ROW: [((a,), (b,)) for a, b in pairwise(ordered) if pair_of(a, b)]}
        for group, pairs in blocks.items():
            rng = stream(seed, "reevaluation", *place, group)
            result[*place, group] = drawn(pairs, rng, limit)
    return result


def _items(plan: Plan, cases: list[Case], rng: Generator) -> list[form.Item]:
    """Return a voter's questions by aspect: for each, first pairs, then single texts."""
    items = []
    for group in form.by_aspect(cases, rng):
        for is_pair in (True, False):
            alike = [case for case in group if case.is_pair == is_pair]
            for case, swapped in form.half_swapped(alike, rng) if alike else ():
                texts = case.texts[::-1] if swapped else case.texts
                name = f"q{'-'.join(name_of(plan, text) for text in texts)}"
                questions = [form.Question(name, _options(plan, case))]
                sources = [text.source for text in texts[: len(case.sources)]]
                shown = [text.text for text in texts]
                items.append(form.item_about(plan, case, questions, shown, *sources))
    return items


def _options(plan: Plan, case: Case) -> form.Options:
    return form.COMPARED if case.is_pair else form.rating_options(plan, case.dataset, case.aspect)


# --- answers -----------------------------------------------------------------------------------


class Judged(NamedTuple):
    """People's judgments of a case, and how many are missing.

    For a pair, 1: the better text was chosen, -1: the worse text, 0: neither. For a single text: by
    how many steps of the scale people's rating is above the known one.
    """

    judgments: Sequence[int]
    missing: int


Tally = Mapping[Case, Judged]
Shown = tuple[Case, bool]
"""A case, and whether its better text comes first."""


def finder(plan: Plan, texts: Iterable[Text]) -> form.Find[Shown]:
    """Return a function that finds questions about texts by their ids."""
    named = {name_of(plan, text): text for text in texts}

    def find(question: str) -> Asked[Shown] | None:
        names = question[1:].split("-")
        shown = [named[name] for name in names if name in named]
        if question[:1] != "q" or len(names) > 2 or len(shown) < len(names):
            return None
        case = Case(GRADED, (shown[0],)) if shown[0].kind == GRADED else None
        case = pair_of(*shown) if len(shown) == 2 else case
        if case is None:
            return None
        options = [answer for answer, _ in _options(plan, case)]
        return Asked((case, case.texts[0] is shown[0]), options)

    return find


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the results of a folder of answers, of a study whose tables are in `out`.

    Raises UserErrors for answers that do not match the questions, and UserError if answers or
    tables are missing.
    """
    files = {
        kind: [path for name in plan.evaluated for path in files_of(plan, out, kind, name)]
        for kind in NEEDS
    }
    made = [kind for kind, paths in files.items() if paths and all(p.is_file() for p in paths)]
    find = finder(plan, (text for kind in made or NEEDS for text in texts_of(plan, out, kind)))
    responses = form.read_responses(folder, lambda _: find, form.voter_page, one_voter=True)
    tally = _tallied(responses)
    rows = [row for name in plan.evaluated for row in _statistics(name, tally)]
    pairs: list[Sequence[object]] = []
    texts: list[Sequence[object]] = []
    for case, (judgments, missing) in tally.items():
        if case.is_pair:
            counts = [judgments.count(judgment) for judgment in (1, -1, 0)]
            pairs.append((*case.place, *(text.level for text in case.texts), *counts, missing))
        else:
            dataset, aspect, _, *place = case.place
            signs = [
                judgments.count(0),
                sum(n < 0 for n in judgments),
                sum(n > 0 for n in judgments),
            ]
            steps = sum(map(abs, judgments))
            texts.append((dataset, aspect, *place, case.texts[0].level, *signs, missing, steps))
    tables = {
        "reevaluation.csv": form.measured_table(STATISTICS, rows),
        "pairs.csv": Table(PAIRS, pairs),
        "texts.csv": Table(TEXTS, texts),
    }
    groups: dict[tuple[str, str], list[str]] = {}
    for (dataset, aspect, group, statistic), estimate in rows:
        if not aspect:
            number = LINE[statistic].format(form.formatted(estimate), estimate.value)
            groups.setdefault((dataset, group), []).append(number)
    lines = [f"{', '.join(labels)}: {'; '.join(numbers)}" for labels, numbers in groups.items()]
    single = f" and {len(texts)} single texts" if texts else ""
    about = f"about {len(pairs)} pairs of texts{single}"
    return Results("reevaluation", len(responses), about, tables, lines)


def _tallied(responses: Iterable[Response[Shown]]) -> Tally:
    """Return people's judgments of each case, by dataset, aspect, group and texts.

    Pages contain the number of voters: judgments of voters who did not answer are missing.
    """
    judgments: dict[Case, list[int]] = {}
    planned: Counter[Case] = Counter()
    for response in responses:
        for ((case, better_first), options), answer in response.given:
            position = options.index(answer)
            if case.is_pair:
                judgment = (1, -1, 0)[position] * (1 if better_first else -1)
            else:
                judgment = position - case.texts[0].positions[0]
            judgments.setdefault(case, []).append(judgment)
            planned[case] = max(response.voter[1], planned[case])
    return {
        case: Judged(judgments[case], max(0, planned[case] - len(judgments[case])))
        for case in sorted(judgments, key=lambda case: case.place)
    }


def _statistics(dataset: str, tally: Tally) -> Iterator[Measured]:
    """Yield a dataset's statistics by group, over all aspects ("") and for each aspect."""
    cases = {case: judged for case, judged in tally.items() if case.dataset == dataset}
    if not cases:
        return
    items = sorted({source for case in cases for source in case.sources})
    weights = deletions(len(items))
    for aspect in ["", *sorted({case.aspect for case in cases})]:
        for group, parts in GROUPS.items():
            some = {
                case: judged
                for case, judged in cases.items()
                if case.group in parts and aspect in ("", case.aspect)
            }
            if {case.group for case in some} == parts:
                for name, estimate in _estimates(group, some, items, weights).items():
                    yield Measured((dataset, aspect, group, name), estimate)


def _estimates(
    group: str, tally: Tally, items: Sequence[str], weights: NDArray[np.int64]
) -> dict[str, Estimate]:
    """Return the shares of judgments that confirm the known quality, and that see no difference.

    Ratings of single texts have, instead of the second, their mean distance from the known rating.
    """
    judged = [each.judgments for each in tally.values()]
    confirming = [1 if case.is_pair else 0 for case in tally]
    counts = {AGREEMENT: [each.count(at) for each, at in zip(judged, confirming, strict=True)]}
    if group == GRADED:
        counts[DISTANCE] = [sum(map(abs, each)) for each in judged]
    elif group != BOTH:
        counts[NO_DIFFERENCE] = [each.count(0) for each in judged]
    return {
        name: share(
            np.array(each, dtype=np.float64),
            np.array(list(map(len, judged)), dtype=np.float64),
            np.searchsorted(items, sources_of(list(tally))),
            weights,
            sum(each.missing for each in tally.values()),
            averaged="of judgments" if GRADED in GROUPS[group] else UNIT,
            ends=None if name == DISTANCE else SHARE,
            scale=scale_of(name),
        ).estimate
        for name, each in counts.items()
    }


def sources_of(cases: Sequence[Case]) -> list[str]:
    """Return the source that each case counts for: of two, the one with more cases.

    If few texts have a rating, many pairs share a text and carry less information.
    """
    times = Counter(source for case in cases for source in case.sources)
    return [max(case.sources, key=lambda source: (times[source], source)) for case in cases]
