"""A study on the demo data whose judges ask a scripted endpoint."""

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

import running
from running import HOME
from scripted import Body, Endpoint, Said, reply

DEMO = HOME / "config" / "demo"
WRITING = "Change exactly one fact"
COMPARING = "You compare two texts"


def rate(body: Body) -> Said:
    """Rate by the request's own seed: other prompts, other ratings."""
    return reply(f"Rating: {1 + body['seed'] % 5}")


class Study:
    """A working folder with cards of its own; 120 texts of the demo's dialogues, one aspect."""

    def __init__(self, folder: Path, endpoint: Endpoint, **keys: Any) -> None:
        self.folder, self.endpoint = folder, endpoint
        self.model()
        self.card("judges", "terse", model="loop", form="score-only")
        self.study(**keys)

    def model(self, **keys: Any) -> None:
        """Write the card of the model behind the endpoint, which is not tried out."""
        own = {"engine": "openai", "base_url": self.endpoint.url, "limits": FAST, "probe": False}
        self.card("models", "loop", **own | keys)

    def card(self, kind: str, ident: str, **keys: Any) -> None:
        """Write a card; its id is its file's name."""
        path = self.folder / "config" / kind / f"{ident}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump({kind[:-1]: ident, **keys}), encoding="utf-8")

    def study(self, name: str = "asked", **keys: Any) -> None:
        """Write the study's card."""
        study = {
            "study": name,
            "datasets": ["demo-dialogue"],
            "aspects": ["naturalness"],
            "judges": ["terse"],
            "methods": ["agreement"],
        }
        (self.folder / "study.yaml").write_text(yaml.safe_dump(study | keys), encoding="utf-8")

    def own_data(self) -> Path:
        """Give the study a copy of the demo's dialogues and return the file with the texts."""
        shipped = yaml.safe_load((HOME / "config/datasets/demo-dialogue.yaml").read_text("utf-8"))
        texts = self.folder / "texts.jsonl"
        texts.write_bytes((DEMO / "dialogue_outputs.jsonl").read_bytes())
        files = {"items": str(DEMO / "dialogue_items.jsonl"), "data": str(texts)}
        kept = {key: value for key, value in shipped.items() if key not in {"dataset", "sha256"}}
        self.card("datasets", "demo-dialogue", **kept | {"files": files})
        return texts

    def ask(self) -> subprocess.CompletedProcess[str]:
        """Run the asking half."""
        return running.snakemake("asked", "--configfile", "study.yaml", cwd=self.folder)

    def make(self, *tables: str, study: str = "asked") -> subprocess.CompletedProcess[str]:
        """Run the study as far as some tables: what a test of these needs, without a report."""
        wanted = [f"results/{study}/tables/{name}.csv" for name in tables]
        return running.snakemake("--configfile", "study.yaml", "--", *wanted, cwd=self.folder)

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the whole study as a user does."""
        return running.run("-m", "judgescope", "run", "study.yaml", *options, cwd=self.folder)

    def judgescope(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the study."""
        return running.run("-m", "judgescope", *command, "study.yaml", cwd=self.folder)

    def rows(self, table: str, study: str = "asked") -> list[dict[str, Any]]:
        """Return the rows of a result table."""
        return running.rows(self.folder / "results" / study, table)

    def journalled(self) -> int:
        """Return how many whole replies the store holds."""
        lines = [
            line
            for path in self.folder.glob("cache/replies/*/*.jsonl")
            for line in path.read_bytes().splitlines(keepends=True)
        ]
        return sum(line.endswith(b"}\n") and "text" in json.loads(line) for line in lines)


FAST = {"backoff": 0.01, "attempts": 3, "concurrency": 4, "timeout": 20}
