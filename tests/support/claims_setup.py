"""Small studies from their claims alone: rows of table `verdicts`, and their report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import report_study as study
from judgescope.report.report import Report

Row = dict[str, Any]
AGREEMENT: Row = {"aspect": "fluency", "level": "within_source", "form": "agreement"}
NUMBERS = {
    "agreement": ("normal_scores", "within_source"),
    "labels": ("balanced_accuracy", "pooled"),
    "caught": ("tnr", "pooled"),
    "passed": ("tpr", "pooled"),
    "pairs": ("half_credit", "pooled"),
    "perturbation": ("D_exact", ""),
}
"""Kind of claims -> its deciding number and level."""
LEXICAL: Row = {
    "engine": "lexical",
    "form": "rouge1",
    "model": "lexical",
    "parser": "number",
}
MODEL: Row = {
    "engine": "openai",
    "form": "rate",
    "model": "m",
    "parser": "number",
    "max_tokens": 5,
}


def claim(
    judge: str,
    value: float | None,
    note: str = "better",
    kind: str = "agreement",
    **given: Any,
) -> Iterator[Row]:
    """Yield the rows of a claim: its number, further ones, and its verdict.

    `given`: `others`, further statistics (a value, or (value, note)); `half`, half the
    width of the interval; all else is the place of the claim.
    """
    half = given.pop("half", 0.1)
    others: Row = given.pop("others", {})
    location = given
    name, level = NUMBERS.get(kind, (kind.partition(" ")[2] or "spearman", "pooled"))
    where: Row = {
        **AGREEMENT,
        "form": kind,
        "level": level,
        "n": 24,
        "dataset": "chat",
        **location,
    }
    dataset = where.pop("dataset")
    number = study.row(dataset, judge, name, value, **where)
    if value is not None:
        number |= {"ci_low": value - half, "ci_high": value + half}
    yield number
    for other, value_of in others.items():
        number, words = value_of if isinstance(value_of, tuple) else (value_of, "")
        yield study.row(dataset, judge, other, number, **where) | {"note": words}
    verdict = study.row(dataset, judge, "verdict", 2.0, **where | {"note": note})
    yield verdict | {"ci_low": None, "ci_high": None}


def person(value: float, **cell: Any) -> Row:
    """The row of one rater's agreement with the others."""
    where: Row = {**AGREEMENT, "n": 24, "dataset": "chat", **cell}
    dataset = where.pop("dataset")
    statistic = where.pop("statistic", "normal_scores")
    return study.row(dataset, "human", statistic, value, **where)


def of_judges(
    folder: Path,
    names: Sequence[str],
    rows: Sequence[Row],
    *,
    models: Sequence[str] = (),
    tables: dict[str, list[Row]] | None = None,
    judges: dict[str, Row] | None = None,
    **changes: Any,
) -> Report:
    """The report of these judges alone: lexical ones, or models where named.

    `judges` are changes of their cards; a control has the name of its rule.
    """
    folder.mkdir(exist_ok=True)
    every = {"verdicts": [*rows], **(tables or {})}
    if any(row.get("perturbation") for row in rows):
        every.setdefault("perturbations", [*study.perturbations()])
    spec = study.make(folder, every, **changes)
    spec["study"]["judges"] = [*names]
    spec["judges"] = {}
    for name in names:
        card = MODEL if name in models else LEXICAL
        if name in ("length", "random"):
            card = {**LEXICAL, "engine": "control", "form": name}
        spec["judges"][name] = {**card, **(judges or {}).get(name, {})}
    return study.loaded(spec)
