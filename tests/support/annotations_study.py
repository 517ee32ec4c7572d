"""A study whose judges annotate errors, its judgments on disk, and people who judge the errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from cell_files import write_part
from judgescope.core.cells import cell_file
from judgescope.people.errors import SPAN, Error, Shown, errors_of, finder, make
from judgescope.people.form import Find, Page
from judgescope.plan import Plan
from judgescope.schema.tables import read_part
from votes_study import ASPECTS, VotesStudy

JUDGES = ("careful", "hasty")
WORDS = "The cat sat on the the mat"
Drawn = dict[str, list[Error]]
"""Judge -> the errors that were drawn."""
Say = Callable[[Error], tuple[str, str]]
"""An error -> what a voter says of its passage, and of its explanation; "" for nothing."""


class AnnotationsStudy(VotesStudy):
    """A folder with a study; `out` are its results: texts by systems, and what two judges found.

    `careful` finds a doubled word in every text, `hasty` one in every third, words that are not
    there in the next, and names no place in the one after that; each in two aspects, of which
    fluency hides the source. No two explanations are the same.
    """

    def __init__(self, folder: Path, marked: str = "", items: int = 12) -> None:
        self.folder, self.out = folder, folder / "results" / "tiny"
        card: dict[str, Any] = {"dataset": "news", "name": "News", "task": "summarization"}
        card |= {"format": "table", "files": "none.csv", "licence": "x", "citation": "x"}
        columns: dict[str, Any] = {"item": "item", "source": "source", "system": "by"}
        aspects = {name: ASPECTS[name] for name in ("fluency", "adequacy")}
        columns |= {"text": "text", "ratings": {name: ["r1", "r2"] for name in aspects}}
        self._card("datasets", card | {"columns": columns, "aspects": aspects})
        for judge in JUDGES:
            told = {"judge": judge, "model": "judge", "form": "critique", "parser": "annotation"}
            self._card("judges", told)
        self.told = {"study": "tiny", "seed": 7, "datasets": ["news"], "methods": ["agreement"]}
        self.told |= {"judges": [*JUDGES, "length"], "perturbations": []}
        self.write_tables(marked, items)

    def _card(self, kind: str, card: dict[str, Any]) -> None:
        path = self.folder / "config" / kind / f"{next(iter(card.values()))}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(card), encoding="utf-8")

    def write_tables(self, marked: str = "", items: int = 12) -> None:
        """Write items, texts and judgments; `marked` stands in everything that is shown."""
        place = {"dataset": "news"}
        told = [
            place
            | {"item": f"n{n:02}", "source": f"Source {n}.{marked}", "references": []}
            | {"meta": "{}"}
            for n in range(items)
        ]
        self._write("items", f"{self.out}/items/news.parquet", told)
        texts = [
            place
            | {"target": f"t{n:02}", "item": f"n{n:02}", "system": "s", "step": 0}
            | {"perturbation": "systems", "text": f"{WORDS}, {n}.{marked}", "status": "ok"}
            for n in range(items)
        ]
        self._write("targets", f"{self.out}/targets/news/systems.parquet", texts)
        for judge in JUDGES:
            for aspect in ("fluency", "adequacy"):
                self._judge(judge, aspect, items, marked)

    def _judge(self, judge: str, aspect: str, items: int, marked: str) -> None:
        start = WORDS.index("the the")
        found = {"start": start, "end": start + 7, "location": "the the", "match": "exact"}
        lost = {"location": f"a horse{marked}", "match": "not_found"}
        nowhere = {"location": None, "match": "not_found"}
        says = {"careful": "Said", "hasty": "Told"}[judge]
        rows = [
            {"judge": judge, "kind": "score", "target": f"t{n:02}", "aspect": aspect, "key": "k"}
            | {"draw": 0, "value": 3.0, "status": "ok", "rule": "labelled", "parser": "x@1"}
            | {"spans": [span | {"explanation": f"{says} of {n}.{marked}", "severity": 4.0}]}
            for n in range(items)
            for span in [(found, lost, nowhere)[n % 3] if judge == "hasty" else found]
        ]
        write_part("judgments", self.judgments(judge), rows)

    def judgments(self, judge: str) -> Path:
        """Return the file of a cell's judgments."""
        return Path(cell_file(self.out, "judgments", "news", "judge", "systems", judge))

    def change(self, judge: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the rows of a judge's judgments, each in its place."""
        for aspect in ("fluency", "adequacy"):
            rows = read_part("judgments", self.judgments(judge), aspect, None).to_pylist()
            for row in rows:
                change(row)
            write_part("judgments", self.judgments(judge), rows)

    def ask(
        self, plan: Plan, *judges: str, errors: int = 6, voters: int = 2
    ) -> tuple[list[Page], Drawn]:
        """Write the pages into the folder `pages`."""
        self._asked, folder = plan, self.folder / "pages"
        made = make(plan, self.out, folder, errors=errors, voters=voters, judges=judges)
        self.lines = made.lines
        return list(made.pages), {judge: errors for (judge,), errors in made.drawn.items()}

    def errors(self, page: Page) -> list[Error]:
        """Return the errors of a page of the last plan, of those that look the same the first."""
        asked = map(self.find(self._asked), (item.id for item in page.items))
        return [each.subject[0][0] for each in asked if each]

    def html(self, page: Page) -> str:
        """Return a page as it was written."""
        return (self.folder / "pages" / page.file).read_text(encoding="utf-8")

    def find(self, plan: Plan) -> Find[Shown]:
        """Return what finds questions by their ids."""
        return finder(plan, errors_of(plan, self.out, JUDGES))

    def judge(self, page: Page, say: Say, voter: str = "") -> Path:
        """Save a page as its script does."""
        answers: dict[str, str] = {}
        for item, error in zip(page.items, self.errors(page), strict=True):
            span, why = say(error)
            for question in item.questions:
                answers[question.id] = span if question.id.endswith(f"-{SPAN}") else why
        return self.save(page.task, page.id, voter or page.file, answers)


def content(path: Path) -> dict[str, Any]:
    """Return what a file of answers holds."""
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return told
