"""What several tests of init share."""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgescope.cli.commands import add_init
from judgescope.cli.init import begin

TEXTS = [
    (
        "The mill at Orrin burnt down on Friday.",
        "one",
        "The mill at Orrin has burnt down.",
        5,
        4,
    ),
    (
        "The mill at Orrin burnt down on Friday.",
        "two",
        "A mill were burn down at friday.",
        2,
        1,
    ),
    (
        "Two herons nest below the old weir.",
        "one",
        "Below the weir two herons nest.",
        5,
        5,
    ),
    (
        "Two herons nest below the old weir.",
        "two",
        "Heron are nests in weir the.",
        1,
        2,
    ),
]
HEAD = ["article", "model", "summary", "fluency_rater1", "fluency_rater2", "remark"]
ROWS = [dict(zip(HEAD, [*row, "good"], strict=True)) for row in TEXTS]


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with the table mine.csv."""
    monkeypatch.chdir(tmp_path)
    with Path("mine.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEAD)
        writer.writeheader()
        writer.writerows(ROWS)
    return tmp_path


def init(*words: str, answers: list[str] | None = None) -> int:
    """Run the command as its parser does; `answers` are typed, in their order."""
    parser = argparse.ArgumentParser()
    add_init(parser.add_subparsers())
    result = parser.parse_args(["init", *words])
    if answers is None:
        status: int = result.act(result)
        return status
    typed: Iterator[str] = iter(answers)
    return begin(result, lambda _: next(typed))


def card(kind: str, name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(
        Path("config", kind, f"{name}.yaml").read_text()
    )
    return content


def written() -> list[str]:
    return sorted(path.as_posix() for path in Path("config").rglob("*.yaml"))
