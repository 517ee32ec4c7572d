"""The card of one judge: an offline page with what it is, its settings and every
number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from msgspec import structs

from judgescope.core.files import write_text
from judgescope.report import elements, next_steps, words, worst_cases
from judgescope.report.answer import HeadlineRules
from judgescope.report.cells import NO_CELL, ReportCell, counts_of, estimate, words_cell
from judgescope.report.claims import FIRST, claims
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    AnswerBlock,
    Beside,
    Body,
    DrawnPanel,
    Facts,
    Failures,
    Fold,
    PageBlock,
    PageTable,
    Paragraph,
    Section,
    SmallMultiples,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.evidence import evidence_blocks
from judgescope.report.failures import failing_texts
from judgescope.report.html import page_from
from judgescope.report.judge_answer import judge_answer
from judgescope.report.matrix import of_judge
from judgescope.report.page import SORTED, STYLES, delete_stale, filled
from judgescope.report.prices import free, price_in_words, price_per_1000
from judgescope.report.report import (
    CardReport,
    Report,
    ShownDataset,
    ShownJudge,
    ids_of,
)
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.sections import study
from judgescope.report.sections.first import picture_of
from judgescope.report.sections.sentences import sentence
from judgescope.report.specs import JudgeCardSpec
from judgescope.report.standings import standings
from judgescope.report.tables import AVERAGE, by_dataset, rater
from judgescope.report.tally import tally_of
from judgescope.report.words import count, dollars, known_names, label, plural, spoken
from judgescope.schema.cards import DerivedJudge
from judgescope.schema.cards import Judge as Card

Setting = tuple[str, str, str]
"""Key, value, and what the key means."""


MOST_NUMBERS: Final = 200
"""Of a judge with more numbers, the page says how many each table has."""


def render(report: CardReport) -> Iterator[tuple[str, str]]:
    """Yield each judge's id and its page."""
    readers = {}
    for dataset in report.datasets:
        readers[dataset.id] = worst_cases.WorstCaseReader(report, dataset)
    for judge in report.judges:
        page = page_from(
            filled().get_template("judge.html.jinja"),
            (*STYLES, "texts/style.css", "report/judge.css"),
            SORTED,
            study=report.study,
            judge=judge,
            judges=report.judges,
            answer=AnswerBlock(judge_answer(report, judge), _deck(report, judge)),
            found=list(_blocks(report, judge, readers)),
            sections=(),
            contents=(),
        )
        yield judge.id, page


def _deck(report: CardReport, judge: ShownJudge) -> str:
    """What a judge is, what it costs and how much of it could be read, in one line."""
    cost = _cost(report, judge)
    parts = [_kind(report, judge), f"{cost[0].upper()}{cost[1:]}."]
    parts.append(_covered(report, judge))
    if judge.scores_texts:
        parts.append(words.FIT_SENTENCE)
    return " ".join(parts)


def _blocks(
    report: CardReport,
    judge: ShownJudge,
    readers: Mapping[str, worst_cases.WorstCaseReader],
) -> Iterator[PageBlock]:
    """Yield the parts of a judge's page: its line, its failures, what is folded."""
    line = of_judge(report, judge)
    if line is not None:
        yield line
    if not judge.control:
        texts = failing_texts(report, judge, readers)
        if texts:
            yield Failures(_failures_lead(report, judge), texts)
        yield from _picture_and_steps(report, judge)
    for section in _folded(report, judge, [*readers.values()]):
        lead = []
        if section.lead:
            lead = [Paragraph(section.lead, style="small")]
        yield Fold(section.title, [*lead, *section.blocks], section.id)


def _failures_lead(report: CardReport, judge: ShownJudge) -> str:
    source = HeadlineRules(report).source_of(claims(report, judge))
    return (
        f"The farthest from {source.whose} ratings on each claim in the order ✕, ◐, ○, "
        f"●, chosen by rule. Grey: {source.short}; blue: {judge.id}; hollow: its score "
        "of the undamaged text."
    )


def _picture_and_steps(report: CardReport, judge: ShownJudge) -> Iterator[PageBlock]:
    panels: list[DrawnPanel] = []
    axes = ""
    matrix = standings(report)
    most_pictures = 3
    for column in matrix.folding.columns:
        for claim in matrix.of_column(judge, column):
            if column.rank not in (1, 2, 3) or len(panels) == most_pictures:
                continue
            dataset = next(d for d in report.datasets if d.id == claim.dataset)
            picture = picture_of(
                report,
                dataset,
                claim.row.judged,
                claim.kind,
                {judge: claim},
                people=False,
            )
            if picture is not None:
                [panel] = picture.panels
                panels.append(replace(panel, name=claim.subject))
                axes = picture.axes
    steps = next_steps.of_judge(report, judge)
    pictures: list[PageBlock] = []
    if panels:
        title = f"What was rated, what {judge.id} said"
        lead = "A judge that follows the ratings fills the diagonal."
        pictures = [SmallMultiples(title, lead, panels, axes)]
    if pictures and steps is not None:
        yield Beside(pictures, [steps], second_first=True)
    else:
        yield from pictures
        if steps is not None:
            yield steps


def _folded(
    report: CardReport,
    judge: ShownJudge,
    readers: Sequence[worst_cases.WorstCaseReader],
) -> Iterator[Section]:
    facts_of_study = structs.replace(report.spec.study, judges=[judge.id])
    tables = {}
    for name, rows in report.tables.items():
        tables[name] = rows.where(judge=judge.id)
    spec = structs.replace(report.spec, study=facts_of_study, cards=None)
    alone = replace(report, spec=spec, tables=tables)  # a report of this judge alone
    made: list[Section | None] = [
        standing(report, judge),
        settings_section(report, judge),
    ]
    # With more judges, their pages lead to the explorer instead of quoting replies.
    many_judges = 24
    if len(report.judges) <= many_judges:
        made += [
            _coverage(alone, judge),
            section_named("repeatability", alone),
            section_named("pairwise", alone),
            worst_cases.section(readers, judge),
        ]
    else:
        made.append(_replies(report, judge))
    made.append(every_number(report, judge))
    yield from filter(None, made)


def _replies(report: CardReport, judge: ShownJudge) -> Section:
    """Return the way to a judge's replies, where the pages of many judges are short."""
    links = []
    for dataset in report.datasets:
        href = elements.judgments_page(dataset=dataset.id, judge=judge.id)
        links.append(elements.Link(f"Its replies on {dataset.name}", f"../{href}"))
    return Section("replies", "Replies and more failures", "", links)


def _kind(report: CardReport, judge: ShownJudge) -> str:
    if judge.control:
        return (
            f"A control: {judge.about}. Judges should do better; do not use it as a "
            "judge."
        )
    if judge.planted:
        return (
            "A planted judge, to test what this study finds; no real judge. "
            f"{judge.about.capitalize()}."
        )
    temperature = report.spec.judges[judge.id].temperature
    if temperature:
        return f"{judge.about}, temperature {temperature:g}."
    return f"{judge.about}."


def _cost(report: CardReport, judge: ShownJudge) -> str:
    rows = report.rows("cost").where(judge=judge.id)
    cost = price_in_words(rows)
    if free(rows):
        return cost
    replies = plural(round(rows.total("replies")), "reply", "replies")
    if price_per_1000(rows) is None:
        return f"{cost}, {replies}"
    return f"{cost}; {dollars(rows.total('usd'))} for {replies}"


def _covered(report: CardReport, judge: ShownJudge) -> str:
    tally = tally_of(report, judge)
    if not tally.asked:
        return "No judgment was asked of it."
    ok = tally.counts["ok"]
    of_all = f"{plural(tally.asked, 'judgment')} ({words.percent(ok / tally.asked)})"
    failed = [f"{count(n)} {spoken(name)}" for name, n in tally.failed.items()]
    if failed:
        return f"{count(ok)} of {of_all}: {words.listed(failed)}."
    return f"{count(ok)} of {of_all}."


def standing(report: Report, judge: ShownJudge) -> Section | None:
    """Return the evidence of every claim about the judge."""
    blocks = evidence_blocks(report, judge)
    if not blocks:
        return None
    about = claims(report, judge)
    if not judge.control:
        blocks.insert(0, Paragraph(sentence(report, judge, about), style="small"))
    number = len([claim for claim in about if claim.kind != FIRST])
    title = f"Evidence of {plural(number, 'claim')}"
    lead = "Numbers and signatures are lines of `tables/verdicts.csv`."
    return Section("evidence", title, lead, blocks)


def settings_section(report: CardReport, judge: ShownJudge) -> Section:
    """Return the settings of a judge and of its model."""
    settings = report.spec.settings[judge.id]
    blocks: list[PageBlock] = [
        _settings_table(f"The judge `{judge.id}`", _of_judge(settings, judge))
    ]
    name = str(settings.get("model"))
    model = report.spec.models.get(name)
    if model is not None:
        of_model = []
        for key, value in model.items():
            text = _prices(value) if key == "price" else _value(value)
            of_model.append((key, text, ""))
        blocks.append(_settings_table(f"Its model `{name}`", of_model))
    signature = _first_signature(report, judge)
    if signature:
        about = (
            "The signature of one of its numbers; those of its other numbers differ in "
            f"the parts {study.DIFFER}, on other datasets also in prompt, data and "
            "originals:"
        )
        blocks.append(Paragraph(about))
        blocks.append(Paragraph(f"`{signature}`"))
    lead = (
        "The judge's card as the study read it, and those settings of its model's card "
        "that affect a reply or a price. Keys, addresses, headers, programs and paths "
        "are never shown."
    )
    return Section("settings", "How it judges", lead, blocks)


def _first_signature(report: Report, judge: ShownJudge) -> str:
    for table in report.tables.values():
        for row in table.where(judge=judge.id):
            if row.signature:
                return row.signature
    return ""


def _of_judge(settings: Mapping[str, object], judge: ShownJudge) -> list[Setting]:
    card: type[Card] | type[DerivedJudge] = Card
    if judge.engine == "derived":
        card = DerivedJudge
    # Keys that matter for every judge of a kind are shown even with their default.
    always = {"form", "parser", "model", "share"}
    if judge.max_tokens:
        always |= {"draws", "temperature", "top_p", "max_tokens", "seed", "estimator"}
    rows: list[Setting] = []
    meanings = card.meanings()
    for key, field in card.model_fields.items():
        meaning = meanings[key].partition(". ")[0].rstrip(".")
        if settings.get(key) is not None:
            rows.append((key, _value(settings[key]), meaning))
        elif key in always and field.default not in (None, ""):
            rows.append((key, f"{_value(field.default)} (default)", meaning))
    prompts = settings.get("prompts")
    if isinstance(prompts, dict):
        for dataset, value in prompts.items():
            rows.append(("prompt", value, f"hash of its form and aspects on {dataset}"))
    return rows


def _prices(prices: object) -> str:
    assert isinstance(prices, dict), "the schema of a model's card ensures this"
    parts = []
    for key, about in (
        ("input", "of prompts"),
        ("output", "of replies"),
        ("cached_input", "of cached prompts"),
    ):
        price = prices.get(key)
        if price is not None:
            parts.append(f"{price:g} {about}")
    text = f"US$ per million tokens: {', '.join(parts)}"
    share = prices.get("batch", 1)
    if share != 1:
        return f"{text}; in a batch {share:.0%} of that"
    return text


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        parts = []
        for key, part in value.items():
            if part is not None:
                parts.append(f"{key}: {_value(part)}")
        return ", ".join(parts)
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _settings_table(caption: str, settings: list[Setting]) -> PageTable:
    columns = [TableColumn("Value", style="words")]
    with_meanings = any(meaning for _, _, meaning in settings)
    if with_meanings:
        columns.append(TableColumn("Meaning", style="words"))
    lines = []
    for key, value, meaning in settings:
        cells = [words_cell(value)]
        if with_meanings:
            cells.append(words_cell(meaning))
        lines.append(TableLine(key, cells))
    return PageTable(f"{caption}.", "Key", columns, [Body(lines)])


def address_in_words(row: ReportRow, judge: ShownJudge) -> str:
    """Return what a number is about, leaving out dataset, aspect and statistic."""
    other = f"against {rater(row.judge_b)}" if row.judge_b else ""
    if row.judge != judge.id:
        other = f"of {rater(row.judge)}, against this one"
    parts = (
        spoken(row.level),
        row.cell,
        row.criterion,
        other,
        f"beside {row.aspect_b}" if row.aspect_b else "",
        row.criterion_b,
        f"k = {row.k}" if row.k or row.k_b else "",
        f"to {row.k_b}" if row.k_b else "",
        row.form,
        f"texts of {row.system_subset}" if row.system_subset else "",
    )
    return " · ".join(filter(None, parts)) or "overall"


def every_number(report: Report, judge: ShownJudge) -> Section | None:
    """Return all numbers of a judge, folded, table by table within each dataset."""

    def folds(dataset: ShownDataset) -> Iterator[Fold]:
        for name in report.tables:
            rows = ReportRows(
                row
                for row in report.rows(name, dataset.id)
                if judge.id in (row.judge, row.judge_b)
            )
            if len(rows):
                yield _numbers(report, dataset, judge, name, rows)

    counts = {
        name: sum(judge.id in (row.judge, row.judge_b) for row in report.rows(name))
        for name in report.tables
    }
    number = sum(counts.values())
    if not number:
        return None
    if number > MOST_NUMBERS:
        return _where_numbers_are(report, judge, counts)
    blocks = by_dataset(report.datasets, "numbers", folds)
    lead = (
        "All numbers of this judge in the result tables: value, 95 % interval, n, "
        "missing observations and notes. The reason for a dash is below it. Numbers "
        "that are computed both with and without the reference texts are shown without "
        "them."
    )
    return Section("numbers", "All its numbers", lead, blocks)


def _where_numbers_are(
    report: Report, judge: ShownJudge, counts: Mapping[str, int]
) -> Section:
    """Return how many numbers of a judge are in which table, and how to print them."""
    study_card = report.spec.command.split(" ")[-1] or report.study
    facts = []
    for name, number in counts.items():
        if number:
            command = f"judgescope show {study_card} {name} --judge {judge.id}"
            facts.append((f"tables/{name}.csv: {plural(number, 'number')}", command))
    lead = "All numbers of this judge are in the study's tables; a command prints them."
    number = sum(counts.values())
    title = f"All its numbers: {count(number)}"
    return Section("numbers", title, lead, [Facts(facts, code=True)])


def _numbers(
    report: Report,
    dataset: ShownDataset,
    judge: ShownJudge,
    name: str,
    rows: ReportRows,
) -> Fold:
    """Return the numbers of a table: a body per statistic, a line per place, aspects
    across.
    """
    present = {*rows.names("aspect")}
    plain = [aspect.partition(".")[0] for aspect in dataset.aspects]
    overall = ""  # the aspect of numbers that are of no single one
    order = dict.fromkeys([*plain, AVERAGE, overall])
    order |= dict.fromkeys(sorted(present - {*order}))
    aspects = known_names(order, present)
    bodies = []
    for statistic, of_statistic in rows.by("statistic").items():
        by_address: dict[ReportRow, dict[str, ReportRow]] = {}
        for row in of_statistic:
            by_address.setdefault(_address(row), {})[row.aspect] = row
        lines = []
        for address, by_aspect in by_address.items():
            cells = [number(by_aspect.get(aspect)) for aspect in aspects]
            lines.append(TableLine(address_in_words(address, judge), cells))
        bodies.append(Body(lines, label(str(statistic))))
    titles = {overall: "Over all", AVERAGE: "Mean over aspects"}
    heads = [titles.get(aspect) or report.aspect(aspect) for aspect in aspects]
    table = PageTable(
        f"{dataset.name}: {spoken(name)}.",
        "Statistic and place",
        columns_of(heads),
        bodies,
        code=False,
        source=f"tables/{name}.csv",
    )
    return Fold(f"{spoken(name).capitalize()}: {plural(len(rows), 'number')}", [table])


def _address(row: ReportRow) -> ReportRow:
    """A row without its aspect and its number: what distinguishes it from the other
    rows of its statistic.
    """
    return row._replace(
        aspect="",
        value=None,
        ci_low=None,
        ci_high=None,
        n=0,
        n_missing=0,
        n_tied=0,
        method="",
        note="",
        signature="",
    )


def number(row: ReportRow | None) -> ReportCell:
    """Return a number with counts and note; an empty cell without a row."""
    if row is None:
        return NO_CELL
    counts = counts_of(row)
    if row.value is not None and not row.n:
        _, _, counts = counts.partition(", ")  # without n, which says nothing
    notes = tuple(filter(None, (counts, spoken(row.note))))
    style = "undefined" if row.value is None else "number told"
    return replace(estimate(row, counts=True), notes=notes, title="", style=style)


def _coverage(alone: CardReport, judge: ShownJudge) -> Section | None:
    """Return its judgments by status, with the way to each of them."""
    section = section_named("coverage", alone)
    if section is None:
        return None
    links = []
    for dataset in alone.datasets:
        href = f"../{elements.judgments_page(dataset=dataset.id, judge=judge.id)}"
        text = f"Look through its replies on {dataset.name}"
        links.append(elements.Link(text, href))
    heading = elements.Heading("Every reply", "replies")
    return replace(section, blocks=[*section.blocks, heading, *links])


def judge_card(spec: JudgeCardSpec) -> None:
    """Write the card of every judge, and delete those of an earlier state of the
    study.
    """
    folder = Path(spec.output)
    report = CardReport.load(spec)
    for judge, html in render(report):
        write_text(folder / f"{judge}.html", html)
    delete_stale(folder.glob("*.html"), ids_of(report.judges), "judge")
