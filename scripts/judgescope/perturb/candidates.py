"""Candidates for texts of every rating: which references get how many errors (paper 002)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.errors import UserError
from judgescope.core.rng import share_of, stream
from judgescope.core.set_names import REFERENCE
from judgescope.data.rated import BY_REFERENCE
from judgescope.perturb.edits import Edit, Perturbed, edit_between
from judgescope.perturb.grading import by_anchors, counts_of_each, usable
from judgescope.perturb.inject import inject
from judgescope.perturb.writer_specs import CandidatesSpec, Even, OfEachRating, OnTrial
from judgescope.statistics.anchors import most_diverse

Row = dict[str, Any]
Base = tuple[str, str]
"""The id of a text that gets errors, and the text."""


class Candidate(NamedTuple):
    """A text to be made: so many errors in a base, and what tells it from its likes."""

    item: str
    number: str
    base: Base
    errors: int


def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return chrF of every two texts in [0, 1]; with beta 1 it is the same in both directions."""
    from sacrebleu.metrics.chrf import CHRF

    measure = CHRF(beta=1)
    found = np.eye(len(texts))
    for at, text in enumerate(texts):
        for other in range(at):
            score = measure.sentence_score(text, [texts[other]]).score / 100
            found[at, other] = found[other, at] = score
    return found


def diverse(texts: Sequence[str], wanted: int, first: int | None = None) -> list[int]:
    """Return the places of `wanted` diverse texts, no two of them equal in words (`most_diverse`).

    `first` is the place of one that is among them in any case.
    """
    own = {" ".join(text.split()): at for at, text in reversed(list(enumerate(texts)))}
    if first is not None:
        own[" ".join(texts[first].split())] = first
    places = sorted(own.values())
    begin = None if first is None else places.index(first)
    found = most_diverse(similarities([texts[at] for at in places]), wanted, begin)
    return [places[at] for at in found]


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


def drawn_parts(one: Candidate, parts: int, *, seed: int, names: Sequence[str]) -> list[int]:
    """Return for each error of a candidate the place of the part of the aspect that it is about.

    Drawn by the candidate's own stream; no part comes again before all have come.
    """
    rng = stream(seed, *names, one.item, one.number, "parts")
    rounds = -(-one.errors // parts)
    drawn = [int(place) for _ in range(rounds) for place in rng.permutation(parts)]
    return drawn[: one.errors]


def references_with_errors(
    spec: CandidatesSpec,
    items: Mapping[str, Row],
    originals: Iterable[Row],
    written: Iterable[Row] | None,
) -> dict[str, list[Base]]:
    """Return item -> the references that get errors, for the items of the spec's part.

    `items` are rows by item; `written` are the references that a model wrote, None if none did:
    then the data's own further references are used.
    """
    share = spec.share * spec.part.share if isinstance(spec.part, OnTrial) else spec.share
    chosen = share_of(items, share, seed=spec.seed, dataset=spec.dataset)
    first = {
        row["item"]: (row["target"], row["text"])
        for row in originals
        if row["item"] in chosen and not row["status"].startswith("failed")
    }
    if written is None:
        return bases_of(first, lambda item: _of_data(items[item]), spec.references)
    others: dict[str, list[Base]] = {}
    for row in written:
        others.setdefault(row["item"], []).append((row["target"], row["text"]))
    return bases_of(first, lambda item: others.get(item, [])[1:], spec.references)


def _of_data(item: Row) -> list[Base]:
    """Return an item's references in the data, but for the one that its original is."""
    original = json.loads(item["meta"]).get("original_reference")
    numbered = enumerate(item["references"])
    return [(f"{item['item']}{BY_REFERENCE}{at}", text) for at, text in numbered if at != original]


def wanted_candidates(
    spec: CandidatesSpec,
    bases: Mapping[str, Sequence[Base]],
    tried: Iterable[Row],
    comparisons: Iterable[Row],
) -> dict[str, Candidate]:
    """Return target -> candidate, of the spec's part.

    `tried` and `comparisons` are the candidates on trial and what anchors say of them, for the part
    that follows the trial.
    """
    if isinstance(spec.part, Even):
        wanted = evenly(bases, spec.part.targets, spec.part.counts)
    elif isinstance(spec.part, OnTrial):
        wanted = on_trial(bases, spec.part.max_errors)
    else:
        counts = _counts_on_trial(spec, spec.part, tried, comparisons)
        each = ceil(spec.part.oversample * spec.part.targets / len(counts))
        wanted = of_each_rating(bases, each, counts, seed=spec.seed, names=stream_names(spec))
    name = f"{spec.perturbation}.{spec.degree}"
    return {f"{one.item}:{name}.{one.number}": one for one in wanted}


def _counts_on_trial(
    spec: CandidatesSpec, part: OfEachRating, tried: Iterable[Row], comparisons: Iterable[Row]
) -> list[list[int]]:
    """Return for each rating the numbers of errors that texts on trial had."""
    rows, _ = usable(tried)
    grades = by_anchors(rows, comparisons, part.classes)
    if all(one.rating is None for one in grades.values()):
        raise UserError(
            "no text on trial could be rated: every comparison is a tie, or has no answer",
            where=f"perturbations/{spec.perturbation}.yaml, key anchors",
            got=f"{len(rows)} texts of {spec.dataset}",
            todo="name another comparator or form",
        )
    return counts_of_each(rows, grades, len(part.classes))


def stream_names(spec: CandidatesSpec) -> list[str]:
    """Return the names of the set's random streams."""
    return [spec.dataset, spec.perturbation]


def targets_by_rule(spec: CandidatesSpec, wanted: Mapping[str, Candidate]) -> list[Row]:
    """Return the candidates' targets, with errors that rules make."""
    rows = []
    for target, one in wanted.items():
        made = by_rule(one, spec.errors, seed=spec.seed, names=stream_names(spec))
        rows.append(target_row(spec, target, one, made.text, made.status, made.edits))
    return rows


def target_row(
    spec: CandidatesSpec,
    target: str,
    candidate: Candidate,
    text: str,
    status: str,
    edits: Iterable[Edit],
) -> Row:
    """Return a candidate as a row of table `targets`."""
    return {
        "dataset": spec.dataset,
        "target": target,
        "item": candidate.item,
        "system": REFERENCE,
        "perturbation": spec.perturbation,
        "degree": spec.degree,
        "step": candidate.errors,
        "parent": candidate.base[0],
        "text": text,
        "status": status,
        "edits": [edit._asdict() for edit in edits],
    }
