"""Comparisons with anchors, in both orders: of candidates, or of anchors with each other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any, NamedTuple

import numpy as np
from msgspec import to_builtins

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply, Request
from judgescope.parsing.parsers import parse
from judgescope.perturb.grading import usable
from judgescope.perturb.writer_specs import CompareAnchorsSpec
from judgescope.replies.asking import Obtain, RequestFor
from judgescope.replies.judging import reply_columns
from judgescope.statistics.anchors import comparator_accuracy

Row = dict[str, Any]
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


def pairs_of(
    anchors: Iterable[Row],
    candidates: Iterable[Row] | None,
    systems: Iterable[Row],
    sources: Mapping[str, str | None],
) -> Iterator[Pair]:
    """Yield every candidate with every anchor; without candidates, anchors of different ratings.

    `anchors`, `candidates` and `systems` (among which anchors are) are rows of tables; `sources`:
    item -> the source that its texts are shown beside.
    """

    def shown(row: Row) -> Text:
        return Text(row["target"], sources[row["item"]], row["text"])

    texts = {row["target"]: row for row in systems}
    rated = [(shown(texts[row["target"]]), row["rating"]) for row in anchors]
    if candidates is None:
        for (first, lower), (second, higher) in combinations(rated, 2):
            if lower != higher:
                yield Pair(first, second, higher)
        return
    rows, _ = usable(candidates)
    for row, (anchor, rating) in product(rows, rated):
        yield Pair(shown(row), anchor, rating)


def compared(
    spec: CompareAnchorsSpec, pairs: Iterator[Pair], request_for: RequestFor, obtain: Obtain
) -> tuple[list[Row], list[Row]]:
    """Return rows of table `comparisons`, one for each pair, and the answers behind them."""
    rows, answers = list[Row](), list[Row]()
    while batch := list(islice(pairs, AT_ONCE)):
        for pair, replies in _asked(spec, batch, request_for, obtain):
            rows.append(_outcome(spec.dataset, pair, replies))
            answers += _answers(spec, pair, replies)
    return rows, answers


def _asked(
    spec: CompareAnchorsSpec, pairs: Sequence[Pair], request_for: RequestFor, obtain: Obtain
) -> Iterator[tuple[Pair, tuple[Reply, Reply]]]:
    """Yield every pair with the replies in its two orders."""
    aspect = to_builtins(spec.aspect)

    def ask(first: Text, second: Text) -> Request:
        shown = {"text": first.text, "text_b": second.text}
        sources = {"source": first.source, "source_b": second.source}
        about = f"{first.target} against {second.target}"
        return request_for(about, {"aspect": aspect, **shown, **sources})

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


def _outcome(dataset: str, pair: Pair, replies: tuple[Reply, Reply]) -> Row:
    """Return who is better: the one that both orders name; none is known if one says nothing."""
    ahead, back = map(_vote, replies)
    agreed = ahead if ahead is not None and back is not None and ahead == -back else 0.0
    missing = sum(vote is None for vote in (ahead, back))
    return {
        "dataset": dataset,
        "target": pair.text.target,
        "anchor": pair.anchor.target,
        "rating": pair.rating,
        "outcome": None if missing else agreed,
        "n_missing": missing,
    }


def _answers(spec: CompareAnchorsSpec, pair: Pair, replies: tuple[Reply, Reply]) -> Iterator[Row]:
    known = {"judge": spec.name, "kind": "compare", "aspect": spec.aspect.aspect}
    names = (pair.text.target, pair.anchor.target)
    for (target, other), reply in zip((names, names[::-1]), replies, strict=True):
        yield {**known, "target": target, "target_b": other, **reply_columns(reply)}


def check_comparator(
    spec: CompareAnchorsSpec, anchors: Iterable[Row], comparisons: Sequence[Row]
) -> None:
    """Raise UserError if the comparator cannot tell anchors of neighbouring ratings apart."""
    rating = {row["target"]: row["rating"] for row in anchors}
    values = [np.nan if row["outcome"] is None else row["outcome"] for row in comparisons]
    better = [rating[row["target"]] - row["rating"] for row in comparisons]
    order = {value: number for number, value in enumerate(spec.classes)}
    apart = [abs(order[rating[row["target"]]] - order[row["rating"]]) for row in comparisons]
    accuracy = comparator_accuracy(np.array(values), np.sign(better), np.array(apart) == 1)
    if accuracy.value is not None and accuracy.value >= spec.least_accuracy:
        return
    raise UserError(
        "the comparator cannot tell anchors of neighbouring ratings apart: texts rated by it would "
        "pile up at the ends of the scale",
        where=f"perturbations/{spec.perturbation}.yaml, key anchors.least_accuracy",
        got=f"{spec.comparator.model.card['model']} is right, in both orders, in "
        + (f"{accuracy.value:.3f}" if accuracy.value is not None else "none")
        + f" of {accuracy.n} pairs of {spec.dataset}, {spec.aspect.aspect}",
        allowed=f"{spec.least_accuracy} or more",
        todo="name another comparator or form; the replies are kept. 0 goes on in any case",
    )
