"""What a run of a study will request, its tokens, price and time, as numbers.

Sends no request and writes nothing. Texts that a model must write first are counted
with their maximum length, so these numbers are upper bounds.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from judgescope.core.cells import pack, unpack
from judgescope.engines.factory import settled
from judgescope.plan import writing
from judgescope.plan.asking_jobs import lacking
from judgescope.plan.specs.judging import adapter_folder, ask
from judgescope.plan.study import Plan
from judgescope.plan.unread import StudyReplies
from judgescope.replies import pricing
from judgescope.replies.lookup import StoredReplies
from judgescope.replies.probing import Findings, read_findings
from judgescope.replies.questions import QuestionCell, QuestionPlan, plan_questions
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store
from judgescope.schema import cards

SAMPLE = 200
"""Maximum number of a job's replies or prompts that are read."""


class TokenCounts(NamedTuple):
    """Tokens of prompts, and likely and maximum tokens of replies."""

    prompt: int
    likely: int
    at_most: int


class PriceRange(NamedTuple):
    """Likely and maximum price, in US dollars."""

    likely: float
    at_most: float


class ReplySample(NamedTuple):
    """Sums over a sample of a job's replies."""

    replies: int = 0
    requests: int = 0
    characters: int = 0
    prompt: int = 0
    completion: int = 0

    def plus(self, other: "ReplySample") -> "ReplySample":
        """Return the sums over two samples."""
        return ReplySample(
            replies=self.replies + other.replies,
            requests=self.requests + other.requests,
            characters=self.characters + other.characters,
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
        )


class SizedRequests(NamedTuple):
    """The lengths of a judge's answered requests, and the tokens that the host counted
    in each.
    """

    characters: list[int]
    tokens: list[int]


class ModelRequests:
    """The requests of a study to one model."""

    def __init__(
        self, plan: Plan, model: str, unread: StudyReplies | None = None
    ) -> None:
        card = plan.models[model]
        assert isinstance(card, cards.AskedModel)
        self.plan = plan
        self.model = model
        folder = Path(plan.folders["model", model])
        data = Path(plan.study.data)
        self.card = settled(card, folder, data, adapter_folder(plan, model))
        free = isinstance(card, cards.ProgramModel) and card.price is None
        self.price = cards.Price(input=0, output=0) if free else card.price
        self.store = Store(Path(plan.study.store), card.served_name)
        self.findings: Findings = {}
        if isinstance(self.card, cards.ProbedModel):
            self.findings = read_findings(self.store, self.card) or {}
        self._unread = unread
        self._sample = ReplySample()
        self._counted: list[int] = []
        self._spelled = 0
        self._sized: dict[str, SizedRequests] = {}
        self.asked: list[writing.Asked] = []
        for dataset in plan.datasets:
            self.asked += self._of(dataset)

    def _of(self, dataset: str) -> Iterator[writing.Asked]:
        texts = writing.Imagined(self.plan, dataset)
        missing = writing.unmade(self.plan, dataset)
        left = lacking(self.plan, dataset)
        yield from writing.asked_of_writers(self.model, texts, left.get(self.model, {}))
        unwritten = set[str]()
        for judges in left.values():
            unwritten.update(judges)
        if not self.plan.cell_aspects_of(dataset, self.model):
            return
        spec = ask(self.plan, dataset, self.model)
        cells = list(unpack(spec.cells))
        exact = list[QuestionCell]()
        bounded = list[QuestionCell]()
        for cell in cells:
            perturbation, judge, _ = cell
            waits = perturbation in missing or judge in unwritten
            (bounded if waits else exact).append(cell)
        if exact:
            yield from self._judged(replace(spec, cells=pack(exact)), texts)
        if bounded:
            spec = replace(spec, cells=pack(bounded))
            yield from self._judged(spec, texts, bound=True)

    def _judged(
        self, spec: AskSpec, texts: writing.Imagined, *, bound: bool = False
    ) -> Iterator[writing.Asked]:
        """Yield what each judge must be asked about targets, existing or still to be
        made.
        """
        job = plan_questions(spec, self.card, self.findings, texts)
        judges = {cell[1]: questions.judge for cell, questions in job.cells.items()}
        sent = "temperature" not in self.card.unsent
        replies = self.store.find(job.key_table)
        self._spell(job, replies)
        if self._unread is not None:
            self._unread.add_stored(texts.dataset, job, replies)
        for count in job.counts(replies):
            sample = _sampled(job, replies, count.judge)
            self._sample = self._sample.plus(sample)
            if isinstance(self.card, cards.SystemOneModel):
                sized = self._sized.setdefault(count.judge, SizedRequests([], []))
                _add_sizes(sized, job, replies, count.judge)
            enough = sample.replies >= pricing.ENOUGH
            yield writing.Asked(
                texts.dataset,
                count.judge,
                self.model,
                *count[1:5],
                repeated=count.repeated,
                max_tokens=self.plan.judges[count.judge].max_tokens,
                usual=writing.usual_tokens(self.plan, self.plan.judges[count.judge]),
                replied=sample.completion / sample.replies if enough else None,
                bound=bound,
                alone=sent and judges[count.judge].temperature == 0,
            )

    def _spell(self, job: QuestionPlan, replies: StoredReplies) -> None:
        """Count the tokens of some missing prompts with the model's own tokenizer."""
        named = getattr(self.card, "tokenizer", None)
        if named is None or not isinstance(self.card, cards.OpenAIModel):
            return
        spelled = pricing.tokenizer(Path(named), f"models/{self.model}.yaml")
        step = max(1, int(np.count_nonzero(replies.lacking())) // SAMPLE)
        for work in islice(job.work(replies), 0, None, step):
            self._counted.append(spelled(work.request.prompt))
            self._spelled += len(work.request.prompt)

    def supervise(self, asked: Iterable[writing.Asked]) -> None:
        """Count the model's requests as a supervisor, once those of the judges are
        known.
        """
        if not isinstance(self.card, cards.PromptedModel):
            return
        asked = list(asked)
        for dataset in self.plan.datasets:
            texts = writing.Imagined(self.plan, dataset)
            missing = [batch for batch in asked if batch.missing]
            unasked = {batch.name for batch in missing if batch.dataset == dataset}
            self.asked += writing.asked_of_supervisor(
                self.card, self.store, texts, unasked
            )

    def cut_states(self) -> Iterator[str]:
        """Yield a warning for each judge whose host seems to cut long states."""
        for judge, sized in self._sized.items():
            cut = pricing.cut_requests(*sized)
            if not cut:
                continue
            longest = max(sized.characters)
            yield (
                f"warning: the host of {judge} ({self.model}) counted far fewer input "
                f"tokens than their length lets expect in {cut} of "
                f"{len(sized.tokens)} stored replies (at most {max(sized.tokens):,}; "
                f"the longest request has {longest:,} characters): it may cut long "
                "states without a word; shorten them with `cut_parts` in the judge's "
                "card, or ask a host with a larger context"
            )

    @property
    def limits(self) -> cards.Limits:
        """Return the limits on requests to the model; a program gets a line per
        draw.
        """
        if isinstance(self.card, cards.ProgramModel):
            return cards.Limits(draws_per_request=1)
        return self.card.limits

    @cached_property
    def pace(self) -> pricing.Pace:
        """Return the pace of earlier jobs."""
        return pricing.read_pace(self.store.shard)

    @property
    def density(self) -> pricing.Density:
        """Return the tokens per character of this model's prompts, by the best
        available source.
        """
        if self._spelled:
            source = f"by the tokenizer, from {len(self._counted)} prompts"
            return pricing.Density(sum(self._counted) / self._spelled, source)
        sample = self._sample
        measured = pricing.density(
            sample.prompt, sample.characters, sample.requests, "in the store"
        )
        if measured is not pricing.GUESSED:
            return measured
        return pricing.density(
            self.pace.prompt, self.pace.size, self.pace.replies, "to earlier jobs"
        )

    def requests(self, asked: writing.Asked) -> int:
        """Return the expected number of requests: draws share one as far as the engine
        lets them.

        Draws that share a request share its prompt, which is paid for once.
        """
        without_n = "n" in self.card.unsent or self.findings.get("n") in {
            "ignored",
            "refused",
        }
        if asked.alone or without_n:
            return asked.missing
        together = self.limits.draws_per_request or max(asked.missing, 1)
        each = math.ceil(asked.missing / max(asked.prompts, 1) / together)
        return min(asked.missing, asked.prompts * each)

    def tokens(self, asked: writing.Asked) -> TokenCounts:
        """Return the tokens of some requests."""
        characters = asked.sent(self.requests(asked))
        at_most = asked.missing * asked.max_tokens
        each = asked.usual if asked.replied is None else asked.replied
        likely = min(math.ceil(asked.missing * each), at_most)
        prompt = math.ceil(characters * self.density.tokens)
        return TokenCounts(prompt, likely, at_most)

    def dollars(self, asked: writing.Asked) -> PriceRange | None:
        """Return the price of some requests; None: the model has no price."""
        if self.price is None:
            return None
        tokens = self.tokens(asked)
        likely = {"prompt": tokens.prompt, "completion": tokens.likely}
        # At most every draw is a request of its own, with its own prompt.
        alone = math.ceil(asked.sent(asked.missing) * self.density.tokens)
        at_most = {"prompt": alone, "completion": tokens.at_most}
        return PriceRange(
            likely=pricing.nanodollars(likely, self.price) / 1e9,
            at_most=pricing.nanodollars(at_most, self.price) / 1e9,
        )

    def minutes(self) -> tuple[float, str] | None:
        """Return the minutes of a job with all missing replies, and the basis of this
        estimate.
        """
        missing = sum(batch.missing for batch in self.asked)
        limits = self.limits
        known = []
        if limits.requests_per_minute:
            requests = sum(map(self.requests, self.asked))
            known.append(
                (requests / limits.requests_per_minute, "at requests_per_minute")
            )
        if limits.tokens_per_minute:
            tokens = 0
            for batch in self.asked:
                counts = self.tokens(batch)
                tokens += counts.prompt + counts.likely
            known.append((tokens / limits.tokens_per_minute, "at tokens_per_minute"))
        if self.pace.replies >= pricing.ENOUGH and self.pace.seconds > 0:
            rate = 60 * self.pace.replies / self.pace.seconds
            known.append((missing / rate, "at the pace of earlier jobs"))
        return max(known, default=None)


def _add_sizes(
    sized: SizedRequests, job: QuestionPlan, stored: StoredReplies, judge: str
) -> None:
    """Add a sample of a judge's answered requests, of those with counted tokens."""
    requests = job.places(judge)
    complete = requests[stored.lacking()[requests] == 0]
    for number in complete[:: max(1, len(complete) // SAMPLE)].tolist():
        reply = stored.reply(int(stored.key_table.first[number]))
        counted = (reply.usage or {}).get("prompt")
        if reply.status == "ok" and counted:
            index = stored.key_table.representative[number]
            sized.characters.append(int(job.characters[index]))
            sized.tokens.append(counted)


def _sampled(job: QuestionPlan, stored: StoredReplies, judge: str) -> ReplySample:
    """Return the usage of a sample of a judge's replies, all replies to a request
    together.
    """
    requests = job.places(judge)
    complete = requests[stored.lacking()[requests] == 0]
    total = ReplySample()
    for number in complete[:: max(1, len(complete) // SAMPLE)].tolist():
        first = int(stored.key_table.first[number])
        draws = int(stored.key_table.draws[number])
        replies = [stored.reply(slot) for slot in range(first, first + draws)]
        usable = [reply for reply in replies if reply.status == "ok"]
        usages = [reply.usage for reply in usable if reply.usage]
        if len(usages) < len(replies):
            continue
        prompts = sum(bool(usage.get("prompt")) for usage in usages)
        size = int(job.characters[stored.key_table.representative[number]]) * prompts
        more = ReplySample(
            replies=len(replies),
            requests=prompts,
            characters=size,
            prompt=sum(usage.get("prompt") or 0 for usage in usages),
            completion=sum(usage.get("completion") or 0 for usage in usages),
        )
        total = total.plus(more)
    return total


def estimates(plan: Plan, unread: StudyReplies | None = None) -> list[ModelRequests]:
    """Return the estimates for all models to which a study sends requests.

    `unread` gets the stored replies of its judges.
    """
    asked_models = []
    for name in plan.models:
        if plan.is_asked(name):
            asked_models.append(name)
    models = [ModelRequests(plan, name, unread) for name in asked_models]
    # Before the supervisors' requests, which depend on all these.
    asked = [*chain.from_iterable(model.asked for model in models)]
    for model in models:
        model.supervise(asked)
    return models


def dollars(
    model: ModelRequests, batches: Sequence[writing.Asked]
) -> PriceRange | None:
    """Return the price of all requests, or None without a price."""
    prices = []
    for batch in batches:
        price = model.dollars(batch)
        if price is None:
            return None
        prices.append(price)
    return sum_of(prices)


def sum_of(prices: Iterable[PriceRange]) -> PriceRange:
    """Return the sums of likely and of maximum prices; 0 for no price."""
    likely: float = 0
    at_most: float = 0
    for price in prices:
        likely += price.likely
        at_most += price.at_most
    return PriceRange(likely, at_most)
