from pathlib import Path
from typing import Any

from judgescope.jobs import collect
from judgescope.schema.tables import SCHEMAS, table_of, write_table

USAGE = {"prompt": 7, "completion": 2, "reasoning": 0, "cached": None}


def reply(key: str | None, draw: int, **more: Any) -> dict[str, Any]:
    told = {"judge": "it", "kind": "rate", "aspect": "a", "status": "ok", "target": "t"}
    return {**told, "key": key, "draw": draw, "usage": USAGE if key else None, **more}


def test_a_reply_behind_several_cells_is_bought_once_and_what_was_not_asked_never(
    tmp_path: Path,
) -> None:
    cells = [
        [reply("bb", 1), reply("aa", 0)],
        [reply("aa", 0), reply("bb", 0, target="v"), reply(None, 0, target="u")],
    ]
    paths = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    for path, rows in zip(paths, cells, strict=True):
        write_table("answers", table_of("answers", rows), path)
    bought = collect._once(paths, "it", None)
    assert bought.schema.equals(SCHEMAS["bought"])
    assert bought.select(["key", "draw"]).to_pydict() == {
        "key": ["aa", "bb", "bb"],
        "draw": [0, 0, 1],
    }
    assert bought["prompt"].to_pylist() == [7, 7, 7]
    assert bought["cached"].to_pylist() == [None] * 3
    assert bought["judge"].to_pylist() == ["it"] * 3
