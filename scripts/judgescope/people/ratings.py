"""First ratings: people rate texts by systems on the aspects' scales.

The answers become a table and a dataset card of format `table`, which any study can
use.
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
from judgescope.core.rng import stream
from judgescope.engines.base import Subject
from judgescope.people import form
from judgescope.people.form import Response, Results, Table
from judgescope.plan.study import Plan
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import Measurement, krippendorff_alpha

COLUMNS = ["item", "source", "references", "system", "text"]
RATINGS = "rating_{}"
"""The column of an aspect's ratings: a list, with null for a rater who gave no
rating."""


class Rating(NamedTuple):
    """The subject of a question: how good a text is in an aspect."""

    dataset: str
    aspect: str
    subject: Subject


Question = form.Question[Rating]
Ratings = Mapping[Rating, Sequence[float | None]]
"""Question -> the rating of each rater, None if a rater gave none."""


def ratings_of(plan: Plan, out: Path) -> list[Rating]:
    """Return all ratings that a study can ask for, in the order of datasets, aspects
    and texts.
    """
    scaled = {}
    for name in plan.evaluated:
        card = plan.datasets[name]
        aspects = [
            each
            for each in plan.plain_aspects(name)
            if form.rating_options(plan, name, each)
        ]
        if card.has_systems and card.has_texts and aspects:
            scaled[name] = aspects
    if not scaled:
        raise form.nothing_to_ask(
            plan,
            "no texts by systems have an aspect with a stepped scale",
            "use a dataset with texts by systems, and give its aspects' scales a "
            "`step`",
        )
    texts = form.texts_in(plan, out, {name: ["systems"] for name in scaled})
    return [
        Rating(name, aspect, subject)
        for name, aspects in scaled.items()
        for aspect in aspects
        for subject in sorted(
            texts[name].in_set("systems"), key=lambda each: each.target
        )
    ]


def question_of(plan: Plan, rating: Rating) -> Question:
    """Return the question that asks for a rating."""
    dataset, aspect, text = rating
    options = form.rating_options(plan, dataset, aspect)
    shown = [
        dataset,
        text.target,
        text.source,
        text.text,
        form.wording_of(plan, dataset, aspect),
    ]
    name = form.secret(plan, "ratings", "question", canonical([*shown, options]))
    return Question(f"r{name}", options, rating)


def make(
    plan: Plan, out: Path, folder: Path, *, texts: int, voters: int, force: bool = False
) -> form.Made[Rating]:
    """Write the pages of a study into a folder.

    `texts` is the number drawn from each dataset, in turn from its systems and items;
    all voters rate each text on every aspect.
    """
    form.check_numbers(texts=texts, voters=voters)
    drawn: form.Drawn[Rating] = {}
    datasets = form.grouped(ratings_of(plan, out), lambda rating: rating.dataset)
    for dataset, asked in datasets.items():
        chosen = form.balanced(
            list(dict.fromkeys(rating.subject for rating in asked)),
            stream(plan.study.seed, "ratings", "texts", dataset),
            texts,
            kind=lambda subject: subject.system,
            item=lambda subject: subject.item,
        )
        drawn[dataset,] = [rating for rating in asked if rating.subject in chosen]
    items = partial(_items, plan)
    return form.ask(plan, folder, "ratings", drawn, items, voters=voters, force=force)


def _items(plan: Plan, ratings: list[Rating], rng: Generator) -> list[form.Item]:
    """Return a voter's questions, aspect by aspect."""
    return [
        form.item_about(
            plan,
            rating,
            [question_of(plan, rating)],
            [rating.subject.text],
            rating.subject.source,
        )
        for group in form.by_aspect(ratings, rng)
        for rating in form.shuffled(group, rng)
    ]


# --- answers --------------------------------------------------------------------------


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the rated datasets made from a folder of answers: a table and a card for
    each.

    The raters are the pages' voters.
    """
    known = [question_of(plan, rating) for rating in ratings_of(plan, out)]
    find = {question.id: question for question in known}.get
    responses = form.read_responses(
        folder, lambda _: find, form.voter_page, one_voter=True
    )
    ratings = _ratings(plan, [question.subject for question in known], responses)
    tables, cards, lines = {}, [], []
    for dataset in dict.fromkeys(rating.dataset for rating in ratings):
        rated = {
            each: values for each, values in ratings.items() if each.dataset == dataset
        }
        aspects = list(dict.fromkeys(rating.aspect for rating in rated))
        texts = list(dict.fromkeys(rating.subject for rating in rated))
        rows = []
        for text in texts:
            references = json.dumps(text.references, ensure_ascii=False)
            lists = (
                _cell(plan, Rating(dataset, each, text), rated) for each in aspects
            )
            rows.append(
                (text.item, text.source, references, text.system, text.text, *lists)
            )
        tables[f"{dataset}-rated.csv"] = Table(
            [*COLUMNS, *map(RATINGS.format, aspects)], rows
        )
        cards.append(_card(plan, dataset, aspects, texts))
        lines += [
            f"{dataset}, {each}: {_agreement(plan, each, rated)}" for each in aspects
        ]
    count = sum(len(response.answers) for response in responses)
    lines += form.absent(responses)
    lines.append(
        "copy each table and its card to config/datasets, then name the card in a study"
    )
    return Results("rated", len(responses), f"{count} ratings", tables, lines, cards)


def _cell(plan: Plan, question: Rating, ratings: Ratings) -> str | None:
    """Return the ratings of a question as JSON, labels as words; None if no page asked
    it.
    """
    scale, values = (
        plan.scale_of(question.dataset, question.aspect),
        ratings.get(question),
    )
    if values is None:
        return None
    if scale.categorical:
        return json.dumps(
            [None if value is None else scale.shown(value) for value in values]
        )
    return json.dumps(values)


def _ratings(
    plan: Plan, known: Iterable[Rating], responses: Sequence[Response[Rating]]
) -> Ratings:
    """Return the ratings of each question by the raters of its task.

    Pages with other questions, such as those of a second round, have other raters.
    """
    raters: Counter[str] = Counter()
    first: dict[str, int] = {}
    given: dict[Rating, dict[int, float]] = {}
    for response in responses:
        page, (voter, voters) = response.questions, response.voter
        for question, answer in response.given:
            if page not in first:
                task = plan.datasets[question.subject.dataset].task
                first[page] = raters[task]
                raters[task] += voters
            given.setdefault(question.subject, {})[first[page] + voter - 1] = float(
                answer
            )
    numbers = {name: range(raters[card.task]) for name, card in plan.datasets.items()}
    return {
        rating: [given[rating].get(rater) for rater in numbers[rating.dataset]]
        for rating in known
        if rating in given
    }


def _card(
    plan: Plan, dataset: str, aspects: Sequence[str], texts: Sequence[Subject]
) -> dict[str, object]:
    """Return the card of a rated dataset: that of the texts, with its table and its
    raters.
    """
    card, name = plan.datasets[dataset], f"{dataset}-rated"
    columns: dict[str, object] = {"item": "item", "system": "system", "text": "text"}
    columns |= {"source": "source"} if any(text.source for text in texts) else {}
    columns |= (
        {"references": "references"} if any(text.references for text in texts) else {}
    )
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
        **_about_systems(card, {text.system for text in texts}),
        "aspects": {
            each: card.aspects[each].model_dump(
                mode="json", exclude_defaults=True, exclude=unread
            )
            for each in aspects
        },
        "licence": card.licence,
        "citation": card.citation,
    }
    validate_card("dataset", rated, name)
    return rated


def _about_systems(card: Dataset, systems: set[str | None]) -> dict[str, object]:
    """Return the keys of a dataset's card on its systems, as far as these are rated."""
    families = {
        name: family for name, family in card.families.items() if name in systems
    }
    references = [name for name in card.reference_systems if name in systems]
    same = {} if card.same_names is None else {"same_names": card.same_names}
    keys = {"families": families, "reference_systems": references}
    return same | {name: value for name, value in keys.items() if value}


def _agreement(plan: Plan, aspect: str, rated: Ratings) -> str:
    """Return the agreement of the raters of an aspect, as text."""
    ratings = {each: values for each, values in rated.items() if each.aspect == aspect}
    items = sorted({rating.subject.item for rating in ratings})
    scale = plan.scale_of(next(iter(ratings)).dataset, aspect)
    level: Measurement = "ordinal" if scale.ordered else "nominal"
    values = np.array([*ratings.values()], dtype=np.float64).T
    alpha = krippendorff_alpha(
        values,
        level=level,
        domain=scale.values() or [],
        source=np.array([items.index(rating.subject.item) for rating in ratings]),
        weights=None,
    ).estimate
    return f"{np.isfinite(values).sum()} ratings, alpha_{level} {form.formatted(alpha)}"
