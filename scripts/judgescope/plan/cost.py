"""What a run of a study will ask for, how many tokens that is, what it costs, how long it takes.

Asks and writes nothing. Where a model has yet to make texts, the longest that it may make stand in
for them: their numbers are upper bounds.
"""

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from judgescope.core.cells import pack, unpack
from judgescope.engines.factory import settled
from judgescope.plan.asking_jobs import lacking
from judgescope.plan.placeholders import Imagined, unmade
from judgescope.plan.specs.judging import adapter_folder, ask
from judgescope.plan.study import Plan
from judgescope.plan.writing import Asked, asked_of_supervisor, asked_of_writers, usual_tokens
from judgescope.replies.lookup import Found
from judgescope.replies.planning import Job, planned
from judgescope.replies.pricing import ENOUGH, GUESSED, Density, density, nanodollars, tokenizer
from judgescope.replies.probing import read_findings
from judgescope.replies.specs import AskSpec
from judgescope.replies.speed import Pace, read_pace
from judgescope.replies.store import Store
from judgescope.schema.cards import (
    AskedModel,
    CommandModel,
    Limits,
    OpenAIModel,
    Price,
    PromptedModel,
)

SAMPLE = 200
"""So many replies or prompts of a job are looked into."""


class Sample(NamedTuple):
    """Sums over some replies of a job."""

    replies: int = 0
    requests: int = 0
    characters: int = 0
    prompt: int = 0
    completion: int = 0


class Estimate:
    """What one model will be asked in a study."""

    def __init__(self, plan: Plan, model: str) -> None:
        card = plan.models[model]
        assert isinstance(card, AskedModel)
        self.plan, self.model = plan, model
        folder, data = Path(plan.folders["model", model]), Path(plan.study.data)
        self.card = settled(card, folder, data, adapter_folder(plan, model))
        self.price = _free(card) or card.price
        self.store = Store(Path(plan.study.store), card.served_name)
        self._sample = Sample()
        self._counted: list[int] = []
        self._spelled = 0
        self.asked = [one for dataset in plan.datasets for one in self._of(dataset)]

    def _of(self, dataset: str) -> Iterator[Asked]:
        texts = Imagined(self.plan, dataset)
        missing = unmade(self.plan, dataset)
        left = lacking(self.plan, dataset)
        yield from asked_of_writers(self.model, texts, left.get(self.model, {}))
        unwritten = {judge for judges in left.values() for judge in judges}
        if not self.plan.cell_aspects_of(dataset, self.model):
            return
        spec = ask(self.plan, dataset, self.model)
        cells = list(unpack(spec.cells))
        for bound in (False, True):
            part = [cell for cell in cells if (cell[0] in missing or cell[1] in unwritten) == bound]
            if part:
                yield from self._judged(replace(spec, cells=pack(part)), texts, bound=bound)

    def _judged(self, spec: AskSpec, texts: Imagined, *, bound: bool) -> Iterator[Asked]:
        """Yield what each judge has to be asked about targets, made or to be made."""
        endpoint = self.card if isinstance(self.card, OpenAIModel) else None
        findings = read_findings(self.store, endpoint) if endpoint else None
        job = planned(spec, self.card, findings, texts)
        replies = self.store.find(job.wanted)
        self._spell(job, replies)
        for count in job.counts(replies):
            sample = _sampled(job, replies, count.judge)
            self._sample = Sample(*map(sum, zip(self._sample, sample, strict=True)))
            enough = sample.replies >= ENOUGH
            yield Asked(
                texts.dataset,
                count.judge,
                self.model,
                *count[1:],
                max_tokens=self.plan.judges[count.judge].max_tokens,
                usual=usual_tokens(self.plan.judges[count.judge]),
                replied=sample.completion / sample.replies if enough else None,
                bound=bound,
            )

    def _spell(self, job: Job, replies: Found) -> None:
        """Count the tokens of some missing prompts by the model's own tokenizer."""
        named = getattr(self.card, "tokenizer", None)
        if named is None or not isinstance(self.card, OpenAIModel):
            return
        folder = self.plan.folders["model", self.model]
        spelled = tokenizer(Path(folder) / named, f"models/{self.model}.yaml")
        step = max(1, int(np.count_nonzero(replies.lacking())) // SAMPLE)
        for work in islice(job.work(replies), 0, None, step):
            self._counted.append(spelled(work.request.prompt))
            self._spelled += len(work.request.prompt)

    def supervise(self, asked: Iterable[Asked]) -> None:
        """Count what the model is asked as a supervisor, once it is known what judges are asked."""
        if not isinstance(self.card, PromptedModel):
            return
        asked = list(asked)
        for dataset in self.plan.datasets:
            texts = Imagined(self.plan, dataset)
            unasked = {one.name for one in asked if one.missing and one.dataset == dataset}
            self.asked += asked_of_supervisor(self.card, self.store, texts, unasked)

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
            source = f"by the tokenizer, from {len(self._counted)} prompts"
            return Density(sum(self._counted) / self._spelled, source)
        sample = self._sample
        found = density(sample.prompt, sample.characters, sample.requests, "in the store")
        if found is not GUESSED:
            return found
        return density(self.pace.prompt, self.pace.size, self.pace.replies, "to earlier jobs")

    def tokens(self, asked: Asked) -> tuple[int, int, int]:
        """Return tokens of prompts, and of replies: expected, and at most."""
        # Draws that share a request share its prompt, which is paid for once.
        together = self.limits.draws_per_request != 1
        characters = asked.characters if together else asked.sent
        highest = asked.missing * asked.max_tokens
        each = asked.usual if asked.replied is None else asked.replied
        expected = min(math.ceil(asked.missing * each), highest)
        return math.ceil(characters * self.density.tokens), expected, highest

    def dollars(self, asked: Asked) -> tuple[float, float] | None:
        """Return the price that is expected, and the highest; None: the model has no price."""
        if self.price is None:
            return None
        prompt, expected, highest = self.tokens(asked)
        alone = math.ceil(asked.sent * self.density.tokens)
        likely = nanodollars({"prompt": prompt, "completion": expected}, self.price) / 1e9
        return likely, nanodollars({"prompt": alone, "completion": highest}, self.price) / 1e9

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


def _sampled(job: Job, stored: Found, judge: str) -> Sample:
    """Return the usage of some of a judge's replies, those of a key all together."""
    requests = job.places(judge)
    complete = requests[stored.lacking()[requests] == 0]
    total = Sample()
    for number in complete[:: max(1, len(complete) // SAMPLE)].tolist():
        first, draws = int(stored.wanted.first[number]), int(stored.wanted.draws[number])
        replies = [stored.reply(slot) for slot in range(first, first + draws)]
        usages = [reply.usage for reply in replies if reply.usage and reply.status == "ok"]
        if len(usages) < len(replies):
            continue
        prompts = sum(bool(usage.get("prompt")) for usage in usages)
        size = int(job.characters[stored.wanted.representative[number]]) * prompts
        sums = [sum(usage.get(name) or 0 for usage in usages) for name in ("prompt", "completion")]
        more = Sample(len(replies), prompts, size, *sums)
        total = Sample(*map(sum, zip(total, more, strict=True)))
    return total
