"""What several tests of perspectives study share."""

from pathlib import Path

import numpy as np

from study import Study

RATERS = ["r1", "r2", "r3"]


def write_dataset(folder: Path, name: str, seed: int, items: int = 12) -> None:
    """Write items of 4 systems with three raters, who often agree, and the dataset's
    card.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        for system in range(4):
            rating = rng.integers(1, 6)
            ratings = np.clip(rating + rng.choice([0, 0, 0, 0, 1], 3), 1, 5)
            text = "word " * int(rating + rng.integers(0, 3))
            row = {"id": f"i{item}", "source": f"Source {item}.", "text": text}
            row["system"] = f"s{system}"
            rows.append(row | dict(zip(RATERS, ratings.tolist(), strict=True)))
    scale = {"min": 1, "max": 5, "step": 1}
    Study(folder).rated_table(
        name, rows, ratings={"fluency": RATERS}, aspects={"fluency": scale}
    )
