"""The cost of the study's replies, from the usage that the endpoints reported."""

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.engines import ASKED
from judgescope.methods.base import Method, Row
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.specs import Members, Prices
from judgescope.replies.pricing import nanodollars
from judgescope.schema.tables import read_table
from judgescope.statistics.result import Estimate

ALL = "all"
"""The judge of rows that count every reply of the study once, whoever reads it."""
UNPRICED = "the model's card has no price"
FREE = "free of charge"
SUPERVISED = "the merging of its members' lists is charged to the model, not to the ensemble"
KINDS = ("prompt", "completion", "reasoning", "cached")


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of cost.csv: per judge, per writer of texts, and of all replies together.

    A judge's row counts each of its replies once, and so what it would cost alone. The row of all
    counts a reply once, though judges and datasets share it: over the datasets it adds up.
    """
    tables = [read_table("bought", path) for path in study.spec.bought]
    bought, result = tables[-1], list[Row]()
    for judge in study.spec.judges:
        statuses = study.statuses.filter(pc.equal(study.statuses["judge"], judge))
        if len(statuses):
            ok = pc.sum(statuses.filter(pc.equal(statuses["status"], "ok"))["n"]).as_py() or 0
            replies = pc.sum(statuses["n"]).as_py()
            for name, estimate in judge_estimates(study, bought, judge, replies, ok):
                result.append(study.row(judge, "", name, "", estimate))
    for writer, price in study.spec.writers.items():
        replies = bought.filter(pc.equal(bought["perturbation"], writer))
        dollars, note = priced(replies, price), "texts made by a model"
        for name, estimate in estimates(replies, len(replies), dollars, note=note):
            result.append(study.row("", "", name, "", estimate, perturbation=writer))
    return [*result, *_rows_of_all(study, tables)]


def judge_estimates(
    study: EvaluationData, bought: pa.Table, judge: str, replies: int, judgments: int
) -> Iterator[tuple[str, Estimate]]:
    """Return the cost of a judge's judgments; of a derived one, that of its members' judgments."""
    cards = study.spec.judges
    made = study.spec.made_of.get(judge) or Members(members=[judge], supervised=False)
    asked = [name for name in made.members if cards[name].engine in ASKED]
    if not asked and not made.supervised:
        note = f"{cards[judge].engine}: {FREE}"
        return estimates(bought[:0], replies, 0.0, judgments, note)
    by_member = {name: bought.filter(pc.equal(bought["judge"], name)) for name in asked}
    every = pa.concat_tables([bought[:0], *by_member.values()])
    note = "the replies of its members" if judge in study.spec.made_of else ""
    if made.supervised:
        return estimates(every, len(every), None, judgments, note, SUPERVISED)
    prices = [priced(replies, cards[name].price) for name, replies in by_member.items()]
    dollars = None if None in prices else sum(price for price in prices if price is not None)
    return estimates(every, len(every), dollars, judgments, note)


def priced(bought: pa.Table, price: Prices | None) -> float | None:
    """Return the price of replies in dollars, None where the model's card has none."""
    return None if price is None else _dollars(_tokens(bought), price)


def estimates(
    bought: pa.Table,
    replies: int,
    dollars: float | None,
    judgments: int | None = None,
    note: str = "",
    why: str = UNPRICED,
) -> Iterator[tuple[str, Estimate]]:
    """Yield the number of replies, their tokens, their price, and that of 1,000 judgments.

    `why` is the reason if `dollars` is None.
    """
    yield "replies", Estimate(float(replies), n=replies, method="distinct replies")
    for name, total in _tokens(bought).items():
        yield f"{name}_tokens", Estimate(float(total), n=replies, method="sum over replies")
    if dollars is None:
        yield "usd", Estimate.undefined(why, n=replies)
        return
    without_usage = pc.sum(pc.is_null(bought["prompt"])).as_py() or 0
    gap = f"{without_usage} replies without token counts: not included" if without_usage else ""
    usd = Estimate(dollars, n=replies, method="tokens times price")
    yield "usd", usd.with_note(note).with_note(gap)
    if judgments:
        each = Estimate(1000 * dollars / judgments, n=judgments, method="cost of 1,000 judgments")
        yield "usd_per_1000", each.with_note(note)


def _tokens(bought: pa.Table) -> dict[str, int]:
    return {name: pc.sum(bought[name]).as_py() or 0 for name in KINDS}


def _dollars(tokens: Mapping[str, int], price: Prices) -> float:
    from judgescope.schema.cards import Price

    return nanodollars(tokens, Price.model_validate(price)) / 1e9


def _rows_of_all(study: EvaluationData, tables: list[pa.Table]) -> Iterator[Row]:
    """Yield the rows of all replies that no dataset before this one has bought."""
    *before, current = (
        table.append_column(
            "reply",
            pc.binary_join_element_wise(table["key"], pc.cast(table["draw"], pa.string()), "."),
        )
        for table in tables
    )
    known = [chunk for table in before for chunk in table["reply"].chunks]
    bought_before = pa.concat_arrays(known or [pa.array([], pa.string())])
    new = current.filter(pc.invert(pc.is_in(current["reply"], value_set=bought_before)))
    first = [(name, "first") for name in ("judge", "perturbation", *KINDS)]
    new = new.group_by("reply", use_threads=False).aggregate(first)
    new = new.rename_columns([name.removesuffix("_first") for name in new.column_names])
    if not len(new):  # nothing bought, or nothing that an earlier dataset has not: no number
        return
    buyers = [("judge", name, card.price) for name, card in study.spec.judges.items()]
    buyers += [("perturbation", name, price) for name, price in study.spec.writers.items()]
    dollars, unpriced = 0.0, []
    for column, name, price in buyers:
        replies = new.filter(pc.equal(new[column], name))
        if price is not None:
            dollars += _dollars(_tokens(replies), price)
        elif len(replies):
            unpriced.append(name)
    note = f"without {', '.join(unpriced)}: no price" if unpriced else ""
    for name, estimate in estimates(new, len(new), dollars):
        if name == "usd":
            estimate = estimate.with_note(note)
        yield study.row(ALL, "", name, "", estimate)


METHOD = Method(when="always", parts=("bought",), datasets="all", votes=True, oracles=True)
