"""From a report to the card of one judge: an HTML file that needs nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup
from msgspec import structs

from judgescope.report.cards import cases, every, glance, settings
from judgescope.report.cards.cases import Reader
from judgescope.report.elements import Block, Heading, Link, Section
from judgescope.report.html import finished
from judgescope.report.page import filled, table_script
from judgescope.report.report import CardReport, Judge
from judgescope.report.sections import coverage, replies
from judgescope.report.sections.responses import style_blocks


def render(report: CardReport, templates: Path, texts: Path) -> Iterator[tuple[str, str]]:
    """Yield each judge's id and its page; `texts` is the folder of the style of damaged texts."""
    environment = filled(templates)
    styles = (templates / "style.css", texts / "style.css", templates / "judge.css")
    style = "".join(path.read_text(encoding="utf-8") for path in styles)
    readers = [Reader(report, dataset) for dataset in report.datasets]
    for judge in report.judges:
        yield judge.id, _page(environment, templates, report, judge, readers, style)


def _page(
    environment: Environment,
    templates: Path,
    report: CardReport,
    judge: Judge,
    readers: Sequence[Reader],
    style: str,
) -> str:
    script = table_script(templates)
    page = environment.get_template("judge.html.jinja").render(
        study=report.study,
        judge=judge,
        judges=report.judges,
        facts=glance.facts(report, judge),
        sections=list(_sections(report, judge, readers)),
        style=Markup(style),
        script=Markup(script),
    )
    return finished(page, script)


def _sections(report: CardReport, judge: Judge, readers: Sequence[Reader]) -> Iterator[Section]:
    """Yield the sections of a card, in the order of the page."""
    alone = narrowed(report, judge)
    made = (
        glance.section(report, judge),
        settings.section(report, judge),
        cases.section(readers, judge),
        _styles(alone),
        replies.repeatability(alone),
        replies.pairwise(alone),
        _coverage(alone, judge),
        every.section(report, judge),
    )
    yield from (section for section in made if section is not None)


def narrowed(report: CardReport, judge: Judge) -> CardReport:
    """Return a report that knows of one judge alone."""
    study = structs.replace(report.spec.study, judges=[judge.id])
    tables = {name: rows.where(judge=judge.id) for name, rows in report.tables.items()}
    spec = structs.replace(report.spec, study=study, cards=None)
    return replace(report, spec=spec, tables=tables)


def _styles(alone: CardReport) -> Section | None:
    blocks: list[Block] = []
    for dataset in alone.datasets:
        blocks += style_blocks(alone, dataset, alone.judges)
    lead = "How it uses its scale: where its scores of originals and of damaged texts lie."
    return Section("style", "Response style", lead, blocks) if blocks else None


def _coverage(alone: CardReport, judge: Judge) -> Section | None:
    """Return what came of its judgments, with the way to each of them."""
    found = coverage.section(alone)
    if found is None:
        return None
    links = [
        Link(f"Look through its replies on {dataset.name}", way)
        for dataset in alone.datasets
        if (way := cases.explore(alone, dataset=dataset.id, judge=judge.id))
    ]
    if not links:
        return found
    return replace(found, blocks=[*found.blocks, Heading("Every reply", "replies"), *links])
