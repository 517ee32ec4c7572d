"""What several tests of ratings share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from judgescope.people.form import Page
from judgescope.people.ratings import Rating, make, questions_of
from judgescope.plan import Plan
from votes_study import ASPECTS, VotesStudy

SYSTEMS = ("alpha", "beta", "gamma")


class RatingsStudy(VotesStudy):
    """A study of texts by three systems, which nobody has rated."""

    def __init__(self, folder: Path, items: int = 4) -> None:
        self.folder, self.out = folder, folder / "results" / "tiny"
        card: dict[str, Any] = {"dataset": "news", "name": "News", "task": "summarization"}
        card |= {"format": "table", "files": "none.csv", "licence": "x", "citation": "Who, 2020"}
        card |= {"columns": {"item": "item", "source": "source", "system": "by", "text": "text"}}
        aspects = {name: ASPECTS[name] for name in ("fluency", "adequacy")}
        self.card = card | {"ratings": "none", "aspects": aspects}
        self.write_card()
        self.told = {"study": "tiny", "seed": 7, "datasets": ["news"], "judges": ["length"]}
        self.told |= {"methods": ["robustness"], "perturbations": []}
        self.write_tables(items)

    def write_card(self, **keys: Any) -> None:
        path = self.folder / "config" / "datasets" / "news.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(self.card | keys), encoding="utf-8")

    def write_tables(self, items: int = 4, marked: str = "") -> None:
        place, names = {"dataset": "news"}, [f"n{n:02}" for n in range(items)]
        rows = [
            place
            | {"item": name, "source": f"Source of {name}.", "references": ["One.", "Two."]}
            | {"meta": "{}"}
            for name in names
        ]
        self._write("items", f"{self.out}/items/news.parquet", rows)
        texts = [
            place
            | {"target": f"{name}:{system}", "item": name, "system": system, "step": 0}
            | {"perturbation": "systems", "status": "ok"}
            | {"text": f"By hand {names.index(name)}{system[0]}{marked}"}
            for name in names
            for system in SYSTEMS
        ]
        self._write("targets", f"{self.out}/targets/news/systems.parquet", texts)

    def ratings(self, plan: Plan) -> dict[str, Rating]:
        return {each.id(plan): each for each in questions_of(plan, self.out)}

    def ask(self, plan: Plan, *, texts: int = 99, voters: int = 2) -> list[Page]:
        return list(make(plan, self.out, self.folder / "pages", texts=texts, voters=voters).pages)

    def html(self, page: Page) -> str:
        return (self.folder / "pages" / page.file).read_text(encoding="utf-8")

    def rate(
        self, plan: Plan, page: Page, rating: Callable[[Rating], int], voter: str = ""
    ) -> Path:
        """Save a page as its script does."""
        known = self.ratings(plan)
        answers = {item.id: str(rating(known[item.id])) for item in page.items}
        return self.save(page.task, page.id, voter or page.file, answers)
