"""Write the JSON schemas of the cards to workflow/schemas, from the typed models."""

import json
from pathlib import Path

from metajudge.schema.cards import KINDS
from metajudge.schema.loading import adapter

FOLDER = Path(__file__).resolve().parents[1] / "workflow" / "schemas"


def schema_text(kind: str) -> str:
    """Return the JSON schema of a card kind, as the file holds it."""
    return json.dumps(adapter(kind).json_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    for kind in KINDS:
        (FOLDER / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8")
