"""Studies of any size for the benchmarks: many cards in a folder, on the demo's
data.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HOME = Path(__file__).resolve().parents[1]
DEMO = {"demo-news": "news", "demo-dialogue": "dialogue"}
FORMS = ("score-only", "rate-explain")
PLAIN = ["rouge-l", "rules"]


class Size(NamedTuple):
    """How many cards of each kind a study has; each model that is asked has two judges.

    With `criteria`, so many aspects instead of the demo's, one judge a model and no
    others, and perturbed texts only: the shape of a study of criteria, as in (Hu et al.
    2024).
    """

    datasets: int
    models: int
    perturbations: int
    criteria: int = 0


SIZES = {
    500: Size(1, 2, 1),
    1_000: Size(2, 3, 4),
    10_000: Size(2, 23, 11),
    18_240: Size(4, 3, 9, criteria=80),
    50_000: Size(4, 46, 15),
}
"""About so many cells -> a study that has them."""


def write_study(folder: Path, size: Size) -> Path:
    """Write the cards of a study into `folder` and return its file.

    Judges are asked models in two forms, an ensemble of some, two lexical ones and the
    controls; perturbations are made by rule, minor and major.
    """
    criteria = [_criterion(folder, number) for number in range(size.criteria)]
    datasets = [_dataset(folder, number, criteria) for number in range(size.datasets)]
    forms = FORMS[:1] if criteria else FORMS
    judges = [
        _judge(folder, number, form) for number in range(size.models) for form in forms
    ]
    members = judges[:: len(forms)][:5]
    write_card(folder, "judge", {"judge": "ensemble", "members": members})
    study = {
        "study": "sized",
        "datasets": datasets,
        "judges": judges if criteria else [*judges, *PLAIN, "ensemble"],
        "perturbations": [
            _perturbation(folder, number) for number in range(size.perturbations)
        ],
        "methods": ["discernment"] if criteria else ["agreement", "discernment"],
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    return path


def write_card(folder: Path, kind: str, keys: Mapping[str, Any]) -> str:
    """Write a card and return its id."""
    name = str(keys[kind])
    path = folder / "config" / f"{kind}s" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(dict(keys)), encoding="utf-8")
    return name


def shipped(kind: str, name: str) -> dict[str, Any]:
    """Return the content of a shipped card."""
    path = HOME / "config" / f"{kind}s" / f"{name}.yaml"
    card: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return card


def _criterion(folder: Path, number: int) -> str:
    card = {**shipped("aspect", "coherence"), "aspect": f"criterion-{number}"}
    return write_card(folder, "aspect", card)


def _dataset(folder: Path, number: int, criteria: list[str]) -> str:
    name = list(DEMO)[number % len(DEMO)]
    demo = HOME / "config" / "demo"
    files = {
        "items": str(demo / f"{DEMO[name]}_items.jsonl"),
        "data": str(demo / f"{DEMO[name]}_outputs.jsonl"),
    }
    card = {**shipped("dataset", name), "dataset": f"{name}-{number}", "files": files}
    if criteria:
        card["aspects"] = {one: {"min": 1, "max": 5, "step": 1} for one in criteria}
    return write_card(folder, "dataset", card)


def _judge(folder: Path, number: int, form: str) -> str:
    model = {
        "model": f"model-{number}",
        "engine": "openai",
        "base_url": "http://127.0.0.1:1/v1",
    }
    write_card(folder, "model", model)
    judge = {"judge": f"model-{number}-{form}", "model": model["model"], "form": form}
    return write_card(folder, "judge", {**judge, "draws": 10, "temperature": 1.0})


def _perturbation(folder: Path, number: int) -> str:
    degrees = {"minor": {"k": 1 + number}, "major": {"k": 51 + number}}
    card = {**shipped("perturbation", "random-typos"), "degrees": degrees}
    return write_card(
        folder, "perturbation", {**card, "perturbation": f"typos-{number}"}
    )
