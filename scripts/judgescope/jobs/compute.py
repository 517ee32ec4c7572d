"""Let a model that is not asked judge a dataset: it computes scores, or its answers are recorded.

No reply is parsed here: a changed parser computes nothing again.
"""

from judgescope.core.cells import unpack
from judgescope.core.files import write_hashes
from judgescope.engines.computing import Part, ReplaySpec, cells_of
from judgescope.schema.tables import table_of, write_parts
from judgescope.scoring.computed import ComputeSpec, computed_part
from judgescope.scoring.specs import CellPart


def compute(spec: ComputeSpec) -> None:
    """Write the judgments and scores of every cell of a model that computes scores."""
    scales = {cell: read.scale for read in spec.read for cell in unpack(read.cells)}
    paths = {}
    for parts in cells_of(spec):
        name = f"{parts[0].perturbation}/{parts[0].judge.judge}"
        made = [
            computed_part(
                part.rows,
                part.answers,
                scales[part.perturbation, part.judge.judge, part.aspect],
                part=CellPart(
                    spec.dataset,
                    part.perturbation,
                    part.judge.judge,
                    part.aspect.partition(".")[0],
                ),
                estimator=part.judge.estimator,
                missing=spec.missing,
            )
            for part in parts
        ]
        judgments, scores = zip(*made, strict=True)
        for kind, pattern, tables in (
            ("judgments", spec.judgments, judgments),
            ("scores", spec.scores, scores),
        ):
            path = paths[f"{kind}/{name}"] = pattern.format(name)
            write_parts(kind, tables, path)
    if spec.hashes:
        write_hashes(paths, spec.hashes)


def replay(spec: ReplaySpec) -> None:
    """Write the recorded replies of every cell of a model, as those that are asked for."""
    paths = {}
    for parts in cells_of(spec):
        name = f"{parts[0].perturbation}/{parts[0].judge.judge}"
        paths[name] = spec.replies.format(name)
        tables = (table_of("answers", _answers(part)) for part in parts)
        write_parts("answers", tables, paths[name])
    if spec.hashes:
        write_hashes(paths, spec.hashes)


def _answers(part: Part) -> list[dict[str, object]]:
    return [
        {**row, "text": answer.text, "finish": "stop", "usage": None, "status": answer.status}
        for row, answer in zip(part.rows, part.answers, strict=True)
    ]
