"""Ensembles: what subsets of judges reach, what each member adds, how their errors go together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judgescope.report.charts import svg
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Key,
    Line,
    Section,
    Table,
    Text,
    estimate,
    figures,
)
from judgescope.report.numbers import listed, plural
from judgescope.report.panels import Ends, Level, TargetSet, panels_spec
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import section_of
from judgescope.report.words import LEVELS, label
from judgescope.statistics.registry import statistic

SOURCE = "tables/ensemble.csv"
AVERAGE = "average"
TOGETHER = "+"
MAIN = ("spearman", "pooled")
MEASURES = [(name, level) for level in LEVELS for name in ("pearson", "spearman", "kendall_b")]
LEAD = (
    "An ensemble's score is the mean of its members' scores. Does it agree with people more than "
    "its members do, with how many members, and which of them does it need? Members whose errors "
    "go together are worth fewer judges than they are: as many as their effective number says."
)


@dataclass(frozen=True)
class _Ensemble:
    """The rows of one ensemble on one dataset; `aspects` as cells call them, the means last.

    `student` is the judge that was taught what it says, "" without one.
    """

    id: str
    rows: Rows
    aspects: list[str]
    size: int
    members: list[str]
    student: str

    @classmethod
    def of(cls, judge: str, rows: Rows) -> "_Ensemble":
        """Return an ensemble of its rows."""
        judged = dict.fromkeys(row.judged for row in rows)
        aspects = sorted(judged, key=lambda name: name.partition(".")[0] == AVERAGE)
        most = max(row.k for row in rows)
        whole = next(row.judge_b for row in rows if row.k == most and row.judge_b)
        taught = (row.judge_b for row in rows if row.statistic.startswith("student_"))
        return cls(judge, rows, aspects, most, whole.split(TOGETHER), next(taught, ""))

    def at(self, name: str, level: str, aspect: str, judge_b: str = "", k: int = 0) -> Row | None:
        """Return one row."""
        place = (self._dataset, self.id, name)
        return self.rows.at(*place, aspect=aspect, level=level, judge_b=judge_b, k=k)

    @property
    def _dataset(self) -> str:
        return next(iter(self.rows)).dataset

    def subsets(self, name: str, level: str, aspect: str) -> list[Row]:
        """Return the rows of all subsets that have a value."""
        found = self.rows.where(statistic=name, level=level, judged=aspect)
        return [row for row in found if row.value is not None]

    def taught(self, aspect: str) -> Row | None:
        """Return the row of the judge that was taught, if it has a value."""
        row = self.at(f"student_{MAIN[0]}", MAIN[1], aspect, self.student)
        return row if row is not None and row.value is not None else None

    def level(self, aspect: str) -> Level | None:
        """Return what that judge reaches, and its interval."""
        row = self.taught(aspect)
        return None if row is None or row.value is None else (row.value, row.lo, row.hi)

    def best(self, name: str, level: str, aspect: str) -> Row | None:
        """Return the row of the best single member, the first of equals."""
        single = [row for row in self.subsets(name, level, aspect) if row.k == 1]
        return max(single, key=lambda row: row.value or 0.0, default=None)


def section(report: Report) -> Section | None:
    """Return per dataset and ensemble its figure, what its members add, and their errors."""
    return section_of(report, "ensemble", "Ensembles", LEAD, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    found: list[Block] = []
    for judge in rows.names("judge"):
        of_judge = rows.where(judge=judge)
        if of_judge.names("aspect") == [""]:
            found.append(Text(f"`{judge}`: {next(iter(of_judge)).note}."))
            continue
        own = _Ensemble.of(judge, of_judge)
        figure = _figure(report, dataset, own)
        found += [_summed(report, dataset, own, *MAIN), *([figure] if figure else [])]
        found.append(_errors(report, dataset, own))
        rest = [_summed(report, dataset, own, *one) for one in MEASURES if one != MAIN]
        found.append(Fold(f"{dataset.name}, {judge}: other statistics and levels", rest))
    return found


def _columns(report: Report, own: _Ensemble) -> list[Column]:
    return [Column(_aspect(report, one)) for one in own.aspects]


def _aspect(report: Report, name: str) -> str:
    plain, _, criterion = name.partition(".")
    told = f"mean over aspects ({criterion})" if criterion else "mean over aspects"
    return told if plain == AVERAGE else report.aspect(name)


def _summed(report: Report, dataset: Dataset, own: _Ensemble, name: str, level: str) -> Table:
    """Return one statistic of the whole, its best member, and what each member adds."""
    place, whole = (name, level), TOGETHER.join(own.members)

    def line(head: str, which: str, judge_b: str = "", k: int = 0) -> Line:
        rows = (own.at(which, level, aspect, judge_b, k) for aspect in own.aspects)
        return Line(head, [estimate(row) for row in rows])

    best = [own.best(*place, aspect) for aspect in own.aspects]
    gain = [
        one and own.at(f"difference_{name}", level, aspect, one.judge_b)
        for one, aspect in zip(best, own.aspects, strict=True)
    ]
    lines = [
        line("all members", name, whole, own.size),
        Line("best single member", [_named(one) for one in best]),
        Line("all less the best", [estimate(one or None) for one in gain]),
        line("single members, mean", f"subset_mean_{name}", k=1),
    ]
    alone = [line(one, name, one, 1) for one in own.members]
    adds = [line(one, f"contribution_{name}", one) for one in own.members]
    title, _ = LEVELS[level]
    caption = (
        f"{dataset.name}, {own.id}: {label(name)} with people's mean rating, {title}, of "
        f"{plural(own.size, 'member')}. All differences are on the same texts."
    )
    notes = [
        "The best member is chosen on the same data as it is measured: its value is likely too "
        "high, and what the ensemble has more too low.",
    ]
    bodies = [
        Body(lines),
        Body(alone, "Each member alone"),
        Body(adds, "What an ensemble of all has more than one without"),
        *_taught(own, name, level),
    ]
    columns = _columns(report, own)
    return Table(caption, "Ensemble", columns, bodies, notes, code=False, source=SOURCE)


def _taught(own: _Ensemble, name: str, level: str) -> list[Body]:
    """Return what is told of the judge that was taught, nothing without one."""
    heads = {"student": "alone", "student_difference": "all members less it"}
    heads["student_with_teacher"] = "with all members in place of people"
    lines = [
        Line(
            head,
            [
                estimate(own.at(f"{which}_{name}", level, aspect, own.student))
                for aspect in own.aspects
            ],
        )
        for which, head in heads.items()
    ]
    return [Body(lines, f"The judge that was taught: {own.student}")] if own.student else []


def _named(row: Row | None) -> Cell:
    """Return an estimate with the name of the member."""
    cell = estimate(row)
    return replace(cell, notes=(row.judge_b, *cell.notes)) if row else cell


def _errors(report: Report, dataset: Dataset, own: _Ensemble) -> Table:
    """Return the error correlation of every two members, their mean and the effective number."""
    which, level = "error_correlation", "pooled"
    pairs = own.rows.where(statistic=which).names("judge_b")
    each = [
        Line(
            " and ".join(pair.split(TOGETHER)),
            [estimate(own.at(which, level, aspect, pair, 2)) for aspect in own.aspects],
        )
        for pair in pairs
    ]
    sums = [
        Line(label(name), [estimate(own.at(name, level, aspect)) for aspect in own.aspects])
        for name in ("error_correlation_mean", "effective_judges")
    ]
    caption = (
        f"{dataset.name}, {own.id}: {statistic(which).meaning}. Effective judges: "
        f"{statistic('effective_judges').meaning}; of {own.size} that err apart, {own.size}."
    )
    notes = ["What people's own ratings err is in every member's error, and counts as shared."]
    bodies = [Body(sums), Body(each, "Error correlation of two members")]
    columns = _columns(report, own)
    return Table(caption, "Members", columns, bodies, notes, code=False, source=SOURCE)


def _figure(report: Report, dataset: Dataset, own: _Ensemble) -> Figure | None:
    """Return how correlation grows with the size of an ensemble, a panel for each aspect."""
    shown = [one for one in own.aspects if own.subsets(*MAIN, one)]
    if not shown:
        return None
    panels = [_panel(report, own, aspect) for aspect in shown]
    title = f"{dataset.name}, {own.id}: size of an ensemble and {label(MAIN[0])} with people"
    told = [
        f"{_aspect(report, aspect)} from {figures(one)} to {figures(all_)}"
        for aspect in shown
        for one in [own.at(f"subset_mean_{MAIN[0]}", MAIN[1], aspect, k=1)]
        for all_ in [own.at(f"subset_mean_{MAIN[0]}", MAIN[1], aspect, k=own.size)]
        if one is not None and all_ is not None
    ]
    summary = (
        f"{label(MAIN[0])} over all targets pooled, of every subset of the members by its size. "
        f"From one member, on average, to all {own.size}, with intervals: {listed(told)}."
    )
    keys = [
        Key("●", "blue", "a subset of the members"),
        Key("–", "red", "mean of all subsets of a size"),
        Key("▮", "red", "95 % interval of that mean"),
        Key("|", "ink", "95 % interval of all members"),
    ]
    taught = [
        f"{_aspect(report, aspect)} {figures(row)}"
        for aspect in shown
        for row in [own.taught(aspect)]
        if row is not None
    ]
    if taught:
        summary += f" Taught what they say, {own.student} reaches {listed(taught)}."
        keys.append(Key("┄", "green", f"{own.student}, with its 95 % interval"))
    drawn = svg(panels_spec(panels, x="members"))
    return Figure(title, drawn, summary, keys, _subsets(report, title, own))


def _panel(report: Report, own: _Ensemble, aspect: str) -> TargetSet:
    """Return an aspect's subsets, the means of those of a size, and the intervals of these."""
    subsets = own.subsets(*MAIN, aspect)
    means = own.subsets(f"subset_mean_{MAIN[0]}", MAIN[1], aspect)
    whole = own.at(*MAIN, aspect, TOGETHER.join(own.members), own.size)
    return TargetSet(
        _aspect(report, aspect),
        [(row.k, row.value or 0.0) for row in subsets],
        [(row.k, row.value or 0.0) for row in means],
        _ends(means),
        _ends([whole] if whole else []),
        own.level(aspect),
    )


def _ends(rows: Sequence[Row]) -> list[Ends]:
    """Return the intervals of the rows that have one, over the size of their subsets."""
    return [(row.k, row.lo, row.hi) for row in rows if row.lo is not None and row.hi is not None]


def _subsets(report: Report, title: str, own: _Ensemble) -> Table:
    """Return the numbers of the figure: every subset, under its size, and the mean of these."""
    name, level = MAIN
    known = {(row.judge_b, row.k): row for row in own.rows.where(statistic=name, level=level)}
    bodies = []
    for size in sorted({k for _, k in known}):
        subsets = [subset for subset, k in known if k == size]
        lines = [
            Line(
                ", ".join(one.split(TOGETHER)),
                [estimate(own.at(name, level, aspect, one, size)) for aspect in own.aspects],
            )
            for one in subsets
        ]
        means = (own.at(f"subset_mean_{name}", level, aspect, k=size) for aspect in own.aspects)
        mean = Line(f"mean of {plural(len(subsets), 'subset')}", [estimate(one) for one in means])
        bodies.append(Body([mean, *lines], f"Of {plural(size, 'member')}"))
    bodies += _taught(own, name, level)
    columns = _columns(report, own)
    return Table(f"{title}.", "Members", columns, bodies, code=False, source=SOURCE)
