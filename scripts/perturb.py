"""Damage a dataset's originals in one way and one degree."""

import json
from typing import Any

from metajudge.command import run
from metajudge.perturb import RULES, perturb_dataset
from metajudge.schema.tables import read_table, table_of, write_table


def main(spec: dict[str, Any]) -> None:
    """Read the originals, damage each, write the damaged targets with their edits."""
    read = read_table("targets", spec["input"]).to_pylist()
    originals = [row for row in read if not row["status"].startswith("failed")]
    damaged = perturb_dataset(
        spec["rule"],
        spec["options"],
        {row["item"]: row["text"] for row in originals},
        _meta(spec["items"]) if RULES[spec["rule"]].meta else None,
        seed=spec["seed"],
        dataset=spec["dataset"],
        perturbation=spec["perturbation"],
        degree=spec["degree"],
    )
    name = f"{spec['perturbation']}.{spec['degree']}"
    rows = [
        {
            **row,
            "target": f"{row['item']}:{name}",
            "perturbation": spec["perturbation"],
            "degree": spec["degree"],
            "step": 1,
            "parent": row["target"],
            "text": damaged[row["item"]].text,
            "status": damaged[row["item"]].status,
            "edits": [
                {"offset": edit.offset, "before": edit.before, "after": edit.after}
                for edit in damaged[row["item"]].edits
            ],
        }
        for row in originals
    ]
    write_table("targets", table_of("targets", rows), spec["output"])


def _meta(path: str) -> dict[str, Any]:
    """Return item -> its meta."""
    rows = read_table("items", path, ["item", "meta"]).to_pylist()
    return {row["item"]: json.loads(row["meta"]) for row in rows}


if __name__ == "__main__":
    run(main)
