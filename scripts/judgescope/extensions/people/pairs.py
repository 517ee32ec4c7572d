"""Is a perturbed text worse than its original, and in which aspect? (Hu et al. 2024,
C.3)

A question's id is a hash of the study's seed, of everything that the question shows,
and of which text comes first: it reveals nothing to people, and only the same study can
resolve it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product
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
from judgescope.extensions.people import answers, form
from judgescope.extensions.people.answers import (
    FormResults,
    FormTable,
    Response,
    Statistics,
)
from judgescope.extensions.people.form import FormQuestion
from judgescope.plan.study import Plan
from judgescope.report.words import plural
from judgescope.statistics import confusion
from judgescope.statistics.arrays import Counts
from judgescope.statistics.confusion import OPTIONS, PerturbedAspect, VotedEffect
from judgescope.statistics.intervals import deletions
from judgescope.statistics.result import Estimate

# --- questions ------------------------------------------------------------------------


class PerturbedPair(NamedTuple):
    """An original, its perturbed text, and the source of both."""

    dataset: str
    perturbation: str
    degree: str
    target: str
    source: str | None
    original: str
    perturbed: str


class PairQuestion(NamedTuple):
    """The subject of a question: which text is better in an aspect (as in cells)."""

    pair: PerturbedPair
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
        if self.swapped:
            return texts[::-1]
        return texts


def pairs_of(plan: Plan, out: Path) -> dict[tuple[str, str, str], list[PerturbedPair]]:
    """Return (dataset, perturbation, degree) -> its pairs, for all texts that could be
    made.
    """
    cells = []
    sets: dict[str, list[str]] = {}
    for dataset in plan.datasets:
        made = plan.target_sets(dataset)
        for name, degree in plan.perturbed(dataset):
            perturbed_set = f"{name}.{degree}"
            if perturbed_set in made:
                cells.append((dataset, name, degree))
                sets.setdefault(dataset, ["original"]).append(perturbed_set)
    if not cells:
        raise form.nothing_to_ask(
            plan,
            "no text is perturbed",
            "add `perturbations`, and a method that uses them",
        )
    subjects = form.texts_in(plan, out, sets)
    pairs: dict[tuple[str, str, str], list[PerturbedPair]] = {}
    for dataset, name, degree in cells:
        texts = subjects[dataset]
        originals = {text.item: text.text for text in texts.in_set("original")}
        cell_pairs = pairs.setdefault((dataset, name, degree), [])
        for text in texts.in_set(f"{name}.{degree}"):
            pair = PerturbedPair(
                dataset=dataset,
                perturbation=name,
                degree=degree,
                target=text.target,
                source=text.source,
                original=originals[text.item],
                perturbed=text.text,
            )
            cell_pairs.append(pair)
    return pairs


def question_of(plan: Plan, subject: PairQuestion) -> FormQuestion[PairQuestion]:
    """Return a question on a pair; its id begins with that of its pair."""
    digest = _digest(subject.pair)
    wording = form.wording_of(plan, subject.dataset, subject.aspect)
    name = form.secret(plan, "votes", "question", digest, wording, str(subject.swapped))
    pair = form.secret(plan, "votes", "pair", digest)
    return FormQuestion(f"q{pair}-{name}", form.COMPARED + form.UNDECIDED, subject)


def _digest(pair: PerturbedPair) -> str:
    return hashlib.sha256(canonical(pair).encode()).hexdigest()


def questions_on(
    plan: Plan, pairs: Iterable[PerturbedPair]
) -> Iterator[FormQuestion[PairQuestion]]:
    """Yield all questions that can be asked about pairs."""
    for pair in pairs:
        for aspect in plan.aspects_of(pair.dataset):
            for swapped in (False, True):
                yield question_of(plan, PairQuestion(pair, aspect, swapped))


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
) -> form.Made[PerturbedPair]:
    """Write the pages of a study into a folder.

    `pairs` of each perturbation, degree and dataset are shown to `voters` people each.
    A page has at most `questions` questions, but at least one pair.
    """
    form.check_numbers(pairs=pairs, voters=voters, questions=questions)
    drawn: form.DrawnRecords[PerturbedPair] = {}
    for cell, cell_pairs in pairs_of(plan, out).items():
        ordered = sorted(cell_pairs, key=lambda pair: pair.target)
        rng = stream(plan.study.seed, "votes", "pairs", *cell)
        chosen = rng.permutation(len(ordered))[:pairs]
        drawn[cell] = [ordered[index] for index in sorted(chosen.tolist())]
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
    plan: Plan, chosen: list[PerturbedPair], voters: int, limit: int
) -> Iterator[form.Page]:
    """Yield the pages of a study: no page has an aspect in two wordings."""
    for task in form.tasks_of(plan):
        datasets = [name for name in plan.evaluated if plan.datasets[name].task == task]
        pairs = [pair for pair in chosen if pair.dataset in datasets]
        aspects = dict.fromkeys(chain.from_iterable(map(plan.aspects_of, datasets)))
        wordings = form.grouped(aspects, lambda aspect: split(aspect)[0])
        rng = stream(plan.study.seed, "votes", "sets", task)
        for number, asked in enumerate(sets_of(wordings, rng), start=1):
            # parts of about the same size
            mixed = form.shuffled(pairs, rng)
            pairs_on_page = max(1, limit // len(asked))
            parts = ceil(len(pairs) / pairs_on_page)
            for part, voter in product(range(1, parts + 1), range(1, voters + 1)):
                page_key = task, number, part, voter
                items = list(_items(plan, page_key, asked, mixed[part - 1 :: parts]))
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
            criterion = split(wording)[1]
            rarest = min(range(len(free)), key=lambda at: _uses(free[at], criterion))
            free.pop(rarest).append(wording)
    return sets


def _uses(wordings: Iterable[str], criterion: str | None) -> int:
    """Return how many of some wordings are by a criterion."""
    return sum(split(wording)[1] == criterion for wording in wordings)


def _items(
    plan: Plan,
    page: tuple[str, int, int, int],
    aspects: Sequence[str],
    pairs: list[PerturbedPair],
) -> Iterator[form.FormItem]:
    """Yield a voter's questions by aspect, in random order, with half of the pairs
    swapped.
    """
    rng = stream(plan.study.seed, "votes", "page", *page)
    for aspect in form.shuffled(aspects, rng):
        rated = [pair for pair in pairs if aspect in plan.aspects_of(pair.dataset)]
        for pair, swapped in form.half_swapped(rated, rng):
            subject = PairQuestion(pair, aspect, swapped)
            asked = [question_of(plan, subject)]
            yield form.item_about(plan, subject, asked, subject.texts, pair.source)


# --- answers --------------------------------------------------------------------------

VotesByPair = Mapping[tuple[PerturbedPair, str], Counts]
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


def read(
    plan: Plan, out: Path, folder: Path, expected: Path | None = None
) -> FormResults:
    """Return the results of a folder of answers.

    `expected` is a CSV with the columns perturbation, aspect and expected: 1 if the
    perturbation should lower the aspect, 0 if not.
    """
    hopes = _expected(expected) if expected else {}
    pairs = chain.from_iterable(pairs_of(plan, out).values())
    named = {}
    for pair in pairs:
        named[form.secret(plan, "votes", "pair", _digest(pair))] = pair
    find = answers.finder(named, partial(questions_on, plan))
    responses = answers.read_responses(folder, lambda _: find)
    tally = _tallied(responses)
    votes: Statistics = {}
    effects: dict[str, FormTable] = {}
    cards = []
    lines = []
    for criterion, part in _by_criterion(tally).items():
        for aspect, cell_votes in _by_aspect(part).items():
            estimates = _estimates(plan.study.seed, cell_votes, hopes)
            for name, estimate in estimates.items():
                votes[criterion, aspect, name] = estimate
                if not aspect:
                    wording = criterion or "default wording"
                    shown = answers.formatted(estimate)
                    lines.append(f"{wording}: {name} {shown}")
        rows = _effects(part, hopes)
        name = f"effects.{criterion}.csv" if criterion else "effects.csv"
        effects[name] = FormTable(Effect._fields, rows)
        cards += _card(f"votes-{plan.study.study}", criterion, rows)
    lines += _not_asked(hopes, tally)
    labels = ["criterion", "aspect", "statistic"]
    tables = {"votes.csv": answers.measured_table(labels, votes)}
    about = f"about {len({pair for pair, _ in tally})} pairs of texts"
    return FormResults("votes", len(responses), about, tables | effects, lines, cards)


def _by_criterion(tally: VotesByPair) -> dict[str, VotesByPair]:
    """Return the votes on each criterion, "" for the default wording."""
    parts: dict[str, dict[tuple[PerturbedPair, str], Counts]] = {}
    for (pair, aspect), counts in tally.items():
        criterion = split(aspect)[1] or ""
        parts.setdefault(criterion, {})[pair, aspect] = counts
    return dict(sorted(parts.items()))


def _by_aspect(tally: VotesByPair) -> dict[str, VotesByPair]:
    """Return all votes as "", and then those on each aspect."""
    parts: dict[str, dict[tuple[PerturbedPair, str], Counts]] = {"": {}}
    for (pair, aspect), counts in tally.items():
        for name in ("", split(aspect)[0]):
            parts.setdefault(name, {})[pair, aspect] = counts
    return dict(sorted(parts.items()))


def _tallied(responses: Iterable[Response[PairQuestion]]) -> VotesByPair:
    """Return the votes as if the original always came first, sorted by pair and
    aspect.
    """
    if_swapped = {"A": "B", "B": "A"}
    tally: dict[tuple[PerturbedPair, str], Counts] = {}
    for response in responses:
        for question, option in response.given:
            pair, aspect, swapped = question.subject
            vote = option
            if swapped:
                vote = if_swapped.get(option, option)
            no_votes = np.zeros(len(OPTIONS), dtype=np.int64)
            counts = tally.setdefault((pair, aspect), no_votes)
            counts[OPTIONS.index(vote)] += 1
    return dict(sorted(tally.items()))


def _effects(
    tally: VotesByPair, expected: Mapping[PerturbedAspect, int]
) -> list[Effect]:
    """Return the effect of each perturbation on each aspect."""
    votes: dict[PerturbedAspect, dict[PerturbedPair, Counts]] = {}
    for (pair, aspect), counts in tally.items():
        votes.setdefault((pair.perturbation, split(aspect)[0]), {})[pair] = counts
    effects = []
    for cell, by_pair in sorted(votes.items()):
        total = np.sum(list(by_pair.values()), axis=0)
        outcome = int(confusion.outcomes(total))
        human = None if outcome == VotedEffect.UNDECIDED else outcome
        original, perturbed, equal, undecided = total.tolist()
        perturbation, aspect = cell
        effect = Effect(
            perturbation=perturbation,
            aspect=aspect,
            human=human,
            expected=expected.get(cell),
            original_better=original,
            perturbed_better=perturbed,
            no_difference=equal,
            cannot_decide=undecided,
            pairs=len(by_pair),
        )
        effects.append(effect)
    return effects


def _card(name: str, criterion: str, rows: Iterable[Effect]) -> list[dict[str, object]]:
    """Return the card of expectations from a table of effects; [] if no effect is
    decided.
    """
    effects = confusion.expectations(map(_as_text, rows))
    perturbations: dict[str, dict[str, list[str]]] = {}
    for key, cells in (("drop", effects.drops), ("same", effects.stays)):
        for perturbation, aspect in cells:
            aspects = perturbations.setdefault(perturbation, {})
            aspects.setdefault(key, []).append(aspect)
    if not perturbations:
        return []
    card: dict[str, object] = {
        "expectations": f"{name}-{criterion}" if criterion else name,
        "name": "people's votes" + (f" by {criterion}" if criterion else ""),
        "perturbations": perturbations,
    }
    return [card]


def _as_text(effect: Effect) -> dict[str, str]:
    """Return an effect as a row that was read from a CSV file."""
    row = {}
    for column, value in effect._asdict().items():
        row[column] = "" if value is None else str(value)
    return row


def _estimates(
    seed: int, tally: VotesByPair, expected: Mapping[PerturbedAspect, int]
) -> dict[str, Estimate]:
    pairs: dict[PerturbedPair, int] = {}
    cells: dict[PerturbedAspect, int] = {}
    pair_codes = []
    cell_codes = []
    for pair, aspect in tally:
        cell = pair.perturbation, split(aspect)[0]
        pair_codes.append(pairs.setdefault(pair, len(pairs)))
        cell_codes.append(cells.setdefault(cell, len(cells)))
    names = [pair.perturbation for pair in pairs]
    stratum = np.unique(names, return_inverse=True)[1]
    weights = confusion.pair_weights(stream(seed, "votes", "bootstrap"), stratum)
    votes = np.array(list(tally.values()))
    pair_code = np.array(pair_codes)
    cell_code = np.array(cell_codes)
    hopes = np.array([expected.get(cell, np.nan) for cell in cells], dtype=np.float64)
    consistency = confusion.vote_consistency(votes, pair_code, deletions(len(pairs)))
    matches = confusion.match_votes(votes, pair_code, cell_code, hopes, weights)
    return {"vote_consistency": consistency, **matches}


def _expected(path: Path) -> dict[PerturbedAspect, int]:
    """Return which perturbation should lower which aspect, from a CSV file."""
    # Spreadsheets write 1.0 for 1.
    hopes = {"1": 1, "1.0": 1, "0": 0, "0.0": 0, "": None}
    expected: dict[PerturbedAspect, int] = {}
    for number, row in read_rows(path, "csv"):
        named = {}
        for name, cell in row.items():
            named[name.strip().lower()] = str(cell).strip()
        perturbation = named.get("perturbation")
        aspect = named.get("aspect")
        value = named.get("expected")
        if not perturbation or not aspect or value not in hopes:
            raise UserError(
                "a row needs a perturbation, an aspect and an expected value: 1, 0 or "
                "empty",
                where=f"{path}, row {number}",
                got=", ".join(f"{name}: {cell!r}" for name, cell in named.items()),
                allowed="the columns perturbation, aspect, expected",
            )
        hope = hopes[value]
        if hope is None:
            continue
        if expected.setdefault((perturbation, aspect), hope) != hope:
            raise UserError(
                "this table contradicts itself",
                where=f"{path}, row {number}",
                got=f"1 and 0 for {perturbation} and {aspect}",
                todo="keep one of the rows",
            )
    return expected


def _not_asked(
    expected: Mapping[PerturbedAspect, int], tally: VotesByPair
) -> list[str]:
    """Return a line about expectations of what nobody was asked about: names may be
    misspelt.
    """
    asked = {(pair.perturbation, split(aspect)[0]) for pair, aspect in tally}
    missing = ["/".join(cell) for cell in expected if cell not in asked]
    if not missing:
        return []
    shown = ", ".join(missing[:3])
    if len(missing) > 3:
        shown += ", …"
    count = f"{len(missing)} of {plural(len(expected), 'expectation')}"
    return [f"{count} concern nothing that people were asked about: {shown}"]
