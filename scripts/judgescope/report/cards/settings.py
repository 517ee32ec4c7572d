"""How a judge judges: its card as it was validated, with what it leaves to the defaults."""

from collections.abc import Mapping

from judgescope.report.elements import Block, Body, Column, Line, Section, Table, Text, words_cell
from judgescope.report.report import CardReport, Judge, Report
from judgescope.schema.cards import PROMPTED, DerivedJudge
from judgescope.schema.cards import Judge as Card

DEFAULT = "default"
OF_PROMPTS = (
    *("draws", "temperature", "top_p", "max_tokens", "seed", "estimator", "share"),
    *("form", "parser", "model"),
)
"""Keys that always say something of a judge that reads prompts: shown with their default, too."""
OF_OTHERS = ("form", "parser", "model", "share")
PER_MILLION = {"input": "of prompts", "output": "of replies", "cached_input": "of cached prompts"}
LEAD = (
    "The judge's card as the study read it, and what of its model's card changes a reply or a "
    "price. Keys, addresses, headers, programs and paths are never shown."
)


def section(report: CardReport, judge: Judge) -> Section:
    """Return the settings of a judge and of its model."""
    settings = report.spec.settings[judge.id]
    blocks: list[Block] = [_table(f"The judge `{judge.id}`", _of_judge(settings, judge))]
    name = str(settings.get("model"))
    if (model := report.spec.models.get(name)) is not None:
        blocks.append(_table(f"Its model `{name}`", _of_model(model)))
    signed = _signature(report, judge)
    if signed:
        blocks.append(Text("The signature of one of its numbers; others differ in stat and level:"))
        blocks.append(Text(f"`{signed}`"))
    return Section("settings", "How it judges", LEAD, blocks)


Setting = tuple[str, str, str]
"""Key, value, and what the key means."""


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


def _table(caption: str, settings: list[Setting]) -> Table:
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
