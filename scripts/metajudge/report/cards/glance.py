"""The first screen of a card: what the judge is, what it is good for and what not, what it costs.

A judge is called better than the controls only where its interval lies wholly on the better side of
every control's, and worse only where it lies wholly on the worse side of one's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from metajudge.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Heading,
    Line,
    Section,
    Table,
    estimate,
    figures,
    words_cell,
)
from metajudge.report.numbers import count, listed, percent, plural
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Place, Row
from metajudge.report.sections.coverage import Tally
from metajudge.report.sections.known_order import AVERAGE
from metajudge.report.words import label, spoken

Standing = Literal["above", "apart", "below", "alone"]
NAMED = 6
"""So many measures are named in a sentence; the table below has all."""


@dataclass(frozen=True)
class Headline:
    """A number that a method comes down to; `mean` if over the aspects, else of each aspect.

    `floor` is what it has to be above, controls or not: 0 of a correlation; 1 of D, where p = 0.05.
    """

    table: str
    statistic: str
    level: str = ""
    mean: bool = False
    least_is_best: bool = False
    floor: float | None = None

    def rows(self, report: Report, dataset: Dataset, judge: Judge) -> Iterator[Row]:
        """Yield the judge's rows."""
        named = {"dataset": dataset.id, "judge": judge.id, "statistic": self.statistic}
        for row in report.rows(self.table).where(**named, level=self.level):
            of_one = self.table == "discernment" and row.cell  # a perturbation
            if not row.judge_b and not of_one and (row.aspect == AVERAGE) == self.mean:
                yield row


HEADLINES = (
    Headline("agreement", "spearman", "pooled", floor=0),
    Headline("discernment", "D_avg_exact", floor=1),
    Headline("discernment", "D_min_exact", floor=1),
    Headline("confusion", "confusion_index", least_is_best=True),
    Headline("perspectives", "kappa_linear", "direct", mean=True, floor=0),
    Headline("perspectives", "accuracy_adjacent", "direct", mean=True),
    Headline("perspectives", "kappa_linear", "global", mean=True, floor=0),
    Headline("perspectives", "accuracy_adjacent", "local", mean=True),
    Headline("robustness", "alpha_pair", mean=True, floor=0),
    Headline("robustness", "sway", mean=True, least_is_best=True),
    Headline("pairwise", "accuracy_comparison", "pooled"),
)


class Measured(NamedTuple):
    """A headline number of a judge, where it stands, and what was it measured against."""

    headline: Headline
    dataset: Dataset
    name: str
    row: Row
    control: Row | None
    standing: Standing
    crossed: Sequence[str]
    rank: int | None
    ranked: int
    letters: str


def measured(report: Report, judge: Judge) -> list[Measured]:
    """Return all headline numbers of a judge, dataset by dataset."""
    return [
        _measured(report, dataset, headline, row)
        for dataset in report.datasets
        for headline in HEADLINES
        for row in headline.rows(report, dataset, judge)
    ]


def _measured(report: Report, dataset: Dataset, headline: Headline, row: Row) -> Measured:
    def at(judge: Judge) -> Row | None:
        place: Place = replace(row, judge=judge.id).place
        return report.rows(headline.table).in_place(place)

    sign = -1 if headline.least_is_best else 1
    peers = [at(judge) for judge in report.judges if not judge.control]
    values = [sign * peer.value for peer in peers if peer and peer.value is not None]
    nulls = [at(judge) for judge in report.judges if judge.engine == "control"]
    controls = [one for one in nulls if one and one.value is not None and one.judge != row.judge]
    standing, crossed = stands(
        row, controls, least_is_best=headline.least_is_best, floor=headline.floor
    )
    real = row.judge in {judge.id for judge in report.judges if not judge.control}
    known = row.value is not None and real
    above = sum(value > sign * (row.value or 0) for value in values)
    return Measured(
        headline,
        dataset,
        _named(report, headline, row),
        row,
        max(controls, key=lambda one: sign * (one.value or 0), default=None),
        standing,
        crossed,
        above + 1 if known else None,
        len(values),
        _letters(report, headline, row),
    )


def stands(
    row: Row, controls: Sequence[Row], *, least_is_best: bool = False, floor: float | None = None
) -> tuple[Standing, list[str]]:
    """Return where a number stands beside those of controls and a floor, and beside which of them.

    These are the ones it is below, or else those that its interval crosses; `alone` where there is
    nothing to compare: no value, no interval or no control.
    """
    mine = _oriented(row, least_is_best)
    theirs = {one.judge: ends for one in controls if (ends := _oriented(one, least_is_best))}
    if mine is None or not theirs:
        return "alone", []
    if floor is not None:
        theirs[f"{floor:g}"] = (floor, floor)
    if below := [name for name, (low, _) in theirs.items() if mine[1] < low]:
        return "below", below
    crossed = [name for name, (_, high) in theirs.items() if mine[0] <= high]
    return ("apart", crossed) if crossed else ("above", [])


def _oriented(row: Row, least_is_best: bool) -> tuple[float, float] | None:
    """Return the interval of a number that is the higher the better."""
    if row.value is None or row.lo is None or row.hi is None:
        return None
    return (-row.hi, -row.lo) if least_is_best else (row.lo, row.hi)


def _named(report: Report, headline: Headline, row: Row) -> str:
    level = f", {spoken(row.level)}" if row.level else ""
    aspect = f", {report.aspect(row.judged)}" if row.aspect and not headline.mean else ""
    word = f" ({row.criterion})" if row.criterion and not aspect else ""
    cell = f", {row.cell}" if row.cell else ""
    return f"{label(row.statistic)}{level}{aspect}{word}{cell}"


def _letters(report: Report, headline: Headline, row: Row) -> str:
    """Return the letters that the judge shares with those it is not told apart from."""
    if headline.table != "agreement":
        return ""
    named = f"rank_{headline.statistic}"
    where = {"aspect": row.aspect, "level": row.level, "criterion": row.criterion}
    rank = report.rows("comparison").at(row.dataset, row.judge, named, **where)  # type: ignore[arg-type]
    parts = rank.note.split("; ") if rank else []
    return next((p.removeprefix("group ") for p in parts if p.startswith("group ")), "")


# --- the sentences ---------------------------------------------------------------------------


def facts(report: Report, judge: Judge, found: Sequence[Measured]) -> list[tuple[str, str]]:
    """Return what a reader wants to know first, each a name and a sentence."""
    return [
        ("What it is", _is(report, judge)),
        *_standings(judge, found),
        ("What it costs", _costs(report, judge)),
        ("What came back", _covered(report, judge)),
    ]


def _is(report: Report, judge: Judge) -> str:
    told = report.spec["settings"][judge.id]
    if judge.control:
        return f"A control: {judge.about}. Judges should do better; nobody should use it."
    sampled = f", temperature {told['temperature']:g}" if told.get("temperature") else ""
    return f"{judge.about}{sampled}."


def _standings(judge: Judge, found: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    """Yield what a judge is good for and not; of a control nothing of the kind is asked."""
    if judge.control:
        return
    texts: tuple[tuple[Standing, str, str], ...] = (
        ("above", "Good for", "above every control, intervals apart"),
        ("apart", "Not shown to be good for", "its interval crosses a control's, or chance"),
        ("below", "Not good for", "below a control or chance, intervals apart"),
    )
    for standing, name, meaning in texts:
        own = [one for one in found if one.standing == standing]
        if own:
            yield name, f"{_listed(own)} ({meaning})."
    if not any(one.standing != "alone" for one in found):
        yield "Good for", "Nothing was measured that it could be held against a control in."


def _listed(found: Sequence[Measured]) -> str:
    """Return measures with their numbers, dataset by dataset."""
    told = []
    for dataset in dict.fromkeys(one.dataset.id for one in found[:NAMED]):
        own = [one for one in found[:NAMED] if one.dataset.id == dataset]
        each = "; ".join(f"{one.name} {figures(one.row)}" for one in own)
        told.append(f"{own[0].dataset.name}: {each}")
    more = len(found) - NAMED
    return ". ".join(told) + (f"; and {more} more" if more > 0 else "")


def _costs(report: Report, judge: Judge) -> str:
    rows = report.rows("cost").where(judge=judge.id)
    each = list(rows.where(statistic="usd_per_1000"))
    replies = sum(row.value or 0 for row in rows.where(statistic="replies"))
    if not each or any(row.value is None for row in each):
        return f"Not known: its model has no price. {plural(round(replies), 'reply', 'replies')}."
    judgments = sum(row.n for row in each)
    mean = sum((row.value or 0) * row.n for row in each) / judgments if judgments else 0.0
    if not mean:
        return "Nothing: no token is bought for it."
    total = sum(row.value or 0 for row in rows.where(statistic="usd"))
    return f"US$ {mean:.2f} per 1,000 judgments; {total:.2f} for all {count(replies)} replies."


def _covered(report: Report, judge: Judge) -> str:
    counts = Tally.of(report.rows("coverage").where(judge=judge.id)).counts
    asked = counts.total() - counts["not_applicable"]
    if not asked:
        return "Nothing was asked of it."
    failed = [
        f"{count(n)} {spoken(name)}"
        for name, n in counts.items()
        if n and name not in ("ok", "not_applicable")
    ]
    why = f": {listed(failed)}" if failed else ""
    share = percent(counts["ok"] / asked)
    return f"A value from {count(counts['ok'])} of {plural(asked, 'judgment')} ({share}){why}."


# --- the table -------------------------------------------------------------------------------


def section(report: Report, judge: Judge, found: Sequence[Measured]) -> Section | None:
    """Return the judge's headline numbers beside controls and other judges."""
    if not found:
        return None
    blocks: list[Block] = []
    for dataset in report.datasets:
        own = [one for one in found if one.dataset.id == dataset.id]
        if own:
            blocks += [Heading(dataset.name, f"stands-{dataset.id}"), _table(dataset, judge, own)]
    lead = (
        "What each method comes down to. A judge stands above the controls only where its 95 % "
        "interval lies wholly above that of every one; the rank is by point estimate among the "
        "judges that are no controls, and those that share a letter are not told apart."
    )
    return Section("stands", "Where it stands", lead, blocks)


def _table(dataset: Dataset, judge: Judge, found: Sequence[Measured]) -> Table:
    said = "the planned ratings" if dataset.planned else "people's ratings"
    columns = [Column("This judge"), Column("Rank"), Column("Best control")]
    columns += [Column("Beside the controls", style="words")]
    lines = [Line(one.name, _cells(one, judge)) for one in found]
    caption = f"{dataset.name}: its headline numbers; agreement is with {said}."
    return Table(caption, "Measure", columns, [Body(lines)], code=False)


def _cells(one: Measured, judge: Judge) -> list[Cell]:
    rank = f"{one.rank} of {one.ranked}" if one.rank else "–"
    letters = (one.letters,) if one.letters else ()
    control = estimate(one.control) if one.control else Cell("–", style="undefined")
    if one.control:
        control = replace(control, notes=(*control.notes, one.control.judge))
    return [
        estimate(one.row, counts=True),
        Cell(rank, notes=letters, sort=one.rank),
        control,
        words_cell("" if judge.control else _beside(one)),
    ]


def _beside(one: Measured) -> str:
    names = listed(list(one.crossed))
    told = {
        "above": "above every control",
        "apart": f"not told apart from {names}",
        "below": f"below {names}",
        "alone": "nothing to compare",
    }
    return told[one.standing]
