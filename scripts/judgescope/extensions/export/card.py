"""The results card of a study: one page in Markdown, from the sections of its
report.
"""

from collections.abc import Iterator

from judgescope.extensions.export.markdown import blocks, escaped, inline
from judgescope.report.contents import section_named
from judgescope.report.elements import Fold, Paragraph, Section
from judgescope.report.raters_in_words import MODEL, PLAN
from judgescope.report.report import Report
from judgescope.report.sections import judges
from judgescope.report.words import count, listed


def card(report: Report) -> str:
    """Return the card as Markdown, the same text for the same results."""
    # The sections of the report that the card has, before the limits of the results.
    names = (
        "judges",
        "evidence",
        "limits",
        "coverage",
        "unmeasured",
        "cost",
        "data",
        "legend",
    )
    lines = [
        f"# Results card: {escaped(report.study)}",
        "",
        escaped(judges.measured(report)),
        "",
    ]
    for name in names:
        section = section_named(name, report)
        if section is not None:
            lines += _section(section, folded=name == "limits")
    limits = Paragraph("", items=list(_limits(report)))
    lines += ["## Limits", "", *blocks([limits])[2:]]
    reproduce = section_named("reproduce", report)
    assert reproduce is not None, "each study can be reproduced"
    lines += _section(reproduce)
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, *, folded: bool = False) -> list[str]:
    """Return a section; `folded`: with the parts that the report shows on demand."""
    shown = []
    for block in section.blocks:
        if folded or not isinstance(block, Fold):
            shown.append(block)
    lead = []
    if section.lead:
        lead = [inline(section.lead), ""]
    return [f"## {escaped(section.title)}", "", *lead, *blocks(shown)]


def _limits(report: Report, few_items: int = 50) -> Iterator[str]:
    """Yield the limits of the results.

    Below `few_items` items, intervals cover the true value less often than they should.
    """
    planned = []
    by_model = []
    few = []
    for dataset in report.datasets:
        if dataset.rated_by is PLAN:
            planned.append(dataset.name)
        elif dataset.rated_by is MODEL:
            by_model.append(dataset.name)
        items = dataset.counts.items
        if items < few_items:
            few.append(f"{dataset.name} ({count(items)})")
    if planned:
        yield (
            f"The authors planned the ratings of {listed(planned)}: people may rate "
            "differently."
        )
    if by_model:
        yield (
            f"A model gave the ratings of {listed(by_model)}: people may rate "
            "differently."
        )
    if few:
        yield (
            f"Few items in {listed(few)}: intervals are wide, and cover the true value "
            "in less than 95 % of studies."
        )
    if not any(judge.max_tokens for judge in report.judges):
        yield (
            "No judge of this study reads a prompt: the results say nothing about "
            "LLM judges."
        )
    elif "repeatability" not in report.tables:
        yield "Every judge answered once: repeatability was not measured."
    unpriced = set()
    for row in report.rows("cost").where(statistic="usd"):
        if row.value is None:
            unpriced.add(row.judge or row.perturbation)
    if unpriced:
        names = [f"`{name}`" for name in sorted(unpriced)]
        yield f"The price of {listed(names)} is unknown."
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
