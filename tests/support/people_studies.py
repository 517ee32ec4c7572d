"""Studies of one dataset whose texts are on disk, and people who answer the pages on
them.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cell_files import write_part
from judgescope.core.paths import Paths
from judgescope.extensions.people import errors, pairs, ratings, recheck
from judgescope.extensions.people.answers import Find, FormResults
from judgescope.extensions.people.errors import SPAN, ShownError
from judgescope.extensions.people.form import Page
from judgescope.extensions.people.known_quality import (
    NEEDS,
    RATED,
    Case,
    RecheckedText,
    texts_of,
)
from judgescope.extensions.people.pairs import PairQuestion
from judgescope.extensions.people.ratings import AskedRating
from judgescope.plan.study import Plan
from judgescope.schema.tables import CHOSEN, read_part
from people_tables import rows_of
from running import HOME
from study import Card, Study, shipped

TEXTS = [
    (f"Source {n}.", f"A text by number {n}.", f"By a number {n} text.")
    for n in range(12)
]
TYPES = ["default", "simplified", "detailed", "term", "list"]
ASPECTS: Card = {
    "fluency": {"min": 1, "max": 5, "step": 1, "source_visible": False},
    "coherence": {"min": 1, "max": 5, "step": 1, "source_visible": False},
    "adequacy": {"min": 1, "max": 5, "step": 1},
}
TWO = {name: ASPECTS[name] for name in ("fluency", "adequacy")}
KINDS = ("random-typos", "reordering")
HOSTILE = {
    "script": "<script>alert(1)</script> <img src=x onerror=alert(2)> </p></fieldset>",
    "controls": "a\x00b\x1bc\x85e\ufffef",
    "right to left": "\u202eabc \u05d0\u05d1\u05d2 \u2066def\u200f",
    "template": "{{ 7 * 7 }} {% raw %} &amp; \"quoted\" 'too'",
    "one line": "x" * 100_000,
}
"""What stands in every text of a study, where a test looks at the pages for it."""


class PeopleStudy(Study):
    """A folder with the study `tiny` and its dataset `news`."""

    file = "tiny.yaml"

    def __init__(self, folder: Path, dataset: Card, **changes: Any) -> None:
        fields = {
            "study": "tiny",
            "seed": 7,
            "datasets": ["news"],
            "judges": ["length"],
        }
        super().__init__(folder, fields, **changes)
        card: Card = {"name": "News", "task": "summarization", "format": "table"}
        self.dataset = (
            card | {"files": "none.csv", "licence": "x", "citation": "x"} | dataset
        )
        self.card("datasets", "news", **self.dataset)

    def write_items(self, items: Sequence[tuple[str, list[str]]], **meta: int) -> None:
        """Write the items: source and references of each."""
        fields = {"dataset": "news", "meta": json.dumps(meta)}
        rows = [
            {**fields, "item": f"n{n:02}", "source": source, "references": references}
            for n, (source, references) in enumerate(items)
        ]
        self.table("items", "items/news", rows)

    def write_targets(self, name: str, rows: Sequence[Card]) -> None:
        """Write a set of texts, which are usable unless a row has another status."""
        fields = {
            "dataset": "news",
            "perturbation": name.partition(".")[0],
            "status": "ok",
        }
        self.table("targets", f"targets/news/{name}", [fields | row for row in rows])

    def write_systems(self, texts: Sequence[str], items: int) -> None:
        """Write texts by one system; `items` share them."""
        fields = {"system": "s", "step": 0}
        rows = [
            {**fields, "target": f"t{n:02}", "item": f"n{n % items:02}", "text": text}
            for n, text in enumerate(texts)
        ]
        self.write_targets("systems", rows)

    def no_pages(self) -> Path:
        """Return the folder of pages, without any."""
        shutil.rmtree(self.folder / "pages", ignore_errors=True)
        return self.folder / "pages"

    def html(self, page: Page) -> str:
        """Return a page as it was written."""
        return (self.folder / "pages" / page.file).read_text(encoding="utf-8")

    def save(self, task: str, page: str, voter: str, answers: dict[str, str]) -> Path:
        """Save the answers to a page as its script does."""
        folder = self.folder / "answers"
        folder.mkdir(exist_ok=True)
        path = folder / f"{task}-{voter}.json"
        fields = {"survey": page, "task": task, "voter": voter, "answers": answers}
        path.write_text(json.dumps(fields), encoding="utf-8")
        return path


def content(path: Path) -> dict[str, Any]:
    """Return what a file of answers holds."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


# --- pairs of an original and a perturbed text ---


class VotesStudy(PeopleStudy):
    """A study of originals and, of two kinds and degrees, perturbed texts."""

    def __init__(
        self, folder: Path, texts: Sequence[tuple[str, str, str]] = TEXTS
    ) -> None:
        columns = {"columns": {"item": "item", "references": "text"}, "ratings": "none"}
        dataset = {"files": {"items": "none.csv"}, **columns, "aspects": ASPECTS}
        super().__init__(
            folder, dataset, perturbations=[*KINDS], methods=["discernment"]
        )
        self.write_texts(texts)

    def write_texts(self, texts: Sequence[tuple[str, str, str]]) -> None:
        """Write items, originals and, of both kinds and degrees, the same perturbed
        texts.
        """
        items = [(source, [original]) for source, original, _ in texts]
        self.write_items(items, original_reference=0)
        self._targets("original", [original for _, original, _ in texts])
        for kind in KINDS:
            for degree in ("minor", "major"):
                self._targets(
                    f"{kind}.{degree}", [perturbed for *_, perturbed in texts]
                )

    def _targets(self, name: str, texts: Sequence[str]) -> None:
        rows: list[Card] = [
            {
                "target": f"n{n:02}:{name}",
                "item": f"n{n:02}",
                "step": 1,
                "text": text,
                "edits": [],
            }
            for n, text in enumerate(texts)
        ]
        if "." in name:
            rows[0]["status"] = "impossible: one word"
        self.write_targets(name, rows)

    def plan(self, *criteria: str, **changes: Any) -> Plan:
        """Return the plan, in these wordings; discernment alone would want one at
        most.
        """
        plan = super().plan(**changes)
        return replace(
            plan, study=plan.study.model_copy(update={"criteria": list(criteria)})
        )

    def pages(
        self, plan: Plan, *, each: int = 2, voters: int = 1, limit: int = 100
    ) -> list[Page]:
        """Write the pages, with so many pairs of each kind and degree."""
        folder = self.no_pages()
        made = pairs.make(
            plan, self.out, folder, pairs=each, voters=voters, questions=limit
        )
        return list(made.pages)

    def questions(self, plan: Plan) -> dict[str, PairQuestion]:
        """Return what the questions' names stand for."""
        return {
            question.id: question.subject
            for some in pairs.pairs_of(plan, self.out).values()
            for question in pairs.questions_on(plan, some)
        }

    def answer(
        self,
        plan: Plan,
        page: Page,
        vote: Callable[[PairQuestion], str],
        voter: str = "v",
    ) -> Path:
        """Save a page as its script does; `vote` says A if the original is better."""
        asked = self.questions(plan)
        answers = {}
        for item in page.items:
            option = vote(asked[item.id])
            turned = {"A": "B", "B": "A"} if asked[item.id].swapped else {}
            answers[item.id] = turned.get(option, option)
        return self.save(page.task, page.id, f"{page.file}-{voter}", answers)


# --- first ratings ---

SYSTEMS = ("alpha", "beta", "gamma")


class RatingsStudy(PeopleStudy):
    """A study of texts by three systems, which nobody has rated."""

    def __init__(self, folder: Path, items: int = 4) -> None:
        columns = {"item": "item", "source": "source", "system": "by", "text": "text"}
        dataset = {
            "columns": columns,
            "ratings": "none",
            "aspects": TWO,
            "citation": "Who, 2020",
        }
        super().__init__(folder, dataset, perturbations=[], methods=["robustness"])
        self.write_texts(items)

    def write_texts(self, items: int = 4, marked: str = "") -> None:
        """Write items and texts; `marked` stands in every text."""
        names = [f"n{n:02}" for n in range(items)]
        self.write_items([(f"Source of {name}.", ["One.", "Two."]) for name in names])
        texts: list[Card] = [
            {"target": f"{name}:{system}", "item": name, "system": system, "step": 0}
            | {"text": f"By hand {names.index(name)}{system[0]}{marked}"}
            for name in names
            for system in SYSTEMS
        ]
        self.write_targets("systems", texts)

    def ratings(self, plan: Plan) -> dict[str, AskedRating]:
        """Return the questions by their ids."""
        return {
            ratings.question_of(plan, each).id: each
            for each in ratings.ratings_of(plan, self.out)
        }

    def ask(self, plan: Plan, *, texts: int = 99, voters: int = 2) -> list[Page]:
        """Write the pages into the folder `pages`."""
        folder = self.no_pages()
        return list(
            ratings.make(plan, self.out, folder, texts=texts, voters=voters).pages
        )

    def rate(
        self,
        plan: Plan,
        page: Page,
        rating: Callable[[AskedRating], int],
        voter: str = "",
    ) -> Path:
        """Save a page as its script does."""
        known = self.ratings(plan)
        answers = {item.id: str(rating(known[item.id])) for item in page.items}
        return self.save(page.task, page.id, voter or page.file, answers)


# --- texts that people rated, judged again ---

RATERS = ("r1", "r2", "r3")
IN_A_ROW = "local-rule-fluency.single"
GRADED_SET = "global-rule-fluency.single"
FLUENCY = [
    (1, 1, 1),
    (1, 1, 1),
    (1, 1, 2),
    (2, 2, 2),
    (3, 2, 3),
    (3, 3, 3),
    (3, 3, 3),
    (3, 3, 5),
]
"""Two pairs of new level each with rating 1 and 3, two of original level each of 1-2
and 2-3."""
Ratings = Mapping[str, Sequence[tuple[float, ...]]]
"""Aspect -> the ratings of each text, one of an item."""


def text(name: str, *places: int, item: str = "") -> RecheckedText:
    """Return a rated text whose ratings are its places on the scale."""
    mean = sum(places) / len(places)
    own_part = tuple(sorted(places))
    return RecheckedText(
        RATED,
        "d",
        "systems",
        "a",
        name,
        item or name,
        None,
        f"Text {name}",
        mean,
        own_part,
    )


class Draw(NamedTuple):
    """What was drawn of a group: of one aspect, or of any ("")."""

    dataset: str
    aspect: str
    group: str
    pairs: list[Case]


class ReevaluationStudy(PeopleStudy):
    """A study with ratings of the systems' texts, and a row of texts for every item."""

    def __init__(
        self, folder: Path, rated: Ratings, marked: str = "", items: int | None = None
    ) -> None:
        columns = {"item": "item", "source": "source", "system": "by", "text": "text"}
        fields = {
            "ratings": {aspect: list(RATERS) for aspect in rated},
            "references": "text",
        }
        aspects = {name: aspect for name, aspect in ASPECTS.items() if name in rated}
        dataset = {"columns": columns | fields, "aspects": aspects}
        row = IN_A_ROW.partition(".")[0]
        super().__init__(folder, dataset, perturbations=[row], methods=["perspectives"])
        self.write_texts(rated, marked, items)

    def write_texts(
        self, rated: Ratings, marked: str = "", items: int | None = None
    ) -> None:
        """Write every table; `marked` stands in every source and text. Texts share
        `items`.
        """
        number = len(next(iter(rated.values())))
        count = items or number
        collected = [(f"Source {n}.{marked}", ["One."]) for n in range(count)]
        self.write_items(collected, original_reference=0)
        self.write_systems([f"Text {n}.{marked}" for n in range(number)], count)
        rows: list[Card] = [
            {"dataset": "news", "target": f"t{n:02}", "aspect": aspect}
            | {"rater": f"r{at}", "value": value}
            for aspect, each in rated.items()
            for n, values in enumerate(each)
            for at, value in enumerate(values)
        ]
        self.table("ratings", "ratings/news", rows)
        for name, steps in (("original", [0]), (IN_A_ROW, [1, 2, 3])):
            self._row(name, steps, count, marked)

    def _row(self, name: str, steps: list[int], items: int, marked: str) -> None:
        """Write a row of texts; of the first item the second could not be made."""
        rows: list[Card] = [
            {"target": f"n{n:02}:{name}.{step}", "item": f"n{n:02}", "step": step}
            | {"text": f"Item {n}, {step} faults.{marked}"}
            | {"status": "impossible: no room" if (n, step) == (0, 2) else "ok"}
            for n in range(items)
            for step in steps
        ]
        self.write_targets(name, rows)

    def grade(self, items: int = 8, marked: str = "", status: str = CHOSEN) -> None:
        """Add a graded set: of each item a text of every rating, one spare and one that
        failed.
        """
        name = GRADED_SET.partition(".")[0]
        if name not in self.keys["perturbations"]:
            self.keys["perturbations"] = [*self.keys["perturbations"], name]
        targets: list[Card] = []
        graded: list[Card] = []
        for n in range(items):
            for at, rating in enumerate([1.0, 2.0, 3.0, 4.0, 5.0, 5.0, None], start=1):
                fields: Card = {
                    "target": f"n{n:02}:{GRADED_SET}.{at}",
                    "item": f"n{n:02}",
                }
                targets.append(fields | {"step": 2, "text": f"Made {n} {at}.{marked}"})
                targets[-1] |= {"status": "failed: none" if rating is None else "ok"}
                graded.append(
                    {"dataset": "news", **fields, "aspect": "fluency", "errors": 2}
                )
                graded[-1] |= {"rating": rating}
                graded[-1] |= {
                    "status": {6: "spare", 7: "failed: none"}.get(at, status)
                }
        self.write_targets(GRADED_SET, targets)
        self.table("graded", f"graded/news/{GRADED_SET}", graded)

    def ask(
        self, plan: Plan, *kinds: str, pairs: int = 50, voters: int = 2
    ) -> tuple[list[Page], list[Draw]]:
        """Write the pages; about rated texts where no kinds are named."""
        folder = self.no_pages()
        kinds = kinds or (RATED,)
        made = recheck.make(
            plan, self.out, folder, kinds=kinds, pairs=pairs, voters=voters
        )
        return list(made.pages), [
            Draw._make([*labels, some]) for labels, some in made.drawn.items()
        ]

    def find(self, plan: Plan) -> Find[recheck.Shown]:
        """Return what finds questions by their ids."""
        texts: list[RecheckedText] = [
            text for kind in NEEDS for text in texts_of(plan, self.out, kind)
        ]
        return recheck.finder(plan, texts)

    def judge(self, plan: Plan, page: Page, say: Callable[[Case], str]) -> Path:
        """Save a page of pairs as its script does; `say` returns better, worse or
        same.
        """

        def choice_of(case: Case, first: bool) -> str:
            assert case.is_pair
            sides = {"better": "AB", "worse": "BA", "same": "CC"}[say(case)]
            return sides[0 if first else 1]

        return self.give(plan, page, choice_of)

    def give(self, plan: Plan, page: Page, say: Callable[[Case, bool], str]) -> Path:
        """Save a page as its script does; `say` is told whether the better text comes
        first.
        """
        find, answers = self.find(plan), {}
        for item in page.items:
            asked = find(item.id)
            assert asked
            answers[item.id] = say(*asked.subject)
        return self.save(page.task, page.id, page.file, answers)


def numbers(results: FormResults) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return (aspect, group, statistic) -> its row."""
    return {
        (row["aspect"], row["group"], row["statistic"]): row
        for row in rows_of(results, "reevaluation.csv")
    }


# --- errors that judges annotated ---

JUDGES = ("careful", "hasty")
WORDS = "The cat sat on the the mat"
Drawn = dict[str, list[ShownError]]
"""Judge -> the errors that were drawn."""
Say = Callable[[ShownError], tuple[str, str]]
"""An error -> what a voter says of its passage, and of its explanation; "" for
nothing."""


class AnnotationsStudy(PeopleStudy):
    """A study of texts by a system, and of what two judges found in them.

    `careful` finds a doubled word in every text, `hasty` one in every third, words that
    are not there in the next, and names no place in the one after that; each in two
    aspects, of which fluency hides the source. No two explanations are the same.
    """

    def __init__(self, folder: Path, marked: str = "", items: int = 12) -> None:
        columns: Card = {
            "item": "item",
            "source": "source",
            "system": "by",
            "text": "text",
        }
        columns |= {"ratings": {name: ["r1", "r2"] for name in TWO}}
        fields = {
            "judges": [*JUDGES, "length"],
            "perturbations": [],
            "methods": ["agreement"],
        }
        super().__init__(folder, {"columns": columns, "aspects": TWO}, **fields)
        for judge in JUDGES:
            self.card(
                "judges", judge, model="judge", form="critique", parser="annotation"
            )
        self.write_texts(marked, items)

    def write_texts(self, marked: str = "", items: int = 12) -> None:
        """Write items, texts and judgments; `marked` stands in everything that is
        shown.
        """
        self.write_items([(f"Source {n}.{marked}", []) for n in range(items)])
        self.write_systems([f"{WORDS}, {n}.{marked}" for n in range(items)], items)
        for judge in JUDGES:
            for aspect in TWO:
                self._judge(judge, aspect, items, marked)

    def _judge(self, judge: str, aspect: str, items: int, marked: str) -> None:
        start = WORDS.index("the the")
        fields = {
            "start": start,
            "end": start + 7,
            "location": "the the",
            "match": "exact",
        }
        lost = {"location": f"a horse{marked}", "match": "not_found"}
        nowhere = {"location": None, "match": "not_found"}
        says = {"careful": "Said", "hasty": "Told"}[judge]
        rows = [
            {
                "judge": judge,
                "kind": "score",
                "target": f"t{n:02}",
                "aspect": aspect,
                "key": "k",
            }
            | {
                "draw": 0,
                "value": 3.0,
                "status": "ok",
                "rule": "labelled",
                "parser": "x@1",
            }
            | {
                "spans": [
                    span | {"explanation": f"{says} of {n}.{marked}", "severity": 4.0}
                ]
            }
            for n in range(items)
            for span in [(fields, lost, nowhere)[n % 3] if judge == "hasty" else fields]
        ]
        write_part("judgments", self.judgments(judge), rows)

    def judgments(self, judge: str) -> Path:
        """Return the file of a cell's judgments."""
        return Path(
            Paths(str(self.out)).cell("judgments", "news", "judge", "systems", judge)
        )

    def edit(self, judge: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the rows of a judge's judgments, each in its place."""
        for aspect in TWO:
            rows = read_part(
                "judgments", self.judgments(judge), aspect, None
            ).to_pylist()
            for row in rows:
                change(row)
            write_part("judgments", self.judgments(judge), rows)

    def ask(
        self, plan: Plan, *judges: str, number: int = 6, voters: int = 2
    ) -> tuple[list[Page], Drawn]:
        """Write the pages into the folder `pages`."""
        self._asked, folder = plan, self.no_pages()
        made = errors.make(
            plan, self.out, folder, errors=number, voters=voters, judges=judges
        )
        self.lines = made.lines
        return list(made.pages), {judge: some for (judge,), some in made.drawn.items()}

    def errors_on(self, page: Page) -> list[ShownError]:
        """Return the errors of a page of the last plan, of those that look the same the
        first.
        """
        asked = map(self.find(self._asked), (item.id for item in page.items))
        return [each.subject[0][0] for each in asked if each]

    def find(self, plan: Plan) -> Find[errors.ErrorQuestion]:
        """Return what finds questions by their ids."""
        return errors.finder(plan, errors.errors_of(plan, self.out, JUDGES))

    def judge(self, page: Page, say: Say, voter: str = "") -> Path:
        """Save a page as its script does."""
        answers: dict[str, str] = {}
        for item, error in zip(page.items, self.errors_on(page), strict=True):
            span, why = say(error)
            for question in item.questions:
                answers[question.id] = span if question.id.endswith(f"-{SPAN}") else why
        return self.save(page.task, page.id, voter or page.file, answers)


def repeat(row: dict[str, Any]) -> None:
    """Let `hasty` explain in the words of `careful`: every third of its errors is then
    the same.
    """
    for span in row["spans"]:
        span["explanation"] = span["explanation"].replace("Told", "Said")


# --- weights of experts ---


def plan_of(**changes: Any) -> Plan:
    """Return the plan of the shipped study whose aspects experts weigh."""
    return Study(HOME, shipped("studies", "discernment")).plan(**changes)
