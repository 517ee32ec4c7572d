"""Write what is recorded of one model, or computed, about a dataset as replies, cell by cell."""

from judgescope.core.files import write_hashes
from judgescope.engines.computing import Part, ReplaySpec, cells_of
from judgescope.jobs.run import run
from judgescope.schema.tables import table_of, write_parts


def main(spec: ReplaySpec) -> None:
    """Read items, targets and ratings; write the answers of every cell of the model."""
    paths = {}
    for parts in cells_of(spec):
        name = f"{parts[0].perturbation}/{parts[0].judge.judge}"
        paths[name] = spec.replies.format(name)
        tables = (table_of("answers", _rows(part)) for part in parts)
        write_parts("answers", tables, paths[name])
    if spec.hashes:
        write_hashes(paths, spec.hashes)


def _rows(part: Part) -> list[dict[str, object]]:
    return [
        {**row, "text": answer.text, "finish": "stop", "usage": None, "status": answer.status}
        for row, answer in zip(part.rows, part.answers, strict=True)
    ]


if __name__ == "__main__":
    run(main)
