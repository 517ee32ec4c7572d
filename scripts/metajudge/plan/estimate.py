"""What a study's run will ask for, how many tokens that is, what it costs, how long it takes.

Nothing is asked and nothing written. Where a model has yet to make texts, the longest that it may
make stand in for them: what is told of those is an upper bound.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from metajudge.cells import pack, unpack
from metajudge.engines.asking import settled
from metajudge.engines.base import Subject
from metajudge.engines.subjects import Subjects
from metajudge.perturb.verdicts import LONGEST
from metajudge.plan.analyses import lacking
from metajudge.plan.specs import Specs
from metajudge.plan.study import Plan
from metajudge.plan.writers import (
    ORIGINAL,
    REFERENCES,
    Writer,
    analyses_of,
    lowered,
    waiting,
    writer_of,
)
from metajudge.prompts import messages, to_write
from metajudge.replies.analyses import Question
from metajudge.replies.found import Found
from metajudge.replies.pace import Pace, read_pace
from metajudge.replies.planning import Job, planned
from metajudge.replies.pricing import (
    CHARACTERS,
    ENOUGH,
    GUESSED,
    Density,
    density,
    nanodollars,
    tokenizer,
)
from metajudge.replies.probing import read_findings
from metajudge.replies.store import Store
from metajudge.schema.cards import (
    AskedModel,
    CommandModel,
    Limits,
    OpenAIModel,
    Price,
    RulePerturbation,
)

SAMPLE = 200
"""So many replies or prompts of a job are looked into."""


class Asked(NamedTuple):
    """What a judge, or a writer of texts, still has to be asked about a dataset.

    `replied` is the mean completion tokens of its replies so far, None where they are too few.
    """

    dataset: str
    name: str
    model: str
    wanted: int
    missing: int
    prompts: int
    characters: int
    max_tokens: int
    replied: float | None
    bound: bool

    @property
    def sent(self) -> int:
        """Return the characters of all prompts if every draw were a request of its own."""
        return math.ceil(self.characters * self.missing / self.prompts) if self.prompts else 0


class Sample(NamedTuple):
    """Sums over some replies of a job."""

    replies: int = 0
    requests: int = 0
    characters: int = 0
    prompt: int = 0
    completion: int = 0


class Imagined(Subjects):
    """The targets of a dataset; for texts that are not made yet, the longest that may come."""

    def __init__(self, plan: Plan, out: str, dataset: str) -> None:
        super().__init__(out, dataset, plan.study.seed)
        self.plan = plan

    def analyses(self, judge: str, aspect: str, model: str) -> Mapping[str, str]:
        """Return the analyses that are there; any other is as long as it may be."""
        there = Path(self.analysed.format(model)).is_file()
        told = analyses_of(self.plan, judge)
        most = told.max_tokens * CHARACTERS if told else 0
        return _Known(super().analyses(judge, aspect, model) if there else {}, "?" * most)

    def _read(self, perturbation: str) -> list[Subject]:
        if perturbation not in unmade(self.plan, self.place, self.dataset):
            return super()._read(perturbation)
        if perturbation == ORIGINAL:
            return [replace(one, text=longest(one.text)) for one in self.of(REFERENCES)]
        card = self.plan.perturbations[perturbation.partition(".")[0]]
        by_rule = isinstance(card, RulePerturbation)
        return [
            replace(
                one,
                target=f"{one.item}:{perturbation}.{step}",
                # unlike every other imagined text: equal ones would be asked about once
                text=f"{one.text if by_rule else longest(one.text)} {perturbation} {step}",
                step=step,
            )
            for one in self.of(ORIGINAL)
            for step in range(1, card.steps + 1)
        ]


class _Known(dict[str, str]):
    """Analyses, and what stands in for those that are not there."""

    def __init__(self, known: Mapping[str, str], other: str) -> None:
        super().__init__(known)
        self.other = other

    def __missing__(self, _: str) -> str:
        return self.other


def longest(text: str) -> str:
    """Return a text as long as the longest that a model may make of it."""
    return text * math.ceil(LONGEST)


def unmade(plan: Plan, place: str, dataset: str) -> set[str]:
    """Return the sets of targets that a model has yet to make; `place` names a set's file."""
    return {name for name in waiting(plan, dataset) if not Path(place.format(name)).exists()}


class Estimate:
    """What one model will be asked in a study."""

    def __init__(self, plan: Plan, specs: Specs, model: str) -> None:
        card = plan.models[model]
        assert isinstance(card, AskedModel)
        self.plan, self.specs, self.model = plan, specs, model
        folder = Path(plan.folders["model", model])
        self.card = settled(card, folder, Path(plan.study.data))
        self.price = _free(card) or card.price
        self.store = Store(Path(plan.study.store), card.served_name)
        self._sample = Sample()
        self._counted: list[int] = []
        self._spelled = 0
        self.asked = [one for dataset in plan.datasets for one in self._of(dataset)]

    def _of(self, dataset: str) -> Iterator[Asked]:
        texts = Imagined(self.plan, self.specs.out, dataset)
        missing = unmade(self.plan, texts.place, dataset)
        left = lacking(self.plan, self.specs, dataset)
        if self.model in left:
            yield from self._analysed(dataset, left[self.model])
        unwritten = {judge for judges in left.values() for judge in judges}
        for name in sorted(missing.intersection(self.plan.written(dataset))):
            writer = writer_of(self.plan, dataset, name)
            if writer.model == self.model:
                yield self._written(texts, name, writer)
        if not self.plan.cells_of(dataset, self.model):
            return
        spec = orjson.loads(self.specs.ask(dataset, self.model))
        cells = list(unpack(spec["cells"]))
        for bound in (False, True):
            own = [cell for cell in cells if (cell[0] in missing or cell[1] in unwritten) == bound]
            if own:
                yield from self._judged({**spec, "cells": pack(own)}, texts, bound=bound)

    def _judged(self, spec: dict[str, Any], texts: Imagined, *, bound: bool) -> Iterator[Asked]:
        """Yield what each judge has to be asked about targets, made or to be made."""
        endpoint = self.card if isinstance(self.card, OpenAIModel) else None
        findings = read_findings(self.store, endpoint) if endpoint else None
        job = planned(spec, self.card, findings, texts)
        found = self.store.find(job.wanted)
        self._spell(job, found)
        for count in job.counts(found):
            sample = _sampled(job, found, count.judge)
            self._sample = Sample(*map(sum, zip(self._sample, sample, strict=True)))
            enough = sample.replies >= ENOUGH
            yield Asked(
                texts.dataset,
                count.judge,
                self.model,
                *count[1:],
                max_tokens=self.plan.judges[count.judge].max_tokens,
                replied=sample.completion / sample.replies if enough else None,
                bound=bound,
            )

    def _written(self, texts: Imagined, name: str, card: Writer) -> Asked:
        """Return what a writer has to be asked at most: every text in as many tries as it may."""
        templates = self.plan.templates[card.form]
        degree = card.degrees_for(texts.dataset)[name.partition(".")[2]]  # type: ignore[index]
        task = self.plan.datasets[texts.dataset].task
        told = card.model_dump() | lowered(self.plan, texts.dataset, card)
        seen = [
            to_write(task, degree.model_dump(), told, source=one.source, text=longest(one.text))
            for one in texts.of(REFERENCES if name == ORIGINAL else ORIGINAL, self.plan.study.share)
        ]
        filled = [messages(card.form, templates, **values)[0]["content"] for values in seen]
        most = card.steps * card.attempts
        requests, characters = len(filled) * most, sum(map(len, filled)) * most
        counts = (requests, requests, requests, characters)
        return Asked(
            texts.dataset, name, self.model, *counts, card.max_tokens, replied=None, bound=True
        )

    def _analysed(self, dataset: str, left: Mapping[str, Sequence[Question]]) -> Iterator[Asked]:
        """Yield what a writer of analyses has to be asked at most, for each judge alone."""
        spec = orjson.loads(self.specs.analyse(dataset, self.model))
        for judge, questions in left.items():
            told = spec["judges"][judge]
            requests = len(questions) * told["attempts"]
            prompts = (one.messages(spec)[0]["content"] for one in questions)
            characters = sum(map(len, prompts)) * told["attempts"]
            counts = (requests, requests, requests, characters)
            name, most = f"analyses for {judge}", told["max_tokens"]
            yield Asked(dataset, name, self.model, *counts, most, replied=None, bound=True)

    def _spell(self, job: Job, found: Found) -> None:
        """Count the tokens of some missing prompts by the model's own tokenizer."""
        named = getattr(self.card, "tokenizer", None)
        if named is None or not isinstance(self.card, OpenAIModel):
            return
        folder = self.plan.folders["model", self.model]
        spelled = tokenizer(Path(folder) / named, f"models/{self.model}.yaml")
        step = max(1, int(np.count_nonzero(found.lacking())) // SAMPLE)
        for work in islice(job.work(found), 0, None, step):
            self._counted.append(spelled(work.request.prompt))
            self._spelled += len(work.request.prompt)

    @property
    def limits(self) -> Limits:
        """Return how the model is asked; a program has no such limits."""
        return Limits() if isinstance(self.card, CommandModel) else self.card.limits

    @cached_property
    def pace(self) -> Pace:
        """Return how earlier jobs went."""
        return read_pace(self.store.shard)

    @property
    def density(self) -> Density:
        """Return the tokens of a character of this model's prompts, by the best that is known."""
        if self._spelled:
            told = f"by the tokenizer, from {len(self._counted)} prompts"
            return Density(sum(self._counted) / self._spelled, told)
        sample = self._sample
        found = density(sample.prompt, sample.characters, sample.requests, "in the store")
        if found is not GUESSED:
            return found
        return density(self.pace.prompt, self.pace.size, self.pace.replies, "to earlier jobs")

    def tokens(self, one: Asked) -> tuple[int, int, int]:
        """Return tokens of prompts, and of replies: expected, and at most."""
        sent = self.sent(one)
        most = one.missing * one.max_tokens
        expected = most if one.replied is None else math.ceil(one.missing * one.replied)
        return math.ceil(sent * self.density.tokens), min(expected, most), most

    def sent(self, one: Asked) -> int:
        """Return the characters of prompts that are paid for: each once where draws share one."""
        together = self.limits.draws_per_request != 1
        return one.characters if together else one.sent

    def dollars(self, one: Asked) -> tuple[float, float] | None:
        """Return the price that is expected, and the highest; None: the model has no price."""
        if self.price is None:
            return None
        prompt, expected, most = self.tokens(one)
        alone = math.ceil(one.sent * self.density.tokens)
        least, highest = (
            {"prompt": prompt, "completion": expected},
            {"prompt": alone, "completion": most},
        )
        return nanodollars(least, self.price) / 1e9, nanodollars(highest, self.price) / 1e9

    def minutes(self) -> tuple[float, str] | None:
        """Return how long a job of all that is missing takes, and how that is known."""
        missing = sum(one.missing for one in self.asked)
        limits, known = self.limits, []
        if limits.requests_per_minute:
            known.append((missing / limits.requests_per_minute, "at requests_per_minute"))
        if limits.tokens_per_minute:
            tokens = sum(sum(self.tokens(one)[:2]) for one in self.asked)
            known.append((tokens / limits.tokens_per_minute, "at tokens_per_minute"))
        if self.pace.replies >= ENOUGH and self.pace.seconds > 0:
            rate = 60 * self.pace.replies / self.pace.seconds
            known.append((missing / rate, "at the pace of earlier jobs"))
        return max(known, default=None)


def _free(card: AskedModel) -> Price | None:
    """Return the price of a program that has none: nothing."""
    return Price(input=0, output=0) if isinstance(card, CommandModel) and not card.price else None


def _sampled(job: Job, found: Found, judge: str) -> Sample:
    """Return the usage of some of a judge's replies, those of a key all together."""
    places = job.places(judge)
    there = places[found.lacking()[places] == 0]
    total = Sample()
    for place in there[:: max(1, len(there) // SAMPLE)].tolist():
        first = int(found.wanted.first[place])
        replies = [found.reply(first + draw) for draw in range(int(found.wanted.draws[place]))]
        usages = [one.usage for one in replies if one.usage and one.status == "ok"]
        if len(usages) < len(replies):
            continue
        prompts = sum(bool(usage.get("prompt")) for usage in usages)
        size = int(job.characters[found.wanted.representative[place]]) * prompts
        sums = [sum(usage.get(name) or 0 for usage in usages) for name in ("prompt", "completion")]
        more = Sample(len(replies), prompts, size, *sums)
        total = Sample(*map(sum, zip(total, more, strict=True)))
    return total
