"""Candidates for texts of every rating: references with more or fewer errors (Hu et al.
2025).

The errors are made by rules, or by a model that marks each error.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import NamedTuple

from msgspec import to_builtins

from judgescope.core.errors import UserError
from judgescope.core.names import REFERENCE
from judgescope.core.rng import share_of, stream
from judgescope.data.rated import BY_REFERENCE
from judgescope.engines.requests import Request
from judgescope.engines.subjects import parts_of
from judgescope.parsing.reasoning import without_reasoning
from judgescope.perturb.edits import Edit, Perturbed, TextRow, edit_between
from judgescope.perturb.grading import by_anchors, counts_by_rating, usable
from judgescope.perturb.references import diverse
from judgescope.perturb.rules import inject_errors
from judgescope.perturb.specs import (
    CandidatesSpec,
    Even,
    ModelErrors,
    OfEachRating,
    OnTrial,
)
from judgescope.perturb.writing import (
    MadeText,
    ReadReply,
    answers_of,
    begun,
    drawn_parts,
    make_texts,
    unusable,
    warn_of_unusable,
)
from judgescope.prompts import SourceParts, to_write
from judgescope.replies.asking import Obtain, RequestFor, writer
from judgescope.schema.tables import read_table, table_of, write_table

Base = tuple[str, str]
"""A text that gets errors: its id and the text."""
PartSpan = tuple[int, int]


class PlannedCandidate(NamedTuple):
    """A text to make: a base, the number of errors in it, and a number that identifies
    it.
    """

    item: str
    number: str
    base: Base
    errors: int


# --- which references get how many errors ---------------------------------------------


def references_with_errors(
    spec: CandidatesSpec,
    items: Mapping[str, TextRow],
    originals: Iterable[TextRow],
    written: Iterable[TextRow] | None,
) -> dict[str, list[Base]]:
    """Return item -> the references that get errors, for the items of the spec's part.

    `items` are rows by item; `written` are references that a model wrote. If they are
    None, the dataset's other references are used.
    """
    share = spec.share
    if isinstance(spec.part, OnTrial):
        share *= spec.part.share
    chosen = share_of(items, share, seed=spec.seed, dataset=spec.dataset)
    first = dict[str, Base]()
    for row in originals:
        if row["item"] in chosen and not row["status"].startswith("failed"):
            first[row["item"]] = (row["target"], row["text"])
    if written is None:
        return bases_of(
            first, lambda item: _data_references(items[item]), spec.references
        )
    by_item: dict[str, list[Base]] = {}
    for row in written:
        by_item.setdefault(row["item"], []).append((row["target"], row["text"]))
    return bases_of(first, lambda item: by_item.get(item, [])[1:], spec.references)


def bases_of(
    first: Mapping[str, Base], others: Callable[[str], Sequence[Base]], count: int
) -> dict[str, list[Base]]:
    """Return item -> the references that get errors: its original and the most diverse
    others.
    """
    bases = {}
    for item, original in first.items():
        references = [original, *others(item)] if count > 1 else [original]
        chosen = diverse([text for _, text in references], count, 0)
        bases[item] = [references[index] for index in chosen]
    return bases


def _data_references(item: TextRow) -> list[Base]:
    """Return an item's references in the dataset, except the one that is its
    original.
    """
    original = json.loads(item["meta"]).get("original_reference")
    references = list[Base]()
    for index, text in enumerate(item["references"]):
        if index != original:
            references.append((f"{item['item']}{BY_REFERENCE}{index}", text))
    return references


def wanted_candidates(
    spec: CandidatesSpec,
    bases: Mapping[str, Sequence[Base]],
    tried: Iterable[TextRow],
    comparisons: Iterable[TextRow],
) -> dict[str, PlannedCandidate]:
    """Return target -> candidate, for the spec's part of the candidates.

    `tried` and `comparisons`: the calibration candidates and their comparisons with
    anchors, for the part that is made after the calibration.
    """
    if isinstance(spec.part, Even):
        candidates = evenly(bases, spec.part.targets, spec.part.counts)
    elif isinstance(spec.part, OnTrial):
        candidates = on_trial(bases, spec.part.max_errors)
    else:
        counts = _counts_on_trial(spec, spec.part, tried, comparisons)
        per_rating = ceil(spec.part.oversample * spec.part.targets / len(counts))
        names = (spec.dataset, spec.perturbation)
        candidates = of_each_rating(
            bases, per_rating, counts, seed=spec.seed, names=names
        )
    name = f"{spec.perturbation}.{spec.degree}"
    return {f"{each.item}:{name}.{each.number}": each for each in candidates}


def evenly(
    bases: Mapping[str, Sequence[Base]], targets: int, counts: Sequence[int]
) -> Iterator[PlannedCandidate]:
    """Yield `targets` candidates per item, with each number of errors about equally
    often.

    If they cannot be equal, each item starts with a different number of errors.
    """
    done = 0
    for item in sorted(bases):
        for index in range(targets):
            errors = counts[(done + index) % len(counts)]
            base = bases[item][index // len(counts) % len(bases[item])]
            yield PlannedCandidate(item, str(index + 1), base, errors)
        done += targets


def on_trial(
    bases: Mapping[str, Sequence[Base]], max_errors: int
) -> Iterator[PlannedCandidate]:
    """Yield a candidate with each number of errors, 0 to `max_errors`, for each
    item.
    """
    for item in sorted(bases):
        for errors in range(max_errors + 1):
            base = bases[item][errors % len(bases[item])]
            yield PlannedCandidate(item, f"t{errors}", base, errors)


def of_each_rating(
    bases: Mapping[str, Sequence[Base]],
    per_rating: int,
    counts: Sequence[Sequence[int]],
    *,
    seed: int,
    names: Sequence[str],
) -> Iterator[PlannedCandidate]:
    """Yield `per_rating` candidates for every item and rating.

    The number of errors is drawn from `counts` (those of the calibration texts with the
    rating) by the item's random stream.
    """
    for item in sorted(bases):
        rng = stream(seed, *names, item, "counts")
        for rating, of_rating in enumerate(counts):
            for index in range(per_rating):
                errors = of_rating[int(rng.integers(len(of_rating)))]
                base = bases[item][index % len(bases[item])]
                yield PlannedCandidate(item, f"{rating + 1}-{index + 1}", base, errors)


def _counts_on_trial(
    spec: CandidatesSpec,
    part: OfEachRating,
    tried: Iterable[TextRow],
    comparisons: Iterable[TextRow],
) -> list[list[int]]:
    """Return for each rating the numbers of errors in calibration texts with that
    rating.
    """
    rows, _ = usable(tried)
    grades = by_anchors(rows, comparisons, part.classes)
    if all(grade.rating is None for grade in grades.values()):
        raise UserError(
            "no calibration text could be rated: every comparison was a tie or "
            "unanswered",
            where=f"perturbations/{spec.perturbation}.yaml, key anchors",
            got=f"{len(rows)} texts of {spec.dataset}",
            todo="use another comparator or prompt form",
        )
    return counts_by_rating(rows, grades, len(part.classes))


def _target(
    spec: CandidatesSpec, target: str, candidate: PlannedCandidate, made: Perturbed
) -> TextRow:
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
        **made.columns,
    }


# --- errors by rule -------------------------------------------------------------------


def targets_by_rule(
    spec: CandidatesSpec, candidates: Mapping[str, PlannedCandidate]
) -> list[TextRow]:
    """Return the candidates' targets, with errors made by rules."""
    names = (spec.dataset, spec.perturbation)
    targets = list[TextRow]()
    for target, candidate in candidates.items():
        made = by_rule(candidate, spec.errors, seed=spec.seed, names=names)
        targets.append(_target(spec, target, candidate, made))
    return targets


def by_rule(
    candidate: PlannedCandidate,
    kinds: Sequence[str],
    *,
    seed: int,
    names: Sequence[str],
) -> Perturbed:
    """Return a candidate's text with errors made by rules; `short` if not all errors
    fit.
    """
    _, text = candidate.base
    if not candidate.errors:
        return Perturbed(text, "ok", ())
    rng = stream(seed, *names, candidate.item, candidate.number)
    steps = inject_errors(text, rng, kinds=kinds, count=candidate.errors)
    made = [step for step in steps if step.status == "ok"]
    last = text
    if made:
        last = made[-1].text
    short = len(made) < candidate.errors
    status = "ok"
    if short:
        status = f"short: {len(made)} of {candidate.errors}"
    return Perturbed(last, status, tuple(edit_between(text, last)))


# --- errors by a model ----------------------------------------------------------------


def targets_by_model(
    spec: CandidatesSpec,
    task: ModelErrors,
    candidates: Mapping[str, PlannedCandidate],
    sources: Mapping[str, SourceParts],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[TextRow], list[TextRow]]:
    """Return the candidates' targets, with errors made by a model, and the model's
    answers.

    `candidates`: target -> candidate; those without errors need no model. `sources`:
    item -> the parts of its source.
    """
    with_errors = {target: each for target, each in candidates.items() if each.errors}
    assert task.change.aspect is not None  # checked before any request
    parts: list[dict[str, str]] = to_builtins(task.change.aspect.sub_aspects)

    def ask_for(target: str, text: str, problem: str | None) -> Request:
        candidate = with_errors[target]
        shown = {"text": text, "problem": problem}
        degree = {"k": candidate.errors}
        source = sources[candidate.item]
        variables = to_write(task.about, degree, task.change, source, **shown)
        names = (spec.dataset, spec.perturbation, candidate.item, candidate.number)
        drawn = drawn_parts(candidate.errors, len(parts), seed=spec.seed, names=names)
        errors = [parts[index] for index in drawn]
        return request_for(target, variables | {"errors": errors})

    def read(target: str) -> ReadReply:
        def marked(content: str, parent: str) -> tuple[str, str | None]:
            errors = with_errors[target].errors
            _, problem = marked_edits(content, parent, errors)
            return unmarked(content), problem

        return marked

    make = partial(
        make_texts,
        ask_for=ask_for,
        obtain=obtain,
        checks=["differs", "not_refusal", "length"],
        attempts=task.attempts,
        retry_temperature=task.retry_temperature,
        read=read,
        separate_draws=True,
    )
    parents = {target: candidate.base[1] for target, candidate in with_errors.items()}
    where = f"perturbations/{spec.perturbation}.yaml, dataset {spec.dataset}"
    made = begun(parents, make, where, allow_missing=spec.allow_missing)
    warn_of_unusable([unusable(text) for text in made.values()], where)
    rows = list[TextRow]()
    for target, candidate in candidates.items():
        if target in made or not candidate.errors:
            text = _perturbed(candidate, made.get(target))
            rows.append(_target(spec, target, candidate, text))
    answers = list[TextRow]()
    for target, text_made in made.items():
        answers += answers_of(spec.perturbation, target, text_made)
    return rows, answers


def _perturbed(candidate: PlannedCandidate, made: MadeText | None) -> Perturbed:
    """Return a candidate's text and its edits; `made` is None for a candidate without
    errors.
    """
    if made is None:
        return Perturbed(candidate.base[1], "ok", ())
    edits: list[Edit] = []
    if made.status == "ok":
        content, _ = without_reasoning(made.reply.text)
        edits, _ = marked_edits(content, candidate.base[1], candidate.errors)
    return Perturbed(made.text, made.status, tuple(edits))


def unmarked(marked: str) -> str:
    """Return the text without its marks; of two blanks around an empty mark, one is
    removed.
    """
    return "".join(_parts(marked))


def marked_edits(marked: str, parent: str, count: int) -> tuple[list[Edit], str | None]:
    """Return the edit that each of `count` marks makes, and the problem of an unusable
    text.

    Outside the marks the text must equal the parent, except for blanks next to a mark.
    So errors cannot overlap or be unmarked.
    """
    parts = _parts(marked)
    stray = re.compile(r"</?error\b", re.IGNORECASE)
    if any(map(stray.search, parts)):
        return [], "its marks are not <error>…</error>, one after the other"
    if len(parts) // 2 != count:
        return [], f"{len(parts) // 2} errors are marked, not {count}"
    text = "".join(parts)
    old = _spans_in([part.strip() for part in parts[::2]], parent)
    if isinstance(old, str):
        return [], f"outside of the marks it is not the text: {old[:80]!r}"
    new = _unmarked_spans(parts)
    edits = list[Edit]()
    for number in range(count):
        start = old[number][1]
        before = parent[start : old[number + 1][0]]
        after = text[new[number][1] : new[number + 1][0]]
        if before.split() == after.split():
            return [], "something is marked that is as it was"
        edits.append(Edit(start, before, after))
    return edits, None


def _parts(marked: str) -> list[str]:
    """Return the parts outside of the marks and, at every odd index, inside."""
    mark = re.compile(r"<error>(.*?)</error>", re.DOTALL)
    parts = mark.split(marked.strip())
    for index in range(1, len(parts), 2):
        before = parts[index - 1][-1:]
        at_start = index == 1 and not before
        if not parts[index].strip() and (before.isspace() or at_start):
            parts[index] = ""
            parts[index + 1] = parts[index + 1].lstrip()
    return parts


def _unmarked_spans(parts: Sequence[str]) -> list[PartSpan]:
    """Return the spans in the text of the parts outside of the marks, without outer
    blanks.
    """
    spans = list[PartSpan]()
    done = 0
    for index, part in enumerate(parts):
        if index % 2 == 0:
            start = done
            if part.strip():
                start = done + len(part) - len(part.lstrip())
            spans.append((start, start + len(part.strip())))
        done += len(part)
    return spans


def _spans_in(parts: Sequence[str], text: str) -> list[PartSpan] | str:
    """Return the consecutive spans of the parts in a text, or the first part that is
    missing.

    The first part starts the text, the last ends it; each other part is at its leftmost
    possible place. An empty first or last part lies at that end of the text.
    """
    begin = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    spans = list[PartSpan]()
    done = begin
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        start = end - len(part) if last else text.find(part, done)
        if start < done or not text.startswith(part, start):
            return part
        if index == 0 and start != begin:
            return part
        done = start + len(part)
        spans.append((start, done))
    return spans


def candidates(
    spec: CandidatesSpec, *, card: str = "", store: str = "", budget: str = ""
) -> None:
    """ReadReply references, choose those that get errors, make one part of the
    candidates.
    """
    items = {}
    for row in read_table("items", spec.items).to_pylist():
        items[row["item"]] = row
    written = None
    if spec.written:
        written = _rows("targets", spec.written)
    bases = references_with_errors(spec, items, _rows("targets", spec.input), written)
    tried = _rows("targets", spec.tried)
    compared = _rows("comparisons", spec.compared)
    wanted = wanted_candidates(spec, bases, tried, compared)
    if spec.by_model is None:
        made = table_of("targets", targets_by_rule(spec, wanted))
        write_table("targets", made, spec.output)
        return
    assert spec.replies is not None
    sources = {item: parts_of(row) for item, row in items.items()}
    options = {"card": card, "store": store, "budget": budget}
    with writer(spec.by_model.writer, spec.seed, **options) as asked:
        targets, answers = targets_by_model(
            spec, spec.by_model, wanted, sources, *asked
        )
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def _rows(table: str, path: str | None) -> list[dict[str, object]]:
    """Return the rows of a table, or no rows without a path."""
    return read_table(table, path).to_pylist() if path else []
