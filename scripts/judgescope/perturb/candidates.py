"""Candidates for texts of every rating: which references get how many errors (paper 002)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from judgescope.core.rng import stream
from judgescope.perturb.diversity import diverse
from judgescope.perturb.edits import Perturbed, edit_between
from judgescope.perturb.inject import inject

Base = tuple[str, str]
"""The id of a text that gets errors, and the text."""


class Candidate(NamedTuple):
    """A text to be made: so many errors in a base, and what tells it from its likes."""

    item: str
    number: str
    base: Base
    errors: int


def bases_of(
    first: Mapping[str, Base], others: Callable[[str], Sequence[Base]], wanted: int
) -> dict[str, list[Base]]:
    """Return item -> the references that get errors: its original, and the most diverse others."""
    found = {}
    for item, original in first.items():
        every = [original, *others(item)] if wanted > 1 else [original]
        found[item] = [every[at] for at in diverse([text for _, text in every], wanted, 0)]
    return found


def evenly(
    bases: Mapping[str, Sequence[Base]], targets: int, counts: Sequence[int]
) -> Iterator[Candidate]:
    """Yield `targets` candidates of each item, with each number of errors about as often.

    Where `targets` is no multiple of the numbers, items begin at another one each.
    """
    done = 0
    for item in sorted(bases):
        for own in range(targets):
            errors = counts[(done + own) % len(counts)]
            base = bases[item][own // len(counts) % len(bases[item])]
            yield Candidate(item, str(own + 1), base, errors)
        done += targets


def on_trial(bases: Mapping[str, Sequence[Base]], most: int) -> Iterator[Candidate]:
    """Yield a candidate of each number of errors, 0 to `most`, for each item."""
    for item in sorted(bases):
        for errors in range(most + 1):
            yield Candidate(item, f"t{errors}", bases[item][errors % len(bases[item])], errors)


def of_each_rating(
    bases: Mapping[str, Sequence[Base]],
    each: int,
    counts: Sequence[Sequence[int]],
    *,
    seed: int,
    names: Sequence[str],
) -> Iterator[Candidate]:
    """Yield `each` candidates of every item and rating; `counts` are a rating's numbers of errors.

    A number is drawn from those that texts of the rating had on trial, by the stream of the item.
    """
    for item in sorted(bases):
        rng = stream(seed, *names, item, "counts")
        for rating, known in enumerate(counts):
            for own in range(each):
                errors = known[int(rng.integers(len(known)))]
                base = bases[item][own % len(bases[item])]
                yield Candidate(item, f"{rating + 1}-{own + 1}", base, errors)


def by_rule(one: Candidate, kinds: Sequence[str], *, seed: int, names: Sequence[str]) -> Perturbed:
    """Return a candidate's text with errors that rules make; `short`: it has room for fewer."""
    _, text = one.base
    if not one.errors:
        return Perturbed(text, "ok", ())
    rng = stream(seed, *names, one.item, one.number)
    made = inject(text, rng, kinds=kinds, count=one.errors)
    there = [each for each in made if each.status == "ok"]
    last = there[-1].text if there else text
    short = len(there) < one.errors
    status = f"short: {len(there)} of {one.errors}" if short else "ok"
    return Perturbed(last, status, tuple(edit_between(text, last)))


def errors_in(status: str, errors: int) -> int:
    """Return how many errors a candidate has in the end."""
    return int(status.split()[1]) if status.startswith("short: ") else errors


def drawn_parts(one: Candidate, parts: int, *, seed: int, names: Sequence[str]) -> list[int]:
    """Return for each error of a candidate the place of the part of the aspect that it is about.

    Drawn by the candidate's own stream; no part comes again before all have come.
    """
    rng = stream(seed, *names, one.item, one.number, "parts")
    rounds = -(-one.errors // parts)
    drawn = [int(place) for _ in range(rounds) for place in rng.permutation(parts)]
    return drawn[: one.errors]
