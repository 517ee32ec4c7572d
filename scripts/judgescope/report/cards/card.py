"""The card of one judge: an offline page with what it is, its settings and every number."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup
from msgspec import structs

from judgescope.engines import PROMPTED
from judgescope.report.cards import cases
from judgescope.report.cards.cases import Reader
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Fold,
    Heading,
    Line,
    Link,
    Section,
    Table,
    Text,
    estimate,
    interval,
    words_cell,
)
from judgescope.report.headline import PERSON, Measure, best_control, measures
from judgescope.report.html import finished
from judgescope.report.numbers import DASH, THOUSAND, count, dollars, listed, percent, plural
from judgescope.report.page import filled, table_script
from judgescope.report.report import CardReport, Dataset, Judge, Report
from judgescope.report.rows import Row
from judgescope.report.sections import coverage, replies
from judgescope.report.sections.cost import free, price_per_1000
from judgescope.report.sections.coverage import Tally
from judgescope.report.sections.discernment import style_blocks
from judgescope.report.sections.judges import letters
from judgescope.report.sections.known_order import AVERAGE
from judgescope.report.sections.trust import Claim, claims, evidence, reasons, verdicts
from judgescope.report.words import label, spoken, written
from judgescope.schema.cards import DerivedJudge
from judgescope.schema.cards import Judge as Card

DEFAULT = "default"
OF_PROMPTS = (
    *("draws", "temperature", "top_p", "max_tokens", "seed", "estimator", "share"),
    *("form", "parser", "model"),
)
"""Keys that always say something of a judge that reads prompts: shown with their default, too."""
OF_OTHERS = ("form", "parser", "model", "share")
PER_MILLION = {"input": "of prompts", "output": "of replies", "cached_input": "of cached prompts"}
SETTINGS_LEAD = (
    "The judge's card as the study read it, and what of its model's card changes a reply or a "
    "price. Keys, addresses, headers, programs and paths are never shown."
)
NO_NUMBER = Cell("", style="none")
Setting = tuple[str, str, str]
"""Key, value, and what the key means."""
OVERALL = ""
"""The aspect of numbers that are of no single one."""


def facts(report: CardReport, judge: Judge) -> list[tuple[str, str]]:
    """Return what a reader wants to know first, each a name and a sentence."""
    return [
        ("What it is", _is(report, judge)),
        *_trusted(report, judge),
        ("What it costs", _costs(report, judge)),
        ("What came back", _covered(report, judge)),
    ]


def _is(report: CardReport, judge: Judge) -> str:
    temperature = report.spec.judges[judge.id].temperature
    if judge.control:
        return f"A control: {judge.about}. Judges should do better; nobody should use it."
    sampled = (
        f", temperature {temperature:g}" if isinstance(temperature, float) and temperature else ""
    )
    return f"{judge.about}{sampled}."


def _trusted(report: Report, judge: Judge) -> Iterator[tuple[str, str]]:
    """Yield what may be said of the judge; of a control nothing of the kind is asked."""
    own = [] if judge.control else claims(report, judge)
    if own:
        yield from ((title, f"{told}.") for title, told in verdicts(report, own))


def _costs(report: Report, judge: Judge) -> str:
    rows = report.rows("cost").where(judge=judge.id)
    if free(rows):
        return "Nothing: no token is bought for it."
    replies = round(sum(row.value or 0 for row in rows.where(statistic="replies")))
    price = price_per_1000(rows)
    if price is None:
        return f"Not known: its model has no price. {plural(replies, 'reply', 'replies')}."
    total = sum(row.value or 0 for row in rows.where(statistic="usd"))
    each = f"US$ {dollars(price)} per {THOUSAND} judgments"
    return f"{each}; {dollars(total)} for all {count(replies)} replies."


def _covered(report: Report, judge: Judge) -> str:
    counts = Tally.of(report.rows("coverage").where(judge=judge.id)).counts
    asked = counts.total() - counts["not_applicable"]
    if not asked:
        return "Nothing was asked of it."
    failed = [
        f"{count(n)} {spoken(name)}"
        for name, n in counts.items()
        if n and name not in ("ok", "not_applicable")
    ]
    why = f": {listed(failed)}" if failed else ""
    share = percent(counts["ok"] / asked)
    return f"A value from {count(counts['ok'])} of {plural(asked, 'judgment')} ({share}){why}."


def standing(report: Report, judge: Judge) -> Section | None:
    """Return the judge's headline numbers beside controls and other judges, and every claim."""
    own = [] if judge.control else claims(report, judge)
    blocks: list[Block] = []
    for dataset in report.datasets:
        shown = [one for one in measures(report, dataset) if one.row(report, dataset, judge)]
        if shown:
            table = _standing_table(report, dataset, judge, shown, own)
            blocks += [Heading(dataset.name, f"stands-{dataset.id}"), table]
    if not blocks:
        return None
    if own:
        blocks.append(Fold("Every claim, and what it rests on", [evidence(report, own)]))
    lead = (
        "What each method comes down to. The rank is by point estimate among the judges that are "
        "no controls; those that share a letter are not told apart."
    )
    return Section("stands", "Where it stands", lead, blocks)


def _standing_table(
    report: Report,
    dataset: Dataset,
    judge: Judge,
    shown: Sequence[Measure],
    own: Sequence[Claim],
) -> Table:
    said = "the planned ratings" if dataset.planned else "people's ratings"
    people = any(one.row(report, dataset, PERSON) for one in shown)
    columns = [Column("This judge"), Column("Rank"), Column("Best control")]
    columns += [Column("One rater")] if people else []
    columns += [Column("Because", style="words")] if own else []
    why = {
        claim.row: "; ".join([spoken(claim.outcome), *reasons(claim)]) for claim in reversed(own)
    }
    lines = []
    for one in shown:
        row = one.row(report, dataset, judge)
        because = [words_cell(why.get(row, "") if row else "")] if own else []
        told = [estimate(row, counts=True), _rank(report, dataset, judge, one)]
        told.append(_control(report, dataset, one))
        told += [_person(report, dataset, one)] if people else []
        lines.append(Line(one.name(report), [*told, *because], one.group))
    caption = f"{dataset.name}: its headline numbers; agreement is with {said}."
    return Table(caption, "Measure", columns, [Body(lines)], code=False)


def _rank(report: Report, dataset: Dataset, judge: Judge, measure: Measure) -> Cell:
    """Return the judge's place by point estimate among the judges that are no controls.

    A judge that is given a rating of the text has none, and is none of the others.
    """
    if judge.hint:
        return Cell("–", notes=(f"hint: {judge.hint}",), style="undefined")
    rows = {
        one.id: row.value
        for one in report.judges
        if not one.control
        and not one.hint
        and (row := measure.row(report, dataset, one))
        and row.value is not None
    }
    mine = rows.get(judge.id)
    if mine is None:
        return Cell("–", style="undefined")
    rank = 1 + sum(measure.merit(value) > measure.merit(mine) for value in rows.values())
    shared = letters(report, dataset, measure, judge)
    return Cell(f"{rank} of {len(rows)}", notes=(shared,) if shared else (), sort=rank)


def _person(report: Report, dataset: Dataset, measure: Measure) -> Cell:
    """Return what a rater gets in a judge's place."""
    row = measure.row(report, dataset, PERSON)
    return estimate(row) if row else Cell("–", style="undefined")


def _control(report: Report, dataset: Dataset, measure: Measure) -> Cell:
    row = best_control(report, dataset, measure)
    if row is None:
        return Cell("–", style="undefined")
    cell = estimate(row)
    return replace(cell, notes=(*cell.notes, row.judge))


def settings_section(report: CardReport, judge: Judge) -> Section:
    """Return the settings of a judge and of its model."""
    settings = report.spec.settings[judge.id]
    blocks: list[Block] = [_settings_table(f"The judge `{judge.id}`", _of_judge(settings, judge))]
    name = str(settings.get("model"))
    if (model := report.spec.models.get(name)) is not None:
        blocks.append(_settings_table(f"Its model `{name}`", _of_model(model)))
    signed = _signature(report, judge)
    if signed:
        blocks.append(Text("The signature of one of its numbers; others differ in stat and level:"))
        blocks.append(Text(f"`{signed}`"))
    return Section("settings", "How it judges", SETTINGS_LEAD, blocks)


def _of_judge(settings: Mapping[str, object], judge: Judge) -> list[Setting]:
    card: type[Card] | type[DerivedJudge] = DerivedJudge if judge.engine == "derived" else Card
    always = OF_PROMPTS if judge.engine in PROMPTED else OF_OTHERS
    found: list[Setting] = []
    for key, field in card.model_fields.items():
        meaning = (field.description or "").partition(". ")[0].rstrip(".")
        if settings.get(key) is not None:
            found.append((key, _value(settings[key]), meaning))
        elif key in always and field.default not in (None, ""):
            found.append((key, f"{_value(field.default)} ({DEFAULT})", meaning))
    prompts = settings.get("prompts")
    for dataset, value in prompts.items() if isinstance(prompts, dict) else ():
        found.append(("prompt", value, f"hash of its form and aspects on {dataset}"))
    return found


def _of_model(settings: Mapping[str, object]) -> list[Setting]:
    return [
        (key, _price(value) if key == "price" else _value(value), "")
        for key, value in settings.items()
    ]


def _price(prices: object) -> str:
    assert isinstance(prices, dict), "the rules of a model's card say so"
    each = [f"{value:g} {PER_MILLION[key]}" for key, value in prices.items() if value is not None]
    return f"US$ per million tokens: {', '.join(each)}"


def _value(value: object) -> str:
    """Return a value of a card as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_value(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _settings_table(caption: str, settings: list[Setting]) -> Table:
    meant = any(meaning for _, _, meaning in settings)
    lines = [
        Line(key, [words_cell(value), *([words_cell(meaning)] if meant else [])])
        for key, value, meaning in settings
    ]
    columns = [Column("Value", style="words")]
    columns += [Column("Meaning", style="words")] if meant else []
    return Table(f"{caption}.", "Key", columns, [Body(lines)])


def _signature(report: Report, judge: Judge) -> str:
    """Return the signature of the judge's first number, "" if it has none."""
    rows = (row for table in report.tables.values() for row in table if row.judge == judge.id)
    return next((row.signature for row in rows if row.signature), "")


class Where(NamedTuple):
    """What tells a number from those of the same statistic, but for the aspect."""

    level: str
    cell: str
    criterion: str
    judge: str
    judge_b: str
    aspect_b: str
    criterion_b: str
    k: int
    k_b: int
    form: str
    systems: str

    @classmethod
    def of(cls, row: Row) -> "Where":
        """Return the place of a row."""
        return cls(*_place(row))

    def told(self, judge: Judge) -> str:
        """Return the place in words."""
        other = f"against {self.judge_b}" if self.judge_b else ""
        if self.judge != judge.id:
            other = f"of {self.judge}, against this one"
        parts = (
            *(spoken(self.level), self.cell, self.criterion, other),
            f"beside {self.aspect_b}" if self.aspect_b else "",
            self.criterion_b,
            f"k = {self.k}" if self.k or self.k_b else "",
            f"to {self.k_b}" if self.k_b else "",
            self.form,
            f"texts of {self.systems}" if self.systems else "",
        )
        return " · ".join(part for part in parts if part) or "overall"


_place = attrgetter(*Where._fields)


def every_number(report: Report, judge: Judge) -> Section | None:
    """Return all numbers of a judge, folded, table by table within each dataset."""
    index = report.once("rows by judge", lambda: _by_judge(report))
    blocks: list[Block] = []
    for dataset in report.datasets:
        folds = [
            _fold(report, dataset, judge, name, rows)
            for name in report.tables
            if (rows := index.get((name, dataset.id, judge.id)))
        ]
        if folds:
            blocks += [Heading(dataset.name, f"numbers-{dataset.id}"), *folds]
    lead = (
        "All that the result tables say of this judge: value, 95 % interval, n, what is missing, "
        "and what has to be known of it. A dash has its reason below. Where a number stands with "
        "and without the texts that are references, it is the one without."
    )
    return Section("numbers", "All its numbers", lead, blocks) if blocks else None


def _by_judge(report: Report) -> dict[tuple[str, str, str], list[Row]]:
    """Return (table, dataset, judge) -> the rows about the judge, also as the one compared with."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for name, table in report.tables.items():
        for row in table:
            for judge in {row.judge, row.judge_b}:
                found.setdefault((name, row.dataset, judge), []).append(row)
    return found


def _fold(report: Report, dataset: Dataset, judge: Judge, name: str, rows: list[Row]) -> Fold:
    found = {row.aspect for row in rows}
    plain = list(dict.fromkeys(aspect.partition(".")[0] for aspect in dataset.aspects))
    order = [*plain, AVERAGE, OVERALL]
    order += sorted(found - {*order})
    aspects = [aspect for aspect in order if aspect in found]
    statistics: dict[str, dict[Where, dict[str, Row]]] = {}
    for row in rows:
        statistics.setdefault(row.statistic, {}).setdefault(Where.of(row), {})[row.aspect] = row
    bodies = []
    for statistic, places in statistics.items():
        lines = [
            Line(place.told(judge), [number(by_aspect.get(aspect)) for aspect in aspects])
            for place, by_aspect in places.items()
        ]
        bodies.append(Body(lines, label(statistic)))
    columns = [Column(_aspect(report, aspect)) for aspect in aspects]
    table = Table(
        f"{dataset.name}: {spoken(name)}.",
        "Statistic and place",
        columns,
        bodies,
        code=False,
        source=f"tables/{name}.csv",
    )
    return Fold(f"{spoken(name).capitalize()}: {plural(len(rows), 'number')}", [table])


def _aspect(report: Report, aspect: str) -> str:
    names = {OVERALL: "Over all", AVERAGE: "Mean over aspects"}
    return names.get(aspect) or report.aspect(aspect)


def number(row: Row | None) -> Cell:
    """Return a number with all that belongs to it; an empty cell where there is none."""
    if row is None:
        return NO_NUMBER
    counts = [f"n = {count(row.n)}"] if row.n or row.value is None else []
    counts += [f"{count(row.n_missing)} missing"] if row.n_missing else []
    counts += [f"{count(row.n_tied)} tied"] if row.n_tied else []
    notes = tuple(part for part in (", ".join(counts), spoken(row.note)) if part)
    if row.value is None:
        return Cell(DASH, notes=notes, style="undefined")
    return Cell(
        written(row.statistic, row.value),
        interval=interval(row),
        notes=notes,
        sort=row.value,
        style="number told",
        row=row,
    )


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
        facts=facts(report, judge),
        sections=list(_sections(report, judge, readers)),
        style=Markup(style),
        script=Markup(script),
    )
    return finished(page, script)


def _sections(report: CardReport, judge: Judge, readers: Sequence[Reader]) -> Iterator[Section]:
    """Yield the sections of a card, in the order of the page."""
    alone = narrowed(report, judge)
    made = (
        standing(report, judge),
        settings_section(report, judge),
        cases.section(readers, judge),
        _styles(alone),
        replies.repeatability(alone),
        replies.pairwise(alone),
        _coverage(alone, judge),
        every_number(report, judge),
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
