"""Parse the replies of one cell and aggregate them to scores."""

from typing import Any

from metajudge.command import run
from metajudge.lean import hide_pandas
from metajudge.parsing import Scale
from metajudge.schema.tables import read_table, write_table
from metajudge.scoring import score_cell


def main(spec: dict[str, Any]) -> None:
    """Read one reply file, write the cell's judgments and scores."""
    scale = spec["scale"] and Scale(**{**spec["scale"], "labels": tuple(spec["scale"]["labels"])})
    judgments, scores = score_cell(
        read_table("answers", spec["input"]),
        cell=spec["cell"],
        scale=scale,
        parser=spec["parser"],
        estimator=spec["estimator"],
        samples=spec["samples"],
        settings=spec["settings"],
    )
    write_table("judgments", judgments, spec["judgments"])
    write_table("scores", scores, spec["scores"])


if __name__ == "__main__":
    hide_pandas()
    run(main)
