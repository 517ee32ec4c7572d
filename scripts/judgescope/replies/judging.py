"""The requests of a cell, and the rows of its reply file."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple

import orjson

from judgescope.core.canonical import canonical
from judgescope.engines.base import Subject, compared
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.prompts import Filled, Form, Templates, annotating, as_messages, plain, rated
from judgescope.prompts.spotlight import SHOWN, Spotlight
from judgescope.replies.few_shot import Demonstrations
from judgescope.schema.cards import (
    COMPARE,
    AskedModel,
    Aspect,
    CommandModel,
    Judge,
    RatedAspect,
    Scale,
)

Shown = tuple[Subject, ...]
"""The texts of one question: one, or the two that are compared."""
MARK = "\0prompt\0"
HINT = "hint"
"""What a judge is told of a text: a number of ours, and no text of anybody's."""


class Outline(NamedTuple):
    """What a plan keeps of a question: key, length of its prompt, and the prompt's parts."""

    key: bytes
    characters: int
    parts: list[str]


@dataclass(frozen=True)
class Questions:
    """What one cell asks: nothing is written out before it is looked at."""

    model: AskedModel
    judge: Judge
    aspect: Aspect
    scale: RatedAspect
    shown: Sequence[Shown]
    templates: Templates
    seed: int
    criterion: str | None = None
    demonstrations: Demonstrations | None = None
    beside: Sequence[tuple[Subject, str]] = ()
    """What cannot be asked, having no reference to show, or no rating, and why."""
    hints: Mapping[str, str] | None = None
    """Target -> the rating that the judge is told before it judges."""
    task: str = ""
    """What the texts were written for, as annotators are told."""

    def __len__(self) -> int:
        """Return how many questions the cell has."""
        return len(self.shown)

    def __getitem__(self, number: int) -> Request:
        """Return a question as a request."""
        messages = as_messages(self.prompt(number))
        return Request({**self._alike, "messages": messages}, self.judge.draws, self.about(number))

    def prompt(self, number: int) -> str:
        """Return the prompt of a question."""
        return self._filled(number).prompt

    def __iter__(self) -> Iterator[Request]:
        """Yield every question as a request."""
        return map(self.__getitem__, range(len(self)))

    def outline(self, number: int) -> Outline:
        """Return a question's outline: its key is that of the request, at a third of the time."""
        prompt, parts = self._filled(number)
        before, after = self._around
        key = hashlib.sha256(before + orjson.dumps(prompt) + after).digest()
        return Outline(key, len(prompt), parts)

    @cached_property
    def _alike(self) -> Mapping[str, Any]:
        """Return what all requests of the cell ask, with a mark for their prompt."""
        assert not isinstance(self.model, CommandModel)  # see programs.py
        mark = as_messages(MARK)
        return request_of(self.model, self.judge, mark, seed=self.seed, wants=self.wants).asked

    @cached_property
    def _around(self) -> tuple[bytes, bytes]:
        """Return what of the text that a key is made of stands before the prompt, and after it."""
        before, after = canonical(self._alike).split(canonical(MARK))
        return before.encode(), after.encode()

    def _filled(self, number: int) -> Filled:
        """Return the filled form of a question; under a spotlight with its texts marked."""
        texts = self._texts(number)
        if not self.judge.spotlight:
            return self._form_of(number).fill(texts)
        shots = [] if self.demonstrations is None else self.demonstrations.told(self._item(number))
        beside = [shot[name] for shot in shots for name in SHOWN if name in shot]
        own = self.seed if self.judge.seed == "study" else ""
        light = Spotlight.on([*texts.values(), *beside], own)
        marked = {
            name: text if name == HINT else light.marked(text) for name, text in texts.items()
        }
        form = self._form([light.shot(shot) for shot in shots]) if shots else self._form_of(number)
        prompt, parts = form.fill(marked)
        return Filled(light.preamble + prompt, [light.preamble + parts[0], *parts[1:]])

    @property
    def own_scale(self) -> Scale:
        """Return the scale on which the judge is asked to rate."""
        return self.judge.scale_on(self.aspect.aspect) or self.scale

    def _item(self, number: int) -> str:
        return self.shown[number][0].item

    def _form_of(self, number: int) -> Form:
        """Return the judge's form, filled with the aspect, the scale, and any demonstrations."""
        item = self._item(number)
        shots = () if self.demonstrations is None else self.demonstrations.of(item)
        key = tuple(one.subject.target for one in shots)
        if key not in self._forms:
            told = None if self.demonstrations is None else self.demonstrations.told(item)
            self._forms[key] = self._form(told)
        return self._forms[key]

    def _form(self, shots: Sequence[Mapping[str, Any]] | None) -> Form:
        """Return the judge's form with these demonstrations; None: its cell has none."""
        values = rated(self.aspect, self.own_scale)
        if shots is not None:
            values["shots"] = shots
        if self.judge.hint is not None:
            values["attributed"] = self.judge.hint.attributed
        if self.judge.annotation is not None:
            values |= annotating(self.judge.annotation, self.task)
        return Form(self.judge.form, self.templates, values)

    @cached_property
    def _forms(self) -> dict[tuple[str, ...], Form]:
        """Return the forms that were filled, by the demonstrations in them."""
        return {}

    @cached_property
    def wants(self) -> dict[str, Any]:
        """Return what the judge's requests ask for beside a text."""
        judge, scale = self.judge, self.own_scale
        wants: dict[str, Any] = {"stop": judge.stop} if judge.stop else {}
        if judge.estimator == "logprob_mean":
            wants["logprobs"] = judge.top_logprobs
        values = [plain(value) for value in scale.values() or []]
        if judge.structured == "choice":
            wants["choices"] = scale.labels or [str(value) for value in values]
        elif judge.structured == "json":
            wants["json_schema"] = {
                "type": "object",
                "properties": {"rating": {"enum": scale.labels or values}},
                "required": ["rating"],
                "additionalProperties": False,
            }
        return wants

    def about(self, number: int) -> str:
        """Return what names a question to people."""
        names = [one.target for one in self.shown[number]]
        return " ".join([self.judge.judge, self.aspect.aspect, *names])

    def place(self, number: int) -> dict[str, str]:
        """Return what a question is about: the first columns of its rows."""
        names = [one.target for one in self.shown[number]]
        place = dict(zip(("target", "target_b"), names, strict=False))
        return place if self.hints is None else {**place, "hint": self.hints[names[0]]}

    def _texts(self, number: int) -> dict[str, str | None]:
        shown = self.shown[number]
        source = shown[0].source if self.scale.source_visible else None
        names = ("source", "text", "text_b")
        texts = dict(zip(names, (source, *(one.text for one in shown)), strict=False))
        if self.hints is not None:
            texts[HINT] = self.hints[shown[0].target]
        if not needs_reference(self.judge, self.model):
            return texts
        return texts | {"reference": compared(shown[0], "references")[0][0]}


def needs_reference(judge: Judge, model: AskedModel) -> bool:
    """Return whether a judge's prompt shows a reference; a program's card says what it sees."""
    return judge.against == "references" and not isinstance(model, CommandModel)


def shown(judge: Judge, subjects: Sequence[Subject]) -> list[Shown]:
    """Return the texts of each question: one per target, or two (both orders) per compared pair."""
    if judge.form != COMPARE:
        return [(one,) for one in subjects]
    return [order for pair in pairs(subjects, judge.pairs) for order in (pair, pair[::-1])]


def pairs(subjects: Sequence[Subject], which: str) -> Iterator[tuple[Subject, Subject]]:
    """Yield the pairs of an item's texts that are compared, in the order of step and id."""

    def place(subject: Subject) -> tuple[str, int, str]:
        return subject.item, subject.step, subject.target

    ordered = sorted(subjects, key=place)
    for _, group in groupby(ordered, key=lambda subject: subject.item):
        texts = list(group)
        yield from pairwise(texts) if which == "adjacent" else combinations(texts, 2)


def rows(asked: Questions, reply: Callable[[int, int], Reply | None]) -> list[dict[str, Any]]:
    """Return the rows of a cell's reply file: `reply(number, draw)` of every draw that has one."""
    kind = "compare" if asked.judge.form == COMPARE else "rate"
    known: dict[str, Any] = {"judge": asked.judge.judge, "kind": kind}
    known |= {"aspect": asked.aspect.aspect, "criterion": asked.criterion}
    draws = range(asked.judge.draws)
    replied = [
        {**known, **asked.place(number), **reply_columns(one)}
        for number in range(len(asked))
        for draw in draws
        if (one := reply(number, draw)) is not None
    ]
    return replied + [
        {**known, "target": one.target, "draw": draw, "text": why, "status": "not_applicable"}
        for one, why in asked.beside
        for draw in draws
    ]


def reply_columns(reply: Reply) -> dict[str, Any]:
    """Return a reply as columns of a table."""
    return {name: getattr(reply, name) for name in Reply.__slots__}
