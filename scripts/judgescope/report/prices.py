"""What the judgments of a judge cost, from rows of table `cost`."""

from collections.abc import Iterable

import numpy as np

from judgescope.methods.cost import FREE
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import THOUSAND, dollars

PRICE = "usd"
EACH = "usd_per_1000"
ALL = "all"
"""The judge of rows that count every reply once."""


def price_per_1000(rows: ReportRows) -> float | None:
    """Return the price of 1,000 judgments over all datasets; None where it is not
    known.
    """
    judgments = 0
    paid = []
    for row in rows.where(statistic=EACH).defined:
        judgments += row.n
        paid.append((row.value or 0.0) * row.n)
    if not judgments or unpriced(rows):
        return None
    return float(np.sum(paid)) / judgments


def price_in_words(rows: ReportRows) -> str:
    """Return what 1,000 judgments cost, that they are free, or that it is not known."""
    if free(rows):
        return "free: no request is sent"
    price = price_per_1000(rows)
    if price is None:
        return "price not known"
    return f"US$ {dollars(price)} per {THOUSAND} judgments"


def free(rows: Iterable[ReportRow]) -> bool:
    """Return whether all of this is free: no endpoint is asked."""
    return all(FREE in row.note for row in rows if row.statistic == PRICE)


def unpriced(rows: ReportRows) -> bool:
    """Return whether the price of some of these replies is not known."""
    return bool(rows.where(statistic=PRICE).undefined)
