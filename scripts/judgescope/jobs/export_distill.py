"""Write what a judge learns: prompts about the sample, and what its teacher said as replies."""

from pathlib import Path

from msgspec.structs import asdict

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.paths import Paths
from judgescope.distill import examples
from judgescope.distill.specs import ExportSpec
from judgescope.engines.subjects import Subjects
from judgescope.schema.tables import read_part, read_table

COLUMNS = ["dataset", "item", "target", "perturbation", "aspect", "held_out"]


def main(spec: ExportSpec) -> None:
    """Join the sample with the teacher's judgments; write an example a line, and their counts."""
    cells = examples.cells_of(read_table("samples", spec.sample, COLUMNS).to_pylist())
    texts = {name: Subjects(spec.results, name, spec.seed) for (name, *_), _ in cells}
    every = []
    for (dataset, name, aspect), rows in cells:
        scores, judgments = (
            read_part(
                kind,
                Paths(spec.results).cell(kind, dataset, spec.model, name, spec.teacher),
                *split(aspect),
            )
            for kind in ("scores", "judgments")
        )
        every += examples.sampled(
            spec.student, rows, texts[dataset].in_set(name), scores, judgments
        )
    for reason, count in examples.reasons_of(every).items():
        print(f"left out, {reason}: {count:,}")
    for part, path in asdict(spec.examples).items():
        rows = examples.examples_in(every, part)
        print(f"{part}: {len(rows):,} examples")
        _write(path, "".join(sorted(f"{canonical(row)}\n" for row in rows)))
    _write(spec.output, canonical({"examples": examples.counts_of(every)}) + "\n")


def _write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
