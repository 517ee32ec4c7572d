"""A file in the layout of the confusion paper's texts, written for the tests."""

import json
from pathlib import Path
from typing import Any

from data_samples import DATASETS
from judgescope.data.confusion import SOURCES
from judgescope.schema.loading import read_card

NAMES = {
    "news": "confusion-news",
    "dial": "confusion-dialogue",
    "para": "confusion-paraphrase",
    "table": "confusion-table",
}
CARDS = {role: read_card("dataset", DATASETS / f"{NAMES[role]}.yaml") for role in NAMES}


def contents(count: int = 2) -> dict[str, list[dict[str, Any]]]:
    """Return a file in the layout of the authors' program."""
    made = {}
    for role, (key, _) in SOURCES.items():
        entries = []
        for number in range(count):
            entry = {key: f"Source {number}.", "new_ref": f"Text {number}.", "id": 1}
            for name, texts in CARDS[role].perturbed.items():
                entry[str(texts.named)] = f"{name} of {number}."
            entries.append(entry)
        made[role] = entries
    return made


def written(folder: Path, content: object) -> None:
    """Write the file where the cards look for it below `{data}`."""
    (folder / "confusion").mkdir(parents=True, exist_ok=True)
    (folder / "confusion" / "data_all.json").write_text(json.dumps(content))
