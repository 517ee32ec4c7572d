"""Let a model write texts for a dataset; keep the replies behind them."""

from judgescope.distill.new_texts import new_texts
from judgescope.distill.specs import WriteNewSpec
from judgescope.perturb.specs import MakeTextsSpec, WriteReferencesSpec
from judgescope.perturb.writing import made_targets, references_of
from judgescope.replies.asking import writer
from judgescope.schema.tables import read_table, table_of, write_table


def make_texts(spec: MakeTextsSpec, *, card: str, store: str, budget: str) -> None:
    """Make texts of a dataset's originals, at once or step by step; or the originals."""
    items = read_table("items", spec.items, ["item", "source"]).to_pylist()
    originals = read_table("targets", spec.input).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = made_targets(spec, items, originals, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def write_references(spec: WriteReferencesSpec, *, card: str, store: str, budget: str) -> None:
    """Write many references of each item; keep the most diverse, and one as the original."""
    items = read_table("items", spec.items).to_pylist()
    texts = {row["item"]: row["text"] for row in read_table("targets", spec.input).to_pylist()}
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        kept, answers = references_of(spec, items, texts, *asked)
    write_table("targets", table_of("targets", kept), spec.kept)
    originals = [row for row in kept if not row["step"]]
    write_table("targets", table_of("targets", originals), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def write_new(spec: WriteNewSpec, *, card: str, store: str, budget: str) -> None:
    """Write texts for a judge to learn from, where they are drawn."""
    items = read_table("items", spec.items).to_pylist()
    columns = ["dataset", "item", "perturbation"]
    samples = read_table("samples", spec.sample, columns).to_pylist()
    with writer(spec.writer, spec.seed, card=card, store=store, budget=budget) as asked:
        targets, answers = new_texts(spec, items, samples, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)
