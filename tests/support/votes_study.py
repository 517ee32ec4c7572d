"""A study of one dataset whose texts are on disk, and people who vote on its pages."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from judgescope.people.form import Page
from judgescope.people.pairs import Question, make, pairs_of, questions_on
from judgescope.plan import Plan, load_plan
from judgescope.schema.tables import table_of, write_table
from running import HOME

TEXTS = [(f"Source {n}.", f"A text by number {n}.", f"By a number {n} text.") for n in range(12)]
TYPES = ["default", "simplified", "detailed", "term", "list"]
ASPECTS = {
    "fluency": {"min": 1, "max": 5, "step": 1, "source_visible": False},
    "coherence": {"min": 1, "max": 5, "step": 1, "source_visible": False},
    "adequacy": {"min": 1, "max": 5, "step": 1},
}
KINDS = ("random-typos", "reordering")


class VotesStudy:
    """A folder with a study; `out` are its results, the texts alone."""

    def __init__(self, folder: Path, texts: Sequence[tuple[str, str, str]] = TEXTS) -> None:
        self.folder, self.out = folder, folder / "results" / "tiny"
        card: dict[str, Any] = {
            "dataset": "news",
            "name": "News",
            "task": "summarization",
            "format": "table",
        }
        card |= {"files": {"items": "none.csv"}, "columns": {"item": "item", "references": "text"}}
        card |= {"ratings": "none", "licence": "x", "citation": "x", "aspects": ASPECTS}
        path = folder / "config" / "datasets" / "news.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(yaml.safe_dump(card), encoding="utf-8")
        self.told: dict[str, Any] = {
            "study": "tiny",
            "seed": 7,
            "datasets": ["news"],
            "judges": ["length"],
        }
        self.told |= {"perturbations": list(KINDS), "methods": ["discernment"]}
        self.write(texts)

    @property
    def file(self) -> Path:
        path = self.folder / "tiny.yaml"
        path.write_text(yaml.safe_dump(self.told), encoding="utf-8")
        return path

    def write(self, texts: Sequence[tuple[str, str, str]]) -> None:
        """Write items, originals and, of both kinds and degrees, the same perturbed texts."""
        items = [
            {"dataset": "news", "item": f"n{n:02}", "source": source, "references": [original]}
            | {"meta": json.dumps({"original_reference": 0})}
            for n, (source, original, _) in enumerate(texts)
        ]
        self._write("items", f"{self.out}/items/news.parquet", items)
        self._targets("original", [original for _, original, _ in texts])
        for kind in KINDS:
            for degree in ("minor", "major"):
                self._targets(f"{kind}.{degree}", [perturbed for *_, perturbed in texts])

    def _targets(self, name: str, texts: Sequence[str]) -> None:
        told = {"dataset": "news", "perturbation": name.partition(".")[0], "edits": []}
        rows = [
            {**told, "target": f"n{n:02}:{name}", "item": f"n{n:02}", "step": 1, "text": text}
            | {"status": "impossible: one word" if n == 0 and "." in name else "ok"}
            for n, text in enumerate(texts)
        ]
        self._write("targets", f"{self.out}/targets/news/{name}.parquet", rows)

    def _write(self, table: str, path: str, rows: list[dict[str, Any]]) -> None:
        write_table(table, table_of(table, rows), path)

    def plan(self, *criteria: str, **keys: Any) -> Plan:
        """Return the plan, in these wordings; discernment alone would want one at most."""
        plan = load_plan(self.told | keys, HOME, source="tiny")
        return replace(plan, study=plan.study.model_copy(update={"criteria": list(criteria)}))

    def make(self, plan: Plan, *, pairs: int = 2, voters: int = 1, most: int = 100) -> list[Page]:
        folder = self.folder / "pages"
        made = make(plan, self.out, folder, pairs=pairs, voters=voters, questions=most)
        return list(made.pages)

    def questions(self, plan: Plan) -> dict[str, Question]:
        return {
            name: question
            for pairs in pairs_of(plan, self.out).values()
            for pair in pairs
            for name, question in questions_on(plan, pair).items()
        }

    def answer(
        self, plan: Plan, page: Page, vote: Callable[[Question], str], voter: str = "v"
    ) -> Path:
        """Save a page as its script does; `vote` says A if the original is better."""
        asked = self.questions(plan)
        answers = {}
        for one in page.items:
            option = vote(asked[one.id])
            turned = {"A": "B", "B": "A"} if asked[one.id].swapped else {}
            answers[one.id] = turned.get(option, option)
        return self.save(page.task, page.id, f"{page.file}-{voter}", answers)

    def save(self, task: str, page: str, voter: str, answers: dict[str, str]) -> Path:
        folder = self.folder / "answers"
        folder.mkdir(exist_ok=True)
        path = folder / f"{task}-{voter}.json"
        told = {"survey": page, "task": task, "voter": voter, "answers": answers}
        path.write_text(json.dumps(told), encoding="utf-8")
        return path
