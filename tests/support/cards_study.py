"""The report's synthetic study with texts, scores and replies beside its tables, for
cards.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import convert

import report_study
from cell_files import write_part
from judgescope.core.paths import Paths
from judgescope.report.report import CardReport
from judgescope.report.specs import JudgeCardSpec
from judgescope.schema.tables import table_of, write_table

Row = dict[str, Any]
CELL = "typos.major"
ORIGINALS = {"n1": "The mayor spoke.", "n2": "The river rose.", "n3": "Nobody came."}
SCORES: dict[str, dict[str, dict[str, float | None]]] = {
    # aspect -> set of texts -> target -> score
    "fluency": {
        "original": {"n1": 3.0, "n2": 4.0, "n3": 5.0},
        CELL: {"n1:t": 4.0, "n2:t": 3.0, "n3:t": 5.0},
        "systems": {"n1:s": 5.0, "n2:s": 1.0, "n3:s": None},
    },
    "coherence": {
        "original": {"n1": 2.0, "n2": 4.0, "n3": 5.0},
        CELL: {"n1:t": 2.0, "n2:t": 4.0, "n3:t": 1.0},
        "systems": {"n1:s": 2.0, "n2:s": 1.0, "n3:s": 3.0},
    },
}
RATINGS = {"n1:s": 1.0, "n2:s": 1.0, "n3:s": 3.0}


def _targets(texts: Mapping[str, str]) -> dict[str, list[Row]]:
    def row(name: str, item: str, text: str, **more: Any) -> Row:
        fields = {
            "dataset": "news",
            "target": name,
            "item": item,
            "text": text,
            "status": "ok",
        }
        return {**fields, "edits": [], "step": 0, **more}

    def perturbed(item: str, text: str) -> Row:
        edits = [{"offset": 0, "before": texts[item][:1], "after": text[:1]}]
        return row(f"{item}:t", item, text, step=1, parent=item, edits=edits)

    return {
        "original": [row(item, item, text) for item, text in texts.items()],
        CELL: [perturbed(item, f"X{text[1:]}") for item, text in texts.items()],
        "systems": [
            row(f"{item}:s", item, f"{text} Yes.") for item, text in texts.items()
        ],
    }


def _cell(folder: Path, cell: str, aspect: str, reply: str) -> list[Row]:
    """Write what came of a cell, and return its scores; a reply without a score is
    refused.
    """
    asked, scores = list[Row](), list[Row]()
    for target, value in SCORES[aspect][cell].items():
        fields = {
            "judge": "gamma",
            "kind": "rate",
            "target": target,
            "aspect": aspect,
            "draw": 0,
        }
        asked.append(
            {**fields, "value": value, "status": "refused" if value is None else "ok"}
        )
        where = {
            "dataset": "news",
            "perturbation": cell,
            "judge": "gamma",
            "aspect": aspect,
        }
        scores.append(
            {**where, "target": target, "value": value, "n_draws": 1, "n_missing": 0}
        )
    collected = [
        {key: each[key] for key in each if key != "value"} | {"text": reply}
        for each in asked
    ]
    for name, table, rows in (
        ("judgments", "judgments", asked),
        ("replies", "answers", collected),
        ("scores", "scores", scores),
    ):
        write_part(
            table, Path(Paths(str(folder)).cell(name, "news", "m", cell, "gamma")), rows
        )
    return scores


def make(
    folder: Path, *, texts: Mapping[str, str] = ORIGINALS, reply: str = "Rating: 3"
) -> Row:
    """Write the study below `folder` and return the spec of its cards; `gamma` judged
    `news`.
    """
    spec = report_study.make(folder)
    for name, rows in _targets(texts).items():
        write_table(
            "targets",
            table_of("targets", rows),
            folder / f"targets/news/{name}.parquet",
        )
    scores = [
        row
        for aspect, cells in SCORES.items()
        for cell in cells
        for row in _cell(folder, cell, aspect, reply)
    ]
    write_table(
        "scores", table_of("scores", scores), folder / "collected/news/scores.parquet"
    )
    ratings = [
        {
            "dataset": "news",
            "target": name,
            "aspect": aspect,
            "rater": "r1",
            "value": value,
        }
        for aspect in SCORES
        for name, value in RATINGS.items()
    ]
    write_table(
        "ratings", table_of("ratings", ratings), folder / "ratings/news.parquet"
    )
    refused = {"perturbation": "systems", "judge": "gamma", "aspect": "fluency", "n": 1}
    statuses = [{"dataset": "news", "status": "refused", "rule": "", **refused}]
    for name, result in {"news": statuses, "chat": []}.items():
        path = folder / f"collected/{name}/statuses.parquet"
        write_table("statuses", table_of("statuses", result), path)
    for name, file in {
        "scores": "collected/chat/scores.parquet",
        "ratings": "ratings/chat.parquet",
    }.items():
        write_table(name, table_of(name, []), folder / file)
    ends = {"news": {"fluency": [1, 5], "coherence": [1, 5]}}
    fields = {
        "cards": "",
        "files": {name: files_of(folder, name) for name in ("news", "chat")},
        "cards_of_judges": [],
        "settings": {name: {"model": "m", "form": "f"} for name in spec["judges"]},
        "models": {"m": {"engine": "openai", "price": {"input": 0.15, "output": 0.6}}},
        "worst": {
            "news": {
                "perturbations": [
                    {
                        "cell": CELL,
                        "mildness": 1,
                        "aspects": ["fluency", "coherence"],
                        "why": "all",
                    },
                ],
                "rated": True,
                "scales": {"fluency": [1, 5], "coherence": [1, 5]},
            }
        },
        "ends": [ends],
        "ends_of": dict.fromkeys(spec["judges"], 0),
        "output": str(folder / "report" / "judges"),
    }
    return {**spec, **fields}


def files_of(folder: Path, dataset: str) -> Row:
    """Return the files of a dataset that cards read."""
    paths = Paths(str(folder))
    sets = [path.stem for path in folder.glob(f"targets/{dataset}/*.parquet")]
    return {
        "targets": {name: paths.targets(dataset, name) for name in sets},
        "ratings": paths.ratings(dataset),
        "scores": paths.collected(dataset, "scores"),
        "statuses": paths.collected(dataset, "statuses"),
        "results": str(folder),
    }


def loaded(spec: Row) -> CardReport:
    """Return what the cards of a spec know."""
    return CardReport.load(convert(spec, JudgeCardSpec))
