"""What to buy: the best judge, jury or cascade for a price, of replies in the store.

No model is asked. Of every candidate (`methods/candidates.py`) there is the price of
1,000 judgments and the number that decides agreement. For each budget the best one is
chosen again on a part of the sources and measured on the rest: what the choice is worth
without the winner's curse, and whether it adds enough to the cheapest candidate to be
bought. (docs/methods.md, "What to buy")
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import nan
from typing import Final, NamedTuple

import numpy as np

from judgescope.core.cells import joined, split
from judgescope.core.rng import stream
from judgescope.methods import escalations
from judgescope.methods.base import Method, present
from judgescope.methods.candidates import (
    AspectCandidates,
    Candidate,
    candidates_of,
)
from judgescope.methods.claims import base
from judgescope.methods.cost import bought_by, estimates_of
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.measures import AVERAGE, POOLED
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import read_groups, read_table
from judgescope.statistics.arrays import Flags
from judgescope.statistics.ensemble import effective_judges, error_correlation
from judgescope.statistics.frontier import (
    FEWEST_SOURCES,
    FOLDS,
    SPLITS,
    Choice,
    Offers,
    choices,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.verdict import STEPS, Outcome

PRICE: Final = "usd_per_1000"
STEP_1: Final = STEPS[Outcome.BETTER]


class Expense(NamedTuple):
    """What a judge costs: US$ per 1,000 judgments, and replies for one judgment."""

    price: Estimate
    calls: float


@dataclass(frozen=True, eq=False)
class Shop:
    """The judges of a dataset: what each costs, and which claims of theirs hold.

    steps: (judge, aspect, kind of claim) -> the step that the claim reaches, None where
    there is no claim.
    """

    data: EvaluationData
    expenses: Mapping[str, Expense]
    steps: Mapping[tuple[str, str, str], float | None]

    def passes(self, judge: str, aspect: str, kind: str) -> bool:
        """Whether a judge is a candidate: it holds step 1 and has a price."""
        step = self.steps.get((judge, aspect, kind))
        holds = step is not None and step >= STEP_1
        return holds and self.has_price(judge)

    def has_price(self, judge: str) -> bool:
        """Whether the price of a judge's judgments is known."""
        expense = self.expenses.get(judge)
        return expense is not None and expense.price.value is not None

    def price(self, candidate: Candidate) -> float:
        """The price of 1,000 judgments of a candidate: the sum over its members.

        Of a cascade the second member has a share of them.
        """
        prices = []
        for member in candidate.members:
            prices.append(present(self.expenses[member].price.value))
        if candidate.threshold is not None:
            prices[1] *= candidate.passed
        return float(np.sum(prices))

    def left_out(self, aspects: Sequence[str]) -> str:
        """Which judges are no candidates on some aspect, and why."""
        unpriced = dict[str, None]()
        failing = dict[str, None]()
        for (judge, aspect, _), step in self.steps.items():
            if aspect not in aspects:
                continue
            if step is None or step < STEP_1:
                failing[judge] = None
            elif not self.has_price(judge):
                unpriced[judge] = None
        notes = []
        for names, why in (
            (failing, "not shown to be better than chance and simple rules"),
            (unpriced, "without a price"),
        ):
            if names:
                notes.append(f"{len(names)} {why}: {', '.join(names)}")
        return clauses(*notes)


def shop_of(data: EvaluationData) -> Shop:
    """Return the prices of a dataset's judges and the verdicts on them."""
    bought = bought_by(read_groups("bought", data.spec.bought[-1]))
    expenses = dict[str, Expense]()
    sellable = dict[str, bool]()
    for judge, card in data.spec.judges.items():
        sellable[judge] = card.engine != "control" and not card.hint
        costs = dict(estimates_of(data, bought, judge))
        if sellable[judge] and costs:
            replies = costs["replies"].n
            nothing = None
            if costs["usd"].value is None:
                nothing = costs["usd"]
            price = nothing or costs.get(PRICE)
            if price is not None:
                calls = nan
                if price.n:
                    calls = replies / price.n
                expenses[judge] = Expense(price, calls)
    steps = dict[tuple[str, str, str], float | None]()
    # The kinds of claims that say whether a judge agrees with people.
    claim_kinds = (base.AGREEMENT, base.LABELS, base.PAIRS)
    for row in read_table("results", present(data.spec.verdicts)).to_pylist():
        judge = row["judge"]
        if row["statistic"] == base.VERDICT and row["form"] in claim_kinds:
            of_systems = row["perturbation"] in (None, "", "systems")
            if sellable.get(judge) and of_systems:
                aspect = joined(row["aspect"], row["criterion"])
                steps[judge, aspect, row["form"]] = row["value"]
    return Shop(data, expenses, steps)


@dataclass(frozen=True, eq=False)
class Market:
    """The candidates of one aspect, or of several whose numbers are averaged.

    `aspect` is what the rows are about; `candidates` have a value on every part.
    """

    shop: Shop
    aspect: str
    parts: Sequence[AspectCandidates]
    candidates: Sequence[Candidate] = field(default=())

    @property
    def data(self) -> EvaluationData:
        """The dataset."""
        return self.shop.data

    @property
    def statistic(self) -> str:
        """The number that decides."""
        return self.parts[0].statistic

    @property
    def level(self) -> str:
        """The level of that number."""
        return self.parts[0].level

    @cached_property
    def offers(self) -> Offers:
        """Prices and sums of the candidates."""
        sums = [
            np.stack([part.sums(part.values[each]) for part in self.parts], axis=1)
            for each in self.candidates
        ]
        price = np.array([self.shop.price(each) for each in self.candidates])
        return Offers(price, np.stack(sums), self.parts[0].of_sums)

    def on(self, candidate: Candidate, sources: Flags) -> Replicated:
        """The quality of a candidate on some sources."""
        return self._mean([part.on(candidate, sources) for part in self.parts])

    def gain(self, dear: Candidate, cheap: Candidate, sources: Flags) -> Replicated:
        """The quality of one candidate minus that of another, on some sources."""
        gaps = []
        for part in self.parts:
            gaps.append(
                base.less(part.on(dear, sources), part.on(cheap, sources), part.gap)
            )
        return self._mean(gaps)

    def _mean(self, each: Sequence[Replicated]) -> Replicated:
        if len(each) == 1:
            return each[0]
        return mean_over(each, averaged="aspects")

    @property
    def everything(self) -> Flags:
        """All sources."""
        return np.ones(len(self.data.item_order), dtype=bool)


def markets(shop: Shop) -> Iterator[Market]:
    """Yield the market of each aspect, then those of the means over aspects.

    A mean is over all aspects of one wording that one number decides.
    """
    parts = [*candidates_of(shop.data, shop)]
    groups: dict[tuple[str | None, str, str, int], list[AspectCandidates]] = {}
    for part in parts:
        yield Market(shop, part.aspect, [part], [*part.values])
        size = part.sums(next(iter(part.values.values()))).shape[-1]
        key = split(part.aspect)[1], part.statistic, part.level, size
        groups.setdefault(key, []).append(part)
    for (criterion, _, _, _), group in groups.items():
        if len(group) < 2:
            continue
        shared = [
            each
            for each in group[0].values
            if all(each in part.values for part in group)
        ]
        if shared:
            yield Market(shop, joined(AVERAGE, criterion), group, shared)


# --- rows -----------------------------------------------------------------------------


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of frontier.csv: candidates, then the choice for each budget.

    A row of a choice is that of the candidate which is the best within the budget on
    all texts.
    """
    shop = shop_of(data)
    for judge, expense in shop.expenses.items():
        yield data.row(judge, "", PRICE, "", expense.price)
        if expense.price.value is not None:
            calls = Estimate(expense.calls, n=expense.price.n)
            yield data.row(judge, "", "calls_per_judgment", "", calls)
    no_claims = "no claim of agreement in this study: name the method agreement"
    if not shop.steps:
        nothing = Estimate.undefined(no_claims)
        yield data.row("", "", "candidates", "", nothing)
        return
    for market in markets(shop):
        yield from _candidate_rows(market)
        yield from _choice_rows(market)
        if len(market.parts) == 1:
            yield from escalations.rows_of(data, shop, market.parts[0])


def _candidate_rows(market: Market) -> Iterator[ResultRow]:
    """Yield the number of candidates, and price and number of each."""
    data = market.data
    n = len(market.candidates)
    aspects = [part.aspect for part in market.parts]
    count = Estimate(float(n), n=n, note=market.shop.left_out(aspects))
    sources = market.offers.sources.size
    too_few = f"no frontier with fewer than {FEWEST_SOURCES} sources"
    if n > 1 and sources < FEWEST_SOURCES:
        count = count.with_note(f"{too_few}: {sources}")
    if len(market.parts) > 1:
        count = count.with_note(f"mean over {', '.join(aspects)}")
    yield data.row("", market.aspect, "candidates", market.level, count)
    for at, candidate in enumerate(market.candidates):
        name = candidate.name
        k = len(candidate.members)
        number = market.on(candidate, market.everything).estimate
        number = number.with_method("on the cases that all candidates judged")
        yield data.row(name, market.aspect, market.statistic, market.level, number, k=k)
        price = Estimate(float(market.offers.price[at]), n=number.n)
        if candidate.is_jury:
            price = price.with_method("sum over the members")
        elif k > 1:
            how = f"{candidate.passed:.1%} of cases are passed on"
            price = price.with_method(how)
        yield data.row(name, market.aspect, PRICE, market.level, price, k=k)


def _choice_rows(market: Market) -> Iterator[ResultRow]:
    """Yield the choice for each budget; nothing without a choice."""
    candidates = market.candidates
    if len(candidates) < 2:
        return
    names = ("frontier", market.data.dataset, market.aspect, market.statistic)
    made = choices(
        market.offers,
        lambda first, sources: market.on(candidates[first], sources),
        lambda first, second, sources: market.gain(
            candidates[first], candidates[second], sources
        ),
        stream(market.data.spec.seed, *names),
    )
    winners = dict[Candidate, None]()
    for choice in made:
        yield from _unbiased_rows(market, choice)
        yield from _half_rows(market, choice)
        winners[candidates[choice.winner]] = None
    only = market.parts[0]
    if len(market.parts) == 1 and only.people is not None:
        for winner in winners:
            if winner.is_jury:
                yield from _error_rows(market.data, only, winner)


def _unbiased_rows(market: Market, choice: Choice) -> Iterator[ResultRow]:
    """Yield the number of the choice on other sources, and the winner's optimism."""
    sources = market.offers.sources.size
    how = f"{SPLITS} splits of {sources} sources into {FOLDS} folds"
    budget = Estimate(choice.budget, n=len(market.candidates))
    yield _row(market, choice, "budget", budget)
    for name, number in (("nested", choice.nested), ("optimism", choice.optimism)):
        estimate = Estimate(number, n=sources, method=how)
        yield _row(market, choice, f"{name}_{market.statistic}", estimate)


def _half_rows(market: Market, choice: Choice) -> Iterator[ResultRow]:
    """Yield what the choice of one half is worth on the other, and its gain."""
    name = market.statistic
    chosen = market.candidates[choice.on_half].name
    cheapest = market.candidates[choice.cheapest].name
    half_method = "half of the sources"
    number = choice.other_half.estimate.with_method(half_method)
    yield _row(market, choice, f"other_half_{name}", number, chosen)
    if choice.gain is None:
        gain = Estimate(0.0, n=number.n, method=half_method)
    else:
        gain = choice.gain.estimate.with_method(half_method)
    gain = replace(gain, note=clauses(choice.advice, gain.note))
    yield _row(market, choice, f"gain_{name}", gain, cheapest)
    if not np.isnan(choice.p_holm):
        p = Estimate(choice.p_holm, n=gain.n, method="one-sided, Holm over the budgets")
        yield _row(market, choice, f"p_holm_gain_{name}", p, cheapest)


def _row(
    market: Market,
    choice: Choice,
    statistic: str,
    estimate: Estimate,
    judge_b: str | None = None,
) -> ResultRow:
    """Return a row of the candidate that is best for a price on all sources."""
    winner = market.candidates[choice.winner]
    return market.data.row(
        winner.name,
        market.aspect,
        statistic,
        market.level,
        estimate,
        judge_b=judge_b,
        k=len(winner.members),
        form=f"up to {choice.budget:.6g}",
    )


def _error_rows(
    data: EvaluationData, part: AspectCandidates, jury: Candidate
) -> Iterator[ResultRow]:
    """Yield what the members' errors have in common, on any scale."""
    each = []
    for first, second in combinations(jury.members, 2):
        each.append(
            error_correlation(
                part.values[Candidate((first,))],
                part.values[Candidate((second,))],
                present(part.people),
                part.source,
                weights=data.weights,
                one_scale=False,
            )
        )
    mean = mean_over(each, averaged="pairs of members")
    numbers = {
        "error_correlation_mean": mean,
        "effective_judges": effective_judges(mean, len(jury.members)),
    }
    for name, result in numbers.items():
        yield data.row(
            jury.name,
            part.aspect,
            name,
            POOLED,
            result.estimate,
            k=len(jury.members),
        )


METHOD = Method(
    name="frontier",
    rows=rows,
    selectable=True,
    when="priced",
    tables=("agreement",),
    texts=("systems",),
    parts=("bought", "decided", "confidences", "rating_price"),
    settings="cascades",
    votes=True,
    bars=False,
    unordered="yes",
)
