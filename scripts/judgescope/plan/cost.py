"""What a run of a study will request, its tokens, price and time: numbers, and their
printed lines.

Sends no request and writes nothing. Texts that a model must write first are counted
with their maximum length, so these numbers are upper bounds.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from judgescope.core import trust
from judgescope.core.cells import pack, unpack
from judgescope.core.errors import UserError, coded
from judgescope.core.paths import HOME
from judgescope.data.files import absent
from judgescope.engines.factory import settled
from judgescope.engines.recorded import join_lines
from judgescope.plan import add_ons, writing
from judgescope.plan.access import access, keys_sent
from judgescope.plan.asking_jobs import lacking
from judgescope.plan.checks.study import BILLION, caps_of
from judgescope.plan.inputs import joins
from judgescope.plan.languages import language_lines
from judgescope.plan.loading import load_plan
from judgescope.plan.notices import (
    asked_once,
    hiding,
    policies,
    scored_alone,
    systems_untested,
    too_few,
    uncut,
    undescribed,
    unjudged,
    unordered,
)
from judgescope.plan.preflight import CheckSpec
from judgescope.plan.specs.judging import adapter_folder, ask
from judgescope.plan.specs.results import tables_of, without_data
from judgescope.plan.specs.study import key_sources
from judgescope.plan.study import Plan
from judgescope.plan.unread import StudyReplies
from judgescope.replies import pricing
from judgescope.replies.caps import REQUESTS, Cap
from judgescope.replies.ledger import FOLDER, Ledger, shown
from judgescope.replies.lookup import StoredReplies
from judgescope.replies.probing import Findings, read_findings
from judgescope.replies.questions import QuestionCell, QuestionPlan, plan_questions
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store
from judgescope.schema import cards
from judgescope.schema.tables import read_table

COLUMN = 15
"""Characters of a column of numbers."""
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


class Estimate:
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
            self._sample = ReplySample(
                *map(sum, zip(self._sample, sample, strict=True))
            )
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
        found = pricing.density(
            sample.prompt, sample.characters, sample.requests, "in the store"
        )
        if found is not pricing.GUESSED:
            return found
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
        total = ReplySample(*map(sum, zip(total, more, strict=True)))
    return total


# ---- in words and columns ------------------------------------------------------------


def estimates(plan: Plan, unread: StudyReplies | None = None) -> list[Estimate]:
    """Return the estimates for all models to which a study sends requests.

    `unread` gets the stored replies of its judges.
    """
    asked_models = [name for name in plan.models if plan.is_asked(name)]
    models = [Estimate(plan, name, unread) for name in asked_models]
    # Before the supervisors' requests, which depend on all these.
    asked = [*chain.from_iterable(model.asked for model in models)]
    for model in models:
        model.supervise(asked)
    return models


def bill(plan: Plan, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield the lines that show what a run requests, by model, dataset and judge."""
    for model in models:
        yield ""
        yield f"  model {model.model}"
        yield from _table(model)
        repeated = sum(asked.repeated for asked in model.asked)
        if repeated:
            total = repeated + sum(asked.wanted for asked in model.asked)
            yield (
                f"    needed: {total:,} judgments, minus {repeated:,} with the same "
                "prompt as another, whose reply they share"
            )
        yield f"    tokens: {model.density.basis}; {_replied(model)}"
        if model.price is not None and not isinstance(model.card, cards.LlamaModel):
            yield f"    price: {_price(model.price, f'models/{model.model}.yaml')}"
        yield f"    time of one job: {_time(model)}"
    every_batch = chain.from_iterable(model.asked for model in models)
    if any(asked.bound for asked in every_batch):
        yield "  ≤: an upper bound, because a model must write the texts first"
    yield from _sums(plan, models)


def _table(model: Estimate, narrowest: int = 28) -> Iterator[str]:
    """Yield the requests to a model by judge and dataset, with titles and sums.

    narrowest: characters of the column of names, if no name is longer.
    """
    titles = ["needed", "in store", "to ask", "tokens in", "out, likely", "out, most"]
    titles += ["US$, likely", "US$, most"]
    rows = {}
    for asked in model.asked:
        sign = "≤ " if asked.bound else ""
        rows[f"{sign}{asked.name}, {asked.dataset}"] = _request_row(model, [asked])
    rows["sum"] = _request_row(model, model.asked)
    width = max(narrowest, *map(len, rows))
    yield f"    {'':<{width}}" + "".join(title.rjust(COLUMN) for title in titles)
    for name, row in rows.items():
        yield f"    {name:<{width}}{row}"


def _request_row(model: Estimate, batches: Sequence[writing.Asked]) -> str:
    """Return the counts, tokens and prices of some requests as one row of the bill."""
    planned = missing = 0
    prompt = likely = at_most = 0
    for batch in batches:
        tokens = model.tokens(batch)
        planned += batch.wanted
        missing += batch.missing
        prompt += tokens.prompt
        likely += tokens.likely
        at_most += tokens.at_most
    counts = [planned, planned - missing, missing, prompt, likely, at_most]
    cells = [f"{count:,}" for count in counts]

    price = dollars(model, batches)
    if price is None:
        # A dash, not 0: nobody knows that a model without a price is free.
        cells += ["-", "-"]
    else:
        cells += [_usd(price.likely), _usd(price.at_most)]
    return "".join(cell.rjust(COLUMN) for cell in cells)


def dollars(model: Estimate, batches: Sequence[writing.Asked]) -> PriceRange | None:
    """Return the price of all requests, or None without a price."""
    prices = []
    for batch in batches:
        price = model.dollars(batch)
        if price is None:
            return None
        prices.append(price)
    return _sum_of(prices)


def _sum_of(prices: Iterable[PriceRange]) -> PriceRange:
    likely: float = 0
    at_most: float = 0
    for price in prices:
        likely += price.likely
        at_most += price.at_most
    return PriceRange(likely, at_most)


def _usd(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.2g}"


def _price(price: cards.Price, card: str) -> str:
    """Return the price of a million tokens, and its source."""
    cached = "" if price.cached_input is None else f", {price.cached_input:g} cached"
    rates = f"{price.input:g} in{cached}, {price.output:g} out (US$ per million tokens)"
    if not isinstance(price, cards.ListedPrice):
        return f"{rates}, from {card}"
    note = f", {price.note}" if price.note else ""
    return f"{rates}{note}, as of {price.date} by {price.source} (config/prices.yaml)"


def _replied(model: Estimate) -> str:
    missing = [asked for asked in model.asked if asked.missing]
    unknown = [asked.name for asked in missing if asked.replied is None]
    if not unknown:
        return "reply length: as in earlier replies"
    of = ""
    if len(unknown) < len(model.asked):
        of = f" of {', '.join(dict.fromkeys(unknown))}"
    return (
        f"reply length{of}: the usual length for the prompt form; reasoning models "
        "write more"
    )


def _time(model: Estimate) -> str:
    known = model.minutes()
    if known is None:
        return "unknown before the first replies"
    minutes, how = known
    length = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
    return f"about {length} {how}"


def _sums(plan: Plan, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield the sums over the study, the rest of each cap, and the models without a
    price.
    """
    known = []
    unpriced = []
    for model in models:
        price = dollars(model, model.asked)
        if price is None:
            unpriced.append(f"models/{model.model}.yaml")
        else:
            known.append(price)
    total = _sum_of(known)
    shown_price = "not known"
    if known or not models:
        shown_price = f"{_usd(total.likely)} to {_usd(total.at_most)} US dollars"
    missing = sum(map(_missing, models))
    yield f"  requests to models: {missing:,}, price: {shown_price}"
    if unpriced:
        but = " and not included" if known else ""
        yield (
            f"  warning: no `price` in {', '.join(unpriced)}: its cost is not "
            f"known{but}"
        )
    state = _ledger(plan).state()
    for cap in caps_of(plan.study):
        used = sum(state.used(cap.unit, cap.model))
        yield (
            f"  {cap.key}: {shown(used, cap.unit)} of {shown(cap.limit, cap.unit)} "
            "spent by this study so far"
        )
        bound = [model for model in models if cap.model in (None, model.model)]
        yield from _too_low(cap, cap.limit - used, bound)


def _missing(model: Estimate) -> int:
    """Return the number of replies of a model that are not in the store."""
    return sum(asked.missing for asked in model.asked)


def _ledger(plan: Plan) -> Ledger:
    return Ledger(Path(plan.study.store) / FOLDER / plan.study.ledger)


def passed_caps(plan: Plan) -> Iterator[str]:
    """Yield a warning for each cap of a study that was exceeded."""
    state = _ledger(plan).state()
    for cap in caps_of(plan.study):
        spent, _ = state.used(cap.unit, cap.model)
        if spent > cap.limit:
            yield (
                f"warning: {cap.key}: spent {shown(spent, cap.unit)}, over the cap of "
                f"{shown(cap.limit, cap.unit)}: replies reported more tokens than "
                "`max_tokens` allows, and requests in progress had to be paid for"
            )


def _too_low(cap: Cap, left: int, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield a warning if a cap leaves less than its models may need."""
    if cap.unit == REQUESTS:
        likely = at_most = sum(map(_missing, models))
    else:
        prices = [dollars(model, model.asked) for model in models]
        total = _sum_of(price for price in prices if price is not None)
        likely = round(BILLION * total.likely)
        at_most = round(BILLION * total.at_most)
    if likely > left:
        verdict = "is too low for the likely need of the run"
        needed = likely
    elif at_most > left:
        verdict = "may be too low for the maximum need of the run"
        needed = at_most
    else:
        return
    yield (
        f"  warning: {cap.key} {verdict} ({shown(needed, cap.unit)}): only "
        f"{shown(max(0, left), cap.unit)} are left, and the run stops when they are "
        "spent"
    )


SHOWN = 12
"""Maximum number of a dataset's notices that are printed."""


def check(spec: CheckSpec) -> None:
    """Print datasets, judges, cells, requests, tokens and prices; send no request."""
    covered = json.loads(Path(spec.preflight).read_text(encoding="utf-8"))
    print(f"study {covered['study']['study']}: all cards and files are in order")
    for dataset, cells in covered["cells"].items():
        print(f"  {dataset:<24}{cells:>6} cells")
    engines = [engine for engine in covered["judges"].values() if engine != "control"]
    controls = len(covered["judges"]) - len(engines)
    print(
        f"  judges: {len(engines)} ({', '.join(sorted({*engines}))}), and {controls} "
        "controls"
    )
    plan = load_plan(spec.config, HOME, source=spec.source)
    print("\n".join(map(str, access(plan))))
    for line in (
        *add_ons.lines(plan, tables_of(plan)),
        *hiding(plan),
        *without_data(plan),
        *unjudged(plan),
        *unordered(plan),
        *undescribed(plan),
        *uncut(plan),
        *policies(plan),
        *asked_once(plan),
        *scored_alone(plan),
    ):
        print(f"  {line}")
    unread = StudyReplies(plan)
    for name in plan.datasets:
        if name not in spec.unfetched:
            _print_notices(plan, name, unread)
    for name in spec.unfetched:
        for file in absent(plan.datasets[name].files).values():
            print(f"  a run downloads for {name}: {file}")
    if not covered["asked"]:
        print("  requests to models: 0, price: 0 USD (no judge sends requests)")
        _print_unread(unread)
        return
    if spec.unfetched:
        names = ", ".join(spec.unfetched)
        print(
            f"  warning: the requests for {names} are unknown before that, and not "
            "counted"
        )
    readable = {
        name: card for name, card in plan.datasets.items() if name not in spec.unfetched
    }
    plan = dataclasses.replace(plan, datasets=readable)
    for line in too_few(
        plan, {name: len(writing.Imagined(plan, name).items) for name in plan.evaluated}
    ):
        print(f"  {line}")
    for line in bill(plan, estimates(plan, unread)):
        print(line)
    _print_unread(unread)
    for key in key_sources(plan, covered["asked"]):
        try:
            key.check_without_running()
        except UserError as error:
            print(f"  before a run: {error}")
    record = trust.TrustRecord.read()
    for source, url in keys_sent(plan, covered["asked"]):
        if crossing := record.crossing(source, url):
            print(f"  before a run: {crossing.error()}")


def _print_unread(unread: StudyReplies) -> None:
    for line in unread.lines():
        print(f"  {line}")


def _print_notices(plan: Plan, dataset: str, unread: StudyReplies) -> None:
    """Print the notices of a dataset, and how many rows of recorded models were
    joined; `unread` gets the recorded replies.
    """
    problems = json.loads(Path(plan.paths.ingested(dataset)).read_text("utf-8"))[
        "problems"
    ]
    for line in problems[:SHOWN]:
        print(coded(f"  {dataset}: {line}"))
    if len(problems) > SHOWN:
        print(f"  {dataset}: and {len(problems) - SHOWN} more notices")
    rated = Path(plan.paths.targets(dataset, "systems"))
    if rated.is_file():
        texts = read_table("targets", str(rated), columns=["item", "system"])
        items = texts["item"].to_pylist()
        systems = texts["system"].to_pylist()
        for line in systems_untested(plan, dataset, items, systems):
            print(f"  {dataset}: {line}")
        texts = read_table("targets", str(rated), columns=["text"])["text"].to_pylist()
        for line in language_lines(plan, dataset, [one for one in texts if one]):
            print(f"  {dataset}: {line}")
    for line in join_lines(joins(plan, dataset, unread.add_recorded)):
        print(f"  {dataset}: {line}")
