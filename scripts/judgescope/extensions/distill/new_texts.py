"""Texts that a model writes for the training of a judge, for the items of the
sample.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from judgescope.core.names import new_target
from judgescope.engines.requests import Reply, Request
from judgescope.engines.subjects import parts_of
from judgescope.extensions.distill.specs import WriteNewSpec
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


def new_texts(
    spec: WriteNewSpec,
    items: Iterable[dict[str, Any]],
    samples: Iterable[dict[str, Any]],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the targets that a model writes about the sampled items, and its
    replies.
    """
    drawn = set()
    for row in samples:
        if row["dataset"] == spec.dataset and row["perturbation"] == spec.name:
            drawn.add(row["item"])
    requests = {}
    for row in sorted(items, key=lambda row: row["item"]):
        if row["item"] in drawn:
            names = to_write(spec.about, {}, NO_CHANGE, parts_of(row), text="")
            requests[row["item"]] = request_for(f"a text about {row['item']}", names)
    replies = _written(dict(islice(requests.items(), FIRST)), obtain)
    problems = list(map(_problem, replies.values()))
    where = f"dataset {spec.dataset}, new texts {spec.name}"
    remaining = len(requests) - len(replies)
    if goes_on(problems, remaining, where, allow_missing=spec.allow_missing):
        replies |= _written(dict(islice(requests.items(), FIRST, None)), obtain)
    problems = list(map(_problem, replies.values()))
    tell_unusable(len(list(filter(None, problems))))
    warn_of_unusable(problems, where)
    targets = []
    answers = []
    for item, reply in replies.items():
        targets.append(_target(spec, item, reply))
        answer = {
            "judge": spec.name,
            "kind": "write",
            "target": new_target(item, spec.name),
        }
        answers.append(answer | reply_columns(reply))
    return targets, answers


def _written(requests: Mapping[str, Request], obtain: Obtain) -> dict[str, Reply]:
    replies = obtain(requests.values())
    return {item: replies[request.key, 0] for item, request in requests.items()}


def _problem(reply: Reply) -> Unusable | None:
    _, problem = checked(reply, "", ["not_refusal"])
    if problem:
        return Unusable(problem, reply.text)
    return None


def _target(spec: WriteNewSpec, item: str, reply: Reply) -> dict[str, Any]:
    text, problem = checked(reply, "", ["not_refusal"])
    name, _, model = spec.name.partition(".")
    return {
        "dataset": spec.dataset,
        "target": new_target(item, spec.name),
        "item": item,
        "system": spec.name,
        "perturbation": name,
        "degree": model,
        "step": 0,
        "text": text,
        "status": f"failed: {problem}" if problem else "ok",
        "edits": [],
    }


def write_new(spec: WriteNewSpec, *, card: str, store: str, budget: str) -> None:
    """Write texts for the training of a judge, for the items of the sample."""
    items = read_table("items", spec.items).to_pylist()
    columns = ["dataset", "item", "perturbation"]
    samples = read_table("samples", spec.sample, columns).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = new_texts(spec, items, samples, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)
