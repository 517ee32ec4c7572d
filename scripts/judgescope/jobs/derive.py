"""Make one cell of a derived judge from its members' scores, and the errors that they list."""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from judgescope.schema.tables import read_part, read_table, texts_of, write_parts
from judgescope.scoring.ensembles import Listed, by_rule, by_supervisor, derive_part, heard
from judgescope.scoring.specs import DeriveSpec, Pair


def main(spec: DeriveSpec) -> None:
    """Read the members' scores and errors of the cell, write its judgments and scores."""
    judgments, scores = zip(*_parts(spec), strict=True)
    write_parts("judgments", judgments, spec.cell.judgments)
    write_parts("scores", scores, spec.cell.scores)


def _parts(spec: DeriveSpec) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield judgments and scores, aspect by aspect."""
    texts = texts_of(spec.errors.targets) if spec.errors else {}
    for pair in spec.pairs:
        members = [read_part("scores", path, *pair) for path in spec.members]
        yield derive_part(
            members,
            part=spec.cell.part(pair[0]),
            min_annotators=spec.min_annotators,
            labels=spec.labels.get(pair[0], []),
            errors=_errors(spec, pair, members, texts) if spec.errors else None,
        )


def _errors(
    spec: DeriveSpec, pair: Pair, scores: Sequence[pa.Table], texts: Mapping[str, str]
) -> dict[str, Listed]:
    """Return target -> the errors of the members that are heard, as one list."""
    assert spec.errors is not None
    lists = heard(
        [read_part("judgments", path, *pair) for path in spec.errors.lists],
        scores,
        min_annotators=spec.min_annotators,
    )
    if spec.errors.merged is None:
        return by_rule(lists, texts)
    own = dict(zip(("judge", "aspect", "criterion"), (spec.cell.judge, *pair), strict=True))
    names = [*own, "target", "text", "finish", "status"]
    answers = read_table("answers", spec.errors.merged, names).to_pylist()
    return by_supervisor(lists, texts, [row for row in answers if own.items() <= row.items()])
