"""Rate the candidates of a graded set, and choose as many of every rating as can be."""

from judgescope.perturb.grading import graded_set
from judgescope.perturb.specs import GradeSpec
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: GradeSpec) -> None:
    """Read candidates and comparisons; write the set's targets, and what is known of all."""
    candidates = [read_table("targets", path).to_pylist() for path in spec.candidates]
    compared = [
        row for path in spec.compared for row in read_table("comparisons", path).to_pylist()
    ]
    targets, graded = graded_set(spec, candidates, compared)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("graded", table_of("graded", graded), spec.graded)
