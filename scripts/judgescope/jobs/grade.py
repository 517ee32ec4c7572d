"""Rate the candidates of a graded set, and choose as many of every rating as can be."""

from collections.abc import Sequence

from judgescope.perturb.grading import graded_set
from judgescope.perturb.specs import GradeSpec
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: GradeSpec) -> None:
    """Read candidates and comparisons; write the set's targets, and what is known of all."""
    candidates = [_rows("targets", [path]) for path in spec.candidates]
    targets, graded = graded_set(spec, candidates, _rows("comparisons", spec.compared))
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("graded", table_of("graded", graded), spec.graded)


def _rows(table: str, paths: Sequence[str]) -> list[dict[str, object]]:
    return [row for path in paths for row in read_table(table, path).to_pylist()]
