"""What the study's replies cost when they were bought."""

from typing import Any

import pyarrow.compute as pc

from metajudge.methods.study import DatasetStudy
from metajudge.statistics.estimate import Estimate

TOKENS = ("prompt_tokens", "completion_tokens")


def rows(study: DatasetStudy) -> list[dict[str, Any]]:
    """Return the rows of cost.csv: per judge its replies, its tokens and their price."""
    found = []
    for judge, card in study.spec["judges"].items():
        mine = study.statuses.filter(pc.equal(study.statuses["judge"], judge))
        if not len(mine):
            continue
        replies = pc.sum(mine["n"]).as_py()
        tokens = {name: pc.sum(mine[name]).as_py() or 0 for name in TOKENS}
        for statistic, total in {"replies": replies, **tokens}.items():
            estimate = Estimate(float(total), n=replies, method="sum over replies")
            found.append(study.row(judge, "", statistic, "", estimate))
        found.append(study.row(judge, "", "usd", "", _price(card, tokens, replies)))
    return found


def _price(card: dict[str, Any], tokens: dict[str, int], replies: int) -> Estimate:
    """Return sum over kinds of token of count * price / 1e6; undefined where no price is known."""
    price = card["price"]
    if price is None:
        return Estimate.undefined("the model's card has no price")
    prompt, completion = (tokens[name] for name in TOKENS)
    dollars = (prompt * price["input"] + completion * price["output"]) / 1e6
    note = "" if any(price.values()) else f"{card['engine']}: nothing is bought"
    return Estimate(dollars, n=replies, method="tokens times price", note=note)
