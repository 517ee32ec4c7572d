"""The cost of replies that datasets and judges share, whatever number is compared at
once.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import Row, row_of
from judgescope.methods import cost, training
from judgescope.report.words import label
from judgescope.schema import tables
from judgescope.schema.rows import ResultRow
from judgescope.schema.tables import table_of, write_table
from methods_setup import ASPECTS, FAIR, study


def bought(
    judge: str | None, keys: str, writer: str | None = None
) -> list[dict[str, Any]]:
    """Return a reply with 5 tokens for each letter; in upper case it came without a
    usage.
    """
    return [
        {"judge": judge, "perturbation": writer, "key": key.lower() * 8, "draw": 0}
        | ({} if key.isupper() else {"prompt": 4, "completion": 1})
        for key in keys
    ]


@pytest.mark.parametrize("bucket", [1000, 3, 1])
def test_a_reply_counts_for_the_first_dataset_and_the_first_judge(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(tmp_path / f"{name}.parquet") for name in "xyz"]
    rows = [
        [*bought("one", "ab"), *bought("two", "bc")],
        bought("one", "0d"),
        [*bought("one", "aeF"), *bought("two", "0e9"), *bought(None, "8", "typos")],
    ]
    for path, part in zip(paths, rows, strict=True):
        write_table("bought", table_of("bought", part), path)
    monkeypatch.setattr(tables, "BUCKET", bucket)
    usage = cost.bought_by(cost._first_bought(paths))
    counts = {
        buyer: (own_part.replies, own_part.tokens["prompt"], own_part.without)
        for buyer, own_part in usage.items()
    }
    assert counts == {
        ("one", None): (2, 4, 1),
        ("two", None): (1, 4, 0),
        (None, "typos"): (1, 4, 0),
    }
    assert (
        sum(
            own_part.replies
            for own_part in cost.bought_by(cost._first_bought(paths[:1])).values()
        )
        == 3
    )


EXPORT = [
    {"dataset": "d", "split": "train", "n": 40, "n_missing": 3, "aspect": "true"},
    {"dataset": "d", "split": "train", "n": 44, "n_missing": 0, "aspect": "clear"},
    {"dataset": "d", "split": "held_out", "n": 12, "n_missing": 1, "aspect": "clear"},
    {"dataset": "d", "split": "held_out", "n": 11, "n_missing": 0, "aspect": "true"},
    {"dataset": "e", "split": "train", "n": 99, "n_missing": 9, "aspect": "clear"},
]
ITEMS = [f"i{at:02}" for at in range(11)]


def losses(aspect: str, before: Sequence[float], after: Sequence[float]) -> list[Row]:
    """Return the losses of replies about different items, and about the first one
    again.
    """
    items = [*ITEMS, ITEMS[0]]
    return [
        {
            **{
                "dataset": "d",
                "item": item,
                "target": f"{item}:s{at}",
                "aspect": aspect,
            },
            **{"tokens": 9, "before": first, "after": last},
        }
        for at, (item, first, last) in enumerate(
            zip(items, before, after, strict=False)
        )
    ]


CLEAR = losses("clear", [2.0] * 11 + [4.0], [1.0] * 11 + [4.0])
TRUE = losses("true", np.linspace(1, 2, 11).tolist(), np.linspace(0.5, 1, 11).tolist())
OTHER = [{**TRUE[0], "dataset": "e", "before": 99.0, "after": 99.0}]


def rows(
    folder: Path, *parts: list[Row], export: Sequence[Row] = EXPORT
) -> list[ResultRow]:
    """Return the rows of a training whose losses are told."""
    every = table_of("losses", [row for each in parts for row in each])
    write_table("losses", every, folder / "losses.parquet")
    (folder / "export.json").write_text(
        json.dumps({"examples": [*export]}), encoding="utf-8"
    )
    named: dict[str, Any] = {"judge": "small", "teacher": "all"}
    paths = {
        "losses": str(folder / "losses.parquet"),
        "export": str(folder / "export.json"),
    }
    return list(training.rows(study({"all": FAIR}, training={**named, **paths})))


def test_examples_are_counted_by_aspect_and_split(tmp_path: Path) -> None:
    result = rows(tmp_path, CLEAR, TRUE, OTHER)
    counts = [row for row in result if row["statistic"] == "taught_examples"]
    actual = [
        (r["aspect"], r["level"], r["value"], r["n"], r["n_missing"]) for r in counts
    ]
    assert actual == [
        *(("clear", "held_out", 12, 12, 1), ("clear", "train", 44, 44, 0)),
        *(("true", "held_out", 11, 11, 0), ("true", "train", 40, 40, 3)),
    ]
    assert {row["judge"] for row in result} == {"small"}
    assert all(label(row["statistic"]) and row["signature"] for row in result)
    assert "judge:small|data:d@0123abcd|stat:taught_examples" in result[0]["signature"]


def test_losses_are_means_over_replies_and_their_change_is_paired(
    tmp_path: Path,
) -> None:
    result = rows(tmp_path, CLEAR, TRUE, OTHER)
    values = {
        (aspect, name): row_of(
            result, f"held_out_loss_{name}", aspect=aspect, level="held_out"
        )
        for aspect in (*ASPECTS, "average")
        for name in ("before", "after", "change")
    }
    by_at = {at: row["value"] for at, row in values.items()}
    assert by_at == pytest.approx(
        {
            **{("clear", "before"): 26 / 12, ("clear", "after"): 15 / 12},
            **{("clear", "change"): -11 / 12},
            **{
                ("true", "before"): 1.5,
                ("true", "after"): 0.75,
                ("true", "change"): -0.75,
            },
            ("average", "before"): (26 / 12 + 1.5) / 2,
            ("average", "after"): (15 / 12 + 0.75) / 2,
            ("average", "change"): (-11 / 12 - 0.75) / 2,
        }
    )
    assert {at: row["n"] for at, row in values.items() if at[1] == "after"} == {
        **{("clear", "after"): 12, ("true", "after"): 11, ("average", "after"): 2}
    }
    for (_, name), row in values.items():
        assert (
            row["ci_low"] < row["value"] < row["ci_high"]
            and "jackknife-t over 11 sources" in row["method"]
        )
        assert (row["ci_high"] < 0) == (name == "change")
    width = {
        name: row["ci_high"] - row["ci_low"]
        for (at, name), row in values.items()
        if at == "true"
    }
    assert width["change"] < width["before"]


def test_replies_about_a_single_source_go_together(tmp_path: Path) -> None:
    """Where all is about one source, nothing tells how far another one would be off."""
    alone = [{**row, "item": "i00"} for row in CLEAR]
    result = rows(tmp_path, alone, TRUE)
    loss = row_of(result, "held_out_loss_after", aspect="clear", level="held_out")
    assert (loss["value"], loss["ci_low"], loss["n"]) == (15 / 12, None, 12)
    assert loss["note"] == "no interval: 1 sources"


def test_an_aspect_of_which_nothing_is_held_out_has_no_loss(tmp_path: Path) -> None:
    result = rows(tmp_path, CLEAR)
    for aspect in ("true", "average"):
        loss = row_of(result, "held_out_loss_after", aspect=aspect, level="held_out")
        assert loss["value"] is None and "no value to average" in loss["note"]
    assert (
        row_of(result, "held_out_loss_after", aspect="clear", level="held_out")["n"]
        == 12
    )
