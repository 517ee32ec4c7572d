"""Writes the gallery's study of simulated judges that are too sure, or not sure enough.

    scripts/gallery_planted.py FOLDER    # data and cards of the study in a folder

Nobody wrote or rated these texts: labels and judges are simulated, and the report marks
each judge as planted.
"""

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from judgescope.data.planted import PlantedDesign, SimulatedTexts, simulated, text_of

SEED: Final = 2026
STUDY: Final = "planted-confidence"
DATASET: Final = "simulated"
ASPECT: Final = "promise-kept"
LABELS: Final = ("fail", "pass")
DESIGN: Final = PlantedDesign("labels", sources=120, systems=4, aspects=1, texts=(4,))
JUDGES: Final = {
    "too-sure": ("over-confident", 1 / 3),
    "calibrated": ("over-confident", 1.0),
    "not-sure-enough": ("under-confident", 3.0),
}
"""Judge -> its defect, and the slope of its confidence (1: as sure as it may be)."""


def write(folder: Path) -> None:
    """Write the study's data and cards."""
    texts = simulated(DESIGN, SEED, DATASET)
    _write_rows(folder / "texts.csv", _rated(texts))
    _write_rows(folder / "quality.csv", _qualities(texts))
    raters = [f"rater_{number}" for number in range(1, DESIGN.raters + 1)]
    columns = {"item": "item", "source": "item", "system": "system", "text": "text"}
    dataset = {
        "dataset": DATASET,
        "name": "Simulated labels",
        "task": "qa",
        "format": "table",
        "files": "../../texts.csv",
        "columns": {**columns, "ratings": {ASPECT: raters}},
        "aspects": {ASPECT: {"labels": [*LABELS]}},
        "licence": "MIT, as this repository; simulated",
        "citation": "none",
    }
    _write_card(folder / "config/datasets" / f"{DATASET}.yaml", dataset)
    words = "Whether the text keeps its promise (simulated)."
    aspect = {"aspect": ASPECT, "name": "Promise kept", "definition": words}
    _write_card(folder / "config/aspects" / f"{ASPECT}.yaml", aspect)
    for judge, (defect, strength) in JUDGES.items():
        model: dict[str, Any] = {"model": judge, "engine": "planted"}
        model |= {"defect": defect, "strength": strength}
        model["files"] = "../../quality.csv"
        _write_card(folder / "config/models" / f"{judge}.yaml", model)
        card = {"judge": judge, "model": judge, "form": "rate"}
        _write_card(folder / "config/judges" / f"{judge}.yaml", card)
    study = {"study": STUDY, "seed": SEED, "datasets": [DATASET]}
    study |= {"judges": [*JUDGES], "methods": ["agreement", "labels"]}
    _write_card(folder / "study.yaml", study)


def _rated(simulation: SimulatedTexts) -> list[dict[str, Any]]:
    """Return a row for each text, with the label of each rater."""
    texts = simulation.texts
    [aspect] = DESIGN.aspect_names
    lengths = simulation.lengths.tolist()
    words = list(map(text_of, texts.targets, lengths))
    rows = []
    for at in range(len(texts.targets)):
        row: dict[str, Any] = {"item": texts.items[at], "system": texts.systems[at]}
        row["text"] = words[at]
        for number, ratings in enumerate(simulation.ratings[aspect], start=1):
            row[f"rater_{number}"] = LABELS[int(ratings[at])]
        rows.append(row)
    return rows


def _qualities(simulation: SimulatedTexts) -> list[dict[str, Any]]:
    """Return the true quality of each text."""
    texts = simulation.texts
    [aspect] = DESIGN.aspect_names
    rows = []
    for at in range(len(texts.targets)):
        row = {"item": texts.items[at], "system": texts.systems[at]}
        rows.append({**row, ASPECT: repr(float(texts.quality[aspect][at]))})
    return rows


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)


def _write_card(path: Path, card: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(dict(card), sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
