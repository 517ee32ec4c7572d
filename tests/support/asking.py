"""A study on the demo data whose judges ask a scripted endpoint."""

import json
import subprocess
from pathlib import Path
from typing import Any

from running import HOME
from scripted import Body, Endpoint, Said, reply
from study import Card, Study

DEMO = HOME / "config" / "demo"
FAST = {"backoff": 0.01, "attempts": 3, "concurrency": 4, "timeout": 20}
ASKED: Card = {
    "study": "asked",
    "datasets": ["demo-dialogue"],
    "aspects": ["naturalness"],
    "judges": ["terse"],
    "methods": ["agreement"],
}
WRITING = "Change exactly one fact"
COMPARING = "You compare two texts"


def rate(body: Body) -> Said:
    """Rate by the request's own seed: other prompts, other ratings."""
    return reply(f"Rating: {1 + body['seed'] % 5}")


class AskedStudy(Study):
    """A study of 120 texts of the demo's dialogues and one aspect, by a judge of an
    endpoint.
    """

    def __init__(self, folder: Path, endpoint: Endpoint, **changes: Any) -> None:
        super().__init__(folder, ASKED, **changes)
        self.endpoint = endpoint
        self.model()
        self.card("judges", "terse", model="loop", form="score-only")
        self.write()

    def model(self, **keys: Any) -> None:
        """Write the card of the model behind the endpoint, which is not tried out."""
        fields = {
            "engine": "openai",
            "base_url": self.endpoint.url,
            "limits": FAST,
            "probe": False,
        }
        self.card("models", "loop", **fields | keys)

    def own_data(self) -> Path:
        """Give the study a copy of the demo's dialogues and return the file with the
        texts.
        """
        texts = self.folder / "texts.jsonl"
        texts.write_bytes((DEMO / "dialogue_outputs.jsonl").read_bytes())
        files = {"items": str(DEMO / "dialogue_items.jsonl"), "data": str(texts)}
        self.change("datasets", "demo-dialogue", sha256={}, files=files)
        return texts

    def ask(self) -> subprocess.CompletedProcess[str]:
        """Run the asking half."""
        return self.snakemake("asked")

    def journalled(self) -> int:
        """Return how many whole replies the store holds."""
        lines = [
            line
            for path in self.folder.glob("cache/replies/*/*.jsonl")
            for line in path.read_bytes().splitlines(keepends=True)
        ]
        return sum(
            line.endswith(b"}\n") and "text" in json.loads(line) for line in lines
        )
