"""What was planned and has no number: how often, for which reason."""

from collections import Counter

from judgescope.report.elements import Body, Column, Line, Section, Table, whole, words_cell
from judgescope.report.numbers import count
from judgescope.report.report import Report
from judgescope.report.sections.agreement import PEOPLE
from judgescope.report.words import spoken

MOST = 4
"""So many judges or statistics of a reason are named."""
LEAD = (
    "A number that is not defined is left out, never replaced: these are all of them, by table and "
    "reason. What was planned of judgments and came to nothing stands under Coverage."
)


def section(report: Report) -> Section | None:
    """Return a table of the reasons, None where every planned number is defined."""
    bodies = []
    for name in report.tables:
        rows = report.rows(name)
        missing = [row for row in rows if row.value is None]
        lines = [
            Line(
                spoken(reason) or "no reason was given",
                [
                    whole(number),
                    whole(len(rows)),
                    words_cell(_few([r.statistic for r in missing if r.note == reason])),
                    words_cell(_few([_who(r.judge) for r in missing if r.note == reason])),
                    words_cell(_few([r.dataset for r in missing if r.note == reason])),
                ],
            )
            for reason, number in Counter(row.note for row in missing).most_common()
        ]
        bodies += [Body(lines, f"{name}.csv")] if lines else []
    if not bodies:
        return None
    columns = [Column("numbers"), Column("of planned")]
    columns += [Column(name, style="words") for name in ("Statistics", "Judges", "Datasets")]
    caption = "Numbers that the study planned and that are not defined, by table and reason."
    table = Table(caption, "Reason", columns, bodies, code=False)
    return Section("unmeasured", "Planned, not measured", LEAD, [table])


def _who(judge: str) -> str:
    return "people" if judge == PEOPLE else judge


def _few(names: list[str]) -> str:
    """Return the distinct names, the first few, and how many more there are."""
    distinct = sorted(set(filter(None, names)))
    more = len(distinct) - MOST
    return ", ".join(distinct[:MOST]) + (f" and {count(more)} more" if more > 0 else "")
