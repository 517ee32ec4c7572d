"""What a study's run will ask, in words and columns, before anything is asked."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from judgescope.plan.checks.study import BILLION, caps_of
from judgescope.plan.cost import Estimate
from judgescope.plan.study import Plan
from judgescope.plan.writing import Asked
from judgescope.replies.ledger import FOLDER, REQUESTS, Cap, Ledger, shown

TITLES = ("wanted", "in store", "to ask", "tokens in", "out, likely", "out, most")
WIDTH, COLUMN = 28, 15
"""Characters of the names, at least, and of a column of numbers."""
NO_PRICE = "-"


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
    for one in models:
        lines = {_name(asked): _line(one, [asked]) for asked in one.asked}
        lines["sum"] = _line(one, one.asked)
        width = max(WIDTH, *map(len, lines))
        yield ""
        yield f"  model {one.model}"
        yield f"    {'':<{width}}{titles}"
        yield from (f"    {name:<{width}}{line}" for name, line in lines.items())
        yield f"    tokens: {one.density.told}; {_replied(one)}"
        yield f"    time of one job: {_time(one)}"
    if any(asked.bound for one in models for asked in one.asked):
        yield "  ≤: an upper bound, because a model has yet to make the texts"
    yield from _sums(plan, models)


def _name(asked: Asked) -> str:
    return f"{'≤ ' if asked.bound else ''}{asked.name}, {asked.dataset}"


def _line(one: Estimate, asked: Sequence[Asked]) -> str:
    tokens = [one.tokens(each) for each in asked]
    sums = [sum(column) for column in zip(*tokens, strict=True)] or [0, 0, 0]
    wanted, missing = (sum(getattr(each, key) for each in asked) for key in ("wanted", "missing"))
    counts = "".join(f"{count:>{COLUMN},}" for count in (wanted, wanted - missing, missing, *sums))
    prices = dollars(one, asked)
    each = [NO_PRICE if prices is None else _usd(price) for price in prices or (0, 0)]
    return counts + "".join(f"{price:>{COLUMN}}" for price in each)


def dollars(one: Estimate, asked: Sequence[Asked]) -> tuple[float, float] | None:
    """Return the price of all that is asked, likely and at most, None without a price."""
    each = [price for price in map(one.dollars, asked) if price is not None]
    if len(each) < len(asked):
        return None
    return sum(likely for likely, _ in each), sum(most for _, most in each)


def _usd(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.2g}"


def _replied(one: Estimate) -> str:
    unknown = [asked.name for asked in one.asked if asked.missing and asked.replied is None]
    if not unknown:
        return "replies as long as those so far"
    of = "" if len(unknown) == len(one.asked) else f" of {', '.join(dict.fromkeys(unknown))}"
    return (
        f"replies{of}: likely as long as is usual of their form; a model that reasons writes more"
    )


def _time(one: Estimate) -> str:
    known = one.minutes()
    if known is None:
        return "not known before the first replies"
    minutes, how = known
    length = f"{minutes:.0f} min" if minutes >= 1 else f"{60 * minutes:.0f} s"
    return f"about {length} {how}"


def _sums(plan: Plan, models: Sequence[Estimate]) -> Iterator[str]:
    """Yield the sums over the study, what of the caps is left, and what has no price."""
    missing = sum(asked.missing for one in models for asked in one.asked)
    prices = {one.model: dollars(one, one.asked) for one in models}
    known = [price for price in prices.values() if price is not None]
    unpriced = [f"models/{model}.yaml" for model, price in prices.items() if price is None]
    likely, most = (sum(column) for column in zip((0.0, 0.0), *known, strict=True))
    price = f"{_usd(likely)} to {_usd(most)} US dollars" if known or not models else "not known"
    yield f"  requests to models: {missing:,}, price: {price}"
    if unpriced:
        but = " and not in it" if known else ""
        yield f"  warning: no `price` in {', '.join(unpriced)}: what it costs is not known{but}"
    ledger = Ledger(Path(plan.study.store) / FOLDER / plan.study.ledger)
    state = ledger.state()
    for cap in caps_of(plan.study):
        spent, held = state.used(cap.unit, cap.model)
        spent_so_far, limit = shown(spent + held, cap.unit), shown(cap.limit, cap.unit)
        yield f"  {cap.key}: {spent_so_far} of {limit} spent by this study so far"
        bound = [one for one in models if cap.model in (None, one.model)]
        yield from _too_low(cap, cap.limit - spent - held, bound, prices)


def passed_caps(plan: Plan) -> Iterator[str]:
    """Yield a warning for each cap of a study that was passed."""
    state = Ledger(Path(plan.study.store) / FOLDER / plan.study.ledger).state()
    for cap in caps_of(plan.study):
        spent, _ = state.used(cap.unit, cap.model)
        if spent > cap.limit:
            yield (
                f"warning: {cap.key}: {shown(spent, cap.unit)} were spent, more than "
                f"{shown(cap.limit, cap.unit)}: replies report more tokens than `max_tokens` "
                "allows, and what was under way was paid for"
            )


def _too_low(
    cap: Cap, left: int, bound: Sequence[Estimate], prices: Mapping[str, tuple[float, float] | None]
) -> Iterator[str]:
    """Yield what is to be said of a cap that leaves less than the models it binds may need."""
    if cap.unit == REQUESTS:
        likely = most = sum(asked.missing for one in bound for asked in one.asked)
    else:
        each = [price for one in bound if (price := prices[one.model]) is not None]
        likely, most = (round(BILLION * sum(column)) for column in zip((0, 0), *each, strict=True))
    if likely > left:
        told, needed = "is below what the run will likely need", likely
    elif most > left:
        told, needed = "is below what the run may need at most", most
    else:
        return
    yield (
        f"  warning: {cap.key} {told}: {shown(needed, cap.unit)}, and "
        f"{shown(max(0, left), cap.unit)} are left; the run stops there"
    )
