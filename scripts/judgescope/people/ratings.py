"""First ratings: people rate texts by systems on the aspects' scales.

The answers become a table and a dataset card of format `table`, which any study can use.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from judgescope.core.canonical import canonical
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.base import Subject
from judgescope.people import form
from judgescope.people.form import Asked, Response, Results, Table
from judgescope.plan.study import Plan
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import Measurement, krippendorff_alpha

COLUMNS = ["item", "source", "references", "system", "text"]
RATINGS = "rating_{}"
"""The column of an aspect's ratings: a list, with null for a rater who gave no rating."""


class Rating(NamedTuple):
    """The question of how good a text is in an aspect."""

    dataset: str
    aspect: str
    subject: Subject

    def id(self, plan: Plan) -> str:
        """Return the question's id, which reveals nothing to people."""
        place, text = (self.dataset, self.aspect), self.subject
        shown = form.wording_of(plan, *place), form.rating_options(plan, *place)
        content = canonical([self.dataset, text.target, text.source, text.text, *shown])
        return f"r{stream_seed(plan.study.seed, 'ratings', 'question', content):032x}"


Ratings = Mapping[Rating, Sequence[float | None]]
"""Question -> the rating of each rater, None if a rater gave none."""


def questions_of(plan: Plan, out: Path) -> list[Rating]:
    """Return all questions that a study can ask, in the order of datasets, aspects and texts.

    Raises UserError if texts are not made yet, or there are none.
    """
    scaled = {}
    for name in plan.evaluated:
        card = plan.datasets[name]
        aspects = [
            each for each in plan.plain_aspects(name) if form.rating_options(plan, name, each)
        ]
        if card.has_systems and card.has_texts and aspects:
            scaled[name] = aspects
    if not scaled:
        raise form.nothing_to_ask(
            plan,
            "no texts by systems have an aspect with a stepped scale",
            "use a dataset with texts by systems, and give its aspects' scales a `step`",
        )
    files = [[f"items/{name}.parquet", f"targets/{name}/systems.parquet"] for name in scaled]
    form.check_made([out / path for paths in files for path in paths])
    texts = {name: form.subjects_of(plan, out, name).in_set("systems") for name in scaled}
    return [
        Rating(name, aspect, subject)
        for name, aspects in scaled.items()
        for aspect in aspects
        for subject in sorted(texts[name], key=lambda each: each.target)
    ]


def make(plan: Plan, out: Path, folder: Path, *, texts: int, voters: int) -> form.Made[Rating]:
    """Write the pages of a study whose texts are in `out` into a folder.

    `texts` is the number drawn from each dataset, in turn from its systems and items; all voters
    rate each text on every aspect. Raises UserError for a number below 1, if texts are missing, and
    if there is nothing to ask.
    """
    form.check_numbers(texts=texts, voters=voters)
    questions = questions_of(plan, out)
    drawn: form.Drawn[Rating] = {}
    for dataset in dict.fromkeys(question.dataset for question in questions):
        asked = [question for question in questions if question.dataset == dataset]
        chosen = form.balanced(
            list(dict.fromkeys(question.subject for question in asked)),
            stream(plan.study.seed, "ratings", "texts", dataset),
            texts,
            kind=lambda subject: subject.system,
            item=lambda subject: subject.item,
        )
        drawn[dataset,] = [question for question in asked if question.subject in chosen]
    return form.ask(plan, folder, "ratings", drawn, partial(_items, plan), voters=voters)


def _items(plan: Plan, ratings: list[Rating], rng: Generator) -> list[form.Item]:
    """Return a voter's questions, aspect by aspect."""
    items = []
    for group in form.by_aspect(ratings, rng):
        for rating in form.shuffled(group, rng):
            options = form.rating_options(plan, rating.dataset, rating.aspect)
            questions, text = [form.Question(rating.id(plan), options)], rating.subject
            items.append(form.item_about(plan, rating, questions, [text.text], text.source))
    return items


# --- answers -----------------------------------------------------------------------------------


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the rated datasets made from a folder of answers: a table and a card for each.

    The raters are the pages' voters. Raises UserErrors for answers that do not match the questions,
    and UserError if answers or texts are missing.
    """
    asked = {}
    for rating in questions_of(plan, out):
        options = form.rating_options(plan, rating.dataset, rating.aspect)
        asked[rating.id(plan)] = Asked(rating, [value for value, _ in options])
    responses = form.read_responses(folder, lambda _: asked.get, form.voter_page, one_voter=True)
    ratings = _ratings(plan, [rating for rating, _ in asked.values()], responses)
    tables, cards, lines = {}, [], []
    for dataset in dict.fromkeys(question.dataset for question in ratings):
        rated = {each: values for each, values in ratings.items() if each.dataset == dataset}
        aspects = list(dict.fromkeys(question.aspect for question in rated))
        texts = list(dict.fromkeys(question.subject for question in rated))
        rows = []
        for text in texts:
            references = json.dumps(text.references, ensure_ascii=False)
            lists = (_cell(plan, Rating(dataset, each, text), rated) for each in aspects)
            rows.append((text.item, text.source, references, text.system, text.text, *lists))
        tables[f"{dataset}-rated.csv"] = Table([*COLUMNS, *map(RATINGS.format, aspects)], rows)
        cards.append(_card(plan, dataset, aspects, texts))
        lines += [f"{dataset}, {each}: {_agreement(plan, each, rated)}" for each in aspects]
    count = sum(value is not None for values in ratings.values() for value in values)
    lines.append("copy each table and its card to config/datasets, then name the card in a study")
    return Results("rated", len(responses), f"{count} ratings", tables, lines, cards)


def _cell(plan: Plan, question: Rating, ratings: Ratings) -> str | None:
    """Return the ratings of a question as JSON, labels as words; None if no page asked it."""
    scale, values = plan.scale_of(question.dataset, question.aspect), ratings.get(question)
    if values is None:
        return None
    if scale.categorical:
        return json.dumps([None if value is None else scale.shown(value) for value in values])
    return json.dumps(values)


def _ratings(plan: Plan, known: Iterable[Rating], responses: Sequence[Response[Rating]]) -> Ratings:
    """Return the ratings of each question by the raters of its task.

    Pages with other questions, such as those of a second round, have other raters.
    """
    raters: Counter[str] = Counter()
    first: dict[str, int] = {}
    given: dict[Rating, dict[int, float]] = {}
    for response in sorted(responses, key=lambda response: response.survey):
        questions, (voter, voters) = form.page_id(response.answers), response.voter
        for (rating, _), answer in response.given:
            if questions not in first:
                task = plan.datasets[rating.dataset].task
                first[questions] = raters[task]
                raters[task] += voters
            given.setdefault(rating, {})[first[questions] + voter - 1] = float(answer)
    numbers = {name: range(raters[card.task]) for name, card in plan.datasets.items()}
    return {
        rating: [given[rating].get(rater) for rater in numbers[rating.dataset]]
        for rating in known
        if rating in given
    }


def _card(
    plan: Plan, dataset: str, aspects: Sequence[str], texts: Sequence[Subject]
) -> dict[str, object]:
    """Return the card of a rated dataset: that of the texts, with its table and its raters."""
    card, name = plan.datasets[dataset], f"{dataset}-rated"
    columns: dict[str, object] = {"item": "item", "system": "system", "text": "text"}
    columns |= {"source": "source"} if any(text.source for text in texts) else {}
    columns |= {"references": "references"} if any(text.references for text in texts) else {}
    columns["ratings"] = {aspect: RATINGS.format(aspect) for aspect in aspects}
    unread = {"column", "read_as"}
    rated: dict[str, object] = {
        "dataset": name,
        "name": f"{card.name}, rated for {plan.study.study}",
        "task": card.task,
        "format": "table",
        "files": f"{name}.csv",
        "columns": columns,
        "raters": "persons",
        "aspects": {
            each: card.aspects[each].model_dump(mode="json", exclude_defaults=True, exclude=unread)
            for each in aspects
        },
        "licence": card.licence,
        "citation": card.citation,
    }
    validate_card("dataset", rated, name)
    return rated


def _agreement(plan: Plan, aspect: str, rated: Ratings) -> str:
    """Return the agreement of the raters of an aspect, as text."""
    questions = [question for question in rated if question.aspect == aspect]
    items = sorted({question.subject.item for question in questions})
    ratings = np.array([rated[question] for question in questions], dtype=np.float64).T
    scale = plan.scale_of(questions[0].dataset, aspect)
    level: Measurement = "ordinal" if scale.ordered else "nominal"
    alpha = krippendorff_alpha(
        ratings,
        level=level,
        domain=scale.values() or [],
        source=np.array([items.index(question.subject.item) for question in questions]),
        weights=None,
    ).estimate
    return f"{np.isfinite(ratings).sum()} ratings, alpha_{level} {form.formatted(alpha)}"
