"""Is a perturbed text worse than its original, and in which aspect? (Hu et al. 2024,
C.3)

A question's id is a hash of the study's seed, of everything that the question shows,
and of which text comes first: it reveals nothing to people, and only the same study can
resolve it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.rng import stream
from judgescope.data.rows import read_rows
from judgescope.people import form
from judgescope.people.form import Question, Response, Results, Statistics, Table
from judgescope.plan.study import Plan
from judgescope.report.words import plural
from judgescope.statistics import confusion
from judgescope.statistics.arrays import Counts
from judgescope.statistics.confusion import OPTIONS, UNDECIDED, Cell
from judgescope.statistics.intervals import deletions
from judgescope.statistics.result import Estimate

SWAPPED = {"A": "B", "B": "A"}
"""An answer of form.COMPARED -> the same answer if the texts were swapped."""
HOPES = {"1": 1, "1.0": 1, "0": 0, "0.0": 0, "": None}
"""A cell of the column `expected` -> whether the score should drop; spreadsheets write
1.0."""


# --- questions ------------------------------------------------------------------------


class Pair(NamedTuple):
    """An original, its perturbed text, and the source of both."""

    dataset: str
    perturbation: str
    degree: str
    target: str
    source: str | None
    original: str
    perturbed: str


class Comparison(NamedTuple):
    """The subject of a question: which text is better in an aspect (as in cells)."""

    pair: Pair
    aspect: str
    swapped: bool
    """Whether the perturbed text comes first."""

    @property
    def dataset(self) -> str:
        """Return the dataset of the pair."""
        return self.pair.dataset

    @property
    def texts(self) -> tuple[str, str]:
        """Return the two texts as they are shown."""
        texts = self.pair.original, self.pair.perturbed
        return texts[::-1] if self.swapped else texts


def pairs_of(plan: Plan, out: Path) -> dict[tuple[str, str, str], list[Pair]]:
    """Return (dataset, perturbation, degree) -> its pairs, for all texts that could be
    made.
    """
    cells = [
        (dataset, name, degree)
        for dataset in plan.datasets
        for name, degree in plan.perturbed(dataset)
        if f"{name}.{degree}" in plan.target_sets(dataset)
    ]
    if not cells:
        reason, todo = (
            "no text is perturbed",
            "add `perturbations`, and a method that uses them",
        )
        raise form.nothing_to_ask(plan, reason, todo)
    sets: dict[str, list[str]] = {}
    for dataset, name, degree in cells:
        sets.setdefault(dataset, ["original"]).append(f"{name}.{degree}")
    subjects = form.texts_in(plan, out, sets)
    pairs = {}
    for dataset, name, degree in cells:
        originals = {
            each.item: each.text for each in subjects[dataset].in_set("original")
        }
        pairs[dataset, name, degree] = [
            Pair(dataset, name, degree, s.target, s.source, originals[s.item], s.text)
            for s in subjects[dataset].in_set(f"{name}.{degree}")
        ]
    return pairs


def question_of(plan: Plan, subject: Comparison) -> Question[Comparison]:
    """Return a question on a pair; its id begins with that of its pair."""
    digest = _digest(subject.pair)
    wording = form.wording_of(plan, subject.dataset, subject.aspect)
    name = form.secret(plan, "votes", "question", digest, wording, str(subject.swapped))
    pair = form.secret(plan, "votes", "pair", digest)
    return Question(f"q{pair}-{name}", form.COMPARED + form.UNDECIDED, subject)


def _digest(pair: Pair) -> str:
    return hashlib.sha256(canonical(pair).encode()).hexdigest()


def questions_on(plan: Plan, pairs: Iterable[Pair]) -> Iterator[Question[Comparison]]:
    """Yield all questions that can be asked about pairs."""
    for pair in pairs:
        for aspect in plan.aspects_of(pair.dataset):
            for swapped in (False, True):
                yield question_of(plan, Comparison(pair, aspect, swapped))


# --- pages ----------------------------------------------------------------------------


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    pairs: int,
    voters: int,
    questions: int,
    force: bool = False,
) -> form.Made[Pair]:
    """Write the pages of a study into a folder.

    `pairs` of each perturbation, degree and dataset are shown to `voters` people each.
    A page has at most `questions` questions, but at least one pair.
    """
    form.check_numbers(pairs=pairs, voters=voters, questions=questions)
    drawn: form.Drawn[Pair] = {}
    for cell, cell_pairs in pairs_of(plan, out).items():
        ordered = sorted(cell_pairs, key=lambda pair: pair.target)
        order = stream(plan.study.seed, "votes", "pairs", *cell).permutation(
            len(ordered)
        )[:pairs]
        drawn[cell] = [ordered[at] for at in sorted(order.tolist())]
    pages = list(_pages(plan, list(chain(*drawn.values())), voters, questions))
    if not pages:
        raise UserError(
            "there is nothing to ask: no text was perturbed", where=str(out)
        )
    lines = [form.write_pages(pages, folder, force=force)]
    if any(page.set > 1 for page in pages):
        lines.append(
            "Give each person one page, or pages of the same task and set: other sets "
            "word aspects differently."
        )
    return form.Made(pages, drawn, lines)


def _pages(
    plan: Plan, chosen: list[Pair], voters: int, limit: int
) -> Iterator[form.Page]:
    """Yield the pages of a study: no page has an aspect in two wordings."""
    for task in form.tasks_of(plan):
        datasets = [name for name in plan.evaluated if plan.datasets[name].task == task]
        pairs = [pair for pair in chosen if pair.dataset in datasets]
        aspects = dict.fromkeys(
            name for each in datasets for name in plan.aspects_of(each)
        )
        wordings = form.grouped(aspects, lambda aspect: split(aspect)[0])
        rng = stream(plan.study.seed, "votes", "sets", task)
        for number, asked in enumerate(sets_of(wordings, rng), start=1):
            # parts of about the same size
            mixed = form.shuffled(pairs, rng)
            parts = ceil(len(pairs) / max(1, limit // len(asked)))
            for part in range(1, parts + 1):
                for voter in range(1, voters + 1):
                    place = task, number, part, voter
                    items = list(_items(plan, place, asked, mixed[part - 1 :: parts]))
                    file = f"{task}-set{number}-part{part}-voter{voter}.html"
                    name = form.page_id(item.id for item in items)
                    yield form.Page("texts", task, file, name, items, number)


def sets_of(wordings: Mapping[str, Sequence[str]], rng: Generator) -> list[list[str]]:
    """Return as few sets of wordings as possible, each with at most one wording of an
    aspect.

    wordings: aspect -> `<aspect>.<criterion>`, …. The sets differ by at most one in
    size, since every aspect goes to the smallest sets, and a criterion to that in which
    it is rarest.
    """
    sets: list[list[str]] = [[] for _ in range(max(map(len, wordings.values())))]
    for aspect in rng.permutation(sorted(wordings)).tolist():
        free = sorted(form.shuffled(sets, rng), key=len)[: len(wordings[aspect])]
        for wording in wordings[aspect]:
            criteria = [[split(name)[1] for name in each] for each in free]
            counts = [each.count(split(wording)[1]) for each in criteria]
            free.pop(counts.index(min(counts))).append(wording)
    return sets


def _items(
    plan: Plan,
    page: tuple[str, int, int, int],
    aspects: Sequence[str],
    pairs: list[Pair],
) -> Iterator[form.Item]:
    """Yield a voter's questions by aspect, in random order, with half of the pairs
    swapped.
    """
    rng = stream(plan.study.seed, "votes", "page", *page)
    for aspect in form.shuffled(aspects, rng):
        rated = [pair for pair in pairs if aspect in plan.aspects_of(pair.dataset)]
        for pair, swapped in form.half_swapped(rated, rng):
            subject = Comparison(pair, aspect, swapped)
            asked = [question_of(plan, subject)]
            yield form.item_about(plan, subject, asked, subject.texts, pair.source)


# --- answers --------------------------------------------------------------------------

Tally = Mapping[tuple[Pair, str], Counts]
"""(pair, aspect of a cell) -> the number of votes for each of OPTIONS."""


class Effect(NamedTuple):
    """The outcome of all votes on a perturbation and an aspect: a row of
    effects.csv.
    """

    perturbation: str
    aspect: str
    human: int | None
    expected: int | None
    original_better: int
    perturbed_better: int
    no_difference: int
    cannot_decide: int
    pairs: int


def read(plan: Plan, out: Path, folder: Path, expected: Path | None = None) -> Results:
    """Return the results of a folder of answers.

    `expected` is a CSV with the columns perturbation, aspect and expected: 1 if the
    perturbation should lower the aspect, 0 if not.
    """
    hopes = _expected(expected) if expected else {}
    pairs = chain.from_iterable(pairs_of(plan, out).values())
    named = {form.secret(plan, "votes", "pair", _digest(pair)): pair for pair in pairs}
    find = form.finder(named, partial(questions_on, plan))
    responses = form.read_responses(folder, lambda _: find)
    tally = _tallied(responses)
    votes: Statistics = {}
    effects: dict[str, Table] = {}
    cards = []
    for criterion in sorted({split(aspect)[1] or "" for _, aspect in tally}):
        part = {
            key: n for key, n in tally.items() if (split(key[1])[1] or "") == criterion
        }
        for aspect in ["", *sorted({split(name)[0] for _, name in part})]:
            some = {
                key: n for key, n in part.items() if aspect in ("", split(key[1])[0])
            }
            for name, estimate in _estimates(plan.study.seed, some, hopes).items():
                votes[criterion, aspect, name] = estimate
        rows = _effects(part, hopes)
        name = f"effects.{criterion}.csv" if criterion else "effects.csv"
        effects[name] = Table(Effect._fields, rows)
        cards += _card(f"votes-{plan.study.study}", criterion, rows)
    lines = [
        f"{criterion or 'default wording'}: {name} {form.formatted(estimate)}"
        for (criterion, aspect, name), estimate in votes.items()
        if not aspect
    ]
    tables = {
        "votes.csv": form.measured_table(["criterion", "aspect", "statistic"], votes)
    }
    lines += _not_asked(hopes, tally)
    about = f"about {len({pair for pair, _ in tally})} pairs of texts"
    return Results("votes", len(responses), about, tables | effects, lines, cards)


def _tallied(responses: Iterable[Response[Comparison]]) -> Tally:
    """Return the votes as if the original always came first, sorted by pair and
    aspect.
    """
    tally: dict[tuple[Pair, str], Counts] = {}
    for response in responses:
        for question, option in response.given:
            pair, aspect, swapped = question.subject
            vote = SWAPPED.get(option, option) if swapped else option
            counts = tally.setdefault(
                (pair, aspect), np.zeros(len(OPTIONS), dtype=np.int64)
            )
            counts[OPTIONS.index(vote)] += 1
    return dict(sorted(tally.items()))


def _effects(tally: Tally, expected: Mapping[Cell, int]) -> list[Effect]:
    """Return the effect of each perturbation on each aspect."""
    votes: dict[Cell, dict[Pair, Counts]] = {}
    for (pair, aspect), counts in tally.items():
        votes.setdefault((pair.perturbation, split(aspect)[0]), {})[pair] = counts
    effects = []
    for cell, by_pair in sorted(votes.items()):
        total = np.sum(list(by_pair.values()), axis=0)
        outcome = int(confusion.outcomes(total))
        human = None if outcome == UNDECIDED else outcome
        values = (*cell, human, expected.get(cell), *total.tolist(), len(by_pair))
        effects.append(Effect._make(values))
    return effects


def _card(name: str, criterion: str, rows: Iterable[Effect]) -> list[dict[str, object]]:
    """Return the card of expectations from a table of effects; [] if no effect is
    decided.
    """
    effects = confusion.expectations(
        {
            key: "" if value is None else str(value)
            for key, value in row._asdict().items()
        }
        for row in rows
    )
    perturbations: dict[str, dict[str, list[str]]] = {}
    for key, cells in (("drop", effects.drops), ("same", effects.stays)):
        for perturbation, aspect in cells:
            perturbations.setdefault(perturbation, {}).setdefault(key, []).append(
                aspect
            )
    card: dict[str, object] = {
        "expectations": "-".join(filter(None, [name, criterion])),
        "name": " ".join(
            filter(None, ["people's votes", criterion and f"by {criterion}"])
        ),
        "perturbations": perturbations,
    }
    return [card] if perturbations else []


def _estimates(
    seed: int, tally: Tally, expected: Mapping[Cell, int]
) -> dict[str, Estimate]:
    cell_of = [(pair.perturbation, split(aspect)[0]) for pair, aspect in tally]
    pairs = {
        pair: at for at, pair in enumerate(dict.fromkeys(pair for pair, _ in tally))
    }
    cells = {cell: at for at, cell in enumerate(dict.fromkeys(cell_of))}
    kinds = sorted({pair.perturbation for pair in pairs})
    stratum = np.array([kinds.index(pair.perturbation) for pair in pairs])
    weights = confusion.pair_weights(stream(seed, "votes", "bootstrap"), stratum)
    votes = np.array(list(tally.values()))
    pair_code = np.array([pairs[pair] for pair, _ in tally])
    cell_code = np.array([cells[cell] for cell in cell_of])
    hopes = np.array([expected.get(cell, np.nan) for cell in cells], dtype=np.float64)
    arrays = votes, pair_code, cell_code, hopes, weights
    return {
        "vote_consistency": confusion.vote_consistency(
            votes, pair_code, deletions(len(pairs))
        ),
        **confusion.match_votes(*arrays),
    }


def _expected(path: Path) -> dict[Cell, int]:
    """Return which perturbation should lower which aspect, from a CSV file."""
    expected: dict[Cell, int] = {}
    for number, row in read_rows(path, "csv"):
        named = {name.strip().lower(): str(cell).strip() for name, cell in row.items()}
        perturbation, aspect, value = (
            named.get(name) for name in ("perturbation", "aspect", "expected")
        )
        if not perturbation or not aspect or value not in HOPES:
            raise UserError(
                "a row needs a perturbation, an aspect and an expected value: 1, 0 or "
                "empty",
                where=f"{path}, row {number}",
                got=", ".join(f"{name}: {cell!r}" for name, cell in named.items()),
                allowed="the columns perturbation, aspect, expected",
            )
        hope = HOPES[value]
        if (
            hope is not None
            and expected.setdefault((perturbation, aspect), hope) != hope
        ):
            raise UserError(
                "this table contradicts itself",
                where=f"{path}, row {number}",
                got=f"1 and 0 for {perturbation} and {aspect}",
                todo="keep one of the rows",
            )
    return expected


def _not_asked(expected: Mapping[Cell, int], tally: Tally) -> list[str]:
    """Return a line about expectations of what nobody was asked about: names may be
    misspelt.
    """
    asked = {(pair.perturbation, split(aspect)[0]) for pair, aspect in tally}
    left = ["/".join(cell) for cell in expected if cell not in asked]
    what = (
        f"of {plural(len(expected), 'expectation')} concern nothing that people "
        "were asked about"
    )
    return (
        [f"{len(left)} {what}: {', '.join(left[:3])}{', …' * (len(left) > 3)}"]
        if left
        else []
    )
