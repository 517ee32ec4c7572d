"""Parse the replies of one cell and aggregate them to scores."""

from metajudge.command import run
from metajudge.schema.tables import write_parts
from metajudge.scoring.cell import score_cell
from metajudge.scoring.specs import ScoreSpec


def main(spec: ScoreSpec) -> None:
    """Read one reply file, write the cell's judgments and scores."""
    judgments, scores = zip(*score_cell(spec), strict=True)
    write_parts("judgments", judgments, spec.cell.judgments)
    write_parts("scores", scores, spec.cell.scores)


if __name__ == "__main__":
    run(main)
