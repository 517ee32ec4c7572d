"""What a claim's number is in the measures of the literature, in one line."""

from collections.abc import Iterator

from judgescope.methods import literature
from judgescope.methods.claims import base
from judgescope.report.cells import interval
from judgescope.report.claims import ReportedClaim
from judgescope.report.report import Report
from judgescope.report.rows import ReportRow
from judgescope.report.words import count, label, spoken, written


def grouped(
    report: Report, claim: ReportedClaim
) -> Iterator[tuple[str, list[ReportRow]]]:
    """Yield the literature's measures of a claim's judge and aspect, group by group.

    A group is called by the literature's words, "" without any. Nothing for kinds that
    the literature has no measures of, and for what the study does not compute.
    """
    # Kind of claims -> the table of a study that has the literature's measures.
    table_of_kind = {
        base.AGREEMENT: "agreement",
        base.LABELS: "labels",
        base.PAIRS: "pairwise",
    }
    if claim.kind not in table_of_kind:
        return
    rows = report.rows(literature.TABLE, claim.dataset)
    if not len(rows):
        rows = report.rows(table_of_kind[claim.kind], claim.dataset)
    mine = rows.where(judge=claim.judge, judged=claim.row.judged, cell=claim.row.cell)
    known: dict[tuple[str, str], ReportRow] = {}
    for row in mine.where(judge_b=""):
        known.setdefault((row.statistic, row.level), row)
    groups = {
        base.AGREEMENT: literature.OF_RATINGS,
        base.LABELS: (("", tuple((name, "pooled") for name in literature.OF_LABELS)),),
        base.PAIRS: (("", tuple((name, "pooled") for name in literature.OF_PAIRS)),),
    }
    for name, measures in groups[claim.kind]:
        group = [known[measure] for measure in measures if measure in known]
        if group:
            yield name, group


def _units(claim: ReportedClaim, level: str) -> str:
    """What `n` counts at a level."""
    if claim.kind == base.PAIRS:
        return "pairs"
    return {"by_source": "sources", "by_system": "systems"}.get(level, "texts")


def line(report: Report, claim: ReportedClaim, *, intervals: bool = True) -> str:
    """The literature's measures of a claim in one line, "" if there are none.

    Of a group in which nothing is defined, the line has the reason once.
    """
    parts = []
    for name, rows in grouped(report, claim):
        about = f"{name}: " if name else ""
        defined = [row for row in rows if row.value is not None]
        numbers = []
        for row in defined:
            value = written(row.statistic, row.value or 0.0)
            ends = interval(row) if intervals else ""
            numbers.append(f"{label(row.statistic)} {value} {ends}".strip())
        if numbers:
            units = _units(claim, defined[0].level)
            n = "" if len({row.n for row in defined}) > 1 else count(defined[0].n)
            counted = f" (n = {n} {units})" if n else ""
            parts.append(f"{about}{', '.join(numbers)}{counted}")
        elif name:
            parts.append(f"{about}{spoken(rows[0].note)}")
    return " · ".join(parts)
