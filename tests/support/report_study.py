"""A synthetic study with every table that the report reads: 2 datasets, 8 judges, 2
aspects.
"""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import altair as alt
from msgspec import convert

from judgescope.methods.cost import FREE
from judgescope.methods.discernment import BY_LENGTH
from judgescope.report.report import Report
from judgescope.report.rows import ReportRow as TableRow
from judgescope.report.rows import ReportRows
from judgescope.report.specs import ReportSpec
from judgescope.schema.tables import table_of, write_table

Row = dict[str, Any]
JUDGES = {
    "alpha": ("lexical", "rouge1"),
    "beta": ("lexical", "bleu"),
    "rules": ("lexical", "rules"),
    "gamma": ("openai", "rate"),
    "constant-top": ("control", "constant_top"),
    "random": ("control", "random"),
    "shuffled": ("control", "shuffled"),
    "length": ("control", "length"),
}
DATASETS = {"news": "planned", "chat": "people"}
ASPECTS = ["fluency", "coherence"]
DAMAGES = [("typos", "minor"), ("typos", "major"), ("cuts", "single")]
CORRELATIONS = ("pearson", "spearman", "kendall_b")
HEADLINES = ("D_avg", "D_avg_ew", "D_avg_exact", "D_min", "D_min_ew", "D_min_exact")
BETTER = {
    "alpha": 0.6,
    "beta": 0.2,
    "rules": -0.1,
    "gamma": 0.7,
    "random": 0.0,
    "length": 0.35,
}
NEEDS = "not applicable: needs ratings"


def row(
    dataset: str, judge: str, statistic: str, value: float | None, **more: Any
) -> Row:
    """Return one row; an interval of 0.1 around the value, a note where there is
    none.
    """
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    known = value is not None
    return {
        **{
            "dataset": dataset,
            "judge": judge,
            "aspect": "",
            "statistic": statistic,
            "level": "",
        },
        **{
            "value": value,
            "n": 120 if known else 0,
            "n_missing": 0,
            "n_tied": 0,
            "method": "m",
        },
        **{"ci_low": ends[0], "ci_high": ends[1]},
        **{"note": "" if known else "constant judge"},
        **{"signature": f"judge:{judge}|stat:{statistic}"},
        **more,
    }


def typed(record: Row) -> TableRow:
    """Return a record of a result table as the report reads it."""
    [typed_row] = typed_rows([record])
    return typed_row


def typed_rows(records: list[Row]) -> ReportRows:
    """Return the records of a result table as the report reads them."""
    return ReportRows.of_table(table_of("results", records))


def agreement() -> Iterator[Row]:
    for dataset, ratings in DATASETS.items():
        for aspect in ASPECTS:
            where = {"aspect": aspect, "level": "pooled"}
            if ratings == "people":
                yield row(dataset, "human", "alpha_ordinal", 0.5137, **where)
            else:
                note = {"note": f"ratings are {ratings}, not people's"}
                yield row(dataset, "human", "alpha_ordinal", None, **where, **note)
            for judge in JUDGES:
                for level in ("pooled", "by_source", "by_system"):
                    for statistic in CORRELATIONS:
                        value = BETTER.get(judge)
                        yield row(
                            dataset, judge, statistic, value, aspect=aspect, level=level
                        )
                kappa = {**where, "note": "continuous"}
                yield row(dataset, judge, "kappa_linear", None, **kappa)


def verdicts() -> Iterator[Row]:
    for dataset in DATASETS:
        for aspect in ASPECTS:
            where = {"aspect": aspect, "level": "within_source", "form": "agreement"}
            for judge in JUDGES:
                value = BETTER.get(judge)
                yield row(dataset, judge, "normal_scores", value, **where)
                note = "better" if (value or 0) > 0.5 else "not_shown; length"
                step = 2.0 if note == "better" else 1.0
                method = {"note": note, "method": "Holm over 2"}
                verdict = row(dataset, judge, "verdict", step, **where, **method)
                yield verdict | {"ci_low": None, "ci_high": None}


def discernment() -> Iterator[Row]:
    for dataset in DATASETS:
        for judge in JUDGES:
            if judge == "shuffled":
                yield from (
                    row(dataset, judge, name, None, note=NEEDS) for name in HEADLINES
                )
                continue
            d = 6 * BETTER.get(judge, 0.0) + 1
            yield from (row(dataset, judge, name, d) for name in HEADLINES)
            if judge != "alpha":
                gap = row(dataset, "alpha", "difference_D_avg_exact", 4.6 - d)
                yield {**gap, "judge_b": judge}
            for number, (perturbation, degree) in enumerate(DAMAGES):
                where = {"perturbation": perturbation, "degree": degree}
                note = "beyond 5: an artefact of the tail" if d > 5 else ""
                solved = BY_LENGTH if judge == "length" and number == 2 else note
                for name in ("D", "D_ew", "D_hmp", "D_exact"):
                    yield row(dataset, judge, name, d, note=solved, **where)
                for aspect in ASPECTS:
                    for name in ("rank_biserial", "mean_drop", "p_holm"):
                        yield row(dataset, judge, name, 0.3, aspect=aspect, **where)


def responses() -> Iterator[Row]:
    for dataset in DATASETS:
        for judge in JUDGES:
            if judge == "shuffled":
                continue
            for name, mean in (("original", 4.0), ("all", 3.0)):
                yield row(dataset, judge, "score_mean", mean, perturbation=name)
                for k in range(1, 21):
                    share = {18: 0.75, 12: 0.25}.get(k, 0.0)
                    yield row(
                        dataset, judge, "score_share", share, perturbation=name, k=k
                    )
            yield row(dataset, judge, "range_bottom", 1.0)
            yield row(dataset, judge, "range_top", 5.0)
            if dataset == "chat":
                where = {"level": "pooled", "perturbation": "systems"}
                yield row(dataset, judge, "pearson", BETTER.get(judge), **where)


def faults() -> Iterator[Row]:
    for kind, n in (("negation", 8), ("all", 20)):
        fields = {"criterion": kind, "level": "pooled", "n": n}
        for judge in JUDGES:
            for aspect in ASPECTS:
                seen = 0.5 if judge != "gamma" or aspect == "fluency" else 0.75
                yield row(
                    "news", judge, "detection_rate", seen, aspect=aspect, **fields
                )
        yield row("news", "every-lexical-judge", "miss_rate", 0.25, **fields)


def perturbations() -> Iterator[Row]:
    for dataset in DATASETS:
        for perturbation, degree in DAMAGES:
            fields = {"perturbation": perturbation, "degree": degree, "n": 24}
            for outcome, share in {
                "ok": 0.75,
                "short": 0.0,
                "impossible": 0.25,
            }.items():
                note = "impossible: one sentence" if outcome == "impossible" else ""
                yield row(dataset, "", f"share_{outcome}", share, note=note, **fields)
            yield row(dataset, "", "edits", 10.0, **fields)
            yield row(dataset, "", "edit_distance", 12.34, **fields)


def coverage() -> Iterator[Row]:
    for dataset in DATASETS:
        for judge in JUDGES:
            for aspect in ASPECTS:
                fields = {"aspect": aspect, "perturbation": "systems", "n": 120}
                yield row(dataset, judge, "coverage", 0.9, **fields)
                yield row(dataset, judge, "count_ok", 108.0, **fields)
                yield row(dataset, judge, "count_refused", 12.0, **fields)
        yield row(
            dataset, "shuffled", "coverage", None, perturbation="original", note=NEEDS
        )


def cost() -> Iterator[Row]:
    for dataset in DATASETS:
        for judge in (*JUDGES, "all"):
            for name in ("replies", "prompt_tokens", "completion_tokens"):
                yield row(dataset, judge, name, 1200.0)
            yield row(dataset, judge, "usd", 0.0, note=FREE)


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    **{"agreement": agreement, "verdicts": verdicts},
    **{"discernment": discernment, "faults": faults},
    **{"perturbations": perturbations, "responses": responses},
    **{"coverage": coverage, "cost": cost},
}
RULE = {"method": "rule", "kind": "once"}


def make(
    folder: Path, tables: dict[str, list[Row]] | None = None, **changes: Any
) -> Row:
    """Write the study's tables below `folder` and return the report's spec.

    `tables` replaces the synthetic rows; `changes` are merged into the spec, key by
    key.
    """
    rows = (
        tables
        if tables is not None
        else {name: list(made()) for name, made in TABLES.items()}
    )
    for name, row in rows.items():
        write_table("results", table_of("results", row), folder / f"{name}.parquet")
    for name, ratings in DATASETS.items():
        content = {
            **{
                "items": 24,
                "targets": 120,
                "originals": 24,
                "ratings": 480,
                "problems": [],
            },
            **{
                "raters": ["r1"],
                "sha256": {"data": "ab" * 32},
                "ratings_kind": ratings,
            },
        }
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return merged(spec(folder, list(rows)), changes)


def layers(spec: Row) -> list[tuple[str, list[Row]]]:
    """Return the marks and values of a figure's layers; its specification must be
    valid.
    """
    alt.LayerChart.from_dict(spec)
    return [(each["mark"]["type"], each["data"]["values"]) for each in spec["layer"]]


def marks(spec: Row) -> dict[str, list[Row]]:
    """Return the marks of small multiples by their look; their specification must be
    valid.
    """
    alt.LayerChart.from_dict(spec)
    return {each["name"]: each["data"]["values"] for each in spec["layer"]}


def loaded(spec: Row) -> Report:
    """Return what the report of a spec knows."""
    return Report.load(convert(spec, ReportSpec))


def spec(folder: Path, tables: list[str]) -> Row:
    """Return the report's spec."""
    card = {
        "task": "summarization",
        "licence": "MIT",
        "citation": "none",
        "aspects": ASPECTS,
    }
    return {
        "study": {
            **{
                "study": "tiny",
                "seed": 7,
                "datasets": list(DATASETS),
                "judges": list(JUDGES),
            },
            "perturbations": ["typos", "cuts"],
        },
        "command": "judgescope run tiny.yaml",
        "texts": True,
        "annotated": {},
        **{"code": "", "templates": "", "versions": {"altair": "6"}},
        "tables": {name: str(folder / f"{name}.parquet") for name in tables},
        "datasets": {
            name: {
                **card,
                "name": f"The {name}",
                "ratings": ratings,
                "report": str(folder / f"{name}.json"),
            }
            for name, ratings in DATASETS.items()
        },
        "judges": {
            name: {
                **{"engine": engine, "form": form, "model": engine, "parser": "number"},
                **{
                    "against": "references" if engine == "lexical" else None,
                    "draws": 1,
                    "max_tokens": 512 if engine == "openai" else 0,
                },
            }
            for name, (engine, form) in JUDGES.items()
        },
        "aspects": {name: name.capitalize() for name in ASPECTS},
        "perturbations": {
            "typos": {
                "name": "typos",
                "level": "character",
                "degrees": ["minor", "major"],
                **RULE,
            },
            "cuts": {
                "name": "cuts",
                "level": "word",
                "degrees": ["single"],
                **RULE,
            },
        },
        "output": str(folder / "report" / "index.html"),
        **{name: str(folder / name) for name in ("figures", "sections")},
    }


def merged(old: Row, changes: Row) -> Row:
    """Return `old` with the changes, mappings key by key."""
    new = copy.deepcopy(old)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(new.get(key), dict)
        new[key] = merged(new[key], value) if both else value
    return new
