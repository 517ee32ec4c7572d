"""LLMBar's recorded judges beside the repository: their raw replies, and the authors'
kappas.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_samples import REAL, needs_real_data
from judgescope.statistics.classes import on_labels
from parsed import parse
from study import Study, shipped

DATA = REAL / "llmbar"
ORDERS = ("swap = False", "swap = True")
LETTERS = {1.0: "1", -1.0: "2", 0.0: "tie"}
OTHER = {"1": "2", "2": "1"}
pytestmark = needs_real_data


def judges() -> Iterator[tuple[dict[str, str], list[Any]]]:
    """Yield each recorded judge: the authors' statistics, and its pairs with
    replies.
    """
    with (DATA / "expected.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            path = DATA / row["subset"] / "evaluators" / row["model"] / row["strategy"]
            yield row, json.loads((path / "result.json").read_text(encoding="utf-8"))


def kappa(first: list[int], second: list[int]) -> float | None:
    a, b = (np.array(each, dtype=np.float64) for each in (first, second))
    return on_labels(a, b, 3, np.arange(a.size), None)["kappa_nominal"].estimate.value


def test_the_kappas_of_the_authors_follow_from_their_coding() -> None:
    """A choice of the second output, or none, is coded 0, beside labels of 1 and 2."""
    n = 0
    for row, pairs in judges():
        labels = [pair["label"] for pair in pairs]
        listed, swapped = (
            [int(pair["results"][-1][order]["winner"] == "1") for pair in pairs]
            for order in ORDERS
        )
        for name, first, second in (
            ("kappa_False", listed, labels),
            ("kappa_True", swapped, labels),
            ("kappa_agreement", listed, swapped),
        ):
            assert kappa(first, second) == pytest.approx(float(row[name]), abs=1e-9)
            n += 1
    assert n == 180


@pytest.mark.heavy
def test_raw_replies_through_our_parser() -> None:
    """Of 8,380 replies 98 % are read; what is read is what the authors read."""
    counts: Counter[str] = Counter()
    read: dict[str, list[bool]] = {}
    for row, pairs in judges():
        if (
            row["strategy"] == "Rating"
        ):  # scores of single outputs, ties broken by the order
            continue
        for pair in pairs:
            for order in ORDERS:
                result = pair["results"][-1][order]
                judgment = parse(
                    result["completion"][0], scale=None, finish="stop", parser="choice"
                )
                counts["replies"] += 1
                known = judgment.status == "ok"
                read.setdefault(f"{row['model']} {row['strategy']}", []).append(known)
                if not known or judgment.value is None:
                    continue
                choice = LETTERS[judgment.value]
                choice = OTHER.get(choice, choice) if order == ORDERS[1] else choice
                counts["other" if choice != result["winner"] else "same"] += 1
    assert counts["replies"] == 8_380
    assert counts["same"] == 8_225 and counts["other"] == 0
    rates = {name: sum(each) / len(each) for name, each in read.items()}
    assert rates.pop("ChatGPT CoT") == pytest.approx(738 / 838)
    assert rates.pop("ChatGPT Swap") == pytest.approx(784 / 838)
    assert min(rates.values()) > 0.998


@pytest.mark.slow
def test_the_shipped_cards_read_raw_replies_as_the_authors_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGESCOPE_DATA", str(REAL))
    judges = ["llmbar-natural-raw", "llmbar-natural-gpt-4"]
    keys = {"datasets": ["llmbar-natural"], "judges": judges}
    study = Study(tmp_path, shipped("studies", "llmbar-raw", **keys))
    study.write()
    run = study.run()
    assert not run.returncode, run.stdout
    read = {
        row["judge"]: (row["n"], round(row["value"] * row["n"]))
        for row in study.rows("coverage")
        if row["statistic"] == "coverage" and row["judge"].endswith("-raw")
    }
    assert len(read) == 10 and {n for n, _ in read.values()} == {200}
    assert read["natural-gpt-4-cot-raw"] == (200, 200)
    assert read["natural-chatgpt-cot-raw"] == (200, 182)
    right = {
        row["judge"]: row["value"]
        for row in study.rows("pairwise")
        if row["statistic"] == "accuracy_comparison" and row["level"] == "swapped"
    }
    assert right["natural-gpt-4-swap-raw"] == right["natural-gpt-4-swap"] > 0.9
