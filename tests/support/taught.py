"""What a tiny model is taught in tests: which of two words a text has, said as an
annotation.
"""

import json
from pathlib import Path
from typing import Any

from judgescope.schema.tables import table_of, write_table

WORDS = [
    *("apple", "river", "stone", "cloud", "tiger"),
    *("lemon", "piano", "candle", "forest", "hammer"),
]
REPLIES = {
    "fine": "No Error\n\nOverall score: 95",
    "awful": "Error 1:\nLocation: awful\nSeverity: 4\n\nOverall score: 20",
}
HELD_OUT = 3
"""The number of the texts about every other word that are not taught."""
Row = dict[str, Any]


def example(verdict: str, word: str, number: int) -> Row:
    """Return a line of what is exported for a training."""
    reply = REPLIES[verdict]
    return {
        **{"dataset": "toy", "item": word, "target": f"{word}:{verdict}.{number}"},
        **{"aspect": "fluency", "score": int(reply.rpartition(" ")[2]), "reply": reply},
        "messages": [{"role": "user", "content": f"Rate: {verdict} {word} {number}"}],
    }


def examples() -> tuple[list[Row], list[Row]]:
    """Return 70 lines to be learnt and 10 that are held out."""
    taught: list[Row] = []
    kept: list[Row] = []
    for estimate, word in enumerate(WORDS):
        for verdict in REPLIES:
            for number in range(4):
                away = number == HELD_OUT and estimate % 2 == 0
                (kept if away else taught).append(example(verdict, word, number))
    return taught, kept


def write(folder: Path) -> None:
    """Write what a training reads, and the sample that is checked before it."""
    taught, kept = examples()
    for name, rows in (("train", taught), ("held_out", kept)):
        lines = [json.dumps(row, sort_keys=True) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    values = ("dataset", "item", "target", "aspect")
    sample = [
        {
            **{name: row[name] for name in values},
            **{
                "system": "someone",
                "perturbation": "none",
                "held_out": rows is kept,
                "room": 5,
            },
            "prompt": row["messages"][0]["content"],
        }
        for rows in (taught, kept)
        for row in rows
    ]
    write_table("samples", table_of("samples", sample), folder / "sample.parquet")
