"""Perturb a dataset's originals in one way and one degree."""

import json

from judgescope.perturb.rules import RULES, PerturbSpec, RuleUse, perturbed_targets
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: PerturbSpec) -> None:
    """Read the originals, perturb each, write the perturbed targets with their edits."""
    originals = read_table("targets", spec.input).to_pylist()
    meta = None
    if isinstance(spec.change, RuleUse) and RULES[spec.change.rule].meta:
        items = read_table("items", spec.change.items, ["item", "meta"]).to_pylist()
        meta = {row["item"]: json.loads(row["meta"]) for row in items}
    targets = list(perturbed_targets(spec, originals, meta))
    write_table("targets", table_of("targets", targets), spec.output)
