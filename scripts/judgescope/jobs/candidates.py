"""Put more or fewer errors into a dataset's references, by rule or by a model: candidates."""

from judgescope.perturb.candidates import (
    references_with_errors,
    targets_by_model,
    targets_by_rule,
    wanted_candidates,
)
from judgescope.perturb.specs import CandidatesSpec
from judgescope.replies.asking import writer
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: CandidatesSpec, *, card: str = "", store: str = "", budget: str = "") -> None:
    """Read references, choose those that get errors, make the candidates of one part."""
    items = {row["item"]: row for row in read_table("items", spec.items).to_pylist()}
    written = _rows("targets", spec.written) if spec.written else None
    bases = references_with_errors(spec, items, _rows("targets", spec.input), written)
    tried, compared = _rows("targets", spec.tried), _rows("comparisons", spec.compared)
    wanted = wanted_candidates(spec, bases, tried, compared)
    if spec.by_model is None:
        write_table("targets", table_of("targets", targets_by_rule(spec, wanted)), spec.output)
        return
    assert spec.replies is not None
    sources = {item: row["source"] for item, row in items.items()}
    options = {"card": card, "store": store, "budget": budget}
    with writer(spec.by_model.writer, spec.seed, **options) as asked:
        targets, answers = targets_by_model(spec, spec.by_model, wanted, sources, *asked)
    write_table("targets", table_of("targets", targets), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def _rows(table: str, path: str | None) -> list[dict[str, object]]:
    """Return the rows of a table, none without a path."""
    return read_table(table, path).to_pylist() if path else []
