"""What a study's run will ask, in words and columns, before anything is asked."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from judgescope.plan.checks.study import BILLION, caps_of
from judgescope.plan.cost import Estimate
from judgescope.plan.study import Plan
from judgescope.plan.writing import Asked
from judgescope.replies.ledger import FOLDER, REQUESTS, Cap, Ledger, shown

TITLES = ("wanted", "in store", "to ask", "tokens in", "out, likely", "out, most")
WIDTH, COLUMN = 28, 15
"""Characters of the names, at least, and of a column of numbers."""


def estimates(plan: Plan) -> list[Estimate]:
    """Return what each model of a study that is asked will be asked."""
    found = [Estimate(plan, name) for name in plan.models if plan.is_asked(name)]
    asked = [one for estimate in found for one in estimate.asked]
    for estimate in found:
        estimate.supervise(asked)
    return found


def bill(plan: Plan, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield the lines that say what a run asks, by model, dataset and judge."""
    titles = "".join(f"{title:>{COLUMN}}" for title in (*TITLES, "US$, likely", "US$, most"))
    for model in models:
        lines = {
            f"{'≤ ' if asked.bound else ''}{asked.name}, {asked.dataset}": _line(model, [asked])
            for asked in model.asked
        }
        lines["sum"] = _line(model, model.asked)
        width = max(WIDTH, *map(len, lines))
        yield ""
        yield f"  model {model.model}"
        yield f"    {'':<{width}}{titles}"
        yield from (f"    {name:<{width}}{line}" for name, line in lines.items())
        yield f"    tokens: {model.density.told}; {_replied(model)}"
        yield f"    time of one job: {_time(model)}"
    if any(asked.bound for model in models for asked in model.asked):
        yield "  ≤: an upper bound, because a model has yet to make the texts"
    yield from _sums(plan, models)


def _line(model: Estimate, asked: Sequence[Asked]) -> str:
    tokens = [model.tokens(part) for part in asked]
    sums = [sum(column) for column in zip(*tokens, strict=True)] or [0, 0, 0]
    wanted, missing = sum(part.wanted for part in asked), sum(part.missing for part in asked)
    counts = "".join(f"{count:>{COLUMN},}" for count in (wanted, wanted - missing, missing, *sums))
    prices = dollars(model, asked)
    shown = ["-", "-"] if prices is None else list(map(_usd, prices))
    return counts + "".join(f"{price:>{COLUMN}}" for price in shown)


def dollars(model: Estimate, asked: Sequence[Asked]) -> tuple[float, float] | None:
    """Return the price of all that is asked, likely and at most, None without a price."""
    prices = [price for price in map(model.dollars, asked) if price is not None]
    if len(prices) < len(asked):
        return None
    return sum(likely for likely, _ in prices), sum(highest for _, highest in prices)


def _usd(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.2g}"


def _replied(model: Estimate) -> str:
    unknown = [asked.name for asked in model.asked if asked.missing and asked.replied is None]
    if not unknown:
        return "replies as long as those so far"
    of = "" if len(unknown) == len(model.asked) else f" of {', '.join(dict.fromkeys(unknown))}"
    return (
        f"replies{of}: likely as long as is usual of their form; a model that reasons writes more"
    )


def _time(model: Estimate) -> str:
    known = model.minutes()
    if known is None:
        return "not known before the first replies"
    minutes, how = known
    length = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
    return f"about {length} {how}"


def _sums(plan: Plan, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield the sums over the study, what of the caps is left, and what has no price."""
    missing = sum(asked.missing for model in models for asked in model.asked)
    prices = {model.model: dollars(model, model.asked) for model in models}
    known = [price for price in prices.values() if price is not None]
    unpriced = [f"models/{model}.yaml" for model, price in prices.items() if price is None]
    likely, highest = (sum(column) for column in zip((0.0, 0.0), *known, strict=True))
    price = f"{_usd(likely)} to {_usd(highest)} US dollars" if known or not models else "not known"
    yield f"  requests to models: {missing:,}, price: {price}"
    if unpriced:
        but = " and not in it" if known else ""
        yield f"  warning: no `price` in {', '.join(unpriced)}: what it costs is not known{but}"
    state = _ledger(plan).state()
    for cap in caps_of(plan.study):
        used = sum(state.used(cap.unit, cap.model))
        yield (
            f"  {cap.key}: {shown(used, cap.unit)} of {shown(cap.limit, cap.unit)} spent by this "
            "study so far"
        )
        bound = [model for model in models if cap.model in (None, model.model)]
        yield from _too_low(cap, cap.limit - used, bound)


def _ledger(plan: Plan) -> Ledger:
    return Ledger(Path(plan.study.store) / FOLDER / plan.study.ledger)


def passed_caps(plan: Plan) -> Iterator[str]:
    """Yield a warning for each cap of a study that was passed."""
    state = _ledger(plan).state()
    for cap in caps_of(plan.study):
        spent, _ = state.used(cap.unit, cap.model)
        if spent > cap.limit:
            yield (
                f"warning: {cap.key}: {shown(spent, cap.unit)} were spent, more than "
                f"{shown(cap.limit, cap.unit)}: replies report more tokens than `max_tokens` "
                "allows, and what was under way was paid for"
            )


def _too_low(cap: Cap, left: int, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield a warning if a cap leaves less than the models that it binds may need."""
    if cap.unit == REQUESTS:
        likely = highest = sum(asked.missing for model in models for asked in model.asked)
    else:
        prices = [dollars(model, model.asked) or (0.0, 0.0) for model in models]
        likely, highest = (round(BILLION * sum(each)) for each in zip((0, 0), *prices, strict=True))
    if likely > left:
        verdict, needed = "is below what the run will likely need", likely
    elif highest > left:
        verdict, needed = "is below what the run may need at most", highest
    else:
        return
    yield (
        f"  warning: {cap.key} {verdict}: {shown(needed, cap.unit)}, and "
        f"{shown(max(0, left), cap.unit)} are left; the run stops there"
    )
