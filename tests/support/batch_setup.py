"""What several tests of batch share."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgescope.engines.base import Subject
from judgescope.engines.requests import Reply, Work
from judgescope.extensions.batch import batch
from judgescope.extensions.batch.batch import Results
from judgescope.prompts import load
from judgescope.replies.judging import Questions
from judgescope.replies.questions import QuestionPlan
from judgescope.replies.store import Store
from judgescope.schema.cards import Aspect, Judge, OpenAIModel, RatedAspect
from prompts_setup import SUMMARY, asked_about
from running import HOME

MODEL = OpenAIModel.model_validate(
    {
        "model": "it",
        "name": "org/it",
        "engine": "openai",
        "base_url": "http://127.0.0.1:1/v1",
    }
    | {
        "field_names": {"max_tokens": "max_completion_tokens"},
        "extra_body": {"top_k": 3},
    }
)
ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
Row = dict[str, Any]


def job(count: int = 4, **keys: Any) -> QuestionPlan:
    fields = {
        "judge": "j",
        "model": "it",
        "form": "score-only",
        "draws": 2,
        "temperature": 1,
    }
    judge = Judge.model_validate(fields | keys)
    texts = [
        Subject(f"a:{n}", "a", f"s{n}", "systems", f"Text {n} \u2028é.")
        for n in range(count)
    ]
    templates = load(judge.form, [HOME / "config"], where="")
    scale = RatedAspect(min=1, max=5, step=1, labels=[])
    asked = Questions(
        MODEL,
        judge,
        ASPECT,
        scale,
        asked_about(judge, texts),
        templates,
        0,
        SUMMARY,
    )
    return QuestionPlan({("systems", judge.judge, "fluency"): asked})


class Asked:
    """A job beside its store."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        self.folder, self.job = folder, job(**keys)
        self.store = Store(folder / "store", MODEL.served_name)

    def work(self) -> Iterator[Work]:
        return self.job.work(self.store.find(self.job.key_table))

    def lines(self) -> list[Row]:
        return [json.loads(line) for line in batch.lines(MODEL, self.work())]

    def take(self, *results: Row | bytes) -> Results:
        path = self.folder / "results.jsonl"
        collected = [
            result if isinstance(result, bytes) else json.dumps(result).encode()
            for result in results
        ]
        path.write_bytes(b"\n".join(collected) + b"\n")
        with self.store:
            return batch.read([path], [(MODEL, self.store, self.job.key_table)])

    def replies(self) -> list[Reply]:
        return [each for _, each in self.store.find(self.job.key_table).replies()]


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(tmp_path)


def result(line: Row, response: Row | None, error: Any = None) -> Row:
    fields = {"id": "batch_req_1", "custom_id": line["custom_id"]}
    return fields | {"response": response, "error": error}
