"""The measures that compare judges on the first screen, and the rule for who is above
whom.

A judge is called better than another only if their 95 % intervals do not overlap and,
if the study tested the pair, the test agrees: no sentence rests only on a point
estimate. The test, its difference and the letters are of the number that is shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from judgescope.methods.base import HUMAN
from judgescope.methods.claims.base import AGREEMENT, LABELS
from judgescope.methods.claims.labels import LABEL_STATISTIC
from judgescope.methods.measures import AVERAGE, DECIDES
from judgescope.report.report import Report, ShownDataset, ShownJudge
from judgescope.report.rows import ReportRow, ReportRows, RowPlace, between
from judgescope.report.words import LEVELS, known_names, label
from judgescope.statistics.registry import statistic
from judgescope.statistics.resampling import NO_WIDTH

COMPARED = "accuracy_comparison_half"
WORDED = {
    "confusion": (("confusion_index", "", "items"), ("confusion_auc", "", "items")),
    "perspectives": (
        ("kappa_linear", "direct", "aspects"),
        ("accuracy_adjacent_half", "direct", "aspects"),
        ("kappa_linear", "global", "graded sets"),
        ("accuracy_adjacent_half", "local", "series of texts"),
    ),
    "robustness": (
        ("alpha_pair", "", "aspects"),
        ("hint_adoption_rate", "", "aspects"),
    ),
    "ensemble": (
        ("error_correlation_mean", "pooled", "aspects"),
        ("effective_judges", "pooled", "aspects"),
    ),
}
"""Table -> statistic, level and noun of its measures, which it has in every wording."""
PERSON = ShownJudge(HUMAN, HUMAN, "one rater, against the others")
"""The judge of rows about people."""


@dataclass(frozen=True)
class HeadlineColumn:
    """A column of the table of judges: a statistic on a dataset, of an aspect or over
    all.

    `group` is the heading above it, `noun` what its `n` counts.
    """

    report: Report = field(compare=False, repr=False)
    dataset: ShownDataset = field(compare=False, repr=False)
    table: str
    statistic: str
    group: str
    noun: str
    aspect: str = ""
    level: str = ""
    criterion: str = ""
    cell: str = ""
    form: str = ""
    kind: str = ""
    """The kind of claim that the number decides, "" where it decides none by itself."""

    @property
    def name(self) -> str:
        """Return the name of the column."""
        named = self.aspect not in ("", AVERAGE)
        if named:
            return self.report.aspect(self.aspect)
        return label(self.statistic)

    @property
    def _address(self) -> RowPlace:
        return {"aspect": self.aspect, "level": self.level, "criterion": self.criterion}

    def row(self, judge: ShownJudge) -> ReportRow | None:
        """Return the judge's row."""
        rows = self.report.rows(self.table, self.dataset.id)
        return rows.find(
            judge.id, self.statistic, self._address, cell=self.cell, form=self.form
        )

    def defined(self, judges: Iterable[ShownJudge]) -> list[ReportRow]:
        """Return the rows of judges that have a value."""
        rows = map(self.row, judges)
        return [row for row in rows if row and row.value is not None]

    @cached_property
    def best_control(self) -> ReportRow | None:
        """Return the row of the highest control; the first of equals, never the
        oracle.
        """
        rows = self.defined(self.report.plain_controls)
        return max(rows, key=lambda row: self.merit(row.value or 0.0), default=None)

    def below_control(self, row: ReportRow | None) -> bool:
        """Return whether a number is worse than the best control's, by point
        estimate.
        """
        control = self.best_control
        if row is None or row.value is None or control is None or control.value is None:
            return False
        return self.merit(row.value) < self.merit(control.value)

    def letters(self, judge: ShownJudge) -> str:
        """Return the letters of the groups that a test puts the judge in, "" where none
        was made.
        """
        name = f"rank_{self.statistic}"
        row = self._comparisons.find(judge.id, name, self._address)
        return row.group if row else ""

    @property
    def _comparisons(self) -> ReportRows:
        """The rows that compare judges by this number."""
        table = "comparison"
        if self.kind not in (AGREEMENT, LABELS):
            table = self.table
        return self.report.rows(table, self.dataset.id)

    @property
    def less_is_better(self) -> bool:
        """Whether a lower value is the better one."""
        return statistic(self.statistic).less_is_better

    def merit(self, value: float) -> float:
        """Return a number that is higher for a better value."""
        return -value if self.less_is_better else value

    def above(self, judge: ShownJudge, other: ShownJudge) -> bool:
        """Return whether a judge is better than another: intervals apart, and no test
        contradicts.

        Without an interval no judge is better or worse; a control's bare value still
        has to be beaten. A judge that is given a rating of the very text is neither.
        """
        if judge.hint or other.hint:
            return False
        mine = self._ends(self.row(judge))
        theirs = self._ends(self.row(other), bare=other.control)
        if not mine or not theirs or mine[0] <= theirs[1]:
            return False
        rows = self._comparisons
        difference = between(rows, judge.id, other.id, self.statistic, **self._address)
        ends = self._ends(difference)
        if difference and (ends is None or ends[0] <= 0):
            return False
        tested = "mcnemar"
        if self.statistic != COMPARED:
            tested = self.statistic
        name = f"p_holm_{tested}"  # corrected for all pairs
        p = rows.find(judge.id, name, self._address, judge_b=other.id)
        if not p:
            p = rows.find(other.id, name, self._address, judge_b=judge.id)
        if not p:
            return True
        return p.value is not None and p.value <= 0.05

    def _ends(
        self, row: ReportRow | None, *, bare: bool = False
    ) -> tuple[float, float] | None:
        """Return the ends of the interval of a row's merit, the worse one first.

        With `bare` a number without an interval counts as it stands, else as none: so
        does one whose interval has no width.
        """
        if row is None or row.value is None:
            return None
        if row.ci_low is None or row.ci_high is None:
            merit = self.merit(row.value)
            if bare:
                return (merit, merit)
            return None
        if NO_WIDTH in row.note and not bare:
            return None
        low = self.merit(row.ci_low)
        high = self.merit(row.ci_high)
        return min(low, high), max(low, high)


def measures(report: Report, dataset: ShownDataset) -> list[HeadlineColumn]:
    """Return the measures for which some judge has a row, in the order of the
    methods.
    """

    def planned() -> Iterator[HeadlineColumn]:
        new = partial(HeadlineColumn, report, dataset)
        yield from _agreement(report, dataset)
        group = f"Labels: {label(LABEL_STATISTIC)}"
        labelled = partial(
            new, "verdicts", LABEL_STATISTIC, group, form=LABELS, kind=LABELS
        )
        for aspect in filter(dataset.labels_on, dataset.aspects):
            yield labelled("texts", aspect, "pooled")
        group = f"Pairs: {label(COMPARED)}"
        for aspect in dataset.aspects:
            yield new("pairwise", COMPARED, group, "pairs", aspect, "pooled")
        for score in ("D_avg_exact", "D_min_exact"):
            yield new("discernment", score, "Discernment", "items")
        for table in WORDED:
            yield from _worded(report, dataset, table)
        yield from _spans(report, dataset)

    def with_rows() -> list[HeadlineColumn]:
        return [column for column in planned() if any(map(column.row, report.judges))]

    return report.once(("measures", dataset.id), with_rows)


def _agreement(report: Report, dataset: ShownDataset) -> Iterator[HeadlineColumn]:
    """Yield agreement on every aspect, at the level that decides the claims of most
    judges.
    """
    rows = report.rows("verdicts", dataset.id).where(
        form=AGREEMENT, statistic=(*DECIDES.values(),)
    )
    counts = Counter((row.judged, row.level) for row in rows)
    levels = dict[str, str]()
    for (aspect, level), _ in counts.most_common():
        levels.setdefault(aspect, level)
    for aspect in dataset.aspects:
        if aspect not in levels:
            continue
        level = levels[aspect]
        yield HeadlineColumn(
            report,
            dataset,
            "verdicts",
            statistic=DECIDES[level],
            group=f"Agreement: {label(DECIDES[level])}, {LEVELS[level][0]}",
            noun="targets",
            aspect=aspect,
            level=level,
            form=AGREEMENT,
            kind=AGREEMENT,
        )


def _worded(
    report: Report, dataset: ShownDataset, table: str
) -> Iterator[HeadlineColumn]:
    """Yield the measures of a table in every wording that it has."""
    aspect = "" if table == "confusion" else AVERAGE
    names = tuple(name for name, _, _ in WORDED[table])
    rows = report.rows(table, dataset.id).where(aspect=aspect, statistic=names)
    for word in rows.names("criterion"):
        for name, level, noun in WORDED[table]:
            view = level if table == "perspectives" else ""
            parts = (table.capitalize(), view, f"wording {word}" if word else "")
            group = ", ".join(filter(None, parts))
            yield HeadlineColumn(
                report, dataset, table, name, group, noun, aspect, level, word
            )


def _spans(report: Report, dataset: ShownDataset) -> Iterator[HeadlineColumn]:
    """Yield how well the errors that judges list cover what people marked, by
    aspect.
    """
    statistic = "span_f1"
    form = "tokens"
    rows = report.rows("spans", dataset.id).where(statistic=statistic, form=form)
    # Of the sets of texts on which people mark errors, the usual one first.
    cells = known_names(("systems", "original"), rows.names("cell"))
    if not len(rows):
        return
    for aspect in dataset.aspects:
        yield HeadlineColumn(
            report,
            dataset,
            "spans",
            statistic=statistic,
            group=f"Error spans: {label(statistic)}, same words",
            noun="annotations",
            aspect=aspect,
            level="pooled",
            cell=cells[0] if cells else "",
            form=form,
        )
