"""Texts that a model writes for the training of a judge, for the items of the
sample.
"""

from collections.abc import Iterable
from typing import Any

from judgescope.core.names import new_target
from judgescope.distill.specs import WriteNewSpec
from judgescope.engines.requests import Reply
from judgescope.perturb.writing import checked
from judgescope.prompts import NO_CHANGE, to_write
from judgescope.replies.asking import Obtain, RequestFor, writer
from judgescope.replies.judging import reply_columns
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]


def new_texts(
    spec: WriteNewSpec,
    items: Iterable[Row],
    samples: Iterable[Row],
    request_for: RequestFor,
    obtain: Obtain,
) -> tuple[list[Row], list[Row]]:
    """Return the targets that a model writes about the sampled items, and its
    replies.
    """
    text_set = (spec.dataset, spec.name)
    drawn = {
        row["item"]
        for row in samples
        if (row["dataset"], row["perturbation"]) == text_set
    }
    asked = {}
    for row in sorted(
        (row for row in items if row["item"] in drawn), key=lambda row: row["item"]
    ):
        names = to_write(spec.task, {}, NO_CHANGE, source=row["source"], text="")
        asked[row["item"]] = request_for(f"a text about {row['item']}", names)
    replies = obtain(asked.values())
    written = {item: replies[request.key, 0] for item, request in asked.items()}
    answers = [
        {"judge": spec.name, "kind": "write", "target": new_target(item, spec.name)}
        | reply_columns(reply)
        for item, reply in written.items()
    ]
    return [_target(spec, item, reply) for item, reply in written.items()], answers


def _target(spec: WriteNewSpec, item: str, reply: Reply) -> Row:
    text, problem = checked(reply, "", ["not_refusal"])
    name, _, model = spec.name.partition(".")
    return {
        **{
            "dataset": spec.dataset,
            "target": new_target(item, spec.name),
            "item": item,
        },
        **{"system": spec.name, "perturbation": name, "degree": model, "step": 0},
        **{
            "text": text,
            "status": f"failed: {problem}" if problem else "ok",
            "edits": [],
        },
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
