"""Parse the replies of one cell and aggregate them to scores."""

from judgescope.jobs.run import run
from judgescope.schema.tables import write_parts
from judgescope.scoring.cell import score_cell
from judgescope.scoring.specs import ScoreSpec


def main(spec: ScoreSpec) -> None:
    """Read one reply file, write the cell's judgments and scores."""
    judgments, scores = zip(*score_cell(spec), strict=True)
    write_parts("judgments", judgments, spec.cell.judgments)
    write_parts("scores", scores, spec.cell.scores)


if __name__ == "__main__":
    run(main)
