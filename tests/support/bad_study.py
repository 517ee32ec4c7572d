"""A small study whose every file can be spoilt, and what is said of it before anything
is asked.
"""

from pathlib import Path
from typing import Any

import yaml

from judgescope.cli.context import plan_of_study, results_folder
from judgescope.core.errors import UserError, UserErrors
from judgescope.plan.inputs import data_files, read_all
from judgescope.plan.preflight import verified
from judgescope.plan.specs import study as study_specs

Planted = dict[str, Any]
"""File -> its content; a dict: keys of the card there that change (None: gone); None:
no file."""
Case = tuple[str, Planted, list[str]]
"""Its name, what is planted, and the words that the one error has to say."""

FOLDER = object()
"""Planted where a file is meant."""
BASE: dict[str, Any] = {
    "study.yaml": {
        "study": "bad",
        "datasets": ["mine"],
        "judges": ["asked", "recalled", "both"],
        "perturbations": ["torn"],
        "methods": ["agreement", "discernment", "ensemble"],
    },
    "config/datasets/mine.yaml": {
        "dataset": "mine",
        "name": "Mine",
        "task": "summarization",
        "format": "table",
        "files": "../../mine.csv",
        "columns": {
            "item": "id",
            "source": "article",
            "references": "gold",
            "system": "by",
            "text": "summary",
            "ratings": {"clarity": ["ann", "bob"]},
        },
        "aspects": {"clarity": {"min": 1, "max": 5, "step": 1}},
        "licence": "none",
        "citation": "none",
    },
    "config/aspects/clarity.yaml": {
        "aspect": "clarity",
        "name": "Clarity",
        "definition": "It can be understood at once.",
    },
    "config/models/loop.yaml": {
        "model": "loop",
        "engine": "openai",
        "base_url": "http://127.0.0.1:9/v1",
    },
    "config/judges/asked.yaml": {"judge": "asked", "model": "loop", "form": "plain"},
    "config/prompts/plain.jinja": "Rate the {{ aspect.name }} of this text.\n\n{{ text "
    "}}\n",
    "config/models/recall.yaml": {
        "model": "recall",
        "engine": "recorded",
        "dataset": "mine",
        "files": "../../scores.jsonl",
        "rows": {"item": "id", "system": "by", "scores": {"clarity": "score"}},
    },
    "config/judges/recalled.yaml": {"judge": "recalled", "model": "recall"},
    "config/judges/both.yaml": {"judge": "both", "members": ["asked", "recalled"]},
    "config/perturbations/torn.yaml": {
        "perturbation": "torn",
        "name": "Torn",
        "level": "word",
        "method": "rule",
        "rule": "delete_words",
        "degrees": {"minor": {"k": 1}},
    },
    "mine.csv": "id,article,gold,by,summary,ann,bob\n"
    "a,A long article.,Its short gold text.,x,What x wrote.,4,5\n"
    "a,A long article.,Its short gold text.,y,What y wrote.,2,3\n"
    "b,Another article.,Another short gold text.,x,More of x.,1,1\n",
    "scores.jsonl": '{"id": "a", "by": "x", "score": 4}\n'
    '{"id": "a", "by": "y", "score": 2.5}\n'
    '{"id": "b", "by": "x", "score": 1}\n',
}


def plant(folder: Path, planted: Planted) -> None:
    """Write the study into an empty folder, with what is planted."""
    for name, content in {**BASE, **planted}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            card = {**BASE.get(name, {}), **content}
            content = yaml.safe_dump(
                {key: value for key, value in card.items() if value is not None},
                sort_keys=False,
            )
        if content is FOLDER:
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif content is not None:
            path.write_text(content, encoding="utf-8", newline="")


def checked(study: Path) -> list[str]:
    """Do what `judgescope check` does, in the working directory; return the errors it
    tells.

    That is: read all cards, hold them against each other, look at every file, read all
    data.
    """
    try:
        results_folder(study)
        plan = plan_of_study(study)
        data_files(plan)
        verified(study_specs.preflight(plan))
        read_all(plan)
    except (UserError, UserErrors) as error:
        return str(error).split("\n\n")
    return []
