"""Choose the rated texts of an aspect that stand for each rating: people and a judge agree."""

from judgescope.schema.tables import read_table, table_of, write_table
from judgescope.scoring.anchors import ChooseAnchorsSpec, chosen_anchors


def main(spec: ChooseAnchorsSpec) -> None:
    """Read ratings and a judge's draws; write so many anchors of each rating."""
    targets = read_table("targets", spec.targets).to_pylist()
    ratings = read_table("ratings", spec.ratings).to_pylist()
    answers = read_table("answers", spec.judged.replies) if spec.judged else None
    anchors = chosen_anchors(spec, targets, ratings, answers)
    write_table("anchors", table_of("anchors", anchors), spec.output)
