"""Do people confirm the known quality of texts: which of two is better, or how good one
is?

The known quality is: for a rated text, all people's ratings of an aspect; for a text of
an error-injection chain (a row), its number of errors; for a text of a graded set, the
rating that it was made for.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from math import fsum, isclose
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from judgescope.core.canonical import canonical
from judgescope.core.rng import stream
from judgescope.engines.subjects import Subjects
from judgescope.people import form
from judgescope.people.form import Question, Response, Results, Statistics, Table
from judgescope.plan.study import Plan
from judgescope.schema.tables import CHOSEN, read_table
from judgescope.statistics.declared import scale_of
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.result import Estimate

RATED, ROW, GRADED = "rated", "row", "graded"
"""The kinds of texts."""
NEEDS: Final = {
    RATED: "a dataset with several people's ratings of each text, on scales that have "
    "a `step`",
    ROW: "perturbations with several `steps`, which make error-injection chains",
    GRADED: "perturbations of method `graded`, which make texts of every rating",
}
"""What a study needs for questions about each kind of texts."""
NEW, ORIGINAL = "new-level", "original-level"
"""The groups of pairs of rated texts; for other texts, the group has the name of their
kind.

All raters gave the first text the same rating. NEW: all but one gave the second text
this rating, and that one a neighbouring rating. ORIGINAL: all gave the second text a
neighbouring rating.
"""
BOTH: Final = "constructed"
"""The group of all constructed texts, if there are both chains and graded sets."""
GROUPS: Final = {name: {name} for name in (NEW, ORIGINAL, ROW, GRADED)} | {
    BOTH: {ROW, GRADED}
}
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
PAIRS = [
    "dataset",
    "aspect",
    "group",
    "set",
    "better",
    "worse",
    "level_better",
    "level_worse",
]
PAIRS += ["for_better", "for_worse", "no_difference", "n_missing"]
TEXTS = ["dataset", "aspect", "set", "target", "rating"]
TEXTS += ["same", "lower", "higher", "n_missing", "steps"]
UNIT = "share of judgments; a pair of two sources counts for the source with more pairs"


# --- texts ----------------------------------------------------------------------------


class Text(NamedTuple):
    """A text, one aspect of it, and its known quality.

    `level` is the mean rating, the number of errors, or the rating of a graded set.
    `positions` are the places of its ratings on the aspect's scale, 0 for the worst
    value; empty if a rating is not on the scale.
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
    """Return all texts of a kind, once for each aspect on which their quality is
    known.
    """
    form.check_made(
        [path for name in plan.evaluated for path in files_of(plan, out, kind, name)]
    )
    texts: list[Text] = []
    for dataset in plan.evaluated:
        if names := sets_of(plan, kind, dataset):
            subjects = Subjects(str(out), dataset, plan.study.seed)
            texts += [
                text
                for name in names
                for text in _texts(plan, out, kind, name, subjects)
            ]
    return texts


def sets_of(plan: Plan, kind: str, dataset: str) -> dict[str, list[str]]:
    """Return the sets of a dataset's texts of a kind -> the sets of targets in each."""
    if kind == RATED:
        return (
            {"systems": ["systems"]}
            if plan.datasets[dataset].ratings == "human"
            else {}
        )
    perturbed = plan.perturbed(dataset, "chain" if kind == ROW else "graded")
    # rows that a dataset contains have texts without errors of their own
    first = (
        ["original"] if kind == ROW and not plan.datasets[dataset].gives_texts else []
    )
    return {
        f"{name}.{degree}": [*first, f"{name}.{degree}"] for name, degree in perturbed
    }


def files_of(plan: Plan, out: Path, kind: str, dataset: str) -> list[Path]:
    """Return the files that texts of a kind are read from; none if a dataset has no
    such texts.
    """
    sets = sets_of(plan, kind, dataset)
    targets = dict.fromkeys(chain.from_iterable(sets.values()))
    tables = [f"items/{dataset}", *(f"targets/{dataset}/{name}" for name in targets)]
    tables += [f"ratings/{dataset}"] if kind == RATED else []
    tables += [f"graded/{dataset}/{name}" for name in sets] if kind == GRADED else []
    return [out / f"{table}.parquet" for table in tables if sets]


def _texts(
    plan: Plan, out: Path, kind: str, name: str, subjects: Subjects
) -> Iterator[Text]:
    """Yield the texts of a set whose quality is known, those of graded sets if on the
    scale.
    """
    dataset = subjects.dataset
    parts = sets_of(plan, kind, dataset)[name]
    texts = [text for part in parts for text in subjects.in_set(part)]
    ratings = subjects.ratings if kind == RATED else {}
    if kind == GRADED:
        for row in read_table(
            "graded", out / "graded" / dataset / f"{name}.parquet"
        ).to_pylist():
            if row["status"] == CHOSEN:
                ratings[row["target"], row["aspect"]] = [row["rating"]]
    changed = plan.perturbations[name.partition(".")[0]].aspects if kind == ROW else []
    for aspect in plan.plain_aspects(dataset):
        if changed and aspect not in changed:
            continue
        for text in texts:
            place = (
                kind,
                dataset,
                name,
                aspect,
                text.target,
                text.item,
                text.source,
                text.text,
            )
            if kind == ROW:
                yield Text(*place, text.step)
            elif values := sorted(ratings.get((text.target, aspect), [])):
                positions = _positions(plan, dataset, aspect, values)
                if positions or kind == RATED:
                    yield Text(*place, fsum(values) / len(values), positions)


def _positions(
    plan: Plan, dataset: str, aspect: str, ratings: list[float]
) -> tuple[int, ...]:
    options = form.rating_options(plan, dataset, aspect)
    scale = [float(value) for value, _ in options]
    found = [
        at
        for rating in ratings
        for at, value in enumerate(scale)
        if isclose(rating, value)
    ]
    return tuple(sorted(found)) if len(found) == len(ratings) else ()


def name_of(plan: Plan, text: Text) -> str:
    """Return the part of question ids that stands for a text.

    It changes with everything shown about the text and its aspect, and with its known
    quality.
    """
    options = (
        [form.rating_options(plan, text.dataset, text.aspect)]
        if text.kind == GRADED
        else []
    )
    shown = canonical(
        [*text, form.wording_of(plan, text.dataset, text.aspect), *options]
    )
    return form.secret(plan, "reevaluation", "text", shown)


# --- pairs ----------------------------------------------------------------------------


class Case(NamedTuple):
    """The subject of a question: which of two texts is better, or how good a single
    text is.

    The text of a pair that is known to be better comes first.
    """

    dataset: str
    aspect: str
    group: str
    texts: tuple[Text, ...]

    @property
    def is_pair(self) -> bool:
        """Return whether there are two texts."""
        return len(self.texts) == 2

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the dataset, aspect, group, set of texts and targets."""
        return (*self[:3], self.texts[0].set, *(text.target for text in self.texts))

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the texts' items without duplicates."""
        return tuple(sorted({text.item for text in self.texts}))


Shown = tuple[Case, bool]
"""The subject of a question: a case, and whether its better text comes first."""
Block = tuple[Sequence[Text], Sequence[Text]]
"""Every text of the first makes a pair with every text of the second."""


def case_of(group: str, *texts: Text) -> Case:
    """Return the case of one or two texts."""
    better_first = tuple(sorted(texts, key=quality, reverse=True))
    return Case(texts[0].dataset, texts[0].aspect, group, better_first)


def pair_of(first: Text, second: Text) -> Case | None:
    """Return the pair that two texts form, in either order, or None."""
    if first[:4] != second[:4]:  # texts of another kind, dataset, set or aspect
        return None
    pairs = [
        group
        for group, blocks in blocks_of([first, second]).items()
        if any(map(all, blocks))
    ]
    return case_of(pairs[0], first, second) if pairs else None


def quality(text: Text) -> float:
    """Return a number that is higher for the better text, by its ratings or its
    errors.
    """
    return fmean(text.positions) if text.positions else -text.level


def levels(text: Text, others: int) -> list[int]:
    """Return the positions of ratings that all of two or more raters gave but exactly
    `others`.

    The others gave a neighbouring rating. With two raters of whom one is another, there
    may be two such positions.
    """
    ratings = text.positions
    return [
        level
        for level in dict.fromkeys(ratings)
        if len(ratings) > 1 and ratings.count(level) == len(ratings) - others
        if all(abs(rating - level) <= 1 for rating in ratings)
    ]


def blocks_of(texts: Sequence[Text]) -> dict[str, list[Block]]:
    """Return group -> the pairs of texts of one kind; each pair is in one block.

    Rated texts are of one aspect. Texts in rows form pairs with texts of the same item
    that have an error more or less. Texts of graded sets form no pairs.
    """
    if {text.kind for text in texts} == {ROW}:
        ordered = sorted(
            texts, key=lambda text: (text.set, text.aspect, text.item, text.level)
        )
        rows: list[Block] = [
            ((fewer,), (more,))
            for fewer, more in pairwise(ordered)
            if fewer[:4] == more[:4]
            and fewer.item == more.item
            and more.level - fewer.level == 1
        ]
        return {ROW: rows}
    alike: dict[int, list[Text]] = {}
    close: dict[int, list[Text]] = {}
    for text in sorted(texts, key=lambda text: text.target):
        for level in levels(text, others=0):
            alike.setdefault(level, []).append(text)
        for level in levels(text, others=1):
            close.setdefault(level, []).append(text)
    return {
        NEW: [(alike[level], close.get(level, [])) for level in sorted(alike)],
        ORIGINAL: [(alike[level], alike.get(level + 1, [])) for level in sorted(alike)],
    }


def drawn(
    group: str, blocks: Sequence[Block], rng: Generator, limit: int
) -> list[Case]:
    """Draw up to `limit` pairs of a group's blocks without replacement.

    Pairs whose sources no earlier pair has come first: more texts are judged, and each
    pair adds information. A smaller draw is the beginning of a larger one, up to POOL.
    """
    ends = list(accumulate(len(one) * len(other) for one, other in blocks))
    if not ends or not ends[-1]:
        return []
    used: set[str] = set()
    first: list[Case] = []
    others: list[Case] = []
    for at in rng.choice(
        ends[-1], min(ends[-1], max(POOL, limit)), replace=False
    ).tolist():
        block = bisect_right(ends, at)
        firsts, seconds = blocks[block]
        one, other = divmod(ends[block] - 1 - at, len(seconds))
        pair = case_of(group, firsts[one], seconds[other])
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


# --- pages ----------------------------------------------------------------------------


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    kinds: Sequence[str],
    pairs: int | None,
    voters: int,
    force: bool = False,
) -> form.Made[Case]:
    """Write the pages of a study about texts of some `kinds` into a folder.

    `pairs` is the number of drawn pairs: of rated texts for each dataset, aspect and
    group, of texts in rows for each dataset; also of single texts of graded sets.
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
    made = form.ask(
        plan, folder, "reevaluation", drawn, items, voters=voters, force=force
    )
    for labels, cases in drawn.items():
        if len(cases) < pairs:
            what = "texts" if GRADED in labels else "pairs"
            place = ", ".join(filter(None, labels))
            made.lines.append(f"{place}: only {len(cases)} of {pairs} {what} available")
    return made


def _drawn(seed: int, texts: Iterable[Text], limit: int) -> form.Drawn[Case]:
    """Return dataset, aspect ("": any) and group -> up to `limit` pairs, or single
    texts.
    """

    def place_of(text: Text) -> tuple[str, str, str]:
        return text.kind, text.dataset, text.aspect if text.kind == RATED else ""

    result: form.Drawn[Case] = {}
    for (kind, *place), some in form.grouped(texts, place_of).items():
        rngs = partial(stream, seed, "reevaluation", *place)
        if kind == GRADED:
            texts = sampled(some, rngs(GRADED), limit)
            result[*place, GRADED] = [case_of(GRADED, text) for text in texts]
            continue
        for group, blocks in blocks_of(some).items():
            result[*place, group] = drawn(group, blocks, rngs(group), limit)
    return result


def _items(plan: Plan, cases: list[Case], rng: Generator) -> list[form.Item]:
    """Return a voter's questions by aspect: for each, first pairs, then single
    texts.
    """
    items = []
    for group in form.by_aspect(cases, rng):
        for is_pair in (True, False):
            alike = [case for case in group if case.is_pair == is_pair]
            for case, swapped in form.half_swapped(alike, rng) if alike else ():
                texts = case.texts[::-1] if swapped else case.texts
                sources = [text.source for text in texts[: len(case.sources)]]
                shown = [text.text for text in texts]
                questions = questions_on(plan, texts)
                items.append(form.item_about(plan, case, questions, shown, *sources))
    return items


def questions_on(plan: Plan, texts: tuple[Text, ...]) -> list[Question[Shown]]:
    """Return the question on texts as they are shown, or none if they are not a
    case.
    """
    case, options = None, form.COMPARED
    if len(texts) == 2:
        case = pair_of(*texts)
    elif len(texts) == 1 and texts[0].kind == GRADED:
        case = case_of(GRADED, *texts)
        options = form.rating_options(plan, case.dataset, case.aspect)
    if case is None:
        return []
    name = f"q{'-'.join(name_of(plan, text) for text in texts)}"
    return [Question(name, options, (case, case.texts == texts))]


# --- answers --------------------------------------------------------------------------


class Judged(NamedTuple):
    """People's judgments of a case, and how many are missing.

    For a pair, 1: the better text was chosen, -1: the worse text, 0: neither. For a
    single text: by how many steps of the scale people's rating is above the known one.
    """

    judgments: Sequence[int]
    missing: int


Tally = Mapping[Case, Judged]


def finder(plan: Plan, texts: Iterable[Text]) -> form.Find[Shown]:
    """Return a function that finds questions about texts by their ids."""
    return form.finder(
        {name_of(plan, text): text for text in texts}, partial(questions_on, plan)
    )


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the results of a folder of answers, about texts of all kinds that were
    made.
    """
    files = {
        kind: [
            path for name in plan.evaluated for path in files_of(plan, out, kind, name)
        ]
        for kind in NEEDS
    }
    made = [
        kind
        for kind, paths in files.items()
        if paths and all(p.is_file() for p in paths)
    ]
    find = finder(
        plan, (text for kind in made or NEEDS for text in texts_of(plan, out, kind))
    )
    responses = form.read_responses(
        folder, lambda _: find, form.voter_page, one_voter=True
    )
    tally = _tallied(responses)
    statistics: Statistics = {}
    for dataset in plan.evaluated:
        statistics |= _statistics(dataset, tally)
    pairs: list[Sequence[object]] = []
    texts: list[Sequence[object]] = []
    for case, (judgments, missing) in tally.items():
        dataset, aspect, _, *place = case.labels
        levels = [text.level for text in case.texts]
        signs = Counter((judgment > 0) - (judgment < 0) for judgment in judgments)
        same, worse, better = signs[0], signs[-1], signs[1]
        if case.is_pair:
            pairs.append((*case.labels, *levels, better, worse, same, missing))
        else:
            steps = sum(map(abs, judgments))
            texts.append(
                (dataset, aspect, *place, *levels, same, worse, better, missing, steps)
            )
    tables = {
        "reevaluation.csv": form.measured_table(STATISTICS, statistics),
        "pairs.csv": Table(PAIRS, pairs),
        "texts.csv": Table(TEXTS, texts),
    }
    groups: dict[tuple[str, str], list[str]] = {}
    for (dataset, aspect, group, statistic), estimate in statistics.items():
        if not aspect:
            number = LINE[statistic].format(form.formatted(estimate), estimate.value)
            groups.setdefault((dataset, group), []).append(number)
    lines = [
        f"{', '.join(labels)}: {'; '.join(numbers)}"
        for labels, numbers in groups.items()
    ]
    lines += form.absent(responses)
    single = f" and {len(texts)} single texts" if texts else ""
    about = f"about {len(pairs)} pairs of texts{single}"
    return Results("reevaluation", len(responses), about, tables, lines)


def _tallied(responses: Iterable[Response[Shown]]) -> Tally:
    """Return people's judgments of each case, by dataset, aspect, group and texts.

    Pages contain the number of voters: judgments of voters who did not answer are
    missing. The pages of a round ask about the same cases; each round has its own
    voters.
    """
    judgments: dict[Case, list[int]] = {}
    planned: dict[Case, Counter[frozenset[Case]]] = {}
    for response in responses:
        cases = frozenset(question.subject[0] for question, _ in response.given)
        for question, answer in response.given:
            case, better_first = question.subject
            position = question.values.index(answer)
            if case.is_pair:
                judgment = (1, -1, 0)[position] * (1 if better_first else -1)
            else:
                judgment = position - case.texts[0].positions[0]
            judgments.setdefault(case, []).append(judgment)
            voters = planned.setdefault(case, Counter())
            voters[cases] = max(response.voter[1], voters[cases])
    return {
        case: Judged(
            judgments[case], max(0, planned[case].total() - len(judgments[case]))
        )
        for case in sorted(judgments, key=lambda case: case.labels)
    }


def _statistics(dataset: str, tally: Tally) -> Statistics:
    """Return a dataset's statistics by group, over all aspects ("") and for each
    aspect.
    """
    cases = {case: judged for case, judged in tally.items() if case.dataset == dataset}
    items = sorted({source for case in cases for source in case.sources})
    weights = deletions(len(items))
    statistics: Statistics = {}
    for aspect in ["", *sorted({case.aspect for case in cases})]:
        for group, parts in GROUPS.items():
            some = {
                case: judged
                for case, judged in cases.items()
                if case.group in parts and aspect in ("", case.aspect)
            }
            if {case.group for case in some} == parts:
                for name, estimate in _estimates(group, some, items, weights).items():
                    statistics[dataset, aspect, group, name] = estimate
    return statistics


def _estimates(
    group: str, tally: Tally, items: Sequence[str], weights: NDArray[np.int64]
) -> dict[str, Estimate]:
    """Return the shares of judgments that confirm the known quality, and that see no
    difference.

    Ratings of single texts have, instead of the second, their mean distance from the
    known rating.
    """
    judged = [each.judgments for each in tally.values()]
    confirming = [1 if case.is_pair else 0 for case in tally]
    counts = {
        AGREEMENT: [each.count(at) for each, at in zip(judged, confirming, strict=True)]
    }
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
    return [
        max(case.sources, key=lambda source: (times[source], source)) for case in cases
    ]
