"""Let a model compare candidates with anchors, or anchors with each other, in both orders."""

from judgescope.perturb.grading import check_comparator, compared, pairs_of
from judgescope.perturb.specs import CompareAnchorsSpec
from judgescope.replies.asking import writer
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: CompareAnchorsSpec, *, card: str, store: str, budget: str) -> None:
    """Ask about every pair in both orders; write who is better, and the replies behind it."""
    items = read_table("items", spec.items, ["item", "source"]).to_pylist()
    sources = {row["item"]: row["source"] if spec.source_visible else None for row in items}
    anchors = read_table("anchors", spec.anchors).to_pylist()
    systems = read_table("targets", spec.targets).to_pylist()
    candidates = read_table("targets", spec.candidates).to_pylist() if spec.candidates else None
    pairs = pairs_of(anchors, candidates, systems, sources)
    with writer(spec.comparator, spec.seed, card=card, store=store, budget=budget) as asked:
        rows, answers = compared(spec, pairs, *asked)
    if candidates is None:
        check_comparator(spec, anchors, rows)
    write_table("comparisons", table_of("comparisons", rows), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)
