"""Rate the candidates of a graded set, and choose as many of every rating as can be."""

from collections.abc import Mapping
from typing import Any

from judgescope.jobs.run import run
from judgescope.perturb.grading import Grade, by_anchors, by_errors, chosen_of, usable, usual_errors
from judgescope.schema.tables import CHOSEN, read_table, table_of, write_table

Row = dict[str, Any]


def main(spec: dict[str, Any]) -> None:
    """Read candidates and comparisons; write the set's targets, and what is known of all."""
    read = [row for path in spec["candidates"] for row in read_table("targets", path).to_pylist()]
    rows, why = usable(read)
    grades = _grades(spec, rows)
    chosen = chosen_of(rows, grades, spec["targets"], len(spec["classes"]), seed=spec["seed"])
    targets = [row for row in rows if row["target"] in chosen]
    write_table("targets", table_of("targets", targets), spec["output"])
    graded = [_graded(spec, row, grades[row["target"]], chosen) for row in rows]
    lost = [row for row in read if row["target"] in why]
    graded += [_graded(spec, row, Grade(None, status=why[row["target"]]), chosen) for row in lost]
    write_table("graded", table_of("graded", graded), spec["graded"])


def _grades(spec: dict[str, Any], rows: list[Row]) -> Mapping[str, Grade]:
    classes = spec["classes"]
    if spec["errors_per_rating"] is not None:
        return by_errors(rows, len(classes), spec["errors_per_rating"])
    compared = [
        row for path in spec["compared"] for row in read_table("comparisons", path).to_pylist()
    ]
    tried, _ = usable(read_table("targets", spec["candidates"][0]).to_pylist())
    first = by_anchors(tried, compared, classes)
    usual = usual_errors(tried, first, len(classes))
    return by_anchors(rows, compared, classes, usual)


def _graded(spec: dict[str, Any], row: Row, grade: Grade, chosen: set[str]) -> Row:
    names = ("above_lower", "above_same", "below_same", "below_higher")
    rating = None if grade.rating is None else spec["classes"][grade.rating]
    return {
        **{name: row[name] for name in ("dataset", "target", "item")},
        "aspect": spec["aspect"],
        "errors": row["step"],
        "rating": rating,
        "margin": grade.margin,
        "n_tied": int(grade.tied),
        **dict(zip(names, grade.shares, strict=True)),
        "status": CHOSEN if row["target"] in chosen else grade.status,
    }


if __name__ == "__main__":
    run(main)
