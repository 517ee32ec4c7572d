"""The measures by which judges stand beside each other on the first screen, and who is above whom.

A judge is called better than another only where their 95 % intervals do not cross and, where the
study tested the pair, the test says so too: nobody can hold a point estimate against a sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from judgescope.methods.claims.base import AGREEMENT
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Place, Row
from judgescope.report.tables import AVERAGE, between
from judgescope.report.words import LEVELS, label
from judgescope.statistics.means import ONLY
from judgescope.statistics.resampling import NO_WIDTH

STATISTIC, POOLED = "spearman", "pooled"
COMPARED = "accuracy_comparison_half"
SCORES = ("D_avg_exact", "D_min_exact")
CONFUSED = (("confusion_index", "", "items"), ("confusion_auc", "", "items"))
VIEWS = (
    ("kappa_linear", "direct", "aspects"),
    ("accuracy_adjacent_half", "direct", "aspects"),
    ("kappa_linear", "global", "graded sets"),
    ("accuracy_adjacent_half", "local", "series of texts"),
)
ROBUST = (("alpha_pair", "", "aspects"), ("sway", "", "aspects"))
ENSEMBLE = (
    ("error_correlation_mean", "pooled", "aspects"),
    ("effective_judges", "pooled", "aspects"),
)
MARKED, WORDS = "span_f1", "tokens"
SETS = ("systems", "original")
"""Sets of texts on which people mark errors, the usual one first."""
SINGULAR = {
    **{"targets": "target", "items": "item", "aspects": "aspect", "pairs": "pair"},
    "annotations": "annotation",
    "sources": "source",
    **{"graded sets": "graded set", "series of texts": "series of texts"},
}
PERSON = Judge("human", "human", "one rater, against the others")
"""The judge of rows about people."""
COUNTED = {"accuracy_adjacent_half": "pairs"}
"""Statistic -> what its n counts by itself, where that is not texts."""
LEAST_IS_BEST = {"confusion_index", "sway", "error_correlation_mean"}
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Measure:
    """A column of the table of judges: a statistic, of an aspect or over all.

    `group` is the heading above it, `noun` what its `n` counts.
    """

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
    def ranked(self) -> bool:
        """Return whether the study ranks judges by this statistic (table comparison)."""
        return self.kind == AGREEMENT

    def row(self, report: Report, dataset: Dataset, judge: Judge) -> Row | None:
        """Return the judge's row."""
        rows = report.rows(self.table, dataset.id)
        if self.form:  # the table has several
            rows = rows.where(form=self.form)
        return rows.at(judge.id, self.statistic, self._place, cell=self.cell)

    @property
    def _place(self) -> Place:
        return {"aspect": self.aspect, "level": self.level, "criterion": self.criterion}

    def name(self, report: Report) -> str:
        """Return what the column is called."""
        own = self.aspect not in ("", AVERAGE)
        return report.aspect(self.aspect) if own else label(self.statistic)

    def counted(self, row: Row) -> str:
        """Return what the n of a row counts: of a mean over one aspect what that one counts."""
        return COUNTED.get(self.statistic, "targets") if row.method.startswith(ONLY) else self.noun

    def merit(self, value: float) -> float:
        """Return a number that is the higher the better."""
        return -value if self.statistic in LEAST_IS_BEST else value

    def above(self, report: Report, dataset: Dataset, judge: Judge, other: Judge) -> bool:
        """Return whether one judge is better than another: intervals apart, and no test against it.

        Without an interval nobody is better or worse; a control's bare value is still a hurdle. A
        judge that is given a rating of the very text is neither.
        """
        if judge.hint or other.hint:
            return False
        mine = self._ends(self.row(report, dataset, judge))
        theirs = self._ends(self.row(report, dataset, other), bare=other.control)
        if not mine or not theirs or mine[0] <= theirs[1]:
            return False
        return self._tested(report, dataset, judge, other)

    def _ends(self, row: Row | None, *, bare: bool = False) -> tuple[float, float] | None:
        """Return the ends of the interval of a row's merit, the worse one first.

        With `bare` a number without an interval counts as it stands, else as none: so does one
        whose interval has no width.
        """
        if row is None or row.value is None:
            return None
        if row.lo is None or row.hi is None or (NO_WIDTH in row.note and not bare):
            return (self.merit(row.value), self.merit(row.value)) if bare else None
        both = self.merit(row.lo), self.merit(row.hi)
        return min(both), max(both)

    def _tested(self, report: Report, dataset: Dataset, judge: Judge, other: Judge) -> bool:
        """Return whether no test and no interval of the paired difference speaks against it."""
        rows = report.rows("comparison" if self.ranked else self.table, dataset.id)
        difference = between(rows, judge, other, self.statistic, **self._place)
        ends = self._ends(difference)
        if difference and (ends is None or ends[0] <= 0):
            return False
        name = f"p_holm_{self.statistic}"  # corrected for all pairs
        straight = rows.at(judge.id, name, self._place, judge_b=other.id)
        p = straight or rows.at(other.id, name, self._place, judge_b=judge.id)
        return not p or (p.value is not None and p.value <= SIGNIFICANT)


def measures(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the measures of which some judge has a row, in the order of the methods."""
    return report.once(("measures", dataset.id), lambda: _measures(report, dataset))


def _measures(report: Report, dataset: Dataset) -> list[Measure]:
    planned = _agreement(report, dataset)
    planned += [
        Measure("pairwise", COMPARED, f"Pairs: {label(COMPARED)}", "pairs", aspect, POOLED)
        for aspect in dataset.aspects
    ]
    planned += [Measure("discernment", one, "Discernment", "items") for one in SCORES]
    planned += _worded(report, dataset, "confusion", CONFUSED, aspect="")
    planned += _worded(report, dataset, "perspectives", VIEWS)
    planned += _worded(report, dataset, "robustness", ROBUST)
    planned += _worded(report, dataset, "ensemble", ENSEMBLE)
    planned += _spans(report, dataset)
    return [m for m in planned if any(m.row(report, dataset, judge) for judge in report.judges)]


def _agreement(report: Report, dataset: Dataset) -> list[Measure]:
    """Return agreement on every aspect, at the level that decides the claim."""
    rows = report.rows("verdicts", dataset.id).where(form=AGREEMENT, statistic=STATISTIC)
    level = {row.judged: row.level for row in rows}
    nouns = {"by_source": "sources", POOLED: "targets"}
    return [
        Measure(
            "verdicts",
            STATISTIC,
            f"Agreement: {label(STATISTIC)}, {LEVELS[level[aspect]][0]}",
            nouns[level[aspect]],
            aspect,
            level[aspect],
            form=AGREEMENT,
            kind=AGREEMENT,
        )
        for aspect in dataset.aspects
        if aspect in level
    ]


def _worded(
    report: Report,
    dataset: Dataset,
    table: str,
    planned: Sequence[tuple[str, str, str]],
    aspect: str = AVERAGE,
) -> list[Measure]:
    """Return measures of a table in every wording; `planned` are (statistic, level, noun)."""
    names = tuple(name for name, _, _ in planned)
    rows = report.rows(table, dataset.id).where(aspect=aspect, statistic=names)
    found = []
    for word in rows.names("criterion"):
        for name, level, noun in planned:
            view = level if table == "perspectives" else ""
            parts = (table.capitalize(), view, f"wording {word}" if word else "")
            group = ", ".join(filter(None, parts))
            found.append(Measure(table, name, group, noun, aspect, level, word))
    return found


def _spans(report: Report, dataset: Dataset) -> list[Measure]:
    """Return how well the errors that judges list cover what people marked, by aspect."""
    cells = report.rows("spans", dataset.id).where(statistic=MARKED, form=WORDS).names("cell")
    if not cells:
        return []
    cell = next((name for name in SETS if name in cells), "")
    group = f"Error spans: {label(MARKED)}, same words"
    return [
        Measure("spans", MARKED, group, "annotations", aspect, POOLED, cell=cell, form=WORDS)
        for aspect in dataset.aspects
    ]


def best_control(report: Report, dataset: Dataset, measure: Measure) -> Row | None:
    """Return the row of the control that ranks highest; the first of equals, never the oracle."""
    controls = [judge for judge in report.judges if judge.engine == "control"]
    rows = (measure.row(report, dataset, judge) for judge in controls)
    known = [(row, row.value) for row in rows if row and row.value is not None]
    best = max(known, key=lambda one: measure.merit(one[1]), default=None)
    return best[0] if best else None


def below(measure: Measure, row: Row | None, control: Row | None) -> bool:
    """Return whether a number is worse than a control's, by point estimate."""
    if row is None or row.value is None or control is None or control.value is None:
        return False
    return measure.merit(row.value) < measure.merit(control.value)
