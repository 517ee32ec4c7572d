"""What several tests of perspectives study share."""

import csv
from pathlib import Path

import numpy as np

from study import Study

RATERS = ["r1", "r2", "r3"]


def write_dataset(folder: Path, name: str, seed: int, items: int = 12) -> None:
    """Write items of 4 systems with three raters, who often agree, and the dataset's
    card.
    """
    rng = np.random.default_rng(seed)
    with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "source", "system", "text", *RATERS])
        for item in range(items):
            for system in range(4):
                rating = rng.integers(1, 6)
                ratings = np.clip(rating + rng.choice([0, 0, 0, 0, 1], 3), 1, 5)
                text = "word " * int(rating + rng.integers(0, 3))
                table.writerow(
                    [f"i{item}", f"Source {item}.", f"s{system}", text, *ratings]
                )
    card = {
        **{"name": name, "task": "summarization", "format": "table"},
        **{"files": f"../../{name}.csv", "licence": "none", "citation": "none"},
        "columns": {
            **{"item": "id", "source": "source", "system": "system", "text": "text"},
            "ratings": {"fluency": RATERS},
        },
        "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
    }
    Study(folder).card("datasets", name, **card)
