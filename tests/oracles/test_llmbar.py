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
from numpy.typing import NDArray

from data_samples import REAL, needs_real_data
from judgescope.methods.base import Orders
from judgescope.statistics.labels import on_labels
from judgescope.statistics.order import (
    WRONG_VERDICT,
    comparison_accuracy,
    joined_orders,
)
from parsed import parse
from study import Study, shipped

DATA = REAL / "llmbar"
ORDERS = ("swap = False", "swap = True")
LETTERS = {1.0: "1", -1.0: "2", 0.0: "tie"}
RULES: tuple[Orders, ...] = ("both", "net", "strict")
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


def votes(pairs: list[Any]) -> list[NDArray[np.float64]]:
    """Return the verdicts in each order: 1 for the better output, -1; NaN = unread."""
    each = []
    for order in ORDERS:
        winners = [pair["results"][-1][order]["winner"] for pair in pairs]
        better = [str(pair["label"]) for pair in pairs]
        right = np.array(winners) == np.array(better)
        verdict = np.where(right, 1.0, -1.0)
        each.append(np.where([winner is None for winner in winners], np.nan, verdict))
    return each


def test_the_counts_of_both_orders_are_the_strict_policy() -> None:
    """The authors count an unread reply as wrong: `orders: strict`, `unread: wrong`.

    Their replies have no ties, so with `both` and `net` a pair of which the orders
    differ is half right, and the half credit is the mean of both orders.
    """
    n = 0
    for row, pairs in judges():
        listed, swapped = votes(pairs)
        better, source = np.ones(listed.size), np.arange(listed.size)
        read = ~np.isnan(listed + swapped)
        published = float(row["correct_both"].split()[0]) / len(pairs)
        in_each = np.mean([listed[read] == 1, swapped[read] == 1])
        for rule in RULES:
            verdict = joined_orders(listed, swapped, rule)
            unread_wrong = np.where(read, verdict, WRONG_VERDICT)
            right = comparison_accuracy(unread_wrong, better, source, None)
            strict = right["accuracy_comparison"]
            assert strict.n == len(pairs)
            assert strict.value == pytest.approx(published)
            left_out = comparison_accuracy(verdict, better, source, None)
            half = left_out["accuracy_comparison_half"].value
            alone = left_out["accuracy_comparison"].value
            assert half == pytest.approx(alone if rule == "strict" else in_each)
            n += 1
    assert n == 180


def read_right(pair: dict[str, Any]) -> bool:
    """Return whether our parser reads the better output from both replies to a pair."""
    for order in ORDERS:
        reply = pair["results"][-1][order]["completion"][0]
        choice = parse(reply, scale=None, finish="stop", parser="choice").value
        first_is_better = (pair["label"] == 1) != (order == ORDERS[1])
        if choice != (1.0 if first_is_better else -1.0):
            return False
    return True


@pytest.mark.heavy
def test_raw_replies_through_our_parser() -> None:
    """Of 8,380 replies 99.5 % are read; what is read is what the authors read."""
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
    assert (counts["same"], counts["other"]) == (8_337, 0), counts
    rates = {name: sum(each) / len(each) for name, each in read.items()}
    assert rates.pop("ChatGPT CoT") == pytest.approx(810 / 838)
    assert rates.pop("ChatGPT Swap") == pytest.approx(823 / 838)
    assert min(rates.values()) > 0.998


@pytest.mark.long(11)
@pytest.mark.slow
def test_unread_replies_count_as_wrong_through_the_shipped_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `orders: strict` and `unread: wrong` all 100 pairs count, as published.

    Our parser reads fewer replies of ChatGPT CoT and Swap than the authors do.
    """
    monkeypatch.setenv("JUDGESCOPE_DATA", str(REAL))
    wanted = ["llmbar-natural-raw", "llmbar-natural-gpt-4"]
    keys: dict[str, Any] = {"datasets": ["llmbar-natural"], "judges": wanted}
    keys |= {"orders": "strict", "unread": "wrong"}
    study = Study(tmp_path, shipped("studies", "llmbar-raw", **keys))
    study.write()
    run = study.run()
    assert not run.returncode, run.stdout
    by_judge = {
        row["judge"]: row
        for row in study.rows("pairwise")
        if row["statistic"] == "accuracy_comparison" and row["level"] == "pooled"
    }
    checked = 0
    for row, pairs in judges():
        strategy = row["strategy"].lower().replace("_", "-")
        raw = by_judge.get(f"natural-{row['model'].lower()}-{strategy}-raw")
        if row["subset"] != "Natural" or raw is None:  # Rating: single outputs
            continue
        assert (raw["n"], raw["n_missing"]) == (100, 0)
        assert "|orders:strict|unread:wrong|" in raw["signature"]
        right = sum(map(read_right, pairs))
        assert raw["value"] == pytest.approx(right / 100)
        if row["model"] == "GPT-4":
            assert right == int(row["correct_both"].split()[0])
            recorded = by_judge[f"natural-gpt-4-{strategy}"]
            assert recorded["value"] == pytest.approx(right / 100)
        checked += 1
    assert checked == 10
    assert "unread: wrong (7 pairs)" in by_judge["natural-chatgpt-cot-raw"]["method"]


@pytest.mark.long(11)
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
    assert read["natural-chatgpt-cot-raw"] == (200, 193)
    right = {
        row["judge"]: row["value"]
        for row in study.rows("pairwise")
        if row["statistic"] == "accuracy_comparison" and row["level"] == "swapped"
    }
    assert right["natural-gpt-4-swap-raw"] == right["natural-gpt-4-swap"] > 0.9
