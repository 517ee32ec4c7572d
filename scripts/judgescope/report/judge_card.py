"""The card of one judge: an offline page with what it is, its settings and every
number.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from judgescope.core.files import write_text
from judgescope.engines import PROMPTED
from judgescope.report import elements, words, worst_cases
from judgescope.report.cells import NO_CELL, Cell, counts_of, estimate, words_cell
from judgescope.report.claims import claims
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Fold,
    Line,
    Section,
    Table,
    Text,
)
from judgescope.report.html import page_from
from judgescope.report.page import SCRIPTS, STYLE, delete_stale, filled
from judgescope.report.report import CardReport, Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections import agreement, study
from judgescope.report.sections.cost import free, price_in_words, price_per_1000
from judgescope.report.sections.discernment import style_blocks
from judgescope.report.sections.trust import answer, evidence, sentence
from judgescope.report.specs import JudgeCardSpec
from judgescope.report.tables import AVERAGE, by_dataset, rater
from judgescope.report.words import count, dollars, label, plural, spoken
from judgescope.schema.cards import DerivedJudge
from judgescope.schema.cards import Judge as Card

STYLES = (STYLE, "texts/style.css", "report/judge.css")
DEFAULT = "default"
OF_PROMPTS = (
    *("draws", "temperature", "top_p", "max_tokens", "seed", "estimator", "share"),
    *("form", "parser", "model"),
)
"""Keys that matter for every judge that reads prompts: shown even with their
default."""
OF_OTHERS = ("form", "parser", "model", "share")
PER_MILLION = {
    "input": "of prompts",
    "output": "of replies",
    "cached_input": "of cached prompts",
}
SETTINGS_LEAD = (
    "The judge's card as the study read it, and those settings of its model's card "
    "that affect a reply or a price. Keys, addresses, headers, programs and paths are "
    "never shown."
)
STANDING_LEAD = (
    "What the first page says of this judge, with the number and the test "
    "behind each claim."
)
NUMBERS_LEAD = (
    "All numbers of this judge in the result tables: value, 95 % interval, n, missing "
    "observations and notes. The reason for a dash is below it. Numbers that are "
    "computed both with and without the reference texts are shown without them."
)
STYLE_LEAD = (
    "How it uses its scale: where its scores of originals and of perturbed texts lie."
)
Setting = tuple[str, str, str]
"""Key, value, and what the key means."""
NUMBERS = (
    "value",
    "ci_low",
    "ci_high",
    "n",
    "n_missing",
    "n_tied",
    "method",
    "note",
    "signature",
)
NO_PLACE = {name: Row._field_defaults[name] for name in ("aspect", *NUMBERS)}
"""Fields of a row that do not distinguish it from the other rows of its statistic."""
OVERALL = ""
"""The aspect of numbers that are of no single one."""


def render(report: CardReport) -> Iterator[tuple[str, str]]:
    """Yield each judge's id and its page."""
    readers = [worst_cases.Reader(report, dataset) for dataset in report.datasets]
    for judge in report.judges:
        page = page_from(
            filled().get_template("judge.html.jinja"),
            STYLES,
            SCRIPTS,
            study=report.study,
            judge=judge,
            judges=report.judges,
            facts=facts(report, judge),
            sections=list(_sections(report, judge, readers)),
            contents=(),
        )
        yield judge.id, page


def _sections(
    report: CardReport, judge: Judge, readers: Sequence[worst_cases.Reader]
) -> Iterator[Section]:
    facts_of_study = structs.replace(report.spec.study, judges=[judge.id])
    tables = {name: rows.where(judge=judge.id) for name, rows in report.tables.items()}
    spec = structs.replace(report.spec, study=facts_of_study, cards=None)
    alone = replace(report, spec=spec, tables=tables)  # a report of this judge alone
    style = [
        block
        for each in alone.datasets
        for block in style_blocks(alone, each, alone.judges)
    ]
    made = (
        standing(report, judge),
        settings_section(report, judge),
        worst_cases.section(readers, judge),
        Section("style", "Response style", STYLE_LEAD, style) if style else None,
        agreement.repeatability(alone),
        agreement.pairwise(alone),
        _coverage(alone, judge),
        every_number(report, judge),
    )
    yield from (section for section in made if section is not None)


def facts(report: CardReport, judge: Judge) -> list[tuple[str, str]]:
    """Return the key facts, each a name and a sentence."""
    if judge.control:
        kind = (
            f"A control: {judge.about}. Judges should do better; do not use it as a "
            "judge."
        )
    elif judge.planted:
        kind = (
            f"A planted judge, to test what this study finds; no real judge. "
            f"{judge.about.capitalize()}."
        )
    else:
        temperature = report.spec.judges[judge.id].temperature
        kind = (
            f"{judge.about}{f', temperature {temperature:g}' if temperature else ''}."
        )
    rows, tally = (
        report.rows("cost").where(judge=judge.id),
        study.tally_of(report, judge),
    )
    replies, cost = round(rows.total("replies")), price_in_words(rows)
    if not free(rows):
        known = price_per_1000(rows) is not None
        total = f"; {dollars(rows.total('usd'))} for" if known else ","
        cost += f"{total} {plural(replies, 'reply', 'replies')}"
    covered, ok = "No judgment was asked of it.", tally.counts["ok"]
    if tally.asked:
        failed = words.listed(
            [f"{count(n)} {spoken(name)}" for name, n in tally.failed.items()]
        )
        of_all = (
            f"{plural(tally.asked, 'judgment')} ({words.percent(ok / tally.asked)})"
        )
        covered = f"{count(ok)} of {of_all}{f': {failed}' if failed else ''}."
    return [
        ("What it is", kind),
        *(
            []
            if judge.control
            else [("In short", answer(report, judge, claims(report, judge)))]
        ),
        ("What it costs", f"{cost[0].upper()}{cost[1:]}."),
        ("Usable judgments", covered),
    ]


def standing(report: Report, judge: Judge) -> Section | None:
    """Return every claim about the judge with its evidence."""
    if not (about := claims(report, judge)):
        return None
    blocks: list[Block] = [evidence(report, about, "claim")]
    if not judge.control:
        blocks.insert(0, Text(sentence(report, judge, about)))
    return Section("stands", "Verdicts", STANDING_LEAD, blocks)


def settings_section(report: CardReport, judge: Judge) -> Section:
    """Return the settings of a judge and of its model."""
    settings = report.spec.settings[judge.id]
    blocks: list[Block] = [
        _settings_table(f"The judge `{judge.id}`", _of_judge(settings, judge))
    ]
    name = str(settings.get("model"))
    if (model := report.spec.models.get(name)) is not None:
        of_model = [
            (key, _value(value) if key != "price" else _prices(value), "")
            for key, value in model.items()
        ]
        blocks.append(_settings_table(f"Its model `{name}`", of_model))
    rows = (
        row for table in report.tables.values() for row in table.where(judge=judge.id)
    )
    if signature := next((row.signature for row in rows if row.signature), ""):
        about = (
            "The signature of one of its numbers; those of its other numbers differ in "
            f"the parts {study.DIFFER}, on other datasets also in prompt, data and "
            "originals:"
        )
        blocks += [Text(about), Text(f"`{signature}`")]
    return Section("settings", "How it judges", SETTINGS_LEAD, blocks)


def _of_judge(settings: Mapping[str, object], judge: Judge) -> list[Setting]:
    card: type[Card] | type[DerivedJudge] = (
        DerivedJudge if judge.engine == "derived" else Card
    )
    always = OF_PROMPTS if judge.engine in PROMPTED else OF_OTHERS
    rows: list[Setting] = []
    meanings = card.meanings()
    for key, field in card.model_fields.items():
        meaning = meanings[key].partition(". ")[0].rstrip(".")
        if settings.get(key) is not None:
            rows.append((key, _value(settings[key]), meaning))
        elif key in always and field.default not in (None, ""):
            rows.append((key, f"{_value(field.default)} ({DEFAULT})", meaning))
    prompts = settings.get("prompts")
    for dataset, value in prompts.items() if isinstance(prompts, dict) else ():
        rows.append(("prompt", value, f"hash of its form and aspects on {dataset}"))
    return rows


def _prices(prices: object) -> str:
    assert isinstance(prices, dict), "the schema of a model's card ensures this"
    named = [(prices.get(key), of) for key, of in PER_MILLION.items()]
    each = ", ".join(f"{value:g} {of}" for value, of in named if value is not None)
    share = prices.get("batch", 1)
    batch = f"; in a batch {share:.0%} of that" if share != 1 else ""
    return f"US$ per million tokens: {each}{batch}"


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key}: {_value(one)}" for key, one in value.items() if one is not None
        )
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _settings_table(caption: str, settings: list[Setting]) -> Table:
    width = 2 if any(meaning for _, _, meaning in settings) else 1
    columns = [Column(head, style="words") for head in ("Value", "Meaning")[:width]]
    lines = [
        Line(key, [words_cell(text) for text in texts[:width]])
        for key, *texts in settings
    ]
    return Table(f"{caption}.", "Key", columns, [Body(lines)])


def place_in_words(row: Row, judge: Judge) -> str:
    """Return what a number is about, leaving out dataset, aspect and statistic."""
    other = f"against {rater(row.judge_b)}" if row.judge_b else ""
    if row.judge != judge.id:
        other = f"of {rater(row.judge)}, against this one"
    parts = (
        *(spoken(row.level), row.cell, row.criterion, other),
        f"beside {row.aspect_b}" if row.aspect_b else "",
        row.criterion_b,
        f"k = {row.k}" if row.k or row.k_b else "",
        f"to {row.k_b}" if row.k_b else "",
        row.form,
        f"texts of {row.system_subset}" if row.system_subset else "",
    )
    return " · ".join(part for part in parts if part) or "overall"


def every_number(report: Report, judge: Judge) -> Section | None:
    """Return all numbers of a judge, folded, table by table within each dataset."""

    def folds(dataset: Dataset) -> Iterator[Fold]:
        for name in report.tables:
            frame = report.rows(name, dataset.id).frame
            rows = Rows(
                frame[(frame["judge"] == judge.id) | (frame["judge_b"] == judge.id)]
            )
            if len(rows):
                yield _numbers(report, dataset, judge, name, rows)

    blocks = by_dataset(report.datasets, "numbers", folds)
    return (
        Section("numbers", "All its numbers", NUMBERS_LEAD, blocks) if blocks else None
    )


def _numbers(
    report: Report, dataset: Dataset, judge: Judge, name: str, rows: Rows
) -> Fold:
    """Return the numbers of a table: a body per statistic, a line per place, aspects
    across.
    """
    present = {*rows.names("aspect")}
    plain = [aspect.partition(".")[0] for aspect in dataset.aspects]
    known = dict.fromkeys([*plain, AVERAGE, OVERALL])
    aspects = [
        aspect for aspect in [*known, *sorted(present - {*known})] if aspect in present
    ]
    bodies = []
    for statistic, of_statistic in rows.by("statistic").items():
        places: dict[Row, dict[str, Row]] = {}
        for row in of_statistic:
            places.setdefault(row._replace(**NO_PLACE), {})[row.aspect] = row
        lines = [
            Line(
                place_in_words(place, judge),
                [number(each.get(aspect)) for aspect in aspects],
            )
            for place, each in places.items()
        ]
        bodies.append(Body(lines, label(str(statistic))))
    titles = {OVERALL: "Over all", AVERAGE: "Mean over aspects"}
    table = Table(
        f"{dataset.name}: {spoken(name)}.",
        "Statistic and place",
        [Column(titles.get(aspect) or report.aspect(aspect)) for aspect in aspects],
        bodies,
        code=False,
        source=f"tables/{name}.csv",
    )
    return Fold(f"{spoken(name).capitalize()}: {plural(len(rows), 'number')}", [table])


def number(row: Row | None) -> Cell:
    """Return a number with counts and note; an empty cell without a row."""
    if row is None:
        return NO_CELL
    counts = (
        counts_of(row)
        if row.n or row.value is None
        else counts_of(row).partition(", ")[2]
    )
    notes = tuple(filter(None, (counts, spoken(row.note))))
    style = "undefined" if row.value is None else "number told"
    return replace(estimate(row, counts=True), notes=notes, title="", style=style)


def _coverage(alone: CardReport, judge: Judge) -> Section | None:
    """Return its judgments by status, with the way to each of them."""
    if (section := study.coverage(alone)) is None:
        return None
    links = [
        elements.Link(
            f"Look through its replies on {dataset.name}",
            worst_cases.explore(dataset=dataset.id, judge=judge.id),
        )
        for dataset in alone.datasets
    ]
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
    delete_stale(folder.glob("*.html"), [judge.id for judge in report.judges], "judge")
