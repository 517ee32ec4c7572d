"""Let a model compare candidates with anchors, or anchors with each other, in both orders."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from typing import Any, NamedTuple

import numpy as np

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.jobs.run import run
from judgescope.parsing.parsers import parse
from judgescope.perturb.grading import usable
from judgescope.prompts import messages
from judgescope.replies.asker import Obtain, asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.cards import Decoding, PromptedModel
from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.statistics.anchors import comparator_accuracy

Row = dict[str, Any]
Spec = dict[str, Any]
AT_ONCE = 2_000
"""Pairs whose prompts are in memory at a time."""


class Text(NamedTuple):
    """A text that is compared, with the source that it is shown beside."""

    target: str
    source: str | None
    text: str


class Pair(NamedTuple):
    """A text and an anchor with its rating."""

    text: Text
    anchor: Text
    rating: float


def main(spec: Spec, *, card: str, store: str, budget: str) -> None:
    """Ask about every pair in both orders; write who is better, and the replies behind it."""
    rows, answers = list[Row](), list[Row]()
    with asker(spec, card=card, store=store, budget=budget) as (model, obtain):
        every = _pairs(spec)
        while pairs := list(islice(every, AT_ONCE)):
            for pair, told in _compared(spec, pairs, model, obtain):
                rows.append(_outcome(spec, pair, told))
                answers += _answers(spec, pair, told)
    if spec["part"] == "referee":
        _check(spec, rows)
    write_table("comparisons", table_of("comparisons", rows), spec["output"])
    write_table("answers", table_of("answers", answers), spec["replies"])


def _pairs(spec: Spec) -> Iterator[Pair]:
    """Yield every candidate with every anchor; for the referee, anchors of different ratings."""
    items = read_table("items", spec["items"], ["item", "source"]).to_pylist()
    sources = {row["item"]: row["source"] if spec["source_visible"] else None for row in items}

    def shown(row: Row) -> Text:
        return Text(row["target"], sources[row["item"]], row["text"])

    systems = {row["target"]: row for row in read_table("targets", spec["targets"]).to_pylist()}
    rows = read_table("anchors", spec["anchors"]).to_pylist()
    anchors = [(shown(systems[row["target"]]), row["rating"]) for row in rows]
    if spec["part"] == "referee":
        for (one, lower), (other, higher) in combinations(anchors, 2):
            if lower != higher:
                yield Pair(one, other, higher)
        return
    candidates, _ = usable(read_table("targets", spec["candidates"]).to_pylist())
    for row, (anchor, rating) in product(candidates, anchors):
        yield Pair(shown(row), anchor, rating)


def _compared(
    spec: Spec, pairs: Sequence[Pair], model: PromptedModel, obtain: Obtain
) -> Iterator[tuple[Pair, tuple[Reply, Reply]]]:
    """Yield every pair with the replies in its two orders."""
    decoding = Decoding(**{name: spec["asked"][name] for name in Decoding.model_fields})

    def ask(first: Text, second: Text) -> Request:
        shown: dict[str, str | None] = {"text": first.text, "text_b": second.text}
        shown |= {"source": first.source, "source_b": second.source}
        told = {"aspect": spec["aspect"], **shown}
        filled = messages(spec["asked"]["form"], spec["templates"], **told)
        about = f"{first.target} against {second.target}"
        return request_of(model, decoding, filled, seed=spec["seed"], about=about)

    asked = [(ask(one.text, one.anchor), ask(one.anchor, one.text)) for one in pairs]
    replies = obtain(request for both in asked for request in both)
    for pair, (ahead, back) in zip(pairs, asked, strict=True):
        yield pair, (replies[ahead.key, 0], replies[back.key, 0])


def _vote(reply: Reply) -> float | None:
    """Return 1 for the first text of a question, -1 for the second, 0 for neither."""
    said = parse(
        reply.text, scale=None, finish=reply.finish, parser="choice", reply_status=reply.status
    )
    return said.value


def _outcome(spec: Spec, pair: Pair, told: tuple[Reply, Reply]) -> Row:
    """Return who is better: the one that both orders name; none is known if one says nothing."""
    ahead, back = map(_vote, told)
    missing = sum(vote is None for vote in (ahead, back))
    agreed = ahead if ahead is not None and back is not None and ahead == -back else 0.0
    return {
        **{"dataset": spec["dataset"], "target": pair.text.target, "anchor": pair.anchor.target},
        **{"rating": pair.rating, "outcome": None if missing else agreed, "n_missing": missing},
    }


def _answers(spec: Spec, pair: Pair, told: tuple[Reply, Reply]) -> Iterator[Row]:
    known = {"judge": spec["name"], "kind": "compare", "aspect": spec["aspect"]["aspect"]}
    names = (pair.text.target, pair.anchor.target)
    for (target, other), reply in zip((names, names[::-1]), told, strict=True):
        yield {**known, "target": target, "target_b": other, **reply_columns(reply)}


def _check(spec: Spec, rows: list[Row]) -> None:
    """Stop where the comparator cannot tell anchors of neighbouring ratings apart."""
    anchors = read_table("anchors", spec["anchors"]).to_pylist()
    own = {row["target"]: row["rating"] for row in anchors}
    values = [np.nan if row["outcome"] is None else row["outcome"] for row in rows]
    better = [own[row["target"]] - row["rating"] for row in rows]
    places = {rating: at for at, rating in enumerate(spec["classes"])}
    apart = [abs(places[own[row["target"]]] - places[row["rating"]]) for row in rows]
    told = comparator_accuracy(np.array(values), np.sign(better), np.array(apart) == 1)
    if told.value is not None and told.value >= spec["asked"]["least_accuracy"]:
        return
    raise UserError(
        "the comparator cannot tell anchors of neighbouring ratings apart: texts rated by it would "
        "pile up at the ends of the scale",
        where=f"perturbations/{spec['perturbation']}.yaml, key anchors.least_accuracy",
        got=f"{spec['model']['model']} is right, in both orders, in "
        + (f"{told.value:.3f}" if told.value is not None else "none")
        + f" of {told.n} pairs of {spec['dataset']}, {spec['aspect']['aspect']}",
        allowed=f"{spec['asked']['least_accuracy']} or more",
        todo="name another comparator or form; the replies are kept. 0 goes on in any case",
    )


if __name__ == "__main__":
    run(main, "card", "store", "budget")
