"""Make one cell of a derived judge from its members' scores, and the errors that they list."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from metajudge.command import run
from metajudge.lean import hide_pandas
from metajudge.schema.tables import read_table, texts_of, write_table
from metajudge.scoring.annotators import Listed, by_rule, by_supervisor, heard
from metajudge.scoring.derived import derive_cell


def main(spec: dict[str, Any]) -> None:
    """Read the members' scores and errors of the cell, write its judgments and scores."""
    members = [read_table("scores", path) for path in spec["inputs"]]
    judgments, scores = derive_cell(
        members,
        cell=spec["cell"],
        min_annotators=spec["min_annotators"],
        errors=_errors(spec, members) if "lists" in spec else None,
    )
    write_table("judgments", judgments, spec["judgments"])
    write_table("scores", scores, spec["scores"])


def _errors(spec: Mapping[str, Any], scores: Sequence[pa.Table]) -> dict[str, Listed]:
    """Return target -> the errors of the members that are heard, as one list."""
    lists = heard(
        [read_table("judgments", path) for path in spec["lists"]],
        scores,
        min_annotators=spec["min_annotators"],
    )
    texts = texts_of(spec["targets"])
    if "merged" not in spec:
        return by_rule(lists, texts)
    own = {name: spec["cell"][name] for name in ("judge", "aspect")}
    own["criterion"] = spec["criterion"]
    names = [*own, "target", "text", "finish", "status"]
    answers = read_table("answers", spec["merged"], names).to_pylist()
    return by_supervisor(lists, texts, [row for row in answers if own.items() <= row.items()])


if __name__ == "__main__":
    hide_pandas()
    run(main)
