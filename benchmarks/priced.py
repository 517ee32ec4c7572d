"""`snakemake check` at the size of (Hu et al. 2024): its 1,000 items and 80 wordings.

    python benchmarks/priced.py [models]

Runs config/studies/confusion.yaml in all wordings, judged by so many models (default:
1), over files that this program writes in the four published formats, and prints the
bill, and what it took beside what it may take. Nothing is asked.
"""

import csv
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import yaml
from dag import snakemake
from sized import HOME, shipped, write_card

from judgescope.plan.loading import load_plan
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import read_card

SECONDS = 60
"""What the second `snakemake check` may take, when the files are read."""
DRAWS = 10
ITEMS = {"cnn-dailymail": 200, "samsum": 200, "news-commentary": 300, "webnlg": 300}
WORDINGS = ["default", "simplified", "detailed", "term", "list"]
WORDINGS += [f"selection-{number}" for number in (1, 2, 3)]
WORDS = [
    "bridge",
    "closed",
    "for",
    "its",
    "mayor",
    "of",
    "old",
    "repairs",
    "said",
    "that",
    "town",
]


def prose(chance: random.Random, sentences: int) -> str:
    """Return so many sentences of ten to twenty words."""
    lengths = [chance.randint(10, 20) for _ in range(sentences)]
    told = [" ".join(chance.choices(WORDS, k=length)) for length in lengths]
    return " ".join(f"{one.capitalize()} {chance.randint(1, 10**6)}." for one in told)


def articles(path: Path, count: int, chance: random.Random) -> None:
    """Write articles of about 700 words and their highlights."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "article", "highlights"])
        for number in range(count):
            highlights = prose(chance, 4).replace(". ", ".\n")
            writer.writerow([f"story-{number}", prose(chance, 45), highlights])


def dialogues(path: Path, count: int, chance: random.Random) -> None:
    """Write dialogues of ten turns and their summaries."""
    rows = [
        {
            "id": f"chat-{number}",
            "dialogue": "\r\n".join(f"Ann: {prose(chance, 1)}" for _ in range(10)),
            "summary": prose(chance, 2),
        }
        for number in range(count)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")


def commentaries(path: Path, count: int, chance: random.Random) -> None:
    """Write commentaries of six lines, an empty line between two."""
    texts = ["".join(f"\t{prose(chance, 1)}\n" for _ in range(6)) for _ in range(count)]
    path.write_text("\t\n".join(texts), encoding="utf-8")


def triples(path: Path, count: int, chance: random.Random) -> None:
    """Write entries of three triples with one text each."""
    entries = []
    for number in range(count):
        told = "".join(
            f"<mtriple>Thing_{number} | part{n} | Part {n}</mtriple>" for n in range(3)
        )
        entries.append(
            f'<entry category="Thing" eid="Id{number}" '
            f'size="3"><modifiedtripleset>{told}</modifiedtripleset><lex '
            f'lid="Id1">{prose(chance, 2)}</lex></entry>'
        )
    xml = f"<benchmark><entries>{''.join(entries)}</entries></benchmark>"
    path.write_text(xml, encoding="utf-8")


WRITERS: dict[str, Callable[[Path, int, random.Random], None]] = {
    "cnn-dailymail": articles,
    "samsum": dialogues,
    "news-commentary": commentaries,
    "webnlg": triples,
}


def write_data(folder: Path) -> None:
    """Write each dataset's file where its card looks for it, with as many items as it
    selects.
    """
    chance = random.Random(0)
    for name, write in WRITERS.items():
        told: Dataset = read_card(
            "dataset", HOME / "config" / "datasets" / f"{name}.yaml"
        )
        (pattern,) = told.files.values()
        path = Path(str(pattern).replace("{data}", str(folder)))
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, ITEMS[name], chance)


def write_study(folder: Path, models: int) -> dict[str, Any]:
    """Write the study, its datasets, models and judges; return the study."""
    judges = [f"judge-{number}" for number in range(models)]
    for name in judges:
        endpoint = {
            "engine": "openai",
            "base_url": "http://127.0.0.1:9/v1",
            "probe": False,
        }
        write_card(
            folder,
            "model",
            {"model": name, "price": {"input": 1, "output": 2}, **endpoint},
        )
        form = {
            "form": "analyze-rate",
            "draws": DRAWS,
            "temperature": 1,
            "max_tokens": 1024,
        }
        write_card(folder, "judge", {"judge": name, "model": name, **form})
    for name, n in ITEMS.items():
        card = shipped("dataset", name)
        write_card(folder, "dataset", card | {"select": card["select"] | {"n": n}})
    path = HOME / "config" / "studies" / "confusion.yaml"
    study: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    study |= {"judges": judges, "criteria": WORDINGS, "data": str(folder / "public")}
    (folder / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    return study


def main() -> None:
    """Print the bill twice: with files to be read, and again."""
    models = int(sys.argv[1]) if sys.argv[1:] else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder / "public")
        study = write_study(folder, models)
        os.chdir(folder)
        cells = load_plan(study, HOME, source="study.yaml").cell_aspects
        wordings = len({cell.aspect for cell in cells})
        sets = len(cells) // (wordings * models)
        assert sets == 4 * 19, sets
        for when in ("files read for the first time", "again"):
            took = snakemake(folder, "check")
            print(
                f"{when}: {took}, {took.wall / SECONDS:.2f} of {SECONDS} s", flush=True
            )
        prompts = sum(ITEMS.values()) * (1 + 18) * wordings * models
        print(f"{prompts:,} prompts of {DRAWS} draws in {len(cells):,} cells; it says:")
        print((folder / "output.txt").read_text(encoding="utf-8"))
        os.chdir("/")


if __name__ == "__main__":
    main()
