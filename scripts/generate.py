"""Write what is generated: schemas and key tables from the typed cards, conda files from locks."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from judgescope.parsing.parsers import card_parsers
from judgescope.perturb.inject import ERRORS
from judgescope.perturb.rules import RULES
from judgescope.perturb.validation import CHECKS
from judgescope.schema import cards
from judgescope.schema.cards import KINDS, Card
from judgescope.schema.loading import adapter
from judgescope.statistics.derived import OF_OTHERS, Statistic
from judgescope.statistics.registry import STATISTICS

HOME = Path(__file__).resolve().parents[1]
STAGES = ("core", "test", "train", "vllm")
MARK = "<!-- generated from the typed cards by `make generated`: edit schema/cards instead -->"
SECTIONS: list[tuple[str, type[Card]]] = [
    ("Study (config/config.yaml, config/studies)", cards.Study),
    ("`comparison` of a study", cards.Comparison),
    ("`confusion` of a study", cards.Confusion),
    ("`references` of a study", cards.References),
    ("`distill` of a study", cards.Distillation),
    ("`recipe` of `distill`", cards.Recipe),
    ("`write` of `distill`", cards.NewTexts),
    ("Dataset (config/datasets)", cards.Dataset),
    ("a file on a hub", cards.Hub),
    ("an aspect of a dataset", cards.RatedAspect),
    ("`columns` of a dataset of format table", cards.Mapping),
    ("`select` of a dataset", cards.Select),
    ("`improve` of a dataset", cards.Improvement),
    ("Model (config/models), engine lexical or control", cards.LexicalModel),
    ("Model, engine recorded", cards.RecordedModel),
    ("`rows` of a recorded model", cards.RecordedRows),
    ("Model, engine openai", cards.OpenAIModel),
    ("Model, engine vllm", cards.VllmModel),
    ("`adapter` of a model", cards.Adapter),
    ("Model, engine command", cards.CommandModel),
    ("`price` of a model", cards.Price),
    ("`limits` of a model", cards.Limits),
    ("Judge (config/judges)", cards.Judge),
    ("`shots` of a judge", cards.Shots),
    ("`analyses` of `shots`", cards.Analyses),
    ("`hint` of a judge", cards.Hint),
    ("`severities` of a judge", cards.Severities),
    ("`annotation` of a judge", cards.Annotation),
    ("Judge, made from others", cards.DerivedJudge),
    ("a scale", cards.Scale),
    ("Aspect (config/aspects)", cards.Aspect),
    ("`tasks` of an aspect", cards.AspectInTask),
    ("`criteria` of an aspect", cards.Wording),
    ("Criterion (config/criteria)", cards.Criterion),
    ("Perturbation (config/perturbations), method rule", cards.RulePerturbation),
    ("Perturbation, methods llm and inject", cards.MadePerturbation),
    ("a degree of a perturbation", cards.Degree),
    ("`demonstrations` of a perturbation", cards.Demonstration),
    ("Perturbation, method graded", cards.GradedPerturbation),
    ("`anchors` of a graded set", cards.Anchoring),
    ("Weights (config/weights)", cards.Weights),
    ("Expectations (config/expectations)", cards.Expectations),
    ("a perturbation of expectations", cards.Expected),
]


def generated() -> Iterator[tuple[Path, str]]:
    """Yield (path, content) of every generated file."""
    for kind in KINDS:
        schema = json.dumps(adapter(kind).json_schema(), indent=1, sort_keys=True)
        yield HOME / "workflow" / "schemas" / f"{kind}.json", schema + "\n"
    guide = HOME / "config" / "README.md"
    head = guide.read_text(encoding="utf-8").partition(MARK)[0]
    keys = "".join(key_table(*one) for one in SECTIONS)
    yield guide, f"{head}{MARK}\n{keys}{rules_table()}{names_table()}"
    yield HOME / "docs" / "statistics.md", statistics_text()
    for stage in STAGES:
        yield HOME / "envs" / f"{stage}.yaml", conda_text(HOME / "envs" / f"{stage}.txt")


def key_table(title: str, card: type[Card]) -> str:
    """Return a section of config/README.md: every key of a card with its values and default."""
    lines = [f"\n### {title[0].upper()}{title[1:]}\n\n| key | value | default | meaning |"]
    lines.append("|---|---|---|---|")
    schema = card.model_json_schema()
    for name, told in schema["properties"].items():
        default = "needed" if name in schema.get("required", []) else _default(told)
        lines.append(f"| `{name}` | {_values(told)} | {default} | {told.get('description', '')} |")
    return "\n".join(lines) + "\n"


def _default(told: dict[str, object]) -> str:
    return "" if told.get("default") in (None, [], {}, "") else f"`{json.dumps(told['default'])}`"


def _values(told: dict[str, object]) -> str:
    """Return a key's possible values in a few words."""
    if "anyOf" in told:
        options = [_values(one) for one in told["anyOf"]]  # type: ignore[attr-defined]
        return " or ".join(dict.fromkeys(one for one in options if one != "null"))
    if "enum" in told:
        return ", ".join(f"`{one}`" for one in told["enum"])  # type: ignore[attr-defined]
    if "const" in told:
        return f"`{told['const']}`"
    kinds = {"array": "list", "object": "mapping", "boolean": "`true`, `false`"}
    plain = {"string": "text", "number": "number", "integer": "whole number", "null": "null"}
    return (kinds | plain).get(str(told.get("type")), "mapping")


def statistics_text() -> str:
    """Return docs/statistics.md: every statistic of the result tables."""
    shown = [(f"`{name}`", told) for name, told in STATISTICS.items()]
    about = [(f"`{prefix}_<other>`", told) for prefix, told in OF_OTHERS.items()]
    return (
        "# Statistics of the result tables\n\n"
        "Generated from scripts/judgescope/statistics/registry.py by `make generated`. A name "
        "never changes its meaning.\n"
        + _statistics_table(shown)
        + "\nOf another statistic or status:\n"
        + _statistics_table(about)
    )


def _statistics_table(rows: list[tuple[str, Statistic]]) -> str:
    lines = ["\n| statistic | in the report | meaning | range | source |", "|---|---|---|---|---|"]
    for name, told in rows:
        label = told.label.replace("{}", "…")
        lines.append(f"| {name} | {label} | {told.meaning} | {told.range} | {told.source} |")
    return "\n".join(lines) + "\n"


def rules_table() -> str:
    """Return the section on the rules that a perturbation can name."""
    lines = ["\n### Rules of perturbations\n\n| rule | level | options |", "|---|---|---|"]
    for name, rule in RULES.items():
        options = ", ".join(f"`{key}`: {option}" for key, option in rule.options.items())
        lines.append(f"| `{name}` | {rule.level} | {options} |")
    return "\n".join(lines) + "\n"


def names_table() -> str:
    """Return the section on the names that cards can give for parsers, errors and checks."""
    lines = ["\n### Parsers, errors and checks\n\n| key | names |", "|---|---|"]
    for key, names in (
        ("`parser` of a judge", card_parsers()),
        ("`errors` of a perturbation", ERRORS),
        ("`checks` of a perturbation", CHECKS),
    ):
        lines.append(f"| {key} | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines) + "\n"


def conda_text(lock: Path) -> str:
    """Return the conda environment that holds exactly what a lock file pins."""
    pins = re.findall(r"^([\w.-]+==[^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    head = ["channels:", "  - conda-forge", "  - nodefaults", "dependencies:", "  - python=3.11"]
    return "\n".join([*head, "  - pip", "  - pip:", *(f"      - {pin}" for pin in pins)]) + "\n"


if __name__ == "__main__":
    for path, content in generated():
        path.write_text(content, encoding="utf-8")
