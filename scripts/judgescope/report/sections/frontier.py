"""What to buy: price against quality, and what a higher price adds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from judgescope.report.cells import (
    ReportCell,
    dollars_cell,
    estimate,
    words_cell,
)
from judgescope.report.charts import svg
from judgescope.report.elements import (
    Body,
    Fold,
    LegendKey,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
)
from judgescope.report.panels import Bought, Priced, scatter_spec
from judgescope.report.report import Report, ShownDataset
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.tables import PEOPLE, aspect_or_mean
from judgescope.report.words import (
    THOUSAND,
    brief,
    dollars,
    label,
    listed,
    plural,
    spoken,
)
from judgescope.statistics.frontier import GAIN_MARGIN, Advice

PRICE: Final = "usd_per_1000"
NESTED: Final = "nested_"
SOURCE: Final = "tables/frontier.csv"
LEAD: Final = (
    "Which judge is best for its price, or which jury or cascade of judges? A "
    "candidate is a judge that is better than chance and simple rules; `a+b` is a "
    "jury of such judges of different families; `a>b@0.8` takes the verdict of a "
    "where its confidence (of its reply, or the share of its draws that agree; 1 where "
    "it chooses the same text in both orders) is at least 0.8, else that of b. All are "
    "compared on the same texts. Whoever is best of several on some texts looks better "
    "than it is. So the red line shows what the choice for a price is worth on sources "
    "that did not choose (mean of 20 splits), and a gain is measured on the half of "
    "the sources that did not choose."
)


@dataclass(frozen=True)
class _Market:
    """The rows on one aspect of a dataset, or on a mean over aspects, at one level."""

    aspect: str
    rows: ReportRows

    @property
    def level(self) -> str:
        """The level of that number."""
        return self.rows.names("level")[0]

    @cached_property
    def statistic(self) -> str:
        """The number that decides; "" without a choice."""
        for row in self.rows:
            if row.statistic.startswith(NESTED):
                return row.statistic.removeprefix(NESTED)
        return ""

    def priced(self, candidates: ReportRows) -> list[Bought]:
        """Return candidates' numbers with their prices, numbered from 1."""
        dots = []
        for number, row in enumerate(candidates, 1):
            dots.append(Bought(number, self.price(row.judge), row))
        return dots

    def price(self, candidate: str) -> float:
        """Return the price of 1,000 judgments of a candidate."""
        [row] = self.rows.where(statistic=PRICE, judge=candidate)
        return row.value or 0.0

    @cached_property
    def shown(self) -> ReportRows:
        """The candidates that are drawn: judges, and others unless they are many.

        Of many juries and cascades those that a budget chooses, on all sources or on
        one half.
        """
        several = []
        for row in self.candidates:
            if row.k > 1:
                several.append(row)
        # More juries and cascades than these are drawn only where a budget chooses
        # them.
        most_drawn = 40
        if len(several) <= most_drawn:
            return self.candidates
        chosen = set[str]()
        for budget in self.budgets:
            half = self.of_choice(budget, "other_half")
            chosen |= {budget.judge, half.judge_b if half else ""}
        return ReportRows(
            row for row in self.candidates if row.k <= 1 or row.judge in chosen
        )

    @property
    def free(self) -> bool:
        """Whether all candidates are free."""
        return all(self.price(row.judge) == 0 for row in self.candidates)

    @cached_property
    def candidates(self) -> ReportRows:
        """The candidates' numbers."""
        return self.rows.where(statistic=self.statistic).defined

    @cached_property
    def budgets(self) -> list[ReportRow]:
        """The rows of the budgets, the lowest first."""
        return [*self.rows.where(statistic="budget")]

    def at(self, budget: ReportRow, name: str) -> ReportRow | None:
        """Return a number of the choice for a budget."""
        of_budget = self.rows.where(form=budget.form, statistic=name)
        return of_budget.first

    def of_choice(self, budget: ReportRow, name: str) -> ReportRow | None:
        """Return a number of the choice that is about the number that decides."""
        return self.at(budget, f"{name}_{self.statistic}")


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield the sentences, the figure and the table of the choices on a dataset."""
    markets = _markets(rows)
    yield from _counts(report, rows)
    chosen = [market for market in markets if market.statistic]
    if not chosen:
        return
    if all(market.free for market in chosen):
        text = "All candidates are free: a price decides nothing."
        yield Paragraph(text, style="finding")
        return
    sentences = [line for market in chosen for line in _sentences(report, market)]
    if sentences:
        text = (
            "Compared with the cheapest candidate, on the half of the sources that did "
            f"not choose. “Do not buy”: the gain is less than {GAIN_MARGIN:g}, as its "
            "interval says. “The gain is shown”: it lies above 0, also after Holm's "
            "correction over the prices."
        )
        yield Paragraph(text, sentences)
    yield _figure(report, dataset, chosen)
    yield _choices(report, dataset, chosen)
    yield from _escalations(report, dataset, rows)
    yield from _errors(report, dataset, rows, chosen)


def _markets(rows: ReportRows) -> list[_Market]:
    """Return the markets in the order of the table, means over aspects first."""
    markets = []
    for aspect, of_aspect in rows.by("judged").items():
        for part in of_aspect.by("level").values():
            if aspect and len(part.where(statistic="candidates")):
                markets.append(_Market(aspect, part))
    return sorted(markets, key=lambda market: not market.aspect.startswith("average"))


def _counts(report: Report, rows: ReportRows) -> Iterator[PageBlock]:
    """Yield how many candidates there are on each aspect, and who is none, and why."""
    lines = []
    for row in rows.where(statistic="candidates"):
        if row.value is None:
            yield Paragraph(f"No choice: {row.note}.")
            continue
        name = aspect_or_mean(report, row.judged)
        name = f"{name[:1].upper()}{name[1:]}"
        line = f"{name}: {plural(round(row.value), 'candidate')}"
        lines.append(f"{line}; {spoken(row.note)}." if row.note else f"{line}.")
    if lines:
        yield Paragraph("Candidates, and judges that are none:", lines, style="small")


# --- sentences ------------------------------------------------------------------------


def _sentences(report: Report, market: _Market) -> Iterator[str]:
    """Yield a sentence on each choice that is not the cheapest candidate, once."""
    described = set[str]()
    advice_for = {
        Advice.DO_NOT_BUY: "do not buy",
        Advice.ADDS: "the gain is shown",
        Advice.NOT_SHOWN: "a gain is not shown",
    }
    for budget in market.budgets:
        gain = market.of_choice(budget, "gain")
        half = market.of_choice(budget, "other_half")
        if gain is None or half is None or half.judge_b in described:
            continue
        advice = gain.note.partition("; ")[0]
        if gain.value is None or advice == Advice.CHEAPEST:
            continue
        described.add(half.judge_b)
        costs = _dearer(market, half.judge_b, gain.judge_b)
        yield (
            f"{_name(report, market)}: `{half.judge_b}` {costs} and adds "
            f"{_signed(gain)}: {advice_for[Advice(advice)]}."
        )


def _name(report: Report, market: _Market) -> str:
    """Return the name of a market's aspect, as a sentence or a title begins."""
    name = aspect_or_mean(report, market.aspect)
    return f"{name[:1].upper()}{name[1:]}"


def _dearer(market: _Market, chosen: str, cheapest: str) -> str:
    """Say what a candidate costs beside the cheapest one."""
    price = market.price(chosen)
    lowest = market.price(cheapest)
    if price == lowest:
        return f"costs as much as `{cheapest}`"
    if lowest == 0:
        return f"costs US$ {dollars(price)} per {THOUSAND} where `{cheapest}` is free"
    times = price / lowest
    written = f"{times:.0f}" if times >= 10 else f"{times:.2g}"
    return f"costs {written} times as much as `{cheapest}`"


def _signed(gain: ReportRow) -> str:
    """Return a gain with its sign and interval."""
    name = gain.statistic
    value = gain.value or 0.0
    sign = "+" if value >= 0 else ""
    text = f"{sign}{brief(name, value)}"
    if gain.ci_low is None or gain.ci_high is None:
        return f"{text} (no interval)"
    return f"{text} [{brief(name, gain.ci_low)}, {brief(name, gain.ci_high)}]"


# --- the figure -----------------------------------------------------------------------


def _figure(
    report: Report, dataset: ShownDataset, markets: Sequence[_Market]
) -> PageFigure:
    """Return a panel for each market; judges are numbered, others are small dots."""
    judges = [
        judge.id
        for judge in report.real_judges
        if any(judge.id in market.candidates.names("judge") for market in markets)
    ]
    verdicts = report.rows("verdicts", dataset.id)
    panels = []
    lines = []
    numbers = {market.statistic: label(market.statistic) for market in markets}
    for market in markets:
        name = _name(report, market)
        alone = []
        juries = []
        for dot in market.priced(market.shown):
            if dot.row.judge in judges:
                alone.append(dot._replace(number=judges.index(dot.row.judge) + 1))
            else:
                juries.append(dot)
        person = verdicts.find(
            PEOPLE,
            market.statistic,
            aspect=market.aspect,
            level=market.level,
            form="agreement",
        )
        level = person.value if person else None
        steps = _steps(market)
        title = name
        if len(numbers) > 1:
            title = f"{name}, {numbers[market.statistic].lower()}"
        panels.append(Priced(title, alone, level, juries, steps))
        for dot in (*alone, *juries):
            cells = [dollars_cell(dot.price), estimate(dot.row)]
            lines.append((name, TableLine(dot.row.judge, cells)))
    columns = [TableColumn(f"US$ per {THOUSAND}"), TableColumn("Quality")]
    bodies = []
    for name in dict.fromkeys(name for name, _ in lines):
        bodies.append(Body([line for each, line in lines if each == name], name))
    caption = f"{dataset.name}: price of {THOUSAND} judgments and quality."
    keys = []
    for number, judge in enumerate(judges, 1):
        keys.append(LegendKey(str(number), "blue", judge))
    keys += [
        LegendKey("●", "blue", "a jury or a cascade"),
        LegendKey("━", "red", "the choice for a price, on other sources"),
    ]
    if any(panel.level is not None for panel in panels):
        keys.append(LegendKey("┅", "green", "one person against the others"))
    return PageFigure(
        f"{dataset.name}: what to buy; {listed([*numbers.values()]).lower()}",
        svg(scatter_spec(panels, x=f"US$ per {THOUSAND} judgments")),
        _summary(report, markets),
        keys,
        PageTable(caption, "Candidate", columns, bodies, source=SOURCE),
    )


def _steps(market: _Market) -> list[tuple[float, float]]:
    """Return the budgets and what the choice for each is worth."""
    steps = []
    for budget in market.budgets:
        worth = market.of_choice(budget, "nested")
        if worth is not None and worth.value is not None:
            steps.append((budget.value or 0.0, worth.value))
    return steps


def _summary(report: Report, markets: Sequence[_Market]) -> str:
    """Say what the lowest and the highest price buy on each aspect."""
    parts = []
    for market in markets:
        steps = _steps(market)
        if not steps:
            continue
        low, first = steps[0]
        high, last = steps[-1]
        name = f"{NESTED}{market.statistic}"
        parts.append(
            f"{_name(report, market)}: {brief(name, first)} for "
            f"${dollars(low)}, {brief(name, last)} for ${dollars(high)} per {THOUSAND}"
        )
    text = "What the choice is worth on sources that did not choose. "
    text += f"{'; '.join(parts)}."
    hidden = sum(len(market.candidates) - len(market.shown) for market in markets)
    if hidden:
        text += (
            f" Not drawn: {plural(hidden, 'jury or cascade', 'juries and cascades')} "
            "that no price chooses; they are in the result table."
        )
    return text


# --- tables ---------------------------------------------------------------------------


def _choices(
    report: Report, dataset: ShownDataset, markets: Sequence[_Market]
) -> PageTable:
    """Return what each budget buys: a line a budget, by aspect."""
    columns = [
        TableColumn("Best", "on all sources", style="words"),
        TableColumn("Its value", "on the texts that chose it"),
        TableColumn("The choice", "on sources that did not choose"),
        TableColumn("Optimism", "the first minus the second"),
        TableColumn("Choice of one half", style="words"),
        TableColumn("On the other half"),
        TableColumn("Gain", "over the cheapest, on the other half"),
        TableColumn("Advice", style="words"),
    ]
    bodies = []
    for market in markets:
        lines = [_line(market, budget) for budget in market.budgets]
        bodies.append(Body(lines, aspect_or_mean(report, market.aspect)))
    return PageTable(
        f"{dataset.name}: what a price buys.",
        f"Up to US$ per {THOUSAND}",
        columns,
        bodies,
        code=False,
        source=SOURCE,
    )


def _line(market: _Market, budget: ReportRow) -> TableLine:
    winner = market.candidates.where(judge=budget.judge).first
    half = market.of_choice(budget, "other_half")
    gain = market.of_choice(budget, "gain")
    cells: list[ReportCell] = [
        words_cell(budget.judge),
        estimate(winner),
        estimate(market.of_choice(budget, "nested")),
        estimate(market.of_choice(budget, "optimism")),
        words_cell(half.judge_b if half else ""),
        estimate(half),
        estimate(gain),
        words_cell(gain.note.partition("; ")[0] if gain else ""),
    ]
    return TableLine(dollars(budget.value or 0.0), cells)


def _escalations(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield what cascades that end at a person cost, and what they leave to people."""
    names = (PRICE, "left_to_people", "cascade_error")
    columns = [
        TableColumn(f"US$ per {THOUSAND}", "judges and people together"),
        TableColumn("Left to people"),
        TableColumn("Error of the rest", "of the judges' verdicts"),
        TableColumn("Guarantee", style="words"),
    ]
    bodies = []
    stated = ""
    for aspect, of_aspect in rows.by("judged").items():
        lines = []
        left = of_aspect.where(statistic="left_to_people")
        for cascade in left.names("judge"):
            numbers = []
            for name in names:
                numbers.append(of_aspect.where(judge=cascade, statistic=name).first)
            price, shares, wrong = numbers
            if price:
                stated = price.note
            why = wrong.note if wrong else f"none: {shares.note if shares else ''}"
            cost = dollars_cell(price.value or 0.0) if price else words_cell("")
            cells: list[ReportCell] = [cost, estimate(shares), estimate(wrong)]
            lines.append(TableLine(cascade, [*cells, words_cell(why)]))
        if lines:
            bodies.append(Body(lines, aspect_or_mean(report, aspect)))
    if not bodies:
        return
    caption = f"{dataset.name}: cascades that end at a person"
    caption = f"{caption}; {stated}." if stated else f"{caption}."
    yield PageTable(caption, "Asked in turn", columns, bodies, source=SOURCE)


def _errors(
    report: Report, dataset: ShownDataset, rows: ReportRows, markets: Sequence[_Market]
) -> Iterator[PageBlock]:
    """Yield, folded, how much the members of the chosen juries err alike."""
    names = ("error_correlation_mean", "effective_judges")
    bodies = []
    for market in markets:
        of_aspect = rows.where(judged=market.aspect)
        lines = []
        for jury, numbers in of_aspect.where(statistic=names).by("judge").items():
            cells = [estimate(numbers.where(statistic=name).first) for name in names]
            lines.append(TableLine(jury, cells))
        if lines:
            bodies.append(Body(lines, aspect_or_mean(report, market.aspect)))
    if bodies:
        columns = [TableColumn(label(name)) for name in names]
        caption = f"{dataset.name}: what the members of the best juries have in common."
        table = PageTable(caption, "Jury", columns, bodies, source=SOURCE)
        yield Fold(f"{dataset.name}: errors of the juries' members", [table])
