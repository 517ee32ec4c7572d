"""Let a model write texts for a judge to learn from, where they are drawn."""

from judgescope.distill.new_texts import new_texts
from judgescope.distill.specs import WriteNewSpec
from judgescope.jobs.run import run
from judgescope.replies.asking import writer
from judgescope.schema.tables import read_table, table_of, write_table

COLUMNS = ["dataset", "item", "perturbation"]


def main(spec: WriteNewSpec, *, card: str, store: str, budget: str) -> None:
    """Ask for the texts that are drawn; write them, and the replies behind them."""
    items = read_table("items", spec.items).to_pylist()
    samples = read_table("samples", spec.sample, COLUMNS).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = new_texts(spec, items, samples, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


if __name__ == "__main__":
    run(main, "card", "store", "budget")
