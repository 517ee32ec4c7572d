"""A study of one dataset that people rated, its tables on disk, and people who judge again."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from judgescope.people.form import Find, Page
from judgescope.people.recheck import NEEDS, RATED, Case, Shown, Text, finder, make, texts_of
from judgescope.plan import Plan
from judgescope.schema.tables import CHOSEN
from votes_study import ASPECTS, VotesStudy

RATERS = ("r1", "r2", "r3")
IN_A_ROW = "local-rule-fluency.single"
GRADED_SET = "global-rule-fluency.single"
FLUENCY = [(1, 1, 1), (1, 1, 1), (1, 1, 2), (2, 2, 2), (3, 2, 3), (3, 3, 3), (3, 3, 3), (3, 3, 5)]
"""Two pairs of new level each with rating 1 and 3, two of original level each of 1-2 and 2-3."""
Ratings = Mapping[str, Sequence[tuple[float, ...]]]
"""Aspect -> the ratings of each text, one of an item."""


def text(name: str, *places: int, item: str = "") -> Text:
    """Return a rated text whose ratings are its places on the scale."""
    mean = sum(places) / len(places)
    own = tuple(sorted(places))
    return Text(RATED, "d", "systems", "a", name, item or name, None, f"Text {name}", mean, own)


class Draw(NamedTuple):
    """What was drawn of a group: of one aspect, or of any ("")."""

    dataset: str
    aspect: str
    group: str
    pairs: list[Case]


class ReevaluationStudy(VotesStudy):
    """The same folder with ratings of the systems' texts, and a row of texts for every item."""

    def __init__(
        self, folder: Path, ratings: Ratings, marked: str = "", items: int | None = None
    ) -> None:
        self.folder, self.out = folder, folder / "results" / "tiny"
        card: dict[str, Any] = {"dataset": "news", "name": "News", "task": "summarization"}
        card |= {"format": "table", "files": "none.csv", "licence": "x", "citation": "x"}
        columns = {"item": "item", "source": "source", "system": "by", "text": "text"}
        told = {aspect: list(RATERS) for aspect in ratings}
        card |= {"columns": columns | {"ratings": told, "references": "text"}}
        card |= {"aspects": {name: one for name, one in ASPECTS.items() if name in ratings}}
        path = folder / "config" / "datasets" / "news.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(yaml.safe_dump(card), encoding="utf-8")
        self.told = {"study": "tiny", "seed": 7, "datasets": ["news"], "judges": ["length"]}
        self.told |= {"perturbations": ["local-rule-fluency"], "methods": ["perspectives"]}
        self.write_tables(ratings, marked, items)

    def write_tables(self, ratings: Ratings, marked: str = "", items: int | None = None) -> None:
        """Write every table; `marked` stands in every source and text. Texts share `items`."""
        number = len(next(iter(ratings.values())))
        count = items or number
        place = {"dataset": "news"}
        told = [
            place
            | {"item": f"n{n:02}", "source": f"Source {n}.{marked}", "references": ["One."]}
            | {"meta": json.dumps({"original_reference": 0})}
            for n in range(count)
        ]
        self._write("items", f"{self.out}/items/news.parquet", told)
        texts = [
            place
            | {"target": f"t{n:02}", "item": f"n{n % count:02}", "system": "s", "step": 0}
            | {"perturbation": "systems", "text": f"Text {n}.{marked}", "status": "ok"}
            for n in range(number)
        ]
        self._write("targets", f"{self.out}/targets/news/systems.parquet", texts)
        rated = [
            place | {"target": f"t{n:02}", "aspect": aspect, "rater": f"r{at}", "value": value}
            for aspect, each in ratings.items()
            for n, values in enumerate(each)
            for at, value in enumerate(values)
        ]
        self._write("ratings", f"{self.out}/ratings/news.parquet", rated)
        for name, steps in (("original", [0]), (IN_A_ROW, [1, 2, 3])):
            self._row(name, steps, count, marked)

    def _row(self, name: str, steps: list[int], items: int, marked: str) -> None:
        """Write a row of texts; of the first item the second could not be made."""
        kind = name.partition(".")[0]
        rows = [
            {"dataset": "news", "target": f"n{n:02}:{name}.{step}", "item": f"n{n:02}"}
            | {"perturbation": kind, "step": step, "text": f"Item {n}, {step} faults.{marked}"}
            | {"status": "impossible: no room" if (n, step) == (0, 2) else "ok"}
            for n in range(items)
            for step in steps
        ]
        self._write("targets", f"{self.out}/targets/news/{name}.parquet", rows)

    def grade(self, items: int = 8, marked: str = "", status: str = CHOSEN) -> None:
        """Add a graded set: of each item a text of every rating, one spare and one that failed."""
        name = GRADED_SET.partition(".")[0]
        if name not in self.told["perturbations"]:
            self.told["perturbations"] = [*self.told["perturbations"], name]
        place = {"dataset": "news", "perturbation": name}
        targets: list[dict[str, Any]] = []
        graded: list[dict[str, Any]] = []
        for n in range(items):
            for at, rating in enumerate([1.0, 2.0, 3.0, 4.0, 5.0, 5.0, None], start=1):
                told = {"dataset": "news", "target": f"n{n:02}:{GRADED_SET}.{at}"}
                told |= {"item": f"n{n:02}"}
                targets.append(place | told | {"step": 2, "text": f"Made {n} {at}.{marked}"})
                targets[-1] |= {"status": "failed: none" if rating is None else "ok"}
                graded.append(told | {"aspect": "fluency", "errors": 2, "rating": rating})
                graded[-1] |= {"status": {6: "spare", 7: "failed: none"}.get(at, status)}
        self._write("targets", f"{self.out}/targets/news/{GRADED_SET}.parquet", targets)
        self._write("graded", f"{self.out}/graded/news/{GRADED_SET}.parquet", graded)

    def ask(
        self, plan: Plan, *kinds: str, pairs: int = 50, voters: int = 2
    ) -> tuple[list[Page], list[Draw]]:
        """Write the pages; about rated texts where no kinds are named."""
        folder = self.folder / "pages"
        kinds = kinds or (RATED,)
        made = make(plan, self.out, folder, kinds=kinds, pairs=pairs, voters=voters)
        return list(made.pages), [
            Draw._make([*labels, some]) for labels, some in made.drawn.items()
        ]

    def find(self, plan: Plan) -> Find[Shown]:
        """Return what finds questions by their ids."""
        texts: list[Text] = [text for kind in NEEDS for text in texts_of(plan, self.out, kind)]
        return finder(plan, texts)

    def judge(self, plan: Plan, page: Page, say: Callable[[Case], str]) -> Path:
        """Save a page of pairs as its script does; `say` returns better, worse or same."""

        def said(case: Case, first: bool) -> str:
            assert case.is_pair
            sides = {"better": "AB", "worse": "BA", "same": "CC"}[say(case)]
            return sides[0 if first else 1]

        return self.give(plan, page, said)

    def give(self, plan: Plan, page: Page, say: Callable[[Case, bool], str]) -> Path:
        """Save a page as its script does; `say` is told whether the better text comes first."""
        find, answers = self.find(plan), {}
        for one in page.items:
            asked = find(one.id)
            assert asked
            answers[one.id] = say(*asked.subject)
        return self.save(page.task, page.id, page.file, answers)
