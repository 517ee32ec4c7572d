"""References that a model writes for all items, of which the most diverse are kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.names import ORIGINAL, REFERENCE
from judgescope.core.rng import share_of
from judgescope.engines.requests import Reply, Request
from judgescope.engines.subjects import parts_of
from judgescope.perturb.edits import TextRow
from judgescope.perturb.specs import WriteReferencesSpec
from judgescope.perturb.writing import (
    FIRST,
    Unusable,
    checked,
    goes_on,
    tell_unusable,
    warn_of_unusable,
)
from judgescope.prompts import NO_CHANGE, to_write
from judgescope.replies.asking import Obtain, RequestFor, writer
from judgescope.replies.judging import reply_columns
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.statistics.anchors import most_diverse


def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the chrF of all pairs of texts, in [0, 1]; with beta 1 it is symmetric."""
    from sacrebleu.metrics.chrf import CHRF

    measure = CHRF(beta=1)
    matrix = np.eye(len(texts))
    for i, text in enumerate(texts):
        for j in range(i):
            similarity = measure.sentence_score(text, [texts[j]]).score / 100
            matrix[i, j] = similarity
            matrix[j, i] = similarity
    return matrix


def diverse(texts: Sequence[str], count: int, first: int | None = None) -> list[int]:
    """Return the indices of `count` diverse texts, no two with the same words
    (`most_diverse`).

    `first` is the index of a text that is always chosen.
    """
    by_words = dict[str, int]()
    for index, text in enumerate(texts):
        by_words.setdefault(" ".join(text.split()), index)
    if first is not None:
        by_words[" ".join(texts[first].split())] = first
    different = sorted(by_words.values())
    begin = None
    if first is not None:
        begin = different.index(first)
    chosen = most_diverse(similarities([texts[i] for i in different]), count, begin)
    return [different[i] for i in chosen]


def references_of(
    spec: WriteReferencesSpec,
    items: Iterable[TextRow],
    texts: Mapping[str, str],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[TextRow], list[TextRow]]:
    """Return the references of each item that are kept, as targets, and the answers.

    `texts`: item -> the dataset's own reference, for items that have one.
    """
    rows = {row["item"]: row for row in items}
    chosen = share_of(rows, spec.share, seed=spec.seed, dataset=spec.dataset)
    requests: dict[str, Request] = {}
    for item in sorted(chosen):
        shown = {"text": texts.get(item, ""), "problem": None}
        parts = parts_of(rows[item])
        names = to_write(spec.about, {}, NO_CHANGE, parts, **shown)
        request = request_for(f"references of {item}", names)
        requests[item] = replace(request, draws=spec.draws)
    where = f"the study, key references, dataset {spec.dataset}"
    first = dict(islice(requests.items(), FIRST))
    written = _written(spec, first, texts, obtain)
    left = (len(requests) - len(first)) * spec.draws
    problems = [references.problem for references in written.values()]
    if spec.fallback_to_reference or goes_on(
        problems, left, where, allow_missing=spec.allow_missing
    ):
        rest = dict(islice(requests.items(), FIRST, None))
        written |= _written(spec, rest, texts, obtain)
    problems = [references.problem for references in written.values()]
    tell_unusable(len([problem for problem in problems if problem]))
    warn_of_unusable(problems, where)
    kept: list[TextRow] = []
    answers: list[TextRow] = []
    for item, references in written.items():
        kept += _kept(spec, item, references, texts.get(item, ""))
        columns = {"judge": ORIGINAL, "kind": "write", "target": f"{item}:{ORIGINAL}"}
        answers += [{**columns, **reply_columns(reply)} for reply in references.drawn]
    return kept, answers


class WrittenReferences(NamedTuple):
    """The replies for an item's references, the usable texts among them, and why there
    are none.
    """

    drawn: list[Reply]
    usable: list[str]
    problem: Unusable | None


def _written(
    spec: WriteReferencesSpec,
    requests: Mapping[str, Request],
    texts: Mapping[str, str],
    obtain: Obtain,
) -> dict[str, WrittenReferences]:
    """Return item -> its written references; see `references_of`."""
    replies = obtain(requests.values())
    written: dict[str, WrittenReferences] = {}
    for item, request in requests.items():
        drawn = [replies[request.key, draw] for draw in range(request.draws)]
        parent = texts.get(item, "")
        # without a parent, there is no length to compare
        checks = spec.checks if parent else ["not_refusal"]
        usable_texts = list[str]()
        problems = list[str]()
        for reply in drawn:
            text, problem = checked(reply, parent, checks)
            if problem is None:
                usable_texts.append(text)
            else:
                problems.append(problem)
        failure = None
        if not usable_texts:
            reason = f"none of {len(drawn)} can be used: {problems[0]}"
            failure = Unusable(reason, drawn[0].text)
        written[item] = WrittenReferences(drawn, usable_texts, failure)
    return written


def _kept(
    spec: WriteReferencesSpec, item: str, written: WrittenReferences, parent: str
) -> Iterator[TextRow]:
    """Yield the references of an item to keep, first the one most similar to all
    others.
    """
    if written.problem is None:
        for step, index in enumerate(diverse(written.usable, spec.keep)):
            yield _reference(spec.dataset, item, written.usable[index], "ok", step)
        return
    status = "failed"
    if spec.fallback_to_reference and parent:
        status = "kept"
    why = f"{status}: {written.problem.problem}"
    yield _reference(spec.dataset, item, parent, why, 0)


def _reference(dataset: str, item: str, text: str, status: str, step: int) -> TextRow:
    return {
        "dataset": dataset,
        "target": f"{item}:written.{step}" if step else f"{item}:{ORIGINAL}",
        "item": item,
        "system": REFERENCE,
        "perturbation": ORIGINAL,
        "step": step,
        "text": text,
        "status": status,
        "edits": [],
    }


def write_references(
    spec: WriteReferencesSpec, *, card: str, store: str, budget: str
) -> None:
    """Write many references of each item; keep the most diverse, and one as the
    original.
    """
    items = read_table("items", spec.items).to_pylist()
    texts = {}
    for row in read_table("targets", spec.input).to_pylist():
        texts[row["item"]] = row["text"]
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        kept, answers = references_of(spec, items, texts, *asked)
    write_table("targets", table_of("targets", kept), spec.kept)
    originals = [row for row in kept if not row["step"]]
    write_table("targets", table_of("targets", originals), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)
