"""The cost of the study's replies, from the usage that the endpoints reported."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import NamedTuple

import pyarrow as pa

from judgescope.methods.base import Members, Method, TokenPrices
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.replies.pricing import nanodollars
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import (
    SCHEMAS,
    count_rows,
    key_ranges,
    read_groups,
    read_key_range,
)
from judgescope.statistics.result import Estimate

FREE = "free of charge"
KINDS = ("prompt", "completion", "reasoning", "cached")
NO_TOKENS = Counter[str]()


class Usage(NamedTuple):
    """Replies, the sum of their tokens by kind, and how many came without a usage.

    `batch`: those of the tokens that came in a batch, at its price.
    """

    replies: int = 0
    tokens: Counter[str] = NO_TOKENS
    without: int = 0
    batch: Counter[str] = NO_TOKENS

    def plus(self, other: "Usage") -> "Usage":
        """Return the usage of both."""
        return Usage(*map(add, self, other))


UsageByBuyer = dict[tuple[str | None, str | None], Usage]
"""(judge, None), or (None, perturbation) of texts that a model made -> usage of the
replies."""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of cost.csv: per judge, per writer of texts, and of all replies
    together.

    A judge's row counts each of its replies once, and so what it would cost alone. The
    row of all counts a reply once, though judges and datasets share it: over the
    datasets it adds up.
    """
    bought = bought_by(read_groups("bought", data.spec.bought[-1]))
    for judge in data.spec.judges:
        for name, estimate in estimates_of(data, bought, judge):
            yield data.row(judge, "", name, "", estimate)
    for writer, price in data.spec.writers.items():
        usage = bought.get((None, writer), Usage())
        cost = dollars(usage, price)
        for name, estimate in estimates(usage, cost, note="texts made by a model"):
            yield data.row("", "", name, "", estimate, perturbation=writer)
    yield from _rows_of_all(data)


def bought_by(tables: Iterable[pa.Table]) -> UsageByBuyer:
    """Return the usage of each buyer in parts of the table `bought`."""
    import pyarrow.compute as pc  # not for planning

    result: UsageByBuyer = {}
    sums = [(kind, "sum") for kind in KINDS]
    without = ("prompt", "count", pc.CountOptions(mode="only_null"))
    for table in tables:
        summed = table.group_by(["judge", "perturbation", "batch"]).aggregate(
            [*sums, without, ([], "count_all")]
        )
        for row in summed.to_pylist():
            tokens = Counter({kind: row[f"{kind}_sum"] or 0 for kind in KINDS})
            batch = tokens if row["batch"] else NO_TOKENS
            usage = Usage(row["count_all"], tokens, row["prompt_count"], batch)
            buyer = (row["judge"], row["perturbation"])
            result[buyer] = result.get(buyer, Usage()).plus(usage)
    return result


def estimates_of(
    data: EvaluationData, bought: UsageByBuyer, judge: str
) -> Iterator[tuple[str, Estimate]]:
    """Yield the cost of a judge on a dataset; nothing where it judges nothing there."""
    import pyarrow.compute as pc  # not for planning

    statuses = data.statuses.filter(pc.equal(data.statuses["judge"], judge))
    if len(statuses):
        readable = statuses.filter(pc.equal(statuses["status"], "ok"))
        ok = pc.sum(readable["n"]).as_py() or 0
        replies = pc.sum(statuses["n"]).as_py()
        yield from judge_estimates(data, bought, judge, replies, ok)


def judge_estimates(
    data: EvaluationData, bought: UsageByBuyer, judge: str, replies: int, judgments: int
) -> Iterator[tuple[str, Estimate]]:
    """Return the cost of a judge's judgments; of a derived one, that of its members'
    judgments.

    `replies` is the number of judgments of a judge that asks nothing, `judgments` that
    of the readable ones.
    """
    cards = data.spec.judges
    made = data.spec.made_of.get(judge) or Members(members=[judge], supervised=False)
    asked = [name for name in made.members if cards[name].asked]
    stated = [each for name in made.members if (each := cards[name].stated)]
    if stated and not asked and not made.supervised:
        per_1000 = sum(each.usd_per_1000 for each in stated)
        sources = "; ".join(dict.fromkeys(each.source for each in stated))
        paid = per_1000 * replies / 1000
        return estimates(Usage(replies), paid, judgments, f"stated: {sources}")
    if not asked and not made.supervised:
        note = f"{cards[judge].engine}: {FREE}"
        return estimates(Usage(replies), 0.0, judgments, note)
    usages = [bought.get((name, None), Usage()) for name in asked]
    every = reduce(Usage.plus, usages, Usage())
    note = ""
    if judge in data.spec.made_of:
        note = "the replies of its members"
    if made.supervised:
        why = (
            "the merging of its members' lists is charged to the model, not to the "
            "ensemble"
        )
        return estimates(every, None, judgments, note, why)
    total = 0.0
    for name, usage in zip(asked, usages, strict=True):
        price = dollars(usage, cards[name].price)
        if price is None:
            return estimates(every, None, judgments, note)
        total += price
    return estimates(every, total, judgments, note)


def dollars(usage: Usage, price: TokenPrices | None) -> float | None:
    """Return the price of replies in dollars, None where the model's card has none."""
    from judgescope.schema.cards import Price

    if price is None:
        return None
    card = Price.model_validate(price)
    alone = nanodollars(usage.tokens - usage.batch, card)
    return (alone + nanodollars(usage.batch, card.of_batch())) / 1e9


def estimates(
    usage: Usage,
    dollars: float | None,
    judgments: int | None = None,
    note: str = "",
    why: str = "the model's card has no price",
) -> Iterator[tuple[str, Estimate]]:
    """Yield the number of replies, their tokens, their price, and that of 1,000
    judgments.

    `why` is the reason if `dollars` is None.
    """
    replies = usage.replies
    yield "replies", Estimate(float(replies), n=replies, method="distinct replies")
    for name in KINDS:
        total = float(usage.tokens[name])
        yield f"{name}_tokens", Estimate(total, n=replies, method="sum over replies")
    if dollars is None:
        yield "usd", Estimate.undefined(why, n=replies)
        return
    gap = ""
    if usage.without:
        gap = f"{usage.without} replies without token counts: not included"
    usd = Estimate(dollars, n=replies, method="tokens times price")
    yield "usd", usd.with_note(note).with_note(gap)
    if judgments:
        per_1000 = 1000 * dollars / judgments
        method = "cost of 1,000 judgments"
        each = Estimate(per_1000, n=judgments, method=method)
        yield "usd_per_1000", each.with_note(note)


def _rows_of_all(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of all replies that no dataset before this one has bought."""
    bought = bought_by(_first_bought(data.spec.bought))
    # Nothing bought, or nothing that an earlier dataset has not: no number.
    if not bought:
        return
    prices: dict[tuple[str | None, str | None], TokenPrices | None] = {
        (name, None): card.price for name, card in data.spec.judges.items()
    }
    prices |= {(None, name): price for name, price in data.spec.writers.items()}
    total = 0.0
    unpriced = list[str]()
    for buyer, price in prices.items():
        if buyer not in bought:
            continue
        cost = dollars(bought[buyer], price)
        if cost is None:
            judge, writer = buyer
            unpriced.append(judge or writer or "")
        else:
            total += cost
    note = ""
    if unpriced:
        note = f"without {', '.join(unpriced)}: no price"
    # The judge of rows that count every reply of the study once, whoever reads it.
    all_datasets = "all"
    for name, estimate in estimates(reduce(Usage.plus, bought.values()), total):
        if name == "usd":
            estimate = estimate.with_note(note)
        yield data.row(all_datasets, "", name, "", estimate)


def _first_bought(paths: list[str]) -> Iterator[pa.Table]:
    """Yield the replies of the last file that no file before has, each for its first
    buyer.
    """
    reply = ["key", "draw"]
    columns = SCHEMAS["bought"].names
    first = []
    for name in columns:
        if name not in reply:
            first.append((name, "first"))
    for low, high in key_ranges(sum(count_rows("bought", path) for path in paths)):
        parts = [read_key_range("bought", path, columns, low, high) for path in paths]
        current = parts.pop().group_by(reply, use_threads=False).aggregate(first)
        for before in parts:
            current = current.join(before.select(reply), reply, join_type="left anti")
        names = [name.removesuffix("_first") for name in current.column_names]
        yield current.rename_columns(names)


METHOD = Method(
    name="cost",
    rows=rows,
    when="always",
    parts=("bought",),
    datasets="all",
    votes=True,
    oracles=True,
    unordered="yes",
)
