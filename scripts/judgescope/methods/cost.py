"""What the study's replies cost when they were bought: the usage that the endpoints told."""

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
SUPERVISED = "the merging of its members' lists is booked by model, not by ensemble"
KINDS = ("prompt", "completion", "reasoning", "cached")


def rows(study: EvaluationData) -> list[Row]:
    """Return the rows of cost.csv: per judge, per writer of texts, and of all replies together.

    A judge's row counts each of its replies once, and so what it would cost alone. The row of all
    counts a reply once, though judges and datasets share it: over the datasets it adds up.
    """
    tables = [read_table("bought", path) for path in study.spec.bought]
    bought = tables[-1]
    found: list[Row] = []
    for judge in study.spec.judges:
        ends = study.statuses.filter(pc.equal(study.statuses["judge"], judge))
        if len(ends):
            ok = pc.sum(ends.filter(pc.equal(ends["status"], "ok"))["n"]).as_py() or 0
            told = _of_judge(study, bought, judge, pc.sum(ends["n"]).as_py(), ok)
            found += [study.row(judge, "", name, "", one) for name, one in told]
    for writer, price in study.spec.writers.items():
        mine = bought.filter(pc.equal(bought["perturbation"], writer))
        for name, one in estimates(
            mine, len(mine), priced(mine, price), None, "texts made by a model"
        ):
            found.append(study.row("", "", name, "", one, perturbation=writer))
    return [*found, *_of_all(study, tables)]


def _of_judge(
    study: EvaluationData, bought: pa.Table, judge: str, replies: int, judgments: int
) -> Iterator[tuple[str, Estimate]]:
    """Yield what a judge's judgments cost; of a derived one, what those of its members did."""
    cards = study.spec.judges
    made = study.spec.made_of.get(judge) or Members(members=[judge], supervised=False)
    asked = [name for name in made.members if cards[name].engine in ASKED]
    if not asked and not made.supervised:
        note = f"{cards[judge].engine}: nothing is bought"
        yield from estimates(bought[:0], replies, 0.0, judgments, note)
        return
    mine = {name: bought.filter(pc.equal(bought["judge"], name)) for name in asked}
    every = pa.concat_tables([bought[:0], *mine.values()])
    prices = [priced(own, cards[name].price) for name, own in mine.items()]
    dollars = None if None in prices else sum(price for price in prices if price is not None)
    note = "the replies of its members" if judge in study.spec.made_of else ""
    if made.supervised:
        yield from estimates(every, len(every), None, judgments, note, SUPERVISED)
    else:
        yield from estimates(every, len(every), dollars, judgments, note)


def priced(bought: pa.Table, price: Prices | None) -> float | None:
    """Return the price of replies in dollars, None where the model's card has none."""
    return None if price is None else _dollars(_tokens(bought), price)


def estimates(
    bought: pa.Table,
    replies: int,
    dollars: float | None,
    judgments: int | None,
    note: str,
    why: str = UNPRICED,
) -> Iterator[tuple[str, Estimate]]:
    """Yield the number of replies, their tokens, their price, and that of 1,000 judgments.

    `why` there is no price where `dollars` is None.
    """
    tokens = _tokens(bought)
    yield "replies", Estimate(float(replies), n=replies, method="replies, each once")
    for name, total in tokens.items():
        yield f"{name}_tokens", Estimate(float(total), n=replies, method="sum over replies")
    if dollars is None:
        yield "usd", Estimate.undefined(why, n=replies)
        return
    untold = pc.sum(pc.is_null(bought["prompt"])).as_py() or 0
    gap = f"{untold} replies without a usage: not in it" if untold else ""
    told = Estimate(dollars, n=replies, method="tokens times price").with_note(note).with_note(gap)
    yield "usd", told
    if judgments:
        each = Estimate(1000 * dollars / judgments, n=judgments, method="price of 1,000 judgments")
        yield "usd_per_1000", each.with_note(note)


def _tokens(bought: pa.Table) -> dict[str, int]:
    return {name: pc.sum(bought[name]).as_py() or 0 for name in KINDS}


def _dollars(tokens: Mapping[str, int], price: Prices) -> float:
    from judgescope.schema.cards import Price

    return nanodollars(tokens, Price.model_validate(price)) / 1e9


def _of_all(study: EvaluationData, tables: list[pa.Table]) -> Iterator[Row]:
    """Yield the rows of all replies that no dataset before this one has bought."""
    *before, own = (one.append_column("reply", _named(one)) for one in tables)
    known = pa.concat_arrays([chunk for one in before for chunk in one["reply"].chunks] or [_NONE])
    new = own.filter(pc.invert(pc.is_in(own["reply"], value_set=known)))
    first = [(name, "first") for name in ("judge", "perturbation", *KINDS)]
    new = new.group_by("reply", use_threads=False).aggregate(first)
    new = new.rename_columns([name.removesuffix("_first") for name in new.column_names])
    if not len(new):  # nothing bought, or nothing that an earlier dataset has not: no number
        return
    prices = {name: card.price for name, card in study.spec.judges.items()}
    buyers = [("judge", name, price) for name, price in prices.items()]
    buyers += [("perturbation", name, price) for name, price in study.spec.writers.items()]
    dollars, unpriced = 0.0, []
    for kind, name, price in buyers:
        mine = new.filter(pc.equal(new[kind], name))
        if price is not None:
            dollars += _dollars(_tokens(mine), price)
        elif len(mine):
            unpriced.append(name)
    for name, one in estimates(new, len(new), 0.0, None, ""):
        if name == "usd":
            one = Estimate(dollars, n=one.n, method=one.method, note=one.note)
            one = one.with_note(f"without {', '.join(unpriced)}: no price" if unpriced else "")
        yield study.row(ALL, "", name, "", one)


_NONE = pa.array([], pa.string())


def _named(bought: pa.Table) -> pa.ChunkedArray:
    """Return a name for each reply: its key and draw."""
    return pc.binary_join_element_wise(bought["key"], pc.cast(bought["draw"], pa.string()), ".")


METHOD = Method(when="always", parts=("bought",), datasets="all", votes=True, oracles=True)
