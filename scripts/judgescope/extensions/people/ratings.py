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
from judgescope.extensions.people import answers, form
from judgescope.extensions.people.answers import FormResults, FormTable, Response
from judgescope.plan.study import Plan
from judgescope.schema.cards import Dataset
from judgescope.schema.loading import validate_card
from judgescope.statistics.reliability import Measurement, krippendorff_alpha

RATINGS = "rating_{}"
"""The column of an aspect's ratings: a list, with null for a rater who gave no
rating."""


class AskedRating(NamedTuple):
    """The subject of a question: how good a text is in an aspect."""

    dataset: str
    aspect: str
    subject: Subject


RatingQuestion = form.FormQuestion[AskedRating]
Ratings = Mapping[AskedRating, Sequence[float | None]]
"""Question -> the rating of each rater, None if a rater gave none."""


def ratings_of(plan: Plan, out: Path) -> list[AskedRating]:
    """Return all ratings that a study can ask for, in the order of datasets, aspects
    and texts.
    """
    aspects: dict[str, list[str]] = {}
    for name in plan.evaluated:
        card = plan.datasets[name]
        if not card.has_systems or not card.has_texts:
            continue
        for aspect in plan.plain_aspects(name):
            if form.rating_options(plan, name, aspect):
                aspects.setdefault(name, []).append(aspect)
    if not aspects:
        raise form.nothing_to_ask(
            plan,
            "no texts by systems have an aspect with a stepped scale",
            "use a dataset with texts by systems, and give its aspects' scales a "
            "`step`",
        )
    subjects = form.texts_in(plan, out, {name: ["systems"] for name in aspects})
    asked = []
    for name, rated in aspects.items():
        texts = sorted(subjects[name].in_set("systems"), key=lambda text: text.target)
        for aspect in rated:
            asked += [AskedRating(name, aspect, text) for text in texts]
    return asked


def question_of(plan: Plan, rating: AskedRating) -> RatingQuestion:
    """Return the question that asks for a rating."""
    dataset, aspect, text = rating
    options = form.rating_options(plan, dataset, aspect)
    shown = [
        dataset,
        text.target,
        text.source,
        text.text,
        form.wording_of(plan, dataset, aspect),
        options,
    ]
    name = form.secret(plan, "ratings", "question", canonical(shown))
    return RatingQuestion(f"r{name}", options, rating)


def make(
    plan: Plan, out: Path, folder: Path, *, texts: int, voters: int, force: bool = False
) -> form.Made[AskedRating]:
    """Write the pages of a study into a folder.

    `texts` is the number drawn from each dataset, in turn from its systems and items;
    all voters rate each text on every aspect.
    """
    form.check_numbers(texts=texts, voters=voters)
    drawn: form.DrawnRecords[AskedRating] = {}
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
    items = partial(items_of, plan)
    return form.ask(plan, folder, "ratings", drawn, items, voters=voters, force=force)


def items_of(
    plan: Plan, ratings: list[AskedRating], rng: Generator
) -> list[form.FormItem]:
    """Return a voter's questions, aspect by aspect, in random order."""
    items = []
    for group in form.by_aspect(ratings, rng):
        for rating in form.shuffled(group, rng):
            text = rating.subject
            questions = [question_of(plan, rating)]
            item = form.item_about(plan, rating, questions, [text.text], text.source)
            items.append(item)
    return items


# --- answers --------------------------------------------------------------------------


def read(plan: Plan, out: Path, folder: Path) -> FormResults:
    """Return the rated datasets made from a folder of answers: a table and a card for
    each.

    The raters are the pages' voters.
    """
    known = ratings_of(plan, out)
    questions = {}
    for rating in known:
        question = question_of(plan, rating)
        questions[question.id] = question
    responses = answers.read_responses(
        folder, lambda _: questions.get, answers.voter_page, one_voter=True
    )
    ratings = _ratings(plan, known, responses)
    tables = {}
    cards = []
    lines = []
    for dataset, asked in form.grouped(ratings, lambda each: each.dataset).items():
        rated = {rating: ratings[rating] for rating in asked}
        aspects = list(dict.fromkeys(rating.aspect for rating in asked))
        texts = list(dict.fromkeys(rating.subject for rating in asked))
        columns = ["item", "source", "references", "system", "text"]
        columns += map(RATINGS.format, aspects)
        rows = [_row(plan, dataset, text, aspects, rated) for text in texts]
        tables[f"{dataset}-rated.csv"] = FormTable(columns, rows)
        cards.append(_card(plan, dataset, aspects, texts))
        for aspect in aspects:
            lines.append(f"{dataset}, {aspect}: {_agreement(plan, aspect, rated)}")
    count = sum(len(response.answers) for response in responses)
    lines += answers.absent(responses)
    lines.append(
        "copy each table and its card to config/datasets, then name the card in a study"
    )
    return FormResults(
        "rated", len(responses), f"{count} ratings", tables, lines, cards
    )


def _row(
    plan: Plan,
    dataset: str,
    text: Subject,
    aspects: Iterable[str],
    ratings: Ratings,
) -> list[object]:
    """Return the row of a text in the table of a rated dataset."""
    references = json.dumps(text.references, ensure_ascii=False)
    row: list[object] = [text.item, text.source, references, text.system, text.text]
    for aspect in aspects:
        row.append(_cell(plan, AskedRating(dataset, aspect, text), ratings))
    return row


def _cell(plan: Plan, question: AskedRating, ratings: Ratings) -> str | None:
    """Return the ratings of a question as JSON, labels as words; None if no page asked
    it.
    """
    values = ratings.get(question)
    if values is None:
        return None
    scale = plan.scale_of(question.dataset, question.aspect)
    if not scale.categorical:
        return json.dumps(values)
    labels = [None if value is None else scale.shown(value) for value in values]
    return json.dumps(labels)


def _ratings(
    plan: Plan, known: Iterable[AskedRating], responses: Sequence[Response[AskedRating]]
) -> Ratings:
    """Return the ratings of each question by the raters of its task.

    Pages with other questions, such as those of a second round, have other raters.
    """
    raters: Counter[str] = Counter()
    first_rater: dict[str, int] = {}
    given: dict[AskedRating, dict[int, float]] = {}
    for response in responses:
        page = response.questions
        voter, voters = response.voter
        for question, answer in response.given:
            rating = question.subject
            if page not in first_rater:
                task = plan.datasets[rating.dataset].task
                first_rater[page] = raters[task]
                raters[task] += voters
            rater = first_rater[page] + voter - 1
            given.setdefault(rating, {})[rater] = float(answer)
    ratings: dict[AskedRating, list[float | None]] = {}
    for rating in known:
        if rating in given:
            count = raters[plan.datasets[rating.dataset].task]
            ratings[rating] = [given[rating].get(rater) for rater in range(count)]
    return ratings


def _card(
    plan: Plan, dataset: str, aspects: Sequence[str], texts: Sequence[Subject]
) -> dict[str, object]:
    """Return the card of a rated dataset: that of the texts, with its table and its
    raters.
    """
    card = plan.datasets[dataset]
    name = f"{dataset}-rated"
    columns: dict[str, object] = {"item": "item", "system": "system", "text": "text"}
    with_source = False
    with_references = False
    systems = set()
    for text in texts:
        systems.add(text.system)
        with_source = with_source or bool(text.source)
        with_references = with_references or bool(text.references)
    if with_source:
        columns["source"] = "source"
    if with_references:
        columns["references"] = "references"
    columns["ratings"] = {aspect: RATINGS.format(aspect) for aspect in aspects}
    # The ratings of the new table stand on the aspects' scales already.
    unread = {"column", "read_as"}
    aspect_cards = {}
    for aspect in aspects:
        aspect_cards[aspect] = card.aspects[aspect].model_dump(
            mode="json", exclude_defaults=True, exclude=unread
        )
    rated: dict[str, object] = {
        "dataset": name,
        "name": f"{card.name}, rated for {plan.study.study}",
        "task": card.task,
        "format": "table",
        "files": f"{name}.csv",
        "columns": columns,
        "raters": "persons",
    }
    rated |= _about_systems(card, systems)
    rated["aspects"] = aspect_cards
    rated["licence"] = card.licence
    rated["citation"] = card.citation
    validate_card("dataset", rated, name)
    return rated


def _about_systems(card: Dataset, systems: set[str | None]) -> dict[str, object]:
    """Return the keys of a dataset's card on its systems, as far as these are rated."""
    keys: dict[str, object] = {}
    if card.same_names is not None:
        keys["same_names"] = card.same_names
    families = {}
    for name in card.families:
        if name in systems:
            families[name] = card.families[name]
    if families:
        keys["families"] = families
    references = [name for name in card.reference_systems if name in systems]
    if references:
        keys["reference_systems"] = references
    return keys


def _agreement(plan: Plan, aspect: str, rated: Ratings) -> str:
    """Return the agreement of the raters of an aspect, as text."""
    sources = []
    by_text = []
    dataset = ""
    for rating, values in rated.items():
        if rating.aspect == aspect:
            sources.append(rating.subject.item)
            by_text.append(values)
            dataset = rating.dataset
    scale = plan.scale_of(dataset, aspect)
    level: Measurement = "ordinal" if scale.ordered else "nominal"
    ratings = np.array(by_text, dtype=np.float64)
    alpha = krippendorff_alpha(
        ratings.T,
        level=level,
        domain=scale.values() or [],
        source=np.unique(sources, return_inverse=True)[1],
        weights=None,
    ).estimate
    count = np.isfinite(ratings).sum()
    return f"{count} ratings, alpha_{level} {answers.formatted(alpha)}"
