"""Damage a dataset's originals in one way and one degree."""

import json
from collections.abc import Iterator
from typing import Any

from judgescope.jobs.run import run
from judgescope.perturb import RULES, Perturbed, inject_errors, perturb_dataset
from judgescope.perturb.attacks import added
from judgescope.schema.tables import read_table, table_of, write_table


def main(spec: dict[str, Any]) -> None:
    """Read the originals, damage each, write the damaged targets with their edits."""
    read = read_table("targets", spec["input"]).to_pylist()
    originals = [row for row in read if not row["status"].startswith("failed")]
    made = _made(spec, {row["item"]: row["text"] for row in originals})
    in_a_row = "rule" in spec and RULES[spec["rule"]].in_a_row
    rows = [
        target for row in originals for target in _targets(spec, row, made[row["item"]], in_a_row)
    ]
    write_table("targets", table_of("targets", rows), spec["output"])


def _made(spec: dict[str, Any], texts: dict[str, str]) -> dict[str, list[Perturbed]]:
    """Return item -> its damaged text, or its texts in a row."""
    if add := spec.get("added"):
        return {item: [added(text, add["text"], add["place"])] for item, text in texts.items()}
    named = {name: spec[name] for name in ("seed", "dataset", "perturbation", "degree")}
    if RULES[spec["rule"]].in_a_row:
        return inject_errors(spec["errors"], spec["steps"], texts, **named)
    meta = _meta(spec["items"]) if RULES[spec["rule"]].meta else None
    found = perturb_dataset(spec["rule"], spec["options"], texts, meta, **named)
    return {item: [one] for item, one in found.items()}


def _targets(
    spec: dict[str, Any], original: dict[str, Any], made: list[Perturbed], in_a_row: bool
) -> Iterator[dict[str, Any]]:
    """Yield the targets of an item, each made from the one before."""
    name, parent = f"{spec['perturbation']}.{spec['degree']}", original["target"]
    for step, one in enumerate(made, start=1):
        number = f".{step}" if in_a_row else ""
        target = f"{original['item']}:{name}{number}"
        yield {
            **original,
            "target": target,
            "perturbation": spec["perturbation"],
            "degree": spec["degree"],
            "step": step,
            "parent": parent,
            "text": one.text,
            "status": one.status,
            "edits": [edit._asdict() for edit in one.edits],
        }
        parent = target


def _meta(path: str) -> dict[str, Any]:
    """Return item -> its meta."""
    rows = read_table("items", path, ["item", "meta"]).to_pylist()
    return {row["item"]: json.loads(row["meta"]) for row in rows}


if __name__ == "__main__":
    run(main)
