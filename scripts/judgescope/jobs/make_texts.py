"""Let a model make texts of a dataset's originals, at once or step by step; or the originals."""

from judgescope.jobs.run import run
from judgescope.perturb.specs import MakeTextsSpec
from judgescope.perturb.writing import made_targets
from judgescope.replies.asking import writer
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: MakeTextsSpec, *, card: str, store: str, budget: str) -> None:
    """Read the originals; write the made texts, and the replies that they come from."""
    items = read_table("items", spec.items, ["item", "source"]).to_pylist()
    originals = read_table("targets", spec.input).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = made_targets(spec, items, originals, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


if __name__ == "__main__":
    run(main, "card", "store", "budget")
