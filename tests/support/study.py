"""The study builder of the tests: a working folder with cards, its commands, its
results.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import running
from csv_rows import write_csv
from judgescope.plan.loading import load_plan
from judgescope.plan.study import Plan
from judgescope.schema.cards import FOLDERS
from judgescope.schema.tables import table_of, write_table
from running import HOME

Card = dict[str, Any]
KINDS = {folder: kind for kind, folder in FOLDERS.items()}
"""The folder of cards -> the key that has the id."""
SMALL: Card = {
    "study": "small",
    "seed": 3,
    "datasets": ["demo-dialogue"],
    "aspects": ["naturalness", "groundedness"],
    "judges": ["rouge-l-source", "rules", "constant-top", "random", "length"],
    "perturbations": ["random-typos", "reordering"],
    "methods": ["agreement", "discernment"],
}


def shipped(kind: str, name: str, home: Path = HOME, /, **changes: Any) -> Card:
    """Return a shipped card, or that of another checkout, with changes."""
    path = home / "config" / kind / f"{name}.yaml"
    return {**yaml.safe_load(path.read_text(encoding="utf-8")), **changes}


class Study:
    """A working folder: a study's card, cards beside the shipped ones, and results.

    `keys` is the study's card; changes that `write` is given hold for that time.
    """

    file = "study.yaml"

    def __init__(
        self, folder: Path, keys: Mapping[str, Any] = SMALL, /, **changes: Any
    ) -> None:
        self.folder, self.keys = folder, {**keys, **changes}
        self.name: str = self.keys["study"]

    def write(self, **changes: Any) -> Path:
        """Write the study's card, with changes for this time, and return its file."""
        keys = self.keys | changes
        self.name = keys["study"]
        return self._dump(self.file, keys)

    def card(self, kind: str, ident: str, /, **keys: Any) -> Path:
        """Write a card; its id is its file's name."""
        return self._dump(f"config/{kind}/{ident}.yaml", {KINDS[kind]: ident, **keys})

    def rated_table(
        self,
        name: str,
        rows: Sequence[Card],
        /,
        *,
        ratings: Mapping[str, Sequence[str]],
        aspects: Mapping[str, Card],
        **keys: Any,
    ) -> None:
        """Write a table of texts and its dataset's card.

        Rows have `id`, `source`, `system` and `text`, a column for each reference that
        `references` names, and one for each rater of an aspect (`ratings`). `meta`
        names further columns of the items.
        """
        write_csv(self.folder / f"{name}.csv", [*rows])
        columns: Card = {"item": "id", "source": "source", "system": "system"}
        columns |= {"text": "text", "ratings": ratings}
        if "references" in keys:
            columns["references"] = keys.pop("references")
        if "meta" in keys:
            columns["meta"] = keys.pop("meta")
        card: Card = {"name": name, "task": "summarization", "format": "table"}
        card |= {"files": f"../../{name}.csv", "licence": "none", "citation": "none"}
        card |= {"columns": columns, "aspects": aspects}
        self.card("datasets", name, **card | keys)

    def change(self, kind: str, name: str, /, **changes: Any) -> Path:
        """Write a changed copy of a shipped card, under the id that it has by then."""
        card = shipped(kind, name, **changes)
        return self._dump(f"config/{kind}/{card[KINDS[kind]]}.yaml", card)

    def amend(self, kind: str, name: str, /, **changes: Any) -> Path:
        """Change keys of a card in the folder."""
        card = shipped(kind, name, self.folder, **changes)
        return self._dump(f"config/{kind}/{name}.yaml", card)

    def connect(self, url: str, *models: str, **keys: Any) -> None:
        """Let shipped models be asked at an endpoint, which is not tried out."""
        limits = {"backoff": 0.01, "concurrency": 16, "timeout": 60} | keys.pop(
            "limits", {}
        )
        for name in models:
            self.change(
                "models", name, base_url=url, probe=False, limits=limits, **keys
            )

    def _dump(self, file: str, content: Card) -> Path:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        return path

    def plan(self, **changes: Any) -> Plan:
        """Return the plan of the study, with changes; the working directory has its
        cards.
        """
        return load_plan(self.keys | changes, HOME, source=self.file)

    @property
    def out(self) -> Path:
        """Return the folder of the results."""
        return self.folder / "results" / self.name

    def table(self, schema: str, file: str, rows: Sequence[Card]) -> None:
        """Write a table of the results, as a job would."""
        write_table(schema, table_of(schema, list(rows)), self.out / f"{file}.parquet")

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the workflow on the study."""
        return running.snakemake(
            f"--configfile={self.file}", *arguments, cwd=self.folder
        )

    def make(self, *tables: str) -> subprocess.CompletedProcess[str]:
        """Run the study as far as some tables: what a test of these needs, without a
        report.
        """
        return self.snakemake(
            "--", *(f"results/{self.name}/tables/{name}.csv" for name in tables)
        )

    def judgescope(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the study."""
        return running.run("-m", "judgescope", *command, self.file, cwd=self.folder)

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the whole study as a user does."""
        return running.run(
            "-m", "judgescope", "run", self.file, *options, cwd=self.folder
        )

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a result table."""
        return running.rows(self.out, table)
