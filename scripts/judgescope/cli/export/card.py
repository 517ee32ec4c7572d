"""The results card of a study: one page in Markdown, from the sections of its
report.
"""

from collections.abc import Iterator

from judgescope.cli.export.markdown import blocks, escaped, inline
from judgescope.engines import PROMPTED
from judgescope.report.elements import Fold, Section, Text
from judgescope.report.report import Report
from judgescope.report.sections import cost, judges, study
from judgescope.report.words import count, listed

FEW = 50
"""With fewer items, the card warns about the coverage of intervals."""


def card(report: Report) -> str:
    """Return the card as Markdown, the same text for the same results."""
    made = (
        *(judges.section, judges.evidence_section, judges.limits),
        *(study.coverage, study.unmeasured, cost.section, study.data, judges.legend),
    )
    lines = [
        f"# Results card: {escaped(report.study)}",
        "",
        escaped(judges.measured(report)),
        "",
    ]
    for section in filter(None, (make(report) for make in made)):
        lines += _section(section, folded=section.id == "limits")
    lines += ["## Limits", "", *blocks([Text("", items=list(_limits(report)))])[2:]]
    lines += _section(study.reproduce(report))
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, *, folded: bool = False) -> list[str]:
    """Return a section; `folded`: with the parts that the report shows on demand."""
    shown = [block for block in section.blocks if folded or not isinstance(block, Fold)]
    lead = section.lead.removesuffix(judges.CLICK)
    return [f"## {escaped(section.title)}", "", inline(lead), "", *blocks(shown)]


def _limits(report: Report) -> Iterator[str]:
    """Yield the limits of the results."""
    if planned := [dataset.name for dataset in report.datasets if dataset.planned]:
        yield (
            f"The authors planned the ratings of {listed(planned)}: people may rate "
            "differently."
        )
    items = {dataset.name: dataset.counts.items for dataset in report.datasets}
    if few := [
        f"{name} ({count(number)})" for name, number in items.items() if number < FEW
    ]:
        yield (
            f"Few items in {listed(few)}: intervals are wide, and cover the true value "
            "in less than 95 % of studies."
        )
    engines = {judge.engine for judge in report.judges if not judge.control}
    if not engines & set(PROMPTED):
        yield (
            "No judge of this study reads a prompt: the results say nothing about "
            "LLM judges."
        )
    elif "repeatability" not in report.tables:
        yield "Every judge answered once: repeatability was not measured."
    prices = report.rows("cost").where(statistic="usd")
    if names := sorted(
        {row.judge or row.perturbation for row in prices if row.value is None}
    ):
        yield f"The price of {listed([f'`{name}`' for name in names])} is unknown."
    facts = report.spec.study
    if facts.share < 1:
        yield (
            f"Judges that receive requests judged only a share of {facts.share:g} of "
            "the items."
        )
    if facts.allow_missing:
        yield "The study allows missing replies: the coverage above counts them."
    yield (
        "The numbers apply to these texts, aspects and wordings; other kinds of text "
        "need their own study."
    )
