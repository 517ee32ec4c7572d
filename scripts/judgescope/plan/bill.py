"""The bill of a study: the lines that show what a run requests, and what it may cost.

Texts that a model must write first are counted with their maximum length, so these
numbers are upper bounds.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from judgescope.plan import writing
from judgescope.plan.checks.study import BILLION, caps_of
from judgescope.plan.cost import ModelRequests, dollars, sum_of
from judgescope.plan.study import Plan
from judgescope.replies.caps import REQUESTS, Cap
from judgescope.replies.ledger import FOLDER, Ledger, shown
from judgescope.schema import cards

COLUMN = 15
"""Characters of a column of numbers."""


def bill(plan: Plan, models: Sequence[ModelRequests]) -> Iterator[str]:
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


def _table(model: ModelRequests, narrowest: int = 28) -> Iterator[str]:
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


def _request_row(model: ModelRequests, batches: Sequence[writing.Asked]) -> str:
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


def _usd(amount: float) -> str:
    if amount >= 1 or amount == 0:
        return f"{amount:,.2f}"
    return f"{amount:.2g}"


def _price(price: cards.Price, card: str) -> str:
    """Return the price of a million tokens, and its source."""
    cached = ""
    if price.cached_input is not None:
        cached = f", {price.cached_input:g} cached"
    rates = f"{price.input:g} in{cached}, {price.output:g} out (US$ per million tokens)"
    if not isinstance(price, cards.ListedPrice):
        return f"{rates}, from {card}"
    note = f", {price.note}" if price.note else ""
    return f"{rates}{note}, as of {price.date} by {price.source} (config/prices.yaml)"


def _replied(model: ModelRequests) -> str:
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


def _time(model: ModelRequests) -> str:
    known = model.minutes()
    if known is None:
        return "unknown before the first replies"
    minutes, how = known
    length = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
    return f"about {length} {how}"


def _sums(plan: Plan, models: Sequence[ModelRequests]) -> Iterator[str]:
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
    total = sum_of(known)
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


def _missing(model: ModelRequests) -> int:
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


def _too_low(cap: Cap, left: int, models: Sequence[ModelRequests]) -> Iterator[str]:
    """Yield a warning if a cap leaves less than its models may need."""
    if cap.unit == REQUESTS:
        likely = at_most = sum(map(_missing, models))
    else:
        prices = [dollars(model, model.asked) for model in models]
        total = sum_of(price for price in prices if price is not None)
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
