"""Small datasets in the formats that are read, and cards for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserErrors
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.schema.cards import Dataset

REPOSITORY = Path(__file__).parents[2]
DATASETS = REPOSITORY / "config" / "datasets"
REAL = REPOSITORY.parent / "shared" / "data"
needs_real_data = pytest.mark.skipif(
    not REAL.is_dir(),
    reason="the real data are not beside the repository (../shared/data)",
)

FIVE = {"min": 1, "max": 5, "step": 1}


def card(**keys: Any) -> Dataset:
    """Return a card with what every card needs, and `keys`."""
    base = {
        "dataset": "mine",
        "name": "Mine",
        "task": "summarization",
        "aspects": {"fluency": FIVE},
        "licence": "none",
        "citation": "none",
    }
    return Dataset.model_validate(base | keys)


def table(files: Any, columns: dict[str, Any], **keys: Any) -> Dataset:
    """Return a card of format table."""
    return card(format="table", files=files, columns=columns, **keys)


def jsonl(path: Path, rows: list[Any]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def faults(dataset: Dataset, folder: Path) -> str:
    """Return the message of the errors that reading the dataset raises."""
    with pytest.raises(UserErrors) as caught:
        read_dataset(dataset, folder, folder)
    return str(caught.value)


def values(rated: DatasetContent) -> dict[tuple[str, str, str], float]:
    """Return (target, aspect, rater) -> value."""
    return {
        (rating.target, rating.aspect, rating.rater): rating.value
        for rating in rated.ratings
    }


def summeval_row(item: str, system: str, **keys: Any) -> dict[str, Any]:
    """Return a row of the SummEval format: two experts, one crowd worker."""
    row: dict[str, Any] = {
        "id": item,
        "text": f"The article of {item}.",
        "references": [f"First of {item}.", f"Second of {item}. It has two sentences."],
        "model_id": system,
        "decoded": f"What {system} wrote of {item}.",
        "expert_annotations": [{"fluency": 5}, {"fluency": 4}],
        "turker_annotations": [{"fluency": 2}],
    }
    return row | keys


def dialogue(*models: str, **keys: Any) -> dict[str, Any]:
    """Return an entry of the USR format with one response per model."""
    entry: dict[str, Any] = {
        "context": " hello \n hi there \n\n",
        "fact": "a fact\n",
        "annotators": ["ann", "bob"],
        "responses": [
            {"response": f"{model} says so\n", "model": model, "Natural": [3, 1]}
            for model in models
        ],
    }
    return entry | keys


COLUMNS = [
    "InputStoryid",
    *(f"InputSentence{number}" for number in range(1, 5)),
    "RandomFifthSentenceQuiz1",
    "RandomFifthSentenceQuiz2",
    "AnswerRightEnding",
]
XML = "<dataset><collection>{}</collection></dataset>"


def xml(documents: list[str]) -> str:
    """Return documents in the published form: paragraphs of segments, source before
    reference.
    """
    runs: list[list[str]] = []
    for name in documents:
        if runs and runs[-1][0] == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    body = ""
    for run in runs:
        segments = "".join(
            f"<p><seg id='{n}'>text</seg></p>" for n, _ in enumerate(run, start=1)
        )
        body += f"<doc id='{run[0]}'><src lang='de'>{segments}</src>"
        body += f"<ref lang='en'>{segments}</ref><hyp>{segments}</hyp></doc>"
    return XML.format(body)
