"""Parse the replies of a model about a dataset and aggregate them to scores, cell by cell."""

from judgescope.core.files import write_hashes
from judgescope.schema.tables import write_parts
from judgescope.scoring.cell import score_cell
from judgescope.scoring.specs import ScoreSpec


def main(spec: ScoreSpec) -> None:
    """Read the reply file of each cell, write its judgments and scores, and a hash of all."""
    paths: dict[str, str] = {}
    for cell_spec in spec.each():
        cell = cell_spec.cell
        judgments, scores = zip(*score_cell(cell_spec), strict=True)
        write_parts("judgments", judgments, cell.judgments)
        write_parts("scores", scores, cell.scores)
        name = f"{cell.perturbation}/{cell.judge}"
        paths |= {f"judgments/{name}": cell.judgments, f"scores/{name}": cell.scores}
    write_hashes(paths, spec.hashes)
