"""Published test vectors and tables, kept beside the repository."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
FOLDER = SHARED / "vectors"


def load(name: str) -> list[dict[str, Any]]:
    """Return the vectors of one file; skips the calling test where the folder is
    absent.
    """
    path = FOLDER / f"{name}.json"
    if not path.exists():
        pytest.skip(f"test vectors are not there: ../shared/vectors/{name}.json")
    vectors: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))[
        "vectors"
    ]
    return vectors


def params(name: str) -> list[Any]:
    """Return the same vectors for `pytest.mark.parametrize`, one skipped one where
    there are none.

    Each is (inputs, expected, id).
    """
    if not (FOLDER / f"{name}.json").exists():
        reason = f"test vectors are not there: ../shared/vectors/{name}.json"
        return [
            pytest.param({}, None, "", marks=pytest.mark.skip(reason=reason), id=name)
        ]
    return [
        pytest.param(v["inputs"], v["expected"], v["id"], id=v["id"])
        for v in load(name)
    ]


def published(name: str) -> list[dict[str, str]]:
    """Return the rows of a paper's table; skips the calling test where the folder is
    absent.
    """
    path = SHARED / "reference" / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"the paper's table is not there: ../shared/reference/{name}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
