"""The cost of replies that datasets and judges share, whatever number is compared at once."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.methods import cost
from judgescope.schema import tables
from judgescope.schema.tables import table_of, write_table


def bought(judge: str | None, keys: str, writer: str | None = None) -> list[dict[str, Any]]:
    """Return a reply with 5 tokens for each letter; in upper case it came without a usage."""
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
        buyer: (own.replies, own.tokens["prompt"], own.without) for buyer, own in usage.items()
    }
    assert counts == {
        ("one", None): (2, 4, 1),
        ("two", None): (1, 4, 0),
        (None, "typos"): (1, 4, 0),
    }
    assert sum(own.replies for own in cost.bought_by(cost._first_bought(paths[:1])).values()) == 3
