"""The measures by which judges stand beside each other on the first screen, and who is above whom.

A judge is called better than another only where their 95 % intervals do not cross and, where the
study tested the pair, the test says so too: nobody can hold a point estimate against a sentence.
"""

from dataclasses import dataclass
from functools import partial

from judgescope.methods.claims.base import AGREEMENT
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import LEVELS, label
from judgescope.statistics.means import ONLY
from judgescope.statistics.resampling import NO_WIDTH

STATISTIC, POOLED = "spearman", "pooled"
AVERAGE = "average"
COMPARED = "accuracy_comparison_half"
SCORES = ("D_avg_exact", "D_min_exact")
CONFUSED = ("confusion_index", "confusion_auc")
VIEWS = (
    ("kappa_linear", "direct", "aspects"),
    ("accuracy_adjacent_half", "direct", "aspects"),
    ("kappa_linear", "global", "graded sets"),
    ("accuracy_adjacent_half", "local", "series of texts"),
)
ROBUST = ("alpha_pair", "sway")
ENSEMBLE = ("error_correlation_mean", "effective_judges")
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
        place = (dataset.id, judge.id, self.statistic)
        where = {"aspect": self.aspect, "level": self.level, "criterion": self.criterion}
        return self._rows(report).at(*place, cell=self.cell, **where)  # type: ignore[arg-type]

    def _rows(self, report: Report) -> Rows:
        """Return the table, of one form of comparison where it has several."""
        rows = report.rows(self.table)
        if not self.form:
            return rows
        return report.once((self.table, self.form), lambda: rows.where(form=self.form))

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
        if row.lo is None or row.hi is None or (without_width(row) and not bare):
            return (self.merit(row.value), self.merit(row.value)) if bare else None
        both = self.merit(row.lo), self.merit(row.hi)
        return min(both), max(both)

    def _tested(self, report: Report, dataset: Dataset, judge: Judge, other: Judge) -> bool:
        """Return whether no test and no interval of the paired difference speaks against it."""
        tables = ("comparison",) if self.ranked else (self.table,)
        for rows in map(report.rows, tables):
            place = (self.criterion, self.aspect, self.level)
            gap = between(rows, dataset, judge, other, self.statistic, *place)
            ends = self._ends(gap)
            if gap and (ends is None or ends[0] <= 0):
                return False
            p = _p_value(rows, dataset, judge, other, self)
            if p and (p.value is None or p.value > SIGNIFICANT):
                return False
        return True


def without_width(row: Row) -> bool:
    """Return whether deletions tell nothing of how sure a number is."""
    return NO_WIDTH in row.note


def _p_value(
    rows: Rows, dataset: Dataset, judge: Judge, other: Judge, measure: Measure
) -> Row | None:
    """Return the p-value of the difference of two judges, corrected for all pairs."""
    where = {"aspect": measure.aspect, "level": measure.level, "criterion": measure.criterion}
    name = f"p_holm_{measure.statistic}"
    straight = rows.at(dataset.id, judge.id, name, judge_b=other.id, **where)  # type: ignore[arg-type]
    back = rows.at(dataset.id, other.id, name, judge_b=judge.id, **where)  # type: ignore[arg-type]
    return straight or back


def between(
    rows: Rows,
    dataset: Dataset,
    judge: Judge,
    other: Judge,
    statistic: str,
    criterion: str = "",
    aspect: str = "",
    level: str = "",
) -> Row | None:
    """Return the row of a judge's value less another's, whichever way it was written."""

    name = f"difference_{statistic}"
    at = partial(rows.at, dataset.id, criterion=criterion, aspect=aspect, level=level)
    straight = at(judge.id, name, judge_b=other.id)
    back = at(other.id, name, judge_b=judge.id)
    return straight or turned(back)


def turned(row: Row | None) -> Row | None:
    """Return the row of a difference the other way round."""
    if row is None or row.value is None:
        return row
    ends = (None, None) if row.lo is None or row.hi is None else (-row.hi, -row.lo)
    return row._replace(value=-row.value, lo=ends[0], hi=ends[1])


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
    planned += [*_confusion(report, dataset), *_perspectives(report, dataset)]
    planned += [*_averaged(report, dataset, "robustness", ROBUST)]
    planned += [*_averaged(report, dataset, "ensemble", ENSEMBLE, "pooled")]
    planned += _spans(report, dataset)
    return [m for m in planned if any(m.row(report, dataset, judge) for judge in report.judges)]


def _agreement(report: Report, dataset: Dataset) -> list[Measure]:
    """Return agreement on every aspect, at the level that decides the claim."""
    rows = report.rows("verdicts").where(dataset=dataset.id, form=AGREEMENT, statistic=STATISTIC)
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


def _confusion(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the measures of confusion, in every wording."""
    own = report.rows("confusion").where(dataset=dataset.id, statistic=CONFUSED)
    return [
        Measure("confusion", one, _group("Confusion", "", word), "items", criterion=word)
        for word in own.names("criterion")
        for one in CONFUSED
    ]


def _perspectives(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the measures of perspectives, means over aspects in every wording."""
    own = report.rows("perspectives").where(dataset=dataset.id, aspect=AVERAGE)
    return [
        Measure(
            "perspectives", name, _group("Perspectives", level, word), noun, AVERAGE, level, word
        )
        for word in own.names("criterion")
        for name, level, noun in VIEWS
    ]


def _averaged(
    report: Report, dataset: Dataset, table: str, names: tuple[str, ...], level: str = ""
) -> list[Measure]:
    """Return measures of a table, means over aspects in every wording."""
    own = report.rows(table).where(dataset=dataset.id, aspect=AVERAGE)
    return [
        Measure(table, name, _group(table.capitalize(), "", word), "aspects", AVERAGE, level, word)
        for word in own.names("criterion")
        for name in names
    ]


def _spans(report: Report, dataset: Dataset) -> list[Measure]:
    """Return how well the errors that judges list cover what people marked, by aspect."""
    where = {"dataset": dataset.id, "statistic": MARKED, "form": WORDS}
    cells = report.rows("spans").where(**where).names("cell")
    cell = next((one for one in SETS if one in cells), "")
    group = f"Error spans: {label(MARKED)}, same words"
    told = ("spans", MARKED, group, "annotations")
    return [Measure(*told, one, POOLED, cell=cell, form=WORDS) for one in dataset.aspects if cells]


def _group(table: str, level: str, word: str) -> str:
    return ", ".join(part for part in (table, level, f"wording {word}" if word else "") if part)


def null_controls(report: Report) -> list[Judge]:
    """Return the controls that know nothing of quality: all but the oracle."""
    return [judge for judge in report.judges if judge.engine == "control"]


def best_control(report: Report, dataset: Dataset, measure: Measure) -> Row | None:
    """Return the row of the control that ranks highest; the first of equals, never the oracle."""
    rows = (measure.row(report, dataset, judge) for judge in null_controls(report))
    known = [(row, row.value) for row in rows if row and row.value is not None]
    best = max(known, key=lambda one: measure.merit(one[1]), default=None)
    return best[0] if best else None


def below(measure: Measure, row: Row | None, control: Row | None) -> bool:
    """Return whether a number is worse than a control's, by point estimate."""
    if row is None or row.value is None or control is None or control.value is None:
        return False
    return measure.merit(row.value) < measure.merit(control.value)
