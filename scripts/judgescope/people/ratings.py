"""First ratings: people rate texts by systems on the aspects' scales.

The answers become a table and a dataset card of format `table`, which any study can use.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgescope.core.canonical import canonical
from judgescope.core.rng import stream, stream_seed
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.people import form
from judgescope.people.answers import (
    Response,
    Results,
    Row,
    formatted,
    numbers_of,
    page_id,
    read_pages,
)
from judgescope.plan import Plan
from judgescope.schema.loading import validate_card
from judgescope.statistics.alpha import krippendorff_alpha

if TYPE_CHECKING:
    from numpy.random import Generator

COLUMNS = ["item", "source", "references", "system", "text"]


class Rating(NamedTuple):
    """The question how good a text is in an aspect."""

    dataset: str
    aspect: str
    subject: Subject


Known = dict[str, Rating]
"""Question id -> the question; the id tells people nothing."""
Ratings = Mapping[Rating, Sequence[float | None]]
"""Question -> the rating of each rater, None of who gave none."""


def questions_of(plan: Plan, out: Path) -> Known:
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
    known: Known = {}
    for name, aspects in scaled.items():
        subjects = Subjects(str(out), name, plan.study.seed).of("systems")
        for aspect in aspects:
            shown = [form.wording_of(plan, name, aspect), form.rating_options(plan, name, aspect)]
            for subject in sorted(subjects, key=lambda each: each.target):
                text = canonical([name, subject.target, subject.source, subject.text, *shown])
                number = stream_seed(plan.study.seed, "ratings", "question", text)
                known[f"r{number:032x}"] = Rating(name, aspect, subject)
    return known


def make(plan: Plan, out: Path, folder: Path, *, texts: int, voters: int) -> form.Made[Rating]:
    """Write the pages of a study whose texts are in `out` into a folder.

    So many `texts` of each dataset are drawn, whose systems take turns, and items; all voters rate
    each on every aspect.
    """
    form.check_numbers(texts=texts, voters=voters)
    known = questions_of(plan, out)
    subjects: dict[str, dict[str, Subject]] = {}
    for dataset, _, subject in known.values():
        subjects.setdefault(dataset, {})[subject.target] = subject
    drawn = {
        (dataset, subject.target)
        for dataset, by_target in subjects.items()
        for subject in form.balanced(
            list(by_target.values()),
            stream(plan.study.seed, "ratings", "texts", dataset),
            texts,
            kind=lambda subject: subject.system,
            item=lambda subject: subject.item,
        )
    }
    records = [
        (dataset, name)
        for name, (dataset, _, subject) in known.items()
        if (dataset, subject.target) in drawn
    ]
    items = partial(_items, plan, known)
    pages = form.voter_pages(plan, "ratings", records, items, voters=voters)
    return form.Made(pages, list(known.values()), [form.write_pages(pages, folder)])


def _items(plan: Plan, known: Known, names: list[str], rng: "Generator") -> list[form.Item]:
    """Return a voter's questions, aspect by aspect."""
    items = []
    for group in form.by_aspect(names, rng, lambda name: known[name].aspect):
        for name in form.shuffled(group, rng):
            dataset, aspect, subject = known[name]
            question = form.Question(name, form.rating_options(plan, dataset, aspect))
            source = form.visible_source(plan, dataset, aspect, subject.source)
            card = plan.aspect_of(dataset, aspect)
            items.append(form.Item((question,), card, (subject.text,), source))
    return items


# --- answers -----------------------------------------------------------------------------------


def read(plan: Plan, out: Path, folder: Path) -> Results:
    """Return the rated datasets that a folder of answers makes: a table and a card of each.

    The raters are the pages' voters. Raises UserErrors for answers that do not fit its questions.
    """
    known = questions_of(plan, out)

    def allowed(name: str) -> list[str] | None:
        if name not in known:
            return None
        return [value for value, _ in form.rating_options(plan, *known[name][:2])]

    responses = read_pages(folder, allowed)
    ratings = _ratings(plan, known, responses)
    tables, cards, lines = {}, [], []
    for dataset in dict.fromkeys(question.dataset for question in ratings):
        rated = {each: values for each, values in ratings.items() if each.dataset == dataset}
        aspects = list(dict.fromkeys(question.aspect for question in rated))
        rows: dict[str, Row] = {}
        for (_, aspect, subject), values in rated.items():
            references = json.dumps(subject.references, ensure_ascii=False)
            cells = subject.item, subject.source, references, subject.system, subject.text
            row = rows.setdefault(subject.target, dict(zip(COLUMNS, cells, strict=True)))
            row[_column(aspect)] = json.dumps(values)
        card = _card(plan, dataset, aspects, list(rows.values()))
        tables[card["files"]] = ([*COLUMNS, *map(_column, aspects)], list(rows.values()))
        cards.append(card)
        lines += [f"{dataset}, {each}: {_agreement(plan, each, rated)}" for each in aspects]
    count = sum(value is not None for values in ratings.values() for value in values)
    lines.append("copy a table and its card to config/datasets: a study names it in `datasets`")
    return Results("rated", len(responses), f"{count} ratings", tables, lines, cards)


def _ratings(plan: Plan, known: Known, responses: Sequence[Response]) -> Ratings:
    """Return the ratings of each question by the raters of its task.

    Pages with other questions, as of a second round with more texts, have other raters.
    """
    raters: Counter[str] = Counter()
    first: dict[str, int] = {}
    given: dict[str, dict[int, float]] = {}
    for response in sorted(responses, key=lambda response: response.survey):
        questions, (voter, voters) = page_id(response.answers), response.voter_number or (1, 1)
        if questions not in first:
            task = plan.datasets[known[min(response.answers)].dataset].task
            first[questions] = raters[task]
            raters[task] += voters
        for name, answer in response.answers.items():
            given.setdefault(name, {})[first[questions] + voter - 1] = float(answer)
    return {
        question: [
            given[name].get(rater) for rater in range(raters[plan.datasets[question.dataset].task])
        ]
        for name, question in known.items()
        if name in given
    }


def _column(aspect: str) -> str:
    """Return the column of an aspect's ratings: a list, with null for who gave none."""
    return f"rating_{aspect}"


def _card(plan: Plan, dataset: str, aspects: Sequence[str], table: Sequence[Row]) -> Row:
    """Return the card of a rated dataset: that of the texts, with its table and its raters."""
    card, name = plan.datasets[dataset], f"{dataset}-rated"
    columns: Row = {"item": "item", "system": "system", "text": "text"}
    if any(row["source"] for row in table):
        columns["source"] = "source"
    if any(row["references"] != "[]" for row in table):
        columns["references"] = "references"
    columns["ratings"] = {aspect: _column(aspect) for aspect in aspects}
    scales = {
        aspect: card.aspects[aspect].model_dump(
            mode="json", exclude_defaults=True, exclude={"column"}
        )
        for aspect in aspects
    }
    rated: Row = {
        "dataset": name,
        "name": f"{card.name}, rated for {plan.study.study}",
        "task": card.task,
        "format": "table",
        "files": f"{name}.csv",
        "columns": columns,
        "raters": "persons",
        "aspects": scales,
        "licence": card.licence,
        "citation": card.citation,
    }
    validate_card("dataset", rated, name)
    return rated


def _agreement(plan: Plan, aspect: str, rated: Ratings) -> str:
    """Return how far the raters of an aspect agree, as text."""
    questions = [question for question in rated if question.aspect == aspect]
    items = sorted({question.subject.item for question in questions})
    ratings = np.array([rated[question] for question in questions], dtype=np.float64).T
    alpha = krippendorff_alpha(
        ratings,
        level="ordinal",
        domain=plan.scale_of(questions[0].dataset, aspect).values() or [],
        source=np.array([items.index(question.subject.item) for question in questions]),
        weights=None,
    )
    return f"{np.isfinite(ratings).sum()} ratings, alpha_ordinal {formatted(numbers_of(alpha))}"
