"""Tables that several tests of audit share."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Rows = Sequence[Mapping[str, Any]]


def made(n: int = 60, noise: int = 1) -> list[dict[str, Any]]:
    """Return n texts of n / 5 items by five systems, two raters, a judge and a
    measure.
    """
    rng, rows = np.random.default_rng(5), []
    for at in range(n):
        quality = int(rng.integers(1, 6))
        near = [
            int(np.clip(quality + rng.integers(-noise, noise + 1), 1, 5))
            for _ in range(3)
        ]
        row: dict[str, Any] = {
            "id": f"q{at // 5}",
            "model": f"s{at % 5}",
            "answer": "word " * (9 + at * 7 % 13),
        }
        row |= {
            "Quality (Anna)": near[0],
            "Quality (Ben)": near[1],
            "quality_gpt4": near[2],
        }
        rows.append({**row, "seconds": at + 0.5})
    return rows


def two(n: int = 60, noise: int = 1) -> list[dict[str, Any]]:
    return [
        {"human": row["Quality (Anna)"], "judge": row["quality_gpt4"]}
        for row in made(n, noise)
    ]


def write(rows: Rows, path: Path) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


def passed(n: int = 60) -> list[dict[str, Any]]:
    """Return n texts that two people pass or fail, a judge that passes too many, and
    points.
    """
    rng, rows = np.random.default_rng(2), []
    for _ in range(n):
        good = bool(rng.random() < 0.6)
        people = [good != bool(rng.random() < 0.05) for _ in range(2)]
        words = [("fail", "PASS")[int(person)] for person in people]
        lenient = "pass" if good or rng.random() < 0.5 else "fail"
        points = round(float(np.clip(0.3 + 0.4 * good + rng.normal() * 0.1, 0, 1)), 3)
        row = {"human_1": words[0], "human_2": words[1], "gpt_verdict": lenient}
        rows.append({**row, "gpt_score": points})
    return rows


def chosen(n: int = 60) -> list[dict[str, Any]]:
    """Return n pairs of answers to n / 2 questions by four systems, two people and a
    judge.
    """
    rng, rows = np.random.default_rng(4), []
    for at in range(n):
        first, second = (at % 2 * 2 + int(each) for each in rng.permutation(2))
        row: dict[str, Any] = {"question": f"Question {at // 2}?"}
        for side, system in (("a", first), ("b", second)):
            row[f"model_{side}"] = f"s{system}"
            row[f"answer_{side}"] = f"answer {at // 2} {system} " + "word " * int(
                rng.integers(3, 9)
            )
        better = str(rng.choice(["A", "B"]))
        worse = {"A": "B", "B": "A"}[better]
        for name, errs in (
            ("winner (Anna)", 0.05),
            ("winner (Ben)", 0.1),
            ("gpt4_winner", 0.1),
        ):
            row[name] = str(
                rng.choice([better, worse, "tie"], p=[1 - errs, errs / 2, errs / 2])
            )
        rows.append(row)
    return rows
