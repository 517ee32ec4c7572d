"""The results card of a study: what a reader of a paper or a repository has to know, on one page.

The tables are those of the report's sections, so that a card never says what the report does not.
"""

from collections.abc import Iterable

from judgescope.cli.export.markdown import blocks, escaped, inline
from judgescope.engines import PROMPTED
from judgescope.report.elements import Block, Fold, Section, Text
from judgescope.report.numbers import count, listed
from judgescope.report.report import Report
from judgescope.report.sections import cost, coverage, data, judges, reproduce, unmeasured

FEW = 50
"""With fewer items than this the methods warn of what intervals hold."""


def card(report: Report) -> str:
    """Return the card as Markdown, the same text for the same results."""
    made = (judges.section, coverage.section, unmeasured.section, cost.section)
    lines = [f"# Results card: {escaped(report.study)}", "", escaped(judges.measured(report)), ""]
    for section in filter(None, (make(report) for make in made)):
        lines += _section(section, folded=section.id == "judges")
    lines += _section(data.section(report))
    lines += _listed("Limits", _limits(report))
    lines += _section(reproduce.section(report))
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, *, folded: bool = False) -> list[str]:
    """Return a section; what the report shows on demand only where it is `folded`."""
    own: list[Block] = [one for one in section.blocks if folded or not isinstance(one, Fold)]
    return [f"## {escaped(section.title)}", "", inline(section.lead), "", *blocks(own)]


def _listed(title: str, sentences: Iterable[str]) -> list[str]:
    found = list(sentences) or ["Nothing."]
    return [f"## {title}", "", *blocks([Text("", items=found)])[2:]]


def _limits(report: Report) -> list[str]:
    """Return what the numbers do not say, by rules from what the study is."""
    return [*_of_data(report), *_of_judges(report), *_of_study(report)]


def _of_data(report: Report) -> list[str]:
    planned = [one.name for one in report.datasets if one.planned]
    few = [one for one in report.datasets if one.found["items"] < FEW]
    told = []
    if planned:
        told.append(
            f"The ratings of {listed(planned)} are the authors' plan: nothing here says that "
            "people would rate so."
        )
    if few:
        sizes = listed([f"{one.name} ({count(one.found['items'])})" for one in few])
        told.append(f"Few items in {sizes}: intervals are wide, and hold the truth less often.")
    return told


def _of_judges(report: Report) -> list[str]:
    own = [judge for judge in report.judges if not judge.control]
    prompted = [judge for judge in own if judge.engine in PROMPTED]
    told = []
    if not prompted:
        told.append("No judge of this study reads a prompt: nothing here is about LLMs as judges.")
    elif "repeatability" not in report.tables:
        told.append("Every judge answered once: how much it repeats itself was not measured.")
    unpriced = report.rows("cost").where(statistic="usd")
    names = sorted({row.judge or row.perturbation for row in unpriced if row.value is None})
    if names:
        told.append(f"The price of {listed([f'`{one}`' for one in names])} is not known.")
    return told


def _of_study(report: Report) -> list[str]:
    study, told = report.spec.study, []
    if study.share < 1:
        told.append(f"Judges that are asked saw {study.share:g} of the items.")
    if study.allow_missing:
        told.append("The study allows that answers are missing: see what lacks above.")
    told.append(
        "The numbers hold for these texts, aspects and wordings; another kind of text needs a "
        "study of its own."
    )
    return told
