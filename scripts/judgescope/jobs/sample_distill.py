"""Draw the texts and aspects that a judge will learn from, none of them evaluated on."""

from judgescope.core.paths import Paths
from judgescope.core.rng import share_of
from judgescope.distill.sampling import ItemId, check_splits, key_of, sample, usable_sources
from judgescope.distill.specs import SampleSpec
from judgescope.engines.subjects import Subjects
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: SampleSpec) -> None:
    """Read items and texts of all datasets, compare sources, write the sample."""
    taught, evaluated = dict[ItemId, str | None](), dict[ItemId, str | None]()
    for dataset, share in spec.taught.items():
        taught |= _sources(spec, dataset, share)
    for dataset in spec.evaluated:
        evaluated |= _sources(spec, dataset, 1.0)
    sources = usable_sources(spec, taught, evaluated)
    texts = {name: Subjects(spec.results, name, spec.seed) for name in spec.taught}
    rows = sample(spec, sources, texts)
    print(f"items left out, whose source is evaluated on: {len(taught) - len(sources)}")
    bare = sum(not key_of(source or "") for source in sources.values())
    print(f"items without a source, which nothing can be compared with: {bare}")
    for dataset in spec.taught:
        held_out = [row["held_out"] for row in rows if row["dataset"] == dataset]
        print(f"{dataset}: {len(held_out):,} texts and aspects, {sum(held_out):,} of them held out")
    check_splits(rows)
    write_table("samples", table_of("samples", rows), spec.output)


def _sources(spec: SampleSpec, dataset: str, share: float) -> dict[ItemId, str | None]:
    """Return the sources of a share of a dataset's items: of those that judges are given."""
    path = Paths(spec.results).items(dataset)
    rows = read_table("items", path, ["item", "source"]).to_pylist()
    given = share_of((row["item"] for row in rows), share, seed=spec.seed, dataset=dataset)
    return {(dataset, row["item"]): row["source"] for row in rows if row["item"] in given}
