"""An asking job as a rule runs it, without the workflow around it: tables, a spec, a
process.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from msgspec.json import encode

from judgescope.core.cells import pack
from judgescope.core.paths import Paths
from judgescope.engines.subject_files import subject_files
from judgescope.prompts import load
from judgescope.replies.journal import CLOSED
from judgescope.replies.specs import AskSpec
from judgescope.schema.cards import Decoding, OpenAIModel
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.tables import table_of, write_table
from prompts_setup import SUMMARY

HOME = Path(__file__).resolve().parents[2]
SYSTEMS = 10


class Job:
    """A dataset `d` of made-up texts and one model, in a folder of its own."""

    def __init__(self, folder: Path, texts: int, **card: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.out = folder, folder / "results"
        self.study, self.store = "s", folder / "store"
        fields = {"model": "static", "engine": "openai", "probe": False, **card}
        self.model = OpenAIModel.model_validate(fields)
        self.card = folder / "static.yaml"
        self.card.write_text(yaml.safe_dump(fields), encoding="utf-8")
        self.write_texts(texts)

    def write_texts(self, count: int, *, source: int = 80, text: int = 12) -> None:
        """Write so many targets, ten to a source; of so many sentences."""
        items = [f"i{number:05}" for number in range(max(1, count // SYSTEMS))]
        fields = {"dataset": "d", "references": [], "meta": "{}"}
        sources = [
            {
                **fields,
                "item": item,
                "source": f"{item} " + "A sentence of the source. " * source,
            }
            for item in items
        ]
        made = {"dataset": "d", "perturbation": "systems", "status": "ok", "step": 0}
        targets = [
            {
                **made,
                **{"target": f"{item}:s{system}", "item": item, "system": f"s{system}"},
                "text": f"{item} {system} " + "A sentence of a summary. " * text,
            }
            for item in items
            for system in range(SYSTEMS)
        ][:count]
        write_table(
            "items", table_of("items", sources), self.out / "items" / "d.parquet"
        )
        path = self.out / "targets" / "d" / "systems.parquet"
        write_table("targets", table_of("targets", targets), path)

    def spec(self, judges: int = 1, aspects: int = 1, **keys: Any) -> AskSpec:
        """Return the spec of the job of so many judges on so many aspects."""
        names = [f"j{number}" for number in range(judges)]
        rated = [f"a{number}" for number in range(aspects)]
        asked = {
            "model": "static",
            "form": "score-only",
            **Decoding().model_dump(),
            **keys,
        }
        include = {
            "engine",
            "model",
            "name",
            "revision",
            "variant",
            "extra_body",
            "field_names",
        }
        return AskSpec(
            about=SUMMARY,
            code="",
            versions={},
            dataset="d",
            folder=str(self.folder),
            data=str(self.folder),
            seed=1,
            engine=ENGINES.target(self.model.engine),
            model=self.model.model_dump(mode="json", include=include),
            templates={"score-only": load("score-only", [HOME / "config"], where="")},
            aspects={
                name: {"aspect": name, "name": name, "definition": "How well it reads."}
                for name in rated
            },
            judges={
                name: {**asked, "judge": name, "max_tokens": 100 + number}
                for number, name in enumerate(names)
            },
            scales={name: {"min": 1, "max": 5, "step": 1} for name in rated},
            cells=pack(("systems", name, aspect) for name in names for aspect in rated),
            subjects=subject_files(Paths(str(self.out)), "d", ["systems"]),
            log=str(self.out / "logs" / "ask" / "d" / "static.log"),
            part=str(self.out / "asked" / "d" / "static" / "{}.json"),
            replies=f"{self.out}/replies/d/{{}}.parquet",
        )

    def start(self, spec: AskSpec, **streams: Any) -> "subprocess.Popen[bytes]":
        """Start the job."""
        path = self.folder / "spec.json"
        path.write_bytes(encode(spec))
        command = [
            sys.executable,
            str(HOME / "scripts" / "job.py"),
            "ask",
            "--spec",
            str(path),
        ]
        command += ["--card", str(self.card), "--store", str(self.store)]
        command += ["--budget", json.dumps({"study": self.study, "caps": []})]
        return subprocess.Popen(command, **streams)

    def replies(self) -> list[tuple[str, int]]:
        """Return (key, draw) of every whole reply in the journals."""
        lines = [
            line
            for path in sorted(self.store.glob("*/*.jsonl"))
            for line in path.read_bytes().splitlines(keepends=True)
            if line.endswith(b"}\n") and not line.startswith(CLOSED)
        ]
        return [(row["key"], row["draw"]) for row in map(json.loads, lines)]
