"""The requests of a cell, and the rows of its reply file."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple

from metajudge.engines.asked import Reply, Request, request_of
from metajudge.engines.base import Subject
from metajudge.prompts import Templates, messages, rated
from metajudge.schema.cards import COMPARE, Aspect, Judge, OpenAIModel, RatedAspect


class Question(NamedTuple):
    """A request and what it is about: the first columns of its rows."""

    place: dict[str, str]
    request: Request


def questions(
    model: OpenAIModel,
    judge: Judge,
    aspect: Aspect,
    scale: RatedAspect,
    subjects: Sequence[Subject],
    templates: Templates,
    *,
    seed: int,
) -> list[Question]:
    """Return the requests of one cell: one per target, or two (both orders) per compared pair."""

    def ask(values: dict[str, Any], place: dict[str, str]) -> Question:
        filled = messages(judge.form, templates, **rated(aspect, judge.scale or scale), **values)
        about = " ".join([judge.judge, aspect.aspect, *place.values()])
        request = request_of(model, judge, filled, seed=seed, draws=judge.draws, about=about)
        return Question(place, request)

    def source(subject: Subject) -> str | None:
        return subject.source if scale.source_visible else None

    if judge.form != COMPARE:
        return [
            ask({"source": source(one), "text": one.text}, {"target": one.target})
            for one in subjects
        ]
    return [
        ask(
            {"source": source(one), "text": one.text, "text_b": other.text},
            {"target": one.target, "target_b": other.target},
        )
        for pair in pairs(subjects, judge.pairs)
        for one, other in (pair, pair[::-1])
    ]


def pairs(subjects: Sequence[Subject], which: str) -> Iterator[tuple[Subject, Subject]]:
    """Yield the pairs of an item's texts that are compared, in the order of step and id."""

    def place(subject: Subject) -> tuple[str, int, str]:
        return subject.item, subject.step, subject.target

    ordered = sorted(subjects, key=place)
    for _, group in groupby(ordered, key=lambda subject: subject.item):
        texts = list(group)
        yield from pairwise(texts) if which == "adjacent" else combinations(texts, 2)


def rows(
    judge: Judge,
    aspect: str,
    asked: Sequence[Question],
    replies: Mapping[tuple[str, int], Reply],
) -> list[dict[str, Any]]:
    """Return the rows of a cell's reply file: every draw of every question."""
    kind = "compare" if judge.form == COMPARE else "rate"
    return [
        {
            "judge": judge.judge,
            "kind": kind,
            "aspect": aspect,
            **place,
            **reply_columns(replies[request.key, draw]),
        }
        for place, request in asked
        for draw in range(judge.draws)
    ]


def reply_columns(reply: Reply) -> dict[str, Any]:
    """Return a reply as columns of a table."""
    return {name: getattr(reply, name) for name in Reply.__slots__}
