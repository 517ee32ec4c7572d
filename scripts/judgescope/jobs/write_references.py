"""Let a model write references for every item of a dataset; keep the most diverse of them."""

from judgescope.jobs.run import run
from judgescope.perturb.specs import WriteReferencesSpec
from judgescope.perturb.writing import references_of
from judgescope.replies.asking import writer
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: WriteReferencesSpec, *, card: str, store: str, budget: str) -> None:
    """Ask for many references of each item; write those that are kept, and the originals."""
    items = read_table("items", spec.items).to_pylist()
    texts = {row["item"]: row["text"] for row in read_table("targets", spec.input).to_pylist()}
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        kept, answers = references_of(spec, items, texts, *asked)
    write_table("targets", table_of("targets", kept), spec.kept)
    originals = [row for row in kept if not row["step"]]
    write_table("targets", table_of("targets", originals), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


if __name__ == "__main__":
    run(main, "card", "store", "budget")
