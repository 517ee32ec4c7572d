from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from judgescope.jobs import collect
from judgescope.schema import tables
from judgescope.schema.tables import SCHEMAS, table_of, write_table

USAGE = {"prompt": 7, "completion": 2, "reasoning": 0, "cached": None}


def reply(key: str | None, draw: int, **more: Any) -> dict[str, Any]:
    told = {"judge": "it", "kind": "rate", "aspect": "a", "status": "ok", "target": "t"}
    return {**told, "key": key, "draw": draw, "usage": USAGE if key else None, **more}


@pytest.mark.parametrize("bucket", [100, 2, 1])
def test_a_reply_that_serves_several_cells_is_bought_once(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever number of replies is compared at once; a reply without a key was not bought."""
    monkeypatch.setattr(tables, "BUCKET", bucket)
    cells = [
        [reply("bb", 1), reply("aa", 0)],
        [reply("aa", 0), reply("bb", 0, target="v"), reply(None, 0, target="u")],
    ]
    paths = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    for path, rows in zip(paths, cells, strict=True):
        write_table("answers", table_of("answers", rows), path)
    parts = list(collect._once(paths, "it", None))
    assert len(parts) == 5 // bucket + 1
    bought = pa.concat_tables(parts)
    assert bought.schema.equals(SCHEMAS["bought"])
    assert bought.select(["key", "draw"]).to_pydict() == {
        "key": ["aa", "bb", "bb"],
        "draw": [0, 0, 1],
    }
    assert bought["prompt"].to_pylist() == [7, 7, 7]
    assert bought["cached"].to_pylist() == [None] * 3
    assert bought["judge"].to_pylist() == ["it"] * 3
