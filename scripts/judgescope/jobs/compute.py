"""Let one model that computes scores, or has recorded ones, judge a dataset; no reply is parsed."""

from judgescope.core.cells import unpack
from judgescope.core.files import write_hashes
from judgescope.engines.computing import cells_of
from judgescope.jobs.run import run
from judgescope.schema.tables import write_parts
from judgescope.scoring.computed import ComputeSpec, computed_part
from judgescope.scoring.specs import CellPart


def main(spec: ComputeSpec) -> None:
    """Read items, targets and ratings; write judgments and scores of every cell of the model."""
    scales = {place: one.scale for one in spec.read for place in unpack(one.cells)}
    paths = {}
    for parts in cells_of(spec):
        first = parts[0]
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
        name = f"{first.perturbation}/{first.judge.judge}"
        places = {kind: getattr(spec, kind).format(name) for kind in ("judgments", "scores")}
        for (kind, path), tables in zip(places.items(), zip(*made, strict=True), strict=True):
            write_parts(kind, tables, path)
            paths[f"{kind}/{name}"] = path
    if spec.hashes:
        write_hashes(paths, spec.hashes)


if __name__ == "__main__":
    run(main)
