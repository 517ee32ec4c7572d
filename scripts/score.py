"""Parse the replies of one cell and aggregate them to scores."""

from typing import Any

from metajudge.command import run
from metajudge.lean import hide_pandas
from metajudge.schema.tables import write_table
from metajudge.scoring import scored


def main(spec: dict[str, Any]) -> None:
    """Read one reply file, write the cell's judgments and scores."""
    judgments, scores = scored(spec)
    write_table("judgments", judgments, spec["judgments"])
    write_table("scores", scores, spec["scores"])


if __name__ == "__main__":
    hide_pandas()
    run(main)
